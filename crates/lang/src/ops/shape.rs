//! Tiles made from nothing, and tiles looked at in another shape.

use slipring_ir::{Attr, Diagnostic, Type};
use slipring_tile::{BLayout, SLayout, Space};

use super::elementwise::{scalar_for, vector};
use super::{Call, ENTRY, Entry};
use crate::lower::{Lower, Lowered, show};
use crate::value::{Index, Value};

pub(super) const OPS: &[Entry] = &[
    Entry {
        names: &["create_tile", "tile.create", "create"],
        params: "shape, dtype, target_memory=, transpose=",
        doc: "A tile whose contents mean nothing yet",
        lower: create,
        ..ENTRY
    },
    Entry { names: &["full"], params: "shape, dtype, value", doc: "A tile of one number", lower: full, ..ENTRY },
    Entry {
        names: &["expands"],
        params: "target, scalar",
        doc: "A tile like another one, of one number",
        lower: expands,
        ..ENTRY
    },
    Entry {
        names: &["ci", "arange"],
        params: "start, shape, dtype=, descending=",
        op: "pto.tci",
        doc: "Consecutive integers",
        lower: consecutive,
        ..ENTRY
    },
    Entry {
        names: &["reshape"],
        params: "x, shape",
        doc: "The same elements, row by row, in another shape",
        lower: reshape,
        ..ENTRY
    },
    Entry {
        names: &["transpose"],
        params: "x, axis1=, axis2=",
        op: "pto.ttrans",
        doc: "Rows become columns",
        lower: transpose,
        ..ENTRY
    },
    Entry {
        names: &["slice"],
        params: "x, shape, offset, valid_shape=, drop_dims=, pad_value=, clamp=",
        doc: "A part of a tensor or tile",
        lower: slice,
        ..ENTRY
    },
    Entry {
        names: &["row_expand"],
        params: "x, values, tmp=",
        op: "pto.trowexpand",
        doc: "A tile like the first with the second's value of each row",
        lower: repeat,
        ..ENTRY
    },
    Entry {
        names: &["col_expand"],
        params: "x, values",
        op: "pto.tcolexpand",
        doc: "A tile like the first with the second's value of each column",
        lower: repeat,
        ..ENTRY
    },
    Entry {
        names: &["concat"],
        params: "a, b",
        op: "pto.tconcat",
        doc: "Two tiles side by side",
        lower: concat,
        ..ENTRY
    },
];

fn create(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let shape = call.shape(lower, "shape")?.unwrap_or_default();
    let Some(elem) = call.elem(lower, "dtype")? else { return call.need(lower, "dtype").map(|(v, _)| v) };
    let space = call.space(lower, "target_memory")?.unwrap_or(Space::Vec);
    Ok(Value::Tile(lower.new_tile(&shape, elem, space, "create_tile")))
}

fn full(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let shape = call.shape(lower, "shape")?.unwrap_or_default();
    let Some(elem) = call.elem(lower, "dtype")? else { return call.need(lower, "dtype").map(|(v, _)| v) };
    let (value, span) = call.need(lower, "value")?;
    filled(lower, &shape, elem, &value, span)
}

fn expands(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let model = vector(lower, call, "target")?;
    let tile = lower.tile(model).clone();
    let (value, span) = call.need(lower, "scalar")?;
    filled(lower, &tile.shape, tile.ty.layout.elem, &value, span)
}

fn filled(
    lower: &mut Lower<'_>,
    shape: &[u64],
    elem: slipring_tile::Elem,
    value: &Value,
    span: slipring_ir::Span,
) -> Lowered {
    let number = scalar_for(lower, value, elem, span)?;
    let target = lower.new_tile(shape, elem, Space::Vec, "full");
    let dst = lower.tile(target).value;
    lower.e.op("pto.texpands", &[("scalar", &[number]), ("dst", &[dst])], &[], &[]);
    Ok(Value::Tile(target))
}

fn consecutive(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let shape = call.shape(lower, "shape")?.unwrap_or_default();
    let elem = call.elem(lower, "dtype")?.unwrap_or(slipring_tile::Elem::I32);
    let (start, span) = call.need(lower, "start")?;
    let start = lower.number(&start, crate::dtype::DType::Elem(elem), span)?;
    let descending = call.flag(lower, "descending")?;
    let target = lower.new_tile(&shape, elem, Space::Vec, "ci");
    let dst = lower.tile(target).value;
    let attrs: &[_] = if descending { &[("descending", Attr::Bool(true))] } else { &[] };
    lower.e.op("pto.tci", &[("start", &[start]), ("dst", &[dst])], attrs, &[]);
    Ok(Value::Tile(target))
}

