//! Atomic changes of memory by workitems.

use slipring_ir::{Diags, Syntax, Touch, Type};
use slipring_machine::{Pipe, Platform};
use slipring_op::decode::{Binding, Decoder};
use slipring_op::def::{InCoreSync, Lowered, OpDef, OpRef, PipeRule, Reported};
use slipring_op::rules::{POINTER, operand, schema};
use slipring_op::{ops, workitems};
use slipring_program::{Change, Operand};
use slipring_simt::{Act, Cell, Compute};
use slipring_tile::{Elem, Space};

use super::super::memory::{given, memory};
use super::change::{ADD, AND, Kind, MAX, MIN, OR, SUB, XOR, on};
use super::memory::STORE_CACHE;
use super::{SIGNEDNESS, VALUE, WORK, out, scalars, signed, value};

const ATOMIC: OpDef = OpDef {
    schema: schema(
        "",
        Syntax::Format(
            "$ptr `,` $value (`l2cache` `(` keyword($l2cache) `)`)? (keyword($signedness))? attr-dict `:` type($ptr) `,` \
             type($value) `->` type($result)",
        ),
        &[operand("ptr", POINTER, Touch::ReadWrite, "the element"), value("value", "what to change it with")],
        &[out(VALUE, "what was there before")],
        &[STORE_CACHE, SIGNEDNESS],
    ),
    pipe: PipeRule::Fixed(Pipe::V),
    in_core_sync: InCoreSync::Manual,
    verify: |op, _, diags| verify(op, NUMBERS, diags),
    ..WORK
};

/// The types of most of them, and those of the bitwise ones.
const NUMBERS: &[Type] = &[Type::I32, Type::I64, scalars::F16, scalars::BF16, scalars::F32];
const INTEGERS: &[Type] = &[Type::I32, Type::I64];

ops! {
    OPS;

    /// `*ptr = value`, and what was there before, in one step. Two atomic changes of the same bytes are no race,
    /// whichever workitems, blocks and cores make them. Here the workitems of a launch change them in their order; a
    /// program whose result depends on that order is not covered by a verdict about all schedules, and the report says
    /// so.
    EXCH "pto.atomic_exch" "Exchange an element": ATOMIC,
        lower: |op, d| change(op, d, &["value"], Change::Exchange, Box::new(|_, given| given[0]));
    /// `*ptr = *ptr + value` in one step. Integers wrap; floats are rounded to their type. Otherwise as
    /// `pto.atomic_exch`.
    ATOMIC_ADD "pto.atomic_add" "Add to an element": ATOMIC, lower: |op, d| join(op, d, ADD);
    /// `*ptr = *ptr - value` in one step. Otherwise as `pto.atomic_add`.
    ATOMIC_SUB "pto.atomic_sub" "Subtract from an element": ATOMIC, lower: |op, d| join(op, d, SUB);
    /// `*ptr = min(*ptr, value)` in one step; `unsigned` says how integers are meant, which are signed otherwise. Of
    /// floats NaN if one is NaN. Otherwise as `pto.atomic_exch`.
    ATOMIC_MIN "pto.atomic_min" "Keep the smaller element": ATOMIC, lower: |op, d| join(op, d, MIN);
    /// `*ptr = max(*ptr, value)` in one step. Otherwise as `pto.atomic_min`.
    ATOMIC_MAX "pto.atomic_max" "Keep the larger element": ATOMIC, lower: |op, d| join(op, d, MAX);
    /// `*ptr = *ptr & value` in one step, on integers. Otherwise as `pto.atomic_exch`.
    ATOMIC_AND "pto.atomic_and" "And with an element": ATOMIC, lower: |op, d| join(op, d, AND),
        verify: |op, _, diags| verify(op, INTEGERS, diags);
    /// `*ptr = *ptr | value` in one step, on integers. Otherwise as `pto.atomic_exch`.
    ATOMIC_OR "pto.atomic_or" "Or with an element": ATOMIC, lower: |op, d| join(op, d, OR),
        verify: |op, _, diags| verify(op, INTEGERS, diags);
    /// `*ptr = *ptr ^ value` in one step, on integers. Otherwise as `pto.atomic_exch`.
    ATOMIC_XOR "pto.atomic_xor" "Exclusive or with an element": ATOMIC, lower: |op, d| join(op, d, XOR),
        verify: |op, _, diags| verify(op, INTEGERS, diags);
    /// `value` goes to memory if the bits there are those of `compare`, in one step: of floats the bits are compared, so
    /// that −0 is not +0. Otherwise as `pto.atomic_exch`.
    ATOMIC_CAS "pto.atomic_cas" "Exchange an element that is as expected": ATOMIC, lower: compare_and_swap,
        verify: verify_cas
        => {
            syntax: Syntax::Format(
                "$ptr `,` $compare `,` $value (`l2cache` `(` keyword($l2cache) `)`)? (keyword($signedness))? attr-dict \
                 `:` type($ptr) `,` type($value) `->` type($result)",
            ),
            operands: &[
                ATOMIC.schema.operands[0],
                value("compare", "what is expected there"),
                value("value", "what to write then"),
            ],
        };
}

