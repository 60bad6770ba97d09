//! Tiles in local memories: declared, bound to addresses, given valid shapes (PTO IR manual 4.1).

mod alloc;
mod multi;
mod pointer_cast;
mod reshape;
pub(crate) mod subset;
pub use alloc::ALLOC_TILE;
pub use multi::*;
pub use pointer_cast::*;
pub use reshape::*;
pub use subset::*;

use slipring_ir::{Diags, Infer, Module, OpId, Syntax, Touch, Type, ValueId};
use slipring_machine::Platform;
use slipring_op::address::ADDRESS;
use slipring_program::{Inst, Operand};

use slipring_op::Along;
use slipring_op::decode::{Binding, TileRef, in_memory};
use slipring_op::def::{AddressRule, OpDef, OpRef, Reported};
use slipring_op::rules::{INTEGER, PLAIN, TILE, constant, operand, result, schema};

use crate::tile::alloc::{TILE_BUF, aligned, new_valid};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[
    &ALLOC_TILE,
    &DECLARE_TILE,
    &TASSIGN,
    &SET_VALIDSHAPE,
    &GET_VALIDSHAPE,
    &multi::ALLOC_MULTI_TILE,
    &multi::MULTI_TILE_GET,
    &subset::SUBSET,
    &subset::SUBVIEW,
    &reshape::TRESHAPE,
    &reshape::BITCAST,
    &reshape::BIND_TILE,
    &POINTER_CAST,
];

pub static GET_VALIDSHAPE: OpDef = OpDef {
    schema: schema(
        "pto.get_validshape",
        Syntax::Format("$source attr-dict `:` type($source)"),
        &[operand("source", TILE_BUF, Touch::Nothing, "the tile")],
        &[
            result("valid_row", INTEGER, Infer::Fixed(|| Type::Index), "its valid rows"),
            result("valid_col", INTEGER, Infer::Fixed(|| Type::Index), "its valid columns"),
        ],
        &[],
    ),
    summary: "The valid shape of a tile",
    doc: "How many rows and columns of the tile are valid now.",
    source: "PTO IR of the public assembler 0.60, pto.get_validshape",
    lower: |op, d| {
        let valid = d.tile(op.operand("source").ok_or(Reported)?)?.valid;
        for (at, n) in valid.into_iter().enumerate() {
            let n = if n.as_imm().is_some() { n } else { Operand::Reg(d.variable(n)) };
            d.bind(op.result(at), Binding::Scalar(n));
        }
        Ok(())
    },
    ..PLAIN
};

/// An address outside of every memory.
const NOWHERE: u64 = 1 << 40;

pub static DECLARE_TILE: OpDef = OpDef {
    schema: schema(
        "pto.declare_tile",
        Syntax::Format("attr-dict `->` type($tile)"),
        &[],
        &[result("tile", TILE_BUF, Infer::Written, "the tile, without an address")],
        &[],
    ),
    summary: "Name a tile that a pop of a pipe handle fills in",
    doc: "A tile without memory: `pto.tpop` gives it the slot, or the place where a tile from global memory lands.",
    source: "PTO IR of the public assembler, internal pipe ops",
    lower: |op, d| {
        let Some(ty) = op.module.ty(op.result(0)).as_tile().copied() else { return Err(Reported) };
        let ty = in_memory(d, ty);
        // Nobody may touch it before a pop gives it an address.
        let addr = Operand::Reg(d.variable(Operand::Imm(NOWHERE)));
        let valid = new_valid(d, &ty, [None, None]);
        d.bind(op.result(0), Binding::Tile(TileRef { ty, addr, valid }));
        Ok(())
    },
    ..PLAIN
};

pub static TASSIGN: OpDef = OpDef {
    schema: schema(
        "pto.tassign",
        Syntax::Format("$tile `,` $addr attr-dict `:` type($tile) `->` type($result)"),
        &[
            operand("tile", TILE_BUF, Touch::Nothing, "the tile whose type and valid shape are taken"),
            operand(ADDRESS, INTEGER, Touch::Nothing, "byte offset in the tile's memory"),
        ],
        &[result("result", TILE_BUF, Infer::SameAs(0), "the tile at the address")],
        &[],
    ),
    summary: "The same tile at another address",
    doc: "A tile of the type and valid shape of `tile` at address `addr`. No data moves; `tile` itself stays where it is.",
    source: "tile ISA, TASSIGN",
    address: AddressRule::Operand(ADDRESS),
    verify: |op, _, diags| aligned(op, diags),
    lower: |op, d| {
        let mut tile = d.tile(op.operand("tile").ok_or(Reported)?)?;
        tile.addr = d.scalar(op.operand(ADDRESS).ok_or(Reported)?)?;
        d.bind(op.result(0), Binding::Tile(tile));
        Ok(())
    },
    ..PLAIN
};

pub static SET_VALIDSHAPE: OpDef = OpDef {
    schema: schema(
        "pto.set_validshape",
        Syntax::Format("$source `,` $valid_row `,` $valid_col attr-dict `:` type($source)"),
        &[
            operand("source", TILE, Touch::Nothing, "a tile whose valid shape is open (`?`)"),
            operand("valid_row", INTEGER, Touch::Nothing, "valid rows from now on"),
            operand("valid_col", INTEGER, Touch::Nothing, "valid columns from now on"),
        ],
        &[],
        &[],
    ),
    summary: "Change the valid shape of a tile",
    doc: "Sets the valid rows and columns of a tile whose type leaves both open. Ops issued after it, on this tile and \
          on those made from it later, see the new shape.",
    source: "PTO IR manual 4.1",
    verify: verify_valid_shape,
    along: Along::EACH,
    lower: |op, d| {
        let tile = d.tile(op.operand("source").ok_or(Reported)?)?;
        for (at, name) in ["valid_row", "valid_col"].into_iter().enumerate() {
            let value = d.scalar(op.operand(name).ok_or(Reported)?)?;
            match tile.valid[at] {
                Operand::Reg(register) => d.emit(Inst::Move { d: register, a: value }),
                Operand::Imm(_) => return Err(d.error("tile-valid", OPEN)),
            }
        }
        Ok(())
    },
    ..PLAIN
};

/// The tile whose valid shape an op sets, and the valid rows and columns; `None` for other ops.
pub fn shapes_tile(op: &OpRef<'_>) -> Option<(ValueId, [ValueId; 2])> {
    let named = |name| op.operand(name);
    let shapes = op.def == &SET_VALIDSHAPE;
    shapes.then(|| Some((named("source")?, [named("valid_row")?, named("valid_col")?])))?
}

/// Gives an op that sets the valid shape of a tile another number of valid rows (axis 0) or columns (1).
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
