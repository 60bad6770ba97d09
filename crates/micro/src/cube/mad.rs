//! Products: `pto.mad` and its forms.

use slipring_ir::{AttrKind, AttrSpec, Diags, EnumSpec, OpSchema, OperandSpec, Syntax, Touch, Type};
use slipring_machine::Pipe;
use slipring_program::Operand;
use slipring_tile::Elem;

use super::super::clauses::{Clause, ClauseText, Part};
use super::super::memory::{BT, L0A, L0B, L0C, given, memory};
use slipring_effect::{Mad, MadArgs, MadStart, Tf32};
use slipring_op::decode::Decoder;
use slipring_op::decode::{CHECK_ONLY, UNIT_FLAG, with_unit_flag};
use slipring_op::def::{CoreRule, ElemTypes, Lowered, OpDef, OpRef, PipeRule};
use slipring_op::ops;
use slipring_op::rules::{INTEGER, PLAIN, WITHOUT_SMALL_FLOATS, defaulted, operand};

const UNIT_FLAG_MODE: &EnumSpec =
    &EnumSpec { kind: UNIT_FLAG, numbered: false, members: &[CHECK_ONLY, "check_and_set"] };
const TF32_MODE: &EnumSpec = &EnumSpec { kind: "tf32_mode", numbered: false, members: &["round_even", "round_away"] };

const UNIT_FLAG_CLAUSE: Clause = Clause::choice(UNIT_FLAG, &[Part::Word(UNIT_FLAG, UNIT_FLAG_MODE)]);
const TF32_CLAUSE: Clause = Clause::choice("tf32_mode", &[Part::Word("tf32_mode", TF32_MODE)]);

const CLAUSES: &[Clause] = &[
    UNIT_FLAG_CLAUSE,
    Clause::flag("disable_gemv"),
    Clause::flag("sat"),
    Clause::flag("nosat"),
    TF32_CLAUSE,
    Clause::flag("n_dir"),
];
/// Products with scales do not round their inputs, so they lack the clauses for that.
const MX_CLAUSES: &[Clause] = &[
    UNIT_FLAG_CLAUSE,
    Clause::flag("disable_gemv"),
    Clause::flag("sat"),
    Clause::flag("nosat"),
    Clause::flag("n_dir"),
];

const ATTRS: &[AttrSpec] = &[
    defaulted(UNIT_FLAG, AttrKind::Enum(UNIT_FLAG_MODE), "part in the synchronisation of accumulator tiles"),
    defaulted("disable_gemv", AttrKind::Unit, "a single row of the left operand lies in fractals, too"),
    defaulted("sat", AttrKind::Unit, "infinities and NaN are made finite"),
    defaulted("nosat", AttrKind::Unit, "infinities and NaN are kept"),
    defaulted("tf32_mode", AttrKind::Enum(TF32_MODE), "inputs are rounded to 10 bits of mantissa"),
    defaulted("n_dir", AttrKind::Unit, "order in which results are made; changes nothing here"),
];
const MX_ATTRS: &[AttrSpec] = &[ATTRS[0], ATTRS[1], ATTRS[2], ATTRS[3], ATTRS[5]];

const LHS: OperandSpec = operand("lhs", L0A, Touch::Read, "left operand, m × k");
const RHS: OperandSpec = operand("rhs", L0B, Touch::Read, "right operand, k × n");
const DST: OperandSpec = operand("dst", L0C, Touch::Write, "accumulator, m × n");
const BOTH: OperandSpec = operand("dst", L0C, Touch::ReadWrite, "accumulator, m × n");
const BIAS: OperandSpec = operand("bias", BT, Touch::Read, "n values, added to each row");
const M: OperandSpec = operand("m", INTEGER, Touch::Nothing, "rows of the product");
const N: OperandSpec = operand("n", INTEGER, Touch::Nothing, "columns of the product");
const K: OperandSpec = operand("k", INTEGER, Touch::Nothing, "terms of each sum");

