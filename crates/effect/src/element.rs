//! Single elements read and written by the scalar unit.

use slipring_machine::Role;
use slipring_program::{Access, Cleans, Effect, Env, Extent, Fault, Run};
use slipring_tile::{Elem, Space};

use crate::MAX_RANK;
use crate::strided::outside_tensor;

/// The container of an element, checked by the indices given after its address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Within {
    /// No index is given.
    Anything,
    /// A tile with this many elements: one index.
    Tile(u64),
    /// Dimensions with these extents, or [`UNKNOWN`]: one index for each.
    Dimensions([u64; MAX_RANK]),
    /// A tensor: one index for each dimension, then the extents.
    Tensor {
        /// The number of its dimensions, at most [`MAX_RANK`].
        rank: usize,
        /// The number of its first dimensions whose index is left to the bounds of the buffer.
        ignored: usize,
    },
}

/// An unknown extent of a dimension: all nonnegative indices are accepted.
pub const UNKNOWN: u64 = 1 << 63;

/// Reads one element into a register, or writes one. Arguments: its byte address; for a write, the register; then the
/// indices of the element in its container.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ElementAccess {
    pub space: Space,
    /// The core, for local memories.
    pub core: Role,
    pub elem: Elem,
    /// True: read. False: write.
    pub load: bool,
    /// Its container.
    pub within: Within,
}

/// The arguments by name.
struct Given<'a> {
    address: u64,
    /// The value to write; 0 for a read.
    value: u64,
    /// The indices of the element in its container.
    places: &'a [u64],
}

impl ElementAccess {
    fn given<'a>(&self, args: &'a [u64]) -> Given<'a> {
        match *args {
            [address, ref places @ ..] if self.load => Given { address, value: 0, places },
            [address, value, ref places @ ..] => Given { address, value, places },
            _ => panic!("an element without an address"),
        }
    }

    fn extent(&self, address: u64) -> Extent {
        Extent::run(self.space, self.core, address, self.elem.bytes() as u32)
    }
}

/// Writes back and invalidates lines of the scalar unit's cache of global memory: all, or that of the address in its
/// argument.
#[derive(Clone, Copy, Debug)]
pub struct CleanCache;

impl Effect for CleanCache {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        access.cleans = Some(args.first().map_or(Cleans::All, |at| Cleans::Line(*at)));
        Ok(())
    }

    fn run(&self, _: &[u64], _: Run<'_>) -> Result<u64, Fault> {
        Ok(0)
    }
}

/// The fault for an element outside its tile.
pub fn past_end(at: i64, all: u64) -> Fault {
    Fault::new("tile-bounds", format!("the tile has {all} elements, counted from 0: there is no element {at}"))
}

/// The fault for indices outside their dimensions.
fn outside(places: &[u64], extents: &[u64]) -> Option<Fault> {
    let (axis, (at, all)) = places.iter().zip(extents).enumerate().find(|(_, (at, all))| at >= all)?;
    let counted = match *all {
        UNKNOWN => "is counted from 0".to_string(),
        all => format!("has {all} elements, counted from 0"),
    };
    let message = format!("dimension {axis} {counted}: there is no index {}", *at as i64);
    Some(Fault::new("memref-bounds", message))
}

/// The register form of an element: sign-extended for signed integers, zero-extended otherwise.
fn widen(elem: Elem, bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(wide);
    if !elem.is_signed_int() {
        return bits;
    }
    let unused = 64 - 8 * bytes.len() as u32;
    (((bits << unused) as i64) >> unused) as u64
}

impl Effect for ElementAccess {
    fn decides(&self, index: usize) -> bool {
        index == 0
    }

    fn doubts(&self, index: usize) -> bool {
        // The indices of the element come after the address and the stored value.
        let Some(place) = index.checked_sub(if self.load { 1 } else { 2 }) else { return false };
        match self.within {
            Within::Anything => false,
            Within::Tile(_) | Within::Dimensions(_) => true,
            Within::Tensor { ignored, .. } => place >= ignored,
        }
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let places = self.given(args).places;
        match (self.within, places) {
            (Within::Tile(all), [at, ..]) if *at >= all => return Err(past_end(*at as i64, all)),
            (Within::Dimensions(extents), places) => {
                if let Some(fault) = outside(places, &extents) {
                    return Err(fault);
                }
            }
            (Within::Tensor { rank, ignored }, places) => {
                let (at, extents) = places.split_at(rank);
                let mut firsts = [0; MAX_RANK];
                firsts.iter_mut().zip(at).for_each(|(first, at)| *first = *at as i64);
                let verb = if self.load { "reads" } else { "writes" };
                if let Some(fault) = outside_tensor(verb, ignored, &firsts[..rank], &[1; MAX_RANK][..rank], extents) {
                    return Err(fault);
                }
            }
            _ => {}
        }
        let list = if self.load { &mut access.reads } else { &mut access.writes };
        list.push(self.extent(self.given(args).address));
        access.cached = self.space == Space::Gm;
        access.units.total += self.elem.bytes() as u64;
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, .. }: Run<'_>) -> Result<u64, Fault> {
        let size = self.elem.bytes();
        if self.load {
            return Ok(widen(self.elem, memory.bytes(env, self.core, self.space, self.given(args).address, size)));
        }
        let Given { address, value, .. } = self.given(args);
        let bytes = memory.bytes_mut(env, self.core, self.space, address, size);
        bytes.copy_from_slice(&value.to_le_bytes()[..size]);
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_index_is_below_0_in_any_dimension() {
        let fault = |at: i64, all| outside(&[0, at as u64], &[UNKNOWN, all]).map(|fault| fault.message);
        assert_eq!(fault(3, 4), None);
        assert_eq!(fault(4, UNKNOWN), None);
        let is_none = |at| format!("dimension 1 is counted from 0: there is no index {at}");
        assert_eq!(fault(-1, UNKNOWN), Some(is_none(-1)));
        assert_eq!(fault(-2, UNKNOWN), Some(is_none(-2)));
        let message = "dimension 1 has 4 elements, counted from 0: there is no index 4";
        assert_eq!(fault(4, 4), Some(message.to_string()));
    }

    #[test]
    fn registers_hold_signed_integers_extended() {
        assert_eq!(widen(Elem::I8, &[0xff]), u64::MAX);
        assert_eq!(widen(Elem::U8, &[0xff]), 255);
        assert_eq!(widen(Elem::I32, &(-7i32).to_le_bytes()), -7i64 as u64);
        assert_eq!(widen(Elem::F32, &(-1f32).to_le_bytes()), u64::from((-1f32).to_bits()));
        assert_eq!(widen(Elem::I64, &(-7i64).to_le_bytes()), -7i64 as u64);
    }
}
