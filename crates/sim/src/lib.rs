//! The engine: runs a [`Program`](slipring_program::Program) on the cores of one or more clusters.
//!
//! A core is a scalar unit that executes its instructions in order and puts work on in-order asynchronous pipes. Cores
//! and pipes interact only through memory and synchronisation objects. The engine knows no text, no IR and no op:
//! effects, costs and capacities come with the program and the platform.
//!
//! Time is discrete (cycles) and the run is deterministic: whichever scalar unit or pipe is due first goes first, ties
//! in the order of clusters, cores and pipes. The same program, arguments, memory and platform give the same bytes,
//! findings and cycles on every host.
//!
//! When bytes change: an effect is applied atomically at the cycle at which its work completes. On hardware the bytes
//! change gradually between start and completion. A program whose conflicting accesses are all ordered by
//! synchronisation cannot distinguish the two, because everything ordered after the work is ordered after its
//! completion, and everything ordered before it completed before it started. A program that can distinguish them has a
//! race, which the race check reports.

mod acquire;
mod agent;
mod ahead;
mod blocked;
mod bounds;
mod carry_out;
mod clocks;
mod cut;
mod deadlock;
mod delay;
mod endless;
mod engine;
mod events;
mod exact;
mod held;
mod keep;
mod later;
mod launch;
mod leftover;
mod marks;
mod meeting;
mod observe;
mod outside;
mod pipe_set;
mod plan;
mod poll;
mod products;
mod registers;
mod report;
mod result;
mod scalar;
mod sequential;
mod skipped;
mod snapshot;
mod standing;
mod start;
mod state;
mod stats;
mod steady;
mod suppose;
mod sync;
mod timing;
mod token;
mod traffic;
mod validate;
mod work;

pub use agent::Agent;
pub use cut::{At, CoreAt, CutPoint};
pub use delay::{Delay, Late, Unused};
pub use launch::{ArgValue, ExecutionMode, Launch, Limits, places};
pub use observe::{Issued, Observer, Stall, WorkRun};
pub use outside::Outside;
pub use pipe_set::PipeSet;
pub use result::RunResult;
pub use snapshot::{Keeper, Snapshot};
pub use standing::{Again, Standing};
pub use start::{run, run_beside, run_kept, run_on};
pub use stats::{BlockStats, CoreStats, CostStats, OpStats, PipeStats, RingStats, StallCycles, Stats};
pub use suppose::Suppose;
pub use timing::{LONGEST, Timing};
