//! The sequential semantics: each core's operations one at a time in program order.

use slipring_program::{Finding, Inst};

use crate::deadlock;
use crate::engine::Engine;
use crate::observe::{Issued, Observer};
use crate::report;
use crate::state::{Entry, ScalarState, What};

impl Engine<'_> {
    /// Runs the cores in turn, each until it must wait for another one, until all have ended.
    pub fn run_sequential(&mut self) -> Result<(), Box<Finding>> {
        loop {
            let mut moved = false;
            for core in 0..self.cores.len() {
                moved |= self.run_core(core)?;
            }
            if !moved && !self.poll() {
                break;
            }
        }
        if self.clusters.iter().any(|c| c.live > 0) { Err(deadlock::report(self)) } else { Ok(()) }
    }

    /// Runs one core as far as possible. True if it made progress.
    fn run_core(&mut self, core: usize) -> Result<bool, Box<Finding>> {
        let mut moved = false;
        loop {
            match self.cores[core].state {
                ScalarState::Ended | ScalarState::Polling => return Ok(moved),
                ScalarState::Blocked if !self.can_take(core) => return Ok(moved),
                _ => self.cores[core].state = ScalarState::Running,
            }
            if self.launch.cancel.is_cancelled() {
                return Err(report::cancelled());
            }
            let mut at = self.now;
            self.registers(core, &mut at)?;
            self.now = at;
            if at > self.launch.limits.cycles {
                return Err(report::cycle_limit(self.launch.limits.cycles, Some(self.site(core))));
            }
            if !self.run_one(core)? {
                return Ok(moved);
            }
            moved = true;
        }
    }

    fn can_take(&self, core: usize) -> bool {
        let unit = &self.cores[core];
        let index = unit.agent.cluster as usize * self.program.syncs.len() + unit.waits_for as usize;
        !self.syncs[index].signals.is_empty()
    }

    /// Executes a core's next instruction to completion. False if it must wait.
    fn run_one(&mut self, core: usize) -> Result<bool, Box<Finding>> {
        self.spend(core)?;
        let at = self.now;
        self.now = self.after_scalar(core, at);
        let unit = &self.cores[core];
        let code = &self.program.cores[unit.position];
        let (agent, site) = (unit.agent, code.inst_sites[unit.pc]);
        match &code.insts[unit.pc] {
            Inst::Issue { work } => {
                let pipe = code.works[*work as usize].pipe;
                self.push_entry(core, pipe, Entry { what: What::Work, id: *work, site, ticket: 0 });
                self.observer.issue(at, self.agent(core, pipe), Issued::Work(*work), site);
                self.now = self.start_work(core, pipe, at)?;
                let value = self.finish_work(core, pipe, self.now)?;
                self.store_result(core, pipe, value);
                self.cores[core].pc += 1;
            }
            Inst::Set { pipe, sync } => {
                let id = self.resolve(core, *sync, site)?;
                let decl = &self.program.syncs[id as usize];
                if decl.setter != decl.waiter {
                    self.signal(core, *pipe, id, at, site)?;
                }
                self.cores[core].pc += 1;
            }
            Inst::Wait { pipe, sync } => {
                let id = self.resolve(core, *sync, site)?;
                let decl = &self.program.syncs[id as usize];
                self.cores[core].waits_for = id;
                if decl.setter != decl.waiter {
                    if !self.can_take(core) {
                        self.cores[core].state = ScalarState::Blocked;
                        (self.now, self.steps) = (at, self.steps + 1);
                        return Ok(false);
                    }
                    self.take(core, *pipe, id, at, site);
                    self.observer.wait(at, self.agent(core, *pipe), id, site);
                }
                self.cores[core].pc += 1;
            }
            Inst::Meet { a, b, to } => {
                let leaves = unit.value(*a) as i64 >= unit.value(*b) as i64;
                self.cores[core].pc = if leaves { *to as usize } else { self.cores[core].pc + 1 };
            }
            Inst::Poll { a, .. } if unit.value(*a) == 0 => {
                (self.cores[core].state, self.cores[core].since) = (ScalarState::Polling, at);
                self.polls.waiting += 1;
                self.now = at;
                return Ok(false);
            }
            Inst::Poll { .. } => {
                self.observer.awaited(at, agent, site);
                self.cores[core].pc += 1;
            }
            Inst::Trap { message } => {
                return Err(report::error_at(
                    "trap",
                    site,
                    &format!("executed by {}", agent.role),
                    message.to_string(),
                ));
            }
            Inst::End => {
                self.now = at;
                self.end_core(core, at)?;
            }
            _ => self.cores[core].pc += 1,
        }
        Ok(true)
    }
}
