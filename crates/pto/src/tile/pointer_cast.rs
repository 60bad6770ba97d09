//! Memory at an address, as a memref.

use slipring_ir::{AttrKind, Infer, Syntax, Touch, Type, TypeRule};
use slipring_tile::Space;

use slipring_op::address::ADDRESS;
use slipring_op::decode::{Binding, Decoder, view_of};
use slipring_op::def::{AddressRule, Lowered, OpRef, Reported};
use slipring_op::ops;
use slipring_op::rules::{INTEGER, PLAIN, defaulted, operand, result};

const LOCAL: TypeRule = TypeRule {
    describe: "a memref in a local memory",
    accepts: |t| matches!(t, Type::MemRef(m) if m.space.is_some_and(|space| space != Space::Gm)),
};

ops! {
    OPS;

    /// A buffer of known shape at an address of the local memory that its type names: what `memref.alloc` is once the
    /// addresses are known. As a tile its last dimension is the columns and all others are the rows.
    pub POINTER_CAST "pto.pointer_cast" "Memory at an address, as a memref": PLAIN,
        source: "PTO IR of the public assembler, pointer_cast", address: AddressRule::Operand(ADDRESS),
        lower: lower_pointer_cast
        => {
            syntax: Syntax::Format("`(` $addr `)` attr-dict `:` type($memref)"),
            operands: &[operand(ADDRESS, INTEGER, Touch::Nothing, "byte offset in the memory of the type")],
            results: &[result("memref", LOCAL, Infer::Written, "the memory")],
            attrs: &[defaulted("config", AttrKind::Any, "read and kept")],
        };
}

fn lower_pointer_cast(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let Type::MemRef(memref) = op.module.ty(op.result(0)) else { return Err(Reported) };
    let base = d.scalar(op.operand(ADDRESS).ok_or(Reported)?)?;
    let Some(view) = view_of(memref, base, d) else {
        return Err(d.unsupported("memory of open shape"));
    };
    d.bind(op.result(0), Binding::View(view));
    Ok(())
}
