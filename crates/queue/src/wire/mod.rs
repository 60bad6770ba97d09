//! The bytes that travel: commands, their parts, and the words that name places on the chip.
//!
//! All integers are little-endian and nothing is padded implicitly. Offsets count from a command's first byte, its id.

mod place;

pub use place::{PCIE_XY, Rect, Xy};
