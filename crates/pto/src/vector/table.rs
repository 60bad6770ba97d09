//! Gathering from and scattering to global memory (PTO IR manual 4.10).

use slipring_ir::{AttrKind, AttrSpec, Diags, Dim, EnumSpec, Syntax, TileType, Touch, Type, TypeRule};
use slipring_machine::interpretations::SCATTERED_TWICE;
use slipring_machine::{Capability, Cost, Pipe, Platform};
use slipring_program::UpdateKind;
use slipring_tile::{BLayout, SLayout, Space};

use super::check;
use super::gather::INDICES;
use super::lower::Operands;
use super::{DST, SRC, VECTOR, types};
use slipring_effect::vector::{
    Outside, ReadNumbers, ReadRowNumbers, RowsToMat, StageElements, StagedToMat, Stays, TableMove,
};
use slipring_op::decode::Decoder;
use slipring_op::def::{CoreRule, LibraryFlags, Lowered, OpRef, PipeRule};
use slipring_op::ops;
use slipring_op::rules::{TILE, VIEW, defaulted, operand, optional, require_space};

/// Indices in a tile or in global memory.
const NUMBERS: TypeRule =
    TypeRule { describe: "a tile or a view of global memory", accepts: |ty| (TILE.accepts)(ty) || (VIEW.accepts)(ty) };

/// Attributes are printed after `outs`.
const INS: Syntax = Syntax::InsOuts { ins: 2, attrs_in_ins: false };

/// `#pto<gather_oob …>`.
const GATHER_OOB: &EnumSpec =
    &EnumSpec { kind: "gather_oob", numbered: false, members: &["undefined", "clamp", "wrap", "zero"] };
/// `#pto<scatter_oob …>`.
const SCATTER_OOB: &EnumSpec =
    &EnumSpec { kind: "scatter_oob", numbered: false, members: &["undefined", "skip", "clamp", "wrap"] };
/// `#pto<scatter_conflict …>`.
const SCATTER_CONFLICT: &EnumSpec =
    &EnumSpec { kind: "scatter_conflict", numbered: false, members: &["default", "last"] };
/// `#pto<scatter_atomic_op …>`.
const SCATTER_ATOMIC: &EnumSpec =
    &EnumSpec { kind: "scatter_atomic_op", numbered: false, members: &["none", "add", "max", "min"] };

/// Documents what an index selects.
macro_rules! table_doc {
    ($($what:literal),+) => {
        concat!(
            $($what),+,
            " With `coalesce = row`, and without `coalesce` where `indices` has one valid column and the tile more, number i names a row of `mem`, of which as many elements are \
             moved as the tile has valid columns; else number (i, j) names an element, counted from the first one as a dense table \
             has them. Numbers have no sign. One that names nothing is `index-bounds`, or what the attribute says. "
        )
    };
}

ops! {
    OPS;

    /// `dst[i, j] = mem[indices[i, j]]`, or `mem[indices[i, 0], j]`, for the valid shape of `dst`. `clamp`: the last
    /// one; `wrap`: modulo their number; `zero`: 0. Into a tile in L1 a Cube core gathers by numbers in global memory:
    /// a row for each, which lie one after the other, or elements, which it puts into `scratch` beforehand, in the
    /// order of the fractals; what is not valid becomes 0 with elements, and with `zero`.
    pub MGATHER "pto.mgather" "Gather elements or rows from global memory" [table_doc]: VECTOR,
        source: "PTO IR manual 4.10; tile library, MGATHER of each platform", core: CoreRule::ByTile,
        pipe: PipeRule::By(|op, _| if to_mat(op) { Pipe::Mte2 } else { Pipe::V }), elems: types::TABLE,
        inside: &[TO_MAT, LibraryFlags { has: true, ..TO_MAT }, GATHER_ROWS, ELEMENTS, ONE_ELEMENT],
        verify: |op, _, diags| if to_mat(op) { verify_to_mat(op, diags) } else { verify_table(op, "dst", diags) },
        lower: lower_mgather
        => {
            syntax: Syntax::InsOuts { ins: 3, attrs_in_ins: false },
            operands: &[
                operand("mem", VIEW, Touch::Read, "the table in global memory"),
                operand("indices", NUMBERS, Touch::Read, "the indices; in global memory where `dst` is in L1"),
                optional("scratch", VIEW, Touch::Write, "global memory where elements for L1 are put beforehand"),
                DST,
            ],
            attrs: &[
                defaulted("gatherOob", AttrKind::Enum(GATHER_OOB), "what an index outside the table does"),
                COALESCE,
            ],
        };

    /// `mem[indices[i, j]] = src[i, j]`, or `mem[indices[i, 0], j] = src[i, j]`, for the valid shape of `src`, row by
    /// row: of several for one place the last stays, unless `scatterConflict` says `default`. With `add`, `max`, `min` the element is combined with the table's,
    /// in its type. `skip`: nothing is stored; `clamp`: the last one; `wrap`: modulo their number.
    pub MSCATTER "pto.mscatter" "Scatter elements or rows to global memory" [table_doc]: VECTOR,
        source: "PTO IR manual 4.10; tile library, MSCATTER of each platform", elems: types::TABLE_SRC,
        inside: &[SCATTER_ROWS, ELEMENTS, ONE_ELEMENT], update: update, verify: verify_mscatter, lower: lower_mscatter
        => {
            syntax: INS,
            operands: &[SRC, INDICES, operand("mem", VIEW, Touch::Write, "the table in global memory")],
            attrs: &[
                defaulted("scatterAtomicOp", AttrKind::Enum(SCATTER_ATOMIC), "how elements are combined with the table's"),
                defaulted("scatterOob", AttrKind::Enum(SCATTER_OOB), "what an index outside the table does"),
                defaulted(
                    "scatterConflict",
                    AttrKind::Enum(SCATTER_CONFLICT),
                    "of several elements for one place: `last`, as without it, says that the last stays; with `default` any may stay: the last here, with a warning if they differ",
                ),
                COALESCE,
            ],
        };
}

