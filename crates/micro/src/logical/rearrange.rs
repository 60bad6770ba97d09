//! Permutations of lanes (SPEC of virtual micro-instructions, group 9).

use slipring_ir::{Diags, Infer, OpSchema, Syntax};
use slipring_machine::VectorPort;
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef};
use slipring_op::ops;
use slipring_op::rules::{result, schema};
use slipring_program::{Fault, Kind};

use super::value::{Bytes, bits, set_bits};
use super::{GOVERNING, LOGICAL, PMODE, VECTOR, check, vector};
use crate::vector::emit::Emit;

const PAIR: OpSchema = schema(
    "",
    Syntax::Format(
        "$lhs `,` $rhs `,` $mask attr-dict `:` type($lhs) `,` type($rhs) `,` type($mask) `->` type($low) `,` type($high)",
    ),
    &[vector("lhs", "the first source"), vector("rhs", "the second source"), GOVERNING],
    &[
        result("low", VECTOR, Infer::Written, "the first half"),
        result("high", VECTOR, Infer::Written, "the second half"),
    ],
    &[PMODE],
);

const PAIRS: OpDef = OpDef { schema: PAIR, verify: |op, _, diags| rules(op, diags), ..LOGICAL };

ops! {
    OPS;

    /// `low` and `high` together are `lhs[0], rhs[0], lhs[1], rhs[1], …`. The SPEC has a predicate and gives inactive
    /// lanes no meaning: one is a fault.
    VINTLV "pto.vmi.vintlv" "Interleave two vectors": PAIRS, lower: |op, d| interleaved(op, d, false);

    /// Of the lanes of `lhs` and then `rhs`: `low` has the even ones, `high` the odd ones, so that it undoes
    /// `pto.vmi.vintlv`. The SPEC has a predicate and gives inactive lanes no meaning: one is a fault.
    VDINTLV "pto.vmi.vdintlv" "Take two interleaved vectors apart": PAIRS, lower: |op, d| interleaved(op, d, true);
}

fn rules(op: &OpRef<'_>, diags: &mut Diags) {
    check::same(op, diags);
    check::pmode(op, diags);
    if let Some(lanes) = check::vector(op, "lhs") {
        check::governs(op, "mask", lanes, diags);
    }
}

fn interleaved(op: &OpRef<'_>, d: &mut Decoder<'_>, apart: bool) -> Lowered {
    let mut e = Emit::new(op, d);
    e.faults = true;
    let (lhs, rhs, mask) = (e.vector("lhs")?, e.vector("rhs")?, e.predicate("mask")?);
    let outs = [e.gives(0)?, e.gives(1)?];
    e.price = Some((if apart { "vdintlv" } else { "vintlv" }, lhs.slots.len()));
    let (count, bytes) = (lhs.count, lhs.bytes);
    e.step(VectorPort::Alu, lhs.elem, move |m, _| {
        let active = mask.read(m);
        if let Some(lane) = (0..count).find(|lane| !active.is(*lane)) {
            let message = format!("has inactive lanes, such as {lane}: the SPEC gives them no meaning");
            return Err(Fault::new(Kind::Unsupported, message));
        }
        let mut from = lhs.read(m);
        from.extend_from_slice(&rhs.read(m));
        let mut to = Bytes::from_elem(0, from.len());
        for i in 0..2 * count {
            // Lane `i` of both sources and lane `other` of both together.
            let other = if i < count { 2 * i } else { 2 * (i - count) + 1 };
            let (source, target) = if apart { (other, i) } else { (i, other) };
            set_bits(&mut to, target, bytes, bits(&from, source, bytes));
        }
        for (out, part) in outs.iter().zip(to.chunks(count * bytes)) {
            out.write(m, part);
        }
        Ok(0)
    })
}
