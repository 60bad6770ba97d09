//! Several operations in one (SPEC of virtual micro-instructions, group 7.1; assembler 0.60 for carries).

use slipring_ir::{Diags, Infer, LaneType, Syntax, Touch};
use slipring_machine::VectorPort;
use slipring_op::decode::Decoder;
use slipring_op::def::Arithmetic::{Three, Two};
use slipring_op::def::{Lowered, OpRef};
use slipring_op::ops;
use slipring_op::rules::{SCALAR, operand, result};
use slipring_tile::{Elem, convert, math};

use super::emit::{lanewise, of_operands};
use super::value::{Bytes, bits, set_bits};
use super::{DECLARED, GOVERNING, LOGICAL, OUT, PERHAPS, PMODE, PREDICATE, VECTOR, check, vector};
use crate::vector::check::{FLOATS, NUMBERS, WORDS};
use crate::vector::emit::Emit;
use crate::vector::kernels;

ops! {
    OPS;

    /// `out = acc + lhs × rhs`, rounded once; integers wrap.
    VMULA "pto.vmi.vmula" "Multiply and add": LOGICAL, kernel: Three(&kernels::MULA),
        verify: |op, _, diags| check::lanewise(op, diags), lane_types: NUMBERS, lower: |op, d| lanewise(op, d, "vmula")
        => {
            syntax: Syntax::Format(
                "$acc `,` $lhs `,` $rhs (`,` $mask)? attr-dict `:` type($acc) `,` type($lhs) `,` type($rhs) \
                 (`,` type($mask))? `->` type($out)",
            ),
            operands: &[
                vector("acc", "what is added to"),
                vector("lhs", "first factor"),
                vector("rhs", "second factor"),
                PERHAPS,
            ],
            results: &[OUT],
            attrs: &[PMODE],
        };

    /// `out = lhs × rhs + acc`, rounded once.
    FMA "pto.vmi.fma" "Multiply and add floats": LOGICAL, source: DECLARED,
        verify: |op, _, diags| check::lanewise(op, diags), lane_types: &[Elem::F16, Elem::BF16, Elem::F32],
        lower: |op, d| of_operands(op, d, &kernels::AXPY, ["lhs", "acc", "rhs"], "vmula")
        => {
            syntax: Syntax::Format(
                "$lhs `,` $rhs `,` $acc attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc) `->` type($out)",
            ),
            operands: &[
                vector("lhs", "first factor"),
                vector("rhs", "second factor"),
                vector("acc", "what is added"),
            ],
            results: &[OUT],
        };

    /// `out = alpha × src + addend`, rounded once.
    VAXPY "pto.vmi.vaxpy" "Scale and add": LOGICAL, kernel: Three(&kernels::AXPY),
        verify: |op, _, diags| check::lanewise_with(op, "alpha", diags),
        lane_types: FLOATS, lower: |op, d| lanewise(op, d, "vaxpy")
        => {
            syntax: slipring_op::positional!("src" "addend" "alpha" "mask" => "out"),
            operands: &[
                vector("src", "what is scaled"),
                vector("addend", "what is added"),
                operand("alpha", SCALAR, Touch::Nothing, "the factor, of the lanes' type"),
                GOVERNING,
            ],
            results: &[OUT],
            attrs: &[PMODE],
        };

    /// `out = src` where it is at least 0, `slope × src` elsewhere.
    VLRELU "pto.vmi.vlrelu" "Leaky rectified linear unit": LOGICAL, kernel: Two(&kernels::PRELU),
        verify: |op, _, diags| check::lanewise_with(op, "slope", diags),
        lane_types: FLOATS, lower: |op, d| lanewise(op, d, "vlrelu")
        => {
            syntax: slipring_op::positional!("src" "slope" "mask" => "out"),
            operands: &[
                vector("src", "the operand"),
                operand("slope", SCALAR, Touch::Nothing, "the factor of negative lanes, of the lanes' type"),
                GOVERNING,
            ],
            results: &[OUT],
            attrs: &[PMODE],
        };

    /// `out = src` where it is at least 0, `alpha × src` elsewhere.
    VPRELU "pto.vmi.vprelu" "Parametric rectified linear unit": LOGICAL, kernel: Two(&kernels::PRELU),
        verify: |op, _, diags| check::lanewise(op, diags), lane_types: FLOATS, lower: |op, d| lanewise(op, d, "vprelu")
        => {
            syntax: slipring_op::positional!("src" "alpha" "mask" => "out"),
            operands: &[
                vector("src", "the operand"),
                vector("alpha", "the factor of each lane if it is negative"),
                GOVERNING,
            ],
            results: &[OUT],
            attrs: &[PMODE],
        };

    /// `out = e^(src - max)` in f32: the difference is rounded to f32, the exponential correctly. `max` has the type of
    /// `src`, as assembler 0.60 has it, or is of f32, as the SPEC says.
    VEXPDIF "pto.vmi.vexpdif" "Exponential of a difference": LOGICAL, verify: |op, _, diags| expdif_rules(op, diags),
        lower: expdif
        => {
            syntax: slipring_op::positional!("src" "max" "mask" => "out"),
            operands: &[vector("src", "the operand"), vector("max", "what is subtracted"), GOVERNING],
            results: &[OUT],
            attrs: &[PMODE],
        };

    /// The whole product of 32-bit integers: its low and its high half. `ui32` lanes are unsigned, `i32`
    /// lanes signed; there is no form for `si32`.
    VMULL "pto.vmi.vmull" "Product of 64 bits in two vectors": LOGICAL, verify: |op, _, diags| mull_rules(op, diags),
        lane_types: WORDS, lower: mull
        => {
            syntax: slipring_op::positional!("lhs" "rhs" "mask" => "low" "high"),
            operands: &[vector("lhs", "first factor"), vector("rhs", "second factor"), GOVERNING],
            results: &[
                result("low", VECTOR, Infer::Written, "low 32 bits of the products"),
                result("high", VECTOR, Infer::Written, "high 32 bits"),
            ],
            attrs: &[PMODE],
        };

    /// `out = lhs + rhs` in 32 bits, and the lanes whose unsigned sum does not fit.
    VADDC "pto.vmi.vaddc" "Sum and carries": LOGICAL, source: DECLARED, verify: |op, _, diags| carry_rules(op, diags),
        lane_types: WORDS, lower: carry
        => {
            syntax: slipring_op::positional!("lhs" "rhs" "mask" => "out" "carry"),
            operands: &[vector("lhs", "the first operand"), vector("rhs", "the second operand"), GOVERNING],
            results: &[OUT, result("carry", PREDICATE, Infer::Written, "the lanes with a carry")],
        };

    /// `out = lhs + rhs + carry_in` in 32 bits, and the lanes whose unsigned sum does not fit.
    VADDCS "pto.vmi.vaddcs" "Sum with carries": LOGICAL, source: DECLARED, verify: |op, _, diags| carry_rules(op, diags),
        lane_types: WORDS, lower: carry
        => {
            syntax: slipring_op::positional!("lhs" "rhs" "carry_in" "mask" => "out" "carry"),
            operands: &[
                vector("lhs", "the first operand"),
                vector("rhs", "the second operand"),
                operand("carry_in", PREDICATE, Touch::Nothing, "the lanes to which 1 is added"),
                GOVERNING,
            ],
            results: &[OUT, result("carry", PREDICATE, Infer::Written, "the lanes with a carry")],
        };
}

