//! Dispatch commands.

use super::Linter;
use super::reads::Pages;
use crate::board::Tile;
use crate::layout::{COMPLETION_PAGE, L1_ALIGN, SYNC_SEMS};
use crate::sanitize::{CommandRef, Hazard};
use crate::wire::{
    Dispatch, DispatchParts, LargeSub, Rect, Subs, WRITE_OFFSETS, WireError, WriteHost, WriteLinear, WritePacked,
    WritePackedLarge, Xy,
};

impl Linter {
    /// The reference of the next dispatch command.
    pub(super) fn next_command(&mut self, name: &'static str) -> CommandRef {
        let index = self.report.commands;
        self.report.commands += 1;
        CommandRef { index, name, at: self.relay.and_then(|relay| relay.at).map(|at| at + 16) }
    }

    /// A payload that starts a page: one command.
    pub(super) fn dispatched(&mut self, payload: &[u8]) {
        let header = Dispatch::decode(payload);
        let name = header.as_ref().map_or("?", |header| header.name());
        let at = self.next_command(name);
        self.behind_terminate(at);
        let (command, length) = match header.and_then(|header| DispatchParts::of(header, payload)) {
            Ok(decoded) => decoded,
            Err(error) => {
                let hazard = match error {
                    WireError::IllegalId { .. } => Hazard::DispatchIllegal,
                    WireError::Field { field: "length", .. } => Hazard::CompletionHeader,
                    // After whole pages it waits; otherwise it takes what is in the rest of the last one.
                    _ if payload.len().is_multiple_of(self.layout.dispatch.cb_page() as usize) => {
                        Hazard::CommandUnfinished
                    }
                    _ => Hazard::StalePage,
                };
                return self.find_in(at, hazard, format!("{error}; {} were relayed", payload.len()));
            }
        };
        if !command.header.has_case() {
            return self.find_in(at, Hazard::DispatchIllegal, format!("this firmware has no case for {name}"));
        }
        if let Some(reserved) = command.header.reserved_in_use(payload) {
            let message = format!("byte {reserved} of the header is {:#04x}", payload[reserved]);
            self.find_in(at, Hazard::ReservedBytes, message);
        }
        self.rest(at, length, payload);
        self.judge(&command, at);
    }

    /// Nothing relayed after the dispatcher's TERMINATE is run.
    pub(super) fn behind_terminate(&mut self, at: CommandRef) {
        if self.dispatch_ended {
            self.find_in(at, Hazard::AfterTerminate, "this comes after the dispatcher's TERMINATE");
        }
    }

    /// The part of a payload after its command.
    fn rest(&mut self, at: CommandRef, length: usize, payload: &[u8]) {
        let rest = &payload[length..];
        // Only the start of a page is interpreted as a command.
        let page = length.next_multiple_of(self.layout.dispatch.cb_page() as usize);
        if rest.iter().all(|byte| *byte == 0) {
            if page < payload.len() {
                self.dispatched(&payload[page..]);
            }
            return;
        }
        let behind = rest.iter().position(|byte| *byte != 0).unwrap_or(0).next_multiple_of(16).min(rest.len());
        let second = [rest, &rest[behind..]].into_iter().any(|bytes| Dispatch::decode(bytes).is_ok());
        if page < payload.len() {
            let message =
                format!("{} bytes follow the command; the dispatcher goes on with those from +{page:#x}", rest.len());
            self.find_in(at, Hazard::TrailingBytes, message);
            self.dispatched(&payload[page..]);
        } else if second {
            let message = format!("{} bytes follow the command in its page, and look like another one", rest.len());
            self.find_in(at, Hazard::CommandSkipped, message);
        } else {
            self.find_in(at, Hazard::TrailingBytes, format!("{} bytes follow the command", rest.len()));
        }
    }

