//! Validation: whether a program is well-formed enough to run.

use slipring_machine::Pipe;
use slipring_program::{CoreProgram, Finding, Inst, Operand, Special, SyncDecl, SyncRef, SyncRole};

use crate::delay::Delays;
use crate::report;
use crate::{ArgValue, ExecutionMode, Launch};

/// Checks everything that the engine relies on: indices of registers, instructions, work, objects, locations and
/// arguments, and that the cores have the pipes.
///
/// # Errors
/// A `bad-program` or `bad-arguments` finding.
pub(crate) fn validate(launch: &Launch<'_>, buffers: usize) -> Result<(), Box<Finding>> {
    let program = launch.program;
    for (at, arg) in launch.args.iter().enumerate() {
        if let ArgValue::Buffer(index) | ArgValue::Part { buffer: index, .. } = arg
            && *index >= buffers
        {
            let name = program.params.get(at).map_or("?", |p| &p.name);
            let message = format!("argument {at} (`{name}`) is buffer {index}, but memory has {buffers} buffers");
            return Err(report::error("bad-arguments", message));
        }
    }
    if program.whole_cluster && launch.mode == ExecutionMode::Pipes {
        let message = "the program runs all cores in program order: it cannot run on pipes";
        return Err(report::error("bad-program", message.to_string()));
    }
    if let Some(delay) = Delays::against_order(&launch.delays, launch.platform) {
        let message = format!("`{delay}`: {} executes the operations of this pipe in order", launch.platform.name);
        return Err(report::error("bad-arguments", message));
    }
    for (at, core) in program.cores.iter().enumerate() {
        if program.cores[..at].iter().any(|c| c.role == core.role) {
            return Err(report::error("bad-program", format!("{} has two programs", core.role)));
        }
        validate_core(launch, core)?;
    }
    Ok(())
}

fn validate_core(launch: &Launch<'_>, core: &CoreProgram) -> Result<(), Box<Finding>> {
    let bad = |pc: usize, what: String| report::error("bad-program", format!("{} instruction {pc}: {what}", core.role));
    let len = core.insts.len();
    if core.inst_sites.len() != len {
        return Err(bad(0, format!("{} places for {len} instructions", core.inst_sites.len())));
    }
    match core.insts.last() {
        Some(Inst::End | Inst::Jump { .. } | Inst::Trap { .. }) => {}
        _ => return Err(bad(len, "the program does not end".into())),
    }
    let pipes = launch.pipes_of(core);
    let sites = launch.program.sites.len();
    for (pc, inst) in core.insts.iter().enumerate() {
        if core.inst_sites[pc] as usize >= sites {
            return Err(bad(pc, "its place is not in the program".into()));
        }
        let reg = |r: u32| if r < core.regs { Ok(()) } else { Err(bad(pc, format!("register {r} of {}", core.regs))) };
        let operand = |o: &Operand| if let Operand::Reg(r) = o { reg(r.0) } else { Ok(()) };
        let jump = |to: u32| if (to as usize) < len { Ok(()) } else { Err(bad(pc, format!("jump to {to} of {len}"))) };
        let pipe = |pipe: Pipe| {
            let message = format!(
                "the program uses pipe {pipe} of {}, which `{}` does not have",
                core.role, launch.platform.name
            );
            let place = Some(report::label(core.inst_sites[pc], "uses it here"));
            if pipes.contains(&pipe) {
                Ok(())
            } else {
                Err(Box::new(Finding { primary: place, ..*report::error("no-such-pipe", message) }))
            }
        };
        let sync = |s: &SyncRef| {
            operand(&s.index)?;
            let end = s.first as usize + s.count as usize;
            if end <= launch.program.syncs.len() {
                Ok(())
            } else {
                Err(bad(pc, format!("synchronisation object {end}")))
            }
        };
        match inst {
            Inst::Scalar { d, args, .. } => {
                reg(d.0)?;
                args.iter().try_for_each(operand)?;
            }
            Inst::Move { d, a } => {
                reg(d.0)?;
                operand(a)?;
            }
            Inst::Add { d, a, b } => {
                reg(d.0)?;
                operand(a)?;
                operand(b)?;
            }
            Inst::Special { d, which } => {
                reg(d.0)?;
                if let Special::Param(p) = which
                    && *p as usize >= launch.args.len()
                {
                    let name = launch.program.params.get(*p as usize).map_or("?", |p| &p.name);
                    let message = format!(
                        "the launch passes {} arguments, but the kernel uses parameter {p} (`{name}`)",
                        launch.args.len()
                    );
                    return Err(report::error("bad-arguments", message));
                }
            }
            Inst::Jump { to } => jump(*to)?,
            Inst::JumpIfZero { a, to } | Inst::Poll { a, to } => {
                operand(a)?;
                jump(*to)?;
            }
            Inst::JumpIfGe { a, b, to } | Inst::Meet { a, b, to } => {
                operand(a)?;
                operand(b)?;
                jump(*to)?;
            }
            Inst::Issue { work } => {
                let Some(work) = core.works.get(*work as usize) else { return Err(bad(pc, format!("work {work}"))) };
                pipe(work.pipe)?;
                work.args.iter().try_for_each(operand)?;
                if let Some(d) = work.result {
                    reg(d.0)?;
                    if work.pipe != Pipe::S {
                        return Err(bad(pc, format!("work of pipe {} has a result", work.pipe)));
                    }
                }
            }
            Inst::Set { pipe: p, sync: s } => {
                pipe(*p)?;
                sync(s)?;
            }
            Inst::Wait { pipe: p, sync: s } => {
                pipe(*p)?;
                sync(s)?;
            }
            Inst::Inside { sync: s } => sync(s)?,
            Inst::Product { at, m, n, .. } => [at, m, n].into_iter().try_for_each(operand)?,
            Inst::FromProduct { at, rows, cols, .. } => [at, rows, cols].into_iter().try_for_each(operand)?,
            Inst::Acquire { pipe: p, token, .. } | Inst::Release { pipe: p, token, .. } => {
                pipe(*p)?;
                sync(token)?;
                let is_token = |s: &SyncDecl| matches!(s.role, SyncRole::Token { .. } | SyncRole::UnitFlag { .. });
                let run = token.first as usize..(token.first + token.count) as usize;
                if *p == Pipe::S || !launch.program.syncs[run].iter().all(is_token) {
                    return Err(bad(pc, "a pipe that works on its own and a token are needed".into()));
                }
            }
            Inst::Barrier { pipe: Some(p) } => pipe(*p)?,
            Inst::Barrier { pipe: None } | Inst::Trap { .. } | Inst::End => {}
        }
    }
    Ok(())
}
