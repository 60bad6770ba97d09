//! How many workitems there are, and how many a warp has.

/// Lanes of a warp.
pub const LANES: usize = 32;
/// The most workitems of a launch (micro-instruction manual of assembler 0.60, 17).
pub const MOST: u32 = 2048;

/// Workitems of a launch in x, y and z.
pub type Shape = [u32; 3];
