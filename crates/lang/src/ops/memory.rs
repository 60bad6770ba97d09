//! Between global memory and tiles, and between the memories of a core.

use slipring_ir::Diagnostic;
use slipring_tile::Space;

use super::{Call, ENTRY, Entry};
use crate::dtype::DType;
use crate::lower::{Lower, Lowered, scalar_type_of};
use crate::value::{Index, Tensor, Value};

pub(super) const OPS: &[Entry] = &[
    Entry {
        names: &["load"],
        params: "tensor, offsets, shapes, valid_shape=, target_memory=, clamp=",
        op: "pto.tload",
        doc: "Load a window of a tensor into a tile",
        lower: load,
        ..ENTRY
    },
    Entry {
        names: &["store"],
        params: "tile, offsets, tensor, shapes=, *, atomic=",
        op: "pto.tstore",
        doc: "Store a tile into a window of a tensor",
        lower: store,
        ..ENTRY
    },
    Entry {
        names: &["assemble"],
        params: "target, source, offset, *, atomic=",
        op: "pto.tstore",
        doc: "Store a tile into a window of a tensor, or put it into a larger tile",
        lower: assemble,
        ..ENTRY
    },
    Entry {
        names: &["move"],
        params: "tile, target_memory, blayout=, slayout=",
        op: "pto.tmov",
        doc: "Move a tile to another memory",
        lower: move_tile,
        ..ENTRY
    },
    Entry {
        names: &["transpose_view"],
        params: "tile",
        op: "pto.treshape",
        doc: "A tile of L1 with rows and columns exchanged: the same bytes",
        lower: transpose_view,
        ..ENTRY
    },
    Entry {
        names: &["read"],
        params: "src, offset",
        op: "pto.load_scalar",
        doc: "Read one element",
        lower: read,
        ..ENTRY
    },
    Entry {
        names: &["write"],
        params: "dst, offset, value",
        op: "pto.store_scalar",
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
    if let Some((_, span)) = call.get("valid_shape") {
        let span = *span;
        return Err(lower.unsupported(span, "`valid_shape` of a load"));
    }
    let (source, span) = tensor(lower, call, "tensor")?;
    let offsets = call.offsets(lower, "offsets")?;
    let shape = call.shape(lower, "shapes")?.unwrap_or_default();
    let window = lower.tensor_window(&source, &offsets, &shape, span)?;
    let space = call.space(lower, "target_memory")?.unwrap_or(Space::Vec);
    if !matches!(space, Space::Vec | Space::Mat) {
        let error = Diagnostic::error("no-way", call.span, format!("a tile is not loaded into `{space}`"))
            .help("load it into Vec or Mat, and `pl.move` it on from there");
        return Err(lower.report(error));
    }
    Ok(Value::Tile(lower.load(&window, space)?))
}

fn store(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (tile, span) = call.need(lower, "tile")?;
    let (target, _) = tensor(lower, call, "tensor")?;
    let offsets = call.offsets(lower, "offsets")?;
    let shape = match call.shape(lower, "shapes")? {
        Some(shape) => shape,
        None => window_shape(lower, &tile, target.shape().len()),
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
        Some(_) => call.word(lower, "atomic")?.is_some_and(|w| w.contains("add")),
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
    if lower.tile(*id).ty.space == space {
        return Ok(Value::Tile(lower.copy_to(*id, space)));
    }
    // A transposed view keeps its layout on the way: the layout of L0A and L0B is the same either way.
    lower.demand(&value, space, span).map(Value::Tile)
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
    let (pointer, offset) = lower.element(&element);
    let ty = scalar_type_of(element.elem);
    let value = lower.e.value("pto.load_scalar", &[("ptr", &[pointer]), ("offset", &[offset])], &[], ty);
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
