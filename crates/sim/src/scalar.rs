//! The scalar unit: runs ahead on its own instructions, and waits for its turn before anything that others can observe.

use slipring_machine::Pipe;
use slipring_program::{Cancel, CoreProgram, Finding, Inst, Operand, SiteRef, Special, SyncRef, Trap, gm_address};

use crate::agent::{Agent, AgentId};
use crate::ahead::Ahead;
use crate::engine::{Engine, Next};
use crate::observe::{Issued, Observer, Stall};
use crate::products::columns_of;
use crate::registers::value;
use crate::state::{Core, Entry, ScalarState, What};
use crate::{ArgValue, Launch, report};

/// Where a sequence of register instructions stopped.
pub(crate) enum Stop {
    /// At an instruction with effects that others can observe.
    Shared,
    /// The limit is exhausted.
    Limit,
    /// At an instruction whose result overflows its type, or that uses such a value.
    Wraps,
    /// In a loop found to be infinite, if that stops the run.
    Endless,
    Trap(Trap),
}

/// Executes register-only instructions, up to the first that is not one, or that involves overflowed values; with `ANY`
/// the latter are executed like all others.
#[inline]
pub(crate) fn run_registers<const ANY: bool>(
    core: &mut Core,
    code: &CoreProgram,
    launch: &Launch<'_>,
    cost: u64,
    at: &mut u64,
    steps: &mut u64,
) -> Stop {
    let insts = code.insts.as_slice();
    let mut pc = core.pc;
    let mut taken = 0u64;
    if !ANY && !core.meant.is_empty() && *steps > 0 {
        return Stop::Wraps;
    }
    let stop = loop {
        if taken == *steps {
            break Stop::Limit;
        }
        let regs = &mut core.regs;
        match &insts[pc] {
            Inst::Scalar { f, law, d, args } => {
                let values = args.map(|a| value(regs, a));
                match f(values) {
                    Ok(result) if !ANY && !law.fits(values, result) => break Stop::Wraps,
                    Ok(result) => regs[d.0 as usize] = result,
                    Err(trap) => break Stop::Trap(trap),
                }
            }
            Inst::Move { d, a } => regs[d.0 as usize] = value(regs, *a),
            Inst::Add { d, a, b } => regs[d.0 as usize] = value(regs, *a).wrapping_add(value(regs, *b)),
            Inst::Special { d, which } => regs[d.0 as usize] = special(*which, core.agent, launch),
            Inst::Jump { to } => {
                if (*to as usize) <= pc
                    && let Some(watch) = &mut core.watch
                    && watch.jump(pc, regs, code.inst_sites[pc], launch.stop_endless)
                {
                    break Stop::Endless;
                }
                pc = *to as usize;
                taken += 1;
                continue;
            }
            Inst::JumpIfZero { a, to } => {
                pc = if value(regs, *a) == 0 { *to as usize } else { pc + 1 };
                taken += 1;
                continue;
            }
            Inst::JumpIfGe { a, b, to } => {
                let leaves = value(regs, *a) as i64 >= value(regs, *b) as i64;
                pc = if leaves { *to as usize } else { pc + 1 };
                taken += 1;
                continue;
            }
            _ => break Stop::Shared,
        }
        pc += 1;
        taken += 1;
    };
    core.pc = pc;
    *steps -= taken;
    *at = at.saturating_add(taken.saturating_mul(cost));
    stop
}

/// A value describing the launch. Kept out of line of the code that runs in loops.
#[inline(never)]
fn special(which: Special, agent: Agent, launch: &Launch<'_>) -> u64 {
    match which {
        Special::BlockIdx => u64::from(agent.block),
        Special::BlockNum => u64::from(launch.all_blocks()),
        Special::SubblockIdx => u64::from(agent.role.subblock()),
        Special::SubblockNum => subblocks(launch),
        Special::Param(param) => match launch.args[param as usize] {
            ArgValue::Buffer(index) => gm_address(index, 0),
            ArgValue::Part { buffer, offset } => gm_address(buffer, offset),
            ArgValue::Scalar(value) => value,
        },
    }
}

/// Number of Vector cores that run the program; 1 if none does.
fn subblocks(launch: &Launch<'_>) -> u64 {
    let vectors = launch.program.cores.iter().filter(|c| c.role.kind() == slipring_machine::CoreKind::Vector);
    (vectors.count() as u64).max(1)
}

