//! Cycles of a vector function.
//!
//! Instructions are fetched in order, a few in a cycle, and start as soon as the registers they read are there and
//! their port is free: an instruction that waits does not hold up those behind it. Each holds one unit of its port
//! for some cycles and its results are there after its latency. A fence holds back everything behind it until the
//! memory accesses before it are done. Loops and scalar instructions cost nothing here: the sequencer runs ahead.

use slipring_machine::{VectorPort, VectorSpec};

use crate::Step;

/// The clock of one execution.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// Cycle in which the next instruction is fetched, and how many of that cycle have been.
    fetch: (u64, u32),
    /// Cycle before which nothing starts: the last fence.
    fence: u64,
    /// Cycle at which the last memory access is done.
    memory_done: u64,
    /// Cycle at which everything is done.
    done: u64,
    /// Cycle at which each register is there.
    ready: Vec<u64>,
    /// Cycle from which each unit of each port is free.
    free: [Vec<u64>; VectorPort::ALL.len()],
}

impl Clock {
    pub fn restart(&mut self, spec: &VectorSpec, slots: usize) {
        (self.fetch, self.fence, self.memory_done, self.done) = ((0, 0), 0, 0, 0);
        self.ready.clear();
        self.ready.resize(slots, 0);
        for (free, port) in self.free.iter_mut().zip(VectorPort::ALL) {
            free.clear();
            free.resize(spec.units(port) as usize, 0);
        }
    }

    #[inline]
    pub fn step(&mut self, step: &Step, spec: &VectorSpec) {
        let mut start = self.fetch.0.max(self.fence);
        for slot in &step.reads {
            start = start.max(self.ready[usize::from(slot.0)]);
        }
        let cost = &step.cost;
        let done = match cost.port {
            VectorPort::None => start,
            port => {
                self.fetch.1 += 1;
                if self.fetch.1 == spec.issue {
                    self.fetch = (self.fetch.0 + 1, 0);
                }
                let units = &mut self.free[port as usize];
                if let Some(unit) = units.iter_mut().min_by_key(|free| **free) {
                    start = start.max(*unit);
                    *unit = start + u64::from(cost.busy);
                }
                start + u64::from(cost.latency)
            }
        };
        for slot in &step.writes {
            self.ready[usize::from(slot.0)] = done;
        }
        if step.memory.is_some() {
            self.memory_done = self.memory_done.max(done);
        }
        self.done = self.done.max(done);
    }

    /// What follows waits for the memory accesses before.
    pub fn fence(&mut self) {
        self.fence = self.fence.max(self.memory_done);
    }

    /// Cycles of the whole function.
    pub fn cycles(&self, spec: &VectorSpec) -> u64 {
        u64::from(spec.startup) + self.done + u64::from(spec.drain)
    }
}
