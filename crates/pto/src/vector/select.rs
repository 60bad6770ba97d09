//! Comparisons and choices (PTO IR manual 4.8).

use std::collections::BTreeSet;

use slipring_ir::{AttrKind, AttrSpec, Diags, EnumSpec, Module, OperandSpec, Touch, ValueId};
use slipring_tile::{BLayout, Compare, SLayout};

use super::check::{self, MASK_DOC, NUMBERS, Needs};
use super::lower::Operands;
use super::types;
use super::{DST, SCALAR_ARG, SRC, SRC0, SRC1, TMP, VECTOR, ins};
use slipring_effect::vector::{Bits, CompareTiles, Select};
use slipring_machine::Question;
use slipring_machine::readings::{DENSE_COMPARE, DENSE_SELECT};
use slipring_op::Along;
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef};
use slipring_op::rules::{TILE, defaulted, operand, schema};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[&TCMP, &TCMPS, &TSEL, &TSELS];

/// A row of a mask holds the bits of a row: columns of a mask are not columns of the tiles.
const COMPARISON: OpDef = OpDef {
    source: "PTO IR manual 4.8; tile ISA, page of the same name",
    along: [Along::Each, Along::Unknown],
    ..VECTOR
};

/// `#pto<cmp …>`.
const CMP: &EnumSpec = &EnumSpec {
    kind: "cmp",
    numbered: false,
    members: &[
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "equal",
        "not_equal",
        "less_than",
        "less_equal",
        "greater_than",
        "greater_equal",
        "EQ",
        "NE",
        "LT",
        "LE",
        "GT",
        "GE",
    ],
};

const MODE: AttrSpec = defaulted("cmpMode", AttrKind::Enum(CMP), "the comparison; `eq` by default");
const BITS: OperandSpec = operand("dst", TILE, Touch::Write, MASK_DOC);
const MASK: OperandSpec = operand("mask", TILE, Touch::Read, MASK_DOC);

/// Says how a mask lies in its tile.
macro_rules! mask_doc {
    ($what:literal) => {
        concat!(
            $what,
            " A mask is packed: bit j mod 8 of byte j / 8 of a row of the mask tile stands for column j, whatever the type of \
             the tile's elements; its rows must be long enough, its valid columns do not matter."
        )
    };
}

pub static TCMP: OpDef = OpDef {
    schema: schema("pto.tcmp", ins(2), &[SRC0, SRC1, BITS], &[], &[MODE]),
    summary: "Compare two tiles",
    doc: mask_doc!(
        "Bit (i, j) of `dst` = `src0[i, j]` compared with `src1[i, j]`, for the valid rows of `dst` and the valid columns of \
         `src0`. With a NaN only `ne` holds; -0 equals +0. Bits after the last column of its byte become 0."
    ),
    verify: verify_compare,
    lower: |op, d| compare(op, d, ["src0", "src1"]),
    elems: types::COMPARE,
    class: "compare",
    ..COMPARISON
};

pub static TCMPS: OpDef = OpDef {
    schema: schema("pto.tcmps", ins(2), &[SRC, SCALAR_ARG, BITS], &[], &[MODE]),
    summary: "Compare a tile with a number",
    doc: mask_doc!(
        "Bit (i, j) of `dst` = `src[i, j]` compared with `scalar`, for the valid rows of `dst` and the valid columns of `src`. \
         With a NaN only `ne` holds; -0 equals +0. Bits after the last column of its byte become 0."
    ),
    verify: verify_compare,
    lower: |op, d| compare(op, d, ["src", "scalar"]),
    elems: types::COMPARE_NUMBER,
    class: "compare",
    ..COMPARISON
};

pub static TSEL: OpDef = OpDef {
    schema: schema("pto.tsel", ins(4), &[MASK, SRC0, SRC1, TMP, DST], &[], &[]),
    summary: "Choose between two tiles",
    doc: shape_doc!(mask_doc!(
        "`dst[i, j] = mask[i, j] ? src0[i, j] : src1[i, j]`. The bits of the elements are moved as they are."
    )),
    verify: |op, _, diags| {
        check::elementwise(op, NUMBERS, diags);
        rows_of_bits(op, "mask", diags);
    },
    lower: |op, d| choose(op, d, ["src0", "src1"]),
    elems: types::SELECT,
    class: "select",
    ..COMPARISON
};

pub static TSELS: OpDef = OpDef {
    schema: schema("pto.tsels", ins(4), &[MASK, SRC, TMP, SCALAR_ARG, DST], &[], &[]),
    summary: "Choose between a tile and a number",
    doc: shape_doc!(mask_doc!(
        "`dst[i, j] = mask[i, j] ? src[i, j] : scalar`. The bits of the elements are moved as they are."
    )),
    verify: |op, _, diags| {
        check::elementwise(op, NUMBERS, diags);
        rows_of_bits(op, "mask", diags);
    },
    lower: |op, d| choose(op, d, ["src", "scalar"]),
    elems: types::SELECT,
    class: "select",
    ..COMPARISON
};

