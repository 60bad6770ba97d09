//! Ops lane by lane (SPEC of virtual micro-instructions, group 3).

use slipring_effect::arithmetic as shared;
use slipring_ir::{Diags, Infer, OpSchema, Sign, Syntax, Touch, Type, TypeRule};
use slipring_machine::{Platform, VectorPort};
use slipring_op::decode::Decoder;
use slipring_op::def::Arithmetic::{One, Two};
use slipring_op::def::{Lowered, OpDef, OpRef, Reported};
use slipring_op::ops;
use slipring_op::rules::{INTEGER, SCALAR, operand, result, schema};
use slipring_tile::Elem;
use slipring_vector::Mask;

use super::emit::{lanewise, ordered};
use super::{GOVERNING, LOGICAL, OUT, PERHAPS, PMODE, check, vector};
use crate::vector::check::{FLOATS, INTEGERS, NUMBERS};
use crate::vector::emit::Emit;
use crate::vector::kernels;

/// Element types of the multiplier.
const MUL: &[Elem] = &[Elem::I16, Elem::U16, Elem::I32, Elem::U32, Elem::F16, Elem::BF16, Elem::F32];

/// Element types of what has a sign.
const SIGNED: &[Elem] = &[Elem::I8, Elem::I16, Elem::I32, Elem::F16, Elem::BF16, Elem::F32];

const BINARY: OpSchema = schema(
    "",
    Syntax::Format(
        "$lhs `,` $rhs (`,` $mask)? attr-dict `:` type($lhs) `,` type($rhs) (`,` type($mask))? `->` type($out)",
    ),
    &[vector("lhs", "the first operand"), vector("rhs", "the second operand"), PERHAPS],
    &[OUT],
    &[PMODE],
);

const UNARY: OpSchema = schema(
    "",
    Syntax::Format("$src (`,` $mask)? attr-dict `:` type($src) (`,` type($mask))? `->` type($out)"),
    &[vector("src", "the operand"), PERHAPS],
    &[OUT],
    &[PMODE],
);

const NUMBERED: OpSchema = schema(
    "",
    Syntax::Format(
        "$src `,` $scalar `,` $mask attr-dict `:` type($src) `,` type($scalar) `,` type($mask) `->` type($out)",
    ),
    &[
        vector("src", "the first operand"),
        operand("scalar", SCALAR, Touch::Nothing, "the second operand of every lane, of the lanes' type"),
        GOVERNING,
    ],
    &[OUT],
    &[PMODE],
);

const SHIFTED: OpSchema = OpSchema {
    operands: &[
        vector("src", "what is shifted"),
        operand("scalar", INTEGER, Touch::Nothing, "bits to shift every lane by, an `i16`"),
        GOVERNING,
    ],
    ..NUMBERED
};

/// Vectors, or predicates.
const EITHER: TypeRule = TypeRule {
    describe: "a logical vector or a logical predicate",
    accepts: |t| matches!(t, Type::LogicalVector(_) | Type::LogicalMask(_)),
};

const BITS_OF_TWO: OpSchema = OpSchema {
    operands: &[
        operand("lhs", EITHER, Touch::Nothing, "the first operand"),
        operand("rhs", EITHER, Touch::Nothing, "the second operand"),
        PERHAPS,
    ],
    results: &[result("out", EITHER, Infer::Written, "the result")],
    ..BINARY
};

const BITS_OF_ONE: OpSchema = OpSchema {
    operands: &[operand("src", EITHER, Touch::Nothing, "the operand"), PERHAPS],
    results: &[result("out", EITHER, Infer::Written, "the result")],
    ..UNARY
};

fn rules_of_order(op: &OpRef<'_>, first: &str, platform: &Platform, diags: &mut Diags) {
    check::lanewise(op, diags);
    if let Some(lanes) = check::vector(op, first) {
        check::order(op, lanes, platform, diags);
    }
}

fn rules_of_shift(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::lanewise(op, diags);
    if op.ty("scalar").is_some_and(|ty| !matches!(ty, Type::Int { width: 16, sign: Sign::Signless })) {
        diags.push(op.error("elem-type", "lanes are shifted by a number of type `i16`"));
    }
}

/// Vectors as for other ops; of predicates all have one type, and none governs.
fn rules_of_bits(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    let first = op.def.schema.operands[0].name;
    if check::mask(op, first).is_none() {
        check::lanewise(op, diags);
        return;
    }
    let out = op.module.ty(op.result(0));
    let types = ["lhs", "rhs", "src"].into_iter().filter_map(|at| Some(op.module.ty(op.if_declared(at)?)));
    if let Some(other) = types.into_iter().find(|ty| *ty != out) {
        diags.push(op.error("mask-type", format!("expects predicates of one type, found `{out}` and `{other}`")));
    }
    for (given, what) in [(op.operand("mask").is_some(), "`mask`"), (op.attr("pmode").is_some(), "`pmode`")] {
        if given {
            diags.push(op.error("operand-type", format!("{what}: no predicate governs an op on predicates")));
        }
    }
}

