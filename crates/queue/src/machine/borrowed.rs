//! Memory borrowed from the host and read by relays: it must stay unchanged from the queueing of its record until the
//! record has been read. A stream stores what was read in front of the record; only the live run detects and reports
//! that it changed in between.

use super::memory::Location;
use super::world::World;
use crate::layout::HOST_ADDRESS;
use crate::sanitize::ledger::Borrowed;
use crate::sanitize::{Finding, Hazard, RecordRef};
use crate::wire::{PCIE_XY, Prefetch, RelayParts};

impl World {
    /// The host has queued a record: the borrowed memory that it relays must keep its current contents.
    pub fn borrowed_is_queued(&mut self, record: RecordRef, place: Location) {
        let Location::Host(id, at) = place else { return };
        let Some(bytes) = self.memory.host(id).and_then(|all| all.get(at as usize..)?.get(..record.length as usize))
        else {
            return;
        };
        let (mut rest, mut found) = (bytes, Vec::new());
        while let Ok((command, stride)) = Prefetch::decode(rest).and_then(|header| RelayParts::of(header, rest)) {
            if let Prefetch::RelayLinear(relay) = command.header
                && relay.noc_xy == PCIE_XY
            {
                found.push((relay.addr & HOST_ADDRESS, relay.length));
            }
            if stride == 0 || stride >= rest.len() {
                break;
            }
            rest = &rest[stride..];
        }
        let own = self.layout.sysmem.own();
        for (addr, bytes) in found {
            if let Some(Location::Host(id, at)) = self.memory.host_at(addr, bytes)
                && self.memory.is_borrowed(id)
                && !own.contains(&addr)
                && let Some(all) = self.memory.host(id)
            {
                let bytes = all[at as usize..(at + bytes) as usize].to_vec();
                self.ledger.relayed.push_back(Borrowed { record, id, at, bytes });
            }
        }
    }

    /// The device or a worker has written host memory: relays from there must see the new contents.
    pub fn borrowed_is_written(&mut self, place: Location, bytes: u64) {
        let Location::Host(id, at) = place else { return };
        for borrowed in &mut self.ledger.relayed {
            if let (Some(part), Some(all)) = (borrowed.part(id, at, bytes), self.memory.host(id)) {
                let from = borrowed.at as usize;
                borrowed.bytes[part.clone()].copy_from_slice(&all[from + part.start..from + part.end]);
            }
        }
    }

    /// The prefetcher reads host memory for a record.
    pub fn borrowed_is_relayed(&mut self, place: Location, bytes: u64) {
        let (Location::Host(id, at), Some(record)) = (place, self.ledger.at[0].record) else { return };
        // Earlier ones have been read.
        while self.ledger.relayed.front().is_some_and(|borrowed| borrowed.record.index < record.index) {
            self.ledger.relayed.pop_front();
        }
        let other =
            self.ledger.relayed.iter().filter(|borrowed| borrowed.record.index == record.index).find_map(|borrowed| {
                let (part, all) = (borrowed.part(id, at, bytes)?, self.memory.host(id)?);
                let now = &all[borrowed.at as usize..];
                let other = part.into_iter().find(|byte| borrowed.bytes[*byte] != now[*byte])?;
                Some(borrowed.at + other as u64)
            });
        let Some(other) = other else { return };
        // It is reported once.
        self.ledger.relayed.retain(|borrowed| borrowed.record.index != record.index);
        if self.ledger.wants(Hazard::BorrowedChanged) {
            let at = self.ledger.at[0];
            let addr = self.memory.host_noc(id) + other;
            let message =
                format!("the byte at {addr:#x} of host memory has changed since {record} was queued, which relays it");
            let finding = Finding::new(Hazard::BorrowedChanged, message);
            let (record, command, notes) = (at.record, at.command, self.actor_lines());
            self.ledger.add(Finding { record, command, cycle: self.now, notes, ..finding });
        }
    }
}
