//! Tails: slices in loops whose last part is smaller. As in numpy, they are clipped to the end of the dimension; the
//! remaining part is the valid shape of their tiles.

use ruff_python_ast::Expr;
use slipring_ir::{Diagnostic, Reported, Span};

use super::lowering::{Lower, Lowered, describe};
use super::state::Tail;
use super::window::Part;
use crate::value::{Index, Tensor, Value, show};

impl Lower<'_> {
    /// A part of a tensor with shape `shape`, clipped if some iteration of the enclosing loops would exceed the end. A
    /// part that begins outside, or whose position is only known at run time, is unchanged.
    pub(super) fn clipped(&mut self, window: Tensor, parts: &[Part], shape: &[u64], span: Span) -> Lowered<Tensor> {
        let few = parts.iter().any(|part| matches!(part, Part::Few { .. }));
        if few && window.reshaped.is_some() {
            return Err(self.unsupported(span, "a slice of a reshaped tensor whose extent only the run knows"));
        }
        if self.facts.exact_slices || window.valid.is_some() || window.reshaped.is_some() {
            return Ok(window);
        }
        let cut: Vec<bool> = parts
            .iter()
            .zip(shape)
            .map(|(part, extent)| match part {
                Part::Range(first, size) => self.is_tail(*first, *size, *extent),
                Part::Few { .. } => true,
                _ => false,
            })
            .collect();
        if !cut.contains(&true) {
            return Ok(window);
        }
        let (mut valid, mut sizes) = (Vec::new(), Vec::new());
        for ((part, extent), cut) in parts.iter().zip(shape).zip(cut) {
            let (size, count) = match part {
                Part::Range(first, size) if cut => (*size, self.tail(*first, *size, *extent)),
                Part::Range(_, size) => (*size, Index::Known(*size as i64)),
                Part::Few { most, count, .. } => (*most, *count),
                Part::One(_) => continue,
            };
            valid.push(count);
            sizes.push(size);
        }
        let valid = self.folded_valid(&valid, &sizes, span)?;
        Ok(Tensor { few: few && valid.is_some(), valid: valid.map(Box::new), ..window })
    }

    /// True for a slice in a loop that exceeds the end of the dimension in some iteration.
    pub(super) fn is_tail(&self, first: Index, size: u64, extent: u64) -> bool {
        match first {
            Index::At(scalar) => self.has_tail(scalar.value, size, extent),
            Index::Known(first) => {
                !self.open.written_out.is_empty()
                    && u64::try_from(first).is_ok_and(|first| first < extent && first + size > extent)
            }
        }
    }

    /// The number of the `size` elements from `first` on that are before `extent`.
    pub(crate) fn tail(&mut self, first: Index, size: u64, extent: u64) -> Index {
        let module = &self.e.module;
        let there = |tail: &&Tail| match tail.left {
            Index::At(scalar) => module.defining_op(scalar.value).is_some_and(|op| module.op(op).block.is_some()),
            Index::Known(_) => true,
        };
        let known = self.tensors.tails.iter().find(|tail| {
            (tail.first, tail.size, tail.extent) == (first, size, extent)
                && self.open.blocks.contains(&tail.block)
                && there(tail)
        });
        if let Some(tail) = known {
            return tail.left;
        }
        let left = self.less(Index::Known(extent as i64), first);
        let mut left = self.smaller(Index::Known(size as i64), left);
        // A part that begins after the end is empty.
        if matches!(first, Index::At(scalar) if !self.begins_inside(scalar.value, extent)) {
            left = self.larger(Index::Known(0), left);
        }
        self.tensors.tails.push(Tail { first, size, extent, block: self.e.block, left });
        left
    }

    /// A window with a dynamic extent, enlarged to the tile that is stored into it.
    pub(super) fn as_large(&self, window: &Tensor, value: &Value) -> Option<Tensor> {
        let (Some(valid), Value::Tile(id)) = (window.valid.as_deref(), value) else { return None };
        let (own, wanted) = (window.shape(), &self.tile(*id).shape);
        if !window.few || own.len() > 2 || own.len() != wanted.len() {
            return None;
        }
        let kept = (0..window.sizes.len()).filter(|at| !window.dropped[*at]);
        let valid = &valid[2 - own.len()..];
        let mut resized = window.clone();
        for (((at, own), wanted), count) in kept.zip(&own).zip(wanted).zip(valid) {
            match count {
                Index::At(_) => resized.sizes[at] = *wanted,
                Index::Known(_) if own == wanted => {}
                Index::Known(_) => return None,
            }
        }
        (resized.sizes != window.sizes).then_some(resized)
    }

    /// The tile for a store into a window with a tail, cut to the extent of the window. `None` if no cut is needed.
    pub(crate) fn cut_to(&mut self, value: &Value, window: &Tensor, span: Span) -> Lowered<Option<Value>> {
        let Some(valid) = window.valid.as_deref().copied() else { return Ok(None) };
        let id = match value {
            Value::Tile(id) if self.tile(*id).mask.is_none() => *id,
            Value::Tensor(source) if source.valid.is_none() => self.load(source, slipring_tile::Space::Vec)?,
            _ => return Ok(None),
        };
        let tile = self.tile(id);
        if crate::value::fold(&tile.shape) != crate::value::fold(&window.shape()) {
            return Ok(None);
        }
        let both = match tile.valid {
            None => {
                self.warn_of_dropped(window, span);
                valid
            }
            Some(own) if own == valid => return Ok(None),
            Some(own) => [0, 1].map(|at| self.smaller(own[at], valid[at])),
        };
        self.with_valid(id, both, span).map(|cut| Some(Value::Tile(cut)))
    }

    /// Warns that a store into a window with a tail drops elements of a tile that has all of its own.
    fn warn_of_dropped(&mut self, window: &Tensor, span: Span) {
        let root = &self.tensors.roots[window.root];
        let message = format!(
            "in some iteration this slice passes the end of `{}`, and the tile has elements there: they are dropped",
            root.name
        );
        let warning = Diagnostic::warning("bounds", span, message)
            .also(root.span, format!("it is {}", show(&root.dims)))
            .note("numpy refuses to assign more elements than the slice has")
            .help("let the loop end where the tensor does, or give the tile its valid shape: `pl.set_validshape`");
        self.report(warning);
    }

    /// `x[ids]`: rows of a matrix in global memory by index, if it has that form.
    pub(super) fn rows_by_number(&mut self, table: &Tensor, slice: &Expr, span: Span) -> Lowered<Option<Value>> {
        // An expression with a slice in its brackets is not an index, so evaluating it here emits nothing twice.
        let sliced = |own: &Expr| match own {
            Expr::Tuple(tuple) => tuple.elts.iter().any(Expr::is_slice_expr),
            own => own.is_slice_expr(),
        };
        let asked = match slice {
            Expr::Name(_) => true,
            Expr::Subscript(own) => sliced(&own.slice),
            _ => false,
        };
        if !asked || table.shape().len() != 2 {
            return Ok(None);
        }
        let numbers = self.expr(slice)?;
        let whole = match &numbers {
            Value::Tensor(own) => !own.elem.is_float(),
            Value::Tile(id) => self.tile(*id).mask.is_none() && !self.tile(*id).ty.layout.elem.is_float(),
            _ => false,
        };
        if !whole || self.shape_of(&numbers).iter().product::<u64>() == 1 {
            return Ok(None);
        }
        self.call_by_name("mgather", vec![Value::Tensor(table.clone()), numbers], span).map(Some)
    }

    /// Reports an index that is not a number.
    pub(super) fn no_index(&mut self, value: &Value, span: Span) -> Reported {
        let what = describe(self, value);
        let is_mask = matches!(value, Value::Tile(id) if self.tile(*id).mask.is_some());
        let one = self.shape_of(value).iter().product::<u64>() == 1;
        let error = Diagnostic::error("subscript", span, format!("an index is a number, not {what}"));
        self.report(match (is_mask, one) {
            (true, _) => error.help("elements by a mask are `pl.sel(mask, a, b)`; `t[mask] = x` writes into a tile"),
            (_, true) => error.help("its element is a number: `pl.read(x, [0, 0])`"),
            _ => error.help(
                "rows of a tensor of two dimensions by their numbers are `x[ids]`; else a loop takes them: `r = pl.read(ids, [k])` and `x[r : r + 1, :]`",
            ),
        })
    }
}
