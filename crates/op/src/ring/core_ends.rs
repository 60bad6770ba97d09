//! The ring ends of a core.

use std::collections::BTreeMap;

use slipring_program::{Direction, Operand, Reg};

use crate::ring::key::PipeKey;

/// A core's ends of the kernel's rings, by pipe and direction.
#[derive(Clone, Debug, Default)]
pub struct CoreRings {
    /// `None` for an end whose initialisation had an error, which is reported once, there.
    pub(crate) ends: BTreeMap<(PipeKey, Direction), Option<End>>,
}

/// One end of a ring. Optional registers are only allocated for rings that need them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    /// Address of slot 0.
    pub(crate) base: Operand,
    /// The landing area for pops from global memory.
    pub(crate) landing: Option<Landing>,
    /// Slot of the next push (producer) or pop (consumer).
    pub(crate) tag: Reg,
    /// Slot of the next free (consumer).
    pub(crate) free_tag: Reg,
    /// Pushes (producer) or frees (consumer) since the last signal of a sparse ring.
    pub(crate) position: Option<Reg>,
    /// Phases that ops turn on and off, in the order of [`Phase`].
    pub(crate) status: [Option<Reg>; 4],
    /// One bit for each popped slot that is held, the oldest in the lowest bit: whether to free it; and the number of
    /// such slots.
    pub(crate) held: Option<(Reg, Reg)>,
    /// The control signal popped last.
    pub(crate) signal: Option<Reg>,
}

/// The area where popped tiles land.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Landing {
    pub(crate) base: Operand,
    /// Its next slot; `None` where it has as many slots as the ring, and the same tag.
    pub(crate) tag: Option<Reg>,
    pub(crate) slots: u32,
}
