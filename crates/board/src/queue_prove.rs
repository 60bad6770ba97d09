//! Whether the outcome of a stream depends on its delays: runs with many schedules, compared with each other and
//! checked against the order that synchronisation enforces.

use std::collections::BTreeSet;
use std::fmt;

use slipring_queue::board::Board;
use slipring_queue::capture::{ActKind, Capture};
use slipring_queue::machine::{Config, Delays};
use slipring_queue::replay::{Replay, replay};
use slipring_queue::sanitize::{Hazard, Severity};

use crate::queue_run::{QueueWork, queue_dumps, queue_findings};

/// How the delays of a run are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueSchedule {
    /// Usual durations.
    Usual,
    /// From a seed.
    Seed(u64),
    /// One kind is always delayed as much as possible: one of [`Delays::KINDS`].
    Late(&'static str),
}

impl QueueSchedule {
    /// The usual one, each kind delayed, and this many seeds from 1.
    pub fn all(seeds: u64) -> Vec<QueueSchedule> {
        let late = Delays::KINDS.into_iter().map(QueueSchedule::Late);
        [QueueSchedule::Usual].into_iter().chain(late).chain((1..=seeds).map(QueueSchedule::Seed)).collect()
    }

    /// A configuration with these delays.
    pub fn of(self, config: &Config) -> Config {
        match self {
            QueueSchedule::Usual => Config { seed: None, ..config.clone() },
            QueueSchedule::Seed(seed) => Config { seed: Some(seed), ..config.clone() },
            QueueSchedule::Late(kind) => {
                let delays = config.delays.clone().with_late(kind).unwrap_or_else(|| config.delays.clone());
                Config { seed: None, delays, ..config.clone() }
            }
        }
    }

    /// The options of `slipring queue run` that choose it.
    pub fn options(self) -> String {
        match self {
            QueueSchedule::Usual => String::new(),
            QueueSchedule::Seed(seed) => format!(" --seed {seed}"),
            QueueSchedule::Late(kind) => format!(" --late {kind}"),
        }
    }
}

impl fmt::Display for QueueSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueSchedule::Usual => f.write_str("the usual delays"),
            QueueSchedule::Seed(seed) => write!(f, "seed {seed}"),
            QueueSchedule::Late(kind) => write!(f, "{kind} late"),
        }
    }
}

/// The result of a run with a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueueTrial {
    /// The schedule.
    pub schedule: QueueSchedule,
    /// The findings: the hazards' codes, with the records.
    pub found: BTreeSet<(&'static str, Option<u64>)>,
    /// Whether one of them is an error.
    pub errors: bool,
    /// Whether everything ran.
    pub complete: bool,
    /// Data returned to the host, and the memory that the stream asks to show.
    pub back: Vec<Vec<u8>>,
    /// Commands that could not be checked and may order, write or start something.
    pub not_ordered: Vec<String>,
    /// Codes of allowed hazards that were met.
    pub allowed: BTreeSet<&'static str>,
}

impl QueueTrial {
    /// The result of a replay with a schedule.
    pub fn of(schedule: QueueSchedule, run: &mut Replay, capture: &Capture, config: &Config) -> QueueTrial {
        let found = queue_findings(run, capture, config);
        let mut back: Vec<Vec<u8>> = run.completions.iter().map(|completion| completion.bytes.clone()).collect();
        back.push(queue_dumps(capture, run).unwrap_or_default().into_bytes());
        QueueTrial {
            schedule,
            errors: found.iter().any(|finding| finding.severity() == Severity::Error),
            found: found.iter().map(|f| (f.hazard.def().code, f.record.map(|record| record.index))).collect(),
            complete: run.complete,
            back,
            not_ordered: run.queue.device().not_ordered(),
            allowed: run.queue.device().allowed().iter().map(|(hazard, _)| hazard.def().code).collect(),
        }
    }

    /// The error that it shows by itself, if any, or that it was given up.
    fn wrong(&self) -> Option<QueueProof> {
        let mut codes: Vec<_> = self.found.iter().map(|(code, _)| *code).collect();
        codes.dedup();
        if codes == [Hazard::RunLimit.def().code] {
            return Some(QueueProof::Undecided(vec![format!(
                "the run with {} was given up: `{}`",
                self.schedule, codes[0]
            )]));
        }
        (self.errors || !self.complete).then_some(QueueProof::Wrong { schedule: self.schedule, codes })
    }

