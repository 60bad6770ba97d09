//! Moving the ops of blocks into structured ops.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use slipring_ir::{
    Attr, AttrDict, BlockId, Diagnostic, Diags, Module, OpId, RegionId, Reported, Span, Type, ValueDef, ValueId,
};
use slipring_mlir::arith;
use slipring_mlir::cf::{Edge, Ways};
use slipring_mlir::scf;

use super::exits::{Exits, Handed, Need};
use super::graph::{END, Graph, Lifted, Reached, Vertex};

/// How deeply the result may be nested: less than a text may be.
const MOST_DEPTH: usize = 64;

/// The current value for each value of the blocks that was replaced.
pub(super) type Now = BTreeMap<ValueId, ValueId>;

pub(super) struct Emit<'a> {
    pub module: &'a mut Module,
    pub graph: &'a Graph,
    diags: &'a mut Diags,
    /// The loops whose first block is being emitted as a block.
    pub open: BTreeSet<Vertex>,
    depth: usize,
}

impl<'a> Emit<'a> {
    pub fn new(module: &'a mut Module, graph: &'a Graph, diags: &'a mut Diags) -> Emit<'a> {
        Emit { module, graph, diags, open: BTreeSet::new(), depth: 0 }
    }

    /// Replaces the blocks of a region by one.
    pub fn region(&mut self, region: RegionId) -> Lifted<()> {
        let leaves = |place: &&Reached| place.ways.is_none();
        let Some(last) = self.graph.places.iter().find(leaves).map(|place| place.last) else {
            let span = self.span(0);
            let error = Diagnostic::error("no-return", span, "no way through these blocks ends");
            self.diags.push(error.help("return from one of them"));
            return Err(Reported);
        };
        let like = |other: OpId| self.module.op(other).declaration.map(|own| own.schema().name);
        let other = self.graph.places.iter().filter(leaves).find(|place| like(place.last) != like(last));
        if let Some(other) = other.map(|place| self.module.op(place.last)) {
            let message =
                format!("the blocks of one region end in `{}` and in `{}`", self.module.op(last).name, other.name);
            self.diags
                .push(Diagnostic::error("block-end", other.span, message).also(self.module.op(last).span, "here"));
            return Err(Reported);
        }
        let entry = self.graph.places[0].block;
        let all = (1..self.graph.places.len()).collect();
        let exits = self.piece(entry, 0, &all, &mut Now::new())?;
        let values = exits.to.get(&END).ok_or(Reported)?;
        self.module.op_mut(last).operands = values.values().copied().collect();
        self.module.append(entry, last);
        self.module.keep_first_block(region);
        Ok(())
    }

    /// The location of a block's end.
    pub fn span(&self, node: Vertex) -> Span {
        self.module.op(self.graph.places[node].last).span
    }

    /// Reports something that has no structured form.
    pub fn refuse(&mut self, node: Vertex, what: &str) -> Reported {
        let error =
            Diagnostic::error(slipring_ir::Kind::Unsupported, self.span(node), format!("{what} is not modelled"));
        self.diags.push(error.help("use structured control flow: `scf.if`, `scf.for`, `scf.while`"));
        Reported
    }

    /// Emits a block and those of `own` that follow it, up to the others.
    pub fn piece(&mut self, into: BlockId, node: Vertex, own: &BTreeSet<Vertex>, now: &mut Now) -> Lifted<Exits> {
        let mut exits = self.block(into, node, own, now)?;
        // The first one in the order: nothing that is left leads to it.
        while let Some(next) = exits.to.keys().copied().find(|node| own.contains(node)) {
            let values = exits.to.remove(&next).unwrap_or_default();
            if exits.to.is_empty() {
                self.bind(next, &values, now);
                exits = self.block(into, next, own, now)?;
                continue;
            }
            let Some(which) = exits.which else { return Err(self.refuse(next, "this branch")) };
            let span = self.span(next);
            let is_next = self.is(into, which, next, span);
            let (op, arms) = self.branch(into, is_next, span);
            let (mut inner, mine) = (now.clone(), self.dominated(next, own));
            self.bind(next, &values, &mut inner);
            let there = self.nested(next, |emit| emit.piece(arms[0], next, &mine, &mut inner))?;
            exits = self.join(into, op, arms, [there, exits], next)?;
        }
        Ok(exits)
    }

    /// The blocks of `own` that `node` dominates.
    fn dominated(&self, node: Vertex, own: &BTreeSet<Vertex>) -> BTreeSet<Vertex> {
        own.iter().copied().filter(|other| self.graph.dominates(node, *other)).collect()
    }

    fn nested<T>(&mut self, node: Vertex, step: impl FnOnce(&mut Self) -> Lifted<T>) -> Lifted<T> {
        if self.depth == MOST_DEPTH {
            return Err(self.refuse(node, &format!("a nest of more than {MOST_DEPTH} branches")));
        }
        self.depth += 1;
        let outcome = step(self);
        self.depth -= 1;
        outcome
    }

    /// Gives a block the values that it needs.
    pub fn bind(&self, node: Vertex, values: &Handed, now: &mut Now) {
        let args = &self.module.block(self.graph.places[node].block).args;
        for (needed, value) in values {
            match needed {
                Need::Argument(at) => now.insert(args[*at], *value),
                Need::Value(of) => now.insert(*of, *value),
            };
        }
    }

    /// Emits one block, or the loop that it begins.
    pub fn block(&mut self, into: BlockId, node: Vertex, own: &BTreeSet<Vertex>, now: &mut Now) -> Lifted<Exits> {
        if self.graph.loops.contains_key(&node) && !self.open.contains(&node) {
            return self.nested(node, |emit| emit.whole_loop(into, node, now));
        }
        self.ops(into, node, now);
        let graph = self.graph;
        match &graph.places[node].ways {
            None => {
                let operands = self.module.op(graph.places[node].last).operands.clone();
                let values = operands.iter().enumerate().map(|(at, value)| (Need::Argument(at), get(now, *value)));
                Ok(Exits::only(END, values.collect()))
            }
            Some(Ways::Always(edge)) => Ok(Exits::only(edge.to, self.values(node, edge, now))),
            Some(Ways::Either(condition, [yes, no])) => {
                if yes == no {
                    return Ok(Exits::only(yes.to, self.values(node, yes, now)));
                }
                let condition = get(now, *condition);
                let (op, arms) = self.branch(into, condition, self.span(node));
                let first = self.arm(arms[0], node, yes, own, now)?;
                let second = self.arm(arms[1], node, no, own, now)?;
                self.join(into, op, arms, [first, second], node)
            }
            Some(Ways::Case(flag, cases, otherwise)) => {
                let flag = get(now, *flag);
                self.cases(into, node, flag, (cases, otherwise), own, now)
            }
        }
    }

    /// Moves the ops of a block but for its end.
    pub fn ops(&mut self, into: BlockId, node: Vertex, now: &Now) {
        let place = &self.graph.places[node];
        let mut ops = self.module.block(place.block).ops.clone();
        self.module.set_ops(place.block, Vec::new());
        ops.retain(|op| *op != place.last);
        for op in ops {
            self.replace(op, now);
            self.module.append(into, op);
        }
    }

    /// Gives an op, with those inside it, the current values.
    pub fn replace(&mut self, op: OpId, now: &Now) {
        if now.is_empty() {
            return;
        }
        for value in &mut self.module.op_mut(op).operands {
            *value = get(now, *value);
        }
        let blocks = self.module.op(op).regions.iter().flat_map(|region| self.module.region(*region).blocks.clone());
        for inner in blocks.flat_map(|block| self.module.block(block).ops.clone()).collect::<Vec<_>>() {
            self.replace(inner, now);
        }
    }

    /// The values that a way hands on: those of the arguments, and those of the loops that it leaves.
    pub fn values(&self, node: Vertex, edge: &Edge, now: &Now) -> Handed {
        let args = edge.args.iter().enumerate().map(|(at, value)| (Need::Argument(at), get(now, *value)));
        let left = self.graph.loops.iter().filter(|(_, own)| own.contains(&node) && !own.contains(&edge.to));
        let escaping = left.flat_map(|(head, _)| self.graph.escaping.get(head)).flatten();
        let there = escaping.filter(|(_, from)| self.graph.dominates(*from, node));
        args.chain(there.map(|(value, _)| (Need::Value(*value), get(now, *value)))).collect()
    }

    /// Emits what only one way out of a block leads to.
    fn arm(&mut self, into: BlockId, node: Vertex, edge: &Edge, own: &BTreeSet<Vertex>, now: &Now) -> Lifted<Exits> {
        let values = self.values(node, edge, now);
        if !own.contains(&edge.to) || !self.graph.is_only_way(node, edge.to) {
            return Ok(Exits::only(edge.to, values));
        }
        let (mut inner, mine) = (now.clone(), self.dominated(edge.to, own));
        self.bind(edge.to, &values, &mut inner);
        self.nested(node, |emit| emit.piece(into, edge.to, &mine, &mut inner))
    }

    /// A branch for each case, in the other arm of the one before.
    fn cases(
        &mut self,
        into: BlockId,
        node: Vertex,
        flag: ValueId,
        (cases, otherwise): (&[(i128, Edge)], &Edge),
        own: &BTreeSet<Vertex>,
        now: &Now,
    ) -> Lifted<Exits> {
        let Some(((case, edge), rest)) = cases.split_first() else { return self.arm(into, node, otherwise, own, now) };
        let span = self.span(node);
        let ty = self.module.ty(flag).clone();
        let case = self.number(into, *case, ty, span);
        let equal = arith::compare(self.module, arith::Relation::Equal, [flag, case], span);
        let condition = self.add(into, equal);
        let (op, arms) = self.branch(into, condition, span);
        let first = self.arm(arms[0], node, edge, own, now)?;
        let second = self.nested(node, |emit| emit.cases(arms[1], node, flag, (rest, otherwise), own, now))?;
        self.join(into, op, arms, [first, second], node)
    }

    /// An `scf.if` without ends of its arms, and these.
    fn branch(&mut self, into: BlockId, condition: ValueId, span: Span) -> (OpId, [BlockId; 2]) {
        let op = scf::IF.make(self.module, &[("condition", &[condition])], AttrDict::default(), &[], span);
        self.module.append(into, op);
        let arms = [0, 1].map(|_| {
            let region = self.module.add_region(op);
            self.module.add_block(region)
        });
        (op, arms)
    }

    /// Ends the arms of an op: its results are what the arms hand on.
    fn join(&mut self, into: BlockId, op: OpId, arms: [BlockId; 2], pieces: [Exits; 2], node: Vertex) -> Lifted<Exits> {
        let span = self.module.op(op).span;
        let union = Exits::union(&pieces);
        let mut yields: Vec<Vec<ValueId>> = vec![Vec::new(); arms.len()];
        let mut exits = Exits::default();
        if union.len() > 1 {
            for ((arm, piece), yields) in arms.iter().zip(&pieces).zip(&mut yields) {
                let first = piece.to.keys().next().copied().unwrap_or(END);
                let which = piece.which.filter(|_| piece.to.len() > 1);
                yields.push(which.unwrap_or_else(|| self.node(*arm, first, span)));
            }
            exits.which = Some(self.module.add_result(op, Type::Index, None, span));
        }
        for (to, needed) in union {
            let mut values = Handed::new();
            for one in needed {
                let given: Vec<Option<ValueId>> =
                    pieces.iter().map(|piece| piece.to.get(&to).and_then(|values| values.get(&one)).copied()).collect();
                let mut known = given.iter().flatten();
                let Some(first) = known.next().copied() else { continue };
                // Nothing to choose.
                if known.all(|other| *other == first) && self.is_visible(first, into) {
                    values.insert(one, first);
                    continue;
                }
                for ((arm, value), yields) in arms.iter().zip(&given).zip(&mut yields) {
                    let value = value.map_or_else(|| self.unused(*arm, first, node, span), Ok)?;
                    yields.push(value);
                }
                let (name, place) = self.name(to, one, span);
                let name = self.unless_taken(name, into);
                let ty = self.module.ty(first).clone();
                values.insert(one, self.module.add_result(op, ty, name, place));
            }
            exits.to.insert(to, values);
        }
        for (arm, values) in arms.into_iter().zip(yields) {
            let end = scf::YIELD.make(self.module, &[("values", &values)], AttrDict::default(), &[], span);
            self.module.append(arm, end);
        }
        Ok(exits)
    }

    /// The name of a value that a block needs, and its location.
    pub fn name(&self, node: Vertex, needed: Need, span: Span) -> (Option<Arc<str>>, Span) {
        let of = match needed {
            Need::Value(value) => Some(value),
            Need::Argument(at) => {
                let place = self.graph.places.get(node);
                place.and_then(|place| self.module.block(place.block).args.get(at).copied())
            }
        };
        of.map_or((None, span), |value| (self.module.value(value).name.clone(), self.module.value(value).span))
    }

    /// The name, unless the ops of a block see another value of this name.
    pub fn unless_taken(&self, name: Option<Arc<str>>, in_block: BlockId) -> Option<Arc<str>> {
        let taken = self.visible(in_block).any(|value| self.module.value(value).name == name);
        name.filter(|_| !taken)
    }

    /// The values that the ops of a block see, as far as it has any.
    fn visible(&self, in_block: BlockId) -> impl Iterator<Item = ValueId> {
        self.around(in_block).flat_map(|(block, until)| {
            let block = self.module.block(block);
            let before = block.ops.iter().take_while(move |op| Some(**op) != until);
            block.args.iter().chain(before.flat_map(|op| &self.module.op(*op).results)).copied()
        })
    }

    /// True if the ops of a block may use a value.
    pub fn is_visible(&self, value: ValueId, in_block: BlockId) -> bool {
        let home = match self.module.value(value).def {
            ValueDef::Result(op, _) => self.module.op(op).block,
            ValueDef::Arg(block, _) => Some(block),
        };
        self.around(in_block).any(|(block, _)| Some(block) == home)
    }

    /// A block and those around it, each with the op in it that contains the former.
    fn around(&self, block: BlockId) -> impl Iterator<Item = (BlockId, Option<OpId>)> {
        std::iter::successors(Some((block, None)), |(block, _)| {
            let op = self.module.block_parent(*block)?;
            Some((self.module.op(op).block?, Some(op)))
        })
    }

    /// Some value of the type of another one, which nothing reads.
    pub fn unused(&mut self, into: BlockId, like: ValueId, node: Vertex, span: Span) -> Lifted<ValueId> {
        let ty = self.module.ty(like).clone();
        let zero = match &ty {
            Type::Float(_) | Type::F64 => Attr::Float(0, ty.clone()),
            _ if ty == Type::I1 => Attr::Bool(false),
            _ if ty.is_int_like() => Attr::Int(0, ty.clone()),
            _ => {
                let found = self.visible(into).find(|value| *self.module.ty(*value) == ty);
                return found.ok_or_else(|| self.refuse(node, &format!("`{ty}` as a value that only some ways have")));
            }
        };
        let op = arith::constant_of(self.module, zero, ty, span);
        Ok(self.add(into, op))
    }

    /// The number of a block.
    fn node(&mut self, into: BlockId, node: Vertex, span: Span) -> ValueId {
        let number = if node == END { -1 } else { node as i128 };
        self.number(into, number, Type::Index, span)
    }

    fn number(&mut self, into: BlockId, number: i128, ty: Type, span: Span) -> ValueId {
        let value = if ty == Type::I1 { Attr::Bool(number != 0) } else { Attr::Int(number, ty.clone()) };
        let op = arith::constant_of(self.module, value, ty, span);
        self.add(into, op)
    }

    /// Whether a number is that of a block.
    pub fn is(&mut self, into: BlockId, which: ValueId, node: Vertex, span: Span) -> ValueId {
        let number = self.node(into, node, span);
        let equal = arith::compare(self.module, arith::Relation::Equal, [which, number], span);
        self.add(into, equal)
    }

    /// A condition that is always the same.
    pub fn always(&mut self, into: BlockId, value: bool, span: Span) -> ValueId {
        self.number(into, value.into(), Type::I1, span)
    }

    /// Appends an op; its result.
    pub fn add(&mut self, into: BlockId, op: OpId) -> ValueId {
        self.module.append(into, op);
        self.module.op(op).results[0]
    }
}

/// The current value.
pub(super) fn get(now: &Now, value: ValueId) -> ValueId {
    now.get(&value).copied().unwrap_or(value)
}
