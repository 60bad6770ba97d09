//! Moves between global memory and tiles, and between the memories of a core.

use std::rc::Rc;

use slipring_ir::{Diagnostic, Span};
use slipring_pto as pto;
use slipring_tile::Space;

use super::entry::{Call, ENTRY, REFUSED, entries};
use super::own::{assembled_in_memory, create_tensor, through_memory};
use crate::dtype::DType;
use crate::lower::{Lower, Lowered};
use crate::value::{Index, Parts, Tensor, TileId, Value};
use crate::words::{Means, followed_as};

entries! {
    "load" => "Load a window of a tensor into a tile": ENTRY,
        params: "tensor, offsets, shapes, valid_shape=, target_memory=, clamp=", op: Some(&pto::TLOAD), lower: load;
    "store" => "Store a tile into a window of a tensor": ENTRY,
        params: "tile, offsets, tensor/output_tensor, shapes=, *, atomic=, clamp=", op: Some(&pto::TSTORE),
        lower: store;
    "assemble" => "Store a tile into a window of a tensor, or put it into a larger tile": ENTRY,
        params: "target, source, offset, *, atomic=", op: Some(&pto::TSTORE), lower: assemble,
        followed: followed_as(Means::Assemble);
    "move" => "Move a tile to another memory": ENTRY, params: "tile, target_memory, blayout=, slayout=",
        op: Some(&pto::TMOV), lower: move_tile;
    "extract" => "A window of a tile, copied out, also to L0A and L0B": ENTRY,
        params: "src, row/index_row, col/index_col, shape, *, target_memory=", op: Some(&pto::TEXTRACT),
        lower: extract;
    "alloc" => "Memory without a shape": REFUSED;
    "create_tensor" | "tensor.create" =>
        "A tensor of the kernel's own in global memory: one more buffer of the launch":
        ENTRY, params: "shape, dtype, layout=, manual_dep=, init_value=", lower: create_tensor,
        followed: followed_as(Means::CreateTensor);
    "transpose_view" => "A tile of L1 with rows and columns exchanged: the same bytes": ENTRY, params: "tile",
        op: Some(&pto::TRESHAPE), lower: transpose_view;
    "read" => "Read one element": ENTRY, params: "src/tile/tensor, offset/indices", op: Some(&pto::LOAD_SCALAR),
        lower: read, followed: followed_as(Means::Read);
    "write" => "Write one element": ENTRY, params: "dst/tile/tensor, offset/indices, value",
        op: Some(&pto::STORE_SCALAR), lower: write, followed: followed_as(Means::Write);
    "dim" => "An extent": ENTRY, params: "tensor, axis", lower: dim, followed: followed_as(Means::Dim);
}

pub(super) fn tensor(lower: &mut Lower<'_>, call: &Call, name: &str) -> Lowered<(Tensor, slipring_ir::Span)> {
    match call.need(lower, name)? {
        (Value::Tensor(tensor), span) => Ok((tensor, span)),
        (other, span) => Err(call.wrong(lower, name, "a tensor", &other, span)),
    }
}

fn load(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let source = tensor(lower, call, "tensor")?;
    load_from(lower, call, source, "shapes")
}

/// The window of a tensor that a call loads; `shapes` is the name of the argument with the extents.
pub(super) fn load_from(lower: &mut Lower<'_>, call: &Call, (source, span): (Tensor, Span), shapes: &str) -> Lowered {
    let offsets = call.offsets(lower, "offsets")?;
    let shape = call.need_shape(lower, shapes)?;
    let space = call.space(lower, "target_memory")?.unwrap_or(Space::Vec);
    if !matches!(space, Space::Vec | Space::Mat) {
        let error = Diagnostic::error("no-way", call.span, format!("a tile is not loaded into `{space}`"))
            .help("load it into Vec or Mat, and `pl.move` it on from there");
        return Err(lower.report(error));
    }
    let window = valid_window(lower, call, &source, (&offsets, &shape), span)?;
    let tile = lower.load(&window, space)?;
    lower.note_image(tile, &window, false);
    Ok(Value::Tile(tile))
}

