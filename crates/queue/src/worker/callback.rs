//! A worker that is a function: it reads when it starts, and its output is written when its time is over.

use std::collections::BTreeMap;

use super::{Job, Worker, WorkerMemory};
use crate::wire::Xy;

/// The memory that a function writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Space {
    L1,
    Dram(u32),
    Host,
}

/// A write by a function, executed when its time is over.
#[derive(Clone, Debug)]
struct Write {
    space: Space,
    addr: u64,
    bytes: Vec<u8>,
}

/// The memory accessible to a function that acts as a worker. It reads its own writes.
pub struct Call<'a, 'm> {
    job: &'a Job,
    memory: &'a mut WorkerMemory<'m>,
    writes: Vec<Write>,
}

impl Call<'_, '_> {
    /// The launch.
    pub fn job(&self) -> &Job {
        self.job
    }

    /// Reads its L1.
    ///
    /// # Errors
    /// If the range leaves it.
    pub fn read(&mut self, addr: u32, out: &mut [u8]) -> Result<(), String> {
        self.memory.read(addr, out)?;
        self.over(Space::L1, addr.into(), out);
        Ok(())
    }

    /// Reads a DRAM bank.
    ///
    /// # Errors
    /// If there are no such bytes.
    pub fn read_dram(&mut self, bank: u32, addr: u64, out: &mut [u8]) -> Result<(), String> {
        self.memory.read_dram(bank, addr, out)?;
        self.over(Space::Dram(bank), addr, out);
        Ok(())
    }

    /// Reads host memory, at a device address without bit 60.
    ///
    /// # Errors
    /// If it is not pinned.
    pub fn read_host(&mut self, addr: u64, out: &mut [u8]) -> Result<(), String> {
        self.memory.read_host(addr, out)?;
        self.over(Space::Host, addr, out);
        Ok(())
    }

    /// Writes its L1.
    ///
    /// # Errors
    /// If the range leaves it.
    pub fn write(&mut self, addr: u32, bytes: &[u8]) -> Result<(), String> {
        self.memory.local(addr, bytes.len())?;
        self.later(Space::L1, addr.into(), bytes);
        Ok(())
    }

    /// Writes a DRAM bank.
    ///
    /// # Errors
    /// If there are no such bytes.
    pub fn write_dram(&mut self, bank: u32, addr: u64, bytes: &[u8]) -> Result<(), String> {
        self.memory.bank(bank, addr, bytes.len())?;
        self.later(Space::Dram(bank), addr, bytes);
        Ok(())
    }

    /// Writes host memory, at a device address without bit 60.
    ///
    /// # Errors
    /// If it is not pinned.
    pub fn write_host(&mut self, addr: u64, bytes: &[u8]) -> Result<(), String> {
        self.memory.host(addr, bytes.len())?;
        self.later(Space::Host, addr, bytes);
        Ok(())
    }

    fn later(&mut self, space: Space, addr: u64, bytes: &[u8]) {
        self.writes.push(Write { space, addr, bytes: bytes.to_vec() });
    }

    /// Overlays pending writes on data that was read.
    fn over(&self, space: Space, addr: u64, out: &mut [u8]) {
        let end = addr + out.len() as u64;
        for write in self.writes.iter().filter(|write| write.space == space) {
            let (from, to) = (addr.max(write.addr), end.min(write.addr + write.bytes.len() as u64));
            if from < to {
                let bytes = &write.bytes[(from - write.addr) as usize..(to - write.addr) as usize];
                out[(from - addr) as usize..(to - addr) as usize].copy_from_slice(bytes);
            }
        }
    }
}

/// A worker whose launches are calls of a function, which returns the number of cycles of each.
pub struct Callback<F> {
    function: F,
    /// Pending writes, by worker.
    pending: BTreeMap<Xy, Vec<Write>>,
}

impl<F: FnMut(&mut Call<'_, '_>) -> Result<u64, String>> Callback<F> {
    /// Workers that call a function: it returns cycles, or a sentence why it cannot run.
    pub fn new(function: F) -> Callback<F> {
        Callback { function, pending: BTreeMap::new() }
    }
}

impl<F: FnMut(&mut Call<'_, '_>) -> Result<u64, String>> Worker for Callback<F> {
    fn start(&mut self, job: &Job, memory: &mut WorkerMemory<'_>) -> Result<u64, String> {
        let mut call = Call { job, memory, writes: Vec::new() };
        let cycles = (self.function)(&mut call)?;
        // Pending writes of a worker that was reset are dropped.
        self.pending.insert(job.tile, call.writes);
        Ok(cycles)
    }

    fn finish(&mut self, job: &Job, memory: &mut WorkerMemory<'_>) -> Result<(), String> {
        for Write { space, addr, bytes } in self.pending.remove(&job.tile).unwrap_or_default() {
            match space {
                Space::L1 => memory.write(addr as u32, &bytes)?,
                Space::Dram(bank) => memory.write_dram(bank, addr, &bytes)?,
                Space::Host => memory.write_host(addr, &bytes)?,
            }
        }
        Ok(())
    }
}
