//! Several steps in one op (tile library: the assembler has no op for them).

use slipring_ir::{Diags, OperandSpec, Touch, Type, TypeRule};
use slipring_tile::convert::Saturation;
use slipring_tile::{Binary, Cast, Elem, RoundMode};

use super::check::{self, Needs};
use super::lower::{Operands, elementwise};
use super::{DST, EACH, SRC0, SRC1, TMP, TWO, ins, tiles, types, working};
use slipring_effect::arithmetic::*;
use slipring_effect::vector::{Number, NumberUse, Steps};
use slipring_machine::Platform;
use slipring_op::decode::Decoder;
use slipring_op::def::Arithmetic::{Three, Two};
use slipring_op::def::{Lowered, OpDef, OpRef};
use slipring_op::ops;
use slipring_op::rules::{TILE, operand, schema};

const FUSED: OpDef = OpDef {
    class: "mul",
    source: "tile ISA, page of the same name, and its headers of each platform",
    elems: types::FLOAT,
    tiles: tiles::TWO,
    schema: TWO,
    verify: check::floats,
    lower: elementwise,
    ..EACH
};
const INTO: OperandSpec = operand("dst", TILE, Touch::ReadWrite, "what is worked on, and where the results go");
const INTO_DST: OpDef = OpDef { schema: schema("", ins(2), &[SRC0, SRC1, INTO], &[], &[]), ..FUSED };

ops! {
    OPS, number_doc;

    /// `dst = src0 * dst + src1`, element by element, product and sum rounded once; the product of f16 is rounded to
    /// f16 before, as the tests of the tile library have it.
    pub TFUSEDMULADD "pto.tfusedmuladd" "Multiply by a tile and add another, in place": INTO_DST,
        kernel: Three(&SCALE_ADD);

    /// `dst = max(src0 * dst + src1, 0)`, element by element, product and sum rounded as by `pto.tfusedmuladd`. The
    /// page leaves the maximum out; the instructions of both platforms have it.
    pub TFUSEDMULADDRELU "pto.tfusedmuladdrelu"
        "Multiply by a tile, add another and take out what is negative, in place": INTO_DST,
        kernel: Three(&SCALE_ADD_RELU);

    /// `dst = src0 * src1 + dst`, element by element, product and sum rounded once; the product of f16 is rounded to
    /// f16 before, as the tests of the tile library have it.
    pub TMULADDDST "pto.tmuladddst" "Add a product of two tiles, in place": INTO_DST, kernel: Three(&AXPY_STEPS);

    /// `dst = max(src0 - src1, 0)`, element by element; NaN stays NaN.
    pub TSUBRELU "pto.tsubrelu" "Subtract a tile and take out what is negative": FUSED, kernel: Two(&SUB_RELU),
        class: "add";

    /// `dst = convert(max(src0 + src1, 0))`, element by element: the sum in the type of the sources, then to the
    /// nearest element of `dst`, ties to even; what is beyond becomes its largest. From f32 to f16, from f16 or i16 to
    /// i8.
    pub TADDRELUCONV "pto.taddreluconv"
        "Add two tiles, take out what is negative and convert" [shape_doc]: FUSED.with(TWO),
        verify: verify_taddreluconv, lower: |op, d| steps(Operands::new(op, d), d, &ADD_RELU, None),
        elems: types::SUMS_CONVERTED, class: "add";

    /// `dst = max((src0 + src1) * scale, 0)`, element by element: the sum wraps, is rounded to f32, multiplied by
    /// 2^-17, by `scale` and by 2^17, each step rounded, then rounded to f16; what is beyond becomes its largest
    /// number.
    pub TADDDEQRELU "pto.tadddeqrelu"
        "Add two tiles of i32, scale, take out what is negative and convert to f16" [shape_doc]: FUSED,
        verify: verify_tadddeqrelu, lower: lower_tadddeqrelu, elems: types::WHOLE_SUMS, working: working::SUMS
        => {
            syntax: ins(4),
            operands: &[
                SRC0,
                SRC1,
                operand("scale", FACTOR, Touch::Nothing, "what the sum is multiplied by"),
                TMP,
                DST,
            ],
        };
}

fn verify_taddreluconv(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    sums(op, diags);
    let elem = |name| op.ty(name).and_then(Type::elem);
    if let (Some(from), Some(to)) = (elem("src0"), elem("dst"))
        && !CONVERSIONS.contains(&(from, to))
    {
        diags.push(
            op.error("tile-elem", "expects f32 sources and f16 results, or f16 or i16 sources and i8 results")
                .label(format!("from {from} to {to}")),
        );
    }
}

fn verify_tadddeqrelu(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    sums(op, diags);
    let elem = |name| op.ty(name).and_then(Type::elem);
    for (name, wanted) in [("src0", Elem::I32), ("dst", Elem::F16), ("tmp", Elem::I32)] {
        if elem(name).is_some_and(|elem| elem != wanted) {
            diags.push(op.error("tile-elem", format!("expects `{name}` to have elements of {wanted}")));
        }
    }
}

fn lower_tadddeqrelu(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut operands = Operands::new(op, d);
    let at = operands.integer(d, "scale")?;
    let number = Number { at, from: Elem::F32, to: Elem::F32, usage: NumberUse::Value };
    steps(operands, d, &ADD, Some((&SCALED_RELU, number)))
}

/// Element types of the sums and of the results.
const CONVERSIONS: [(Elem, Elem); 3] = [(Elem::F32, Elem::F16), (Elem::F16, Elem::I8), (Elem::I16, Elem::I8)];

/// A factor of type f32, whatever the elements are.
const FACTOR: TypeRule = TypeRule { describe: "an f32", accepts: |ty| *ty == Type::Float(Elem::F32) };

/// Requires sources of the same type, as large as the result.
fn sums(op: &OpRef<'_>, diags: &mut Diags) {
    check::spaces(op, diags);
    check::same_type(op, "src0", "src1", diags);
    check::covers(op, "src0", Needs::All, diags);
    check::covers(op, "src1", Needs::All, diags);
}

/// The work of an op whose steps are computed in the type of its sources and then converted: to nearest, saturating.
fn steps(
    mut operands: Operands<'_>,
    d: &mut Decoder<'_>,
    op: &'static Binary,
    scaled: Option<(&'static Binary, Number)>,
) -> Lowered {
    let sources = [operands.tile(d, "src0")?, operands.tile(d, "src1")?];
    let dst = operands.tile(d, "dst")?;
    let saturation = if dst.layout.elem.is_float() { Saturation::KeepNan } else { Saturation::On };
    let cast = Cast { mode: RoundMode::Rint, saturation };
    let effect = Steps { local: operands.local, op, scaled, dst, sources, cast };
    operands.issue(d, effect)
}
