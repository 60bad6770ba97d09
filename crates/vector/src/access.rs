//! An access of a vector function: its kind, when it happens, and what a barrier orders.

use Kind::{ScalarLoad, ScalarStore, VectorLoad, VectorStore};
use slipring_program::SiteRef;

/// A kind of memory access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    VectorLoad,
    VectorStore,
    ScalarLoad,
    ScalarStore,
}

impl Kind {
    pub(crate) const fn writes(self) -> bool {
        matches!(self, Kind::VectorStore | Kind::ScalarStore)
    }

    /// A set of kinds has one bit for each.
    pub(crate) const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// The pairs that only a barrier orders: the first access, the second, the barrier, and the accesses it separates.
pub(crate) const PAIRS: [(Kind, Kind, &str, &str); 9] = [
    (VectorStore, VectorLoad, "VST_VLD", "the store and the load"),
    (VectorLoad, VectorStore, "VLD_VST", "the load and the store"),
    (VectorStore, VectorStore, "VST_VST", "the two stores"),
    (VectorStore, ScalarLoad, "VST_LD", "the store and the scalar load"),
    (VectorLoad, ScalarStore, "VLD_ST", "the load and the scalar store"),
    (VectorStore, ScalarStore, "VST_ST", "the vector store and the scalar store"),
    (ScalarStore, VectorLoad, "ST_VLD", "the scalar store and the load"),
    (ScalarLoad, VectorStore, "LD_VST", "the scalar load and the store"),
    (ScalarStore, VectorStore, "ST_VST", "the scalar store and the vector store"),
];

/// The pairs whose first access is a load, one bit each.
pub(crate) const BEHIND_LOADS: u16 = 0b010_010_010;

/// The pair of a vector load and a vector store.
pub(crate) const VLD_VST: usize = 1;

/// The pair of two vector stores.
pub(crate) const VST_VST: usize = 2;

/// The pairs of vector accesses, one bit each.
pub(crate) const VECTOR_PAIRS: u16 = 0b000_000_111;

/// A type of `mem_bar`: the pairs that it orders, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Barrier(pub(crate) u16);

impl Barrier {
    /// Every spelling.
    pub const NAMES: [&'static str; 12] = [
        "VV_ALL", "VST_VLD", "VLD_VST", "VST_VST", "VS_ALL", "VST_LD", "VLD_ST", "VST_ST", "SV_ALL", "ST_VLD",
        "LD_VST", "ST_VST",
    ];

    /// Parses the spelling of the manual.
    pub fn parse(name: &str) -> Option<Barrier> {
        Some(Barrier(match name {
            "VV_ALL" => 0b000_000_111,
            "VS_ALL" => 0b000_111_000,
            "SV_ALL" => 0b111_000_000,
            _ => 1 << PAIRS.iter().position(|pair| pair.2 == name)?,
        }))
    }
}

impl Barrier {
    /// The kinds of access before it that are ordered before accesses of the kinds `behind` after it.
    pub(crate) fn before(self, behind: u8) -> u8 {
        let pairs = PAIRS.iter().enumerate().filter(|(at, pair)| self.0 >> at & 1 != 0 && behind & pair.1.bit() != 0);
        pairs.fold(0, |kinds, (_, pair)| kinds | pair.0.bit())
    }
}

/// True if, with these pairs, later accesses may have to come after scalar loads of a function.
pub(crate) fn follows_numbers(relevant: u16) -> bool {
    PAIRS.iter().enumerate().any(|(at, pair)| relevant >> at & 1 != 0 && pair.0 == ScalarLoad)
}

/// The index at which the last store of a kind is recorded.
pub(crate) fn row(kind: Kind) -> usize {
    usize::from(kind == ScalarStore)
}

/// One execution of a step that touches memory. It has the size of a host vector, so that many entries can be filled at
/// once.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(align(16))]
pub(crate) struct Moment {
    /// Index of the step.
    pub step: u32,
    pub site: SiteRef,
    /// Number of vector instructions executed before it.
    pub position: u32,
}

/// An access at the time it happens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub kind: Kind,
    pub at: Moment,
}

/// Adds those of some accesses, given newest to oldest, that nothing orders before a later one.
pub(crate) trait Judge: Fn(&[Moment], Moment, &mut Vec<Moment>) {}

impl<F: Fn(&[Moment], Moment, &mut Vec<Moment>)> Judge for F {}

/// Bytes per block; for each block the last access is remembered.
pub(crate) const BLOCK: usize = 32;

/// The pairs that can occur in a function with these kinds of access.
pub(crate) fn relevant(has: impl Fn(Kind) -> bool) -> u16 {
    let pairs = PAIRS.iter().enumerate().filter(|(_, pair)| has(pair.0) && has(pair.1));
    pairs.map(|(i, _)| 1 << i).sum()
}
