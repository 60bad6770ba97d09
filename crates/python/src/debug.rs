//! A run that one goes through, forwards and backwards.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use slipring_debug::Session;
use slipring_report::SliceKind;

use crate::words::words;

/// A tile: core, memory, address, element type, rows and columns, bytes row by row.
type TileBytes<'py> = (&'static str, String, u64, &'static str, [u32; 2], Bound<'py, PyBytes>);

/// A run and a place in it.
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
    /// Does what words say; what there is to say of it.
    fn said(&self, py: Python<'_>, line: &str) -> String {
        py.detach(|| words(&self.lock().said(line).unwrap_or_default()))
    }

    /// Events that have begun, all events, the cycle, the last one.
    #[getter]
    fn place(&self) -> (usize, usize, u64, u64) {
        let session = self.lock();
        let (begun, cycle) = session.place_in_time();
        (begun, session.history().count(), cycle, session.history().end())
    }

    /// The line of the present event in its file, and that file where it is another one than the kernel's.
    #[getter]
    fn place_in_source(&self) -> Option<(u32, Option<String>)> {
        let session = self.lock();
        let line = session.event_now().and_then(|event| session.history().line(event));
        line.map(|line| (line.number, line.file.map(|file| file.to_string())))
    }

    /// What there is to go through.
    #[getter]
    fn title(&self) -> String {
        words(&self.lock().title())
    }

    /// All events: who, what, first cycle, one past the last, line.
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

    /// Which of the events are waits.
    fn waits(&self) -> Vec<bool> {
        let session = self.lock();
        let history = session.history();
        (0..history.count()).map(|event| history.slice(event).kind == SliceKind::Stall).collect()
    }

    /// The tiles of a name once the present cycle is over.
    fn tiles<'py>(&self, py: Python<'py>, name: &str) -> Vec<TileBytes<'py>> {
        let tiles = py.detach(|| self.lock().tiles(name));
        let each = tiles.into_iter().map(|tile| {
            let bytes = PyBytes::new(py, &tile.elements);
            (tile.core, tile.space, tile.address, tile.elem.name(), tile.shape, bytes)
        });
        each.collect()
    }

    /// The bytes of the buffer of a name once the present cycle is over, and their element type.
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
