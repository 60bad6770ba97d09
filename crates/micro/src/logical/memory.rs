//! Loads and stores of logical vectors (SPEC of virtual micro-instructions, group 1).

use slipring_ir::{AttrKind, AttrSpec, Diags, LogicalVector, OperandSpec, Syntax, Touch, Type};
use slipring_machine::VectorPort;
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef, Reported};
use slipring_op::ops;
use slipring_op::rules::{INTEGER, counted, defaulted, operand, optional, required, variadic};
use slipring_program::{Fault, Kind, Operand};
use slipring_vector::{Arg, BYTES, Machine, Whole};

use super::access::{BlocksText, LoadText, StoreText};
use super::emit::{fresh, predicate, registers};
use super::value::{Active, Bytes, Lanes, bits, set_bits};
use super::{DECLARED, LOGICAL, OUT, PREDICATE, VECTOR, check};
use crate::vector::UB;
use crate::vector::check::aligned;
use crate::vector::emit::Emit;

/// Bytes of a block: what strides of blocks count.
const BLOCK: usize = 32;
/// Vectors of so many lanes are one element for each group, not a stretch of memory.
const COMPACT: [u32; 4] = [1, 2, 4, 8];

const OFFSET: OperandSpec = operand("offset", INTEGER, Touch::Nothing, "elements of the pointer's type after it");
const STRIDE: OperandSpec = optional(
    "stride",
    INTEGER,
    Touch::Nothing,
    "with `group`: elements from one row to the next; without: blocks of 32 bytes from one block to the next",
);
const REPEAT: OperandSpec =
    optional("repeat", INTEGER, Touch::Nothing, "blocks of 32 bytes to the first block; 0 if left out");
const DIST: AttrSpec = defaulted(
    "dist_mode",
    AttrKind::Str,
    "`continuous` (default), `dintlv`, and of loads `unpack` and `brc`: how memory becomes lanes",
);
const GROUP: AttrSpec = defaulted("group", AttrKind::Int, "number of rows at `stride`");
const PMODE: AttrSpec = defaulted(
    "pmode",
    AttrKind::Str,
    "`zero` or `merge`: memory of inactive lanes keeps its content either way, and a load has no predicate",
);

