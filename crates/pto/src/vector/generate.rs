//! Random bits and histograms (PTO IR manual 4.6; tile ISA, TRANDOM).

use slipring_ir::{AttrKind, OperandSpec, Syntax, Touch, Type};
use slipring_tile::Elem;

use super::check::{self, Elems};
use super::lower::Operands;
use super::{DST, VECTOR, types};
use slipring_effect::vector::{Bins, Histogram, Random};
use slipring_ir::{Attr, Diags, Dim};
use slipring_machine::Platform;
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpRef};
use slipring_op::rules::{INTEGER, TILE, defaulted, operand};
use slipring_op::{Along, ops};

/// Attributes are printed after `outs`.
const fn ins(count: usize) -> Syntax {
    Syntax::InsOuts { ins: count, attrs_in_ins: false }
}

ops! {
    OPS;

    /// For each valid row of `src` 256 counters: counter b of row i is how many upper bytes of the row's values are at
    /// most b; with `isMSB = false`, how many lower bytes of those values whose upper byte is `idx[i]`. Of ui32 `byte`
    /// is counted of those values whose bytes above it are `idx[0, 0]` (the highest), `idx[1, 0]` and `idx[2, 0]`, as
    /// far as there are such bytes. What `dst` held is lost. The counters of row i begin at element 256 × i of `dst`,
    /// whatever its columns. `dst` must lie apart from the others.
    pub THISTOGRAM "pto.thistogram" "Count values (A5)": VECTOR,
        source: "tile library of the A5, THISTOGRAM, which counts up to each bin (its manual and the IR's: each bin for itself)",
        elems: types::HISTOGRAM, verify: verify_thistogram, lower: lower_thistogram, class: "histogram"
        => {
            syntax: ins(2),
            operands: &[
                operand("src", TILE, Touch::Read, "the values: ui16, ui32"),
                operand(
                    "idx",
                    TILE,
                    Touch::Read,
                    "a selector for each row, or for each byte above the one that is counted: ui8",
                ),
                operand("dst", TILE, Touch::Write, "the counters: ui32, 256 a row"),
            ],
            attrs: &[
                defaulted("isMSB", AttrKind::Bool, "count the upper byte; true by default"),
                defaulted(
                    "byte",
                    AttrKind::Int,
                    "the byte that is counted, from the lowest: 0 or 1 of ui16, 0 to 3 of ui32; 1 by default",
                ),
            ],
        };

    /// The words of Philox 4x32 with this key, of so many rounds: columns 4 × n to 4 × n + 3 of a valid row are the
    /// four words for the row's counter plus n (128 bits, which wrap). The first row's counter is the one given; from
    /// row to row it goes up by 64 for all begun 256 columns but the last ones and by the valid columns modulo 64 (64
    /// for 0).
    pub TRANDOM "pto.trandom" "Random bits (A5)": VECTOR, source: "tile library of the A5, TRANDOM; words: Random123",
        along: [Along::Counts; 2], elems: types::RANDOM, verify: verify_trandom, lower: lower_trandom, class: "random"
        => {
            syntax: ins(6),
            operands: &[
                word(NUMBERS[0], "the key, lower word"),
                word(NUMBERS[1], "the key, upper word"),
                word(NUMBERS[2], "the counter, lowest word"),
                word(NUMBERS[3], "the counter"),
                word(NUMBERS[4], "the counter"),
                word(NUMBERS[5], "the counter, highest word"),
                DST,
            ],
            attrs: &[defaulted("rounds", AttrKind::Int, "rounds of the generator: 7 or 10; 10 by default")],
        };
}

fn verify_thistogram(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::spaces(op, diags);
    check::by_rows(op, &["src", "dst"], diags);
    check::elem(op, "idx", Elems::new("ui8", |elem| elem == Elem::U8), diags);
    check::elem(op, "dst", Elems::new("ui32", |elem| elem == Elem::U32), diags);
    let (Some(src), Some(idx), Some(dst)) = (op.tile("src"), op.tile("idx"), op.tile("dst")) else { return };
    let (wide, byte) = (src.layout.elem == Elem::U32, counted(op));
    if wide {
        selector_rows(op, byte, diags);
    } else if idx.layout.cols != 1
        || idx.layout.blayout != slipring_tile::BLayout::ColMajor
        || idx.layout.slayout != slipring_tile::SLayout::NoneBox
    {
        diags.push(op.error("tile-layout", "expects idx to be one column, stored by columns"));
    }
    for (name, tile) in [("idx", idx), ("dst", dst)].into_iter().skip(usize::from(wide)) {
        let known = matches!((src.valid[0], tile.valid[0]), (Dim::Static(a), Dim::Static(b)) if a != b);
        if src.layout.rows != tile.layout.rows || known {
            diags.push(op.error("tile-shape", format!("expects rows and valid rows of {name} to match src")));
        }
    }
    let bytes = if wide { 4 } else { 2 };
    if !(0..bytes).contains(&byte) {
        let message = format!("expects byte to be 0 to {}, as values have {bytes} bytes", bytes - 1);
        diags.push(op.error("attribute", message));
    }
    if op.attr("isMSB").is_some() && op.attr("byte").is_some() {
        diags.push(op.error("attribute", "`isMSB` and `byte` say the same: one of them is written"));
    }
    if dst.layout.cols < 256 || matches!(dst.valid[1], Dim::Static(cols) if cols < 256) {
        diags.push(op.error("tile-shape", "expects dst to have at least 256 valid columns"));
    }
}