fn reshape(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (value, span) = call.need(lower, "x")?;
    let shape = call.shape(lower, "shape")?.unwrap_or_default();
    let count = |shape: &[u64]| shape.iter().product::<u64>();
    let have = lower.shape_of(&value);
    if count(&have) != count(&shape) {
        let message = format!("{} has {} elements, {} has {}", show(&have), count(&have), show(&shape), count(&shape));
        return Err(lower.error("shapes", call.span, message));
    }
    if let Value::Tensor(tensor) = &value {
        let mut tensor = tensor.clone();
        tensor.reshaped = Some(shape.iter().copied().collect());
        return Ok(Value::Tensor(tensor));
    }
    let id = lower.demand(&value, Space::Vec, span)?;
    let tile = lower.tile(id).clone();
    let ty = crate::lower::Place::of(Space::Vec).tile_type(&shape, tile.ty.layout.elem);
    let dense = |ty: &slipring_ir::TileType, shape: &[u64]| {
        let (rows, cols) = crate::lower::fold(shape);
        (u64::from(ty.layout.rows), u64::from(ty.layout.cols)) == (rows, cols)
            || ty.layout.bytes() as u64 == rows * cols * ty.layout.elem.bytes() as u64
    };
    // One column by columns is one row by rows: the elements lie in the same order.
    let line = |ty: &slipring_ir::TileType| ty.layout.blayout == BLayout::RowMajor || ty.valid[1].known() == Some(1);
    let fits = dense(&tile.ty, &tile.shape) && dense(&ty, &shape) && line(&tile.ty) && line(&ty);
    if !fits || tile.ty.layout.slayout != SLayout::NoneBox || tile.ty.layout.bytes() != ty.layout.bytes() {
        let error = Diagnostic::error(
            "reshape",
            call.span,
            format!("a tile {} cannot be looked at as {}", show(&tile.shape), show(&shape)),
        )
        .also(tile.span, "the tile is made here")
        .note("its lines are padded to 32 bytes, so that its elements do not lie next to each other");
        return Err(lower.report(error));
    }
    let view = lower.e.value("pto.treshape", &[("src", &[tile.value])], &[], Type::Tile(ty));
    let view = lower.add_tile(view, ty, &shape, "reshape");
    lower.tiles[view.0 as usize].region = tile.region.or(lower.region);
    Ok(Value::Tile(view))
}

fn transpose(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (value, span) = call.need(lower, "x")?;
    if let Value::Tile(id) = value
        && lower.tile(id).ty.space == Space::Mat
    {
        return lower.demand_transposed(&value, Space::Mat, span).map(Value::Tile);
    }
    let source = vector(lower, call, "x")?;
    let tile = lower.tile(source).clone();
    let [rows, cols] = tile.shape[..] else {
        return Err(lower.unsupported(call.span, "a transpose of a tile that has not two dimensions"));
    };
    let target = lower.new_tile(&[cols, rows], tile.ty.layout.elem, Space::Vec, "transpose");
    let tmp = lower.new_tile(&[cols, rows], tile.ty.layout.elem, Space::Vec, "tmp");
    super::elementwise::emit(lower, "pto.ttrans", &[("src", source), ("tmp", tmp)], target);
    Ok(Value::Tile(target))
}

fn slice(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    for name in ["valid_shape", "drop_dims", "pad_value"] {
        if let Some((_, span)) = call.get(name) {
            let span = *span;
            return Err(lower.unsupported(span, format!("`{name}` of `pl.slice`")));
        }
    }
    let (value, span) = call.need(lower, "x")?;
    let shape = call.shape(lower, "shape")?.unwrap_or_default();
    let offsets: Vec<Index> = call.offsets(lower, "offset")?;
    match &value {
        Value::Tensor(tensor) => {
            let tensor = tensor.clone();
            lower.tensor_window(&tensor, &offsets, &shape, span).map(Value::Tensor)
        }
        Value::Tile(id) => lower.tile_window(*id, &offsets, &shape, span).map(Value::Tile),
        other => Err(call.wrong(lower, "x", "a tensor or a tile", other, span)),
    }
}

fn repeat(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let model = vector(lower, call, "x")?;
    let values = vector(lower, call, "values")?;
    let tile = lower.tile(model).clone();
    let target = lower.new_tile(&tile.shape, tile.ty.layout.elem, Space::Vec, call.entry.names[0]);
    super::elementwise::emit(lower, call.entry.op, &[("src", values)], target);
    Ok(Value::Tile(target))
}

fn concat(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (a, b) = (vector(lower, call, "a")?, vector(lower, call, "b")?);
    let (x, y) = (lower.tile(a).clone(), lower.tile(b).clone());
    let ([rows, left], [other, right]) = (&x.shape[..], &y.shape[..]) else {
        return Err(lower.unsupported(call.span, "tiles side by side that have not two dimensions"));
    };
    if rows != other {
        let message = format!("tiles {} and {} side by side", show(&x.shape), show(&y.shape));
        return Err(lower.error("shapes", call.span, message));
    }
    let target = lower.new_tile(&[*rows, left + right], x.ty.layout.elem, Space::Vec, "concat");
    super::elementwise::emit(lower, "pto.tconcat", &[("src0", a), ("src1", b)], target);
    Ok(Value::Tile(target))
}
