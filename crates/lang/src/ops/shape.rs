//! Creation of tiles, and views of tiles with another shape.

use slipring_ir::{Attr, Diagnostic, Type, ValueId};
use slipring_pto as pto;
use slipring_tile::Space;

use super::entry::{Call, ENTRY, Entry, entries};
use super::operands::vector;
use super::reshape::{reshape, view};
use crate::lower::on_tiles::scalar_for;
use crate::lower::{Lower, Lowered};
use crate::value::{Index, TileId, Value, show};
use crate::words::{Means, followed_as, followed_with};

const PADDED: Entry = Entry { params: "x/value/tile/tensor, pad_value=", lower: fillpad, ..ENTRY };

entries! {
    "create_tile" | "tile.create" | "create" => "An uninitialised tile": ENTRY,
        params: "shape, dtype, target_memory=, transpose=, *, flat_layout=", lower: create;
    "full" => "A tile of one number": ENTRY, params: "shape, dtype, value", lower: full;
    "expands" => "A tile like another one, of one number": ENTRY, params: "target, scalar", lower: expands;
    "ci" | "arange" => "Consecutive integers; as floats by `pl.cast`": ENTRY,
        params: "start, shape, dtype=, descending=", op: Some(&pto::TCI), lower: super::composed::consecutive;
    "reshape" => "The same elements, row by row, in another shape": ENTRY, params: "x/input/tile/tensor, shape",
        lower: reshape, followed: followed_as(Means::Reshape);
    "view" | "tensor.view" => "The same elements in another shape: `reshape`": ENTRY,
        params: "x/tensor, shape=, valid_shape=, *, layout=", lower: view,
        followed: followed_with("x/tensor, shape=, valid_shape=, *, offset=, layout=", Means::View);
    "expand_clone" =>
        "A tile like the second in which the first's single row or column is repeated; where that is an output, it is written":
        ENTRY, params: "src, target", lower: expand_clone;
    "broadcast_to" => "A single row or column repeated to a shape": ENTRY, params: "x/input, shape",
        lower: super::expand::broadcast_to;
    "transpose" => "Rows become columns": ENTRY, params: "x/input/tile/tensor, axis1=, axis2=, tmp_tile=",
        op: Some(&pto::TTRANS), lower: transpose, followed: followed_as(Means::Transpose);
    "slice" => "A part of a tensor or tile": ENTRY,
        params: "x/input/tile/tensor, shape, offset, valid_shape=, drop_dims=, pad_value=, clamp=", lower: slice,
        followed: followed_as(Means::Slice);
    "row_expand" => "A tile like the first with the second's value of each row": ENTRY,
        params: "x/lhs/target, values/rhs/row_vec, tmp=", op: Some(&pto::TROWEXPAND), lower: repeat;
    "col_expand" => "A tile like the first with the second's value of each column": ENTRY,
        params: "x/lhs/target/tensor, values/rhs/col_vec", op: Some(&pto::TCOLEXPAND), lower: repeat;
    "set_validshape" => "The same tile with only its first rows and columns valid": ENTRY,
        params: "x/input/tile/tensor, rows/valid_rows, cols/valid_cols", op: Some(&pto::SET_VALIDSHAPE),
        lower: set_valid;
    "fillpad" =>
        "A copy of which all elements count: those outside the valid shape are zero, or the smallest or largest value":
        PADDED, op: Some(&pto::TFILLPAD);
    "fillpad_inplace" => "The same; the tile itself stays as it is": PADDED, op: Some(&pto::TFILLPAD);
    "fillpad_expand" => "A copy in a larger tile, the rest filled": PADDED,
        params: "x/value/tile/tensor, shape, pad_value=", op: Some(&pto::TFILLPAD_EXPAND);
    "tri" => "Ones up to a diagonal, zeros after it; with `upper` from it on": ENTRY,
        params: "diagonal, shape, valid_shape=, dtype=, upper=", op: Some(&pto::TTRI), lower: triangle;
    "reinterpret_view" => "The same bytes as elements of another type": ENTRY, params: "x/data, dtype, *, shape=",
        op: Some(&pto::TRESHAPE), lower: reinterpret;
    "create_l1" => "An uninitialised tile for an operand of a product, which `gather_row` fills": ENTRY,
        params: "shape, dtype, transpose=", lower: create_l1;
    "concat" => "Two tiles side by side": ENTRY, params: "a/src0, b/src1", op: Some(&pto::TCONCAT), lower: concat;
}

