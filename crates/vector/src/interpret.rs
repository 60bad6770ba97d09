//! The interpreter of vector functions.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use slipring_machine::Units;
use slipring_program::{
    Access, Causes, Choice, Decision, Discover, Fault, Inst, Kind, Operand, Output, Reg, Run, SiteRef,
};
use slipring_tile::Space;

use crate::access::{Moment, follows_numbers, relevant};
use crate::code::{Code, Compact, Next, STEPS, fault};
use crate::decide::decisions;
use crate::function::{Function, Parts};
use crate::journal::LONGEST;
use crate::late::Before;
use crate::rounds::{Look, PATIENCE};
use crate::shade::{FromData, Shade};
use crate::state::State;
use crate::trace::Trace;
use crate::{Machine, Step};

impl Function {
    /// Builds a function from these parts.
    pub fn new(parts: Parts) -> Function {
        let scalars =
            parts.code.iter().flat_map(Inst::scalar_registers).chain(parts.steps.iter().flat_map(step_registers));
        let scalars = scalars.chain(parts.inputs.iter().copied()).map(|r| r.0 as usize + 1).max().unwrap_or(0);
        let relevant = relevant(|kind| parts.steps.iter().any(|step| step.memory == Some(kind)));
        let compact = Compact::new(&parts, scalars);
        Function {
            parts,
            scalars,
            relevant,
            follows_numbers: follows_numbers(relevant),
            compact,
            intricate: AtomicBool::new(false),
            timed: Mutex::default(),
            from_data: Mutex::default(),
        }
    }

    /// Finds those of some accesses, given newest to oldest, that nothing orders before a later one.
    pub(crate) fn unordered(&self, trace: &Trace, earlier: &[Moment], later: Moment, found: &mut Vec<Moment>) {
        trace.unordered(&self.parts, earlier, later, found);
    }

