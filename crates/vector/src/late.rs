//! Execution of a function in another legal order of its steps, as specified by a schedule.
//!
//! The usual order runs first, and all checks use it. Memory is then restored and the function is executed once more: a
//! step that the schedule names is delayed until the step it has to follow is complete, and so is everything that must
//! come after a delayed step. The constraints are those of [`Trace`](crate::trace::Trace), followed forwards: a
//! register or value computed from another, a `mem_bar` between two kinds of access, the order of scalar accesses, the
//! values that decide a branch, and, where stores to the same bytes keep their order, that order. So nothing that is
//! executed early depends on a delayed step.

use slipring_program::{Env, Fault, Kind as Problem, Memory, Reorder, Run, Trap};
use slipring_tile::Space;
use smallvec::SmallVec;

use crate::access::{Kind, Moment};
use crate::aside::Aside;
use crate::code::{Code, Next, NumberAt, STEPS, fault};
use crate::function::Function;
use crate::loads::KEPT;
use crate::state::State;
use crate::{Machine, Parts, Register, Slot, Step};

/// The state in which a function starts.
pub(crate) struct Before {
    /// The unified buffer.
    ub: Vec<u8>,
    /// All memories, if the function may touch others through scalar accesses.
    memory: Option<Memory>,
    /// Remaining steps of the run's limit.
    steps: u64,
}

impl Before {
    pub fn new(parts: &Parts, memory: &mut Memory, env: Env, steps: u64) -> Before {
        let scalar = parts.steps.iter().any(|step| matches!(step.memory, Some(Kind::ScalarLoad | Kind::ScalarStore)));
        let shadow = memory.shadow.take();
        let bytes = memory.capacity(env.block, env.core, Space::Vec);
        let ub = memory.bytes(env, env.core, Space::Vec, 0, bytes).to_vec();
        let whole = scalar.then(|| memory.clone());
        memory.shadow = shadow;
        Before { ub, memory: whole, steps }
    }
}

/// A range of bytes.
type Bytes = (usize, usize);

/// A delayed instruction, with the operands that are already available.
struct Waiting {
    pc: usize,
    slots: SmallVec<[(Slot, Box<Register>); 4]>,
    numbers: SmallVec<[(NumberAt, u64); 4]>,
    /// AR and SQZN.
    special: (u64, u64),
}

/// An execution in another order.
struct Late<'f> {
    function: &'f Function,
    waiting: Vec<Waiting>,
    /// Registers and values computed by delayed instructions.
    slots: Vec<bool>,
    numbers: Vec<bool>,
    /// Kinds of the delayed accesses, and of those that must come after a delayed one.
    kinds: u8,
    barred: u8,
    /// Bytes of delayed vector stores; `None` if some are unknown.
    stores: Option<Vec<Bytes>>,
    /// The step that all of them are delayed past.
    until: u32,
    /// Number of instructions since the first delayed one.
    age: usize,
    /// Which of the steps named by the schedule are delayed.
    named: Vec<bool>,
}

