//! The state of an observer, and how it advances over repetitions.

/// The state of an observer: see [`Observer::stand`](crate::Observer::stand).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Standing {
    /// The state that determines its reports: equal words imply equal reports from then on.
    pub same: Vec<u64>,
    /// Its counters: each advances by the same amount if the same events are repeated.
    pub counts: Vec<u64>,
}

/// A repetition of past events.
#[derive(Debug)]
pub struct Again<'a> {
    pub(crate) times: u64,
    /// The increase of each counter in one repetition, in the order of [`Standing::counts`].
    pub(crate) moved: std::slice::Iter<'a, u64>,
}

impl Again<'_> {
    /// The number of further repetitions.
    pub const fn times(&self) -> u64 {
        self.times
    }

    /// The increase of the next counter in one repetition, for counters that are only recorded.
    pub fn moved(&mut self) -> u64 {
        self.moved.next().copied().unwrap_or(0)
    }

    /// Advances the next counter.
    pub fn move_on(&mut self, count: &mut u64) {
        *count = count.wrapping_add(self.moved().wrapping_mul(self.times));
    }
}
