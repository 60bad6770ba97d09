//! Logical vectors and predicates in the registers of a vector function.

use slipring_tile::Elem;
use slipring_vector::{BYTES, Machine, Mask, Register, Slot};
use smallvec::SmallVec;

use slipring_op::decode::Slots;

/// The bytes of a logical vector, lane after lane.
pub(super) type Bytes = SmallVec<[u8; 4 * BYTES]>;

/// A logical vector in its registers.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    pub slots: Slots,
    /// Number of lanes, and bytes of each.
    pub count: usize,
    pub bytes: usize,
    /// The type that arithmetic uses.
    pub elem: Elem,
}

/// A logical predicate in its registers; without any, all lanes are active.
#[derive(Clone, Debug, Default)]
pub(super) struct Active(pub Slots);

/// The lanes of a predicate.
pub(super) struct Bits(SmallVec<[Mask; 1]>);

impl Lanes {
    /// Lanes of a whole register.
    pub fn per_register(&self) -> usize {
        BYTES / self.bytes
    }

    /// Bytes of all lanes.
    pub fn size(&self) -> usize {
        self.count * self.bytes
    }

    /// All lanes.
    pub fn read(&self, machine: &Machine<'_>) -> Bytes {
        let mut all = Bytes::new();
        for slot in &self.slots {
            all.extend_from_slice(&machine.reg(*slot).0);
        }
        all.truncate(self.size());
        all
    }

    /// Writes all lanes; what is left of the last register becomes 0.
    pub fn write(&self, machine: &mut Machine<'_>, all: &[u8]) {
        for (slot, part) in self.slots.iter().zip(all.chunks(BYTES)) {
            machine.produce(*slot, |_, register| {
                register.0[..part.len()].copy_from_slice(part);
                register.0[part.len()..].fill(0);
            });
        }
    }
}

impl Active {
    /// The lanes that are active.
    pub fn read(&self, machine: &Machine<'_>) -> Bits {
        Bits(self.0.iter().map(|slot| machine.mask(*slot)).collect())
    }

    /// Makes the lanes for which `is` holds the active ones, of `count`.
    pub fn write(&self, machine: &mut Machine<'_>, count: usize, is: impl Fn(usize) -> bool) {
        for (at, slot) in self.0.iter().enumerate() {
            let lane = |bit: usize| at * BYTES + bit;
            machine.set_mask(*slot, Mask::from_fn(1, |bit| lane(bit) < count && is(lane(bit))));
        }
    }

    /// The register of the predicate that has the bits of a vector's register `at`, and the first of them.
    pub fn of_register(&self, at: usize, lanes: usize) -> Option<(Slot, usize)> {
        let first = at * lanes;
        Some((*self.0.get(first / BYTES)?, first % BYTES))
    }
}

impl Bits {
    /// Whether a lane is active.
    #[inline]
    pub fn is(&self, lane: usize) -> bool {
        self.0.get(lane / BYTES).is_none_or(|mask| mask.bit(lane % BYTES))
    }
}

/// Clears the lanes of `bytes` bytes that are not active.
pub(super) fn clear_inactive(all: &mut [u8], bytes: usize, active: &Bits) {
    for (i, lane) in all.chunks_exact_mut(bytes).enumerate() {
        if !active.is(i) {
            lane.fill(0);
        }
    }
}

/// Clears the lanes of a register that are not active: bit `first` of the predicate is the one of its first lane.
pub(super) fn clear_in_register(register: &mut Register, bytes: usize, mask: &Mask, first: usize) {
    for (i, lane) in register.0.chunks_exact_mut(bytes).enumerate() {
        if !mask.bit(first + i) {
            lane.fill(0);
        }
    }
}

/// Lane `i` of `bytes` bytes, as bits.
#[inline]
pub(super) fn bits(all: &[u8], i: usize, bytes: usize) -> u64 {
    let mut wide = [0; 8];
    wide[..bytes].copy_from_slice(&all[i * bytes..][..bytes]);
    u64::from_le_bytes(wide)
}

/// Sets lane `i` of `bytes` bytes.
#[inline]
pub(super) fn set_bits(all: &mut [u8], i: usize, bytes: usize, value: u64) {
    all[i * bytes..][..bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
}

/// Lane `i` of integers of this type, as a number.
pub(super) fn integer(all: &[u8], i: usize, elem: Elem) -> i64 {
    let value = bits(all, i, elem.bytes());
    if !elem.is_signed_int() {
        return value as i64;
    }
    let unused = 64 - 8 * elem.bytes() as u32;
    (value << unused) as i64 >> unused
}
