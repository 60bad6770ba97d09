//! Elements selected by indices, a pattern or a comparison (PTO IR manual 4.10).

use slipring_ir::{Attr, AttrKind, Diags, Dim, EnumSpec, OperandSpec, Syntax, TileType, Touch, Type};
use slipring_machine::{Capability, Pipe, Platform};
use slipring_tile::Compare;

use super::check;
use super::lower::Operands;
use super::{DST, SRC, TMP, VECTOR, inside, types, working};
use slipring_effect::vector::{
    Gather, GatherBlocks, GatherPattern, GatherWhere, Input, Pitch, Scatter, ScatterPattern,
};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef, PipeRule, Reported};
use slipring_op::ops;
use slipring_op::rules::{SCALAR, TILE, defaulted, instead, operand, optional, schema};

/// Attributes are printed after `outs`.
const fn ins(count: usize) -> Syntax {
    Syntax::InsOuts { ins: count, attrs_in_ins: false }
}

pub(super) const INDICES: OperandSpec = operand("indices", TILE, Touch::Read, "the indices");

/// The attribute that has a pattern.
const PATTERN: &str = "maskPattern";
/// The attribute of a pattern's axis.
const AXIS: &str = "axis";

/// `#pto.mask_pattern<…>`.
const MASK_PATTERN: &EnumSpec = &EnumSpec {
    kind: "mask_pattern",
    numbered: false,
    members: &["P0101", "P1010", "P0001", "P0010", "P0100", "P1000", "P1111"],
};

/// `#pto.cmp<…>` of a gather.
const GATHER_CMP: &EnumSpec =
    &EnumSpec { kind: "cmp", numbered: false, members: &["eq", "gt", "EQ", "GT", "ne", "lt", "le", "ge"] };

pub static TGATHER: OpDef = OpDef {
    schema: schema(
        "pto.tgather",
        Syntax::InsOuts { ins: 4, attrs_in_ins: true },
        &[
            SRC,
            optional("kValue", SCALAR, Touch::Nothing, "the number to compare with"),
            instead("indices", TILE, Touch::Read, "the indices"),
            TMP,
            DST,
            optional("cdst", TILE, Touch::Write, "how many elements of each row compared true"),
        ],
        &[],
        &[
            defaulted(PATTERN, AttrKind::Enum(MASK_PATTERN), "which elements are kept, the lowest digit first"),
            defaulted("cmpMode", AttrKind::Enum(GATHER_CMP), "the comparison; `eq` by default"),
            defaulted(AXIS, AttrKind::Str, "`row`, of a maskPattern: its digits stand for columns"),
            defaulted("offset", AttrKind::Int, "the number of the first element of a comparison; 0 by default"),
        ],
    )
    .in_generic_form(&["src", "dst", "cdst", "indices", "tmp", "kValue"]),
    summary: "Gather elements by index, by comparison or by pattern",
    doc: "`ins(src, indices, tmp)`, on A5 also without `tmp`: `dst[i, j]` = element `indices[i, j]` of `src` for the valid shape \
          of `dst`; the elements are counted from 0 as they lie in memory, row by row with all columns. An index (without a sign) \
          that names no element of the tile is `index-bounds`. `ins(src, {maskPattern = Pabcd})`: of every two or four columns of the valid shape of `src` \
          those that have a 1, the last digit standing for the first column, row by row, one after the other from the first \
          element of `dst` on. `ins(src, kValue, tmp) outs(dst, cdst)`: row i of `dst` begins with the numbers of the elements of \
          row i of `src` that are equal to (greater than) the number, in its type; NaN is neither. Element i of `cdst` is how many \
          those are. The number of an element is `offset`, plus its column, plus for each row before it the columns of `src` \
          (A2/A3) or its valid columns rounded up to 64 (A5). All else keeps its bytes. `dst` must lie apart from `src`.",
    source: "PTO IR manual 4.10; tile library, TGATHER of each platform",
    inside: inside::COMPARED_BY_SCALARS,
    elems: types::GATHERED,
    verify: verify_gather,
    lower: lower_gather,
    class: "gather",
    working: working::GATHER,
    // `pto_instr.hpp`; the one without working memory is that of the assembler.
    library_forms: &[
        &["dst", "src"],
        &["dst", "src", "indices"],
        &["dst", "src", "indices", "tmp"],
        &["dst", "src", "kValue", "cdst", "tmp"],
        &["dst", "src", "kValue", "cdst", "tmp", "offset"],
    ],
    ..VECTOR
};

fn has(op: &OpRef<'_>, name: &str) -> bool {
    op.operand(name).is_some()
}