ops! {
    OPS;

    /// Reads UB, `offset` elements after `ptr`. `continuous`: lane after lane. `dintlv`: two vectors that take turns,
    /// `out[i] = m[2i]` and `m[2i + 1]`. `unpack`: elements narrower than the lanes, each with zeros after it. `brc`: one
    /// element, in every lane. With `group = C`: `C` rows of equal length, `stride` elements apart; with `brc` one
    /// element of each, in all lanes of its group. A `stride` without `group` counts blocks of 32 bytes: block `k` is the
    /// one at `ptr + 32 (repeat + k stride)`. Addresses are multiples of 32 bytes; of the element for `brc`, vectors of
    /// 1, 2, 4 or 8 lanes, and rows that are not whole blocks.
    VLOAD "pto.vmi.vload" "Load a logical vector": LOGICAL, verify: |op, _, diags| load_rules(op, diags), lower: load
        => {
            syntax: Syntax::Custom(&LoadText),
            operands: &[operand("ptr", UB, Touch::Read, "where in UB"), OFFSET, STRIDE, REPEAT],
            results: &[slipring_ir::ResultSpec { arity: slipring_ir::Arity::Variadic, ..OUT }],
            attrs: &[DIST, GROUP, PMODE],
            aliases: &["pto.vmi.load"],
        };

    /// Writes UB, `offset` elements after `ptr`: `m[i] = value[i]` for the active lanes, all where there is no
    /// predicate. `dintlv`: two vectors that take turns, all lanes. With `group = C`: `C` rows of equal length, `stride`
    /// elements apart, all lanes; lanes of 32 bits go through a pointer to bytes as their lowest byte. A `stride` without
    /// `group`: as of `pto.vmi.vsstb`. Addresses are as for `pto.vmi.vload`.
    VSTORE "pto.vmi.vstore" "Store a logical vector": LOGICAL, verify: |op, _, diags| store_rules(op, diags),
        lower: store
        => {
            syntax: Syntax::Custom(&StoreText),
            operands: &[
                variadic("values", VECTOR, Touch::Nothing, "what to store"),
                operand("ptr", UB, Touch::Write, "where in UB"),
                OFFSET,
                STRIDE,
                REPEAT,
                optional("mask", PREDICATE, Touch::Nothing, "the lanes that are stored; all where it is left out"),
            ],
            attrs: &[DIST, GROUP, PMODE],
            aliases: &["pto.vmi.store", "pto.vmi.masked_store"],
        };

    /// Block `k` of the vector, of 32 bytes, goes to `ptr + 32 k block_stride` if its lanes are active. Where some are and
    /// some are not, the formulas of the SPEC disagree: that is a fault. The stride is 16-bit, unsigned; the address is a
    /// multiple of 32 bytes.
    VSSTB "pto.vmi.vsstb" "Store blocks at a distance": LOGICAL, verify: |op, _, diags| blocks_rules(op, diags),
        lower: |op, d| store_blocks(op, d, "value", "block_stride", None)
        => {
            syntax: Syntax::Custom(&BlocksText),
            operands: &[
                super::vector("value", "what to store"),
                operand("ptr", UB, Touch::Write, "where in UB"),
                OFFSET,
                operand("block_stride", INTEGER, Touch::Nothing, "from one block to the next, in blocks of 32 bytes"),
                operand("mask", PREDICATE, Touch::Nothing, "the lanes whose blocks are stored"),
            ],
            attrs: &[PMODE],
        };

    /// As `pto.vmi.vload` with a group.
    GROUP_LOAD "pto.vmi.group_load" "Load rows at a distance": OLDER, verify: |op, _, diags| rows_rules(op, diags),
        lower: |op, d| load_rows(op, d, "num_groups", false);

    /// As `pto.vmi.vload` with a group: one element of each row.
    GROUP_SLOT_LOAD "pto.vmi.group_slot_load" "Load an element of each row": OLDER,
        verify: |op, _, diags| rows_rules(op, diags), lower: |op, d| load_rows(op, d, "num_groups", false);

    /// As `pto.vmi.vload` with a group and `brc`.
    GROUP_BROADCAST_LOAD "pto.vmi.group_broadcast_load" "Load an element of each row into all lanes of its group": OLDER,
        verify: |op, _, diags| rows_rules(op, diags), lower: |op, d| load_rows(op, d, "num_groups", true);

    /// As `pto.vmi.vstore` with a group.
    GROUP_STORE "pto.vmi.group_store" "Store rows at a distance": LOGICAL, source: DECLARED,
        verify: |op, _, diags| store_rows_rules(op, diags), lower: |op, d| store_rows(op, d, "value", "num_groups")
        => {
            syntax: Syntax::Format("$value `,` $ptr `[` $offset `]` `,` $stride attr-dict `:` type($value) `,` type($ptr)"),
            operands: &[
                super::vector("value", "what to store"),
                operand("ptr", UB, Touch::Write, "where in UB"),
                OFFSET,
                operand("stride", INTEGER, Touch::Nothing, "elements from one row to the next"),
            ],
            attrs: &[required("num_groups", AttrKind::Int, "number of rows")],
        };
}

/// A load of rows by one of the older names.
const OLDER: OpDef = OpDef {
    schema: slipring_op::rules::schema(
        "",
        Syntax::Format("$ptr `[` $offset `]` `,` $stride attr-dict `:` type($ptr) `->` type($out)"),
        &[
            operand("ptr", UB, Touch::Read, "where in UB"),
            OFFSET,
            operand("stride", INTEGER, Touch::Nothing, "elements from one row to the next"),
        ],
        &[OUT],
        &[required("num_groups", AttrKind::Int, "number of rows")],
    ),
    source: DECLARED,
    ..LOGICAL
};

