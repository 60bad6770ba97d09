//! Signals: sending, consuming, waiting.

use slipring_machine::Pipe;
use slipring_program::{Finding, Kind, SiteRef, SyncDecl, SyncRef, SyncRole};

use crate::agent::AgentId;
use crate::engine::Engine;
use crate::observe::{Observer, Stall};
use crate::report;
use crate::state::{PipeState, ScalarState, Signal};
use crate::suppose::Suppose;

impl Engine<'_> {
    /// The object that a step refers to: its index in the program.
    pub fn resolve(&self, core: usize, sync: SyncRef, site: SiteRef) -> Result<u32, Box<Finding>> {
        let index = self.cores[core].value(sync.index);
        if index < u64::from(sync.count) {
            return Ok(sync.first + index as u32);
        }
        let objects = match self.program.syncs.get(sync.first as usize) {
            Some(decl) if sync.count > 0 => format!(", `{}` and what follows it", decl.name),
            _ => String::new(),
        };
        let message =
            format!("index {} is not a synchronisation object: there are {}{objects}", index as i64, sync.count);
        Err(report::error_at(Kind::SyncIndex, site, "computed here", message))
    }

    pub fn state_index(&self, core: usize, sync: u32) -> usize {
        self.cores[core].agent.cluster as usize * self.program.syncs.len() + sync as usize
    }

    /// Cycle at which the waiter sees a signal sent now.
    fn visible(&mut self, index: usize, decl: &SyncDecl, at: u64) -> u64 {
        let sync = &self.launch.platform.sync;
        let latency = if decl.setter == decl.waiter { 0 } else { sync.cross_core_latency };
        at.saturating_add(self.clocks.way(index, u64::from(sync.cycles) + u64::from(latency)))
    }

    /// Sends a signal. The first waiter receives it; otherwise it is kept.
    ///
    /// It counts against the object's maximum immediately, although the waiter sees it only later: a program that is
    /// safe from overflow has consumed the earlier signals before it sends.
    pub fn signal(&mut self, core: usize, pipe: Pipe, sync: u32, at: u64, site: SiteRef) -> Result<(), Box<Finding>> {
        let decl = &self.program.syncs[sync as usize];
        let index = self.state_index(core, sync);
        let visible = self.visible(index, decl, at);
        let state = &mut self.syncs[index];
        let supposed = self.launch.suppose.has_slack();
        let lost = !supposed && state.waiters.is_empty() && state.signals.len() >= decl.max.max(1) as usize;
        if lost && !decl.saturates {
            return Err(self.overflow(core, pipe, sync, site));
        }
        state.sets += 1;
        state.last_set = Some(site);
        let woken = (!state.waiters.is_empty()).then(|| state.waiters.remove(0));
        match woken {
            Some(_) => state.waits += 1,
            None if lost => {}
            None if state.owed > 0 => (state.owed, state.paid) = (state.owed - 1, visible),
            None => state.signals.push_back(Signal { visible, site: Some(site) }),
        }
        self.observer.set(at, self.agent(core, pipe), sync, lost, site);
        if let Some(waiter) = woken {
            self.wake(waiter, index, visible);
        }
        Ok(())
    }

    /// A waiting agent has its signal from `visible` on.
    pub fn wake(&mut self, waiter: AgentId, sync: usize, visible: u64) {
        let core = waiter.core();
        let site = match waiter.pipe() {
            Pipe::S => {
                self.cores[core].state = ScalarState::Taken;
                Some(self.site(core))
            }
            pipe => {
                let unit = &mut self.cores[core].pipes[pipe.index()];
                unit.state = PipeState::Running;
                unit.front().map(|entry| entry.site)
            }
        };
        self.syncs[sync].last_wait = site;
        let cycles = self.sync_cycles(core, waiter.pipe());
        self.schedule(visible.saturating_add(cycles), waiter);
    }

    /// Consumes the oldest signal for a wait that starts now and returns when the wait is over; without a signal the
    /// agent is recorded as waiting.
    pub fn take(&mut self, core: usize, pipe: Pipe, sync: u32, at: u64, site: SiteRef) -> Option<u64> {
        let index = self.state_index(core, sync);
        let cycles = self.sync_cycles(core, pipe);
        let state = &mut self.syncs[index];
        match state.signals.pop_front() {
            Some(signal) => {
                state.waits += 1;
                state.last_wait = Some(site);
                Some(at.max(signal.visible).saturating_add(cycles))
            }
            None if state.owed < self.launch.suppose.slack(sync, site) => {
                state.waits += 1;
                let all = self.launch.suppose.slack(sync, site) == Suppose::ALL;
                (state.owed, state.last_wait) = (state.owed + 1, Some(site));
                Some(if all { at } else { at.max(state.paid) }.saturating_add(cycles))
            }
            None => {
                state.waiters.push(AgentId::new(core, pipe));
                None
            }
        }
    }

    /// Reports that a wait which started at `since` is over.
    pub fn wait_over(&mut self, core: usize, pipe: Pipe, sync: u32, since: u64, at: u64, site: SiteRef) {
        let agent = self.agent(core, pipe);
        let satisfied = at.saturating_sub(u64::from(self.launch.platform.sync.cycles));
        self.tell_stall(since, satisfied, agent, Stall::Wait(sync), site);
        self.observer.wait(at, agent, sync, site);
    }

    /// Counts an issued set or wait: the number in flight follows from program order alone.
    pub fn note_issued(&mut self, core: usize, sync: u32, by: i64, site: SiteRef) {
        let index = self.state_index(core, sync);
        let state = &mut self.syncs[index];
        state.issued += by;
        state.last_issued = Some(site);
    }

    /// Reports a flag that is in flight when library code is about to set it and wait for it.
    pub fn is_clear(&self, core: usize, sync: u32, site: SiteRef) -> Result<(), Box<Finding>> {
        let decl = &self.program.syncs[sync as usize];
        let state = &self.syncs[self.state_index(core, sync)];
        let (open, other) = match state.issued {
            0 => return Ok(()),
            1.. => ("is set but not waited for yet", "set here"),
            _ => ("is waited for and not set yet", "waited for here"),
        };
        let op = &self.program.sites[site as usize].op;
        let message = format!("`{op}` sets and waits for {} itself, which {open}", decl.name);
        let mut finding =
            report::error_at(Kind::LibraryFlag, site, "the public library uses this flag inside", message);
        finding.secondary.extend(state.last_issued.map(|earlier| report::label(earlier, other)));
        finding.notes.push("its set is lost, or its wait consumes the signal of the program".to_string());
        finding.hint = Some(match decl.role {
            SyncRole::Event { from, to, id } => {
                format!("use another id than {id} from {from} to {to}, or wait for the flag before this op")
            }
            _ => "use another flag".to_string(),
        });
        Err(finding)
    }

    fn overflow(&self, core: usize, pipe: Pipe, sync: u32, site: SiteRef) -> Box<Finding> {
        let decl = &self.program.syncs[sync as usize];
        let state = &self.syncs[self.state_index(core, sync)];
        let agent = self.agent(core, pipe);
        let held = match decl.max {
            0 | 1 => "it is still set".to_string(),
            max => format!("it is at its maximum of {max}"),
        };
        let message = format!("{agent} sets {}, but {held}: the signal would be lost", decl.name);
        let mut finding = report::error_at(Kind::FlagOverflow, site, "there is no room for this signal", message);
        if let Some(earlier) = state.signals.back().and_then(|signal| signal.site) {
            finding.secondary.push(report::label(earlier, "the earlier set, not waited for yet"));
        }
        finding.notes.push(format!(
            "{} so far: set {}, waited for {}",
            decl.name,
            report::count(state.sets, "time"),
            report::count(state.waits, "time")
        ));
        finding.hint = Some(match decl.role {
            SyncRole::RingFree { .. } => {
                "a slot was freed twice: each free needs a pop before it, and slots start free once the pipe is initialised"
                    .to_string()
            }
            SyncRole::RingReady { .. } => {
                "a slot was overwritten while it still held a tile: each push must first wait for the free signal of its slot"
                    .to_string()
            }
            SyncRole::Event { from, to, id } => {
                format!("wait for the event ({from} to {to}, id {id}) before it is set again, or use another id")
            }
            _ => {
                format!("{} must wait for {} before {} sets it again", decl.waiter, decl.name, decl.setter)
            }
        });
        finding
    }
}
