//! Distributions: the mapping between bytes of memory and lanes of a register.
//!
//! A distribution moves units of the width in its name, whatever the element type of the register. The manual lists
//! element widths for each; the published examples use `BRC_B8` on `f32` and `PK_B32` on `f16`, and they work.

use slipring_vector::BYTES;

/// The bytes of a register.
pub(super) type RegisterBytes = [u8; BYTES];

/// A distribution of a load into one register.
#[derive(Debug)]
pub(super) struct LoadMode {
    pub name: &'static str,
    /// Number of bytes that it reads.
    pub bytes: usize,
    /// Alignment of the address in bytes.
    pub align: u64,
    pub spread: fn(&[u8], &mut RegisterBytes),
}

/// Fills each element of `E` bytes with the element of memory that `source` names, or with zero.
fn fill<const E: usize>(from: &[u8], to: &mut RegisterBytes, source: impl Fn(usize) -> Option<usize>) {
    for (i, lane) in to.as_chunks_mut::<E>().0.iter_mut().enumerate() {
        match source(i) {
            Some(at) => lane.copy_from_slice(&from[at * E..][..E]),
            None => lane.fill(0),
        }
    }
}

/// Puts consecutive elements of memory into every `n`th element of the register, with zeros in between.
const fn every(n: usize, i: usize) -> Option<usize> {
    if i.is_multiple_of(n) { Some(i / n) } else { None }
}

const fn load(name: &'static str, bytes: usize, align: u64, spread: fn(&[u8], &mut RegisterBytes)) -> LoadMode {
    LoadMode { name, bytes, align, spread }
}

/// The distributions of `vlds`, with the identity first.
pub(super) static LOADS: [LoadMode; 18] = [
    load("NORM", 256, 32, |from, to| to.copy_from_slice(from)),
    load("BRC_B8", 1, 1, |from, to| fill::<1>(from, to, |_| Some(0))),
    load("BRC_B16", 2, 2, |from, to| fill::<2>(from, to, |_| Some(0))),
    load("BRC_B32", 4, 4, |from, to| fill::<4>(from, to, |_| Some(0))),
    load("BRC_BLK", 32, 32, |from, to| fill::<32>(from, to, |_| Some(0))),
    load("US_B8", 128, 32, |from, to| fill::<1>(from, to, |i| Some(i / 2))),
    load("US_B16", 128, 32, |from, to| fill::<2>(from, to, |i| Some(i / 2))),
    load("DS_B8", 512, 32, |from, to| fill::<1>(from, to, |i| Some(2 * i))),
    load("DS_B16", 512, 32, |from, to| fill::<2>(from, to, |i| Some(2 * i))),
    load("UNPK_B8", 128, 32, |from, to| fill::<1>(from, to, |i| every(2, i))),
    load("UNPK_B16", 128, 32, |from, to| fill::<2>(from, to, |i| every(2, i))),
    load("UNPK_B32", 128, 32, |from, to| fill::<4>(from, to, |i| every(2, i))),
    load("UNPK4", 64, 32, |from, to| fill::<1>(from, to, |i| every(4, i))),
    load("E2B_B16", 16, 16, |from, to| fill::<2>(from, to, |i| Some(i / 16))),
    load("E2B_B32", 32, 32, |from, to| fill::<4>(from, to, |i| Some(i / 8))),
    load("SPLT4CHN", 1024, 32, |from, to| fill::<1>(from, to, |i| Some(4 * i))),
    load("SPLT2CHN_B8", 512, 32, |from, to| fill::<1>(from, to, |i| Some(2 * i))),
    load("SPLT2CHN_B16", 512, 32, |from, to| fill::<2>(from, to, |i| Some(2 * i))),
];

/// A distribution between 512 bytes of memory and two registers that alternate.
#[derive(Debug)]
pub(super) struct PairMode {
    pub name: &'static str,
    /// Fills the register that takes every second element, starting at this one (0 or 1).
    pub split: fn(&[u8], &mut RegisterBytes, usize),
    /// Fills memory from both registers.
    pub join: fn([&RegisterBytes; 2], &mut [u8]),
}

fn split<const E: usize>(from: &[u8], to: &mut RegisterBytes, first: usize) {
    fill::<E>(from, to, |i| Some(2 * i + first));
}

fn join<const E: usize>(from: [&RegisterBytes; 2], to: &mut [u8]) {
    for (i, element) in to.as_chunks_mut::<E>().0.iter_mut().enumerate() {
        element.copy_from_slice(&from[i % 2][i / 2 * E..][..E]);
    }
}

/// The distributions of `vldsx2`.
pub(super) static SPLITS: [PairMode; 4] = [
    PairMode { name: "DINTLV_B8", split: split::<1>, join: join::<1> },
    PairMode { name: "DINTLV_B16", split: split::<2>, join: join::<2> },
    PairMode { name: "DINTLV_B32", split: split::<4>, join: join::<4> },
    PairMode { name: "BDINTLV", split: split::<32>, join: join::<32> },
];

/// The distributions of `vstsx2`.
pub(super) static JOINS: [PairMode; 3] = [
    PairMode { name: "INTLV_B8", split: split::<1>, join: join::<1> },
    PairMode { name: "INTLV_B16", split: split::<2>, join: join::<2> },
    PairMode { name: "INTLV_B32", split: split::<4>, join: join::<4> },
];

/// A distribution of a store from one register.
#[derive(Debug)]
pub(super) struct StoreMode {
    pub name: &'static str,
    /// Bytes of a lane of the register.
    pub lane: usize,
    /// The number of low bytes of each lane that are stored, packed.
    pub kept: usize,
    /// True if only lane 0 is stored, whatever the predicate.
    pub first_only: bool,
}

impl StoreMode {
    /// Alignment of the address in bytes.
    pub fn align(&self) -> u64 {
        if self.first_only { self.kept as u64 } else { 32 }
    }

    /// Granularity in bits of the predicate for its lanes; `None` if it needs none. 64-bit lanes have a `b32`
    /// predicate, in which bit `8 i` governs lane `i`.
    pub fn mask_bits(&self) -> Option<u8> {
        (!self.first_only).then_some((8 * self.lane).min(32) as u8)
    }

    /// The stored bytes of each lane, packed.
    pub fn pack(&self, register: &RegisterBytes) -> RegisterBytes {
        let mut packed = [0; BYTES];
        for (to, from) in packed.chunks_exact_mut(self.kept).zip(register.chunks_exact(self.lane)) {
            to.copy_from_slice(&from[..self.kept]);
        }
        packed
    }
}

const fn store(name: &'static str, lane: usize, kept: usize, first_only: bool) -> StoreMode {
    StoreMode { name, lane, kept, first_only }
}

/// The distributions of `vsts`, with the identities of 8, 16 and 32 bits first.
pub(super) static STORES: [StoreMode; 10] = [
    store("NORM_B8", 1, 1, false),
    store("NORM_B16", 2, 2, false),
    store("NORM_B32", 4, 4, false),
    store("1PT_B8", 1, 1, true),
    store("1PT_B16", 2, 2, true),
    store("1PT_B32", 4, 4, true),
    store("PK_B16", 2, 1, false),
    store("PK_B32", 4, 2, false),
    store("PK_B64", 8, 4, false),
    store("PK4_B32", 4, 1, false),
];

/// Distributions of `vsts` that the manual still lists but the hardware lacks.
pub(super) const MERGES: [&str; 3] = ["MRG4CHN_B8", "MRG2CHN_B8", "MRG2CHN_B16"];
