//! Predicates from predicates (micro-instruction manual, predicate logic, pack and unpack, rearrangement, `pbitcast`).
//!
//! All of them work on the raw 256 bits: bits that are unused at the granularity of the lanes take part like any other.

use slipring_ir::{AttrKind, Diags, Infer, OpSchema, OperandSpec, Syntax, Touch, Type};
use slipring_machine::VectorPort;
use slipring_tile::Elem;
use slipring_vector::{BYTES, Mask};

use super::emit::Emit;
use super::predicate::{lane_bytes, named_lanes};
use super::{MASK, STEP, check};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef, Reported};
use slipring_op::rules::{one_of, operand, required, result, schema};
use slipring_op::{ops, positional};

const fn mask(name: &'static str, doc: &'static str) -> OperandSpec {
    operand(name, MASK, Touch::Nothing, doc)
}

const THREE: &str = "$lhs `,` $rhs `,` $mask attr-dict `:` type($lhs) `,` type($rhs) `,` type($mask) `->` type($out)";

const BINARY: OpDef = OpDef {
    schema: schema(
        "",
        Syntax::Format(THREE),
        &[
            mask("lhs", "a predicate"),
            mask("rhs", "a predicate"),
            mask("mask", "lanes that it leaves out become inactive"),
        ],
        &[result("out", MASK, Infer::Written, "the predicate")],
        &[],
    ),
    source: "micro-instruction manual, predicate logical ops",
    verify: |op, _, diags| check::same_masks(op, diags),
    ..STEP
};

ops! {
    OPS [&PINTLV_B8, &PINTLV_B16, &PINTLV_B32, &PDINTLV_B8, &PDINTLV_B16, &PDINTLV_B32];

    /// `out = lhs & rhs & mask`, bit by bit.
    PAND "pto.pand" "Lanes of both predicates": BINARY,
        lower: |op, d| combine(op, d, |[lhs, rhs, mask]| lhs & rhs & mask);

    /// `out = (lhs | rhs) & mask`, bit by bit.
    POR "pto.por" "Lanes of either predicate": BINARY,
        lower: |op, d| combine(op, d, |[lhs, rhs, mask]| (lhs | rhs) & mask);

    /// `out = (lhs ^ rhs) & mask`, bit by bit.
    PXOR "pto.pxor" "Lanes of one predicate and not of the other": BINARY,
        lower: |op, d| combine(op, d, |[lhs, rhs, mask]| (lhs ^ rhs) & mask);

    /// `out = mask ? lhs : rhs`, bit by bit.
    PSEL "pto.psel" "Choose between two predicates": BINARY,
        lower: |op, d| combine(op, d, |[lhs, rhs, mask]| lhs & mask | rhs & !mask)
        => {
            syntax: Syntax::Format(THREE),
            operands: &[mask("lhs", "a predicate"), mask("rhs", "a predicate"), mask("mask", "where `lhs` is taken")],
            results: BINARY.schema.results,
        };

    /// `out = !src & mask`, bit by bit.
    PNOT "pto.pnot" "Lanes that a predicate leaves out": BINARY,
        lower: |op, d| combine(op, d, |[src, mask]| !src & mask)
        => {
            syntax: positional!("src" "mask" => "out"),
            operands: &[mask("src", "a predicate"), mask("mask", "lanes that it leaves out become inactive")],
            results: BINARY.schema.results,
        };

    /// Bits 0, 2, 4 … of `src` become the 128 bits of the half of `out` that `part` names; the other half is 0. A
    /// predicate for `2n`-byte lanes becomes one for as many `n`-byte lanes; its type may stay as it was.
    PPACK "pto.ppack" "Every second bit of a predicate, close together": PART, lower: lower_ppack,
        verify: |op, _, diags| verify_part(op, |from| from / 2, diags);

    /// The 128 bits of the half of `src` that `part` names become bits 0, 2, 4 … of `out`; the others are 0. A
    /// predicate for `n`-byte lanes becomes one for `2n`-byte lanes, of which there are half as many; its type may stay
    /// as it was.
    PUNPACK "pto.punpack" "Half of a predicate, spread to every second bit": PART, lower: lower_punpack,
        verify: |op, _, diags| verify_part(op, |from| from * 2, diags);

    /// The same 256 bits. Nothing is normalised: lanes of the new width are active where their lowest bit is set.
    PBITCAST "pto.pbitcast" "Take a predicate for lanes of another width": STEP,
        source: "micro-instruction manual, `pto.pbitcast`", lower: lower_pbitcast
        => {
            syntax: positional!("src" => "out"),
            operands: &[mask("src", "a predicate")],
            results: BINARY.schema.results,
        };
}

fn lower_ppack(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let first = half(op);
    map(op, d, 1, move |[src]: [Mask; 1], _| {
        Mask::from_fn(1, |i| (first..first + BYTES / 2).contains(&i) && src.bit(2 * (i - first)))
    })
}

fn lower_punpack(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let first = half(op);
    map(op, d, 1, move |[src]: [Mask; 1], _| Mask::from_fn(1, |i| i % 2 == 0 && src.bit(first + i / 2)))
}

fn lower_pbitcast(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut e = Emit::new(op, d);
    let (src, out) = (e.reg("src")?, e.out(0));
    e.compute(VectorPort::None, Elem::U8, move |m, _| {
        m.set_mask(out, m.mask(src));
    })
}

/// `out = f(operands…)`, 64 bits at a time.
fn combine<const N: usize>(op: &OpRef<'_>, d: &mut Decoder<'_>, f: fn([u64; N]) -> u64) -> Lowered {
    map(op, d, 1, move |masks: [Mask; N], _| Mask(std::array::from_fn(|word| f(masks.map(|mask| mask.0[word])))))
}

