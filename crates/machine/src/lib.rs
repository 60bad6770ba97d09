//! Platforms as data.
//!
//! A [`Platform`] is read from a TOML file. Two are built in: `a5` and `a2a3`. Nothing here knows of ops or programs,
//! and no other code tests which platform it is on: it queries the platform's properties.

mod backing;
mod capability;
mod core;
pub mod cost;
mod entry;
mod figure;
pub mod interpretations;
mod load;
mod platform;
mod scale;
mod simt;
mod units;
mod vector;

pub use backing::{Backing, figure};
pub use capability::Capability;
pub use core::{CoreKind, Pipe, Role};
pub use cost::Price;
pub use entry::Entry;
pub use interpretations::Question;
pub use load::{BUILT_IN, PlatformError, built_in, parse};
pub use platform::{CostSpec, PipeSets, Platform, RingSpec, SpaceSpec, SyncSpec, VECTOR_CLASSES, cost_types};
pub use scale::PlatformTable;
pub use simt::SimtSpec;
pub use units::{Cost, REPEAT, Units};
pub use vector::{VectorOp, VectorPort, VectorSpec};
