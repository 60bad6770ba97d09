//! Stores from a tile to global memory.

use slipring_ir::{Arity, AttrKind, Diags, EnumSpec, OperandSpec, Syntax, Touch, Type};
use slipring_machine::{Pipe, Platform};
use slipring_program::UpdateKind;
use slipring_tile::{Elem, Space};

use super::load::{positive, same_width};
use slipring_effect::{GmMove, GmMoveArgs};
use slipring_op::decode::Decoder;
use slipring_op::def::{CoreRule, ElemTypes, Lowered, OpDef, OpRef, PipeRule, Reported};
use slipring_op::rules::{
    INTEGER, LAYOUT, PLAIN, TILE, VIEW, WITHOUT_SMALL_FLOATS, defaulted, operand, optional, require_space, schema,
};
use slipring_op::{Along, ops};

use crate::dma::ways::{
    FP, RELU_PRE_MODE, arch, fp_doc, known_elements, place, relu, same_fold, table_rules, way_out, window,
};

const ST_PHASE: &EnumSpec =
    &EnumSpec { kind: "st_phase", numbered: false, members: &["unspecified", "partial", "final"] };
pub(super) const ATOMIC_TYPE: &EnumSpec =
    &EnumSpec { kind: "atomic_type", numbered: false, members: &["atomic_none", "atomic_add"] };

/// The maximum number of columns of an accumulator store.
const MAX_COLS: u64 = 4095;

/// Units that work on memory have no floats of 8 and 4 bits.
const STORED: &[ElemTypes] =
    &[ElemTypes { operand: "src", memory: WITHOUT_SMALL_FLOATS, registers: Elem::ALL.as_slice() }];

pub static TSTORE: OpDef = OpDef {
    schema: schema(
        "pto.tstore",
        Syntax::InsOuts { ins: 3, attrs_in_ins: false },
        &[
            operand("src", TILE, Touch::Read, "the tile, in UB, L1 or the accumulator"),
            OperandSpec { arity: Arity::Optional, ..FP },
            optional(
                "preQuantScalar",
                INTEGER,
                Touch::Nothing,
                "scale on the way out of the accumulator: bits of an f32",
            ),
            operand("dst", VIEW, Touch::Write, "window of global memory"),
        ],
        &[],
        &[
            defaulted("stPhase", AttrKind::Enum(ST_PHASE), "a hint to the hardware; changes nothing here"),
            defaulted("atomicType", AttrKind::Enum(ATOMIC_TYPE), "`atomic_add`: add to what the memory holds"),
            defaulted("reluPreMode", AttrKind::Enum(RELU_PRE_MODE), "`normal_relu`: negative values become 0 first"),
            defaulted("layout", AttrKind::Enum(LAYOUT), "how the dimensions of a memref fold into rows and columns"),
            defaulted("pto.inferred_layout", AttrKind::Any, "left by the assembler, which found the layout itself"),
        ],
    )
    .in_generic_form(&["src", "dst", "fp", "preQuantScalar"]),
    summary: "Store a tile into a window of global memory",
    doc: "`dst[i, j] = src[i, j]` for the rows and columns that the valid shape of `src` and the window have in common; where \
          the text says both, they must have as many elements, and always the same rows and columns if they have. Views of \
          several dimensions fold as for `pto.tload`. \
          From UB or L1 elements move as bits. Out of the accumulator (`f32` or `i32`) they may change, in this order: \
          ReLU; multiplication in f32 by the scale in the low 32 bits of `preQuantScalar`; conversion to the window's \
          type, rounded once to the nearest with ties to even, integers saturating. With `atomic_add` the result is added \
          to the memory's element in the memory's type (integers wrap); each store is one indivisible step, stores of \
          several cores add in the order in which they complete.",
    source: "PTO IR manual 4.3; tile ISA, TSTORE",
    core: CoreRule::ByTile,
    along: Along::EACH,
    pipe: PipeRule::By(|op, _| pipe_of(op.space("src"))),
    update: |op| (op.text("atomicType") == Some("atomic_add")).then_some(UpdateKind::Add),
    elems: STORED,
    verify: verify_store,
    lower: lower_store,
    ..PLAIN
};

ops! {
    OPS [&TSTORE];

    /// As `pto.tstore`, column j by parameter j.
    pub TSTORE_FP "pto.tstore_fp" "Store an accumulator with a quantisation parameter for each column" [fp_doc]: PLAIN,
        source: "PTO IR manual 4.15; tile ISA, TSTORE_FP; device headers, GetVectorPreQuantMode", core: CoreRule::Cube,
        pipe: PipeRule::Fixed(Pipe::Fix), verify: verify_store, lower: lower_store
        => {
            syntax: Syntax::InsOuts { ins: 2, attrs_in_ins: false },
            operands: &[
                operand("src", TILE, Touch::Read, "the accumulator"),
                FP,
                operand("dst", VIEW, Touch::Write, "window of global memory"),
            ],
        };
}

