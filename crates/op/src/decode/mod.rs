//! From a module to a program: expands every op to steps of the engine.
//!
//! The [`Decoder`] walks the functions of a kernel for one core at a time and calls the `lower` function of each op's
//! declaration. It handles registers, labels, work and synchronisation objects, but has no code for particular ops.

mod binding;
mod builder;
mod cluster;
pub mod control;
mod cores;
mod decoder;
mod element;
mod filled;
mod function;
mod kernel;
mod launch;
mod memory;
mod scalar;
mod signals;
mod state;
mod syncs;
mod unit_flag;
mod values;
mod walk;

pub use binding::{Binding, PlaceInTensor, Slots, TileRef, ViewRef};
pub use builder::Label;
pub use control::lower_choice;
pub use cores::Kernel;
pub use decoder::{Decoder, Decoding};
pub use element::{Inside, access, element_address};
pub use filled::{asks_lane, is_lane_number};
pub use kernel::{kernels, needed_functions, not_launched, select_kernel};
pub use memory::{as_tile, in_memory, no_address, view_of, whole_boxes};
pub use syncs::SyncFamily;
pub use unit_flag::{CHECK_ONLY, UNIT_FLAG, with_unit_flag};
pub use walk::{Decoded, decode};
