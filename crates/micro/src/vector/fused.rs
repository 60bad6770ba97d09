//! Several operations in one instruction (micro-instruction manual 13).

use slipring_ir::{AttrKind, Diags, Infer, Syntax, Touch};
use slipring_machine::{Platform, VectorPort};
use slipring_tile::{Elem, convert, math};
use slipring_vector::Register;

use super::check::{self, FLOATS, WORDS};
use super::emit::{Emit, lanewise, of_operands};
use super::{GOVERNING, OUT, STEP, VREG, kernels, vreg};
use slipring_op::decode::Decoder;
use slipring_op::def::Arithmetic::Three;
use slipring_op::def::{Lowered, OpDef, OpRef};
use slipring_op::rules::{SCALAR, one_of, operand, required, result, schema};
use slipring_op::{ops, positional};

/// Three registers.
const THREE: OpDef =
    OpDef { schema: schema("", positional!("acc" "lhs" "rhs" "mask" => "out"), &[], &[OUT], &[]), ..STEP };

ops! {
    OPS;

    /// `out = acc + lhs × rhs`, rounded once; integers wrap.
    VMULA "pto.vmula" "Multiply and add": THREE, kernel: Three(&kernels::MULA), verify: verify_vmula, lower: lanewise
        => {
            operands: &[
                vreg("acc", "what is added to"),
                vreg("lhs", "first factor"),
                vreg("rhs", "second factor"),
                GOVERNING,
            ],
        };

    /// `out = acc × lhs + rhs`, rounded once.
    VMADD "pto.vmadd" "Multiply what was accumulated, and add": THREE,
        source: "micro-instruction manual of assembler 0.60, 7", verify: verify_vmadd,
        lower: |op, d| of_operands(op, d, &kernels::AXPY, ["acc", "rhs", "lhs"])
        => {
            operands: &[
                vreg("acc", "first factor"),
                vreg("lhs", "second factor"),
                vreg("rhs", "what is added"),
                GOVERNING,
            ],
        };

    /// `out = alpha × src + addend`, rounded once.
    VAXPY "pto.vaxpy" "Scale and add": STEP, kernel: Three(&kernels::AXPY), verify: verify_vaxpy, lower: lanewise
        => {
            syntax: positional!("src" "addend" "alpha" "mask" => "out"),
            operands: &[
                vreg("src", "what is scaled"),
                vreg("addend", "what is added"),
                operand("alpha", SCALAR, Touch::Nothing, "the factor, of the lanes' type"),
                GOVERNING,
            ],
            results: &[OUT],
        };

    /// `out = e^(src - max)` in f32: the difference is rounded to f32, the exponential correctly. For f16 operands
    /// `part` says which lanes are taken, the even or the odd ones: lane `2i` or `2i + 1` gives result `i`. For f32
    /// operands all lanes are taken, whatever `part` says.
    VEXPDIF "pto.vexpdif" "Exponential of a difference": STEP, verify: verify_vexpdif, lower: expdif
        => {
            syntax: Syntax::Format(
                "$src `,` $max `,` $mask `,` $part attr-dict `:` type($src) `,` type($max) `,` type($mask) `->` type($out)",
            ),
            operands: &[vreg("src", "the operand"), vreg("max", "what is subtracted"), GOVERNING],
            results: &[result("out", VREG, Infer::Written, "64 lanes of f32")],
            attrs: &[required("part", AttrKind::Str, "`EVEN` or `ODD`")],
        };

    /// The whole product of 32-bit integers, signed for signed lanes: its low and its high half.
    VMULL "pto.vmull" "Product of 64 bits in two registers": STEP, verify: verify_vmull, lower: mull
        => {
            syntax: positional!("lhs" "rhs" "mask" => "low" "high"),
            operands: &[vreg("lhs", "first factor"), vreg("rhs", "second factor"), GOVERNING],
            results: &[
                result("low", VREG, Infer::Written, "low 32 bits of the products"),
                result("high", VREG, Infer::Written, "high 32 bits"),
            ],
        };
}

fn verify_vmula(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::same(op, diags);
    check::governs(op, "mask", "acc", diags);
}

fn verify_vmadd(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    verify_vmula(op, platform, diags);
    check::lanes_of(op, "acc", &[Elem::F16, Elem::BF16, Elem::F32], diags);
}

fn verify_vaxpy(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::same(op, diags);
    check::lanes_of(op, "src", FLOATS, diags);
    check::number_for(op, "alpha", "src", diags);
    check::governs(op, "mask", "src", diags);
}

fn verify_vexpdif(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::lanes_of(op, "src", FLOATS, diags);
    check::governs(op, "mask", "src", diags);
    if op.ty("src") != op.ty("max") || check::result_elem(op, 0) != Some(Elem::F32) {
        diags.push(op.error("vreg-type", "takes two registers of one type and gives lanes of f32"));
    }
    one_of(op, "part", &["EVEN", "ODD"], diags);
}

fn verify_vmull(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::same(op, diags);
    check::lanes_of(op, "lhs", WORDS, diags);
    check::governs(op, "mask", "lhs", diags);
}

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
