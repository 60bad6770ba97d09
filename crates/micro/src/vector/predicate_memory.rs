//! Loads and stores of predicates (micro-instruction manual, predicate load/store).

use slipring_ir::{AttrKind, Diags, Infer, OpSchema, Syntax, Touch, Type};
use slipring_machine::interpretations::PREDICATE_BYTES;
use slipring_machine::{Platform, VectorPort};
use slipring_program::Fault;
use slipring_tile::Elem;
use slipring_vector::{BYTES, Machine, Mask};

use super::align::{align, align_out, stream};
use super::emit::Emit;
use super::{MASK, MOVED, STEP, UB, check};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef, Reported};
use slipring_op::rules::{INTEGER, POINTER, constant, one_of, operand, required, result, schema};
use slipring_op::{ops, positional};

/// Bytes of a predicate in memory.
const IMAGE: usize = BYTES / 8;

/// A distribution of a load.
#[derive(Debug)]
struct LoadMode {
    name: &'static str,
    /// Number of bytes that it reads.
    bytes: usize,
    /// Alignment of the address in bytes. A published program accesses half an image at a multiple of 8.
    align: u64,
    /// The unit in bytes of an immediate offset.
    unit: usize,
    /// The bit of memory that is loaded into bit `i`.
    source: fn(usize) -> usize,
}

static LOADS: [LoadMode; 3] = [
    LoadMode { name: "NORM", bytes: IMAGE, align: 32, unit: 32, source: |i| i },
    LoadMode { name: "US", bytes: IMAGE / 2, align: 8, unit: 16, source: |i| i / 2 },
    LoadMode { name: "DS", bytes: IMAGE * 2, align: 32, unit: 32, source: |i| 2 * i },
];

const LOAD: OpSchema = schema(
    "",
    Syntax::Format(
        "$ptr `[` $offset `]` `,` $dist attr-dict `:` type($ptr) `,` type($offset) `->` type($out) (`,` type($moved))?",
    ),
    &[
        operand("ptr", UB, Touch::Read, "where in UB"),
        operand(
            "offset",
            INTEGER,
            Touch::Nothing,
            "bytes after it; blocks of the distribution where it is a constant of the instruction",
        ),
    ],
    &[result("out", MASK, Infer::Written, "the predicate"), MOVED],
    &[required("dist", AttrKind::Str, "how memory becomes bits")],
);

/// Loads of a predicate.
const LOADED: OpDef = OpDef { schema: LOAD, ..STEP };
/// Stores of a predicate.
const STORED: OpDef = OpDef { schema: STORE, ..STEP };

ops! {
    OPS;

    /// The 256 bits of a predicate from UB, `offset` bytes after `ptr`, the lowest bit of each byte first. `NORM`: 32
    /// bytes as they are. `US`: 16 bytes, each bit twice. `DS`: every second bit of 64 bytes, from bit 0 on. The
    /// address is a multiple of 32 bytes, of 8 for `US`. In the form that gives `moved` they are read at `ptr`, and
    /// `moved` is the place after it.
    PLDS "pto.plds" "Load a predicate": LOADED, source: "micro-instruction manual, `pto.plds`", verify: verify_plds,
        lower: |op, d| load(op, d, false)
        => { aliases: &["pto.pld"] };

    /// As `pto.plds`; the offset is a constant and counts blocks of 32 bytes, of 16 for `US`.
    PLDI "pto.pldi" "Load a predicate from a constant offset": LOADED,
        source: "micro-instruction manual, `pto.pldi`; of assembler 0.60, 4: what an offset counts",
        verify: verify_pldi, lower: |op, d| load(op, d, in_blocks(op, 1, d.platform));

    /// The 256 bits of a predicate to UB, `offset` bytes after `ptr`, the lowest bit of each byte first, whatever lanes
    /// it is for: `PAT_ALL` of a `b32` predicate is 32 bytes 0x11. `NORM`: 32 bytes. `PK`: 16 bytes, every second bit
    /// from bit 0 on. The address is a multiple of 32 bytes, of 8 for `PK`. In the form that gives `moved` they go to
    /// `ptr`, and `moved` is the place after it.
    PSTS "pto.psts" "Store a predicate": STORED, source: "micro-instruction manual, `pto.psts`", verify: verify_psts,
        lower: |op, d| store(op, d, false)
        => { aliases: &["pto.pst"] };

    /// As `pto.psts`; the offset is a constant and counts blocks of 32 bytes, of 16 for `PK`.
    PSTI "pto.psti" "Store a predicate at a constant offset": STORED,
        source: "micro-instruction manual, `pto.psti`; of assembler 0.60, 4: what an offset counts",
        verify: verify_psti, lower: |op, d| store(op, d, in_blocks(op, 0, d.platform));

    /// One bit for each lane: 16 bytes for a `b16` predicate, through a pointer to `ui16`, 8 bytes for a `b32` one,
    /// through a pointer to `ui32`. `end` is `ptr` and so many bytes. What does not fill its aligned block of 32 bytes
    /// stays pending in `next`; `pto.vstas` puts it down.
    PSTU "pto.pstu" "Store the lanes of a predicate to any address": STEP,
        source: "micro-instruction manual, `pto.pstu`", verify: verify_pstu, lower: lower_pstu
        => {
            syntax: positional!("align" "value" "ptr" => "next" "end"),
            operands: &[
                align("align", "the stream"),
                operand("value", MASK, Touch::Nothing, "the predicate"),
                operand("ptr", UB, Touch::Write, "where the stream stands, at any address"),
            ],
            results: &[
                align_out("next", "the stream after it"),
                result("end", POINTER, Infer::SameAs(2), "where the stream stands then"),
            ],
        };
}

