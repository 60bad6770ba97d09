//! Slices whose extent is only known at run time: a window of the maximum size, with the actual extent as its valid
//! shape.

use std::collections::BTreeMap;

use ruff_python_ast::{Expr, ExprSlice};
use slipring_ir::{Diagnostic, Span, ValueDef, ValueId};
use slipring_mlir::arith;
use slipring_op::{Counter, Linear, OpDef, OpRef, rules};

use super::lowering::{Lower, Lowered};
use super::state::{Extent, Form};
use super::window::Part;
use crate::syntax::at;
use crate::value::{Const, Index, TileId, Value};

/// Maximum number of steps to relate two numbers.
const MOST_STEPS: usize = 1 << 12;

impl Lower<'_> {
    /// `a:b` with a bound that is only known at run time, as in numpy: it is clipped to the end of the dimension.
    pub(super) fn few(&mut self, slice: &ExprSlice, first: Index, extent: u64, span: Span) -> Lowered<Part> {
        let end = match &slice.upper {
            None => Index::Known(extent as i64),
            Some(expr) => {
                let value = self.expr(expr)?;
                self.index(&value, at(&**expr))?
            }
        };
        if self.facts.exact_slices {
            let error = Diagnostic::error("slice-extent", span, "the extent of this slice is not known").help(
                "write it as `start : start + N` with a constant N: `exact_slices` asks for extents that are constant",
            );
            return Err(self.report(error));
        }
        let most = self.most_between(first, end, &mut { MOST_STEPS }).unwrap_or(i64::MAX);
        let left = if let Index::Known(n) = first { extent as i64 - n } else { extent as i64 };
        let most = most.min(left);
        if most <= 0 || matches!(first, Index::Known(n) if n < 0) {
            return Err(self.error(
                "bounds",
                span,
                format!("nothing of this slice lies inside the {extent} of this dimension"),
            ));
        }
        let count = self.count_between(first, end, extent);
        Ok(Part::Few { first, most: most as u64, count })
    }

    /// The number of elements from `first` to `end`, or to the end of the dimension.
    fn count_between(&mut self, first: Index, end: Index, extent: u64) -> Index {
        let forms = self.form(first, &mut { MOST_STEPS }).zip(self.form(end, &mut { MOST_STEPS }));
        if let Some((low, high)) = &forms {
            let module = &self.e.module;
            let there = |own: &Index| match own {
                Index::At(scalar) => module.defining_op(scalar.value).is_none_or(|op| module.op(op).block.is_some()),
                Index::Known(_) => true,
            };
            let known = self.tensors.extents.iter().find(|own| {
                (&own.first, &own.end, own.extent) == (low, high, extent)
                    && self.open.blocks.contains(&own.block)
                    && there(&own.count)
            });
            if let Some(known) = known {
                return known.count;
            }
        }
        let ends_inside = match end {
            Index::Known(n) => n <= extent as i64,
            Index::At(scalar) => self.range(scalar.value).is_some_and(|(_, last)| last <= extent as i64),
        };
        let end = if ends_inside { end } else { self.smaller(end, Index::Known(extent as i64)) };
        let count = self.less(end, first);
        if let Some((first, end)) = forms {
            self.tensors.extents.push(Extent { first, end, extent, block: self.e.block, count });
        }
        count
    }

    /// The subscript for an evaluated index.
    pub(super) fn one(&mut self, value: &Value, extent: u64, span: Span) -> Lowered<Part> {
        if let Value::Tile(_) | Value::Tensor(_) | Value::Parts(_) = value {
            return Err(self.no_index(value, span));
        }
        let index = match self.index(value, span)? {
            // As in Python, negative indices count from the end.
            Index::Known(n) if n < 0 && n >= -(extent as i64) => Index::Known(n + extent as i64),
            index => index,
        };
        match index {
            Index::Known(n) if n < 0 || n as u64 >= extent => {
                Err(self.error("bounds", span, format!("index {n} lies outside the {extent} of this dimension")))
            }
            index => Ok(Part::One(index)),
        }
    }

    /// The part of a tile at an evaluated index of its first dimension.
    pub(super) fn tile_at(&mut self, tile: TileId, index: &Value, place: Span, span: Span) -> Lowered {
        let shape = self.tile(tile).shape.clone();
        let Some((extent, rest)) = shape.split_first() else {
            return Err(self.error("subscript", span, "1 subscripts for 0 dimensions"));
        };
        let mut parts = vec![self.one(index, *extent, place)?];
        parts.extend(rest.iter().map(|n| Part::Range(Index::Known(0), *n)));
        self.tile_part(tile, &parts, span).map(Value::Tile)
    }

    /// `x[:, None]`: inserts dimensions of one element for each `None`.
    pub(super) fn with_new_axes(&mut self, part: Value, slice: &Expr, parts: &[Part], span: Span) -> Lowered {
        let items = match slice {
            Expr::Tuple(tuple) => &tuple.elts[..],
            single => std::slice::from_ref(single),
        };
        if !items.iter().any(Expr::is_none_literal_expr) {
            return Ok(part);
        }
        let have = self.shape_of(&part);
        let (mut shape, mut left, mut dims) = (Vec::new(), parts.iter(), have.iter());
        let written =
            items.iter().filter(|item| !item.is_none_literal_expr() && !item.is_ellipsis_literal_expr()).count();
        for item in items {
            match item {
                Expr::NoneLiteral(_) => shape.push(1),
                Expr::EllipsisLiteral(_) => {
                    for _ in 0..parts.len().saturating_sub(written) {
                        left.next();
                        shape.extend(dims.next().copied());
                    }
                }
                _ => match left.next() {
                    Some(Part::One(_)) | None => {}
                    Some(_) => shape.extend(dims.next().copied()),
                },
            }
        }
        shape.extend(dims);
        let shape = shape.into_iter().map(|n| Value::Const(Const::Int(n as i64))).collect();
        self.call_by_name("reshape", vec![part, Value::Tuple(shape)], span)
    }

    /// A part of a tile whose extent is only known at run time.
    pub(super) fn counted_part(&mut self, part: TileId, parts: &[Part], span: Span) -> Lowered<TileId> {
        if !parts.iter().any(|part| matches!(part, Part::Few { .. })) {
            return Ok(part);
        }
        self.wholly_valid(part, "a slice whose extent only the run knows", span)?;
        let mut valid = Vec::new();
        let shape = self.tile(part).shape.to_vec();
        for part in parts {
            match part {
                Part::Range(_, size) => valid.push(Index::Known(*size as i64)),
                Part::Few { count, .. } => valid.push(*count),
                Part::One(_) => valid.push(Index::Known(1)),
            }
        }
        let valid = valid.split_off(valid.len() - shape.len());
        match self.folded_valid(&valid, &shape, span)? {
            Some(valid) => self.with_valid(part, valid, span),
            None => Ok(part),
        }
    }

    /// An upper bound of the difference of two numbers, if it can be determined.
    fn most_between(&self, low: Index, high: Index, steps: &mut usize) -> Option<i64> {
        *steps = steps.checked_sub(1)?;
        if let (Index::At(low), Index::At(high)) = (low, high)
            && let Some(each) = self.in_each_iteration(&[low.value, high.value])
            && let Some(most) =
                each.iter().map(|pair| Some(pair[1]?.saturating_sub(pair[0]?))).collect::<Option<Vec<_>>>()
        {
            return most.into_iter().max();
        }
        // Either operand of a minimum of ends, or of a maximum of beginnings, gives a bound.
        let mut bounds = Vec::new();
        if let Some(sides) = self.sides(high, &arith::MINSI) {
            bounds.extend(sides.map(|side| self.most_between(low, side, steps)));
        }
        if let Some(sides) = self.sides(low, &arith::MAXSI) {
            bounds.extend(sides.map(|side| self.most_between(side, high, steps)));
        }
        if let Some(least) = bounds.into_iter().flatten().min() {
            return Some(least);
        }
        let (mut terms, mut constant) = self.form(high, steps)?;
        let (others, less) = self.form(low, steps)?;
        for (value, times) in others {
            let own = terms.entry(value).or_default();
            *own = own.checked_sub(times)?;
        }
        constant = constant.checked_sub(less)?;
        if terms.values().all(|times| *times == 0) {
            return Some(constant);
        }
        // Numbers with known bounds.
        let most = |index: Index, upper: bool| match index {
            Index::Known(n) => Some(n),
            Index::At(scalar) => self.range(scalar.value).map(|(least, most)| if upper { most } else { least }),
        };
        most(high, true)?.checked_sub(most(low, false)?)
    }

    /// Both operands of a number that is the result of this binary op.
    fn sides(&self, index: Index, of: &'static OpDef) -> Option<[Index; 2]> {
        let Index::At(scalar) = index else { return None };
        let mut value = scalar.value;
        loop {
            let ValueDef::Result(id, _) = self.e.module.value(value).def else { return None };
            let def = OpDef::of(&self.e.module, id)?;
            let operands = &self.e.module.op(id).operands;
            if def.linear == Some(Linear::Same) {
                value = *operands.first()?;
                continue;
            }
            let as_index = |value: &ValueId| match rules::constant(&self.e.module, *value) {
                Some(n) => Index::Known(n),
                None => Index::At(crate::value::Scalar { value: *value, ..scalar }),
            };
            return match operands[..] {
                [a, b] if std::ptr::eq(def, of) => Some([as_index(&a), as_index(&b)]),
                _ => None,
            };
        }
    }

    fn form(&self, index: Index, steps: &mut usize) -> Option<Form> {
        match index {
            Index::Known(n) => Some((BTreeMap::new(), n)),
            Index::At(scalar) => {
                let mut form = Form::default();
                self.add_form(scalar.value, 1, &mut form, steps)?;
                Some(form)
            }
        }
    }

    fn add_form(&self, value: ValueId, times: i64, form: &mut Form, steps: &mut usize) -> Option<()> {
        *steps = steps.checked_sub(1)?;
        let module = &self.e.module;
        if let Some(n) = rules::constant(module, value) {
            form.1 = form.1.checked_add(n.checked_mul(times)?)?;
            return Some(());
        }
        if let ValueDef::Result(id, _) = module.value(value).def {
            let operands = &module.op(id).operands;
            match OpDef::of(module, id).and_then(|def| def.linear) {
                Some(Linear::Same) => return self.add_form(*operands.first()?, times, form, steps),
                Some(linear @ (Linear::Sum | Linear::Difference)) => {
                    self.add_form(*operands.first()?, times, form, steps)?;
                    let times = if linear == Linear::Sum { times } else { times.checked_neg()? };
                    return self.add_form(*operands.get(1)?, times, form, steps);
                }
                Some(Linear::Product) => {
                    for (factor, rest) in [(0, 1), (1, 0)] {
                        if let Some(n) = rules::constant(module, *operands.get(factor)?) {
                            return self.add_form(*operands.get(rest)?, times.checked_mul(n)?, form, steps);
                        }
                    }
                }
                Some(Linear::Remainder) | None => {}
            }
        }
        let own = form.0.entry(value).or_default();
        *own = own.checked_add(times)?;
        Some(())
    }

    /// A divisor of a number, as far as its definition shows: 0 for 0, 1 if nothing is known.
    pub(super) fn unit(&self, value: ValueId) -> u64 {
        self.unit_in(value, &mut { MOST_STEPS })
    }

    fn unit_in(&self, value: ValueId, steps: &mut usize) -> u64 {
        let Some(left) = steps.checked_sub(1) else { return 1 };
        *steps = left;
        let module = &self.e.module;
        if let Some(n) = rules::constant(module, value) {
            return n.unsigned_abs();
        }
        if let Some((_, unit)) = self.tensors.units.iter().find(|(own, _)| *own == value) {
            return *unit;
        }
        match module.value(value).def {
            ValueDef::Result(id, _) => {
                let linear = OpDef::of(module, id).and_then(|def| def.linear);
                let operands = &module.op(id).operands;
                let [a, b] = [0, 1].map(|at| operands.get(at).map_or(1, |of| self.unit_in(*of, steps)));
                match linear {
                    Some(Linear::Same) => a,
                    Some(Linear::Sum | Linear::Difference | Linear::Remainder) => common(a, b),
                    Some(Linear::Product) => a.checked_mul(b).unwrap_or(1),
                    None => 1,
                }
            }
            ValueDef::Arg(block, 0) => {
                let Some(id) = module.block_parent(block) else { return 1 };
                let Some(Counter::Range([first, _, step])) = OpDef::of(module, id).and_then(|def| def.counter) else {
                    return 1;
                };
                let Some(op) = OpRef::of(module, id) else { return 1 };
                let mut of = |name: &str| op.operand(name).map_or(1, |value| self.unit_in(value, steps));
                common(of(first), of(step))
            }
            ValueDef::Arg(..) => 1,
        }
    }
}

/// The greatest common divisor.
pub(crate) fn common(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common(b, a % b) }
}