fn verify_gather(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    check::spaces(op, diags);
    let count = |message: &str| op.error("operand-count", message);
    if let Some(axis) = op.text(AXIS).filter(|axis| *axis != "row") {
        let message = match axis {
            "col" => "`pto.tgather` by a pattern along the columns is not modelled".to_string(),
            other => format!("the axis of a pattern is \"row\" or \"col\", not \"{other}\""),
        };
        return diags.push(op.error(slipring_ir::Kind::Unsupported, message));
    }
    if op.attr(PATTERN).is_some() {
        if ["kValue", "indices", "tmp", "cdst"].iter().any(|name| has(op, name)) {
            diags.push(count("expects only src and dst with a maskPattern"));
        }
        check::elem_on(op, &types::GATHERED_PATTERN, platform, "with a maskPattern", diags);
        check::by_rows(op, &["src", "dst"], diags);
        check::same_size(op, "src", "dst", diags);
        full_columns(op, "dst", diags);
        return;
    }
    if has(op, "kValue") || has(op, "cdst") {
        if !(has(op, "kValue") && has(op, "cdst") && has(op, "tmp")) || has(op, "indices") {
            diags.push(count("expects kValue, tmp and cdst together, without indices"));
            return;
        }
        if let Some(other) = op.text("cmpMode").filter(|word| matches!(*word, "ne" | "lt" | "le" | "ge")) {
            let error = op.error("attribute", format!("`pto.tgather` compares with `eq` or `gt`, not with `{other}`"));
            return diags.push(error.help("compare with `pto.tcmps`, and gather by what its mask selects"));
        }
        check::by_rows(op, &["src", "dst", "cdst"], diags);
        verify_comparison(op, platform, diags);
        return;
    }
    if !has(op, "indices") {
        diags.push(count("expects indices and tmp, kValue and tmp, or a maskPattern"));
        return;
    }
    if !platform.can(Capability::RegisterScratch) && !has(op, "tmp") {
        diags.push(count("expects tmp with indices here"));
        return;
    }
    check::by_rows(op, &["src", "indices", "dst"], diags);
    check::elem_on(op, &types::GATHERED_INDEX, platform, "with indices", diags);
    check::elem_on(op, &types::GATHER_INDICES, platform, "as indices", diags);
    check::same_type(op, "src", "dst", diags);
    full_columns(op, "dst", diags);
    full_columns(op, "indices", diags);
    check::covers(op, "indices", check::Needs::All, diags);
    if !platform.can(Capability::RegisterScratch) {
        check::same_type(op, "indices", "tmp", diags);
        if let (Some(indices), Some(tmp)) = (op.tile("indices"), op.tile("tmp"))
            && indices.valid.iter().zip(&tmp.valid).any(|(a, b)| a.known().zip(b.known()).is_some_and(|(a, b)| a != b))
        {
            diags.push(op.error("tile-valid", "expects indices and tmp to have the same valid shape"));
        }
    }
}

fn verify_comparison(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    check::elem_on(op, &types::GATHERED_WHERE, platform, "with a comparison", diags);
    check::elem(op, "dst", check::INDICES, diags);
    check::same_type(op, "dst", "cdst", diags);
    let elem = |name| op.ty(name).and_then(Type::elem);
    if !platform.can(Capability::GatherIntegers)
        && elem("src").is_some_and(|elem| !elem.is_float())
        && comparison(op) == Compare::Gt
    {
        diags.push(
            op.error("tile-elem", format!("`pto.tgather` with `gt` works on f16 and f32 on {}", platform.name))
                .label("integers are compared with `eq` only"),
        );
    }
    let number = op.ty("kValue").and_then(check::number_type);
    if let (Some(number), Some(elem)) = (number, elem("src"))
        && (number.is_float() || elem.is_float())
        && number != elem
    {
        diags.push(op.error("scalar-type", format!("`kValue` is a number of {number}, the elements are {elem}")));
    }
}

/// Requires a tile that is packed or gathered line by line to have no gaps.
fn full_columns(op: &OpRef<'_>, name: &'static str, diags: &mut Diags) {
    if let Some(tile) = op.tile(name)
        && let Dim::Static(cols) = tile.valid[1]
        && cols != u64::from(tile.layout.cols)
    {
        diags.push(
            op.error("tile-valid", format!("expects all columns of {name} to be valid"))
                .label(format!("{cols} of {} are", tile.layout.cols)),
        );
    }
}

fn comparison(op: &OpRef<'_>) -> Compare {
    if matches!(op.text("cmpMode"), Some("gt" | "GT")) { Compare::Gt } else { Compare::Eq }
}

/// The period of a pattern in columns or rows, and the selected one.
fn digits(pattern: &str) -> (u32, u32) {
    match pattern {
        "P0101" => (2, 0),
        "P1010" => (2, 1),
        "P0001" => (4, 0),
        "P0010" => (4, 1),
        "P0100" => (4, 2),
        "P1000" => (4, 3),
        _ => (1, 0),
    }
}