/// An op on the bits of the lanes of vectors, or on predicates.
fn bits(op: &OpRef<'_>, d: &mut Decoder<'_>, price: &'static str, f: fn(u64, u64) -> u64) -> Lowered {
    let names: Vec<&str> = op.def.schema.operands.iter().map(|spec| spec.name).filter(|name| *name != "mask").collect();
    if check::mask(op, names[0]).is_none() {
        return lanewise(op, d, price);
    }
    let mut e = Emit::new(op, d);
    e.price = Some((price, 1));
    let sources = names.iter().map(|name| e.predicate(name)).collect::<Result<Vec<_>, Reported>>()?;
    let lanes = check::result_mask(op, 0).ok_or(Reported)?.lanes as usize;
    let out = e.gives_predicate(0)?;
    e.compute(VectorPort::Alu, Elem::U8, move |m, _| {
        for (at, to) in out.0.iter().enumerate() {
            let [first, second] = [0, sources.len() - 1].map(|source| m.mask(sources[source].0[at]));
            let there = Mask::first(lanes - at * slipring_vector::BYTES, 1);
            m.set_mask(*to, first.zip(second, f).zip(there, |bits, there| bits & there));
        }
    })
}

/// Two vectors.
const LANES: OpDef =
    OpDef { schema: BINARY, verify: |op, _, diags| check::lanewise(op, diags), lane_types: NUMBERS, ..LOGICAL };
/// Two vectors whose order matters.
const ORDERED: OpDef = OpDef { verify: |op, platform, diags| rules_of_order(op, "lhs", platform, diags), ..LANES };
/// One vector.
const LANE: OpDef =
    OpDef { schema: UNARY, verify: |op, _, diags| check::lanewise(op, diags), lane_types: FLOATS, ..LOGICAL };
/// A vector and a scalar.
const SCALED: OpDef = OpDef {
    schema: NUMBERED,
    verify: |op, _, diags| check::lanewise_with(op, "scalar", diags),
    lane_types: NUMBERS,
    ..LOGICAL
};
/// A vector and a scalar whose order matters.
const ORDERED_SCALED: OpDef = OpDef {
    verify: |op, platform, diags| {
        rules_of_order(op, "src", platform, diags);
        check::number_for(op, "scalar", check::vector(op, "src"), diags);
    },
    ..SCALED
};
/// A vector and a shift count.
const COUNTED: OpDef = OpDef { schema: SHIFTED, verify: rules_of_shift, lane_types: INTEGERS, ..LOGICAL };