fn carry_rules(op: &OpRef<'_>, diags: &mut Diags) {
    check::lanewise(op, diags);
    if let Some(lanes) = check::vector(op, "lhs") {
        check::governs(op, "carry_in", lanes, diags);
        check::gives(op, 1, lanes, diags);
    }
}

fn expdif_rules(op: &OpRef<'_>, diags: &mut Diags) {
    check::pmode(op, diags);
    check::lanes_of(op, "src", FLOATS, diags);
    let (Some(src), Some(max), Some(out)) = (check::vector(op, "src"), check::vector(op, "max"), check::result(op, 0))
    else {
        return;
    };
    check::governs(op, "mask", src, diags);
    check::lanes(op, "`max`", max, src.lanes, diags);
    check::lanes(op, "a result", out, src.lanes, diags);
    let f32 = LaneType::Elem(Elem::F32);
    if max.lane != src.lane && max.lane != f32 {
        diags.push(
            op.error("vreg-type", format!("`max` has lanes of the type of `src` or of f32, not of {}", max.lane)),
        );
    }
    if out.lane != f32 {
        diags.push(op.error("vreg-type", format!("gives lanes of f32, not {}", out.lane)));
    }
}

fn expdif(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let (src, max, mask, out) = (e.vector("src")?, e.vector("max")?, e.predicate("mask")?, e.gives(0)?);
    e.price = Some(("vexpdif", out.slots.len()));
    e.compute(VectorPort::Alu, src.elem, move |m, _| {
        let (mut a, mut b) = (vec![0f32; src.count], vec![0f32; src.count]);
        convert::load_f32(src.elem, &src.read(m), &mut a);
        convert::load_f32(max.elem, &max.read(m), &mut b);
        let active = mask.read(m);
        let mut result = Bytes::from_elem(0, out.size());
        for i in (0..src.count).filter(|i| active.is(*i)) {
            set_bits(&mut result, i, 4, math::exp(a[i] - b[i]).to_bits().into());
        }
        out.write(m, &result);
    })
}