fn lower_mgather(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let outside = match op.text("gatherOob") {
        Some("clamp") => Outside::Clamp,
        Some("wrap") => Outside::Wrap,
        Some("zero") => Outside::Nothing,
        _ => Outside::Fault,
    };
    if to_mat(op) { lower_to_mat(op, d, outside) } else { lower_table(op, d, "dst", outside, None) }
}

fn verify_mscatter(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    verify_table(op, "src", diags);
    if matches!(update(op), Some(UpdateKind::Max | UpdateKind::Min)) {
        only_a5(op, "scatterAtomicOp", "`none` or `add`", platform, diags);
    }
    if op.text("scatterConflict").is_some() {
        only_a5(op, "scatterConflict", "none", platform, diags);
    }
    let Some(elem) = op.ty("src").and_then(Type::elem) else { return };
    let [by_assembler, by_library] = match update(op) {
        None => return,
        Some(UpdateKind::Add) => types::SUMMED,
        Some(UpdateKind::Max | UpdateKind::Min) => types::EXTREMES,
    };
    let known = if op.calls_library() { by_library } else { by_assembler }.on(platform);
    // Where a platform knows none, the kind of update itself is refused above.
    if !known.is_empty() && !known.contains(&elem) {
        let names: Vec<&str> = known.iter().map(|elem| elem.name()).collect();
        let message = format!("expects elements of {} to be combined, not {elem}", names.join(", "));
        diags.push(op.error("tile-elem", message).label(format!("`src` has `{elem}`")));
    }
}

fn lower_mscatter(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let outside = match op.text("scatterOob") {
        Some("clamp") => Outside::Clamp,
        Some("wrap") => Outside::Wrap,
        Some("skip") => Outside::Nothing,
        _ => Outside::Fault,
    };
    lower_table(op, d, "src", outside, Some(update(op)))
}

/// True if it gathers into L1.
fn to_mat(op: &OpRef<'_>) -> bool {
    op.space("dst") == Some(Space::Mat)
}

/// The declared granularity: true if each index selects a row.
fn said(op: &OpRef<'_>) -> Option<bool> {
    op.text("coalesce").map(|said| said == "row")
}

/// True if each index selects a row of the table.
pub(crate) fn by_row(op: &OpRef<'_>) -> bool {
    if let Some(said) = said(op) {
        return said;
    }
    let lone = |name| op.tile(name).map(|tile| tile.valid[1] == Dim::Static(1));
    let tile = if op.def.schema.operand("dst").is_some() { "dst" } else { "src" };
    lone("indices") == Some(true) && lone(tile) == Some(false)
}

/// Both platforms: the scalar unit reads the indices and makes MTE2 load the selected data.
const TO_MAT: LibraryFlags =
    LibraryFlags { of: Capability::VectorTables, has: false, when: to_mat, flags: &[(Pipe::S, Pipe::Mte2)] };
