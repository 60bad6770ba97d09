//! Builders of commands by purpose, with the bytes that the fixed host sends.

use thiserror::Error;

use super::{
    Dispatch, DispatchCommand, Inline, LargeSub, Prefetch, PrefetchCommand, Rect, RelaySubs, SendGoSignal,
    SetGoSignalNocData, SetWriteOffset, Subs, Timestamp, UnicastSub, Wait, WriteHost, WritePacked, WritePackedLarge,
    Xy,
};
use crate::layout::{L1_ALIGN, PCIE_ALIGN};

/// Why a command cannot be encoded.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{what} is {value}, and the command's field holds {least} to {most}")]
pub struct FieldRange {
    /// The field that does not fit.
    pub what: &'static str,
    /// Its value.
    pub value: u64,
    /// Minimum.
    pub least: u64,
    /// Maximum.
    pub most: u64,
}

fn fits<T: TryFrom<u64>>(what: &'static str, value: usize, least: u64, most: u64) -> Result<T, FieldRange> {
    let value = value as u64;
    let range = FieldRange { what, value, least, most };
    if value < least || value > most {
        return Err(range);
    }
    T::try_from(value).map_err(|_| range)
}

/// Data of a packed write to tiles: one packet for all, or one for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packets<'a> {
    /// One packet for all.
    Shared(&'a [u8]),
    /// One for each tile, all of one size.
    Each(&'a [Vec<u8>]),
}

/// WRITE_PACKED to tiles. With a packet for each, there must be as many as tiles and all of the first one's size.
///
/// # Errors
/// [`FieldRange`] if list, packets or their size do not fit. The dispatcher's own limits are lower; the linter checks
/// them.
pub fn write_packed(tiles: &[Xy], addr: u32, packets: Packets<'_>) -> Result<DispatchCommand, FieldRange> {
    let count = fits("the number of tiles", tiles.len(), 1, 0xFFFF)?;
    let (flags, list): (u8, Vec<&[u8]>) = match packets {
        Packets::Shared(packet) => (WritePacked::NO_STRIDE, vec![packet]),
        Packets::Each(list) => {
            let (least, most) = (tiles.len() as u64, tiles.len() as u64);
            fits::<u64>("the number of packets", list.len(), least, most)?;
            (0, list.iter().map(Vec::as_slice).collect())
        }
    };
    let size = list.first().map_or(0, |packet| packet.len());
    for packet in &list {
        fits::<u64>("the size of a packet", packet.len(), size as u64, size as u64)?;
    }
    let header =
        WritePacked { flags, count, size: fits("the size of a packet", size, 1, 0xFFFF)?, addr, ..Default::default() };
    let mut data = Vec::with_capacity(list.len() * size.next_multiple_of(L1_ALIGN as usize));
    for packet in list {
        data.extend_from_slice(packet);
        data.resize(data.len().next_multiple_of(L1_ALIGN as usize), 0);
    }
    let subs = Subs::Unicast(tiles.iter().map(|tile| UnicastSub { noc_xy: tile.word() }).collect());
    Ok(DispatchCommand { header: Dispatch::WritePacked(header), subs, data })
}

/// WRITE_PACKED_LARGE of the same bytes to rectangles: one packet for each, every path released after it.
///
/// # Errors
/// [`FieldRange`] if the list, a rectangle's area or the bytes do not fit. More than 35 rectangles fit the command but
/// not the dispatcher; the linter checks that.
pub fn write_packed_large(rects: &[Rect], addr: u32, bytes: &[u8]) -> Result<DispatchCommand, FieldRange> {
    let header = WritePackedLarge {
        kind: WritePackedLarge::PROGRAM_BINARIES,
        count: fits("the number of rectangles", rects.len(), 1, 0xFFFF)?,
        alignment: L1_ALIGN as u16,
        write_offset_index: 0,
    };
    let length_minus1 = fits::<u32>("the length of the data", bytes.len(), 1, 0x1_0000)?.wrapping_sub(1) as u16;
    let sub = |rect: &Rect| {
        let num_mcast_dests = fits("the area of a rectangle", rect.area() as usize, 1, 0xFF)?;
        Ok(LargeSub { noc_xy: rect.word(), addr, length_minus1, num_mcast_dests, flags: LargeSub::UNLINK })
    };
    let subs = Subs::Large(rects.iter().map(sub).collect::<Result<_, _>>()?);
    let mut data = Vec::with_capacity(rects.len() * bytes.len().next_multiple_of(L1_ALIGN as usize));
    for _ in rects {
        data.extend_from_slice(bytes);
        data.resize(data.len().next_multiple_of(L1_ALIGN as usize), 0);
    }
    Ok(DispatchCommand { header: Dispatch::WritePackedLarge(header), subs, data })
}

/// SET_GO_SIGNAL_NOC_DATA with a list of tiles.
pub fn set_go_tiles(tiles: &[Xy]) -> DispatchCommand {
    let words: Vec<u32> = tiles.iter().map(|tile| tile.word()).collect();
    let header = SetGoSignalNocData { num_words: words.len() as u32 };
    DispatchCommand { header: Dispatch::SetGoSignalNocData(header), subs: Subs::Words(words), data: Vec::new() }
}

/// SET_WRITE_OFFSET.
///
/// # Errors
/// [`FieldRange`] with more than 255 offsets.
pub fn set_write_offsets(offsets: &[u32]) -> Result<DispatchCommand, FieldRange> {
    let offset_count = fits("the number of offsets", offsets.len(), 0, 0xFF)?;
    let header = SetWriteOffset { offset_count, program_host_id: 0 };
    Ok(DispatchCommand {
        header: Dispatch::SetWriteOffset(header),
        subs: Subs::Words(offsets.to_vec()),
        data: Vec::new(),
    })
}

/// WAIT until all writes are acknowledged.
pub fn wait_barrier() -> DispatchCommand {
    DispatchCommand::bare(Dispatch::Wait(Wait { flags: Wait::BARRIER, ..Default::default() }))
}

/// WAIT until a stream has reached a count, then clear it.
pub fn wait_stream(stream: u16, count: u32) -> DispatchCommand {
    let flags = Wait::STREAM | Wait::CLEAR_STREAM;
    DispatchCommand::bare(Dispatch::Wait(Wait { flags, stream, count, addr: 0 }))
}

/// SEND_GO_SIGNAL to the first `tiles` of the list.
///
/// # Errors
/// [`FieldRange`] with more than 255 tiles.
pub fn send_go(go_signal: u32, tiles: usize, wait_stream: u16) -> Result<DispatchCommand, FieldRange> {
    Ok(DispatchCommand::bare(Dispatch::SendGoSignal(SendGoSignal {
        go_signal,
        multicast_go_offset: SendGoSignal::NO_MULTICAST,
        num_unicast_txns: fits("the number of go signals", tiles, 0, 0xFF)?,
        noc_data_start_index: 0,
        wait_count: 0,
        wait_stream: u32::from(wait_stream),
    })))
}

/// WRITE_LINEAR_H_HOST with an event: 16 bytes after the header, the first 4 of which the host reads.
pub fn host_event(event: u32) -> DispatchCommand {
    let mut data = event.to_le_bytes().to_vec();
    data.resize(16, 0);
    DispatchCommand {
        header: Dispatch::WriteHost(WriteHost { is_event: 1, length: 16 + data.len() as u64 }),
        subs: Subs::None,
        data,
    }
}

/// TIMESTAMP to an address after a tile's word.
pub fn timestamp(noc_xy: u32, addr: u32) -> DispatchCommand {
    DispatchCommand::bare(Dispatch::Timestamp(Timestamp { noc_xy, addr }))
}

/// RELAY_INLINE of one dispatch command, padded to 64 bytes: a record as the fixed host queues them.
///
/// # Errors
/// [`FieldRange`] if the payload is 2 GiB or larger.
pub fn relay_inline(payload: Vec<u8>) -> Result<PrefetchCommand, FieldRange> {
    let length: u32 = fits("the length of the payload", payload.len(), 0, 0x7FFF_FFFF)?;
    let stride = (length + 16).next_multiple_of(PCIE_ALIGN);
    let padding = vec![0; (stride - 16 - length) as usize];
    let header = Prefetch::RelayInline(Inline { dispatcher_type: 0, length, stride });
    Ok(PrefetchCommand { header, subs: RelaySubs::None, payload, padding })
}
