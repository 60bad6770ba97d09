//! Loops of blocks.

use std::collections::BTreeMap;

use slipring_ir::{AttrDict, BlockId, OpId, Span, ValueId};
use slipring_mlir::arith;
use slipring_mlir::cf::{Edge, Ways};
use slipring_mlir::scf;
use slipring_op::rules::constant;
use slipring_op::{Linear, OpDef, OpRef};
use slipring_program::Relation;

use super::emit::{Emit, Now, get};
use super::exits::{Exits, Handed, Need};
use super::graph::{Lifted, Vertex};

/// An `scf.while` whose regions are empty, in its place.
struct Loop {
    op: OpId,
    /// Its two blocks: the first has the arguments of the loop's first block.
    blocks: [BlockId; 2],
    span: Span,
}

impl Emit<'_> {
    /// Emits a loop, given its first block.
    pub fn whole_loop(&mut self, into: BlockId, head: Vertex, now: &Now) -> Lifted<Exits> {
        let args = self.module.block(self.graph.places[head].block).args.clone();
        let init: Vec<ValueId> = args.iter().map(|arg| get(now, *arg)).collect();
        let span = self.span(head);
        let op = scf::WHILE.make(self.module, &[("init", &init)], AttrDict::default(), &[], span);
        self.module.append(into, op);
        let blocks = [0, 1].map(|_| {
            let region = self.module.add_region(op);
            self.module.add_block(region)
        });
        let mut inner = now.clone();
        for arg in args {
            let value = self.module.value(arg).clone();
            let name = self.unless_taken(value.name, blocks[0]);
            let new = self.module.add_arg(blocks[0], value.ty, name, value.span);
            inner.insert(arg, new);
        }
        let this = Loop { op, blocks, span };
        self.open.insert(head);
        let exits = match self.way_out(head) {
            Some((condition, ways)) => self.left_at_head(into, head, &this, condition, ways, &inner),
            None => self.left_anywhere(into, head, &this, &mut inner),
        };
        self.open.remove(&head);
        exits
    }

    /// If only the first block leaves the loop: its condition, and the ways into and out of the loop. The condition
    /// holds for the former if the last value is true.
    fn way_out(&self, head: Vertex) -> Option<(ValueId, (Edge, Edge, bool))> {
        let own = &self.graph.loops[&head];
        let Some(Ways::Either(condition, [yes, no])) = &self.graph.places[head].ways else { return None };
        let stays = own.contains(&yes.to);
        let (inside, outside) = if stays { (yes, no) } else { (no, yes) };
        let edges = own.iter().filter(|node| **node != head).flat_map(|node| &self.graph.places[*node].ways);
        let inner = |edge: &Edge| own.contains(&edge.to) && edge.to != head;
        let others = edges.flat_map(Ways::edges).all(|edge| own.contains(&edge.to));
        let plain = inner(inside) && !own.contains(&outside.to) && others;
        plain.then(|| (*condition, (inside.clone(), outside.clone(), stays)))
    }

    /// A loop that only its first block leaves: that is the first region.
    fn left_at_head(
        &mut self,
        into: BlockId,
        head: Vertex,
        this: &Loop,
        condition: ValueId,
        (inside, outside, stays): (Edge, Edge, bool),
        now: &Now,
    ) -> Lifted<Exits> {
        let ([before, after], span) = (this.blocks, this.span);
        self.ops(before, head, now);
        let mut condition = get(now, condition);
        if !stays {
            let no = self.always(before, false, span);
            let not = arith::compare(self.module, arith::Relation::Equal, [condition, no], span);
            condition = self.add(before, not);
        }
        let (entering, leaving) = (self.values(head, &inside, now), self.values(head, &outside, now));
        let shared = self.graph.shared.get(&head).cloned().unwrap_or_default();
        let shared: Vec<(ValueId, ValueId)> = shared.into_iter().map(|value| (value, get(now, value))).collect();
        let all = entering.values().chain(leaving.values()).copied().chain(shared.iter().map(|(_, current)| *current));
        let mut passed: Vec<ValueId> = Vec::new();
        for value in all {
            if !passed.contains(&value) && !self.is_visible(value, into) {
                passed.push(value);
            }
        }
        let (mut in_body, mut behind) = (Now::new(), Now::new());
        self.pass(this, condition, &passed);
        let (args, results) = (self.module.block(after).args.clone(), self.module.op(this.op).results.clone());
        for (at, value) in passed.iter().enumerate() {
            in_body.insert(*value, args[at]);
            behind.insert(*value, results[at]);
        }
        let mut inner: Now = now.clone();
        inner.extend(shared.iter().map(|(value, current)| (*value, get(&in_body, *current))));
        let own = self.graph.loops[&head].iter().copied().filter(|node| *node != head).collect();
        self.bind(inside.to, &each(&entering, &in_body), &mut inner);
        let exits = self.piece(after, inside.to, &own, &mut inner)?;
        let next = exits.to.get(&head).map(|values| values.values().copied().collect::<Vec<_>>());
        let next = match next {
            Some(next) => next,
            // It never comes back.
            None => {
                let args = self.module.block(before).args.clone();
                args.iter().map(|arg| self.unused(after, *arg, head, span)).collect::<Lifted<_>>()?
            }
        };
        self.yields(after, &next, span);
        let mut leaving = each(&leaving, &behind);
        self.count(into, this, &passed, &mut leaving);
        Ok(Exits::only(outside.to, leaving))
    }

    /// A loop that is left anywhere: all of it is the first region, which says whether it goes on.
    fn left_anywhere(&mut self, into: BlockId, head: Vertex, this: &Loop, now: &mut Now) -> Lifted<Exits> {
        let ([before, after], span) = (this.blocks, this.span);
        let own = self.graph.loops[&head].iter().copied().filter(|node| *node != head).collect();
        let mut exits = self.piece(before, head, &own, now)?;
        let next = exits.to.remove(&head);
        let condition = match (&next, exits.which) {
            (Some(_), Some(which)) => self.is(before, which, head, span),
            (next, _) => self.always(before, next.is_some(), span),
        };
        let args = self.module.block(before).args.clone();
        let mut passed: Vec<ValueId> = match next {
            Some(values) => values.values().copied().collect(),
            None => args.to_vec(),
        };
        exits.which = exits.which.filter(|_| exits.to.len() > 1);
        let values = exits.to.values().flat_map(BTreeMap::values).copied().chain(exits.which);
        for value in values.collect::<Vec<_>>() {
            if !passed[args.len()..].contains(&value) && !self.is_visible(value, into) {
                passed.push(value);
            }
        }
        self.pass(this, condition, &passed);
        let next: Vec<ValueId> = self.module.block(after).args[..args.len()].to_vec();
        self.yields(after, &next, span);
        let results = self.module.op(this.op).results.clone();
        let behind: Now = passed.into_iter().zip(results).skip(args.len()).collect();
        for values in exits.to.values_mut() {
            *values = each(values, &behind);
        }
        exits.which = exits.which.map(|which| get(&behind, which));
        Ok(exits)
    }

    /// Ends the first region of a loop: these values are the arguments of the second one and the results.
    fn pass(&mut self, this: &Loop, condition: ValueId, values: &[ValueId]) {
        let operands: [(&str, &[ValueId]); 2] = [("condition", &[condition]), ("args", values)];
        let end = scf::CONDITION.make(self.module, &operands, AttrDict::default(), &[], this.span);
        self.module.append(this.blocks[0], end);
        for value in values {
            let value = self.module.value(*value).clone();
            let name = self.unless_taken(value.name.clone(), this.blocks[1]);
            self.module.add_arg(this.blocks[1], value.ty.clone(), name, value.span);
            let name = self.module.op(this.op).block.and_then(|into| self.unless_taken(value.name, into));
            self.module.add_result(this.op, value.ty, name, value.span);
        }
    }

    fn yields(&mut self, block: BlockId, values: &[ValueId], span: Span) {
        let end = scf::YIELD.make(self.module, &[("values", values)], AttrDict::default(), &[], span);
        self.module.append(block, end);
    }

    /// Makes an `scf.for` of a loop whose first region compares a counter with its end and does nothing else, if
    /// nothing needs the counter's last value.
    fn count(&mut self, into: BlockId, this: &Loop, passed: &[ValueId], leaving: &mut Handed) {
        let Some(counter) = self.counter(into, this, passed, leaving) else { return };
        let [before, after] = this.blocks;
        let args = self.module.block(before).args.clone();
        let init = self.module.op(this.op).operands.clone();
        let (lower, end) = (init[counter.arg], counter.end);
        let ty = self.module.ty(lower).clone();
        let step = arith::constant(self.module, counter.step, ty, this.span);
        let at = self.module.position(this.op).map_or(0, |(_, at)| at);
        self.module.insert(into, at, step);
        let step = self.module.op(step).results[0];
        let others = |values: &[ValueId]| {
            values.iter().enumerate().filter(|(at, _)| *at != counter.arg).map(|(_, v)| *v).collect::<Vec<_>>()
        };
        let carried = others(&args);
        let operands: [(&str, &[ValueId]); 4] =
            [("lower", &[lower]), ("upper", &[end]), ("step", &[step]), ("init", &others(&init))];
        let op = scf::FOR.make(self.module, &operands, AttrDict::default(), &[], this.span);
        let region = self.module.add_region(op);
        let body = self.module.add_block(region);
        let mut map = Now::new();
        for arg in std::iter::once(&args[counter.arg]).chain(&carried) {
            let value = self.module.value(*arg).clone();
            let name = self.unless_taken(value.name, body);
            let new = self.module.add_arg(body, value.ty, name, value.span);
            map.insert(*arg, new);
        }
        // What the loop passes on are arguments of its first region.
        for (arg, value) in self.module.block(after).args.clone().into_iter().zip(passed) {
            let new = map[value];
            map.insert(arg, new);
        }
        let mut behind = Now::new();
        for arg in &carried {
            let value = self.module.value(*arg).clone();
            let old = passed.iter().position(|value| value == arg).map(|at| self.module.op(this.op).results[at]);
            let name = match old {
                Some(old) => self.module.value(old).name.clone(),
                None => self.unless_taken(value.name, into),
            };
            let result = self.module.add_result(op, value.ty, name, value.span);
            behind.extend(old.map(|old| (old, result)));
        }
        let mut ops = self.module.block(after).ops.clone();
        self.module.set_ops(after, Vec::new());
        let Some(last) = ops.pop() else { return };
        let next = others(&self.module.op(last).operands.clone());
        let used = ops.iter().any(|op| self.uses(*op, counter.next)) || next.contains(&counter.next);
        for inner in ops {
            if used || !self.module.op(inner).results.contains(&counter.next) {
                self.replace(inner, &map);
                self.module.append(body, inner);
            }
        }
        let next: Vec<ValueId> = next.iter().map(|value| get(&map, *value)).collect();
        self.yields(body, &next, this.span);
        self.module.insert_before(this.op, op);
        self.module.remove(this.op);
        *leaving = each(leaving, &behind);
    }

    /// Whether an op or one inside it uses a value.
    fn uses(&self, op: OpId, value: ValueId) -> bool {
        let data = self.module.op(op);
        let blocks = data.regions.iter().flat_map(|region| &self.module.region(*region).blocks);
        let mut inner = blocks.flat_map(|block| &self.module.block(*block).ops);
        data.operands.contains(&value) || inner.any(|inner| self.uses(*inner, value))
    }

    fn counter(&self, into: BlockId, this: &Loop, passed: &[ValueId], leaving: &Handed) -> Option<Counting> {
        let (module, [before, after]) = (&*self.module, this.blocks);
        let [compare, end] = module.block(before).ops[..] else { return None };
        let compares = OpRef::of(module, compare).and_then(|op| (op.def.relation)(&op)) == Some(Relation::LESS);
        let [counter, limit] = module.op(compare).operands[..] else { return None };
        let decides = module.op(end).operands.first() == module.op(compare).results.first();
        let args = &module.block(before).args;
        let arg = args.iter().position(|arg| *arg == counter)?;
        if !(compares && decides && self.is_visible(limit, into) && passed.iter().all(|value| args.contains(value))) {
            return None;
        }
        let own = passed.iter().position(|value| *value == counter)?;
        let result = module.op(this.op).results[own];
        let last = *module.block(after).ops.last()?;
        let next = *module.op(last).operands.get(arg)?;
        let sum = module.defining_op(next).filter(|op| module.op(*op).block == Some(after))?;
        OpDef::of(module, sum).filter(|def| def.linear == Some(Linear::Sum))?;
        let [a, b] = module.op(sum).operands[..] else { return None };
        let counts = module.block(after).args[own];
        let by = if a == counts { b } else { a };
        let step = constant(module, by).filter(|step| *step > 0 && (a == counts || b == counts))?;
        let needed = leaving.values().any(|value| *value == result);
        (!needed).then_some(Counting { arg, end: limit, step, next })
    }
}

/// The counter of a loop.
struct Counting {
    /// Which argument of the loop it is.
    arg: usize,
    end: ValueId,
    step: i64,
    /// Its value in the next iteration.
    next: ValueId,
}

/// The values, each as another one.
fn each(values: &Handed, now: &Now) -> Handed {
    values.iter().map(|(needed, value): (&Need, &ValueId)| (*needed, get(now, *value))).collect()
}
