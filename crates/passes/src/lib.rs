//! The passes between the text and the decoder, in modules: what several of them find out
//! ([`analysis`]), dividing work between cores ([`split`]), local memory ([`memory`]), rings ([`rings`]), flags between pipes
//! ([`sync`]). No pass uses another one.
//!
//! | pass | does |
//! |---|---|
//! | [`scopes`] | puts vector instructions into vector functions where the text writes none |
//! | [`memory::multi_tiles`] | makes several tiles of one type tiles of their own |
//! | [`split::check_split`] | checks how kernels for both kinds of core divide their work; changes nothing |
//! | [`split::auto_split`] | divides Vector work between the two Vector cores where a function asks for it |
//! | [`memory::tile_matmul`] | does products in steps over k whose operands are too large |
//! | [`split::expand_mixed`] | makes a program for each kind of core out of a kernel for the whole cluster |
//! | [`split::split_cores`] | makes a function of each kind of core out of a kernel for both |
//! | [`rings::place_frees`] | frees popped slots after their last use, in pipes that free by themselves |
//! | [`rings::resolve_rings`] | pairs reservations with imports and checks how rings are used |
//! | [`memory::allocate`] | gives tiles and rings in local memory their addresses |
//! | [`rings::lower_rings`] | writes pushes, pops and frees out as waits, moves and signals, where that is asked for |
//! | [`sync::insert_sync`] | adds flags between pipes where a function has none |
//!
//! A pass asks the declarations of ops, never their names. Every pass leaves a module that it has already been through as it
//! is.

pub mod analysis;
mod context;
pub mod lint;
mod manager;
pub mod memory;
pub mod rings;
pub mod scopes;
pub mod split;
pub mod sync;
pub mod target;

pub use context::{InsertSync, Pass, PassContext};
pub use manager::{Outcome, by_name, chosen, pass, pipeline, run_passes, verify_after};
pub use split::expand_mixed::has_rings_by_hand;
