//! Invalid writes to a worker's mailboxes.

use super::Hazard;
use crate::layout::WorkerLayout;
use crate::wire::{LaunchMessage, Packed};

/// Messages of the launch ring.
pub(crate) const LAUNCH_RING: u32 = 8;

const MESSAGE: u64 = LaunchMessage::SIZE as u64;

impl WorkerLayout {
    /// The error of a write of this size at an address, if it hits the launch ring or the go messages in a way no
    /// driver intends: launch messages are at the ring's entries, one or several, and parts of a message within one.
    pub(crate) fn mailbox_mistake(&self, addr: u64, bytes: u64) -> Option<(Hazard, String)> {
        let ring = u64::from(self.launch)..u64::from(self.launch) + MESSAGE * u64::from(LAUNCH_RING);
        let (go, mailboxes) = (u64::from(self.go), u64::from(self.go_index) + 4);
        let end = addr.saturating_add(bytes);
        if bytes == 0 || addr >= u64::from(self.firmware) {
            return None;
        }
        let says = |hazard, what: &str| {
            let (first, last) = (ring.start, ring.end);
            Some((hazard, format!("{bytes} bytes at {addr:#x} {what}; the launch ring is {first:#x}..{last:#x}")))
        };
        if end <= ring.start || addr >= ring.end {
            if addr >= go && addr < mailboxes && end > mailboxes {
                return says(Hazard::LaunchOutsideRing, "overrun the go messages and whatever follows them");
            }
            let message = bytes == MESSAGE;
            return if message { says(Hazard::LaunchOutsideRing, "are as long as a launch message") } else { None };
        }
        if addr < ring.start {
            return says(Hazard::LaunchOutsideRing, "start before the launch ring and run into it");
        }
        let inside = (addr - ring.start) % MESSAGE;
        if inside + bytes <= MESSAGE {
            None
        } else if inside != 0 {
            says(Hazard::LaunchOutsideRing, "do not start at an entry of the launch ring")
        } else if end > ring.end {
            says(Hazard::LaunchPastRing, "run past the end of the launch ring")
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layout;

    #[test]
    fn messages_lie_at_entries() {
        let layout = Layout::default().worker;
        let code = |addr, bytes| layout.mailbox_mistake(addr, bytes).map(|(hazard, _)| hazard);
        // One message, the last, all of them, part of one, go messages and their index, and what lies elsewhere.
        for (addr, bytes) in [(0x70, 96), (0x310, 96), (0x70, 768), (0xB0, 16), (0x370, 36), (0x370, 52), (0x9C0, 128)]
        {
            assert_eq!(code(addr, bytes), None, "{bytes} at {addr:#x}");
        }
        for (addr, bytes) in [(0x80, 96), (0x60, 32), (0x370, 96), (0x3D0, 96), (0, 96), (u64::MAX - 4, 0)] {
            let expected = (bytes > 0).then_some(Hazard::LaunchOutsideRing);
            assert_eq!(code(addr, bytes), expected, "{bytes} at {addr:#x}");
        }
        assert_eq!(code(0x70, 784), Some(Hazard::LaunchPastRing));
        assert_eq!(code(0x310, 192), Some(Hazard::LaunchPastRing));
        assert_eq!(code(0x310, u64::MAX), Some(Hazard::LaunchPastRing));
    }
}
