//! Workers: their handling of launch and go messages, and a trait for the code they run.
//!
//! This crate knows nothing of kernels. [`Worker`] is notified that a worker was launched, may read memory, and returns
//! how long it takes; when that time is over it may write. [`Acknowledge`] does nothing else; [`Callback`] is a
//! function; [`image`] is the format in which programs can be sent to workers that run them.

mod callback;
mod doing;
pub mod image;
mod tiles;
mod times;

pub use callback::{Call, Callback};
pub(crate) use doing::{Payload, Workers};
pub(crate) use times::{TIMES, Times};

use crate::machine::{Chip, Location, TileId};
use crate::wire::{LaunchMessage, Xy};

/// A launch of one worker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Job {
    /// The worker.
    pub tile: Xy,
    /// Its index among the workers, by row and column.
    pub worker: u32,
    /// Its launch message.
    pub launch: LaunchMessage,
    /// Its start in device cycles.
    pub cycle: u64,
}

/// The code that workers run. One value serves all workers of a machine.
pub trait Worker {
    /// A worker starts and does its reads. Returns its duration in cycles.
    ///
    /// # Errors
    /// A sentence why it cannot run what it was launched with.
    fn start(&mut self, job: &Job, memory: &mut WorkerMemory<'_>) -> Result<u64, String>;

    /// Its time is over and it does its writes.
    ///
    /// # Errors
    /// A sentence why it cannot.
    fn finish(&mut self, job: &Job, memory: &mut WorkerMemory<'_>) -> Result<(), String>;
}

/// Memory accessible to a worker: its own L1, DRAM, and pinned host memory.
pub struct WorkerMemory<'a> {
    pub(crate) memory: &'a mut crate::machine::Memory,
    pub(crate) chip: &'a Chip,
    pub(crate) tile: TileId,
    pub(crate) l1_bytes: u32,
    /// Its writes.
    pub(crate) wrote: &'a mut Vec<(Location, u64)>,
    /// Its reads of host memory.
    pub(crate) asked: &'a mut Vec<(Location, u64)>,
}

impl WorkerMemory<'_> {
    fn put(&mut self, place: Location, bytes: &[u8]) {
        self.memory.write(place, bytes);
        self.wrote.push((place, bytes.len() as u64));
    }

    fn local(&self, addr: u32, bytes: usize) -> Result<(), String> {
        match u64::from(addr) + bytes as u64 <= u64::from(self.l1_bytes) {
            true => Ok(()),
            false => Err(format!("{bytes} bytes at {addr:#x} leave its L1")),
        }
    }

    /// Bytes of its L1.
    pub fn l1_bytes(&self) -> u32 {
        self.l1_bytes
    }

    /// Reads its L1.
    ///
    /// # Errors
    /// If the range exceeds it.
    pub fn read(&self, addr: u32, out: &mut [u8]) -> Result<(), String> {
        self.local(addr, out.len())?;
        self.memory.read(Location::L1(self.tile, addr), out);
        Ok(())
    }

    /// Writes its L1.
    ///
    /// # Errors
    /// If the range exceeds it.
    pub fn write(&mut self, addr: u32, bytes: &[u8]) -> Result<(), String> {
        self.local(addr, bytes.len())?;
        self.put(Location::L1(self.tile, addr), bytes);
        Ok(())
    }

    /// Number of DRAM banks.
    pub fn banks(&self) -> u32 {
        self.chip.banks()
    }

    fn bank(&self, bank: u32, addr: u64, bytes: usize) -> Result<Location, String> {
        let inside = bank < self.chip.banks() && addr.saturating_add(bytes as u64) <= self.memory.bank_bytes;
        match inside {
            true => Ok(Location::Dram(bank as u8, addr)),
            false => Err(format!("there are no {bytes} bytes at {addr:#x} of DRAM bank {bank}")),
        }
    }

    /// Reads a DRAM bank.
    ///
    /// # Errors
    /// If there are no such bytes.
    pub fn read_dram(&self, bank: u32, addr: u64, out: &mut [u8]) -> Result<(), String> {
        let place = self.bank(bank, addr, out.len())?;
        self.memory.read(place, out);
        Ok(())
    }

    /// Writes a DRAM bank.
    ///
    /// # Errors
    /// If there are no such bytes.
    pub fn write_dram(&mut self, bank: u32, addr: u64, bytes: &[u8]) -> Result<(), String> {
        let place = self.bank(bank, addr, bytes.len())?;
        self.put(place, bytes);
        Ok(())
    }

    fn host(&self, addr: u64, bytes: usize) -> Result<Location, String> {
        let pinned = self.memory.host_at(addr, bytes as u64);
        pinned.ok_or_else(|| format!("{bytes} bytes at {addr:#x} of host memory are not pinned"))
    }

    /// Reads host memory, at a device address without bit 60.
    ///
    /// # Errors
    /// If it is not pinned.
    pub fn read_host(&mut self, addr: u64, out: &mut [u8]) -> Result<(), String> {
        let place = self.host(addr, out.len())?;
        self.asked.push((place, out.len() as u64));
        self.memory.read(place, out);
        Ok(())
    }

    /// Writes host memory, at a device address without bit 60.
    ///
    /// # Errors
    /// If it is not pinned.
    pub fn write_host(&mut self, addr: u64, bytes: &[u8]) -> Result<(), String> {
        let place = self.host(addr, bytes.len())?;
        self.put(place, bytes);
        Ok(())
    }
}

/// A worker that runs nothing: it only takes its time. For tests of drivers.
#[derive(Clone, Copy, Debug)]
pub struct Acknowledge {
    /// Duration of each launch, in device cycles.
    pub cycles: u64,
}

impl Default for Acknowledge {
    fn default() -> Acknowledge {
        Acknowledge { cycles: 1000 }
    }
}

impl Worker for Acknowledge {
    fn start(&mut self, _job: &Job, _memory: &mut WorkerMemory<'_>) -> Result<u64, String> {
        Ok(self.cycles)
    }

    fn finish(&mut self, _job: &Job, _memory: &mut WorkerMemory<'_>) -> Result<(), String> {
        Ok(())
    }
}
