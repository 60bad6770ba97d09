//! A shadow of the issue region: the bytes that the device has yet to read.

use std::collections::VecDeque;

use super::RecordRef;
use crate::layout::Layout;

/// Records that were announced and have not landed, oldest first.
#[derive(Clone, Debug)]
pub(crate) struct IssueShadow {
    bytes: u64,
    /// The device's next read address, if host and device agree.
    next: u64,
    announced: u64,
    unread: VecDeque<RecordRef>,
    /// Number of records being read: their slots are free again.
    in_flight: usize,
    /// The destination of the last of these. At most one read is in flight.
    to: u32,
}

/// The record hit by a store of the host into the issue region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Overlap {
    /// A record whose slot is still queued.
    Queued(RecordRef),
    /// A record that is being read.
    InFlight(RecordRef),
}

impl IssueShadow {
    pub fn new(layout: &Layout) -> IssueShadow {
        IssueShadow {
            bytes: layout.sysmem.issue_bytes.into(),
            next: 0,
            announced: 0,
            unread: VecDeque::new(),
            in_flight: 0,
            to: 0,
        }
    }

    /// The host announces a record by its slot.
    pub fn announce(&mut self, length: u32) -> RecordRef {
        if self.next + u64::from(length) > self.bytes {
            self.next = 0;
        }
        let record = RecordRef { index: self.announced, offset: self.next, length };
        self.unread.push_back(record);
        self.announced += 1;
        self.next += u64::from(length);
        record
    }

    /// The device starts to read the oldest unread record: from its actual read address, to an address.
    pub fn fetch(&mut self, offset: u64, length: u32, to: u32) -> RecordRef {
        self.to = to;
        match self.unread.get_mut(self.in_flight) {
            Some(record) => {
                (record.offset, record.length) = (offset, length);
                self.in_flight += 1;
                *record
            }
            None => RecordRef { index: self.announced, offset, length },
        }
    }

    /// The device's read to an address has landed.
    pub fn landed(&mut self, to: u32) {
        if self.in_flight > 0 && to == self.to {
            self.unread.pop_front();
            self.in_flight -= 1;
        }
    }

    /// Whether a store hits an unread record.
    pub fn overlap(&self, offset: u64, bytes: u64) -> Option<Overlap> {
        let (first, last) = (self.unread.front()?, self.unread.back()?);
        let (start, end) = (first.offset, last.offset + u64::from(last.length));
        let hits = |from: u64, to: u64| offset < to && from < offset + bytes;
        let possible = if start < end { hits(start, end) } else { hits(start, u64::MAX) || hits(0, end) };
        if !possible {
            return None;
        }
        let hit =
            self.unread.iter().position(|record| hits(record.offset, record.offset + u64::from(record.length)))?;
        let record = self.unread[hit];
        Some(if hit < self.in_flight { Overlap::InFlight(record) } else { Overlap::Queued(record) })
    }

    /// Records announced so far.
    pub fn announced(&self) -> u64 {
        self.announced
    }

    /// The oldest record whose slot is still queued.
    pub fn next_queued(&self) -> Option<RecordRef> {
        self.unread.get(self.in_flight).copied()
    }

    /// Records whose slots are still queued.
    pub fn queued(&self) -> usize {
        self.unread.len() - self.in_flight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_into_unread_records_are_seen_across_the_wrap() {
        let mut layout = Layout::default();
        layout.sysmem.issue_bytes = 256;
        let mut shadow = IssueShadow::new(&layout);
        for _ in 0..3 {
            shadow.announce(64);
        }
        let first = shadow.fetch(0, 64, 0);
        assert_eq!(shadow.overlap(10, 4), Some(Overlap::InFlight(first)));
        assert!(matches!(shadow.overlap(60, 8), Some(Overlap::InFlight(_))));
        assert!(matches!(shadow.overlap(64, 1), Some(Overlap::Queued(r)) if r.index == 1));
        assert_eq!(shadow.overlap(192, 64), None);
        shadow.landed(0);
        assert_eq!(shadow.overlap(0, 64), None);
        // 128 bytes do not fit after 192, so the record starts over.
        shadow.fetch(64, 64, 0);
        shadow.landed(0);
        assert_eq!(shadow.announce(128).offset, 0);
        assert!(matches!(shadow.overlap(100, 4), Some(Overlap::Queued(r)) if r.index == 3));
        assert_eq!((shadow.overlap(192, 64), shadow.overlap(128, 1).is_some()), (None, true));
    }
}
