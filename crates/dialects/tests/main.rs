//! Tests of the families of ops, in one binary.

mod common;

mod cluster;
mod cube;
mod elements;
mod moves;
mod round_trip;
mod rules;
mod text;
mod vector;
