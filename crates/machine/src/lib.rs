//! Platforms as data.
//!
//! A [`Platform`] is read from a TOML file. Two are built in: `a5` and `a2a3`. Nothing here knows of ops
//! or programs, and nothing elsewhere asks which platform it is: it asks what the platform has.

mod core;
mod load;
mod platform;
mod vector;

pub use crate::core::{CoreKind, Pipe, Role};
pub use load::{BUILT_IN, PlatformError, built_in, parse};
pub use platform::{Cost, CostSpec, PipeSets, Platform, RingSpec, SpaceSpec, SyncSpec, VECTOR_CLASSES};
pub use vector::{VectorOp, VectorPort, VectorSpec};
