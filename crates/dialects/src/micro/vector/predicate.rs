//! Predicates from patterns and counts (micro-instruction manual, predicate generation).

use slipring_ir::{AttrKind, Infer, OpSchema, Syntax, Touch, Type};
use slipring_machine::VectorPort;
use slipring_tile::Elem;
use slipring_vector::{BYTES, Mask};

use super::emit::Emit;
use super::{MASK, STEP};
use crate::decode::Decoder;
use crate::def::{Lowered, OpDef, OpRef, Reported};
use crate::rules::{INTEGER, operand, required, result, schema};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[&PSET_B8, &PSET_B16, &PSET_B32, &PLT_B8, &PLT_B16, &PLT_B32];

const PSET: OpSchema = schema(
    "",
    Syntax::Format("$pattern attr-dict `:` type($out)"),
    &[],
    &[result("out", MASK, Infer::Written, "the predicate")],
    &[required("pattern", AttrKind::Str, "which lanes are active")],
);

const BASE: OpDef = OpDef {
    summary: "A predicate from a pattern",
    doc: "`PAT_ALL` all lanes, `PAT_ALLF` none, `PAT_VLn` the first n.",
    verify: |op, _, diags| {
        if pattern(op).is_none() {
            let name = op.text("pattern").unwrap_or("");
            diags.push(op.error("pattern", format!("no pattern of lanes is called `{name}`")));
        }
    },
    lower: pset,
    ..STEP
};

static PSET_B8: OpDef = OpDef { schema: OpSchema { name: "pto.pset_b8", ..PSET }, ..BASE };
static PSET_B16: OpDef = OpDef { schema: OpSchema { name: "pto.pset_b16", ..PSET }, ..BASE };
static PSET_B32: OpDef = OpDef { schema: OpSchema { name: "pto.pset_b32", ..PSET }, ..BASE };

/// The predicate of the op's pattern.
fn pattern(op: &OpRef<'_>) -> Option<Mask> {
    let Type::Mask(bits) = op.module.ty(op.result(0)) else { return None };
    let bytes = usize::from(bits / 8);
    Some(match op.text("pattern")? {
        "PAT_ALL" => Mask::full(bytes),
        "PAT_ALLF" => Mask::default(),
        other => Mask::first(other.strip_prefix("PAT_VL")?.parse().ok()?, bytes),
    })
}

fn pset(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mask = pattern(op).ok_or(Reported)?;
    let mut e = Emit::new(op, d);
    let out = e.out(0);
    e.step(VectorPort::Alu, Elem::U8, move |m, _| {
        m.set_mask(out, mask);
        Ok(0)
    })
}

const PLT: OpSchema = schema(
    "",
    Syntax::Format("$count attr-dict `:` type($count) `->` type($out) `,` type($rest)"),
    &[operand("count", INTEGER, Touch::Nothing, "lanes still to do")],
    &[
        result("out", MASK, Infer::Written, "the first `count` lanes"),
        result("rest", INTEGER, Infer::SameAs(0), "`count` less the lanes of a register, at least 0"),
    ],
    &[],
);

const TAIL: OpDef = OpDef {
    summary: "A predicate of the lanes that are left",
    doc: "The first `count` lanes are active, all of them where `count` is larger; a count below 1 activates none. `rest` is what \
          remains for the next register: a loop carries it and needs no special case for its tail.",
    lower: plt,
    ..STEP
};

static PLT_B8: OpDef = OpDef { schema: OpSchema { name: "pto.plt_b8", ..PLT }, ..TAIL };
static PLT_B16: OpDef = OpDef { schema: OpSchema { name: "pto.plt_b16", ..PLT }, ..TAIL };
static PLT_B32: OpDef = OpDef { schema: OpSchema { name: "pto.plt_b32", ..PLT }, ..TAIL };

fn plt(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let Type::Mask(bits) = op.module.ty(op.result(0)) else { return Err(Reported) };
    let bytes = usize::from(bits / 8);
    let lanes = BYTES / bytes;
    let mut e = Emit::new(op, d);
    let count = e.number(0)?;
    let out = e.out(0);
    e.out_number(1);
    e.step(VectorPort::Alu, Elem::U8, move |m, args| {
        let count = (args[count] as i64).max(0) as u64;
        let mask = if count >= lanes as u64 { Mask::full(bytes) } else { Mask::first(count as usize, bytes) };
        m.set_mask(out, mask);
        Ok(count.saturating_sub(lanes as u64))
    })
}
