//! Debugger sessions: a run that can be stepped forwards and backwards.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use slipring_debug::Session;
use slipring_report::SliceKind;

use crate::words::words;

/// A tile: core, memory, address, element type, rows and columns, bytes row by row.
type TileBytes<'py> = (&'static str, String, u64, &'static str, [u32; 2], Bound<'py, PyBytes>);

/// A run and a position in it.
#[pyclass(frozen, module = "slipring._slipring")]
pub struct Stepper(Mutex<Session>);

impl Stepper {
    pub fn new(session: Session) -> Stepper {
        Stepper(Mutex::new(session))
    }

    fn lock(&self) -> MutexGuard<'_, Session> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Stepper {
    /// Executes a debugger command and returns its output.
    fn said(&self, py: Python<'_>, line: &str) -> String {
        py.detach(|| words(&self.lock().said(line).unwrap_or_default()))
    }

    /// Number of begun events, number of all events, the current cycle, the last cycle.
    #[getter]
    fn place(&self) -> (usize, usize, u64, u64) {
        let session = self.lock();
        let (begun, cycle) = session.place_in_time();
        (begun, session.history().count(), cycle, session.history().end())
    }

    /// The line of the current event in its file, and that file if it is not the kernel's.
    #[getter]
    fn place_in_source(&self) -> Option<(u32, Option<String>)> {
        let session = self.lock();
        let line = session.event_now().and_then(|event| session.history().line(event));
        line.map(|line| (line.number, line.file.map(|file| file.to_string())))
    }

    /// A title for the run.
    #[getter]
    fn title(&self) -> String {
        words(&self.lock().title())
    }

    /// All events: agent, name, first cycle, one past the last cycle, line.
    fn events(&self) -> Vec<(String, String, u64, u64, Option<u32>)> {
        let session = self.lock();
        let history = session.history();
        let each = (0..history.count()).map(|event| {
            let slice = history.slice(event);
            (
                history.who(event),
                slice.name.to_string(),
                slice.start,
                slice.end,
                history.line(event).map(|line| line.number),
            )
        });
        each.collect()
    }

    /// For each event, whether it is a wait.
    fn waits(&self) -> Vec<bool> {
        let session = self.lock();
        let history = session.history();
        (0..history.count()).map(|event| history.slice(event).kind == SliceKind::Stall).collect()
    }

    /// The tiles of a name at the end of the current cycle.
    fn tiles<'py>(&self, py: Python<'py>, name: &str) -> Vec<TileBytes<'py>> {
        let tiles = py.detach(|| self.lock().tiles(name));
        let each = tiles.into_iter().map(|tile| {
            let bytes = PyBytes::new(py, &tile.elements);
            (tile.core, tile.space, tile.address, tile.elem.name(), tile.shape, bytes)
        });
        each.collect()
    }

    /// The contents of the buffer of a name at the end of the current cycle, and their element type.
    fn buffer<'py>(&self, py: Python<'py>, name: &str) -> Option<(&'static str, Bound<'py, PyBytes>)> {
        let (elem, bytes) = py.detach(|| {
            let mut session = self.lock();
            let (_, elem, at) = session.buffers().into_iter().find(|(own, ..)| own == name)?;
            Some((elem, session.buffer(at)?))
        })?;
        Some((elem.name(), PyBytes::new(py, &bytes)))
    }

    /// Names of tiles and of buffers.
    #[getter]
    fn names(&self) -> (Vec<String>, Vec<String>) {
        let session = self.lock();
        (session.tile_names(), session.buffers().into_iter().map(|(name, ..)| name).collect())
    }
}
