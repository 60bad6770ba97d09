//! Cancelling a run from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A cancellation token, which another thread may set: the run is then stopped within some milliseconds. Clones share
/// their state. As long as it is not set it does not affect a run.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

/// Steps between two checks in code that runs without an event, as a power of two: about a millisecond.
const LOOKS: u32 = 18;

impl Cancel {
    /// Sets the token.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True if the token is set.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// As [`Cancel::is_cancelled`], for code that counts down its steps: checks once in [`Cancel::STRIDE`] steps.
    #[inline]
    pub fn between(&self, before: u64, left: u64) -> bool {
        before >> LOOKS != left >> LOOKS && self.is_cancelled()
    }

    /// Steps between two checks.
    pub const STRIDE: u64 = 1 << LOOKS;
}
