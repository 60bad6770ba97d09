//! Assignment of work: kernels for the whole cluster are split, and Vector work is divided between two cores.

pub mod auto_split;
pub mod check_split;
pub mod expand_mixed;
mod functions;
mod halves;
pub mod split_cores;
