//! Positions of windows in each iteration of loops with known bounds.

use std::collections::BTreeMap;

use slipring_ir::{Diagnostic, OpId, Span, ValueDef, ValueId};
use slipring_op::{Counter, Linear, OpDef, OpRef, rules};

use super::lowering::{Lower, Lowered};
use crate::value::Index;

/// Maximum number of positions that are enumerated.
const MOST: usize = 1 << 10;

/// Maximum number of steps to evaluate numbers in an iteration: sums of sums may be as long as a kernel.
const MOST_STEPS: usize = 1 << 16;

/// Values of numbers in an iteration.
type Numbers = BTreeMap<ValueId, i64>;

impl Lower<'_> {
    /// The values of these numbers together in each iteration of the loops that count them; `None` for a number that is
    /// not made of constants and counters alone. Nothing if there are too many iterations.
    pub(super) fn in_each_iteration(&self, numbers: &[ValueId]) -> Option<Vec<Vec<Option<i64>>>> {
        let (mut steps, mut counters) = (MOST_STEPS, Vec::new());
        let known: Vec<bool> = numbers
            .iter()
            .map(|number| {
                let before = counters.len();
                let known = self.counters_of(*number, &mut counters, &mut steps).is_some();
                if !known {
                    counters.truncate(before);
                }
                known
            })
            .collect();
        let iterations = self.iterations(&counters, &mut steps)?;
        let mut all = Vec::new();
        for iteration in iterations {
            let each = numbers.iter().zip(&known).map(|(number, known)| match known {
                true => self.number_in(*number, &iteration, &mut steps).map(Some),
                false => Some(None),
            });
            all.push(each.collect::<Option<Vec<_>>>()?);
        }
        all.sort_unstable();
        all.dedup();
        Some(all)
    }

    /// Reports a part of `size` elements that is out of range in some iteration, if the part is certainly accessed and
    /// its position is made of constants and counters.
    pub(crate) fn inside_each_time(
        &mut self,
        offset: Index,
        size: u64,
        extent: u64,
        of: std::fmt::Arguments<'_>,
        span: Span,
    ) -> Lowered<()> {
        let Index::At(scalar) = offset else { return Ok(()) };
        let Some((first, counters)) = self.first_outside(scalar.value, size, extent) else { return Ok(()) };
        let place: Vec<String> = counters.iter().map(|(name, at)| format!("`{name}` is {at}")).collect();
        let message = format!(
            "elements {first} to {} lie outside {of} where {}",
            first.saturating_add(size as i64),
            place.join(" and ")
        );
        Err(self.report(
            Diagnostic::error("bounds", span, message).help("let the loop end before, make the parts smaller, or take what is there: `clamp=True` of `pl.load` and `pl.store`"),
        ))
    }

    /// True if an iteration takes `size` elements of which only some are before `extent`, and none takes a part that
    /// begins outside.
    pub(super) fn has_tail(&self, first: ValueId, size: u64, extent: u64) -> bool {
        let (size, extent) = (size as i64, extent as i64);
        let inside = |n: i64| (0..extent).contains(&n);
        let each = self.in_each_iteration(&[first]);
        let firsts = each.and_then(|each| each.iter().map(|known| known[0]).collect::<Option<Vec<i64>>>());
        if let Some(firsts) = firsts {
            return firsts.iter().all(|n| inside(*n)) && firsts.iter().any(|n| n.saturating_add(size) > extent);
        }
        if let Some((least, most)) = self.range(first) {
            return inside(least) && inside(most) && most.saturating_add(size) > extent;
        }
        // Adjacent parts, of which only the run knows the first, such as that of a block. The last one ends with the
        // dimension.
        extent % size != 0 && self.unit(first).is_multiple_of(size as u64)
    }

    /// True if a number is known to be in the range from 0 to an extent.
    pub fn begins_inside(&self, first: ValueId, extent: u64) -> bool {
        let inside = |n: i64| u64::try_from(n).is_ok_and(|n| n < extent);
        self.inside_always(first, extent)
            || self.range(first).is_some_and(|(least, most)| inside(least) && inside(most))
    }

    /// True for a position that is known to be 0.
    pub(super) fn is_first(&self, place: Index) -> bool {
        match place {
            Index::Known(n) => n == 0,
            Index::At(scalar) => self.begins_inside(scalar.value, 1),
        }
    }

    /// Lower and upper bound of a number that is made of constants and counters.
    pub(super) fn range(&self, number: ValueId) -> Option<(i64, i64)> {
        self.range_in(number, &mut { MOST_STEPS })
    }

    fn range_in(&self, number: ValueId, steps: &mut usize) -> Option<(i64, i64)> {
        *steps = steps.checked_sub(1)?;
        let module = &self.e.module;
        if let Some(n) = rules::constant(module, number) {
            return Some((n, n));
        }
        match module.value(number).def {
            ValueDef::Result(id, _) => {
                let op = module.op(id);
                let mut of = |at: usize| self.range_in(*op.operands.get(at)?, steps);
                match self.linear(id)? {
                    Linear::Same => of(0),
                    Linear::Sum => {
                        let (a, b) = (of(0)?, of(1)?);
                        Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?))
                    }
                    Linear::Difference => {
                        let (a, b) = (of(0)?, of(1)?);
                        Some((a.0.checked_sub(b.1)?, a.1.checked_sub(b.0)?))
                    }
                    Linear::Product => {
                        let (a, b) = (of(0)?, of(1)?);
                        let each = [
                            a.0.checked_mul(b.0)?,
                            a.0.checked_mul(b.1)?,
                            a.1.checked_mul(b.0)?,
                            a.1.checked_mul(b.1)?,
                        ];
                        Some((*each.iter().min()?, *each.iter().max()?))
                    }
                    Linear::Remainder => None,
                }
            }
            ValueDef::Arg(block, 0) => {
                let id = module.block_parent(block)?;
                let Counter::Range([first, end, step]) = self.counter(id)? else { return Some((0, 1)) };
                let op = OpRef::of(module, id)?;
                let mut bound = |name: &str| self.range_in(op.operand(name)?, steps);
                let (first, end, step) = (bound(first)?, bound(end)?, bound(step)?);
                if step.0 != step.1 || step.0 <= 0 {
                    return None;
                }
                // The last value that is reached, if the loop runs at all.
                let last = match first.0 == first.1 && end.0 == end.1 && end.1 > first.0 {
                    true => first.0 + (end.1 - 1 - first.0) / step.0 * step.0,
                    false => end.1.checked_sub(1)?,
                };
                Some((first.0, last.max(first.0)))
            }
            ValueDef::Arg(..) => None,
        }
    }

    /// The counters of the open loops, from the outermost on, with their names.
    pub(crate) fn open_counters(&self) -> Vec<(String, ValueId)> {
        let first = self.open.blocks.iter().filter_map(|block| self.e.module.block(*block).args.first().copied());
        let counts = first.filter(|arg| match self.e.module.value(*arg).def {
            ValueDef::Arg(block, 0) => self.e.module.block_parent(block).is_some_and(|op| self.counter(op).is_some()),
            _ => false,
        });
        let named = |counter: ValueId| {
            let name = self.e.module.value(counter).name.as_deref().unwrap_or("the lane").to_string();
            (name, counter)
        };
        counts.map(named).collect()
    }

    /// The first out-of-range position that a number has in an iteration, with the values of the counters.
    fn first_outside(&self, number: ValueId, size: u64, extent: u64) -> Option<(i64, Vec<(String, i64)>)> {
        // Only loops around it: code in a branch may not run.
        let counted = |block: &&slipring_ir::BlockId| {
            let parent = self.e.module.block_parent(**block);
            parent.is_none_or(|op| self.e.module.is_function(op) || self.counter(op).is_some())
        };
        if self.open.blocks.iter().filter(counted).count() != self.open.blocks.len() || self.open.branches > 0 {
            return None;
        }
        let (mut steps, mut counters) = (MOST_STEPS, Vec::new());
        self.counters_of(number, &mut counters, &mut steps)?;
        // Every loop around it must be known to run.
        for (_, counter) in self.open_counters() {
            self.counters_of(counter, &mut counters, &mut steps)?;
        }
        for iteration in self.iterations(&counters, &mut steps)? {
            let first = self.number_in(number, &iteration, &mut steps)?;
            if first < 0 || first.checked_add(size as i64).is_none_or(|end| end > extent as i64) {
                let named = counters.iter().map(|counter| {
                    let name = self.e.module.value(*counter).name.as_deref().unwrap_or("the lane").to_string();
                    (name, iteration[counter])
                });
                return Some((first, named.collect()));
            }
        }
        None
    }

    /// True if a number is made of constants and counters and is in range in every iteration.
    pub(crate) fn inside_always(&self, number: ValueId, extent: u64) -> bool {
        let (mut steps, mut counters) = (MOST_STEPS, Vec::new());
        if self.counters_of(number, &mut counters, &mut steps).is_none() {
            return false;
        }
        let Some(iterations) = self.iterations(&counters, &mut steps) else { return false };
        iterations.iter().all(|iteration| {
            let n = self.number_in(number, iteration, &mut steps);
            n.is_some_and(|n| u64::try_from(n).is_ok_and(|n| n < extent))
        })
    }

    /// Values of the counters in each iteration, outermost first.
    fn iterations(&self, counters: &[ValueId], steps: &mut usize) -> Option<Vec<Numbers>> {
        let mut iterations = vec![Numbers::new()];
        for counter in counters {
            let mut next = Vec::new();
            for outer in iterations {
                let (first, end, step) = self.range_of(*counter, &outer, steps)?;
                let mut at = first;
                while at < end {
                    if next.len() == MOST {
                        return None;
                    }
                    let mut inner = outer.clone();
                    inner.insert(*counter, at);
                    next.push(inner);
                    at = at.checked_add(step)?;
                }
            }
            iterations = next;
        }
        Some(iterations)
    }

    /// The counters that a number is made of, outermost first; `None` if it is also made of something else.
    fn counters_of(&self, number: ValueId, counters: &mut Vec<ValueId>, steps: &mut usize) -> Option<()> {
        *steps = steps.checked_sub(1)?;
        let module = &self.e.module;
        if rules::constant(module, number).is_some() || counters.contains(&number) {
            return Some(());
        }
        match module.value(number).def {
            ValueDef::Result(op, _) => {
                self.linear(op)?;
                module.op(op).operands.iter().try_for_each(|of| self.counters_of(*of, counters, steps))?;
            }
            ValueDef::Arg(block, position) => {
                let op = module.block_parent(block).filter(|_| position == 0)?;
                match self.counter(op)? {
                    Counter::Range(bounds) => {
                        let op = OpRef::of(module, op)?;
                        let bounds: Vec<ValueId> = bounds.into_iter().filter_map(|name| op.operand(name)).collect();
                        bounds.iter().try_for_each(|of| self.counters_of(*of, counters, steps))?;
                    }
                    Counter::Lanes => {}
                }
                counters.push(number);
            }
        }
        Some(())
    }

    fn linear(&self, op: OpId) -> Option<Linear> {
        OpDef::of(&self.e.module, op)?.linear
    }

    /// What the first argument of an op's region counts.
    fn counter(&self, op: OpId) -> Option<Counter> {
        OpDef::of(&self.e.module, op)?.counter
    }

    /// First value, end and step of a counter.
    fn range_of(&self, counter: ValueId, outer: &Numbers, steps: &mut usize) -> Option<(i64, i64, i64)> {
        let ValueDef::Arg(block, _) = self.e.module.value(counter).def else { return None };
        let id = self.e.module.block_parent(block)?;
        let Counter::Range([first, end, step]) = self.counter(id)? else { return Some((0, 2, 1)) };
        let op = OpRef::of(&self.e.module, id)?;
        let mut bound = |name: &str| self.number_in(op.operand(name)?, outer, steps);
        let (first, end, step) = (bound(first)?, bound(end)?, bound(step)?);
        (step > 0).then_some((first, end, step))
    }

    fn number_in(&self, number: ValueId, iteration: &Numbers, steps: &mut usize) -> Option<i64> {
        *steps = steps.checked_sub(1)?;
        if let Some(known) = iteration.get(&number).copied().or_else(|| rules::constant(&self.e.module, number)) {
            return Some(known);
        }
        let id = self.e.module.defining_op(number)?;
        let op = self.e.module.op(id);
        let mut of = |at: usize| self.number_in(*op.operands.get(at)?, iteration, steps);
        match self.linear(id)? {
            Linear::Same => of(0),
            Linear::Sum => of(0)?.checked_add(of(1)?),
            Linear::Difference => of(0)?.checked_sub(of(1)?),
            Linear::Product => of(0)?.checked_mul(of(1)?),
            Linear::Remainder => None,
        }
    }
}
