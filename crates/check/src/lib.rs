//! Checking a run.
//!
//! Four tools look at one run of the engine: *memory* (bounds) and *sync* (deadlock, lost and left-over
//! signals) are the engine's own findings; *race* and *init* are observers of this crate. [`Checker`]
//! joins them and says in a [`CheckReport`] what was checked and what the verdict covers.
//!
//! # Races
//! Two accesses to the same byte, at least one of them a write, race unless synchronisation orders them.
//! Order comes only from synchronisation that took place: a core's scalar unit executes in order and
//! issues a step before a pipe starts it; a pipe takes its steps in order; a set comes before the wait that
//! takes its signal; a barrier comes after what it waits for. Cycles play no part: two accesses that the
//! run happened to keep apart still race. Vector clocks (`clock`) hold the order, one component for each
//! scalar unit and pipe of a cluster. Blocks are never ordered with each other, whatever cluster they ran on.
//!
//! # Why one run can speak for all schedules
//! If each signal has one sender and one receiver, no step can ever disable another: whatever can happen
//! stays possible until it happens. Then all schedules execute the same steps in the same order of
//! synchronisation, and a run without a race had, at each read, only one value that could be read. The
//! condition is checked, not assumed: sends to one object must be ordered with each other, so must be the
//! waits on it, and each send must be ordered after the wait that made room for it. Where it fails, the
//! verdict covers this schedule only and says why.

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
