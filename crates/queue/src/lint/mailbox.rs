//! Writes to workers' mailboxes: launch messages, resets of the launch pointer, and invalid messages.

use super::Linter;
use crate::layout::Layout;
use crate::sanitize::{CommandRef, Hazard, LAUNCH_RING};
use crate::wire::{GoMessage, LargeSub, LaunchMessage, Packed, Rect, Subs, WritePacked, WritePackedLarge, Xy};

const MESSAGE: u64 = LaunchMessage::SIZE as u64;
/// Bytes of a launch message up to the end of the field for the enabled processors.
const JUDGED: u64 = 80;

impl LaunchMessage {
    /// The error in the kernel addresses of a message, if it runs one. A message with the base and all offsets 0
    /// represents a launch of which only the signals matter.
    pub(crate) fn misplaced(&self, layout: &Layout) -> Option<(Hazard, String)> {
        if self.enables == 0 {
            return None;
        }
        let (base, l1) = (self.kernel_config_base, u64::from(layout.l1_bytes));
        let texts = [self.text_brisc, self.text_ncrisc, self.text_trisc0, self.text_trisc1, self.text_trisc2];
        let names = ["BRISC", "NCRISC", "TRISC 0", "TRISC 1", "TRISC 2"];
        let enabled = texts.into_iter().zip(names).enumerate().filter(|(bit, _)| self.enables >> bit & 1 != 0);
        let enabled = enabled.map(|(_, (offset, name))| (u64::from(offset), ["the text of ", name]));
        let places = texts.into_iter().any(|offset| offset != 0);
        if base == 0 && !places && self.sem_offset == 0 && self.local_cb_offset == 0 {
            return None;
        }
        let others = [(self.sem_offset, "its semaphores"), (self.local_cb_offset, "its circular buffers")];
        let others = others.map(|(offset, what)| (u64::from(offset), [what, ""]));
        let outside = enabled.chain(others).find(|(offset, _)| u64::from(base) + offset >= l1);
        if let Some((offset, what)) = outside {
            let what = what.concat();
            let text = format!("base {base:#x} and offset {offset:#x} place {what} after the {l1:#x} bytes of L1");
            return Some((Hazard::KernelOutside, text));
        }
        (base != layout.kernel_config_base).then(|| {
            let text = format!("the message names the base {base:#x}; kernels expect {:#x}", layout.kernel_config_base);
            (Hazard::KernelBaseMismatch, text)
        })
    }
}

impl Linter {
    /// The packets of a packed write.
    pub(super) fn packets(&mut self, at: CommandRef, c: &WritePacked, subs: &Subs, addr: u64, data: &[u8]) {
        if self.behind_mailboxes(addr) {
            return;
        }
        let (size, stride) = (usize::from(c.size), c.packet_stride() as usize);
        let packet = |number: usize| {
            let first = if c.is_shared() { 0 } else { number * stride };
            data.get(first..first + size)
        };
        match subs {
            Subs::Unicast(subs) => {
                for (number, sub) in subs.iter().enumerate() {
                    let Some(packet) = packet(number) else { return };
                    self.message(at, addr, packet);
                    self.reset(at, Xy::from_word(sub.noc_xy), addr, packet);
                    self.timing(at, Xy::from_word(sub.noc_xy), addr, packet);
                }
            }
            Subs::Multicast(subs) => {
                for (number, sub) in subs.iter().enumerate() {
                    let Some(packet) = packet(number) else { return };
                    self.message(at, addr, packet);
                    self.timing_all(at, Rect::from_word(sub.noc_xy), addr, packet);
                }
            }
            _ => {}
        }
    }

    /// The packets of a large packed write, with write offsets applied to the addresses.
    pub(super) fn large_packets(
        &mut self,
        at: CommandRef,
        c: &WritePackedLarge,
        subs: &[(LargeSub, u64)],
        data: &[u8],
    ) {
        let mut first = 0;
        for (sub, addr) in subs {
            let bytes = sub.length() as usize;
            let Some(packet) = data.get(first..first + bytes) else { return };
            if !self.behind_mailboxes(*addr) {
                self.message(at, *addr, packet);
                self.timing_all(at, Rect::from_word(sub.noc_xy), *addr, packet);
            }
            first += bytes.next_multiple_of(usize::from(c.alignment).max(1));
        }
    }

    fn behind_mailboxes(&self, addr: u64) -> bool {
        addr >= u64::from(self.layout.worker.firmware)
    }

    /// Checks bytes for a tile's L1 for launch messages.
    pub(super) fn message(&mut self, at: CommandRef, addr: u64, packet: &[u8]) {
        let elsewhere = self.layout.worker.mailbox_mistake(addr, packet.len() as u64).is_some();
        if self.judged_message == Some((at.index, addr)) || elsewhere {
            return;
        }
        let (ring, end) = (u64::from(self.layout.worker.launch), addr.saturating_add(packet.len() as u64));
        for entry in 0..u64::from(LAUNCH_RING) {
            let first = ring + MESSAGE * entry;
            if addr >= first + MESSAGE || end <= first {
                continue;
            }
            if addr > first || end < first + JUDGED {
                self.not_judged("launch messages that are written in parts: where their kernels lie");
                continue;
            }
            let mut bytes = [0; LaunchMessage::SIZE];
            let there = &packet[(first - addr) as usize..];
            let most = there.len().min(bytes.len());
            bytes[..most].copy_from_slice(&there[..most]);
            let misplaced = LaunchMessage::read(&bytes).ok().and_then(|message| message.misplaced(&self.layout));
            if let Some((hazard, message)) = misplaced {
                // For other tiles it would only repeat the finding.
                self.judged_message = Some((at.index, addr));
                return self.find_in(at, hazard, message);
            }
        }
    }

    /// Checks whether bytes for one tile reset its launch pointer.
    pub(super) fn reset(&mut self, at: CommandRef, tile: Xy, addr: u64, packet: &[u8]) {
        let signal = u64::from(self.layout.worker.go) + 3;
        let there = signal.checked_sub(addr).and_then(|offset| packet.get(usize::try_from(offset).ok()?));
        match there.copied() {
            Some(GoMessage::RESET_READ_PTR_FROM_HOST) => {
                self.resets.0.insert(tile, at);
            }
            Some(_) => {
                self.resets.0.remove(&tile);
            }
            None => {}
        }
    }

    /// A timestamp for a tile.
    pub(super) fn time(&mut self, at: CommandRef, noc_xy: u32, addr: u64) {
        let (tile, worker) = (Xy::from_word(noc_xy), &self.layout.worker);
        let mailboxes = u64::from(worker.launch)..u64::from(worker.go_index) + 4;
        let elsewhere = worker.mailbox_mistake(addr, 8).is_some();
        if !elsewhere
            && noc_xy == tile.word()
            && self.board.is_tensix(tile)
            && addr < mailboxes.end
            && addr + 8 > mailboxes.start
        {
            let message = format!(
                "8 bytes of time go to {addr:#x} of {tile}, whose messages are at {:#x}..{:#x}",
                mailboxes.start, mailboxes.end
            );
            self.find_in(at, Hazard::MailboxOverwritten, message);
        }
    }
}
