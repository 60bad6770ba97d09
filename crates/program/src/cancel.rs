//! Ending a run from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A cancellation token, which another thread may set: the run is then given up within some milliseconds. Copies are the
/// same token. Unset it changes nothing about a run.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

/// Steps after which what runs without an event looks again, as a power of two: about a millisecond.
const LOOKS: u32 = 18;

impl Cancel {
    /// Wishes it.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True if it was wished.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The same for what counts its steps down: looks once in [`Cancel::STRIDE`] steps.
    #[inline]
    pub fn between(&self, before: u64, left: u64) -> bool {
        before >> LOOKS != left >> LOOKS && self.is_cancelled()
    }

    /// Steps from one look to the next.
    pub const STRIDE: u64 = 1 << LOOKS;
}
