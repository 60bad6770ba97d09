//! The passes between the text and the decoder, one file a pass.
//!
//! | pass | does |
//! |---|---|
//! | [`check_split`] | checks how kernels for both kinds of core divide their work; changes nothing |
//! | [`auto_split`] | divides Vector work between the two Vector cores where a function asks for it |
//! | [`tile_matmul`] | does products in steps over k whose operands are too large |
//! | [`expand_mixed`] | makes a program for each kind of core out of a kernel for the whole cluster |
//! | [`split_cores`] | makes a function of each kind of core out of a kernel for both |
//! | [`place_frees`] | frees popped slots after their last use, in pipes that free by themselves |
//! | [`resolve_rings`] | pairs reservations with imports and checks how rings are used |
//! | [`allocate`] | gives tiles and rings in local memory their addresses |
//! | [`insert_sync`] | adds flags between pipes where a function has none |
//!
//! A pass asks the declarations of ops, never their names. Every pass leaves a module that it has already been through as it
//! is.

pub mod allocate;
pub mod auto_split;
pub mod check_split;
pub mod expand_mixed;
pub mod facts;
pub mod insert_sync;
pub mod last_use;
mod manager;
pub mod place_frees;
pub mod resolve_rings;
pub mod rings;
pub mod roots;
pub mod split_cores;
pub mod sync;
pub mod tile_matmul;

pub use expand_mixed::has_rings_by_hand;
pub use manager::{Outcome, Pass, PassContext, pass, pipeline, run_passes};
