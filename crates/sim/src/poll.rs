//! Cores that poll a value in memory until others have changed it.

use slipring_machine::Pipe;
use slipring_program::{Access, Inst};
use slipring_tile::Space;

use crate::agent::AgentId;
use crate::engine::Engine;
use crate::observe::Stall;
use crate::state::ScalarState;

impl Engine<'_> {
    /// Work has changed memory: polling cores read again.
    pub fn changed(&mut self, writes: bool, at: u64) {
        if self.polls.any && writes {
            self.polls.changed = true;
            if self.polls.waiting > 0 {
                self.look_again(at);
            }
        }
    }

    /// Lets polling cores read again if something may have changed; false if nothing has, or nobody polls.
    pub fn poll(&mut self) -> bool {
        if self.polls.waiting == 0 {
            return false;
        }
        let at = match std::mem::take(&mut self.polls.changed) {
            true => Some(self.now),
            false => self.outside.as_mut().and_then(|outside| outside.change(self.now, &mut self.memory)),
        };
        match at {
            Some(at) => {
                self.now = self.now.max(at);
                self.look_again(self.now);
                true
            }
            None => false,
        }
    }

    fn look_again(&mut self, at: u64) {
        self.polls.waiting = 0;
        for core in 0..self.cores.len() {
            let unit = &mut self.cores[core];
            if unit.state != ScalarState::Polling {
                continue;
            }
            let Inst::Poll { to, .. } = &self.program.cores[unit.position].insts[unit.pc] else { continue };
            let (agent, since, site) = (unit.agent, unit.since, self.program.cores[unit.position].inst_sites[unit.pc]);
            let at = at.max(since);
            (unit.state, unit.since, unit.pc) = (ScalarState::Running, at, *to as usize);
            self.tell_stall(since, at, agent, Stall::Signal, site);
            if self.launch.mode == crate::ExecutionMode::Pipes {
                self.schedule(at, AgentId::new(core, Pipe::S));
            }
        }
    }
}

/// True if work writes global memory.
pub(crate) fn writes_gm(access: &Access) -> bool {
    access.writes.iter().any(|range| range.space == Space::Gm)
}
