//! How an observer stands, and how it moves on over what comes back.

/// How an observer stands: see [`Observer::stand`](crate::Observer::stand).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Standing {
    /// What decides what it will say: the same words, the same from then on.
    pub same: Vec<u64>,
    /// What it counts: each grows by the same when the same happens again.
    pub counts: Vec<u64>,
}

/// What happened happens again.
#[derive(Debug)]
pub struct Again<'a> {
    pub(crate) times: u64,
    /// By how much each count moved when it happened once, in the order of [`Standing::counts`].
    pub(crate) moved: std::slice::Iter<'a, u64>,
}

impl Again<'_> {
    /// How many times more it happens.
    pub const fn times(&self) -> u64 {
        self.times
    }

    /// By how much the next count moved when it happened once: for counts that are no more than written down.
    pub fn moved(&mut self) -> u64 {
        self.moved.next().copied().unwrap_or(0)
    }

    /// The next count moves on.
    pub fn move_on(&mut self, count: &mut u64) {
        *count = count.wrapping_add(self.moved().wrapping_mul(self.times));
    }
}