/// A window of a tensor whose valid extent is given by `valid_shape`.
pub(super) fn valid_window(
    lower: &mut Lower<'_>,
    call: &Call,
    source: &Tensor,
    (offsets, shape): (&[Index], &[u64]),
    span: Span,
) -> Lowered<Tensor> {
    let clamp = call.has("clamp") && call.flag(lower, "clamp")?;
    // An empty list means none, as the language prints it.
    let given = call.has("valid_shape").then(|| call.offsets(lower, "valid_shape")).transpose()?;
    let given = given.filter(|valid| !valid.is_empty());
    if given.is_none() && !clamp {
        return lower.tensor_window(source, offsets, shape, span);
    }
    let mut valid = given.unwrap_or_else(|| shape.iter().map(|n| Index::Known(*n as i64)).collect());
    let whole = source.shape();
    if valid.len() != shape.len() || offsets.len() != shape.len() || whole.len() != shape.len() {
        let message = format!(
            "`valid_shape` has an extent for each dimension: {} of {}, in a tensor of {}",
            valid.len(),
            shape.len(),
            whole.len()
        );
        return Err(lower.error("argument", call.span, message));
    }
    if clamp {
        // Elements past the end of the tensor are invalid.
        for ((valid, offset), extent) in valid.iter_mut().zip(offsets).zip(&whole) {
            *valid = match (*valid, *offset) {
                // Made once, so that two operands with the same tail are known to have equal extents.
                (Index::Known(size @ 0..), Index::At(_)) => lower.tail(*offset, size as u64, *extent),
                (own, offset) => {
                    let left = lower.less(Index::Known(*extent as i64), offset);
                    lower.smaller(own, left)
                }
            };
        }
    }
    for (extent, most) in valid.iter().zip(shape) {
        lower.valid_fits([*extent, Index::Known(0)], &[*most, 1], call.span)?;
    }
    counting_window(lower, source, (offsets, shape, &valid), span)
}

/// A window with this valid extent, which is no larger than what is valid of its source.
pub(super) fn counting_window(
    lower: &mut Lower<'_>,
    source: &Tensor,
    (offsets, shape, valid): (&[Index], &[u64], &[Index]),
    span: Span,
) -> Lowered<Tensor> {
    let window = lower.counted_window(source, offsets, shape, valid, span)?;
    let valid = match (lower.folded_valid(valid, shape, span)?, window.valid.as_deref()) {
        (Some(said), Some(own)) => Some([lower.smaller(said[0], own[0]), lower.smaller(said[1], own[1])]),
        (said, own) => said.or(own.copied()),
    };
    Ok(Tensor { valid: valid.map(Box::new), ..window })
}

fn store(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (mut tile, span) = call.need(lower, "tile")?;
    let (target, _) = tensor(lower, call, "tensor")?;
    tile = truths_for(lower, tile, &target, span)?;
    let offsets = call.offsets(lower, "offsets")?;
    let given = call.shape(lower, "shapes")?;
    if call.flag(lower, "clamp")? {
        if given.is_some() {
            return Err(lower.error(
                "argument",
                call.span,
                "`shapes` and `clamp` exclude each other: both say how much is stored",
            ));
        }
        let shape = stored_shape(lower, &tile, &target, &offsets);
        let window = valid_window(lower, call, &target, (&offsets, &shape), span)?;
        tile = lower.cut_to(&tile, &window, span)?.unwrap_or(tile);
    }
    let shape = match given {
        Some(shape) => shape,
        None => stored_shape(lower, &tile, &target, &offsets),
    };
    put(lower, call, &tile, &target, &offsets, &shape, span)
}

/// Stores a tile into the window of a tensor from offsets on.
pub(super) fn store_at(
    lower: &mut Lower<'_>,
    call: &Call,
    (tile, target): (&Value, &Tensor),
    offsets: &[Index],
    span: Span,
) -> Lowered {
    let tile = &truths_for(lower, tile.clone(), target, span)?;
    let shape = stored_shape(lower, tile, target, offsets);
    put(lower, call, tile, target, offsets, &shape, span)
}

/// A tile to store into a tensor: a mask is a byte for each element if the tensor holds booleans.
fn truths_for(lower: &mut Lower<'_>, value: Value, target: &Tensor, span: Span) -> Lowered {
    match value {
        Value::Tile(id) if lower.tensors.roots[target.root].truths => {
            crate::lower::masks::truths(lower, id, span).map(Value::Tile)
        }
        value => Ok(value),
    }
}

/// The shape of a tile as a window of a tensor with so many dimensions.
fn window_shape(lower: &Lower<'_>, value: &Value, rank: usize) -> Vec<u64> {
    let shape = lower.shape_of(value);
    if shape.len() == rank {
        return shape;
    }
    let mut shape: Vec<u64> = shape.into_iter().filter(|n| *n != 1).collect();
    while shape.len() < rank {
        shape.insert(0, 1);
    }
    shape
}

/// True for a shape whose last two extents are the rows and columns of its tile: all earlier ones are 1.
fn folds_into_rows(shape: &[u64]) -> bool {
    shape.iter().rev().skip(2).all(|extent| *extent == 1)
}

