//! Streams of the command queue: conversion between text and bytes, checks, runs and proofs.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use slipring::{
    QueueProof, QueueWork, queue_block_findings, queue_block_text, queue_board, queue_findings, queue_prove,
    queue_trace, queue_traces,
};
use slipring_queue::capture::{Capture, CaptureError, print};
use slipring_queue::host::SessionOptions;
use slipring_queue::lint::lint;
use slipring_queue::machine::Config;
use slipring_queue::replay::replay;
use slipring_queue::sanitize::{Finding, Hazard};
use slipring_report::Trace;

use super::job::calls;
use super::run::written;

/// Findings, each as (code, text, record).
type Found = Vec<(&'static str, String, Option<u64>)>;
/// Named settings.
type Settings = Vec<(String, String)>;

fn found(list: &[Finding]) -> Found {
    let one = |f: &Finding| (f.hazard.def().code, f.to_string(), f.record.map(|record| record.index));
    list.iter().map(one).collect()
}

fn refused(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A stream in either form, with the configuration that it runs on: a board named in the settings overrides the
/// stream's own.
fn read(data: &[u8], settings: &[(String, String)]) -> PyResult<(Capture, Config)> {
    let mut config = options(settings)?.config().map_err(refused)?;
    let given = settings.iter().any(|(name, _)| name.starts_with("board"));
    let capture = Capture::read_for(data, given.then_some(&config.board)).map_err(|error| match error {
        CaptureError::Text(errors) => {
            let text = String::from_utf8_lossy(data);
            let line = |at: usize| 1 + text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count();
            refused(
                errors
                    .iter()
                    .map(|e| format!("line {}: {}", line(e.span.start), e.message))
                    .collect::<Vec<_>>()
                    .join("\n"),
            )
        }
        other => refused(other),
    })?;
    if !given {
        let name = if capture.board.is_empty() { "p100" } else { &capture.board };
        let board = queue_board(name, |_| Err("a stream names no file".into())).map_err(refused)?;
        config = Config { delays: config.delays.clone(), board, ..config };
    }
    Ok((capture, config))
}

/// A stream as text.
#[pyfunction]
pub fn stream_text(data: &[u8]) -> PyResult<String> {
    Ok(print(&read(data, &[])?.0))
}

/// A stream in its binary form.
#[pyfunction]
pub fn stream_bytes<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &read(data, &[])?.0.to_bytes()))
}

/// Static checks of a stream: findings, what was not checked, allowed hazards that occurred.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "a tuple for the Python half, which names its parts")]
pub fn stream_lint(data: &[u8], settings: Settings) -> PyResult<(Found, Vec<String>, Vec<(&'static str, u64)>)> {
    let (capture, config) = read(data, &settings)?;
    let mut report = lint(&capture, &config.board, &config.layout);
    let allowed = report.allow(&config.allowed);
    let allowed = allowed.into_iter().map(|(hazard, times): (Hazard, u64)| (hazard.def().code, times)).collect();
    Ok((found(&report.findings), report.not_judged, allowed))
}

/// The activity of all actors in a run of a stream.
#[pyclass(frozen, module = "slipring._slipring")]
pub struct StreamTimeline(pub Trace);

#[pymethods]
impl StreamTimeline {
    /// The timeline in the trace format of this file name.
    fn written<'py>(&self, py: Python<'py>, file: &str) -> PyResult<Bound<'py, PyBytes>> {
        written(py, Some(&self.0), file)
    }
}

/// The timelines of several boards as one trace, in the format of this file name.
#[pyfunction]
pub fn timelines<'py>(
    py: Python<'py>,
    boards: Vec<(String, PyRef<'py, StreamTimeline>)>,
    file: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let all = queue_traces(boards.iter().map(|(name, own)| (name.as_str(), &own.0)));
    written(py, Some(&all), file)
}

/// The behaviour of workers: a function; the kernels of the images that they are sent (on the given platform, or on the
/// one that an image names); or acknowledgement after so many cycles.
type Work = (Option<Py<PyAny>>, Option<(Option<String>,)>, u64);

/// Runs a stream on a simulated board: findings, whether everything ran, the events, the bytes of other records that
/// came back, the bytes that its host loaded, cycles, and the timeline if the settings request it.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "a tuple for the Python half, which names its parts")]
pub fn stream_run<'py>(
    py: Python<'py>,
    data: &[u8],
    settings: Settings,
    work: Work,
) -> PyResult<(Found, bool, Vec<u32>, [Vec<Bound<'py, PyBytes>>; 2], u64, Option<StreamTimeline>)> {
    let (capture, config) = read(data, &settings)?;
    let (function, kernels, cycles) = work;
    let work = match &kernels {
        Some((platform,)) => QueueWork::kernels(platform.as_deref()).map_err(refused)?,
        None => QueueWork::Acknowledge(cycles),
    };
    let (usual, blocks) = work.workers(&config.board, config.trace);
    let worker = function.map_or(usual, calls);
    let mut run = replay(&capture, config.clone(), worker, |_, _| {}).map_err(refused)?;
    let mut list = found(&queue_findings(&run, &capture, &config));
    let of_blocks = queue_block_findings(&blocks.borrow());
    list.extend(of_blocks.iter().map(|message| (message.code, queue_block_text(message), None)));
    let events = run.completions.iter().filter_map(|completion| completion.event()).collect();
    let back = run.completions.iter().filter(|completion| !completion.is_event);
    let back = back.map(|completion| PyBytes::new(py, &completion.bytes));
    let back = back.collect();
    let loads = run.loaded.iter().map(|(_, bytes)| PyBytes::new(py, bytes)).collect();
    let machine = run.queue.device();
    let timeline = || StreamTimeline(queue_trace(&machine.spans(), &blocks.borrow(), &config.board, Vec::new()));
    let timeline = machine.is_traced().then(timeline);
    Ok((list, run.complete, events, [back, loads], machine.now_cycles(), timeline))
}

/// Whether a stream is clean for all delays: the verdict, the codes of errors or the reasons for no verdict, the
/// options of `slipring queue run` that reproduce it.
#[pyfunction]
pub fn stream_prove(
    data: &[u8],
    settings: Settings,
    seeds: u64,
    kernel_cycles: u64,
) -> PyResult<(&'static str, Vec<String>, String)> {
    let (capture, config) = read(data, &settings)?;
    let (proof, _, warnings) = queue_prove(&capture, &config, kernel_cycles, seeds).map_err(refused)?;
    let named = |codes: Vec<&str>| codes.into_iter().map(str::to_string).collect();
    Ok(match proof {
        QueueProof::Clean { allowed } => ("clean", named(warnings.into_iter().chain(allowed).collect()), String::new()),
        QueueProof::Wrong { schedule, codes } => ("wrong", named(codes), schedule.options().trim().to_string()),
        QueueProof::Undecided(why) => ("undecided", why, String::new()),
    })
}

/// Named settings as [`SessionOptions`].
pub fn options(settings: &[(String, String)]) -> PyResult<SessionOptions> {
    let mut options = SessionOptions::default();
    for (name, value) in settings {
        options.set(name, value).map_err(PyValueError::new_err)?;
    }
    Ok(options)
}
