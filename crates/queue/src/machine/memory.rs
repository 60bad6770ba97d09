//! All bytes of chip and host, and copies between them.

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use super::chip::TileId;
use crate::layout::{HOST_REGION, HOST_REGIONS};

/// The location of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Location {
    /// A Tensix tile's L1.
    L1(TileId, u32),
    /// A DRAM bank.
    Dram(u8, u64),
    /// Pinned host memory: its id, and the byte in it.
    Host(u8, u64),
}

/// Memory that is allocated only where it was written.
#[derive(Clone, Default)]
struct Sparse {
    groups: Vec<Option<Box<Group>>>,
}

/// Adjacent chunks.
type Group = [Option<Box<[u8]>>; GROUP];

const CHUNK: u64 = 4 << 10;
const GROUP: usize = 256;
/// Bytes of borrowed memory that are compared at once.
const LINE: usize = 64;

impl Sparse {
    fn new(bytes: u64) -> Sparse {
        Sparse { groups: vec![None; bytes.div_ceil(CHUNK * GROUP as u64) as usize] }
    }

    fn read(&self, mut at: u64, mut out: &mut [u8]) {
        while !out.is_empty() {
            let (chunk, offset) = ((at / CHUNK) as usize, (at % CHUNK) as usize);
            let n = out.len().min(CHUNK as usize - offset);
            let (head, rest) = out.split_at_mut(n);
            match self.groups[chunk / GROUP].as_ref().and_then(|group| group[chunk % GROUP].as_ref()) {
                Some(bytes) => head.copy_from_slice(&bytes[offset..offset + n]),
                None => head.fill(0),
            }
            (out, at) = (rest, at + n as u64);
        }
    }

    /// Forgets whole groups of chunks.
    fn clear(&mut self, at: u64, bytes: u64) {
        let group = CHUNK * GROUP as u64;
        let (first, end) = ((at / group) as usize, (at.saturating_add(bytes) / group) as usize);
        self.groups.iter_mut().take(end).skip(first).for_each(|group| *group = None);
    }

    /// Writes bytes; returns how many more are in use.
    fn write(&mut self, mut at: u64, mut bytes: &[u8]) -> u64 {
        let mut more = 0;
        while !bytes.is_empty() {
            let (chunk, offset) = ((at / CHUNK) as usize, (at % CHUNK) as usize);
            let n = bytes.len().min(CHUNK as usize - offset);
            let (head, rest) = bytes.split_at(n);
            let group = self.groups[chunk / GROUP].get_or_insert_with(|| Box::new([const { None }; GROUP]));
            let chunk = group[chunk % GROUP].get_or_insert_with(|| {
                more += CHUNK;
                vec![0; CHUNK as usize].into()
            });
            chunk[offset..offset + n].copy_from_slice(head);
            (bytes, at) = (rest, at + n as u64);
        }
        more
    }
}

/// Pinned host memory.
struct HostRegion {
    noc: u64,
    bytes: HostBytes,
}

/// The storage of pinned memory.
enum HostBytes {
    /// In the machine.
    Own(Vec<u8>),
    /// The host's own memory: its owner guarantees that it stays valid and that nobody else touches it during calls.
    Borrowed(NonNull<u8>, usize),
}

impl Deref for HostBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            HostBytes::Own(bytes) => bytes,
            // SAFETY: the contract of `Machine::pin_borrowed`.
            HostBytes::Borrowed(first, bytes) => unsafe { std::slice::from_raw_parts(first.as_ptr(), *bytes) },
        }
    }
}

impl DerefMut for HostBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            HostBytes::Own(bytes) => bytes,
            // SAFETY: the contract of `Machine::pin_borrowed`.
            HostBytes::Borrowed(first, bytes) => unsafe { std::slice::from_raw_parts_mut(first.as_ptr(), *bytes) },
        }
    }
}

/// Padding between the L1 of two tiles: a page and a line of the host's caches. Without it the same address of all
/// tiles would compete for few cache sets, which would slow down multicasts and launches of a grid.
const L1_APART: usize = 4096 + 64;

/// The memories. Accesses must have been checked: those out of bounds panic.
pub(crate) struct Memory {
    /// Distance from one tile's L1 to the next.
    l1_stride: usize,
    l1: Vec<u8>,
    pub bank_bytes: u64,
    dram: Vec<Sparse>,
    host: Vec<Option<HostRegion>>,
    /// Host memory as written by calls and the device, by the device's addresses: differences show stores by the host
    /// itself to borrowed memory.
    seen: Option<Sparse>,
    /// Bytes of DRAM in use.
    pub used: u64,
}

