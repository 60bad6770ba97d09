//! Ops that are read and verified but cannot be run yet: gathering and scattering in global memory, sorting, histograms, random numbers,
//! quantisation (PTO IR manual 4.6, 4.10, 4.11, 4.15).

use slipring_ir::{AttrKind, Diags, EnumSpec, Syntax, Touch, Type, TypeRule};
use slipring_machine::{Pipe, Platform};
use slipring_tile::Elem;

use super::gather::INDICES;
use super::{DST, SRC, TMP, VECTOR};
use slipring_op::Along;
use slipring_op::def::{OpDef, OpRef, PipeRule};
use slipring_op::rules::{INTEGER, TILE, VIEW, defaulted, operand, optional, schema, variadic};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] =
    &[&MGATHER, &MSCATTER, &TSORT32, &TMRGSORT, &THISTOGRAM, &TRANDOM, &TQUANT, &TDEQUANT];

const UNDONE: OpDef = OpDef { lower: |_, d| Err(d.unsupported("this op")), ..VECTOR };

/// Attributes are printed after `outs`.
const fn ins(count: usize) -> Syntax {
    Syntax::InsOuts { ins: count, attrs_in_ins: false }
}

/// `#pto<gather_oob …>`.
const GATHER_OOB: &EnumSpec = &EnumSpec { kind: "gather_oob", members: &["undefined", "clamp", "wrap", "zero"] };
/// `#pto<scatter_oob …>`.
const SCATTER_OOB: &EnumSpec = &EnumSpec { kind: "scatter_oob", members: &["undefined", "skip", "clamp", "wrap"] };
/// `#pto<scatter_atomic_op …>`.
const SCATTER_ATOMIC: &EnumSpec = &EnumSpec { kind: "scatter_atomic_op", members: &["none", "add", "max", "min"] };

pub static MGATHER: OpDef = OpDef {
    schema: schema(
        "pto.mgather",
        ins(2),
        &[operand("mem", VIEW, Touch::Read, "the table in global memory"), INDICES, DST],
        &[],
        &[defaulted("gatherOob", AttrKind::Enum(GATHER_OOB), "what an index outside the table does")],
    ),
    summary: "Gather elements from global memory",
    doc: "`dst[i, j] = mem[indices[i, j]]`. Read and verified; it cannot be run yet.",
    source: "PTO IR manual 4.10",
    pipe: PipeRule::Fixed(Pipe::Mte2),
    ..UNDONE
};

pub static MSCATTER: OpDef = OpDef {
    schema: schema(
        "pto.mscatter",
        ins(2),
        &[SRC, INDICES, operand("mem", VIEW, Touch::Write, "the table in global memory")],
        &[],
        &[
            defaulted("scatterAtomicOp", AttrKind::Enum(SCATTER_ATOMIC), "how elements are combined"),
            defaulted("scatterOob", AttrKind::Enum(SCATTER_OOB), "what an index outside the table does"),
        ],
    ),
    summary: "Scatter elements to global memory",
    doc: "`mem[indices[i, j]] = src[i, j]`. Read and verified; it cannot be run yet.",
    source: "PTO IR manual 4.10",
    pipe: PipeRule::Fixed(Pipe::Mte3),
    ..UNDONE
};

pub static TSORT32: OpDef = OpDef {
    schema: schema(
        "pto.tsort32",
        ins(3),
        &[SRC, operand("idx", TILE, Touch::Read, "indices that are permuted with the elements"), TMP, DST],
        &[],
        &[],
    ),
    summary: "Sort blocks of 32 elements",
    doc: "Sorts each block of 32 elements in descending order, with their indices. Read and verified; it cannot be run yet.",
    source: "PTO IR manual 4.11; tile ISA, TSORT32",
    ..UNDONE
};

/// `vector<4xi16>`.
const COUNTS: TypeRule = TypeRule { describe: "a vector of numbers", accepts: |t| matches!(t, Type::Vector(_)) };

pub static TMRGSORT: OpDef = OpDef {
    schema: schema(
        "pto.tmrgsort",
        Syntax::InsOuts { ins: 2, attrs_in_ins: true },
        &[
            variadic("sources", TILE, Touch::Read, "a list in blocks, or sorted lists and working memory"),
            optional("blockLen", INTEGER, Touch::Nothing, "elements of a sorted block"),
            DST,
            TMP,
            optional("executed", COUNTS, Touch::Nothing, "how many elements of each list were taken"),
        ],
        &[],
        &[defaulted("exhausted", AttrKind::Bool, "stop when one list is used up")],
    ),
    summary: "Merge sorted lists",
    doc: "Merges the sorted blocks of one list, or two to four sorted lists. Read and verified; it cannot be run yet.",
    source: "PTO IR manual 4.11; tile ISA, TMRGSORT",
    ..UNDONE
};