/// Results `0 .. outs`, each computed from the op's `N` predicates and the index of the result.
fn map<const N: usize>(
    op: &OpRef<'_>,
    d: &mut Decoder<'_>,
    outs: usize,
    f: impl Fn([Mask; N], usize) -> Mask + Send + Sync + 'static,
) -> Lowered {
    let mut e = Emit::new(op, d);
    let mut slots = [slipring_vector::Slot(0); N];
    for (slot, spec) in slots.iter_mut().zip(op.def.schema.operands) {
        *slot = e.reg(spec.name)?;
    }
    let outs: smallvec::SmallVec<[_; 2]> = (0..outs).map(|i| e.out(i)).collect();
    e.compute(VectorPort::Alu, Elem::U8, move |m, _| {
        let masks = slots.map(|slot| m.mask(slot));
        outs.iter().enumerate().for_each(|(i, out)| m.set_mask(*out, f(masks, i)));
    })
}

const PART: OpDef = OpDef {
    schema: schema(
        "",
        Syntax::Format("$src `,` $part attr-dict `:` type($src) `->` type($out)"),
        &[mask("src", "a predicate")],
        BINARY.schema.results,
        &[required("part", AttrKind::Str, "`LOWER` or `HIGHER`: which half of the 256 bits")],
    ),
    source: "micro-instruction manual, predicate pack/unpack; types: the verifier of assembler 0.60",
    ..STEP
};

const PARTS: [&str; 2] = ["LOWER", "HIGHER"];

/// The result has the type of the source, or that of the lanes as wide as `moved` makes them.
fn verify_part(op: &OpRef<'_>, moved: impl Fn(u8) -> u8, diags: &mut Diags) {
    one_of(op, "part", &PARTS, diags);
    let (Some(Type::Mask(from)), Type::Mask(to)) = (op.ty("src"), op.module.ty(op.result(0))) else { return };
    if from != to && moved(*from) != *to {
        let next = Some(moved(*from)).filter(|bits| (8..=32).contains(bits));
        let next = next.map_or(String::new(), |bits| format!(" or `!pto.mask<b{bits}>`"));
        let message = format!("`!pto.mask<b{from}>` becomes `!pto.mask<b{from}>`{next} here, not `!pto.mask<b{to}>`");
        diags.push(op.error("mask-type", message).help("`pto.pbitcast` takes a predicate for lanes of any width"));
    }
}

/// The first bit of the half that the op selects.
fn half(op: &OpRef<'_>) -> usize {
    if op.text("part") == Some(PARTS[1]) { BYTES / 2 } else { 0 }
}

const PAIR: OpDef = OpDef {
    schema: schema(
        "",
        positional!("lhs" "rhs" => "low" "high"),
        &[mask("lhs", "a predicate"), mask("rhs", "a predicate")],
        &[
            result("low", MASK, Infer::Written, "the first half of the result"),
            result("high", MASK, Infer::Written, "the second half"),
        ],
        &[],
    ),
    source: "micro-instruction manual, predicate rearrangement",
    verify: |op, _, diags| named_lanes(op, diags),
    ..STEP
};

const PINTLV: OpDef = OpDef {
    summary: "Lanes of two predicates take turns",
    doc: "`low` and `high` one after the other are lane 0 of `lhs`, lane 0 of `rhs`, lane 1 of `lhs`, lane 1 of `rhs` … All bits of a \
          lane (1, 2 or 4, as its bytes) move together.",
    lower: |op, d| rearrange(op, d, |lane, lanes| (lane / 2) + lane % 2 * lanes),
    ..PAIR
};

static PINTLV_B8: OpDef = OpDef { schema: OpSchema { name: "pto.pintlv_b8", ..PAIR.schema }, ..PINTLV };
static PINTLV_B16: OpDef = OpDef { schema: OpSchema { name: "pto.pintlv_b16", ..PAIR.schema }, ..PINTLV };
static PINTLV_B32: OpDef = OpDef { schema: OpSchema { name: "pto.pintlv_b32", ..PAIR.schema }, ..PINTLV };

const PDINTLV: OpDef = OpDef {
    summary: "Even and odd lanes of two predicates",
    doc: "Of the lanes of `lhs` and then `rhs`, one after the other, the even ones become `low` and the odd ones `high`. All bits of \
          a lane (1, 2 or 4, as its bytes) move together.",
    lower: |op, d| rearrange(op, d, |lane, lanes| (2 * lane) % (2 * lanes) + lane / lanes),
    ..PAIR
};

static PDINTLV_B8: OpDef = OpDef { schema: OpSchema { name: "pto.pdintlv_b8", ..PAIR.schema }, ..PDINTLV };
static PDINTLV_B16: OpDef = OpDef { schema: OpSchema { name: "pto.pdintlv_b16", ..PAIR.schema }, ..PDINTLV };
static PDINTLV_B32: OpDef = OpDef { schema: OpSchema { name: "pto.pdintlv_b32", ..PAIR.schema }, ..PDINTLV };

/// Two results; lane numbers run through both predicates of a pair, and result lane `lane` comes from operand lane
/// `source(lane, lanes of one predicate)`.
fn rearrange(op: &OpRef<'_>, d: &mut Decoder<'_>, source: fn(usize, usize) -> usize) -> Lowered {
    let bytes = lane_bytes(op).ok_or(Reported)?;
    let lanes = BYTES / bytes;
    map(op, d, 2, move |sources: [Mask; 2], out| {
        Mask::from_fn(1, |bit| {
            let from = source(out * lanes + bit / bytes, lanes);
            sources[from / lanes].bit(from % lanes * bytes + bit % bytes)
        })
    })
}
