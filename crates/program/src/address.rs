//! Addresses in global memory and locations in local memories.

use slipring_machine::Role;
use slipring_tile::Space;

use crate::{Extent, Trap};

const BUFFER_SHIFT: u32 = 40;

/// Address in global memory of byte `offset` of a buffer.
///
/// Every buffer has an address range of its own, 2^40 bytes apart, so that an access beyond a buffer
/// never lands in another one.
pub const fn gm_address(buffer: usize, offset: u64) -> u64 {
    (((buffer as u64 + 1) << BUFFER_SHIFT) + (1 << (BUFFER_SHIFT - 1))).wrapping_add(offset)
}

/// Buffer and (possibly negative) offset of an address in global memory; `None` for one outside every buffer's range.
pub const fn gm_split(address: u64) -> Option<(usize, i64)> {
    let buffer = address >> BUFFER_SHIFT;
    if buffer == 0 || buffer > 1 << 20 {
        return None;
    }
    let offset = (address & ((1 << BUFFER_SHIFT) - 1)) as i64 - (1 << (BUFFER_SHIFT - 1));
    Some((buffer as usize - 1, offset))
}

/// An address moved by this many bytes, possibly backwards.
///
/// # Errors
/// If that leaves the 2^40 bytes around a buffer of global memory, or the vicinity of the local memories: it would be
/// the address of something else.
#[inline]
pub fn moved(address: u64, by: u64) -> Result<u64, Trap> {
    // Local memories are around 0, every buffer has a range of its own.
    let range = |address: u64| match address as i64 {
        near if (-(1 << BUFFER_SHIFT)..1 << BUFFER_SHIFT).contains(&near) => 0,
        far => far >> BUFFER_SHIFT,
    };
    match (address as i64).checked_add(by as i64) {
        Some(place) if range(place as u64) == range(address) => Ok(place as u64),
        _ => Err(Trap::Address),
    }
}

/// A number of elements or rows of a signed size, in bytes.
///
/// # Errors
/// If the product does not fit into 64 bits.
#[inline]
pub fn scaled(count: u64, size: u64) -> Result<u64, Trap> {
    (count as i64).checked_mul(size as i64).map(|bytes| bytes as u64).ok_or(Trap::Address)
}

/// Index of a local memory among all.
pub(crate) const fn locals(block: u32, core: Role, space: Space) -> usize {
    (block as usize * Role::ALL.len() + core.index()) * Space::COUNT + space as usize
}

/// The runs of bytes of a range, as offsets in a memory in which it begins at `start`.
pub fn runs(extent: &Extent, start: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
    let bytes = u64::from(extent.row_bytes);
    // Contiguous rows are one run.
    let joined = extent.rows > 1 && extent.stride == bytes;
    let (rows, bytes) = if joined { (1, bytes * u64::from(extent.rows)) } else { (extent.rows, bytes) };
    (0..u64::from(rows))
        .map(move |row| start + row * extent.stride)
        .filter(move |_| bytes > 0)
        .map(move |at| (at, at + bytes))
}
