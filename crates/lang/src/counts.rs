//! Counters of parsed texts and lowered kernels since the process began.

use std::sync::atomic::{AtomicU64, Ordering};

static PARSED: AtomicU64 = AtomicU64::new(0);
static LOWERED: AtomicU64 = AtomicU64::new(0);
static LOOPS: AtomicU64 = AtomicU64::new(0);
static ROLLBACKS: AtomicU64 = AtomicU64::new(0);

/// Counters of work. Nothing depends on them, except a test that no text is parsed twice for one command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Number of parsed texts: files, and the modules that they import.
    pub parsed: u64,
    /// Number of times that the kernels of a file were lowered, or a whole program was followed with its kernels.
    pub lowered: u64,
    /// Number of times that a loop was lowered, including retries because its names are carried in another way.
    pub loops: u64,
    /// Number of rollbacks of lowered code.
    pub rollbacks: u64,
}

/// The counts so far.
pub fn counts() -> Counts {
    let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
    Counts { parsed: read(&PARSED), lowered: read(&LOWERED), loops: read(&LOOPS), rollbacks: read(&ROLLBACKS) }
}

pub(crate) fn parsed() {
    PARSED.fetch_add(1, Ordering::Relaxed);
}

pub(crate) fn lowered() {
    LOWERED.fetch_add(1, Ordering::Relaxed);
}

pub(crate) fn looped() {
    LOOPS.fetch_add(1, Ordering::Relaxed);
}

pub(crate) fn rolled_back() {
    ROLLBACKS.fetch_add(1, Ordering::Relaxed);
}
