//! Loops of whole-register moves and arithmetic, many iterations at once.
//!
//! Such a loop touches bytes at equal distances. Once the strides of its steps are known from earlier iterations, and
//! all bytes of the remaining ones exist and are initialised, nothing needs to be checked in each iteration: the limit,
//! the addresses, the marks and the journal are handled for all of them at once, and only the moves and the arithmetic
//! are executed.

use slipring_program::Fault;
use smallvec::SmallVec;

use crate::access::{Kind, Moment, Touch};
use crate::code::{Code, Compact, Loop, Number, NumberAt};
use crate::function::Machine;
use crate::journal::LONGEST;
use crate::{BYTES, Function, Parts, Slot, Whole};

/// Minimum number of iterations worth the attempt.
const FEWEST: u64 = 4;
/// Limit of local addresses and distances: beyond it an address may belong to another memory.
const NEAR: i128 = 1 << 40;
/// Unsuccessful attempts in one execution before a function stops trying.
pub(crate) const PATIENCE: u32 = 8;

impl Loop {
    /// The loop whose comparison is at `head`, if there is one.
    pub fn find(code: &[Code], head: usize, parts: &Parts) -> Option<Loop> {
        let Code::JumpIfGe { a: counter, b: bound, .. } = code[head] else { return None };
        let (mut body, mut sums) = (Vec::new(), SmallVec::<[(NumberAt, NumberAt); 2]>::new());
        for code in &code[head + 1..] {
            match *code {
                Code::Vector(work) if sums.is_empty() && !body.contains(&work) => body.push(work),
                Code::Add { d, a, b } if d == a || d == b => sums.push((d, if d == a { b } else { a })),
                Code::Jump { to } if to as usize == head => break,
                _ => return None,
            }
        }
        let changes = |place: NumberAt| sums.iter().filter(|(d, _)| *d == place).count();
        let even = sums.iter().all(|(d, by)| changes(*d) == 1 && changes(*by) == 0);
        let steps = || body.iter().map(|work| &parts.steps[*work as usize]);
        let written = |slot: Slot| steps().any(|step| step.writes.contains(&slot));
        let simple = steps().all(|step| match step.whole {
            _ if step.result.is_some() => false,
            Some(Whole::Store(_, Some((mask, _)))) => !written(mask),
            Some(_) => true,
            None => step.on_registers && step.args.is_empty(),
        });
        let moves = steps().any(|step| step.whole.is_some());
        let fits = even && simple && moves && changes(counter) == 1 && changes(bound) == 0;
        fits.then_some(Loop { counter, bound, body, sums })
    }

    /// The increment of a value per iteration.
    fn growth(&self, place: NumberAt, numbers: &[u64]) -> u64 {
        self.sums.iter().find(|(d, _)| *d == place).map_or(0, |(_, by)| numbers[*by as usize])
    }

    /// Number of iterations after each of which the loop continues, given that it has just continued.
    fn rounds(&self, numbers: &[u64]) -> u64 {
        let (counter, bound) = (numbers[self.counter as usize] as i64, numbers[self.bound as usize] as i64);
        let by = self.growth(self.counter, numbers) as i64;
        match i128::from(bound) - i128::from(counter) - 1 {
            left if left > 0 && by > 0 => u64::try_from(left / i128::from(by)).unwrap_or(0),
            _ => 0,
        }
    }

    /// The first address of an instruction and its increment per iteration, if all iterations access whole blocks
    /// within a memory of this size.
    fn places(&self, number: Number, numbers: &[u64], rounds: u64, bytes: usize) -> Option<(usize, isize)> {
        let signed = |value: u64| i128::from(value as i64);
        let line = |place: NumberAt| (signed(numbers[place as usize]), signed(self.growth(place, numbers)));
        let last = i128::from(rounds - 1);
        let near = |(from, by): (i128, i128)| from.abs() < NEAR && (from + by * last).abs() < NEAR;
        let (from, by) = match number {
            Number::At(place) => line(place),
            Number::Element { base, offset, bytes } => {
                let (base, offset) = (line(base), line(offset));
                let offset = (offset.0 * signed(bytes), offset.1 * signed(bytes));
                if !near(base) || !near(offset) {
                    return None;
                }
                (base.0 + offset.0, base.1 + offset.1)
            }
        };
        let end = i128::try_from(bytes).ok()? - BYTES as i128;
        let inside = |at: i128| (0..=end).contains(&at);
        let fits = near((from, by)) && inside(from) && inside(from + by * last) && from % 32 == 0 && by % 32 == 0;
        fits.then_some((usize::try_from(from).ok()?, isize::try_from(by).ok()?))
    }
}