impl Memory {
    pub fn new(tiles: usize, l1_bytes: u32, banks: u32, bank_bytes: u64) -> Memory {
        let l1_stride = l1_bytes as usize + L1_APART;
        let dram = (0..banks).map(|_| Sparse::new(bank_bytes)).collect();
        Memory { l1_stride, l1: vec![0; tiles * l1_stride], bank_bytes, dram, host: Vec::new(), seen: None, used: 0 }
    }

    /// No memory at all, while the other queue holds the board's memory.
    pub fn none() -> Memory {
        Memory::new(0, 0, 0, 0)
    }

    fn l1_at(&self, tile: TileId, addr: u32) -> usize {
        tile as usize * self.l1_stride + addr as usize
    }

    /// Bytes of a tile's L1.
    pub fn l1(&self, tile: TileId, addr: u32, bytes: usize) -> &[u8] {
        let at = self.l1_at(tile, addr);
        &self.l1[at..at + bytes]
    }

    /// Bytes of a tile's L1, mutable.
    pub fn l1_mut(&mut self, tile: TileId, addr: u32, bytes: usize) -> &mut [u8] {
        let at = self.l1_at(tile, addr);
        &mut self.l1[at..at + bytes]
    }

    /// A word of a tile's L1.
    pub fn word(&self, tile: TileId, addr: u32) -> u32 {
        let bytes = self.l1(tile, addr, 4);
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }

    /// Stores a word in a tile's L1.
    pub fn set_word(&mut self, tile: TileId, addr: u32, value: u32) {
        self.l1_mut(tile, addr, 4).copy_from_slice(&value.to_le_bytes());
    }

    /// Pins host memory at a device address; returns its id.
    pub fn pin(&mut self, noc: u64, bytes: usize) -> u8 {
        self.pin_bytes(noc, HostBytes::Own(vec![0; bytes]))
    }

    /// Pins the host's own memory.
    ///
    /// # Safety
    /// As `Machine::pin_borrowed`.
    pub unsafe fn pin_borrowed(&mut self, noc: u64, first: NonNull<u8>, bytes: usize) -> u8 {
        self.pin_bytes(noc, HostBytes::Borrowed(first, bytes))
    }

    fn pin_bytes(&mut self, noc: u64, bytes: HostBytes) -> u8 {
        if let Some(seen) = &mut self.seen {
            seen.clear(noc, HOST_REGION);
        }
        let region = HostRegion { noc, bytes };
        let free = self.host.iter().position(Option::is_none);
        let id = free.unwrap_or_else(|| {
            self.host.push(None);
            self.host.len() - 1
        });
        self.host[id] = Some(region);
        id as u8
    }

    /// Resizes memory owned by the machine.
    pub fn resize(&mut self, id: u8, bytes: usize) {
        if let Some(Some(HostRegion { bytes: HostBytes::Own(own), .. })) = self.host.get_mut(id as usize) {
            // Untouched pages of fresh memory are not allocated.
            let mut new = vec![0; bytes];
            let both = own.len().min(bytes);
            new[..both].copy_from_slice(&own[..both]);
            *own = new;
        }
    }

    /// From now on, stores by the host itself to borrowed memory are detected.
    pub fn watch_borrowed(&mut self) {
        self.seen.get_or_insert_with(|| Sparse::new(HOST_REGION * HOST_REGIONS));
    }

    /// The stores by the host itself to a range of borrowed memory, since the last call for it: the device addresses,
    /// and the bytes.
    pub fn borrowed_changes(&mut self, id: u8, at: u64, bytes: u64) -> Vec<(u64, Vec<u8>)> {
        let region = self.host.get(id as usize).and_then(Option::as_ref);
        let (Some(seen), Some(HostRegion { noc, bytes: borrowed @ HostBytes::Borrowed(..) })) =
            (&mut self.seen, region)
        else {
            return Vec::new();
        };
        let (mut changed, mut from, end) = (Vec::<(u64, Vec<u8>)>::new(), at, at + bytes);
        let mut before = [0; LINE];
        while from < end {
            let to = end.min((from / LINE as u64 + 1) * LINE as u64);
            let now = &borrowed[from as usize..to as usize];
            let before = &mut before[..now.len()];
            seen.read(noc + from, before);
            if before != now {
                seen.write(noc + from, now);
                match changed.last_mut().filter(|(addr, bytes)| addr + bytes.len() as u64 == noc + from) {
                    Some((_, bytes)) => bytes.extend(now),
                    None => changed.push((noc + from, now.to_vec())),
                }
            }
            from = to;
        }
        changed
    }

    /// Bytes of host memory are written by a call or by the device.
    fn host_written(&mut self, id: u8, at: u64, bytes: usize) {
        let region = self.host.get(id as usize).and_then(Option::as_ref);
        if let (Some(seen), Some(HostRegion { noc, bytes: borrowed @ HostBytes::Borrowed(..) })) =
            (&mut self.seen, region)
        {
            seen.write(noc + at, &borrowed[at as usize..at as usize + bytes]);
        }
    }

