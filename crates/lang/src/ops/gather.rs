//! Elements moved by index, and sorting.

use slipring_ir::{Attr, Diagnostic, Span};
use slipring_pto as pto;
use slipring_tile::{Elem, Space};

use super::entry::{Call, ENTRY, entries};
use super::memory::valid_window;
use super::operands::vector;
use super::table::stepped;
use crate::dtype::DType;
use crate::lower::on_tiles::{emit, scalar_for};
use crate::lower::{Lower, Lowered};
use crate::value::{Const, Index, Tensor, TileId, Value, fold, show};

entries! {
    "gather_row" => "Load a window of a tensor into a part of a tile": ENTRY,
        params: "dst/acc, src, dst_offset, src_offset, shapes, transpose=, *, valid_shape=", op: Some(&pto::TLOAD),
        lower: gather_row;
    "gather" =>
        "Elements of a tile that indices name, counted over the tile; with `dim=-1` over each row; by a pattern or comparison":
        ENTRY,
        params: "src/tile, indices, tmp | input, dim, index | input, *, mask_pattern, output_dtype= \
                 | input, *, kvalue, cmp_mode=, out_cols, offset=, count_dtype=", op: Some(&pto::TGATHER),
        lower: gather;
    "gather_mask" => "Every second or fourth column, by a pattern of 1 (P0101) to 7 (P1111)": ENTRY,
        params: "input/src, mask_pattern, *, output_dtype=", op: Some(&pto::TGATHER), lower: gather_mask;
    "gather_compare" =>
        "The columns of each row whose elements are equal to, or greater than, a number, and how many they are":
        ENTRY, params: "input/src, kvalue, tmp, *, cmp_mode=, offset=, out_cols, count_dtype=",
        op: Some(&pto::TGATHER), lower: gather_compare;
    "gatherb" => "Blocks of 32 bytes of a tile, by byte offsets": ENTRY, params: "src, offset, *, output_dtype=",
        op: Some(&pto::TGATHERB), lower: gather_blocks;
    "scatter" =>
        "Elements put where indices say, counted over the tile, the rest 0; with `dim=-1` over each row, the rest as it was":
        ENTRY, params: "dst, src, indexes/indices | input, dim, index, src | input, *, mask_pattern, dst",
        op: Some(&pto::TSCATTER), lower: scatter;
    "scatter_mask" => "The columns of the first that a pattern names become those of the second, the rest as it was":
        ENTRY, params: "dst, src/input, mask_pattern", op: Some(&pto::TSCATTER), lower: scatter_mask;
}

fn gather_row(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    if call.flag(lower, "transpose")? {
        return Err(lower.unsupported(call.span, "`transpose` of `pl.gather_row`"));
    }
    let (dst, place) = call.need(lower, "dst")?;
    let Value::Tile(id) = dst else { return Err(call.wrong(lower, "dst", "a tile", &dst, place)) };
    let source: Tensor = match call.need(lower, "src")? {
        (Value::Tensor(tensor), _) => tensor,
        (other, span) => return Err(call.wrong(lower, "src", "a tensor", &other, span)),
    };
    let shape = call.need_shape(lower, "shapes")?;
    let (to, from) = (call.offsets(lower, "dst_offset")?, call.offsets(lower, "src_offset")?);
    if lower.tile(id).ty.space != Space::Vec {
        return Err(lower.unsupported(call.span, "`pl.gather_row` into another memory than UB"));
    }
    let window = valid_window(lower, call, &source, (&from, &shape), call.span)?;
    let part = match window.valid.as_deref() {
        None => lower.tile_window(id, &to, &shape, call.span)?,
        Some(valid) => counted_part(lower, call, id, (&to, &shape), *valid)?,
    };
    if window.elem != lower.tile(part).ty.layout.elem {
        return Err(lower.error("elem-types", call.span, "the tensor and the tile have other elements"));
    }
    let view = lower.window(&window);
    let target = lower.tile(part).value;
    lower.e.op(&pto::TLOAD, &[("src", &[view]), ("dst", &[target])], &[], &[]);
    Ok(Value::Tile(id))
}

