//! Tests of the engine, in one binary.

mod kit;

mod findings;
mod random;
mod rings;
mod semantics;
