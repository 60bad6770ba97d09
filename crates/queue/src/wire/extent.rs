//! The length of a dispatch command after its header.

use std::ops::Range;

use super::{Dispatch, LargeSub, Packed, WireError};
use crate::layout::L1_ALIGN;

/// The parts of a dispatch command, in bytes from its first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Extent {
    /// Sub-commands or words, right after the header.
    pub subs: Range<usize>,
    /// Data, including padding between and after packets. It may extend beyond the available bytes.
    pub data: Range<u64>,
}

impl Extent {
    /// End of the command (exclusive).
    pub fn end(&self) -> u64 {
        self.data.end
    }
}

impl Dispatch {
    /// The positions of the command's parts. `bytes` starts with the command; only a large packed write needs its
    /// sub-commands there.
    ///
    /// # Errors
    /// [`WireError::Truncated`] if the list of sub-commands is longer than `bytes`; [`WireError::Field`] if a field
    /// gives no valid extent.
    pub fn extent(&self, bytes: &[u8]) -> Result<Extent, WireError> {
        let header = self.header_bytes();
        let list = |count: usize, each: usize| -> Result<Range<usize>, WireError> {
            let end = header + count * each;
            if end > bytes.len() {
                return Err(WireError::Truncated {
                    offset: header as u64,
                    what: "the list after the header",
                    needs: (end - header) as u64,
                    has: bytes.len().saturating_sub(header) as u64,
                });
            }
            Ok(header..end)
        };
        let plain =
            |length: u64| Extent { subs: header..header, data: header as u64..(header as u64).saturating_add(length) };
        let aligned = |subs: Range<usize>, data: u64| {
            let start = (subs.end as u64).next_multiple_of(u64::from(L1_ALIGN));
            Extent { subs, data: start..start + data }
        };
        Ok(match self {
            Dispatch::WriteLinear(c) | Dispatch::WriteLinearH(c) => plain(c.length),
            Dispatch::WriteHost(c) => plain(c.length.checked_sub(header as u64).ok_or(WireError::Field {
                offset: 0,
                field: "length",
                value: c.length,
                why: "it counts the 16 bytes of the header",
            })?),
            Dispatch::WritePaged(c) => plain(u64::from(c.page_size) * u64::from(c.pages)),
            Dispatch::Debug(c) => plain(u64::from(c.size)),
            Dispatch::WritePacked(c) => {
                let subs = list(usize::from(c.count), c.sub_bytes())?;
                let stride = u64::from(c.packet_stride());
                aligned(subs, if c.is_shared() { stride } else { stride * u64::from(c.count) })
            }
            Dispatch::WritePackedLarge(c) => {
                let alignment = u64::from(c.alignment);
                if !alignment.is_power_of_two() {
                    let why = "an alignment is a power of two";
                    return Err(WireError::Field { offset: 0, field: "alignment", value: alignment, why });
                }
                let subs = list(usize::from(c.count), LargeSub::SIZE)?;
                let packets = bytes[subs.clone()].chunks_exact(LargeSub::SIZE).map(LargeSub::read);
                let padded = packets.map(|sub| sub.map(|sub| u64::from(sub.length()).next_multiple_of(alignment)));
                let data = padded.sum::<Result<u64, _>>()?;
                aligned(subs, data)
            }
            Dispatch::SetWriteOffset(c) => {
                let subs = list(usize::from(c.offset_count), 4)?;
                let end = subs.end as u64;
                Extent { subs, data: end..end }
            }
            Dispatch::SetGoSignalNocData(c) => {
                let subs = list(c.num_words as usize, 4)?;
                let end = subs.end as u64;
                Extent { subs, data: end..end }
            }
            _ => plain(0),
        })
    }
}
