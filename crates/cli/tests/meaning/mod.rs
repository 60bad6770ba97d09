//! An independent semantics of the kernel language: an evaluator that shares nothing with the compiler evaluates the
//! text directly on arrays. Every example, every file test of values and random kernels must give the same bytes, on
//! both platforms, with all checks and without findings.

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
