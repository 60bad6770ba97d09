//! Loads by the host: through completions it knows that a write, or a worker, has finished.
//!
//! A load happens after some records have been queued. If some of these have not been examined yet, their writes are
//! compared with the load when they are: the answer does not depend on the progress of the device.

use super::Linter;
use crate::board::Tile;
use crate::capture::{Act, ActKind, Capture};
use crate::lint::memory::{Bytes, Memory};
use crate::sanitize::{CommandRef, Finding, Hazard};

impl Linter {
    /// Host actions of a stream after this many records have been queued.
    pub(super) fn acts(&mut self, capture: &Capture, records: usize) {
        for (index, act) in capture.acts_before(records) {
            self.act(act, index as u64, records);
        }
    }

    /// One of these, by its index among all actions of this host.
    pub(super) fn act(&mut self, act: &Act, index: u64, records: usize) {
        match &act.kind {
            ActKind::Wait => self.host_waits(),
            ActKind::Take => {
                self.host_taken += 1;
                self.host_took(self.host_taken);
            }
            &ActKind::Load { tile, addr, bytes } => {
                let memory = tile.map_or(Some(Memory::Host), |tile| self.memory_of(tile));
                let part = memory.map(|memory| (memory, addr, addr.saturating_add(bytes.into())));
                let found = part.and_then(|part| self.host_loads(part, records as u64, self.host_taken, Some(index)));
                found.into_iter().for_each(|finding| self.keep(finding));
            }
            // Memory of workers is known only to a run.
            ActKind::Store { tiles: Some(tiles), addr, bytes } if tiles.low == tiles.high => {
                if let Some(Memory::Bank(bank)) = self.memory_of(tiles.low) {
                    self.knows(bank, *addr, bytes.len() as u64, bytes);
                }
            }
            ActKind::Store { .. }
            | ActKind::Poll { .. }
            | ActKind::Pin { .. }
            | ActKind::Unpin { .. }
            | ActKind::Pause { .. } => {}
        }
    }

    /// The host of a stream waits until everything has run, and takes the completions.
    pub(super) fn host_waits(&mut self) {
        self.host_taken = self.host_records;
        self.host_waited();
    }

    /// Whether a host that loads this is polling: mailboxes of workers, memory of the queue's cores and the queue's
    /// host memory.
    pub(crate) fn is_polled(&self, part: &Bytes) -> bool {
        match *part {
            (Memory::Tile(tile), start, _) => {
                start < self.layout.worker.firmware.into() || self.board.tile(tile) != Tile::Worker
            }
            (Memory::Host, start, _) => self.layout.sysmem.own().contains(&start),
            _ => false,
        }
    }

    /// The host loads bytes, after this many records have been queued and completions taken: it may be too early. `act`
    /// is the index of the load among the stream's host actions.
    pub(crate) fn host_loads(&mut self, bytes: Bytes, queued: u64, taken: u64, act: Option<u64>) -> Option<Finding> {
        if self.is_polled(&bytes) {
            return None;
        }
        self.host_results.took(taken);
        let write = self.unread.meets_host(&bytes, taken);
        let found = |hazard, what: &str, by: CommandRef| {
            let message =
                format!("the host reads what {by} {what}, and has taken no completion that says that it is there");
            Some(Finding { command: Some(by), act, ..Finding::new(hazard, message) })
        };
        if let Some(by) = write {
            return found(Hazard::HostBeforeWrite, "writes", by);
        }
        let go = self.host_results.loads(bytes, queued, act);
        go.and_then(|by| found(Hazard::HostBeforeDone, "lets a worker write", by))
    }

    /// A command of the current record writes a range.
    pub(super) fn host_has_read(&mut self, at: CommandRef, part: &Bytes) {
        let Some(record) = self.record else { return };
        if let Some(read) = self.host_results.has_loaded(record.index, part) {
            let message = format!("the host has read what {at} writes, and no completion said that it was there");
            // A stream gives the location of that.
            let record = self.record.filter(|_| read.act.is_none());
            let finding = Finding::new(Hazard::HostBeforeWrite, message);
            self.keep(Finding { record, command: Some(at), act: read.act, ..finding });
        }
    }
}
