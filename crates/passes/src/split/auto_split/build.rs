//! Building ops: constants once per function, the lane's values once per region, everything else where it is used.

use indexmap::IndexMap;
use slipring_ir::{AttrDict, BlockId, Module, OpId, Span, Type, ValueId};
use slipring_mlir::arith::{self, Relation};
use slipring_mlir::scf;
use slipring_op::OpDef;
use slipring_op::rules::{constant, constant_attr};
use slipring_pto as pto;

/// Where new ops are inserted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Insertion {
    Before(OpId),
    EndOf(BlockId),
}

/// A region for the Vector cores that is being filled.
pub(super) struct Region {
    pub op: OpId,
    pub block: BlockId,
    pub lane: ValueId,
    /// Ops at its beginning that compute values depending only on the lane.
    prologue: usize,
    /// The lane's first position for halves of a given size.
    starts: IndexMap<i64, ValueId>,
    /// Whether this is the given lane.
    is_lane: [Option<ValueId>; 2],
}

/// A value of type `index`, possibly constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Number {
    Known(i64),
    Value(ValueId),
}

/// Makes ops in a function.
pub(super) struct Builder<'m> {
    pub module: &'m mut Module,
    body: BlockId,
    /// Constants at the beginning of the function.
    constants: IndexMap<i64, ValueId>,
    leading: usize,
    pub span: Span,
}

impl<'m> Builder<'m> {
    pub fn new(module: &'m mut Module, body: BlockId) -> Builder<'m> {
        let (mut constants, mut leading) = (IndexMap::new(), 0);
        for &op in &module.block(body).ops {
            let Some(&value) = module.op(op).results.first() else { break };
            if constant_attr(module, value).is_none() {
                break;
            }
            leading += 1;
            if let Some(n) = constant(module, value).filter(|_| *module.ty(value) == Type::Index) {
                constants.entry(n).or_insert(value);
            }
        }
        let span = module.block(body).ops.first().map_or(Span::default(), |op| module.op(*op).span);
        Builder { module, body, constants, leading, span }
    }

    /// Inserts an op at its position.
    pub fn put(&mut self, place: Insertion, op: OpId) {
        match place {
            Insertion::Before(anchor) => self.module.insert_before(anchor, op),
            Insertion::EndOf(block) => self.module.append(block, op),
        }
    }

    /// Makes an op with one result.
    pub fn value(
        &mut self,
        place: Insertion,
        def: &'static OpDef,
        operands: &[(&str, &[ValueId])],
        ty: Type,
    ) -> ValueId {
        let op = def.make(self.module, operands, AttrDict::default(), &[ty], self.span);
        self.placed(place, op)
    }

    fn placed(&mut self, place: Insertion, op: OpId) -> ValueId {
        self.put(place, op);
        self.module.op(op).results[0]
    }

    /// A constant of type `index`.
    pub fn constant(&mut self, n: i64) -> ValueId {
        if let Some(value) = self.constants.get(&n) {
            return *value;
        }
        let op = arith::constant(self.module, n, Type::Index, self.span);
        let value = self.module.op(op).results[0];
        self.module.value_mut(value).name = Some(format!("c{n}").into());
        self.module.insert(self.body, self.leading, op);
        self.leading += 1;
        self.constants.insert(n, value);
        value
    }

    /// Materialises a number as a value.
    pub fn number(&mut self, number: Number) -> ValueId {
        match number {
            Number::Known(n) => self.constant(n),
            Number::Value(value) => value,
        }
    }

    /// Converts a value to a number of type `index`.
    pub fn index(&mut self, place: Insertion, value: ValueId) -> Number {
        match constant(self.module, value) {
            Some(n) => Number::Known(n),
            None if *self.module.ty(value) == Type::Index => Number::Value(value),
            None => Number::Value(self.value(place, &arith::INDEX_CAST, &[("in", &[value])], Type::Index)),
        }
    }

    fn arith(&mut self, place: Insertion, def: &'static OpDef, a: Number, b: Number) -> Number {
        let operands = [self.number(a), self.number(b)];
        let op = arith::binary(self.module, def, operands, self.span);
        Number::Value(self.placed(place, op))
    }

    pub fn add(&mut self, place: Insertion, a: Number, b: Number) -> Number {
        match (a, b) {
            (Number::Known(a), Number::Known(b)) => Number::Known(a + b),
            (Number::Known(0), other) | (other, Number::Known(0)) => other,
            _ => self.arith(place, &arith::ADDI, a, b),
        }
    }

    pub fn sub(&mut self, place: Insertion, a: Number, b: Number) -> Number {
        match (a, b) {
            (Number::Known(a), Number::Known(b)) => Number::Known(a - b),
            (other, Number::Known(0)) => other,
            _ => self.arith(place, &arith::SUBI, a, b),
        }
    }

    /// `a` clamped to the range from 0 to `most`.
    pub fn clamp(&mut self, place: Insertion, a: Number, most: i64) -> Number {
        if let Number::Known(a) = a {
            return Number::Known(a.clamp(0, most));
        }
        let low = self.arith(place, &arith::MAXSI, a, Number::Known(0));
        self.arith(place, &arith::MINSI, low, Number::Known(most))
    }

    /// A comparison of numbers.
    pub fn compare(&mut self, place: Insertion, relation: Relation, a: Number, b: Number) -> ValueId {
        let operands = [self.number(a), self.number(b)];
        let op = arith::compare(self.module, relation, operands, self.span);
        self.placed(place, op)
    }

    /// A branch without `else`, with an empty body.
    pub fn branch(&mut self, place: Insertion, condition: ValueId) -> BlockId {
        let operands: [(&str, &[ValueId]); 1] = [("condition", &[condition])];
        let op = scf::IF.make(self.module, &operands, AttrDict::default(), &[], self.span);
        let then = self.module.add_region(op);
        self.module.add_region(op);
        self.put(place, op);
        self.module.add_block(then)
    }

    /// An empty region for both Vector cores before `anchor`.
    pub fn region(&mut self, anchor: OpId, split: i64) -> Region {
        let (op, block, lane) = pto::split_aiv(self.module, split, self.span);
        self.put(Insertion::Before(anchor), op);
        Region { op, block, lane, prologue: 0, starts: IndexMap::new(), is_lane: [None; 2] }
    }

    /// Adds an op at the beginning of a region.
    fn early(&mut self, region: &mut Region, op: OpId) -> ValueId {
        self.module.insert(region.block, region.prologue, op);
        region.prologue += 1;
        self.module.op(op).results[0]
    }

    /// The first position of a lane, where each has `half`: `lane × half`.
    pub fn start(&mut self, region: &mut Region, half: i64) -> ValueId {
        if half == 1 {
            return region.lane;
        }
        if let Some(value) = region.starts.get(&half) {
            return *value;
        }
        let size = self.constant(half);
        let product = arith::binary(self.module, &arith::MULI, [region.lane, size], self.span);
        let value = self.early(region, product);
        self.module.value_mut(value).name = Some("start".into());
        region.starts.insert(half, value);
        value
    }

    /// Whether the current lane has this number.
    pub fn is_lane(&mut self, region: &mut Region, lane: usize) -> ValueId {
        if let Some(value) = region.is_lane[lane] {
            return value;
        }
        let number = self.constant(lane as i64);
        let compared = arith::compare(self.module, Relation::Equal, [region.lane, number], self.span);
        let value = self.early(region, compared);
        self.module.value_mut(value).name = Some(["is_first", "is_second"][lane].into());
        region.is_lane[lane] = Some(value);
        value
    }
}
