//! Launches split into parts.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use slipring::{Control, Stretch, Way, Written};

use crate::error::raise;
use crate::kernel::{Kernel, listening, tensors};
use crate::options::{request, request_on};
use crate::run::Run;
use crate::value::to_python;

/// Some blocks of a launch, computed and checked.
#[pyclass(frozen, module = "slipring._slipring")]
pub struct Part {
    inner: slipring::Part,
}

/// The timing of a launch for which nothing was computed.
#[pyclass(frozen, module = "slipring._slipring")]
pub struct Times {
    /// `None` once the parts have been merged into it.
    inner: Mutex<Option<slipring::Run<'static>>>,
}

/// Packs ranges as pairs of 8-byte integers.
fn packed<'py>(py: Python<'py>, list: &[Vec<Stretch>]) -> Vec<Bound<'py, PyBytes>> {
    let pair = |(start, end): &Stretch| [start.to_le_bytes(), end.to_le_bytes()].concat();
    list.iter().map(|own| PyBytes::new(py, &own.iter().flat_map(pair).collect::<Vec<u8>>())).collect()
}

fn unpacked(bytes: &[u8]) -> Vec<Stretch> {
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
    bytes.chunks_exact(16).map(|pair| (number(&pair[..8]), number(&pair[8..]))).collect()
}

#[pymethods]
impl Part {
    /// Why the launch cannot be assembled from parts, if it cannot.
    #[getter]
    fn obstacle(&self) -> Option<&str> {
        self.inner.obstacle.as_deref()
    }

    /// The verdicts of the tools.
    #[getter]
    fn checks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.inner.checks)
    }

    /// The ranges of each buffer that its blocks read: pairs of 8-byte integers.
    #[getter]
    fn reads<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        packed(py, &self.inner.reads)
    }

    /// The ranges that they wrote.
    #[getter]
    fn writes<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        packed(py, &self.inner.writes)
    }

    /// The contents of the written ranges, for each buffer argument.
    #[getter]
    fn contents<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        self.inner.contents.iter().map(|bytes| PyBytes::new(py, bytes)).collect()
    }
}

#[pymethods]
impl Times {
    /// Whether all blocks complete without messages.
    #[getter]
    fn clean(&self) -> bool {
        let run = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        run.as_ref().is_some_and(|run| run.is_complete() && run.findings().messages().is_empty())
    }

    /// The launch assembled from its parts: for each part, the ranges that it wrote and their contents. The verdict is
    /// that of `part`, which all parts share. This can be done only once.
    #[allow(clippy::type_complexity)]
    fn put_together(&self, py: Python<'_>, part: &Part, written: Vec<(Vec<Vec<u8>>, Vec<Vec<u8>>)>) -> PyResult<Run> {
        let run = self.inner.lock().unwrap_or_else(PoisonError::into_inner).take();
        let run = run.ok_or_else(|| PyValueError::new_err("the launch has been put together before"))?;
        let stretches: Vec<Vec<Vec<Stretch>>> =
            written.iter().map(|(own, _)| own.iter().map(|bytes| unpacked(bytes)).collect()).collect();
        let each: Vec<Written<'_>> = stretches
            .iter()
            .zip(&written)
            .map(|(own, (_, contents))| (&own[..contents.len().min(own.len())], &contents[..]))
            .collect();
        let run = run.put_together(&part.inner, &each).map_err(|error| raise(py, &error))?;
        Run::new(run, None)
    }
}

/// The number of blocks in a launch of a kernel with these options.
#[pyfunction]
#[pyo3(signature = (kernel, given=None))]
pub fn blocks(py: Python<'_>, kernel: &Kernel, given: Option<&Bound<'_, PyDict>>) -> PyResult<u32> {
    let request = request(given, &Control::default())?;
    request.on(request.way(false)).map_err(|error| raise(py, &error))?;
    kernel.shared().blocks(&request.run).map_err(|error| raise(py, &error))
}

/// An option that requires the launch to run in one piece; `None` if there is none.
#[pyfunction]
#[pyo3(signature = (given=None))]
pub fn in_one_piece(given: Option<&Bound<'_, PyDict>>) -> PyResult<Option<&'static str>> {
    Ok(request(given, &Control::default())?.in_one_piece().map(|option| option.name))
}

/// Runs `count` blocks of a launch of a kernel, starting at block `first`.
#[pyfunction]
#[pyo3(signature = (kernel, args, first, count, given=None))]
pub fn run_part(
    py: Python<'_>,
    kernel: &Kernel,
    args: &Bound<'_, PyList>,
    first: u32,
    count: u32,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<Part> {
    let control = Control::default();
    let options = request_on(given, &control, Way::Kernel, py)?.run;
    let (tensors, kernel) = (tensors(args)?, Arc::clone(kernel.shared()));
    let inner = listening(py, &control, None, move || kernel.run_part(tensors, &options, first, count))?;
    Ok(Part { inner })
}

/// Computes the timing of a launch of a kernel, but no values.
#[pyfunction]
#[pyo3(signature = (kernel, args, given=None))]
pub fn times(
    py: Python<'_>,
    kernel: &Kernel,
    args: &Bound<'_, PyList>,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<Times> {
    let control = Control::default();
    let options = request_on(given, &control, Way::Kernel, py)?.run.time_only();
    let (tensors, kernel) = (tensors(args)?, Arc::clone(kernel.shared()));
    let run = listening(py, &control, None, move || Ok(kernel.run_with(tensors, &options)?.into_owned()))?;
    Ok(Times { inner: Mutex::new(Some(run)) })
}