fn create(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let shape = call.need_shape(lower, "shape")?;
    let elem = call.need_elem(lower, "dtype")?;
    let space = call.space(lower, "target_memory")?.unwrap_or(Space::Vec);
    if call.flag(lower, "transpose")? {
        return Err(lower.unsupported(call.span, "`transpose` of a new tile"));
    }
    if !call.flag(lower, "flat_layout")? {
        return Ok(Value::Tile(lower.new_tile(&shape, elem, space, "create_tile")));
    }
    let flat = crate::lower::Place::of(space).with(Some("row_major"), Some("none_box"));
    match flat.filter(|_| space == Space::Mat) {
        Some(place) => Ok(Value::Tile(lower.new_tile_in(&shape, place, elem, "create_tile"))),
        None => {
            let error = Diagnostic::error("argument", call.span, format!("`flat_layout` of a tile in `{space}`"))
                .help("it is for tiles of L1: `target_memory=pl.Mem.Mat`; those of UB lie line by line anyway");
            Err(lower.report(error))
        }
    }
}

fn create_l1(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    if call.flag(lower, "transpose")? {
        return Err(lower.unsupported(call.span, "`transpose` of `pl.create_l1`"));
    }
    let (shape, elem) = (call.need_shape(lower, "shape")?, call.need_elem(lower, "dtype")?);
    // Rows are gathered into UB, and moved on when the whole is used.
    Ok(Value::Tile(lower.new_tile(&shape, elem, Space::Vec, "create_l1")))
}

fn set_valid(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (value, span) = call.need(lower, "x")?;
    let id = match &value {
        Value::Tile(id) => *id,
        other => lower.demand(other, Space::Vec, span)?,
    };
    let mut valid = [Index::Known(0); 2];
    for (extent, name) in valid.iter_mut().zip(["rows", "cols"]) {
        let (value, span) = call.need(lower, name)?;
        *extent = lower.index(&value, span)?;
    }
    lower.with_valid(id, valid, call.span).map(Value::Tile)
}

fn fillpad(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (value, span) = call.need(lower, "x")?;
    let id = match &value {
        Value::Tile(id) => *id,
        other => lower.demand(other, Space::Vec, span)?,
    };
    let pad = match call.padding(lower, "pad_value")? {
        Some("max") => 2,
        Some("min") => 3,
        Some("null") => {
            let error = Diagnostic::error("argument", call.span, "`pl.PadValue.null` fills nothing");
            return Err(lower.report(error.help("write `pl.PadValue.zero`, `min` or `max`")));
        }
        _ => 1,
    };
    let tile = lower.tile(id).clone();
    let expand = call.entry.op == Some(&pto::TFILLPAD_EXPAND);
    let shape = if expand { call.need_shape(lower, "shape")? } else { tile.shape.to_vec() };
    if fold_exceeds(&tile.shape, &shape) {
        let message = format!("a tile {} is put into one of {}", show(&tile.shape), show(&shape));
        return Err(lower.error("shapes", call.span, message));
    }
    let place = crate::lower::Place::of(tile.ty.space);
    let ty = slipring_ir::TileType { pad, ..place.tile_type(&shape, tile.ty.layout.elem) };
    let buffer = lower.buffer(ty);
    let target = lower.add_tile(buffer, ty, &shape, "fillpad");
    crate::lower::on_tiles::emit(lower, call.op(), &[("src", id)], target);
    Ok(Value::Tile(target))
}

/// True if a shape has more rows or columns than another.
fn fold_exceeds(a: &[u64], b: &[u64]) -> bool {
    let (a, b) = (crate::value::fold(a), crate::value::fold(b));
    a.0 > b.0 || a.1 > b.1
}

fn triangle(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let shape = call.need_shape(lower, "shape")?;
    let elem = call.elem(lower, "dtype")?.unwrap_or(slipring_tile::Elem::I32);
    let (diagonal, span) = call.need(lower, "diagonal")?;
    let diagonal = lower.number(&diagonal, crate::dtype::DType::Elem(slipring_tile::Elem::I32), span)?;
    let upper = i64::from(call.flag(lower, "upper")?);
    let target = match call.get("valid_shape") {
        None => lower.new_tile(&shape, elem, Space::Vec, "tri"),
        Some(_) => match call.offsets(lower, "valid_shape")?[..] {
            [rows, cols] => {
                lower.valid_fits([rows, cols], &shape, call.span)?;
                lower.new_valid_tile(&shape, elem, Space::Vec, [rows, cols], "tri")
            }
            _ => return Err(lower.error("argument", call.span, "`valid_shape` has two extents")),
        },
    };
    let dst = lower.tile(target).value;
    lower.e.op(call.op(), &[("diagonal", &[diagonal]), ("dst", &[dst])], &[("upperOrLower", Attr::int(upper))], &[]);
    Ok(Value::Tile(target))
}

