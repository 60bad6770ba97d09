//! Single elements read and written by the scalar unit.

use slipring_machine::Role;
use slipring_program::{Access, Cleans, Effect, Env, Extent, Fault, Run};
use slipring_tile::{Elem, Space};

/// Reads one element into a register, or writes one. Arguments: its byte address; to write, then the register; of a tile, then
/// the place of the element in it.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ElementAccess {
    pub space: Space,
    /// Whose memory, for local ones.
    pub core: Role,
    pub elem: Elem,
    /// True: read. False: write.
    pub load: bool,
    /// Elements of the tile that it must be one of.
    pub within: Option<u64>,
}

/// The arguments by name.
struct Given {
    address: u64,
    /// What is written; 0 where it reads.
    value: u64,
    /// The place of the element in its tile, where that is given.
    place: Option<u64>,
}

impl ElementAccess {
    fn given(&self, args: &[u64]) -> Given {
        match *args {
            [address, ref place @ ..] if self.load => Given { address, value: 0, place: place.first().copied() },
            [address, value, ref place @ ..] => Given { address, value, place: place.first().copied() },
            _ => panic!("an element without an address"),
        }
    }

    fn extent(&self, address: u64) -> Extent {
        Extent::run(self.space, self.core, address, self.elem.bytes() as u32)
    }
}

/// Writes back and forgets lines of the scalar unit's cache of global memory: all, or that of the address that is its argument.
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

/// The fault of an element that its tile does not have.
pub fn past_end(at: i64, all: u64) -> Fault {
    Fault::new("tile-bounds", format!("the tile has {all} elements, counted from 0: there is no element {at}"))
}

/// A register's form of an element: signed integers extended by their sign, everything else by zeros.
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
        // The number of the element, after the address and what is stored.
        self.within.is_some() && index == if self.load { 1 } else { 2 }
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        if let (Some(all), Some(at)) = (self.within, self.given(args).place)
            && at >= all
        {
            return Err(past_end(at as i64, all));
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
    fn registers_hold_signed_integers_extended() {
        assert_eq!(widen(Elem::I8, &[0xff]), u64::MAX);
        assert_eq!(widen(Elem::U8, &[0xff]), 255);
        assert_eq!(widen(Elem::I32, &(-7i32).to_le_bytes()), -7i64 as u64);
        assert_eq!(widen(Elem::F32, &(-1f32).to_le_bytes()), u64::from((-1f32).to_bits()));
        assert_eq!(widen(Elem::I64, &(-7i64).to_le_bytes()), -7i64 as u64);
    }
}
