//! Core timing: control blocks that give workers the host addresses to which they write their start and end times.

use super::Linter;
use crate::board::Tile;
use crate::lint::memory::Memory;
use crate::sanitize::{CommandRef, Hazard};
use crate::wire::{Rect, Xy};
use crate::worker::{TIMES, Times};

impl Linter {
    /// Bytes for the L1 of the workers of a rectangle may be a control block.
    pub(super) fn timing_all(&mut self, at: CommandRef, rect: Rect, addr: u64, packet: &[u8]) {
        if rect.is_ordered() && self.meets_block(addr, packet) {
            rect.tiles().for_each(|tile| self.timing(at, tile, addr, packet));
        }
    }

    /// Bytes for the L1 of a worker may be a control block.
    pub(super) fn timing(&mut self, at: CommandRef, tile: Xy, addr: u64, packet: &[u8]) {
        if self.board.tile(tile) != Tile::Worker || !self.meets_block(addr, packet) {
            return;
        }
        let first = u64::from(self.layout.worker.timing + Times::DECIDES.start);
        let words = first.checked_sub(addr).and_then(|into| packet.get(usize::try_from(into).ok()?..));
        let Some(words) = words.and_then(<[u8]>::first_chunk::<20>) else {
            return self.not_judged("control blocks of core timing that are written in parts: where times go");
        };
        let words = words.as_chunks::<4>().0;
        let times = Times::read(std::array::from_fn(|at| u32::from_le_bytes(words[at])));
        let mistake = times.and_then(|times| times.mistake(tile, &self.layout).or_else(|| self.outside(tile, times)));
        let kept = times.filter(|_| mistake.as_ref().is_none_or(|(hazard, _)| *hazard == Hazard::PcieOutside));
        let bytes = kept.map(|times| (Memory::Host, times.addr, times.addr + TIMES));
        self.results.arm(tile, bytes);
        self.host_results.arm(tile, bytes);
        // For other tiles it would only repeat the finding.
        if let Some((hazard, message)) = mistake.filter(|_| self.judged_times != Some(at.index)) {
            self.judged_times = Some(at.index);
            self.find_in(at, hazard, message);
        }
    }

    /// Whether bytes for an address meet the part of a control block that decides where times go.
    fn meets_block(&self, addr: u64, packet: &[u8]) -> bool {
        let block = u64::from(self.layout.worker.timing);
        let (first, end) = (block + u64::from(Times::DECIDES.start), block + u64::from(Times::DECIDES.end));
        addr < end && addr.saturating_add(packet.len() as u64) > first
    }

    /// Times that do not go to a slot for them.
    fn outside(&self, tile: Xy, times: Times) -> Option<(Hazard, String)> {
        let host = &self.layout.sysmem;
        let slots = host.noc(host.timing)..host.noc(host.timing) + TIMES * u64::from(host.timing_slots);
        (!slots.contains(&times.addr)).then(|| {
            let (addr, start, end) = (times.addr, slots.start, slots.end);
            (Hazard::PcieOutside, format!("{tile} will write its times to {addr:#x}; slots are {start:#x}..{end:#x}"))
        })
    }
}