fn reinterpret(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (value, span) = call.need(lower, "x")?;
    let elem = call.need_elem(lower, "dtype")?;
    let id = match &value {
        Value::Tile(id) => *id,
        Value::Tensor(_) => lower.demand(&value, Space::Vec, span)?,
        other => return Err(call.wrong(lower, "x", "a tile", other, span)),
    };
    lower.still_there(id, span)?;
    let id = if lower.tile(id).valid.is_none() { lower.dense(id) } else { id };
    let tile = lower.tile(id).clone();
    let (from, to) = (tile.ty.layout.elem.bytes() as u64, elem.bytes() as u64);
    let mut shape = tile.shape.to_vec();
    if let Some(last) = shape.last_mut() {
        *last = *last * from / to.max(1);
    }
    if let Some(asked) = call.shape(lower, "shape")? {
        shape = asked;
    }
    let ty = crate::lower::Place::of(tile.ty.space).tile_type(&shape, elem);
    let bytes = |shape: &[u64], size: u64| shape.iter().product::<u64>() * size;
    if bytes(&shape, to) != bytes(&tile.shape, from)
        || ty.layout.bytes() != tile.ty.layout.bytes()
        || tile.valid.is_some() && (from, &shape[..]) != (to, &tile.shape[..])
    {
        let message = format!("a tile {} cannot be looked at as {} of that type", show(&tile.shape), show(&shape));
        return Err(lower.error("reshape", call.span, message));
    }
    let view = lower.e.value(&pto::TRESHAPE, &[("src", &[tile.value])], &[], Type::Tile(ty));
    let view = lower.add_tile(view, ty, &shape, "reinterpret_view");
    lower.held.tiles[view.0 as usize].region = tile.region.or(lower.open.region);
    match tile.valid {
        None => Ok(Value::Tile(view)),
        // Elements of the same size: as many of them count.
        Some(valid) => lower.with_valid(view, valid, call.span).map(Value::Tile),
    }
}

fn full(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let shape = call.need_shape(lower, "shape")?;
    let elem = call.need_elem(lower, "dtype")?;
    let (value, span) = call.need(lower, "value")?;
    let number = scalar_for(lower, &value, elem, span)?;
    let target = lower.new_tile(&shape, elem, Space::Vec, "full");
    Ok(filled(lower, target, number))
}

fn expands(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let model = vector(lower, call, "target")?;
    let elem = lower.tile(model).ty.layout.elem;
    let (value, span) = call.need(lower, "scalar")?;
    let number = scalar_for(lower, &value, elem, span)?;
    // As much of it counts.
    let target = lower.tile_like(model, elem, "full");
    Ok(filled(lower, target, number))
}

/// Sets the elements of a new tile to one number.
fn filled(lower: &mut Lower<'_>, target: TileId, number: ValueId) -> Value {
    let dst = lower.tile(target).value;
    lower.e.op(&pto::TEXPANDS, &[("scalar", &[number]), ("dst", &[dst])], &[], &[]);
    Value::Tile(target)
}

fn expand_clone(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (source, (target, place)) = (vector(lower, call, "src")?, call.need(lower, "target")?);
    lower.wholly_valid(source, "a broadcast", call.span)?;
    let (have, want) = (lower.tile(source).shape.to_vec(), lower.shape_of(&target));
    let (of_source, of_target) = (crate::value::fold(&have), crate::value::fold(&want));
    let fits = |own: u64, wanted: u64| own == wanted || own == 1;
    if !fits(of_source.0, of_target.0) || !fits(of_source.1, of_target.1) {
        let message = format!("{} cannot be repeated to {}", show(&have), show(&want));
        return Err(lower.error("shapes", call.span, message));
    }
    let made = match of_source == of_target {
        true => Value::Tile(lower.copy_to(source, Space::Vec)),
        false => Value::Tile(super::expand::repeated(lower, source, &want)),
    };
    match &target {
        // An output is written; of an input only the shape is used.
        Value::Tensor(tensor) if lower.tensors.roots[tensor.root].writable => {
            lower.store(&made, tensor, false, place)?;
            Ok(target)
        }
        _ => Ok(made),
    }
}

