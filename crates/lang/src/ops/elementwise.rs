//! Elementwise ops.

use slipring_ir::{Attr, Diagnostic};
use slipring_op::OpDef;
use slipring_pto as pto;
use slipring_tile::Space;

use super::entry::{Call, ENTRY, Entry, entries};
use super::operands::{is_number, like, same, vector, vector_of};
use crate::dtype::DType;
use crate::lower::on_tiles::{emit, scalar_for};
use crate::lower::{Lower, Lowered, masks};
use crate::value::{Compared, Const, TileId, Value};
use crate::words::{Means, followed_as};

const BINARY: Entry = Entry { params: "lhs/src0, rhs/src1", lower: binary, ..ENTRY };
const UNARY: Entry = Entry { params: "x/input/tile", lower: unary, ..ENTRY };
const TMP: Entry = Entry { params: "lhs, rhs, tmp= | lhs/tile, slope, tmp=", lower: super::choose::with_tmp, ..ENTRY };
const NUMBER: Entry = Entry { params: "lhs, rhs", lower: binary, ..ENTRY };

entries! {
    "add" => "Sum": BINARY, op: Some(&pto::TADD), with_number: Some(&pto::TADDS),
        with_column: Some(&pto::TROWEXPANDADD), with_row: Some(&pto::TCOLEXPANDADD);
    "sub" => "Difference": BINARY, op: Some(&pto::TSUB), with_number: Some(&pto::TSUBS),
        with_column: Some(&pto::TROWEXPANDSUB), with_row: Some(&pto::TCOLEXPANDSUB), lower: subtract;
    "mul" => "Product of elements": BINARY, op: Some(&pto::TMUL), with_number: Some(&pto::TMULS),
        with_column: Some(&pto::TROWEXPANDMUL), with_row: Some(&pto::TCOLEXPANDMUL);
    "div" => "Quotient": ENTRY, op: Some(&pto::TDIV), with_number: Some(&pto::TDIVS),
        with_column: Some(&pto::TROWEXPANDDIV), with_row: Some(&pto::TCOLEXPANDDIV),
        params: "lhs, rhs, high_precision=", lower: divide;
    "maximum" | "max" => "Larger element": BINARY, op: Some(&pto::TMAX), with_number: Some(&pto::TMAXS),
        with_column: Some(&pto::TROWEXPANDMAX), with_row: Some(&pto::TCOLEXPANDMAX);
    "minimum" | "min" => "Smaller element": BINARY, op: Some(&pto::TMIN), with_number: Some(&pto::TMINS),
        with_column: Some(&pto::TROWEXPANDMIN), with_row: Some(&pto::TCOLEXPANDMIN);
    "fmod" => "Remainder, rounded towards zero": BINARY, op: Some(&pto::TFMOD), with_number: Some(&pto::TFMODS);
    "part_add" => "Sum where both are valid, else the one that is": BINARY, op: Some(&pto::TPARTADD);
    "part_mul" => "Product where both are valid": BINARY, op: Some(&pto::TPARTMUL);
    "part_max" => "Larger element where both are valid": BINARY, op: Some(&pto::TPARTMAX);
    "part_min" => "Smaller element where both are valid": BINARY, op: Some(&pto::TPARTMIN);
    "and_" => "Bitwise and": BINARY, op: Some(&pto::TAND), with_number: Some(&pto::TANDS);
    "or_" => "Bitwise or": BINARY, op: Some(&pto::TOR), with_number: Some(&pto::TORS);
    "shl" => "Shift left": BINARY, op: Some(&pto::TSHL), with_number: Some(&pto::TSHLS);
    "shr" => "Shift right": BINARY, op: Some(&pto::TSHR), with_number: Some(&pto::TSHRS);
    "rem" => "Remainder, rounded down": TMP, op: Some(&pto::TREM), with_number: Some(&pto::TREMS);
    "rems" => "Remainder of a division by a number, rounded down": TMP, with_number: Some(&pto::TREMS);
    "xor" => "Bitwise exclusive or": TMP, op: Some(&pto::TXOR), with_number: Some(&pto::TXORS);
    "xors" => "Bitwise exclusive or with a number": TMP, with_number: Some(&pto::TXORS);
    "lrelu" => "Negative elements times a slope": TMP, with_number: Some(&pto::TLRELU);
    "prelu" => "Negative elements times a slope for each element": TMP, op: Some(&pto::TPRELU);
    "adds" => "Add a number": NUMBER, with_number: Some(&pto::TADDS);
    "subs" => "Subtract a number": NUMBER, with_number: Some(&pto::TSUBS);
    "muls" => "Multiply by a number": NUMBER, with_number: Some(&pto::TMULS);
    "divs" => "Divide by a number": NUMBER, with_number: Some(&pto::TDIVS), lower: divide;
    "maximums" | "maxs" => "Larger of element and number": NUMBER, with_number: Some(&pto::TMAXS);
    "minimums" | "mins" => "Smaller of element and number": NUMBER, with_number: Some(&pto::TMINS);
    "ands" => "Bitwise and with a number": NUMBER, with_number: Some(&pto::TANDS);
    "ors" => "Bitwise or with a number": NUMBER, with_number: Some(&pto::TORS);
    "shls" => "Shift left by a number": NUMBER, with_number: Some(&pto::TSHLS);
    "shrs" => "Shift right by a number": NUMBER, with_number: Some(&pto::TSHRS);
    "fmods" => "Remainder of a division by a number": NUMBER, with_number: Some(&pto::TFMODS);
    "exp" => "Exponential": UNARY, op: Some(&pto::TEXP);
    "log" => "Natural logarithm": UNARY, op: Some(&pto::TLOG), params: "x/input/tile, high_precision=";
    "sqrt" => "Square root": UNARY, op: Some(&pto::TSQRT);
    "rsqrt" => "One over the square root": UNARY, op: Some(&pto::TRSQRT), params: "x/input/tile, high_precision/tmp=";
    "recip" => "Reciprocal": UNARY, op: Some(&pto::TRECIP), params: "x/input/tile, high_precision=";
    "neg" => "Negation": UNARY, op: Some(&pto::TNEG);
    "abs" => "Absolute value": UNARY, op: Some(&pto::TABS);
    "relu" => "Negative elements become 0": UNARY, op: Some(&pto::TRELU);
    "not_" => "Bitwise complement": UNARY, op: Some(&pto::TNOT);
    "cast" =>
        "Convert to another element type; `mode` is none, rint, round (ties away from zero, the default), floor, ceil, trunc or odd":
        ENTRY, params: "x/input/tile, target_type, mode=", op: Some(&pto::TCVT), lower: cast,
        followed: followed_as(Means::Cast);
}

