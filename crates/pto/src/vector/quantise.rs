//! Quantisation to 8 bits and back (PTO IR manual 4.15; tile ISA, TQUANT and TDEQUANT).

use slipring_ir::{AttrKind, Diags, EnumSpec, Syntax, Touch, Type};
use slipring_machine::{Capability, Platform};
use slipring_tile::Elem;

use super::check::{self, Elems, Needs};
use super::inside;
use super::lower::Operands;
use super::{DST, TMP, VECTOR, tiles, types, working};
use slipring_effect::vector::{RowNumber, ScaleRows};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpRef};
use slipring_op::ops;
use slipring_op::rules::{TILE, defaulted, operand, optional};

/// Attributes are printed after `outs`.
const INS: Syntax = Syntax::InsOuts { ins: 3, attrs_in_ins: false };

const SINGLE: Elems = Elems::new("f32", |elem| elem == Elem::F32);

/// `#pto<quant_type …>`.
const QUANT_TYPE: &EnumSpec = &EnumSpec { kind: "quant_type", numbered: false, members: &["INT8_SYM", "INT8_ASYM"] };

ops! {
    OPS;

    /// `dst[i, j] = src[i, j] × fp[i]`, with `INT8_ASYM` plus `offset[i]`, for the valid shape of `dst`: product and
    /// sum are rounded to f32, then to the nearest integer, ties to even, which saturates; NaN gives 0. On the A5
    /// `fp[i]` is element i of the tile as it lies in memory. On A2/A3 it is the row's one valid column or, of 32
    /// bytes, column j modulo 8; the unit works in `src`, which is uninitialised afterwards.
    pub TQUANT "pto.tquant" "Quantise to 8 bits": VECTOR,
        source: "PTO IR manual 4.15; tile library, TQUANT of each platform", elems: types::QUANTISED,
        verify: verify_quant, lower: lower_tquant, class: "convert", working: working::QUANTISED, tiles: tiles::SHAPES,
        // `pto_instr.hpp`: what follows the scales by address is the offset, and by reference working memory.
        library_forms: &[
            &["dst", "src", "fp"],
            &["dst", "src", "fp", "&offset"],
            &["dst", "src", "fp", "tmp"],
            &["dst", "src", "fp", "tmp", "&offset"],
        ]
        => {
            syntax: INS,
            operands: &[
                operand("src", TILE, Touch::ReadWrite, "the f32 elements; on A2/A3 they are uninitialised afterwards"),
                operand("fp", TILE, Touch::Read, "the scales, f32: one for each row"),
                optional("offset", TILE, Touch::Read, "what is added, of the asymmetric form: f32, one for each row"),
                DST,
                TMP,
            ],
            attrs: &[
                defaulted("quant_type", AttrKind::Enum(QUANT_TYPE), "`INT8_SYM`: to i8, `INT8_ASYM`: to ui8 with an offset"),
            ],
        };

    /// `dst[i, j] = (src[i, j] - offset[i, 0]) × scale[i, 0]`: difference and product are rounded to f32 each.
    pub TDEQUANT "pto.tdequant" "Integers back to f32" [shape_doc]: VECTOR,
        source: "tile ISA and library, TDEQUANT", elems: types::DEQUANTISED, verify: verify_tdequant,
        inside: inside::BY_SCALARS, lower: lower_tdequant, class: "convert"
        => {
            syntax: INS,
            operands: &[
                operand("src", TILE, Touch::Read, "the integers: i8 or i16"),
                operand("scale", TILE, Touch::Read, "the scales: f32, in the first column"),
                operand("offset", TILE, Touch::Read, "what is subtracted before: f32, in the first column"),
                DST,
            ],
        };
}

fn lower_tquant(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut operands = Operands::new(op, d);
    let (src, dst) = (operands.tile(d, "src")?, operands.tile(d, "dst")?);
    let scale = operands.tile(d, "fp")?;
    let offset = op.operand("offset").map(|_| operands.tile(d, "offset")).transpose()?;
    let flat = d.platform.can(Capability::FlatRowParameters);
    let number = if flat { RowNumber::Flat } else { RowNumber::Block };
    let local = operands.local;
    let effect = ScaleRows { local, dst, src, scale, offset, number, back: false, clobbers: !flat };
    operands.issue(d, effect)
}

fn verify_tdequant(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::spaces(op, diags);
    check::by_rows(op, &["src", "scale", "offset", "dst"], diags);
    for name in ["scale", "offset", "dst"] {
        check::elem(op, name, SINGLE, diags);
    }
    check::covers(op, "src", Needs::All, diags);
    check::covers(op, "scale", Needs::Rows, diags);
    check::covers(op, "offset", Needs::Rows, diags);
}

fn lower_tdequant(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut operands = Operands::new(op, d);
    let (src, dst) = (operands.tile(d, "src")?, operands.tile(d, "dst")?);
    let (scale, offset) = (operands.tile(d, "scale")?, Some(operands.tile(d, "offset")?));
    let local = operands.local;
    let number = RowNumber::First;
    let effect = ScaleRows { local, dst, src, scale, offset, number, back: true, clobbers: false };
    operands.issue(d, effect)
}

fn verify_quant(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    check::spaces(op, diags);
    check::by_rows(op, &["src", "fp", "offset", "dst"], diags);
    let symmetric = op.text("quant_type") != Some("INT8_ASYM");
    match (symmetric, op.operand("offset")) {
        (true, Some(_)) => {
            diags.push(op.error("operand-count", "INT8_SYM quantization must not have an offset operand"));
        }
        (false, None) => diags.push(op.error("operand-count", "INT8_ASYM quantization requires an offset operand")),
        _ => {}
    }
    let (expected, name) = if symmetric { (Elem::I8, "INT8_SYM") } else { (Elem::U8, "INT8_ASYM") };
    if op.ty("dst").and_then(Type::elem).is_some_and(|elem| elem != expected) {
        diags.push(op.error("tile-elem", format!("expects dst element type {expected} for {name} quantization")));
    }
    for name in ["fp", "offset"] {
        check::elem(op, name, SINGLE, diags);
        // `TROWEXPANDMUL` accepts a column, or 32 bytes of each row.
        if let Some(n) = op.tile(name).and_then(|tile| tile.valid[1].known()).filter(|n| !matches!(n, 1 | 8))
            && !platform.can(Capability::FlatRowParameters)
        {
            let message = format!("expects {name} to have a number or 32 bytes for each row on {}", platform.name);
            diags.push(op.error("tile-valid", message).label(format!("{n} valid columns")));
        }
    }
    check::elem(op, "tmp", SINGLE, diags);
    check::covers(op, "src", Needs::All, diags);
}
