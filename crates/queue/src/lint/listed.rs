//! Packed writes whose list is relayed from memory: their targets are known only when the dispatcher has the list. On a
//! machine, reads that follow such a write are held until then.

use super::Linter;
use crate::layout::HOST_ADDRESS;
use crate::lint::linter::{Held, Open, Target};
use crate::lint::memory::{Bytes, Memory, meet};
use crate::sanitize::{CommandRef, Finding, Hazard};
use crate::wire::{Dispatch, PCIE_XY, Xy};

/// Number of reads that are held.
const KEPT: usize = 512;

impl Linter {
    /// A packed write whose list is relayed from memory.
    pub(super) fn writes_list(&mut self, at: CommandRef, header: Dispatch) {
        let number = self.listed.numbers;
        self.listed.numbers += 1;
        self.listed.open.push_back(Open { number, header, record: self.record, at });
        self.unread.writes_list(number, at);
    }

    /// The prefetcher reads ranges that no earlier write is known to overlap.
    pub(super) fn hold(&mut self, hazard: Hazard, parts: &[Bytes]) {
        if self.listed.open.is_empty() {
            return;
        }
        let behind = self.unread.lists();
        if !behind.is_empty() {
            if self.listed.reads.len() == KEPT {
                self.listed.reads.pop_front();
                self.not_judged("reads after many writes whose lists are relayed from memory");
            }
            let (record, relay, parts) = (self.record, self.relay, parts.to_vec());
            self.listed.reads.push_back(Held { hazard, record, relay, parts, behind });
        }
    }

    /// Whether a list that the dispatcher reaches may be one of these.
    pub(crate) fn awaits_list(&self) -> bool {
        !self.listed.open.is_empty()
    }

    /// The dispatcher has the list of a command at a byte of a record: returns reads that were earlier than its writes.
    pub(crate) fn listed(
        &mut self,
        record: u64,
        at: Option<u32>,
        header: &Dispatch,
        targets: impl Iterator<Item = Target>,
    ) -> Vec<Finding> {
        let index = |open: &Open| open.record.map_or(0, |record| record.index);
        while self.listed.open.front().is_some_and(|open| index(open) < record) {
            self.listed.open.pop_front();
        }
        let same = |open: &Open| index(open) == record && open.at.at == at && open.header == *header;
        let Some(found) = self.listed.open.iter().position(same) else { return Vec::new() };
        let Some(open) = self.listed.open.remove(found) else { return Vec::new() };
        let parts: Vec<Bytes> = targets.filter_map(|target| self.part(target)).collect();
        self.unread.list_is(open.number, &parts, open.at);
        let mut findings = Vec::new();
        for read in self.listed.reads.iter_mut().filter(|read| read.behind.contains(&open.number)) {
            read.behind.retain(|number| *number != open.number);
            if read.parts.iter().any(|part| parts.iter().any(|written| meets(written, part))) {
                let message =
                    format!("it reads what {} writes, and the prefetcher waits for nothing in between", open.at);
                let new = Finding::new(read.hazard, message);
                findings.push(Finding { record: read.record, command: read.relay, ..new });
                read.behind.clear();
            }
        }
        self.listed.reads.retain(|read| !read.behind.is_empty());
        findings
    }

    fn part(&self, (word, rectangle, addr, bytes): Target) -> Option<Bytes> {
        let memory = match (rectangle, word) {
            (true, _) => Memory::Tiles(word),
            (false, PCIE_XY) => Memory::Host,
            (false, _) => self.memory_of(Xy::from_word(word))?,
        };
        let addr = if memory == Memory::Host { addr & HOST_ADDRESS } else { addr };
        Some((memory, addr, addr.saturating_add(bytes)))
    }
}

/// Whether a write, possibly to a rectangle, overlaps a read.
fn meets(written: &Bytes, read: &Bytes) -> bool {
    match (written.0, read.0) {
        (Memory::Tiles(word), Memory::Tile(tile)) => {
            crate::wire::Rect::from_word(word).contains(tile) && written.1 < read.2 && read.1 < written.2
        }
        _ => meet(written, read),
    }
}
