//! Task graphs: what a whole program consists of once its orchestration has been followed.
//!
//! A task is one launch of a kernel. It uses tensors: some bytes of each, in a direction. Two tasks that use the same
//! bytes, at least one of them as a writer, are ordered where the runtime tracks their uses; declared dependencies come
//! on top of that. Nothing else orders tasks, least of all the order of the text.
//!
//! | module | has |
//! |---|---|
//! | [`act`] | operations of an orchestration itself on tensors |
//! | [`bytes`] | sets of bytes of a tensor |
//! | [`chain()`] | the chain of waits in a run, from its end back to its start |
//! | [`graph`] | tasks, tensors, edges with their reasons, the transitive order, cycles |
//! | [`touched`] | the accesses of tasks in a run compared with the graph: races, wrong directions, needless edges |
//! | [`schedule`] | schedules tasks on clusters; the critical path |
//! | [`signals`] | tasks that wait for each other while they run, and the resulting order |
//! | [`ends`] | whether tasks that wait for each other complete in every order |
//! | [`draw`] | the graph as text and as a picture |

pub mod act;
pub mod bytes;
pub mod chain;
pub mod draw;
pub mod ends;
pub mod graph;
mod judge;
pub mod schedule;
pub mod signals;
mod spans;
pub mod touched;

pub use act::{Act, HostArg, HostCall, HostNumber, Piece};
pub use bytes::Bytes;
pub use chain::{Held, Link, chain};
pub use graph::{Direction, Edge, Graph, Origin, Reason, Task, Tensor, Use};
pub use schedule::{Ended, Plan, Ran, Resumed, Run, Runs, plan};
pub use touched::{Atomic, Lost, Touched};
