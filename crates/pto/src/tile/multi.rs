//! Arrays of tiles of one type, with a selected element.

use slipring_ir::{Attr, AttrDict, Diags, Infer, Module, OpId, Span, Syntax, TileType, Touch, Type, TypeRule, ValueId};
use slipring_program::{Inst, Operand};
use slipring_tile::Space;

use super::ALLOC_TILE;
use slipring_op::address::ADDRESS;
use slipring_op::decode::{Binding, Decoder, Decoding, TileRef, in_memory, no_address};
use slipring_op::def::{Lowered, OpRef, Reported};
use slipring_op::rules::{INTEGER, PLAIN, constant, operand, optional, result};

use crate::tile::alloc::{TILE_BUF, hold_aligned, new_valid, optional_scalar};
use slipring_machine::Platform;
use slipring_op::ops;

const MULTI: TypeRule = TypeRule { describe: "several tiles", accepts: |t| matches!(t, Type::MultiTile { .. }) };

ops! {
    OPS;

    /// `!pto.multi_tile_buf<vec, 16x16xf16, count=2>` is two tiles, each as `pto.alloc_tile` would declare it: the
    /// compiler places them where it likes; with `addr` they lie one after the other, the next at a multiple of 32
    /// bytes (512 in L0).
    pub ALLOC_MULTI_TILE "pto.alloc_multi_tile" "Declare several tiles of one type": PLAIN,
        source: "PTO IR manual of the public assembler 0.60, pto.alloc_multi_tile", verify: verify_alloc_multi,
        lower: lower_alloc_multi_tile
        => {
            syntax: Syntax::Format(
                "(`addr` `=` $addr)? (`valid_row` `=` $valid_row)? (`valid_col` `=` $valid_col)? attr-dict `:` type($tiles)",
            ),
            operands: &[
                optional(ADDRESS, INTEGER, Touch::Nothing, "byte offset of the first; by default the compiler's choice"),
                optional("valid_row", INTEGER, Touch::Nothing, "valid rows, where the type says `?`"),
                optional("valid_col", INTEGER, Touch::Nothing, "valid columns, where the type says `?`"),
            ],
            results: &[result("tiles", MULTI, Infer::Written, "the tiles")],
        };

    /// The tile of number `slot`: the same bytes, no copy. A number that none has stops the run. Flags between pipes
    /// are added as if any of the tiles were meant where the number is not a constant.
    pub MULTI_TILE_GET "pto.multi_tile_get" "One of several tiles": PLAIN,
        source: "PTO IR manual of the public assembler 0.60, pto.multi_tile_get", verify: verify_multi_tile_get,
        lower: lower_multi_tile_get
        => {
            syntax: Syntax::Format("$source `[` $slot `]` attr-dict `:` type($source) `->` type($tile)"),
            operands: &[
                operand("source", MULTI, Touch::Nothing, "the tiles"),
                operand("slot", INTEGER, Touch::Nothing, "which of them, from 0"),
            ],
            results: &[result("tile", TILE_BUF, Infer::Written, "that tile")],
        };
}

fn lower_alloc_multi_tile(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let Type::MultiTile { slot, count } = *op.module.ty(op.result(0)) else { return Err(Reported) };
    let ty = in_memory(d, slot);
    let given = [optional_scalar(d, op.operand("valid_row"))?, optional_scalar(d, op.operand("valid_col"))?];
    let stride = slot_bytes(&slot);
    let base = match (optional_scalar(d, op.operand(ADDRESS))?, d.mode) {
        (Some(addr), _) => {
            hold_aligned(op, d, addr, unit(&slot));
            addr
        }
        (None, Decoding::Reference) => d.tile_memory(op.id, ty.space, stride * u64::from(count)),
        (None, Decoding::Device) => return Err(no_address(op, d)),
    };
    let tiles = (0..count).map(|at| {
        let addr = d.moved(base, Operand::Imm(stride * u64::from(at)));
        let valid = new_valid(d, &ty, given);
        Binding::Tile(TileRef { ty, addr, valid })
    });
    let tiles = tiles.collect();
    d.bind(op.result(0), Binding::Many(tiles));
    Ok(())
}

fn verify_multi_tile_get(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    let Some(Type::MultiTile { slot, count }) = op.ty("source") else { return };
    if op.module.ty(op.result(0)).as_tile() != Some(slot) {
        diags.push(op.error("tile-type", "expects the result to have the type of each of the tiles"));
    }
    let at = op.operand("slot").and_then(|value| constant(op.module, value));
    if let Some(at) = at.filter(|at| !(0..i64::from(*count)).contains(at)) {
        diags.push(op.error("multi-slot", format!("tile {at} of {count}: they count from 0")));
    }
}

