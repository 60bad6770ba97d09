//! The working memory of an op that the public tile libraries write.
//!
//! Read from their headers as of August 2026, for units that work on memory (A2/A3) and on registers (A5). The former
//! use `tmp` for most of these ops, the latter only for pairwise `tcolsum` and `tsort32`. A repeat of an instruction is
//! 256 bytes, a block 32. Writes of a library past a tile that satisfies its own rules are recorded (`beyond`) but not
//! required to fit.

use slipring_effect::vector::{Around, WorkingSpan};
use slipring_op::def::OpRef;
use slipring_op::{WorkingForm, WorkingMemory, WorkingUse};
use slipring_tile::{BLOCK_BYTES, BLayout, Elem, SLayout};

const REPEAT: u64 = 256;
/// The maximum number of repeats of one instruction.
const REPEATS: u64 = 255;

/// `TRowSum`: for floats half as many chunks of 256 bytes as a row of the source has (`FillTmp`), for integers one
/// block.
pub(super) const ROW_SUM: WorkingMemory = WorkingMemory::of_memory(|a| row(a, |parts| (parts / 2).max(1)));
/// `TRowMax`, `TRowMin`: for floats one chunk of 256 bytes for each row.
pub(super) const ROW_EXTREME: WorkingMemory = WorkingMemory::of_memory(|a| row(a, |_| 1));
/// `TRowProd`: one block.
pub(super) const ROW_PRODUCT: WorkingMemory = WorkingMemory::of_memory(|_| vec![WorkingSpan::run(0, BLOCK_BYTES)]);
/// `TRowReduceIdxOps`, `ProcReduceIdxStage1` and `2`.
pub(super) const ROW_INDEX: WorkingMemory = WorkingMemory::of_memory(row_index);
/// `TColReduceIdx`, `ProcessSingleBlock`.
pub(super) const COLUMN_INDEX: WorkingMemory = WorkingMemory::of_memory(column_index);
/// `TColSum`, `BinarySum` and `TColSum_Binary`.
pub(super) const COLUMN_PAIRS: WorkingMemory = WorkingMemory {
    memory: WorkingUse::Forms(&[WorkingForm { when: in_pairs, spans: pairs }]),
    registers: WorkingUse::Forms(&[WorkingForm { when: in_pairs, spans: pairs_in_registers }]),
};
/// `TSort32`: a row of the source, if its last block of 32 elements is not full.
pub(super) const SORT: WorkingMemory = WorkingMemory {
    memory: WorkingUse::Spans(|a| sorted(a, a.src.valid[1])),
    registers: WorkingUse::Spans(|a| sorted(a, a.src.valid[1].saturating_mul(a.src.elem()))),
};
/// `TSel`: the address of a row of the mask, 64 or 128 bits of it.
pub(super) const SELECT: WorkingMemory =
    WorkingMemory::of_memory(|a| vec![WorkingSpan::run(0, if a.dst.elem() == 2 { 16 } else { 8 })]);
/// `TSels`: the scalar.
pub(super) const SELECT_NUMBER: WorkingMemory = WorkingMemory::of_memory(|a| vec![WorkingSpan::run(0, a.dst.elem())]);
/// `TXor`, `TBitwiseSOp`: an intermediate result.
pub(super) const EXCLUSIVE: WorkingMemory =
    WorkingMemory::of_memory(|a| vec![WorkingSpan::rows(a.tmp.valid[0], a.tmp.valid[1] * a.tmp.elem())]);
/// `TQuant`: the integers of 32 bits.
pub(super) const QUANTISED: WorkingMemory =
    WorkingMemory::of_memory(|a| vec![WorkingSpan::rows(a.src.valid[0], a.src.valid[1] * 4)]);
/// `TRem`: a row, followed by a mask after as many columns as `dst` has.
pub(super) const REMAINDER: WorkingMemory = WorkingMemory::of_memory(remainder);
/// `TRemS`: a row.
pub(super) const REMAINDER_BY: WorkingMemory =
    WorkingMemory::of_memory(|a| vec![WorkingSpan::run(0, a.dst.valid[1] * 4)]);
/// `TPrelu`: a row of bits for each row, then the working memory of `TSel`.
pub(super) const PRELU: WorkingMemory = WorkingMemory::of_memory(prelu);
/// `TTrans`: the transposed tile in whole blocks of the instruction, if both tiles consist of such blocks.
pub(super) const TRANSPOSE: WorkingMemory = WorkingMemory::of_memory(transpose);
/// `TRowExpandBinOp`: each value broadcast to a block.
pub(super) const SPREAD_COLUMN: WorkingMemory = WorkingMemory::of_memory(|a| {
    let eights = a.dst.valid[0].div_ceil(8);
    let at_once = if a.dst.valid[0] < 256 { eights } else { eights.min(30) };
    vec![WorkingSpan::run(0, at_once * REPEAT)]
});
/// `TAddDeqRelu`: the sums.
pub(super) const SUMS: WorkingMemory =
    WorkingMemory::of_memory(|a| vec![WorkingSpan::rows(a.dst.valid[0], a.dst.valid[1] * 4)]);
