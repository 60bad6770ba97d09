//! The outcome of a run.

use slipring_program::{Finding, Memory, Output};

use crate::delay::Unused;
use crate::stats::Stats;

/// The outcome of a run.
#[derive(Debug)]
pub struct RunResult {
    /// All memories afterwards.
    pub memory: Memory,
    /// Cycle at which the last block ended, or at which the run stopped.
    pub cycles: u64,
    /// Errors found by the engine.
    pub findings: Vec<Finding>,
    /// What the program printed.
    pub output: Output,
    /// Counts of what happened.
    pub stats: Stats,
    /// Steps used, out of [`Limits::steps`](crate::Limits::steps).
    pub steps: u64,
    /// True if every block completed. False after a fault, a deadlock or a limit: memory then holds the results
    /// computed so far.
    pub complete: bool,
    /// Signals left for the next launch: `cluster × objects of the program + object`. None in objects that the platform
    /// resets, nor where a block did not complete.
    pub counters: Vec<u64>,
    /// Work items overtaken by later work of their pipe, and steps overtaken by later steps of their function, as their
    /// schedule specifies ([`Late::Past`](crate::Late::Past), [`Late::Step`](crate::Late::Step)).
    pub overtaken: u32,
    /// The delays of its schedule that no work, or no step, has matched.
    pub unused: Vec<Unused>,
    /// Cycles that were extrapolated instead of stepped, because their events repeated earlier ones.
    pub repeated: u64,
}

impl RunResult {
    /// A run that was refused, and why.
    pub fn refused(finding: Finding) -> RunResult {
        RunResult {
            memory: Memory::default(),
            cycles: 0,
            findings: vec![finding],
            output: Output::default(),
            stats: Stats::default(),
            steps: 0,
            complete: false,
            counters: Vec::new(),
            overtaken: 0,
            unused: Vec::new(),
            repeated: 0,
        }
    }
}
