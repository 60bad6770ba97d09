//! The catalogue: every op that a kernel may call, declared once, with its parameters, its lowering, and its semantics
//! in a followed program.
//!
//! The semantics of an op are documented in the declaration of the op that it becomes (`crates/pto`); the catalogue
//! defines its spelling.

mod arrays;
mod batch;
mod catalogue;
mod choose;
mod collectives;
mod composed;
mod cross;
mod devices;
mod elementwise;
mod entry;
mod expand;
mod gather;
mod matrix;
mod meet;
mod memory;
mod operands;
mod own;
mod pipe;
mod product;
mod reduce;
mod remote;
mod reshape;
mod shape;
mod sort;
mod system;
mod table;
mod trig;

pub(crate) use catalogue::{Language, followed, followed_params, is_word};
pub use catalogue::{catalogue, find};
pub(crate) use collectives::OWN_SIGNALS;
pub use entry::Entry;
