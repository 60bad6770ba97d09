//! Termination of loops: those that certainly terminate, by what they count; those that terminated where they were run;
//! and those of which neither is known.

use slipring_ir::Diagnostic;
use slipring_program::{Causes, CoreProgram, End, Inst, Kind, Loop, Program};

use super::given::Assumptions;
use super::{Judgement, Proof};
use crate::subject::Subject;

/// A loop, with the values that decide its trip count.
struct Ending {
    own: Loop,
    causes: Causes,
}

/// The loops of all cores, each op once: that of the first core if they are the same.
fn all(program: &Program) -> Vec<Ending> {
    let mut found: Vec<Ending> = Vec::new();
    for core in &program.cores {
        for own in core.loops() {
            let causes = causes(program, core, &own);
            match found.iter_mut().find(|known| known.own.site == own.site && known.own.end == own.end) {
                Some(known) => known.causes = known.causes.join(causes),
                None => found.push(Ending { own, causes }),
            }
        }
    }
    found
}

/// The dependences of a loop's exits.
fn causes(program: &Program, core: &CoreProgram, own: &Loop) -> Causes {
    let flow = program.flow(core);
    let of = |pc: usize| match &core.insts[pc] {
        Inst::JumpIfZero { a, .. } => flow.of(*a),
        Inst::JumpIfGe { a, b, .. } => flow.of(*a).join(flow.of(*b)),
        _ => Causes::default(),
    };
    core.exits(own).into_iter().map(of).fold(Causes::default(), Causes::join)
}

fn name(subject: &Subject<'_>, own: &Loop) -> String {
    let sites = &subject.compiled.prepared.decoded.program.sites;
    let op = sites.get(own.site as usize).map_or("?", |site| &*site.op);
    let line = subject.line(own.site).map_or(String::new(), |line| format!(" (line {line})"));
    format!("`{op}`{line}")
}

/// Why a loop that data or arguments decide is not known to terminate, if there is one.
pub(super) fn not_shown(subject: &Subject<'_>) -> Option<String> {
    let program = &subject.compiled.prepared.decoded.program;
    let ending = all(program).into_iter().find(|ending| {
        !ending.causes.is_empty() && matches!(ending.own.end, End::Never | End::Away { .. } | End::Open)
    })?;
    let who = if ending.causes.data { "loaded data" } else { "an argument" };
    let name = name(subject, &ending.own);
    Some(match ending.own.end {
        End::Never => format!("{name} never ends where {who} enter it: nothing that its condition reads changes in it"),
        End::Away { by } => {
            format!("{name} may not terminate: what it compares moves by {by} per iteration, away from its bound")
        }
        _ => format!("{name} may not terminate: its trip count depends on {who}"),
    })
}

/// The loops whose values move away from their bounds, as text.
pub(super) fn away(subject: &Subject<'_>) -> Vec<String> {
    let all = all(&subject.compiled.prepared.decoded.program).into_iter();
    let says = |ending: Ending| match ending.own.end {
        End::Away { by } => Some(format!(
            "what {} compares moves by {by} each time, away from its bound: it only ends when a number overflows its type",
            name(subject, &ending.own)
        )),
        _ => None,
    };
    all.filter_map(says).collect()
}

impl Proof {
    /// Reports whether loops terminate.
    pub(super) fn endings(&mut self, subject: &Subject<'_>) {
        let all = all(&subject.compiled.prepared.decoded.program);
        if all.is_empty() {
            self.scope.loops = "there are none".into();
            return;
        }
        if self.judgement != Judgement::Proved {
            let stops = |message: &Diagnostic| matches!(message.kind, Kind::EndlessLoop | Kind::StepLimit);
            let open = self.findings.messages().iter().any(stops);
            self.scope.loops = match open {
                true => "termination was not observed for all of them".into(),
                false => "those of the runs ended".into(),
            };
            return;
        }
        let mut says: Vec<String> = Vec::new();
        if all.iter().any(|ending| ending.own.end == End::Counted) {
            says.push("counters with constant bounds".into());
        }
        let mut fit = Vec::new();
        for ending in &all {
            let name = name(subject, &ending.own);
            match ending.own.end {
                End::Counted => {}
                End::Toward { by } if !ending.causes.is_empty() => {
                    let how = by.map_or("is divided each time".into(), |by| format!("moves by {by} each time"));
                    says.push(format!("what {name} compares {how}, towards a constant bound"));
                    fit.push(format!("what {name} counts fits its type"));
                }
                _ if ending.causes.is_empty() => {
                    says.push(format!("{name} ended, and no argument and no data decide it"))
                }
                _ => says.push(format!("{name} ended with each value that was run, and others do what was seen")),
            }
        }
        self.scope.loops = format!("all end: {}", says.join("; "));
        if !fit.is_empty() {
            self.assume(Assumptions { assumes: fit, ..Assumptions::default() });
        }
    }
}
