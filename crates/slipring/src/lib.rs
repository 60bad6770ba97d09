//! slipring: write, check and run Cube/Vector tile kernels without the hardware.
//!
//! [`Kernel`] does what the command line does: it reads a file, checks and compiles it, and runs it on [`Tensor`]s. The
//! result is a [`Run`].
//!
//! `docs/rust.md` in the repository describes the public API. Items that are not shown here serve the command line and
//! the Python package, and may change in any version.
//!
//! Below this API are the single steps. [`load`] reads a text, [`check`] checks it against the declarations and the
//! platform, `prepare` runs the passes and decodes, [`execute`] runs, [`run_on_device`] runs through a board's command
//! queue, and [`verify()`] compares with the sequential semantics. They are implemented in separate crates; this crate
//! only connects them.

mod kernel;
mod subject;

pub use kernel::{Kernel, ReturnedValue};
pub use subject::Subject;

pub use slipring_check::Tools;
pub use slipring_inspect::Checked;
pub use slipring_ir::{Diagnostic, Kind, Lang, Severity, Source};
pub use slipring_lang::{Direction, Strided};
pub use slipring_machine::Platform;
#[doc(inline)]
/// ```
/// use slipring::{CompileRequest, Program, ProgramOptions, Tensor};
/// let text = "
/// import slipring.language as pl
///
/// @pl.jit
/// def twice(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
///     middle = pl.create_tensor([64, 64], dtype=pl.FP32)
///     with pl.at(level=pl.Level.CORE_GROUP, name_hint='first'):
///         middle[:] = pl.add(a, a)
///     with pl.at(level=pl.Level.CORE_GROUP, name_hint='second'):
///         out[:] = pl.add(middle, middle)
///     return out
/// ";
/// let program = Program::from_text("twice.py", text, &CompileRequest::default())?.expect("a whole program");
/// assert_eq!(program.graph().tasks.len(), 2);
/// let a = vec![1.5f32; 64 * 64];
/// let run = program.run([Tensor::view(&a, [64, 64]), Tensor::zeros([64, 64])], &ProgramOptions::default())?;
/// assert!(run.findings().messages().is_empty());
/// assert_eq!(run.left(1).unwrap()[..4], 6.0f32.to_le_bytes());
/// # Ok::<(), slipring::Error>(())
/// ```
pub use slipring_programs::Program;
#[doc(inline)]
pub use slipring_programs::{HostFunctions, ProgramOptions, ProgramRun};
#[doc(inline)]
pub use slipring_prove::{Judgement, Proof, ProveOptions};
#[doc(inline)]
pub use slipring_session::{
    Args, Comparison, Control, Element, Error, Event, Expected, Parameter, Report, Run, RunOptions, Tensor, Timeline,
    Verdict,
};
pub use slipring_sim::{Limits, Timing};
pub use slipring_tile::Elem;

// Further items for the command line, the Python package and the tests: not shown, and without a stability promise.
#[doc(hidden)]
pub use slipring_board::{
    BlockRun, BoardFacts, BoardOptions, BoardRun, DeviceRun, KernelWorker, Order, QueueDifference, QueueFacts,
    QueueProof, QueueSchedule, QueueStall, QueueTrial, QueueWork, RecordDifference, Runs, queue_block_findings,
    queue_block_text, queue_board, queue_demo, queue_difference, queue_dumps, queue_finding, queue_findings,
    queue_prove, queue_stalls, queue_text_error, queue_trace, queue_traces, queue_trial, run_on_device,
};
#[doc(hidden)]
pub use slipring_inspect::{CheckedFacts, FixFacts, MendedFacts, changed_lines, platforms_of};
#[doc(hidden)]
pub use slipring_outside::{Recording, RecordingRequest};
#[doc(hidden)]
pub use slipring_passes::lint::is_finding;
#[doc(hidden)]
pub use slipring_programs::{
    BoardProgram, ClusterFacts, GraphEdge, GraphFacts, GraphTask, GraphTensor, GraphUse, PathFacts, ProgramFacts,
    ProgramQueueFacts, TaskFacts, WorkFacts,
};
#[doc(hidden)]
pub use slipring_prove::{Fix, PathFix, ProofScope, SyncChecked, Witness};
#[doc(hidden)]
pub use slipring_session::{
    Advice, Bound, BuildOptions, BuiltProgram, CompileRequest, ConsumerBuffer, DEEPEST, Depth, Difference,
    ExecuteOptions, Executed, Execution, Flags, Forecast, Given, Held, Interpreter, Judged, Loaded, MOST_BLOCKS,
    MemoryUse, OPTIONS, Opened, OptionError, Otherwise, Part, PassStage, Prepared, Raised, RingReport, RunOption,
    RunRequest, Stretch, Takes, TileContents, VerifyOutcome, Way, Written, advice_text, args, build, check,
    choose_platform, consumer_buffers, execute, execute_again, execute_timed, files, find_target, head_lines,
    is_language, judge, load, load_file, memory_map, merged, message_facts, needed, option_of_kernels, prepare,
    read_platform, set_interpreter, slot_buffers, to_diagnostics, tools, verify, waits_for_arguments, written_platform,
};
#[doc(hidden)]
pub use slipring_sim::{Delay, Late, Suppose};
