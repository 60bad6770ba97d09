//! A machine as held by hosts in other languages: pinned memory and windows by number, and the last error.

use std::collections::BTreeMap;
use std::ptr::NonNull;

use super::{Device, DeviceError, Pinned, Window, WindowTarget};
use crate::board::Board;
use crate::capture::Capture;
use crate::machine::{Config, Machine, Span, Status};
use crate::sanitize::{Finding, Hazard};
use crate::wire::Xy;
use crate::worker::Worker;

/// Maximum number of bytes of one read.
const MOST: usize = 1 << 32;

/// A machine, its pinned memory and open windows, and the last error.
pub struct Session {
    machine: Machine,
    pins: BTreeMap<u32, Pinned>,
    windows: BTreeMap<u32, Window>,
    last: Option<String>,
    board: Board,
}

impl Session {
    /// Creates a machine.
    ///
    /// # Errors
    /// The error in the configuration.
    pub fn new(config: Config) -> Result<Session, String> {
        let board = config.board.clone();
        let machine = Machine::new(config)?;
        Ok(Session { machine, pins: BTreeMap::new(), windows: BTreeMap::new(), last: None, board })
    }

    /// [`Machine::set_worker`].
    ///
    /// # Errors
    /// As there.
    pub fn set_worker(&mut self, worker: Box<dyn Worker>) -> Result<(), DeviceError> {
        self.call(|machine| machine.set_worker(worker).map_err(DeviceError::Refused))
    }

    fn call<T>(&mut self, f: impl FnOnce(&mut Machine) -> Result<T, DeviceError>) -> Result<T, DeviceError> {
        let result = f(&mut self.machine);
        self.noted(result)
    }

    fn noted<T>(&mut self, result: Result<T, DeviceError>) -> Result<T, DeviceError> {
        result.inspect_err(|error| self.last = Some(error.to_string()))
    }

    fn window(&mut self, id: u32) -> Result<Window, DeviceError> {
        let found = self.windows.get(&id).copied();
        self.noted(found.ok_or(DeviceError::Closed { what: "window", id }))
    }

    fn pinned(&mut self, id: u32) -> Result<Pinned, DeviceError> {
        let found = self.pins.get(&id).copied();
        self.noted(found.ok_or(DeviceError::Closed { what: "pinned memory", id }))
    }

    fn kept(&mut self, pinned: Pinned) -> Pinned {
        self.pins.insert(pinned.id, pinned);
        pinned
    }

    /// [`Device::pin`].
    ///
    /// # Errors
    /// As there.
    pub fn pin(&mut self, bytes: u64) -> Result<Pinned, DeviceError> {
        self.call(|machine| machine.pin(bytes)).map(|pinned| self.kept(pinned))
    }

    /// [`Machine::pin_borrowed`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Safety
    /// As there.
    pub unsafe fn pin_borrowed(&mut self, first: NonNull<u8>, bytes: usize) -> Result<Pinned, DeviceError> {
        // SAFETY: passed on to the caller.
        self.call(|machine| unsafe { machine.pin_borrowed(first, bytes) }).map(|pinned| self.kept(pinned))
    }

    /// [`Device::unpin`].
    ///
    /// # Errors
    /// As there.
    pub fn unpin(&mut self, id: u32) -> Result<(), DeviceError> {
        let pinned = self.pinned(id)?;
        self.call(|machine| machine.unpin(pinned))?;
        self.pins.remove(&id);
        Ok(())
    }

    /// [`Device::host_read`].
    ///
    /// # Errors
    /// As there.
    pub fn host_read(&mut self, id: u32, offset: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        let pinned = self.pinned(id)?;
        self.call(|machine| machine.host_read(pinned, offset, out))
    }

    /// [`Device::host_write`].
    ///
    /// # Errors
    /// As there.
    pub fn host_write(&mut self, id: u32, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let pinned = self.pinned(id)?;
        self.call(|machine| machine.host_write(pinned, offset, bytes))
    }

    /// [`Device::open`]: the window's number.
    ///
    /// # Errors
    /// As there; if there is no such network.
    pub fn open(&mut self, bytes: u64, target: WindowTarget) -> Result<u32, DeviceError> {
        self.on_a_network(target)?;
        let window = self.call(|machine| machine.open(bytes, target))?;
        self.windows.insert(window.id, window);
        Ok(window.id)
    }

