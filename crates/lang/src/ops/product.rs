//! A single product of two matrices: its operands, its accumulator.

use slipring_ir::{Diagnostic, Span, TileType};
use slipring_mlir::scf;
use slipring_pto as pto;
use slipring_tile::{Elem, Space};

use super::entry::Call;
use crate::dtype::DType;
use crate::lower::{Lower, Lowered, Place};
use crate::value::{Const, Index, Tile, TileId, Value, fold, show};

/// Operands in L0A and L0B, and the shape of the product.
pub(super) struct Operands {
    pub left: TileId,
    pub right: TileId,
    /// Extents of a list of one matrix, rows, columns.
    pub shape: Vec<u64>,
    pub elem: Elem,
    /// Valid rows and columns of the product, if they are fewer.
    pub valid: Option<[Index; 2]>,
}

/// True for a tile or a tensor.
pub(super) fn is_matrix(value: &Value) -> bool {
    matches!(value, Value::Tensor(_) | Value::Tile(_) | Value::Parts(_))
}

/// Two operands, if they are not those of the call but parts of them.
pub(super) fn operands_of(
    lower: &mut Lower<'_>,
    call: &Call,
    lhs: (Value, Span),
    rhs: (Value, Span),
) -> Lowered<Operands> {
    if let Some(region) = lower.open.region {
        let span = lower.open.regions[region.0 as usize].span;
        let name = call.entry.names[0];
        let error = Diagnostic::error("cube-in-region", call.span, format!("`pl.{name}` inside a `split_aiv` region"))
            .also(span, "the region, whose body runs on the Vector cores")
            .help("move it outside the region; gather its operands first (`pl.aic_gather`) if the lanes made them");
        return Err(lower.report(error));
    }
    // A product with scales has no transposed operands.
    let flag = |lower: &mut Lower<'_>, name| if call.has(name) { call.flag(lower, name) } else { Ok(false) };
    let (a_trans, b_trans) = (flag(lower, "a_trans")?, flag(lower, "b_trans")?);
    let shape = |lower: &Lower<'_>, value: &Value, transposed: bool| {
        let (rows, cols) = fold(&lower.shape_of(value));
        if transposed { (cols, rows) } else { (rows, cols) }
    };
    let ((m, k), (other, n)) = (shape(lower, &lhs.0, a_trans), shape(lower, &rhs.0, b_trans));
    if is_matrix(&lhs.0) && is_matrix(&rhs.0) && k != other {
        let message = format!("a product of [{m}, {k}] and [{other}, {n}]: the inner extents differ");
        let mut error = Diagnostic::error("shapes", call.span, message);
        if k == n {
            error.kind = slipring_ir::Kind::InnerExtents;
            error = error
                .help(format!("transpose the right operand: `b_trans={}`", if b_trans { "False" } else { "True" }));
        }
        return Err(lower.report(error));
    }
    if m != 1 && call.entry.is_of_a_row() {
        let error = Diagnostic::error("shapes", call.span, format!("`pl.{}` of {m} rows", call.entry.names[0]))
            .help("its left operand is one row: `pl.matmul` takes several");
        return Err(lower.report(error));
    }
    let mut get = |(value, span): &(Value, slipring_ir::Span), space, transposed| {
        if transposed { lower.demand_transposed(value, space, *span) } else { lower.demand(value, space, *span) }
    };
    let left = get(&lhs, Space::Left, a_trans)?;
    let right = get(&rhs, Space::Right, b_trans)?;
    let valid = valid_of(lower, call, left, right)?;
    let (a, b) = (lower.tile(left).ty.layout.elem, lower.tile(right).ty.layout.elem);
    if a != b {
        let names = [a, b].map(|e| DType::Elem(e).name());
        let message = format!("a product of {} and {} elements", names[0], names[1]);
        let error = Diagnostic::error("elem-types", call.span, message)
            .also(lower.tile(left).span, "the left operand")
            .also(lower.tile(right).span, "the right operand")
            .help("both operands have one type: convert one of them with `pl.cast` on the Vector cores");
        return Err(lower.report(error));
    }
    let elem = if a.is_float() { Elem::F32 } else { Elem::I32 };
    // The list extents before the last two, of either operand; the folded rows of the left one include them.
    let leading = |lower: &Lower<'_>, value: &Value| {
        let shape = lower.shape_of(value);
        shape[..shape.len().saturating_sub(2)].to_vec()
    };
    let (of_left, of_right) = (leading(lower, &lhs.0), leading(lower, &rhs.0));
    let mut shape = together(&of_left, &of_right).unwrap_or_default();
    let rows = m / shape.iter().product::<u64>().max(1);
    shape.extend([rows, n]);
    Ok(Operands { left, right, shape, elem, valid })
}

