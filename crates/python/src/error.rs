//! Errors of the library as Python's.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use slipring::{Error, Report, waits_for_arguments};

use crate::value::to_python;

create_exception!(
    _slipring,
    KernelError,
    PyException,
    "A kernel is wrong, or its run found something wrong. The text is the report that the command line gives; `findings` has the \
     messages one by one, `filename` and `lineno` the place of the first error, `waits_for_arguments` is true where shapes or numbers of \
     arguments are all that is missing."
);

/// An error of the library.
pub fn raise(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::Text(report) | Error::Incomplete(report) | Error::Different(report) => of_report(py, report, error),
        Error::File(message) => PyOSError::new_err(message.clone()),
        Error::Arguments(message) => PyTypeError::new_err(message.clone()),
        Error::Cancelled => PyKeyboardInterrupt::new_err(error.to_string()),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// Messages about a text.
pub fn of_report(py: Python<'_>, report: &Report, error: &dyn std::fmt::Display) -> PyErr {
    let raised = KernelError::new_err(error.to_string());
    let facts = report.facts();
    let line = facts.iter().find(|fact| fact.severity == "error").and_then(|fact| fact.line);
    let value = raised.value(py);
    let set = || -> PyResult<()> {
        value.setattr("findings", to_python(py, &facts)?)?;
        value.setattr("waits_for_arguments", waits_for_arguments(report))?;
        value.setattr("filename", &report.source().name)?;
        value.setattr("lineno", line)
    };
    match set() {
        Ok(()) => raised,
        Err(other) => other,
    }
}