    /// Checks a command by itself, and in the context of those before it. Data may be missing if it is relayed from
    /// memory.
    pub(super) fn judge(&mut self, command: &DispatchParts<'_>, at: CommandRef) {
        let data = command.data;
        match &command.header {
            Dispatch::WriteLinear(c) | Dispatch::WriteLinearH(c) => self.linear(at, c, data),
            Dispatch::WriteHost(c) => {
                self.host(at, c, data);
                self.host_records += 1;
                self.unread.report(self.host_records);
                self.results.report(self.host_records);
                self.host_results.report(self.host_records);
                self.order.iter_mut().for_each(|order| order.reports(self.host_records));
            }
            Dispatch::WritePaged(c) => {
                let (page, count) = (u64::from(c.page_size), u64::from(c.pages));
                if page * count > u64::from(u32::MAX) {
                    self.find_in(at, Hazard::StalePage, "its bytes are counted with 32 bits, and do not fit");
                }
                let (dram, base, first) = (c.is_dram != 0, c.base_addr, u64::from(c.start_page));
                self.aligned(at, (base.into(), 0));
                if count > 1 && base.is_multiple_of(L1_ALIGN) && !c.page_size.is_multiple_of(L1_ALIGN) {
                    let message = format!(
                        "pages of {page} bytes: the second does not start at a multiple of {L1_ALIGN} in the data"
                    );
                    self.find_in(at, Hazard::NocAlignment, message);
                }
                self.writes_pages(at, Pages { dram, base, page, first, count });
                self.knows_pages(c, data);
            }
            Dispatch::WritePacked(c) => self.packed(at, c, &command.subs, data),
            Dispatch::WritePackedLarge(c) => {
                if let Subs::Large(subs) = &command.subs {
                    self.large(at, c, subs, data);
                }
            }
            Dispatch::Wait(c) => self.wait(at, c),
            Dispatch::SetWriteOffset(c) => {
                if c.offset_count > WRITE_OFFSETS {
                    self.find_in(at, Hazard::WriteOffsetOverrun, format!("{} offsets; there are 4", c.offset_count));
                }
                if let Subs::Words(words) = &command.subs {
                    self.write_offsets.iter_mut().zip(words).for_each(|(offset, word)| *offset = *word);
                }
            }
            Dispatch::SendGoSignal(c) => self.go(at, c),
            Dispatch::SetGoSignalNocData(_) => {
                if let Subs::Words(words) = &command.subs {
                    self.go_list(at, words);
                }
            }
            Dispatch::Timestamp(c) => {
                self.unicast(at, c.noc_xy, u64::from(c.addr), 8);
                self.event(c.noc_xy, u64::from(c.addr), 8, &[]);
                self.time(at, c.noc_xy, u64::from(c.addr));
                self.barrier();
            }
            Dispatch::NotifySubordinate(c) => self.notify_subordinate(at, c.wait != 0, c.index_bitmask),
            Dispatch::Terminate(_) => self.dispatch_ended = true,
            _ => {}
        }
    }

    /// NOTIFY_SUBORDINATE_GO_SIGNAL: a barrier if it waits; then it increments a semaphore for each bit.
    fn notify_subordinate(&mut self, at: CommandRef, waits: bool, bits: u16) {
        if waits {
            self.barrier();
        }
        if let Some(bit) = (SYNC_SEMS..16).find(|bit| bits >> bit & 1 != 0) {
            let addr = self.layout.dispatch.sync_sems + 16 * bit;
            let message = format!("bit {bit} changes the word at {addr:#x}; there are {SYNC_SEMS} semaphores");
            self.find_in(at, Hazard::QueueCoreWritten, message);
        }
    }

    /// As [`Linter::offset`], for the commands that add with 32 bits.
    fn offset_32(&mut self, at: CommandRef, index: u16, addr: u32) -> u64 {
        u64::from(self.offset(at, index, addr.into()) as u32)
    }

    /// An address with a write offset added.
    fn offset(&mut self, at: CommandRef, index: u16, addr: u64) -> u64 {
        match self.write_offsets.get(usize::from(index)) {
            Some(offset) => addr.wrapping_add(u64::from(*offset)),
            None => {
                self.find_in(at, Hazard::WriteOffsetOverrun, format!("it uses offset {index}; there are 4"));
                addr
            }
        }
    }

    fn linear(&mut self, at: CommandRef, c: &WriteLinear, data: &[u8]) {
        let addr = self.offset(at, u16::from(c.write_offset_index), c.addr);
        match c.num_mcast_dests {
            0 => {
                self.unicast(at, c.noc_xy, addr, c.length);
                self.event(c.noc_xy, addr, c.length, data);
                if let Tile::Dram(bank) = self.board.tile_of_word(Xy::from_word(c.noc_xy)) {
                    self.knows(bank, addr, c.length, data);
                }
            }
            dests => {
                self.back_to_back(at);
                self.multicast(at, c.noc_xy, (addr, 0), c.length, u32::from(dests));
            }
        }
        let tile = Xy::from_word(c.noc_xy);
        if c.num_mcast_dests > 0 || self.board.is_tensix(tile) {
            self.message(at, addr, data);
            if c.num_mcast_dests == 0 {
                self.reset(at, tile, addr, data);
                self.timing(at, tile, addr, data);
            } else {
                self.timing_all(at, Rect::from_word(c.noc_xy), addr, data);
            }
        }
    }

