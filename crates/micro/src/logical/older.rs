//! Ops lane by lane by the names that assembler 0.60 had before: one for floats and one for integers, without a
//! predicate. They are what its newer ops become.

use slipring_effect::arithmetic as shared;
use slipring_ir::{AttrKind, Diags, Infer, OpSchema, Syntax};
use slipring_op::def::Arithmetic::{One, Two};
use slipring_op::def::{OpDef, OpRef};
use slipring_op::rules::{one_of, required, result, schema};
use slipring_op::{ops, positional};
use slipring_tile::Elem;

use super::compare::{MODES, compare};
use super::emit::lanewise;
use super::{LOGICAL, OUT, PREDICATE, check, vector};
use crate::vector::check::{FLOATS, INTEGERS};
use crate::vector::kernels;

/// `f16`, `bf16` and `f32`.
const ALL_FLOATS: &[Elem] = &[Elem::F16, Elem::BF16, Elem::F32];
/// Integers of the multiplier.
const FACTORS: &[Elem] = &[Elem::I16, Elem::U16, Elem::I32, Elem::U32];

const DECLARED: OpDef = OpDef { source: super::DECLARED, verify: |op, _, diags| rules(op, diags), ..LOGICAL };

/// Two vectors.
const PAIR: OpDef = DECLARED.with(schema(
    "",
    positional!("lhs" "rhs" => "out"),
    &[vector("lhs", "the first operand"), vector("rhs", "the second operand")],
    &[OUT],
    &[],
));

/// One vector.
const SINGLE: OpDef =
    DECLARED.with(schema("", positional!("src" => "out"), &[vector("src", "the operand")], &[OUT], &[]));

const COMPARED: OpSchema = schema(
    "",
    Syntax::Format("$cmp `,` $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($out)"),
    &[vector("lhs", "the first operand"), vector("rhs", "the second operand")],
    &[result("out", PREDICATE, Infer::Written, "the lanes for which it holds")],
    &[required("cmp", AttrKind::Str, "`eq`, `ne`, `lt`, `le`, `gt` or `ge`; for floats also with `o` before it")],
);

/// Two vectors that are compared.
const COMPARISON: OpDef = OpDef { verify: |op, _, diags| compare_rules(op, diags), ..DECLARED.with(COMPARED) };