/// A part of a tile that a window with this valid extent is loaded into: only the valid part must be inside the tile.
fn counted_part(
    lower: &mut Lower<'_>,
    call: &Call,
    id: TileId,
    (to, shape): (&[Index], &[u64]),
    valid: [Index; 2],
) -> Lowered<TileId> {
    let whole = lower.tile(id).shape.clone();
    let ([row, col], [rows, cols], [_, _]) = (to, shape, &whole[..]) else {
        let message =
            format!("`valid_shape` of `pl.gather_row` into a tile {}, which has two dimensions", show(&whole));
        return Err(lower.error("rank", call.span, message));
    };
    for (offset, (count, extent)) in to.iter().zip(valid.iter().zip(&whole)) {
        let least = |index: &Index| if let Index::Known(n) = index { *n } else { 0 };
        let (first, count) = (least(offset), least(count));
        if first < 0 || first.saturating_add(count) > *extent as i64 {
            let message =
                format!("elements {first} to {} lie outside a tile {}", first.saturating_add(count), show(&whole));
            return Err(lower.error("bounds", call.span, message));
        }
    }
    lower.still_there(id, call.span)?;
    let all = lower.whole_view(id);
    let part = lower.subset(all, ([*row, *col], [*rows, *cols]), shape, call.span)?;
    lower.with_valid(part, valid, call.span)
}

/// The maximum number of rows whose elements are gathered or scattered one by one.
const MOST_ROWS: u64 = 256;

/// Requires the last axis, the only one along which elements are moved.
fn last_axis(lower: &mut Lower<'_>, call: &Call, axis: &Value, span: Span, rank: usize) -> Lowered<()> {
    match axis {
        Value::Const(Const::Int(n)) if *n == -1 || *n == rank as i64 - 1 => Ok(()),
        other => Err(call.wrong(lower, "dim", "-1, the last one", other, span)),
    }
}

fn gather(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    if call.has("mask_pattern") {
        return gather_mask(lower, call);
    }
    if call.has("kvalue") {
        return gather_compare(lower, call);
    }
    // Both signatures with indices have three arguments.
    let by_row = match (call.has("dim"), call.has("indices")) {
        (true, _) => Some(("input", "dim", "index")),
        (_, true) if matches!(call.get("indices"), Some((Value::Const(Const::Int(_)), _))) => {
            Some(("src", "indices", "tmp"))
        }
        _ => None,
    };
    let Some((input, dim, index)) = by_row else {
        let (src, indices, tmp) =
            (vector(lower, call, "src")?, vector(lower, call, "indices")?, vector(lower, call, "tmp")?);
        let elem = lower.tile(src).ty.layout.elem;
        let shape = lower.tile(indices).shape.to_vec();
        let target = lower.new_tile(&shape, elem, Space::Vec, "gather");
        emit(lower, &pto::TGATHER, &[("src", src), ("indices", indices), ("tmp", tmp)], target);
        return Ok(Value::Tile(target));
    };
    let (src, indices) = (vector(lower, call, input)?, vector(lower, call, index)?);
    let (axis, span) = call.need(lower, dim)?;
    let (x, i) = (lower.tile(src).clone(), lower.tile(indices).clone());
    last_axis(lower, call, &axis, span, x.shape.len())?;
    let rows = rows_of(lower, call, &[src, indices])?;
    let [cols, count] = [&x.shape, &i.shape].map(|shape| fold(shape).1);
    let target = lower.new_tile(&i.shape, x.ty.layout.elem, Space::Vec, "gather");
    let tmp = lower.new_tile(&[1, count], i.ty.layout.elem, Space::Vec, "tmp");
    // Invalid rows have nothing to contribute, or no valid indices.
    let counting = x.valid.map_or(Index::Known(rows as i64), |valid| valid[0]);
    let [counting, named] = match i.valid {
        Some([of_indices, named]) => [lower.smaller(counting, of_indices), named],
        None => [counting, Index::Known(count as i64)],
    };
    let (src, indices) = (lower.whole_view(src), lower.whole_view(indices));
    let row = |lower: &mut Lower<'_>, row: Index| {
        let from = row_of(lower, src, row, cols, call.span)?;
        let mut own = [indices, target].map(|id| row_of(lower, id, row, count, call.span));
        if named != Index::Known(count as i64) {
            own = own.map(|id| lower.with_valid(id?, [Index::Known(1), named], call.span));
        }
        let [which, to] = own;
        emit(lower, &pto::TGATHER, &[("src", from), ("indices", which?), ("tmp", tmp)], to?);
        Ok(())
    };
    match counting {
        Index::Known(counting) => (0..counting).try_for_each(|at| row(lower, Index::Known(at)))?,
        counting => stepped(lower, (counting, 1), call.span, |lower, at| row(lower, Index::At(at)))?,
    }
    Ok(Value::Tile(lower.with_valid(target, [counting, named], call.span)?))
}

