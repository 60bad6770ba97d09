//! Pointers from addresses (micro-instruction manual, Pointer Operations).

use slipring_ir::{Infer, Syntax, Touch, Type, TypeRule};

use slipring_op::decode::Binding;
use slipring_op::def::{OpDef, Reported};
use slipring_op::rules::{PLAIN, POINTER, operand, result, schema};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[&CASTPTR];

const ADDRESS: TypeRule =
    TypeRule { describe: "an address or a pointer", accepts: |t| t.is_int_like() || matches!(t, Type::Ptr(..)) };

static CASTPTR: OpDef = OpDef {
    schema: schema(
        "pto.castptr",
        Syntax::Format("$address attr-dict `:` type($address) `->` type($result)"),
        &[operand("address", ADDRESS, Touch::Nothing, "byte address, or a pointer to look at as another type")],
        &[result("result", POINTER, Infer::Written, "the pointer")],
        &[],
    ),
    summary: "Take an address as a pointer",
    doc: "A pointer to byte `address` of the memory that its type names. Nothing is moved or allocated.",
    source: "micro-instruction manual, Pointer Operations",
    verify: |op, _, diags| {
        if let (Some(Type::Ptr(_, from)), Type::Ptr(_, to)) = (op.ty("address"), op.module.ty(op.result(0)))
            && from != to
        {
            diags.push(op.error("pointer-space", "a pointer into one memory is none into another"));
        }
    },
    lower: |op, d| {
        let address = d.scalar(op.operand("address").ok_or(Reported)?)?;
        d.bind(op.result(0), Binding::Scalar(address));
        Ok(())
    },
    ..PLAIN
};
