//! A quick hunt for a schedule that shows something: random legal durations, and each core and pipe slow in turn.

use std::fmt;

use serde::Serialize;
use slipring_check::{CheckReport, Tools, Verdict};
use slipring_machine::{Pipe, Role};
use slipring_program::{ParamKind, Severity};
use slipring_sim::Timing;

use super::{Judgement, Proof, Subject};
use crate::{Error, Execution};

/// A schedule and what it shows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Witness {
    /// What `slipring run` takes to replay it: `--timing random:17`.
    pub replay: String,
    /// What it shows.
    pub shows: String,
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (replay: `slipring run … {}`)", self.shows, self.replay)
    }
}

/// What two runs leave that is not the same: the first byte that differs of the first buffer, or the end.
pub(super) fn difference(subject: &Subject<'_>, usual: &Execution, other: &Execution) -> Option<String> {
    let error = other.result.findings.iter().find(|finding| finding.severity == Severity::Error);
    if let Some(error) = error.filter(|error| usual.result.findings.iter().all(|known| known.code != error.code)) {
        return Some(format!("`{}`: {}", error.code, error.message));
    }
    if !usual.result.complete || !other.result.complete {
        return None;
    }
    let params = subject.compiled.prepared.decoded.program.params.iter().filter(|param| param.is_passed());
    for (index, param) in params.enumerate() {
        let ParamKind::Buffer { elem, .. } = param.kind else { continue };
        let (Some(a), Some(b)) = (usual.buffer(subject.bound, index), other.buffer(subject.bound, index)) else {
            continue;
        };
        if let Some(at) = a.iter().zip(b).position(|(a, b)| a != b) {
            let differ = a.iter().zip(b).filter(|(a, b)| a != b).count();
            let element = at / elem.bytes().max(1);
            return Some(format!("{differ} bytes of `{}` differ, from element {element} on", param.name));
        }
    }
    None
}

impl Proof {
    /// Looks for a schedule in which a finding changes the results, or, where one run does not decide, in which something is
    /// found.
    pub(super) fn hunt(
        &mut self,
        subject: &Subject<'_>,
        tools: &Tools,
        usual: &Execution,
        judged: &CheckReport,
        timings: u32,
    ) -> Result<(), Error> {
        let undecided = self.judgement == Judgement::NotProved;
        let slow = Role::ALL.into_iter().flat_map(|role| {
            let whole = std::iter::once(Timing::Slow { role, pipe: None });
            whole.chain(Pipe::ALL.into_iter().map(move |pipe| Timing::Slow { role, pipe: Some(pipe) }))
        });
        let cores = &subject.compiled.prepared.decoded.program.cores;
        let has = |timing: &Timing| match timing {
            Timing::Slow { role, .. } => cores.iter().any(|core| core.role == *role),
            _ => true,
        };
        let random = (1..=u64::from(timings)).map(|seed| Timing::Random { seed });
        let schedules: Vec<Timing> = if timings == 0 { Vec::new() } else { random.chain(slow.filter(has)).collect() };
        let quiet = Tools { race: false, init: false, scratch: tools.scratch.clone() };
        let compete = judged.tools.iter().any(|tool| matches!(tool.verdict, Verdict::NotShown { .. }));
        for (at, timing) in schedules.iter().enumerate() {
            let (other, _) = subject.run(*timing, &quiet, None)?;
            let Some(shows) = difference(subject, usual, &other) else { continue };
            self.explored.push(format!("{} schedules", at + 1));
            self.witness = Some(Witness { replay: format!("--timing {timing}"), shows });
            if undecided && (compete || !other.result.complete) {
                self.judgement = Judgement::Violated;
            }
            return Ok(());
        }
        if !schedules.is_empty() {
            self.explored.push(format!("{} schedules, which come to the same end", schedules.len()));
        }
        Ok(())
    }
}
