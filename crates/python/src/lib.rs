//! The extension module behind the Python package `slipring`: kernels, runs and the catalogue of the language, on top
//! of the library's API.
//!
//! It is thin: arrays, the names visible to a function, and the display of runs are handled in Python
//! (`python/slipring`).

mod board;
mod catalogue;
mod command;
mod debug;
mod error;
mod job;
mod kernel;
mod load;
mod options;
mod part;
mod program;
mod queue;
mod run;
mod stream;
mod value;
mod words;
mod worker;

use pyo3::prelude::*;

/// The native half of the package.
#[pymodule]
mod _slipring {
    #[pymodule_export]
    use super::board::BoardRun;
    #[pymodule_export]
    use super::catalogue::{catalogue, figure, type_bytes, words};
    #[pymodule_export]
    use super::command::command_line;
    #[pymodule_export]
    use super::debug::Stepper;
    #[pymodule_export]
    use super::error::{FindingError, KernelError, QueueError};
    #[pymodule_export]
    use super::job::Job;
    #[pymodule_export]
    use super::kernel::Kernel;
    #[pymodule_export]
    use super::load::{compile, open};
    #[pymodule_export]
    use super::options::options;
    #[pymodule_export]
    use super::part::{Part, Times, blocks, in_one_piece, run_part, times};
    #[pymodule_export]
    use super::program::{Program, ProgramRun};
    #[pymodule_export]
    use super::queue::Board;
    #[pymodule_export]
    use super::run::Run;
    #[pymodule_export]
    use super::stream::{stream_bytes, stream_lint, stream_prove, stream_run, stream_text, timelines};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