/// The shape of the window that a tile is stored into, from its valid shape.
fn stored_shape(lower: &Lower<'_>, value: &Value, target: &Tensor, offsets: &[Index]) -> Vec<u64> {
    let whole = target.shape();
    let mut shape = window_shape(lower, value, whole.len());
    let Value::Tile(id) = value else { return shape };
    let Some(valid) = lower.tile(*id).valid.filter(|_| folds_into_rows(&lower.tile(*id).shape)) else { return shape };
    let (at, extents) = (shape.len().saturating_sub(2), if shape.len() < 2 { &valid[1..] } else { &valid[..] });
    for (dim, extent) in (at..shape.len()).zip(extents) {
        match (extent, offsets.get(dim)) {
            (Index::Known(n), _) => shape[dim] = (*n).max(1) as u64,
            // The valid extent is dynamic; it must be inside the tensor.
            (_, Some(Index::Known(first))) => {
                let left = whole[dim].saturating_sub(u64::try_from(*first).unwrap_or(0));
                shape[dim] = shape[dim].min(left.max(1));
            }
            _ => {}
        }
    }
    shape
}

/// The written extent of each dimension of a window; dynamic ones are unknown.
fn stored_extents(lower: &Lower<'_>, value: &Value, shape: &[u64]) -> Vec<Index> {
    let mut extents: Vec<Index> = shape.iter().map(|n| Index::Known(*n as i64)).collect();
    if let Value::Tile(id) = value
        && let Some(valid) = lower.tile(*id).valid
        && folds_into_rows(&lower.tile(*id).shape)
    {
        for (extent, valid) in extents.iter_mut().rev().zip(valid.iter().rev()) {
            if matches!(valid, Index::At(_)) {
                *extent = *valid;
            }
        }
    }
    extents
}

fn put(
    lower: &mut Lower<'_>,
    call: &Call,
    value: &Value,
    target: &Tensor,
    offsets: &[Index],
    shape: &[u64],
    span: slipring_ir::Span,
) -> Lowered {
    let atomic = match call.get("atomic") {
        None => false,
        Some((Value::Const(crate::value::Const::Bool(b)), _)) => *b,
        Some((_, span)) => {
            let span = *span;
            match call.word(lower, "atomic")?.map(|word| word.to_lowercase()).as_deref() {
                Some("add" | "atomic_add") => true,
                None | Some("none" | "atomic_none") => false,
                Some(other) => return Err(lower.unsupported(span, format!("the atomic operation `{other}`"))),
            }
        }
    };
    let counted = stored_extents(lower, value, shape);
    let window = lower.counted_window(target, offsets, shape, &counted, call.span)?;
    lower.store(value, &window, atomic, span)?;
    Ok(Value::Tensor(target.clone()))
}

fn assemble(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (target, place) = call.need(lower, "target")?;
    let (source, span) = call.need(lower, "source")?;
    let offsets = call.offsets(lower, "offset")?;
    match &target {
        Value::Tensor(tensor) => {
            let shape = window_shape(lower, &source, tensor.shape().len());
            put(lower, call, &source, tensor, &offsets, &shape, span)
        }
        Value::Tile(id) if lower.tile(*id).ty.space == Space::Mat => {
            let Value::Tile(from) = source else {
                return Err(call.wrong(lower, "source", "a tile", &source, span));
            };
            let shape = lower.shape_of(&source);
            let whole = lower.tile(*id).shape.clone();
            let known = offsets.iter().zip(&shape).zip(&whole).all(|((offset, size), extent)| match offset {
                Index::Known(n) => *n >= 0 && *n as u64 + size <= *extent,
                Index::At(_) => true,
            });
            if offsets.len() != 2 || shape.len() != 2 || whole.len() != 2 || !known {
                let message = format!("a tile {shape:?} does not lie inside one of {whole:?} there");
                return Err(lower.error("bounds", call.span, message));
            }
            lower.still_there(from, span)?;
            lower.still_there(*id, place)?;
            if let Some(made) = assembled_in_memory(lower, (*id, from), &offsets, call.span)? {
                return Ok(Value::Tile(made));
            }
            let values: Vec<_> = offsets.iter().map(|offset| lower.index_value(*offset)).collect();
            let (src, dst) = (lower.tile(from).value, lower.tile(*id).value);
            let groups: [(&str, &[_]); 4] =
                [("src", &[src]), ("row", &values[..1]), ("col", &values[1..]), ("dst", &[dst])];
            lower.e.op(&pto::TINSERT, &groups, &[], &[]);
            lower.written_in_place(*id, place)?;
            Ok(target)
        }
        Value::Tile(id) => {
            let shape = lower.shape_of(&source);
            let part = lower.tile_window(*id, &offsets, &shape, place)?;
            lower.put(&Value::Tile(part), &source, span)?;
            Ok(target)
        }
        other => Err(call.wrong(lower, "target", "a tensor or a tile", other, place)),
    }
}