ops! {
    OPS;

    /// As `pto.vmi.vadd` of floats.
    ADDF "pto.vmi.addf" "Sum of floats": PAIR, kernel: Two(&shared::ADD), lane_types: ALL_FLOATS,
        lower: |op, d| lanewise(op, d, "vadd");
    /// As `pto.vmi.vadd` of integers.
    ADDI "pto.vmi.addi" "Sum of integers": PAIR, kernel: Two(&shared::ADD), lane_types: INTEGERS,
        lower: |op, d| lanewise(op, d, "vadd");
    /// As `pto.vmi.vsub` of floats.
    SUBF "pto.vmi.subf" "Difference of floats": PAIR, kernel: Two(&shared::SUB), lane_types: ALL_FLOATS,
        lower: |op, d| lanewise(op, d, "vsub");
    /// As `pto.vmi.vsub` of integers.
    SUBI "pto.vmi.subi" "Difference of integers": PAIR, kernel: Two(&shared::SUB), lane_types: INTEGERS,
        lower: |op, d| lanewise(op, d, "vsub");
    /// As `pto.vmi.vmul` of floats.
    MULF "pto.vmi.mulf" "Product of floats": PAIR, kernel: Two(&shared::MUL), lane_types: ALL_FLOATS,
        lower: |op, d| lanewise(op, d, "vmul");
    /// As `pto.vmi.vmul` of integers.
    MULI "pto.vmi.muli" "Product of integers": PAIR, kernel: Two(&shared::MUL), lane_types: FACTORS,
        lower: |op, d| lanewise(op, d, "vmul");
    /// As `pto.vmi.vdiv`.
    DIVF "pto.vmi.divf" "Quotient of floats": PAIR, kernel: Two(&shared::DIV), lane_types: FLOATS,
        lower: |op, d| lanewise(op, d, "vdiv");
    /// As `pto.vmi.vmin` of floats.
    MINF "pto.vmi.minf" "Smaller of two floats": PAIR, kernel: Two(&shared::MIN), lane_types: ALL_FLOATS,
        lower: |op, d| lanewise(op, d, "vmin");
    /// As `pto.vmi.vmin` of integers.
    MINI "pto.vmi.mini" "Smaller of two integers": PAIR, kernel: Two(&shared::MIN), lane_types: INTEGERS,
        lower: |op, d| lanewise(op, d, "vmin");
    /// As `pto.vmi.vmax` of floats.
    MAXF "pto.vmi.maxf" "Larger of two floats": PAIR, kernel: Two(&shared::MAX), lane_types: ALL_FLOATS,
        lower: |op, d| lanewise(op, d, "vmax");
    /// As `pto.vmi.vmax` of integers.
    MAXI "pto.vmi.maxi" "Larger of two integers": PAIR, kernel: Two(&shared::MAX), lane_types: INTEGERS,
        lower: |op, d| lanewise(op, d, "vmax");
    /// As `pto.vmi.vand` of vectors.
    ANDI "pto.vmi.andi" "Bitwise and of integers": PAIR, kernel: Two(&shared::AND), lane_types: INTEGERS,
        lower: |op, d| lanewise(op, d, "vand");
    /// As `pto.vmi.vor` of vectors.
    ORI "pto.vmi.ori" "Bitwise or of integers": PAIR, kernel: Two(&shared::OR), lane_types: INTEGERS,
        lower: |op, d| lanewise(op, d, "vor");
    /// As `pto.vmi.vxor` of vectors.
    XORI "pto.vmi.xori" "Bitwise exclusive or of integers": PAIR, kernel: Two(&shared::XOR), lane_types: INTEGERS,
        lower: |op, d| lanewise(op, d, "vxor");
    /// As `pto.vmi.vshl`.
    SHLI "pto.vmi.shli" "Shift integers left": PAIR, kernel: Two(&kernels::SHL), lane_types: INTEGERS,
        lower: |op, d| lanewise(op, d, "vshl");
    /// As `pto.vmi.vshr` of `uiN` or `iN` lanes.
    SHRUI "pto.vmi.shrui" "Shift right, filled with zeros": PAIR, kernel: Two(&kernels::SHR), lane_types: INTEGERS,
        verify: |op, _, diags| signed_rules(op, false, diags), lower: |op, d| lanewise(op, d, "vshr");
    /// As `pto.vmi.vshr` of `siN` lanes.
    SHRSI "pto.vmi.shrsi" "Shift right, filled with the sign": PAIR, kernel: Two(&kernels::SHR), lane_types: INTEGERS,
        verify: |op, _, diags| signed_rules(op, true, diags), lower: |op, d| lanewise(op, d, "vshr");

    /// As `pto.vmi.vneg` of floats.
    NEGF "pto.vmi.negf" "Negation of floats": SINGLE, kernel: One(&shared::NEG), lane_types: ALL_FLOATS,
        lower: |op, d| lanewise(op, d, "vneg");
    /// As `pto.vmi.vneg` of integers.
    NEGI "pto.vmi.negi" "Negation of integers": SINGLE, kernel: One(&shared::NEG), lane_types: INTEGERS,
        lower: |op, d| lanewise(op, d, "vneg");
    /// As `pto.vmi.vabs` of floats.
    ABSF "pto.vmi.absf" "Absolute value of floats": SINGLE, kernel: One(&kernels::SIGNED_ABS), lane_types: ALL_FLOATS,
        lower: |op, d| lanewise(op, d, "vabs");
    /// As `pto.vmi.vabs` of integers.
    ABSI "pto.vmi.absi" "Absolute value of integers": SINGLE, kernel: One(&kernels::SIGNED_ABS),
        lane_types: &[Elem::I8, Elem::I16, Elem::I32], lower: |op, d| lanewise(op, d, "vabs");
    /// As `pto.vmi.vsqrt`.
    SQRT "pto.vmi.sqrt" "Square root of floats": SINGLE, kernel: One(&shared::SQRT), lane_types: FLOATS,
        lower: |op, d| lanewise(op, d, "vsqrt");
    /// As `pto.vmi.vexp`.
    EXP "pto.vmi.exp" "Exponential of floats": SINGLE, kernel: One(&shared::EXP), lane_types: FLOATS,
        lower: |op, d| lanewise(op, d, "vexp");
    /// As `pto.vmi.vln`.
    LN "pto.vmi.ln" "Natural logarithm of floats": SINGLE, kernel: One(&shared::LOG), lane_types: FLOATS,
        lower: |op, d| lanewise(op, d, "vln");
    /// As `pto.vmi.vrelu`.
    RELU "pto.vmi.relu" "Rectified linear unit of lanes": SINGLE, kernel: One(&kernels::RELU),
        lane_types: &[Elem::F16, Elem::F32, Elem::I32], lower: |op, d| lanewise(op, d, "vrelu");
    /// As `pto.vmi.vnot` of a vector.
    NOT "pto.vmi.not" "Bitwise complement of integers": SINGLE, kernel: One(&shared::NOT), lane_types: INTEGERS,
        lower: |op, d| lanewise(op, d, "vnot");

    /// As `pto.vmi.vcmp` of floats, in all lanes.
    CMPF "pto.vmi.cmpf" "Compare floats": COMPARISON, lane_types: ALL_FLOATS, lower: |op, d| compare(op, d, false);
    /// As `pto.vmi.vcmp` of integers, in all lanes.
    CMPI "pto.vmi.cmpi" "Compare integers": COMPARISON, lane_types: INTEGERS, lower: |op, d| compare(op, d, false);
}

fn rules(op: &OpRef<'_>, diags: &mut Diags) {
    check::same(op, diags);
    check::lanes_of(op, op.def.schema.operands[0].name, op.def.lane_types, diags);
}

/// Requires lanes whose type has a sign, or has none.
fn signed_rules(op: &OpRef<'_>, signed: bool, diags: &mut Diags) {
    rules(op, diags);
    let Some(lanes) = check::vector(op, "lhs") else { return };
    if lanes.lane.arithmetic().is_some_and(|elem| elem.is_signed_int() != signed) {
        let wanted = if signed { "`siN`" } else { "`uiN` or `iN`" };
        let message = format!("`{}` takes lanes of {wanted}, not of {}", op.def.schema.name, lanes.lane);
        diags.push(op.error("elem-type", message));
    }
}

fn compare_rules(op: &OpRef<'_>, diags: &mut Diags) {
    rules(op, diags);
    let Some(lanes) = check::vector(op, "lhs") else { return };
    check::gives(op, 0, lanes, diags);
    let floats = op.def == &CMPF;
    let words: Vec<&str> = MODES.iter().filter(|mode| floats || !mode.2).map(|mode| mode.0).collect();
    one_of(op, "cmp", &words, diags);
}