/// `high_precision`, for which the public compiler takes more steps.
fn precision(lower: &mut Lower<'_>, call: &Call) -> Lowered<()> {
    match call.get("high_precision") {
        // `pl.rsqrt(x, tmp)`: the working memory of those steps.
        Some((Value::Tile(_), _)) if call.op() == &pto::TRSQRT => call.idle_memory(lower, "high_precision", EXACT),
        _ => call.idle_flag(lower, "high_precision", EXACT),
    }
}

const EXACT: &str = "results are rounded once in any case";

fn unary(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    if call.entry.params.contains("high_precision") {
        precision(lower, call)?;
    }
    if call.op() == &pto::TNOT
        && let Some(mask) = combined(lower, call, &["x"])?
    {
        return Ok(mask);
    }
    let source = vector(lower, call, "x")?;
    Ok(Value::Tile(like(lower, call, source, &[("src", source)])))
}

fn subtract(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (a, b) = (call.need(lower, "lhs")?, call.need(lower, "rhs")?);
    if !is_number(&a.0) {
        return binary(lower, call);
    }
    // n - x = (-x) + n
    let x = lower.demand(&b.0, Space::Vec, b.1)?;
    let negated = lower.call_by_name("neg", vec![Value::Tile(x)], call.span)?;
    lower.call_by_name("add", vec![negated, a.0], call.span)
}