pub static THISTOGRAM: OpDef = OpDef {
    schema: schema(
        "pto.thistogram",
        ins(2),
        &[
            operand("src", TILE, Touch::Read, "the values: ui16"),
            operand("idx", TILE, Touch::Read, "a selector for each row: ui8"),
            operand("dst", TILE, Touch::ReadWrite, "the counters: ui32, 256 a row"),
        ],
        &[],
        &[defaulted("isMSB", AttrKind::Bool, "count the upper byte; true by default")],
    ),
    summary: "Count values (A5)",
    doc: "Adds a histogram of each row of `src` to a row of 256 counters. Read and verified; it cannot be run yet.",
    source: "PTO IR manual 4.6; tile ISA, THISTOGRAM",
    verify: |op, _, diags| {
        for (name, expected) in [("src", Elem::U16), ("idx", Elem::U8), ("dst", Elem::U32)] {
            if op.ty(name).and_then(Type::elem).is_some_and(|elem| elem != expected) {
                diags.push(op.error("tile-elem", format!("expects {name} element type to be {expected}")));
            }
        }
    },
    ..UNDONE
};

pub static TRANDOM: OpDef = OpDef {
    schema: schema(
        "pto.trandom",
        ins(6),
        &[
            operand("key0", INTEGER, Touch::Nothing, "the key"),
            operand("key1", INTEGER, Touch::Nothing, "the key"),
            operand("counter0", INTEGER, Touch::Nothing, "the counter"),
            operand("counter1", INTEGER, Touch::Nothing, "the counter"),
            operand("counter2", INTEGER, Touch::Nothing, "the counter"),
            operand("counter3", INTEGER, Touch::Nothing, "the counter"),
            DST,
        ],
        &[],
        &[defaulted("rounds", AttrKind::Int, "rounds of the generator")],
    ),
    summary: "Random bits (A5)",
    doc: "Fills a tile with the bits of a counter-based generator. Read and verified; it cannot be run yet.",
    source: "tile ISA, TRANDOM",
    along: [Along::Counts; 2],
    ..UNDONE
};

/// `#pto<quant_type …>`.
const QUANT_TYPE: &EnumSpec = &EnumSpec { kind: "quant_type", members: &["INT8_SYM", "INT8_ASYM"] };

pub static TQUANT: OpDef = OpDef {
    schema: schema(
        "pto.tquant",
        ins(3),
        &[
            operand("src", TILE, Touch::Read, "the f32 elements"),
            operand("fp", TILE, Touch::Read, "the scales"),
            optional("offset", TILE, Touch::Read, "what is added, of the asymmetric form"),
            DST,
        ],
        &[],
        &[defaulted("quant_type", AttrKind::Enum(QUANT_TYPE), "`INT8_SYM`: to i8, `INT8_ASYM`: to ui8 with an offset")],
    ),
    summary: "Quantise to 8 bits",
    doc: "Multiplies by scales, adds the offset, if there is one, and rounds to 8-bit integers. Read and verified; it cannot \
          be run yet.",
    source: "PTO IR manual 4.15; tile ISA, TQUANT",
    verify: verify_quant,
    ..UNDONE
};

fn verify_quant(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
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
    if op.ty("src").and_then(Type::elem).is_some_and(|elem| elem != Elem::F32) {
        diags.push(op.error("tile-elem", "expects src element type f32"));
    }
}

pub static TDEQUANT: OpDef = OpDef {
    schema: schema(
        "pto.tdequant",
        ins(3),
        &[
            operand("src", TILE, Touch::Read, "the integers"),
            operand("scale", TILE, Touch::Read, "the scales"),
            operand("offset", TILE, Touch::Read, "what is subtracted before"),
            DST,
        ],
        &[],
        &[],
    ),
    summary: "Integers back to f32",
    doc: "`dst = (src - offset) * scale`. Read and verified; it cannot be run yet.",
    source: "tile ISA, TDEQUANT",
    ..UNDONE
};
