//! Tiles in local memories: declaration, addresses, valid shapes (PTO IR manual 4.1).

pub(super) mod alloc;
pub(super) mod multi;
pub(super) mod pointer_cast;
pub(super) mod reshape;
pub(crate) mod subset;
pub use alloc::ALLOC_TILE;
pub use multi::*;
pub use pointer_cast::*;
pub use reshape::*;
pub use subset::*;

use slipring_ir::{Diags, Infer, Module, OpId, OperandSpec, ResultSpec, Syntax, Touch, Type, ValueId};
use slipring_machine::Platform;
use slipring_op::address::ADDRESS;
use slipring_program::{Inst, Operand};

use slipring_op::decode::{Binding, Decoder, TileRef, in_memory};
use slipring_op::def::{AddressRule, Lowered, OpRef, Reported};
use slipring_op::rules::{INTEGER, PLAIN, TILE, constant, operand, result};
use slipring_op::{Along, ops, positional};

use crate::tile::alloc::{TILE_BUF, aligned, new_valid};

ops! {
    OPS;

    /// How many rows and columns of the tile are valid now.
    pub GET_VALIDSHAPE "pto.get_validshape" "The valid shape of a tile": PLAIN,
        source: "PTO IR of the public assembler 0.60, pto.get_validshape", lower: lower_get_validshape
        => {
            syntax: positional!("source"),
            operands: &[operand("source", TILE_BUF, Touch::Nothing, "the tile")],
            results: &[
                result("valid_row", INTEGER, Infer::Fixed(|| Type::Index), "its valid rows"),
                result("valid_col", INTEGER, Infer::Fixed(|| Type::Index), "its valid columns"),
            ],
        };

    /// How many rows of the tile are valid now.
    pub TILE_VALID_ROWS "pto.tile_valid_rows" "The valid rows of a tile": PLAIN, source: OF_ONE_SIDE,
        lower: |op, d| lower_valid_side(op, d, 0)
        => { syntax: positional!("src" => "result"), operands: VALID_OF, results: VALID_SIDE };

    /// How many columns of the tile are valid now.
    pub TILE_VALID_COLS "pto.tile_valid_cols" "The valid columns of a tile": PLAIN, source: OF_ONE_SIDE,
        lower: |op, d| lower_valid_side(op, d, 1)
        => { syntax: positional!("src" => "result"), operands: VALID_OF, results: VALID_SIDE };

    /// A tile without memory: `pto.tpop` gives it the slot, or the place where a tile from global memory lands.
    pub DECLARE_TILE "pto.declare_tile" "Name a tile that a pop of a pipe handle fills in": PLAIN,
        source: "PTO IR of the public assembler, internal pipe ops", lower: lower_declare_tile
        => {
            syntax: Syntax::Format("attr-dict `->` type($tile)"),
            results: &[result("tile", TILE_BUF, Infer::Written, "the tile, without an address")],
        };

    /// A tile of the type and valid shape of `tile` at address `addr`. No data moves; `tile` itself stays where it is.
    pub TASSIGN "pto.tassign" "The same tile at another address": PLAIN, source: "tile ISA, TASSIGN",
        address: AddressRule::Operand(ADDRESS), verify: |op, _, diags| aligned(op, diags), lower: lower_tassign
        => {
            syntax: Syntax::Format("$tile `,` $addr attr-dict `:` type($tile) `->` type($result)"),
            operands: &[
                operand("tile", TILE_BUF, Touch::Nothing, "the tile whose type and valid shape are taken"),
                operand(ADDRESS, INTEGER, Touch::Nothing, "byte offset in the tile's memory"),
            ],
            results: &[result("result", TILE_BUF, Infer::SameAs(0), "the tile at the address")],
        };

    /// Sets the valid rows and columns of a tile whose type leaves both open. Ops issued after it, on this tile and on
    /// those made from it later, see the new shape.
    pub SET_VALIDSHAPE "pto.set_validshape" "Change the valid shape of a tile": PLAIN, source: "PTO IR manual 4.1",
        verify: verify_valid_shape, along: Along::EACH, lower: lower_set_validshape
        => {
            syntax: Syntax::Format("$source `,` $valid_row `,` $valid_col attr-dict `:` type($source)"),
            operands: &[
                operand("source", TILE, Touch::Nothing, "a tile whose valid shape is open (`?`)"),
                operand("valid_row", INTEGER, Touch::Nothing, "valid rows from now on"),
                operand("valid_col", INTEGER, Touch::Nothing, "valid columns from now on"),
            ],
        };
}

