//! Memories: global buffers and the local memories of every core.

use std::collections::TryReserveError;

use slipring_machine::{CoreKind, Platform, Role};
use slipring_tile::Space;

use crate::address::{gm_split, locals};
use crate::{Env, Extent, Shadow, Unwritten};

/// A buffer in global memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GmBuffer {
    /// Name for reports: the kernel parameter.
    pub name: String,
    /// Contents.
    pub data: Vec<u8>,
}

/// The least size of a Vector core's special registers: VMS4_SR, which holds how much a merge consumed of each of its
/// lists. Behind it a program may have others.
pub const SPR_BYTES: usize = 8;

/// A zeroed byte vector.
///
/// # Errors
/// If out of memory.
pub fn zeroed(bytes: usize) -> Result<Vec<u8>, TryReserveError> {
    // If large memory is requested as zeroed, it is not touched before it is used. A failed request is repeated to get
    // its error.
    let layout = std::alloc::Layout::array::<u8>(bytes).ok().filter(|layout| layout.size() > 0);
    if let Some(layout) = layout {
        // SAFETY: the layout does not have size 0; the result is zeroed memory of this layout, owned by nobody else,
        // from the allocator to which vectors return theirs.
        unsafe {
            let start = std::alloc::alloc_zeroed(layout);
            if !start.is_null() {
                return Ok(Vec::from_raw_parts(start, bytes, bytes));
            }
        }
    }
    let mut data = Vec::new();
    data.try_reserve_exact(bytes)?;
    data.resize(bytes, 0);
    Ok(data)
}

/// True for the local memories of a core.
fn has_space(role: Role, space: Space) -> bool {
    space != Space::Gm && (space == Space::Vec) == (role.kind() == CoreKind::Vector)
}

/// All memories of a launch.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Global memory: the kernel's buffers, in order of the parameters.
    pub gm: Vec<GmBuffer>,
    /// Local memories: index `(block × 3 + role) × spaces + space`.
    local: Vec<Vec<u8>>,
    /// The uninitialised bytes, if they are tracked.
    pub shadow: Option<Box<Shadow>>,
    /// While the bytes are borrowed: the size of each memory.
    borrowed: Option<Box<Sizes>>,
}

/// Bytes of each memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Sizes {
    gm: Vec<usize>,
    local: Vec<usize>,
}

/// The bytes of a memory that lent them.
#[derive(Debug, Default)]
pub struct Borrowed {
    /// The local memories of each cluster.
    pub clusters: Vec<Vec<Vec<u8>>>,
    /// Global memory, buffer by buffer.
    pub buffers: Vec<Vec<u8>>,
}

impl Memory {
    /// Zeroed local memories of `blocks` clusters, with the sizes given by the platform.
    pub fn new(platform: &Platform, blocks: u32) -> Memory {
        Memory::with_sizes(blocks, |space| platform.space(space).map_or(0, |s| s.bytes as usize))
    }

    /// Local memories with sizes in bytes that the caller chooses per space.
    pub fn with_sizes(blocks: u32, bytes: impl Fn(Space) -> usize) -> Memory {
        Memory::try_with_sizes(blocks, bytes).unwrap_or_default()
    }

    /// Bytes of all buffers and local memories.
    pub fn size(&self) -> u64 {
        let buffers = self.gm.iter().map(|buffer| buffer.data.len() as u64);
        buffers.chain(self.local.iter().map(|own| own.len() as u64)).sum()
    }

    /// Total size in bytes of the local memories of this many blocks.
    pub fn bytes_of_blocks(blocks: u32, bytes: impl Fn(Space) -> u64) -> u64 {
        let mut sum = 0u64;
        for role in Role::ALL {
            let own = Space::NAMED.into_iter().filter(|space| has_space(role, *space)).map(&bytes);
            sum = own.fold(sum, u64::saturating_add);
            if role.kind() == CoreKind::Vector {
                sum = sum.saturating_add(bytes(Space::Spr));
            }
        }
        sum.saturating_mul(u64::from(blocks))
    }

