//! Flags between the pipes of a core: from the work of a function to sets, waits and barriers.

pub mod audit;
mod barriers;
mod buckets;
pub mod build;
pub mod check;
pub mod collect;
pub mod emit;
pub mod events;
pub mod index;
pub mod insert_sync;
pub mod order;
pub mod place;
pub mod plan;
pub mod runs;
pub mod scalar;
pub mod semaphores;
pub mod settle;
pub mod tree;
mod users;