/// How an access goes through memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// Lane after lane.
    Straight,
    /// Two vectors that take turns.
    Pair,
    /// Elements that are narrower than the lanes.
    Widened,
    /// One element.
    One,
    /// Rows, or one element of each row.
    Rows,
    OneOfRows,
    /// Blocks of 32 bytes at a distance.
    Blocks,
}

/// How an op accesses memory, by its attributes and operands; an error is reported.
fn way(op: &OpRef<'_>, words: &[&str], diags: &mut Diags) -> Option<Way> {
    let dist = op.text("dist_mode").unwrap_or("continuous");
    let (group, stride) = (op.attr("group").is_some(), op.operand("stride").is_some());
    slipring_op::rules::one_of(op, "dist_mode", words, diags);
    let mut wrong = |message: &str| {
        diags.push(op.error("operand-type", message));
        None
    };
    match (dist, group, stride) {
        (_, true, false) => wrong("`group` needs a stride: elements from one row to the next"),
        (_, true, true) if op.operand("repeat").is_some() => wrong("rows have one stride"),
        (_, true, true) if is_field(op, "stride") => wrong("the stride of rows is an `index`, which counts elements"),
        (_, false, false) if op.operand("repeat").is_some() => {
            wrong("the way to the first block needs a stride of blocks")
        }
        (_, false, true) if !is_field(op, "stride") || op.operand("repeat").is_some() && !is_field(op, "repeat") => {
            wrong("without `group` a stride counts blocks and is an `i16`")
        }
        ("brc", true, true) => Some(Way::OneOfRows),
        ("continuous", true, true) if op.attr("dist_mode").is_none() => Some(Way::Rows),
        (_, true, true) => wrong("`group` and `dist_mode` exclude each other, except for `brc`"),
        (_, false, true) if op.attr("dist_mode").is_some() => wrong("a stride and `dist_mode` exclude each other"),
        (_, false, true) => Some(Way::Blocks),
        ("dintlv", ..) => Some(Way::Pair),
        ("unpack", ..) => Some(Way::Widened),
        ("brc", ..) => Some(Way::One),
        _ => Some(Way::Straight),
    }
}

/// Whether an operand is a number of blocks: a field of 16 bits.
fn is_field(op: &OpRef<'_>, at: &str) -> bool {
    op.ty(at).is_some_and(|ty| matches!(ty, Type::Int { width: 16, .. }))
}

const LOADS: &[&str] = &["continuous", "unpack", "dintlv", "brc"];
const STORES: &[&str] = &["continuous", "dintlv"];

/// How an op that has been verified accesses memory.
fn way_of(op: &OpRef<'_>, words: &[&str]) -> Result<Way, Reported> {
    way(op, words, &mut Diags::default()).ok_or(Reported)
}

fn load_rules(op: &OpRef<'_>, diags: &mut Diags) {
    slipring_op::rules::one_of(op, "pmode", &["zero", "merge"], diags);
    let Some(way) = way(op, LOADS, diags) else { return };
    let results = op.module.op(op.id).results.len();
    let wanted = if way == Way::Pair { 2 } else { 1 };
    if results != wanted {
        diags.push(op.error("operand-count", format!("gives {}, not {results}", counted(wanted, "vector"))));
        return;
    }
    check::same(op, diags);
    let Some(out) = check::result(op, 0) else { return };
    if way == Way::Widened {
        let narrow = check::pointee(op, "ptr").map_or(1, |elem| elem.bytes());
        if narrow >= out.lane.bytes() {
            let message = format!("`unpack` widens elements: those of the pointer are not narrower than {}", out.lane);
            diags.push(op.error("elem-width", message));
        }
    } else {
        check::element_of(op, "ptr", out, diags);
    }
    if matches!(way, Way::Rows | Way::OneOfRows) {
        check::groups(op, "group", out.lanes, diags);
    }
    whole_blocks(op, way, out, diags);
}