fn move_tile(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (value, span) = call.need(lower, "tile")?;
    call.need(lower, "target_memory")?;
    let Some(space) = call.space(lower, "target_memory")? else { return Ok(value) };
    let Value::Tile(id) = &value else { return Err(call.wrong(lower, "tile", "a tile", &value, span)) };
    let usual = crate::lower::Place::of(space);
    let layouts = [call.word(lower, "blayout")?, call.word(lower, "slayout")?];
    let place = usual.with(layouts[0].as_deref(), layouts[1].as_deref());
    let Some(place) = place else {
        return Err(lower.error("argument", call.span, "a layout is row_major, col_major or none_box"));
    };
    if place != usual {
        if (lower.tile(*id).ty.space, space) != (Space::Vec, Space::Vec) {
            return Err(lower.unsupported(call.span, format!("another layout than the usual one in `{space}`")));
        }
        let tile = lower.tile(*id).clone();
        let target = lower.new_tile_in(&tile.shape, place, tile.ty.layout.elem, "move");
        let dst = lower.tile(target).value;
        lower.e.op(&pto::TMOV, &[("src", &[tile.value]), ("dst", &[dst])], &[], &[]);
        return Ok(Value::Tile(target));
    }
    if lower.tile(*id).ty.space == space {
        return Ok(Value::Tile(lower.copy_to(*id, space)));
    }
    if (lower.tile(*id).ty.space, space) == (Space::Mat, Space::Vec) {
        return through_memory(lower, *id, span).map(Value::Tile);
    }
    // A transposed view keeps its layout on the way: the layouts of L0A and L0B are the same for both.
    lower.demand(&value, space, span).map(Value::Tile)
}

fn extract(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (value, span) = call.need(lower, "src")?;
    let Value::Tile(id) = value else { return Err(call.wrong(lower, "src", "a tile", &value, span)) };
    lower.not_overwritten(id, span)?;
    let first = lower.tile(id).part.map_or([Index::Known(0); 2], |(_, at)| at);
    let mut offsets = Vec::new();
    for (name, first) in ["row", "col"].into_iter().zip(first) {
        let (value, span) = call.need(lower, name)?;
        let index = lower.index(&value, span)?;
        let index = lower.add_index(first, index);
        offsets.push(lower.index_value(index));
    }
    let shape = call.need_shape(lower, "shape")?;
    let tile = lower.tile(id).clone();
    let space = call.space(lower, "target_memory")?.unwrap_or(tile.ty.space);
    let target = lower.new_tile(&shape, tile.ty.layout.elem, space, "extract");
    let dst = lower.tile(target).value;
    let groups: [(&str, &[_]); 4] =
        [("src", &[tile.value]), ("row", &offsets[..1]), ("col", &offsets[1..]), ("dst", &[dst])];
    lower.e.op(&pto::TEXTRACT, &groups, &[], &[]);
    Ok(Value::Tile(target))
}

fn transpose_view(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (value, span) = call.need(lower, "tile")?;
    let shape = lower.shape_of(&value);
    let [list @ .., rows, cols] = &shape[..] else {
        return Err(lower.error("rank", span, "a tile of one dimension has no columns to exchange its rows with"));
    };
    let count = list.iter().product::<u64>();
    if count <= 1 {
        return lower.demand_transposed(&value, Space::Mat, span).map(Value::Tile);
    }
    // One matrix after the other, each transposed.
    let whole = lower.demand(&value, Space::Mat, span)?;
    let mut tiles = Vec::new();
    for at in 0..count {
        let begin = [Index::Known((at * rows) as i64), Index::Known(0)];
        let part = lower.subset(whole, (begin, [*rows, *cols]), &[*rows, *cols], span)?;
        tiles.push(lower.demand_transposed(&Value::Tile(part), Space::Mat, span)?);
    }
    let shape = [list, &[*cols, *rows]].concat();
    Ok(Value::Parts(Rc::new(Parts { shape, tiles, whole: Default::default() })))
}

