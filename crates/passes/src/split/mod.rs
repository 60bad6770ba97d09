//! Who does what: kernels for the whole cluster taken apart, Vector work divided between two cores.

pub mod auto_split;
pub mod check_split;
pub mod expand_mixed;
mod functions;
pub mod split_cores;