fn store_rules(op: &OpRef<'_>, diags: &mut Diags) {
    slipring_op::rules::one_of(op, "pmode", &["zero", "merge"], diags);
    let Some(way) = way(op, STORES, diags) else { return };
    let values = op.operands("values");
    let wanted = if way == Way::Pair { 2 } else { 1 };
    if values.len() != wanted {
        diags.push(op.error("operand-count", format!("stores {}, not {}", counted(wanted, "vector"), values.len())));
        return;
    }
    check::same(op, diags);
    let Type::LogicalVector(value) = *op.module.ty(values[0]) else { return };
    if !(way == Way::Rows && is_packed(op, value)) {
        check::element_of(op, "ptr", value, diags);
    }
    if way == Way::Rows {
        check::groups(op, "group", value.lanes, diags);
    }
    if matches!(way, Way::Rows | Way::Pair) && op.operand("mask").is_some() {
        let message = "rows and vectors that take turns are stored with all lanes: no predicate governs them";
        diags.push(op.error("operand-type", message));
    }
    check::governs(op, "mask", value, diags);
    whole_blocks(op, way, value, diags);
}

/// Requires a vector that is moved in blocks to be some.
fn whole_blocks(op: &OpRef<'_>, way: Way, lanes: LogicalVector, diags: &mut Diags) {
    if way == Way::Blocks && !lanes.bytes().is_multiple_of(BLOCK) {
        let message = format!("`{lanes}` has {} bytes: it is moved in blocks of {BLOCK}", lanes.bytes());
        diags.push(op.error("vreg-type", message));
    }
}

fn blocks_rules(op: &OpRef<'_>, diags: &mut Diags) {
    slipring_op::rules::one_of(op, "pmode", &["zero", "merge"], diags);
    let Some(value) = check::vector(op, "value") else { return };
    check::element_of(op, "ptr", value, diags);
    check::governs(op, "mask", value, diags);
    whole_blocks(op, Way::Blocks, value, diags);
    if !is_field(op, "block_stride") {
        diags.push(op.error("operand-type", "the stride of blocks is an `i16`"));
    }
}

fn rows_rules(op: &OpRef<'_>, diags: &mut Diags) {
    if let Some(out) = check::result(op, 0) {
        check::element_of(op, "ptr", out, diags);
        check::groups(op, "num_groups", out.lanes, diags);
    }
}

fn store_rows_rules(op: &OpRef<'_>, diags: &mut Diags) {
    if let Some(value) = check::vector(op, "value") {
        if !is_packed(op, value) {
            check::element_of(op, "ptr", value, diags);
        }
        check::groups(op, "num_groups", value.lanes, diags);
    }
}

/// Whether lanes of 32 bits go through a pointer to bytes.
fn is_packed(op: &OpRef<'_>, value: LogicalVector) -> bool {
    let integers = value.lane.arithmetic().is_some_and(|elem| !elem.is_float());
    integers
        && value.lane.bytes() == 4
        && check::pointee(op, "ptr").is_some_and(|elem| !elem.is_float() && elem.bytes() == 1)
}

/// The address `bytes` bytes behind the element that an op accesses, as an argument of the step.
pub(super) fn address(e: &mut Emit<'_, '_, '_>, bytes: usize) -> Result<usize, Reported> {
    let elem = check::pointee(e.op, "ptr").ok_or(Reported)?;
    let base = e.d.scalar(e.op.operand("ptr").ok_or(Reported)?)?;
    let offset = e.d.scalar(e.op.operand("offset").ok_or(Reported)?)?;
    let base = e.d.moved(base, Operand::Imm(bytes as u64));
    Ok(e.place_of(Arg::Element { base, offset, bytes: elem.bytes() as u64 }))
}

