//! The part of a whole-cluster kernel that one kind of core needs.
//!
//! It consists of its own work, its ends of the tiles that cross, the control flow around them, and all values that
//! these are computed from. Everything else belongs to the other kind: its work, loops without work for this one, and
//! values that loops carry only for it.

use std::collections::BTreeSet;

use slipring_ir::{BlockId, Diagnostic, Diags, Flow, Module, OpId, ValueDef, ValueId};
use slipring_machine::CoreKind;
use slipring_program::Direction;

use super::order::Meetings;
use super::sides::{Side, is_control, is_pure, on_each_core, once, side};
use crate::analysis::facts::{flow, terminator};

/// The needs of one kind of core.
pub(super) struct Needed<'m> {
    module: &'m Module,
    kind: CoreKind,
    /// True if there is no other kind: this one does everything that any core can do.
    alone: bool,
    ops: BTreeSet<OpId>,
    values: BTreeSet<ValueId>,
    /// Values that this kind needs and cannot compute, with the op that needs each.
    lacking: Vec<(ValueId, OpId)>,
}

impl<'m> Needed<'m> {
    /// Determines what cores of a kind need of a function's body.
    pub fn of(module: &'m Module, body: BlockId, kind: CoreKind, alone: bool, meetings: &Meetings) -> Needed<'m> {
        let (ops, values) = (BTreeSet::new(), BTreeSet::new());
        let mut needed = Needed { module, kind, alone, ops, values, lacking: Vec::new() };
        for op in module.walk(body) {
            if needed.is_root(op) {
                needed.op(op);
            }
        }
        for block in meetings.blocks(module) {
            if let Some(around) = module.block_parent(block).filter(|op| is_control(module, *op)) {
                needed.op(around);
            }
        }
        needed
    }

    /// True if cores of this kind run an op.
    pub fn has(&self, op: OpId) -> bool {
        self.ops.contains(&op)
    }

    /// True if they need a value.
    pub fn uses(&self, value: ValueId) -> bool {
        self.values.contains(&value)
    }

    /// True if they need the value that a loop or branch carries at position `at`, counted from the first carried
    /// value.
    pub fn carries(&self, op: OpId, at: usize) -> bool {
        self.carried_values(op, at).into_iter().any(|v| self.uses(v))
    }

    /// Reports values that this kind of core needs and cannot compute.
    pub fn report(&self, diags: &mut Diags) {
        let mut told = BTreeSet::new();
        for (value, user) in &self.lacking {
            if !told.insert(*value) {
                continue;
            }
            let (module, name) = (self.module, self.module.value_name(*value));
            let (core, other) = match self.kind {
                CoreKind::Cube => ("the Cube core", "the Vector cores know"),
                CoreKind::Vector => ("the Vector cores", "the Cube core knows"),
            };
            let error = Diagnostic::error(
                "scalar-crossing",
                module.op(*user).span,
                format!("{core} would need `{name}` here, which only {other}"),
            );
            diags.push(error.also(module.value(*value).span, "made here").help(
                "scalars do not cross between the cores, and a tile crosses on both or on none: compute the value from \
                 arguments, or load it from global memory",
            ));
        }
    }

    fn is_root(&self, op: OpId) -> bool {
        let module = self.module;
        if module.op(op).schema().is_some_and(|s| s.terminator) || is_control(module, op) {
            return false;
        }
        match side(module, op) {
            Side::Of(kind) => kind == self.kind && !is_pure(module, op),
            Side::Crosses(_) => true,
            Side::Both => {
                !is_pure(module, op) && (self.alone || on_each_core(module, op) || once(module, op) == self.kind)
            }
            Side::Region => false,
        }
    }

    fn op(&mut self, op: OpId) {
        if !self.ops.insert(op) {
            return;
        }
        let module = self.module;
        let data = module.op(op);
        match side(module, op) {
            Side::Crosses(direction) => {
                let sends = (direction == Direction::C2V) == (self.kind == CoreKind::Cube);
                self.value(module.operands_named(op, if sends { "src" } else { "dst" })[0], op);
            }
            _ if is_control(module, op) => self.control(op),
            _ => {
                data.operands.iter().for_each(|v| self.value(*v, op));
                for inner in crate::analysis::last_use::with_inner(module, op).into_iter().skip(1) {
                    module.op(inner).operands.iter().for_each(|v| self.value(*v, inner));
                }
            }
        }
        let around = module.parent_op(op).filter(|at| !module.is_function(*at));
        match around {
            Some(at) if side(module, at) == Side::Region => {
                self.ops.insert(at);
                module.parent_op(at).filter(|at| is_control(module, *at)).into_iter().for_each(|at| self.op(at));
            }
            Some(at) => self.op(at),
            None => {}
        }
    }

    /// The needs of control flow itself: bounds and conditions. A loop with a condition keeps all carried values.
    fn control(&mut self, op: OpId) {
        let module = self.module;
        let data = module.op(op);
        let carried = carried(module, op);
        let tail = if flow(module, op) == Flow::Repeat { carried } else { 0 };
        let first = data.operands.len().saturating_sub(tail);
        data.operands[..first].iter().for_each(|v| self.value(*v, op));
        if carried == 0 {
            for region in 0..data.regions.len() {
                let end = module.body(op, region).and_then(|b| terminator(module, b));
                end.into_iter().for_each(|end| module.op(end).operands.iter().for_each(|v| self.value(*v, end)));
            }
        }
    }

    fn value(&mut self, value: ValueId, user: OpId) {
        if !self.values.insert(value) {
            return;
        }
        let module = self.module;
        match module.value(value).def {
            ValueDef::Result(op, at) => {
                if matches!(side(module, op), Side::Of(kind) if kind != self.kind) {
                    return self.lacking.push((value, user));
                }
                self.op(op);
                if is_control(module, op) && carried(module, op) > 0 {
                    self.carry(op, usize::from(at));
                }
            }
            ValueDef::Arg(block, at) => {
                let Some(op) = module.block_parent(block) else { return };
                if side(module, op) == Side::Region && self.kind == CoreKind::Cube {
                    return self.lacking.push((value, user));
                }
                let lead = module.block(block).args.len().saturating_sub(carried(module, op));
                if is_control(module, op)
                    && flow(module, op) == Flow::Repeat
                    && let Some(at) = usize::from(at).checked_sub(lead)
                    && carried(module, op) > 0
                {
                    self.carry(op, at);
                }
            }
        }
    }

    fn carry(&mut self, op: OpId, at: usize) {
        for value in self.carried_values(op, at) {
            self.values.insert(value);
        }
        let (module, count) = (self.module, carried(self.module, op));
        let data = module.op(op);
        if flow(module, op) == Flow::Repeat
            && let Some(init) = data.operands.len().checked_sub(count - at).and_then(|at| data.operands.get(at))
        {
            self.value(*init, op);
        }
        for region in 0..data.regions.len() {
            let Some(end) = module.body(op, region).and_then(|b| terminator(module, b)) else { continue };
            let passed = &module.op(end).operands;
            if let Some(value) = passed.len().checked_sub(count - at).and_then(|at| passed.get(at)) {
                self.value(*value, end);
            }
        }
    }

    /// The values that represent a carried one: the result, and in a loop the argument.
    fn carried_values(&self, op: OpId, at: usize) -> Vec<ValueId> {
        let (module, count) = (self.module, carried(self.module, op));
        let mut values: Vec<ValueId> = module.op(op).results.get(at).copied().into_iter().collect();
        if flow(module, op) == Flow::Repeat
            && let Some(body) = module.body(op, 0)
        {
            let args = &module.block(body).args;
            values.extend(args.len().checked_sub(count - at).and_then(|at| args.get(at)));
        }
        values
    }
}

/// How many values a counted loop or a branch carries or returns; 0 for loops whose regions differ in what they carry.
pub(super) fn carried(module: &Module, op: OpId) -> usize {
    let data = module.op(op);
    match flow(module, op) {
        Flow::Repeat if data.regions.len() == 1 => data.results.len(),
        Flow::OneOf => data.results.len(),
        _ => 0,
    }
}
