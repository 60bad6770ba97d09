//! Matrix products (PTO IR manual 4.4).

pub(super) mod matmul;
pub(super) mod mx;

pub use matmul::*;
pub use mx::*;