macro_rules! doc {
    ($start:literal, plain) => {
        doc!(
            $start,
            "",
            "`tf32_mode` rounds f32 inputs to 10 bits of mantissa, ties to even or away from 0. "
        )
    };
    ($start:literal, scaled) => {
        doc!(
            $start,
            "Each input is first multiplied by the scale of its group of 32 elements of k; k is a multiple of 64. Two values \
             of a packed 4-bit float follow each other along k, the first one in the low bits, and k counts values. ",
            ""
        )
    };
    ($start:literal, $scale:literal, $round:literal) => {
        concat!(
            "`dst[i, j] = ",
            $start,
            "lhs[i, 0] × rhs[0, j] + lhs[i, 1] × rhs[1, j] + …`: one chain of fused multiply-adds for each element, in \
             ascending order of k, in f32 for floats and in wrapping i32 for 8-bit integers. ",
            $scale,
            "Operands and accumulator lie in fractals; with m = 1 the row of `lhs` lies contiguously unless `disable_gemv` \
             is there. `sat` makes infinities and NaN of the inputs the largest value of their type and 0, and those of the \
             result the largest f32 and 0; `nosat`, or neither, keeps them. ",
            $round,
            "Elements of the accumulator's fractals outside m × n keep their bytes."
        )
    };
}

const SCALED: &str = "micro-instruction manual 16, MX Matmul Model";

/// Only the newer unit multiplies floats of 8 and 4 bits.
const PLAIN_ELEMS: &[ElemTypes] =
    &[ElemTypes { operand: "lhs", memory: WITHOUT_SMALL_FLOATS, registers: Elem::ALL.as_slice() }];
/// Products with scales are only defined on such floats; a separate rule checks which types go together.
const SCALED_ELEMS: &[ElemTypes] = &[ElemTypes { operand: "lhs", memory: &[], registers: Elem::ALL.as_slice() }];

const CUBE: OpDef = OpDef {
    elems: PLAIN_ELEMS,
    source: "micro-instruction manual 16, Cube Compute Ops",
    core: CoreRule::Cube,
    pipe: PipeRule::Fixed(Pipe::M),
    ..PLAIN
};

/// Products without scales.
const PLAIN_PRODUCT: OpDef = OpDef { schema: OpSchema { attrs: ATTRS, ..CUBE.schema }, ..CUBE };
/// Products with scales.
const SCALED_PRODUCT: OpDef =
    OpDef { schema: OpSchema { attrs: MX_ATTRS, ..CUBE.schema }, elems: SCALED_ELEMS, source: SCALED, ..CUBE };

ops! {
    OPS;

    MAD "pto.mad" "Multiply two operands": PLAIN_PRODUCT, doc: doc!("", plain),
        verify: |op, _, diags| verify(op, MadStart::Zero, false, diags),
        lower: |op, d| lower(op, d, MadStart::Zero, false)
        => {
            syntax: Syntax::Custom(&ClauseText { lead: 6, commas: false, ordered: false, clauses: CLAUSES }),
            operands: &[LHS, RHS, DST, M, N, K],
        };

    MAD_ACC "pto.mad_acc" "Multiply two operands and add to the accumulator": PLAIN_PRODUCT,
        doc: doc!("dst[i, j] + ", plain), verify: |op, _, diags| verify(op, MadStart::Acc, false, diags),
        lower: |op, d| lower(op, d, MadStart::Acc, false)
        => {
            syntax: Syntax::Custom(&ClauseText { lead: 6, commas: false, ordered: false, clauses: CLAUSES }),
            operands: &[LHS, RHS, BOTH, M, N, K],
        };

    MAD_BIAS "pto.mad_bias" "Multiply two operands and add a bias to each row": PLAIN_PRODUCT,
        doc: doc!("bias[j] + ", plain), verify: |op, _, diags| verify(op, MadStart::Bias, false, diags),
        lower: |op, d| lower(op, d, MadStart::Bias, false)
        => {
            syntax: Syntax::Custom(&ClauseText { lead: 7, commas: false, ordered: false, clauses: CLAUSES }),
            operands: &[LHS, RHS, DST, BIAS, M, N, K],
        };

    MAD_MX "pto.mad_mx" "Multiply two operands with scales": SCALED_PRODUCT,
        doc: doc!("", scaled),
        verify: |op, _, diags| verify(op, MadStart::Zero, true, diags),
        lower: |op, d| lower(op, d, MadStart::Zero, true)
        => {
            syntax: Syntax::Custom(&ClauseText { lead: 6, commas: false, ordered: false, clauses: MX_CLAUSES }),
            operands: &[LHS, RHS, DST, M, N, K],
        };

    MAD_MX_ACC "pto.mad_mx_acc"
        "Multiply two operands with scales and add to the accumulator": SCALED_PRODUCT,
        doc: doc!("dst[i, j] + ", scaled),
        verify: |op, _, diags| verify(op, MadStart::Acc, true, diags), lower: |op, d| lower(op, d, MadStart::Acc, true)
        => {
            syntax: Syntax::Custom(&ClauseText { lead: 6, commas: false, ordered: false, clauses: MX_CLAUSES }),
            operands: &[LHS, RHS, BOTH, M, N, K],
        };

    MAD_MX_BIAS "pto.mad_mx_bias"
        "Multiply two operands with scales and add a bias to each row": SCALED_PRODUCT,
        doc: doc!("bias[j] + ", scaled),
        verify: |op, _, diags| verify(op, MadStart::Bias, true, diags),
        lower: |op, d| lower(op, d, MadStart::Bias, true)
        => {
            syntax: Syntax::Custom(&ClauseText { lead: 7, commas: false, ordered: false, clauses: MX_CLAUSES }),
            operands: &[LHS, RHS, DST, BIAS, M, N, K],
        };
}