/// What the address of a stretch of memory is a multiple of.
fn alignment(lanes: usize, bytes: usize) -> u64 {
    let compact = COMPACT.contains(&(lanes as u32));
    if compact { bytes as u64 } else { BLOCK as u64 }
}

/// What the address of a row is a multiple of: a row of whole blocks is moved in blocks.
fn row_alignment(lanes: usize, bytes: usize) -> u64 {
    if (lanes * bytes).is_multiple_of(BLOCK) { BLOCK as u64 } else { bytes as u64 }
}

fn load(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    match way_of(op, LOADS)? {
        Way::Straight => load_straight(op, d),
        Way::Pair => load_pair(op, d),
        Way::Widened => load_widened(op, d),
        Way::One => load_one(op, d),
        Way::Rows => load_rows(op, d, "group", false),
        Way::OneOfRows => load_rows(op, d, "group", true),
        Way::Blocks => load_blocks(op, d),
    }
}

fn load_straight(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let out = fresh(op, d, 0)?;
    let align = alignment(out.count, out.bytes);
    for (at, slot) in out.slots.iter().copied().enumerate() {
        let size = (out.size() - at * BYTES).min(BYTES);
        let mut e = Emit::new(op, d);
        e.price = Some(("vlds", 1));
        let place = address(&mut e, at * BYTES)?;
        e.give(slot, false);
        if size == BYTES {
            e.whole = Some(Whole::Load(slot));
        }
        e.step(VectorPort::Load, out.elem, move |m, args| {
            aligned(args[place], align, "reads")?;
            if size == BYTES {
                return m.load_register(slot, args[place]).map(|()| 0);
            }
            let part = Bytes::from_slice(m.load(args[place], size)?);
            m.produce(slot, |_, register| {
                register.0[..size].copy_from_slice(&part);
                register.0[size..].fill(0);
            });
            Ok(0)
        })?;
    }
    Ok(())
}

fn load_pair(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let place = address(&mut e, 0)?;
    let outs = [e.gives(0)?, e.gives(1)?];
    e.price = Some(("vldsx2", outs[0].slots.len()));
    let (count, bytes) = (outs[0].count, outs[0].bytes);
    e.step(VectorPort::Load, outs[0].elem, move |m, args| {
        aligned(args[place], BLOCK as u64, "reads")?;
        let memory = Bytes::from_slice(m.load(args[place], 2 * count * bytes)?);
        for (first, out) in outs.iter().enumerate() {
            let mut part = Bytes::from_elem(0, count * bytes);
            (0..count).for_each(|i| set_bits(&mut part, i, bytes, bits(&memory, 2 * i + first, bytes)));
            out.write(m, &part);
        }
        Ok(0)
    })
}

fn load_widened(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let narrow = check::pointee(op, "ptr").ok_or(Reported)?.bytes();
    let mut e = Emit::new(op, d);
    let place = address(&mut e, 0)?;
    let out = e.gives(0)?;
    e.price = Some(("vlds", out.slots.len()));
    e.step(VectorPort::Load, out.elem, move |m, args| {
        aligned(args[place], BLOCK as u64, "reads")?;
        let memory = Bytes::from_slice(m.load(args[place], narrow * out.count)?);
        let mut all = Bytes::from_elem(0, out.size());
        (0..out.count).for_each(|i| set_bits(&mut all, i, out.bytes, bits(&memory, i, narrow)));
        out.write(m, &all);
        Ok(0)
    })
}

fn load_one(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let place = address(&mut e, 0)?;
    let out = e.gives(0)?;
    e.price = Some(("vlds", 1));
    e.step(VectorPort::Load, out.elem, move |m, args| {
        aligned(args[place], out.bytes as u64, "reads")?;
        let one = Bytes::from_slice(m.load(args[place], out.bytes)?);
        let all: Bytes = one.iter().copied().cycle().take(out.size()).collect();
        out.write(m, &all);
        Ok(0)
    })
}