    /// As [`Memory::with_sizes`].
    ///
    /// # Errors
    /// If out of memory.
    pub fn try_with_sizes(blocks: u32, bytes: impl Fn(Space) -> usize) -> Result<Memory, TryReserveError> {
        let mut local = Vec::new();
        for _ in 0..blocks {
            for role in Role::ALL {
                let vector = role.kind() == CoreKind::Vector;
                for space in Space::NAMED {
                    let size = if has_space(role, space) { bytes(space) } else { 0 };
                    local.push(zeroed(size)?);
                }
                local.push(zeroed(if vector { SPR_BYTES.max(bytes(Space::Spr)) } else { 0 })?);
            }
        }
        Ok(Memory { local, ..Memory::default() })
    }

    fn index(block: u32, core: Role, space: Space) -> usize {
        locals(block, core, space)
    }

    /// Starts tracking uninitialised bytes; `scratch` are the buffers whose contents are uninitialised now and are not
    /// results in the end, `unwritten` the bytes of results that are uninitialised now.
    pub fn keep_marks(&mut self, scratch: &[usize], unwritten: &[Unwritten]) {
        self.shadow = Some(Box::new(Shadow::new(self.local.len(), self.gm.len(), scratch, unwritten)));
    }

    /// Sets the local memories to the contents left by an earlier launch on the same clusters.
    pub fn keep_locals(&mut self, earlier: &Memory) {
        for (memory, before) in self.local.iter_mut().zip(&earlier.local) {
            let bytes = memory.len().min(before.len());
            memory[..bytes].copy_from_slice(&before[..bytes]);
        }
    }

    /// A block starts on a cluster: its local memories become zero and uninitialised.
    pub fn restart(&mut self, cluster: u32) {
        let first = locals(cluster, Role::ALL[0], Space::NAMED[0]) / Space::COUNT * Space::COUNT;
        let own = first..(first + Role::ALL.len() * Space::COUNT).min(self.local.len());
        self.local[own].iter_mut().for_each(|memory| memory.fill(0));
        if let Some(shadow) = &mut self.shadow {
            shadow.restart(cluster);
        }
    }

    /// Capacity of a local memory in bytes; 0 if the core has no such memory.
    pub fn capacity(&self, block: u32, core: Role, space: Space) -> usize {
        let index = Self::index(block, core, space);
        match &self.borrowed {
            Some(sizes) => sizes.local.get(index).copied().unwrap_or(0),
            None => self.local.get(index).map_or(0, Vec::len),
        }
    }

    /// Bytes of a buffer in global memory; 0 if there is none.
    pub fn buffer_bytes(&self, buffer: usize) -> usize {
        match &self.borrowed {
            Some(sizes) => sizes.gm.get(buffer).copied().unwrap_or(0),
            None => self.gm.get(buffer).map_or(0, |buffer| buffer.data.len()),
        }
    }

    /// Lends all bytes, to be exchanged with [`Memory::swap_cluster`] and [`Memory::swap_buffer`]; marks, names and
    /// sizes stay. Also returns a memory of the same shape without any bytes, marks or names, for those who work on the
    /// bytes.
    pub fn lend(&mut self) -> (Memory, Borrowed) {
        let sizes = Sizes {
            gm: self.gm.iter().map(|buffer| buffer.data.len()).collect(),
            local: self.local.iter().map(Vec::len).collect(),
        };
        self.borrowed = Some(Box::new(sizes));
        let each = Role::ALL.len() * Space::COUNT;
        let mut borrowed = Borrowed { clusters: Vec::new(), buffers: Vec::new() };
        for locals in self.local.chunks_mut(each) {
            borrowed.clusters.push(locals.iter_mut().map(std::mem::take).collect());
        }
        borrowed.buffers = self.gm.iter_mut().map(|buffer| std::mem::take(&mut buffer.data)).collect();
        let empty = Memory {
            gm: vec![GmBuffer::default(); self.gm.len()],
            local: vec![Vec::new(); self.local.len()],
            ..Memory::default()
        };
        (empty, borrowed)
    }

