//! Memory that commands have written and the prefetcher may not read yet.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use crate::lint::memory::{Bytes, Memory};
use crate::sanitize::CommandRef;
use crate::wire::{Rect, Xy};

/// Written bytes.
#[derive(Clone, Copy, Debug)]
struct Range {
    /// End (exclusive).
    end: u64,
    /// Number of preceding barriers of the dispatcher.
    epoch: u64,
    /// The last command that wrote there.
    by: CommandRef,
}

/// Ranges of a memory, by their first byte. They are disjoint.
type Ranges = BTreeMap<u64, Range>;

/// Adds a write of some of these bytes, which is the latest one to them.
fn add(ranges: &mut Ranges, start: u64, new: Range) {
    // The same bytes again, as with rings and mailboxes.
    if let Some((first, there)) = ranges.range_mut(..=start).next_back()
        && there.end >= new.end
        && (there.epoch == new.epoch || (*first, there.end) == (start, new.end))
    {
        (there.epoch, there.by) = (new.epoch, new.by);
        return;
    }
    let (mut from, mut to, mut before) = (start, new.end, Bound::Included(new.end));
    while let Some((first, there)) =
        ranges.range((Bound::Unbounded, before)).next_back().map(|(at, range)| (*at, *range))
        && there.end >= start
    {
        before = Bound::Excluded(first);
        if there.epoch == new.epoch {
            ranges.remove(&first);
            (from, to) = (from.min(first), to.max(there.end));
        } else if there.end > start && first < new.end {
            ranges.remove(&first);
            if there.end > new.end {
                ranges.insert(new.end, there);
            }
            if first < start {
                ranges.insert(first, Range { end: start, ..there });
            }
        }
    }
    ranges.insert(from, Range { end: to, ..new });
}

/// The ranges that overlap some bytes, last ones first.
fn meeting(ranges: &Ranges, start: u64, end: u64) -> impl Iterator<Item = (u64, &Range)> {
    let before = ranges.range(..end).rev().map(|(first, range)| (*first, range));
    before.take_while(move |(_, range)| range.end > start)
}

/// Data that commands write, and that the prefetcher or the host may not read yet.
///
/// The progress of a write is given by the number of barriers before it: the dispatcher has waited for everything
/// written before the last one, has notified the prefetcher of everything before an earlier one, and so on.
#[derive(Debug, Default)]
pub(super) struct Unread {
    /// Of single tiles, by their words.
    tiles: Vec<Ranges>,
    /// Of other memories.
    others: BTreeMap<Memory, Ranges>,
    /// Packed writes whose lists are not known: number of preceding barriers, and the command.
    lists: BTreeMap<u32, (u64, CommandRef)>,
    /// Number of the dispatcher's barriers so far.
    pub(super) barriers: u64,
    /// The prefetcher has been notified of everything written before this many barriers.
    told: u64,
    /// The prefetcher has waited for everything written before this many: only the host may not read it.
    seen: u64,
    /// The host knows of everything written before this many.
    known: u64,
    /// Records written by the dispatcher for the host, by number, and the barriers before.
    reported: VecDeque<(u64, u64)>,
    /// The barriers before the last write to a single tile, and to a rectangle of tiles.
    last: [Option<u64>; 2],
    /// The barriers before the last command that wrote to DRAM, and that command.
    dram: Option<(u64, CommandRef)>,
    /// Number of ranges added since the last cleanup, and how many were left then.
    added: usize,
    left: usize,
}

/// Maximum number of rectangles that are examined; a driver has about ten.
const MOST_RECTANGLES: usize = 4096;

/// Number of ranges added before ranges known to the host are cleaned up.
const ADDED: usize = 4096;

impl Unread {
    fn ranges(&self, memory: Memory) -> Option<&Ranges> {
        match memory {
            Memory::Tile(tile) => self.tiles.get(tile.word() as usize),
            memory => self.others.get(&memory),
        }
    }

    /// A command writes bytes of a memory, after this many barriers.
    pub(crate) fn add(&mut self, memory: Memory, start: u64, end: u64, epoch: u64, by: CommandRef) {
        if start >= end {
            return;
        }
        self.added += 1;
        match memory {
            Memory::Tile(_) => self.last[0] = self.last[0].max(Some(epoch)),
            Memory::Tiles(_) => self.last[1] = self.last[1].max(Some(epoch)),
            Memory::Bank(_) => {
                if self.dram.is_none_or(|(before, last)| (before, last.index) <= (epoch, by.index)) {
                    self.dram = Some((epoch, by));
                }
            }
            Memory::Host => {}
        }
        let ranges = match memory {
            Memory::Tile(tile) => {
                let at = tile.word() as usize;
                if at >= self.tiles.len() {
                    self.tiles.resize_with(at + 1, Ranges::new);
                }
                &mut self.tiles[at]
            }
            memory => self.others.entry(memory).or_default(),
        };
        add(ranges, start, Range { end, epoch, by });
    }

