//! Branches, and merging the values of their arms.
//!
//! A number that the arms bind is a result of the branch, as are the offsets of a window; a tile is put into one buffer
//! by both arms. Values that allow neither are errors.

use std::rc::Rc;

use ruff_python_ast::{Expr, Stmt, StmtIf};
use slipring_ir::{BlockId, Diagnostic, OpId, Reported, Span, ValueId};
use slipring_mlir::scf;

use super::carry::{alike, type_of};
use super::held::{BuffersMark, Taken};
use super::lowering::{Lower, Lowered, describe};
use super::state::Frame;
use crate::constants::is_true;
use crate::dtype::DType;
use crate::globals::Scope;
use crate::jumps::quoted;
use crate::syntax::at;
use crate::value::{Const, Index, Parts, Scalar, TileId, Value};

impl Lower<'_> {
    pub(super) fn branch(&mut self, stmt: &StmtIf) -> Lowered<()> {
        let mut arms: Vec<(&Expr, &[Stmt])> = vec![(&stmt.test, &stmt.body)];
        let mut otherwise: &[Stmt] = &[];
        for clause in &stmt.elif_else_clauses {
            match &clause.test {
                Some(test) => arms.push((test, &clause.body)),
                None => otherwise = &clause.body,
            }
        }
        // If other arms leave the iteration, the code after a branch has been moved into one of its arms.
        let end = at(stmt).end;
        let behind = |arm: &[Stmt]| arm.last().is_some_and(|last| at(last).start >= end);
        let leaves = behind(otherwise) || arms.iter().any(|(_, arm)| behind(arm));
        self.arms(&arms, otherwise, (at(stmt), leaves))
    }

    fn arms(&mut self, arms: &[(&Expr, &[Stmt])], otherwise: &[Stmt], span: (Span, bool)) -> Lowered<()> {
        let Some(((test, then), rest)) = arms.split_first() else { return self.body(otherwise) };
        match self.expr(test)? {
            Value::Const(c) => {
                let taken = is_true(&c);
                self.arm(|l| if taken { l.body(then) } else { l.arms(rest, otherwise, span) })
            }
            condition @ Value::Scalar(_) => {
                let condition = self.number(&condition, DType::Bool, at(*test))?;
                let mut bound = self.names_in_body(then).bound;
                for body in rest.iter().map(|(_, body)| *body).chain([otherwise]) {
                    bound.extend(self.names_in_body(body).bound);
                }
                let bound = bound.into_iter().collect();
                self.two_arms(condition, bound, |l| l.body(then), |l| l.arms(rest, otherwise, span), span)
            }
            other => Err(self.no_condition(&other, at(*test))),
        }
    }

    /// Reports a value that is not a condition of a branch or a loop.
    pub(super) fn no_condition(&mut self, value: &Value, span: Span) -> Reported {
        let what = describe(self, value);
        let error = Diagnostic::error("condition", span, format!("a condition is a boolean, not {what}"));
        self.report(match value {
            Value::Tile(_) | Value::Tensor(_) => error.help(
                "an element is read with `pl.read(x, [i, j])`; element by element it is `a if x > 0.0 else b`, or `pl.sel`",
            ),
            _ => error,
        })
    }

    /// Lowers an arm of a branch.
    fn arm(&mut self, work: impl FnOnce(&mut Self) -> Lowered<()>) -> Lowered<()> {
        self.open.yields.push(Frame::Arm);
        let outcome = work(self);
        self.open.yields.pop();
        outcome
    }

    /// A branch that is decided at run time, whose arms may bind these names.
    pub(super) fn two_arms(
        &mut self,
        condition: ValueId,
        bound: Vec<Rc<str>>,
        then: impl FnOnce(&mut Self) -> Lowered<()>,
        otherwise: impl FnOnce(&mut Self) -> Lowered<()>,
        (span, leaves): (Span, bool),
    ) -> Lowered<()> {
        let before = self.names.env.clone();
        let op = self.e.op(&scf::IF, &[("condition", &[condition])], &[], &[]);
        let blocks = [self.e.region(op), self.e.region(op)];
        let since = self.held.buffers.mark();
        self.open.branches += 1;
        let then_outcome = self.in_block(blocks[0], |l| l.arm(then));
        let then_env = std::mem::replace(&mut self.names.env, before.clone());
        let then_taken = self.held.buffers.other_arm(since);
        self.held.buffers.revive(since);
        let between = self.held.buffers.mark();
        for name in then_env.keys().filter(|name| !before.contains_key(*name)) {
            self.names.lost.insert(name.clone(), (span, "assigned in the other arm of this branch only"));
        }
        let else_outcome = self.in_block(blocks[1], |l| l.arm(otherwise));
        let else_env = std::mem::replace(&mut self.names.env, before);
        self.held.buffers.revive(between);
        self.open.branches -= 1;
        then_outcome.and(else_outcome)?;
        self.merge(op, blocks, [then_env, else_env], &bound, (since, then_taken), (span, leaves))
    }

    /// After a branch: binds names to their values from the arm that ran.
    fn merge(
        &mut self,
        op: OpId,
        blocks: [BlockId; 2],
        envs: [Scope; 2],
        bound: &[Rc<str>],
        (since, then_taken): (BuffersMark, Vec<Taken>),
        (span, leaves): (Span, bool),
    ) -> Lowered<()> {
        let mut merge = Merge { op, blocks, yields: Default::default(), copies: Default::default(), envs, span };
        // The earlier values of names whose tile's buffer may receive the arms' results.
        let mut left = Vec::new();
        for name in bound {
            let before = self.names.env.get(name).cloned();
            match [merge.envs[0].get(name).cloned(), merge.envs[1].get(name).cloned()] {
                [Some(a), Some(b)] if self.same(&a, &b) => self.set(name, a),
                [Some(a), Some(b)] if self.is_read_later(name) => {
                    self.lose(name, span, "assigned in this branch");
                    left.push((name, before, [a, b]));
                }
                [Some(_), Some(_)] => self.lose(name, span, "assigned in this branch"),
                // A window at a known place is the same whichever iteration or arm has bound the name.
                [Some(Value::Tensor(window)), None] | [None, Some(Value::Tensor(window))]
                    if before.is_none() && window.offsets.iter().all(|offset| matches!(offset, Index::Known(_))) =>
                {
                    self.set(name, Value::Tensor(window));
                }
                // The other arm continues with the next iteration of a loop, so the value is that of the last iteration
                // that did not.
                [Some(Value::Tile(id)), None] | [None, Some(Value::Tile(id))]
                    if leaves && before.is_none() && self.is_read_later(name) && self.hoisted(id, op) =>
                {
                    let tile = self.renewed(id);
                    self.set(name, Value::Tile(tile));
                }
                _ => self.lose(name, span, "assigned in one arm of this branch only"),
            }
        }
        let mut merged = Vec::new();
        for (name, before, [a, b]) in left {
            let value = self.merged(&mut merge, name, before.as_ref(), &a, &b)?;
            self.set(name, value);
            merged.push(name.clone());
        }
        // Each arm's copies see the buffers that the arm took.
        let [then_copies, else_copies] = merge.copies;
        self.in_block(blocks[1], |l| l.copy_all(else_copies))?;
        let else_taken = self.held.buffers.other_arm(since);
        self.held.buffers.join(then_taken);
        self.in_block(blocks[0], |l| l.copy_all(then_copies))?;
        self.held.buffers.join(else_taken);
        for (block, values) in blocks.into_iter().zip(&merge.yields) {
            self.e.inside(block, |e| e.op(&scf::YIELD, &[("values", values)], &[], &[]));
        }
        self.renew_all(&merged);
        Ok(())
    }

    /// Buffers that both arms wrote now hold the merged tiles.
    fn renew_all(&mut self, names: &[Rc<str>]) {
        for name in names {
            let renewed = match self.names.env.get(name).cloned() {
                Some(Value::Tile(id)) => Value::Tile(self.renewed(id)),
                Some(Value::Parts(parts)) => {
                    let tiles = parts.tiles.iter().map(|id| self.renewed(*id)).collect();
                    Value::Parts(Rc::new(Parts { shape: parts.shape.clone(), tiles, whole: Default::default() }))
                }
                _ => continue,
            };
            self.names.env.insert(name.clone(), renewed);
        }
    }

    /// A value that is `a` after the first arm and `b` after the second.
    fn merged(
        &mut self,
        merge: &mut Merge,
        name: &Rc<str>,
        before: Option<&Value>,
        a: &Value,
        b: &Value,
    ) -> Lowered<Value> {
        let span = merge.span;
        match (a, b) {
            (a, b) if self.same(a, b) => Ok(a.clone()),
            (Value::Scalar(_) | Value::Const(_), Value::Scalar(_) | Value::Const(_))
                if [a, b].iter().all(|v| is_number(v)) =>
            {
                let ty = match (a, b) {
                    (Value::Scalar(s), _) | (_, Value::Scalar(s)) => s.ty,
                    (x, y) if type_of(x).is_float() != type_of(y).is_float() => DType::Elem(slipring_tile::Elem::F32),
                    (x, _) => type_of(x),
                };
                let mut values = Vec::new();
                for (at, value) in [a, b].into_iter().enumerate() {
                    values.push(self.in_block(merge.blocks[at], |l| l.number(value, ty, span))?);
                }
                let result = self.merged_value(merge, [values[0], values[1]], ty, name);
                Ok(self.scalar(result, ty))
            }
            (Value::Tensor(x), Value::Tensor(y)) if alike(x, y) => {
                let mut window = x.clone();
                for (at, offset) in window.offsets.iter_mut().enumerate() {
                    *offset = self.merged_index(merge, [x.offsets[at], y.offsets[at]], name);
                }
                Ok(Value::Tensor(window))
            }
            (Value::Tensor(x), Value::Tensor(y)) if x.root != y.root => {
                let error = self.two_tensors(name, x, y, span);
                Err(self.report(error))
            }
            (Value::Tile(_) | Value::Tensor(_), Value::Tile(_) | Value::Tensor(_))
                if !(matches!(a, Value::Tensor(_)) && matches!(b, Value::Tensor(_))) =>
            {
                self.merged_tile(merge, name, before, [a, b])
            }
            (Value::Tuple(x), Value::Tuple(y)) if x.len() == y.len() => {
                let items = x.iter().zip(y).map(|(x, y)| self.merged(merge, name, None, x, y));
                Ok(Value::Tuple(items.collect::<Lowered<_>>()?))
            }
            (Value::Parts(x), Value::Parts(y)) if x.shape == y.shape => {
                let mut tiles = Vec::new();
                for (at, (p, q)) in x.tiles.iter().zip(&y.tiles).enumerate() {
                    let old = match before {
                        Some(Value::Parts(parts)) => parts.tiles.get(at).map(|id| Value::Tile(*id)),
                        _ => None,
                    };
                    match self.merged(merge, name, old.as_ref(), &Value::Tile(*p), &Value::Tile(*q))? {
                        Value::Tile(id) => tiles.push(id),
                        _ => return Err(Reported),
                    }
                }
                let shape = x.shape.clone();
                Ok(Value::Parts(Rc::new(Parts { shape, tiles, whole: Default::default() })))
            }
            _ => {
                let (x, y) = (describe(self, a), describe(self, b));
                let error =
                    Diagnostic::error("branch-type", span, format!("after this branch {} is {x} or {y}", quoted(name)))
                        .help("give it the same kind of value in both arms, or use two names");
                Err(self.report(error))
            }
        }
    }

    fn merged_value(&mut self, merge: &mut Merge, values: [ValueId; 2], ty: DType, name: &str) -> ValueId {
        for (yields, value) in merge.yields.iter_mut().zip(values) {
            yields.push(value);
        }
        let place = self.e.span;
        self.e.module.add_result(merge.op, ty.ir(), Some(name.to_string().into()), place)
    }

    /// The value of an index after the branch.
    fn merged_index(&mut self, merge: &mut Merge, both: [Index; 2], name: &str) -> Index {
        if both[0] == both[1] {
            return both[0];
        }
        let values = [0, 1].map(|arm| self.in_block(merge.blocks[arm], |l| l.index_value(both[arm])));
        let value = self.merged_value(merge, values, DType::Index, name);
        Index::At(Scalar { value, ty: DType::Index, region: self.open_region_op() })
    }

    /// A tile that both arms put into one buffer: that of the name from before the branch, if no other name uses it.
    fn merged_tile(
        &mut self,
        merge: &mut Merge,
        name: &Rc<str>,
        before: Option<&Value>,
        values: [&Value; 2],
    ) -> Lowered<Value> {
        let mut ids = Vec::new();
        for (at, value) in values.into_iter().enumerate() {
            ids.push(match value {
                Value::Tensor(window) => self.in_block(merge.blocks[at], |l| l.materialized(window))?,
                Value::Tile(id) => *id,
                _ => return Err(Reported),
            });
        }
        let ids = [ids[0], ids[1]];
        let old = match before {
            Some(Value::Tile(id)) if !self.is_shared(name, *id) => {
                let (old, new) = (self.tile(*id), self.tile(ids[0]));
                let fits = old.ty.space == new.ty.space || old.ty.space == self.tile(ids[1]).ty.space;
                (fits && old.shape == new.shape && old.valid == new.valid).then_some(*id)
            }
            _ => None,
        };
        let target = match old {
            Some(id) => self.claim(id),
            None if let Some(id) = self.accumulated_onto(merge, ids) => self.claim(id),
            None => {
                // If the memories differ, chooses the Vector cores', which the other kind of core can reach.
                let vector = ids.iter().find(|id| self.tile(**id).ty.space == slipring_tile::Space::Vec);
                self.buffer_before(merge.op, *vector.unwrap_or(&ids[0]))
            }
        };
        let valid = ids.map(|id| self.tile(id).valid);
        for (at, mut id) in ids.into_iter().enumerate() {
            if self.tile(id).value == self.tile(target).value || self.made_there(merge.blocks[at], id, target) {
                id = target;
            }
            // Names that the arms bind are unbound in between: sharing is checked at the end of the arm.
            let buffer = self.buffer_of(id);
            let shared = self.others_in(&merge.envs[at], name, buffer);
            self.part_ways(id, target, shared);
            // A tile made in the target needs no copy, whatever the other arm did to the buffer.
            if id != target {
                merge.copies[at].push((id, target));
            }
        }
        let target = self.renewed(target);
        let lies_there = merge.copies.iter().flatten().all(|(_, to)| self.tile(*to).value != self.tile(target).value);
        if let [Some(then), Some(otherwise)] = valid
            && lies_there
            && then != otherwise
        {
            // Its valid extent is that of the arm that ran.
            let mut extents = then;
            for (at, extent) in extents.iter_mut().enumerate() {
                *extent = self.merged_index(merge, [then[at], otherwise[at]], name);
            }
            self.held.tiles[target.0 as usize].valid = Some(extents);
        }
        Ok(Value::Tile(target))
    }
}

