//! The linter running alongside the device: it is fed with the fetched records, so that a machine reports the hazards
//! that the bytes alone show. Its findings are reported when the dispatcher has passed the command, unless the device
//! has reported the same by then.

use std::collections::VecDeque;
use std::rc::Rc;

use super::chip::{Tile, TileId};
use super::memory::Location;
use super::payload::page_address;
use super::world::World;
use crate::board::Board;
use crate::capture::{ActKind, Entry};
use crate::layout::Layout;
use crate::lint::{Linter, Memory, Order, Target};
use crate::machine::actor::{Actor, Wait};
use crate::machine::world::Judge;
use crate::sanitize::{Finding, Hazard, RecordRef, all_idle};
use crate::wire::{Dispatch, ExecBuf, Xy};

impl Judge {
    pub fn new(board: &Board, layout: &Layout) -> Judge {
        Judge {
            linter: Linter::beside_a_machine(Rc::new(board.clone()), Rc::new(layout.clone())),
            pending: VecDeque::new(),
        }
    }

    /// The layout turns out to differ, before anything was checked.
    pub fn take_layout(&mut self, layout: &Layout) {
        self.linter.take_layout(Rc::new(layout.clone()));
    }
}

/// The position of a finding in the stream: its record, and the byte in it.
fn place((finding, due): &(Finding, u32)) -> (u64, u32) {
    (finding.record.map_or(0, |record| record.index), *due)
}

impl World {
    /// A record has landed in the command area, starting at an address.
    pub fn judge_landed(&mut self, record: RecordRef, slot: u16, at: u32) {
        let (settled, taken, waits, cycle, other) = self.ledger.known.pop_front().unwrap_or_default();
        let linter = &mut self.judge.linter;
        if settled {
            linter.host_waited();
        }
        linter.host_took(taken);
        if let Some(order) = linter.order() {
            order.knows(other);
        }
        let bytes = self.memory.l1(self.chip.prefetch(), at, record.length as usize);
        linter.entry_at(RecordRef { index: linter.records(), ..record }, slot, bytes);
        if let Some(recorded) = &mut self.recorded {
            recorded.capture.entries.push(Entry { slot, bytes: bytes.to_vec(), waits, cycle, ..Entry::default() });
        }
        self.judge_found(Some(record));
    }

    /// Whether the host has observed that everything it had queued has run: nothing is in flight, and it has since
    /// taken a completion that shows it.
    pub fn host_has_waited(&self) -> bool {
        let ledger = &self.ledger;
        let quiet = self.flights.len() == 0 && ledger.issue.queued() == 0 && self.workers.running() == 0;
        let seen = ledger.completed == ledger.drained && ledger.taken_records > ledger.taken_before;
        ledger.settled || (quiet && seen && all_idle(self))
    }

    /// The prefetcher starts to run commands from DRAM.
    pub fn judge_trace(&mut self, exec: ExecBuf, page: u32) {
        // The commands it runs may be anything: earlier findings are reported first.
        let early = |(finding, _): &(Finding, u32)| finding.hazard == Hazard::ExecBufBeforeWrite;
        if let Some(last) = self.judge.pending.iter().rposition(early) {
            (0..=last).for_each(|_| self.report_judged());
        }
        let (chip, memory, size) = (&self.chip, &self.memory, u64::from(page));
        let all = u64::from(exec.pages) * size;
        let record = self.ledger.at[Actor::Prefetch as usize].record;
        self.judge.linter.trace(|mut at, bytes| {
            let mut out = vec![0; Some(bytes).filter(|bytes| at + *bytes as u64 <= all)?];
            let mut rest = out.as_mut_slice();
            while !rest.is_empty() {
                let (xy, addr) = page_address(chip, true, 0, exec.base_addr, page, (at / size) as u32);
                let (addr, most) = (addr + at % size, (size - at % size).min(rest.len() as u64));
                let Tile::Dram(bank) = chip.at(Xy::from_word(xy)) else { return None };
                let (now, later) = rest.split_at_mut(most as usize);
                if addr.saturating_add(most) > memory.bank_bytes {
                    return None;
                }
                memory.read(Location::Dram(bank, addr), now);
                (rest, at) = (later, at + most);
            }
            Some(out)
        });
        self.judge_found(record);
    }

    fn judge_found(&mut self, record: Option<RecordRef>) {
        if !self.judge.linter.has_found() {
            return;
        }
        for (finding, due) in self.judge.linter.take() {
            let record = record.filter(|_| finding.act.is_none());
            self.judge.pending.push_back((Finding { record, ..finding }, due));
        }
    }

    /// A worker ends, and wrote these ranges.
    pub fn judge_results(&mut self, tile: TileId, wrote: &[(Location, u64)]) {
        if !self.ledger.relayed.is_empty() {
            wrote.iter().for_each(|(place, bytes)| self.borrowed_is_written(*place, *bytes));
        }
        let bytes = |(at, bytes): &(Location, u64)| match *at {
            Location::L1(tile, addr) => (Memory::Tile(self.chip.xy(tile)), u64::from(addr), u64::from(addr) + bytes),
            Location::Dram(bank, addr) => (Memory::Bank(bank.into()), addr, addr + bytes),
            Location::Host(id, at) => {
                let addr = self.memory.host_noc(id) + at;
                (Memory::Host, addr, addr + bytes)
            }
        };
        let tile = self.chip.xy(tile);
        let [early, early_load] = self.judge.linter.wrote(tile, wrote.iter().map(bytes).collect());
        if let Some((load, go)) = early_load {
            let message = format!(
                "the host has read what the worker at {tile} writes now, and no completion said that what {go} starts was done"
            );
            let finding = Finding::new(Hazard::HostBeforeDone, message);
            self.host_found(Finding { command: Some(go), act: load.act, ..finding });
        }
        let Some((read, go)) = early else { return };
        self.judge_yields(Hazard::RelayBeforeDone, read.record);
        if self.ledger.wants(Hazard::RelayBeforeDone) {
            let message = format!(
                "it has read what the worker at {tile} writes now, and does not wait for {go}, which starts it"
            );
            let finding = Finding {
                record: read.record,
                command: read.relay,
                cycle: self.now,
                ..Finding::new(Hazard::RelayBeforeDone, message)
            };
            self.ledger.add(Finding { notes: self.actor_lines(), ..finding });
        }
    }

