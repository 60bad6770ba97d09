//! Runs through the command queue of a board.

use numpy::PyReadwriteArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use slipring::Report;
use slipring_report::CheckFacts;

use crate::error::{checks, facts};
use crate::run::{checked, verdict, written, written_into};
use crate::value::to_python;
use crate::words::words;

/// A run of a kernel through a board's queue, with its results.
#[pyclass(frozen, module = "slipring._slipring")]
pub struct BoardRun {
    inner: slipring::BoardRun,
    /// Compiler messages and findings.
    findings: Report,
}

impl BoardRun {
    pub fn new(inner: slipring::BoardRun, said: Report) -> BoardRun {
        let findings = said.and(inner.findings().messages().to_vec());
        BoardRun { inner, findings }
    }

    fn checks_of(&self) -> Vec<CheckFacts> {
        checks(self.inner.facts.checks.clone())
    }

    fn left(&self, index: usize) -> PyResult<&[u8]> {
        self.inner
            .left(index)
            .ok_or_else(|| PyTypeError::new_err(format!("argument {index} is not a buffer that came back")))
    }
}

#[pymethods]
impl BoardRun {
    /// `clean`, `findings`, or `partly` for a run that stopped.
    #[getter]
    fn verdict(&self) -> &'static str {
        verdict(&self.findings, self.inner.is_complete())
    }

    /// Whether every block completed and all buffers came back.
    #[getter]
    fn complete(&self) -> bool {
        self.inner.is_complete()
    }

    /// Cycles of the board from before the launch to its end.
    #[getter]
    #[expect(clippy::misnamed_getters, reason = "cycles of the launch, as those of any run")]
    fn cycles(&self) -> u64 {
        self.inner.facts.queue.launch_cycles
    }

    /// The messages, one by one.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &facts(&self.findings))
    }

    /// The messages as the command line writes them, with options in Python's syntax.
    #[getter]
    fn report(&self) -> String {
        words(&self.findings.to_string())
    }

    /// The verdict of each tool.
    #[getter]
    fn checks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.checks_of())
    }

    /// All facts of the run.
    #[getter]
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut all = self.inner.facts.clone();
        (all.checks, all.findings) = (self.checks_of(), facts(&self.findings));
        to_python(py, &all)
    }

    /// What the kernel printed, block by block.
    #[getter]
    fn printed(&self) -> Vec<String> {
        self.inner.facts.printed.clone()
    }

    /// The timeline of the board in the trace format of this file name; raises if the run was not set to keep it.
    fn trace<'py>(&self, py: Python<'py>, file: &str) -> PyResult<Bound<'py, PyBytes>> {
        written(py, self.inner.trace(), file)
    }

    /// The summary as the command line prints it.
    #[pyo3(signature = (stats=false))]
    fn text(&self, stats: bool) -> PyResult<String> {
        match stats {
            true => Err(PyTypeError::new_err("a run on a board has no tables by op and ring: run it without `device`")),
            false => Ok(self.inner.text()),
        }
    }

    /// Raises if an error was found.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        checked(py, &self.findings, self.inner.is_complete())
    }

    /// The contents of the buffer argument at this index.
    fn result<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.left(index)?))
    }

    /// Copies them into an array.
    fn write(&self, index: usize, array: PyReadwriteArray1<'_, u8>) -> PyResult<()> {
        written_into(self.left(index)?, array)
    }
}