    fn on_a_network(&mut self, target: WindowTarget) -> Result<(), DeviceError> {
        let known = match target.noc {
            0 | 1 => Ok(()),
            other => Err(DeviceError::Refused(format!("the networks are 0 and 1, not {other}"))),
        };
        self.noted(known)
    }

    /// [`Device::retarget`].
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn retarget(&mut self, id: u32, target: WindowTarget) -> Result<(), DeviceError> {
        self.on_a_network(target)?;
        let window = self.window(id)?;
        self.call(|machine| machine.retarget(window, target))
    }

    /// [`Device::close`].
    ///
    /// # Errors
    /// As there.
    pub fn close(&mut self, id: u32) -> Result<(), DeviceError> {
        let window = self.window(id)?;
        self.windows.remove(&id);
        self.call(|machine| machine.close(window))
    }

    /// [`Device::read`].
    ///
    /// # Errors
    /// As there.
    pub fn read(&mut self, id: u32, offset: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        let window = self.window(id)?;
        self.call(|machine| machine.read(window, offset, out))
    }

    /// [`Device::write`].
    ///
    /// # Errors
    /// As there.
    pub fn write(&mut self, id: u32, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let window = self.window(id)?;
        self.call(|machine| machine.write(window, offset, bytes))
    }

    /// [`Device::arc_read`].
    ///
    /// # Errors
    /// As there.
    pub fn arc_read(&mut self, offset: u64) -> Result<u32, DeviceError> {
        self.call(|machine| machine.arc_read(offset))
    }

    /// [`Device::wait`], in nanoseconds.
    ///
    /// # Errors
    /// As there.
    pub fn wait(&mut self, ns: u64) -> Result<(), DeviceError> {
        self.call(|machine| machine.wait(ns))
    }

    /// [`Machine::elapse`], in nanoseconds.
    ///
    /// # Errors
    /// As there.
    pub fn elapse(&mut self, ns: u64) -> Result<(), DeviceError> {
        self.call(|machine| machine.elapse(ns))
    }

    /// [`Device::now`], in nanoseconds.
    pub fn now(&self) -> u64 {
        self.machine.now()
    }

    /// Current memory of a tile, without taking time.
    ///
    /// # Errors
    /// If the tile has none there.
    pub fn peek(&mut self, tile: Xy, addr: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        let read = self.machine.peek(tile, addr, out);
        self.noted(read.map_err(DeviceError::Refused))
    }

    /// The board.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The progress of the machine.
    pub fn status(&self) -> Status {
        self.machine.status()
    }

    /// The wait relations, if nothing can happen by itself any more.
    pub fn diagnose(&self) -> Option<Finding> {
        self.machine.diagnose()
    }

    /// How often each allowed hazard was met.
    pub fn allowed(&self) -> Vec<(Hazard, u64)> {
        self.machine.allowed()
    }

    /// Spans of activity.
    ///
    /// # Errors
    /// If the configuration did not request them.
    pub fn spans(&mut self) -> Result<Vec<Span>, DeviceError> {
        let spans = self.machine.is_traced().then(|| self.machine.spans());
        self.noted(spans.ok_or_else(|| DeviceError::Refused("the machine keeps no trace: make it with `trace`".into())))
    }

    /// The queued stream.
    ///
    /// # Errors
    /// If the configuration did not request it.
    pub fn recorded(&mut self) -> Result<Capture, DeviceError> {
        let recorded = self.machine.recorded(&self.board.name);
        self.noted(
            recorded.ok_or_else(|| DeviceError::Refused("the machine keeps no records: make it with `record`".into())),
        )
    }

    /// The findings.
    pub fn findings(&self) -> Vec<Finding> {
        self.machine.findings()
    }

    /// The last error, or `None`.
    pub fn last_error(&self) -> Option<&str> {
        self.last.as_deref()
    }
}

/// A zeroed buffer for a read.
///
/// # Errors
/// If it exceeds the limit of a call, or the available memory.
pub fn read_buffer(bytes: usize) -> Result<Vec<u8>, DeviceError> {
    let mut out = Vec::new();
    if bytes > MOST || out.try_reserve_exact(bytes).is_err() {
        return Err(DeviceError::Refused(format!("{bytes} bytes are more than a call moves")));
    }
    out.resize(bytes, 0);
    Ok(out)
}