/// The tile that contains an element of a tile, and the offset of the element, in elements from that tile's address. If
/// only the run knows whether the element is inside its row, it is a part of one element, which the run checks.
fn tile_element(lower: &mut Lower<'_>, call: &Call, id: TileId) -> Lowered<(TileId, slipring_ir::ValueId)> {
    let offsets = call.offsets(lower, "offset")?;
    let tile = lower.tile(id).clone();
    if offsets.len() != tile.shape.len() {
        let message = format!("{} indices for a tile {}", offsets.len(), crate::value::show(&tile.shape));
        return Err(lower.error("rank", call.span, message));
    }
    for (offset, extent) in offsets.iter().zip(&tile.shape) {
        if let Index::Known(n) = offset
            && (*n < 0 || *n as u64 >= *extent)
        {
            let message = format!("element {n} lies outside a tile {}", crate::value::show(&tile.shape));
            return Err(lower.error("bounds", call.span, message));
        }
    }
    let by_rows = tile.ty.layout.blayout == slipring_tile::BLayout::RowMajor;
    // Past the end of the outermost dimension is past the end of the tile, which its element's access checks.
    let outermost = tile.shape.iter().position(|extent| *extent != 1).filter(|_| by_rows);
    let unsure = offsets.iter().zip(&tile.shape).enumerate().any(|(dim, (offset, extent))| match offset {
        Index::At(first) => outermost.is_none_or(|outer| dim != outer) && !lower.begins_inside(first.value, *extent),
        Index::Known(_) => false,
    });
    if unsure {
        let ones = vec![1; offsets.len()];
        let part = lower.tile_window(id, &offsets, &ones, call.span)?;
        return Ok((part, lower.e.index(0)));
    }
    // More than two dimensions fold into rows.
    let (cols, rows) = offsets.split_last().map_or((Index::Known(0), &[][..]), |(last, rows)| (*last, rows));
    let mut row = Index::Known(0);
    for (offset, extent) in rows.iter().zip(&tile.shape) {
        row = lower.times(row, *extent as i64);
        row = lower.add_index(row, *offset);
    }
    let layout = tile.ty.layout;
    let at = if by_rows {
        let lines = lower.times(row, i64::from(layout.cols));
        lower.add_index(lines, cols)
    } else {
        let lines = lower.times(cols, i64::from(layout.rows));
        lower.add_index(lines, row)
    };
    Ok((id, lower.index_value(at)))
}

fn read(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    if let (value @ Value::Tile(_), span) = call.need(lower, "src")? {
        let id = lower.demand(&value, Space::Vec, span)?;
        let id = lower.dense(id);
        let (part, offset) = tile_element(lower, call, id)?;
        return Ok(lower.element_of_tile(part, offset));
    }
    let (source, span) = tensor(lower, call, "src")?;
    lower.by_element(&source)?;
    let offsets = call.offsets(lower, "offset")?;
    let ones = vec![1; source.shape().len()];
    let element = lower.tensor_window(&source, &offsets, &ones, span)?;
    Ok(lower.read_element(&element, call.span))
}

fn write(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    if let (Value::Tile(id), span) = call.need(lower, "dst")? {
        lower.still_there(id, span)?;
        if lower.tile(id).ty.space != Space::Vec || lower.dense(id) != id {
            return Err(lower.unsupported(call.span, "`pl.write` into a part of a tile, or into a tile outside of UB"));
        }
        let elem = lower.tile(id).ty.layout.elem;
        let (value, place) = call.need(lower, "value")?;
        let number = lower.number(&value, DType::Elem(elem), place)?;
        let (part, offset) = tile_element(lower, call, id)?;
        let dst = lower.tile(part).value;
        lower.e.op(&pto::TSETVAL, &[("offset", &[offset]), ("value", &[number]), ("dst", &[dst])], &[], &[]);
        lower.written_in_place(id, span)?;
        return Ok(Value::Tile(id));
    }
    let (target, span) = tensor(lower, call, "dst")?;
    lower.by_element(&target)?;
    let offsets = call.offsets(lower, "offset")?;
    let ones = vec![1; target.shape().len()];
    let element = lower.tensor_window(&target, &offsets, &ones, span)?;
    let (value, place) = call.need(lower, "value")?;
    lower.write_element(&element, &value, place)?;
    Ok(Value::Tensor(target))
}

fn dim(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (value, _) = call.need(lower, "tensor")?;
    let axis = call.int(lower, "axis")?.unwrap_or(0);
    let shape = lower.shape_of(&value);
    let at = if axis < 0 { axis + shape.len() as i64 } else { axis };
    match usize::try_from(at).ok().and_then(|at| shape.get(at)) {
        Some(n) => Ok(Value::Const(crate::value::Const::Int(*n as i64))),
        None => Err(lower.error("bounds", call.span, format!("there is no axis {axis}"))),
    }
}
