//! Values that workitems keep from one launch to the next.

use slipring_ir::{AttrKind, AttrSpec, Diags, OpId, Syntax, Type};
use slipring_machine::Platform;
use slipring_op::decode::{Binding, Decoder};
use slipring_op::def::{InCoreSync, Lowered, OpDef, OpRef, Reported, Workitems};
use slipring_op::rules::required;
use slipring_op::{ops, workitems};
use slipring_simt::{Act, Slot, slot_bytes};
use slipring_tile::{Elem, Space};

use super::super::memory::given;
use super::sync::SYNCTHREADS;
use super::{VALUE, WORK, out, scalars, value};

/// The last slot.
const LAST: i64 = 122;

const SLOT: AttrSpec = required("slot", AttrKind::Int, "which register, 0 to 122");

const STATE: OpDef = OpDef { in_core_sync: InCoreSync::Manual, ..WORK };

ops! {
    OPS;

    /// The value stays in a register of the workitem until the next launch on the core, which may `pto.resume` it. All
    /// of them are at the end of the body, before `pto.syncthreads` and the return. A value of 64 bits takes an even
    /// slot and the next one. After a launch the slots hold what it kept and nothing else. A vector function between two
    /// launches leaves them as they are here; no source says what it does.
    KEEP "pto.keep" "Keep a value for the next launch": STATE, verify: verify_keep, lower: lower_keep
        => {
            syntax: Syntax::Format("$value attr-dict `:` type($value)"),
            operands: &[value("value", "an integer of up to 64 bits, or a float")],
            attrs: &[SLOT],
        };

    /// The value that the same workitem kept in the launch right before. All of them are at the beginning of the body,
    /// after constants only. The run stops with an error where that launch kept nothing there, a value of another type,
    /// or had another shape.
    RESUME "pto.resume" "The value that the launch before kept": STATE, verify: verify_resume, lower: lower_resume
        => {
            syntax: Syntax::Format("attr-dict `:` type($result)"),
            results: &[out(VALUE, "the value")],
            attrs: &[SLOT],
        };
}

/// A number for a type that can be kept, not 0: the bits of an integer, or one for each float.
fn kind(ty: &Type) -> Option<u16> {
    match ty {
        Type::Int { width: width @ 1..=64, .. } => Some(*width),
        Type::Float(Elem::F16) => Some(128),
        Type::Float(Elem::BF16) => Some(129),
        Type::Float(Elem::F32) => Some(130),
        _ => None,
    }
}

/// The first slot and the one after the last of a value.
fn slots(op: &OpRef<'_>, ty: &Type) -> (i64, i64) {
    let first = op.int("slot").unwrap_or(0);
    (first, first + if matches!(ty, Type::Int { width: 33.., .. }) { 2 } else { 1 })
}

/// The type of what an op keeps or resumes.
fn kept<'a>(op: &OpRef<'a>) -> Option<&'a Type> {
    let value = op.if_declared("value").or_else(|| op.module.op(op.id).results.first().copied());
    value.map(|value| op.module.ty(value))
}

fn verify_slot(op: &OpRef<'_>, diags: &mut Diags) {
    workitems::inside(op, diags);
    let Some(ty) = kept(op) else { return };
    if kind(ty).is_none() && !scalars::packed(op, ty, diags) {
        diags.push(op.error("simt-type", format!("`{}` takes no `{ty}`", op.def.schema.name)));
    }
    let (first, end) = slots(op, ty);
    if first < 0 || end > LAST + 1 || (end - first == 2 && first % 2 != 0) {
        let message = format!("expects `slot` to be 0 to {LAST}, and even for a value of 64 bits, which takes two");
        diags.push(op.error("simt-slot", message));
    }
    let own = |other: &OpRef<'_>| kept(other).map(|ty| slots(other, ty)).unwrap_or_default();
    let earlier = beside(op).into_iter().take_while(|id| *id != op.id).filter_map(|id| op.other(id));
    let shared = earlier.filter(|other| other.def == op.def).find(|other| own(other).0 < end && first < own(other).1);
    if let Some(shared) = shared {
        diags.push(op.error("simt-slot", "another value is in this slot").also(shared.span(), "the other one"));
    }
}

/// The ops of the block of an op.
fn beside(op: &OpRef<'_>) -> Vec<OpId> {
    let block = op.module.op(op.id).block;
    block.map_or_else(Vec::new, |block| op.module.block(block).ops.clone())
}

/// True in a block that is the whole body of workitems.
fn at_top(op: &OpRef<'_>) -> bool {
    let Some(parent) = op.module.parent_op(op.id) else { return false };
    let launches = |def: &OpDef| def.workitems == Workitems::Launches;
    workitems::is_entry(op.module, parent) || OpDef::of(op.module, parent).is_some_and(launches)
}

fn verify_keep(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    verify_slot(op, diags);
    let rest = beside(op).into_iter().skip_while(|id| *id != op.id).filter_map(|id| OpDef::of(op.module, id));
    let mut rest = rest.skip_while(|def| **def == KEEP).skip_while(|def| **def == SYNCTHREADS);
    if !at_top(op) || rest.any(|def| !def.schema.terminator) {
        let error = op.error("simt-slot", "`pto.keep` is not at the end of the body");
        diags.push(error.help("only `pto.keep`, then `pto.syncthreads`, come after it"));
    }
}

fn verify_resume(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    verify_slot(op, diags);
    let before = beside(op).into_iter().take_while(|id| *id != op.id).filter_map(|id| OpDef::of(op.module, id));
    let mut before = before.skip_while(|def| def.schema.constant.is_some());
    if !at_top(op) || before.any(|def| *def != RESUME) {
        let error = op.error("simt-slot", "`pto.resume` is not at the beginning of the body");
        diags.push(error.help("only constants, then `pto.resume`, come before it"));
    }
}

fn slot(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<Slot, Reported> {
    let kind = kept(op).and_then(kind).ok_or(Reported)?;
    let number = op.int("slot").and_then(|slot| u32::try_from(slot).ok()).filter(|slot| i64::from(*slot) <= LAST);
    let number = number.ok_or(Reported)?;
    d.reach(Space::Spr, slot_bytes(number));
    Ok(Slot { number, kind })
}

fn lower_keep(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (value, slot) = (given(op, d, "value")?, slot(op, d)?);
    d.workitem_step(Act::Keep(slot), &[value], false).map(drop)
}

fn lower_resume(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let slot = slot(op, d)?;
    let value = d.workitem_step(Act::Resume(slot), &[], true)?;
    d.bind(op.result(0), Binding::Scalar(value));
    Ok(())
}
