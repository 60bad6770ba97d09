//! Workers implemented as Python functions.

use std::cell::Cell;
use std::ptr::NonNull;
use std::thread::{self, ThreadId};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use slipring_queue::host::read_buffer;
use slipring_queue::wire::{LaunchMessage, Packed};
use slipring_queue::worker::{Call, Callback, Worker};

use crate::error::QueueError;

/// A launch of one worker while its function runs: reads are immediate, and writes take effect when its cycles are
/// over.
#[pyclass(frozen, module = "slipring._slipring")]
pub struct Job {
    call: Held,
    /// Its tile.
    #[pyo3(get)]
    tile: (u8, u8),
    /// Its index among the workers, row by row.
    #[pyo3(get)]
    worker: u32,
    /// The cycle of the board at which it was launched.
    #[pyo3(get)]
    cycle: u64,
    launch: LaunchMessage,
}

/// A call, usable only on its own thread.
struct Held {
    /// `None` once the call is over.
    call: Cell<Option<NonNull<Call<'static, 'static>>>>,
    thread: ThreadId,
}

// SAFETY: any other thread fails the check of `thread` and does not access the call.
unsafe impl Send for Held {}
// SAFETY: as above.
unsafe impl Sync for Held {}

impl Job {
    fn with<T>(&self, act: impl FnOnce(&mut Call<'_, '_>) -> Result<T, String>) -> PyResult<T> {
        if thread::current().id() != self.call.thread {
            return Err(QueueError::new_err(
                "a job is used by the thread that its function is called in, and by no other",
            ));
        }
        let over = || QueueError::new_err("the job is over: its function has returned");
        // Taken out, so that the call is not used twice at the same time.
        let mut call = self.call.call.take().ok_or_else(over)?;
        // SAFETY: the pointer is valid while the function runs, and it is taken out while it is used.
        let done = act(unsafe { call.as_mut() });
        self.call.call.set(Some(call));
        done.map_err(QueueError::new_err)
    }

    fn reads<'py>(
        &self,
        py: Python<'py>,
        bytes: usize,
        read: impl FnOnce(&mut Call<'_, '_>, &mut [u8]) -> Result<(), String>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut out = read_buffer(bytes).map_err(|error| PyValueError::new_err(error.to_string()))?;
        self.with(|call| read(call, &mut out))?;
        Ok(PyBytes::new(py, &out))
    }
}

#[pymethods]
impl Job {
    /// Fields of its launch message, by name.
    #[getter]
    fn launch<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        for (field, value) in LaunchMessage::FIELDS.iter().zip(self.launch.values()) {
            fields.set_item(field.name, value)?;
        }
        Ok(fields)
    }

    /// Reads its L1.
    fn read<'py>(&self, py: Python<'py>, addr: u32, bytes: usize) -> PyResult<Bound<'py, PyBytes>> {
        self.reads(py, bytes, |call, out| call.read(addr, out))
    }

    /// Reads a DRAM bank.
    fn read_dram<'py>(&self, py: Python<'py>, bank: u32, addr: u64, bytes: usize) -> PyResult<Bound<'py, PyBytes>> {
        self.reads(py, bytes, |call, out| call.read_dram(bank, addr, out))
    }

    /// Reads host memory at this address.
    fn read_host<'py>(&self, py: Python<'py>, address: u64, bytes: usize) -> PyResult<Bound<'py, PyBytes>> {
        self.reads(py, bytes, |call, out| call.read_host(address & !PCIE, out))
    }

    /// Writes its L1.
    fn write(&self, addr: u32, data: &[u8]) -> PyResult<()> {
        self.with(|call| call.write(addr, data))
    }

    /// Writes a DRAM bank.
    fn write_dram(&self, bank: u32, addr: u64, data: &[u8]) -> PyResult<()> {
        self.with(|call| call.write_dram(bank, addr, data))
    }

    /// Writes host memory at this address.
    fn write_host(&self, address: u64, data: &[u8]) -> PyResult<()> {
        self.with(|call| call.write_host(address & !PCIE, data))
    }
}

/// The bit that marks addresses reached through PCIe.
const PCIE: u64 = 1 << 60;

/// Workers that call a function.
pub fn calls(function: Py<PyAny>) -> Box<dyn Worker> {
    Box::new(Callback::new(move |call: &mut Call<'_, '_>| {
        Python::attach(|py| called(py, &function, call).map_err(|error| said(py, &error)))
    }))
}

fn called(py: Python<'_>, function: &Py<PyAny>, call: &mut Call<'_, '_>) -> PyResult<u64> {
    let (launched, launch) = (*call.job(), call.job().launch);
    let (tile, cycle) = ((launched.tile.x, launched.tile.y), launched.cycle);
    let at = NonNull::from(call).cast();
    let call = Held { call: Cell::new(Some(at)), thread: thread::current().id() };
    let job = Bound::new(py, Job { call, tile, worker: launched.worker, cycle, launch })?;
    let cycles = function.call1(py, (&job,));
    // A job that outlives its call can no longer access anything.
    job.get().call.call.set(None);
    cycles?.extract(py).map_err(|_| PyRuntimeError::new_err("its function gives no number of cycles"))
}

/// The text of an exception: its type, its message, and the line that raised it.
fn said(py: Python<'_>, error: &PyErr) -> String {
    let kind = error.get_type(py).name().map_or_else(|_| "an error".into(), |name| name.to_string());
    let mut at = error.traceback(py).map(|traceback| traceback.into_any());
    while let Some(next) = at.as_ref().and_then(|at| at.getattr("tb_next").ok()).filter(|next| !next.is_none()) {
        at = Some(next);
    }
    let place = at.and_then(|at| {
        let line: u32 = at.getattr("tb_lineno").ok()?.extract().ok()?;
        let file: String =
            at.getattr("tb_frame").ok()?.getattr("f_code").ok()?.getattr("co_filename").ok()?.extract().ok()?;
        Some(format!(" ({file}:{line})"))
    });
    format!("{kind}: {}{}", error.value(py), place.unwrap_or_default())
}
