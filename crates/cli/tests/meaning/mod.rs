//! A second meaning of the kernel language: its text evaluated directly on arrays, by an evaluator that knows nothing of how
//! kernels are compiled. Every example, every file test of values and random kernels must give the same bytes, on both
//! platforms, with every check on and nothing found.

mod array;
mod compiled;
mod composed;
mod eval;
mod files;
mod indexed;
mod meet;
mod number;
mod ops;
mod random;
mod scalars;
mod tables;
mod value;