    /// The dispatcher has the list of a packed write.
    pub fn judge_listed(&mut self, header: &Dispatch, targets: impl Iterator<Item = Target>) {
        let at = self.ledger.at[Actor::Dispatch as usize];
        let (Some(record), Some(command)) = (at.record, at.command) else { return };
        if !self.judge.linter.awaits_list() {
            return;
        }
        for finding in self.judge.linter.listed(record.index, command.at, header, targets) {
            self.judge_yields(finding.hazard, finding.record);
            if self.ledger.wants(finding.hazard) {
                self.ledger.add(Finding { cycle: self.now, notes: self.actor_lines(), ..finding });
            }
        }
    }

    /// The host loads bytes of a memory; `act` is the index among the actions of a stream's host, if it is one.
    pub fn judge_host_load(&mut self, place: Location, bytes: usize, act: Option<u64>) {
        if matches!(place, Location::L1(tile, _) if self.chip.is_queue_core(tile)) {
            return;
        }
        let end = |start: u64| start.saturating_add(bytes as u64);
        let (part, tile) = match place {
            Location::L1(tile, addr) => {
                let tile = self.chip.xy(tile);
                ((Memory::Tile(tile), u64::from(addr), end(addr.into())), Some(tile))
            }
            Location::Dram(bank, addr) => {
                ((Memory::Bank(bank.into()), addr, end(addr)), Some(self.chip.bank_port(bank.into(), 0)))
            }
            Location::Host(id, at) => {
                let addr = self.memory.host_noc(id) + at;
                ((Memory::Host, addr, end(addr)), None)
            }
        };
        if self.judge.linter.is_polled(&part) {
            tile.into_iter().for_each(|tile| self.host_polls(tile, part.1, bytes));
            return;
        }
        self.host_acts(ActKind::Load { tile, addr: part.1, bytes: bytes as u32 });
        if self.ledger.settled {
            return;
        }
        let (queued, taken) = (self.ledger.issue.announced(), self.ledger.taken_records);
        if let Some(finding) = self.judge.linter.host_loads(part, queued, taken, act) {
            self.host_found(finding);
        }
    }

    /// The queue's accesses, if there is another queue.
    pub fn order(&mut self) -> Option<&mut Order> {
        self.judge.linter.order()
    }

    /// What the linter could not check among the items that order, write or start something.
    pub fn unordered(&self) -> Vec<String> {
        self.judge.linter.unordered().to_vec()
    }

    /// Whether a hazard was met, by the device or by the linter ahead of it.
    pub fn is_known(&self, hazard: Hazard) -> bool {
        self.ledger.met[hazard as usize] > 0 || self.judge.pending.iter().any(|(finding, _)| finding.hazard == hazard)
    }

    fn host_found(&mut self, finding: Finding) {
        if self.ledger.wants(finding.hazard) {
            self.ledger.add(Finding { cycle: self.now, notes: self.actor_lines(), ..finding });
        }
    }

    /// The dispatcher begins a command: findings in earlier commands are reported.
    pub fn judge_passed(&mut self, record: Option<RecordRef>, at: Option<u32>) {
        let Some(record) = record else { return };
        let now = (record.index, at.unwrap_or(0));
        while self.judge.pending.front().is_some_and(|pending| place(pending) < now) {
            self.report_judged();
        }
    }

    /// Whether the linter has unreported findings.
    pub fn has_found(&self) -> bool {
        !self.judge.pending.is_empty()
    }

    /// Nothing happens any more: the findings in everything that has run are reported.
    pub fn judge_at_rest(&mut self) {
        if !self.has_found() {
            return;
        }
        if all_idle(self) {
            while !self.judge.pending.is_empty() {
                self.report_judged();
            }
        } else {
            let at = self.ledger.at[Actor::Dispatch as usize];
            self.judge_passed(at.record, at.command.and_then(|command| command.at));
            // For a STALL that never ends, the findings in it are the cause.
            let at = self.ledger.at[Actor::Prefetch as usize];
            let now =
                (at.record.map_or(0, |record| record.index), at.command.and_then(|command| command.at).unwrap_or(0));
            let stalls = matches!(self.waits[Actor::Prefetch as usize], Some(Wait::Notified { .. }));
            let found = self.judge.pending.iter().position(|pending| stalls && place(pending) == now);
            if let Some(found) = found {
                self.judge.pending.swap(0, found);
                self.report_judged();
            }
        }
    }

    /// The device itself reports a hazard of a record, in more detail: the linter's finding is dropped.
    pub fn judge_yields(&mut self, hazard: Hazard, record: Option<RecordRef>) {
        let index = |record: Option<RecordRef>| record.map(|record| record.index);
        self.judge.pending.retain(|(other, _)| other.hazard != hazard || index(other.record) != index(record));
    }

    fn report_judged(&mut self) {
        let Some((finding, _)) = self.judge.pending.pop_front() else { return };
        if self.ledger.wants(finding.hazard) {
            let finding = Finding { cycle: self.now, notes: self.actor_lines(), ..finding };
            self.ledger.add(finding);
        }
    }
}