    /// The dependence on buffer contents if the marked arguments come from buffers.
    pub(crate) fn decided_by_data(&self, by_data: u64) -> Arc<FromData> {
        let mut known = self.from_data.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((of, from)) if *of == by_data => from.clone(),
            _ => {
                let from = Arc::new(FromData::new(&self.parts, self.scalars, by_data));
                known.insert((by_data, from)).1.clone()
            }
        }
    }

    /// True if a load comes before a store whatever the unit does, and likewise for this many executions of both, each
    /// `pace` after the previous one.
    fn in_order_steadily(&self, trace: &Trace, store: Moment, load: Moment, count: u32, pace: u32) -> bool {
        let mut found = Vec::new();
        self.unordered(trace, &[load], store, &mut found);
        found.is_empty() && (count == 1 || trace.repeats(load.position, store.position, count, pace))
    }

    /// Applies the clock to the first executions of a function, which were only recorded.
    fn time(&self, state: &mut State, executed: u32) {
        let Compact { vectors, slots, .. } = &self.compact;
        let State { clock, trace, .. } = state;
        for step in trace.first(executed) {
            if self.parts.steps[*step as usize].barrier.is_some() {
                clock.fence();
            }
            clock.step(&vectors[*step as usize].cost, slots, self.parts.spec.issue);
        }
    }

    /// Cycles of the completed execution.
    fn cycles(&self, state: &mut State) -> u64 {
        if state.timed {
            return state.clock.cycles(&self.parts.spec);
        }
        let Ok(mut known) = self.timed.lock() else {
            self.time(state, state.executed);
            return state.clock.cycles(&self.parts.spec);
        };
        let steps = state.trace.first(state.executed);
        if let Some((_, cycles)) = known.as_ref().filter(|(known, _)| known[..] == *steps) {
            return *cycles;
        }
        self.time(state, state.executed);
        let cycles = state.clock.cycles(&self.parts.spec);
        *known = Some((state.trace.first(state.executed).to_vec(), cycles));
        cycles
    }

    /// The initial values of an execution.
    pub(crate) fn begin(&self, state: &mut State, args: &[u64]) {
        self.compact.begin(&mut state.numbers);
        for (reg, arg) in self.parts.inputs.iter().zip(args) {
            state.numbers[reg.0 as usize] = *arg;
        }
    }

    fn execute(&self, machine: &mut Machine<'_>) -> Result<(), Fault> {
        let (compact, sites) = (&self.compact, &self.parts.sites);
        let (mut pc, mut position, mut in_vain) = (0usize, 0u32, 0);
        loop {
            // Everything that applies to the whole stretch is checked once: the limit, the cancellation token, the
            // trace.
            let (stretch, before) = (compact.stretches[pc], machine.scratch.steps);
            if stretch.rounds != 0 && in_vain < PATIENCE && !machine.state.timed {
                let of = &compact.loops[stretch.rounds as usize - 1];
                match self.many_rounds(machine, of, stretch.cost, position)? {
                    Look::Done(executed) => {
                        position += executed;
                        continue;
                    }
                    Look::Early => {}
                    Look::No => in_vain += 1,
                }
            }
            let after = position.saturating_add(stretch.vectors);
            let left = before.checked_sub(stretch.cost).filter(|_| !machine.state.timed && after <= LONGEST);
            if let Some(left) = left.filter(|left| !machine.scratch.cancel.between(before, *left)) {
                machine.scratch.steps = left;
                let steps = &compact.order[stretch.first as usize..][..stretch.vectors as usize];
                machine.state.trace.note_all(position, steps);
                match self.go_on(machine, pc, position)? {
                    Some(next) => (pc, position) = (next, after),
                    None => return Ok(()),
                }
                continue;
            }
            let cost = if matches!(compact.code[pc], Code::Vector(_)) { STEPS } else { 1 };
            let Some(left) = before.checked_sub(cost) else { break };
            if machine.scratch.cancel.between(before, left) {
                return Err(Fault { site: Some(sites[pc]), ..Fault::new(Kind::Cancelled, "was cancelled") });
            }
            machine.scratch.steps = left;
            if let Code::Vector(work) = compact.code[pc] {
                if position == LONGEST && !machine.state.timed {
                    machine.judge_accesses();
                    self.time(machine.state, LONGEST);
                    machine.state.timed = true;
                }
                machine.state.trace.note(position, work);
                self.vector(machine, work, pc, position)?;
                if machine.state.timed {
                    let cost = &compact.vectors[work as usize].cost;
                    machine.state.clock.step(cost, &compact.slots, self.parts.spec.issue);
                }
                (pc, position) = (pc + 1, position.wrapping_add(1));
                continue;
            }
            if self.follows_numbers {
                machine.state.trace.note_scalar(position, pc);
                position = position.wrapping_add(1);
            }
            match compact.code[pc].scalar(&mut machine.state.numbers).map_err(|trap| fault(trap, sites[pc]))? {
                Next::Behind => pc += 1,
                Next::At(to) => pc = to as usize,
                Next::Over => return Ok(()),
            }
        }
        Err(Fault { site: Some(sites[pc]), ..Fault::new(Kind::StepLimit, "was stopped") })
    }

    /// Executes a stretch whose steps have been counted and recorded; returns where the function continues, if it does.
    fn go_on(&self, machine: &mut Machine<'_>, mut pc: usize, mut position: u32) -> Result<Option<usize>, Fault> {
        let compact = &self.compact;
        loop {
            let code = &compact.code[pc];
            match *code {
                Code::Vector(work) => {
                    self.vector(machine, work, pc, position)?;
                    position += 1;
                }
                // Only the last instruction of a stretch branches.
                Code::Jump { to } if compact.chooses(to) => {
                    pc = to as usize;
                    continue;
                }
                _ => {
                    let next = code.scalar(&mut machine.state.numbers);
                    match next.map_err(|trap| fault(trap, self.parts.sites[pc]))? {
                        Next::At(to) => return Ok(Some(to as usize)),
                        Next::Over => return Ok(None),
                        Next::Behind if matches!(code, Code::JumpIfZero { .. } | Code::JumpIfGe { .. }) => {
                            return Ok(Some(pc + 1));
                        }
                        Next::Behind => {}
                    }
                }
            }
            pc += 1;
        }
    }

    /// Executes the vector instruction with this index, at `pc`.
    #[inline(always)]
    pub(crate) fn vector(&self, machine: &mut Machine<'_>, work: u32, pc: usize, position: u32) -> Result<(), Fault> {
        let (vector, step, site) =
            (&self.compact.vectors[work as usize], &self.parts.steps[work as usize], self.parts.sites[pc]);
        if let Some(whole) = vector.whole
            && let Some(address) = self.compact.first(vector, &machine.state.numbers)
        {
            machine.current = Moment { step: work, site, position };
            if machine.moves(whole, address) {
                machine.state.executed = position.wrapping_add(1);
                return Ok(());
            }
        }
        let mut args = [0; 8];
        let count = self.compact.gather(vector, &machine.state.numbers, &mut args).map_err(|trap| fault(trap, site))?;
        let args = &args[..count];
        machine.current = Moment { step: work, site, position };
        machine.state.executed = position.wrapping_add(1);
        let special = (machine.ar, machine.sqzn);
        let result = (step.kernel)(machine, args).map_err(|fault| of_step(fault, step, site))?;
        if machine.state.shade.as_ref().is_some_and(Shade::is_tracking) {
            machine.settle(step, args, special);
        }
        if let Some(d) = vector.result {
            machine.state.numbers[d.0 as usize] = result;
        }
        Ok(())
    }
}

