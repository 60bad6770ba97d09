//! Between global memory and tiles, and between the memories of a core.

use slipring_dialects::pto;
use slipring_ir::Diagnostic;
use slipring_tile::Space;

use super::{Call, ENTRY, Entry, REFUSED};
use crate::dtype::DType;
use crate::lower::{Lower, Lowered, scalar_type_of};
use crate::value::{Index, Tensor, Value};

pub(super) const OPS: &[Entry] = &[
    Entry {
        names: &["load"],
        params: "tensor, offsets, shapes, valid_shape=, target_memory=, clamp=",
        op: Some(&pto::TLOAD),
        doc: "Load a window of a tensor into a tile",
        lower: load,
        ..ENTRY
    },
    Entry {
        names: &["store"],
        params: "tile, offsets, tensor, shapes=, *, atomic=",
        op: Some(&pto::TSTORE),
        doc: "Store a tile into a window of a tensor",
        lower: store,
        ..ENTRY
    },
    Entry {
        names: &["assemble"],
        params: "target, source, offset, *, atomic=",
        op: Some(&pto::TSTORE),
        doc: "Store a tile into a window of a tensor, or put it into a larger tile",
        lower: assemble,
        ..ENTRY
    },
    Entry {
        names: &["move"],
        params: "tile, target_memory, blayout=, slayout=",
        op: Some(&pto::TMOV),
        doc: "Move a tile to another memory",
        lower: move_tile,
        ..ENTRY
    },
    Entry {
        names: &["extract"],
        params: "src, row, col, shape, *, target_memory=",
        op: Some(&pto::TEXTRACT),
        doc: "A window of a tile, copied out, also to L0A and L0B",
        lower: extract,
        ..ENTRY
    },
    Entry { names: &["alloc"], doc: "Memory without a shape", ..REFUSED },
    Entry {
        names: &["create_tensor", "tensor.create", "tensor.view", "view", "expand_clone"],
        doc: "Tensors of a kernel's own: declare them as parameters",
        ..REFUSED
    },
    Entry {
        names: &["transpose_view"],
        params: "tile",
        op: Some(&pto::TRESHAPE),
        doc: "A tile of L1 with rows and columns exchanged: the same bytes",
        lower: transpose_view,
        ..ENTRY
    },
    Entry {
        names: &["read"],
        params: "src, offset",
        op: Some(&pto::LOAD_SCALAR),
        doc: "Read one element",
        lower: read,
        ..ENTRY
    },
    Entry {
        names: &["write"],
        params: "dst, offset, value",
        op: Some(&pto::STORE_SCALAR),
        doc: "Write one element",
        lower: write,
        ..ENTRY
    },
    Entry { names: &["dim"], params: "tensor, axis", doc: "An extent", lower: dim, ..ENTRY },
];

fn tensor(lower: &mut Lower<'_>, call: &Call, name: &str) -> Lowered<(Tensor, slipring_ir::Span)> {
    match call.need(lower, name)? {
        (Value::Tensor(tensor), span) => Ok((tensor, span)),
        (other, span) => Err(call.wrong(lower, name, "a tensor", &other, span)),
    }
}