    /// The host has waited until everything has run.
    pub fn all_read(&mut self) {
        let tiles = std::mem::take(&mut self.tiles);
        *self = Unread { tiles, barriers: self.barriers, ..Unread::default() };
        self.tiles.iter_mut().for_each(Ranges::clear);
    }

    /// A write to a tile without a barrier that travels in another channel than one to the same bytes.
    pub(crate) fn overtakes(&self, part: &Bytes) -> Option<CommandRef> {
        let now = Some(self.barriers);
        match *part {
            (Memory::Tile(tile), start, end) if self.last[1] == now => {
                self.rectangles(tile).find_map(|ranges| self.first(ranges, start, end, self.barriers))
            }
            (Memory::Tiles(word), start, end) if self.last[0] == now => {
                let tiles = Rect::from_word(word).tiles().filter_map(|tile| self.ranges(Memory::Tile(tile)));
                tiles.into_iter().find_map(|ranges| self.first(ranges, start, end, self.barriers))
            }
            _ => None,
        }
    }

    /// Writes to a tile through rectangles.
    fn rectangles(&self, tile: Xy) -> impl Iterator<Item = &Ranges> {
        let all = self.others.range(Memory::Tiles(0)..).take(MOST_RECTANGLES);
        let around = move |(memory, ranges)| match memory {
            &Memory::Tiles(word) if Rect::from_word(word).contains(tile) => Some(ranges),
            _ => None,
        };
        all.filter_map(around)
    }

    /// The last command that wrote some of these bytes after at least this many barriers.
    fn first(&self, ranges: &Ranges, start: u64, end: u64, epoch: u64) -> Option<CommandRef> {
        let newer = meeting(ranges, start, end).filter(|(_, range)| range.epoch >= epoch);
        newer.map(|(_, range)| range.by).max_by_key(|by| by.index)
    }

    /// The last command that wrote some of a range after at least this many barriers, including writes through
    /// rectangles.
    fn meets_since(&self, part: &Bytes, epoch: u64) -> Option<CommandRef> {
        let (memory, start, end) = *part;
        let own = self.ranges(memory).and_then(|ranges| self.first(ranges, start, end, epoch));
        let Memory::Tile(tile) = memory else { return own };
        let around = self.rectangles(tile).filter_map(|ranges| self.first(ranges, start, end, epoch));
        around.chain(own).max_by_key(|by| by.index)
    }

    /// A command that writes a range and that the host does not know to be complete after taking this many records.
    pub fn meets_host(&self, part: &Bytes, taken: u64) -> Option<CommandRef> {
        let knows = self.reported.iter().take_while(|(number, _)| *number <= taken).last();
        self.meets_since(part, knows.map_or(self.known, |(_, barriers)| *barriers))
    }

    /// A command writes the targets in a list not known yet.
    pub fn writes_list(&mut self, number: u32, by: CommandRef) {
        self.lists.insert(number, (self.barriers, by));
    }

    /// Unknown lists whose writes the prefetcher may not read.
    pub fn lists(&self) -> Vec<u32> {
        let unread = self.lists.iter().filter(|(_, (epoch, _))| *epoch >= self.seen.max(self.known));
        unread.map(|(number, _)| *number).collect()
    }

    /// A list becomes known: these ranges are written, with the status of the command.
    pub fn list_is(&mut self, number: u32, parts: &[Bytes], by: CommandRef) {
        let Some((epoch, _)) = self.lists.remove(&number).filter(|(epoch, _)| *epoch >= self.known) else { return };
        for (memory, start, end) in parts {
            // Later writes there are kept.
            let later = self.ranges(*memory).into_iter().flat_map(|ranges| meeting(ranges, *start, *end));
            let later: Vec<_> =
                later.filter(|(_, range)| range.epoch > epoch).map(|(at, range)| (at, range.end)).collect();
            let mut from = *start;
            for (first, last) in later.into_iter().rev().chain([(*end, *end)]) {
                self.add(*memory, from, first, epoch, by);
                from = last;
            }
        }
    }

    /// The dispatcher has waited for its writes.
    pub fn barrier(&mut self) {
        self.barriers += 1;
    }

    /// The dispatcher has notified the prefetcher.
    pub fn notify(&mut self) {
        self.told = self.barriers;
    }

