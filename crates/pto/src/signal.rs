//! Signals between devices: numbers in global memory that one device changes and another waits for (tile ISA, TNOTIFY, TWAIT).

use slipring_effect::{Await, Notify, SignalArgs};
use slipring_ir::{AttrKind, Diags, EnumSpec, Syntax, Touch, Type, TypeRule};
use slipring_machine::{Cost, Pipe};
use slipring_op::decode::{Decoder, element_address};
use slipring_op::def::{OpDef, OpRef, PipeRule, Reported};
use slipring_op::rules::{INTEGER, PLAIN, defaulted, operand, schema};
use slipring_program::{Inst, Operand, UpdateKind};
use slipring_tile::{Elem, Space};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[&TNOTIFY, &TWAIT];

/// `#pto.notify_op<…>`.
const NOTIFY_OP: &EnumSpec = &EnumSpec { kind: "notify_op", numbered: false, members: &["atomic_add", "set"] };
/// `#pto.wait_cmp<…>`.
const WAIT_CMP: &EnumSpec = &EnumSpec { kind: "wait_cmp", numbered: false, members: &["ge", "eq"] };

const SIGNAL: TypeRule = TypeRule {
    describe: "a pointer to `i32` in global memory",
    accepts: |t| matches!(t, Type::Ptr(Elem::I32, None | Some(Space::Gm))),
};

pub static TNOTIFY: OpDef = OpDef {
    schema: schema(
        "pto.comm.tnotify",
        Syntax::Format("$signal `[` $offset `]` `,` $value attr-dict `:` type($signal) `,` type($value)"),
        &[
            operand("signal", SIGNAL, Touch::Write, "signals, perhaps another device's"),
            operand("offset", INTEGER, Touch::Nothing, "which of them"),
            operand("value", INTEGER, Touch::Nothing, "the number"),
        ],
        &[],
        &[defaulted("notifyOp", AttrKind::Enum(NOTIFY_OP), "`set`: the signal becomes the number; else it is added")],
    ),
    summary: "Change a signal that a device waits for",
    doc: "Adds `value` to a signal in one indivisible step, or sets it. All work of this core that was issued before is done \
          first, so that whoever sees the signal sees what was stored: the public compiler puts a fence and the \
          invalidation of a cache there, and there are no caches here.",
    source: "tile ISA, TNOTIFY",
    pipe: PipeRule::Fixed(Pipe::S),
    update: |op| (op.text("notifyOp") != Some("set")).then_some(UpdateKind::Add),
    verify: |op, _, diags| in_words(op, "value", diags),
    lower: |op, d| {
        let (signal, value) = (signal(op, d)?, number(op, d, "value")?);
        d.emit(Inst::Barrier { pipe: None });
        let cost = Cost::fixed(d.platform.cost.scalar_memory);
        d.issue(
            Pipe::S,
            Notify { set: op.text("notifyOp") == Some("set") },
            SignalArgs { signal, number: value }.list(),
            cost,
        );
        Ok(())
    },
    ..PLAIN
};

pub static TWAIT: OpDef = OpDef {
    schema: schema(
        "pto.comm.twait",
        Syntax::Format("$signal `[` $offset `]` `,` $expected attr-dict `:` type($signal) `,` type($expected)"),
        &[
            operand("signal", SIGNAL, Touch::Read, "signals of this device"),
            operand("offset", INTEGER, Touch::Nothing, "which of them"),
            operand("expected", INTEGER, Touch::Nothing, "the number that it waits for"),
        ],
        &[],
        &[defaulted("cmp", AttrKind::Enum(WAIT_CMP), "`eq`: it waits for just this number; else a larger one will do")],
    ),
    summary: "Wait for a signal of another device",
    doc: "Holds the core until a signal is at least `expected`, or equal to it. What is issued behind it sees what was stored \
          before the signal was changed.",
    source: "tile ISA, TWAIT",
    pipe: PipeRule::Fixed(Pipe::S),
    verify: |op, _, diags| in_words(op, "expected", diags),
    lower: |op, d| {
        let (signal, expected) = (signal(op, d)?, number(op, d, "expected")?);
        let again = d.label();
        d.place(again);
        let over = d.issue_scalar(
            Await { at_least: op.text("cmp") != Some("eq") },
            SignalArgs { signal, number: expected }.list(),
        );
        d.poll(over, again);
        Ok(())
    },
    ..PLAIN
};

/// Reports a constant that no signal can be.
fn in_words(op: &OpRef<'_>, name: &str, diags: &mut Diags) {
    let known = op.operand(name).and_then(|value| slipring_op::rules::constant(op.module, value));
    if let Some(n) = known.filter(|n| i32::try_from(*n).is_err()) {
        diags.push(op.error("argument", format!("a signal is a number of 32 bits, and {n} is none")));
    }
}

fn number(op: &OpRef<'_>, d: &mut Decoder<'_>, name: &str) -> Result<Operand, Reported> {
    d.scalar(op.operand(name).ok_or(Reported)?)
}

/// The byte address of the signal.
fn signal(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<Operand, Reported> {
    let (base, offset) = (number(op, d, "signal")?, number(op, d, "offset")?);
    Ok(element_address(d, base, offset, Elem::I32))
}