/// The remaining action of an instruction in an iteration.
#[derive(Clone, Copy)]
enum Act {
    Load(usize, isize, Slot),
    Store(usize, isize, Slot),
    Compute(u32),
}

/// The result of examining the remaining iterations.
pub(crate) enum Look {
    /// Number of iterations executed.
    Done(u32),
    /// Their strides are not known yet.
    Early,
    /// Each of them has to be checked individually.
    No,
}

impl Function {
    /// Executes iterations of a loop that has just continued, after its comparison; each takes `cost` steps of the
    /// limit.
    pub(crate) fn many_rounds(
        &self,
        machine: &mut Machine<'_>,
        of: &Loop,
        cost: u64,
        position: u32,
    ) -> Result<Look, Fault> {
        if !machine.state.footprint.keeps() {
            return Ok(Look::No);
        }
        let compact: &Compact = &self.compact;
        let vectors = of.body.len() as u32;
        let capacity = u64::from(LONGEST.saturating_sub(position) / vectors);
        let rounds = of.rounds(&machine.state.numbers).min(capacity);
        if rounds < FEWEST {
            return Ok(Look::Early);
        }
        let mut acts = SmallVec::<[Act; 16]>::new();
        for (behind, work) in (0..).zip(&of.body) {
            let vector = &compact.vectors[*work as usize];
            let Some(whole) = vector.whole else {
                acts.push(Act::Compute(*work));
                continue;
            };
            let numbers = &machine.state.numbers;
            let Some(number) = compact.first_number(vector) else { return Ok(Look::No) };
            let Some((start, by)) = of.places(number, numbers, rounds, machine.ub.len()) else { return Ok(Look::No) };
            let (kind, act) = match whole {
                Whole::Load(out) => (Kind::VectorLoad, Act::Load(start, by, out)),
                Whole::Store(value, mask) => {
                    if mask.is_some_and(|(mask, lane)| !machine.mask(mask).is_full(lane)) {
                        return Ok(Look::No);
                    }
                    (Kind::VectorStore, Act::Store(start, by, value))
                }
            };
            let at = Moment { step: *work, site: 0, position: position + behind };
            let touch = Touch { kind, at };
            if !machine.state.footprint.goes_on_by(touch, start, BYTES, by as usize, vectors) {
                return Ok(Look::Early);
            }
            let last = start.wrapping_add_signed(by * (rounds - 1) as isize);
            let (low, high) = (start.min(last), start.max(last) + BYTES);
            if machine.state.shade.as_ref().is_some_and(|shade| !shade.passes_all(kind, low, high)) {
                return Ok(Look::No);
            }
            acts.push(act);
        }
        let before = machine.scratch.steps;
        let left = cost.checked_mul(rounds).and_then(|cost| before.checked_sub(cost));
        let Some(left) = left.filter(|left| !machine.scratch.cancel.between(before, *left)) else {
            return Ok(Look::No);
        };
        machine.scratch.steps = left;
        for work in of.body.iter().filter(|work| compact.vectors[**work as usize].whole.is_some()) {
            machine.state.footprint.go_on(*work, rounds as u32);
        }
        machine.state.trace.note_rounds(position, &of.body, rounds as u32);
        machine.state.executed = position + vectors * rounds as u32;
        for _ in 0..rounds {
            for act in &mut acts {
                match act {
                    Act::Load(at, by, slot) => {
                        machine.state.registers[usize::from(slot.0)].0.copy_from_slice(&machine.ub[*at..*at + BYTES]);
                        *at = at.wrapping_add_signed(*by);
                    }
                    Act::Store(at, by, slot) => {
                        machine.ub[*at..*at + BYTES].copy_from_slice(&machine.state.registers[usize::from(slot.0)].0);
                        *at = at.wrapping_add_signed(*by);
                    }
                    Act::Compute(work) => {
                        (self.parts.steps[*work as usize].kernel)(machine, &[])?;
                    }
                }
            }
        }
        for (d, by) in &of.sums {
            let numbers = &mut machine.state.numbers;
            numbers[*d as usize] = numbers[*d as usize].wrapping_add(numbers[*by as usize].wrapping_mul(rounds));
        }
        Ok(Look::Done(vectors * rounds as u32))
    }
}
