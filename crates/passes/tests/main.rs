//! Tests of the passes, in one binary; `files.rs` has a harness of its own.

mod auto_split;
mod conflicts;
mod flags;
mod kit;
mod other_names;
mod overwritten;
mod pack;
mod products;
mod random_tiles;
mod runs;
mod steps;
