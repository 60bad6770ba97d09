//! Predicates.

/// A predicate: 256 bits, one for each byte of a register. Lane `i` of `n`-byte lanes is active if bit `i × n` is set;
/// instructions that produce predicates set only that bit of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mask(pub [u64; 4]);

impl Mask {
    /// The lowest bit of every lane of `bytes` bytes.
    #[inline]
    pub const fn full(bytes: usize) -> Mask {
        let word = match bytes {
            1 => u64::MAX,
            2 => 0x5555_5555_5555_5555,
            4 => 0x1111_1111_1111_1111,
            _ => 0x0101_0101_0101_0101,
        };
        Mask([word; 4])
    }

    /// The mask whose lane `i` (of `bytes` bytes) is active if `f(i)`.
    #[inline]
    pub fn from_fn(bytes: usize, mut f: impl FnMut(usize) -> bool) -> Mask {
        let mut mask = Mask::default();
        for i in 0..BYTES / bytes {
            mask.set(i, bytes, f(i));
        }
        mask
    }

    /// The mask of the first `count` lanes of `bytes` bytes.
    #[inline]
    pub fn first(count: usize, bytes: usize) -> Mask {
        let bits = count.min(BYTES) * bytes;
        let word = |i: usize| match bits.saturating_sub(i * 64) {
            0 => 0,
            more => u64::MAX >> (64 - more.min(64)),
        };
        Mask::full(bytes).zip(Mask(std::array::from_fn(word)), |full, first| full & first)
    }

    /// Whether bit `i` is set.
    #[inline]
    pub fn bit(&self, i: usize) -> bool {
        self.lane(i, 1)
    }

    /// Whether any bit of 32-byte block `i` of a register is set.
    #[inline]
    pub fn block(&self, i: usize) -> bool {
        (self.0[i / 2] >> (i % 2 * 32)) as u32 != 0
    }

    /// Whether every lane of `bytes` bytes is active.
    #[inline]
    pub fn is_full(&self, bytes: usize) -> bool {
        // It is the same for each word.
        let full = Mask::full(bytes).0[0];
        self.0.iter().fold(full, |all, word| all & word) == full
    }

    /// Whether lane `i` of `bytes` bytes is active.
    #[inline]
    pub fn lane(&self, i: usize, bytes: usize) -> bool {
        let bit = i * bytes;
        self.0[bit / 64] >> (bit % 64) & 1 != 0
    }

    /// Makes lane `i` of `bytes` bytes active or not, by its lowest bit.
    #[inline]
    pub fn set(&mut self, i: usize, bytes: usize, active: bool) {
        let bit = i * bytes;
        let word = &mut self.0[bit / 64];
        *word = *word & !(1 << (bit % 64)) | u64::from(active) << (bit % 64);
    }

    /// Active lanes of `bytes` bytes.
    #[inline]
    pub fn count(&self, bytes: usize) -> usize {
        let full = Mask::full(bytes).0;
        self.0.iter().zip(full).map(|(word, full)| (word & full).count_ones() as usize).sum()
    }

    /// Combines two predicates bit by bit.
    #[inline]
    pub fn zip(self, other: Mask, f: impl Fn(u64, u64) -> u64) -> Mask {
        Mask(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }

    /// The 32-byte image: bit `i` of the predicate is bit `i % 8` of byte `i / 8`.
    #[inline]
    pub fn image(&self) -> [u8; 32] {
        let mut image = [0; 32];
        for (bytes, word) in image.chunks_exact_mut(8).zip(self.0) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        image
    }

    /// The predicate of a 32-byte image.
    #[inline]
    pub fn of_image(image: &[u8; 32]) -> Mask {
        let (words, _) = image.as_chunks::<8>();
        Mask(std::array::from_fn(|i| u64::from_le_bytes(words[i])))
    }
}

/// Bytes of a vector register.
pub const BYTES: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_its_lowest_bit() {
        assert_eq!(Mask::full(4).image(), [0x11; 32]);
        assert_eq!(Mask::full(2).image(), [0x55; 32]);
        assert_eq!(Mask::full(1).image(), [0xff; 32]);
        let three = Mask::first(3, 4);
        assert_eq!(three.0, [0x111, 0, 0, 0]);
        assert!(three.lane(2, 4) && !three.lane(3, 4) && three.count(4) == 3);
        assert!(Mask::full(1).is_full(4) && !Mask::full(4).is_full(2));
        for bytes in [1, 2, 4, 8] {
            for count in [0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200, 256, 1000] {
                assert_eq!(Mask::first(count, bytes), Mask::from_fn(bytes, |i| i < count), "{count} of {bytes} bytes");
            }
        }
        assert!(Mask::first(9, 4).block(1) && !Mask::first(9, 4).block(2) && Mask::full(4).block(7));
    }
}