/// The valid rows and columns of a product with partially valid operands.
pub(super) fn valid_of(lower: &mut Lower<'_>, call: &Call, left: TileId, right: TileId) -> Lowered<Option<[Index; 2]>> {
    let extents = |lower: &Lower<'_>, id: TileId| {
        let tile = lower.tile(id);
        let (rows, cols) = fold(&tile.shape);
        tile.valid.unwrap_or([rows, cols].map(|n| Index::Known(n as i64)))
    };
    if [left, right].iter().all(|id| lower.tile(*id).valid.is_none()) {
        return Ok(None);
    }
    let ([m, k], [other, n]) = (extents(lower, left), extents(lower, right));
    // The number of summands is the number of valid columns of the left operand: the right one must have as many valid
    // rows.
    let fits = match (k, other) {
        (Index::Known(k), Index::Known(other)) => k <= other,
        (k, other) => k == other || other == Index::Known(fold(&lower.tile(right).shape).0 as i64),
    };
    if !fits {
        let show = |extent| match extent {
            Index::Known(n) => n.to_string(),
            Index::At(_) => "a number that the run decides".to_string(),
        };
        let message = format!("a product of {} valid columns and {} valid rows", show(k), show(other));
        let error = Diagnostic::error("partly-valid", call.span, message)
            .also(lower.tile(left).span, "the left operand")
            .also(lower.tile(right).span, "the right operand")
            .help("give both the same extent, or the right operand all of its rows");
        return Err(lower.report(error));
    }
    let (rows, cols) = (fold(&lower.tile(left).shape).0, fold(&lower.tile(right).shape).1);
    let whole = [m, n] == [rows, cols].map(|n| Index::Known(n as i64));
    Ok((!whole).then_some([m, n]))
}

/// The type of an accumulator for operands, with the same padding.
pub(super) fn accumulator_type(lower: &Lower<'_>, o: &Operands) -> TileType {
    let mut ty = Place::of(Space::Acc).tile_type(&o.shape, o.elem);
    ty.layout.rows = lower.tile(o.left).ty.layout.rows;
    ty.layout.cols = lower.tile(o.right).ty.layout.cols;
    if o.valid.is_some() {
        ty.valid = [slipring_ir::Dim::Dynamic; 2];
    }
    // The matrix unit lays it out by the rows that take part.
    let rows = ty.valid[0].known().map(|rows| rows.next_multiple_of(16));
    ty.compact = u8::from(rows != Some(ty.layout.rows.into()));
    ty
}

/// A new accumulator.
pub(super) fn product(lower: &mut Lower<'_>, o: &Operands, made_by: &'static str) -> TileId {
    let ty = accumulator_type(lower, o);
    let value = lower.buffer(ty);
    match o.valid {
        None => lower.add_tile(value, ty, &o.shape, made_by),
        Some(valid) => lower.set_valid(value, ty, &o.shape, valid, made_by),
    }
}

/// A product in a new accumulator.
pub(super) fn multiplied(lower: &mut Lower<'_>, call: &Call, o: &Operands) -> Lowered<TileId> {
    if let Some(wanted) = call.elem(lower, "out_dtype")?
        && wanted != o.elem
    {
        let names = [o.elem, wanted].map(|e| DType::Elem(e).name());
        let message = format!("the accumulator holds {}, not {}", names[0], names[1]);
        let error = Diagnostic::error("elem-types", call.span, message)
            .help("store it into a tensor of that type, or convert it on the Vector cores (`pl.cast`)");
        return Err(lower.report(error));
    }
    let target = product(lower, o, call.entry.names[0]);
    let (l, r, d) = (lower.tile(o.left).value, lower.tile(o.right).value, lower.tile(target).value);
    lower.e.op(call.op(), &[("lhs", &[l]), ("rhs", &[r]), ("dst", &[d])], &[], &[]);
    Ok(target)
}