    /// Takes back all lent bytes.
    pub fn take_back(&mut self, borrowed: &mut Borrowed) {
        for (cluster, locals) in borrowed.clusters.iter_mut().enumerate() {
            self.swap_cluster(cluster as u32, locals);
        }
        for (buffer, data) in borrowed.buffers.iter_mut().enumerate() {
            self.swap_buffer(buffer, data);
        }
        self.borrowed = None;
    }

    /// Swaps the local memories of a cluster with others.
    pub fn swap_cluster(&mut self, cluster: u32, locals: &mut [Vec<u8>]) {
        let first = if locals.is_empty() { 0 } else { cluster as usize * Role::ALL.len() * Space::COUNT };
        self.local[first..first + locals.len()].swap_with_slice(locals);
    }

    /// Swaps the bytes of a buffer in global memory with others.
    pub fn swap_buffer(&mut self, buffer: usize, data: &mut Vec<u8>) {
        std::mem::swap(&mut self.gm[buffer].data, data);
    }

    /// Bytes of a local memory, or of the global buffer that contains `start`. The range must exist.
    pub fn bytes(&self, env: Env, core: Role, space: Space, start: u64, len: usize) -> &[u8] {
        let (memory, start) = self.locate(env, core, space, start);
        &memory[start..start + len]
    }

    /// As [`Memory::bytes`], mutable.
    pub fn bytes_mut(&mut self, env: Env, core: Role, space: Space, start: u64, len: usize) -> &mut [u8] {
        if space == Space::Gm {
            let (buffer, offset) = gm_split(start).expect("address checked against the plan");
            return &mut self.gm[buffer].data[offset as usize..offset as usize + len];
        }
        let index = Self::index(env.block, core, space);
        &mut self.local[index][start as usize..start as usize + len]
    }

    /// The whole memory that contains `start`, and `start` as an index into it.
    pub fn locate(&self, env: Env, core: Role, space: Space, start: u64) -> (&[u8], usize) {
        if space == Space::Gm {
            let (buffer, offset) = gm_split(start).expect("address checked against the plan");
            return (&self.gm[buffer].data, offset as usize);
        }
        (&self.local[Self::index(env.block, core, space)], start as usize)
    }

    /// As [`Memory::locate`], mutable.
    pub fn locate_mut(&mut self, env: Env, core: Role, space: Space, start: u64) -> (&mut [u8], usize) {
        if space == Space::Gm {
            let (buffer, offset) = gm_split(start).expect("address checked against the plan");
            return (&mut self.gm[buffer].data, offset as usize);
        }
        (&mut self.local[Self::index(env.block, core, space)], start as usize)
    }

    /// Writes one value into every byte of a range, which must exist.
    pub fn fill(&mut self, range: &Extent, env: Env, value: u8) {
        for row in 0..u64::from(range.rows) {
            let start = range.start + row * range.stride;
            self.bytes_mut(env, range.core, range.space, start, range.row_bytes as usize).fill(value);
        }
    }

    /// The first local memory whose bytes differ from those of another memory of the same shape: its cluster, core and
    /// space, the number of differing bytes, and the first of them.
    pub fn local_difference(&self, other: &Memory) -> Option<(u32, Role, Space, usize, usize)> {
        let clusters = (self.local.len() / (Role::ALL.len() * Space::COUNT)) as u32;
        let cores = (0..clusters).flat_map(|cluster| Role::ALL.into_iter().map(move |core| (cluster, core)));
        let all = cores.flat_map(|(cluster, core)| Space::NAMED.into_iter().map(move |space| (cluster, core, space)));
        all.into_iter().find_map(|(cluster, core, space)| {
            let at = Memory::index(cluster, core, space);
            let differ = |(at, (a, b)): (usize, (&u8, &u8))| (a != b).then_some(at);
            let (mine, theirs) = (self.local.get(at)?, other.local.get(at)?);
            if mine == theirs {
                return None;
            }
            let mut places = mine.iter().zip(theirs).enumerate().filter_map(differ);
            let first = places.next()?;
            Some((cluster, core, space, places.count() + 1, first))
        })
    }

