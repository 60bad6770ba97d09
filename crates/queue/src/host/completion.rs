//! The completion ring as seen by the host.

use crate::layout::{COMPLETION_PAGE, Layout};

/// Position in the completion ring: 16-byte units of the device's addresses, and a bit that flips at each wrap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingPointer {
    /// The address, in 16-byte units.
    pub units: u32,
    /// The wrap bit.
    pub toggle: bool,
}

impl RingPointer {
    /// The ring's first byte, before any wrap.
    pub fn first(layout: &Layout) -> RingPointer {
        RingPointer { units: layout.sysmem.completion_first(), toggle: false }
    }

    /// From the word in memory: toggle in bit 31.
    pub const fn from_word(word: u32) -> RingPointer {
        RingPointer { units: word & 0x7FFF_FFFF, toggle: word >> 31 != 0 }
    }

    /// The word in memory.
    pub const fn word(self) -> u32 {
        (self.units & 0x7FFF_FFFF) | (self.toggle as u32) << 31
    }

    /// The offset in the pinned memory.
    pub fn offset(self, layout: &Layout) -> u64 {
        (u64::from(self.units) << 4).wrapping_sub(layout.sysmem.noc_base)
    }

    /// Pages from here to the device's write position; `None` if the pointers are inconsistent.
    pub fn pages_to(self, write: RingPointer, layout: &Layout) -> Option<u32> {
        let (first, end) = (layout.sysmem.completion_first(), layout.sysmem.completion_end());
        if !(first..end).contains(&write.units) {
            return None;
        }
        let units = if self.toggle == write.toggle {
            write.units.checked_sub(self.units)?
        } else {
            (end - first) - self.units.checked_sub(write.units)?
        };
        units.is_multiple_of(COMPLETION_PAGE / 16).then_some(units / (COMPLETION_PAGE / 16))
    }

    /// The position some pages later, at most one wrap.
    pub fn advanced(self, pages: u32, layout: &Layout) -> RingPointer {
        let (first, end) = (layout.sysmem.completion_first(), layout.sysmem.completion_end());
        let units = self.units + pages * (COMPLETION_PAGE / 16);
        if units < end {
            RingPointer { units, toggle: self.toggle }
        } else {
            RingPointer { units: units - end + first, toggle: !self.toggle }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::SysmemLayout;

    #[test]
    fn counts_pages_over_the_wrap() {
        let layout = Layout { sysmem: SysmemLayout::new(1 << 16, 4 * COMPLETION_PAGE), ..Layout::default() };
        let start = RingPointer::first(&layout);
        assert_eq!(start.pages_to(start, &layout), Some(0));
        let three = start.advanced(3, &layout);
        assert_eq!(start.pages_to(three, &layout), Some(3));
        let full = start.advanced(4, &layout);
        assert_eq!((full.units, full.toggle, start.pages_to(full, &layout)), (start.units, true, Some(4)));
        assert_eq!(three.pages_to(full.advanced(2, &layout), &layout), Some(3));
        assert_eq!(three.pages_to(start, &layout), None);
        assert_eq!(RingPointer::from_word(full.word()), full);
    }

    #[test]
    fn the_first_word_is_the_drivers() {
        assert_eq!(RingPointer::first(&Layout::default()).word(), 0x0440_0010);
    }
}
