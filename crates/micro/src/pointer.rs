//! Pointers from addresses (micro-instruction manual, Pointer Operations).

use slipring_ir::{Diags, Infer, Kind, MemRefType, Module, Touch, Type, TypeRule, ValueId};

use super::memory::address_of;
use slipring_machine::Platform;
use slipring_op::address::Address;
use slipring_op::decode::{Binding, Decoder};
use slipring_op::def::{CoreRule, Lowered, OpRef, Reported};
use slipring_op::rules::{PLAIN, POINTER, TILE, constant, operand, result};
use slipring_op::{ops, positional};
use slipring_tile::Space;

const ADDRESS: TypeRule =
    TypeRule { describe: "an address or a pointer", accepts: |t| t.is_int_like() || matches!(t, Type::Ptr(..)) };
const SOURCE: TypeRule = TypeRule {
    describe: "an address, a pointer or a memref",
    accepts: |t| (ADDRESS.accepts)(t) || matches!(t, Type::MemRef(_)),
};

ops! {
    OPS;

    // A pointer made from an address, from another pointer, or from a memref.
    /// A pointer to byte `address` of the memory that its type names; of a pointer also its address as a number; of a
    /// memref a pointer to its first element. Nothing is moved or allocated.
    pub CASTPTR "pto.castptr" "Take an address as a pointer": PLAIN,
        source: "micro-instruction manual, Pointer Operations; PTO tile instruction SPEC 3", verify: verify_castptr,
        lower: lower_castptr
        => {
            syntax: positional!("address" => "result"),
            operands: &[
                operand(
                    "address",
                    SOURCE,
                    Touch::Nothing,
                    "byte address, or a pointer or memref to look at as a pointer of another type",
                ),
            ],
            results: &[result("result", ADDRESS, Infer::Written, "the pointer, or the address of one")],
        };

    /// A pointer to the first element of a tile in its own memory. Nothing moves. Of a tile in UB it is for the
    /// instructions of the vector function that it stands in; outside of vector functions that is refused. A tile of the
    /// Cube core has its address in the text (`addr = …`): what lies there while the pointer is used is not known
    /// otherwise.
    TILE_BUF_ADDR "pto.tile_buf_addr" "The address of a tile": PLAIN,
        source: "tile ISA, mixing tile instructions and micro-instructions; assembler 0.60 for tiles of the Cube core",
        core: CoreRule::ByTile, in_vector_function: true,
        verify: verify_tile_buf_addr, lower: lower_tile_buf_addr
        => {
            syntax: positional!("tile" => "result"),
            operands: &[operand("tile", TILE, Touch::ReadWrite, "the tile")],
            results: &[result("result", POINTER, Infer::Written, "its first element")],
        };
}

/// The address of a pointer that is made from a constant.
pub(super) fn constant_address(module: &Module, pointer: ValueId) -> Option<i64> {
    let made = OpRef::of(module, module.defining_op(pointer)?)?;
    let address = made.operand("address").filter(|_| made.def == &CASTPTR)?;
    constant(module, address)
}

fn verify_castptr(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    match (op.ty("address"), op.module.ty(op.result(0))) {
        (Some(Type::MemRef(memref)), result) => verify_memref(op, memref, result, diags),
        (Some(Type::Ptr(_, from)), Type::Ptr(_, to)) if from.unwrap_or(Space::Gm) != to.unwrap_or(Space::Gm) => {
            diags.push(op.error("pointer-space", "a pointer into one memory is none into another"));
        }
        (Some(number), result) if number.is_int_like() && result.is_int_like() => {
            diags.push(
                op.error("operand-type", "expects a pointer, or a number that becomes one")
                    .help("`arith.index_cast`, `arith.extsi` and `arith.trunci` convert numbers"),
            );
        }
        (Some(Type::Ptr(..)), result) if !matches!(result, Type::Ptr(..)) && *result != Type::I64 => {
            diags.push(op.error("operand-type", "expects the address of a pointer to be an i64"));
        }
        _ => {}
    }
}

fn verify_memref(op: &OpRef<'_>, memref: &MemRefType, result: &Type, diags: &mut Diags) {
    let Type::Ptr(_, space) = result else {
        diags.push(
            op.error("operand-type", "expects a memref to become a pointer, not a number")
                .help("a second `pto.castptr` makes a number of the pointer"),
        );
        return;
    };
    if space.unwrap_or(Space::Gm) != memref.space.unwrap_or(Space::Gm) {
        diags.push(op.error("pointer-space", "a memref in one memory cannot become a pointer into another"));
    }
    let begins = memref.strides.as_ref().map_or(Some(0), |(_, offset)| offset.known());
    if begins != Some(0) {
        let message = "the address of a memref whose type has an offset: whether it counts is not published";
        diags.push(
            op.error(Kind::Unsupported, message).help("cast the memref without offset, and move with `pto.addptr`"),
        );
    }
}

fn lower_castptr(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let source = op.operand("address").ok_or(Reported)?;
    let address = match op.module.ty(source) {
        Type::MemRef(_) => address_of(d, source)?,
        _ => d.scalar(source)?,
    };
    d.bind(op.result(0), Binding::Scalar(address));
    Ok(())
}

fn verify_tile_buf_addr(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    let (elem, pointer) = (op.ty("tile").and_then(Type::elem), op.module.ty(op.result(0)));
    let Some(space) = op.space("tile") else { return };
    if !matches!(pointer, Type::Ptr(..)) || pointer.space() != Some(space) {
        diags.push(op.error("pointer-space", format!("expects a pointer into `{space}`, where the tile lies")));
    } else if pointer.elem() != elem {
        diags.push(op.error("elem-type", "expects a pointer to the elements of the tile"));
    } else if space != Space::Vec && !has_address(op) {
        let message = "the address of a tile of the Cube core that the text does not place";
        diags.push(op.error(Kind::Unsupported, message).help("place it: `pto.alloc_tile addr = %address`"));
    }
}

/// Whether the tile is made at an address that the text gives.
fn has_address(op: &OpRef<'_>) -> bool {
    let made = op.operand("tile").and_then(|tile| op.module.defining_op(tile)).and_then(|id| OpRef::of(op.module, id));
    matches!(made.and_then(|made| made.address()), Some(Address::At(_) | Address::Computed))
}

fn lower_tile_buf_addr(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    if op.space("tile") == Some(Space::Vec) && !d.in_vector_function() {
        return Err(d.error("outside-vecscope", "`pto.tile_buf_addr` is outside every vector function"));
    }
    let tile = d.tile(op.operand("tile").ok_or(Reported)?)?;
    d.bind(op.result(0), Binding::Scalar(tile.addr));
    Ok(())
}
