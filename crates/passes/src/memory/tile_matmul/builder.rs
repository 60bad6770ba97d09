//! Builds the ops of a split product in order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::slice::from_ref;

use slipring_ir::{Attr, AttrDict, Dim, Module, OpId, Span, TileType, Type, ValueId};
use slipring_mlir::arith;
use slipring_op::OpDef;
use slipring_pto as pto;

use crate::memory::tile_matmul::operand::Operand;

/// Makes the ops of the steps, in order, before a product.
pub(crate) struct Builder<'m> {
    pub(crate) module: &'m mut Module,
    before: OpId,
    numbers: BTreeMap<u64, ValueId>,
}

impl<'m> Builder<'m> {
    pub(crate) fn before(module: &'m mut Module, before: OpId) -> Builder<'m> {
        Builder { module, before, numbers: BTreeMap::new() }
    }

    /// Repeats an op with other operands.
    pub(crate) fn copy(&mut self, id: OpId, other: impl Fn(&str, ValueId) -> ValueId) {
        let source = self.module.op(id).clone();
        let Some(def) = OpDef::of(self.module, id) else { return };
        let groups: Vec<(&str, Vec<ValueId>)> = def
            .schema
            .operands
            .iter()
            .map(|spec| {
                let own = self.module.operands_named(id, spec.name).to_vec();
                (spec.name, own.into_iter().map(|value| other(spec.name, value)).collect())
            })
            .collect();
        let named: Vec<(&str, &[ValueId])> = groups.iter().map(|(name, values)| (*name, &values[..])).collect();
        let op = def.make(self.module, &named, source.attrs, &[], source.span);
        self.insert(op);
    }

    /// A tile declared like another one, with a type of its own.
    pub(crate) fn declared_like(&mut self, declared: OpId, tile: ValueId, ty: TileType, at: usize) -> ValueId {
        let source = self.module.op(declared).clone();
        let name = self.module.value(tile).name.as_ref().map(|name| format!("{name}_{}", at % 2).into());
        let op = self.module.like(&source);
        self.module.op_mut(op).segments = source.segments;
        let value = self.module.add_result(op, Type::Tile(ty), name, source.span);
        self.insert(op);
        value
    }

    /// Some columns of a single-row tile: the same bytes.
    pub(crate) fn columns(&mut self, row: ValueId, range: &Range<u64>) -> ValueId {
        let Some(mut ty) = self.module.ty(row).as_tile().copied() else { return row };
        let size = range.end - range.start;
        let rows = u64::from(ty.layout.rows);
        ty.layout.cols = size as u32;
        ty.valid[1] = Dim::Static(size);
        let offsets = [self.index(0), self.index(range.start)];
        let sizes = Attr::Array([rows, size].iter().map(|n| Attr::int(*n as i64)).collect());
        let attrs = AttrDict::from_iter([("sizes", sizes)]);
        let span = self.module.op(self.before).span;
        let groups: [(&str, &[ValueId]); 2] = [("source", from_ref(&row)), ("offsets", &offsets)];
        let op = pto::SUBSET.make(self.module, &groups, attrs, &[Type::Tile(ty)], span);
        self.insert(op);
        self.module.op(op).results[0]
    }

    /// A window of a window of global memory, in its last two dimensions.
    pub(crate) fn window(&mut self, view: ValueId, corner: [ValueId; 2], sizes: [u64; 2]) -> ValueId {
        let Type::PartitionView(ty) = self.module.ty(view).clone() else { return view };
        let outer = ty.dims.len().saturating_sub(2);
        let (zero, one) = (self.index(0), self.index(1));
        let offsets: Vec<ValueId> = std::iter::repeat_n(zero, outer).chain(corner).collect();
        let extents = sizes.map(|n| self.index(n));
        let extents: Vec<ValueId> = std::iter::repeat_n(one, outer).chain(extents).collect();
        let mut own = ty;
        for (dim, size) in own.dims.iter_mut().skip(outer).zip(sizes) {
            *dim = Dim::Static(size);
        }
        let groups: [(&str, &[ValueId]); 3] = [("source", &[view]), ("offsets", &offsets), ("sizes", &extents)];
        let span = self.module.op(self.before).span;
        let op = pto::PARTITION_VIEW.make(self.module, &groups, AttrDict::default(), &[Type::PartitionView(own)], span);
        self.insert(op);
        self.module.op(op).results[0]
    }

    /// Adds an op whose declared operands are single values.
    pub(crate) fn op(&mut self, def: &'static OpDef, operands: &[(&str, ValueId)], attrs: AttrDict, span: Span) {
        let named: Vec<(&str, &[ValueId])> = operands.iter().map(|(name, value)| (*name, from_ref(value))).collect();
        let op = def.make(self.module, &named, attrs, &[], span);
        self.insert(op);
    }

    /// Adds the copy of a slice of an operand, starting at a row and column, into a tile.
    pub(crate) fn extract(&mut self, operand: &Operand, [row, col]: [ValueId; 2], tile: ValueId) {
        let operands: [(&str, &[ValueId]); 4] =
            [("src", &[operand.source]), ("row", &[row]), ("col", &[col]), ("dst", &[tile])];
        let op = pto::TEXTRACT.make(self.module, &operands, AttrDict::default(), &[], operand.span);
        self.insert(op);
    }

    /// Sets the valid shape of a tile.
    pub(crate) fn shape(&mut self, tile: ValueId, [rows, cols]: [ValueId; 2]) {
        let operands = [("source", tile), ("valid_row", rows), ("valid_col", cols)];
        let span = self.module.op(self.before).span;
        self.op(&pto::SET_VALIDSHAPE, &operands, AttrDict::default(), span);
    }

    fn insert(&mut self, op: OpId) {
        self.module.op_mut(op).loc = self.module.op(self.before).loc.clone();
        self.module.insert_before(self.before, op);
    }

    /// A tile for slices of an operand: declared like the operand, named after it.
    pub(crate) fn tile(&mut self, operand: &Operand, ty: TileType, at: usize) -> ValueId {
        self.declared_like(operand.declared, operand.tile, ty, at)
    }

    /// A constant.
    pub(crate) fn index(&mut self, number: u64) -> ValueId {
        if let Some(known) = self.numbers.get(&number) {
            return *known;
        }
        let span = self.module.op(self.before).span;
        let op = arith::constant(self.module, number as i64, Type::Index, span);
        let value = self.module.op(op).results[0];
        self.module.value_mut(value).name = Some(format!("c{number}").into());
        self.insert(op);
        self.numbers.insert(number, value);
        value
    }
}
