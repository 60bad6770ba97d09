//! Memory that commands write and the prefetcher then reads: it runs ahead of the dispatcher, and only a STALL or the host holds it
//! back.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use super::Linter;
use super::results::Bytes;
use crate::board::Tile;
use crate::interleave::Interleave;
use crate::layout::HOST_ADDRESS;
use crate::sanitize::{CommandRef, Hazard};
use crate::wire::{PCIE_XY, Rect, Xy};

/// A memory, or the same addresses of all tiles of a rectangle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Memory {
    Host,
    Bank(u32),
    Tile(Xy),
    /// By its word.
    Tiles(u32),
    /// What a packed write writes whose list is not known yet, by its number.
    List(u32),
}

/// Ranges of bytes that were written: by their first byte the one past the last, and the command that wrote there last. They do not
/// meet.
type Ranges = BTreeMap<u64, (u64, CommandRef)>;

/// Bytes that were written, by memory.
#[derive(Debug, Default)]
struct Written(BTreeMap<Memory, Ranges>);

/// Bytes of a memory were written, some at least.
fn add(ranges: &mut Ranges, mut start: u64, mut end: u64, by: CommandRef) {
    // The same bytes again, as rings and mailboxes are written.
    if let Some((_, (last, before))) = ranges.range_mut(..=start).next_back()
        && *last >= end
    {
        *before = by;
        return;
    }
    while let Some((first, (last, _))) = ranges.range(..=end).next_back().map(|(first, range)| (*first, *range)) {
        if last < start {
            break;
        }
        (start, end) = (start.min(first), end.max(last));
        ranges.remove(&first);
    }
    ranges.insert(start, (end, by));
}

impl Written {
    fn add(&mut self, memory: Memory, start: u64, end: u64, by: CommandRef) {
        if start < end {
            add(self.0.entry(memory).or_default(), start, end, by);
        }
    }

    fn take(&mut self, other: &mut Written) {
        for (memory, ranges) in std::mem::take(&mut other.0) {
            match self.0.entry(memory) {
                Entry::Vacant(none) => drop(none.insert(ranges)),
                Entry::Occupied(mut own) => {
                    let own = own.get_mut();
                    ranges.into_iter().for_each(|(start, (end, by))| add(own, start, end, by));
                }
            }
        }
    }

    /// What was written to one memory, also by way of rectangles.
    fn meets_any(&self, part: &Bytes) -> Option<CommandRef> {
        let (memory, start, end) = *part;
        self.meets(memory, start, end).or_else(|| self.meets_rectangles(part))
    }

    /// What was written to a tile by way of rectangles.
    fn meets_rectangles(&self, part: &Bytes) -> Option<CommandRef> {
        let (Memory::Tile(tile), start, end) = *part else { return None };
        let around = self.0.range(Memory::Tiles(0)..).map(|(other, _)| *other).take(MOST_RECTANGLES);
        let around =
            around.filter(|other| matches!(other, Memory::Tiles(word) if Rect::from_word(*word).contains(tile)));
        around.into_iter().find_map(|other| self.meets(other, start, end))
    }

    /// What was written to single tiles of a rectangle.
    fn meets_tiles(&self, rect: Rect, start: u64, end: u64) -> Option<CommandRef> {
        let tiles = self.0.range(Memory::Tile(Xy::new(0, 0))..Memory::Tiles(0)).map(|(other, _)| *other);
        let mut inside = tiles.filter(|other| matches!(other, Memory::Tile(tile) if rect.contains(*tile)));
        inside.find_map(|other| self.meets(other, start, end))
    }

    fn meets(&self, memory: Memory, start: u64, end: u64) -> Option<CommandRef> {
        let ranges = self.0.get(&memory)?;
        let (_, (last, by)) = ranges.range(..end).next_back()?;
        (*last > start).then_some(*by)
    }
}

/// How far what was written is on its way to being safe to read.
#[derive(Debug, Default)]
struct Stages {
    /// Nobody has waited for it.
    written: Written,
    /// The dispatcher has waited for it.
    arrived: Written,
    /// The dispatcher has told the prefetcher since.
    told: Written,
    /// The prefetcher has waited for that: only the host may not read it.
    seen: Written,
}

impl Stages {
    fn meets(&self, part: &Bytes) -> Option<CommandRef> {
        [&self.written, &self.arrived, &self.told].into_iter().find_map(|written| written.meets_any(part))
    }
}

/// What commands write, and the prefetcher may not read yet.
#[derive(Debug, Default)]
pub(super) struct Unread {
    now: Stages,
    /// What the dispatcher had waited for when it wrote a record for the host, by the number of that record.
    reported: VecDeque<(u64, Stages)>,
}

/// Rectangles that are looked at; a driver has some ten.
const MOST_RECTANGLES: usize = 4096;