impl<'f> Late<'f> {
    fn new(function: &'f Function, named: usize) -> Late<'f> {
        let slots = vec![false; usize::from(function.parts.slots)];
        let (numbers, named) = (vec![false; function.compact.scalars], vec![false; named]);
        let (waiting, stores) = (Vec::new(), Some(Vec::new()));
        Late { function, waiting, slots, numbers, kinds: 0, barred: 0, stores, until: 0, age: 0, named }
    }

    fn slot_waits(&self, Slot(slot): &Slot) -> bool {
        self.slots[usize::from(*slot)]
    }

    fn number_waits(&self, at: NumberAt) -> bool {
        self.numbers.get(at as usize).is_some_and(|waits| *waits)
    }

    /// The scalar operands of a step, argument by argument; with `leads` only those that determine an access.
    fn numbers_of(&self, work: u32, leads: bool) -> SmallVec<[NumberAt; 4]> {
        let Function { parts, compact, .. } = self.function;
        let step = &parts.steps[work as usize];
        let led = |at: &usize| !leads || step.values >> at & 1 == 0;
        let all = (0..step.args.len()).filter(led);
        all.flat_map(|at| compact.of_argument(&compact.vectors[work as usize], at)).collect()
    }

    /// True if the accesses of a step are known in advance.
    fn is_led(&self, work: u32) -> bool {
        let step = &self.function.parts.steps[work as usize];
        let mut leads = step.reads.iter().filter(|slot| !step.data.contains(slot));
        !leads.any(|slot| self.slot_waits(slot)) && !self.numbers_of(work, true).iter().any(|at| self.number_waits(*at))
    }

    /// True if a step, whose bytes are known if it is led, must come after a delayed one.
    fn comes_after(&self, machine: &mut Machine<'_>, work: u32, pc: usize, in_order: bool) -> Result<bool, Fault> {
        let step = &self.function.parts.steps[work as usize];
        if step.reads.iter().any(|slot| self.slot_waits(slot))
            || self.numbers_of(work, false).iter().any(|at| self.number_waits(*at))
            || step.memory.is_some_and(|kind| self.barred & kind.bit() != 0)
        {
            return Ok(true);
        }
        let store = Kind::VectorStore;
        if !in_order || step.memory != Some(store) || self.kinds & store.bit() == 0 {
            return Ok(false);
        }
        let Some(stores) = &self.stores else { return Ok(true) };
        let (bytes, _) = self.try_step(machine, work, pc)?;
        Ok(bytes.iter().any(|own| stores.iter().any(|other| own.0 < other.1 && other.0 < own.1)))
    }

    /// Executes a step and rolls it back: returns the bytes that it touches, and its scalar result. AR and SQZN are
    /// advanced.
    fn try_step(&self, machine: &mut Machine<'_>, work: u32, pc: usize) -> Result<(Vec<Bytes>, u64), Fault> {
        let step = &self.function.parts.steps[work as usize];
        let held: SmallVec<[Register; 2]> = step.writes.iter().map(|slot| *machine.reg(*slot)).collect();
        let number = step.result.map(|reg| machine.state.numbers[reg.0 as usize]);
        machine.aside = Some(Aside { trial: Some(Vec::new()) });
        let outcome = self.function.vector(machine, work, pc, 0);
        let trial = machine.aside.replace(Aside::default()).and_then(|aside| aside.trial).unwrap_or_default();
        for (start, bytes) in trial.iter().rev() {
            machine.ub[*start..start + bytes.len()].copy_from_slice(bytes);
        }
        step.writes.iter().zip(&held).for_each(|(slot, value)| machine.set(*slot, *value));
        let (mut made, place) = (0, step.result.map(|reg| reg.0 as usize));
        if let (Some(place), Some(number)) = (place, number) {
            made = std::mem::replace(&mut machine.state.numbers[place], number);
        }
        outcome?;
        Ok((trial.iter().map(|(start, bytes)| (*start, start + bytes.len())).collect(), made))
    }

    /// Delays an instruction: available operands are saved, its results are marked as delayed.
    fn keep(&mut self, machine: &Machine<'_>, pc: usize, step: Option<&Step>, numbers: &[NumberAt]) {
        let known = |at: &&NumberAt| (**at as usize) < self.numbers.len() && !self.number_waits(**at);
        let numbers = numbers.iter().filter(known).map(|at| (*at, machine.state.numbers[*at as usize])).collect();
        let reads = step.map_or(&[][..], |step| &step.reads[..]);
        let slots = reads.iter().filter(|slot| !self.slot_waits(slot));
        let slots = slots.map(|slot| (*slot, Box::new(*machine.reg(*slot)))).collect();
        self.waiting.push(Waiting { pc, slots, numbers, special: (machine.ar, machine.sqzn) });
    }

    /// Delays a step.
    fn keep_step(&mut self, machine: &mut Machine<'_>, work: u32, pc: usize) -> Result<(), Fault> {
        let step = &self.function.parts.steps[work as usize];
        let numbers = self.numbers_of(work, false);
        self.keep(machine, pc, Some(step), &numbers);
        if let Some(kind) = step.memory {
            self.kinds |= kind.bit();
            if matches!(kind, Kind::ScalarLoad | Kind::ScalarStore) {
                self.barred |= Kind::ScalarLoad.bit() | Kind::ScalarStore.bit();
            }
        }
        let vector = matches!(step.memory, Some(Kind::VectorLoad | Kind::VectorStore));
        let (mut number, mut bytes) = (None, None);
        if self.is_led(work) && (vector || step.counts) {
            let (touched, made) = self.try_step(machine, work, pc)?;
            // The position of a stream is known without its access.
            number = step.result.filter(|_| vector).map(|reg| (reg.0 as usize, made));
            bytes = Some(touched);
        }
        if step.memory == Some(Kind::VectorStore) {
            match (&mut self.stores, bytes) {
                (Some(stores), Some(bytes)) => stores.extend(bytes),
                _ => self.stores = None,
            }
        }
        step.writes.iter().for_each(|slot| self.slots[usize::from(slot.0)] = true);
        if let Some(reg) = step.result {
            self.numbers[reg.0 as usize] = number.is_none();
        }
        if let Some((place, value)) = number {
            machine.state.numbers[place] = value;
        }
        Ok(())
    }

    /// Passes a barrier: it orders later accesses after the delayed ones.
    fn pass(&mut self, step: &Step) {
        let Some(barrier) = step.barrier else { return };
        for kind in [Kind::VectorLoad, Kind::VectorStore, Kind::ScalarLoad, Kind::ScalarStore] {
            if barrier.before(kind.bit()) & self.kinds != 0 {
                self.barred |= kind.bit();
            }
        }
    }

    /// Executes all delayed instructions.
    fn release(&mut self, machine: &mut Machine<'_>) -> Result<(), Fault> {
        let Function { parts, compact, .. } = self.function;
        let registers: Vec<Box<Register>> = machine.state.registers.clone();
        let (numbers, special) = (machine.state.numbers.clone(), (machine.ar, machine.sqzn));
        for waiting in std::mem::take(&mut self.waiting) {
            for (slot, value) in waiting.slots {
                machine.set(slot, *value);
            }
            for (at, value) in waiting.numbers {
                machine.state.numbers[at as usize] = value;
            }
            (machine.ar, machine.sqzn) = waiting.special;
            match compact.code[waiting.pc] {
                Code::Vector(work) => self.function.vector(machine, work, waiting.pc, 0)?,
                ref code => {
                    let done = code.scalar(&mut machine.state.numbers);
                    done.map_err(|trap: Trap| fault(trap, parts.sites[waiting.pc]))?;
                }
            }
        }
        (machine.ar, machine.sqzn) = special;
        for (at, register) in registers.into_iter().enumerate() {
            if !self.slots.get(at).is_some_and(|waits| *waits) {
                machine.state.registers[at] = register;
            }
        }
        for (at, number) in numbers.into_iter().enumerate() {
            if !self.number_waits(at as NumberAt) {
                machine.state.numbers[at] = number;
            }
        }
        self.slots.fill(false);
        self.numbers.fill(false);
        self.named.fill(false);
        (self.kinds, self.barred, self.stores) = (0, 0, Some(Vec::new()));
        (self.until, self.age) = (0, 0);
        Ok(())
    }

    /// Executes or delays the next step.
    fn step(&mut self, machine: &mut Machine<'_>, work: u32, pc: usize, order: &mut Reorder) -> Result<(), Fault> {
        let step = &self.function.parts.steps[work as usize];
        order.executed += 1;
        let number = order.executed;
        // If the extent of a delayed step is needed now, it is executed.
        if !self.waiting.is_empty() && (step.placed || step.counts) && !self.is_led(work) {
            self.release(machine)?;
        }
        let mut waits = false;
        for (at, (_, past)) in order.late.iter().enumerate().filter(|(_, (late, _))| *late == number) {
            (waits, self.named[at], self.until) = (true, true, self.until.max(*past));
        }
        let special = (machine.ar, machine.sqzn);
        waits |= !self.waiting.is_empty() && self.comes_after(machine, work, pc, order.stores_in_order)?;
        (machine.ar, machine.sqzn) = special;
        if waits {
            self.keep_step(machine, work, pc)?;
        } else {
            self.function.vector(machine, work, pc, 0)?;
            step.writes.iter().for_each(|slot| self.slots[usize::from(slot.0)] = false);
            if let Some(reg) = step.result {
                self.numbers[reg.0 as usize] = false;
            }
            let passed = order.late.iter().zip(&self.named).filter(|((_, past), named)| **named && *past == number);
            order.overtaken += passed.count() as u32;
        }
        self.pass(step);
        if !self.waiting.is_empty() && number >= self.until { self.release(machine) } else { Ok(()) }
    }

    fn execute(&mut self, machine: &mut Machine<'_>, order: &mut Reorder) -> Result<(), Fault> {
        let Function { parts, compact, .. } = self.function;
        let mut pc = 0;
        loop {
            let (site, before) = (parts.sites[pc], machine.scratch.steps);
            let cost = if matches!(compact.code[pc], Code::Vector(_)) { STEPS } else { 1 };
            let Some(left) = before.checked_sub(cost) else {
                return Err(Fault { site: Some(site), ..Fault::new(Problem::StepLimit, "was stopped") });
            };
            if machine.scratch.cancel.between(before, left) {
                return Err(Fault { site: Some(site), ..Fault::new(Problem::Cancelled, "was cancelled") });
            }
            machine.scratch.steps = left;
            if !self.waiting.is_empty() {
                self.age += 1;
                if self.age >= KEPT {
                    self.release(machine)?;
                }
            }
            let code = &compact.code[pc];
            if let Code::Vector(work) = *code {
                self.step(machine, work, pc, order)?;
                pc += 1;
                continue;
            }
            let (made, taken) = code.numbers();
            if taken.iter().any(|at| self.number_waits(*at)) {
                match made {
                    Some(made) => {
                        self.keep(machine, pc, None, &taken);
                        self.numbers[made as usize] = true;
                        pc += 1;
                        continue;
                    }
                    // Instructions after a branch wait for its condition.
                    None => self.release(machine)?,
                }
            }
            match code.scalar(&mut machine.state.numbers).map_err(|trap| fault(trap, site))? {
                Next::Behind => pc += 1,
                Next::At(to) => pc = to as usize,
                Next::Over => return self.release(machine),
            }
            if let Some(made) = made {
                self.numbers[made as usize] = false;
            }
        }
    }
}

impl Function {
    /// Executes the function again in another order: memory receives its results.
    ///
    /// # Errors
    /// The fault of a step.
    pub(crate) fn in_another_order(
        &self,
        args: &[u64],
        Run { env, memory, scratch, output }: Run<'_>,
        kept: &mut State,
        before: Before,
        mut order: Reorder,
    ) -> Result<(), Fault> {
        let (shadow, after) = (memory.shadow.take(), scratch.steps);
        if let Some(whole) = before.memory {
            *memory = whole;
        }
        drop(memory.take(env, env.core, Space::Vec, 0));
        scratch.steps = before.steps;
        self.begin(kept, args);
        kept.shade = None;
        kept.footprint.restart(before.ub.len(), 0, None);
        let mut machine = Machine {
            state: kept,
            function: self,
            ub: before.ub,
            memory,
            env,
            scratch,
            output,
            current: Moment::default(),
            ar: 0,
            sqzn: 0,
            aside: Some(Aside::default()),
        };
        let outcome = Late::new(self, order.late.len()).execute(&mut machine, &mut order);
        let ub = std::mem::take(&mut machine.ub);
        memory.put_back(env, env.core, Space::Vec, 0, ub);
        memory.shadow = shadow;
        // The budget of a run must not depend on its schedule.
        scratch.steps = after;
        scratch.reorder = Some(order);
        kept.elsewhere.clear();
        outcome
    }
}