    /// True if every byte of every memory is equal.
    pub fn same_bytes(&self, other: &Memory) -> bool {
        self.gm == other.gm && self.local == other.local
    }

    /// Inverts every bit of every memory, so that reads by an operation beyond its declared accesses show in its
    /// results.
    pub fn flip(&mut self) {
        let global = self.gm.iter_mut().map(|buffer| &mut buffer.data);
        global.chain(&mut self.local).flatten().for_each(|byte| *byte = !*byte);
    }

    /// Copies ranges, which must exist in both, from another memory of the same shape.
    pub fn copy_ranges(&mut self, from: &Memory, ranges: &[Extent], env: Env) {
        for range in ranges {
            for row in 0..u64::from(range.rows) {
                let (start, len) = (range.start + row * range.stride, range.row_bytes as usize);
                let bytes = from.bytes(env, range.core, range.space, start, len);
                self.bytes_mut(env, range.core, range.space, start, len).copy_from_slice(bytes);
            }
        }
    }

    /// Takes a memory out, to read it while another is written; return it with [`Memory::put_back`]. The memory is
    /// empty in between. `start` selects the global buffer.
    pub fn take(&mut self, env: Env, core: Role, space: Space, start: u64) -> Vec<u8> {
        std::mem::take(self.slot(env, core, space, start))
    }

    /// Puts back a memory taken with [`Memory::take`].
    pub fn put_back(&mut self, env: Env, core: Role, space: Space, start: u64, memory: Vec<u8>) {
        *self.slot(env, core, space, start) = memory;
    }

    /// Calls `work` with the bytes from a source address (at most `source.3` of them) and, mutably, the bytes from a
    /// destination address. If both are in one memory, the source is copied to `scratch` first.
    pub fn with_pair<R>(
        &mut self,
        env: Env,
        source: (Role, Space, u64, usize),
        target: (Role, Space, u64),
        scratch: &mut Vec<u8>,
        work: impl FnOnce(&[u8], &mut [u8]) -> R,
    ) -> R {
        let (from, space, address, most) = source;
        let (to, to_space, to_address) = target;
        let key = |core, space, address| match space {
            Space::Gm => (space, gm_split(address).map_or(0, |(buffer, _)| buffer)),
            _ => (space, Self::index(env.block, core, space)),
        };
        if key(from, space, address) == key(to, to_space, to_address) {
            let (bytes, start) = self.locate(env, from, space, address);
            let end = start.saturating_add(most).min(bytes.len());
            scratch.clear();
            scratch.extend_from_slice(&bytes[start..end]);
            let (bytes, start) = self.locate_mut(env, to, to_space, to_address);
            return work(scratch, &mut bytes[start..]);
        }
        let mut taken = self.take(env, to, to_space, to_address);
        let start = match to_space {
            Space::Gm => gm_split(to_address).map_or(0, |(_, offset)| offset as usize),
            _ => to_address as usize,
        };
        let (bytes, from_start) = self.locate(env, from, space, address);
        let result = work(&bytes[from_start..], &mut taken[start..]);
        self.put_back(env, to, to_space, to_address, taken);
        result
    }

    fn slot(&mut self, env: Env, core: Role, space: Space, start: u64) -> &mut Vec<u8> {
        if space == Space::Gm {
            let (buffer, _) = gm_split(start).expect("address checked against the plan");
            return &mut self.gm[buffer].data;
        }
        let index = Self::index(env.block, core, space);
        &mut self.local[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::gm_address;

    #[test]
    fn addresses_split_back() {
        for (buffer, offset) in [(0usize, 0u64), (3, 17), (1000, 1 << 30)] {
            assert_eq!(gm_split(gm_address(buffer, offset)), Some((buffer, offset as i64)));
        }
        assert_eq!(gm_split(gm_address(2, 0).wrapping_sub(8)), Some((2, -8)));
        assert_eq!(gm_split(4096), None);
    }
}
