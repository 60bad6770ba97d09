//! Checking a run.
//!
//! Four tools look at one run of the engine: *memory* (bounds) and *sync* (deadlock, lost and left-over signals) are
//! the engine's own findings; *race* and *init* are observers of this crate. [`Checker`] combines them, and its
//! [`CheckReport`] lists what was checked and what the verdict covers.
//!
//! # Races
//! Two accesses to the same byte, at least one of them a write, race unless synchronisation orders them. Only
//! synchronisation that took place creates order: a core's scalar unit executes in order and issues a step before a
//! pipe starts it; a pipe takes its steps in order; a set comes before the wait that consumes its signal; a barrier
//! comes after everything it waits for. Cycles are irrelevant: two accesses that happened at different times in this
//! run may still race. Vector clocks (`clock`) represent the order, with one component for each scalar unit and pipe of
//! a cluster. Blocks are never ordered with each other, whichever cluster they ran on.
//!
//! # Why one run can cover all schedules
//! If each signal has one sender and one receiver, no step can ever disable another: an enabled step stays enabled
//! until it is executed. Then all schedules execute the same steps in the same order of synchronisation, and in a
//! race-free run each read could return only one value. The condition is checked, not assumed: sends to one object must
//! be ordered with each other, as must the waits on it, and each send must be ordered after the wait that freed its
//! capacity. Where the condition fails, the verdict covers this schedule only and says why.

mod alike;
mod answers;
pub mod blind;
mod cell;
mod clock;
mod edge;
mod freed;
mod init;
mod marking;
mod notes;
mod order;
mod overlap;
mod pages;
mod places;
mod pushes;
mod queues;
mod race;
mod rect;
mod regions;
mod rounds;
mod scalar;
mod shadow;
pub mod shift;
mod signals;
mod stale;
mod token;
mod verdict;

pub use init::{Init, in_words};
pub use marking::{CoreSnapshot, Marking, Moved};
pub use race::Race;
pub use rounds::{ArgUse, Rounds, Touched};
pub use stale::StaleUses;
pub use verdict::{Because, CheckReport, Checker, Schedules, Scope, ToolVerdict, Tools, Values, Verdict};
