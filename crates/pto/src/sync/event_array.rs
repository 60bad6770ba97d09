//! Arrays of event ids.

use slipring_ir::{Infer, Syntax, Touch, Type, TypeRule};
use slipring_program::{Inst, Operand};

use super::NOTHING;
use slipring_op::decode::{Binding, Decoder};
use slipring_op::def::{InCoreSync, Lowered, OpRef, Reported};
use slipring_op::ops;
use slipring_op::rules::{INTEGER, operand, result};

const EVENT_ARRAY: TypeRule = TypeRule {
    describe: "an array of event ids",
    accepts: |t| matches!(t, Type::Named(name) if name.starts_with("pto.eventid_array")),
};

ops! {
    OPS;

    /// `!pto.eventid_array<N>` holds N event ids, all 0 at first.
    pub DECLARE "pto.declare_eventid_array" "An array of event ids": NOTHING, in_core_sync: InCoreSync::No,
        lower: lower_declare
        => {
            syntax: Syntax::Format("attr-dict `->` type($array)"),
            results: &[result("array", EVENT_ARRAY, Infer::Written, "the array")],
        };

    /// The index must be a constant.
    pub GET "pto.eventid_array_get" "Read an event id from an array": NOTHING, in_core_sync: InCoreSync::No,
        lower: lower_get
        => {
            syntax: Syntax::Format("$array `[` $index `]` attr-dict `:` type($array)"),
            operands: &[
                operand("array", EVENT_ARRAY, Touch::Nothing, "the array"),
                operand("index", INTEGER, Touch::Nothing, "which of its ids"),
            ],
            results: &[result("id", INTEGER, Infer::Fixed(|| Type::Index), "the event id")],
        };

    /// The index must be a constant.
    pub SET "pto.eventid_array_set" "Write an event id to an array": NOTHING, in_core_sync: InCoreSync::No,
        lower: lower_set
        => {
            syntax: Syntax::Format("$array `[` $index `]` `,` $id attr-dict `:` type($array)"),
            operands: &[
                operand("array", EVENT_ARRAY, Touch::Nothing, "the array"),
                operand("index", INTEGER, Touch::Nothing, "which of its ids"),
                operand("id", INTEGER, Touch::Nothing, "the event id"),
            ],
        };
}

fn lower_declare(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let Type::Named(name) = op.module.ty(op.result(0)) else { return Err(Reported) };
    let size = name.split(['<', '>']).nth(1).and_then(|n| n.trim().parse::<usize>().ok());
    let Some(size) = size.filter(|n| (1..=64).contains(n)) else {
        return Err(d.error("eventid-array", "an array of event ids has 1 to 64 of them"));
    };
    let slots = (0..size).map(|_| Binding::Scalar(Operand::Reg(d.variable(Operand::Imm(0))))).collect();
    d.bind(op.result(0), Binding::Many(slots));
    Ok(())
}

fn lower_get(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let slot = array_slot(op, d)?;
    let copy = d.variable(slot);
    d.bind(op.result(0), Binding::Scalar(Operand::Reg(copy)));
    Ok(())
}

fn lower_set(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let Operand::Reg(slot) = array_slot(op, d)? else { return Err(Reported) };
    let value = op.operand("id").ok_or(Reported)?;
    let a = d.scalar(value)?;
    d.emit(Inst::Move { d: slot, a });
    Ok(())
}

fn array_slot(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<Operand, Reported> {
    let (array, index) = (op.operand("array").ok_or(Reported)?, op.operand("index").ok_or(Reported)?);
    let index = d.scalar(index)?;
    let Some(at) = index.as_imm() else { return Err(d.unsupported("an array of event ids with a computed index")) };
    let slot = match d.binding(array) {
        Some(Binding::Many(slots)) => usize::try_from(at).ok().and_then(|at| slots.get(at)),
        _ => None,
    };
    match slot {
        Some(Binding::Scalar(slot)) => Ok(*slot),
        _ => Err(d.error("eventid-array", format!("the array has no element {at}"))),
    }
}
