//! Several operations in one instruction (micro-instruction manual 13).

use slipring_ir::{AttrKind, Infer, OpSchema, Syntax, Touch};
use slipring_machine::VectorPort;
use slipring_tile::{Elem, convert, math};
use slipring_vector::Register;

use super::check::{self, FLOATS, WORDS};
use super::emit::{Emit, lanewise};
use super::{GOVERNING, OUT, STEP, VREG, kernels, vreg};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef};
use slipring_op::rules::{SCALAR, operand, required, result, schema};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[&VMULA, &VMADD, &VAXPY, &VEXPDIF, &VMULL];

static VMULA: OpDef = OpDef {
    schema: schema(
        "pto.vmula",
        Syntax::Format(
            "$acc `,` $lhs `,` $rhs `,` $mask attr-dict `:` type($acc) `,` type($lhs) `,` type($rhs) `,` type($mask) `->` type($out)",
        ),
        &[vreg("acc", "what is added to"), vreg("lhs", "first factor"), vreg("rhs", "second factor"), GOVERNING],
        &[OUT],
        &[],
    ),
    summary: "Multiply and add",
    doc: "`out = acc + lhs × rhs`, rounded once; integers wrap.",
    verify: |op, _, diags| {
        check::same(op, diags);
        check::governs(op, "mask", "acc", diags);
    },
    lower: |op, d| lanewise(op, d, &kernels::MULA, ["acc", "lhs", "rhs"]),
    ..STEP
};

static VMADD: OpDef = OpDef {
    schema: OpSchema {
        name: "pto.vmadd",
        operands: &[vreg("acc", "first factor"), vreg("lhs", "second factor"), vreg("rhs", "what is added"), GOVERNING],
        ..VMULA.schema
    },
    summary: "Multiply what was accumulated, and add",
    doc: "`out = acc × lhs + rhs`, rounded once.",
    source: "micro-instruction manual of assembler 0.60, 7",
    verify: |op, platform, diags| {
        (VMULA.verify)(op, platform, diags);
        check::lanes_of(op, "acc", &[Elem::F16, Elem::BF16, Elem::F32], diags);
    },
    lower: |op, d| lanewise(op, d, &kernels::AXPY, ["acc", "rhs", "lhs"]),
    ..STEP
};

static VAXPY: OpDef = OpDef {
    schema: schema(
        "pto.vaxpy",
        Syntax::Format(
            "$src `,` $addend `,` $alpha `,` $mask attr-dict `:` type($src) `,` type($addend) `,` type($alpha) `,` type($mask) `->` type($out)",
        ),
        &[
            vreg("src", "what is scaled"),
            vreg("addend", "what is added"),
            operand("alpha", SCALAR, Touch::Nothing, "the factor, of the lanes' type"),
            GOVERNING,
        ],
        &[OUT],
        &[],
    ),
    summary: "Scale and add",
    doc: "`out = alpha × src + addend`, rounded once.",
    verify: |op, _, diags| {
        check::same(op, diags);
        check::lanes_of(op, "src", FLOATS, diags);
        check::number_for(op, "alpha", "src", diags);
        check::governs(op, "mask", "src", diags);
    },
    lower: |op, d| lanewise(op, d, &kernels::AXPY, ["src", "addend", "alpha"]),
    ..STEP
};

static VEXPDIF: OpDef = OpDef {
    schema: schema(
        "pto.vexpdif",
        Syntax::Format(
            "$src `,` $max `,` $mask `,` $part attr-dict `:` type($src) `,` type($max) `,` type($mask) `->` type($out)",
        ),
        &[vreg("src", "the operand"), vreg("max", "what is subtracted"), GOVERNING],
        &[result("out", VREG, Infer::Written, "64 lanes of f32")],
        &[required("part", AttrKind::Str, "`EVEN` or `ODD`")],
    ),
    summary: "Exponential of a difference",
    doc: "`out = e^(src - max)` in f32: the difference is rounded to f32, the exponential correctly. For f16 operands `part` says \
          which lanes are taken, the even or the odd ones: lane `2i` or `2i + 1` gives result `i`. For f32 operands all \
          lanes are taken, whatever `part` says.",
    verify: |op, _, diags| {
        check::lanes_of(op, "src", FLOATS, diags);
        check::governs(op, "mask", "src", diags);
        if op.ty("src") != op.ty("max") || check::result_elem(op, 0) != Some(Elem::F32) {
            diags.push(op.error("vreg-type", "takes two registers of one type and gives lanes of f32"));
        }
        check::one_of(op, "part", &["EVEN", "ODD"], diags);
    },
    lower: expdif,
    ..STEP
};

fn expdif(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let elem = e.elem("src")?;
    let (src, max, mask, out) = (e.reg("src")?, e.reg("max")?, e.reg("mask")?, e.out(0));
    let step = 4 / elem.bytes();
    let first = if op.text("part") == Some("ODD") { step - 1 } else { 0 };
    e.compute(VectorPort::Alu, elem, move |m, _| {
        let (mut a, mut b) = ([0.0; 128], [0.0; 128]);
        let lanes = 256 / elem.bytes();
        convert::load_f32(elem, &m.reg(src).0, &mut a[..lanes]);
        convert::load_f32(elem, &m.reg(max).0, &mut b[..lanes]);
        let mask = m.mask(mask);
        let result = Register::from_fn(|i| {
            let from = i * step + first;
            if mask.lane(from, elem.bytes()) { math::exp(a[from] - b[from]) } else { 0.0 }
        });
        m.set(out, result);
    })
}

static VMULL: OpDef = OpDef {
    schema: OpSchema {
        results: &[
            result("low", VREG, Infer::Written, "low 32 bits of the products"),
            result("high", VREG, Infer::Written, "high 32 bits"),
        ],
        ..schema(
            "pto.vmull",
            Syntax::Format(
                "$lhs `,` $rhs `,` $mask attr-dict `:` type($lhs) `,` type($rhs) `,` type($mask) `->` type($low) `,` type($high)",
            ),
            &[vreg("lhs", "first factor"), vreg("rhs", "second factor"), GOVERNING],
            &[],
            &[],
        )
    },
    summary: "Product of 64 bits in two registers",
    doc: "The whole product of 32-bit integers, signed for signed lanes: its low and its high half.",
    verify: |op, _, diags| {
        check::same(op, diags);
        check::lanes_of(op, "lhs", WORDS, diags);
        check::governs(op, "mask", "lhs", diags);
    },
    lower: mull,
    ..STEP
};

fn mull(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let elem = e.elem("lhs")?;
    let (lhs, rhs, mask, low, high) = (e.reg("lhs")?, e.reg("rhs")?, e.reg("mask")?, e.out(0), e.out(1));
    let signed = elem.is_signed_int();
    e.compute(VectorPort::Alu, elem, move |m, _| {
        let (a, b, mask) = (*m.reg(lhs), *m.reg(rhs), m.mask(mask));
        let product = |i: usize| {
            let (a, b) = (a.bits(i, 4) as u32, b.bits(i, 4) as u32);
            match (mask.lane(i, 4), signed) {
                (false, _) => 0,
                (true, true) => (i64::from(a as i32) * i64::from(b as i32)) as u64,
                (true, false) => u64::from(a) * u64::from(b),
            }
        };
        m.set(low, Register::from_fn(|i| product(i) as u32));
        m.set(high, Register::from_fn(|i| (product(i) >> 32) as u32));
    })
}