impl Engine<'_> {
    /// The current instruction's location of a scalar unit.
    pub fn site(&self, core: usize) -> SiteRef {
        let core = &self.cores[core];
        self.program.cores[core.position].inst_sites[core.pc]
    }

    /// Resumes a scalar unit at its cycle and runs it until it must yield to others or wait.
    pub fn step_scalar(&mut self, core: usize, at: u64) -> Next {
        self.resume(core, at)?;
        if self.cores[core].state != ScalarState::Running {
            return Ok(None);
        }
        let me = AgentId::new(core, Pipe::S);
        let mut at = at;
        loop {
            match self.upcoming(core) {
                Upcoming::Registers => {
                    self.registers(core, &mut at)?;
                    continue;
                }
                Upcoming::HeldUp(pipe) => {
                    self.stand(core, ScalarState::QueueFull(pipe), at);
                    return Ok(None);
                }
                Upcoming::Shared => {}
            }
            if !self.is_first(at, me) {
                return Ok(Some(at));
            }
            match self.shared(core, at)? {
                Progress::Go(next) => at = next,
                Progress::Until(done) => return Ok(Some(done)),
                Progress::Stop => return Ok(None),
            }
        }
    }

    #[inline]
    fn upcoming(&self, core: usize) -> Upcoming {
        let unit = &self.cores[core];
        match self.ahead[unit.position][unit.pc] {
            Ahead::Registers => Upcoming::Registers,
            Ahead::Pipe(pipe) if unit.pipes[pipe.index()].is_full() => Upcoming::HeldUp(pipe),
            Ahead::Pipe(_) | Ahead::Shared => Upcoming::Shared,
        }
    }

    /// Deducts one instruction from the limit, and checks the values that it depends on.
    pub fn spend(&mut self, core: usize) -> Result<(), Box<Finding>> {
        self.steps = self.steps.checked_sub(1).ok_or_else(|| self.step_limit(core))?;
        self.check_numbers(core)
    }

    fn step_limit(&self, core: usize) -> Box<Finding> {
        let (limit, role) = (self.launch.limits.steps, self.cores[core].agent.role);
        self.limit_at(core, report::step_limit(limit, self.site(core), role))
    }

    /// Adds to the finding of a stopped run the loop it was in.
    pub fn limit_at(&self, core: usize, mut finding: Box<Finding>) -> Box<Finding> {
        let unit = &self.cores[core];
        let code = &self.program.cores[unit.position];
        let endless = self.cores.iter().find_map(|core| core.watch.as_ref()?.found);
        report::in_loop(&mut finding, code, unit.pc, endless);
        finding
    }

    /// Executes one instruction that involves overflowed values; returns how the run stops at it, if it does.
    fn with_numbers(&mut self, core: usize, at: &mut u64, cost: u64) -> Result<Option<Stop>, Box<Finding>> {
        self.check_numbers(core)?;
        if self.steps.is_multiple_of(Cancel::STRIDE) && self.launch.cancel.is_cancelled() {
            return Err(report::cancelled());
        }
        let unit = &mut self.cores[core];
        let code = &self.program.cores[unit.position];
        unit.meant.follow(&code.insts[unit.pc], code.inst_sites[unit.pc], &unit.regs);
        let mut left = 1;
        let stop = run_registers::<true>(unit, code, self.launch, cost, at, &mut left);
        self.steps -= 1 - left;
        Ok(Some(stop).filter(|stop| !matches!(stop, Stop::Limit)))
    }

    /// Runs register instructions; `at` becomes the cycle of the next instruction with effects that others can observe.
    pub fn registers(&mut self, core: usize, at: &mut u64) -> Result<(), Box<Finding>> {
        let cost = self.scalar_cycles(core);
        let mut unit = &mut self.cores[core];
        let code = &self.program.cores[unit.position];
        let stop = loop {
            // Limited chunks, so that cancellation is noticed in between.
            let most = self.steps.min(Cancel::STRIDE);
            let mut left = most;
            let stop = run_registers::<false>(unit, code, self.launch, cost, at, &mut left);
            self.steps -= most - left;
            match stop {
                Stop::Wraps => match self.with_numbers(core, at, cost)? {
                    Some(stop) => break stop,
                    None => unit = &mut self.cores[core],
                },
                Stop::Limit if self.launch.cancel.is_cancelled() => return Err(report::cancelled()),
                Stop::Limit if self.steps > 0 => {}
                stop => break stop,
            }
        };
        match stop {
            Stop::Shared | Stop::Wraps => Ok(()),
            Stop::Limit => Err(self.step_limit(core)),
            Stop::Endless => {
                let unit = &self.cores[core];
                let (site, rounds) = unit.watch.as_ref().and_then(|watch| watch.found).unwrap_or((self.site(core), 0));
                Err(report::endless_loop(site, rounds, unit.agent.role))
            }
            Stop::Trap(trap) => {
                let (kind, message) = trap.says();
                let role = self.cores[core].agent.role;
                Err(report::error_at(kind, self.site(core), &format!("executed by {role}"), message))
            }
        }
    }

    /// The instruction that the scalar unit was waiting at is complete.
    #[inline]
    fn resume(&mut self, core: usize, at: u64) -> Result<(), Box<Finding>> {
        if self.cores[core].state == ScalarState::Running { Ok(()) } else { self.resume_from(core, at) }
    }

    fn resume_from(&mut self, core: usize, at: u64) -> Result<(), Box<Finding>> {
        let unit = &self.cores[core];
        let (agent, since, sync, site) = (unit.agent, unit.since, unit.waits_for, self.site(core));
        match unit.state {
            ScalarState::Running
            | ScalarState::Blocked
            | ScalarState::Met
            | ScalarState::Polling
            | ScalarState::Ended => return Ok(()),
            ScalarState::Working => {
                let value = self.finish_work(core, Pipe::S, at)?;
                self.store_result(core, Pipe::S, value);
                self.cores[core].pc += 1;
            }
            ScalarState::Taken => {
                self.wait_over(core, Pipe::S, sync, since, at, site);
                self.cores[core].pc += 1;
            }
            ScalarState::QueueFull(pipe) => self.tell_stall(since, at, agent, Stall::QueueFull(pipe), site),
            ScalarState::Draining => {
                self.settle(core, None)?;
                self.tell_stall(since, at, agent, Stall::Drain, site);
                self.observer.barrier(at, agent, site);
                self.cores[core].pc += 1;
            }
        }
        self.cores[core].state = ScalarState::Running;
        Ok(())
    }

    /// Executes an instruction with effects that others can observe, at its cycle.
    fn shared(&mut self, core: usize, at: u64) -> Result<Progress, Box<Finding>> {
        let unit = &self.cores[core];
        let code = &self.program.cores[unit.position];
        let site = code.inst_sites[unit.pc];
        let inst = &code.insts[unit.pc];
        if self.asks(core, inst, site)? {
            self.cores[core].pc += 1;
            return Ok(Progress::Go(at));
        }
        self.spend(core)?;
        let unit = &self.cores[core];
        match inst {
            Inst::Issue { work } => match code.works[*work as usize].pipe {
                Pipe::S => {
                    let entry = Entry { what: What::Work, id: *work, site, ticket: 0 };
                    self.push_entry(core, Pipe::S, entry);
                    self.observer.issue(at, self.agent(core, Pipe::S), Issued::Work(*work), site);
                    let done = self.start_work(core, Pipe::S, at)?;
                    self.stand(core, ScalarState::Working, at);
                    Ok(Progress::Until(done))
                }
                pipe => {
                    let entry = Entry { what: What::Work, id: *work, site, ticket: 0 };
                    self.issue(core, pipe, entry, Issued::Work(*work), at)
                }
            },
            Inst::Set { pipe, sync } => {
                let id = self.resolve(core, *sync, site)?;
                self.note_issued(core, id, 1, site);
                if *pipe != Pipe::S {
                    let entry = Entry { what: What::Set, id, site, ticket: 0 };
                    return self.issue(core, *pipe, entry, Issued::Set(id), at);
                }
                self.signal(core, Pipe::S, id, at, site)?;
                self.cores[core].pc += 1;
                Ok(Progress::Go(at.saturating_add(self.sync_cycles(core, Pipe::S))))
            }
            Inst::Wait { pipe, sync } => self.wait(core, *pipe, *sync, at, site),
            Inst::Acquire { pipe, token, waits } => {
                let id = self.resolve(core, *token, site)?;
                let ticket = self.hold(core, *pipe, id, *waits, site);
                if *waits {
                    return self.issue(
                        core,
                        *pipe,
                        Entry { what: What::Acquire, id, site, ticket },
                        Issued::Wait(id),
                        at,
                    );
                }
                self.cores[core].pc += 1;
                Ok(Progress::Go(self.after_scalar(core, at)))
            }
            Inst::Release { pipe, token, deferred } => {
                let id = self.resolve(core, *token, site)?;
                let (ticket, after) = self.give_back(core, *pipe, id, *deferred, site)?;
                let step = Issued::Release { token: id, deferred: *deferred, after };
                self.issue(core, *pipe, Entry { what: What::Release, id, site, ticket }, step, at)
            }
            Inst::Barrier { pipe: Some(pipe) } if *pipe != Pipe::S => {
                self.issue(core, *pipe, Entry { what: What::Barrier, id: 0, site, ticket: 0 }, Issued::Barrier, at)
            }
            Inst::Barrier { pipe: None } if unit.busy_pipes > 0 => {
                self.stand(core, ScalarState::Draining, at);
                Ok(Progress::Stop)
            }
            Inst::Barrier { pipe } => {
                if pipe.is_none() {
                    self.settle(core, None)?;
                    self.observer.barrier(at, self.agent(core, Pipe::S), site);
                }
                self.cores[core].pc += 1;
                Ok(Progress::Go(self.after_scalar(core, at)))
            }
            Inst::Meet { .. } => {
                self.stand(core, ScalarState::Met, at);
                Ok(Progress::Stop)
            }
            Inst::Poll { a, .. } if unit.value(*a) == 0 => {
                self.stand(core, ScalarState::Polling, at);
                self.polls.waiting += 1;
                Ok(Progress::Stop)
            }
            Inst::Poll { .. } => {
                let agent = self.agent(core, Pipe::S);
                let seen = self.outside.as_mut().map_or(at, |outside| outside.there(at, agent).max(at));
                if seen > at {
                    let id = self.cores[core].agent;
                    self.tell_stall(at, seen, id, Stall::Signal, site);
                }
                self.observer.awaited(seen, agent, site);
                self.cores[core].pc += 1;
                Ok(Progress::Go(self.after_scalar(core, seen)))
            }
            Inst::Trap { message } => {
                let role = unit.agent.role;
                Err(report::error_at("trap", site, &format!("executed by {role}"), message.to_string()))
            }
            _ => {
                self.end_core(core, at)?;
                Ok(Progress::Stop)
            }
        }
    }

    /// Evaluates an instruction that only checks something; false for all others.
    fn asks(&mut self, core: usize, inst: &Inst, site: SiteRef) -> Result<bool, Box<Finding>> {
        let value = |operand: &Operand| self.cores[core].value(*operand);
        match inst {
            Inst::Inside { sync } => {
                let id = self.resolve(core, *sync, site)?;
                self.is_clear(core, id, site)?;
            }
            Inst::Product { at, m, n, goes_on } => {
                let [at, m, n] = [at, m, n].map(value);
                let products = &mut self.cores[core].products;
                if *goes_on {
                    products.read(at, n, columns_of(m), &self.program.sites, site)?;
                }
                products.write(at, m, n, site);
            }
            Inst::FromProduct { at, rows, cols, pitch } => {
                let [at, rows, cols] = [at, rows, cols].map(value);
                let pitch = pitch.map_or(columns_of(rows), u64::from);
                self.cores[core].products.read(at, cols, pitch, &self.program.sites, site)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The program of a core has ended.
    pub fn end_core(&mut self, core: usize, at: u64) -> Result<(), Box<Finding>> {
        self.stand(core, ScalarState::Ended, at);
        self.observer.core_end(at, self.agent(core, Pipe::S));
        self.agent_done(core, at)
    }

    fn wait(
        &mut self,
        core: usize,
        pipe: Pipe,
        sync: SyncRef,
        at: u64,
        site: SiteRef,
    ) -> Result<Progress, Box<Finding>> {
        let id = self.resolve(core, sync, site)?;
        self.note_issued(core, id, -1, site);
        if pipe != Pipe::S {
            return self.issue(core, pipe, Entry { what: What::Wait, id, site, ticket: 0 }, Issued::Wait(id), at);
        }
        let done = self.take(core, Pipe::S, id, at, site);
        self.stand(core, if done.is_some() { ScalarState::Taken } else { ScalarState::Blocked }, at);
        self.cores[core].waits_for = id;
        Ok(done.map_or(Progress::Stop, Progress::Until))
    }

    /// Appends an entry to a pipe with capacity.
    fn issue(
        &mut self,
        core: usize,
        pipe: Pipe,
        entry: Entry,
        step: Issued,
        at: u64,
    ) -> Result<Progress, Box<Finding>> {
        self.observer.issue(at, self.agent(core, pipe), step, entry.site);
        self.enqueue(core, pipe, entry, at)?;
        self.cores[core].pc += 1;
        Ok(Progress::Go(self.after_scalar(core, at)))
    }

    fn stand(&mut self, core: usize, state: ScalarState, at: u64) {
        let unit = &mut self.cores[core];
        unit.state = state;
        unit.since = at;
    }

    /// Cycles of a scalar instruction.
    #[inline]
    fn scalar_cycles(&mut self, core: usize) -> u64 {
        self.clocks.of(self.cores[core].agent, u64::from(self.launch.platform.cost.scalar))
    }

    /// The cycle after one scalar instruction.
    pub fn after_scalar(&mut self, core: usize, at: u64) -> u64 {
        at.saturating_add(self.scalar_cycles(core))
    }
}

/// The next kind of instruction in a core's program.
enum Upcoming {
    /// A register-only instruction.
    Registers,
    /// One with effects that others can observe.
    Shared,
    /// One that needs this pipe, whose queue is full. Only the pipe can free capacity, so the scalar unit can start
    /// waiting before its own cycle has come.
    HeldUp(Pipe),
}

/// The outcome of an instruction with effects that others can observe.
enum Progress {
    /// Done; the next instruction is at this cycle.
    Go(u64),
    /// It will be complete at this cycle.
    Until(u64),
    /// Another agent must act first.
    Stop,
}