    /// A multicast without a preceding firmware barrier.
    fn back_to_back(&mut self, at: CommandRef) {
        if let Some(before) = self.launches.unacknowledged() {
            let message = format!("{before} may not be acknowledged yet, and this command waits for nothing");
            self.find_in(at, Hazard::MulticastBackToBack, message);
        }
    }

    fn host(&mut self, at: CommandRef, c: &WriteHost, data: &[u8]) {
        if c.is_event != 0 && (c.length > u64::from(COMPLETION_PAGE) || data.len() < 4) {
            let message = format!("an event of {} bytes; hosts read 4 bytes after the header, in one page", c.length);
            self.find_in(at, Hazard::CompletionInsideRecord, message);
        }
    }

    fn packed(&mut self, at: CommandRef, c: &WritePacked, subs: &Subs, data: &[u8]) {
        let most = if c.is_multicast() { WritePacked::MAX_MULTICAST } else { WritePacked::MAX_UNICAST };
        let page = self.layout.dispatch.cb_page();
        if c.count > most {
            self.find_in(
                at,
                Hazard::PackedTooMany,
                format!("{} targets; the dispatcher's cache holds {most}", c.count),
            );
        }
        if c.size > WritePacked::MAX_SIZE {
            self.find_in(at, Hazard::PackedTooLarge, format!("packets of {} bytes; {page} is most", c.size));
        }
        let list = 16 + u32::from(c.count) * c.sub_bytes() as u32;
        if list > page {
            self.find_in(at, Hazard::PackedTooLarge, format!("header and list take {list} bytes, more than a page"));
        }
        let whole = list.next_multiple_of(16) + c.packet_stride();
        if c.is_shared() && whole > page {
            let message = format!("header, list and packet take {whole} bytes, more than a page of {page}");
            self.find_in(at, Hazard::NoStrideCrossesPage, message);
        }
        let addr = self.offset_32(at, c.write_offset_index, c.addr);
        match subs {
            Subs::Unicast(subs) => {
                let stride = if c.is_shared() { 0 } else { c.packet_stride() as usize };
                for (number, sub) in subs.iter().enumerate() {
                    self.unicast(at, sub.noc_xy, addr, u64::from(c.size));
                    self.event(sub.noc_xy, addr, u64::from(c.size), data.get(number * stride..).unwrap_or(&[]));
                }
            }
            Subs::Multicast(subs) => {
                // The firmware puts a barrier before each packet.
                for sub in subs {
                    self.barrier();
                    self.multicast(at, sub.noc_xy, (addr, 0), u64::from(c.size), sub.num_mcast_dests);
                }
            }
            _ => {}
        }
        self.packets(at, c, subs, addr, data);
    }

    fn large(&mut self, at: CommandRef, c: &WritePackedLarge, subs: &[LargeSub], data: &[u8]) {
        if c.count > WritePackedLarge::MAX_SUBS {
            let message = format!("{} packets; the dispatcher's cache holds {}", c.count, WritePackedLarge::MAX_SUBS);
            self.find_in(at, Hazard::PackedTooMany, message);
        }
        if subs.last().is_some_and(|last| !last.is_unlinked()) {
            self.find_in(at, Hazard::MulticastLinked, "the last packet does not unlink");
        }
        let (mut linked, mut source) = (false, 0);
        let mut packets = Vec::with_capacity(subs.len());
        for sub in subs {
            // The firmware puts a barrier before the first packet of each linked run.
            if !linked {
                self.barrier();
            }
            linked = !sub.is_unlinked();
            let addr = self.offset_32(at, c.write_offset_index, sub.addr);
            self.multicast(at, sub.noc_xy, (addr, source), u64::from(sub.length()), u32::from(sub.num_mcast_dests));
            source += u64::from(sub.length()).next_multiple_of(u64::from(c.alignment).max(1));
            packets.push((*sub, addr));
        }
        self.large_packets(at, c, &packets, data);
    }
}
