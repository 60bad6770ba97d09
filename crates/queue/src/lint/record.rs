//! Entries of the fetch queue.

use super::Linter;
use super::known::Missing;
use crate::capture::{fetched, stalls};
use crate::layout::PCIE_ALIGN;
use crate::sanitize::{CommandRef, Hazard, RecordRef};
use crate::wire::{Packed, PagedPackedSub, Prefetch, RelayParts, RingbufferSub, WireError};

impl Linter {
    /// Checks a record as the next one of the stream.
    pub(crate) fn entry(&mut self, slot: u16, bytes: &[u8]) {
        let length = bytes.len() as u32;
        let place = self.issue.place(length);
        if length <= self.layout.sysmem.issue_bytes {
            self.issue.queued(place, length);
        }
        let record = RecordRef { index: self.report.records, offset: u64::from(place.offset), length };
        self.entry_at(record, slot, bytes);
    }

    /// As [`Linter::entry`], if a machine knows its location.
    pub(crate) fn entry_at(&mut self, record: RecordRef, slot: u16, bytes: &[u8]) {
        self.record = Some(record);
        self.relay = None;
        self.report.records += 1;
        self.behind_the_end();
        self.sizes(slot, bytes);
        self.commands(slot, bytes, 0);
        self.host_results.looked_at(self.report.records);
    }

    /// Nothing queued after the command that ends the prefetcher is run. True if there was one.
    fn behind_the_end(&mut self) -> bool {
        if let Some(by) = self.prefetch_ended {
            self.find(Hazard::AfterTerminate, format!("this comes after the prefetcher's {by}"));
        }
        self.prefetch_ended.is_some()
    }

    /// Checks slot and length.
    fn sizes(&mut self, slot: u16, bytes: &[u8]) {
        let (fetched, length) = (fetched(slot), bytes.len() as u64);
        if fetched == 0 {
            self.find(Hazard::RecordEmpty, format!("the slot holds {:#06x}, which is 0 bytes", slot));
        } else if u64::from(fetched) != length {
            let message = format!("the slot says {fetched} bytes, the record has {length}");
            self.find(Hazard::RecordTrailing, message);
        }
        if !fetched.is_multiple_of(PCIE_ALIGN) {
            self.find(Hazard::RecordUnaligned, format!("{fetched} bytes are no multiple of {PCIE_ALIGN}"));
        } else if !length.is_multiple_of(u64::from(PCIE_ALIGN)) {
            self.find(Hazard::RecordUnaligned, format!("{length} bytes are no multiple of {PCIE_ALIGN}"));
        }
        let (cmddat, issue) = (self.layout.prefetch.cmddat_bytes, self.layout.sysmem.issue_bytes);
        if fetched > cmddat {
            self.find(Hazard::RecordTooLarge, format!("{fetched} bytes do not fit the command area of {cmddat}"));
        }
        if length > u64::from(issue) {
            self.find(Hazard::RecordTooLarge, format!("{length} bytes do not fit the issue region of {issue}"));
        }
    }

    /// The commands of an entry, one after the other.
    fn commands(&mut self, slot: u16, record: &[u8], from: usize) {
        let mut at = from;
        let (mut exec_buf, mut known) = (from > 0, true);
        let ended = self.prefetch_ended;
        while at < record.len() {
            let index = self.report.relays;
            let bytes = &record[at..];
            if at > 0 && bytes.iter().all(|byte| *byte == 0) {
                self.relay = None;
                self.find(
                    Hazard::RecordTrailing,
                    format!("{} bytes after the last command belong to none", bytes.len()),
                );
                break;
            }
            let header = Prefetch::decode(bytes);
            let name = header.as_ref().map_or("?", |header| header.name());
            self.relay = Some(CommandRef { index, name, at: Some(at as u32) });
            if ended.is_none() && self.behind_the_end() {
                break;
            }
            let (command, stride) = match header.and_then(|header| RelayParts::of(header, bytes)) {
                Ok(decoded) => decoded,
                Err(error) => {
                    self.undecodable(bytes, error);
                    known = false;
                    break;
                }
            };
            self.report.relays += 1;
            exec_buf |= matches!(command.header, Prefetch::ExecBuf(_));
            if let Some(reserved) = command.header.reserved_in_use(bytes) {
                self.find(Hazard::ReservedBytes, format!("byte {reserved} of the header is {:#04x}", bytes[reserved]));
            }
            self.relayed(&command, stride);
            if matches!(command.header, Prefetch::ExecBufEnd(_)) {
                self.prefetch_ended = Some("EXEC_BUF_END, which ends it outside of an exec_buf");
            }
            if stride == 0 {
                break;
            }
            at += stride;
            if self.live && matches!(command.header, Prefetch::ExecBuf(_)) && stalls(slot) {
                // Everything after it comes after the contents of the buffer.
                self.relay = None;
                self.behind_trace = Some((self.record, slot, record.to_vec(), at));
                return;
            }
        }
        self.relay = None;
        if stalls(slot) && !exec_buf && known {
            let message = format!("the slot holds {:#06x}, and no EXEC_BUF is in the record", slot);
            self.find(Hazard::StallWithoutExecBuf, message);
        }
        if exec_buf && !stalls(slot) {
            self.find(Hazard::ExecBufWithoutStall, format!("the slot holds {:#06x}", slot));
        }
    }

    /// Checks the commands of a buffer that EXEC_BUF runs, and the rest of its record. `read` returns bytes of the
    /// buffer.
    pub(crate) fn trace(&mut self, mut read: impl FnMut(u64, usize) -> Option<Vec<u8>>) {
        let Some((record, slot, bytes, behind)) = self.behind_trace.take() else { return };
        self.record = record;
        // If it ends too early the device reports it.
        let _ = self.trace_commands(0, |at, count| read(at, count).ok_or(Missing::Unknown));
        self.commands(slot, &bytes, behind);
    }

    /// Bytes that are not a command, or an incomplete one.
    fn undecodable(&mut self, bytes: &[u8], error: WireError) {
        let hazard = match error {
            WireError::IllegalId { .. } => Hazard::PrefetchIllegal,
            _ if taken(bytes) > bytes.len() as u64 => Hazard::RelayUnfetched,
            _ => Hazard::RecordTrailing,
        };
        self.find(hazard, error.to_string());
        // The rest of the record cannot be separated into commands.
        if bytes.len() > 64 {
            let record = self.report.records - 1;
            self.not_ordered(format!("record {record} from its first undecodable command on"));
        }
    }
}

/// Bytes used by a command itself: header, list and the relayed bytes after them.
fn taken(bytes: &[u8]) -> u64 {
    let Ok(header) = Prefetch::decode(bytes) else { return 0 };
    let behind = match header {
        Prefetch::RelayPagedPacked(c) => u64::from(c.count) * PagedPackedSub::SIZE as u64,
        Prefetch::RelayRingbuffer(c) => u64::from(c.count) * RingbufferSub::SIZE as u64,
        _ => header.inline().map_or(0, |c| u64::from(c.length)),
    };
    header.header_bytes() as u64 + behind
}
