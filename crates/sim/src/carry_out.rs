//! Execution of held work items: in program order, before anything that must come after them.

use slipring_machine::Pipe;
use slipring_program::{Access, Action, Execution, Fault, Finding, UNDEFINED};

use crate::engine::Engine;
use crate::held::{Held, in_order};
use crate::report;

impl Engine<'_> {
    /// True if the current work item of this core and pipe may be held: it only moves bytes, and nothing waits for it
    /// yet.
    pub fn may_hold(&self, core: usize, pipe: Pipe, id: u32) -> bool {
        let unit = &self.cores[core];
        let work = &self.program.cores[unit.position].works[id as usize];
        let quiet = match &work.effect {
            Action::Planned(effect) => !effect.answers(),
            Action::Discovering(_) => false,
        };
        quiet
            && work.result.is_none()
            && self.launch.values
            && unit.deferred == 0
            && self.launch.platform.needs_barrier(pipe)
    }

    /// Executes the held work that `which` accepts, in program order.
    pub fn carry_out_held(&mut self, which: impl Fn(&Held) -> bool) -> Result<(), Box<Finding>> {
        let mut at = 0;
        while at < self.held.len() {
            if !which(&self.held[at]) {
                at += 1;
                continue;
            }
            let held = self.held.remove(at);
            self.carry_out_one(&held)?;
        }
        Ok(())
    }

    /// Executes one held work item.
    pub fn carry_out_one(&mut self, held: &Held) -> Result<(), Box<Finding>> {
        let position = self.cores[held.core].position;
        let work = &self.program.cores[position].works[held.id as usize];
        let by_data = self.by_data[position][held.id as usize];
        let Action::Planned(effect) = &work.effect else { return Ok(()) };
        let (args, env, access, site) = (&*held.args, held.env, &held.access, held.site);
        let run = Execution { effect: &**effect, args, env, access, site, by_data };
        let outcome = self.memory.carry_out(&run, &mut self.scratch, &mut self.output);
        outcome.map_err(|fault: Fault| report::of_fault(fault, site, work))?;
        access.undefined.iter().for_each(|range| self.memory.fill(range, env, UNDEFINED));
        Ok(())
    }

    /// Executes work held by a core's pipe before the work that starts now, if the pipe keeps the two in order.
    pub fn keep_order(&mut self, core: usize, pipe: Pipe, access: &Access) -> Result<(), Box<Finding>> {
        let platform = self.launch.platform;
        self.carry_out_held(|held| {
            held.core == core && held.pipe == pipe && in_order(platform, pipe, &held.access, access)
        })
    }

    /// Executes everything a core has held, on one pipe or on all.
    pub fn settle(&mut self, core: usize, pipe: Option<Pipe>) -> Result<(), Box<Finding>> {
        if self.held.is_empty() {
            return Ok(());
        }
        self.carry_out_held(|held| held.core == core && pipe.is_none_or(|pipe| held.pipe == pipe))
    }
}
