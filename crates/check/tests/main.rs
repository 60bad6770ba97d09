//! Tests of the checker, in one binary.

#[path = "../../sim/tests/kit/mod.rs"]
mod kit;

mod races;
mod random;
mod tokens;