impl Unread {
    fn all(&mut self) -> impl Iterator<Item = &mut Stages> {
        std::iter::once(&mut self.now).chain(self.reported.iter_mut().map(|(_, stages)| stages))
    }

    /// The host has waited until everything has run.
    pub fn all_read(&mut self) {
        *self = Unread::default();
    }

    /// A write to a tile, of those that no barrier covers, that travels in another channel than one to the same bytes.
    fn overtakes(&self, part: &Bytes) -> Option<CommandRef> {
        match *part {
            (Memory::Tile(_), ..) => self.now.written.meets_rectangles(part),
            (Memory::Tiles(word), start, end) => self.now.written.meets_tiles(Rect::from_word(word), start, end),
            _ => None,
        }
    }

    /// A command that writes a part, of which the host does not know when it has taken so many records.
    pub fn meets_host(&self, part: &Bytes, taken: u64) -> Option<CommandRef> {
        let unknown = self.reported.iter().filter(|(number, _)| *number > taken).map(|(_, stages)| stages);
        let mut all = std::iter::once(&self.now).chain(unknown);
        all.find_map(|stages| stages.meets(part).or_else(|| stages.seen.meets_any(part)))
    }

    /// A command writes what its list will say.
    pub fn writes_list(&mut self, number: u32, by: CommandRef) {
        self.now.written.add(Memory::List(number), 0, 1, by);
    }

    /// Lists that are not known, and whose writes the prefetcher may not read.
    pub fn lists(&mut self) -> Vec<u32> {
        let unread = self.all().flat_map(|stages| [&stages.written, &stages.arrived, &stages.told]);
        let lists = unread.flat_map(|written| written.0.range(Memory::List(0)..));
        lists.filter_map(|(memory, _)| if let Memory::List(number) = memory { Some(*number) } else { None }).collect()
    }

    /// A list is known: these parts are written, and have come as far as the command has.
    pub fn list_is(&mut self, number: u32, parts: &[Bytes], by: CommandRef) {
        for stages in self.all() {
            let Stages { written, arrived, told, seen } = stages;
            for written in [written, arrived, told, seen] {
                if written.0.remove(&Memory::List(number)).is_some() {
                    parts.iter().for_each(|(memory, start, end)| written.add(*memory, *start, *end, by));
                }
            }
        }
    }

    /// The dispatcher has waited for its writes.
    pub fn barrier(&mut self) {
        self.now.arrived.take(&mut self.now.written);
    }

    /// The dispatcher has told the prefetcher.
    pub fn notify(&mut self) {
        self.all().for_each(|stages| stages.told.take(&mut stages.arrived));
    }

    /// The prefetcher has waited for that.
    pub fn stall(&mut self) {
        self.all().for_each(|stages| stages.seen.take(&mut stages.told));
    }

    /// The dispatcher writes the record of this number for the host.
    pub fn report(&mut self, number: u64) {
        let written = std::mem::take(&mut self.now.written);
        let stages = std::mem::replace(&mut self.now, Stages { written, ..Stages::default() });
        if [&stages.arrived, &stages.told, &stages.seen].iter().any(|written| !written.0.is_empty()) {
            self.reported.push_back((number, stages));
        }
    }

    /// The host has taken so many records.
    pub fn took(&mut self, records: u64) {
        while self.reported.front().is_some_and(|(number, _)| *number <= records) {
            self.reported.pop_front();
        }
    }

    /// A command that writes one of these parts.
    fn meets(&self, parts: &[Bytes]) -> Option<CommandRef> {
        let mut all = std::iter::once(&self.now).chain(self.reported.iter().map(|(_, stages)| stages));
        all.find_map(|stages| parts.iter().find_map(|part| stages.meets(part)))
    }

    /// A write to DRAM that nobody has waited for.
    pub fn dram_in_flight(&self) -> Option<CommandRef> {
        let banks = self.now.written.0.iter().filter(|(memory, _)| matches!(memory, Memory::Bank(_)));
        banks.flat_map(|(_, ranges)| ranges.values()).map(|(_, by)| *by).max_by_key(|by| by.index)
    }
}

/// Pages that go around the banks, or around all Tensix tiles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pages {
    pub dram: bool,
    pub base: u32,
    pub page: u64,
    pub first: u64,
    pub count: u64,
}

