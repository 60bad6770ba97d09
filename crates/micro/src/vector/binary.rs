//! Two registers, lane by lane (micro-instruction manual 7 and 13).

use slipring_ir::{Diags, OpSchema, Syntax, Type};
use slipring_machine::VectorPort;
use slipring_tile::{Arg, Binary, Elem};
use slipring_vector::Register;

use super::check::{self, FLOATS, INTEGERS, NUMBERS};
use super::emit::{Emit, lanewise};
use super::{GOVERNING, OUT, STEP, kernels, vreg};
use slipring_effect::arithmetic as shared;
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef};
use slipring_op::rules::{WITHOUT_SMALL_FLOATS, schema};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] =
    &[&VADD, &VSUB, &VMUL, &VDIV, &VMAX, &VMIN, &VAND, &VOR, &VXOR, &VSHL, &VSHR, &VPRELU];

const SCHEMA: OpSchema = schema(
    "",
    Syntax::Format("$lhs `,` $rhs `,` $mask attr-dict `:` type($lhs) `,` type($rhs) `,` type($mask) `->` type($out)"),
    &[vreg("lhs", "the first operand"), vreg("rhs", "the second operand"), GOVERNING],
    &[OUT],
    &[],
);

/// Those that the multiplier takes.
const MUL: &[Elem] = &[Elem::I16, Elem::U16, Elem::I32, Elem::U32, Elem::F16, Elem::BF16, Elem::F32];
/// Whatever the lanes are.
const ANY: &[Elem] = &Elem::ALL;

fn rules(op: &OpRef<'_>, elems: &[Elem], diags: &mut Diags) {
    check::same(op, diags);
    check::lanes_of(op, "lhs", elems, diags);
    check::governs(op, "mask", "lhs", diags);
}

/// Counts are integers as wide as the lanes that they shift, with or without a sign.
fn shifts(op: &OpRef<'_>, diags: &mut Diags) {
    check::lanes_of(op, "lhs", INTEGERS, diags);
    check::lanes_of(op, "rhs", INTEGERS, diags);
    check::governs(op, "mask", "lhs", diags);
    let (Some(lanes), Some(counts), result) = (op.ty("lhs"), op.ty("rhs"), op.module.ty(op.result(0))) else { return };
    let width = |ty: &Type| ty.elem().map(Elem::bytes);
    if result != lanes || width(counts) != width(lanes) {
        let message = format!(
            "expects counts as wide as the lanes, and a result of their type: `{lanes}` by `{counts}` gives `{result}`"
        );
        diags.push(op.error("vreg-type", message));
    }
}

/// On the bits of the lanes, whatever their type.
fn bitwise(op: &OpRef<'_>, d: &mut Decoder<'_>, kernel: &'static Binary) -> Lowered {
    let mut e = Emit::new(op, d);
    let elem = e.elem("lhs")?;
    let (lhs, rhs, mask, out) = (e.reg("lhs")?, e.reg("rhs")?, e.reg("mask")?, e.out(0));
    e.compute(VectorPort::Alu, elem, move |m, _| {
        let mut result = Register::ZERO;
        kernel.run_args(Elem::U64, [lhs, rhs].map(|slot| Arg::Slice(&m.reg(slot).0)), &mut result.0);
        result.zero_inactive(&m.mask(mask), elem.bytes());
        m.set(out, result);
    })
}

static VADD: OpDef = OpDef {
    schema: OpSchema { name: "pto.vadd", ..SCHEMA },
    summary: "Sum",
    doc: "`out = lhs + rhs`; integers wrap.",
    verify: |op, _, diags| rules(op, WITHOUT_SMALL_FLOATS, diags),
    lower: |op, d| lanewise(op, d, &shared::ADD, ["lhs", "rhs"]),
    ..STEP
};

static VSUB: OpDef = OpDef {
    schema: OpSchema { name: "pto.vsub", ..SCHEMA },
    summary: "Difference",
    doc: "`out = lhs - rhs`; integers wrap.",
    verify: |op, _, diags| rules(op, WITHOUT_SMALL_FLOATS, diags),
    lower: |op, d| lanewise(op, d, &shared::SUB, ["lhs", "rhs"]),
    ..STEP
};