/// `TPow`: powers of floats, before special values are inserted.
pub(super) const POWERS: WorkingMemory = WorkingMemory::of_memory(|a| match a.dst.layout.elem.is_float() {
    true => vec![WorkingSpan::rows(a.dst.valid[0], a.dst.valid[1] * a.dst.elem())],
    false => Vec::new(),
});
/// `TRsqrtHighPrecision`: a block of ones.
pub(super) const ONES: WorkingMemory = WorkingMemory::of_memory(|_| vec![WorkingSpan::run(0, BLOCK_BYTES)]);
/// `TCI` with working memory: `TCI_b32_repeat` and the others.
pub(super) const NUMBERS: WorkingMemory = WorkingMemory::of_memory(numbers);
/// `TGather` by indices and `TGather_cmp`.
pub(super) const GATHER: WorkingMemory = WorkingMemory {
    memory: WorkingUse::Forms(&[
        WorkingForm { when: |op| op.if_declared("indices").is_some(), spans: gathered },
        WorkingForm { when: |op| op.if_declared("kValue").is_some(), spans: compared },
    ]),
    registers: WorkingUse::Nothing,
};

/// Rows of a source that are reduced: for each row, `kept` of the number of its whole chunks of 256 bytes.
fn row(a: &Around, kept: fn(u64) -> u64) -> Vec<WorkingSpan> {
    let [rows, cols] = a.src.valid;
    if !a.src.layout.elem.is_float() {
        return vec![WorkingSpan::run(0, BLOCK_BYTES)];
    }
    if in_groups(a) {
        // A sum for each block of the source, consecutively (`ReduceOptFP32_…`).
        return vec![WorkingSpan::run(0, 4096)];
    }
    let part = REPEAT / a.src.elem();
    if cols <= part { Vec::new() } else { vec![WorkingSpan::rows(rows, kept(cols / part) * REPEAT)] }
}

/// Sources for which the library has a faster path (`TryOptimizeFP32Reduce`).
fn in_groups(a: &Around) -> bool {
    let (src, dst) = (&a.src.layout, &a.dst.layout);
    let shape = [u64::from(src.rows), u64::from(src.cols)];
    let column = dst.blayout == BLayout::ColMajor && dst.slayout == SLayout::NoneBox && a.dst.valid[1] == 1;
    src.elem == Elem::F32
        && column
        && (a.src.fixed && a.dst.fixed)
        && a.src.valid == shape
        && matches!(shape, [64, 128] | [32, 256] | [16, 512] | [8, 1024])
}

fn row_index(a: &Around) -> Vec<WorkingSpan> {
    let [rows, cols] = a.src.valid;
    let elem = a.src.elem();
    let (part, block) = (REPEAT / elem, BLOCK_BYTES / elem);
    if cols <= part {
        return Vec::new();
    }
    // A value and a column for each chunk of the row, then both separately, then the same for the chunks.
    let first = cols.div_ceil(part);
    let values = (first * 2).next_multiple_of(block);
    let last = if cols <= part * part {
        values + first.max(2)
    } else {
        let second = first.div_ceil(part);
        let columns = first.next_multiple_of(block);
        let end = columns + (second * 2).next_multiple_of(block);
        (values + first).max(columns + second * 2).max(end + second.max(2))
    };
    vec![WorkingSpan::rows(rows, last * elem)]
}

fn column_index(a: &Around) -> Vec<WorkingSpan> {
    let (elem, cols) = (a.src.elem(), a.src.valid[1]);
    let (part, block) = (REPEAT / elem, BLOCK_BYTES / elem);
    // The number of the row, the best elements and, for 16 bits, their rows.
    let kept = if elem == 2 { 3 } else { 2 };
    let (apart, last) = if cols >= part { (part, part) } else { (cols.next_multiple_of(block), cols) };
    vec![WorkingSpan::run(0, (apart * (kept - 1) + last) * elem)]
}

fn in_pairs(op: &OpRef<'_>) -> bool {
    op.attr("isBinary").and_then(slipring_ir::Attr::as_bool).unwrap_or(false)
}

fn pairs(a: &Around) -> Vec<WorkingSpan> {
    vec![WorkingSpan::rows(a.src.valid[0] / 2, a.src.valid[1] * a.src.elem())]
}

/// One register of each row at a time.
fn pairs_in_registers(a: &Around) -> Vec<WorkingSpan> {
    vec![WorkingSpan::rows((a.src.valid[0] / 2).max(1), (a.src.valid[1] * a.src.elem()).min(REPEAT))]
}

