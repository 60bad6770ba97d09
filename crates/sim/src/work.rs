//! Work: planning, checking, execution.

use slipring_machine::Pipe;
use slipring_program::{Access, Action, Asked, Env, Execution, Finding, Kind, Memory, Output, Run, SiteRef, UNDEFINED};

use crate::agent::Agent;
use crate::engine::Engine;
use crate::held::Held;
use crate::later::Reach;
use crate::observe::{Observer, WorkRun};
use crate::plan::{Fixed, Plan};
use crate::poll::writes_gm;
use crate::report::Questions;
use crate::state::{Core, Entry};
use crate::{bounds, report};

/// Cycles of work on a pipe that count as one step of the limit.
const CYCLES_OF_A_STEP: u64 = 4;

impl Engine<'_> {
    /// Starts the work at the head of a pipe's queue and returns when it completes.
    pub fn start_work(&mut self, core: usize, pipe: Pipe, at: u64) -> Result<u64, Box<Finding>> {
        let Some((entry, env)) = self.front(core, pipe) else { return Ok(at) };
        if !self.held.is_empty() {
            let work = &self.program.cores[self.cores[core].position].works[entry.id as usize];
            // Work that discovers its accesses does so now.
            if matches!(work.effect, Action::Discovering(_)) {
                self.settle(core, Some(pipe))?;
            }
        }
        let Core { position, agent, pipes, .. } = &mut self.cores[core];
        let work = &self.program.cores[*position].works[entry.id as usize];
        let fixed = &mut self.fixed[*position][entry.id as usize];
        let by_data = self.by_data[*position][entry.id as usize];
        let (args, access) = pipes[pipe.index()].front_args(work.args.len());
        let floor = if pipe == Pipe::S { self.launch.platform.cost.scalar_memory } else { 0 };
        let (memory, scratch, output, later, questions) =
            (&mut self.memory, &mut self.scratch, &mut self.output, &mut self.later, &mut self.questions);
        let suppose = &self.launch.suppose;
        let (before, steps, role) = (self.steps, self.launch.limits.steps, agent.role);
        let agent = Agent { pipe, ..*agent };
        scratch.reorder = self.delays.reorder(agent, self.launch.platform);
        scratch.steps = before;
        let mut value = 0;
        let mut plan = |access: &mut Access| -> Result<u64, Box<Finding>> {
            access.clear();
            match &work.effect {
                Action::Discovering(effect) => {
                    if let Some(shadow) = &mut memory.shadow {
                        shadow.numbers = by_data;
                    }
                    let mut discover = |memory: &mut Memory| {
                        effect.discover(args, Run { env, memory, scratch: &mut *scratch, output: &mut *output }, access)
                    };
                    let outcome = match later.as_mut() {
                        Some(later) => later.now(
                            memory,
                            env.block,
                            if effect.local() { Reach::Local } else { Reach::All },
                            discover,
                        ),
                        None => discover(memory),
                    };
                    value = outcome.map_err(|fault| match fault.kind {
                        Kind::StepLimit => report::step_limit(steps, fault.site.unwrap_or(entry.site), role),
                        Kind::Cancelled => report::cancelled(),
                        _ => report::of_fault(fault, entry.site, work),
                    })?;
                    note(questions, output, entry.site, || work.name.to_string());
                    if let Some(shadow) = memory.shadow.as_mut().filter(|_| !effect.marks()) {
                        shadow.discovered(access, env, entry.site);
                    }
                }
                Action::Planned(effect) => {
                    effect.plan(args, env, access).map_err(|fault| report::of_fault(fault, entry.site, work))?;
                    bounds::check(access, env, memory, entry, work)?;
                }
            }
            let cycles = work.cost.cycles(suppose.units(pipe, access.units));
            Ok(if cycles == 0 { u64::from(floor) } else { cycles })
        };
        let mut known = None;
        let (access, cycles): (&Access, u64) = match fixed {
            Fixed::No => {
                let cycles = plan(access)?;
                (access, cycles)
            }
            Fixed::Recent(recent) => match recent.find(args) {
                Some(plan) => {
                    let plan = known.insert(plan);
                    (&plan.access, plan.cycles)
                }
                None => {
                    let cycles = plan(access)?;
                    recent.add(args, access, cycles);
                    (access, cycles)
                }
            },
            Fixed::Yes(Some(plan)) => (&plan.access, plan.cycles),
            Fixed::Yes(empty) => {
                let mut access = Access::default();
                let cycles = plan(&mut access)?;
                let plan = empty.insert(Plan { access, cycles });
                (&plan.access, plan.cycles)
            }
        };
        if let Some(order) = scratch.reorder.take() {
            self.delays.executed(agent, order.executed);
            self.overtaken += order.overtaken;
        }
        let cycles = self.traffic.moves(at, cycles, access);
        // Based on the platform's duration: the budget of a run must not depend on its schedule.
        let taken = cycles / CYCLES_OF_A_STEP;
        let (more, number, past) = self.delays.start(agent);
        let cycles = self.clocks.of(agent, cycles).saturating_add(more);
        let run = WorkRun { agent, id: entry.id, work, args, access, cycles, site: entry.site };
        self.observer.start(at, &run);
        self.steps = scratch.steps.saturating_sub(taken);
        self.other_steps += before - self.steps;
        if self.steps == 0 {
            return Err(self.limit_at(core, report::step_limit(steps, entry.site, role)));
        }
        let unit = &mut pipes[pipe.index()];
        (unit.cycles, unit.value) = (cycles, value);
        (unit.number, unit.past) = (number, past);
        self.plans[core][pipe.index()] = known;
        if !self.held.is_empty() {
            let access = self.running(core, pipe);
            match access.signal {
                Some(_) => self.settle(core, None)?,
                None => self.keep_order(core, pipe, &access)?,
            }
        }
        Ok(at.saturating_add(cycles))
    }

    /// The accesses of the running work of a pipe.
    pub fn running(&self, core: usize, pipe: Pipe) -> Access {
        let Core { position, pipes, .. } = &self.cores[core];
        let unit = &pipes[pipe.index()];
        let id = unit.front().map_or(0, |entry| entry.id);
        match &self.fixed[*position][id as usize] {
            Fixed::Yes(Some(plan)) => plan.access.clone(),
            _ => self.plans[core][pipe.index()].as_ref().map_or(&unit.access, |plan| &plan.access).clone(),
        }
    }

    /// Executes the work at the head of a pipe's queue and returns the effect's value.
    pub fn finish_work(&mut self, core: usize, pipe: Pipe, at: u64) -> Result<u64, Box<Finding>> {
        let Some((entry, _)) = self.front(core, pipe) else { return Ok(0) };
        let unit = &self.cores[core].pipes[pipe.index()];
        let (number, past) = (unit.number, unit.past);
        let value = match past.filter(|_| self.may_hold(core, pipe, entry.id)) {
            Some(past) => self.hold_work(core, pipe, at, past),
            None => self.carry_out_work(core, pipe, at)?,
        };
        if !self.held.is_empty() {
            let before = self.held.len();
            self.carry_out_held(|held| (held.core, held.pipe) == (core, pipe) && held.past <= number)?;
            self.overtaken += (before - self.held.len()) as u32;
        }
        Ok(value)
    }

    /// Completes the work at the head of a pipe's queue for the pipe, and defers its bytes.
    fn hold_work(&mut self, core: usize, pipe: Pipe, at: u64, past: u32) -> u64 {
        let Some((entry, env)) = self.front(core, pipe) else { return 0 };
        let access = self.running(core, pipe);
        let Core { position, agent, pipes, .. } = &mut self.cores[core];
        let work = &self.program.cores[*position].works[entry.id as usize];
        let unit = &mut pipes[pipe.index()];
        let cycles = unit.cycles;
        let args: Box<[u64]> = unit.front_args(work.args.len()).0.into();
        let agent = Agent { pipe, ..*agent };
        let run = WorkRun { agent, id: entry.id, work, args: &args, access: &access, cycles, site: entry.site };
        self.observer.end(at, &run);
        self.held.push(Held { core, pipe, past, id: entry.id, args, access, env, site: entry.site });
        0
    }

    fn carry_out_work(&mut self, core: usize, pipe: Pipe, at: u64) -> Result<u64, Box<Finding>> {
        let Some((entry, env)) = self.front(core, pipe) else { return Ok(0) };
        let Core { position, agent, pipes, .. } = &mut self.cores[core];
        let work = &self.program.cores[*position].works[entry.id as usize];
        let unit = &mut pipes[pipe.index()];
        let (cycles, value, known) = (unit.cycles, unit.value, self.plans[core][pipe.index()].take());
        let (args, access) = unit.front_args(work.args.len());
        let access: &Access = match &self.fixed[*position][entry.id as usize] {
            Fixed::Yes(Some(plan)) => &plan.access,
            _ => known.as_ref().map_or(access, |plan| &plan.access),
        };
        let mut follows = false;
        let value = match &work.effect {
            Action::Discovering(_) => {
                if !self.launch.values {
                    // It ran on whatever memory happened to hold.
                    self.skipped.leave(access);
                }
                value
            }
            Action::Planned(_) if !self.launch.values && work.result.is_none() => {
                self.skipped.leave(access);
                0
            }
            Action::Planned(effect) => {
                if !self.launch.values {
                    self.skipped.read(access).map_err(|fault| report::of_fault(fault, entry.site, work))?;
                }
                let by_data = self.by_data[*position][entry.id as usize];
                let run = Execution { effect: &**effect, args, env, access, site: entry.site, by_data };
                let (memory, scratch, output) = (&mut self.memory, &mut self.scratch, &mut self.output);
                let outcome = match self.later.as_mut() {
                    None => memory.carry_out(&run, scratch, output),
                    Some(later) => {
                        if work.result.is_none() && !effect.answers() && memory.foresee(&run) {
                            later.work(*position, entry.id, args, env, access, entry.site);
                            follows = true;
                            Ok(0)
                        } else {
                            later.now(memory, env.block, Reach::Of(access), |memory| {
                                memory.carry_out(&run, scratch, output)
                            })
                        }
                    }
                };
                let value = outcome.map_err(|fault| report::of_fault(fault, entry.site, work))?;
                note(&mut self.questions, &mut self.output, entry.site, || work.name.to_string());
                value
            }
        };
        if self.launch.values && !follows && !access.undefined.is_empty() {
            let fill =
                |memory: &mut Memory| access.undefined.iter().for_each(|range| memory.fill(range, env, UNDEFINED));
            match self.later.as_mut() {
                Some(later) => later.now(&mut self.memory, env.block, Reach::Of(access), fill),
                None => fill(&mut self.memory),
            }
        }
        let agent = Agent { pipe, ..*agent };
        self.observer.end(at, &WorkRun { agent, id: entry.id, work, args, access, cycles, site: entry.site });
        self.steady.done(|| {
            let (args, access) = (args.into(), access.clone());
            Held { core, pipe, past: 0, id: entry.id, args, access, env, site: entry.site }
        });
        if self.polls.any {
            let writes = writes_gm(access);
            self.changed(writes, at);
        }
        Ok(value)
    }

    /// The work at the head of a pipe is over: removes it from the queue and stores its value, if it has a register.
    pub fn store_result(&mut self, core: usize, pipe: Pipe, result: u64) {
        let unit = &mut self.cores[core];
        let Some(entry) = unit.pipes[pipe.index()].front() else { return };
        unit.pipes[pipe.index()].pop();
        if let Some(d) = self.program.cores[unit.position].works[entry.id as usize].result {
            unit.regs[d.0 as usize] = result;
            unit.meant.set(d, None);
        }
    }

    fn front(&self, core: usize, pipe: Pipe) -> Option<(Entry, Env)> {
        let core = &self.cores[core];
        let entry = core.pipes[pipe.index()].front()?;
        Some((entry, Env { block: core.agent.cluster, core: core.agent.role }))
    }
}

/// Moves the questions that work has recorded to those of the run, by location.
fn note(questions: &mut Questions, output: &mut Output, site: SiteRef, name: impl Fn() -> String) {
    for Asked { question, at } in output.questions.drain(..) {
        let (site, name) = at.map_or_else(|| (site, name()), |(site, name)| (site, name.to_string()));
        questions.entry((site, question.name)).or_insert((question, name));
    }
}
