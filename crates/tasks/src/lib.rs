//! Task graphs: what a whole program consists of once its orchestration has been followed.
//!
//! A task is one launch of a kernel. It uses tensors: some bytes of each, in a direction. Two tasks that use the same
//! bytes, at least one of them as a writer, are ordered where the runtime tracks their uses; declared dependencies come
//! on top of that. Nothing else orders tasks, least of all the order of the text.
//!
//! | module | has |
//! |---|---|
//! | [`act`] | what an orchestration does itself with tensors |
//! | [`bytes`] | sets of bytes of a tensor |
//! | [`chain()`] | what the end of a run waited for, task after task |
//! | [`graph`] | tasks, tensors, edges with their reason, what reaches what, cycles |
//! | [`touched`] | what the tasks of a run touched, held against the graph: races, wrong directions, needless edges |
//! | [`schedule`] | tasks on clusters in time; the critical path |
//! | [`signals`] | tasks that wait for each other while they run, and the order that follows |
//! | [`ends`] | whether tasks that wait for each other come to their ends in every order |
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