fn load(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (source, span) = tensor(lower, call, "tensor")?;
    let offsets = call.offsets(lower, "offsets")?;
    let shape = call.need_shape(lower, "shapes")?;
    let space = call.space(lower, "target_memory")?.unwrap_or(Space::Vec);
    if !matches!(space, Space::Vec | Space::Mat) {
        let error = Diagnostic::error("no-way", call.span, format!("a tile is not loaded into `{space}`"))
            .help("load it into Vec or Mat, and `pl.move` it on from there");
        return Err(lower.report(error));
    }
    if call.get("valid_shape").is_none() {
        let window = lower.tensor_window(&source, &offsets, &shape, span)?;
        return Ok(Value::Tile(lower.load(&window, space)?));
    }
    // Only the valid part is read, and only it must lie inside the tensor.
    let valid = call.offsets(lower, "valid_shape")?;
    let [first, .., last] = [&[Index::Known(1)], &valid[..]].concat()[..] else {
        return Err(lower.error("argument", call.span, "`valid_shape` has an extent for each dimension"));
    };
    if valid.len() != shape.len() || shape.len() > 2 {
        return Err(lower.error("argument", call.span, "`valid_shape` has an extent for each of two dimensions"));
    }
    let rows = if valid.len() == 2 { valid[0] } else { first };
    lower.valid_fits([rows, last], &shape, call.span)?;
    let clipped: Vec<u64> = valid
        .iter()
        .zip(&shape)
        .map(|(v, n)| if let Index::Known(v) = v { (*v).clamp(1, *n as i64) as u64 } else { *n })
        .collect();
    let window = lower.tensor_window(&source, &offsets, &clipped, span)?;
    lower.reads(&window, call.span);
    let tile = lower.new_valid_tile(&shape, source.elem, space, [rows, last], "load");
    let (view, target) = (lower.window(&window)?, lower.tile(tile).value);
    lower.e.op(&pto::TLOAD, &[("src", &[view]), ("dst", &[target])], &[], &[]);
    Ok(Value::Tile(tile))
}

fn store(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (tile, span) = call.need(lower, "tile")?;
    let (target, _) = tensor(lower, call, "tensor")?;
    let offsets = call.offsets(lower, "offsets")?;
    let shape = match call.shape(lower, "shapes")? {
        Some(shape) => shape,
        None => stored_shape(lower, &tile, &target, &offsets),
    };
    put(lower, call, &tile, &target, &offsets, &shape, span)
}

/// The shape of a tile as a window of a tensor of so many dimensions.
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

/// The shape of the window that a tile is stored into: of what is valid of it.
fn stored_shape(lower: &Lower<'_>, value: &Value, target: &Tensor, offsets: &[Index]) -> Vec<u64> {
    let whole = target.shape();
    let mut shape = window_shape(lower, value, whole.len());
    let Value::Tile(id) = value else { return shape };
    let Some(valid) = lower.tile(*id).valid.filter(|_| lower.tile(*id).shape.len() <= 2) else { return shape };
    let (at, extents) = (shape.len().saturating_sub(2), if shape.len() < 2 { &valid[1..] } else { &valid[..] });
    for (dim, extent) in (at..shape.len()).zip(extents) {
        match (extent, offsets.get(dim)) {
            (Index::Known(n), _) => shape[dim] = (*n).max(1) as u64,
            // It is known when the kernel runs, and lies inside the tensor.
            (_, Some(Index::Known(first))) => {
                let left = whole[dim].saturating_sub(u64::try_from(*first).unwrap_or(0));
                shape[dim] = shape[dim].min(left.max(1));
            }
            _ => {}
        }
    }
    shape
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
    let window = lower.tensor_window(target, offsets, shape, call.span)?;
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
    // A transposed view keeps its layout on the way: the layout of L0A and L0B is the same either way.
    lower.demand(&value, space, span).map(Value::Tile)
}

fn extract(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (value, span) = call.need(lower, "src")?;
    let Value::Tile(id) = value else { return Err(call.wrong(lower, "src", "a tile", &value, span)) };
    lower.still_there(id, span)?;
    let mut offsets = Vec::new();
    for name in ["row", "col"] {
        let (value, span) = call.need(lower, name)?;
        let index = lower.index(&value, span)?;
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
    lower.demand_transposed(&value, Space::Mat, span).map(Value::Tile)
}

fn read(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (source, span) = tensor(lower, call, "src")?;
    let offsets = call.offsets(lower, "offset")?;
    let ones = vec![1; source.shape().len()];
    let element = lower.tensor_window(&source, &offsets, &ones, span)?;
    lower.reads(&element, call.span);
    let (pointer, offset) = lower.element(&element);
    let ty = scalar_type_of(element.elem);
    let value = lower.e.value(&pto::LOAD_SCALAR, &[("ptr", &[pointer]), ("offset", &[offset])], &[], ty);
    Ok(lower.scalar(value, DType::Elem(element.elem)))
}

fn write(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (target, span) = tensor(lower, call, "dst")?;
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
