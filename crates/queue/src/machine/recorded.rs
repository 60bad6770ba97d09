//! Host actions recorded as a stream, if requested, so that they can drive another machine in the same way.

use super::chip::Tile;
use super::memory::Location;
use super::world::World;
use crate::capture::{Act, ActKind};
use crate::host::Settings;
use crate::layout::{LONGEST_POLL, REGISTERS};
use crate::wire::{Rect, Xy};

/// Pauses between two stores that are shorter than this are not recorded, in cycles.
const SHORT: u64 = 1000;

impl World {
    /// Records a host action, if recording is enabled. Repeated polling is recorded once.
    pub fn host_acts(&mut self, kind: ActKind) {
        let (before, cycle) = (self.ledger.issue.announced() as usize, self.now);
        let Some(recorded) = &mut self.recorded else { return };
        let last = recorded.capture.acts.last();
        let again = last.is_some_and(|last| last.before == before && last.kind == kind);
        if !again || !matches!(kind, ActKind::Load { .. }) {
            recorded.capture.acts.push(Act { cycle, ..Act::new(before, kind) });
        }
    }

    /// The host stores through a window. Stores to the queue's own cores belong to the queue: a stream represents them
    /// differently.
    pub fn host_stores(&mut self, tiles: Rect, multicast: bool, addr: u64, bytes: &[u8]) {
        if self.recorded.is_none() || bytes.is_empty() {
            return;
        }
        let reached = |xy: Xy| match self.chip.at(xy) {
            Tile::Tensix(tile) => !self.chip.is_queue_core(tile),
            Tile::Dram(_) => !multicast,
            _ => false,
        };
        let any = if multicast { tiles.tiles().any(reached) } else { reached(tiles.low) };
        if !any {
            return;
        }
        let (before, now) = (self.ledger.issue.announced() as usize, self.now);
        let apart = u64::from(self.layout.worker.firmware);
        let Some(recorded) = &mut self.recorded else { return };
        if let Some(last) = recorded.capture.acts.last_mut().filter(|last| last.before == before)
            && let ActKind::Store { tiles: Some(there), addr: from, bytes: stored } = &mut last.kind
        {
            // Consecutive stores are merged if nobody polls in between.
            let goes_on = *there == tiles && *from + stored.len() as u64 == addr && now <= recorded.stored + SHORT;
            if goes_on && *from >= apart && addr < REGISTERS {
                stored.extend(bytes);
                return;
            }
            if now > recorded.stored + SHORT {
                let cycles = now - recorded.stored;
                self.host_acts(ActKind::Pause { cycles });
            }
        }
        self.host_acts(ActKind::Store { tiles: Some(tiles), addr, bytes: bytes.to_vec() });
    }

    /// A store through a window is over.
    pub fn host_stored(&mut self) {
        if let Some(recorded) = &mut self.recorded {
            recorded.stored = self.now;
        }
    }

    /// The host has written its pinned memory. Records and pointers belong to the queue.
    pub fn host_writes(&mut self, id: u8, offset: u64, bytes: &[u8]) {
        if self.recorded.is_none() || bytes.is_empty() {
            return;
        }
        let (own, start) = (self.layout.sysmem.own(), self.memory.host_noc(id) + offset);
        let end = start + bytes.len() as u64;
        for (from, to) in [(start, end.min(own.start)), (start.max(own.end), end)] {
            if from < to {
                let bytes = bytes[(from - start) as usize..(to - start) as usize].to_vec();
                self.host_acts(ActKind::Store { tiles: None, addr: from, bytes });
            }
        }
    }

    /// Whether memory pinned there is what a stream's host has anyway.
    fn is_usual(&self, addr: u64, bytes: Option<u64>) -> bool {
        let own = &self.layout.sysmem;
        [(0, Settings::CAREFUL.staging_bytes), (own.noc_base, own.bytes.into())]
            .into_iter()
            .any(|(usual, size)| addr == usual && bytes.is_none_or(|bytes| bytes == size))
    }

    /// The host has pinned memory.
    pub fn host_pins(&mut self, addr: u64, bytes: u64) {
        if self.recorded.is_none() {
            return;
        }
        self.memory.watch_borrowed();
        if !self.is_usual(addr, Some(bytes))
            && (addr != self.layout.sysmem.noc_base || bytes > self.layout.sysmem.bytes.into())
        {
            self.host_acts(ActKind::Pin { addr, bytes });
        }
    }

    /// The host unpins memory.
    pub fn host_unpins(&mut self, id: u8) {
        let addr = self.memory.host_noc(id);
        if !self.is_usual(addr, None) {
            self.host_acts(ActKind::Unpin { addr });
        }
    }

    /// The host polls memory of a tile that changes by itself. Of consecutive polls, the last one of each location
    /// counts.
    pub fn host_polls(&mut self, tile: Xy, addr: u64, size: usize) {
        let before = self.ledger.issue.announced() as usize;
        let Some(place) = self.place_of(tile, addr, size as u64).filter(|_| (1..=LONGEST_POLL).contains(&size)) else {
            return;
        };
        let Some(recorded) = &mut self.recorded else { return };
        let acts = &mut recorded.capture.acts;
        let polls = |act: &&Act| act.before == before && matches!(act.kind, ActKind::Poll { .. });
        let from = acts.len() - acts.iter().rev().take_while(polls).count();
        let same = |act: &Act| match &act.kind {
            ActKind::Poll { tile: other, addr: there, bytes } => (*other, *there, bytes.len()) == (tile, addr, size),
            _ => false,
        };
        if let Some(at) = acts[from..].iter().position(same) {
            acts.remove(from + at);
        }
        let mut bytes = vec![0; size];
        self.memory.read(place, &mut bytes);
        self.host_acts(ActKind::Poll { tile, addr, bytes });
    }

    /// The device reads host memory for a record: borrowed bytes that the host has changed since are stored before it
    /// is queued.
    pub fn borrowed_is_read(&mut self, place: Location, bytes: u64, record: Option<u64>) {
        let Location::Host(id, at) = place else { return };
        if self.recorded.is_none() || bytes == 0 {
            return;
        }
        let own = self.layout.sysmem.own();
        let changed = self.memory.borrowed_changes(id, at, bytes);
        let announced = self.ledger.issue.announced() as usize;
        let now = self.now;
        let Some(recorded) = &mut self.recorded else { return };
        let acts = &mut recorded.capture.acts;
        for (addr, bytes) in changed.into_iter().filter(|(addr, _)| !own.contains(addr)) {
            // Not before it was pinned.
            let pinned = |act: &Act| matches!(act.kind, ActKind::Pin { addr: from, bytes } if (from..from + bytes).contains(&addr));
            let pinned = acts.iter().rev().find(|act| pinned(act)).map_or(0, |act| act.before);
            let before = record.map_or(announced, |record| (record as usize).min(announced)).max(pinned);
            let behind = acts.partition_point(|act| act.before <= before);
            acts.insert(behind, Act { cycle: now, ..Act::new(before, ActKind::Store { tiles: None, addr, bytes }) });
        }
    }
}