/// Rows at a distance, or one element of each.
fn load_rows(op: &OpRef<'_>, d: &mut Decoder<'_>, groups: &str, one: bool) -> Lowered {
    let rows = usize::try_from(op.int(groups).ok_or(Reported)?).map_err(|_| Reported)?;
    let mut e = Emit::new(op, d);
    let (place, stride, out) = (address(&mut e, 0)?, e.number("stride")?, e.gives(0)?);
    e.price = Some(("vsldb", out.slots.len()));
    let size = out.count / rows;
    let taken = if one { 1 } else { size };
    e.step(VectorPort::Load, out.elem, move |m, args| {
        let mut all = Bytes::from_elem(0, out.size());
        for row in 0..rows {
            let from = row_address(args[place], row, args[stride], out.bytes)?;
            aligned(from, row_alignment(taken, out.bytes), "reads a row at")?;
            let part = m.load(from, taken * out.bytes)?;
            let to = &mut all[row * size * out.bytes..][..size * out.bytes];
            to.chunks_exact_mut(part.len()).for_each(|to| to.copy_from_slice(part));
        }
        out.write(m, &all);
        Ok(0)
    })
}

/// The address of a row: strides are signed and count elements.
fn row_address(base: u64, row: usize, stride: u64, bytes: usize) -> Result<u64, Fault> {
    let distance = (row as i64).checked_mul(stride as i64).and_then(|elements| elements.checked_mul(bytes as i64));
    distance
        .and_then(|distance| base.checked_add_signed(distance))
        .ok_or_else(|| Fault::new("memory-bounds", format!("has a row {row} that is outside of every memory")))
}

/// The address of a block: both fields are unsigned integers of 16 bits.
fn block_address(base: u64, stride: u64, repeat: u64, block: usize) -> u64 {
    let blocks = u64::from(repeat as u16) + block as u64 * u64::from(stride as u16);
    base.saturating_add(BLOCK as u64 * blocks)
}

fn load_blocks(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let (place, stride) = (address(&mut e, 0)?, e.number("stride")?);
    let repeat = if op.operand("repeat").is_some() { e.number("repeat")? } else { e.arg(Operand::Imm(0)) };
    let out = e.gives(0)?;
    e.price = Some(("vsldb", out.slots.len()));
    e.step(VectorPort::Load, out.elem, move |m, args| {
        aligned(args[place], BLOCK as u64, "reads blocks from")?;
        let mut all = Bytes::from_elem(0, out.size());
        for (block, to) in all.chunks_exact_mut(BLOCK).enumerate() {
            to.copy_from_slice(m.load(block_address(args[place], args[stride], args[repeat], block), BLOCK)?);
        }
        out.write(m, &all);
        Ok(0)
    })
}

fn store(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    match way_of(op, STORES)? {
        Way::Pair => store_pair(op, d),
        Way::Rows => store_rows(op, d, "values", "group"),
        Way::Blocks => {
            let repeat = op.operand("repeat").map(|_| "repeat");
            store_blocks(op, d, "values", "stride", repeat)
        }
        _ => store_straight(op, d),
    }
}

fn store_straight(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (value, active) = (registers(op, d, "values")?, predicate(op, d, "mask")?);
    let (align, bytes) = (alignment(value.count, value.bytes), value.bytes);
    for (at, slot) in value.slots.iter().copied().enumerate() {
        let size = (value.size() - at * BYTES).min(BYTES);
        let mut e = Emit::new(op, d);
        e.price = Some(("vsts", 1));
        let place = address(&mut e, at * BYTES)?;
        e.keep(slot);
        let mask = active.of_register(at, value.per_register());
        if let Some((mask, _)) = mask {
            e.take(mask);
        } else if size == BYTES {
            e.whole = Some(Whole::Store(slot, None));
        }
        e.step(VectorPort::Store, value.elem, move |m, args| {
            aligned(args[place], align, "writes")?;
            let register = *m.reg(slot);
            let mask = mask.map(|(mask, first)| (m.mask(mask), first));
            let is_active = |i: usize| mask.is_none_or(|(mask, first)| mask.bit(first + i));
            m.store_lanes(args[place], &register.0[..size], bytes, is_active).map(|()| 0)
        })?;
    }
    Ok(())
}