/// A2/A3: the scalar unit reads the indices and makes MTE2 load the rows.
const GATHER_ROWS: LibraryFlags = LibraryFlags {
    of: Capability::VectorTables,
    has: false,
    when: by_row,
    flags: &[
        (Pipe::V, Pipe::S),
        (Pipe::Mte3, Pipe::S),
        (Pipe::S, Pipe::Mte2),
        (Pipe::Mte2, Pipe::V),
        (Pipe::Mte2, Pipe::Mte3),
        (Pipe::S, Pipe::V),
        (Pipe::S, Pipe::Mte3),
    ],
};
/// A2/A3: the scalar unit reads the indices and makes MTE3 store the rows.
const SCATTER_ROWS: LibraryFlags = LibraryFlags {
    of: Capability::VectorTables,
    has: false,
    when: by_row,
    flags: &[
        (Pipe::V, Pipe::S),
        (Pipe::Mte2, Pipe::S),
        (Pipe::S, Pipe::Mte3),
        (Pipe::Mte3, Pipe::S),
        (Pipe::Mte3, Pipe::V),
        (Pipe::Mte3, Pipe::Mte2),
    ],
};
/// A2/A3: the scalar unit moves the elements itself.
const ELEMENTS: LibraryFlags = LibraryFlags {
    of: Capability::VectorTables,
    has: false,
    when: |op| !by_row(op),
    flags: &[
        (Pipe::V, Pipe::S),
        (Pipe::Mte2, Pipe::S),
        (Pipe::Mte3, Pipe::S),
        (Pipe::S, Pipe::V),
        (Pipe::S, Pipe::Mte2),
        (Pipe::S, Pipe::Mte3),
    ],
};
/// A5: the scalar unit moves a single element.
const ONE_ELEMENT: LibraryFlags = LibraryFlags {
    of: Capability::VectorTables,
    has: true,
    when: |op| op.tile("indices").is_some_and(|tile| tile.valid == [Dim::Static(1); 2]) && !by_row(op),
    flags: &[(Pipe::V, Pipe::S), (Pipe::S, Pipe::V)],
};

fn update(op: &OpRef<'_>) -> Option<UpdateKind> {
    match op.text("scatterAtomicOp") {
        Some("add") => Some(UpdateKind::Add),
        Some("max") => Some(UpdateKind::Max),
        Some("min") => Some(UpdateKind::Min),
        _ => None,
    }
}

/// Reports an attribute value that only units that work on registers support.
fn only_a5(op: &OpRef<'_>, name: &str, usual: &str, platform: &Platform, diags: &mut Diags) {
    if !platform.can(Capability::TableModes) {
        let message =
            format!("`{}` with another {name} than {usual} does not exist on {}", op.def.schema.name, platform.name);
        diags.push(op.error("attribute", message));
    }
}

/// `#pto<coalesce …>`.
const COALESCE: AttrSpec = defaulted(
    "coalesce",
    AttrKind::Enum(&EnumSpec { kind: "coalesce", numbered: false, members: &["row", "elem"] }),
    "whether the indices name rows or elements; where it is left out, their valid shape says it (assembler 0.60 requires it for `pto.mgather`, and for `pto.mscatter` beside other attributes)",
);

fn verify_table(op: &OpRef<'_>, tile: &'static str, diags: &mut Diags) {
    if op.if_declared("scratch").is_some() {
        diags.push(op.error("operand-count", "expects scratch only where dst is in `mat`"));
    }
    for name in [tile, "indices"] {
        require_space(op, name, &[Space::Vec], diags);
    }
    // A column of indices may be a tile in column order, if the op specifies that they select rows.
    check::by_rows(op, &[tile], diags);
    if said(op) != Some(true) {
        check::by_rows(op, &["indices"], diags);
    }
    check::same_type(op, tile, "mem", diags);
    check::elem(op, "indices", check::INDICES, diags);
    let (Some(data), Some(indices)) = (op.tile(tile), op.tile("indices")) else { return };
    let known = |dims: &[Dim; 2]| Some([dims[0].known()?, dims[1].known()?]);
    let (Some([lines, width]), Some([rows, cols])) = (known(&indices.valid), known(&data.valid)) else { return };
    if said(op) == Some(true) {
        line_or_column(op, indices, [lines, width], diags);
    }
    let (fits, expected) = match said(op) {
        Some(true) => ([lines, width] == [1, rows] || [lines, width] == [rows, 1], "a valid number for each row of"),
        Some(false) => ([lines, width] == [rows, cols], "the valid shape of"),
        None => (lines == rows && (width == 1 || width == cols), "the valid rows of, and one or all columns of"),
    };
    if !fits {
        diags.push(
            op.error("tile-valid", format!("expects indices to have {expected} {tile}"))
                .label(format!("`indices` has {lines} x {width}, `{tile}` {rows} x {cols}")),
        );
    }
}

/// Requires numbers of rows to lie as their valid shape does: a line by rows, a column by columns.
fn line_or_column(op: &OpRef<'_>, indices: &TileType, [lines, width]: [u64; 2], diags: &mut Diags) {
    let column = lines > 1 && width == 1;
    if column && indices.layout.blayout == BLayout::RowMajor && indices.layout.cols > 1 {
        diags.push(
            op.error("tile-layout", "expects a column of indices to be stored by columns with `coalesce = row`")
                .label("`indices` has blayout=row_major")
                .help("give its type blayout=col_major, or write the numbers as one row"),
        );
    }
}

