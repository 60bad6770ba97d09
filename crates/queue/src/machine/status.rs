//! The progress of a machine.

/// The progress of a machine: for progress displays and tests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    /// Device cycles so far.
    pub cycle: u64,
    /// Records announced by the host.
    pub announced: u64,
    /// Records whose slots are still queued.
    pub queued: u64,
    /// Commands met by prefetcher, dispatcher and subordinate.
    pub commands: [u64; 3],
    /// Pages of the dispatcher that the prefetcher could acquire now.
    pub credits: u32,
    /// Pages handed to the dispatcher and not consumed.
    pub pages: u64,
    /// Pages of the completion ring not taken by the host.
    pub completions: u64,
    /// Transfers in flight.
    pub flights: u64,
    /// Running workers.
    pub running: u32,
    /// Launches so far.
    pub launches: u64,
    /// The activity of each actor, one line each.
    pub actors: Vec<String>,
    /// How often fetching was entered in each of its eight states: bit 0: a command is available, bit 1: the slot is
    /// full, bit 2: a read is in flight.
    pub fetch_states: [u64; 8],
}
