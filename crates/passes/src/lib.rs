//! The passes between the text and the decoder, in modules: shared analyses ([`analysis`]), branches between blocks as
//! structured control flow, right after reading ([`blocks`]), dividing work between cores ([`split`]), local memory ([`memory`]), rings ([`rings`]), flags between pipes ([`sync`]). No pass uses another.
//!
//! | pass | does |
//! |---|---|
//! | [`scopes`] | puts vector instructions into vector functions where the text writes none |
//! | [`memory::multi_tiles`] | expands an array of tiles into separate tiles |
//! | [`split::check_split`] | checks how kernels for both kinds of core divide their work; changes nothing |
//! | [`split::auto_split`] | divides Vector work between the two Vector cores in functions that request it |
//! | [`memory::tile_matmul`] | splits products with oversized operands into steps over k |
//! | [`split::expand_mixed`] | derives a program for each kind of core from a kernel for the whole cluster |
//! | [`split::split_cores`] | derives a function for each kind of core from a kernel for both |
//! | [`rings::place_frees`] | frees popped slots after their last use, in pipes that free automatically |
//! | [`rings::resolve_rings`] | pairs reservations with imports and checks how rings are used |
//! | [`memory::allocate`] | assigns addresses to tiles and rings in local memory |
//! | [`rings::lower_rings`] | expands pushes, pops and frees into waits, moves and signals, on request |
//! | [`sync::insert_sync`] | adds flags between pipes where a function has none |
//!
//! A pass consults the declarations of ops, never their names. Every pass is idempotent.

pub mod analysis;
pub mod blocks;
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
pub use manager::{OTHER_NAMES, Outcome, by_name, chosen, pass, pipeline, run_passes, verify_after};
pub use split::expand_mixed::has_rings_by_hand;