/// The fault of a vector instruction, at its location.
#[cold]
fn of_step(mut fault: Fault, step: &Step, site: SiteRef) -> Fault {
    fault.message = format!("`{}` {}", step.name, fault.message);
    fault.site = Some(site);
    fault
}

fn step_registers(step: &Step) -> Vec<Reg> {
    let operands = step.args.iter().flat_map(|arg| arg.operands());
    let used = operands.filter_map(Operand::as_reg);
    used.chain(step.result).collect()
}

impl Discover for Function {
    fn marks(&self) -> bool {
        true
    }

    fn local(&self) -> bool {
        true
    }

    fn decisions(&self, args: &[Causes], _: SiteRef, found: &mut Vec<Decision>) {
        decisions(&self.parts, self.scalars, args, found);
    }

    fn discover(
        &self,
        args: &[u64],
        Run { env, memory, scratch, output }: Run<'_>,
        access: &mut Access,
    ) -> Result<u64, Fault> {
        let kept = scratch.vector.take().and_then(|kept| kept.downcast::<State>().ok());
        let mut kept = kept.unwrap_or_default();
        let again = scratch.reorder.take().map(|order| (order, Before::new(&self.parts, memory, env, scratch.steps)));
        let ub = memory.take(env, env.core, Space::Vec, 0);
        // Contents from an earlier execution do not matter: a register is written before it is read.
        let slots = usize::from(self.parts.slots).max(kept.registers.len());
        kept.registers.resize_with(slots, Default::default);
        self.begin(&mut kept, args);
        let simple = !self.intricate.load(Ordering::Relaxed);
        kept.footprint.restart(ub.len(), self.relevant, simple.then_some(self.parts.steps.len()));
        let taken = memory.shadow.as_mut().map(|shadow| (shadow.take(env, env.core, Space::Vec), shadow.numbers));
        kept.shade = taken.map(|(marks, by_data)| Shade::new(marks, slots, by_data));
        (kept.timed, kept.executed) = (self.follows_numbers, 0);
        kept.clock.restart(&self.parts.spec, usize::from(self.parts.slots));
        let mut machine = Machine {
            state: &mut kept,
            function: self,
            ub,
            memory,
            env,
            scratch,
            output,
            current: Moment::default(),
            ar: 0,
            sqzn: 0,
            aside: None,
        };
        let outcome = self.execute(&mut machine);
        let ub = std::mem::take(&mut machine.ub);
        memory.put_back(env, env.core, Space::Vec, 0, ub);
        let State { footprint, trace, executed, .. } = &mut *kept;
        let judge = |earlier: &[Moment], later, found: &mut Vec<Moment>| self.unordered(trace, earlier, later, found);
        let steady = |store, load, count, pace| self.in_order_steadily(trace, store, load, count, pace);
        footprint.finish(self.relevant, env.core, access, judge, steady);
        if !access.conflicts.is_empty() {
            access.steps = trace.number(*executed, *executed).saturating_sub(1);
        }
        for conflict in &mut access.conflicts {
            conflict.steps = conflict.steps.map(|position| trace.number(position, *executed));
        }
        if !footprint.keeps() {
            // It does not affect results, only how they are computed the next time.
            self.intricate.store(true, Ordering::Relaxed);
        }
        if let (Some(mut shade), Some(shadow)) = (kept.shade.take(), &mut memory.shadow) {
            let plain = shade.is_plain();
            shadow.put_back(env, env.core, Space::Vec, std::mem::take(&mut shade.marks));
            shadow.define(&kept.elsewhere.writes, env);
            if plain {
                shadow.define(&access.writes, env);
            }
            shade.misuses.into_iter().for_each(|misuse| shadow.misuse(misuse));
            shade.doubts.into_iter().for_each(|site| shadow.doubt(site, Choice::Unwritten));
            shadow.derive(access, env);
        }
        access.reads.append(&mut kept.elsewhere.reads);
        access.writes.append(&mut kept.elsewhere.writes);
        access.units = Units::of(self.cycles(&mut kept));
        let outcome = match again {
            Some((order, before)) => {
                let run = Run { env, memory, scratch: &mut *scratch, output: &mut Output::default() };
                outcome.and_then(|()| self.in_another_order(args, run, &mut kept, before, order))
            }
            None => outcome,
        };
        scratch.vector = Some(kept);
        outcome.map(|()| 0)
    }
}
