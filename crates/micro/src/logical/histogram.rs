//! Histograms of bytes (SPEC of virtual micro-instructions, group 7.2).

use slipring_ir::{Diags, OpSchema, Syntax};
use slipring_machine::VectorPort;
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef};
use slipring_op::ops;
use slipring_op::rules::schema;
use slipring_tile::Elem;

use super::value::{Bytes, bits, set_bits};
use super::{GOVERNING, LOGICAL, OUT, check, vector};
use crate::vector::emit::Emit;

const SCHEMA: OpSchema = schema(
    "",
    Syntax::Format("$acc `,` $src `,` $mask attr-dict `:` type($acc) `,` type($src) `,` type($mask) `->` type($out)"),
    &[
        vector("acc", "what was counted before: 128 or 256 lanes of 16 bits, unsigned"),
        vector("src", "the bytes, unsigned"),
        GOVERNING,
    ],
    &[OUT],
    &[],
);

const HISTOGRAM: OpDef = OpDef { schema: SCHEMA, verify: |op, _, diags| rules(op, diags), ..LOGICAL };

ops! {
    OPS;

    /// Lane `i` is `acc[i]` and the number of active bytes that are `i`, in 16 bits that wrap.
    VDHIST "pto.vmi.vdhist" "Count bytes by their value": HISTOGRAM,
        lower: |op, d| histogram(op, d, "dhistv2", |byte, bin| byte == bin);

    /// Lane `i` is `acc[i]` and the number of active bytes that are `i` or less, in 16 bits that wrap.
    VCHIST "pto.vmi.vchist" "Count bytes up to each value": HISTOGRAM,
        lower: |op, d| histogram(op, d, "chistv2", |byte, bin| byte <= bin);
}

fn rules(op: &OpRef<'_>, diags: &mut Diags) {
    let (Some(acc), Some(src), Some(out)) = (check::vector(op, "acc"), check::vector(op, "src"), check::result(op, 0))
    else {
        return;
    };
    if acc.lane.arithmetic() != Some(Elem::U16) || !matches!(acc.lanes, 128 | 256) {
        diags.push(op.error("vreg-type", format!("counts in 128 or 256 lanes of ui16 or i16, not in `{acc}`")));
    }
    if src.lane.arithmetic() != Some(Elem::U8) {
        diags.push(op.error("vreg-type", format!("counts bytes of ui8 or i8, not lanes of {}", src.lane)));
    }
    if (out.lanes, out.lane.arithmetic()) != (acc.lanes, acc.lane.arithmetic()) {
        diags.push(op.error("vreg-type", format!("gives `{acc}` as `acc` is, not `{out}`")));
    }
    check::governs(op, "mask", src, diags);
}

fn histogram(op: &OpRef<'_>, d: &mut Decoder<'_>, price: &'static str, counts: fn(usize, usize) -> bool) -> Lowered {
    let mut e = Emit::new(op, d);
    let (acc, src, mask, out) = (e.vector("acc")?, e.vector("src")?, e.predicate("mask")?, e.gives(0)?);
    e.price = Some((price, src.slots.len() * out.slots.len()));
    e.compute(VectorPort::Alu, Elem::U8, move |m, _| {
        let (before, bytes, active) = (acc.read(m), src.read(m), mask.read(m));
        let mut of_value = [0u64; 256];
        (0..src.count).filter(|i| active.is(*i)).for_each(|i| of_value[usize::from(bytes[i])] += 1);
        let mut result = Bytes::from_elem(0, out.size());
        for bin in 0..out.count {
            let found: u64 = (0..256).filter(|byte| counts(*byte, bin)).map(|byte| of_value[byte]).sum();
            set_bits(&mut result, bin, 2, bits(&before, bin, 2).wrapping_add(found));
        }
        out.write(m, &result);
    })
}