impl Lower<'_> {
    /// The accumulator from before a branch that an arm added to: the other arm makes its product in it.
    fn accumulated_onto(&self, merge: &Merge, ids: [TileId; 2]) -> Option<TileId> {
        let both = ids.map(|id| self.tile(id));
        // The valid extents may differ if they are dynamic.
        let counted = both.iter().all(|tile| tile.valid.is_some()) || both[0].valid == both[1].valid;
        if both.iter().any(|tile| tile.ty.space != slipring_tile::Space::Acc) || !counted {
            return None;
        }
        ids.into_iter().find(|id| {
            let made = self.e.module.defining_op(self.tile(*id).value).and_then(|op| self.e.module.op(op).block);
            made.is_some_and(|block| !merge.blocks.contains(&block) && self.open.blocks.contains(&block))
        })
    }

    /// Makes an arm's product directly in the target, because accumulators are never copied. False if the arm needs the
    /// earlier contents, or did not make the product itself.
    fn made_there(&mut self, arm: BlockId, id: TileId, target: TileId) -> bool {
        let (from, to) = (self.tile(id).clone(), self.tile(target).clone());
        let made = self.e.module.defining_op(from.value);
        let own =
            made.is_some_and(|op| self.e.module.op(op).block == Some(arm)) && self.held.allocs.contains(&from.value);
        let (Some(made), true) = (made.filter(|_| own), from.ty.space == slipring_tile::Space::Acc) else {
            return false;
        };
        let reads_it = |op: &OpId| self.e.module.op(*op).operands.contains(&to.value);
        // The padding may differ: the valid elements are the same.
        let mut padded = from.ty;
        (padded.layout.rows, padded.layout.cols) = (to.ty.layout.rows, to.ty.layout.cols);
        if padded != to.ty || from.shape != to.shape || self.e.module.walk(arm).iter().any(reads_it) {
            return false;
        }
        self.e.module.replace_uses(from.value, to.value);
        self.e.module.remove(made);
        for tile in self.held.tiles.iter_mut().filter(|tile| tile.value == from.value) {
            tile.value = to.value;
        }
        true
    }
}

/// Two arms that are merged.
struct Merge {
    op: OpId,
    blocks: [BlockId; 2],
    /// Values that each arm yields.
    yields: [Vec<ValueId>; 2],
    /// Tiles that each arm copies into buffers at its end.
    copies: [Vec<(TileId, TileId)>; 2],
    /// Values of names at the end of each arm.
    envs: [Scope; 2],
    span: Span,
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Scalar(_) | Value::Const(Const::Int(_) | Const::Float(_) | Const::Bool(_)))
}