fn lower_thistogram(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut operands = Operands::new(op, d);
    let (src, dst) = (operands.tile(d, "src")?, operands.tile(d, "dst")?);
    let selectors = operands.tile(d, "idx")?;
    let byte = counted(op) as u32;
    let effect = Histogram { local: operands.local, dst, src, selectors, byte, bins: Bins::UpTo };
    operands.issue(d, effect)
}

fn verify_trandom(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::spaces(op, diags);
    check::by_rows(op, &["dst"], diags);
    if !matches!(op.int("rounds"), None | Some(7 | 10)) {
        diags.push(op.error("attribute", "expects rounds to be 7 or 10"));
    }
    for name in NUMBERS {
        if op.ty(name).is_some_and(|ty| !matches!(ty, Type::Int { width: 32, .. })) {
            diags.push(op.error("operand-type", format!("expects {name} to be i32 or ui32")));
        }
    }
}

fn lower_trandom(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut operands = Operands::new(op, d);
    let dst = operands.tile(d, "dst")?;
    let numbers = operands.integer(d, NUMBERS[0])?;
    for name in &NUMBERS[1..] {
        operands.integer(d, name)?;
    }
    let rounds = op.int("rounds").unwrap_or(10) as u32;
    let effect = Random { local: operands.local, dst, numbers, rounds };
    operands.issue(d, effect)
}

/// The index of the byte that a histogram counts.
fn counted(op: &OpRef<'_>) -> i64 {
    match op.attr("isMSB") {
        Some(Attr::Bool(upper)) => i64::from(*upper),
        _ => op.int("byte").unwrap_or(1),
    }
}

/// Checks the selectors of values of four bytes: a tile in row order, with a row for each byte above the counted one.
/// If the highest byte is counted, they are not read.
fn selector_rows(op: &OpRef<'_>, byte: i64, diags: &mut Diags) {
    let Some(idx) = op.tile("idx") else { return };
    let wanted = 3 - byte;
    let by_rows =
        idx.layout.blayout == slipring_tile::BLayout::RowMajor && idx.layout.slayout == slipring_tile::SLayout::NoneBox;
    if wanted > 0 && !by_rows {
        diags.push(op.error("tile-layout", "expects idx to be stored by rows where src is ui32"));
    }
    if i64::from(idx.layout.rows) < wanted || matches!(idx.valid[0], Dim::Static(rows) if (rows as i64) < wanted) {
        diags.push(op.error(
            "tile-shape",
            format!("expects idx to have {wanted} valid rows, one for each byte above byte {byte}"),
        ));
    }
    selector_columns(op, wanted, diags);
}

/// Requires selectors that are read to have the columns of the values.
fn selector_columns(op: &OpRef<'_>, wanted: i64, diags: &mut Diags) {
    let (Some(src), Some(idx)) = (op.tile("src"), op.tile("idx")) else { return };
    let differ = matches!((src.valid[1], idx.valid[1]), (Dim::Static(a), Dim::Static(b)) if a != b);
    if wanted > 0 && (src.layout.cols != idx.layout.cols || differ) {
        let message = "expects columns and valid columns of idx to match src where src is ui32";
        diags.push(op.error("tile-shape", message).label(format!(
            "`src` has {} columns ({} valid), `idx` {} ({})",
            src.layout.cols, src.valid[1], idx.layout.cols, idx.valid[1]
        )));
    }
}

const fn word(name: &'static str, doc: &'static str) -> OperandSpec {
    operand(name, INTEGER, Touch::Nothing, doc)
}

const NUMBERS: [&str; 6] = ["key0", "key1", "counter0", "counter1", "counter2", "counter3"];
