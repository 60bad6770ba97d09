//! The constraints of each op on the axes of its tiles.

use slipring_ir::{BlockId, Dim, Kind, Module, OperandSpec, TileType, Touch, Type, ValueId};
use slipring_op::rules::{constant, is_multiple};
use slipring_op::{Along, MixedPart, OpRef};
use slipring_tile::{BLayout, Layout, SLayout, Space};

use super::axes::{Axes, Node, Part, Reason, Start, extent, is_padded, positions, positions_in_memory};
use super::windows;
use crate::analysis::facts::first_operand;
use crate::analysis::windows::is_view;

/// The tile that a value represents, if it belongs to the Vector cores.
pub(super) fn vector_tile(module: &Module, value: ValueId) -> Option<&TileType> {
    module.ty(value).as_tile().filter(|tile| tile.space == Space::Vec)
}

/// The operands that are tiles of the Vector cores, with their declarations. Working memory of an instruction is
/// excluded: it may have any size.
pub(super) fn tile_operands<'a>(op: &OpRef<'a>) -> Vec<(ValueId, &'a OperandSpec)> {
    let specs = op.def.schema.operands.iter().enumerate().filter(|(_, spec)| spec.name != "tmp");
    let values = specs.flat_map(|(at, spec)| op.operands(at).iter().map(move |value| (*value, spec)));
    values.filter(|(value, _)| vector_tile(op.module, *value).is_some()).collect()
}

/// Collects the constraints of a function's body.
pub(super) fn collect(module: &Module, body: BlockId, axis: usize) -> Axes {
    let mut axes = Axes::new(module, axis);
    let ops: Vec<OpRef<'_>> = module.walk(body).into_iter().filter_map(|op| OpRef::of(module, op)).collect();
    let written = written(&ops);
    for op in &ops {
        for &result in &module.op(op.id).results {
            if let Some(tile) = vector_tile(module, result) {
                axes.tiles.push(result);
                let is_part = op.def.along.contains(&Along::Part);
                (0..2).for_each(|axis| can_be_halved(op, (result, axis), tile, is_part, &mut axes));
            }
        }
        match op.def.mixed {
            Some(MixedPart::Cross) => {
                if let Some(dst) = op.operand("dst").filter(|v| vector_tile(module, *v).is_some()) {
                    axes.divide((dst, axis), op.id);
                }
            }
            _ => (0..2).for_each(|axis| ask(op, axis, &written, &mut axes)),
        }
    }
    axes
}