fn transpose(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (value, span) = call.need(lower, "x")?;
    let rank = lower.shape_of(&value).len();
    let axes = exchanged(lower, call, rank)?;
    if let Value::Tile(id) = value
        && lower.tile(id).ty.space == Space::Mat
        && rank == 2
    {
        call.idle_memory(lower, "tmp_tile", "a tile of L1 is read the other way round")?;
        return lower.demand_transposed(&value, Space::Mat, span).map(Value::Tile);
    }
    let source = vector(lower, call, "x")?;
    if let (Some([rows, cols]), 2) = (lower.tile(source).valid, rank) {
        // In a tail, all elements are exchanged, and the valid shape is set again.
        let pad = Value::Const(crate::value::Const::Int(0));
        let whole = lower.call_by_name("fillpad", vec![Value::Tile(source), pad], call.span)?;
        let exchanged = lower.call_by_name("transpose", vec![whole], call.span)?;
        let id = lower.demand(&exchanged, Space::Vec, call.span)?;
        return lower.with_valid(id, [cols, rows], call.span).map(Value::Tile);
    }
    lower.wholly_valid(source, "a transpose", call.span)?;
    let tile = lower.tile(source).clone();
    let (elem, rank) = (tile.ty.layout.elem, tile.shape.len());
    let [first, second] = axes;
    if second - first != 1 || second + 1 != rank {
        let message = format!("a transpose of the axes {first} and {second} of a tile {}", show(&tile.shape));
        return Err(lower.unsupported(call.span, message));
    }
    let (rows, cols) = (tile.shape[first], tile.shape[second]);
    let mut shape = tile.shape.to_vec();
    shape.swap(first, second);
    let target = lower.new_tile(&shape, elem, Space::Vec, "transpose");
    let tmp = match call.get("tmp_tile").cloned() {
        Some((value @ Value::Tile(_), span)) => lower.demand(&value, Space::Vec, span)?,
        Some((other, span)) => return Err(call.wrong(lower, "tmp_tile", "a tile", &other, span)),
        None => {
            // The library transposes whole blocks: 32 bytes along the rows, and 16 rows or, for single bytes, 32.
            let (high, wide) = (if elem.bytes() == 1 { 32 } else { 16 }, 32 / elem.bytes() as u64);
            lower.new_tile(&[cols.next_multiple_of(wide), rows.next_multiple_of(high)], elem, Space::Vec, "tmp")
        }
    };
    // One matrix after the other: they are stacked vertically.
    let count = tile.shape[..first].iter().product::<u64>() as i64;
    for at in 0..count {
        let part = |lower: &mut Lower<'_>, id, rows: u64, cols: u64| match count {
            1 => Ok(id),
            _ => {
                let begin = [Index::Known(at * rows as i64), Index::Known(0)];
                lower.subset(id, (begin, [rows, cols]), &[rows, cols], call.span)
            }
        };
        let (from, to) = (part(lower, source, rows, cols)?, part(lower, target, cols, rows)?);
        crate::lower::on_tiles::emit(lower, &pto::TTRANS, &[("src", from), ("tmp", tmp)], to);
    }
    Ok(Value::Tile(target))
}

/// The two axes that a transpose exchanges, in order: the given ones, else the last two.
fn exchanged(lower: &mut Lower<'_>, call: &Call, rank: usize) -> Lowered<[usize; 2]> {
    let mut axes = [rank.saturating_sub(2), rank.saturating_sub(1)];
    let named = ["axis1", "axis2"].map(|name| call.has(name));
    if named[0] != named[1] {
        return Err(lower.error("argument", call.span, "`pl.transpose` takes both axes, or none"));
    }
    for (axis, name) in axes.iter_mut().zip(["axis1", "axis2"]) {
        let Some(n) = call.int(lower, name)? else { continue };
        let place = if n < 0 { n + rank as i64 } else { n };
        match usize::try_from(place).ok().filter(|place| *place < rank) {
            Some(place) => *axis = place,
            None => return Err(lower.error("bounds", call.span, format!("there is no axis {n}"))),
        }
    }
    axes.sort_unstable();
    if axes[0] == axes[1] {
        return Err(lower.error("argument", call.span, "a transpose exchanges two axes, and these are one"));
    }
    Ok(axes)
}