/// `length` is the length of a row from which the library decides to copy only the last block.
fn sorted(a: &Around, length: u64) -> Vec<WorkingSpan> {
    let cols = a.src.valid[1];
    match (cols % 32, length <= 32 * REPEATS) {
        (0, _) => Vec::new(),
        (_, true) => vec![WorkingSpan::run(0, cols.next_multiple_of(32) * a.src.elem())],
        (_, false) => vec![WorkingSpan::run(0, 32 * a.src.elem())],
    }
}

fn remainder(a: &Around) -> Vec<WorkingSpan> {
    let (cols, behind) = (a.dst.valid[1], u64::from(a.dst.layout.cols) * 4);
    let mask = cols.div_ceil(64) * 8;
    // It first writes the tile's own address there: a whole repeat of it, or as many elements as the row has.
    let spread = if a.dst.layout.elem.is_float() { REPEAT } else { cols * 4 };
    let spread = WorkingSpan { beyond: true, ..WorkingSpan::run(behind, spread.max(mask)) };
    vec![WorkingSpan::run(0, cols * 4), WorkingSpan::run(behind, mask), spread]
}

fn prelu(a: &Around) -> Vec<WorkingSpan> {
    let [rows, cols] = a.dst.valid;
    let elem = a.dst.elem();
    let bits = cols.div_ceil(REPEAT / elem) * (REPEAT / elem / 8);
    vec![WorkingSpan::rows(rows, bits), WorkingSpan::run(rows * a.tmp.row(), if elem == 2 { 16 } else { 8 })]
}

fn transpose(a: &Around) -> Vec<WorkingSpan> {
    let elem = a.src.elem();
    let (high, wide) = (if elem == 1 { 32 } else { 16 }, BLOCK_BYTES / elem);
    let whole = u64::from(a.dst.layout.cols) % high == 0 && u64::from(a.src.layout.cols) % wide == 0;
    let [rows, cols] = a.src.valid;
    match whole {
        true => vec![WorkingSpan::run(0, cols.next_multiple_of(wide) * rows.next_multiple_of(high) * elem)],
        false => Vec::new(),
    }
}

/// The last span comes first: a tile that is too small lacks its end, which is what the message names.
fn numbers(a: &Around) -> Vec<WorkingSpan> {
    if a.dst.elem() == 2 {
        return vec![
            WorkingSpan::run(1536, 256),
            WorkingSpan::run(0, 512),
            WorkingSpan::run(512, 64),
            WorkingSpan::run(1024, 128),
        ];
    }
    // Of fewer than 64 columns only these numbers are written; the assembler requires the whole repeat.
    if a.dst.valid[1] < 64 {
        return vec![WorkingSpan::run(512, 256), WorkingSpan::run(0, 256)];
    }
    // Eight repeats are written; the first one counts.
    vec![
        WorkingSpan::run(512, 256),
        WorkingSpan::run(0, 256),
        WorkingSpan { beyond: true, ..WorkingSpan::run(512, 8 * REPEAT) },
    ]
}

pub(crate) fn converted(a: &Around) -> Vec<WorkingSpan> {
    let [rows, cols] = a.dst.valid;
    match (a.src.layout.elem, a.dst.layout.elem) {
        (Elem::F32, Elem::I16) => {
            // Whole repeats of a row, then the remainders of up to 255 rows at the row pitch of the source.
            let (whole, rest) = (cols / 64, cols % 64);
            let tail = if rest > 0 { (rows.min(REPEATS) - 1) * a.src.row() + rest * 4 } else { 0 };
            vec![WorkingSpan::run(0, (whole.min(REPEATS) * REPEAT).max(tail))]
        }
        (Elem::F16, Elem::I16) => vec![WorkingSpan::run(0, cols.min(64) * 4)],
        (Elem::F16, Elem::I8) => vec![WorkingSpan::run(0, (cols.min(64) * 4).max(128 + cols.min(64) * 2))],
        _ => Vec::new(),
    }
}

fn gathered(a: &Around) -> Vec<WorkingSpan> {
    let [rows, cols] = a.dst.valid;
    if a.dst.elem() != 2 {
        return Vec::new();
    }
    let lines = (rows - 1) * u64::from(a.dst.layout.cols) + cols;
    vec![WorkingSpan::run(0, lines * a.tmp.elem())]
}

/// The bits of the comparisons, then (after as many bytes as `tmp` has elements) a number for each element of the
/// source, then the values that are compared with.
fn compared(a: &Around) -> Vec<WorkingSpan> {
    let elements = u64::from(a.tmp.layout.rows) * u64::from(a.tmp.layout.cols);
    let numbers = u64::from(a.src.layout.rows) * u64::from(a.src.layout.cols) * 4;
    let kept = a.src.valid[0] * a.src.elem();
    vec![WorkingSpan { beyond: true, ..WorkingSpan::run(0, elements + numbers + kept) }]
}
