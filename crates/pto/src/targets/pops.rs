//! Popped tiles that a version of the assembler merges.
//!
//! It declares a tile for each pop as if the declaration had no effect, and merges declarations of the same type: if
//! two tiles of one type are held at the same time, both pops fill the same tile. Types with different paddings are
//! kept apart.

use std::collections::BTreeMap;

use slipring_ir::{Module, OpId, TileType, Type, ValueId};
use slipring_machine::Platform;
use slipring_op::target::Scalars;
use slipring_op::{OpRef, PipeRule};

use crate::DECLARE_TILE;

/// The number of paddings that a type can have.
const PADS: u8 = 4;

/// Gives a popped tile a distinct type if an earlier popped tile of its type is still held.
///
/// # Errors
/// The reason why the tiles cannot be kept apart.
pub(super) fn popped_apart(_: &Scalars, module: &mut Module, op: OpId, _: &Platform) -> Result<(), String> {
    let Some(tile) = popped(module, op) else { return Ok(()) };
    let Some(own) = module.ty(tile).as_tile().copied() else { return Ok(()) };
    let Some(body) = module.function_of(op).and_then(|function| module.body(function, 0)) else { return Ok(()) };
    let walk = module.walk(body);
    let order: BTreeMap<OpId, usize> = walk.iter().enumerate().map(|(at, op)| (*op, at)).collect();
    let at = order.get(&op).copied().unwrap_or(0);
    let before = walk[..at].iter().filter_map(|other| Some((*other, popped(module, *other)?)));
    let held = before.filter(|(other, tile)| last_use(module, &order, *other, *tile) > at);
    let taken: Vec<TileType> = held.filter_map(|(_, tile)| module.ty(tile).as_tile().copied()).collect();
    let pads = std::iter::once(own.pad).chain((0..PADS).filter(|pad| *pad != own.pad));
    match pads.map(|pad| TileType { pad, ..own }).find(|ty| !taken.contains(ty)) {
        Some(ty) if ty.pad == own.pad => {}
        Some(ty) if may_change(module, tile) => repad(module, tile, ty.pad),
        Some(_) => {
            return Err(
                "it would merge the tile with another one of its type that is held at the same time, and this one is \
                        passed on or written"
                    .into(),
            );
        }
        None => return Err(format!("it would merge tiles: more than {PADS} of one type are held at once")),
    }
    Ok(())
}

/// The tile that an op pops, or declares for a pop by a pipe value.
fn popped(module: &Module, op: OpId) -> Option<ValueId> {
    let pops = OpRef::of(module, op)?.def.ring.is_some_and(|part| part.takes_tile());
    let tile = *module.op(op).results.first()?;
    ((pops || module.op(op).is(&DECLARE_TILE.schema)) && module.ty(tile).as_tile().is_some()).then_some(tile)
}

/// The ops that use a value.
fn users(module: &Module, value: ValueId) -> Vec<OpId> {
    module.walk(module.top).into_iter().filter(|op| module.op(*op).operands.contains(&value)).collect()
}

/// Results of an op that are views of its operands.
fn views(module: &Module, op: OpId) -> Vec<ValueId> {
    let view = OpRef::of(module, op).is_some_and(|op| matches!(op.def.pipe, PipeRule::None) && op.def.ring.is_none());
    let results = module.op(op).results.iter().copied();
    results.filter(|result| view && module.ty(*result).as_tile().is_some()).collect()
}

/// The position of the last use of a tile made by `by`. A use inside a loop that began after the tile was made lasts
/// until the loop ends.
fn last_use(module: &Module, order: &BTreeMap<OpId, usize>, by: OpId, tile: ValueId) -> usize {
    let home = module.parent_op(by);
    let mut last = order.get(&by).copied().unwrap_or(0);
    for user in users(module, tile) {
        let mut outer = user;
        while let Some(parent) = module.parent_op(outer).filter(|parent| Some(*parent) != home) {
            outer = parent;
        }
        let regions = &module.op(outer).regions;
        let inside = (0..regions.len()).filter_map(|at| module.body(outer, at)).flat_map(|body| module.walk(body));
        let end = inside.chain([outer]).filter_map(|op| order.get(&op)).max();
        last = last.max(end.copied().unwrap_or(usize::MAX));
        for view in views(module, user) {
            last = last.max(last_use(module, order, user, view));
        }
    }
    last
}

/// True if a tile may get another padding: it is only read, or filled by a pop, and not passed on by control flow.
fn may_change(module: &Module, tile: ValueId) -> bool {
    users(module, tile).into_iter().all(|user| {
        let Some(op) = OpRef::of(module, user) else { return false };
        let passes = op.def.schema.terminator || !module.op(user).regions.is_empty() || module.callee(user).is_some();
        let pops = op.def.ring.is_some_and(|part| part.takes_tile());
        let writes = op.written().any(|value| value == tile);
        !passes && (pops || !writes) && views(module, user).into_iter().all(|view| may_change(module, view))
    })
}

fn repad(module: &mut Module, tile: ValueId, pad: u8) {
    if let Type::Tile(ty) = &mut module.value_mut(tile).ty {
        ty.pad = pad;
    }
    for view in users(module, tile).into_iter().flat_map(|user| views(module, user)).collect::<Vec<_>>() {
        repad(module, view, pad);
    }
}
