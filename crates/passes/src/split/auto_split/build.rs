//! Making ops: constants once a function, the lane's numbers once a region, everything else where it is used.

use indexmap::IndexMap;
use slipring_dialects::Dialects;
use slipring_dialects::rules::constant;
use slipring_ir::{Attr, AttrDict, BlockId, Module, OpId, OpSchema, Span, Type, ValueId};

/// Where new ops go.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Before(OpId),
    EndOf(BlockId),
}

/// A region for the Vector cores that is being filled.
pub(super) struct Region {
    pub op: OpId,
    pub block: BlockId,
    pub lane: ValueId,
    /// Ops at its beginning that compute what depends on the lane only.
    prologue: usize,
    /// The lane's first position where halves have so many.
    starts: IndexMap<i64, ValueId>,
    /// Whether it is this lane.
    is_lane: [Option<ValueId>; 2],
}

/// A number of type `index`, perhaps known.
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
            let data = module.op(op);
            if !data.operands.is_empty() || data.attrs.get("value").is_none() {
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

    fn schema(name: &str) -> Option<&'static OpSchema> {
        Dialects::get().registry.get(name)
    }

    /// Makes an op that is in no block yet.
    fn make(&mut self, name: &str, operands: &[&[ValueId]], attrs: AttrDict, results: &[Type]) -> OpId {
        let span = self.span;
        match Self::schema(name) {
            Some(schema) => self.module.build(schema, operands, attrs, results, span),
            None => self.module.create(name, None, span),
        }
    }

    /// Puts an op where it belongs.
    pub fn put(&mut self, place: Place, op: OpId) {
        match place {
            Place::Before(anchor) => self.module.insert_before(anchor, op),
            Place::EndOf(block) => self.module.append(block, op),
        }
    }

    /// Makes an op with one result.
    pub fn value(&mut self, place: Place, name: &str, operands: &[&[ValueId]], attrs: AttrDict, ty: Type) -> ValueId {
        let op = self.make(name, operands, attrs, &[ty]);
        self.put(place, op);
        self.module.op(op).results[0]
    }

    /// A constant of type `index`.
    pub fn constant(&mut self, n: i64) -> ValueId {
        if let Some(value) = self.constants.get(&n) {
            return *value;
        }
        let attrs = [("value", Attr::Int(n.into(), Type::Index))].into_iter().collect();
        let op = self.make("arith.constant", &[], attrs, &[Type::Index]);
        let value = self.module.op(op).results[0];
        self.module.value_mut(value).name = Some(format!("c{n}").into());
        self.module.insert(self.body, self.leading, op);
        self.leading += 1;
        self.constants.insert(n, value);
        value
    }

    /// A number as a value.
    pub fn number(&mut self, number: Number) -> ValueId {
        match number {
            Number::Known(n) => self.constant(n),
            Number::Value(value) => value,
        }
    }

    /// A value as a number of type `index`.
    pub fn index(&mut self, place: Place, value: ValueId) -> Number {
        match constant(self.module, value) {
            Some(n) => Number::Known(n),
            None if *self.module.ty(value) == Type::Index => Number::Value(value),
            None => Number::Value(self.value(place, "arith.index_cast", &[&[value]], AttrDict::default(), Type::Index)),
        }
    }

    fn arith(&mut self, place: Place, name: &str, a: Number, b: Number) -> Number {
        let (a, b) = (self.number(a), self.number(b));
        Number::Value(self.value(place, name, &[&[a], &[b]], AttrDict::default(), Type::Index))
    }

    pub fn add(&mut self, place: Place, a: Number, b: Number) -> Number {
        match (a, b) {
            (Number::Known(a), Number::Known(b)) => Number::Known(a + b),
            (Number::Known(0), other) | (other, Number::Known(0)) => other,
            _ => self.arith(place, "arith.addi", a, b),
        }
    }

    pub fn sub(&mut self, place: Place, a: Number, b: Number) -> Number {
        match (a, b) {
            (Number::Known(a), Number::Known(b)) => Number::Known(a - b),
            (other, Number::Known(0)) => other,
            _ => self.arith(place, "arith.subi", a, b),
        }
    }

    /// `a` where it lies from 0 to `most`, else the nearer of the two.
    pub fn clamp(&mut self, place: Place, a: Number, most: i64) -> Number {
        if let Number::Known(a) = a {
            return Number::Known(a.clamp(0, most));
        }
        let low = self.arith(place, "arith.maxsi", a, Number::Known(0));
        self.arith(place, "arith.minsi", low, Number::Known(most))
    }

    /// A comparison of numbers.
    pub fn compare(&mut self, place: Place, relation: &str, a: Number, b: Number) -> ValueId {
        let (a, b) = (self.number(a), self.number(b));
        let attrs = [("predicate", Attr::member("cmpi_predicate", relation))].into_iter().collect();
        self.value(place, "arith.cmpi", &[&[a], &[b]], attrs, Type::I1)
    }

    /// A branch without `else` whose body is empty so far.
    pub fn branch(&mut self, place: Place, condition: ValueId) -> BlockId {
        let op = self.make("scf.if", &[&[condition]], AttrDict::default(), &[]);
        let then = self.module.add_region(op);
        self.module.add_region(op);
        self.put(place, op);
        self.module.add_block(then)
    }

    /// An empty region for both Vector cores before `anchor`.
    pub fn region(&mut self, anchor: OpId, split: i64) -> Region {
        let attrs = [("split", Attr::int(split))].into_iter().collect();
        let op = self.make("pto.split_aiv", &[], attrs, &[]);
        let region = self.module.add_region(op);
        let block = self.module.add_block(region);
        let lane = self.module.add_arg(block, Type::Index, Some("lane".into()), self.span);
        self.put(Place::Before(anchor), op);
        Region { op, block, lane, prologue: 0, starts: IndexMap::new(), is_lane: [None; 2] }
    }

    /// An op at the beginning of a region.
    fn early(
        &mut self,
        region: &mut Region,
        name: &str,
        operands: &[&[ValueId]],
        attrs: AttrDict,
        ty: Type,
    ) -> ValueId {
        let op = self.make(name, operands, attrs, &[ty]);
        self.module.insert(region.block, region.prologue, op);
        region.prologue += 1;
        self.module.op(op).results[0]
    }

    /// The first position that a lane has, where each has `half`: `lane × half`.
    pub fn start(&mut self, region: &mut Region, half: i64) -> ValueId {
        if half == 1 {
            return region.lane;
        }
        if let Some(value) = region.starts.get(&half) {
            return *value;
        }
        let size = self.constant(half);
        let value = self.early(region, "arith.muli", &[&[region.lane], &[size]], AttrDict::default(), Type::Index);
        self.module.value_mut(value).name = Some("start".into());
        region.starts.insert(half, value);
        value
    }

    /// Whether a lane is the one of this number.
    pub fn is_lane(&mut self, region: &mut Region, lane: usize) -> ValueId {
        if let Some(value) = region.is_lane[lane] {
            return value;
        }
        let number = self.constant(lane as i64);
        let attrs = [("predicate", Attr::member("cmpi_predicate", "eq"))].into_iter().collect();
        let value = self.early(region, "arith.cmpi", &[&[region.lane], &[number]], attrs, Type::I1);
        self.module.value_mut(value).name = Some(["is_first", "is_second"][lane].into());
        region.is_lane[lane] = Some(value);
        value
    }
}
