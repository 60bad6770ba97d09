//! Permutations of lanes (micro-instruction manual 12).

use slipring_ir::{AttrKind, Diags, Infer, OpSchema, Syntax, Touch};
use slipring_machine::{Platform, VectorPort};
use slipring_program::Fault;
use slipring_tile::Elem;
use slipring_vector::{BYTES, Machine, Register};

use super::check;
use super::emit::Emit;
use super::{GOVERNING, OUT, STEP, VREG, vreg};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef, Reported};
use slipring_op::rules::{INTEGER, constant, one_of, operand, required, result, schema};
use slipring_op::{ops, positional};

const PAIR: OpSchema = OpSchema {
    results: &[
        result("low", VREG, Infer::Written, "the first half"),
        result("high", VREG, Infer::Written, "the second half"),
    ],
    ..schema(
        "",
        positional!("lhs" "rhs" => "low" "high"),
        &[vreg("lhs", "the first source"), vreg("rhs", "the second source")],
        &[],
        &[],
    )
};

const HALF: OpSchema = OpSchema {
    syntax: Syntax::Format("$lhs `,` $rhs `,` $part attr-dict `:` type($lhs) `,` type($rhs) `->` type($out)"),
    results: &[OUT],
    attrs: &[required("part", AttrKind::Str, "which half of the result: `LOWER` or `HIGHER`")],
    ..PAIR
};

/// From two registers to two registers.
const PAIRS: OpDef = OpDef { schema: PAIR, verify: |op, _, diags| check::same(op, diags), ..STEP };
/// From two registers to one.
const HALVED: OpDef = OpDef { schema: HALF, verify: |op, _, diags| half_rules(op, diags), ..STEP };

ops! {
    OPS;

    /// `low` and `high` together are `lhs[0], rhs[0], lhs[1], rhs[1], …`.
    VINTLV "pto.vintlv" "Interleave two registers": PAIRS, lower: |op, d| interleaved(op, d, false);

    /// Of the lanes of `lhs` and then `rhs`: `low` has the even ones, `high` the odd ones.
    VDINTLV "pto.vdintlv" "Take two interleaved registers apart": PAIRS, lower: |op, d| interleaved(op, d, true);

    /// One half of what `pto.vintlv` gives: `LOWER` its `low`, `HIGHER` its `high`.
    VINTLVV2 "pto.vintlvv2" "Half of two interleaved registers": HALVED, lower: |op, d| interleaved(op, d, false);

    /// One half of what `pto.vdintlv` gives: `LOWER` its `low`, `HIGHER` its `high`.
    VDINTLVV2 "pto.vdintlvv2" "Even or odd lanes of two registers": HALVED, lower: |op, d| interleaved(op, d, true);

    /// The active lanes of `src` in their order, then zeros. The special register SQZN holds how many bytes they are:
    /// `pto.vstur` stores that many.
    VSQZ "pto.vsqz" "Move the active lanes together": STEP.with(MASKED), verify: verify_vsqz, lower: lower_vsqz;

    /// `out[i]` is the number of active lanes among lanes `0 .. i`, without `i` itself. `src` has no influence. The
    /// special register SQZN holds how many bytes the active lanes are, as after `pto.vsqz`.
    VUSQZ "pto.vusqz" "Count the active lanes before each lane": STEP.with(MASKED), verify: verify_vusqz,
        lower: lower_vusqz;

    /// The low half of each lane, side by side in the lower or upper half of the result; the other half is 0. Lanes of
    /// 32 bits become `ui16`, lanes of 16 bits `ui8`.
    VPACK "pto.vpack" "Narrow lanes into half a register": STEP, verify: verify_vpack, lower: lower_vpack
        => {
            syntax: Syntax::Format("$src `,` $part attr-dict `:` type($src) `->` type($out)"),
            operands: &[vreg("src", "lanes of 32 or 16 bits")],
            results: &[OUT],
            attrs: &[required("part", AttrKind::Str, "the half of the result that is filled: `LOWER` or `HIGHER`")],
        };

    /// The lanes of one half of `src`, each twice as wide, filled with its sign.
    VSUNPACK "pto.vsunpack" "Widen half a register, with the sign": STEP.with(UNPACK),
        verify: |op, _, diags| unpack_rules(op, diags), lower: |op, d| unpack(op, d, true);

    /// The lanes of one half of `src`, each twice as wide, filled with zeros.
    VZUNPACK "pto.vzunpack" "Widen half a register, with zeros": STEP.with(UNPACK),
        verify: |op, _, diags| unpack_rules(op, diags), lower: |op, d| unpack(op, d, false);

    /// The same 256 bytes as lanes of another type. Costs nothing.
    VBITCAST "pto.vbitcast" "Look at a register as another type": STEP, source: "micro-instruction manual 9",
        lower: lower_vbitcast
        => {
            syntax: positional!("src" => "out"),
            operands: &[vreg("src", "the register")],
            results: &[OUT],
        };
}

