//! Runs.

use numpy::PyReadwriteArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use slipring::{Comparison, Report};
use slipring_report::{CheckStatus, Trace, TraceForm, stats_text, summary_text};

use crate::error::{checks, facts, of_report, raise};
use crate::value::to_python;
use crate::words::words;

/// A run, with its results.
#[pyclass(frozen, module = "slipring._slipring")]
pub struct Run {
    inner: slipring::Run<'static>,
    /// Compiler messages and findings, including those of the comparison.
    findings: Report,
    comparison: Option<Comparison>,
}

impl Run {
    pub fn new(inner: slipring::Run<'static>, comparison: Option<Comparison>) -> PyResult<Run> {
        let messages = comparison.as_ref().map_or(Vec::new(), |comparison| comparison.messages.clone());
        let findings = inner.said().and(inner.findings().messages().to_vec()).and(messages);
        Ok(Run { inner, findings, comparison })
    }

    fn all(&self) -> slipring_report::RunFacts {
        let mut facts = self.inner.facts();
        facts.checks.extend(self.comparison.as_ref().map(|comparison| comparison.facts.clone()));
        facts.checks = checks(facts.checks);
        facts.findings = crate::error::facts(&self.findings);
        facts
    }
}

/// `clean`, `findings`, or `partly` for a run that stopped.
pub fn verdict(findings: &Report, complete: bool) -> &'static str {
    CheckStatus::of(findings.errors(), complete).word()
}

/// Raises the findings.
///
/// # Errors
///
/// If an error was found, or the run stopped.
pub fn checked(py: Python<'_>, findings: &Report, complete: bool) -> PyResult<()> {
    match findings.errors() > 0 || !complete {
        true => Err(of_report(py, findings, findings)),
        false => Ok(()),
    }
}

/// A timeline in the trace format of this file name.
///
/// # Errors
///
/// If the run was not set to keep it.
pub fn written<'py>(py: Python<'py>, trace: Option<&Trace>, file: &str) -> PyResult<Bound<'py, PyBytes>> {
    let trace = trace.ok_or_else(|| PyValueError::new_err("the run was not recorded: run it with `record=True`"))?;
    Ok(PyBytes::new(py, &TraceForm::of(file).write(trace)))
}

/// Copies a result of a run into an array of the same size.
///
/// # Errors
///
/// If the sizes differ.
pub fn written_into(bytes: &[u8], mut array: PyReadwriteArray1<'_, u8>) -> PyResult<()> {
    let out = array.as_slice_mut()?;
    if out.len() != bytes.len() {
        return Err(PyValueError::new_err(format!("{} bytes do not fit {}", bytes.len(), out.len())));
    }
    out.copy_from_slice(bytes);
    Ok(())
}

#[pymethods]
impl Run {
    /// `clean`, `findings`, or `partly` for a run that stopped.
    #[getter]
    fn verdict(&self) -> &'static str {
        verdict(&self.findings, self.inner.is_complete())
    }

    /// Whether every block completed.
    #[getter]
    fn complete(&self) -> bool {
        self.inner.is_complete()
    }

    /// Cycles of the launch.
    #[getter]
    fn cycles(&self) -> u64 {
        self.inner.cycles()
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
        to_python(py, &self.all().checks)
    }

    /// All facts of the run.
    #[getter]
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.all())
    }

    /// The printed output of the kernel.
    #[getter]
    fn printed(&self) -> Vec<String> {
        self.inner.printed().to_vec()
    }

    /// Events as (block, core, pipe, op, start, end, line), and the number of further events that were dropped.
    #[allow(clippy::type_complexity)]
    fn timeline<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyList>, u64)> {
        let timeline = self.inner.timeline();
        let source = self.findings.source();
        let list = PyList::empty(py);
        for event in &timeline.events {
            let line = (event.span.1 > event.span.0).then(|| source.line(event.span.0).number);
            list.append((event.block, event.core, event.pipe, &event.op, event.start, event.end, line))?;
        }
        Ok((list, timeline.left_out))
    }

    /// The timeline in the trace format of this file name; raises if the run was not set to keep it.
    fn trace<'py>(&self, py: Python<'py>, file: &str) -> PyResult<Bound<'py, PyBytes>> {
        written(py, self.inner.trace().as_ref(), file)
    }

    /// The summary as the command line prints it, with tables by op and ring on request.
    #[pyo3(signature = (stats=false))]
    fn text(&self, stats: bool) -> String {
        let facts = self.all();
        summary_text(&facts) + &if stats { stats_text(&facts) } else { String::new() }
    }

    /// Raises if an error was found.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        checked(py, &self.findings, self.inner.is_complete())
    }

    /// The contents of the buffer argument at this index.
    fn result<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.inner.result(index).map_err(|error| raise(py, &error))?))
    }

    /// Copies them into an array.
    fn write(&self, py: Python<'_>, index: usize, array: PyReadwriteArray1<'_, u8>) -> PyResult<()> {
        written_into(self.inner.result(index).map_err(|error| raise(py, &error))?, array)
    }
}
