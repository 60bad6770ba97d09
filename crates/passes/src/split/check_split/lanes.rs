//! Values, addresses and conditions that depend on the lane.

use std::collections::BTreeSet;

use slipring_ir::{BlockId, Flow, OpId, Span, ValueDef, ValueId};
use slipring_op::{LaneQuery, OpRef, is_lane_number};

use crate::analysis::affine::{Affine, Follow};
use crate::analysis::facts::{flow, terminator};
use crate::split::check_split::function::{Function, is_region};

/// How a value depends on the lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LaneChange {
    /// Not at all.
    Same,
    /// Lane 1's is larger than lane 0's by this much.
    By(i64),
    /// In an unknown way.
    Unknown,
}

/// Lane-dependent values, and the origin of the dependence.
pub(super) struct Lanes<'f, 'a> {
    function: &'f Function<'a>,
    from: Vec<Option<Span>>,
}

impl<'f, 'a> Lanes<'f, 'a> {
    /// Propagates the lane number through a function.
    pub(super) fn of(function: &'f Function<'a>) -> Lanes<'f, 'a> {
        let mut lanes = Lanes { function, from: vec![None; function.module.value_count()] };
        let module = function.module;
        let blocks: BTreeSet<BlockId> =
            function.ops.iter().filter_map(|placed| module.op(placed.op.id).block).collect();
        for arg in blocks.into_iter().flat_map(|block| &module.block(block).args) {
            if is_lane_number(module, *arg) {
                lanes.mark(*arg, Some(module.value(*arg).span));
            }
        }
        lanes.follow();
        lanes
    }

    /// The origin of a value's dependence on the lane; `None` if it has none.
    pub(super) fn get(&self, value: ValueId) -> Option<Span> {
        self.from[value.index()]
    }

    /// The source of a value differs between the lanes, so the value does as well. True if that is new.
    pub(super) fn add(&mut self, value: ValueId, from: Span) -> bool {
        let news = self.mark(value, Some(from));
        if news {
            self.follow();
        }
        news
    }

    fn mark(&mut self, value: ValueId, from: Option<Span>) -> bool {
        let known = &mut self.from[value.index()];
        let news = known.is_none() && from.is_some();
        if news {
            *known = from;
        }
        news
    }

    fn first(&self, values: &[ValueId]) -> Option<Span> {
        values.iter().find_map(|v| self.get(*v))
    }

    fn follow(&mut self) {
        let ops = &self.function.ops;
        while ops.iter().fold(false, |news, placed| self.follow_op(&placed.op) | news) {}
    }

    fn follow_op(&mut self, op: &OpRef<'_>) -> bool {
        let module = self.function.module;
        let data = module.op(op.id);
        let mut news = false;
        if is_region(op) {
            for arg in module.body(op.id, 0).map_or(&[][..], |b| &module.block(b).args) {
                news |= self.mark(*arg, Some(module.value(*arg).span));
            }
        } else if op.def.per_lane == Some(LaneQuery::Number) {
            for result in &data.results {
                news |= self.mark(*result, Some(op.span()));
            }
        } else if data.regions.is_empty() {
            let from = self.first(&data.operands);
            for result in &data.results {
                news |= self.mark(*result, from);
            }
        } else {
            news |= self.follow_regions(op.id);
        }
        news
    }

    /// Values that pass through the regions of an op; all of them, if the lane decides the control flow.
    fn follow_regions(&mut self, op: OpId) -> bool {
        let module = self.function.module;
        let data = module.op(op);
        let blocks: Vec<_> = (0..data.regions.len()).filter_map(|region| module.body(op, region)).collect();
        let ends: Vec<&[ValueId]> =
            blocks.iter().filter_map(|b| terminator(module, *b)).map(|end| &module.op(end).operands[..]).collect();
        let (repeats, decided) = (flow(module, op) == Flow::Repeat, self.condition(op));
        let mut news = false;
        for args in blocks.iter().map(|b| &module.block(*b).args).filter(|_| repeats) {
            for (at, arg) in args.iter().rev().enumerate() {
                let tail = |list: &[ValueId]| list.iter().rev().nth(at).and_then(|v| self.get(*v));
                let from = decided.or_else(|| tail(&data.operands)).or_else(|| ends.iter().find_map(|end| tail(end)));
                news |= self.mark(*arg, from);
            }
        }
        for (at, result) in data.results.iter().rev().enumerate() {
            let tail = |list: &[ValueId]| list.iter().rev().nth(at).and_then(|v| self.get(*v));
            let carried = if repeats { tail(&data.operands) } else { None };
            let from = decided.or(carried).or_else(|| ends.iter().find_map(|end| tail(end)));
            news |= self.mark(*result, from);
        }
        news
    }

    /// Why the lanes may take different paths through the regions of an op; `None` if they do not.
    pub(super) fn condition(&self, op: OpId) -> Option<Span> {
        let module = self.function.module;
        let data = module.op(op);
        if OpRef::of(module, op).is_some_and(|op| is_region(&op)) {
            return None;
        }
        let args = module.body(op, 0).map_or(0, |b| module.block(b).args.len());
        let repeats = flow(module, op) == Flow::Repeat;
        let leading =
            if repeats { data.operands.len().saturating_sub(args.saturating_sub(1)) } else { data.operands.len() };
        let leading = if repeats && data.operands.len() <= args { 0 } else { leading };
        // If a terminator passes on one value more than the op returns, the first is a condition.
        let ends = (0..data.regions.len()).filter_map(|region| terminator(module, module.body(op, region)?));
        let conditions = ends.filter_map(|end| {
            let passed = &module.op(end).operands;
            (repeats && passed.len() > data.results.len()).then(|| passed.first().copied()).flatten()
        });
        self.first(&data.operands[..leading]).or_else(|| conditions.into_iter().find_map(|v| self.get(v)))
    }

    /// How a value depends on the lane.
    pub(super) fn step(&self, value: ValueId) -> LaneChange {
        if self.get(value).is_none() {
            return LaneChange::Same;
        }
        let made = Affine::of(self.function.module, value, Follow::Intended);
        let varying = made.terms.iter().filter(|(term, _)| self.get(**term).is_some());
        let by = varying.map(|(term, factor)| self.is_number(*term).then_some(*factor));
        by.sum::<Option<i64>>().map_or(LaneChange::Unknown, LaneChange::By)
    }

    /// True for the lane number itself.
    fn is_number(&self, value: ValueId) -> bool {
        let module = self.function.module;
        match module.value(value).def {
            ValueDef::Result(op, _) => {
                OpRef::of(module, op).is_some_and(|op| op.def.per_lane == Some(LaneQuery::Number))
            }
            ValueDef::Arg(block, _) => {
                let owner = module.block_parent(block).and_then(|op| OpRef::of(module, op));
                owner.is_some_and(|op| is_region(&op)) || is_lane_number(module, value)
            }
        }
    }
}
