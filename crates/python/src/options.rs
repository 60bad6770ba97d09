//! Run options from Python. The library declares the options and their values.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyList, PyString};
use slipring::{
    BoardOptions, Control, Given, OPTIONS, OptionError, RunOption, RunRequest, Takes, Way, files, queue_board,
};

use crate::error::raise;
use crate::words::words;

/// The names of all run options, each with whether it is passed as an argument if a kernel has a parameter of that
/// name.
#[pyfunction]
pub fn options() -> Vec<(&'static str, bool)> {
    let own = OPTIONS.iter().filter(|option| option.not_in_python.is_none());
    own.map(|option| (option.name, option.yields)).collect()
}

/// Converts a Python value to an option's value.
fn given(value: &Bound<'_, PyAny>) -> PyResult<Given> {
    if value.is_none() {
        return Ok(Given::Nothing);
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Given::Text(text.to_string()));
    }
    let kind = value.get_type().name()?.to_string();
    // The boolean types of numpy are called `bool` too.
    if value.is_instance_of::<PyBool>() || kind.starts_with("bool") {
        return Ok(value.extract().map_or(Given::Other(kind), Given::Flag));
    }
    if let Ok(number) = value.extract() {
        return Ok(Given::Whole(number));
    }
    let mapping = value.is_instance_of::<PyDict>() || value.is_instance_of::<PyBytes>();
    if let Some(Ok(list)) = (!mapping).then(|| value.try_iter()).and_then(Result::ok).map(Iterator::collect) {
        let list: Vec<Bound<'_, PyAny>> = list;
        let each = PyList::new(value.py(), list)?;
        if let Ok(texts) = each.extract() {
            return Ok(Given::Texts(texts));
        }
        if let Ok(contents) = each.extract() {
            return Ok(Given::Contents(contents));
        }
    }
    Ok(Given::Other(value.repr().map_or(kind, |text| text.to_string())))
}

/// The exception for an invalid option, in Python's syntax: a wrong value, or a wrong type.
fn refused(error: &OptionError) -> PyErr {
    let text = words(&error.to_string());
    if error.is_of_type { PyValueError::new_err(text) } else { PyTypeError::new_err(text) }
}

/// The run request for named options.
///
/// # Errors
///
/// If an option does not exist, or its value is invalid.
pub fn request(options: Option<&Bound<'_, PyDict>>, control: &Control) -> PyResult<RunRequest> {
    let mut request = RunRequest::default();
    request.run.control = control.clone();
    for (key, value) in options.into_iter().flatten() {
        let name: String = key.extract()?;
        // Options that the caller reads itself are not converted here.
        let given = match RunOption::named(&name).filter(|option| matches!(option.takes, Takes::Own)) {
            Some(_) if value.is_none() => Given::Nothing,
            Some(_) if value.is_instance_of::<PyDict>() => Given::Other(String::new()),
            Some(option) => return Err(refused(&option.not_taken(&given(&value)?))),
            None => given(&value)?,
        };
        request.set(&name, given).map_err(|error| refused(&error))?;
    }
    Ok(request)
}

/// The run request for a way of running.
///
/// # Errors
///
/// Those of [`request`], and an option that has no effect on it.
pub fn request_on(
    options: Option<&Bound<'_, PyDict>>,
    control: &Control,
    way: Way,
    py: Python<'_>,
) -> PyResult<RunRequest> {
    let request = request(options, control)?;
    request.on(way).map_err(|error| raise(py, &error))?;
    Ok(request)
}

/// The requested board, if there is one.
///
/// # Errors
///
/// If there is no such board.
pub fn board(request: &RunRequest) -> PyResult<Option<BoardOptions>> {
    let Some(name) = &request.device else { return Ok(None) };
    let board = queue_board(name, |path| {
        files::read(path.as_ref(), files::MOST_STREAM).map_err(|error| format!("cannot read `{path}`: {error}"))
    });
    let board = board.map_err(PyValueError::new_err)?;
    Ok(Some(BoardOptions { board, delays: request.delays, record: false }))
}