fn lower_gather(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut operands = Operands::new(op, d);
    let (src, dst) = (operands.tile(d, "src")?, operands.tile(d, "dst")?);
    let local = operands.local;
    if let Some(pattern) = op.text(PATTERN) {
        let (every, first) = digits(pattern);
        return operands.issue(d, GatherPattern { local, dst, src, every, first });
    }
    if op.operand("kValue").is_some() {
        let Input::Scalar(number) = operands.scalar(d, "kValue")? else { return Err(Reported) };
        let counts = operands.tile(d, "cdst")?;
        let offset = op.int("offset").unwrap_or(0) as u32;
        let pitch = if d.platform.can(Capability::GatherValid) { Pitch::Valid(64) } else { Pitch::Columns };
        let effect = GatherWhere { local, mode: comparison(op), dst, counts, src, number, offset, pitch };
        return operands.issue_discovering(d, effect);
    }
    let indices = operands.tile(d, "indices")?;
    operands.issue(d, Gather { local, dst, src, indices })
}

ops! {
    OPS [&TGATHER, &TSCATTER];

    /// Block b (32 bytes) of row i of `dst` = the 32 bytes of `src` from byte `indices[i, b]` on, for the valid shape
    /// of `dst`. Offsets count from the first byte of `src`; each must be a multiple of 32 and name bytes of the tile,
    /// else `index-bounds`. On A2/A3 whole repeats of 256 bytes are written: what of them lies after the valid columns
    /// of a row, up to its end, is uninitialised afterwards. (What reaches after the tile is not followed: give it rows
    /// of 256 bytes.) `dst` must lie apart from `src`.
    pub TGATHERB "pto.tgatherb" "Gather blocks of 32 bytes by byte offset": VECTOR,
        source: "tile library, TGATHERB of each platform (the manual reads an offset for each element)",
        elems: types::GATHERED_BLOCKS, verify: verify_tgatherb, lower: lower_tgatherb, class: "gather"
        => {
            syntax: ins(2),
            operands: &[
                SRC,
                operand("indices", TILE, Touch::Read, "byte offsets, one for each block of 32 bytes"),
                DST,
            ],
        };
}

fn verify_tgatherb(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::spaces(op, diags);
    check::by_rows(op, &["src", "indices", "dst"], diags);
    check::elem(op, "indices", check::INDICES, diags);
    if op.ty("dst").and_then(Type::elem).is_some_and(|elem| elem.bytes() > 4) {
        diags.push(op.error("tile-elem", "expects dst to have elements of 1, 2 or 4 bytes"));
    }
    check::same_size(op, "src", "dst", diags);
}

fn lower_tgatherb(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut operands = Operands::new(op, d);
    let (src, dst) = (operands.tile(d, "src")?, operands.tile(d, "dst")?);
    let offsets = operands.tile(d, "indices")?;
    let whole_repeats = !d.platform.can(Capability::ExactColumns);
    let effect = GatherBlocks { local: operands.local, dst, src, offsets, whole_repeats };
    operands.issue(d, effect)
}

pub static TSCATTER: OpDef = OpDef {
    schema: schema(
        "pto.tscatter",
        Syntax::InsOuts { ins: 2, attrs_in_ins: true },
        &[SRC, optional("indices", TILE, Touch::Read, "the indices"), DST],
        &[],
        &[
            defaulted(PATTERN, AttrKind::Enum(MASK_PATTERN), "where elements go, the lowest digit first"),
            defaulted(AXIS, AttrKind::Str, "of a maskPattern: `row`, its digits stand for columns, or `col`, for rows"),
        ],
    )
    .in_generic_form(&["src", "dst", "indices"]),
    summary: "Scatter elements by index or by pattern",
    doc: "`ins(src, indices)`: all of `dst` (not only its valid shape) becomes 0; then element `indices[i, j]` of `dst` = `src[i, j]` for the valid \
          shape of `indices`, row by row: of several elements for one place the last stays. The elements of `dst` are counted \
          from 0 as they lie in memory, row by row with all columns. An index (without a sign) that names none is \
          `index-bounds`. `dst` must lie apart from `src` and `indices`. Indices have 32 bits for elements of 32 bits, else 16. \
          `ins(src, {maskPattern = Pabcd})`: all of `dst` becomes 0; then the columns of the valid shape of `src` (with `axis = \
          \"col\"` its rows) go, one after the other, to those of every two or four of `dst` that have a 1, the last digit standing \
          for the first. The valid shape of `dst` has two or four times as many. With P1111 the elements move and nothing is \
          cleared. On A2/A3 the scalar unit does it, but for patterns of rows.",
    source: "tile library, TSCATTER of each platform (the manuals read an index as a row, and clear nothing)",
    elems: types::SCATTERED,
    verify: |op, _, diags| {
        check::spaces(op, diags);
        check::same_type(op, "src", "dst", diags);
        if !has(op, "indices") {
            return verify_pattern(op, diags);
        }
        if op.attr(PATTERN).is_some() || op.attr(AXIS).is_some() {
            return diags.push(op.error("operand-count", "expects indices or a maskPattern with its axis, not both"));
        }
        check::by_rows(op, &["src", "indices", "dst"], diags);
        holds_all(op, diags);
        let elem = |name| op.ty(name).and_then(Type::elem);
        if let (Some(data), Some(index)) = (elem("dst"), elem("indices"))
            && (index.is_float() || index.bytes() != data.bytes().max(2))
        {
            let bits = 8 * data.bytes().max(2);
            diags.push(
                op.error("tile-elem", format!("expects indices of {bits} bits for elements of {data}"))
                    .label(format!("`indices` has `{index}`")),
            );
        }
    },
    lower: |op, d| {
        let mut operands = Operands::new(op, d);
        let (src, dst) = (operands.tile(d, "src")?, operands.tile(d, "dst")?);
        if let Some(pattern) = op.text(PATTERN) {
            let ((every, first), local) = (digits(pattern), operands.local);
            return operands.issue(d, ScatterPattern { local, dst, src, every, first, rows: of_rows(op) });
        }
        let indices = operands.tile(d, "indices")?;
        let effect = Scatter { local: operands.local, dst, src, indices };
        operands.issue(d, effect)
    },
    class: "scatter",
    pipe: PipeRule::By(|op, platform| {
        let by_vector = platform.can(Capability::VectorScatter) || of_rows(op);
        if by_vector { Pipe::V } else { Pipe::S }
    }),
    inside: inside::SCATTERED_BY_SCALARS,
    ..VECTOR
};