const OF_ONE_SIDE: &str = "PTO IR of the public assembler 0.60, pto.tile_valid_rows and pto.tile_valid_cols";
const VALID_OF: &[OperandSpec] = &[operand("src", TILE_BUF, Touch::Nothing, "the tile")];
const VALID_SIDE: &[ResultSpec] = &[result("result", INTEGER, Infer::Fixed(|| Type::Index), "the number")];

fn lower_get_validshape(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let valid = d.tile(op.operand("source").ok_or(Reported)?)?.valid;
    for (at, n) in valid.into_iter().enumerate() {
        bind_valid(d, op.result(at), n);
    }
    Ok(())
}

fn lower_valid_side(op: &OpRef<'_>, d: &mut Decoder<'_>, axis: usize) -> Lowered {
    let valid = d.tile(op.operand("src").ok_or(Reported)?)?.valid;
    bind_valid(d, op.result(0), valid[axis]);
    Ok(())
}

/// Binds a result to a number of valid rows or columns as it is now: the tile's may change later.
fn bind_valid(d: &mut Decoder<'_>, result: ValueId, n: Operand) {
    let n = if n.as_imm().is_some() { n } else { Operand::Reg(d.variable(n)) };
    d.bind(result, Binding::Scalar(n));
}

fn lower_declare_tile(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let Some(ty) = op.module.ty(op.result(0)).as_tile().copied() else { return Err(Reported) };
    let ty = in_memory(d, ty);
    // An access before a pop gives it an address must fail.
    let addr = Operand::Reg(d.variable(Operand::Imm(NOWHERE)));
    let valid = new_valid(d, &ty, [None, None]);
    d.bind(op.result(0), Binding::Tile(TileRef { ty, addr, valid }));
    Ok(())
}

fn lower_tassign(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut tile = d.tile(op.operand("tile").ok_or(Reported)?)?;
    tile.addr = d.scalar(op.operand(ADDRESS).ok_or(Reported)?)?;
    alloc::hold_aligned(op, d, tile.addr, alloc::ALIGN as u16);
    d.bind(op.result(0), Binding::Tile(tile));
    Ok(())
}

fn lower_set_validshape(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let tile = d.tile(op.operand("source").ok_or(Reported)?)?;
    for (at, name) in ["valid_row", "valid_col"].into_iter().enumerate() {
        let value = d.scalar(op.operand(name).ok_or(Reported)?)?;
        match tile.valid[at] {
            Operand::Reg(register) => d.emit(Inst::Move { d: register, a: value }),
            Operand::Imm(_) => return Err(d.error("tile-valid", OPEN)),
        }
    }
    Ok(())
}

/// An address outside every memory.
const NOWHERE: u64 = 1 << 40;

/// The tile whose valid shape an op sets, with the valid rows and columns; `None` for other ops.
pub fn shapes_tile(op: &OpRef<'_>) -> Option<(ValueId, [ValueId; 2])> {
    let named = |name| op.operand(name);
    let shapes = op.def == &SET_VALIDSHAPE;
    shapes.then(|| Some((named("source")?, [named("valid_row")?, named("valid_col")?])))?
}

/// Replaces the number of valid rows (axis 0) or columns (axis 1) in an op that sets the valid shape of a tile.
pub fn set_valid(module: &mut Module, op: OpId, axis: usize, valid: ValueId) {
    module.operands_named_mut(op, ["valid_row", "valid_col"][axis & 1])[0] = valid;
}

const OPEN: &str = "expects source tile to have dynamic validShape (?, ?)";

fn verify_valid_shape(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    let Some(ty) = op.tile("source") else { return };
    if ty.valid.iter().any(|dim| dim.known().is_some()) {
        diags.push(op.error("tile-valid", OPEN).help("write `valid=?x?` in the type of the tile"));
    }
    let sides = [("valid_row", ty.layout.rows, "rows"), ("valid_col", ty.layout.cols, "columns")];
    for (name, all, what) in sides {
        let given = op.operand(name).and_then(|v| constant(op.module, v));
        if let Some(n) = given.filter(|n| *n < 0 || *n > i64::from(all)) {
            diags.push(op.error("tile-valid", format!("{n} valid {what} in a tile of {all}")));
        }
    }
}
