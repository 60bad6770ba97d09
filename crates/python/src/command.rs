//! The command line in a Python process, which executes files of the kernel language.

use std::ffi::OsString;

use pyo3::prelude::*;
use slipring::{Executed, Interpreter, Raised, Source};

use crate::value;

/// Executes files by calling a Python function.
struct Caller(Py<PyAny>);

/// One result of that function: the file, the source text of the kernel's functions, the entry function, and the values
/// of names.
type Found<'py> = (String, String, String, Bound<'py, PyAny>);

impl Caller {
    fn call(
        &self,
        py: Python<'_>,
        source: &Source,
        function: Option<&str>,
        sets: &[(String, String)],
    ) -> PyResult<Vec<Executed>> {
        let sets: Vec<_> = sets.to_vec();
        let found = self.0.bind(py).call1((&source.name, &source.text, function, sets))?;
        let found: Vec<Found<'_>> = found.extract()?;
        let each = found.into_iter().map(|(file, text, function, names)| {
            Ok(Executed { name: file, text, function, names: value::names(&names)? })
        });
        each.collect()
    }
}

impl Interpreter for Caller {
    fn execute(
        &self,
        source: &Source,
        function: Option<&str>,
        sets: &[(String, String)],
    ) -> Result<Vec<Executed>, Raised> {
        Python::attach(|py| {
            self.call(py, source, function, sets).map_err(|error| {
                let place = error.value(py).getattr("slipring_line").and_then(|line| line.extract());
                Raised { line: place.ok(), message: error.value(py).to_string() }
            })
        })
    }
}

/// Runs the command line with these words and returns its exit code. `execute` is called with the name and the text of
/// a file, the requested function or `None`, and a list of pairs that set constants; it returns a list of (file, text,
/// function, names). Without it no file is executed.
#[pyfunction]
#[pyo3(signature = (words, execute=None))]
pub fn command_line(py: Python<'_>, words: Vec<OsString>, execute: Option<Py<PyAny>>) -> PyResult<u8> {
    if let Some(execute) = execute {
        slipring::set_interpreter(Box::new(Caller(execute)));
    }
    Ok(py.detach(move || slipring_cli::command_line(&words)))
}