impl Linter {
    /// The parts of pages, by memory.
    fn parts(&self, pages: Pages) -> Vec<Bytes> {
        let memories: Vec<Memory> = match pages.dram {
            true => (0..self.board.banks.len() as u32).map(Memory::Bank).collect(),
            false => self.board.tensix().map(Memory::Tile).collect(),
        };
        let interleave = if pages.dram { Interleave::dram } else { Interleave::l1 }(memories.len() as u32);
        let count = interleave.memories();
        let end = pages.first.saturating_add(pages.count);
        let mut parts = Vec::new();
        for (number, memory) in memories.into_iter().enumerate() {
            // The first and the last page of this memory.
            let first = pages.first + (number as u64 + count - pages.first % count) % count;
            if first >= end || pages.page == 0 {
                continue;
            }
            let last = first + (end - 1 - first) / count * count;
            let at = |page: u64| u64::from(pages.base).saturating_add(interleave.page(pages.page, page).1);
            parts.push((memory, at(first), at(last).saturating_add(pages.page)));
        }
        parts
    }

    /// A command writes bytes of one tile.
    pub(super) fn writes(&mut self, at: CommandRef, tile: Xy, addr: u64, bytes: u64) {
        if let Some(memory) = self.memory_of(tile) {
            self.writes_part(at, (memory, addr, addr.saturating_add(bytes)));
        }
    }

    /// A command writes a part of host memory.
    pub(super) fn writes_host(&mut self, at: CommandRef, addr: u64, bytes: u64) {
        self.writes_part(at, (Memory::Host, addr, addr.saturating_add(bytes)));
    }

    /// A go message, which comes after what was written before or is said not to.
    pub(super) fn writes_go(&mut self, at: CommandRef, tile: Xy) {
        let go = u64::from(self.layout.worker.go);
        self.unread.now.written.add(Memory::Tile(tile), go, go + 4, at);
    }

    fn writes_part(&mut self, at: CommandRef, part: Bytes) {
        if let Some(other) = self.unread.overtakes(&part).filter(|other| other.index != at.index) {
            let message =
                format!("it writes what {other} writes, in another channel: no barrier says which comes last");
            self.find_in(at, Hazard::WriteOvertakesWrite, message);
        }
        self.host_has_read(at, &part);
        let (memory, start, end) = part;
        if let Memory::Bank(bank) = memory
            && !self.live
        {
            self.known.forget(bank, start, end);
        }
        self.unread.now.written.add(memory, start, end, at);
    }

    /// A command writes bytes of all tiles of a rectangle.
    pub(super) fn writes_all(&mut self, at: CommandRef, rect: Rect, addr: u64, bytes: u64) {
        let end = addr.saturating_add(bytes);
        if !self.host_results.is_quiet() {
            rect.tiles().for_each(|tile| self.host_has_read(at, &(Memory::Tile(tile), addr, end)));
        }
        self.writes_part(at, (Memory::Tiles(rect.word()), addr, end));
    }

    /// A command writes pages.
    pub(super) fn writes_pages(&mut self, at: CommandRef, pages: Pages) {
        let parts = self.parts(pages);
        for (memory, start, end) in &parts {
            let tile = match memory {
                Memory::Tile(tile) => Some(*tile),
                _ => None,
            };
            let found = self.report.met.values().sum::<u64>();
            self.pages_of(at, tile, *start, *end);
            // The same of further tiles says no more.
            if self.report.met.values().sum::<u64>() > found {
                break;
            }
        }
        parts.into_iter().for_each(|part| self.writes_part(at, part));
    }

    pub(super) fn memory_of(&self, tile: Xy) -> Option<Memory> {
        match self.board.tile(tile) {
            Tile::Dram(bank) => Some(Memory::Bank(bank)),
            Tile::Worker => Some(Memory::Tile(tile)),
            _ => None,
        }
    }

    /// Why nothing answers for all of what the prefetcher reads, as the network resolves it. What is pinned only a run knows.
    fn unanswered(&self, noc_xy: u32, addr: u64, bytes: u64) -> Option<(Hazard, String)> {
        let (tile, end) = (Xy::from_word(noc_xy), addr.saturating_add(bytes));
        let host = noc_xy & (PCIE_XY & !0xFFF) != 0;
        match self.board.tile_of_word(tile) {
            Tile::Pcie if host => None,
            _ if host => {
                let message = format!("the word {noc_xy:#x} marks host memory, but {tile} is not the PCIe tile");
                Some((Hazard::PcieAddress, message))
            }
            Tile::Pcie => Some((Hazard::PcieAddress, format!("{noc_xy:#x} lacks bit 24"))),
            Tile::Worker | Tile::Prefetch | Tile::Dispatch if end > u64::from(self.layout.l1_bytes) => {
                let size = self.layout.l1_bytes;
                Some((Hazard::L1Outside, format!("{bytes} bytes at {addr:#x} of {tile} leave its {size:#x} bytes")))
            }
            Tile::Dram(bank) if end > self.board.bank_bytes => {
                Some((Hazard::NocUnmapped, format!("{bytes} bytes at {addr:#x} leave DRAM bank {bank}")))
            }
            Tile::Nothing | Tile::Arc => {
                Some((Hazard::NocUnmapped, format!("nothing answers for {bytes} bytes at {addr:#x} of {tile}")))
            }
            _ => None,
        }
    }

