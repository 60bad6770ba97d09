//! The device interface that a host driver uses, and nothing else.

use thiserror::Error;

use crate::sanitize::Finding;
use crate::wire::{Rect, Xy};

/// Pinned host memory, as returned by [`Device::pin`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pinned {
    /// Its id; the first is 0.
    pub id: u32,
    /// Its size in bytes.
    pub bytes: u64,
    /// The device's address of its first byte. Bit 60 is set: the address leads through PCIe.
    pub noc_addr: u64,
}

/// How writes through a window are ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ordering {
    /// Writes may overtake each other.
    Relaxed,
    /// Each write arrives before the next access starts.
    #[default]
    Strict,
    /// Writes are not acknowledged.
    Posted,
}

/// The target of a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowTarget {
    /// The tile, or the rectangle if `multicast`.
    pub tiles: Rect,
    /// Whether writes go to the whole rectangle. Such windows cannot be read.
    pub multicast: bool,
    /// Address of the window's first byte in the tiles.
    pub addr: u64,
    /// Network, 0 or 1.
    pub noc: u8,
    /// How writes are ordered.
    pub ordering: Ordering,
}

impl WindowTarget {
    /// A window onto one tile, on network 0, strictly ordered.
    pub const fn tile(tile: Xy, addr: u64) -> WindowTarget {
        WindowTarget { tiles: Rect::new(tile, tile), multicast: false, addr, noc: 0, ordering: Ordering::Strict }
    }

    /// A window through which writes reach a whole rectangle, on network 0, strictly ordered.
    pub const fn rect(tiles: Rect, addr: u64) -> WindowTarget {
        WindowTarget { tiles, multicast: true, addr, noc: 0, ordering: Ordering::Strict }
    }
}

/// An open window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// Its id; ids of closed windows are reused.
    pub id: u32,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Why a device did not fulfil a driver's request.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum DeviceError {
    /// The driver did something that would break any board. The device accepts no further calls.
    #[error("{0}")]
    Violation(Box<Finding>),
    /// All windows of that size are open.
    #[error("no window of {bytes} bytes is free")]
    NoWindow {
        /// Requested size in bytes.
        bytes: u64,
    },
    /// The access exceeds the window, the pinned memory, or the registers.
    #[error("{bytes} bytes at {offset:#x} of {what} end past its {size:#x} bytes")]
    Bounds {
        /// The accessed object.
        what: &'static str,
        /// First byte.
        offset: u64,
        /// Number of bytes.
        bytes: u64,
        /// Size of the object in bytes.
        size: u64,
    },
    /// There is no such window or pinned memory, or it has been closed.
    #[error("{what} {id} is not open")]
    Closed {
        /// `window` or `pinned memory`.
        what: &'static str,
        /// Its id.
        id: u32,
    },
    /// The request is not possible.
    #[error("{0}")]
    Refused(String),
}

/// A board as a driver sees it: pinned memory, windows onto the tiles, registers, time.
///
/// One thread is enough: the device does its work inside these calls. Each takes as much simulated time as it would on
/// a board, and [`wait`](Device::wait) takes the given time. Stores by the host become visible to the device in the
/// order of the calls.
///
/// A call is one store, or one load, if it covers 1, 2, 4 or 8 naturally aligned bytes; a slot of `prefetch_q` must be
/// stored by one call with 2 bytes. Longer calls are bursts of stores in ascending order.
pub trait Device {
    /// Pins host memory, zeroed.
    ///
    /// # Errors
    /// If there is no space.
    fn pin(&mut self, bytes: u64) -> Result<Pinned, DeviceError>;

    /// Unpins memory.
    ///
    /// # Errors
    /// If it is not pinned.
    fn unpin(&mut self, memory: Pinned) -> Result<(), DeviceError>;

    /// Reads pinned memory as the host sees it now.
    ///
    /// # Errors
    /// If it is not pinned or the range exceeds it.
    fn host_read(&mut self, memory: Pinned, offset: u64, out: &mut [u8]) -> Result<(), DeviceError>;

    /// Writes pinned memory.
    ///
    /// # Errors
    /// If it is not pinned or the range exceeds it.
    fn host_write(&mut self, memory: Pinned, offset: u64, bytes: &[u8]) -> Result<(), DeviceError>;

