//! The command queue: a machine of a board as a host meets it.

use std::collections::BTreeMap;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use slipring::queue::board;
use slipring::queue::host::{Device, DeviceError, Ordering, Pinned, Window, WindowTarget};
use slipring::queue::machine::{Config, Machine};
use slipring::queue::sanitize::Mode;
use slipring::queue::wire::{Rect, Xy};

create_exception!(
    _slipring,
    QueueError,
    PyException,
    "A driver asked for something that a device does not do, or did something that no board survives."
);

/// Most bytes of one read.
const MOST: usize = 1 << 32;

/// A board with its queue.
#[pyclass(unsendable, module = "slipring._slipring")]
pub struct Board {
    machine: Machine,
    pins: BTreeMap<u32, Pin>,
    windows: BTreeMap<u32, Window>,
    last: Option<String>,
}

struct Pin {
    memory: Pinned,
    /// The host's own memory, where it is: what it holds is the pinned memory's whenever the device looks.
    array: Option<Py<PyArray1<u8>>>,
}

fn coordinate(value: u32) -> PyResult<u8> {
    u8::try_from(value).map_err(|_| PyValueError::new_err(format!("{value} is no coordinate of a tile")))
}

fn room(bytes: usize) -> PyResult<Vec<u8>> {
    if bytes > MOST {
        return Err(PyValueError::new_err(format!("{bytes} bytes are more than a call moves")));
    }
    Ok(vec![0; bytes])
}

impl Board {
    /// One call of the driver, between copies of the host's own memory to the device's view of it and back: the device works in
    /// calls only.
    fn call<T>(&mut self, py: Python<'_>, f: impl FnOnce(&mut Machine) -> Result<T, DeviceError>) -> PyResult<T> {
        for pin in self.pins.values() {
            let Some(array) = &pin.array else { continue };
            let bytes = array.bind(py).try_readonly().map_err(|error| PyValueError::new_err(error.to_string()))?;
            let done = self.machine.host_write(pin.memory, 0, bytes.as_slice()?);
            done.map_err(|error| QueueError::new_err(error.to_string()))?;
        }
        let result = f(&mut self.machine);
        for pin in self.pins.values() {
            let Some(array) = &pin.array else { continue };
            let mut bytes = array.bind(py).try_readwrite().map_err(|error| PyValueError::new_err(error.to_string()))?;
            // A device that has stopped leaves the host's memory as it is.
            let _ = self.machine.host_read(pin.memory, 0, bytes.as_slice_mut()?);
        }
        result.map_err(|error| {
            self.last = Some(error.to_string());
            QueueError::new_err(error.to_string())
        })
    }

    fn window(&self, window: u32) -> PyResult<Window> {
        let found = self.windows.get(&window).copied();
        found.ok_or_else(|| QueueError::new_err(format!("window {window} is not open")))
    }

    fn pinned(&self, id: u32) -> PyResult<Pinned> {
        let found = self.pins.get(&id).map(|pin| pin.memory);
        found.ok_or_else(|| QueueError::new_err(format!("pinned memory {id} is not open")))
    }
}

/// Where a window looks: x and y of two corners, the address, whether writes go to all tiles, the network, the order.
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

#[pymethods]
impl Board {
    /// A machine of a board, p100 or p150; `mode` is strict or silicon.
    #[new]
    #[pyo3(signature = (name, mode="strict", seed=None))]
    fn new(name: &str, mode: &str, seed: Option<u64>) -> PyResult<Board> {
        let board = board::built_in(name).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let mode = match mode {
            "strict" => Mode::Strict,
            "silicon" => Mode::Silicon,
            other => return Err(PyValueError::new_err(format!("a machine is strict or silicon, not {other}"))),
        };
        let config = Config { seed, mode, ..Config::new(board) };
        let machine = Machine::new(config).map_err(PyValueError::new_err)?;
        Ok(Board { machine, pins: BTreeMap::new(), windows: BTreeMap::new(), last: None })
    }

    /// Pins so many bytes, or the host's own memory: its number and the address where the device sees it.
    #[pyo3(signature = (bytes, array=None))]
    fn pin(&mut self, py: Python<'_>, bytes: u64, array: Option<Py<PyArray1<u8>>>) -> PyResult<(u32, u64)> {
        let memory = self.call(py, |machine| machine.pin(bytes))?;
        self.pins.insert(memory.id, Pin { memory, array });
        Ok((memory.id, memory.noc_addr))
    }

