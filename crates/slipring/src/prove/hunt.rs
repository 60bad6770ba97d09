//! A quick hunt for a schedule that shows something: random legal durations, and each core and pipe slow in turn.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;
use slipring_check::{CheckReport, Tools, Verdict};
use slipring_machine::{Pipe, Role};
use slipring_program::{ParamKind, Severity, SiteRef};
use slipring_sim::{Agent, Delay, LONGEST, Observer, Timing, WorkRun};

use super::{Judgement, Proof, Subject, budget};
use crate::exec::{How, launch};
use crate::{Error, Execution, RunOptions};

/// A schedule and what it shows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Witness {
    /// What `slipring run` takes to replay it: `--timing random:17`, or `--schedule FILE` with the file's text in `schedule`.
    pub replay: String,
    /// The works that take longer, a line each, where those are few.
    pub schedule: Option<String>,
    /// What it shows.
    pub shows: String,
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.schedule {
            Some(schedule) => {
                write!(f, "{}: {} (replay: `slipring run … {}`)", schedule.trim_end(), self.shows, self.replay)
            }
            None => write!(f, "{} (replay: `slipring run … {}`)", self.shows, self.replay),
        }
    }
}

/// What two runs leave that is not the same: the first byte that differs of the first buffer, or the end.
pub(super) fn difference(subject: &Subject<'_>, usual: &Execution, other: &Execution) -> Option<String> {
    if other.result.findings.iter().any(budget::is_limit) {
        return None;
    }
    let error = other.result.findings.iter().find(|finding| finding.severity == Severity::Error);
    if let Some(error) =
        error.filter(|error| usual.result.findings.iter().all(|known| !known.kind.is_like(&error.kind)))
    {
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

/// The works of a run: whose, which of its pipe's in the block, and where it stands.
#[derive(Default)]
struct Works {
    counts: BTreeMap<(u32, usize), u32>,
    list: Vec<(Agent, u32, SiteRef)>,
}

impl Observer for Works {
    fn start(&mut self, _: u64, run: &WorkRun<'_>) {
        let count = self.counts.entry((run.agent.block, run.agent.lane())).or_insert(0);
        *count += 1;
        self.list.push((run.agent, *count, run.site));
    }
}

/// Most works that are delayed, one after the other.
const DELAYED: usize = 48;

/// A schedule in which one work that a finding names takes longer, by as little as shows something.
fn one_delay(
    subject: &Subject<'_>,
    quiet: &Tools,
    usual: &Execution,
    judged: &CheckReport,
) -> Result<Option<Witness>, Error> {
    let errors = judged.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let sites: BTreeSet<SiteRef> =
        errors.flat_map(|finding| finding.primary.iter().chain(&finding.secondary)).map(|label| label.site).collect();
    if sites.is_empty() || !usual.result.complete {
        return Ok(None);
    }
    let mut works = Works::default();
    let (compiled, asked) = (subject.compiled, &subject.asked);
    let how = How { cancel: asked.control.wish(), ..How::default() };
    launch(&compiled.prepared.decoded, &compiled.platform, subject.bound, subject.options, how, &mut works);
    let shown = |delay: Delay| -> Result<Option<String>, Error> {
        let (other, _) = subject.run_as(RunOptions { delays: vec![delay], ..asked.clone() }, quiet, None)?;
        Ok(difference(subject, usual, &other))
    };
    let named = works.list.into_iter().filter(|(_, _, site)| sites.contains(site)).take(DELAYED);
    for (agent, work, site) in named {
        if subject.budget.check().is_err() {
            break;
        }
        subject.tell("schedules that delay one work");
        let delay = |by: u64| Delay { role: agent.role, pipe: agent.pipe, work, by, block: agent.block };
        let Some(mut shows) = shown(delay(LONGEST))? else { continue };
        let (mut less, mut enough) = (0, LONGEST);
        while enough - less > 1 {
            let middle = less + (enough - less) / 2;
            match shown(delay(middle))? {
                Some(text) => (enough, shows) = (middle, text),
                None => less = middle,
            }
        }
        let op = compiled.prepared.decoded.program.sites.get(site as usize).map_or("?", |site| &*site.op);
        let at = subject.line(site).map_or(String::new(), |line| format!(" (line {line})"));
        let schedule = format!("{}  # `{op}`{at}\n", delay(enough));
        return Ok(Some(Witness { replay: "--schedule FILE".into(), schedule: Some(schedule), shows }));
    }
    Ok(None)
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
        let quiet = Tools { race: false, init: false, ..tools.clone() };
        let compete = judged.tools.iter().any(|tool| matches!(tool.verdict, Verdict::NotShown { .. }));
        if timings > 0
            && let Some(witness) = one_delay(subject, &quiet, usual, judged)?
        {
            if undecided {
                self.judgement = Judgement::Violated;
            }
            self.explored.push("schedules that delay one work".into());
            self.witness = Some(witness);
            return Ok(());
        }
        for (at, timing) in schedules.iter().enumerate() {
            if subject.budget.check().is_err() {
                self.explored.push(format!("{at} schedules, which come to the same end"));
                return Ok(());
            }
            subject.tell(format!("schedule {} of {}", at + 1, schedules.len()));
            let (other, _) = subject.run(*timing, &quiet, None)?;
            let Some(shows) = difference(subject, usual, &other) else { continue };
            self.explored.push(format!("{} schedules", at + 1));
            self.witness = Some(Witness { replay: format!("--timing {timing}"), schedule: None, shows });
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
