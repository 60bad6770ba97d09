//! The command queue: the machine of a board as its host sees it.

use std::collections::BTreeMap;
use std::ptr::NonNull;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use slipring::queue_trace;
use slipring_queue::host::{DeviceError, Ordering, Session, WindowTarget, read_buffer};
use slipring_queue::sanitize::Severity;
use slipring_queue::wire::{Rect, Xy};
use slipring_report::{Trace, TraceForm};

use super::job::calls;
use super::stream::StreamTimeline;
use crate::error::{FindingError, QueueError};
use crate::stream::options;

/// A board with its queue.
#[pyclass(unsendable, module = "slipring._slipring")]
pub struct Board {
    session: Session,
    /// The host's own memory, by the id of the pinned range: it is kept alive for as long as the device may use it.
    arrays: BTreeMap<u32, Py<PyArray1<u8>>>,
}

fn coordinate(value: u32) -> PyResult<u8> {
    u8::try_from(value).map_err(|_| PyValueError::new_err(format!("{value} is not a coordinate of a tile")))
}

fn done<T>(result: Result<T, DeviceError>) -> PyResult<T> {
    result.map_err(|error| match error {
        DeviceError::Bounds { .. } => PyIndexError::new_err(error.to_string()),
        DeviceError::Violation(_) => FindingError::new_err(error.to_string()),
        _ => QueueError::new_err(error.to_string()),
    })
}

/// The target of a window: x and y of two corners, the address, whether writes go to all tiles, the network, the order.
type Target = (u32, u32, u32, u32, u64, bool, u8, String);

fn target((x0, y0, x1, y1, addr, multicast, noc, ordering): Target) -> PyResult<WindowTarget> {
    let corner = |x, y| Ok::<_, PyErr>(Xy { x: coordinate(x)?, y: coordinate(y)? });
    let ordering = match ordering.as_str() {
        "strict" => Ordering::Strict,
        "relaxed" => Ordering::Relaxed,
        "posted" => Ordering::Posted,
        other => return Err(PyValueError::new_err(format!("writes are strict, relaxed or posted, not {other}"))),
    };
    Ok(WindowTarget { tiles: Rect::new(corner(x0, y0)?, corner(x1, y1)?), multicast, addr, noc, ordering })
}

impl Board {
    fn spans(&mut self) -> PyResult<Trace> {
        let spans = done(self.session.spans())?;
        Ok(queue_trace(&spans, &[], self.session.board(), Vec::new()))
    }
}

#[pymethods]
impl Board {
    /// A machine with named settings.
    #[new]
    fn new(settings: Vec<(String, String)>) -> PyResult<Board> {
        let config = options(&settings)?.config().map_err(PyValueError::new_err)?;
        let session = Session::new(config).map_err(PyValueError::new_err)?;
        Ok(Board { session, arrays: BTreeMap::new() })
    }

    /// Sets a function that runs for each launch on a worker, and returns its cycles.
    fn set_worker(&mut self, function: Py<PyAny>) -> PyResult<()> {
        done(self.session.set_worker(calls(function)))
    }

    /// Pins zeroed memory of this size: its id and its address on the device.
    fn pin(&mut self, bytes: u64) -> PyResult<(u32, u64)> {
        let memory = done(self.session.pin(bytes))?;
        Ok((memory.id, memory.noc_addr))
    }

    /// Pins the host's own memory: the device reads and writes it in place.
    fn pin_array(&mut self, array: Bound<'_, PyArray1<u8>>) -> PyResult<(u32, u64)> {
        let (first, bytes) = {
            let mut data = array.try_readwrite().map_err(|error| PyValueError::new_err(error.to_string()))?;
            let data = data.as_slice_mut()?;
            (NonNull::from(&mut *data).cast::<u8>(), data.len())
        };
        // SAFETY: the array is kept until it is unpinned or the board is dropped, and numpy does not move the data of
        // an array with other references. The GIL is held during calls, so Python code cannot access the array
        // meanwhile.
        let memory = done(unsafe { self.session.pin_borrowed(first, bytes) })?;
        self.arrays.insert(memory.id, array.unbind());
        Ok((memory.id, memory.noc_addr))
    }

    /// Releases pinned memory.
    fn unpin(&mut self, id: u32) -> PyResult<()> {
        done(self.session.unpin(id))?;
        self.arrays.remove(&id);
        Ok(())
    }

