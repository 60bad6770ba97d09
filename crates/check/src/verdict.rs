//! What was checked, what was found, and what the verdict covers.

use std::fmt;

use slipring_program::Finding;
use slipring_sim::{Agent, Launch, Mode, Observer, RunResult, Step, WorkRun};

use crate::{Init, Race};

/// Which of the observing tools run. The engine's own two, *memory* and *sync*, always do.
#[derive(Clone, Debug)]
pub struct Tools {
    /// Conflicting accesses that nothing orders.
    pub race: bool,
    /// Reads of bytes that nobody wrote.
    pub init: bool,
    /// Buffers in global memory that hold nothing at the start: see [`Init::scratch`].
    pub scratch: Vec<usize>,
}

impl Default for Tools {
    /// All tools, no scratch buffers.
    fn default() -> Tools {
        Tools { race: true, init: true, scratch: Vec::new() }
    }
}

/// All tools as one observer.
#[derive(Debug)]
pub struct Checker {
    race: Option<Race>,
    init: Option<Init>,
    /// Whether control flow or addresses may depend on loaded data.
    loads: bool,
    sequential: bool,
}

/// What a tool says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It watched the whole run.
    Checked {
        /// How many errors it found.
        findings: usize,
    },
    /// It watched a run that stopped before its end.
    Partly {
        /// How many errors it found.
        findings: usize,
        /// What stopped the run: the finding's code.
        reason: String,
    },
    /// It did not watch.
    NotChecked {
        /// Why.
        reason: String,
    },
}

/// A tool and what it says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToolVerdict {
    /// `memory`, `sync`, `race` or `init`.
    pub tool: &'static str,
    #[allow(missing_docs)]
    pub verdict: Verdict,
}

/// Which schedules the verdict holds for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Schedules {
    /// Whatever the cores and pipes take how long.
    All,
    /// Only the one that was run.
    ThisOne {
        /// Why, at least one reason.
        reasons: Vec<String>,
    },
}

/// Which data the verdict holds for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Values {
    /// Any contents of the buffers: no address and no branch depends on them.
    AnyContents,
    /// These inputs: the program loads data into registers.
    TheseInputs,
}

/// What the verdict covers, always for the given number of blocks, scalar arguments and buffer sizes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Scope {
    pub schedules: Schedules,
    pub values: Values,
}

/// The verdict on a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckReport {
    /// The tools in the order memory, sync, race, init.
    pub tools: Vec<ToolVerdict>,
    /// What the verdict covers.
    pub scope: Scope,
    /// The engine's findings, then races, then uninitialised reads.
    pub findings: Vec<Finding>,
}

impl Checker {
    /// A checker that has seen nothing yet.
    pub fn new(tools: Tools) -> Checker {
        let init = tools.scratch.iter().fold(Init::new(), |init, buffer| init.scratch(*buffer));
        Checker { race: tools.race.then(Race::new), init: tools.init.then_some(init), loads: true, sequential: false }
    }

    /// The verdict, once the run is over.
    pub fn report(&self, result: &RunResult) -> CheckReport {
        let engine = &result.findings;
        let errors =
            |findings: &[Finding]| findings.iter().filter(|f| f.severity == slipring_program::Severity::Error).count();
        let stop = (!result.complete).then(|| engine.first().map_or("stopped", |f| f.code).to_string());
        let verdict = |findings: usize| match &stop {
            None => Verdict::Checked { findings },
            Some(reason) => Verdict::Partly { findings, reason: reason.clone() },
        };
        let observed = |findings: Option<&[Finding]>| match findings {
            None => Verdict::NotChecked { reason: "not asked for".into() },
            Some(_) if self.sequential => {
                Verdict::NotChecked { reason: "the operations were run one after another, without pipes".into() }
            }
            Some(findings) => verdict(errors(findings)),
        };
        let sync: Vec<_> = engine.iter().filter(|f| SYNC.contains(&f.code)).cloned().collect();
        let races = self.race.as_ref().map(Race::findings);
        let unwritten = self.init.as_ref().map(Init::findings);
        let tools = vec![
            ToolVerdict {
                tool: "memory",
                verdict: verdict(engine.iter().filter(|f| f.code == "memory-bounds").count()),
            },
            ToolVerdict { tool: "sync", verdict: verdict(errors(&sync)) },
            ToolVerdict { tool: "race", verdict: observed(races) },
            ToolVerdict { tool: "init", verdict: observed(unwritten) },
        ];
        let mut findings = engine.clone();
        findings.extend(races.into_iter().chain(unwritten).flatten().cloned());
        CheckReport { tools, scope: self.scope(result), findings }
    }

