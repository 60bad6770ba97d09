//! Gathering from and scattering to global memory (PTO IR manual 4.10).

use slipring_ir::{AttrKind, AttrSpec, Diags, Dim, EnumSpec, Syntax, Touch, Type};
use slipring_machine::{Capability, Cost, Pipe, Platform};
use slipring_program::UpdateKind;
use slipring_tile::{Elem, Space};

use super::check;
use super::gather::INDICES;
use super::lower::Operands;
use super::{DST, SRC, VECTOR, types};
use slipring_effect::vector::{Outside, ReadNumbers, TableMove};
use slipring_op::decode::Decoder;
use slipring_op::def::{LibraryFlags, Lowered, OpDef, OpRef};
use slipring_op::rules::{VIEW, defaulted, operand, require_space, schema};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[&MGATHER, &MSCATTER];

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

/// Says what a number in the indices names.
macro_rules! table_doc {
    ($what:literal) => {
        concat!(
            $what,
            " Where `indices` has one valid column and the tile more, number i names a row of `mem`, of which as many elements are \
             moved as the tile has valid columns; else number (i, j) names an element, counted from the first one as a dense table \
             has them. Numbers have no sign. One that names nothing is `index-bounds`, or what the attribute says. "
        )
    };
}

pub static MGATHER: OpDef = OpDef {
    schema: schema(
        "pto.mgather",
        INS,
        &[operand("mem", VIEW, Touch::Read, "the table in global memory"), INDICES, DST],
        &[],
        &[defaulted("gatherOob", AttrKind::Enum(GATHER_OOB), "what an index outside the table does"), COALESCE],
    ),
    summary: "Gather elements or rows from global memory",
    doc: table_doc!(
        "`dst[i, j] = mem[indices[i, j]]`, or `mem[indices[i, 0], j]`, for the valid shape of `dst`. `clamp`: the last one; `wrap`: \
         modulo their number; `zero`: 0."
    ),
    source: "PTO IR manual 4.10; tile library, MGATHER of each platform",
    elems: types::TABLE,
    inside: &[GATHER_ROWS, ELEMENTS, ONE_ELEMENT],
    verify: |op, _, diags| verify_table(op, "dst", diags),
    lower: |op, d| {
        let outside = match op.text("gatherOob") {
            Some("clamp") => Outside::Clamp,
            Some("wrap") => Outside::Wrap,
            Some("zero") => Outside::Nothing,
            _ => Outside::Fault,
        };
        lower_table(op, d, "dst", outside, None)
    },
    ..VECTOR
};

pub static MSCATTER: OpDef = OpDef {
    schema: schema(
        "pto.mscatter",
        INS,
        &[SRC, INDICES, operand("mem", VIEW, Touch::Write, "the table in global memory")],
        &[],
        &[
            defaulted("scatterAtomicOp", AttrKind::Enum(SCATTER_ATOMIC), "how elements are combined with the table's"),
            defaulted("scatterOob", AttrKind::Enum(SCATTER_OOB), "what an index outside the table does"),
            defaulted(
                "scatterConflict",
                AttrKind::Enum(SCATTER_CONFLICT),
                "of several elements for one place: `last` says that the last stays, which it does here with `default`, too",
            ),
            COALESCE,
        ],
    ),
    summary: "Scatter elements or rows to global memory",
    doc: table_doc!(
        "`mem[indices[i, j]] = src[i, j]`, or `mem[indices[i, 0], j] = src[i, j]`, for the valid shape of `src`, row by row: of \
         several for one place the last stays. With `add`, `max`, `min` the element is combined with the table's, in its type. \
         `skip`: nothing is stored; `clamp`: the last one; `wrap`: modulo their number."
    ),
    source: "PTO IR manual 4.10; tile library, MSCATTER of each platform",
    elems: types::TABLE_SRC,
    inside: &[SCATTER_ROWS, ELEMENTS, ONE_ELEMENT],
    update,
    verify: |op, platform, diags| {
        verify_table(op, "src", diags);
        if matches!(update(op), Some(UpdateKind::Max | UpdateKind::Min)) {
            only_a5(op, "scatterAtomicOp", "`none` or `add`", platform, diags);
        }
        if op.text("scatterConflict").is_some() {
            only_a5(op, "scatterConflict", "none", platform, diags);
        }
        let Some(elem) = op.ty("src").and_then(Type::elem) else { return };
        let known: &[Elem] = match update(op) {
            None => return,
            Some(UpdateKind::Add) => &[Elem::I32, Elem::F16, Elem::F32],
            Some(UpdateKind::Max | UpdateKind::Min) => &[Elem::I32, Elem::F32],
        };
        if !known.contains(&elem) {
            let names: Vec<&str> = known.iter().map(|elem| elem.name()).collect();
            let message = format!("expects elements of {} to be combined, not {elem}", names.join(", "));
            diags.push(op.error("tile-elem", message).label(format!("`src` has `{elem}`")));
        }
    },
    lower: |op, d| {
        let outside = match op.text("scatterOob") {
            Some("clamp") => Outside::Clamp,
            Some("wrap") => Outside::Wrap,
            Some("skip") => Outside::Nothing,
            _ => Outside::Fault,
        };
        lower_table(op, d, "src", outside, Some(update(op)))
    },
    ..VECTOR
};

