//! The issue region and the slots of `prefetch_q`: the location of the next record, and when it is free.

use std::collections::VecDeque;

use crate::layout::{Layout, PCIE_ALIGN};

/// The fetch queue as seen by the host: pure bookkeeping, without access to a device.
#[derive(Clone, Debug)]
pub struct Issue {
    region: u32,
    entries: u32,
    write: u32,
    slot: u32,
    /// Records whose bytes may still be needed, oldest first.
    held: VecDeque<Held>,
}

/// A record whose bytes may still be needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Held {
    offset: u32,
    bytes: u32,
    slot: u32,
}

/// The destination of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IssueSlot {
    /// Bytes from the start of the issue region.
    pub offset: u32,
    /// Slot of `prefetch_q`.
    pub slot: u32,
}

impl Issue {
    /// An empty queue.
    pub fn new(layout: &Layout) -> Issue {
        Issue {
            region: layout.sysmem.issue_bytes,
            entries: layout.prefetch.q_entries,
            write: 0,
            slot: 0,
            held: VecDeque::new(),
        }
    }

    /// The next location for a record of this size: the next multiple of 64, or the region's start if it would not fit.
    pub fn place(&self, bytes: u32) -> IssueSlot {
        let write = self.write.next_multiple_of(PCIE_ALIGN);
        let offset = if u64::from(write) + u64::from(bytes) > u64::from(self.region) { 0 } else { write };
        IssueSlot { offset, slot: self.slot }
    }

    /// Whether the bytes of a location may still be needed, and if so, the slot that must have been taken first.
    ///
    /// A slot is free as soon as the read of its record is *issued*. As at most one read is in flight, a record has
    /// been read once the slot after its own has been taken as well.
    pub fn needed(&self, place: IssueSlot, bytes: u32) -> Option<u32> {
        let end = u64::from(place.offset) + u64::from(bytes);
        let overlap =
            |h: &Held| u64::from(h.offset) < end && u64::from(place.offset) < u64::from(h.offset) + u64::from(h.bytes);
        // Mostly nothing overlaps, as the first and last record show.
        let (first, last) = (self.held.front()?, self.held.back()?);
        let (start, stop) = (u64::from(first.offset), u64::from(last.offset) + u64::from(last.bytes));
        let at = u64::from(place.offset);
        if if start < stop { end <= start || stop <= at } else { end <= start && stop <= at } {
            return None;
        }
        // Everything older is released together with it, so the last overlapping record counts.
        let last = self.held.iter().rposition(overlap)?;
        self.held.get(last + 1).map(|next| next.slot)
    }

    /// Records that a slot, and thus all before it, has been taken by the device: bytes of records before that slot's
    /// are free.
    pub fn taken(&mut self, slot: u32) {
        // Slots ascend towards the last. A reused one appears twice: the later one counts.
        let Some(last) = self.held.back() else { return };
        let behind = (last.slot + self.entries - slot) % self.entries;
        if let Some(at) = (self.held.len() - 1).checked_sub(behind as usize) {
            self.held.drain(..at);
        }
    }

    /// Records that a record was written and queued.
    pub fn queued(&mut self, place: IssueSlot, bytes: u32) {
        // A reused slot was taken before: everything before the record it held has been read, but perhaps not that
        // record itself.
        while self.held.len() > self.entries as usize {
            self.held.pop_front();
        }
        self.held.push_back(Held { offset: place.offset, bytes, slot: place.slot });
        self.write = place.offset + bytes;
        self.slot = (place.slot + 1) % self.entries;
    }

    /// Records that everything queued so far has been read and run.
    pub fn idle(&mut self) {
        self.held.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::SysmemLayout;

    fn small() -> Issue {
        let layout = Layout { sysmem: SysmemLayout::new(1024, 8192), ..Layout::default() };
        Issue::new(&layout)
    }

    #[test]
    fn wraps_where_a_record_does_not_fit() {
        let mut issue = small();
        for (bytes, offset) in [(320, 0), (320, 320), (320, 640), (128, 0)] {
            let place = issue.place(bytes);
            assert_eq!(place.offset, offset);
            issue.queued(place, bytes);
        }
    }

    #[test]
    fn bytes_are_needed_until_the_next_slot_is_taken() {
        let mut issue = small();
        for bytes in [320, 320, 320] {
            issue.queued(issue.place(bytes), bytes);
        }
        let place = issue.place(320);
        assert_eq!((place.offset, issue.needed(place, 320)), (0, Some(1)));
        issue.taken(1);
        assert_eq!(issue.needed(place, 320), None);
        assert_eq!(issue.needed(place, 384), Some(2));
    }

    #[test]
    fn slots_wrap() {
        let mut issue = small();
        issue.entries = 2;
        for slot in [0, 1, 0, 1] {
            let place = issue.place(64);
            assert_eq!(place.slot, slot);
            issue.queued(place, 64);
        }
        // The record at 64 has been taken, as its slot was used again, and may still be on its way.
        let over = IssueSlot { offset: 64, slot: 0 };
        assert_eq!(issue.needed(over, 64), Some(0));
        issue.taken(0);
        assert_eq!(issue.needed(over, 64), None);
    }
}