    fn scope(&self, result: &RunResult) -> Scope {
        let mut reasons = Vec::new();
        match &self.race {
            _ if self.sequential => {
                reasons.push("the operations were run one after another, without pipes".to_string())
            }
            None => reasons.push("races were not looked for".to_string()),
            Some(race) => {
                if race.findings().iter().any(|f| f.code == "race") {
                    reasons.push("there are races: what is read depends on the schedule".into());
                }
                reasons.extend(race.doubts().iter().cloned());
            }
        }
        // Other stops happen in every schedule: the steps before them are the same.
        for (code, reason) in
            [("step-limit", "the run was given up"), ("flag-overflow", "a signal found no room in it")]
        {
            if result.findings.iter().any(|f| f.code == code) {
                reasons.push(reason.into());
            }
        }
        let schedules = if reasons.is_empty() { Schedules::All } else { Schedules::ThisOne { reasons } };
        Scope { schedules, values: if self.loads { Values::TheseInputs } else { Values::AnyContents } }
    }
}

/// Codes of the engine's findings about synchronisation.
const SYNC: [&str; 9] = [
    "deadlock",
    "flag-overflow",
    "tile-never-popped",
    "slot-not-freed",
    "flag-left-set",
    "token-not-released",
    "token-not-held",
    "signal-left-over",
    "sync-index",
];

impl CheckReport {
    /// True if every tool watched the whole run and no finding is an error.
    pub fn is_clean(&self) -> bool {
        let whole = |tool: &ToolVerdict| matches!(tool.verdict, Verdict::Checked { .. });
        self.tools.iter().all(whole) && self.findings.iter().all(|f| f.severity < slipring_program::Severity::Error)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Checked { findings } => write!(f, "checked, {}", found(*findings)),
            Verdict::Partly { findings, reason } => {
                write!(f, "checked up to the stop ({reason}), {}", found(*findings))
            }
            Verdict::NotChecked { reason } => write!(f, "not checked ({reason})"),
        }
    }
}

fn found(findings: usize) -> String {
    match findings {
        0 => "no findings".into(),
        1 => "1 finding".into(),
        n => format!("{n} findings"),
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = match self.values {
            Values::AnyContents => "any contents of the buffers",
            Values::TheseInputs => "these inputs",
        };
        match &self.schedules {
            Schedules::All => write!(f, "all schedules, {values}"),
            Schedules::ThisOne { reasons } => write!(f, "this schedule only ({})", reasons.join("; ")),
        }
    }
}

impl Observer for Checker {
    fn begin(&mut self, launch: &Launch<'_>) {
        self.sequential = launch.mode == Mode::Sequential;
        self.loads = launch.program.cores.iter().flat_map(|core| &core.works).any(|work| work.result.is_some());
        self.race.begin(launch);
        self.init.begin(launch);
    }

    fn block_start(&mut self, at: u64, block: u32, cluster: u32) {
        self.race.block_start(at, block, cluster);
        self.init.block_start(at, block, cluster);
    }

    fn issue(&mut self, at: u64, to: Agent, step: Step, site: u32) {
        self.race.issue(at, to, step, site);
    }

    fn start(&mut self, at: u64, run: &WorkRun<'_>) {
        self.race.start(at, run);
    }

    fn end(&mut self, at: u64, run: &WorkRun<'_>) {
        self.init.end(at, run);
    }

    fn set(&mut self, at: u64, agent: Agent, sync: u32, lost: bool, site: u32) {
        self.race.set(at, agent, sync, lost, site);
    }

    fn wait(&mut self, at: u64, agent: Agent, sync: u32, site: u32) {
        self.race.wait(at, agent, sync, site);
    }

    fn barrier(&mut self, at: u64, agent: Agent, site: u32) {
        self.race.barrier(at, agent, site);
    }
}
