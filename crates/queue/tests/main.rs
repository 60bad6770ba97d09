//! Tests of the command queue, in one binary.

mod shadow;

mod any_bytes;
mod any_stream;
mod distributed;
mod grid;
mod hazards;
mod launch;
mod mutants;
mod one_judge;
mod recorded;
mod seeds;
mod session;
mod stress;
mod wire;
mod wraps;
