//! Tests of the passes, in one binary; `files.rs` has a harness of its own.

mod auto_split;
mod kit;
mod products;
mod random_tiles;
