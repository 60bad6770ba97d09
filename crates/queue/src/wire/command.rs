//! Whole commands: header, list and data, as values that own their bytes, or as parts of the bytes that hold them.

use smallvec::SmallVec;

use super::{Dispatch, LargeSub, MulticastSub, Packed, PagedPackedSub, Prefetch, RingbufferSub, UnicastSub, WireError};

/// The list after a dispatch header.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Subs {
    /// None.
    #[default]
    None,
    /// Destinations of a packed write.
    Unicast(SmallVec<[UnicastSub; 4]>),
    /// Rectangles of a packed write.
    Multicast(SmallVec<[MulticastSub; 2]>),
    /// Packets of a large packed write.
    Large(Vec<LargeSub>),
    /// Tiles for go signals, or write offsets.
    Words(Vec<u32>),
}

/// A dispatch command with everything that belongs to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DispatchCommand {
    /// The header.
    pub header: Dispatch,
    /// The list after it.
    pub subs: Subs,
    /// The data, starting at the multiple of 16 after the list; padding of packets included.
    pub data: Vec<u8>,
}

impl DispatchCommand {
    /// A command that is only a header.
    pub fn bare(header: Dispatch) -> DispatchCommand {
        DispatchCommand { header, subs: Subs::None, data: Vec::new() }
    }

    /// Decodes a command from the start of `bytes`; also returns its length.
    ///
    /// # Errors
    /// [`WireError`]: no such command, or `bytes` end before it.
    pub fn decode(bytes: &[u8]) -> Result<(DispatchCommand, usize), WireError> {
        let (DispatchParts { header, subs, data }, end) = DispatchParts::of(Dispatch::decode(bytes)?, bytes)?;
        Ok((DispatchCommand { header, subs, data: data.to_vec() }, end))
    }

    /// Its bytes; those that belong to no field are zero.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + self.data.len());
        self.header.encode(&mut out);
        match &self.subs {
            Subs::None => {}
            Subs::Unicast(list) => append_all(list, &mut out),
            Subs::Multicast(list) => append_all(list, &mut out),
            Subs::Large(list) => append_all(list, &mut out),
            Subs::Words(list) => list.iter().for_each(|word| out.extend(word.to_le_bytes())),
        }
        if !self.data.is_empty() {
            out.resize(out.len().next_multiple_of(16), 0);
            out.extend_from_slice(&self.data);
        }
        out
    }
}

/// The parts of a dispatch command, with its data in place.
pub(crate) struct DispatchParts<'a> {
    pub header: Dispatch,
    pub subs: Subs,
    /// As that of [`DispatchCommand`].
    pub data: &'a [u8],
}

impl<'a> DispatchParts<'a> {
    /// A command that is only a header.
    pub fn bare(header: Dispatch) -> DispatchParts<'static> {
        DispatchParts { header, subs: Subs::None, data: &[] }
    }

    /// The command of a header at the start of `bytes`, as [`DispatchCommand::decode`].
    pub fn of(header: Dispatch, bytes: &'a [u8]) -> Result<(DispatchParts<'a>, usize), WireError> {
        let extent = header.extent(bytes)?;
        let end = whole(&extent.data, bytes)?;
        let list = &bytes[extent.subs.clone()];
        let subs = match header {
            Dispatch::WritePacked(c) if c.is_multicast() => Subs::Multicast(read_all(list)?),
            Dispatch::WritePacked(_) => Subs::Unicast(read_all(list)?),
            Dispatch::WritePackedLarge(_) => Subs::Large(read_all(list)?),
            Dispatch::SetWriteOffset(_) | Dispatch::SetGoSignalNocData(_) => Subs::Words(words(list)),
            _ => Subs::None,
        };
        let data = &bytes[extent.data.start.min(end as u64) as usize..end];
        Ok((DispatchParts { header, subs, data }, end))
    }
}

/// The list after a prefetch header.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum RelaySubs {
    /// None.
    #[default]
    None,
    /// Runs of pages.
    PagedPacked(Vec<PagedPackedSub>),
    /// Parts of the ring buffer.
    Ringbuffer(Vec<RingbufferSub>),
}

