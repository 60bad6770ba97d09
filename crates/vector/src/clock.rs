//! Cycles of a vector function.
//!
//! Instructions are fetched in order, a few per cycle, and start as soon as the registers they read are ready and their
//! port is free: a waiting instruction does not delay those after it. Each occupies one unit of its port for some
//! cycles, and its results are ready after its latency. A fence holds back everything after it until the memory
//! accesses before it are complete. Loops and scalar instructions cost nothing here: the sequencer runs ahead.

use slipring_machine::{VectorOp, VectorPort, VectorSpec};

use crate::Slot;

/// The clock of one execution.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// Cycle in which the next instruction is fetched, and the number already fetched in that cycle.
    fetch: (u64, u32),
    /// Cycle before which nothing starts: the last fence.
    fence: u64,
    /// Cycle at which the last memory access completes.
    memory_done: u64,
    /// Cycle at which everything completes.
    done: u64,
    /// Cycle at which each register is ready.
    ready: Vec<u64>,
    /// Cycle from which each unit of each port is free, port by port.
    free: Vec<u64>,
}

/// The timing of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// The units of its port, as indices among all; none if it executes nowhere.
    units: (u32, u32),
    executes: bool,
    memory: bool,
    latency: u16,
    busy: u16,
    /// The start of the registers it reads, followed by those it writes, in a list shared by all instructions.
    slots: u32,
    reads: u16,
    writes: u16,
}

impl Cost {
    /// The timing of an instruction; the registers that it reads and writes are appended to the list.
    pub fn new(
        op: &VectorOp,
        memory: bool,
        [reads, writes]: [&[Slot]; 2],
        spec: &VectorSpec,
        list: &mut Vec<u16>,
    ) -> Cost {
        let before = VectorPort::ALL.iter().take_while(|port| **port != op.port);
        let first = before.map(|port| spec.units(*port)).sum::<u32>();
        let slots = list.len() as u32;
        list.extend(reads.iter().chain(writes).map(|slot| slot.0));
        Cost {
            units: (first, first + spec.units(op.port)),
            executes: op.port != VectorPort::None,
            memory,
            latency: op.latency,
            busy: op.busy,
            slots,
            reads: reads.len() as u16,
            writes: writes.len() as u16,
        }
    }
}

impl Clock {
    pub fn restart(&mut self, spec: &VectorSpec, slots: usize) {
        (self.fetch, self.fence, self.memory_done, self.done) = ((0, 0), 0, 0, 0);
        self.ready.clear();
        self.ready.resize(slots, 0);
        self.free.clear();
        self.free.resize(VectorPort::ALL.iter().map(|port| spec.units(*port) as usize).sum(), 0);
    }

    /// An instruction is fetched, with at most `issue` of them per cycle.
    #[inline]
    pub fn step(&mut self, cost: &Cost, list: &[u16], issue: u32) {
        let slots = &list[cost.slots as usize..][..usize::from(cost.reads) + usize::from(cost.writes)];
        let (reads, writes) = slots.split_at(usize::from(cost.reads));
        let mut start = self.fetch.0.max(self.fence);
        for slot in reads {
            start = start.max(self.ready[usize::from(*slot)]);
        }
        let mut done = start;
        if cost.executes {
            self.fetch.1 += 1;
            if self.fetch.1 == issue {
                self.fetch = (self.fetch.0 + 1, 0);
            }
            let units = &mut self.free[cost.units.0 as usize..cost.units.1 as usize];
            if let Some((first, rest)) = units.split_first_mut() {
                // The first of the units that become free earliest.
                let unit = rest.iter_mut().fold(first, |best, unit| if *unit < *best { unit } else { best });
                start = start.max(*unit);
                *unit = start + u64::from(cost.busy);
            }
            done = start + u64::from(cost.latency);
        }
        for slot in writes {
            self.ready[usize::from(*slot)] = done;
        }
        if cost.memory {
            self.memory_done = self.memory_done.max(done);
        }
        self.done = self.done.max(done);
    }

    /// Later instructions wait for the preceding memory accesses.
    pub fn fence(&mut self) {
        self.fence = self.fence.max(self.memory_done);
    }

    /// Cycles of the whole function.
    pub fn cycles(&self, spec: &VectorSpec) -> u64 {
        u64::from(spec.startup) + self.done + u64::from(spec.drain)
    }
}
