//! What came of a run.

use slipring_program::{Finding, Memory, Output};

use crate::delay::Unused;
use crate::stats::Stats;

/// What came of a run.
#[derive(Debug)]
pub struct RunResult {
    /// All memories afterwards.
    pub memory: Memory,
    /// Cycle at which the last block was over, or at which the run stopped.
    pub cycles: u64,
    /// What the engine found wrong.
    pub findings: Vec<Finding>,
    /// What the program printed.
    pub output: Output,
    /// Counts of what happened.
    pub stats: Stats,
    /// Steps that the run took, of [`Limits::steps`](crate::Limits::steps).
    pub steps: u64,
    /// True if every block ran to its end. False after a fault, a deadlock or a limit: memory then holds
    /// what had been computed so far.
    pub complete: bool,
    /// Signals that are left for the next launch: `cluster × objects of the program + object`. None in objects that the platform
    /// resets, nor where a block did not complete.
    pub counters: Vec<u64>,
    /// Works that a later work of their pipe has overtaken, and steps that a later step of their function has, as their schedule says
    /// ([`Late::Past`](crate::Late::Past), [`Late::Step`](crate::Late::Step)).
    pub overtaken: u32,
    /// The delays of its schedule that no work, or no step, has met.
    pub unused: Vec<Unused>,
    /// Cycles that were not stepped through, as what happened in them had happened in the same way before.
    pub repeated: u64,
}

impl RunResult {
    /// A run that did not begin: why.
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
