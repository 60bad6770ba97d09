//! Vector registers.

use slipring_tile::Native;

use crate::Mask;
use crate::mask::BYTES;

/// A vector register: 256 bytes, with little-endian lanes of whatever type an instruction uses. Predicates and
/// alignment registers are in the same file, in the first bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(64))]
pub struct Register(pub [u8; BYTES]);

impl Default for Register {
    fn default() -> Register {
        Register::ZERO
    }
}

impl Register {
    /// All bits clear.
    pub const ZERO: Register = Register([0; BYTES]);

    /// The lanes, as bytes.
    #[inline]
    pub fn lanes<T: Native>(&self) -> &[T::Bytes] {
        T::split(&self.0)
    }

    /// The lanes, mutable.
    #[inline]
    pub fn lanes_mut<T: Native>(&mut self) -> &mut [T::Bytes] {
        T::split_mut(&mut self.0)
    }

    /// A register whose lane `i` is `f(i)`.
    #[inline]
    pub fn from_fn<T: Native>(mut f: impl FnMut(usize) -> T) -> Register {
        let mut out = Register::ZERO;
        for (i, lane) in out.lanes_mut::<T>().iter_mut().enumerate() {
            *lane = f(i).put();
        }
        out
    }

    /// Lane `i` of this size in bytes, as bits.
    #[inline]
    pub fn bits(&self, i: usize, bytes: usize) -> u64 {
        let mut wide = [0; 8];
        wide[..bytes].copy_from_slice(&self.0[i * bytes..][..bytes]);
        u64::from_le_bytes(wide)
    }

    /// Sets lane `i` of this size in bytes.
    #[inline]
    pub fn set_bits(&mut self, i: usize, bytes: usize, bits: u64) {
        self.0[i * bytes..][..bytes].copy_from_slice(&bits.to_le_bytes()[..bytes]);
    }

    /// Clears the inactive lanes (of `bytes` bytes) of `mask`: zeroing predication.
    #[inline]
    pub fn zero_inactive(&mut self, mask: &Mask, bytes: usize) {
        if !mask.is_full(bytes) {
            self.zero_some(mask, bytes);
        }
    }

    #[inline(never)]
    fn zero_some(&mut self, mask: &Mask, bytes: usize) {
        for i in 0..BYTES / bytes {
            if !mask.lane(i, bytes) {
                self.0[i * bytes..][..bytes].fill(0);
            }
        }
    }
}

impl From<&Register> for Mask {
    #[inline]
    fn from(register: &Register) -> Mask {
        let mut image = [0; 32];
        image.copy_from_slice(&register.0[..32]);
        Mask::of_image(&image)
    }
}