/// The number of rows of some tiles, which must be equal.
fn rows_of(lower: &mut Lower<'_>, call: &Call, tiles: &[TileId]) -> Lowered<u64> {
    let shapes: Vec<(u64, u64)> = tiles.iter().map(|id| fold(&lower.tile(*id).shape)).collect();
    let rows = shapes[0].0;
    if shapes.iter().any(|(other, _)| *other != rows) {
        let [x, y] = [0, shapes.len() - 1].map(|at| show(&lower.tile(tiles[at]).shape));
        let message = format!("`pl.{}` of tiles {x} and {y}: each row has its own indices", call.entry.names[0]);
        return Err(lower.error("shapes", call.span, message));
    }
    if rows > MOST_ROWS {
        let message = format!("`pl.{}` of {rows} rows, at most {MOST_ROWS} are compiled", call.entry.names[0]);
        return Err(lower.report(Diagnostic::error("too-large", call.span, message).help("take fewer rows in a loop")));
    }
    Ok(rows)
}

/// Like [`rows_of`], for tiles that must be entirely valid.
fn whole_rows(lower: &mut Lower<'_>, call: &Call, tiles: &[TileId]) -> Lowered<u64> {
    let rows = rows_of(lower, call, tiles)?;
    tiles.iter().try_for_each(|id| lower.wholly_valid(*id, "elements by index", call.span))?;
    Ok(rows)
}

fn row_of(lower: &mut Lower<'_>, id: TileId, row: Index, cols: u64, span: Span) -> Lowered<TileId> {
    lower.subset(id, ([row, Index::Known(0)], [1, cols]), &[1, cols], span)
}

/// The patterns by number, from 1 on, and the number of columns of which each keeps one.
const PATTERNS: [(&str, u64); 7] =
    [("P0101", 2), ("P1010", 2), ("P0001", 4), ("P0010", 4), ("P0100", 4), ("P1000", 4), ("P1111", 1)];

/// The pattern of a call: its name, its period in columns, and the column that it keeps.
fn pattern_of(lower: &mut Lower<'_>, call: &Call) -> Lowered<(&'static str, u64, u64)> {
    let number = call.int(lower, "mask_pattern")?.unwrap_or(0);
    let known = usize::try_from(number - 1).ok().and_then(|at| PATTERNS.get(at).map(|pattern| (at as u64, pattern)));
    let Some((at, (name, every))) = known else {
        let error = Diagnostic::error("argument", call.span, format!("there is no pattern {number}"))
            .help("the patterns are 1 (P0101) to 7 (P1111): `pl.tile.MaskPattern.P0101`");
        return Err(lower.report(error));
    };
    let first = match every {
        2 => at,
        4 => at - 2,
        _ => 0,
    };
    Ok((name, *every, first))
}

fn gather_mask(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let src = vector(lower, call, "input")?;
    let tile = lower.tile(src).clone();
    let (pattern, every, _) = pattern_of(lower, call)?;
    let elem = call.elem(lower, "output_dtype")?.unwrap_or(tile.ty.layout.elem);
    let mut shape = tile.shape.to_vec();
    let cols = shape.pop().unwrap_or(1);
    if !cols.is_multiple_of(every) {
        let message = format!("{cols} columns are not a multiple of the {every} of the pattern {pattern}");
        return Err(lower.error("shapes", call.span, message));
    }
    shape.push(cols / every);
    let target = lower.new_tile(&shape, elem, Space::Vec, "gather");
    let (src, dst) = (lower.tile(src).value, lower.tile(target).value);
    let attrs = [("maskPattern", Attr::member("mask_pattern", pattern))];
    lower.e.op(&pto::TGATHER, &[("src", &[src]), ("dst", &[dst])], &attrs, &[]);
    Ok(Value::Tile(target))
}

