//! Loads and stores with an index for each lane (SPEC of virtual micro-instructions, group 7.3).

use slipring_ir::{Diags, OpSchema, Touch};
use slipring_machine::{Platform, VectorPort};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpRef};
use slipring_op::rules::{operand, schema};
use slipring_op::{ops, positional};

use super::value::{Bytes, bits};
use super::{GOVERNING, LOGICAL, OUT, PMODE, check, vector};
use crate::scattered::Scattered;
use crate::vector::UB;
use crate::vector::check::aligned;
use crate::vector::emit::Emit;

const GATHER: OpSchema = schema(
    "",
    positional!("ptr" "offsets" "mask" => "out"),
    &[operand("ptr", UB, Touch::Read, "where in UB"), vector("offsets", "how far after it, for each lane"), GOVERNING],
    &[OUT],
    &[PMODE],
);

ops! {
    OPS;

    /// `out[i] = ptr[offsets[i]]` where lane `i` is active, else 0 and nothing is read. Offsets are unsigned integers of
    /// 32 or 16 bits that count elements.
    VGATHER "pto.vmi.vgather" "Load an element for each lane": LOGICAL.with(GATHER), verify: verify_gather,
        lower: |op, d| gather(op, d, false);

    /// As `pto.vmi.vgather`, with offsets in bytes. (That is the formula of the SPEC; the instruction that it names loads
    /// blocks of 32 bytes.)
    VGATHERB "pto.vmi.vgatherb" "Load an element for each lane by bytes": LOGICAL.with(GATHER), verify: verify_gather,
        lower: |op, d| gather(op, d, true);

    /// `ptr[offsets[i]] = value[i]` for the active lanes. Offsets are unsigned integers of 32 or 16 bits that count
    /// elements. Of lanes with one offset the highest is stored, with a warning where they differ: the SPEC leaves open
    /// which.
    VSCATTER "pto.vmi.vscatter" "Store an element for each lane": LOGICAL, verify: verify_scatter, lower: scatter
        => {
            syntax: positional!("value" "ptr" "offsets" "mask"),
            operands: &[
                vector("value", "what to store"),
                operand("ptr", UB, Touch::Write, "where in UB"),
                vector("offsets", "how far after it, for each lane"),
                GOVERNING,
            ],
            attrs: &[PMODE],
        };
}

/// Requires offsets for each of these lanes.
fn offsets(op: &OpRef<'_>, lanes: slipring_ir::LogicalVector, diags: &mut Diags) {
    check::pmode(op, diags);
    check::element_of(op, "ptr", lanes, diags);
    check::governs(op, "mask", lanes, diags);
    let Some(offsets) = check::vector(op, "offsets") else { return };
    check::lanes(op, "offsets", offsets, lanes.lanes, diags);
    let fits = offsets.lane.arithmetic().is_some_and(|elem| {
        !elem.is_float() && !elem.is_signed_int() && (elem.bytes() == 4 || elem.bytes() == 2 && lanes.lane.bytes() <= 2)
    });
    if !fits {
        let message = format!(
            "takes unsigned offsets of 32 bits, or of 16 bits for lanes that are not wider, not {}",
            offsets.lane
        );
        diags.push(op.error("offset-type", message));
    }
}

fn verify_gather(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    if let Some(out) = check::result(op, 0) {
        offsets(op, out, diags);
    }
}

fn verify_scatter(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    if let Some(value) = check::vector(op, "value") {
        offsets(op, value, diags);
    }
}

fn gather(op: &OpRef<'_>, d: &mut Decoder<'_>, by_bytes: bool) -> Lowered {
    let mut e = Emit::new(op, d);
    let base = e.number("ptr")?;
    let (offsets, mask, out) = (e.vector("offsets")?, e.predicate("mask")?, e.gives(0)?);
    e.price = Some((if by_bytes { "vgatherb" } else { "vgather2" }, out.slots.len()));
    let size = out.bytes;
    e.step(VectorPort::Load, out.elem, move |m, args| {
        aligned(args[base], size as u64, "gathers from")?;
        let (at, active) = (offsets.read(m), mask.read(m));
        let mut result = Bytes::from_elem(0, out.size());
        for i in (0..out.count).filter(|i| active.is(*i)) {
            let offset = bits(&at, i, offsets.bytes) * if by_bytes { 1 } else { size as u64 };
            let from = args[base].saturating_add(offset);
            aligned(from, size as u64, "gathers from")?;
            result[i * size..][..size].copy_from_slice(m.load(from, size)?);
        }
        out.write(m, &result);
        Ok(0)
    })
}

fn scatter(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let scattered = Scattered::on(d.platform);
    let mut e = Emit::new(op, d);
    let value = e.stored("value")?;
    let base = e.number("ptr")?;
    let (offsets, mask) = (e.vector("offsets")?, e.predicate("mask")?);
    e.price = Some(("vscatter", value.slots.len()));
    let size = value.bytes;
    e.step(VectorPort::Store, value.elem, move |m, args| {
        aligned(args[base], size as u64, "scatters to")?;
        let (all, at, active) = (value.read(m), offsets.read(m), mask.read(m));
        let lanes = (0..value.count).filter(|i| active.is(*i)).map(|i| (bits(&at, i, offsets.bytes), i));
        let bytes = |i: usize| &all[i * size..][..size];
        for (offset, i) in scattered.kept(m, lanes, |one, other| bytes(one) == bytes(other)) {
            let to = args[base].saturating_add(offset * size as u64);
            m.store(to, size)?.copy_from_slice(bytes(i));
        }
        Ok(0)
    })
}