fn binary(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (mut a, mut b) = (call.need(lower, "lhs")?, call.need(lower, "rhs")?);
    let commutes = call.entry.with_number.is_some() && call.entry.op.is_some_and(|op| op.commutes);
    if is_number(&a.0) && commutes {
        std::mem::swap(&mut a, &mut b);
    }
    if call.entry.op.is_some_and(|op| op == &pto::TAND || op == &pto::TOR)
        && let Some(mask) = combined(lower, call, &["lhs", "rhs"])?
    {
        return Ok(mask);
    }
    let lhs = vector_of(lower, &a.0, a.1)?;
    if let Some(op) = call.entry.with_number.filter(|_| is_number(&b.0)) {
        return with_number(lower, (call, op), lhs, &b.0, b.1);
    }
    if call.entry.op.is_none() {
        return Err(call.wrong(lower, "rhs", "a number", &b.0, b.1));
    }
    let rhs = vector_of(lower, &b.0, b.1)?;
    if let Some(expanded) = super::expand::broadcast(lower, call, lhs, rhs)? {
        return Ok(expanded);
    }
    let (lhs, rhs) = super::expand::alike(lower, lhs, rhs)?;
    same(lower, call, lhs, rhs)?;
    if call.op() == &pto::TADD && (is_tail_of_product(lower, lhs, rhs) || is_tail_of_product(lower, rhs, lhs)) {
        // Elements outside the product add nothing.
        return lower.call_by_name("part_add", vec![Value::Tile(lhs), Value::Tile(rhs)], call.span);
    }
    Ok(Value::Tile(like(lower, call, lhs, &[("src0", lhs), ("src1", rhs)])))
}

/// True for the sum of a whole tile and a product of tails.
fn is_tail_of_product(lower: &Lower<'_>, whole: TileId, part: TileId) -> bool {
    let part = lower.tile(part);
    let made_by = lower.words.op(part.made_by);
    lower.tile(whole).valid.is_none() && part.valid.is_some() && made_by.is_some_and(|op| op.product.is_some())
}