fn gather_compare(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let src = vector(lower, call, "input")?;
    let tile = lower.tile(src).clone();
    let mode = match call.get("cmp_mode").cloned() {
        None | Some((Value::Const(Const::Int(0)), _)) => "eq",
        Some((Value::Const(Const::Int(4)), _)) => "gt",
        Some((Value::Const(Const::Str(word)), _)) if &*word == "eq" => "eq",
        Some((Value::Const(Const::Str(word)), _)) if &*word == "gt" => "gt",
        Some((other, span)) => {
            return Err(call.wrong(lower, "cmp_mode", "\"eq\" or \"gt\", which the instruction has", &other, span));
        }
    };
    let (number, span) = call.need(lower, "kvalue")?;
    let number = scalar_for(lower, &number, tile.ty.layout.elem, span)?;
    let (count, span) = call.need(lower, "out_cols")?;
    let cols = match count {
        Value::Const(Const::Int(n @ 1..)) if n < 1 << 24 => n as u64,
        other => return Err(call.wrong(lower, "out_cols", "a positive constant integer", &other, span)),
    };
    let rows = fold(&tile.shape).0;
    let elem = call.elem(lower, "count_dtype")?.unwrap_or(Elem::I32);
    let tmp = match call.has("tmp") {
        true => vector(lower, call, "tmp")?,
        // Large enough for the data that the library of A2/A3 writes after as many bytes as it has elements.
        false => lower.new_tile(&[rows, 2 * fold(&tile.shape).1], Elem::I32, Space::Vec, "tmp"),
    };
    let target = lower.new_tile(&[rows, cols], elem, Space::Vec, "gather");
    let counts = lower.new_tile(&[1, rows], elem, Space::Vec, "counts");
    let [src, tmp, dst, cdst] = [src, tmp, target, counts].map(|id| lower.tile(id).value);
    let groups: [(&str, &[_]); 5] =
        [("src", &[src]), ("kValue", &[number]), ("tmp", &[tmp]), ("dst", &[dst]), ("cdst", &[cdst])];
    let offset = call.int(lower, "offset")?.unwrap_or(0);
    let attrs = [("cmpMode", Attr::member("cmp", mode)), ("offset", Attr::int(offset))];
    lower.e.op(&pto::TGATHER, &groups, &attrs, &[]);
    Ok(Value::Tuple(vec![Value::Tile(target), Value::Tile(counts)].into()))
}

fn gather_blocks(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (src, offsets) = (vector(lower, call, "src")?, vector(lower, call, "offset")?);
    let elem = call.elem(lower, "output_dtype")?.unwrap_or(lower.tile(src).ty.layout.elem);
    let mut shape = lower.tile(offsets).shape.to_vec();
    if let Some(last) = shape.last_mut() {
        *last *= 32 / elem.bytes().max(1) as u64;
    }
    let target = lower.new_tile(&shape, elem, Space::Vec, "gatherb");
    emit(lower, &pto::TGATHERB, &[("src", src), ("indices", offsets)], target);
    Ok(Value::Tile(target))
}

