//! Products on the Cube core.

use slipring_ir::{Diagnostic, Span};
use slipring_mlir::scf;
use slipring_pto as pto;
use slipring_tile::{Elem, Space};

use super::entry::{Call, ENTRY, Entry};
use crate::dtype::DType;
use crate::lower::{Lower, Lowered, Place, Reported, fold, show};
use crate::value::{Const, Index, Tile, TileId, Value};

pub(super) const OPS: &[Entry] = &[
    Entry {
        names: &["matmul"],
        params: "lhs, rhs, out_dtype=, a_trans=, b_trans=, c_matrix_nz=",
        op: Some(&pto::TMATMUL),
        doc: "Product of two matrices, in f32 (i32 for 8-bit integers)",
        lower: matmul,
        ..ENTRY
    },
    Entry {
        names: &["matmul_acc"],
        params: "acc, lhs, rhs, a_trans=, b_trans=, init_cond=",
        op: Some(&pto::TMATMUL_ACC),
        doc: "Product added to an accumulator, in place; where `init_cond` holds, put there",
        lower: matmul_acc,
        ..ENTRY
    },
    Entry {
        names: &["gemv"],
        params: "lhs, rhs, out_dtype=, a_trans=, b_trans=, c_matrix_nz=, acc_phase= | lhs, rhs, acc_phase",
        op: Some(&pto::TGEMV),
        doc: "Product of a row and a matrix",
        lower: matmul,
        ..ENTRY
    },
    Entry {
        names: &["gemv_acc"],
        params: "acc, lhs, rhs, a_trans=, b_trans=, init_cond=, acc_phase= | acc, lhs, rhs, acc_phase",
        op: Some(&pto::TGEMV_ACC),
        doc: "Product of a row and a matrix added to an accumulator, in place",
        lower: matmul_acc,
        ..ENTRY
    },
    Entry {
        names: &["gemv_bias"],
        params: "lhs, rhs, bias, a_trans=, b_trans=, acc_phase= | lhs, rhs, bias, acc_phase",
        op: Some(&pto::TGEMV_BIAS),
        doc: "Product of a row and a matrix, a bias added",
        lower: matmul_bias,
        ..ENTRY
    },
    Entry {
        names: &["matmul_mx"],
        params: "lhs, lhs_scale, rhs, rhs_scale",
        op: Some(&pto::TMATMUL_MX),
        doc: "Product of 8-bit floats with a scale for each 32 of them along k",
        lower: matmul_mx,
        ..ENTRY
    },
    Entry {
        names: &["matmul_mx_acc"],
        params: "acc, lhs, lhs_scale, rhs, rhs_scale",
        op: Some(&pto::TMATMUL_MX_ACC),
        doc: "Product with scales added to an accumulator, in place",
        lower: matmul_mx,
        ..ENTRY
    },
    Entry {
        names: &["matmul_mx_bias"],
        params: "lhs, lhs_scale, rhs, rhs_scale, bias",
        op: Some(&pto::TMATMUL_MX_BIAS),
        doc: "Product with scales, a bias added to each row",
        lower: matmul_mx,
        ..ENTRY
    },
    Entry {
        names: &["batch_matmul"],
        params: "lhs, rhs, out_dtype=, a_trans=, b_trans=, c_matrix_nz=",
        op: Some(&pto::TMATMUL),
        doc: "Products of two lists of matrices; `matmul` takes lists too",
        lower: matmul,
        ..ENTRY
    },
    Entry {
        names: &["batch_matmul_acc"],
        params: "acc, lhs, rhs, a_trans=, b_trans=, init_cond=",
        op: Some(&pto::TMATMUL_ACC),
        doc: "Products of two lists of matrices added to accumulators, in place",
        lower: matmul_acc,
        ..ENTRY
    },
    Entry {
        names: &["matmul_bias"],
        params: "lhs, rhs, bias, a_trans=, b_trans=",
        op: Some(&pto::TMATMUL_BIAS),
        doc: "Product, a bias added to each row",
        lower: matmul_bias,
        ..ENTRY
    },
];

/// Operands in L0A and L0B, and the shape of the product.
pub(super) struct Operands {
    left: TileId,
    right: TileId,
    /// Extents of a list of one, rows, columns.
    shape: Vec<u64>,
    elem: Elem,
    /// Rows and columns of the product that are valid, where they are fewer.
    valid: Option<[Index; 2]>,
}

/// True for a tile or a tensor.
pub(super) fn is_matrix(value: &Value) -> bool {
    matches!(value, Value::Tensor(_) | Value::Tile(_) | Value::Parts(_))
}