fn verify_vsqz(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::same(op, diags);
    check::governs(op, "mask", "src", diags);
}

fn lower_vsqz(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    e.counts = true;
    let elem = e.elem("src")?;
    let (src, mask, out) = (e.data("src")?, e.reg("mask")?, e.out(0));
    let bytes = elem.bytes();
    e.step(VectorPort::Alu, elem, move |m, _| {
        let (src, mask) = (*m.reg(src), m.mask(mask));
        let mut result = Register::ZERO;
        let mut kept = 0;
        for i in (0..BYTES / bytes).filter(|i| mask.lane(*i, bytes)) {
            result.set_bits(kept, bytes, src.bits(i, bytes));
            kept += 1;
        }
        m.set(out, result);
        m.sqzn = (kept * bytes) as u64;
        Ok(0)
    })
}

fn verify_vusqz(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::same(op, diags);
    check::lanes_of(op, "src", &[Elem::I8, Elem::I16, Elem::I32], diags);
    check::governs(op, "mask", "src", diags);
}

fn lower_vusqz(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    e.counts = true;
    let elem = e.elem("src")?;
    let (_, mask, out) = (e.reg("src")?, e.reg("mask")?, e.out(0));
    let bytes = elem.bytes();
    e.step(VectorPort::Alu, elem, move |m, _| {
        let mask = m.mask(mask);
        let mut result = Register::ZERO;
        let mut count = 0;
        for i in 0..BYTES / bytes {
            result.set_bits(i, bytes, count);
            count += u64::from(mask.lane(i, bytes));
        }
        m.set(out, result);
        m.sqzn = count * bytes as u64;
        Ok(0)
    })
}

fn verify_vpack(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    one_of(op, "part", &HALVES, diags);
    let pair = (check::elem(op, "src"), check::result_elem(op, 0));
    let known = [
        (Some(Elem::I32), Some(Elem::U16)),
        (Some(Elem::U32), Some(Elem::U16)),
        (Some(Elem::I16), Some(Elem::U8)),
        (Some(Elem::U16), Some(Elem::U8)),
    ];
    if !known.contains(&pair) {
        diags.push(op.error("vreg-type", "packs 32-bit integers into ui16 and 16-bit integers into ui8"));
    }
}

fn lower_vpack(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let part = part(op).ok_or(Reported)?;
    let mut e = Emit::new(op, d);
    let elem = e.elem("src")?;
    let (src, out) = (e.reg("src")?, e.out(0));
    let (wide, narrow) = (elem.bytes(), elem.bytes() / 2);
    e.compute(VectorPort::Alu, elem, move |m, _| {
        let src = *m.reg(src);
        let mut result = Register::ZERO;
        let lanes = BYTES / wide;
        for i in 0..lanes {
            result.set_bits(part * lanes + i, narrow, src.bits(i, wide));
        }
        m.set(out, result);
    })
}

fn lower_vbitcast(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let elem = e.elem("src")?;
    let (src, out) = (e.reg("src")?, e.out(0));
    e.compute(VectorPort::None, elem, move |m, _| {
        let value = *m.reg(src);
        m.set(out, value);
    })
}

const HALVES: [&str; 2] = ["LOWER", "HIGHER"];

