//! Comparisons, selections by a mask, and ops with three sources.

use slipring_ir::{Attr, Diagnostic, Span};
use slipring_pto as pto;
use slipring_tile::Space;

use super::entry::{Call, ENTRY, Entry, entries};
use super::operands::{is_number, like, same, vector};
use crate::lower::on_tiles::{emit, scalar_for};
use crate::lower::{Lower, Lowered};
use crate::value::{Const, TileId, Value, fold, show};

const THREE: Entry = Entry { params: "a/lhs, b/rhs, c/rhs2", lower: three, ..ENTRY };
const SCALAR_BETWEEN: Entry = Entry { params: "a/lhs, scalar/rhs, b/rhs2", lower: scalar_between, ..ENTRY };

entries! {
    "cmp" | "cmps" => "Compare elements: a mask of bits; `cmp_type` is eq, ne, lt, le, gt, ge or 0 to 5": ENTRY,
        params: "lhs, rhs, cmp_type=", op: Some(&pto::TCMP), with_number: Some(&pto::TCMPS), lower: compare;
    "sel" | "where" => "Elements of `lhs` where the mask has a bit, else of `rhs`": ENTRY,
        params: "mask, lhs, rhs, tmp=", op: Some(&pto::TSEL), with_number: Some(&pto::TSELS), lower: select;
    "sels" => "Elements of a tile where the mask has a bit, else a number": ENTRY,
        params: "mask, lhs, rhs, tmp= | mask, src, tmp, scalar", op: Some(&pto::TSEL), with_number: Some(&pto::TSELS),
        lower: select;
    "addc" => "Sum of three tiles": THREE, op: Some(&pto::TADDC);
    "subc" => "First minus second plus third tile": THREE, op: Some(&pto::TSUBC);
    "addsc" => "Tile plus number plus tile": SCALAR_BETWEEN, op: Some(&pto::TADDSC);
    "subsc" => "Tile minus number plus tile": SCALAR_BETWEEN, op: Some(&pto::TSUBSC);
}

const COMPARISONS: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];

