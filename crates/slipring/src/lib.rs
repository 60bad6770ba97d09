//! slipring: write, check and run Cube/Vector tile kernels without the hardware.
//!
//! [`Kernel`] does what the command line does: it reads a file, checks and compiles it, runs it on [`Tensor`]s and says in a [`Run`] what
//! came of it.
//!
//! Below it are the single steps. [`load`] reads a text, [`check`] holds it against the declarations and the platform, [`prepare`] runs
//! the passes and decodes, [`execute`] runs, [`run_on_device`] runs through a board's command queue, [`verify()`] compares with the sequential meaning. The rooms behind it are
//! crates of their own; this one only connects.

mod answers;
pub mod args;
mod asked;
mod board;
mod build;
mod checked;
pub mod cost;
mod device;
mod error;
mod exec;
mod expect;
mod explain;
mod facts;
pub mod files;
mod findings;
mod forecast;
mod judge;
mod kernel;
mod launch;
mod memory_map;
mod options;
mod parts;
mod places;
mod prepare;
mod program;
mod prove;
mod queue_compare;
mod queue_message;
mod queue_prove;
mod queue_run;
mod queue_trace;
mod recorded;
pub mod reference;
mod rings;
mod run;
mod symbols;
mod tensor;
mod timeline;
mod tune;
mod verify;

pub use asked::{Asked, Given};
pub use board::{BoardFacts, BoardOptions, BoardRun, QueueFacts};
pub use build::{BuildOptions, BuiltProgram, Opened, build, find_target};
pub use checked::{Checked, CheckedFacts, PlatformFacts, platforms_of, waits_for_arguments};
pub use device::{BlockRun, DeviceRun, KernelWorker, Order, Runs, run_on_device};
pub use error::{Error, Report};
pub use exec::{ExecuteOptions, Execution, execute, execute_again, execute_timed};
pub use expect::{Expected, Held};
pub use explain::{Example, Explanation, explain, explain_document, explain_list, explanation, explanations};
pub use facts::tools;
pub use findings::{message_facts, to_diagnostics};
pub use forecast::{Advice, Forecast, advice_text};
pub use judge::{Judged, judge, merged};
pub use kernel::{Args, Direction, Kernel, Parameter};
pub use launch::{MOST_BLOCKS, head_lines};
pub use memory_map::{MemoryUse, memory_map};
pub use options::{Control, RunOptions};
pub use parts::{Part, Stretch, Written};
pub use prepare::{
    Flags, Loaded, Prepared, check, choose_platform, is_language, load, load_file, load_file_with, needed, prepare,
    read_platform, written_platform,
};
pub use program::{
    ClusterFacts, GraphEdge, GraphFacts, GraphTask, GraphTensor, GraphUse, HostFunctions, PathFacts, Program,
    ProgramFacts, ProgramOptions, ProgramRun, TaskFacts, WorkFacts,
};
pub use prove::{Fix, Judgement, PathFix, Proof, ProofScope, ProveOptions, Witness};
pub use queue_compare::{QueueDifference, QueueStall, RecordDifference, queue_difference, queue_stalls};
pub use queue_message::{of_finding as queue_finding, of_text as queue_text_error};
pub use queue_prove::{QueueProof, QueueSchedule, QueueTrial, queue_board, queue_proof, queue_trial};
pub use queue_run::{queue_demo, queue_dumps, queue_findings};
pub use queue_trace::queue_trace;
pub use rings::{DEEPEST, Depth, RingReport};
pub use run::{Comparison, Run, Verdict};
pub use symbols::{ConsumerBuffer, consumer_buffers};
pub use tensor::{Element, Tensor};
pub use timeline::{Event, Timeline};
pub use tune::{MOST_POINTS, Point, Setting, Tune, TuneProgress, Tuning, Vary, VaryFacts};
pub use verify::{Difference, VerifyOutcome, slot_buffers, verify};

pub use slipring_check::Tools;
pub use slipring_ir::{Diagnostic, Severity, Source};
pub use slipring_lang as language;
pub use slipring_machine::Platform;
pub use slipring_passes::lint::is_finding;
pub use slipring_queue as queue;
pub use slipring_report as report;
pub use slipring_sim::{Delay, Limits, Suppose, Timing};
pub use slipring_tasks as tasks;
pub use slipring_tile::Elem;