    /// The prefetcher has waited for the notification.
    pub fn stall(&mut self) {
        self.seen = self.told;
    }

    /// The dispatcher writes the record with this number for the host.
    pub fn report(&mut self, number: u64) {
        if self.reported.back().map_or(self.known, |(_, barriers)| *barriers) < self.barriers {
            self.reported.push_back((number, self.barriers));
        }
    }

    /// The host has taken this many records.
    pub fn took(&mut self, records: u64) {
        while let Some((_, barriers)) = self.reported.pop_front_if(|(number, _)| *number <= records) {
            self.known = barriers;
        }
        if self.added > ADDED.max(self.left) {
            self.forget();
        }
    }

    /// Forgets everything the host knows.
    fn forget(&mut self) {
        (self.added, self.left) = (0, 0);
        for ranges in self.tiles.iter_mut().chain(self.others.values_mut()) {
            ranges.retain(|_, range| range.epoch >= self.known);
            self.left += ranges.len();
        }
        self.others.retain(|_, ranges| !ranges.is_empty());
    }

    /// A command that writes one of these ranges.
    pub(crate) fn meets(&self, parts: &[Bytes]) -> Option<CommandRef> {
        let unread = self.seen.max(self.known);
        parts.iter().filter_map(|part| self.meets_since(part, unread)).max_by_key(|by| by.index)
    }

    /// A write to DRAM that nobody has waited for.
    pub fn dram_in_flight(&self) -> Option<CommandRef> {
        self.dram.filter(|(epoch, _)| *epoch == self.barriers).map(|(_, by)| by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join_and_are_found() {
        let by = |index| CommandRef { index, name: "WRITE_LINEAR", at: None };
        let (mut unread, bank) = (Unread::default(), Memory::Bank(0));
        let ranges = |unread: &Unread| {
            let all = unread.others[&bank].iter().map(|(start, range)| (*start, range.end, range.by.index));
            all.collect::<Vec<_>>()
        };
        for (start, end, index) in [(0, 16, 0), (32, 48, 1), (64, 80, 2), (16, 40, 3)] {
            unread.add(bank, start, end, 0, by(index));
        }
        assert_eq!(ranges(&unread), [(0, 48, 3), (64, 80, 2)]);
        let meets = |unread: &Unread, start, end| unread.meets(&[(bank, start, end)]).map(|by| by.index);
        assert_eq!(meets(&unread, 47, 64), Some(3));
        assert_eq!((meets(&unread, 48, 64), unread.meets(&[(Memory::Bank(1), 0, 1)])), (None, None));
        assert_eq!(meets(&unread, 40, 100), Some(3));
        // Behind a barrier nothing joins what was written before, and gives way to it.
        unread.barrier();
        unread.add(bank, 8, 24, 1, by(4));
        unread.add(bank, 24, 28, 1, by(5));
        assert_eq!(ranges(&unread), [(0, 8, 3), (8, 28, 5), (28, 48, 3), (64, 80, 2)]);
        unread.notify();
        unread.stall();
        assert_eq!((meets(&unread, 0, 8), meets(&unread, 0, 9), meets(&unread, 28, 64)), (None, Some(5), None));
        assert_eq!(unread.meets_host(&(bank, 0, 8), 0).map(|by| by.index), Some(3));
        unread.report(1);
        assert_eq!((unread.meets_host(&(bank, 0, 8), 1), unread.meets_host(&(bank, 8, 9), 1).is_some()), (None, true));
        unread.took(1);
        unread.forget();
        assert_eq!(ranges(&unread), [(8, 28, 5)]);
    }

    /// A list that becomes known late covers nothing that was written after its command.
    #[test]
    fn lists_are_as_old_as_their_commands() {
        let by = |index| CommandRef { index, name: "WRITE_PACKED", at: None };
        let (mut unread, tile) = (Unread::default(), Memory::Tile(Xy::new(1, 2)));
        unread.writes_list(0, by(0));
        unread.barrier();
        unread.add(tile, 16, 32, 1, by(1));
        unread.notify();
        assert_eq!(unread.lists(), [0]);
        unread.list_is(0, &[(tile, 0, 48)], by(0));
        assert_eq!(unread.lists(), []);
        let meets = |unread: &Unread, start, end| unread.meets(&[(tile, start, end)]).map(|by| by.index);
        let found = [(0, 16), (16, 32), (32, 48), (48, 64)].map(|(start, end)| meets(&unread, start, end));
        assert_eq!(found, [Some(0), Some(1), Some(0), None]);
        unread.stall();
        assert_eq!((meets(&unread, 0, 16), meets(&unread, 0, 17)), (None, Some(1)));
    }
}
