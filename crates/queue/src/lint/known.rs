//! The bytes that a stream has written to DRAM, as far as the stream itself determines them: the data that EXEC_BUF
//! will find there.

use super::Linter;
use crate::interleave::Interleave;
use crate::sanitize::{CommandRef, Hazard};
use crate::wire::{ExecBuf, Prefetch, RelayParts, WireError, WritePaged};

/// Why bytes of a trace are missing.
pub(super) enum Missing {
    /// It has ended.
    End,
    /// They are unknown.
    Unknown,
}

impl Linter {
    /// Pages of DRAM are written with these bytes, if they are complete.
    pub(super) fn knows_pages(&mut self, c: &WritePaged, data: &[u8]) {
        let page = c.page_size as usize;
        if self.live || c.is_dram == 0 || page == 0 || data.len() < page.saturating_mul(c.pages as usize) {
            return;
        }
        for (index, bytes) in data.chunks(page).take(c.pages as usize).enumerate() {
            let (bank, addr) = self.page_in_dram(c.base_addr, page as u64, u64::from(c.start_page) + index as u64);
            self.known.put(bank, addr, bytes);
        }
    }

    /// Bytes of a bank are written with these values, if they are complete.
    pub(super) fn knows(&mut self, bank: u32, addr: u64, length: u64, data: &[u8]) {
        if !self.live && data.len() as u64 == length {
            self.known.put(bank, addr, data);
        }
    }

    fn page_in_dram(&self, base: u32, page: u64, index: u64) -> (u32, u64) {
        let (bank, behind) = Interleave::dram(self.board.banks.len() as u32).page(page, index);
        (bank, u64::from(base).saturating_add(behind))
    }

    /// EXEC_BUF in a standalone stream: its commands are checked as far as the stream has written them, before it reads
    /// them.
    pub(super) fn known_trace(&mut self, exec: &ExecBuf, page: u64, ordered: bool) {
        let (mut bytes, mut whole) = (Vec::new(), page > 0 && ordered);
        for index in 0..if whole { exec.pages.into() } else { 0 } {
            let (bank, addr) = self.page_in_dram(exec.base_addr, page, index);
            if self.known.read(bank, addr, page, &mut bytes) < page {
                whole = false;
                break;
            }
        }
        if self.launches.any() {
            self.not_judged("whether workers write the commands that EXEC_BUF reads");
        }
        let relay = self.relay;
        let read = |at: u64, count: usize| {
            let at = at as usize;
            let found = at.checked_add(count).and_then(|end| bytes.get(at..end)).map(<[u8]>::to_vec);
            found.ok_or(if whole { Missing::End } else { Missing::Unknown })
        };
        if matches!(self.trace_commands(exec.pages, read), Err(Missing::Unknown)) {
            self.relay = relay;
            self.not_ordered("commands that EXEC_BUF reads from DRAM, and what follows from them");
            self.unknown_commands();
        }
        self.relay = relay;
    }

    fn relay_in_trace(&self, name: &'static str) -> Option<CommandRef> {
        Some(CommandRef { index: self.report.relays, name, at: None })
    }

    /// Checks the commands of a trace. `read` returns bytes of it.
    pub(super) fn trace_commands(
        &mut self,
        pages: u32,
        mut read: impl FnMut(u64, usize) -> Result<Vec<u8>, Missing>,
    ) -> Result<(), Missing> {
        let (trace, mut at) = (self.relay, 0);
        loop {
            let found = read(at, 32);
            if matches!(found, Err(Missing::End)) {
                self.relay = trace;
                let message = format!("the {pages} pages of the exec_buf have been run, and there was no EXEC_BUF_END");
                self.find(Hazard::ExecBufRunsOut, message);
            }
            let bytes = found?;
            let header = match Prefetch::decode(&bytes) {
                Ok(header) => header,
                Err(error) => {
                    self.relay = trace;
                    match error {
                        WireError::IllegalId { .. } => {
                            let message =
                                format!("this kernel has no case for the command id {} in the exec_buf", bytes[0]);
                            self.find(Hazard::PrefetchIllegal, message);
                        }
                        _ => self.find(Hazard::RecordTrailing, format!("{error}, in the exec_buf")),
                    }
                    return Err(Missing::Unknown);
                }
            };
            self.relay = self.relay_in_trace(header.name());
            if matches!(header, Prefetch::ExecBuf(_) | Prefetch::Terminate(_)) {
                self.find(Hazard::PrefetchIllegal, format!("{} inside an exec_buf", header.name()));
                return Err(Missing::Unknown);
            }
            let bytes = read(at, header.stride() as usize)?;
            let Ok((command, stride)) = RelayParts::of(header, &bytes) else { return Err(Missing::Unknown) };
            self.report.relays += 1;
            self.relayed(&command, stride);
            at += stride as u64;
            if matches!(header, Prefetch::ExecBufEnd(_)) {
                return Ok(());
            }
            if stride == 0 {
                return Err(Missing::Unknown);
            }
        }
    }
}
