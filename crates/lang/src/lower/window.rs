//! Subscripts: parts of tensors and tiles.

use ruff_python_ast::Expr;
use slipring_ir::{Diagnostic, Span, Type};
use slipring_pto as pto;
use slipring_tile::Space;
use smallvec::SmallVec;

use super::changed::changes_list;
use super::lowering::{Lower, Lowered, describe};
use crate::syntax::at;
use crate::value::{Const, Index, Tensor, TileId, Value, show};

/// The subscript of one dimension.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// `a:b`: first index and, where it is known, the extent.
    Range(Index, u64),
    /// `i`: the dimension is removed.
    One(Index),
    /// `a:b` whose extent is only known at run time: the first index, the maximum extent, and the extent.
    Few { first: Index, most: u64, count: Index },
}

impl Lower<'_> {
    /// A part of a value.
    pub fn subscript(&mut self, base: Value, slice: &Expr, span: Span) -> Lowered {
        match &base {
            Value::Tuple(items) => {
                if let Expr::Slice(slice) = slice {
                    return self.sliced(&items.clone(), slice, span);
                }
                let at = self.expr(slice)?;
                if crate::value::is_array(&base) {
                    return self.array_element(&items.clone(), &at, span);
                }
                if let Value::Scalar(_) = at {
                    let message = "which of these values is meant is known only when the kernel runs";
                    let error = Diagnostic::error("not-constant", span, message).help(
                        "count by `pl.unroll`, or pass them as a tensor of one dimension: an element of it is a number",
                    );
                    return Err(self.report(error));
                }
                let n = self.known_int(&at, "the position", span)?;
                let place = self.place_in(n, items.len(), span)?;
                match &items[place] {
                    Value::Unknown(why) => Err(self.part_not_known(&why.clone(), span)),
                    item => Ok(item.clone()),
                }
            }
            Value::Record(record) => {
                let record = record.clone();
                // Members of an object, or an array of the host, which has no keys.
                if record.entries.is_empty() && (slice.is_tuple_expr() || slice.is_slice_expr()) {
                    return Err(self.error("subscript", span, format!("{} has no parts here", record.what)));
                }
                let key = match self.expr(slice)? {
                    Value::Const(key) => key,
                    other => {
                        let what = describe(self, &other);
                        return Err(self.error("subscript", span, format!("a key is a constant, this is {what}")));
                    }
                };
                match record.entries.iter().find(|(known, _)| *known == key) {
                    Some((_, Value::Unknown(why))) => Err(self.part_not_known(&why.clone(), span)),
                    Some((_, value)) => Ok(value.clone()),
                    None => {
                        let what = describe(self, &Value::Const(key));
                        Err(self.error("subscript", span, format!("{} has no entry for {what}", record.what)))
                    }
                }
            }
            Value::Tensor(tensor) => {
                let tensor = tensor.clone();
                if let Some(rows) = self.rows_by_number(&tensor, slice, span)? {
                    return Ok(rows);
                }
                let shape = tensor.shape();
                let clips = !self.facts.exact_slices && tensor.valid.is_none() && tensor.reshaped.is_none();
                let parts = self.parts(slice, &shape, clips, span)?;
                let part = self.tensor_part(&tensor, &parts, span)?;
                let part = self.clipped(part, &parts, &shape, span).map(Value::Tensor)?;
                self.with_new_axes(part, slice, &parts, span)
            }
            Value::Tile(id) => {
                let shape = self.tile(*id).shape.clone();
                let parts = self.parts(slice, &shape, false, span)?;
                let part = self.tile_part(*id, &parts, span)?;
                let part = self.counted_part(part, &parts, span).map(Value::Tile)?;
                self.with_new_axes(part, slice, &parts, span)
            }
            other => {
                let what = describe(self, other);
                Err(self.error("subscript", span, format!("{what} has no parts")))
            }
        }
    }

    /// The subscripts of all dimensions; missing ones are full. If the slices of a loop are clipped (`clips`), a slice
    /// may exceed its dimension.
    fn parts(&mut self, slice: &Expr, shape: &[u64], clips: bool, span: Span) -> Lowered<Vec<Part>> {
        let items: Vec<&Expr> = match slice {
            Expr::Tuple(tuple) => tuple.elts.iter().filter(|item| !item.is_none_literal_expr()).collect(),
            Expr::NoneLiteral(_) => Vec::new(),
            other => vec![other],
        };
        let written = items.iter().filter(|e| !e.is_ellipsis_literal_expr()).count();
        if written > shape.len() {
            let message = format!("{written} subscripts for {} dimensions", shape.len());
            return Err(self.error("subscript", span, message));
        }
        let mut parts = Vec::new();
        for item in items {
            if item.is_ellipsis_literal_expr() {
                let rest = shape.len() - written;
                let from = parts.len();
                parts.extend(shape[from..from + rest].iter().map(|n| Part::Range(Index::Known(0), *n)));
                continue;
            }
            let extent = shape[parts.len()];
            let part = self.part(item, extent, clips)?;
            parts.push(part);
        }
        let from = parts.len();
        parts.extend(shape[from..].iter().map(|n| Part::Range(Index::Known(0), *n)));
        Ok(parts)
    }

    fn part(&mut self, item: &Expr, extent: u64, clips: bool) -> Lowered<Part> {
        let span = at(item);
        let Expr::Slice(slice) = item else {
            let value = self.expr(item)?;
            return self.one(&value, extent, span);
        };
        if slice.step.is_some() {
            let message = "a step in a slice cannot be compiled yet";
            let error = Diagnostic::error(slipring_ir::Kind::Unsupported, span, message).help(
                "take the rows one by one, `x[2 * i : 2 * i + 1, :]` for `i in pl.range(n)`, or pass `x[::2].copy()`",
            );
            return Err(self.report(error));
        }
        let from_behind = |n: i64| if n < 0 && n >= -(extent as i64) { n + extent as i64 } else { n };
        let lower = match &slice.lower {
            None => Index::Known(0),
            Some(expr) => {
                let value = self.expr(expr)?;
                match self.index(&value, at(&**expr))? {
                    Index::Known(n) => Index::Known(from_behind(n)),
                    index => index,
                }
            }
        };
        let (Index::Known(first), upper) = (lower, &slice.upper) else {
            // `r0 : r0 + 16`: the extent is the difference of the two.
            let size = match (&slice.lower, &slice.upper) {
                (Some(low), Some(high)) => self.difference(low, high)?,
                _ => None,
            };
            return match size {
                Some(size) if size > 0 && size as u64 <= extent => Ok(Part::Range(lower, size as u64)),
                Some(size) if size > 0 && clips && self.is_tail(lower, size as u64, extent) => {
                    Ok(Part::Range(lower, size as u64))
                }
                Some(size) => Err(self.error("bounds", span, format!("a slice of {size} in a dimension of {extent}"))),
                None => self.few(slice, lower, extent, span),
            };
        };
        let last = match upper {
            None => extent as i64,
            Some(expr) => {
                let value = self.expr(expr)?;
                if let Value::Scalar(_) = value {
                    return self.few(slice, lower, extent, span);
                }
                let last = self.known_int(&value, "the end of a slice that begins at a constant", at(&**expr))?;
                from_behind(last)
            }
        };
        // An unrolled iteration is treated like one of a loop at run time.
        let changes = slice.lower.as_ref().is_some_and(|bound| self.changes_with_iteration(bound));
        let tail = clips && changes && (0..extent as i64).contains(&first);
        if first < 0 || last <= first || (last as u64 > extent && !tail) {
            let message = format!("the slice {first}:{last} does not lie inside the {extent} of this dimension");
            let mut error = Diagnostic::error("bounds", span, message);
            if 0 <= first && first < extent as i64 && first < last {
                error = error.help(format!("what is there of it is `{first}:{extent}`"));
            }
            return Err(self.report(error));
        }
        Ok(Part::Range(Index::Known(first), (last - first) as u64))
    }

    /// `high - low` if both are sums with the same multiples of unknowns: the difference of the constants.
    fn difference(&mut self, low: &Expr, high: &Expr) -> Lowered<Option<i64>> {
        // Equal text need not have equal values.
        if changes_list(low) || changes_list(high) {
            return Ok(None);
        }
        let mut terms: Vec<(String, i64)> = Vec::new();
        let mut constant = 0i64;
        let linear =
            self.terms(high, 1, &mut terms, &mut constant)? && self.terms(low, -1, &mut terms, &mut constant)?;
        let cancelled = terms.iter().all(|(name, _)| {
            terms.iter().filter(|(other, _)| other == name).map(|(_, n)| i128::from(*n)).sum::<i128>() == 0
        });
        Ok((linear && cancelled).then_some(constant))
    }

    /// Adds `times` an expression to the constant and to multiples of unknowns, by text. False if it gets too large.
    fn terms(&mut self, expr: &Expr, times: i64, terms: &mut Vec<(String, i64)>, constant: &mut i64) -> Lowered<bool> {
        use ruff_python_ast::{Operator, UnaryOp};
        // Evaluation folds constants; an unknown is identified by its text.
        if let Some(n) = self.constant_of(expr)? {
            let sum = times.checked_mul(n).and_then(|n| constant.checked_add(n));
            *constant = sum.unwrap_or_default();
            return Ok(sum.is_some());
        }
        match expr {
            Expr::BinOp(binary) if matches!(binary.op, Operator::Add | Operator::Sub) => {
                let right = if binary.op == Operator::Add { times } else { -times };
                return Ok(self.terms(&binary.left, times, terms, constant)?
                    && self.terms(&binary.right, right, terms, constant)?);
            }
            Expr::BinOp(binary) if binary.op == Operator::Mult => {
                for (factor, rest) in [(&binary.left, &binary.right), (&binary.right, &binary.left)] {
                    if let Some(factor) = self.constant_of(factor)? {
                        let Some(times) = times.checked_mul(factor).filter(|times| *times > i64::MIN) else {
                            return Ok(false);
                        };
                        return self.terms(rest, times, terms, constant);
                    }
                }
            }
            Expr::UnaryOp(unary) if unary.op == UnaryOp::USub => {
                return self.terms(&unary.operand, -times, terms, constant);
            }
            _ => {}
        }
        let span = at(expr);
        let text = self.e.module.source.text[span.start as usize..span.end as usize].to_string();
        terms.push((text.split_whitespace().collect(), times));
        Ok(true)
    }

    /// The integer value of an expression of constants, or of an attribute that is one.
    fn constant_of(&mut self, expr: &Expr) -> Lowered<Option<i64>> {
        if let Some(n) = self.quiet_constant(expr) {
            return Ok(Some(n));
        }
        let of_name = match expr {
            Expr::Attribute(_) => true,
            Expr::Subscript(part) => part.value.is_attribute_expr(),
            _ => false,
        };
        Ok(match of_name.then(|| self.expr(expr)).transpose()? {
            Some(Value::Const(Const::Int(n))) => Some(n),
            _ => None,
        })
    }

    /// The integer value of an expression of constants only. Emits nothing and reports nothing.
    pub fn quiet_constant(&self, expr: &Expr) -> Option<i64> {
        use ruff_python_ast::{Number, Operator, UnaryOp};
        match expr {
            Expr::NumberLiteral(literal) => match &literal.value {
                Number::Int(n) => n.as_i64(),
                _ => None,
            },
            Expr::Name(name) => match self.names.env.get(name.id.as_str()) {
                Some(Value::Const(Const::Int(n))) => Some(*n),
                Some(_) => None,
                None => match self.globals.get(name.id.as_str()) {
                    Some(Value::Const(Const::Int(n))) => Some(n),
                    _ => None,
                },
            },
            Expr::UnaryOp(unary) if unary.op == UnaryOp::USub => self.quiet_constant(&unary.operand)?.checked_neg(),
            Expr::BinOp(binary) => {
                let (a, b) = (self.quiet_constant(&binary.left)?, self.quiet_constant(&binary.right)?);
                match binary.op {
                    Operator::Add => a.checked_add(b),
                    Operator::Sub => a.checked_sub(b),
                    Operator::Mult => a.checked_mul(b),
                    Operator::FloorDiv if b > 0 => Some(a.div_euclid(b)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    pub(super) fn tensor_part(&mut self, tensor: &Tensor, parts: &[Part], span: Span) -> Lowered<Tensor> {
        if tensor.reshaped.is_some() {
            let Some(view) = self.viewed_anew(tensor, &tensor.shape()) else {
                return Err(self.unsupported(span, "a part of a reshaped tensor whose rows do not follow one another"));
            };
            return self.tensor_part(&view, parts, span);
        }
        if self.may_leave(tensor, parts) {
            let view = self.checked_view(tensor);
            return self.tensor_part(&view, parts, span);
        }
        let mut result = Tensor { valid: self.valid_of_part(tensor, parts, span)?.map(Box::new), ..tensor.clone() };
        let kept: SmallVec<[usize; 5]> = (0..tensor.sizes.len()).filter(|at| !tensor.dropped[*at]).collect();
        for (at, part) in kept.into_iter().zip(parts) {
            let (first, size) = match part {
                Part::Range(first, size) => (*first, *size),
                Part::Few { first, most, .. } => (*first, *most),
                Part::One(index) => {
                    result.dropped[at] = true;
                    (*index, 1)
                }
            };
            result.offsets[at] = self.add_index(tensor.offsets[at], first);
            result.sizes[at] = size;
        }
        Ok(result)
    }

    /// True if only the run knows whether a part of a window is inside the window: the tensor has more elements.
    fn may_leave(&self, tensor: &Tensor, parts: &[Part]) -> bool {
        let root = &self.tensors.roots[tensor.root];
        if tensor.valid.is_some() || root.scales.is_some() {
            return false;
        }
        let kept = (0..tensor.sizes.len()).filter(|at| !tensor.dropped[*at]);
        kept.zip(parts).any(|(at, part)| {
            let (first, size) = match part {
                Part::Range(first, size) => (*first, *size),
                Part::Few { first, .. } | Part::One(first) => (*first, 1),
            };
            let extent = tensor.sizes[at];
            let inside = |first: slipring_ir::ValueId| extent >= size && self.begins_inside(first, extent - size + 1);
            extent < root.dims[at] && matches!(first, Index::At(scalar) if !inside(scalar.value))
        })
    }

    /// A window as a separate tensor, with the strides of the one that it is a part of: the run checks that the window
    /// is inside that tensor, and that parts are inside the window.
    fn checked_view(&mut self, tensor: &Tensor) -> Tensor {
        let root = self.tensors.roots[tensor.root].clone();
        let strides: Vec<u64> =
            root.strides.iter().zip(&tensor.dropped).filter(|(_, dropped)| !**dropped).map(|(n, _)| *n).collect();
        self.separate(tensor, &tensor.shape(), &strides, |lower| {
            let window = lower.window(tensor);
            lower.e.value(&pto::TENSOR_VIEW_ADDR, &[("src", &[window])], &[], Type::Ptr(root.elem, None))
        })
    }

    /// A window as a separate tensor with another shape: the same bytes. `None` if its elements are not contiguous.
    pub fn viewed_anew(&mut self, tensor: &Tensor, shape: &[u64]) -> Option<Tensor> {
        let root = self.tensors.roots[tensor.root].clone();
        let mut next = 1;
        for (size, stride) in tensor.sizes.iter().zip(&root.strides).rev() {
            if *size != 1 && *stride != next {
                return None;
            }
            next *= size;
        }
        if tensor.valid.is_some() || root.scales.is_some() {
            return None;
        }
        let strides = crate::value::dense(shape);
        Some(self.separate(tensor, shape, &strides, |lower| {
            let mut first = Index::Known(0);
            for (offset, stride) in tensor.offsets.clone().into_iter().zip(&root.strides) {
                let step = lower.times(offset, *stride as i64);
                first = lower.add_index(first, step);
            }
            match first {
                Index::Known(0) if tensor.sizes == root.dims => root.pointer,
                // Also where it begins at the start: a pointer that is moved is that of a part, which the run checks.
                first => {
                    let offset = lower.index_value(first);
                    lower.pointer_at(&root, offset)
                }
            }
        }))
    }

    /// A window as a separate tensor of this shape and these strides, made once. `begin` makes its pointer.
    fn separate(
        &mut self,
        tensor: &Tensor,
        shape: &[u64],
        strides: &[u64],
        begin: impl FnOnce(&mut Self) -> slipring_ir::ValueId,
    ) -> Tensor {
        let known = self.tensors.views.iter().find(|(of, block, at)| {
            let view = &self.tensors.roots[*at];
            let same = view.dims.as_slice() == shape && view.strides.as_slice() == strides;
            of == tensor && self.open.blocks.contains(block) && same
        });
        let at = match known {
            Some((.., at)) => *at,
            None => {
                let root = self.tensors.roots[tensor.root].clone();
                let pointer = begin(self);
                let view = super::signature::whole_view(self, pointer, root.elem, (shape, strides), None);
                // Writes to it are recorded for the tensor that it is a view of.
                let direction =
                    if root.writable { crate::compiled::Direction::InOut } else { crate::compiled::Direction::In };
                let (dims, strides) = (shape.iter().copied().collect(), strides.iter().copied().collect());
                let of = Some(root.of.unwrap_or(tensor.root));
                self.tensors.roots.push(super::Root { dims, strides, view, pointer, direction, of, ..root });
                self.tensors.views.push((tensor.clone(), self.e.block, self.tensors.roots.len() - 1));
                self.tensors.roots.len() - 1
            }
        };
        crate::value::whole(at, self.tensors.roots[at].elem, shape)
    }

    /// The valid shape of a part of a window.
    fn valid_of_part(&mut self, tensor: &Tensor, parts: &[Part], span: Span) -> Lowered<Option<[Index; 2]>> {
        let Some(valid) = tensor.valid.as_deref() else { return Ok(None) };
        let shape = tensor.shape();
        let mut left = [Index::Known(1); 2];
        let known = parts.len() <= 2 && shape.len() == parts.len();
        for ((part, extent), left) in
            parts.iter().rev().zip(valid.iter().rev()).zip(left.iter_mut().rev()).filter(|_| known)
        {
            *left = match (part, extent) {
                (Part::Range(Index::Known(first), size), Index::Known(n)) => {
                    Index::Known((n - first).clamp(0, *size as i64))
                }
                (Part::One(Index::Known(at)), Index::Known(n)) if at < n => Index::Known(1),
                // The valid part begins at the beginning of the part.
                (Part::Range(Index::Known(0), size), extent) if shape.contains(size) => *extent,
                _ => return Err(self.unsupported(span, "a part of a window of which only a part is valid")),
            };
        }
        if !known {
            return Err(self.unsupported(span, "a part of a window of which only a part is valid"));
        }
        Ok(Some(left))
    }

    /// A window of a tensor from these offsets on, of this shape.
    pub fn tensor_window(&mut self, tensor: &Tensor, offsets: &[Index], shape: &[u64], span: Span) -> Lowered<Tensor> {
        let counted: Vec<Index> = shape.iter().map(|n| Index::Known(*n as i64)).collect();
        self.counted_window(tensor, offsets, shape, &counted, span)
    }

    /// Like [`Lower::tensor_window`], but only the first elements of each dimension are accessed and must be in range.
    pub fn counted_window(
        &mut self,
        tensor: &Tensor,
        offsets: &[Index],
        shape: &[u64],
        counted: &[Index],
        span: Span,
    ) -> Lowered<Tensor> {
        let rank = tensor.shape().len();
        if offsets.len() != rank || shape.len() != rank {
            let message =
                format!("{} offsets and {} extents for a tensor of {rank} dimensions", offsets.len(), shape.len());
            return Err(self.error("rank", span, message));
        }
        let whole = tensor.shape();
        for (dim, ((offset, count), extent)) in offsets.iter().zip(counted).zip(&whole).enumerate() {
            let first = if let Index::Known(n) = offset { *n } else { 0 };
            let size = if let Index::Known(n) = count { *n } else { 0 };
            if first < 0 || first.saturating_add(size) > *extent as i64 {
                let message = format!(
                    "elements {first} to {} lie outside the {extent} of dimension {dim}",
                    first.saturating_add(size)
                );
                return Err(self.error("bounds", span, message));
            }
        }
        for (dim, ((offset, count), extent)) in offsets.iter().zip(counted).zip(&whole).enumerate() {
            // The actual extent is only known at run time.
            let Index::Known(size) = count else { continue };
            let of = format_args!("the {extent} of dimension {dim}");
            self.inside_each_time(*offset, (*size).max(1) as u64, *extent, of, span)?;
        }
        let parts: Vec<Part> = offsets.iter().zip(shape).map(|(offset, size)| Part::Range(*offset, *size)).collect();
        self.tensor_part(tensor, &parts, span)
    }

    /// A rectangular part of a tile: the same bytes.
    pub(super) fn tile_part(&mut self, id: TileId, parts: &[Part], span: Span) -> Lowered<TileId> {
        let (mut offsets, mut shape) = (Vec::new(), Vec::new());
        for part in parts {
            match part {
                Part::Range(first, size) => {
                    offsets.push(*first);
                    shape.push(*size);
                }
                Part::Few { first, most, .. } => {
                    offsets.push(*first);
                    shape.push(*most);
                }
                Part::One(index) => {
                    offsets.push(*index);
                    shape.push(1);
                }
            }
        }
        let exact = !parts.iter().any(|part| matches!(part, Part::Few { .. }));
        let is_element = parts.iter().all(|part| matches!(part, Part::One(_)));
        let id = if is_element { self.with_elements(id, &offsets, span)? } else { id };
        let mut part = self.window_of_tile(id, (&offsets, &shape), exact, span)?;
        // A tile has at least two dimensions, and its last one is its columns.
        let mut left = shape.len();
        let kept: Vec<u64> = (0..shape.len())
            .filter(|dim| {
                let away = left > 2 && dim + 1 < shape.len() && matches!(parts[*dim], Part::One(_));
                left -= usize::from(away);
                !away
            })
            .map(|dim| shape[dim])
            .collect();
        if kept.len() < shape.len() {
            part = self.renewed(part);
            self.held.tiles[part.0 as usize].shape = kept.into_iter().collect();
        }
        Ok(part)
    }

    /// The part of a tile from these offsets on, of this shape: the same bytes. All of it is inside the tile, or the
    /// run stops.
    pub fn tile_window(&mut self, id: TileId, offsets: &[Index], shape: &[u64], span: Span) -> Lowered<TileId> {
        self.window_of_tile(id, (offsets, shape), true, span)
    }

    /// Like [`Lower::tile_window`]; of a part that is not `exact` only the first elements count, so that the others may
    /// be outside.
    pub fn window_of_tile(
        &mut self,
        id: TileId,
        (offsets, shape): (&[Index], &[u64]),
        exact: bool,
        span: Span,
    ) -> Lowered<TileId> {
        self.not_overwritten(id, span)?;
        let tile = self.tile(id).clone();
        if offsets.len() != tile.shape.len() || shape.len() != tile.shape.len() {
            let message =
                format!("{} offsets and {} extents for a tile {}", offsets.len(), shape.len(), show(&tile.shape));
            return Err(self.error("rank", span, message));
        }
        for ((offset, size), extent) in offsets.iter().zip(shape).zip(&tile.shape) {
            let first = if let Index::Known(n) = offset { *n } else { 0 };
            if first < 0 || first as u64 + size > *extent {
                let message = format!(
                    "elements {first} to {} lie outside a tile {}",
                    first.saturating_add(*size as i64),
                    show(&tile.shape)
                );
                return Err(self.error("bounds", span, message));
            }
        }
        for ((offset, size), extent) in offsets.iter().zip(shape).zip(&tile.shape) {
            self.inside_each_time(*offset, *size, *extent, format_args!("a tile {}", show(&tile.shape)), span)?;
        }
        if tile.shape.as_slice() == shape && offsets.iter().all(|offset| self.is_first(*offset)) {
            return Ok(id);
        }
        if tile.valid.is_some() && tile.ty.space != Space::Vec {
            return Err(self.unsupported(span, "a part of a tile of which only a part is valid"));
        }
        let known = |(offset, (size, extent)): (&Index, (&u64, &u64))| match offset {
            Index::Known(_) => true,
            Index::At(first) => extent >= size && self.begins_inside(first.value, extent - size + 1),
        };
        let inside = exact && !offsets.iter().zip(shape.iter().zip(&tile.shape)).all(known);
        // One-dimensional tiles are a single row.
        let (offsets, sizes) = match (offsets, shape) {
            ([col], [cols]) => ([Index::Known(0), *col], [1, *cols]),
            ([row, col], [rows, cols]) => ([*row, *col], [*rows, *cols]),
            (offsets, shape) => match self.folded_part(&tile.shape, offsets, shape) {
                Some(part) => part,
                None => return Err(self.unsupported(span, "a part of a tile whose rows do not follow one another")),
            },
        };
        if let Some(valid) = tile.valid {
            let valid = self.counting_part(valid, offsets, sizes);
            let whole = self.whole_view(id);
            let part = self.part_of_tile(whole, (offsets, sizes), shape, inside, span)?;
            return self.with_valid(part, valid, span);
        }
        let space = tile.ty.space;
        if space == Space::Acc && self.open.region.is_none() {
            // The tile is in the Vector cores' memory, and they take the part.
            let id = self.demand(&Value::Tile(id), Space::Vec, span)?;
            return self.part_of_tile(id, (offsets, sizes), shape, inside, span);
        }
        if space == Space::Acc {
            return Err(self.part_of_product(id, span));
        }
        self.part_of_tile(id, (offsets, sizes), shape, inside, span)
    }
}
