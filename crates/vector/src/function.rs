//! A vector function and its interpreter.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use slipring_machine::{Units, VectorSpec};
use slipring_program::{Access, Causes, Choice, Decision, Discover, Fault, Inst, Kind, Operand, Reg, Run, SiteRef};
use slipring_tile::Space;

use crate::code::{Code, Compact, fault};
use crate::decide::{FromData, decisions};
use crate::footprint::{Moment, follows_numbers, relevant};
use crate::journal::LONGEST;
use crate::machine::State;
use crate::shade::Shade;
use crate::trace::Trace;
use crate::{Machine, Step};

/// Steps of the run's limit that a vector instruction takes; a scalar one takes 1.
const STEPS: u64 = 8;

/// What a function consists of.
#[derive(Debug)]
pub struct Parts {
    /// Scalar instructions and jumps; [`Inst::Issue`] executes the vector instruction of that number, and
    /// [`Inst::End`] ends the function. Others do not occur.
    pub code: Vec<Inst>,
    /// For each of them its place.
    pub sites: Vec<SiteRef>,
    /// Vector instructions.
    pub steps: Vec<Step>,
    /// Number of vector registers, predicates and alignment registers.
    pub slots: u16,
    /// Scalar registers that the effect's arguments go to.
    pub inputs: Vec<Reg>,
    /// Ports and costs.
    pub spec: VectorSpec,
}

/// A vector function: an effect for pipe V, whose cost unit is the cycle. Its arguments are the values of
/// [`Parts::inputs`] when the scalar unit launches it.
#[derive(Debug)]
pub struct Function {
    parts: Parts,
    scalars: usize,
    /// Pairs of memory accesses that the function can have.
    pub(crate) relevant: u16,
    /// Scalar instructions are followed as well: something may have to come after a scalar load.
    follows_numbers: bool,
    compact: Compact,
    /// Its accesses need to be judged one by one: so it turned out.
    intricate: AtomicBool,
    /// What contents of buffers have a part in, by which arguments come from them; of the last such execution.
    from_data: Mutex<Option<(u64, Arc<FromData>)>>,
    /// How long the last execution took that was timed, and its steps: the same steps take as long.
    timed: Mutex<Option<(Vec<u32>, u64)>>,
}