fn verify_compare(op: &OpRef<'_>, _: &slipring_machine::Platform, diags: &mut Diags) {
    check::spaces(op, diags);
    let first = if op.def.schema.operand("src0").is_some() { "src0" } else { "src" };
    check::elem(op, first, NUMBERS, diags);
    check::covers(op, first, Needs::Rows, diags);
    let second = op.if_declared("src1").map(|value| op.module.ty(value)).filter(|ty| ty.as_tile().is_some());
    if second.is_some() && op.ty("src0").map(|t| t.elem()) != second.map(|t| t.elem()) {
        diags.push(op.error("tile-elem", "expects src0 and src1 to have the same element type"));
    }
    rows_of_bits(op, "dst", diags);
}

/// A mask is stored by rows.
fn rows_of_bits(op: &OpRef<'_>, name: &'static str, diags: &mut Diags) {
    if let Some(tile) = op.tile(name)
        && (tile.layout.blayout, tile.layout.slayout) != (BLayout::RowMajor, SLayout::NoneBox)
    {
        diags.push(
            op.error("tile-layout", format!("expects {name} to use row_major layout"))
                .label("a mask is a row of bits for each row"),
        );
    }
}

fn mode(op: &OpRef<'_>) -> Compare {
    match op.text("cmpMode") {
        Some("ne" | "not_equal" | "NE") => Compare::Ne,
        Some("lt" | "less_than" | "LT") => Compare::Lt,
        Some("le" | "less_equal" | "LE") => Compare::Le,
        Some("gt" | "greater_than" | "GT") => Compare::Gt,
        Some("ge" | "greater_equal" | "GE") => Compare::Ge,
        _ => Compare::Eq,
    }
}

/// Tiles that only comparisons write and only choices read: where the bits lie between them, nobody can tell.
fn masks_between(module: &Module) -> BTreeSet<ValueId> {
    let (mut masks, mut others) = (BTreeSet::new(), BTreeSet::new());
    for id in module.walk(module.top) {
        let own = OpRef::of(module, id).filter(|op| OPS.iter().any(|def| std::ptr::eq(*def, op.def)));
        let mask = own.and_then(|op| if is_comparison(&op) { op.operand("dst") } else { op.operand("mask") });
        masks.extend(mask);
        let mut rest = module.op(id).operands.to_vec();
        // A tile that is a mask and something else in one op is something else.
        if let Some(at) = rest.iter().position(|value| Some(*value) == mask) {
            rest.remove(at);
        }
        others.extend(rest);
    }
    masks.retain(|mask| !others.contains(mask));
    masks
}

fn is_comparison(op: &OpRef<'_>) -> bool {
    op.def.schema.operand("mask").is_none()
}

/// Where the bits of the rows of a mask begin, on which a question may be.
fn bits(d: &mut Decoder<'_>, mask: Option<ValueId>, asked: Option<&'static Question>) -> Bits {
    match asked {
        None => Bits::Rows,
        Some(_) if mask.is_some_and(|mask| d.is_mask(mask, masks_between)) => Bits::Rows,
        Some(question) if d.platform.reads_otherwise(question) => Bits::Dense,
        Some(question) => Bits::Asked(question),
    }
}

fn compare(op: &OpRef<'_>, d: &mut Decoder<'_>, [a, b]: [&'static str; 2]) -> Lowered {
    let mut operands = Operands::new(op, d);
    let (a, b, dst) = (operands.tile(d, a)?, operands.input(d, b)?, operands.tile(d, "dst")?);
    // A comparison of two tiles is read alike everywhere.
    let asked = op.def.schema.operand("scalar").is_some().then_some(&DENSE_COMPARE);
    let effect =
        CompareTiles { local: operands.local, mode: mode(op), dst, a, b, bits: bits(d, op.operand("dst"), asked) };
    operands.issue(d, effect)
}

fn choose(op: &OpRef<'_>, d: &mut Decoder<'_>, [a, b]: [&'static str; 2]) -> Lowered {
    let mut operands = Operands::new(op, d);
    let (mask, dst) = (operands.tile(d, "mask")?, operands.tile(d, "dst")?);
    let (a, b) = (operands.tile(d, a)?, operands.input(d, b)?);
    let effect =
        Select { local: operands.local, dst, mask, a, b, bits: bits(d, op.operand("mask"), Some(&DENSE_SELECT)) };
    operands.issue(d, effect)
}