/// The attribute for a member of the tile library's `ScatterAxis` or `GatherAxis`.
pub fn axis_of_library(kind: &str, member: &str) -> Option<(&'static str, Attr)> {
    let axis = match (kind, member) {
        ("ScatterAxis", "SCATTER_ROW") | ("GatherAxis", "GATHER_ROW") => "row",
        ("ScatterAxis", "SCATTER_COL") | ("GatherAxis", "GATHER_COL") => "col",
        _ => return None,
    };
    Some((AXIS, Attr::Str(axis.into())))
}

/// Adds the axis to the attributes of a call of the tile library that scatters by a pattern and names none: rows (page
/// of `TSCATTER`). The assembler requires one.
pub fn scatter_along_rows(attrs: &mut Vec<(&'static str, Attr)>) {
    let has = |wanted: &str| attrs.iter().any(|(name, _)| *name == wanted);
    if has(PATTERN) && !has(AXIS) {
        attrs.push((AXIS, Attr::Str("row".into())));
    }
}

/// Requires `dst` to have at least the valid rows and columns of `src`, as far as they are known.
fn holds_all(op: &OpRef<'_>, diags: &mut Diags) {
    let (Some(src), Some(dst)) = (op.tile("src"), op.tile("dst")) else { return };
    let pairs = src.valid.iter().zip(&dst.valid).filter_map(|(src, dst)| src.known().zip(dst.known()));
    if pairs.into_iter().any(|(src, dst)| src > dst) {
        let show = |tile: &TileType| tile.valid.map(|dim| dim.to_string()).join(" x ");
        diags.push(
            op.error("tile-valid", "expects dst to have at least the valid rows and columns of src")
                .label(format!("`src` has {}, `dst` {}", show(src), show(dst)))
                .help("give `dst` the larger shape: an index names one of its elements, wherever it lies"),
        );
    }
}

/// True for a pattern that selects rows.
fn of_rows(op: &OpRef<'_>) -> bool {
    op.text(AXIS) == Some("col")
}

fn verify_pattern(op: &OpRef<'_>, diags: &mut Diags) {
    let Some(pattern) = op.text(PATTERN) else {
        return diags.push(op.error("operand-count", "expects indices or a maskPattern"));
    };
    if !matches!(op.text(AXIS), Some("row" | "col")) {
        return diags.push(op.error("attribute", "expects the axis of a maskPattern to be \"row\" or \"col\""));
    }
    check::by_rows(op, &["src", "dst"], diags);
    let (Some(src), Some(dst)) = (op.tile("src"), op.tile("dst")) else { return };
    let every = u64::from(digits(pattern).0);
    for (axis, what) in ["rows", "columns"].into_iter().enumerate() {
        let times = if (axis == 0) == of_rows(op) { every } else { 1 };
        if let (Some(from), Some(to)) = (src.valid[axis].known(), dst.valid[axis].known())
            && to != from * times
        {
            let message = format!("expects dst to have {} valid {what}: {times} for each of src", from * times);
            diags.push(op.error("tile-valid", message).label(format!("it has {to}")));
        }
    }
}