    /// Gives pinned memory back.
    fn unpin(&mut self, py: Python<'_>, id: u32) -> PyResult<()> {
        let memory = self.pinned(id)?;
        self.call(py, |machine| machine.unpin(memory))?;
        self.pins.remove(&id);
        Ok(())
    }

    /// Reads pinned memory.
    fn host_read<'py>(&mut self, py: Python<'py>, id: u32, offset: u64, bytes: usize) -> PyResult<Bound<'py, PyBytes>> {
        let (memory, mut out) = (self.pinned(id)?, room(bytes)?);
        self.call(py, |machine| machine.host_read(memory, offset, &mut out))?;
        Ok(PyBytes::new(py, &out))
    }

    /// Writes pinned memory.
    fn host_write(&mut self, py: Python<'_>, id: u32, offset: u64, bytes: &[u8]) -> PyResult<()> {
        let memory = self.pinned(id)?;
        self.call(py, |machine| machine.host_write(memory, offset, bytes))?;
        if let Some(array) = self.pins.get(&id).and_then(|pin| pin.array.as_ref()) {
            let mut own = array.bind(py).try_readwrite().map_err(|error| PyValueError::new_err(error.to_string()))?;
            own.as_slice_mut()?[offset as usize..offset as usize + bytes.len()].copy_from_slice(bytes);
        }
        Ok(())
    }

    /// Opens a window of 2 MiB or 4 GiB: its number.
    fn open(&mut self, py: Python<'_>, bytes: u64, at: Target) -> PyResult<u32> {
        let at = target(at)?;
        let window = self.call(py, |machine| machine.open(bytes, at))?;
        self.windows.insert(window.id, window);
        Ok(window.id)
    }

    /// Points a window elsewhere.
    fn retarget(&mut self, py: Python<'_>, window: u32, at: Target) -> PyResult<()> {
        let (window, at) = (self.window(window)?, target(at)?);
        self.call(py, |machine| machine.retarget(window, at))
    }

    /// Closes a window.
    fn close(&mut self, py: Python<'_>, window: u32) -> PyResult<()> {
        let open = self.window(window)?;
        self.windows.remove(&window);
        self.call(py, |machine| machine.close(open))
    }

    /// Loads through a window.
    fn read<'py>(&mut self, py: Python<'py>, window: u32, offset: u64, bytes: usize) -> PyResult<Bound<'py, PyBytes>> {
        let (window, mut out) = (self.window(window)?, room(bytes)?);
        self.call(py, |machine| machine.read(window, offset, &mut out))?;
        Ok(PyBytes::new(py, &out))
    }

    /// Stores through a window: one store for 1, 2, 4 or 8 aligned bytes, else a burst.
    fn write(&mut self, py: Python<'_>, window: u32, offset: u64, bytes: &[u8]) -> PyResult<()> {
        let window = self.window(window)?;
        self.call(py, |machine| machine.write(window, offset, bytes))
    }

    /// Reads a register of the management core.
    fn arc_read(&mut self, py: Python<'_>, offset: u64) -> PyResult<u32> {
        self.call(py, |machine| machine.arc_read(offset))
    }

    /// Lets time pass, in nanoseconds.
    fn wait(&mut self, py: Python<'_>, ns: u64) -> PyResult<()> {
        self.call(py, |machine| machine.wait(ns))
    }

    /// Nanoseconds since the machine was made.
    fn now(&self) -> u64 {
        self.machine.now()
    }

    /// Memory of a tile as it is, without taking time.
    fn peek<'py>(&self, py: Python<'py>, x: u32, y: u32, addr: u64, bytes: usize) -> PyResult<Bound<'py, PyBytes>> {
        let (tile, mut out) = (Xy { x: coordinate(x)?, y: coordinate(y)? }, room(bytes)?);
        self.machine.peek(tile, addr, &mut out).map_err(QueueError::new_err)?;
        Ok(PyBytes::new(py, &out))
    }

    /// What was found, each as (code, text).
    fn findings(&self) -> Vec<(&'static str, String)> {
        self.machine.findings().iter().map(|finding| (finding.hazard.def().code, finding.to_string())).collect()
    }

    /// The last error, or `None`.
    fn last_error(&self) -> Option<String> {
        self.last.clone()
    }
}
