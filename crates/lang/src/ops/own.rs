//! Tensors of a kernel's own in global memory: those that it makes, and staging tensors for memory pairs without a
//! direct path.

use slipring_ir::{Diagnostic, Span};
use slipring_tile::Space;

use super::entry::Call;
use crate::compiled::Direction;
use crate::dtype::DType;
use crate::lower::signature::MOST_DIMS;
use crate::lower::{Lower, Lowered};
use crate::value::{Const, Index, Tensor, TileId, Value};

pub(super) fn create_tensor(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (mut shape, elem) = (call.need_shape(lower, "shape")?, call.need_elem(lower, "dtype")?);
    if call.has("layout") {
        let given = call.get("layout").cloned();
        match &given {
            Some((Value::Const(Const::Member("TensorLayout", word)), _)) if &**word == "ND" => {}
            Some((Value::Path(path), _)) if path.rsplit('.').next() == Some("ND") => {}
            Some((other, span)) => {
                return Err(call.wrong(lower, "layout", "`pl.TensorLayout.ND`: one row after the other", other, *span));
            }
            None => {}
        }
    }
    call.idle_flag(lower, "manual_dep", "what a kernel does with it runs in the order of the text")?;
    let mut place = lower.open.call_sites.clone();
    place.push(call.span);
    let filled = call.get("init_value").map(|(_, span)| *span);
    if let Some(span) = filled
        && lower.open.loops > 0
    {
        let error =
            Diagnostic::error("loop", span, "a tensor is filled once, and this loop makes it in each iteration")
                .help("make it before the loop, or store what it begins with");
        return Err(lower.report(error));
    }
    if filled.is_none() && lower.is_made_tile(&place) {
        return Ok(Value::Tile(lower.new_tile(&shape, elem, Space::Vec, "create_tensor")));
    }
    // Each block has its own.
    let blocks = lower.facts.blocks.filter(|blocks| *blocks > 1);
    if let Some(blocks) = blocks {
        if shape.len() >= MOST_DIMS {
            return Err(lower.unsupported(call.span, format!("a tensor of {MOST_DIMS} dimensions for each block")));
        }
        shape.insert(0, u64::from(blocks));
    }
    // A loop that is lowered again, or iteration by iteration, reuses the earlier tensor, unless that is still live.
    if filled.is_none()
        && let Some(value) = lower.made_before(&place)
    {
        return Ok(if blocks.is_some() { of_this_block(lower, value) } else { value });
    }
    let given = match call.get("init_value").cloned() {
        None => format!("zeros:{}", written(&shape, elem)),
        Some((Value::Const(c @ (Const::Int(_) | Const::Float(_))), span)) => {
            lower.fits(&c, DType::Elem(elem), span)?;
            let number = match c {
                Const::Float(x) => format!("{x:?}"),
                Const::Int(n) => n.to_string(),
                _ => String::new(),
            };
            format!("full:{}={number}", written(&shape, elem))
        }
        Some((other, span)) => return Err(call.wrong(lower, "init_value", "a constant number", &other, span)),
    };
    let direction = if filled.is_some() { Direction::InOut } else { Direction::Out };
    let made = own_tensor(lower, (shape, elem, given), direction, place);
    let of_scope = lower.open.scopes > 0;
    if let Some(root) = lower.tensors.roots.last_mut() {
        root.of_scope = of_scope;
        root.by_block = blocks.is_some();
    }
    Ok(if blocks.is_some() { of_this_block(lower, made) } else { made })
}

/// This block's part of a tensor whose first dimension counts blocks.
fn of_this_block(lower: &mut Lower<'_>, value: Value) -> Value {
    let (Value::Tensor(mut own), Value::Scalar(block)) = (value, lower.block_index()) else { return Value::Nothing };
    (own.offsets[0], own.sizes[0], own.dropped[0]) = (Index::At(block), 1, true);
    Value::Tensor(own)
}

/// A tensor that the caller does not pass, with its shape, type and initial contents, made at a place through a chain
/// of calls.
fn own_tensor(
    lower: &mut Lower<'_>,
    (shape, elem, given): (Vec<u64>, slipring_tile::Elem, String),
    direction: Direction,
    place: Vec<Span>,
) -> Value {
    let span = place.last().copied().unwrap_or_default();
    let number = lower.facts.created.len();
    let value = lower.made_parameter(("tensor", number), (shape, elem, Some(given)), direction, span);
    lower.view_at_entry(lower.tensors.roots.len() - 1);
    lower.facts.created.push((place, value.clone()));
    value
}

