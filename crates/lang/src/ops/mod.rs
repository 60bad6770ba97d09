//! The catalogue: every op that a kernel may call, declared once, with its parameters, how it is lowered, and what it does in a
//! program that is followed.
//!
//! What an op means is said by the declaration of the op that it becomes (`crates/pto`); what is here is its spelling.

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
