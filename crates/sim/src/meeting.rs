//! Positions of all cores when only those at the head of a loop could proceed.

use slipring_machine::Pipe;
use slipring_program::Inst;

use crate::agent::AgentId;
use crate::cut::{At, CoreAt, CutPoint};
use crate::engine::Engine;
use crate::observe::Observer;
use crate::state::{Core, ScalarState};

impl Core {
    fn at(&self) -> At {
        match self.state {
            ScalarState::Met => At::Meet,
            ScalarState::Blocked => At::Wait(self.waits_for),
            ScalarState::Ended => At::End,
            _ => At::Pipe,
        }
    }
}

impl Engine<'_> {
    /// Releases the cores that are at the head of a loop where all meet; false if there are none.
    pub fn meet(&mut self) -> bool {
        if !self.cores.iter().any(|core| core.state == ScalarState::Met) {
            return false;
        }
        let at = self.now;
        let queued = |core: &'_ Core| core.pipes.iter().map(|pipe| pipe.queued().count()).sum::<usize>();
        let cores = self.cores.iter().enumerate().map(|(place, core)| CoreAt {
            cluster: core.agent.cluster,
            block: core.agent.block,
            role: core.agent.role,
            position: core.position,
            pc: core.pc,
            regs: &core.regs,
            at: core.at(),
            queued: queued(core),
            leaves: core.state == ScalarState::Met && self.leaves(place, core).is_some(),
        });
        let held = self
            .syncs
            .iter()
            .enumerate()
            .flat_map(|(object, state)| state.token.held.iter().map(move |(pipe, site)| (object, *pipe, *site)));
        let meeting = CutPoint {
            cores: cores.collect(),
            signals: self.syncs.iter().map(|state| state.signals.len() as u64).collect(),
            held: held.collect(),
            memory: &self.memory,
        };
        self.observer.meet(at, &meeting);
        for core in 0..self.cores.len() {
            if self.cores[core].state != ScalarState::Met {
                continue;
            }
            let leaves = self.leaves(core, &self.cores[core]);
            let unit = &mut self.cores[core];
            unit.pc = leaves.unwrap_or(unit.pc + 1);
            (unit.state, unit.since) = (ScalarState::Running, at);
            self.schedule(at, AgentId::new(core, Pipe::S));
        }
        self.meetings += 1;
        true
    }

    /// The target of a core that is at an [`Inst::Meet`] and leaves its loop.
    fn leaves(&self, place: usize, core: &Core) -> Option<usize> {
        let Inst::Meet { a, b, to } = &self.program.cores[core.position].insts[core.pc] else { return None };
        let leaves = match &self.launch.leave {
            Some(leave) => leave.get(self.meetings).is_none_or(|who| who.contains(&place)),
            None => core.value(*a) as i64 >= core.value(*b) as i64,
        };
        leaves.then_some(*to as usize)
    }
}
