//! Reshaping of a tile or a window: the same elements in the same order.

use slipring_ir::{Diagnostic, Type};
use slipring_pto as pto;
use slipring_tile::{BLayout, SLayout, Space};

use super::entry::Call;
use crate::lower::{Lower, Lowered};
use crate::value::{Index, TileId, Value, show};

pub(super) fn reshape(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (value, span) = call.need(lower, "x")?;
    let shape = call.need_shape(lower, "shape")?;
    let count = |shape: &[u64]| shape.iter().product::<u64>();
    let have = lower.shape_of(&value);
    if count(&have) != count(&shape) {
        let message = format!("{} has {} elements, {} has {}", show(&have), count(&have), show(&shape), count(&shape));
        return Err(lower.error("shapes", call.span, message));
    }
    // A window whose lines are unchanged is only viewed differently; others are loaded first.
    if let Value::Tensor(tensor) = &value
        && (crate::value::fold(&tensor.sizes) == crate::value::fold(&shape))
    {
        let mut tensor = tensor.clone();
        tensor.reshaped = Some(shape.iter().copied().collect());
        return Ok(Value::Tensor(tensor));
    }
    if let Value::Tensor(tensor) = &value
        && let Some(view) = lower.viewed_anew(tensor, &shape)
    {
        return Ok(Value::Tensor(view));
    }
    let id = lower.demand(&value, Space::Vec, span)?;
    let Some(valid) = lower.tile(id).valid else { return viewed_as(lower, call, id, &shape).map(Value::Tile) };
    let have = lower.tile(id).shape.clone();
    // A copy would read undefined elements.
    let as_it_lies = crate::value::fold(&have) == crate::value::fold(&shape) || lower.dense(id) == id;
    let Some(valid) = prefix(valid, crate::value::fold(&have), crate::value::fold(&shape)).filter(|_| as_it_lies)
    else {
        lower.wholly_valid(id, "a reshape", call.span)?;
        return Ok(Value::Nothing);
    };
    let whole = lower.whole_view(id);
    let view = viewed_as(lower, call, whole, &shape)?;
    lower.with_valid(view, valid, call.span).map(Value::Tile)
}

/// The valid extent of rows and columns `want` for a valid extent of as many elements in rows and columns `have`: the
/// same elements, in row order. `None` if they do not form rows and columns there.
fn prefix(valid: [Index; 2], have: (u64, u64), want: (u64, u64)) -> Option<[Index; 2]> {
    if have == want {
        return Some(valid);
    }
    if valid.contains(&Index::Known(0)) {
        return Some([Index::Known(0); 2]);
    }
    // The first elements in order: whole rows, or a part of the first one.
    let (extent, most, below) = match valid {
        [Index::Known(1), cols] => (cols, have.1, 1),
        [rows, cols] if cols == Index::Known(have.1 as i64) => (rows, have.0, have.1),
        _ => return None,
    };
    let rows = |n| [n, Index::Known(want.1 as i64)];
    let cols = |n| [Index::Known(1), n];
    match extent {
        Index::Known(n) => {
            let count = n as u64 * below;
            let whole = count.is_multiple_of(want.1) && count / want.1 <= want.0;
            let line = || (count <= want.1).then(|| cols(Index::Known(count as i64)));
            if whole { Some(rows(Index::Known((count / want.1) as i64))) } else { line() }
        }
        Index::At(_) if want.1 == below && most <= want.0 => Some(rows(extent)),
        Index::At(_) if below == 1 && most <= want.1 => Some(cols(extent)),
        Index::At(_) => None,
    }
}

/// A tile's elements in another shape.
fn viewed_as(lower: &mut Lower<'_>, call: &Call, id: TileId, shape: &[u64]) -> Lowered<TileId> {
    let tile = lower.tile(id).clone();
    if crate::value::fold(&tile.shape) == crate::value::fold(shape) && tile.ty.layout.slayout == SLayout::NoneBox {
        // Its lines are unchanged: leading extents of 1 are added or removed.
        let view = lower.e.value(&pto::TRESHAPE, &[("src", &[tile.value])], &[], Type::Tile(tile.ty));
        let view = lower.add_tile(view, tile.ty, shape, "reshape");
        lower.held.tiles[view.0 as usize].region = tile.region.or(lower.open.region);
        return Ok(view);
    }
    let id = lower.dense(id);
    let tile = lower.tile(id).clone();
    let ty = crate::lower::Place::of(Space::Vec).tile_type(shape, tile.ty.layout.elem);
    let dense = |ty: &slipring_ir::TileType, shape: &[u64]| {
        let (rows, cols) = crate::value::fold(shape);
        (u64::from(ty.layout.rows), u64::from(ty.layout.cols)) == (rows, cols)
            || ty.layout.bytes() as u64 == rows * cols * ty.layout.elem.bytes() as u64
    };
    // A column in column order and a row in row order have their elements in the same order.
    let line = |ty: &slipring_ir::TileType| ty.layout.blayout == BLayout::RowMajor || ty.valid[1].known() == Some(1);
    // In a single line there is nothing between the elements, whatever padding follows them.
    let single = [&tile.shape[..], shape].iter().all(|own| matches!(crate::value::fold(own), (1, _) | (_, 1)));
    let fits = (single || dense(&tile.ty, &tile.shape) && dense(&ty, shape)) && line(&tile.ty) && line(&ty);
    if !fits || tile.ty.layout.slayout != SLayout::NoneBox || tile.ty.layout.bytes() != ty.layout.bytes() {
        let message = format!("a tile {} cannot be looked at as {}", show(&tile.shape), show(shape));
        let error = Diagnostic::error("reshape", call.span, message)
            .also(tile.span, "the tile is made here")
            .note("its lines are padded to 32 bytes, so that its elements do not lie next to each other");
        return Err(lower.report(error));
    }
    let view = lower.e.value(&pto::TRESHAPE, &[("src", &[tile.value])], &[], Type::Tile(ty));
    let view = lower.add_tile(view, ty, shape, "reshape");
    lower.held.tiles[view.0 as usize].region = tile.region.or(lower.open.region);
    Ok(view)
}

pub(super) fn view(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    match call.word(lower, "layout")?.as_deref() {
        None | Some("ND") => {}
        Some(other) => return Err(lower.unsupported(call.span, format!("the layout {other} of a view"))),
    }
    if call.get("valid_shape").is_some() {
        return Err(lower.unsupported(call.span, "`valid_shape` of `pl.view`"));
    }
    if call.get("shape").is_none() {
        return Err(lower.error("argument", call.span, "`pl.view` needs `shape`"));
    }
    reshape(lower, call)
}
