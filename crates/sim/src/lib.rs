//! The engine: runs a [`Program`](slipring_program::Program) on the cores of one or more clusters.
//!
//! A core is a scalar unit that executes its instructions in order and puts work on in-order
//! asynchronous pipes. Cores and pipes meet only in memory and in synchronisation objects. The engine
//! knows no text, no IR and no op: effects, costs and capacities come with the program and the platform.
//!
//! Time is discrete (cycles) and the run is deterministic: whichever scalar unit or pipe is due first
//! goes first, ties in the order of clusters, cores and pipes. The same program, arguments, memory and
//! platform give the same bytes, findings and cycles on every host.
//!
//! When bytes change: an effect runs, at once, at the cycle at which its work completes. On hardware the
//! bytes change gradually between start and completion. A program whose conflicting accesses are all
//! ordered by synchronisation cannot tell the two apart, because whatever is ordered after the work is
//! ordered after its completion, and whatever is ordered before it completed before it started. Programs
//! that can tell have a race, which the race check reports.

mod blocked;
mod bounds;
mod deadlock;
mod delay;
mod endless;
mod engine;
mod exact;
mod held;
mod later;
mod launch;
mod leftover;
mod meeting;
mod observe;
mod poll;
mod products;
mod report;
mod scalar;
mod sequential;
mod skipped;
mod snapshot;
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

pub use delay::{Delay, Late, Unused};
pub use launch::{ArgValue, ExecutionMode, Launch, Limits, RunResult, places, run, run_beside};
pub use meeting::{At, CoreAt, CutPoint};
pub use observe::{Agent, Issued, Observer, Stall, WorkRun};
pub use poll::Outside;
pub use snapshot::{Keeper, Snapshot, run_kept, run_on};
pub use stats::{BlockStats, CoreStats, CostStats, OpStats, PipeStats, RingStats, StallCycles, Stats};
pub use steady::{Again, Standing};
pub use suppose::Suppose;
pub use timing::{LONGEST, Timing};
pub use token::PipeSet;
