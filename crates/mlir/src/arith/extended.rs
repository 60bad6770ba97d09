//! Integer arithmetic whose result is wider than its operands: in two results.

use slipring_ir::{Infer, ResultSpec, Syntax, Type};
use slipring_program::{Law, Operand, ScalarFn, Trap};

use super::{INT_OPERANDS, SCALAR_OP};
use slipring_op::decode::{Binding, Decoder};
use slipring_op::def::{Lowered, OpDef, OpRef, Reported};
use slipring_op::number::{signed, unsigned, wrap};
use slipring_op::rules::{BOOL, INTEGER, result, schema};
use slipring_op::{by_width, ops};

const PRODUCT: &[ResultSpec] = &[
    result("low", INTEGER, Infer::SameAs(0), "the lower half of the product"),
    result("high", INTEGER, Infer::SameAs(0), "its upper half"),
];

const SUM: &[ResultSpec] = &[
    result("sum", INTEGER, Infer::SameAs(0), "the sum, which wraps"),
    result("overflow", BOOL, Infer::Fixed(|| Type::I1), "whether it wraps, read without a sign"),
];

/// The halves of a product.
const HALVES: OpDef = OpDef {
    schema: schema("", Syntax::Format("$lhs `,` $rhs attr-dict `:` type($lhs)"), INT_OPERANDS, PRODUCT, &[]),
    doc: "",
    ..SCALAR_OP
};

ops! {
    OPS;

    pub ADDUI_EXTENDED "arith.addui_extended" "Unsigned sum, and whether it wraps": SCALAR_OP, doc: "",
        lower: |op, d| both(op, d, |ty| [by_width!(ty, sum), by_width!(ty, carry)])
        => {
            syntax: Syntax::Format("$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($overflow)"),
            operands: INT_OPERANDS,
            results: SUM,
        };

    pub MULSI_EXTENDED "arith.mulsi_extended" "Both halves of a signed product": HALVES,
        lower: |op, d| both(op, d, |ty| [by_width!(ty, low), by_width!(ty, high_signed)]);

    pub MULUI_EXTENDED "arith.mului_extended" "Both halves of an unsigned product": HALVES,
        lower: |op, d| both(op, d, |ty| [by_width!(ty, low), by_width!(ty, high_unsigned)]);
}

/// Lowers an op to one scalar instruction for each of its two results.
fn both(op: &OpRef<'_>, d: &mut Decoder<'_>, choose: impl Fn(&Type) -> [Option<ScalarFn>; 2]) -> Lowered {
    let &[lhs, rhs] = &op.module.op(op.id).operands[..] else { return Err(Reported) };
    let ty = op.module.ty(lhs);
    let args = [d.scalar(lhs)?, d.scalar(rhs)?, Operand::Imm(0)];
    for (at, f) in choose(ty).into_iter().enumerate() {
        let Some(f) = f else { return Err(d.unsupported(&format!("arithmetic on `{ty}`"))) };
        let value = d.compute_by(Law::Unknown, f, args);
        d.bind(op.result(at), Binding::Scalar(value));
    }
    Ok(())
}

fn sum<const W: u32>([a, b, _]: [u64; 3]) -> Result<u64, Trap> {
    Ok(wrap::<W>(a.wrapping_add(b)))
}

fn carry<const W: u32>([a, b, _]: [u64; 3]) -> Result<u64, Trap> {
    Ok(((u128::from(unsigned::<W>(a)) + u128::from(unsigned::<W>(b))) >> W) as u64)
}

fn low<const W: u32>([a, b, _]: [u64; 3]) -> Result<u64, Trap> {
    Ok(wrap::<W>(a.wrapping_mul(b)))
}

fn high_signed<const W: u32>([a, b, _]: [u64; 3]) -> Result<u64, Trap> {
    Ok(wrap::<W>(((i128::from(signed::<W>(a)) * i128::from(signed::<W>(b))) >> W) as u64))
}

fn high_unsigned<const W: u32>([a, b, _]: [u64; 3]) -> Result<u64, Trap> {
    Ok(wrap::<W>(((u128::from(unsigned::<W>(a)) * u128::from(unsigned::<W>(b))) >> W) as u64))
}