ops! {
    OPS;

    /// `out = lhs + rhs`; integers wrap.
    VADD "pto.vmi.vadd" "Sum": LANES, kernel: Two(&shared::ADD), lower: |op, d| lanewise(op, d, "vadd");

    /// `out = lhs - rhs`; integers wrap.
    VSUB "pto.vmi.vsub" "Difference": LANES, kernel: Two(&shared::SUB), lower: |op, d| lanewise(op, d, "vsub");

    /// `out = lhs × rhs`; integers wrap.
    VMUL "pto.vmi.vmul" "Product": LANES, kernel: Two(&shared::MUL), lane_types: MUL,
        lower: |op, d| lanewise(op, d, "vmul");

    /// `out = lhs ÷ rhs`, rounded once.
    VDIV "pto.vmi.vdiv" "Quotient": LANES, kernel: Two(&shared::DIV), lane_types: FLOATS,
        lower: |op, d| lanewise(op, d, "vdiv");

    /// `out = max(lhs, rhs)`. NaN if one of them is. Integers without a sign are unsigned.
    VMAX "pto.vmi.vmax" "Larger of two": ORDERED, kernel: Two(&shared::MAX), lower: |op, d| ordered(op, d, "vmax");

    /// `out = min(lhs, rhs)`. NaN if one of them is. Integers without a sign are unsigned.
    VMIN "pto.vmi.vmin" "Smaller of two": ORDERED, kernel: Two(&shared::MIN), lower: |op, d| ordered(op, d, "vmin");

    /// `out = lhs << rhs`. The count is taken modulo the width of a lane.
    VSHL "pto.vmi.vshl" "Shift left": LANES, kernel: Two(&kernels::SHL), lane_types: INTEGERS,
        lower: |op, d| lanewise(op, d, "vshl");

    /// `out = lhs >> rhs`, filled with the sign for `siN` and with zeros for other lanes. The count is taken modulo the
    /// width of a lane.
    VSHR "pto.vmi.vshr" "Shift right": LANES, kernel: Two(&kernels::SHR), lane_types: INTEGERS,
        lower: |op, d| lanewise(op, d, "vshr");

    /// `out = |src|`. The most negative integer stays what it is; integers without a sign are signed here.
    VABS "pto.vmi.vabs" "Absolute value": LANE, kernel: One(&kernels::SIGNED_ABS), lane_types: SIGNED,
        lower: |op, d| lanewise(op, d, "vabs");

    /// `out = -src`; integers wrap.
    VNEG "pto.vmi.vneg" "Negation": LANE, kernel: One(&shared::NEG), lane_types: NUMBERS,
        lower: |op, d| lanewise(op, d, "vneg");

    /// `out = max(src, 0)`. NaN stays NaN; integers without a sign are signed here.
    VRELU "pto.vmi.vrelu" "Rectified linear unit": LANE, kernel: One(&kernels::RELU), lane_types: SIGNED,
        lower: |op, d| lanewise(op, d, "vrelu");

    /// `out = e^src`, correctly rounded.
    VEXP "pto.vmi.vexp" "Exponential": LANE, kernel: One(&shared::EXP), lower: |op, d| lanewise(op, d, "vexp");

    /// `out = ln(src)`, correctly rounded; -inf for 0, NaN for negative numbers.
    VLN "pto.vmi.vln" "Natural logarithm": LANE, kernel: One(&shared::LOG), lower: |op, d| lanewise(op, d, "vln");

    /// `out = √src`, correctly rounded; NaN for negative numbers.
    VSQRT "pto.vmi.vsqrt" "Square root": LANE, kernel: One(&shared::SQRT), lower: |op, d| lanewise(op, d, "vsqrt");

    /// `out = lhs & rhs` on the bits of integer lanes, or on two predicates.
    VAND "pto.vmi.vand" "Bitwise and": LANES.with(BITS_OF_TWO), kernel: Two(&shared::AND), lane_types: INTEGERS,
        verify: rules_of_bits, lower: |op, d| bits(op, d, "vand", |a, b| a & b);

    /// `out = lhs | rhs` on the bits of integer lanes, or on two predicates.
    VOR "pto.vmi.vor" "Bitwise or": LANES.with(BITS_OF_TWO), kernel: Two(&shared::OR), lane_types: INTEGERS,
        verify: rules_of_bits, lower: |op, d| bits(op, d, "vor", |a, b| a | b);

    /// `out = lhs ^ rhs` on the bits of integer lanes, or on two predicates.
    VXOR "pto.vmi.vxor" "Bitwise exclusive or": LANES.with(BITS_OF_TWO), kernel: Two(&shared::XOR),
        lane_types: INTEGERS, verify: rules_of_bits, lower: |op, d| bits(op, d, "vxor", |a, b| a ^ b);

    /// `out = ~src` on the bits of integer lanes, or on a predicate.
    VNOT "pto.vmi.vnot" "Bitwise complement": LANE.with(BITS_OF_ONE), kernel: One(&shared::NOT), lane_types: INTEGERS,
        verify: rules_of_bits, lower: |op, d| bits(op, d, "vnot", |a, _| !a);

    /// `out = src + scalar`; integers wrap.
    VADDS "pto.vmi.vadds" "Sum with a number": SCALED, kernel: Two(&shared::ADD),
        lower: |op, d| lanewise(op, d, "vadds");

    /// `out = src × scalar`; integers wrap.
    VMULS "pto.vmi.vmuls" "Product with a number": SCALED, kernel: Two(&shared::MUL), lane_types: MUL,
        lower: |op, d| lanewise(op, d, "vmuls");

    /// `out = max(src, scalar)`. NaN if one of them is. Integers without a sign are unsigned.
    VMAXS "pto.vmi.vmaxs" "Larger of a lane and a number": ORDERED_SCALED, kernel: Two(&shared::MAX),
        lower: |op, d| ordered(op, d, "vmaxs");

    /// `out = min(src, scalar)`. NaN if one of them is. Integers without a sign are unsigned.
    VMINS "pto.vmi.vmins" "Smaller of a lane and a number": ORDERED_SCALED, kernel: Two(&shared::MIN),
        lower: |op, d| ordered(op, d, "vmins");

    /// `out = src << scalar`. The count is taken modulo the width of a lane.
    VSHLS "pto.vmi.vshls" "Shift left by a number": COUNTED, kernel: Two(&kernels::SHL),
        lower: |op, d| lanewise(op, d, "vshls");

    /// `out = src >> scalar`, filled with the sign for `siN` and with zeros for other lanes. The count is taken modulo
    /// the width of a lane.
    VSHRS "pto.vmi.vshrs" "Shift right by a number": COUNTED, kernel: Two(&kernels::SHR),
        lower: |op, d| lanewise(op, d, "vshrs");
}