/// A prefetch command with everything up to the next one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PrefetchCommand {
    /// The header.
    pub header: Prefetch,
    /// The list after it.
    pub subs: RelaySubs,
    /// The relayed bytes after its header.
    pub payload: Vec<u8>,
    /// Bytes between its end and the next command, if the stride leaves some.
    pub padding: Vec<u8>,
}

impl PrefetchCommand {
    /// A command that is only a header, padded to its stride.
    pub fn bare(header: Prefetch) -> PrefetchCommand {
        let padding = vec![0; (header.stride() as usize).saturating_sub(header.header_bytes())];
        PrefetchCommand { header, subs: RelaySubs::None, payload: Vec::new(), padding }
    }

    /// Decodes a command from the start of `bytes`; also returns its length, which is its stride.
    ///
    /// # Errors
    /// [`WireError`]: no such command, `bytes` end before it, or its stride ends inside it.
    pub fn decode(bytes: &[u8]) -> Result<(PrefetchCommand, usize), WireError> {
        let (RelayParts { header, subs, payload, padding }, stride) = RelayParts::of(Prefetch::decode(bytes)?, bytes)?;
        let (payload, padding) = (payload.to_vec(), padding.to_vec());
        Ok((PrefetchCommand { header, subs, payload, padding }, stride))
    }

    /// Its bytes up to the next command; reserved ones are zero.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.header.stride() as usize);
        self.header.encode(&mut out);
        match &self.subs {
            RelaySubs::None => {}
            RelaySubs::PagedPacked(list) => append_all(list, &mut out),
            RelaySubs::Ringbuffer(list) => append_all(list, &mut out),
        }
        out.extend_from_slice(&self.payload);
        out.extend_from_slice(&self.padding);
        out
    }
}

/// The parts of a prefetch command, with its bytes in place.
pub(crate) struct RelayParts<'a> {
    pub header: Prefetch,
    pub subs: RelaySubs,
    /// As those of [`PrefetchCommand`].
    pub payload: &'a [u8],
    padding: &'a [u8],
}

impl<'a> RelayParts<'a> {
    /// The command of a header at the start of `bytes`, as [`PrefetchCommand::decode`].
    pub fn of(header: Prefetch, bytes: &'a [u8]) -> Result<(RelayParts<'a>, usize), WireError> {
        let (start, stride) = (header.header_bytes(), header.stride() as usize);
        let (subs_bytes, payload_bytes) = match header {
            Prefetch::RelayPagedPacked(c) => (usize::from(c.count) * PagedPackedSub::SIZE, 0),
            Prefetch::RelayRingbuffer(c) => (usize::from(c.count) * RingbufferSub::SIZE, 0),
            Prefetch::Debug(c) => (0, c.size as usize),
            _ => (0, header.inline().map_or(0, |c| c.length as usize)),
        };
        let (list, end) = (start + subs_bytes, start + subs_bytes + payload_bytes);
        if end > stride {
            return Err(WireError::Stride { offset: 0, needs: end as u64, stride: stride as u64 });
        }
        whole(&(0..stride as u64), bytes)?;
        let subs = match header {
            Prefetch::RelayPagedPacked(_) => RelaySubs::PagedPacked(read_all(&bytes[start..list])?),
            Prefetch::RelayRingbuffer(_) => RelaySubs::Ringbuffer(read_all(&bytes[start..list])?),
            _ => RelaySubs::None,
        };
        let (payload, padding) = (&bytes[list..end], &bytes[end..stride]);
        Ok((RelayParts { header, subs, payload, padding }, stride))
    }
}

/// The end of a range if the bytes extend that far.
fn whole(range: &std::ops::Range<u64>, bytes: &[u8]) -> Result<usize, WireError> {
    let has = bytes.len() as u64;
    // An empty tail may start after the bytes: the padding before data that is not present.
    if range.end > has && !range.is_empty() {
        return Err(WireError::Truncated { offset: 0, what: "the command", needs: range.end, has });
    }
    Ok(range.end.min(has) as usize)
}

fn read_all<T: Packed, L: FromIterator<T>>(bytes: &[u8]) -> Result<L, WireError> {
    bytes.chunks_exact(T::SIZE).map(T::read).collect()
}

fn append_all<T: Packed>(list: &[T], out: &mut Vec<u8>) {
    list.iter().for_each(|sub| sub.append(out));
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}
