//! Comparisons, and selection by their results (micro-instruction manual 11).

use slipring_ir::{AttrKind, Diags, Infer, OpSchema, Syntax, Touch};
use slipring_machine::{Platform, VectorPort};
use slipring_tile::Compare;
use slipring_vector::{BYTES, Mask, Register};

use super::check::{self, NUMBERS};
use super::emit::{Emit, splat};
use super::{MASK, OUT, STEP, vreg};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpRef, Reported};
use slipring_op::rules::{SCALAR, WITHOUT_SMALL_FLOATS, one_of, operand, required, result, schema};
use slipring_op::{ops, positional};

const MODES: [(&str, Compare); 6] = [
    ("eq", Compare::Eq),
    ("ne", Compare::Ne),
    ("lt", Compare::Lt),
    ("le", Compare::Le),
    ("gt", Compare::Gt),
    ("ge", Compare::Ge),
];

const CMP: OpSchema = OpSchema {
    results: &[result("out", MASK, Infer::Written, "the lanes for which it holds")],
    attrs: &[required("mode", AttrKind::Str, "`eq`, `ne`, `lt`, `le`, `gt` or `ge`")],
    ..schema("", Syntax::Generic, &[], &[], &[])
};

ops! {
    OPS;

    /// The lanes of `seed` for which `lhs` compares so with `rhs`; signed or unsigned as the lanes are. Comparisons
    /// with NaN do not hold, except `ne`.
    VCMP "pto.vcmp" "Compare two registers": STEP.with(CMP), verify: verify_vcmp, lower: compare
        => {
            syntax: Syntax::Format(
                "$lhs `,` $rhs `,` $seed `,` $mode attr-dict `:` type($lhs) `,` type($rhs) `,` type($seed) `->` type($out)",
            ),
            operands: &[
                vreg("lhs", "the first operand"),
                vreg("rhs", "the second operand"),
                operand("seed", MASK, Touch::Nothing, "the lanes that are compared"),
            ],
        };

    /// As `pto.vcmp`, with a number instead of the second register.
    VCMPS "pto.vcmps" "Compare a register with a number": STEP.with(CMP), verify: verify_vcmps, lower: compare
        => {
            syntax: Syntax::Format(
                "$lhs `,` $rhs `,` $seed `,` $mode attr-dict `:` type($lhs) `,` type($rhs) `,` type($seed) `->` type($out)",
            ),
            operands: &[
                vreg("lhs", "the first operand"),
                operand("rhs", SCALAR, Touch::Nothing, "what every lane is compared with, of the lanes' type"),
                operand("seed", MASK, Touch::Nothing, "the lanes that are compared"),
            ],
        };

    /// `out = mask ? src0 : src1`, lane by lane. Assembler 0.60 refuses floats of 8 bits and less.
    VSEL "pto.vsel" "Select lanes by a predicate": STEP, verify: verify_vsel, lower: lower_vsel
        => {
            syntax: positional!("src0" "src1" "mask" => "out"),
            operands: &[
                vreg("src0", "taken in active lanes"),
                vreg("src1", "taken in the others"),
                operand("mask", MASK, Touch::Nothing, "which lanes take `src0`"),
            ],
            results: &[OUT],
        };

    /// `out[i] = src[index[i]]`. The index is taken modulo the number of lanes.
    VSELR "pto.vselr" "Select lanes by index": STEP, verify: verify_vselr, lower: lower_vselr
        => {
            syntax: positional!("src" "index" => "out"),
            operands: &[
                vreg("src", "where lanes are taken from"),
                vreg("index", "which lane; integers as wide as the lanes"),
            ],
            results: &[OUT],
        };

    /// The manual gives its text and no meaning: it is read and cannot be run.
    VSELRV2 "pto.vselrv2" "A form of selection without a published meaning": STEP,
        lower: |_, d| Err(d.unsupported("an op whose meaning no manual gives"))
        => {
            syntax: positional!("src0" "src1" => "out"),
            operands: &[vreg("src0", "a source"), vreg("src1", "a source")],
            results: &[OUT],
        };
}

fn verify_vcmp(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::same(op, diags);
    rules(op, diags);
}

fn verify_vcmps(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::number_for(op, "rhs", "lhs", diags);
    rules(op, diags);
}

fn verify_vsel(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::same(op, diags);
    check::lanes_of(op, "src0", WITHOUT_SMALL_FLOATS, diags);
    check::governs(op, "mask", "src0", diags);
}

fn lower_vsel(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let elem = e.elem("src0")?;
    let (src0, src1, mask, out) = (e.reg("src0")?, e.reg("src1")?, e.reg("mask")?, e.out(0));
    let bytes = elem.bytes();
    e.compute(VectorPort::Alu, elem, move |m, _| {
        let (src, mask) = (*m.reg(src0), m.mask(mask));
        let mut result = *m.reg(src1);
        for i in (0..BYTES / bytes).filter(|i| mask.lane(*i, bytes)) {
            let lane = i * bytes..(i + 1) * bytes;
            result.0[lane.clone()].copy_from_slice(&src.0[lane]);
        }
        m.set(out, result);
    })
}

fn verify_vselr(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    if let (Some(src), Some(index)) = (check::elem(op, "src"), check::elem(op, "index"))
        && (index.is_float() || index.bytes() != src.bytes())
    {
        diags.push(op.error("elem-type", format!("lanes of {src} take integer indices as wide, not {index}")));
    }
    if op.ty("src") != Some(op.module.ty(op.result(0))) {
        diags.push(op.error("vreg-type", "the result has the type of `src`"));
    }
}

fn lower_vselr(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let elem = e.elem("src")?;
    let (src, index, out) = (e.reg("src")?, e.reg("index")?, e.out(0));
    let bytes = elem.bytes();
    e.compute(VectorPort::Alu, elem, move |m, _| {
        let (src, index) = (*m.reg(src), *m.reg(index));
        let mut result = Register::ZERO;
        for i in 0..BYTES / bytes {
            let from = index.bits(i, bytes) as usize % (BYTES / bytes);
            result.set_bits(i, bytes, src.bits(from, bytes));
        }
        m.set(out, result);
    })
}

fn rules(op: &OpRef<'_>, diags: &mut Diags) {
    check::lanes_of(op, "lhs", NUMBERS, diags);
    check::governs(op, "seed", "lhs", diags);
    one_of(op, "mode", &MODES.map(|mode| mode.0), diags);
}

fn compare(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mode = MODES.iter().find(|mode| op.text("mode") == Some(mode.0)).ok_or(Reported)?.1;
    let mut e = Emit::new(op, d);
    let elem = e.elem("lhs")?;
    let lhs = e.reg("lhs")?;
    let rhs = if e.elem("rhs").is_ok() { Ok(e.reg("rhs")?) } else { Err(e.number("rhs")?) };
    let (seed, out) = (e.reg("seed")?, e.out(0));
    let bytes = elem.bytes();
    e.compute(VectorPort::Alu, elem, move |m, args| {
        let rhs = match rhs {
            Ok(slot) => *m.reg(slot),
            Err(number) => splat(elem, args[number]),
        };
        let mut holds = [0; BYTES];
        let holds = &mut holds[..BYTES / bytes];
        match m.is_tried() {
            true => Compare::run_sensitive(elem, &m.reg(lhs).0, &rhs.0, holds),
            false => mode.run(elem, &m.reg(lhs).0, &rhs.0, holds),
        }
        let seed = m.mask(seed);
        m.set_mask(out, Mask::from_fn(bytes, |i| seed.lane(i, bytes) && holds[i] != 0));
    })
}
