//! Core timing: the control block that gives a worker the host address to which it writes its start and end times.

use std::ops::Range;

use crate::host::TIMING_MAGIC;
use crate::layout::{L1_ALIGN, Layout};
use crate::sanitize::Hazard;
use crate::wire::{PCIE_XY, Xy};

/// Bytes of the two times that a worker writes.
pub(crate) const TIMES: u64 = 16;

/// Where a worker writes its times, as its control block says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Times {
    /// The location, as a NoC word.
    xy: u32,
    /// The address in that memory.
    pub addr: u64,
}

impl Times {
    /// The bytes of a control block that decide: words 20 to 24.
    pub const DECIDES: Range<u32> = 80..100;

    /// Reads these words; `None` if the block is not armed.
    pub fn read([magic, xy, base, stride, index]: [u32; 5]) -> Option<Times> {
        let addr = u64::from(base) + u64::from(stride) * u64::from(index);
        (magic == TIMING_MAGIC).then_some(Times { xy, addr })
    }

    /// The error in this place for the times of a worker, as far as it does not depend on what else is pinned.
    pub fn mistake(self, tile: Xy, layout: &Layout) -> Option<(Hazard, String)> {
        let Times { xy, addr } = self;
        if xy != PCIE_XY {
            let text = format!("{tile} is told to write its times to {xy:#x}, which is not a host memory");
            Some((Hazard::PcieAddress, text))
        } else if layout.sysmem.own().contains(&addr) {
            let text = format!("{tile} writes its times to {addr:#x}, into the queue's own memory");
            Some((Hazard::QueueMemoryWritten, text))
        } else if !addr.is_multiple_of(L1_ALIGN.into()) {
            let text = format!("{tile} writes its times to {addr:#x}, which is not a multiple of {L1_ALIGN}");
            Some((Hazard::NocAlignment, text))
        } else {
            None
        }
    }
}