/// Tiles that something writes, including through views.
fn written(ops: &[OpRef<'_>]) -> Vec<ValueId> {
    let mut written: Vec<ValueId> = Vec::new();
    for op in ops.iter().rev() {
        for (value, spec) in tile_operands(op) {
            let through_view =
                spec.touch == Touch::Nothing && op.module.op(op.id).results.iter().any(|r| written.contains(r));
            if matches!(spec.touch, Touch::Write | Touch::ReadWrite) || through_view {
                written.push(value);
            }
        }
    }
    written
}

fn reason(op: &OpRef<'_>, text: impl Into<String>) -> Reason {
    Reason { op: op.id, kind: "auto-split".into(), text: text.into() }
}

/// The constraints from a tile's type: a known even extent, and whole boxes in each half.
fn can_be_halved(op: &OpRef<'_>, node: Node, tile: &TileType, is_part: bool, axes: &mut Axes) {
    let (all, what) = (extent(tile, node.1), positions(node.1));
    let half = half_type(tile, node.1);
    let text = if is_part {
        // The division of a part follows from the tile it is a part of.
        return;
    } else if all % 2 != 0 {
        let text = format!(
            "{all} {} cannot be divided evenly between two Vector cores",
            if all == 1 { &what[..what.len() - 1] } else { what }
        );
        return axes.keep_whole(node, Reason { kind: Kind::SplitOdd, ..reason(op, text) });
    } else if tile.valid[node.1] == Dim::Dynamic && !is_said_by_others(op) {
        format!("how many {what} are valid is not known here")
    } else if tile.layout.is_whole() && !half.layout.is_whole() {
        format!("half of the {all} {what} is not a whole number of boxes")
    } else {
        return;
    };
    axes.keep_whole(node, reason(op, text));
}

/// True if the valid extents of the tile that an op makes are determined by others, which are divided with it: the op
/// is a declaration or a view without valid extents of its own.
fn is_said_by_others(op: &OpRef<'_>) -> bool {
    let is_declaration = all_tiles(op).is_empty() && op.def.along == Along::EACH;
    let is_view = op.def.along.contains(&Along::Reshapes);
    (is_declaration || is_view) && ["valid_row", "valid_col"].into_iter().all(|name| op.if_declared(name).is_none())
}

/// A tile for half of the valid rows or columns, with half of the capacity. An open valid extent stays open.
pub(super) fn half_type(tile: &TileType, axis: usize) -> TileType {
    let mut half = resized(tile, axis, (positions_in_memory(tile, axis) + 1) / 2);
    half.valid[axis] = match tile.valid[axis] {
        Dim::Static(_) => windows::dim(extent(tile, axis) / 2),
        Dim::Dynamic => Dim::Dynamic,
    };
    half
}

/// A tile with another number of rows or columns, all of them valid.
pub(super) fn resized(tile: &TileType, axis: usize, size: i64) -> TileType {
    let size = u32::try_from(size).unwrap_or(0);
    let (rows, cols) = if axis == 0 { (size, tile.layout.cols) } else { (tile.layout.rows, size) };
    let mut valid = tile.valid;
    valid[axis] = Dim::Static(size.into());
    TileType { layout: Layout { rows, cols, ..tile.layout }, valid, ..*tile }
}

/// The constraints of an op on one axis of its tiles.
fn ask(op: &OpRef<'_>, axis: usize, written: &[ValueId], axes: &mut Axes) {
    let module = op.module;
    let tiles = tile_operands(op);
    let (name, what) = (op.def.schema.name, positions(axis));
    let whole = |axes: &mut Axes, values: &[ValueId], text: String| {
        values.iter().for_each(|value| axes.keep_whole((*value, axis), reason(op, text.clone())));
    };
    let all: Vec<ValueId> = tiles.iter().map(|(value, _)| *value).collect();
    match op.def.along[axis] {
        Along::Each => together(op, axis, &all, axes),
        Along::Combines => whole(axes, &all, format!("`{name}` combines all {what}")),
        Along::Counts => {
            whole(axes, &all, format!("what `{name}` writes depends on the number of the {}", &what[..what.len() - 1]))
        }
        Along::Transposes => whole(axes, &all, format!("`{name}` makes {} of them", positions(1 - axis))),
        Along::First(first) => {
            let (once, each): (Vec<_>, Vec<_>) = tiles.iter().partition(|(_, spec)| spec.name == first);
            let values = |list: &[(ValueId, &OperandSpec)]| list.iter().map(|(value, _)| *value).collect::<Vec<_>>();
            whole(axes, &values(&once), format!("`{name}` uses the first of them for all {what} of its result"));
            together(op, axis, &values(&each), axes);
        }
        Along::Repeats => repeats(op, axis, &tiles, axes),
        Along::Window(first) => {
            let offset = op.operand(first);
            let from_start = offset.and_then(|v| constant(module, v)) == Some(0);
            let same_size = extents(module, axis, &all).windows(2).all(|pair| pair[0] == pair[1]);
            if from_start && same_size {
                together(op, axis, &all, axes);
            } else {
                whole(axes, &all, format!("`{name}` moves a window of the {what}"));
            }
        }
        Along::Part => part(op, axis, written, axes),
        Along::Reshapes => reshape(op, axis, axes),
        Along::Unknown => {
            let text = format!("`{name}` does not work {} by {}", &what[..what.len() - 1], &what[..what.len() - 1]);
            whole(axes, &all, text);
        }
    }
}

fn extents(module: &Module, axis: usize, values: &[ValueId]) -> Vec<i64> {
    values.iter().filter_map(|v| vector_tile(module, *v)).map(|tile| extent(tile, axis)).collect()
}

/// Position by position: all tiles are divided together. Windows of global memory must have the axis as a dimension.
fn together(op: &OpRef<'_>, axis: usize, values: &[ValueId], axes: &mut Axes) {
    let module = op.module;
    let sizes = extents(module, axis, values);
    if let Some(pair) = sizes.windows(2).find(|pair| pair[0] != pair[1]) {
        let text =
            format!("`{}` works on tiles of {} and {} {}", op.def.schema.name, pair[0], pair[1], positions(axis));
        values.iter().for_each(|value| axes.keep_whole((*value, axis), reason(op, text.clone())));
        return;
    }
    values.windows(2).for_each(|pair| axes.same((pair[0], axis), (pair[1], axis)));
    let views = module.op(op.id).operands.iter().filter(|v| is_view(module.ty(**v)));
    for &view in views {
        let Some((&tile, &size)) = values.first().zip(sizes.first()) else { continue };
        let is_part = module
            .defining_op(tile)
            .and_then(|id| OpRef::of(module, id))
            .is_some_and(|d| d.def.along[axis] == Along::Part);
        if let Err(text) = windows::dimension(module, view, axis, size, is_part) {
            axes.keep_whole((tile, axis), reason(op, text));
        }
    }
}

/// A source with fewer positions than the result is read repeatedly.
fn repeats(op: &OpRef<'_>, axis: usize, tiles: &[(ValueId, &OperandSpec)], axes: &mut Axes) {
    let module = op.module;
    let valid = |value: ValueId| vector_tile(module, value).and_then(|tile| tile.valid[axis].known());
    let Some(&(result, _)) = tiles.iter().find(|(_, spec)| spec.touch == Touch::Write) else { return };
    let (mut alike, mut repeated) = (vec![result], Vec::new());
    for (value, _) in tiles.iter().filter(|(value, _)| *value != result) {
        match valid(result).zip(valid(*value)) {
            Some((all, own)) if own < all => repeated.push((*value, own)),
            _ => alike.push(*value),
        }
    }
    for (value, own) in repeated {
        let text = format!("`{}` repeats them for all {} of its result", op.def.schema.name, positions(axis));
        axes.keep_whole((value, axis), reason(op, text));
        if valid(result).is_none_or(|all| own == 0 || (all / 2) % own != 0) {
            let text = format!("a half of them is not a multiple of the {own} that `{}` repeats", op.def.schema.name);
            axes.keep_whole((result, axis), reason(op, text));
        }
    }
    together(op, axis, &alike, axes);
}

/// A part of a tile: all positions of the axis, or some of them.
fn part(op: &OpRef<'_>, axis: usize, written: &[ValueId], axes: &mut Axes) {
    let module = op.module;
    let (Some(source), Some(&result)) = (first_operand(op), module.op(op.id).results.first()) else { return };
    let (Some(from), Some(to)) = (vector_tile(module, source), vector_tile(module, result)) else { return };
    let (all, size) = (extent(from, axis), extent(to, axis));
    let Some(&offset) = op.operands("offsets").get(axis) else { return };
    let known = constant(module, offset);
    if known == Some(0) && all == size && is_padded(from, axis) == is_padded(to, axis) {
        return axes.same((source, axis), (result, axis));
    }
    // The extent of the part is open if its offset is: the whole tile decides whether all of it is valid.
    let is_open = from.valid[axis] == Dim::Dynamic;
    if is_open || is_padded(from, axis) || is_padded(to, axis) {
        let text = format!("a part is taken of a tile of which only some {} are valid", positions(axis));
        [source, result].into_iter().for_each(|value| axes.keep_whole((value, axis), reason(op, text.clone())));
        return;
    }
    if axes.parts.iter().any(|part| part.result == source && part.axis == axis) {
        axes.keep_whole((source, axis), reason(op, "a part is taken of a part of them"));
    }
    let half = all / 2;
    let start = match known {
        Some(at) => Start::At(at),
        None if half % size == 0 && is_multiple(module, offset, size) => Start::Multiple(offset),
        None => Start::Unknown(offset),
    };
    let written = written.contains(&result);
    axes.parts.push(Part { op: op.id, axis, source, result, start, size, half, written });
}

/// A tile's memory reinterpreted in another shape. If the positions of an axis are consecutive in memory, halves of the
/// axis are halves of the memory, in both shapes.
fn reshape(op: &OpRef<'_>, axis: usize, axes: &mut Axes) {
    let module = op.module;
    let (Some(source), Some(&result)) = (first_operand(op), module.op(op.id).results.first()) else { return };
    let (Some(from), Some(to)) = (vector_tile(module, source), vector_tile(module, result)) else { return };
    if alike(&from.layout, &to.layout) && extent(from, axis) == extent(to, axis) {
        return axes.same((source, axis), (result, axis));
    }
    if [from, to].into_iter().any(|tile| (0..2).any(|axis| is_padded(tile, axis))) {
        let text = format!("`{}` changes the shape of a tile that is valid in part", op.def.schema.name);
        [source, result].into_iter().for_each(|value| axes.keep_whole((value, axis), reason(op, text.clone())));
        return;
    }
    let outer = [from, to].map(|tile| outermost(&tile.layout));
    if let [Some(a), Some(b)] = outer {
        axes.same((source, a), (result, b));
    }
    let text = format!("`{}` does not keep them together", op.def.schema.name);
    for (value, outer) in [(source, outer[0]), (result, outer[1])] {
        if outer != Some(axis) {
            axes.keep_whole((value, axis), reason(op, text.clone()));
        }
    }
}

fn alike(a: &Layout, b: &Layout) -> bool {
    let of = |l: &Layout| (l.rows, l.cols, l.blayout, l.slayout, l.elem.bytes(), l.fractal);
    of(a) == of(b)
}

/// The axis whose positions are the largest pieces of a tile's memory; for a single row or column, the other axis.
fn outermost(layout: &Layout) -> Option<usize> {
    if layout.slayout != SLayout::NoneBox {
        return None;
    }
    Some(match layout.blayout {
        BLayout::RowMajor => usize::from(layout.rows == 1),
        BLayout::ColMajor => usize::from(layout.cols != 1),
    })
}

/// A value that is a tile of the Vector cores and not the result of an op: an argument of a block.
pub(super) fn carried(module: &Module, body: BlockId) -> Option<(ValueId, slipring_ir::OpId)> {
    module.walk(body).into_iter().find_map(|op| {
        let regions = &module.op(op).regions;
        let blocks = regions.iter().flat_map(|r| module.region(*r).blocks.iter());
        let args = blocks.flat_map(|b| module.block(*b).args.iter());
        let results = if regions.is_empty() { &[][..] } else { &module.op(op).results[..] };
        args.chain(results).find(|v| matches!(module.ty(**v), Type::Tile(t) if t.space == Space::Vec)).map(|v| (*v, op))
    })
}

/// All operands that are tiles of the Vector cores.
pub(super) fn all_tiles(op: &OpRef<'_>) -> Vec<ValueId> {
    let values = op.module.op(op.id).operands.iter().copied();
    values.filter(|v| vector_tile(op.module, *v).is_some()).collect()
}
