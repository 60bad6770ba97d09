//! Kernels of the kernel language against plain loops written here, on both platforms, with every check on and compared
//! with their sequential semantics.

mod examples;
mod kit;
mod products;
mod programs;
