//! From a text to a run: compile requests, parsing, checks, compilation, launches with arguments, their results, and
//! single-run reports about rings, memory and times.
//!
//! It is made for the crates above it and for the facade, `slipring`, which exports the interface for other projects.

pub mod answers;
pub mod args;
pub mod assume;
pub mod compiled;
pub mod cpp;
pub mod error;
pub mod exec;
pub mod executed;
pub mod expect;
pub mod facts;
pub mod files;
pub mod launch;
mod names;
pub mod options;
mod params;
pub mod parts;
pub mod places;
pub mod prepare;
pub mod recorded;
pub mod request;
pub mod rings;
pub mod run;
pub mod tensor;
pub mod verify;

mod asked;
#[cfg(feature = "cpp")]
mod authors;
mod build;
mod findings;
mod fits;
mod forecast;
mod input;
mod judge;
mod memory_map;
mod symbols;
mod tiles;
mod timeline;
mod words;

pub use asked::{CompileRequest, type_of};
pub use build::{BuildOptions, BuiltProgram, Opened, PassStage, build, find_target};
pub use compiled::{Args, Compiled, Parameter};
pub use error::{Error, Report, waits_for_arguments};
pub use exec::{ExecuteOptions, Execution, execute, execute_again, execute_timed};
pub use executed::{Executed, Interpreter, Raised, set_interpreter};
pub use expect::{Expected, Held};
pub use facts::tools;
pub use findings::{message_facts, to_diagnostics};
pub use forecast::{Advice, Forecast, Otherwise, advice_text};
pub use input::Input;
pub use judge::{Judged, judge, judge_all_if_none_applies, merged};
pub use launch::{MOST_BLOCKS, head_lines};
pub use memory_map::{MemoryUse, memory_map, memory_uses};
pub use options::{Control, RunOptions};
pub use parts::{Part, Stretch, Written};
pub use places::slot_buffers;
pub use prepare::{
    Flags, Loaded, Prepared, check, choose_platform, is_language, load, load_file, needed, prepare, read_platform,
    written_platform,
};
pub use request::{Given, OPTIONS, OptionError, RunOption, RunRequest, Takes, Way, option_of_kernels};
pub use rings::{DEEPEST, Depth, RingReport};
pub use run::{Comparison, Run, Verdict};
pub use symbols::{ConsumerBuffer, consumer_buffers};
pub use tensor::{Bound, Element, Tensor};
pub use tiles::TileContents;
pub use timeline::{Event, Timeline};
pub use verify::{Difference, VerifyOutcome, verify};
pub use words::in_words;

pub use slipring_ir::Severity;
