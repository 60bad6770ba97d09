//! Predicates from memory and to it (micro-instruction manual, predicate load/store).

use slipring_ir::{AttrKind, Diags, Infer, OpSchema, Syntax, Touch, Type};
use slipring_machine::{Platform, VectorPort};
use slipring_program::Fault;
use slipring_tile::Elem;
use slipring_vector::{BYTES, Machine, Mask};

use super::align::{align, align_out, stream};
use super::emit::Emit;
use super::{MASK, STEP, UB, check};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef, Reported};
use slipring_op::rules::{INTEGER, POINTER, constant, operand, required, result, schema};
use slipring_op::{ops, positional};

/// Bytes of the image of a predicate.
const IMAGE: usize = BYTES / 8;

/// A distribution of a load.
#[derive(Debug)]
struct LoadMode {
    name: &'static str,
    /// Bytes that it reads.
    bytes: usize,
    /// What the address is a multiple of, in bytes. Half an image is at a multiple of 8 in a published program.
    align: u64,
    /// The bit of memory that becomes bit `i`.
    source: fn(usize) -> usize,
}

static LOADS: [LoadMode; 3] = [
    LoadMode { name: "NORM", bytes: IMAGE, align: 32, source: |i| i },
    LoadMode { name: "US", bytes: IMAGE / 2, align: 8, source: |i| i / 2 },
    LoadMode { name: "DS", bytes: IMAGE * 2, align: 32, source: |i| 2 * i },
];

const LOAD: OpSchema = schema(
    "",
    Syntax::Format("$ptr `[` $offset `]` `,` $dist attr-dict `:` type($ptr) `,` type($offset) `->` type($out)"),
    &[
        operand("ptr", UB, Touch::Read, "where in UB"),
        operand("offset", INTEGER, Touch::Nothing, "elements of the pointer's type after it"),
    ],
    &[result("out", MASK, Infer::Written, "the predicate")],
    &[required("dist", AttrKind::Str, "how memory becomes bits")],
);

/// Loads of a predicate.
const LOADED: OpDef = OpDef { schema: LOAD, lower: load, ..STEP };
/// Stores of a predicate.
const STORED: OpDef = OpDef { schema: STORE, lower: store, ..STEP };

ops! {
    OPS;

    /// The 256 bits of a predicate from UB, `offset` elements after `ptr`, the lowest bit of each byte first. `NORM`:
    /// 32 bytes as they are. `US`: 16 bytes, each bit twice. `DS`: every second bit of 64 bytes, from bit 0 on. The
    /// address is a multiple of 32 bytes, of 8 for `US`.
    PLDS "pto.plds" "Load a predicate": LOADED, source: "micro-instruction manual, `pto.plds`",
        verify: |op, _, diags| check::one_of(op, "dist", &LOADS.each_ref().map(|mode| mode.name), diags)
        => { aliases: &["pto.pld"] };

    /// As `pto.plds`; the offset is a constant.
    PLDI "pto.pldi" "Load a predicate from a constant offset": LOADED, source: "micro-instruction manual, `pto.pldi`",
        verify: verify_pldi;

    /// The 256 bits of a predicate to UB, `offset` elements after `ptr`, the lowest bit of each byte first, whatever
    /// lanes it is for: `PAT_ALL` of a `b32` predicate is 32 bytes 0x11. `NORM`: 32 bytes. `PK`: 16 bytes, every second
    /// bit from bit 0 on. The address is a multiple of 32 bytes, of 8 for `PK`.
    PSTS "pto.psts" "Store a predicate": STORED, source: "micro-instruction manual, `pto.psts`",
        verify: |op, _, diags| check::one_of(op, "dist", &STORES, diags)
        => { aliases: &["pto.pst"] };

    /// As `pto.psts`; the offset is a constant.
    PSTI "pto.psti" "Store a predicate at a constant offset": STORED, source: "micro-instruction manual, `pto.psti`",
        verify: verify_psti;

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

fn verify_pldi(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    (PLDS.verify)(op, platform, diags);
    constant_offset(op, "offset", diags);
}

fn verify_psti(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    (PSTS.verify)(op, platform, diags);
    constant_offset(op, "offset", diags);
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

fn constant_offset(op: &OpRef<'_>, index: &str, diags: &mut Diags) {
    if op.operand(index).is_some_and(|offset| constant(op.module, offset).is_none()) {
        let name = op.def.schema.name;
        let other = if name.starts_with("pto.pst") { "pto.psts" } else { "pto.plds" };
        diags.push(
            op.error(
                "not-constant",
                format!("the offset of `{name}` is part of the instruction: it must be a constant"),
            )
            .help(format!("`{other}` takes offsets that are computed")),
        );
    }
}

fn bit(bytes: &[u8], i: usize) -> bool {
    bytes[i / 8] >> (i % 8) & 1 != 0
}

fn load(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let name = op.text("dist").ok_or(Reported)?;
    let LoadMode { bytes, align, source, .. } = *LOADS.iter().find(|mode| mode.name == name).ok_or(Reported)?;
    let mut e = Emit::new(op, d);
    let at = e.address("ptr", "offset")?;
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
        "$value `,` $ptr `[` $offset `]` `,` $dist attr-dict `:` type($value) `,` type($ptr) `,` type($offset)",
    ),
    &[
        operand("value", MASK, Touch::Nothing, "the predicate"),
        operand("ptr", UB, Touch::Write, "where in UB"),
        operand("offset", INTEGER, Touch::Nothing, "elements of the pointer's type after it"),
    ],
    &[],
    &[required("dist", AttrKind::Str, "which bits are stored")],
);

fn store(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let packed = op.text("dist") == Some(STORES[1]);
    let mut e = Emit::new(op, d);
    let value = e.data("value")?;
    let at = e.address("ptr", "offset")?;
    e.step(VectorPort::Store, Elem::U8, move |m, args| {
        let (align, step) = if packed { (8, 2) } else { (32, 1) };
        check::aligned(args[at], align, "writes")?;
        let bits = every(&m.mask(value), step);
        m.store(args[at], IMAGE / step)?.copy_from_slice(&bits[..IMAGE / step]);
        Ok(0)
    })
}

/// Bits 0, `step`, `2 step` … of a predicate, close together.
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
