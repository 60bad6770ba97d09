//! Extraction and insertion of windows of tiles.

use super::moves::{MODE, RELU, SCALE, SCALES, issue_move, move_types, pipe_of, way_rules};
use slipring_effect::Taken;
use slipring_ir::{AttrKind, Diags, Dim, EnumSpec, OpSchema, Syntax, TileType, Touch};
use slipring_machine::{Capability, Pipe, Platform};
use slipring_op::decode::Decoder;
use slipring_op::def::{CoreRule, ElemTypes, Lowered, OpDef, OpRef, PipeRule, Reported, Transfer};
use slipring_op::rules::{
    INTEGER, PLAIN, TILE, WITHOUT_SMALL_FLOATS, constant, defaulted, operand, require_space, schema,
};
use slipring_op::{Along, LayoutConstraint, LayoutRule, LibraryFlags, On, TileRules, ops};
use slipring_tile::Elem::*;
use slipring_tile::{BLayout, Layout, SLayout, Space};

use crate::dma::ways::{ACCUMULATOR, FP, OUT_OF_THE_ACCUMULATOR, fp_doc, require_way, way_out};
use crate::vector::check;

/// Element types of extraction from L1.
const TAKEN: ElemTypes = ElemTypes {
    operand: "src",
    memory: &[I8, U8, F16, BF16, F32],
    registers: &[I8, U8, F16, BF16, F32, F8E4M3, F8E5M2, HiF8, F8E8M0, F4E2M1x2, F4E1M2x2],
};
/// Element types of extraction from UB: all that have at most 32 bits, and short floats if the unit has them.
const TAKEN_IN_UB: ElemTypes = ElemTypes {
    operand: "src",
    memory: &[I8, U8, I16, U16, I32, U32, F16, BF16, F32],
    registers: &[I8, U8, I16, U16, I32, U32, F16, BF16, F32, F8E4M3, F8E5M2, HiF8, F8E8M0, F4E2M1x2, F4E1M2x2],
};
/// Element types of insertion from UB.
const PUT: ElemTypes = ElemTypes {
    operand: "src",
    memory: WITHOUT_SMALL_FLOATS,
    registers: &[I8, U8, I32, U32, F16, BF16, F32, F8E4M3, F8E5M2, HiF8, F8E8M0, F4E2M1x2, F4E1M2x2],
};
/// Insertion from the accumulator into L1 keeps the accumulator's layout.
const INTO_L1: LayoutRule = LayoutRule { operands: &["dst"], within: Some(Space::Mat), lies: ACCUMULATOR, on: On::All };