fn with_number(
    lower: &mut Lower<'_>,
    (call, op): (&Call, &'static OpDef),
    source: TileId,
    number: &Value,
    span: slipring_ir::Span,
) -> Lowered {
    let tile = lower.tile(source).clone();
    let number = scalar_for(lower, number, tile.ty.layout.elem, span)?;
    let target = lower.tile_like(source, tile.ty.layout.elem, call.entry.names[0]);
    let dst = lower.tile(target).value;
    lower.e.op(op, &[("src", &[tile.value]), ("scalar", &[number]), ("dst", &[dst])], &[], &[]);
    Ok(Value::Tile(target))
}

fn divide(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    call.idle_flag(lower, "high_precision", EXACT)?;
    let (a, b) = (call.need(lower, "lhs")?, call.need(lower, "rhs")?);
    let (source, number, first) = match (is_number(&a.0), is_number(&b.0)) {
        (false, false) => {
            let (lhs, rhs) = (vector_of(lower, &a.0, a.1)?, vector_of(lower, &b.0, b.1)?);
            if let Some(expanded) = super::expand::broadcast(lower, call, lhs, rhs)? {
                return Ok(expanded);
            }
            let (lhs, rhs) = super::expand::alike(lower, lhs, rhs)?;
            same(lower, call, lhs, rhs)?;
            return Ok(Value::Tile(like(lower, call, lhs, &[("src0", lhs), ("src1", rhs)])));
        }
        (false, true) => (a, b, false),
        (true, _) => (b, a, true),
    };
    let id = vector_of(lower, &source.0, source.1)?;
    let tile = lower.tile(id).clone();
    let number = scalar_for(lower, &number.0, tile.ty.layout.elem, number.1)?;
    let target = lower.tile_like(id, tile.ty.layout.elem, "div");
    let dst = lower.tile(target).value;
    let name = if first { "dividend" } else { "divisor" };
    lower.e.op(&pto::TDIVS, &[("src", &[tile.value]), (name, &[number]), ("dst", &[dst])], &[], &[]);
    Ok(Value::Tile(target))
}

fn cast(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    if let (value @ (Value::Scalar(_) | Value::Const(_)), span) = call.need(lower, "x")? {
        let (ty, _) = call.need(lower, "target_type")?;
        if let Value::Const(Const::DType(ty @ DType::Index)) = ty {
            if let Value::Const(Const::Int(_)) = value {
                return Ok(value);
            }
            let number = lower.number(&value, ty, span)?;
            return Ok(lower.scalar(number, ty));
        }
        let Some(elem) = call.elem(lower, "target_type")? else { return Ok(value) };
        return lower.cast_number(&value, elem, span);
    }
    let source = vector(lower, call, "x")?;
    call.need(lower, "target_type")?;
    let Some(elem) = call.elem(lower, "target_type")? else { return Ok(Value::Tile(source)) };
    let modes = ["none", "rint", "round", "floor", "ceil", "trunc", "odd"];
    let mode = call.word_of(lower, "mode", &modes)?.unwrap_or("round").to_uppercase();
    let tile = lower.tile(source).clone();
    if tile.ty.layout.elem == elem {
        return Ok(Value::Tile(source));
    }
    // The instruction requires both tiles to have the same padding.
    let usual = crate::lower::Place::of(Space::Vec).tile_type(&tile.shape, elem).layout;
    let padded = (usual.rows.max(tile.ty.layout.rows), usual.cols.max(tile.ty.layout.cols));
    let mut source = source;
    if (tile.ty.layout.rows, tile.ty.layout.cols) != padded {
        let copy = lower.padded_like(source, tile.ty.layout.elem, padded, tile.made_by);
        emit(lower, &pto::TMOV, &[("src", source)], copy);
        source = copy;
    }
    let target = if (usual.rows, usual.cols) != padded {
        lower.padded_like(source, elem, padded, "cast")
    } else {
        lower.tile_like(source, elem, "cast")
    };
    let (src, dst) = (lower.tile(source).value, lower.tile(target).value);
    let attrs = [("rmode", Attr::member("round_mode", &mode)), pto::saturation(false)];
    lower.e.op(&pto::TCVT, &[("src", &[src]), ("dst", &[dst])], &attrs, &[]);
    Ok(Value::Tile(target))
}

/// The result of a bitwise op whose operands are all masks: a mask.
fn combined(lower: &mut Lower<'_>, call: &Call, names: &[&str]) -> Lowered<Option<Value>> {
    let mut masks = Vec::new();
    for name in names {
        match call.need(lower, name)? {
            (Value::Tile(id), _) if lower.tile(id).mask.is_some() => masks.push(id),
            // Booleans in bytes.
            (Value::Tensor(tensor), span) if lower.tensors.roots[tensor.root].truths => {
                masks.push(masks::packed(lower, &Value::Tensor(tensor), span)?);
            }
            (Value::Tile(id), span) if masks::is_truths(lower, id) => {
                masks.push(masks::packed(lower, &Value::Tile(id), span)?);
            }
            _ => return Ok(None),
        }
    }
    let Some(Compared { shape, elem, .. }) = lower.tile(masks[0]).mask.clone() else { return Ok(None) };
    if let Some(other) = masks.iter().find(|id| lower.tile(**id).mask.as_ref().is_some_and(|own| own.shape != shape)) {
        let error = Diagnostic::error("shapes", call.span, "masks of tiles of different shapes")
            .also(lower.tile(masks[0]).span, "the one")
            .also(lower.tile(*other).span, "the other");
        return Err(lower.report(error));
    }
    for id in &masks {
        lower.still_there(*id, call.span)?;
    }
    let [first, second] = masks[..] else {
        // Not all platforms have an instruction for the complement of bytes.
        let inverse = masks::numbers(lower, masks[0], [0, 1])?;
        return masks::packed(lower, &Value::Tile(inverse), call.span).map(|mask| Some(Value::Tile(mask)));
    };
    let both = masks::of(lower, &shape, elem, first);
    emit(lower, call.op(), &[("src0", first), ("src1", second)], both);
    Ok(Some(Value::Tile(both)))
}