fn store_pair(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let values = op.operands("values").to_vec();
    let mut e = Emit::new(op, d);
    let place = address(&mut e, 0)?;
    let first = e.stored("values")?;
    let second = Lanes { slots: e.d.slots(values[1])?, ..first.clone() };
    second.slots.iter().for_each(|slot| e.keep(*slot));
    e.price = Some(("vstsx2", first.slots.len()));
    let (count, bytes) = (first.count, first.bytes);
    e.step(VectorPort::Store, first.elem, move |m, args| {
        aligned(args[place], BLOCK as u64, "writes")?;
        let parts = [first.read(m), second.read(m)];
        let to = m.store(args[place], 2 * count * bytes)?;
        (0..2 * count).for_each(|i| set_bits(to, i, bytes, bits(&parts[i % 2], i / 2, bytes)));
        Ok(0)
    })
}

/// Rows at a distance; of lanes that are wider than the elements of the pointer the lowest byte.
fn store_rows(op: &OpRef<'_>, d: &mut Decoder<'_>, value: &str, groups: &str) -> Lowered {
    let rows = usize::try_from(op.int(groups).ok_or(Reported)?).map_err(|_| Reported)?;
    let kept = check::pointee(op, "ptr").ok_or(Reported)?.bytes();
    let mut e = Emit::new(op, d);
    let (place, stride, value) = (address(&mut e, 0)?, e.number("stride")?, e.stored(value)?);
    e.price = Some(("vsstb", value.slots.len()));
    let size = value.count / rows;
    e.step(VectorPort::Store, value.elem, move |m, args| {
        let all = value.read(m);
        let mut packed = Bytes::from_elem(0, value.count * kept);
        (0..value.count).for_each(|i| set_bits(&mut packed, i, kept, bits(&all, i, value.bytes)));
        for (row, part) in packed.chunks_exact(size * kept).enumerate() {
            let to = row_address(args[place], row, args[stride], kept)?;
            aligned(to, row_alignment(size, kept), "writes a row at")?;
            m.store(to, part.len())?.copy_from_slice(part);
        }
        Ok(0)
    })
}

fn store_blocks(op: &OpRef<'_>, d: &mut Decoder<'_>, value: &str, stride: &str, repeat: Option<&str>) -> Lowered {
    let mut e = Emit::new(op, d);
    let (place, stride, value, active) =
        (address(&mut e, 0)?, e.number(stride)?, e.stored(value)?, e.predicate("mask")?);
    let repeat = match repeat {
        Some(name) => e.number(name)?,
        None => e.arg(Operand::Imm(0)),
    };
    e.price = Some(("vsstb", value.slots.len()));
    e.step(VectorPort::Store, value.elem, move |m, args| {
        aligned(args[place], BLOCK as u64, "writes blocks from")?;
        blocks_of(m, &value, &active, |block| block_address(args[place], args[stride], args[repeat], block))
    })
}

/// Stores the blocks whose lanes are all active.
fn blocks_of(
    m: &mut Machine<'_>,
    value: &Lanes,
    active: &Active,
    address: impl Fn(usize) -> u64,
) -> Result<u64, Fault> {
    let (all, active) = (value.read(m), active.read(m));
    let lanes = BLOCK / value.bytes;
    for (block, part) in all.chunks_exact(BLOCK).enumerate() {
        let count = (block * lanes..(block + 1) * lanes).filter(|lane| active.is(*lane)).count();
        if count == lanes {
            m.store(address(block), BLOCK)?.copy_from_slice(part);
        } else if count > 0 {
            let message =
                format!("has some inactive lanes in block {block}: sources disagree on whether they are stored");
            return Err(Fault::new(Kind::Unsupported, message));
        }
    }
    Ok(0)
}
