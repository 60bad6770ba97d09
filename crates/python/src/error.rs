//! Converts errors of the library to Python exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use slipring::{Error, Report, Severity, waits_for_arguments};
use slipring_report::CheckFacts;

use crate::value::to_python;
use crate::words::words;

create_exception!(
    _slipring,
    KernelError,
    PyValueError,
    "A kernel is wrong, or its run found something wrong. The text is the report that the command line gives; `findings` has the \
     messages one by one, `filename` and `lineno` the place of the first error, `waits_for_arguments` is true where shapes or numbers of \
     arguments are all that is missing."
);

/// The Python exception for an error of the library.
pub fn raise(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::Text(report) | Error::Incomplete(report) | Error::Different(report) => of_report(py, report, error),
        Error::File(message) => PyOSError::new_err(message.clone()),
        Error::Arguments(message) => PyTypeError::new_err(words(message)),
        Error::Cancelled => PyKeyboardInterrupt::new_err(error.to_string()),
        other => PyValueError::new_err(words(&other.to_string())),
    }
}

/// The messages of a report, with options in Python's syntax.
pub fn facts(report: &Report) -> Vec<slipring_report::MessageFacts> {
    let mut facts = report.facts();
    for fact in &mut facts {
        fact.message = words(&fact.message);
        fact.label = words(&fact.label);
        fact.also.iter_mut().for_each(|place| place.label = words(&place.label));
        fact.help = fact.help.as_deref().map(words);
        fact.notes.iter_mut().for_each(|note| *note = words(note));
    }
    facts
}

/// The verdicts of tools, with options in Python's syntax.
pub fn checks(mut list: Vec<CheckFacts>) -> Vec<CheckFacts> {
    list.iter_mut().for_each(|check| check.detail = words(&check.detail));
    list
}

/// The exception for messages about a text.
pub fn of_report(py: Python<'_>, report: &Report, error: &dyn std::fmt::Display) -> PyErr {
    let raised = KernelError::new_err(words(&error.to_string()));
    let facts = facts(report);
    let first = facts.iter().find(|fact| fact.severity == Severity::Error);
    let (line, file) = (first.and_then(|fact| fact.line), first.and_then(|fact| fact.file.as_ref()));
    let value = raised.value(py);
    let set = || -> PyResult<()> {
        value.setattr("findings", to_python(py, &facts)?)?;
        value.setattr("waits_for_arguments", waits_for_arguments(report))?;
        value.setattr("filename", file.unwrap_or(&report.source().name))?;
        value.setattr("lineno", line)
    };
    match set() {
        Ok(()) => raised,
        Err(other) => other,
    }
}

create_exception!(
    _slipring,
    QueueError,
    PyException,
    "A driver asked for something that a device does not do, or did something that no board survives."
);

create_exception!(_slipring, FindingError, QueueError, "A driver did what no board survives: a finding.");