static VMUL: OpDef = OpDef {
    schema: OpSchema { name: "pto.vmul", ..SCHEMA },
    summary: "Product",
    doc: "`out = lhs × rhs`; integers wrap.",
    verify: |op, _, diags| rules(op, MUL, diags),
    lower: |op, d| lanewise(op, d, &shared::MUL, ["lhs", "rhs"]),
    ..STEP
};

static VDIV: OpDef = OpDef {
    schema: OpSchema { name: "pto.vdiv", ..SCHEMA },
    summary: "Quotient",
    doc: "`out = lhs / rhs` as IEEE 754 has it.",
    verify: |op, _, diags| rules(op, FLOATS, diags),
    lower: |op, d| lanewise(op, d, &shared::DIV, ["lhs", "rhs"]),
    ..STEP
};

static VMAX: OpDef = OpDef {
    schema: OpSchema { name: "pto.vmax", ..SCHEMA },
    summary: "Larger of two",
    doc: "`out = max(lhs, rhs)`. NaN if one of them is; +0 rather than -0.",
    verify: |op, _, diags| rules(op, NUMBERS, diags),
    lower: |op, d| lanewise(op, d, &shared::MAX, ["lhs", "rhs"]),
    ..STEP
};

static VMIN: OpDef = OpDef {
    schema: OpSchema { name: "pto.vmin", ..SCHEMA },
    summary: "Smaller of two",
    doc: "`out = min(lhs, rhs)`. NaN if one of them is; -0 rather than +0.",
    verify: |op, _, diags| rules(op, NUMBERS, diags),
    lower: |op, d| lanewise(op, d, &shared::MIN, ["lhs", "rhs"]),
    ..STEP
};

static VAND: OpDef = OpDef {
    schema: OpSchema { name: "pto.vand", ..SCHEMA },
    summary: "Bitwise and",
    doc: "`out = lhs & rhs`, on the bits of the lanes.",
    verify: |op, _, diags| rules(op, ANY, diags),
    lower: |op, d| bitwise(op, d, &shared::AND),
    ..STEP
};

static VOR: OpDef = OpDef {
    schema: OpSchema { name: "pto.vor", ..SCHEMA },
    summary: "Bitwise or",
    doc: "`out = lhs | rhs`, on the bits of the lanes: it merges the two halves of a conversion.",
    verify: |op, _, diags| rules(op, ANY, diags),
    lower: |op, d| bitwise(op, d, &shared::OR),
    ..STEP
};

static VXOR: OpDef = OpDef {
    schema: OpSchema { name: "pto.vxor", ..SCHEMA },
    summary: "Bitwise exclusive or",
    doc: "`out = lhs ^ rhs`, on the bits of the lanes.",
    verify: |op, _, diags| rules(op, ANY, diags),
    lower: |op, d| bitwise(op, d, &shared::XOR),
    ..STEP
};

static VSHL: OpDef = OpDef {
    schema: OpSchema { name: "pto.vshl", ..SCHEMA },
    summary: "Shift left",
    doc: "`out = lhs << rhs`. The count is taken modulo the width of a lane; its lanes are as wide, with or without a sign.",
    verify: |op, _, diags| shifts(op, diags),
    lower: |op, d| lanewise(op, d, &kernels::SHL, ["lhs", "rhs"]),
    ..STEP
};

static VSHR: OpDef = OpDef {
    schema: OpSchema { name: "pto.vshr", ..SCHEMA },
    summary: "Shift right",
    doc: "`out = lhs >> rhs`, filled with the sign for signed lanes. The count is taken modulo the width of a lane; its lanes are as wide, with or \
          without a sign.",
    verify: |op, _, diags| shifts(op, diags),
    lower: |op, d| lanewise(op, d, &kernels::SHR, ["lhs", "rhs"]),
    ..STEP
};

static VPRELU: OpDef = OpDef {
    schema: OpSchema { name: "pto.vprelu", ..SCHEMA },
    summary: "Parametric rectified linear unit",
    doc: "`out = lhs` where it is at least 0, `rhs × lhs` elsewhere.",
    verify: |op, _, diags| rules(op, FLOATS, diags),
    lower: |op, d| lanewise(op, d, &kernels::PRELU, ["lhs", "rhs"]),
    ..STEP
};
