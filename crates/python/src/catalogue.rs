//! The catalogue of the kernel language.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Every op of the language: its names, signatures, documentation, the ops that it lowers to, and whether it is
/// recognised only to be rejected.
#[pyfunction]
pub fn catalogue(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for entry in slipring_lang::catalogue() {
        let fields = PyDict::new(py);
        fields.set_item("names", entry.names.to_vec())?;
        fields.set_item("params", entry.params)?;
        fields.set_item("doc", entry.doc)?;
        fields.set_item("op", entry.op.map(|op| op.schema.name))?;
        fields.set_item("with_number", entry.with_number.map(|op| op.schema.name))?;
        fields.set_item("refused", entry.refused)?;
        list.append(fields)?;
    }
    Ok(list)
}

/// Builtins of the language other than ops: name, form, documentation.
#[pyfunction]
pub fn words() -> Vec<(&'static str, &'static str, &'static str)> {
    slipring_lang::words().map(|word| (word.name, word.form, word.doc)).collect()
}

/// The element types by their names in the language, and the bytes that an element takes.
#[pyfunction]
pub fn type_bytes() -> Vec<(&'static str, i64)> {
    slipring_lang::type_bytes().collect()
}

/// A number of cycles with its error: `100 cycles ± 4 %`, or `100 cycles (estimate)`.
#[pyfunction]
pub fn figure(cycles: u64, error_percent: Option<f64>) -> String {
    slipring_report::figure(cycles, error_percent)
}
