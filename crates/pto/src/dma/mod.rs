//! Moving tiles: to and from global memory, between local memories (PTO IR manual 4.3 and 4.10).

pub(super) mod comm;
pub(super) mod group;
pub(super) mod load;
pub(super) mod moves;
pub(super) mod not_run;
pub(super) mod prefetch;
pub(super) mod store;
mod ways;
pub(super) mod window;

pub use comm::{TGET, TPUT};
pub use load::*;
pub use moves::*;
pub use not_run::*;
pub use store::*;
pub use window::*;
