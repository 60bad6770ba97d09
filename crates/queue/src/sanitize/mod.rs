//! Named hazards of a driver.

mod finding;
mod hang;
mod hazard;
mod issue;
pub(crate) mod ledger;
mod mailbox;

pub use finding::{CommandRef, Finding, RecordRef};
pub(crate) use hang::{all_idle, diagnose};
pub use hazard::{Hazard, HazardDef, Severity};
pub(crate) use issue::{IssueShadow, Overlap};
pub use ledger::AtError;
pub(crate) use ledger::{At, Ledger, Notices, Page};
pub(crate) use mailbox::LAUNCH_RING;
