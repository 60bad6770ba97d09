//! The board: kernels and streams run through its command queue, and the reports about them.

pub mod device;
pub mod queue_message;

mod kernel;
mod queue_compare;
mod queue_prove;
mod queue_run;
mod queue_trace;

pub use device::{BlockRun, DeviceRun, KernelWorker, Order, Runs, run_on_device};
pub use kernel::{
    BoardFacts, BoardOptions, BoardRun, QueueFacts, other_bytes, run_on_board, waiting, waits_for_others,
};
pub use queue_compare::{
    HostDifference, QueueDifference, QueueStall, RecordDifference, queue_difference, queue_stalls,
};
pub use queue_message::{of_finding as queue_finding, of_text as queue_text_error};
pub use queue_prove::{QueueProof, QueueSchedule, QueueTrial, queue_board, queue_prove, queue_trial};
pub use queue_run::{QueueWork, queue_block_findings, queue_block_text, queue_demo, queue_dumps, queue_findings};
pub use queue_trace::{queue_trace, queue_traces};
