//! What is wrong with a driver, by name.

mod finding;
mod hazard;

pub use finding::{CommandRef, Finding, RecordRef};
pub use hazard::{Hazard, HazardDef, Severity};