fn comparison(lower: &mut Lower<'_>, call: &Call) -> Lowered<&'static str> {
    let by = |word: &str| COMPARISONS.iter().find(|name| **name == word).copied();
    let found = match call.get("cmp_type") {
        None => Some("eq"),
        Some((Value::Const(Const::Int(n)), _)) => usize::try_from(*n).ok().and_then(|n| COMPARISONS.get(n).copied()),
        Some((Value::Const(Const::Str(word) | Const::Member(_, word)), _)) => by(&word.to_lowercase()),
        Some(_) => None,
    };
    found.ok_or_else(|| {
        let span = call.get("cmp_type").map_or(call.span, |(_, span)| *span);
        let error = Diagnostic::error("argument", span, "there is no such comparison")
            .help("`cmp_type` is eq (0), ne (1), lt (2), le (3), gt (4) or ge (5)");
        lower.report(error)
    })
}

fn compare(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let mode = comparison(lower, call)?;
    let mut lhs = vector(lower, call, "lhs")?;
    let (rhs, span) = call.need(lower, "rhs")?;
    let number = is_number(&rhs);
    let second = if number {
        scalar_for(lower, &rhs, lower.tile(lhs).ty.layout.elem, span)?
    } else {
        let mut rhs = super::operands::vector_of(lower, &rhs, span)?;
        (lhs, rhs) = super::expand::alike(lower, lhs, rhs)?;
        same(lower, call, lhs, rhs)?;
        let rhs = lower.whole_view(rhs);
        lower.tile(rhs).value
    };
    let mask = {
        let tile = lower.tile(lhs).clone();
        crate::lower::masks::of(lower, &tile.shape, tile.ty.layout.elem, lhs)
    };
    // All elements are compared, including invalid ones: their bits are invalid as well.
    lhs = lower.whole_view(lhs);
    let tile = lower.tile(lhs).clone();
    let dst = lower.tile(mask).value;
    let attrs = [("cmpMode", Attr::member("cmp", mode))];
    let (op, names) = match call.entry.with_number.filter(|_| number) {
        Some(op) => (op, ["src", "scalar"]),
        None => (call.op(), ["src0", "src1"]),
    };
    lower.e.op(op, &[(names[0], &[tile.value]), (names[1], &[second]), ("dst", &[dst])], &attrs, &[]);
    Ok(Value::Tile(mask))
}

fn select(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    // The public parameter names of `sels`.
    let named = call.entry.names[0] == "sels" && call.get("src").is_some();
    let [first, second] = if named { ["src", "scalar"] } else { ["lhs", "rhs"] };
    let (mask, lhs) = (call.need(lower, "mask")?, call.need(lower, first)?);
    let mask = crate::lower::masks::carried(lower, &mask.0, mask.1)?;
    let lhs = match is_number(&lhs.0) && !named {
        true => number_for(lower, call, mask, &lhs)?,
        false => super::operands::vector_of(lower, &lhs.0, lhs.1)?,
    };
    let shape = lower.tile(lhs).shape.clone();
    let mask = crate::lower::masks::spread(lower, mask, &shape, call.span)?;
    let (mut rhs, mut span) = call.need(lower, second)?;
    let mut working = call.get("tmp").cloned();
    if call.entry.names[0] == "sels" && !is_number(&rhs) {
        // In the public order, the working memory comes before the number.
        match working.replace((rhs.clone(), span)) {
            Some((number, place)) if is_number(&number) => (rhs, span) = (number, place),
            _ => return Err(call.wrong(lower, "rhs", "a number (`pl.sel` takes two tiles)", &rhs, span)),
        }
    }
    let ((mask_rows, carriers), (rows, cols)) = (fold(&lower.tile(mask).shape), fold(&lower.tile(lhs).shape));
    let carrier = lower.tile(mask).ty.layout.elem;
    let bits = carriers.saturating_mul(8 * carrier.bytes() as u64);
    if carrier.is_float() || mask_rows != rows || bits < cols {
        let message = format!("a mask {} for tiles {}", show(&lower.tile(mask).shape), show(&lower.tile(lhs).shape));
        let error = Diagnostic::error("shapes", call.span, message)
            .also(lower.tile(mask).span, "the mask")
            .help("a mask has a row of bits for each row, as `pl.cmp` makes it, in integers of any width");
        return Err(lower.report(error));
    }
    let mut operands = vec![("mask", mask)];
    if let Some((tmp, span)) = working {
        operands.push(("tmp", lower.demand(&tmp, Space::Vec, span)?));
    }
    if let Some(op) = call.entry.with_number.filter(|_| is_number(&rhs)) {
        let tile = lower.tile(lhs).clone();
        let number = scalar_for(lower, &rhs, tile.ty.layout.elem, span)?;
        let target = lower.tile_like(lhs, tile.ty.layout.elem, "sels");
        operands.push(("src", lhs));
        let values: Vec<_> = operands.iter().map(|(name, id)| (*name, [lower.tile(*id).value])).collect();
        let (dst, number) = ([lower.tile(target).value], [number]);
        let mut groups: Vec<(&str, &[slipring_ir::ValueId])> = values.iter().map(|(n, v)| (*n, &v[..])).collect();
        groups.extend([("scalar", &number[..]), ("dst", &dst[..])]);
        lower.e.op(op, &groups, &[], &[]);
        return Ok(Value::Tile(target));
    }
    let rhs = super::operands::vector_of(lower, &rhs, span)?;
    same(lower, call, lhs, rhs)?;
    operands.extend([("src0", lhs), ("src1", rhs)]);
    Ok(Value::Tile(like(lower, call, lhs, &operands)))
}

/// A tile for a number on the left: like the other operand, or like the tiles that the mask compared.
fn number_for(lower: &mut Lower<'_>, call: &Call, mask: TileId, (number, span): &(Value, Span)) -> Lowered<TileId> {
    let (other, place) = call.need(lower, "rhs")?;
    if !is_number(&other) {
        let model = super::operands::vector_of(lower, &other, place)?;
        let tile = lower.tile(model).clone();
        return crate::lower::masks::filled(lower, number, (&tile.shape, tile.ty.layout.elem), model, *span);
    }
    match lower.tile(mask).mask.clone() {
        // Two numbers have the type of the compared tiles, or are floats if one of them is.
        Some(own) => {
            let is_float = |value: &Value| match value {
                Value::Const(Const::Float(_)) => true,
                Value::Scalar(scalar) => scalar.ty.is_float(),
                _ => false,
            };
            let floats = !own.elem.is_float() && (is_float(number) || is_float(&other));
            let elem = if floats { slipring_tile::Elem::F32 } else { own.elem };
            crate::lower::masks::filled(lower, number, (&own.shape, elem), mask, *span)
        }
        None => Err(call.wrong(lower, "lhs", "a tile, as the mask says no shape", number, *span)),
    }
}

fn sources<const N: usize>(lower: &mut Lower<'_>, call: &Call, names: [&str; N]) -> Lowered<[TileId; N]> {
    let mut ids = [TileId(0); N];
    for (id, name) in ids.iter_mut().zip(names) {
        *id = vector(lower, call, name)?;
    }
    for id in &ids[1..] {
        same(lower, call, ids[0], *id)?;
    }
    Ok(ids)
}

fn three(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let [a, b, c] = sources(lower, call, ["a", "b", "c"])?;
    Ok(Value::Tile(like(lower, call, a, &[("src0", a), ("src1", b), ("src2", c)])))
}

fn scalar_between(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let [a, b] = sources(lower, call, ["a", "b"])?;
    let elem = lower.tile(a).ty.layout.elem;
    let (number, span) = call.need(lower, "scalar")?;
    let number = scalar_for(lower, &number, elem, span)?;
    let target = lower.tile_like(a, elem, call.entry.names[0]);
    let [x, y, d] = [a, b, target].map(|id| lower.tile(id).value);
    lower.e.op(call.op(), &[("src0", &[x]), ("scalar", &[number]), ("src1", &[y]), ("dst", &[d])], &[], &[]);
    Ok(Value::Tile(target))
}

/// Working memory that may be passed to an op of two sources.
pub(super) fn with_tmp(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let a = vector(lower, call, "lhs")?;
    let b = match call.get("slope").cloned() {
        Some(slope) => slope,
        None => call.need(lower, "rhs")?,
    };
    let mut operands = Vec::new();
    if let Some((tmp, span)) = call.get("tmp").cloned() {
        operands.push(("tmp", lower.demand(&tmp, Space::Vec, span)?));
    }
    let elem = lower.tile(a).ty.layout.elem;
    if let Some(op) = call.entry.with_number.filter(|_| is_number(&b.0)) {
        let number = [scalar_for(lower, &b.0, elem, b.1)?];
        let target = lower.tile_like(a, elem, call.entry.names[0]);
        operands.push(("src", a));
        let values: Vec<_> = operands.iter().map(|(name, id)| (*name, [lower.tile(*id).value])).collect();
        let dst = [lower.tile(target).value];
        let mut groups: Vec<(&str, &[slipring_ir::ValueId])> = values.iter().map(|(n, v)| (*n, &v[..])).collect();
        groups.extend([
            (if call.entry.names[0] == "lrelu" { "slope" } else { "scalar" }, &number[..]),
            ("dst", &dst[..]),
        ]);
        lower.e.op(op, &groups, &[], &[]);
        return Ok(Value::Tile(target));
    }
    if call.entry.op.is_none() {
        return Err(call.wrong(lower, "rhs", "a number", &b.0, b.1));
    }
    let rhs = lower.demand(&b.0, Space::Vec, b.1)?;
    same(lower, call, a, rhs)?;
    operands.extend([("src0", a), ("src1", rhs)]);
    let target = lower.tile_like(a, elem, call.entry.names[0]);
    emit(lower, call.op(), &operands, target);
    Ok(Value::Tile(target))
}