/// Whether each number names a row of the table.
fn by_row(op: &OpRef<'_>) -> bool {
    let lone = |name| op.tile(name).map(|tile| tile.valid[1] == Dim::Static(1));
    let tile = if op.def.schema.operand("dst").is_some() { "dst" } else { "src" };
    lone("indices") == Some(true) && lone(tile) == Some(false)
}

/// A2/A3: the scalar unit reads the numbers and has MTE2 load the rows.
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
/// A2/A3: the scalar unit reads the numbers and has MTE3 store the rows.
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

/// Reports a value of an attribute that only units that work on registers have.
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
    "whether the indices name rows or elements; the shapes say the same",
);

fn verify_table(op: &OpRef<'_>, tile: &'static str, diags: &mut Diags) {
    let said = op.text("coalesce").map(|said| said == "row");
    let ambiguous = op.tile("indices").is_none_or(|tile| tile.valid[1].known().is_none());
    if said.is_some_and(|rows| rows != by_row(op)) && !ambiguous {
        let (says, are) = if by_row(op) { ("elem", "rows") } else { ("row", "elements") };
        let name = op.def.schema.name;
        let message = format!("`{name}` with `coalesce = {says}` and indices whose shape names {are} is not modelled");
        diags.push(op.error("unsupported", message));
    }
    for name in [tile, "indices"] {
        require_space(op, name, &[Space::Vec], diags);
    }
    check::by_rows(op, &[tile, "indices"], diags);
    check::same_type(op, tile, "mem", diags);
    check::elem(op, "indices", check::INDICES, diags);
    let (Some(data), Some(indices)) = (op.tile(tile), op.tile("indices")) else { return };
    let pairs = data.valid.iter().zip(&indices.valid).map(|pair| match pair {
        (Dim::Static(a), Dim::Static(b)) => (*a, *b),
        _ => (1, 1),
    });
    let [(rows, lines), (cols, width)] = [0, 1].map(|dim| pairs.clone().nth(dim).unwrap_or((1, 1)));
    if rows != lines || (width != 1 && width != cols) {
        diags.push(
            op.error(
                "tile-valid",
                format!("expects indices to have the valid rows of {tile}, and one or all of its columns"),
            )
            .label(format!("`indices` has {lines} x {width}, `{tile}` {rows} x {cols}")),
        );
    }
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
    let effect = TableMove { local, tile, indices, table, outside, store };
    if d.platform.can(Capability::VectorTables) {
        operands.issue_at(d, Pipe::V, effect, cost);
        return Ok(());
    }
    // A2/A3: the order that the library's own flags make is all there is between the three units that take part.
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