fn pipe_of(space: Option<Space>) -> Pipe {
    if space == Some(Space::Acc) { Pipe::Fix } else { Pipe::Mte3 }
}

fn verify_store(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    if op.if_declared("fp").is_some() && op.if_declared("preQuantScalar").is_some() {
        return diags.push(op.error("store-quant", "expects a scale for all columns or one for each, not both"));
    }
    if op.if_declared("fp").is_some() && !require_space(op, "src", &[Space::Acc], diags) {
        return;
    }
    let ways = [Space::Vec, Space::Mat, Space::Acc].map(|space| (space, platform.has_way(space, Space::Gm)));
    if let Some(space) = op.space("src").filter(|space| !ways.contains(&(*space, true))) {
        let known: Vec<String> = ways.iter().filter(|way| way.1).map(|way| format!("loc={}", way.0)).collect();
        let message = format!("expects {} tstore src to use {}", arch(platform), known.join(" or "));
        diags.push(op.error("tile-space", message).label(format!("this tile is in `{space}`")));
        return;
    }
    positive(op, diags);
    if let (Some(source), Some(window)) = (op.ty("src"), op.ty("dst"))
        && let (Some(valid), Some(count)) = (known_elements(source), known_elements(window))
        && valid != count
        && valid != 0
        && op.if_declared("fp").is_none()
    {
        diags.push(op.error(
            "store-shape",
            format!(
                "expects dst static element count ({count}) to match src valid_shape static element count ({valid})"
            ),
        ));
    }
    same_fold(op, "src", "dst", diags);
    let quantised = op.if_declared("preQuantScalar").is_some();
    if op.space("src") != Some(Space::Acc) {
        if quantised {
            diags.push(op.error("store-quant", "expects src to use loc=acc when preQuantScalar is present"));
        }
        if relu(op) {
            diags.push(op.error("store-relu", "expects src to use loc=acc when reluPreMode is not no_relu"));
        }
        same_width(op, "src", "dst", diags);
        return;
    }
    let (Some(from), Some(to)) = (op.ty("src").and_then(Type::elem), op.ty("dst").and_then(Type::elem)) else { return };
    accumulator_types(op, platform, from, to, quantised, diags);
    if let Some(tile) = op.tile("src")
        && (u64::from(tile.layout.cols) > MAX_COLS || tile.valid[1].known().is_some_and(|n| n > MAX_COLS))
    {
        diags.push(op.error("store-cols", format!("expects src cols to be in the range [1, {MAX_COLS}]")));
    }
}

/// Reports conversions that accumulator stores do not support.
pub(super) fn accumulator_types(
    op: &OpRef<'_>,
    platform: &Platform,
    from: Elem,
    to: Elem,
    quantised: bool,
    diags: &mut Diags,
) {
    if op.if_declared("fp").is_some() {
        return table_rules(op, platform, from, to, diags);
    }
    if !matches!(from, Elem::F32 | Elem::I32) {
        diags.push(op.error("acc-type", format!("expects an accumulator of f32 or i32, not {from}")));
        return;
    }
    let fine = if quantised {
        !matches!(to, Elem::I64 | Elem::U64 | Elem::U32 | Elem::F8E8M0 | Elem::F8E5M2)
            && to.values() == 1
            && (to != Elem::I32 || from == Elem::I32)
    } else {
        matches!(to, Elem::F32 | Elem::F16 | Elem::BF16) || (to == Elem::I32 && from == Elem::I32)
    };
    if !fine {
        let how = if quantised { "with" } else { "without" };
        diags.push(
            op.error("acc-type", format!("{from} does not leave the accumulator as {to} {how} preQuantScalar"))
                .help("without a scale it leaves as f32, f16, bf16 or (from i32) i32; with one also as i8, ui8 or i16"),
        );
    }
}

fn lower_store(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let tile = d.tile(op.operand("src").ok_or(Reported)?)?;
    let (finish, scale) = way_out(op, d)?;
    let view = d.view(op.operand("dst").ok_or(Reported)?)?;
    // From UB and L1, types of the same width move as raw bits, with the tile's type.
    let from_acc = tile.ty.space == Space::Acc;
    let elem = if from_acc { view.elem } else { tile.ty.layout.elem };
    let (window, place_args) = window(op, d, &view, &tile.ty.layout, elem)?;
    let effect = GmMove { tile: place(d, &tile), window, load: false, pad: 0, finish };
    let [rows, cols] = tile.valid;
    let mut args = GmMoveArgs { tile: tile.addr, rows, cols, scale, window: view.base }.list();
    args.extend(place_args);
    let cost = d.platform.dma_cost(tile.ty.space, Space::Gm);
    d.out_of_product(&tile, false);
    d.issue(pipe_of(Some(tile.ty.space)), effect, args, cost);
    Ok(())
}