    /// The prefetcher reads bytes of one tile.
    pub(super) fn reads(&mut self, noc_xy: u32, addr: u64, bytes: u64) {
        if let Some((hazard, message)) = self.unanswered(noc_xy, addr, bytes) {
            return self.find(hazard, message);
        }
        let addr = if noc_xy == PCIE_XY { addr & HOST_ADDRESS } else { addr };
        let memory = match noc_xy {
            PCIE_XY => Some(Memory::Host),
            _ => self.memory_of(Xy::from_word(noc_xy)).filter(|_| noc_xy >> 12 == 0),
        };
        let queue = self.layout.sysmem.own();
        let what = match memory {
            Some(Memory::Host) if addr < queue.end && addr.saturating_add(bytes) > queue.start => Some(format!(
                "{bytes} bytes at {addr:#x} of host memory; {:#x}..{:#x} is the queue's own",
                queue.start, queue.end
            )),
            None if noc_xy >> 12 == 0 => self.queue_core(Xy::from_word(noc_xy)),
            _ => None,
        };
        if let Some(what) = what {
            return self.find(Hazard::RelayFromQueue, format!("it reads {what}"));
        }
        if let Some(memory) = memory {
            let modulo = if matches!(memory, Memory::Tile(_)) { 16 } else { 64 };
            self.congruent(addr, modulo);
            self.reads_parts(Hazard::RelayBeforeWrite, &[(memory, addr, addr.saturating_add(bytes))]);
        }
    }

    fn queue_core(&self, tile: Xy) -> Option<String> {
        matches!(self.board.tile(tile), Tile::Prefetch | Tile::Dispatch)
            .then(|| format!("the L1 of {tile}, which runs the queue"))
    }

    /// What is read lands in scratch memory, which starts at a multiple of 64.
    fn congruent(&mut self, addr: u64, modulo: u64) {
        if !addr.is_multiple_of(modulo) {
            let message = format!("it reads from {addr:#x} to a multiple of 64: not congruent modulo {modulo}");
            self.find(Hazard::NocAlignment, message);
        }
    }

    /// The prefetcher reads pages.
    pub(super) fn reads_pages(&mut self, hazard: Hazard, pages: Pages) {
        let modulo = if pages.dram { 64 } else { 16 };
        self.congruent(pages.base.into(), modulo);
        if pages.count > 1 && !pages.page.is_multiple_of(modulo) {
            let text = format!(
                "pages of {} bytes land one after the other: the second is not congruent modulo {modulo}",
                pages.page
            );
            self.find(Hazard::NocAlignment, text);
        }
        let parts = self.parts(pages);
        let cores = parts.iter().filter_map(|(memory, ..)| match memory {
            Memory::Tile(tile) => self.queue_core(*tile),
            _ => None,
        });
        if let Some(core) = cores.into_iter().next() {
            let message = format!("it reads {core} and is one of the tiles that pages in L1 go around");
            self.find(Hazard::RelayFromQueue, message);
        }
        self.reads_parts(hazard, &parts);
    }

    fn reads_parts(&mut self, hazard: Hazard, parts: &[Bytes]) {
        let write = self.unread.meets(parts);
        let go = self.results.reads(parts, self.record, self.relay);
        if let Some(write) = write {
            let message = format!("it reads what {write} writes, and the prefetcher waits for nothing in between");
            self.find(hazard, message);
        } else if let Some(go) = go {
            let message = format!(
                "it reads memory of a worker that {go} starts, and the prefetcher does not wait until the worker is done"
            );
            self.find(Hazard::RelayBeforeDone, message);
        } else {
            self.hold(hazard, parts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join_and_are_found() {
        let by = |index| CommandRef { index, name: "WRITE_LINEAR", at: None };
        let mut written = Written::default();
        let bank = Memory::Bank(0);
        for (start, end, index) in [(0, 16, 0), (32, 48, 1), (64, 80, 2), (16, 40, 3)] {
            written.add(bank, start, end, by(index));
        }
        let ranges: Vec<_> = written.0[&bank].iter().map(|(start, (end, by))| (*start, *end, by.index)).collect();
        assert_eq!(ranges, [(0, 48, 3), (64, 80, 2)]);
        assert_eq!(written.meets(bank, 47, 64).map(|by| by.index), Some(3));
        assert_eq!((written.meets(bank, 48, 64), written.meets(Memory::Bank(1), 0, 1)), (None, None));
        assert_eq!(written.meets(bank, 40, 100).map(|by| by.index), Some(2));
    }
}