    /// Reads pinned memory.
    fn host_read<'py>(&mut self, py: Python<'py>, id: u32, offset: u64, bytes: usize) -> PyResult<Bound<'py, PyBytes>> {
        let mut out = done(read_buffer(bytes))?;
        done(self.session.host_read(id, offset, &mut out))?;
        Ok(PyBytes::new(py, &out))
    }

    /// Writes pinned memory.
    fn host_write(&mut self, id: u32, offset: u64, bytes: &[u8]) -> PyResult<()> {
        done(self.session.host_write(id, offset, bytes))
    }

    /// Opens a window of 2 MiB or 4 GiB, and returns its id.
    fn open(&mut self, bytes: u64, at: Target) -> PyResult<u32> {
        done(self.session.open(bytes, target(at)?))
    }

    /// Changes the target of a window.
    fn retarget(&mut self, window: u32, at: Target) -> PyResult<()> {
        done(self.session.retarget(window, target(at)?))
    }

    /// Closes a window.
    fn close(&mut self, window: u32) -> PyResult<()> {
        done(self.session.close(window))
    }

    /// Loads through a window.
    fn read<'py>(&mut self, py: Python<'py>, window: u32, offset: u64, bytes: usize) -> PyResult<Bound<'py, PyBytes>> {
        let mut out = done(read_buffer(bytes))?;
        done(self.session.read(window, offset, &mut out))?;
        Ok(PyBytes::new(py, &out))
    }

    /// Stores through a window: one store for 1, 2, 4 or 8 aligned bytes, else a burst.
    fn write(&mut self, window: u32, offset: u64, bytes: &[u8]) -> PyResult<()> {
        done(self.session.write(window, offset, bytes))
    }

    /// Reads a register of the management core.
    fn arc_read(&mut self, offset: u64) -> PyResult<u32> {
        done(self.session.arc_read(offset))
    }

    /// Advances time by this many nanoseconds.
    fn wait(&mut self, ns: u64) -> PyResult<()> {
        done(self.session.wait(ns))
    }

    /// Advances time by this many nanoseconds, for work on the host.
    fn elapse(&mut self, ns: u64) -> PyResult<()> {
        done(self.session.elapse(ns))
    }

    /// The board's name, the coordinates of its management core, and its clock in MHz.
    fn board(&self) -> (String, (u8, u8), u32) {
        let board = self.session.board();
        (board.name.clone(), (board.arc.x, board.arc.y), board.clock_mhz)
    }

    /// The numbers of errors and of warnings among the findings.
    fn counts(&self) -> (usize, usize) {
        let findings = self.session.findings();
        let errors = findings.iter().filter(|finding| finding.severity() == Severity::Error).count();
        (errors, findings.len() - errors)
    }

    /// Nanoseconds since the machine was created.
    fn now(&self) -> u64 {
        self.session.now()
    }

    /// The contents of a tile's memory, read without advancing time.
    fn peek<'py>(&mut self, py: Python<'py>, x: u32, y: u32, addr: u64, bytes: usize) -> PyResult<Bound<'py, PyBytes>> {
        let (tile, mut out) = (Xy { x: coordinate(x)?, y: coordinate(y)? }, done(read_buffer(bytes))?);
        done(self.session.peek(tile, addr, &mut out))?;
        Ok(PyBytes::new(py, &out))
    }

    /// The findings, each as (code, text).
    fn findings(&self) -> Vec<(&'static str, String)> {
        self.session.findings().iter().map(|finding| (finding.hazard.def().code, finding.to_string())).collect()
    }

    /// The state of the machine: counters by name, and the activity of each actor.
    fn status(&self) -> (Vec<(&'static str, u64)>, Vec<String>) {
        let status = self.session.status();
        let [prefetch, dispatch, subordinate] = status.commands;
        let numbers = vec![
            ("cycle", status.cycle),
            ("announced", status.announced),
            ("queued", status.queued),
            ("prefetch_commands", prefetch),
            ("dispatch_commands", dispatch),
            ("subordinate_commands", subordinate),
            ("credits", status.credits.into()),
            ("pages", status.pages),
            ("completions", status.completions),
            ("flights", status.flights),
            ("running", status.running.into()),
            ("launches", status.launches),
        ];
        (numbers, status.actors)
    }

    /// A description of the deadlock, if nothing can happen without the host: (code, text).
    fn diagnose(&self) -> Option<(&'static str, String)> {
        self.session.diagnose().map(|finding| (finding.hazard.def().code, finding.to_string()))
    }

    /// Allowed hazards that occurred, and how often.
    fn allowed(&self) -> Vec<(&'static str, u64)> {
        self.session.allowed().into_iter().map(|(hazard, times)| (hazard.def().code, times)).collect()
    }

    /// The activity of all actors in the trace format of this file name.
    fn trace<'py>(&mut self, py: Python<'py>, file: &str) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &TraceForm::of(file).write(&self.spans()?)))
    }

    /// The timeline, for a trace together with other boards.
    fn timeline(&mut self) -> PyResult<StreamTimeline> {
        Ok(StreamTimeline(self.spans()?))
    }

    /// The queued commands, as a stream in binary form.
    fn recorded<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &done(self.session.recorded())?.to_bytes()))
    }

    /// The last error, or `None`.
    fn last_error(&self) -> Option<String> {
        self.session.last_error().map(str::to_owned)
    }
}
