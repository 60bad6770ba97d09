//! From a module to a program: every op is expanded to the engine's steps.
//!
//! The [`Decoder`] walks the functions of a kernel for one core at a time and calls the `lower` of each
//! op's declaration. It knows registers, labels, work and synchronisation objects; it knows no op.

mod binding;
mod builder;
mod cluster;
pub mod control;
mod decoder;
mod element;
mod function;
mod kernel;
mod memory;
mod scalar;
mod signals;
mod state;
mod syncs;
mod unit_flag;
mod values;

pub use binding::{Binding, TileRef, ViewRef};
pub use builder::Label;
pub use control::lower_choice;
pub use decoder::{Decoded, Decoder, Decoding, decode};
pub use element::{Inside, access, element_address};
pub use kernel::{Kernel, asks_lane, is_lane_number, kernels, needed_functions, not_launched, select_kernel};
pub use memory::{as_tile, in_memory, no_address, view_of, whole_boxes};
pub use syncs::SyncFamily;
pub use unit_flag::{CHECK_ONLY, UNIT_FLAG, with_unit_flag};