fn slice(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    // Invalid elements never have a value: `fillpad` fills them.
    call.padding(lower, "pad_value")?;
    let (value, span) = call.need(lower, "x")?;
    let shape = call.need_shape(lower, "shape")?;
    let offsets: Vec<Index> = call.offsets(lower, "offset")?;
    let dropped = dropped_dims(lower, call, &shape)?;
    match &value {
        Value::Tensor(tensor) => {
            let tensor = tensor.clone();
            let mut window = super::memory::valid_window(lower, call, &tensor, (&offsets, &shape), span)?;
            let kept: Vec<usize> = (0..window.sizes.len()).filter(|at| !window.dropped[*at]).collect();
            for dim in dropped {
                window.dropped[kept[dim]] = true;
            }
            Ok(Value::Tensor(window))
        }
        Value::Tile(id) => {
            // An empty list means none, as the language prints it.
            let valid = call.has("valid_shape").then(|| call.offsets(lower, "valid_shape")).transpose()?;
            let valid = valid.filter(|valid| !valid.is_empty());
            let mut part = lower.window_of_tile(*id, (&offsets, &shape), valid.is_none(), span)?;
            if let Some(valid) = valid {
                if valid.len() != shape.len() {
                    return Err(lower.error("argument", call.span, "`valid_shape` has an extent for each dimension"));
                }
                if let Some(mut valid) = lower.folded_valid(&valid, &shape, call.span)? {
                    // A part is never valid where the tile is not.
                    if let Some(own) = lower.tile(part).valid {
                        lower.valid_fits(valid, &shape, call.span)?;
                        valid = [lower.smaller(valid[0], own[0]), lower.smaller(valid[1], own[1])];
                    }
                    part = lower.with_valid(part, valid, call.span)?;
                }
            }
            // A tile has at least two dimensions, and its last one is its columns.
            let left: Vec<u64> = (0..shape.len()).filter(|dim| !dropped.contains(dim)).map(|dim| shape[dim]).collect();
            if left.len() >= 2 && left.last() == shape.last() && left.len() < shape.len() {
                part = lower.renewed(part);
                lower.held.tiles[part.0 as usize].shape = left.into_iter().collect();
            }
            Ok(Value::Tile(part))
        }
        other => Err(call.wrong(lower, "x", "a tensor or a tile", other, span)),
    }
}

/// The dimensions that a part drops: each has one element.
fn dropped_dims(lower: &mut Lower<'_>, call: &Call, shape: &[u64]) -> Lowered<Vec<usize>> {
    let Some((value, span)) = call.get("drop_dims").cloned() else { return Ok(Vec::new()) };
    let items = match value {
        Value::Tuple(items) => items.into(),
        single => vec![single],
    };
    let mut dims = Vec::new();
    for item in items {
        let axis = lower.known_int(&item, "a dimension to leave out", span)?;
        let dim = if axis < 0 { axis + shape.len() as i64 } else { axis };
        match usize::try_from(dim).ok().filter(|dim| shape.get(*dim) == Some(&1)) {
            Some(dim) => dims.push(dim),
            None => {
                let message = format!("dimension {axis} of {} is not one element", show(shape));
                return Err(lower.error("argument", span, message));
            }
        }
    }
    Ok(dims)
}

fn repeat(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let model = vector(lower, call, "x")?;
    let values = vector(lower, call, "values")?;
    call.idle_memory(lower, "tmp", "this instruction needs no working memory")?;
    let tile = lower.tile(model).clone();
    let target = lower.tile_like(model, tile.ty.layout.elem, call.entry.names[0]);
    crate::lower::on_tiles::emit(lower, call.op(), &[("src", values)], target);
    Ok(Value::Tile(target))
}

fn concat(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (a, b) = (vector(lower, call, "a")?, vector(lower, call, "b")?);
    let (x, y) = (lower.tile(a).clone(), lower.tile(b).clone());
    // Whole columns of as many rows stand side by side as whole tiles do.
    let rows_of = |tile: &crate::value::Tile| {
        let [rows, cols] = tile.valid?;
        (cols == Index::Known(*tile.shape.last()? as i64)).then_some(rows)
    };
    let alike = rows_of(&x).filter(|rows| rows_of(&y) == Some(*rows));
    if alike.is_none() {
        for id in [a, b] {
            lower.wholly_valid(id, "a concatenation", call.span)?;
        }
    }
    let ([rows, left], [other, right]) = (&x.shape[..], &y.shape[..]) else {
        return Err(lower.unsupported(call.span, "tiles side by side that have not two dimensions"));
    };
    if rows != other {
        let message = format!("tiles {} and {} side by side", show(&x.shape), show(&y.shape));
        return Err(lower.error("shapes", call.span, message));
    }
    let (shape, elem) = ([*rows, left + right], x.ty.layout.elem);
    let target = match alike {
        None => lower.new_tile(&shape, elem, Space::Vec, "concat"),
        Some(count) => {
            let valid = [count, Index::Known(shape[1] as i64)];
            lower.new_valid_tile(&shape, elem, Space::Vec, valid, "concat")
        }
    };
    crate::lower::on_tiles::emit(lower, &pto::TCONCAT, &[("src0", a), ("src1", b)], target);
    Ok(Value::Tile(target))
}