fn half_rules(op: &OpRef<'_>, diags: &mut Diags) {
    check::same(op, diags);
    one_of(op, "part", &HALVES, diags);
}

/// The half selected by the attribute `part`, 0 or 1; `None` for both.
fn part(op: &OpRef<'_>) -> Option<usize> {
    HALVES.iter().position(|half| op.text("part") == Some(half))
}

fn interleaved(op: &OpRef<'_>, d: &mut Decoder<'_>, apart: bool) -> Lowered {
    let mut e = Emit::new(op, d);
    let elem = e.elem("lhs")?;
    let sources = [e.reg("lhs")?, e.reg("rhs")?];
    let outs = match part(op) {
        Some(half) => vec![(half, e.out(0))],
        None => vec![(0, e.out(0)), (1, e.out(1))],
    };
    let bytes = elem.bytes();
    let lanes = BYTES / bytes;
    e.compute(VectorPort::Alu, elem, move |m, _| {
        let sources = sources.map(|slot| *m.reg(slot));
        for &(half, out) in &outs {
            let mut result = Register::ZERO;
            for i in 0..lanes {
                let (register, from) = if apart {
                    let at = 2 * i + half;
                    (at / lanes, at % lanes)
                } else {
                    let at = half * lanes + i;
                    (at % 2, at / 2)
                };
                result.set_bits(i, bytes, sources[register].bits(from, bytes));
            }
            m.set(out, result);
        }
    })
}

const MASKED: OpSchema =
    schema("", positional!("src" "mask" => "out"), &[vreg("src", "the source"), GOVERNING], &[OUT], &[]);

const UNPACK: OpSchema = schema(
    "",
    // The manual writes the type of `part`; its examples and the assembler do not.
    Syntax::Format("$src `,` $part attr-dict `:` type($src) (`,` `index`)? `->` type($out)"),
    &[vreg("src", "narrow lanes"), operand("part", INTEGER, Touch::Nothing, "which half: 0 the lower, 1 the upper")],
    &[OUT],
    &[],
);

fn unpack_rules(op: &OpRef<'_>, diags: &mut Diags) {
    if let Some(part) = op.operand("part").and_then(|part| constant(op.module, part))
        && !(0..=1).contains(&part)
    {
        diags.push(op.error("vreg-part", format!("`part` is 0 or 1: the half that is widened, not {part}")));
    }
    let (Some(from), Some(to)) = (check::elem(op, "src"), check::result_elem(op, 0)) else { return };
    if from.is_float() || to.is_float() || to.bytes() != 2 * from.bytes() {
        diags.push(
            op.error("vreg-type", format!("integers become integers twice as wide; {from} does not become {to}")),
        );
    }
}

fn unpack(op: &OpRef<'_>, d: &mut Decoder<'_>, signed: bool) -> Lowered {
    let mut e = Emit::new(op, d);
    e.faults = true;
    let elem = e.elem("src")?;
    let (src, out) = (e.reg("src")?, e.out(0));
    let bytes = elem.bytes();
    let widen = move |m: &mut Machine<'_>, half: usize| {
        let src = *m.reg(src);
        let lanes = BYTES / bytes / 2;
        let unused = 64 - 8 * bytes as u32;
        let mut result = Register::ZERO;
        for i in 0..lanes {
            let bits = src.bits(half * lanes + i, bytes);
            let bits = if signed { ((bits << unused) as i64 >> unused) as u64 } else { bits };
            result.set_bits(i, 2 * bytes, bits);
        }
        m.set(out, result);
    };
    let known = op.operand("part").and_then(|part| constant(op.module, part));
    if let Some(half @ 0..=1) = known {
        return e.compute(VectorPort::Alu, elem, move |m, _| widen(m, half as usize));
    }
    let part = e.number("part")?;
    e.step(VectorPort::Alu, elem, move |m, args| {
        let half = args[part];
        if half > 1 {
            let message = format!("asks for half {} of a register, which has 0 and 1", half as i64);
            return Err(Fault::new("vreg-part", message));
        }
        widen(m, half as usize);
        Ok(0)
    })
}
