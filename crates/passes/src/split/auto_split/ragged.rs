//! Partially valid tiles on their way to the Vector cores.
//!
//! The hardware locates lane 1's part of a slot by the valid extents of the lanes' tiles: lane 1's must equal lane 0's,
//! be one less, or be zero. Where all divided work derives from one such tile, another division of the valid part gives
//! the same result; where some of it does not, none does.

use std::collections::BTreeSet;

use slipring_ir::{BlockId, Diagnostic, Module, OpId, Touch, ValueId};
use slipring_op::rules::constant;
use slipring_op::{MixedPart, OpRef};
use slipring_pto as pto;

use super::axes::{Axes, positions, positions_in_memory};
use super::constraints::{tile_operands, vector_tile};
use crate::analysis::facts::first_operand;

/// A tile that crosses with extents that no transfer supports, although other divided work needs the halves in place.
pub(super) fn unplaceable(module: &Module, axes: &Axes, body: BlockId) -> Option<Diagnostic> {
    let ops: Vec<OpRef<'_>> = module.walk(body).into_iter().filter_map(|op| OpRef::of(module, op)).collect();
    let (mut derived, mut ragged, mut alone) = (BTreeSet::new(), None, None);
    for op in &ops {
        match op.def.mixed {
            Some(MixedPart::Cross) => match op.operand("dst").filter(|v| vector_tile(module, *v).is_some()) {
                Some(tile) => drop(derived.insert(tile)),
                None => drop(alone.get_or_insert(op.id)),
            },
            _ => follow(op, axes, &mut derived, &mut alone),
        }
        if let Some((tile, valid)) = pto::shapes_tile(op)
            && axes.halved(tile) == Some(axes.axis)
            && crosses(module, &ops, tile)
            && let Some(n) = constant(module, valid[axes.axis])
        {
            let half = vector_tile(module, tile).map_or(0, |ty| positions_in_memory(ty, axes.axis) / 2);
            let lanes = [n.min(half), (n - half).clamp(0, half)];
            if lanes[1] != 0 && lanes[0] - lanes[1] > 1 {
                ragged.get_or_insert((op.id, n, half, lanes));
            }
        }
    }
    let ((id, n, half, lanes), alone) = ragged.zip(alone)?;
    let what = positions(axes.axis);
    let message = format!("of {n} valid {what} the Vector cores would get {} and {}", lanes[0], lanes[1]);
    let help = format!(
        "make {} or {} of them valid, or at most {half}, or divide what does not come from this tile in a kernel of its own",
        2 * half,
        2 * half - 1
    );
    let error = Diagnostic::error("split-valid", module.op(id).span, message)
        .label("a transfer places equal parts, parts of which the second has one less, and an empty second part")
        .also(module.op(alone).span, "this does not come from the tile, so that both are divided in the middle");
    Some(error.help(help))
}

/// True for a tile that crossed, or a view of it.
fn crosses(module: &Module, ops: &[OpRef<'_>], mut tile: ValueId) -> bool {
    loop {
        let is_end = |op: &OpRef<'_>| op.def.mixed == Some(MixedPart::Cross) && op.operand("dst") == Some(tile);
        if ops.iter().any(is_end) {
            return true;
        }
        let source = module.defining_op(tile).and_then(|op| first_operand(&OpRef::of(module, op)?));
        match source.filter(|source| vector_tile(module, *source).is_some()) {
            Some(source) => tile = source,
            None => return false,
        }
    }
}

/// Records what an op derives from tiles that crossed, and the first one that divides others.
fn follow(op: &OpRef<'_>, axes: &Axes, derived: &mut BTreeSet<ValueId>, alone: &mut Option<OpId>) {
    let divided = |value: &ValueId| axes.halved(*value) == Some(axes.axis);
    let results = op.module.op(op.id).results.iter().filter(|v| divided(v));
    if let Some(source) = first_operand(op).filter(|source| derived.contains(source)) {
        // Views of tiles that crossed.
        if vector_tile(op.module, source).is_some() {
            derived.extend(results);
        }
    }
    let tiles = tile_operands(op);
    let writes: Vec<ValueId> = tiles
        .iter()
        .filter(|(v, spec)| divided(v) && matches!(spec.touch, Touch::Write | Touch::ReadWrite))
        .map(|(v, _)| *v)
        .collect();
    let mut reads = tiles.iter().filter(|(v, spec)| divided(v) && spec.touch == Touch::Read).peekable();
    if writes.is_empty() {
        return;
    }
    if reads.peek().is_some() && reads.all(|(v, _)| derived.contains(v)) {
        derived.extend(writes);
    } else {
        alone.get_or_insert(op.id);
    }
}
