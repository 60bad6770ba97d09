//! Element types, tile layouts and whole-tile arithmetic.
//!
//! The lowest crate of the workspace: it knows bytes, element types and how the elements of a tile are laid out in
//! memory, and nothing of ops, programs or time. Every function gives the same bytes on every host: no platform `libm`,
//! no dependence on SIMD width, thread count or the presence of a fused multiply-add unit.

pub mod compare;
pub mod convert;
pub mod copy;
mod elem;
pub mod fill;
mod lane;
pub mod lanes;
mod layout;
pub mod math;
pub mod matmul;
mod narrow;
mod nearest;
pub mod reduce;
mod rounding;
mod rows;
mod space;
pub mod summary;

pub use compare::Compare;
pub use convert::{convert, load_f32, store_f32, store_f64};
pub use copy::{Cast, OutOfBounds, View};
pub use elem::Elem;
pub use lane::Native;
pub use lanes::{Arg, Binary, Ternary, Unary};
pub use layout::{BLayout, Layout, SLayout};
pub use matmul::{Init, MatmulError, Scratch, matmul_tile};
pub use nearest::nearest;
pub use reduce::{Order, Reduce};
pub use rounding::{RoundMode, Saturation};
pub use space::{BLOCK_BYTES, Space};
