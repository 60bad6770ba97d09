//! Allocation of tiles.

use slipring_ir::{Diags, Dim, Infer, Syntax, TileType, Touch, Type, TypeRule, ValueId};
use slipring_machine::Platform;
use slipring_op::address::ADDRESS;
use slipring_op::decode::{Binding, Decoder, Decoding, TileRef, in_memory, no_address};
use slipring_op::def::{AddressRule, Lowered, OpRef, Reported};
use slipring_op::rules::{INTEGER, PLAIN, constant, is_multiple, optional, result};
use slipring_op::{Along, ops};
use slipring_program::{Operand, Trap};

pub(crate) const TILE_BUF: TypeRule =
    TypeRule { describe: "a tile", accepts: |t| matches!(t, Type::Tile(_) | Type::ShortTile { .. }) };

/// Alignment of tile addresses on all platforms, in bytes.
pub(super) const ALIGN: i64 = 32;

ops! {
    OPS;

    /// A tile of the type's shape, layout and memory. Its bytes are whatever the memory holds. Without `addr` the
    /// compiler places it so that it overlaps no other tile that is in use at the same time. Where the type leaves the
    /// valid shape open (`?`) the operands give it; without operands the whole tile is valid until `pto.set_validshape`
    /// says otherwise. The boxes of a tile in L0A are ordered as the platform orders them; a tile with boxes that is
    /// not a whole number of them lies row by row.
    pub ALLOC_TILE "pto.alloc_tile" "Declare a tile in a local memory": PLAIN, source: "PTO IR manual 4.1",
        address: AddressRule::Operand(ADDRESS), verify: verify_alloc, along: Along::EACH, lower: lower_alloc
        => {
            syntax: Syntax::Format(
                "(`addr` `=` $addr)? (`valid_row` `=` $valid_row)? (`valid_col` `=` $valid_col)? attr-dict `:` type($tile)",
            ),
            operands: &[
                optional(
                    ADDRESS,
                    INTEGER,
                    Touch::Nothing,
                    "byte offset in the tile's memory; by default the compiler's choice",
                ),
                optional("valid_row", INTEGER, Touch::Nothing, "valid rows, where the type says `?`"),
                optional("valid_col", INTEGER, Touch::Nothing, "valid columns, where the type says `?`"),
            ],
            results: &[result("tile", TILE_BUF, Infer::Written, "the tile")],
        };
}

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

/// Reports a misaligned constant address of a tile.
pub(crate) fn aligned(op: &OpRef<'_>, diags: &mut Diags) {
    let start = op.operand(ADDRESS).and_then(|v| constant(op.module, v));
    let wrong = match start {
        Some(start) if start < 0 => format!("the address {start} is negative"),
        Some(start) if start % ALIGN != 0 => format!("the address {start} is not a multiple of {ALIGN}"),
        _ => return,
    };
    diags.push(op.error("tile-align", wrong).help(format!("place tiles at multiples of {ALIGN} bytes, from 0 on")));
}

/// Stops the run if a computed address is not a multiple of `unit` bytes, which is a power of two.
pub(crate) fn hold_aligned(op: &OpRef<'_>, d: &mut Decoder<'_>, addr: Operand, unit: u16) {
    fn hold<const UNIT: u16>([addr, ..]: [u64; 3]) -> Result<u64, Trap> {
        if addr.is_multiple_of(UNIT.into()) { Ok(0) } else { Err(Trap::TileAddress(UNIT)) }
    }
    let Some(value) = op.operand(ADDRESS) else { return };
    if !is_multiple(op.module, value, unit.into()) {
        let hold = if unit == 512 { hold::<512> } else { hold::<{ ALIGN as u16 }> };
        d.compute(hold, [addr, Operand::Imm(0), Operand::Imm(0)]);
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

/// The valid shape of a new tile: dynamic extents get registers, so that they can change.
pub(crate) fn new_valid(d: &mut Decoder<'_>, ty: &TileType, given: [Option<Operand>; 2]) -> [Operand; 2] {
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
            hold_aligned(op, d, addr, ALIGN as u16);
            addr
        }
        // It has memory of its own, which may be more than the platform has: the passes may still shrink some tiles.
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

pub(crate) fn optional_scalar(d: &mut Decoder<'_>, value: Option<ValueId>) -> Result<Option<Operand>, Reported> {
    value.map(|value| d.scalar(value)).transpose()
}