/// The A5's library moves a single element within UB with the scalar unit (`TExtractVecToVecNDScalarImpl`,
/// `TInsertVecToVecNDScalarImpl`).
const fn single(when: fn(&OpRef<'_>) -> bool) -> LibraryFlags {
    LibraryFlags { of: Capability::RegisterFlags, has: true, when, flags: &[(Pipe::V, Pipe::S), (Pipe::S, Pipe::V)] }
}

/// True if the types show that a single element moves between tiles in UB with the same layout.
fn moves_one(op: &OpRef<'_>, part: &'static str, boxes: bool) -> bool {
    let (Some(src), Some(dst), Some(part)) = (op.tile("src"), op.tile("dst"), op.tile(part)) else { return false };
    let within = src.space == Space::Vec && dst.space == Space::Vec;
    let lies = |wanted: LayoutConstraint| wanted.fits(src) && wanted.fits(dst);
    within && part.valid.map(Dim::known) == [Some(1); 2] && (lies(LayoutConstraint::Rows) || boxes && lies(ACCUMULATOR))
}

/// Layouts in `TExtract.hpp` and `TInsert.hpp` of both platforms. The order of L0A's boxes depends on the platform,
/// whatever the text says.
const EXTRACTED: TileRules = TileRules {
    layouts: &[
        LayoutRule { operands: &["src"], within: Some(Space::Mat), lies: LayoutConstraint::RowsOrBoxes, on: On::All },
        LayoutRule {
            operands: &["dst"],
            within: Some(Space::Left),
            lies: LayoutConstraint::Inside(SLayout::RowMajor),
            on: On::All,
        },
        LayoutRule {
            operands: &["dst"],
            within: Some(Space::Right),
            lies: LayoutConstraint::Boxes { boxes: BLayout::RowMajor, inside: SLayout::ColMajor },
            on: On::All,
        },
        OUT_OF_THE_ACCUMULATOR,
    ],
    shapes: &[],
};
const EXTRACTED_FP: TileRules =
    TileRules { layouts: &[OUT_OF_THE_ACCUMULATOR, LayoutRule { on: On::Memory, ..INTO_L1 }], shapes: &[] };
const INSERTED: TileRules = TileRules {
    layouts: &[
        OUT_OF_THE_ACCUMULATOR,
        LayoutRule { operands: &["dst"], within: Some(Space::Mat), lies: LayoutConstraint::RowsOrBoxes, on: On::All },
    ],
    shapes: &[],
};
const INSERTED_FP: TileRules = TileRules { layouts: &[OUT_OF_THE_ACCUMULATOR, INTO_L1], shapes: &[] };

const WINDOW: OpSchema = schema(
    "",
    Syntax::InsOuts { ins: 5, attrs_in_ins: false },
    &[
        operand("src", TILE, Touch::Read, "the tile to take from"),
        operand("row", INTEGER, Touch::Nothing, "first row of the window"),
        operand("col", INTEGER, Touch::Nothing, "first column of the window"),
        SCALE,
        SCALES,
        operand("dst", TILE, Touch::Write, "the tile to put into"),
    ],
    &[],
    &[MODE, RELU],
)
.in_generic_form(&["src", "row", "col", "dst", "fp", "preQuantScalar"]);

/// `#pto.tinsert_mode<…>`.
const INSERT_MODE: &EnumSpec = &EnumSpec { kind: "tinsert_mode", numbered: false, members: &["split2", "split4"] };

/// The base of window ops.
const WINDOWS: OpDef = OpDef {
    schema: WINDOW,
    core: CoreRule::ByTile,
    along: [Along::Window("row"), Along::Window("col")],
    // `pto_instr.hpp`: what quantises comes before the window.
    library_forms: &[
        &["dst", "src", "row", "col"],
        &["dst", "src", "preQuantScalar", "row", "col"],
        &["dst", "src", "fp", "row", "col"],
    ],
    pipe: PipeRule::By(|op, _| pipe_of(op.space("src"), op.space("dst"))),
    ..PLAIN
};
/// The base of window ops that the fixpipe scales.
const WINDOWS_FP: OpDef = OpDef { schema: WINDOW_FP, core: CoreRule::Cube, pipe: PipeRule::Fixed(Pipe::Fix), ..PLAIN };

ops! {
    OPS;

    /// `dst[i, j] = src[row + i, col + j]` for the valid shape of `dst`, which must lie inside `src` from that row and
    /// column on. Ways: L1 to L0A, L0B or the scale buffer; UB to UB or to L1; the accumulator to L1 or UB, with the
    /// conversions of `pto.tstore` (`fp`: column j of the window by parameter j). Into UB `accToVecMode` says what it
    /// says of `pto.tmov`: `dual_mode_split_m` and `dual_mode_split_n` give each Vector core half of what is valid of
    /// `src`, from `row` and `col` on.
    pub TEXTRACT "pto.textract" "Take a window out of a tile": WINDOWS,
        source: "PTO IR manual 4.10; tile ISA, TEXTRACT", transfer: Some(Transfer::Extract), verify: verify_extract,
        lower: |op, d| lower_window(op, d, Taken::Extract), inside: &[single(|op| moves_one(op, "dst", true))],
        tiles: EXTRACTED;

    /// `dst[row + i, col + j] = src[i, j]` for the valid shape of `src`, which must lie inside `dst` from that row and
    /// column on; all other elements of `dst` stay. Ways: the accumulator to L1 or UB, with the conversions of
    /// `pto.tstore` (`fp`: column j of `src` by parameter j); UB to the Cube core's L1; UB to UB. Into UB
    /// `accToVecMode` says what it says of `pto.tmov`: with `dual_mode_split_m` and `dual_mode_split_n` the halves of
    /// `src` go to the same place in both Vector cores.
    pub TINSERT "pto.tinsert" "Put a tile into a window of another": WINDOWS,
        source: "PTO IR manual 4.10; tile ISA, TINSERT", verify: verify_insert,
        lower: |op, d| lower_window(op, d, Taken::Insert), inside: &[single(|op| moves_one(op, "src", false))],
        tiles: INSERTED
        => {
            attrs: &[
                MODE,
                RELU,
                defaulted(
                    "tinsertMode",
                    AttrKind::Enum(INSERT_MODE),
                    "from UB to L1: in how many copies; the bytes are the same, and so is the cost here",
                ),
            ],
        };

    /// As `pto.textract`, column j of the window by parameter j.
    pub TEXTRACT_FP "pto.textract_fp"
        "Take a window out of an accumulator, with a quantisation parameter for each column" [fp_doc]: WINDOWS_FP,
        source: "tile ISA, TEXTRACT_FP; device headers, GetVectorPreQuantMode", verify: verify_textract_fp,
        lower: |op, d| lower_window(op, d, Taken::Extract), tiles: EXTRACTED_FP;

    /// As `pto.tinsert`, column j of the accumulator by parameter j.
    pub TINSERT_FP "pto.tinsert_fp"
        "Put an accumulator into a window, with a quantisation parameter for each column" [fp_doc]: WINDOWS_FP,
        source: "tile ISA, TINSERT_FP; device headers, GetVectorPreQuantMode", verify: verify_tinsert_fp,
        lower: |op, d| lower_window(op, d, Taken::Insert), tiles: INSERTED_FP;
}

fn verify_textract_fp(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    if require_space(op, "src", &[Space::Acc], diags) {
        verify_extract(op, platform, diags);
    }
}

fn verify_tinsert_fp(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    if require_space(op, "src", &[Space::Acc], diags) {
        verify_insert(op, platform, diags);
    }
}

const WINDOW_FP: OpSchema = schema(
    "",
    Syntax::InsOuts { ins: 4, attrs_in_ins: false },
    &[
        operand("src", TILE, Touch::Read, "the accumulator"),
        FP,
        operand("row", INTEGER, Touch::Nothing, "first row of the window"),
        operand("col", INTEGER, Touch::Nothing, "first column of the window"),
        operand("dst", TILE, Touch::Write, "the tile to put into"),
    ],
    &[],
    &[RELU],
);

fn verify_extract(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    let (Some(from), Some(to)) = (op.space("src"), op.space("dst")) else { return };
    let known = match from {
        Space::Mat => matches!(to, Space::Left | Space::Right | Space::Scaling),
        Space::Vec | Space::Acc => matches!(to, Space::Vec | Space::Mat),
        _ => false,
    };
    if !known {
        diags.push(
            op.error("move-way", format!("no window is taken from `{from}` to `{to}`"))
                .help("the ways are mat->left, mat->right, mat->scaling, vec->vec, vec->mat, acc->mat, acc->vec"),
        );
        return;
    }
    if !require_way(op, platform, "window", (from, to), diags) {
        return;
    }
    let (Some(source), Some(target)) = (op.tile("src"), op.tile("dst")) else { return };
    let plain = |t: &TileType| t.layout.blayout == BLayout::RowMajor && t.layout.slayout == SLayout::NoneBox;
    if (from, to) == (Space::Vec, Space::Vec) && !(plain(source) && plain(target)) {
        diags.push(op.error(
            "extract-layout",
            "expects vec->vec textract src/dst to use ND layout (blayout=row_major, slayout=none_box)",
        ));
    }
    match from {
        Space::Mat => check::elem_on(op, &TAKEN, platform, "from L1", diags),
        Space::Vec => check::elem_on(op, &TAKEN_IN_UB, platform, "from UB", diags),
        _ => {}
    }
    let quantised = way_rules(op, (from, to), diags);
    move_types(op, platform, source.layout.elem, target.layout.elem, (from, to), quantised, diags);
    inside(op, &source.layout, &valid_part(target), ("dst", "src"), diags);
}

fn verify_insert(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    let (Some(from), Some(to)) = (op.space("src"), op.space("dst")) else { return };
    if !matches!((from, to), (Space::Acc | Space::Vec, Space::Mat | Space::Vec)) {
        diags.push(
            op.error(
                "move-way",
                "expects A5 tinsert to use a supported src/dst loc pair: acc->mat, vec->mat, or vec->vec",
            )
            .label(format!("{from}->{to}")),
        );
        return;
    }
    if !require_way(op, platform, "tile", (from, to), diags) {
        return;
    }
    let (Some(source), Some(target)) = (op.tile("src"), op.tile("dst")) else { return };
    if from == Space::Vec {
        check::elem_on(op, &PUT, platform, "from UB", diags);
    }
    let quantised = way_rules(op, (from, to), diags);
    move_types(op, platform, source.layout.elem, target.layout.elem, (from, to), quantised, diags);
    let fractal = |tile: &TileType| ACCUMULATOR.fits(tile);
    if op.text("tinsertMode").is_some()
        && !((from, to) == (Space::Vec, Space::Mat) && fractal(source) && fractal(target))
    {
        let message =
            "expects tinsertMode only from loc=vec to loc=mat, both with blayout=col_major, slayout=row_major";
        diags.push(op.error("move-mode", message));
    }
    let mut part = valid_part(source);
    match op.text("accToVecMode") {
        Some("dual_mode_split_m") => part.rows /= 2,
        Some("dual_mode_split_n") => part.cols /= 2,
        _ => {}
    }
    inside(op, &target.layout, &part, ("src", "dst"), diags);
}

/// The valid rows and columns of a tile, as far as they are known.
fn valid_part(tile: &TileType) -> Layout {
    let valid = |at: usize, all: u32| tile.valid[at].known().and_then(|n| u32::try_from(n).ok()).unwrap_or(all.min(1));
    Layout { rows: valid(0, tile.layout.rows), cols: valid(1, tile.layout.cols), ..tile.layout }
}

/// Reports a window with constant offsets that is not inside its tile.
fn inside(op: &OpRef<'_>, whole: &Layout, part: &Layout, (part_name, whole_name): (&str, &str), diags: &mut Diags) {
    let sides = [("row", part.rows, whole.rows), ("col", part.cols, whole.cols)];
    for (what, size, all) in sides {
        let Some(first) = op.operand(what).and_then(|v| constant(op.module, v)) else { continue };
        if first < 0 || first.saturating_add(size.into()) > i64::from(all) {
            diags.push(
                op.error("window-bounds", format!("expects {what} + {part_name} {what}s <= {whole_name} {what}s"))
                    .label(format!("{first} + {size} > {all}")),
            );
        }
    }
}

fn lower_window(op: &OpRef<'_>, d: &mut Decoder<'_>, taken: Taken) -> Lowered {
    let source = d.tile(op.operand("src").ok_or(Reported)?)?;
    let row = d.scalar(op.operand("row").ok_or(Reported)?)?;
    let col = d.scalar(op.operand("col").ok_or(Reported)?)?;
    let target = d.tile(op.operand("dst").ok_or(Reported)?)?;
    let (finish, scale) = way_out(op, d)?;
    issue_move(op, d, (&source, &target), taken, finish, [row, col, scale]);
    Ok(())
}