fn verify_plds(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    one_of(op, "dist", &LOADS.each_ref().map(|mode| mode.name), diags);
    check::moved(op, "ptr", 1, diags);
}

fn verify_pldi(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    (PLDS.verify)(op, platform, diags);
    constant_offset(op, &PLDS, 1, platform, diags);
}

fn verify_psts(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    one_of(op, "dist", &STORES, diags);
    check::moved(op, "ptr", 0, diags);
}

fn verify_psti(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    (PSTS.verify)(op, platform, diags);
    constant_offset(op, &PSTS, 0, platform, diags);
}

fn lower_pstu(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let Some(Type::Mask(bits)) = op.ty("value") else { return Err(Reported) };
    let lane = usize::from(bits / 8);
    let mut e = Emit::new(op, d);
    let (from, value) = (e.data("align")?, e.data("value")?);
    let at = e.number("ptr")?;
    let next = e.out(0);
    e.out_number(1);
    e.step(VectorPort::Store, Elem::U8, move |m: &mut Machine<'_>, args: &[u64]| -> Result<u64, Fault> {
        let (align, bits) = (m.align(from), every(&m.mask(value), lane));
        let align = stream(m, align, args[at], &bits[..IMAGE / lane])?;
        m.set_align(next, align);
        Ok(args[at].saturating_add((IMAGE / lane) as u64))
    })
}

/// Requires the offset to be a constant (`other` is the op for computed offsets), and warns that sources disagree on
/// its unit. There is only one source for the form with result `moved`, so it has no warning.
fn constant_offset(op: &OpRef<'_>, other: &OpDef, moved: usize, platform: &Platform, diags: &mut Diags) {
    let (Some(offset), name) = (op.operand("offset"), op.def.schema.name) else { return };
    let Some(offset) = constant(op.module, offset) else {
        let message = format!("the offset of `{name}` is part of the instruction: it must be a constant");
        let other = other.schema.name;
        diags.push(op.error("not-constant", message).help(format!("`{other}` takes offsets that are computed")));
        return;
    };
    if offset != 0 && check::gives_back(op, moved).is_none() && !platform.reads_otherwise(&PREDICATE_BYTES) {
        diags.push(op.disagreement(&PREDICATE_BYTES));
    }
}

fn bit(bytes: &[u8], i: usize) -> bool {
    bytes[i / 8] >> (i % 8) & 1 != 0
}

/// True if a constant offset counts blocks instead of bytes; in the form with result `moved` it always does.
fn in_blocks(op: &OpRef<'_>, moved: usize, platform: &Platform) -> bool {
    check::gives_back(op, moved).is_some() || !platform.reads_otherwise(&PREDICATE_BYTES)
}

/// `in_blocks`: the offset counts blocks of the distribution, not bytes.
fn load(op: &OpRef<'_>, d: &mut Decoder<'_>, in_blocks: bool) -> Lowered {
    let name = op.text("dist").ok_or(Reported)?;
    let LoadMode { bytes, align, unit, source, .. } = *LOADS.iter().find(|mode| mode.name == name).ok_or(Reported)?;
    let mut e = Emit::new(op, d);
    let at = e.place("ptr", "offset", if in_blocks { unit } else { 1 }, 1)?;
    let out = e.out(0);
    e.step(VectorPort::Load, Elem::U8, move |m, args| {
        check::aligned(args[at], align, "reads")?;
        let memory = m.load(args[at], bytes)?;
        let mask = Mask::from_fn(1, |i| bit(memory, source(i)));
        m.set_mask(out, mask);
        Ok(0)
    })
}

const STORES: [&str; 2] = ["NORM", "PK"];

const STORE: OpSchema = schema(
    "",
    Syntax::Format(
        "$value `,` $ptr `[` $offset `]` `,` $dist attr-dict `:` type($value) `,` type($ptr) `,` type($offset) \
         (`->` type($moved))?",
    ),
    &[
        operand("value", MASK, Touch::Nothing, "the predicate"),
        operand("ptr", UB, Touch::Write, "where in UB"),
        operand(
            "offset",
            INTEGER,
            Touch::Nothing,
            "bytes after it; blocks of the distribution where it is a constant of the instruction",
        ),
    ],
    &[MOVED],
    &[required("dist", AttrKind::Str, "which bits are stored")],
);

/// `in_blocks`: see [`load`].
fn store(op: &OpRef<'_>, d: &mut Decoder<'_>, in_blocks: bool) -> Lowered {
    let packed = op.text("dist") == Some(STORES[1]);
    let unit = if in_blocks { IMAGE / (1 + usize::from(packed)) } else { 1 };
    let mut e = Emit::new(op, d);
    let value = e.data("value")?;
    let at = e.place("ptr", "offset", unit, 0)?;
    e.step(VectorPort::Store, Elem::U8, move |m, args| {
        let (align, step) = if packed { (8, 2) } else { (32, 1) };
        check::aligned(args[at], align, "writes")?;
        let bits = every(&m.mask(value), step);
        m.store(args[at], IMAGE / step)?.copy_from_slice(&bits[..IMAGE / step]);
        Ok(0)
    })
}

/// Bits 0, `step`, `2 step` … of a predicate, packed.
fn every(mask: &Mask, step: usize) -> [u8; IMAGE] {
    Mask::from_fn(1, |i| i < BYTES / step && mask.bit(i * step)).image()
}

fn verify_pstu(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    let (Some(Type::Mask(bits)), Some(elem)) = (op.ty("value"), check::pointee(op, "ptr")) else { return };
    if !matches!((bits, elem), (16, Elem::U16) | (32, Elem::U32)) {
        let message = format!(
            "stores `b16` through a pointer to `ui16` and `b32` through one to `ui32`, not `b{bits}` through {elem}"
        );
        diags.push(op.error("mask-width", format!("`pto.pstu` {message}")));
    }
}
