//! Tiles in local memories: declared, bound to addresses, given valid shapes (PTO IR manual 4.1).

mod multi;
mod pointer_cast;
mod reshape;
pub(crate) mod subset;

pub use multi::*;
pub use pointer_cast::*;
pub use reshape::*;
pub use subset::*;

use slipring_ir::{Diags, Dim, Infer, Module, OpId, Syntax, TileType, Touch, Type, TypeRule, ValueId};
use slipring_machine::Platform;
use slipring_op::address::ADDRESS;
use slipring_program::{Inst, Operand};

use slipring_op::Along;
use slipring_op::decode::{Binding, Decoder, Decoding, TileRef, in_memory, no_address};
use slipring_op::def::{AddressRule, Lowered, OpDef, OpRef, Reported};
use slipring_op::rules::{INTEGER, PLAIN, TILE, constant, operand, optional, result, schema};

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

const TILE_BUF: TypeRule =
    TypeRule { describe: "a tile", accepts: |t| matches!(t, Type::Tile(_) | Type::ShortTile { .. }) };

/// Bytes to which the address of a tile is aligned everywhere.
const ALIGN: i64 = 32;

pub static ALLOC_TILE: OpDef = OpDef {
    schema: schema(
        "pto.alloc_tile",
        Syntax::Format(
            "(`addr` `=` $addr)? (`valid_row` `=` $valid_row)? (`valid_col` `=` $valid_col)? attr-dict `:` type($tile)",
        ),
        &[
            optional(
                ADDRESS,
                INTEGER,
                Touch::Nothing,
                "byte offset in the tile's memory; by default the compiler's choice",
            ),
            optional("valid_row", INTEGER, Touch::Nothing, "valid rows, where the type says `?`"),
            optional("valid_col", INTEGER, Touch::Nothing, "valid columns, where the type says `?`"),
        ],
        &[result("tile", TILE_BUF, Infer::Written, "the tile")],
        &[],
    ),
    summary: "Declare a tile in a local memory",
    doc: "A tile of the type's shape, layout and memory. Its bytes are whatever the memory holds. Without `addr` the \
          compiler places it so that it overlaps no other tile that is in use at the same time. Where the type leaves \
          the valid shape open (`?`) the operands give it; without operands the whole tile is valid until \
          `pto.set_validshape` says otherwise. The boxes of a tile in L0A are ordered as the platform orders them; a \
          tile with boxes that is not a whole number of them lies row by row.",
    source: "PTO IR manual 4.1",
    address: AddressRule::Operand(ADDRESS),
    verify: verify_alloc,
    along: Along::EACH,
    lower: lower_alloc,
    ..PLAIN
};

fn verify_alloc(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    let Some(ty) = op.module.ty(op.result(0)).as_tile() else { return };
    for (at, name) in [(0, "valid_row"), (1, "valid_col")] {
        if op.operand(name).is_some() && ty.valid[at].known().is_some() {
            diags.push(
                op.error("tile-valid", format!("`{name}` is given, and the type of the tile already says it"))
                    .help("write `?` in the type's valid shape, or leave the operand out"),
            );
        }
    }
    valid_in_shape(op, ty, diags);
    if platform.space(ty.space).is_none() {
        diags.push(op.error("tile-space", format!("this platform has no `{}` memory", ty.space)));
    }
    aligned(op, diags);
}

/// Reports a constant address at which no tile can begin.
fn aligned(op: &OpRef<'_>, diags: &mut Diags) {
    let start = op.operand(ADDRESS).and_then(|v| constant(op.module, v));
    if let Some(start) = start.filter(|n| n % ALIGN != 0 || *n < 0) {
        diags.push(
            op.error("tile-align", format!("the address {start} is not a multiple of {ALIGN}"))
                .help(format!("place tiles at multiples of {ALIGN} bytes")),
        );
    }
}

/// Reports a constant valid shape that is larger than the tile.
fn valid_in_shape(op: &OpRef<'_>, ty: &TileType, diags: &mut Diags) {
    for (dim, all, what) in [(ty.valid[0], ty.layout.rows, "rows"), (ty.valid[1], ty.layout.cols, "columns")] {
        if let Dim::Static(n) = dim
            && n > u64::from(all)
        {
            diags.push(op.error("tile-valid", format!("{n} valid {what} in a tile of {all}")));
        }
    }
}

/// The valid shape of a new tile: registers of its own where the type leaves it open, so that it can change.
fn new_valid(d: &mut Decoder<'_>, ty: &TileType, given: [Option<Operand>; 2]) -> [Operand; 2] {
    let all = [ty.layout.rows, ty.layout.cols];
    std::array::from_fn(|at| match ty.valid[at] {
        Dim::Static(n) => Operand::Imm(n),
        Dim::Dynamic => {
            let value = given[at].unwrap_or(Operand::Imm(all[at].into()));
            Operand::Reg(d.variable(value))
        }
    })
}

fn lower_alloc(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let Some(ty) = op.module.ty(op.result(0)).as_tile().copied() else { return Err(Reported) };
    let ty = in_memory(d, ty);
    let given = [optional_scalar(d, op.operand("valid_row"))?, optional_scalar(d, op.operand("valid_col"))?];
    let addr = match (optional_scalar(d, op.operand("addr"))?, d.mode) {
        (Some(addr), _) => {
            fits(op, d, &ty)?;
            addr
        }
        // Its bytes are its own, and may be more than the memory has: the passes make smaller tiles of some.
        (None, Decoding::Reference) => d.tile_memory(op.id, ty.space, ty.layout.bytes() as u64),
        (None, Decoding::Device) => {
            fits(op, d, &ty)?;
            return Err(no_address(op, d));
        }
    };
    let valid = new_valid(d, &ty, given);
    let addr = if d.rings.rebinds(op.result(0)) { Operand::Reg(d.variable(addr)) } else { addr };
    d.bind(op.result(0), Binding::Tile(TileRef { ty, addr, valid }));
    Ok(())
}

/// Reports a tile that is larger than its memory.
fn fits(op: &OpRef<'_>, d: &mut Decoder<'_>, ty: &TileType) -> Lowered {
    let (bytes, all) = (ty.layout.bytes() as u64, d.platform.space(ty.space).map_or(0, |space| space.bytes));
    if bytes <= all {
        return Ok(());
    }
    let message = format!("a tile of {bytes} bytes does not fit into `{}`, which has {all}", ty.space);
    Err(d.report(op.error("tile-capacity", message)))
}

fn optional_scalar(d: &mut Decoder<'_>, value: Option<ValueId>) -> Result<Option<Operand>, Reported> {
    value.map(|value| d.scalar(value)).transpose()
}

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