    /// Opens a window of 2 MiB or 4 GiB.
    ///
    /// # Errors
    /// [`DeviceError::NoWindow`], or [`DeviceError::Refused`] for other sizes and an address that is not a multiple of the size.
    fn open(&mut self, bytes: u64, target: WindowTarget) -> Result<Window, DeviceError>;

    /// Retargets an open window.
    ///
    /// # Errors
    /// As [`open`](Device::open).
    fn retarget(&mut self, window: Window, target: WindowTarget) -> Result<(), DeviceError>;

    /// Closes a window.
    ///
    /// # Errors
    /// If it is not open.
    fn close(&mut self, window: Window) -> Result<(), DeviceError>;

    /// Loads through a window: L1, DRAM or the registers of a tile.
    ///
    /// # Errors
    /// If the window is not open, is a multicast one, or the range exceeds it.
    fn read(&mut self, window: Window, offset: u64, out: &mut [u8]) -> Result<(), DeviceError>;

    /// Stores through a window.
    ///
    /// # Errors
    /// If the window is not open or the range exceeds it, and [`DeviceError::Violation`].
    fn write(&mut self, window: Window, offset: u64, bytes: &[u8]) -> Result<(), DeviceError>;

    /// Reads a register of the board's management core: 4 bytes at an offset of its register space, such as 0x30434 for
    /// the address of the telemetry table.
    ///
    /// # Errors
    /// If there is no such register.
    fn arc_read(&mut self, offset: u64) -> Result<u32, DeviceError>;

    /// Lets time pass, in nanoseconds, like a driver's `sleep`.
    ///
    /// # Errors
    /// [`DeviceError::Violation`] if something happens meanwhile that would break any board.
    fn wait(&mut self, ns: u64) -> Result<(), DeviceError>;

    /// Nanoseconds since the device was created.
    fn now(&self) -> u64;

    /// Loads 4 bytes.
    ///
    /// # Errors
    /// As [`read`](Device::read).
    fn read32(&mut self, window: Window, offset: u64) -> Result<u32, DeviceError> {
        let mut bytes = [0; 4];
        self.read(window, offset, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Stores 4 bytes.
    ///
    /// # Errors
    /// As [`write`](Device::write).
    fn write32(&mut self, window: Window, offset: u64, value: u32) -> Result<(), DeviceError> {
        self.write(window, offset, &value.to_le_bytes())
    }

    /// Loads 2 bytes: a slot.
    ///
    /// # Errors
    /// As [`read`](Device::read).
    fn read16(&mut self, window: Window, offset: u64) -> Result<u16, DeviceError> {
        let mut bytes = [0; 2];
        self.read(window, offset, &mut bytes)?;
        Ok(u16::from_le_bytes(bytes))
    }

    /// Stores 2 bytes at once: a slot.
    ///
    /// # Errors
    /// As [`write`](Device::write).
    fn write16(&mut self, window: Window, offset: u64, value: u16) -> Result<(), DeviceError> {
        self.write(window, offset, &value.to_le_bytes())
    }
}

/// A driver may borrow its device.
impl<D: Device + ?Sized> Device for &mut D {
    fn pin(&mut self, bytes: u64) -> Result<Pinned, DeviceError> {
        (**self).pin(bytes)
    }

    fn unpin(&mut self, memory: Pinned) -> Result<(), DeviceError> {
        (**self).unpin(memory)
    }

    fn host_read(&mut self, memory: Pinned, offset: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        (**self).host_read(memory, offset, out)
    }

    fn host_write(&mut self, memory: Pinned, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        (**self).host_write(memory, offset, bytes)
    }

    fn open(&mut self, bytes: u64, target: WindowTarget) -> Result<Window, DeviceError> {
        (**self).open(bytes, target)
    }

    fn retarget(&mut self, window: Window, target: WindowTarget) -> Result<(), DeviceError> {
        (**self).retarget(window, target)
    }

    fn close(&mut self, window: Window) -> Result<(), DeviceError> {
        (**self).close(window)
    }

    fn read(&mut self, window: Window, offset: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        (**self).read(window, offset, out)
    }

    fn write(&mut self, window: Window, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        (**self).write(window, offset, bytes)
    }

    fn arc_read(&mut self, offset: u64) -> Result<u32, DeviceError> {
        (**self).arc_read(offset)
    }

    fn wait(&mut self, ns: u64) -> Result<(), DeviceError> {
        (**self).wait(ns)
    }

    fn now(&self) -> u64 {
        (**self).now()
    }
}