fn verify_cas(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    verify(op, NUMBERS, diags);
    scalars::alike(op, "value", &["compare"], diags);
}

fn verify(op: &OpRef<'_>, types: &[Type], diags: &mut Diags) {
    workitems::only_inside(op, diags);
    if !scalars::require(op, "value", types, diags) {
        return;
    }
    scalars::alike(op, "value", &[], diags);
    let (space, elem) = (op.space("ptr").unwrap_or(Space::Gm), op.ty("value").and_then(Type::elem));
    if op.ty("ptr").and_then(Type::elem) != elem {
        diags.push(op.error("elem-type", "expects the value's type to match the element type of the memory"));
    }
    if !matches!(space, Space::Gm | Space::Vec) {
        diags.push(op.error("pointer-space", "expects a pointer into global memory or UB"));
    }
    if space == Space::Vec && elem == Some(Elem::I64) {
        diags.push(op.error("elem-type", "does not change elements of i64 in UB"));
    }
    if signed(op).is_some() && elem.is_some_and(Elem::is_float) {
        diags.push(op.error("simt-sign", "takes no `signed` or `unsigned` for floats"));
    }
}

fn join(op: &OpRef<'_>, d: &mut Decoder<'_>, kind: Kind) -> Lowered {
    let ty = op.ty("value").ok_or(Reported)?;
    let is_signed = signed(op) != Some(false);
    let elem = ty.elem().ok_or(Reported)?;
    let meant = match elem {
        Elem::I32 if !is_signed => Elem::U32,
        Elem::I64 if !is_signed => Elem::U64,
        elem => elem,
    };
    // Whoever uses the old value sees whether others came before.
    let used = !op.module.users(op.result(0)).is_empty();
    let what = if used { Change::Exchange } else { (kind.change)(meant) };
    let join = on(kind, ty, is_signed);
    change(op, d, &["value"], what, Box::new(move |old, given| join(old, given[0])))
}

fn compare_and_swap(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let bytes = op.ty("value").and_then(Type::elem).ok_or(Reported)?.bytes();
    let unused = 64 - 8 * bytes as u32;
    let same = move |a: u64, b: u64| a << unused == b << unused;
    let compute = move |old, given: &[u64]| if same(old, given[0]) { given[1] } else { old };
    change(op, d, &["compare", "value"], Change::Exchange, Box::new(compute))
}

fn change(op: &OpRef<'_>, d: &mut Decoder<'_>, values: &[&str], what: Change, compute: Compute) -> Lowered {
    let at = memory(op, d, "ptr")?;
    let given = values.iter().map(|name| given(op, d, name)).collect::<Result<Vec<_>, _>>()?;
    let args: Vec<Operand> = std::iter::once(at.addr).chain(given).collect();
    let cell = Cell { space: at.space, elem: at.elem };
    let old = d.workitem_step(Act::Change(cell, what, compute), &args, true)?;
    d.bind(op.result(0), Binding::Scalar(old));
    Ok(())
}