/// Like [`own_tensor`], for this place and chain of calls: the same tensor if it is lowered again.
pub(super) fn own_tensor_of(
    lower: &mut Lower<'_>,
    what: (Vec<u64>, slipring_tile::Elem, String),
    direction: Direction,
    span: Span,
) -> Option<Tensor> {
    let mut place = lower.open.call_sites.clone();
    place.push(span);
    let known = lower.facts.created.iter().find(|(known, _)| *known == place).map(|(_, value)| value.clone());
    match known.unwrap_or_else(|| own_tensor(lower, what, direction, place)) {
        Value::Tensor(tensor) => Some(tensor),
        _ => None,
    }
}

/// Moves a tile from L1 to UB: no pipe of the cluster supports that on all platforms, so it goes through a tensor of
/// the kernel's own.
pub(super) fn through_memory(lower: &mut Lower<'_>, id: TileId, span: Span) -> Lowered<TileId> {
    // The window that it was loaded from is unchanged.
    if let Some(window) = lower.image_of(id) {
        let loaded = lower.load(&window, Space::Vec)?;
        lower.held.tiles[loaded.0 as usize].shape = lower.tile(id).shape.clone();
        return Ok(loaded);
    }
    if let Some(region) = lower.open.region {
        let region = lower.open.regions[region.0 as usize].span;
        let error = Diagnostic::error("no-way", span, "a tile of L1 is read on the Vector cores inside a region")
            .also(lower.tile(id).span, "the tile is made here")
            .also(region, "the region begins here")
            .help("move it before the region: `pl.move(t, pl.Mem.Vec)`");
        return Err(lower.report(error));
    }
    if lower.facts.blocks.is_some() {
        let error = Diagnostic::error("no-way", span, "a tile cannot get from `mat` to `vec` where several blocks run")
            .help("load it from its tensor into UB where it is needed, or store it first");
        return Err(lower.report(error));
    }
    lower.not_in_part(id, span)?;
    lower.wholly_valid(id, "a move from L1 to UB", span)?;
    let tile = lower.tile(id).clone();
    let elem = tile.ty.layout.elem;
    let (rows, cols) = crate::value::fold(&tile.shape);
    let Some(tensor) = own_memory(lower, (rows, cols), elem, span) else { return Ok(id) };
    lower.store(&Value::Tile(id), &tensor, false, span)?;
    let loaded = lower.load(&tensor, Space::Vec)?;
    lower.held.tiles[loaded.0 as usize].shape = tile.shape.clone();
    Ok(loaded)
}

/// A matrix in global memory that the caller does not pass, for this place of the text.
fn own_memory(
    lower: &mut Lower<'_>,
    (rows, cols): (u64, u64),
    elem: slipring_tile::Elem,
    span: Span,
) -> Option<Tensor> {
    let given = format!("zeros:{}", written(&[rows, cols], elem));
    own_tensor_of(lower, (vec![rows, cols], elem, given), Direction::Out, span)
}

/// Moves an FP32 product into a tile of L1 through global memory: A2/A3 have no other path, and A5 has none from there
/// to UB. `None` if it is not known which window the tile is.
pub(super) fn assembled_in_memory(
    lower: &mut Lower<'_>,
    (target, from): (TileId, TileId),
    offsets: &[Index],
    span: Span,
) -> Lowered<Option<TileId>> {
    let (whole, part) = (lower.tile(target).clone(), lower.tile(from).clone());
    let elem = slipring_tile::Elem::F32;
    let products = part.ty.space == Space::Acc && part.ty.layout.elem == elem && whole.ty.layout.elem == elem;
    let alone = lower.open.region.is_none() && lower.facts.blocks.is_none();
    let Some(window) = lower.image_of(target).filter(|_| products && part.valid.is_none() && alone) else {
        return Ok(None);
    };
    let Some(own) = own_memory(lower, crate::value::fold(&whole.shape), elem, span) else { return Ok(None) };
    let there = lower.load(&window, Space::Vec)?;
    lower.store(&Value::Tile(there), &own, false, span)?;
    let place = lower.tensor_window(&own, offsets, &part.shape, span)?;
    lower.store(&Value::Tile(from), &place, false, span)?;
    let loaded = lower.load(&own, Space::Mat)?;
    lower.note_image(loaded, &own, true);
    Ok(Some(loaded))
}

/// A type and a shape in the syntax of the command line.
fn written(shape: &[u64], elem: slipring_tile::Elem) -> String {
    let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
    format!("{elem}[{}]", extents.join("x"))
}