/// Checks a gather into a tile in L1.
fn verify_to_mat(op: &OpRef<'_>, diags: &mut Diags) {
    if op.tile("indices").is_some() {
        diags.push(op.error("operand-type", "expects indices in global memory where dst is in `mat`, not in a tile"));
    }
    check::same_type(op, "dst", "mem", diags);
    check::elem(op, "indices", check::INDICES, diags);
    match (said(op), op.if_declared("scratch").is_some()) {
        (None, _) => diags.push(op.error("attribute", "expects `coalesce` where dst is in `mat`: `row` or `elem`")),
        (Some(true), true) => diags.push(op.error("operand-count", "expects no scratch with `coalesce = row`")),
        (Some(false), false) => diags.push(op.error("operand-count", "expects a scratch with `coalesce = elem`")),
        (Some(false), true) => check::same_type(op, "scratch", "dst", diags),
        (Some(true), false) => {}
    }
    let Some(layout) = op.tile("dst").map(|tile| tile.layout) else { return };
    if layout.blayout != BLayout::ColMajor || layout.slayout != SLayout::RowMajor || layout.fractal != 512 {
        diags
            .push(op.error("tile-layout", "expects dst to hold fractals of 512 bytes by columns, each stored by rows"));
    }
}

/// Lowers a gather into L1: the scalar unit reads the indices first.
fn lower_to_mat(op: &OpRef<'_>, d: &mut Decoder<'_>, outside: Outside) -> Lowered {
    let mut operands = Operands::within(op, d, Space::Mat);
    let (local, tile) = (operands.local, operands.tile(d, "dst")?);
    let (table, numbers) = (operands.table(d, "mem")?, operands.table(d, "indices")?);
    let cost = d.platform.dma_cost(Space::Gm, Space::Mat);
    if by_row(op) {
        let numbers = ReadRowNumbers { local, tile, numbers };
        let scalar = Cost::fixed(d.platform.cost.scalar_memory);
        operands.issue_at(d, Pipe::S, numbers, scalar.into());
        operands.issue_at(d, Pipe::Mte2, RowsToMat { numbers, table, outside }, cost);
    } else {
        let staging = operands.table(d, "scratch")?;
        operands.issue_at(d, Pipe::S, StageElements { local, tile, numbers, table, outside, staging }, cost.clone());
        operands.issue_at(d, Pipe::Mte2, StagedToMat { local, tile, staging }, cost);
    }
    Ok(())
}

fn lower_table(
    op: &OpRef<'_>,
    d: &mut Decoder<'_>,
    tile: &'static str,
    outside: Outside,
    store: Option<Option<UpdateKind>>,
) -> Lowered {
    let mut operands = Operands::within(op, d, Space::Vec);
    let local = operands.local;
    let (tile, indices) = (operands.tile(d, tile)?, operands.tile(d, "indices")?);
    let table = operands.table(d, "mem")?;
    let [from, to] = if store.is_some() { [Space::Vec, Space::Gm] } else { [Space::Gm, Space::Vec] };
    let cost = d.platform.dma_cost(from, to);
    // The tile library keeps the last one unless it is told otherwise.
    let stays = match op.text("scatterConflict") {
        Some("default") => Stays::Any { first: d.platform.reads_otherwise(&SCATTERED_TWICE) },
        _ => Stays::Last,
    };
    let effect = TableMove { local, tile, indices, rows: said(op), table, outside, store, stays };
    if d.platform.can(Capability::VectorTables) {
        operands.issue_at(d, Pipe::V, effect, cost);
        return Ok(());
    }
    // A2/A3: the library's own flags are the only order between the three units that take part.
    let (case, before, pipe) = match (by_row(op), store.is_some()) {
        (false, _) => (ELEMENTS, 3, Pipe::S),
        (true, false) => (GATHER_ROWS, 2, Pipe::Mte2),
        (true, true) => (SCATTER_ROWS, 2, Pipe::Mte3),
    };
    let (before, after) = case.flags.split_at(before);
    before.iter().for_each(|(from, to)| d.meet_inside(*from, *to));
    if pipe != Pipe::S {
        let scalar = Cost::fixed(d.platform.cost.scalar_memory);
        operands.issue_at(d, Pipe::S, ReadNumbers { local, indices }, scalar.into());
    }
    operands.issue_at(d, pipe, effect, cost);
    after.iter().for_each(|(from, to)| d.meet_inside(*from, *to));
    Ok(())
}