    /// Unpins memory; returns whether it was pinned.
    pub fn unpin(&mut self, id: u8) -> bool {
        self.host.get_mut(id as usize).is_some_and(|region| region.take().is_some())
    }

    /// The pinned memory that contains a device address.
    pub fn host_at(&self, noc: u64, bytes: u64) -> Option<Location> {
        self.host.iter().enumerate().find_map(|(id, region)| {
            let region = region.as_ref()?;
            let offset = noc.checked_sub(region.noc)?;
            (offset.checked_add(bytes)? <= region.bytes.len() as u64).then_some(Location::Host(id as u8, offset))
        })
    }

    /// Whether any pinned memory is the host's own.
    pub fn lends(&self) -> bool {
        self.host.iter().flatten().any(|region| matches!(region.bytes, HostBytes::Borrowed(..)))
    }

    /// Whether pinned memory is the host's own, to which it stores without a call.
    pub fn is_borrowed(&self, id: u8) -> bool {
        let region = self.host.get(id as usize).and_then(Option::as_ref);
        region.is_some_and(|region| matches!(region.bytes, HostBytes::Borrowed(..)))
    }

    /// The device address of pinned memory.
    pub fn host_noc(&self, id: u8) -> u64 {
        self.host[id as usize].as_ref().map_or(0, |region| region.noc)
    }

    /// Whether pinned memory starts at a device address.
    pub fn is_pinned_at(&self, noc: u64) -> bool {
        self.host.iter().flatten().any(|region| region.noc == noc)
    }

    /// The bytes of pinned memory.
    pub fn host(&self, id: u8) -> Option<&[u8]> {
        self.host.get(id as usize)?.as_ref().map(|region| &region.bytes[..])
    }

    /// The bytes of pinned memory, mutable.
    pub fn host_mut(&mut self, id: u8) -> Option<&mut [u8]> {
        self.host.get_mut(id as usize)?.as_mut().map(|region| &mut region.bytes[..])
    }

    /// Reads bytes from anywhere.
    pub fn read(&self, place: Location, out: &mut [u8]) {
        match place {
            Location::L1(tile, addr) => out.copy_from_slice(self.l1(tile, addr, out.len())),
            Location::Dram(bank, addr) => self.dram[bank as usize].read(addr, out),
            Location::Host(id, at) => {
                if let Some(bytes) = self.host(id) {
                    out.copy_from_slice(&bytes[at as usize..at as usize + out.len()]);
                }
            }
        }
    }

    /// Writes bytes anywhere.
    pub fn write(&mut self, place: Location, bytes: &[u8]) {
        match place {
            Location::L1(tile, addr) => self.l1_mut(tile, addr, bytes.len()).copy_from_slice(bytes),
            Location::Dram(bank, addr) => self.used += self.dram[bank as usize].write(addr, bytes),
            Location::Host(id, at) => {
                if let Some(to) = self.host_mut(id) {
                    to[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
                    self.host_written(id, at, bytes.len());
                }
            }
        }
    }

    /// Copies from anywhere into a tile's L1, as a read does. Memory that is no longer pinned provides nothing.
    pub fn copy_in(&mut self, from: Location, tile: TileId, addr: u32, bytes: usize) {
        let to = self.l1_at(tile, addr);
        match from {
            Location::L1(source, at) => {
                let from = self.l1_at(source, at);
                self.l1.copy_within(from..from + bytes, to);
            }
            Location::Dram(bank, at) => self.dram[bank as usize].read(at, &mut self.l1[to..to + bytes]),
            Location::Host(id, at) => {
                if let Some(Some(region)) = self.host.get(id as usize) {
                    self.l1[to..to + bytes].copy_from_slice(&region.bytes[at as usize..at as usize + bytes]);
                }
            }
        }
    }

    /// Copies from a tile's L1 to anywhere, as a write does. Memory that is no longer pinned accepts nothing.
    pub fn copy_out(&mut self, tile: TileId, addr: u32, to: Location, bytes: usize) {
        let from = self.l1_at(tile, addr);
        match to {
            Location::L1(target, at) => {
                let to = self.l1_at(target, at);
                self.l1.copy_within(from..from + bytes, to);
            }
            Location::Dram(bank, at) => self.used += self.dram[bank as usize].write(at, &self.l1[from..from + bytes]),
            Location::Host(id, at) => {
                if let Some(Some(region)) = self.host.get_mut(id as usize) {
                    region.bytes[at as usize..at as usize + bytes].copy_from_slice(&self.l1[from..from + bytes]);
                    self.host_written(id, at, bytes);
                }
            }
        }
    }
}