fn operands(lower: &mut Lower<'_>, call: &Call) -> Lowered<Operands> {
    phase(lower, call)?;
    let (lhs, rhs) = (call.need(lower, "lhs")?, call.need(lower, "rhs")?);
    operands_of(lower, call, lhs, rhs)
}

/// Two operands, where they are not those of the call but parts of them.
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
    // The extents before the last two, which the rows of the left operand or all of the right one have.
    let leading = |lower: &Lower<'_>, value: &Value| {
        let shape = lower.shape_of(value);
        shape[..shape.len().saturating_sub(2)].to_vec()
    };
    let (of_left, of_right) = (leading(lower, &lhs.0), leading(lower, &rhs.0));
    let mut shape = super::batch::together(&of_left, &of_right).unwrap_or_default();
    let rows = m / shape.iter().product::<u64>().max(1);
    shape.extend([rows, n]);
    Ok(Operands { left, right, shape, elem, valid })
}

/// The rows and columns of a product that operands give, of which only a part is valid.
fn valid_of(lower: &mut Lower<'_>, call: &Call, left: TileId, right: TileId) -> Lowered<Option<[Index; 2]>> {
    let extents = |lower: &Lower<'_>, id: TileId| {
        let tile = lower.tile(id);
        let (rows, cols) = fold(&tile.shape);
        tile.valid.unwrap_or([rows, cols].map(|n| Index::Known(n as i64)))
    };
    if [left, right].iter().all(|id| lower.tile(*id).valid.is_none()) {
        return Ok(None);
    }
    let ([m, k], [other, n]) = (extents(lower, left), extents(lower, right));
    // As many terms are added as the left operand has valid columns: the right one must have as many rows.
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

/// Holds that `acc_phase` is a phase. It tells the hardware when an accumulator is complete and changes no result.
fn phase(lower: &mut Lower<'_>, call: &Call) -> Lowered<()> {
    if !call.has("acc_phase") {
        return Ok(());
    }
    match call.word(lower, "acc_phase")?.as_deref() {
        None | Some("unspecified" | "partial" | "final") => Ok(()),
        Some(other) => {
            let error = Diagnostic::error("argument", call.span, format!("there is no phase `{other}`"))
                .help("the phases are unspecified, partial and final");
            Err(lower.report(error))
        }
    }
}

/// A new accumulator, padded as its operands are.
fn product(lower: &mut Lower<'_>, o: &Operands, made_by: &'static str) -> TileId {
    let mut ty = Place::of(Space::Acc).tile_type(&o.shape, o.elem);
    ty.layout.rows = lower.tile(o.left).ty.layout.rows;
    ty.layout.cols = lower.tile(o.right).ty.layout.cols;
    if o.valid.is_some() {
        ty.valid = [slipring_ir::Dim::Dynamic; 2];
    }
    // The matrix unit lays it out by the rows that take part.
    let rows = ty.valid[0].known().map(|rows| rows.next_multiple_of(16));
    ty.compact = u8::from(rows != Some(ty.layout.rows.into()));
    let value = lower.buffer(ty);
    match o.valid {
        None => lower.add_tile(value, ty, &o.shape, made_by),
        Some(valid) => lower.set_valid(value, ty, &o.shape, valid, made_by),
    }
}

