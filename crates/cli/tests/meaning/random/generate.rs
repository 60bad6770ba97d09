//! The text of a random kernel from a seed: numbers, names and lines. The contents are written by the neighbouring
//! modules.

use std::fmt::Write as _;

/// A kernel, and the arguments of its launches.
pub struct Kernel {
    pub text: String,
    pub launches: Vec<Vec<String>>,
    pub blocks: u32,
}

/// SplitMix64.
pub(super) struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }
}

/// How a kernel's Vector work is split.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Mode {
    /// One Vector core only.
    Alone,
    Whole,
    Rows,
    Columns,
}

/// Names in scope.
#[derive(Clone, Default)]
pub(super) struct Scope {
    /// Tiles of the kernel's shape.
    pub tiles: Vec<String>,
    /// Windows of tensors of that shape.
    pub windows: Vec<String>,
    /// Integers, from 0 to 7.
    pub counters: Vec<String>,
    /// Other integers.
    pub numbers: Vec<String>,
    /// Floats read from a tensor.
    pub floats: Vec<String>,
}

pub(super) struct Writer {
    pub random: Random,
    pub text: String,
    pub depth: usize,
    names: usize,
    /// Extents of tiles.
    pub rows: usize,
    pub cols: usize,
    pub float: bool,
    /// The type of computations, and that of tensors.
    pub ty: &'static str,
    pub stored: &'static str,
    pub mode: Mode,
    pub blocks: usize,
    /// True once two names may alias a tile or not, or a name may denote a window of an input, depending on run-time
    /// values. A part of such a tile is only assigned after it has been copied, because the compiler would reject most
    /// kernels otherwise.
    pub unsure: bool,
    /// Some names are aliases of tiles.
    pub shared: bool,
    /// Number of functions with one result, and whether there is one with two.
    pub helpers: usize,
    pub two: bool,
}

/// Number of tile rows in the tensors that Vector work reads.
pub(super) const SPARE: usize = 2;
/// Number of tiles for which the output has space.
pub(super) const SLOTS: usize = 8;

/// The kernel of a seed.
pub fn kernel(seed: u64) -> Kernel {
    let mut random = Random(seed.wrapping_mul(0x5851_f42d_4c95_7f2d) ^ 0x1234_5678);
    let cube = random.chance(35);
    let (ty, stored) = match random.below(if cube { 1 } else { 16 }) {
        0..=8 => ("FP32", "FP32"),
        9 => ("FP16", "FP16"),
        10 => ("BF16", "BF16"),
        11 => ("FP32", "BF16"),
        12 => ("FP16", "INT8"),
        13 => ("INT16", "INT16"),
        _ => ("INT32", "INT32"),
    };
    let blocks = if random.chance(25) { 2 + random.below(2) } else { 1 };
    let mut w = Writer {
        text: String::new(),
        depth: 0,
        names: 0,
        rows: 0,
        cols: 0,
        float: !ty.starts_with("INT"),
        ty,
        stored,
        mode: Mode::Alone,
        blocks,
        unsure: false,
        shared: false,
        helpers: 0,
        two: false,
        random,
    };
    w.line("import slipring.language as pl");
    if cube { w.cube_kernel() } else { w.vector_kernel() }
}

impl Writer {
    pub fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "    ".repeat(self.depth));
    }

    pub fn fresh(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    /// A row of the output, relative to this block's first row.
    pub fn row(&self, at: impl std::fmt::Display) -> String {
        if self.blocks > 1 { format!("base + {at}") } else { at.to_string() }
    }

    /// Whether tensors have the type of computations.
    pub fn plain(&self) -> bool {
        self.ty == self.stored
    }

    /// A tile converted to the type of the output.
    pub fn as_stored(&self, tile: &str) -> String {
        if self.plain() { tile.into() } else { format!("pl.cast({tile}, pl.{}, mode=\"rint\")", self.stored) }
    }
}
