//! slipring: write, check and run Cube/Vector tile kernels without the hardware.
//!
//! [`Kernel`] does what the command line does: it reads a file, checks and compiles it, runs it on [`Tensor`]s and says in a [`Run`] what
//! came of it.
//!
//! `docs/rust.md` of the repository is the page of what is public. What is not shown here is for the command line and the Python
//! package, and may change with any version.
//!
//! Below it are the single steps. [`load`] reads a text, [`check`] holds it against the declarations and the platform, `prepare` runs
//! the passes and decodes, [`execute`] runs, [`run_on_device`] runs through a board's command queue, [`verify()`] compares with the sequential semantics. The rooms behind it are
//! crates of their own; this one only connects.

mod artefact;
mod board;
mod checked;
#[doc(hidden)]
pub mod cost;
#[doc(hidden)]
pub mod debug;
mod device;
mod executed;
mod explain;
mod kernel;
mod profile;
mod program;
mod prove;
mod queue_compare;
mod queue_message;
mod queue_prove;
mod queue_run;
mod queue_trace;
#[doc(hidden)]
pub mod reference;
mod subject;
mod sync_check;
mod tune;

pub use checked::Checked;
pub use kernel::Kernel;
pub use program::{HostFunctions, Program, ProgramOptions, ProgramRun};
pub use prove::{Judgement, Proof, ProveOptions};
pub use subject::Subject;

pub use slipring_check::Tools;
pub use slipring_ir::{Diagnostic, Kind, Lang, Severity, Source};
pub use slipring_lang::Direction;
pub use slipring_machine::Platform;
#[doc(inline)]
pub use slipring_session::{
    Args, Comparison, Control, Element, Error, Event, Expected, Parameter, Report, Run, RunOptions, Tensor, Timeline,
    Verdict,
};
pub use slipring_sim::{Limits, Timing};
pub use slipring_tile::Elem;

// What the command line, the Python package and the tests take besides: no part of the promise, and not shown.
#[doc(hidden)]
pub use artefact::{Launched, Leaving, LeavingTools, Returned, returned};
#[doc(hidden)]
pub use board::{BoardFacts, BoardOptions, BoardRun, QueueFacts};
#[doc(hidden)]
pub use checked::{CheckedFacts, MendedFacts, PlatformFacts, platforms_of, waits_for_arguments};
#[doc(hidden)]
pub use device::{BlockRun, DeviceRun, KernelWorker, Order, Runs, run_on_device};
#[doc(hidden)]
pub use executed::{Executed, Interpreter, Raised, set_interpreter};
#[doc(hidden)]
pub use explain::{Example, Explanation, explain, explain_document, explain_list, explanation, explanations};
#[doc(hidden)]
pub use profile::{Beside, BesideRow, Profile, ProfileForm, ProfileSpan, ProfileTrack};
#[doc(hidden)]
pub use program::{
    BoardProgram, ClusterFacts, GraphEdge, GraphFacts, GraphTask, GraphTensor, GraphUse, PathFacts, ProgramFacts,
    ProgramQueueFacts, TaskFacts, WorkFacts,
};
#[doc(hidden)]
pub use prove::{Fix, PathFix, ProofScope, Witness};
#[doc(hidden)]
pub use queue_compare::{QueueDifference, QueueStall, RecordDifference, queue_difference, queue_stalls};
#[doc(hidden)]
pub use queue_message::{of_finding as queue_finding, of_text as queue_text_error};
#[doc(hidden)]
pub use queue_prove::{QueueProof, QueueSchedule, QueueTrial, queue_board, queue_prove, queue_trial};
#[doc(hidden)]
pub use queue_run::{queue_demo, queue_dumps, queue_findings};
#[doc(hidden)]
pub use queue_trace::queue_trace;
#[doc(hidden)]
pub use slipring_lang as language;
#[doc(hidden)]
pub use slipring_passes::lint::is_finding;
#[doc(hidden)]
pub use slipring_queue as queue;
#[doc(hidden)]
pub use slipring_report as report;
#[doc(hidden)]
pub use slipring_session::{
    Advice, Asked, BuildOptions, BuiltProgram, ConsumerBuffer, DEEPEST, Depth, Difference, ExecuteOptions, Execution,
    Flags, Forecast, Held, Judged, Loaded, MOST_BLOCKS, MOST_DEVICES, MOST_LAUNCHES, MOST_SLACK, MemoryUse, Opened,
    Part, PassStage, Prepared, RingReport, Stretch, TileContents, VerifyOutcome, Written, advice_text, args, build,
    check, choose_platform, consumer_buffers, execute, execute_again, execute_timed, files, find_target, head_lines,
    is_language, judge, load, load_file, memory_map, merged, message_facts, needed, prepare, read_platform,
    slot_buffers, to_diagnostics, tools, verify, written_platform,
};
#[doc(hidden)]
pub use slipring_sim::{Delay, Late, Suppose};
#[doc(hidden)]
pub use slipring_tasks as tasks;
#[doc(hidden)]
pub use sync_check::{Against, KernelSync, SyncChecked, SyncFacts};
#[doc(hidden)]
pub use tune::{Improved, KeptEdit, MOST_POINTS, Point, Setting, Tune, TuneProgress, Tuning, Vary, VaryFacts};