fn mull_rules(op: &OpRef<'_>, diags: &mut Diags) {
    check::lanewise(op, diags);
    if let Some(lane) = check::vector(op, "lhs").map(|lanes| lanes.lane)
        && matches!(lane, LaneType::Signed(_))
    {
        diags
            .push(op.error("elem-type", format!("`{}` takes lanes of i32 or ui32, not of {lane}", op.def.schema.name)));
    }
}

fn mull(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let signed = check::vector(op, "lhs").is_some_and(|lanes| lanes.lane != LaneType::Elem(Elem::U32));
    let mut e = Emit::new(op, d);
    let (lhs, rhs, mask, low, high) =
        (e.vector("lhs")?, e.vector("rhs")?, e.predicate("mask")?, e.gives(0)?, e.gives(1)?);
    e.price = Some(("vmull", lhs.slots.len()));
    e.compute(VectorPort::Alu, lhs.elem, move |m, _| {
        let (a, b, active) = (lhs.read(m), rhs.read(m), mask.read(m));
        let [mut lower, mut upper] = [(); 2].map(|()| Bytes::from_elem(0, low.size()));
        for i in (0..lhs.count).filter(|i| active.is(*i)) {
            let (a, b) = (bits(&a, i, 4) as u32, bits(&b, i, 4) as u32);
            let product = match signed {
                true => (i64::from(a as i32) * i64::from(b as i32)) as u64,
                false => u64::from(a) * u64::from(b),
            };
            set_bits(&mut lower, i, 4, product);
            set_bits(&mut upper, i, 4, product >> 32);
        }
        low.write(m, &lower);
        high.write(m, &upper);
    })
}

fn carry(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let (lhs, rhs, mask) = (e.vector("lhs")?, e.vector("rhs")?, e.predicate("mask")?);
    let with = match op.if_declared("carry_in") {
        Some(_) => Some(e.predicate("carry_in")?),
        None => None,
    };
    let (out, carry) = (e.gives(0)?, e.gives_predicate(1)?);
    e.price = Some((if with.is_some() { "vaddcs" } else { "vaddc" }, lhs.slots.len()));
    e.compute(VectorPort::Alu, lhs.elem, move |m, _| {
        let (a, b, active) = (lhs.read(m), rhs.read(m), mask.read(m));
        let with = with.as_ref().map(|with| with.read(m));
        let sum = |i: usize| bits(&a, i, 4) + bits(&b, i, 4) + u64::from(with.as_ref().is_some_and(|with| with.is(i)));
        let mut result = Bytes::from_elem(0, out.size());
        (0..out.count).filter(|i| active.is(*i)).for_each(|i| set_bits(&mut result, i, 4, sum(i)));
        out.write(m, &result);
        carry.write(m, out.count, |i| active.is(i) && sum(i) >> 32 != 0);
    })
}