/// True for the 8-bit floats that are multiplied with each other.
fn narrow(elem: Elem) -> bool {
    matches!(elem, Elem::F8E4M3 | Elem::F8E5M2)
}

/// True for types that may have scales.
fn may_have_scales(elem: Elem) -> bool {
    narrow(elem) || matches!(elem, Elem::F4E1M2x2 | Elem::F4E2M1x2)
}

fn verify(op: &OpRef<'_>, start: MadStart, scaled: bool, diags: &mut Diags) {
    let elem = |name| op.ty(name).and_then(Type::elem);
    let (Some(a), Some(b), Some(c)) = (elem("lhs"), elem("rhs"), elem("dst")) else { return };
    let wide = a == b && matches!(a, Elem::F32 | Elem::F16 | Elem::BF16 | Elem::HiF8);
    let fine = match c {
        Elem::F32 if scaled => may_have_scales(a) && may_have_scales(b),
        Elem::F32 => wide || (narrow(a) && narrow(b)),
        Elem::I32 => !scaled && [a, b].iter().all(|x| matches!(x, Elem::I8 | Elem::U8)),
        _ => false,
    };
    if !fine {
        let help = match scaled {
            true => "two of f8E4M3FN, f8E5M2, f4E1M2x2 and f4E2M1x2 give f32",
            false => "two of f16, bf16, f32, hif8, or of f8E4M3FN and f8E5M2 give f32, two of i8 give i32",
        };
        diags.push(op.error("matmul-type", format!("no product of {a} and {b} into {c}")).help(help));
    }
    if op.attr("sat").is_some() && op.attr("nosat").is_some() {
        diags.push(op.error("mad-clause", "expects at most one of `sat` and `nosat`"));
    }
    if c == Elem::I32 && (op.attr("sat").is_some() || op.attr("nosat").is_some()) {
        diags.push(op.error("mad-clause", "expects no `sat` and no `nosat` in a product of integers"));
    }
    if op.attr("tf32_mode").is_some() && (a, b, c) != (Elem::F32, Elem::F32, Elem::F32) {
        diags.push(op.error("mad-clause", "expects f32 operands and an f32 accumulator for `tf32_mode`"));
    }
    if start == MadStart::Bias && elem("bias") != Some(c) {
        diags.push(op.error("matmul-type", "expects bias and dst to have the same element type"));
    }
}

fn lower(op: &OpRef<'_>, d: &mut Decoder<'_>, start: MadStart, scaled: bool) -> Lowered {
    let (a, b, c) = (memory(op, d, "lhs")?, memory(op, d, "rhs")?, memory(op, d, "dst")?);
    let bias = if start == MadStart::Bias { memory(op, d, "bias")?.addr } else { c.addr };
    let mut scales = |data| if scaled { d.scales_at(data) } else { Operand::Imm(0) };
    let (left_scales, right_scales) = (scales(a.addr), scales(b.addr));
    let (m, k, n) = (given(op, d, "m")?, given(op, d, "k")?, given(op, d, "n")?);
    let args = MadArgs { a: a.addr, b: b.addr, dst: c.addr, start: bias, m, k, n, left_scales, right_scales };
    let effect = Mad {
        elems: [a.elem, b.elem, c.elem],
        left: d.platform.left_blayout,
        start,
        gemv: op.attr("disable_gemv").is_none(),
        tf32: match op.text("tf32_mode") {
            Some("round_even") => Some(Tf32::Even),
            Some("round_away") => Some(Tf32::Away),
            _ => None,
        },
        saturate: op.attr("sat").is_some(),
        scaled,
    };
    let cost = d.platform.cube_cost(a.elem);
    with_unit_flag(op, d, Pipe::M, c.addr, |d| d.issue(Pipe::M, effect, args.list(), cost));
    Ok(())
}
