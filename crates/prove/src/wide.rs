//! Addresses that depend on loaded data or arguments: the access is widened to the whole buffer. If every two accesses
//! to that buffer, treated as a single byte, are ordered, or if nobody writes it, it does not matter which bytes they
//! touch.

use std::collections::BTreeSet;

use super::text;
use slipring_check::ArgUse;
use slipring_machine::Role;
use slipring_program::{Causes, Choice, CoreProgram, Decision, Inst, Operand, ParamKind, Program, Special};

use crate::subject::Subject;
use crate::text::buffer_name;

/// The operands that data or arguments decide and that determine the accesses of work, each an address in one buffer;
/// and the first work item for which something else decides them.
pub(super) fn operands(program: &Program) -> (BTreeSet<(Role, u32, usize)>, Option<Decision>) {
    let (mut wide, mut narrow) = (BTreeSet::new(), None);
    for core in &program.cores {
        let flow = program.flow(core);
        for (inst, site) in core.insts.iter().zip(&core.inst_sites) {
            let Inst::Issue { work: id } = inst else { continue };
            let work = &core.works[*id as usize];
            let mut by_itself = Vec::new();
            work.effect.decisions(&vec![Causes::default(); work.args.len()], *site, &mut by_itself);
            narrow = narrow.or(by_itself.pop());
            let open = |at: &usize| !flow.of(work.args[*at]).is_empty() && work.decides(*at, *site);
            for at in (0..work.args.len()).filter(open) {
                let (choice, causes) = (Choice::Access, flow.of(work.args[at]));
                match bases(program, core, work.args[at]).len() {
                    1 => drop(wide.insert((core.role, *id, at))),
                    // Which buffer it is, if any, is decided as well.
                    _ => narrow = narrow.or(Some(Decision { site: *site, choice, causes })),
                }
            }
        }
    }
    (wide, narrow)
}

/// The buffers whose addresses contribute to an operand, by their parameters.
fn bases(program: &Program, core: &CoreProgram, operand: Operand) -> BTreeSet<u32> {
    let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut open = vec![operand];
    while let Some(operand) = open.pop() {
        let Operand::Reg(reg) = operand else { continue };
        if !seen.insert(reg.0) {
            continue;
        }
        for inst in &core.insts {
            match inst {
                Inst::Scalar { d, args, .. } if *d == reg => open.extend(args),
                Inst::Move { d, a } if *d == reg => open.push(*a),
                Inst::Add { d, a, b } if *d == reg => open.extend([*a, *b]),
                Inst::Special { d, which: Special::Param(at) } if *d == reg => {
                    let kind = program.params.get(*at as usize).map(|param| param.kind);
                    if !matches!(kind, Some(ParamKind::Scalar(_) | ParamKind::Bool)) {
                        found.insert(*at);
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// What decides what, as text.
pub(super) fn decided(subject: &Subject<'_>, decision: &Decision) -> String {
    let program = &subject.compiled.prepared.decoded.program;
    let op = program.sites.get(decision.site as usize).map_or("?", |site| &*site.op);
    let who = if decision.causes.data { "loaded data decide" } else { "an argument decides" };
    format!("{who} {}", text::choice(op, decision.choice, subject.line(decision.site)))
}

/// The assumption about an operand that may point anywhere into its buffer.
///
/// # Errors
/// Why it matters where it points.
pub(super) fn stays(
    subject: &Subject<'_>,
    (role, id, at): (Role, u32, usize),
    used: &ArgUse,
    racing: &BTreeSet<usize>,
    scratch: &[usize],
) -> Result<String, String> {
    let program = &subject.compiled.prepared.decoded.program;
    let core = program.cores.iter().find(|core| core.role == role);
    let issued = |inst: &Inst| matches!(inst, Inst::Issue { work } if *work == id);
    let site = core.and_then(|core| core.insts.iter().position(issued).map(|place| core.inst_sites[place]));
    let op = site.and_then(|site| program.sites.get(site as usize)).map_or("?", |site| &*site.op);
    let line = site.and_then(|site| subject.line(site)).map_or(String::new(), |line| format!(" (line {line})"));
    let data = core.is_some_and(|core| program.flow(core).of(core.works[id as usize].args[at]).data);
    let who = if data { "loaded data decide" } else { "an argument decides" };
    let names: Vec<String> = used.buffers.iter().map(|buffer| buffer_name(program, *buffer)).collect();
    if used.other || names.is_empty() {
        return Err(format!("{who} what `{op}`{line} accesses, and not only in global memory"));
    }
    if let Some(buffer) = used.buffers.iter().find(|buffer| racing.contains(buffer) || scratch.contains(buffer)) {
        let name = buffer_name(program, *buffer);
        return Err(format!(
            "{who} what `{op}`{line} accesses: widened to all of {name}, it is not in order with what else is accessed there"
        ));
    }
    Ok(format!("what `{op}`{line} accesses, which {who}, lies in {}: it was widened to all of it", names.join(" and ")))
}