fn matmul(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    call.idle_flag(lower, "c_matrix_nz", "a product is moved to where the next op wants it")?;
    if let Some(list) = super::batch::list_of(lower, call)? {
        return super::batch::products(lower, call, &list, None);
    }
    let o = operands(lower, call)?;
    multiplied(lower, call, &o).map(Value::Tile)
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

fn matmul_acc(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    // The form for tiles has the condition in the fourth place, where that for tensors has a constant.
    let of_tiles = matches!(call.get("a_trans"), Some((Value::Scalar(_), _))) && call.get("init_cond").is_none();
    let call = &if of_tiles { call.moved("a_trans", "init_cond") } else { call.clone() };
    let (acc, span) = call.need(lower, "acc")?;
    let id = match &acc {
        Value::Tile(id) => *id,
        // A tensor that was made to begin with, which were never written: an accumulator that holds nothing.
        Value::Tensor(tensor) if lower.holds_nothing(tensor) => {
            if lower.wants_accumulator(tensor) {
                return Err(Reported);
            }
            lower.new_tile(&tensor.shape(), tensor.elem, Space::Acc, "create_tensor")
        }
        Value::Parts(parts) => {
            let list = parts.shape[..parts.shape.len() - 2].to_vec();
            if super::batch::list_of(lower, call)?.as_ref() != Some(&list) {
                let message = format!("the products are no list {} of matrices", show(&list));
                return Err(lower.error("shapes", call.span, message));
            }
            return super::batch::products(lower, call, &list, Some((&parts.clone(), span)));
        }
        _ => return Err(call.wrong(lower, "acc", "an accumulator", &acc, span)),
    };
    if super::batch::list_of(lower, call)?.is_some() {
        let error = Diagnostic::error("shapes", call.span, "products of lists are added to one accumulator")
            .help("begin with the first products: `acc = pl.matmul(…)`");
        return Err(lower.report(error));
    }
    let o = operands(lower, call)?;
    accumulated(lower, call, (id, span), &o).map(Value::Tile)
}

/// The accumulator that a product is added to.
fn accumulator(lower: &mut Lower<'_>, (acc, span): (TileId, Span), o: &Operands) -> Lowered<Tile> {
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
    let tile = accumulator(lower, (acc, span), o)?;
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

fn matmul_bias(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let o = operands(lower, call)?;
    let (bias, span) = call.need(lower, "bias")?;
    let bias = lower.demand(&bias, Space::Bias, span)?;
    let target = product(lower, &o, call.entry.names[0]);
    let [l, r, b, d] = [o.left, o.right, bias, target].map(|id| lower.tile(id).value);
    let groups: [(&str, &[_]); 4] = [("lhs", &[l]), ("rhs", &[r]), ("bias", &[b]), ("dst", &[d])];
    lower.e.op(call.op(), &groups, &[], &[]);
    Ok(Value::Tile(target))
}

/// A product with scales: of the call's operands and the tiles of scales of both.
fn matmul_mx(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let o = operands(lower, call)?;
    let mut scales = Vec::new();
    for (name, space, operand) in [("lhs_scale", Space::LeftScale, o.left), ("rhs_scale", Space::RightScale, o.right)] {
        let (value, span) = call.need(lower, name)?;
        let (data, k) = (lower.tile(operand).clone(), if space == Space::LeftScale { 1 } else { 0 });
        let (rows, cols) = fold(&data.shape);
        let mut wanted = [rows, cols];
        if !wanted[k].is_multiple_of(64) || !matches!(data.ty.layout.elem, Elem::F8E4M3 | Elem::F8E5M2) {
            let elem = DType::Elem(data.ty.layout.elem).name();
            let error = Diagnostic::error(
                "argument",
                call.span,
                format!("a product with scales of {elem} over k = {}", wanted[k]),
            )
            .also(data.span, "the operand")
            .help("operands are 8-bit floats, and k is a multiple of 64");
            return Err(lower.report(error));
        }
        wanted[k] /= 32;
        let shape = lower.shape_of(&value);
        if fold(&shape) != (wanted[0], wanted[1]) {
            let message = format!("scales {} of an operand {}", show(&shape), show(&data.shape));
            let error = Diagnostic::error("shapes", span, message)
                .help(format!("there is one for each 32 elements along k: {}", show(&wanted)));
            return Err(lower.report(error));
        }
        let tile = lower.demand(&value, space, span)?;
        scales.push(lower.tile(tile).value);
    }
    let (l, r) = (lower.tile(o.left).value, lower.tile(o.right).value);
    let data: [(&str, &[_]); 4] =
        [("lhs", &[l]), ("lhs_scale", &scales[..1]), ("rhs", &[r]), ("rhs_scale", &scales[1..])];
    if call.has("acc") {
        let (value, span) = call.need(lower, "acc")?;
        let Value::Tile(acc) = value else { return Err(call.wrong(lower, "acc", "an accumulator", &value, span)) };
        let tile = accumulator(lower, (acc, span), &o)?;
        let onto = [tile.value];
        let groups = [&[("acc_in", &onto[..])][..], &data[..], &[("dst", &onto[..])][..]].concat();
        lower.e.op(call.op(), &groups, &[], &[]);
        lower.take(acc, call.span);
        return Ok(Value::Tile(lower.add_tile(tile.value, tile.ty, &tile.shape, "matmul_mx_acc")));
    }
    let bias = match call.has("bias").then(|| call.need(lower, "bias")).transpose()? {
        Some((value, span)) => {
            let tile = lower.demand(&value, Space::Bias, span)?;
            Some(lower.tile(tile).value)
        }
        None => None,
    };
    let target = product(lower, &o, call.entry.names[0]);
    let d = [lower.tile(target).value];
    let bias: Vec<(&str, &[_])> = bias.as_ref().map(|bias| ("bias", std::slice::from_ref(bias))).into_iter().collect();
    let groups = [&data[..], &bias[..], &[("dst", &d[..])][..]].concat();
    lower.e.op(call.op(), &groups, &[], &[]);
    Ok(Value::Tile(target))
}
