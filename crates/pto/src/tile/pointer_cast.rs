//! Memory at an address, as a memref.

use slipring_ir::{AttrKind, Infer, Syntax, Touch, Type, TypeRule};
use slipring_tile::Space;

use slipring_op::address::ADDRESS;
use slipring_op::decode::{Binding, Decoder, view_of};
use slipring_op::def::{AddressRule, Lowered, OpDef, OpRef, Reported};
use slipring_op::rules::{INTEGER, PLAIN, defaulted, operand, result, schema};

const LOCAL: TypeRule = TypeRule {
    describe: "a memref in a local memory",
    accepts: |t| matches!(t, Type::MemRef(m) if m.space.is_some_and(|space| space != Space::Gm)),
};

pub static POINTER_CAST: OpDef = OpDef {
    schema: schema(
        "pto.pointer_cast",
        Syntax::Format("`(` $addr `)` attr-dict `:` type($memref)"),
        &[operand(ADDRESS, INTEGER, Touch::Nothing, "byte offset in the memory of the type")],
        &[result("memref", LOCAL, Infer::Written, "the memory")],
        &[defaulted("config", AttrKind::Any, "read and kept")],
    ),
    summary: "Memory at an address, as a memref",
    doc: "A buffer of known shape at an address of the local memory that its type names: what `memref.alloc` is once the \
          addresses are known. As a tile its last dimension is the columns and all others are the rows.",
    source: "PTO IR of the public assembler, pointer_cast",
    address: AddressRule::Operand(ADDRESS),
    lower: lower_pointer_cast,
    ..PLAIN
};

fn lower_pointer_cast(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let Type::MemRef(memref) = op.module.ty(op.result(0)) else { return Err(Reported) };
    let base = d.scalar(op.operand(ADDRESS).ok_or(Reported)?)?;
    let Some(view) = view_of(memref, base, d) else {
        return Err(d.unsupported("memory of open shape"));
    };
    d.bind(op.result(0), Binding::View(view));
    Ok(())
}