/// The accumulator that a product is added to.
pub(super) fn accumulator(lower: &mut Lower<'_>, (acc, span): (TileId, Span), o: &Operands) -> Lowered<Tile> {
    lower.still_there(acc, span)?;
    let tile = lower.tile(acc).clone();
    if tile.ty.space != Space::Acc {
        let error = Diagnostic::error("tile-space", span, format!("the accumulator is in `{}`", tile.ty.space))
            .also(tile.span, "the tile is made here")
            .help("accumulate onto a product: `acc = pl.matmul(…)` first, `acc = pl.matmul_acc(acc, …)` then");
        return Err(lower.report(error));
    }
    if fold(&tile.shape) != fold(&o.shape) {
        let message = format!("a product {} is added to an accumulator {}", show(&o.shape), show(&tile.shape));
        return Err(lower.error("shapes", span, message));
    }
    Ok(tile)
}

/// A product added to an accumulator.
pub(super) fn accumulated(
    lower: &mut Lower<'_>,
    call: &Call,
    (acc, span): (TileId, Span),
    o: &Operands,
) -> Lowered<TileId> {
    let mut tile = accumulator(lower, (acc, span), o)?;
    if call.has("init_cond")
        && let (Some(valid), Some(_)) = (o.valid, tile.valid)
    {
        // It may start from zero, so its valid extent is that of the product.
        let anew = lower.set_valid(tile.value, tile.ty, &tile.shape, valid, tile.made_by);
        tile = lower.tile(anew).clone();
    }
    let (l, r) = (lower.tile(o.left).value, lower.tile(o.right).value);
    let onto: [(&str, &[_]); 4] = [("acc_in", &[tile.value]), ("lhs", &[l]), ("rhs", &[r]), ("dst", &[tile.value])];
    let anew: [(&str, &[_]); 3] = [("lhs", &[l]), ("rhs", &[r]), ("dst", &[tile.value])];
    let first = if call.entry.is_of_a_row() { &pto::TGEMV } else { &pto::TMATMUL };
    match call.has("init_cond").then(|| call.get("init_cond").cloned()).flatten() {
        None => drop(lower.e.op(call.op(), &onto, &[], &[])),
        Some((Value::Const(Const::Bool(true)), _)) => drop(lower.e.op(first, &anew, &[], &[])),
        Some((Value::Const(Const::Bool(false)), _)) => drop(lower.e.op(call.op(), &onto, &[], &[])),
        Some((condition, place)) => {
            let condition = lower.number(&condition, DType::Bool, place)?;
            let op = lower.e.op(&scf::IF, &[("condition", &[condition])], &[], &[]);
            let arms = [lower.e.region(op), lower.e.region(op)];
            lower.e.inside(arms[0], |e| {
                e.op(first, &anew, &[], &[]);
                e.op(&scf::YIELD, &[], &[], &[]);
            });
            lower.e.inside(arms[1], |e| {
                e.op(call.op(), &onto, &[], &[]);
                e.op(&scf::YIELD, &[], &[], &[]);
            });
        }
    }
    lower.take(acc, call.span);
    let sum = lower.add_tile(tile.value, tile.ty, &tile.shape, "matmul_acc");
    lower.held.tiles[sum.0 as usize].valid = tile.valid;
    Ok(sum)
}

/// The extents of both lists broadcast to one shape, as in numpy; `None` if they do not fit.
pub(super) fn together(a: &[u64], b: &[u64]) -> Option<Vec<u64>> {
    let rank = a.len().max(b.len());
    let at = |shape: &[u64], dim: usize| (dim + shape.len()).checked_sub(rank).map_or(1, |at| shape[at]);
    let each = (0..rank).map(|dim| match (at(a, dim), at(b, dim)) {
        (x, y) if x == y || y == 1 => Some(x),
        (1, y) => Some(y),
        _ => None,
    });
    each.collect()
}
