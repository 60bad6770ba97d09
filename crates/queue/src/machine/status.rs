//! How far a machine has come.

/// How far a machine has come: for progress displays and tests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    /// Device cycles so far.
    pub cycle: u64,
    /// Records that the host has announced.
    pub announced: u64,
    /// Records whose slots are still queued.
    pub queued: u64,
    /// Commands that prefetcher, dispatcher and subordinate have met.
    pub commands: [u64; 3],
    /// Pages of the dispatcher that the prefetcher could acquire now.
    pub credits: u32,
    /// Pages handed to the dispatcher and not consumed.
    pub pages: u64,
    /// Pages of the completion ring that the host has not taken.
    pub completions: u64,
    /// Transfers on their way.
    pub flights: u64,
    /// Workers that run.
    pub running: u32,
    /// Launches so far.
    pub launches: u64,
    /// What each actor is doing, one line each.
    pub actors: Vec<String>,
    /// How often fetching was entered in each of its eight states: bit 0 a command is there, bit 1 the slot is full, bit 2 a read
    /// is under way.
    pub fetch_states: [u64; 8],
}