fn scatter(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    if call.has("mask_pattern") {
        return scatter_mask(lower, call);
    }
    if !call.has("dim") {
        let (target, place) = call.need(lower, "dst")?;
        let Value::Tile(id) = target else { return Err(call.wrong(lower, "dst", "a tile", &target, place)) };
        lower.still_there(id, place)?;
        let (src, indices) = (vector(lower, call, "src")?, vector(lower, call, "indexes")?);
        emit(lower, &pto::TSCATTER, &[("src", src), ("indices", indices)], id);
        lower.written_in_place(id, place)?;
        return Ok(target);
    }
    let (input, indices, src) =
        (vector(lower, call, "input")?, vector(lower, call, "index")?, vector(lower, call, "src")?);
    let (axis, span) = call.need(lower, "dim")?;
    let (x, i) = (lower.tile(input).clone(), lower.tile(indices).clone());
    last_axis(lower, call, &axis, span, x.shape.len())?;
    let rows = whole_rows(lower, call, &[input, indices, src])?;
    let count = fold(&i.shape).1;
    let which = (0..rows)
        .map(|row| row_of(lower, indices, Index::Known(row as i64), count, call.span))
        .collect::<Lowered<Vec<_>>>()?;
    scattered(lower, call, (input, src), &which)
}

/// The first tile with the elements of each row of the second one written to the columns in a row of indices.
fn scattered(lower: &mut Lower<'_>, call: &Call, (input, src): (TileId, TileId), which: &[TileId]) -> Lowered {
    let x = lower.tile(input).clone();
    let count = which.first().map_or(1, |which| fold(&lower.tile(*which).shape).1);
    let (cols, elem) = (fold(&x.shape).1, x.ty.layout.elem);
    // The instruction clears elements that it does not write: scattering ones shows where it wrote.
    let [values, marks] = [(); 2].map(|()| lower.new_tile(&x.shape, elem, Space::Vec, "scatter"));
    let ones = lower.new_tile(&[1, count], elem, Space::Vec, "full");
    let one = scalar_for(lower, &Value::Const(Const::Int(1)), elem, call.span)?;
    let dst = lower.tile(ones).value;
    lower.e.op(&pto::TEXPANDS, &[("scalar", &[one]), ("dst", &[dst])], &[], &[]);
    for (row, which) in which.iter().enumerate() {
        let from = row_of(lower, src, Index::Known(row as i64), count, call.span)?;
        let [to, mark] = [values, marks].map(|id| row_of(lower, id, Index::Known(row as i64), cols, call.span));
        emit(lower, &pto::TSCATTER, &[("src", from), ("indices", *which)], to?);
        emit(lower, &pto::TSCATTER, &[("src", ones), ("indices", *which)], mark?);
    }
    let how = Value::Const(Const::Str("ne".into()));
    let mask = lower.call_by_name("cmp", vec![Value::Tile(marks), Value::Const(Const::Int(0)), how], call.span)?;
    lower.call_by_name("sel", vec![mask, Value::Tile(values), Value::Tile(input)], call.span)
}

fn scatter_mask(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let name = if call.entry.names[0] == "scatter" { "input" } else { "src" };
    let (dst, src) = (vector(lower, call, "dst")?, vector(lower, call, name)?);
    let (pattern, every, first) = pattern_of(lower, call)?;
    let (x, y) = (lower.tile(dst).clone(), lower.tile(src).clone());
    let rows = whole_rows(lower, call, &[dst, src])?;
    let [cols, count] = [&x.shape, &y.shape].map(|shape| fold(shape).1);
    if cols != count * every || x.ty.layout.elem != y.ty.layout.elem {
        let message =
            format!("{} elements go to every {every}. column of {} ({pattern})", show(&y.shape), show(&x.shape));
        return Err(lower.error("shapes", call.span, message));
    }
    let elem = if x.ty.layout.elem.bytes() == 4 { Elem::I32 } else { Elem::I16 };
    let columns = lower.new_tile(&[1, count], elem, Space::Vec, "columns");
    let (start, dst_value) =
        (lower.number(&Value::Const(Const::Int(0)), DType::Elem(elem), call.span)?, lower.tile(columns).value);
    lower.e.op(&pto::TCI, &[("start", &[start]), ("dst", &[dst_value])], &[], &[]);
    let by = |n: u64| Value::Const(Const::Int(n as i64));
    let columns = lower.call_by_name("muls", vec![Value::Tile(columns), by(every)], call.span)?;
    let columns = lower.call_by_name("adds", vec![columns, by(first)], call.span)?;
    let columns = lower.demand(&columns, Space::Vec, call.span)?;
    scattered(lower, call, (dst, src), &vec![columns; rows as usize])
}
