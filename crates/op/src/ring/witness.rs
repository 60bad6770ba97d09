//! Checks on undivided tiles that lane 1 pushes.
//!
//! Without a split both Vector cores hold the same tile: lane 0 pushes it, lane 1 takes part in the handshake. If lane
//! 1's tile differed, it would be lost silently. Therefore each of its tiles is copied to memory that no address
//! reaches, and the pop compares the two. This costs no cycles, because the device does nothing like it.

use super::split::Split;
use slipring_effect::{MoveArgs, MoveEffect, MovePart, SameArgs, SameTiles, TilePlace};
use slipring_ir::TileType;
use slipring_machine::{Cost, Role};
use slipring_program::{Direction, Operand, Reg};
use slipring_tile::Space;

use crate::decode::{Decoder, Decoding, TileRef, in_memory};
use crate::ring::planned::PlannedRing;

/// True if both lanes push whole tiles into a ring, of which only lane 0's arrive.
fn is_watched(d: &Decoder<'_>, ring: &PlannedRing, split: Split) -> bool {
    let towards_cube = ring.direction == Direction::V2C && !ring.control;
    towards_cube && split == Split::None && ring.lanes == [true; 2] && d.mode == Decoding::Device
}

/// The copy of the tile in a slot.
fn copy_of(d: &mut Decoder<'_>, ring: &PlannedRing, tag: Reg) -> Operand {
    let of = |tile: &TileType| in_memory(d, *tile).layout.bytes() as u64;
    let bytes = ring.ends.cube_tiles().map(of).max().unwrap_or(0).next_multiple_of(512);
    let base = d.ring_memory(u32::MAX - ring.first, Space::Mat, bytes * u64::from(ring.slots));
    let offset = d.mul(Operand::Reg(tag), Operand::imm(bytes as i64));
    d.add(base, offset)
}

/// Copies the tile that lane 1 pushes.
pub(super) fn push(
    d: &mut Decoder<'_>,
    ring: &PlannedRing,
    split: Split,
    source: TilePlace,
    tile: &TileRef,
    tag: Reg,
    pushed: &TileType,
) {
    if !is_watched(d, ring, split) || d.role.subblock() == 0 {
        return;
    }
    let to = in_memory(d, ring.ends.other(split, pushed, false)).layout;
    let place = TilePlace { space: Space::Mat, core: Role::Aic, layout: to };
    let parts = vec![MovePart::all(Role::Aic, to.rows, to.cols)];
    let effect = MoveEffect { from: source, to: place, parts, ..MoveEffect::default() };
    let copy = copy_of(d, ring, tag);
    let args = MoveArgs { from: tile.addr, to: copy, rows: tile.valid[0], cols: tile.valid[1], scale: Operand::Imm(0) };
    d.issue(ring.phases.record, effect, args.list(), Cost::fixed(0));
}

/// Compares the popped tile with the one that lane 1 pushed.
pub(super) fn pop(d: &mut Decoder<'_>, ring: &PlannedRing, split: Split, tile: &TileRef, tag: Reg) {
    if !is_watched(d, ring, split) {
        return;
    }
    let copy = copy_of(d, ring, tag);
    let effect = SameTiles { space: Space::Mat, core: Role::Aic, layout: tile.ty.layout, region: None };
    let args = SameArgs { first: tile.addr, second: copy, rows: tile.valid[0], cols: tile.valid[1] };
    d.issue(ring.phases.wait, effect, args.list(), Cost::fixed(0));
}