impl Function {
    /// A function of these parts.
    pub fn new(parts: Parts) -> Function {
        let scalars = parts.code.iter().flat_map(registers).chain(parts.steps.iter().flat_map(step_registers));
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

    /// Finds those accesses, of some from the newest to the oldest, that nothing orders before a later one.
    pub(crate) fn unordered(&self, trace: &Trace, earlier: &[Moment], later: Moment, found: &mut Vec<Moment>) {
        trace.unordered(&self.parts, earlier, later, found);
    }

    /// What contents of buffers have a part in, if those arguments come from them whose bits are given.
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

    /// True if a load comes before a store whatever the unit does, and so for this many executions of both, each `pace` after the
    /// one before.
    fn in_order_steadily(&self, trace: &Trace, store: Moment, load: Moment, count: u32, pace: u32) -> bool {
        let mut found = Vec::new();
        self.unordered(trace, &[load], store, &mut found);
        found.is_empty() && (count == 1 || trace.repeats(load.position, store.position, count, pace))
    }

    /// Lets the clock see the first executions of a function, which were only written down.
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

    /// Cycles of the execution that is over.
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

    fn execute(&self, machine: &mut Machine<'_>) -> Result<(), Fault> {
        let (Parts { sites, steps, spec, .. }, compact) = (&self.parts, &self.compact);
        let (mut pc, mut position) = (0usize, 0u32);
        loop {
            let code = compact.code[pc];
            let cost = if matches!(code, Code::Vector(_)) { STEPS } else { 1 };
            let Some(left) = machine.scratch.steps.checked_sub(cost) else { break };
            if machine.scratch.cancel.between(machine.scratch.steps, left) {
                return Err(Fault { site: Some(sites[pc]), ..Fault::new(Kind::Cancelled, "was cancelled") });
            }
            machine.scratch.steps = left;
            if self.follows_numbers && !matches!(code, Code::Vector(_)) {
                machine.state.trace.note_scalar(position, pc);
                position = position.wrapping_add(1);
            }
            let numbers = &mut machine.state.numbers;
            match code {
                Code::Vector(work) => {
                    let vector = &compact.vectors[work as usize];
                    let mut args = [0; 8];
                    let count = compact.gather(vector, numbers, &mut args).map_err(|trap| fault(trap, sites[pc]))?;
                    let (step, args) = (&steps[work as usize], &args[..count]);
                    machine.current = Moment { step: work, site: sites[pc], position };
                    if position == LONGEST && !machine.state.timed {
                        machine.judge_accesses();
                        self.time(machine.state, LONGEST);
                        machine.state.timed = true;
                    }
                    machine.state.trace.note(position, work);
                    position = position.wrapping_add(1);
                    machine.state.executed = position;
                    let special = (machine.ar, machine.sqzn);
                    let result = (step.kernel)(machine, args).map_err(|mut fault| {
                        fault.message = format!("`{}` {}", step.name, fault.message);
                        fault.site = Some(sites[pc]);
                        fault
                    })?;
                    if machine.state.shade.as_ref().is_some_and(Shade::is_tracking) {
                        machine.settle(step, args, special);
                    }
                    if let Some(d) = vector.result {
                        machine.state.numbers[d.0 as usize] = result;
                    }
                    if machine.state.timed {
                        machine.state.clock.step(&vector.cost, &compact.slots, spec.issue);
                    }
                }
                Code::Scalar { f, d, args } => match f(args.map(|a| numbers[a as usize])) {
                    Ok(result) => numbers[d as usize] = result,
                    Err(trap) => return Err(fault(trap, sites[pc])),
                },
                Code::Move { d, a } => numbers[d as usize] = numbers[a as usize],
                Code::Add { d, a, b } => numbers[d as usize] = numbers[a as usize].wrapping_add(numbers[b as usize]),
                Code::Jump { to } => {
                    pc = to as usize;
                    continue;
                }
                Code::JumpIfZero { a, to } if numbers[a as usize] == 0 => {
                    pc = to as usize;
                    continue;
                }
                Code::JumpIfGe { a, b, to } if numbers[a as usize] as i64 >= numbers[b as usize] as i64 => {
                    pc = to as usize;
                    continue;
                }
                Code::JumpIfZero { .. } | Code::JumpIfGe { .. } => {}
                Code::End => return Ok(()),
            }
            pc += 1;
        }
        Err(Fault { site: Some(sites[pc]), ..Fault::new(Kind::StepLimit, "was stopped") })
    }
}

fn registers(inst: &Inst) -> Vec<Reg> {
    let reg = |operand: &Operand| match operand {
        Operand::Reg(reg) => Some(*reg),
        Operand::Imm(_) => None,
    };
    match inst {
        Inst::Scalar { d, args, .. } => args.iter().filter_map(reg).chain([*d]).collect(),
        Inst::Move { d, a } => reg(a).into_iter().chain([*d]).collect(),
        Inst::Add { d, a, b } => reg(a).into_iter().chain(reg(b)).chain([*d]).collect(),
        Inst::JumpIfZero { a, .. } => reg(a).into_iter().collect(),
        Inst::JumpIfGe { a, b, .. } => reg(a).into_iter().chain(reg(b)).collect(),
        _ => Vec::new(),
    }
}

fn step_registers(step: &Step) -> Vec<Reg> {
    let operands = step.args.iter().flat_map(|arg| arg.operands());
    let used = operands.filter_map(|operand| if let Operand::Reg(reg) = operand { Some(reg) } else { None });
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
        let ub = memory.take(env, env.core, Space::Vec, 0);
        // Whatever an execution before left in them: a register is written before it is read.
        let slots = usize::from(self.parts.slots).max(kept.registers.len());
        kept.registers.resize_with(slots, Default::default);
        self.compact.begin(&mut kept.numbers);
        for (reg, arg) in self.parts.inputs.iter().zip(args) {
            kept.numbers[reg.0 as usize] = *arg;
        }
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
        };
        let outcome = self.execute(&mut machine);
        let ub = std::mem::take(&mut machine.ub);
        memory.put_back(env, env.core, Space::Vec, 0, ub);
        let State { footprint, trace, .. } = &mut *kept;
        let judge = |earlier: &[Moment], later, found: &mut Vec<Moment>| self.unordered(trace, earlier, later, found);
        let steady = |store, load, count, pace| self.in_order_steadily(trace, store, load, count, pace);
        footprint.finish(self.relevant, env.core, access, judge, steady);
        if !footprint.keeps() {
            // It says nothing about results: only how they are come by the next time.
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
        scratch.vector = Some(kept);
        outcome.map(|()| 0)
    }
}