fn lower_multi_tile_get(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let source = op.operand("source").ok_or(Reported)?;
    let Some(Binding::Many(tiles)) = d.binding(source).cloned() else {
        return Err(d.unsupported("several tiles that control flow passes on"));
    };
    let at = d.scalar(op.operand("slot").ok_or(Reported)?)?;
    if let Some(tile) = at.as_imm().and_then(|at| usize::try_from(at).ok()).and_then(|at| tiles.get(at)) {
        d.bind(op.result(0), tile.clone());
        return Ok(());
    }
    let Some(first) = tiles.first().cloned() else { return Err(Reported) };
    let chosen = d.phi(&first);
    let end = d.label();
    for (slot, tile) in tiles.iter().enumerate() {
        let other = d.label();
        let hit =
            d.compute(|[at, slot, _]| Ok(u64::from(at == slot)), [at, Operand::Imm(slot as u64), Operand::Imm(0)]);
        d.jump_if_zero(hit, other);
        d.assign(std::slice::from_ref(&chosen), std::slice::from_ref(tile));
        d.jump(end);
        d.place(other);
    }
    d.emit(Inst::Trap { message: NO_SLOT.into() });
    d.place(end);
    d.bind(op.result(0), chosen);
    Ok(())
}

/// The distance between the tiles in bytes.
pub fn slot_bytes(slot: &TileType) -> u64 {
    (slot.layout.bytes() as u64).next_multiple_of(unit(slot).into())
}

fn verify_alloc_multi(op: &OpRef<'_>, platform: &slipring_machine::Platform, diags: &mut Diags) {
    let Type::MultiTile { slot, .. } = op.module.ty(op.result(0)) else { return };
    for (at, name) in [(0, "valid_row"), (1, "valid_col")] {
        if op.operand(name).is_some() && slot.valid[at].known().is_some() {
            diags.push(op.error("tile-valid", format!("`{name}` is given, and the type of the tiles already says it")));
        } else if op.operand(name).is_none() && slot.valid[at].known().is_none() {
            diags.push(op.error("tile-valid", format!("expects `{name}`: the type leaves it open")));
        }
    }
    if slot.compact == 2 {
        diags.push(op.error("tile-type", "several tiles with `compact=row_plus_one` would overlap"));
    }
    if platform.space(slot.space).is_none() {
        diags.push(op.error("tile-space", format!("this platform has no `{}` memory", slot.space)));
    }
    let start = op.operand(ADDRESS).and_then(|v| constant(op.module, v));
    let unit = unit(slot);
    if let Some(start) = start.filter(|n| n % i64::from(unit) != 0 || *n < 0) {
        diags.push(op.error("tile-align", format!("the address {start} is not a multiple of {unit}")));
    }
}

/// Alignment of the first tile's address in bytes.
fn unit(slot: &TileType) -> u16 {
    if matches!(slot.space, Space::Vec | Space::Mat) { 32 } else { 512 }
}

/// The message of a run if an index is out of the range of the tiles.
pub const NO_SLOT: &str = "a number names none of several tiles";

/// The tiles that an `alloc_multi_tile` declares, each as a separate op that is not in a block yet, with the ops that
/// compute their addresses.
pub fn each_tile(module: &mut Module, op: OpId, address: &mut dyn FnMut(&mut Module, u64) -> ValueId) -> Vec<OpId> {
    let data = module.op(op);
    let (span, tiles) = (data.span, data.results[0]);
    let Type::MultiTile { slot, count } = *module.ty(tiles) else { return Vec::new() };
    let [addr, rows, cols] = [ADDRESS, "valid_row", "valid_col"].map(|name| module.operands_named(op, name).to_vec());
    (0..u64::from(count))
        .map(|at| {
            let addr = if addr.is_empty() { Vec::new() } else { vec![address(module, at * slot_bytes(&slot))] };
            let operands: [(&str, &[ValueId]); 3] = [(ADDRESS, &addr), ("valid_row", &rows), ("valid_col", &cols)];
            ALLOC_TILE.make(module, &operands, AttrDict::default(), &[Type::Tile(slot)], span)
        })
        .collect()
}

/// The op that stops a run if an index is out of the range of the tiles, not in a block yet.
pub fn no_slot(module: &mut Module, span: Span) -> OpId {
    crate::TRAP.make(module, &[], [("reason", Attr::Str(NO_SLOT.into()))], &[], span)
}