    /// How it differs from another run: in findings or completion; `None` if in neither.
    pub fn differs(&self, other: &QueueTrial) -> Option<String> {
        let list = |of: &QueueTrial, without: &QueueTrial| {
            let named = |(code, record): &(&str, Option<u64>)| match record {
                Some(record) => format!("{code} (record {record})"),
                None => (*code).to_string(),
            };
            of.found.difference(&without.found).map(named).collect::<Vec<_>>()
        };
        let mut parts = Vec::new();
        for (of, without) in [(self, other), (other, self)] {
            let only = list(of, without);
            if !only.is_empty() {
                parts.push(format!("only with {}: {}", of.schedule, only.join(", ")));
            }
        }
        if self.complete != other.complete {
            let (whole, part) = if self.complete { (self, other) } else { (other, self) };
            parts.push(format!("it ends with {}, and not with {}", whole.schedule, part.schedule));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// Why the result for all delays is undecided.
const BY_TIMES: &str = "what runs depends on times that commands or workers write";

const BY_STORES: &str = "stores of the host while commands run: whether these access the same bytes";

/// The result for a stream under all delays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum QueueProof {
    /// Synchronisation orders all conflicting accesses: delays have no observable effect.
    Clean {
        /// Codes of allowed hazards that were met: they may have an effect.
        allowed: Vec<&'static str>,
    },
    /// An error, exposed by a schedule.
    Wrong {
        /// The schedule.
        schedule: QueueSchedule,
        /// Codes of its findings.
        codes: Vec<&'static str>,
    },
    /// Nothing was found, but the result is undecided for these reasons.
    Undecided(Vec<String>),
}

/// Runs a stream with a schedule; workers acknowledge launches.
///
/// # Errors
/// If the machine is invalid, or a record cannot be queued at all.
pub fn queue_trial(
    capture: &Capture,
    config: &Config,
    work: &QueueWork,
    schedule: QueueSchedule,
) -> Result<QueueTrial, String> {
    let config = schedule.of(config);
    let (worker, _) = work.workers(&config.board, false);
    let mut run = replay(capture, config.clone(), worker, |_, _| {})?;
    Ok(QueueTrial::of(schedule, &mut run, capture, &config))
}

/// Whether the outcome of a stream depends on its delays, how many schedules were tried, and the codes of the warnings
/// that were found.
///
/// Delays are the only nondeterminism of the device. If there are no conflicting accesses that synchronisation does not
/// order, and the linter has checked everything that creates order, the outcome is the same for all delays; runs with
/// other delays test this claim. Written timestamps do depend on delays: compared runs use a stopped clock, and one
/// more run with a running clock shows whether timestamps influence anything but bytes.
///
/// # Errors
/// As [`queue_trial`].
pub fn queue_prove(
    capture: &Capture,
    config: &Config,
    kernel_cycles: u64,
    seeds: u64,
) -> Result<(QueueProof, usize, Vec<&'static str>), String> {
    let work = &QueueWork::Acknowledge(kernel_cycles);
    let still = Config { still_clock: true, ..config.clone() };
    let timed = queue_trial(capture, config, work, QueueSchedule::Usual)?;
    let mut trials = Vec::new();
    if let Some(wrong) = timed.wrong() {
        return Ok((wrong, 1, Vec::new()));
    }
    for schedule in QueueSchedule::all(seeds) {
        let trial = queue_trial(capture, &still, work, schedule)?;
        if trial.wrong().is_some() {
            // The report is that of a replay, with a running clock.
            let shown = queue_trial(capture, config, work, schedule)?;
            let proof = shown.wrong().unwrap_or_else(|| QueueProof::Undecided(vec![BY_TIMES.into()]));
            return Ok((proof, trials.len() + 1, Vec::new()));
        }
        trials.push(trial);
    }
    let proof = match (proof(&timed, &trials), stores_beside_commands(capture)) {
        (QueueProof::Clean { .. }, true) => QueueProof::Undecided(vec![BY_STORES.into()]),
        (QueueProof::Undecided(why), true) => QueueProof::Undecided([why, vec![BY_STORES.into()]].concat()),
        (proof, _) => proof,
    };
    let mut warnings: Vec<_> = timed.found.iter().map(|(code, _)| *code).collect();
    warnings.dedup();
    Ok((proof, trials.len(), warnings))
}

/// Whether the host stores bytes while queued records may still run: their accesses are not compared.
fn stores_beside_commands(capture: &Capture) -> bool {
    let mut settled = 0;
    for act in &capture.acts {
        let waits = (settled..act.before).rev().find(|at| capture.entries[*at].waits);
        settled = waits.unwrap_or(settled);
        match act.kind {
            ActKind::Wait => settled = act.before,
            ActKind::Store { .. } if settled < act.before => return true,
            _ => {}
        }
    }
    false
}

/// The combined result of error-free trials: one with a running clock, and those with stopped clocks.
fn proof(timed: &QueueTrial, trials: &[QueueTrial]) -> QueueProof {
    let mut why = timed.not_ordered.clone();
    let lengths = |trial: &QueueTrial| trial.back.iter().map(Vec::len).collect::<Vec<_>>();
    let Some((first, others)) = trials.split_first() else { return QueueProof::Undecided(vec!["no run".into()]) };
    if timed.differs(first).is_some() || lengths(timed) != lengths(first) {
        why.push(BY_TIMES.into());
    }
    for other in others {
        why.extend(first.differs(other));
        if let Some(at) =
            (0..first.back.len().max(other.back.len())).find(|at| first.back.get(*at) != other.back.get(*at))
        {
            let what = match at + 1 == first.back.len() {
                true => "memory that is shown".into(),
                false => format!("record {at} that comes back"),
            };
            why.push(format!(
                "{what} has different bytes with {} and {}: an order that nothing enforces",
                other.schedule, first.schedule
            ));
            break;
        }
    }
    why.dedup();
    if !why.is_empty() {
        return QueueProof::Undecided(why);
    }
    let allowed: BTreeSet<_> = trials.iter().chain([timed]).flat_map(|trial| trial.allowed.iter().copied()).collect();
    QueueProof::Clean { allowed: allowed.into_iter().collect() }
}

/// The board described by a name or a file.
///
/// # Errors
/// If there is no such board, or the file is invalid.
pub fn queue_board(name: &str, read: impl FnOnce(&str) -> Result<Vec<u8>, String>) -> Result<Board, String> {
    if !name.ends_with(".toml") {
        return slipring_queue::board::built_in(name).map_err(|error| error.to_string());
    }
    let text = String::from_utf8(read(name)?).map_err(|_| format!("`{name}` is not a text"))?;
    slipring_queue::board::parse(&text).map_err(|error| format!("`{name}`: {error}"))
}
