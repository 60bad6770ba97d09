//! Proof: what holds of a kernel for all schedules, all contents of its buffers, all trip counts and launch after launch.
//!
//! The argument, condition by condition, is `docs/proof.md`. One run with every check decides all schedules where each signal has one
//! sender and one receiver; the same run decides all contents where no loaded number decides anything; a launch that leaves the
//! device as it found it decides all later ones.

mod arguments;
mod budget;
mod choices;
mod combinations;
mod counts;
mod decide;
mod endings;
mod expression;
mod family;
mod fix;
mod given;
mod hunt;
mod judgement;
mod kernel;
mod launches;
mod proof;
mod subject;
mod sync_check;
mod text;
mod wide;
mod witness;

pub use fix::{Fix, OfText, PathFix, mend_paths, mend_words};
pub use judgement::{Judgement, ProofScope};
pub use kernel::prove_kernel;
pub use proof::Proof;
pub use subject::ProveOptions;
pub use sync_check::{Against, KernelSync, SyncChecked, SyncFacts};
pub use witness::Witness;
