//! How often texts were parsed, and their kernels lowered, since the process began.

use std::sync::atomic::{AtomicU64, Ordering};

static PARSED: AtomicU64 = AtomicU64::new(0);
static LOWERED: AtomicU64 = AtomicU64::new(0);
static LOOPS: AtomicU64 = AtomicU64::new(0);
static ROLLBACKS: AtomicU64 = AtomicU64::new(0);

/// How much work there was. Nothing depends on it: a test holds that no text is read twice for one command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Texts that were parsed: files, and the modules that they import.
    pub parsed: u64,
    /// How often the kernels of a file were lowered, or a whole program followed with its kernels.
    pub lowered: u64,
    /// How often a loop was lowered: once more each time its names turned out to be carried in another way.
    pub loops: u64,
    /// How often something that had been lowered was taken back.
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
