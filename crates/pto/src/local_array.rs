//! Arrays of scalars on the scalar unit's stack.

use slipring_ir::{Diags, Infer, Syntax, Touch, Type, TypeRule, ValueId};
use slipring_machine::Platform;
use slipring_op::decode::{Binding, Decoder};
use slipring_op::def::{Lowered, OpRef, Reported};
use slipring_op::ops;
use slipring_op::rules::{INTEGER, PLAIN, SCALAR, operand, result, variadic};
use slipring_program::{Inst, Operand, Reg};
use slipring_tile::Elem;

/// The maximum number of elements of an array: each takes a register here.
const MOST: u64 = 256;

const LOCAL_ARRAY: TypeRule = TypeRule { describe: "a local array", accepts: |t| shape(t).is_some() };

/// The extents and the element type of `!pto.local_array<2x4xf32>`.
fn shape(ty: &Type) -> Option<(Vec<u64>, Elem)> {
    let Type::Named(name) = ty else { return None };
    let inside = name.strip_prefix("pto.local_array<")?.strip_suffix('>')?;
    let mut parts: Vec<&str> = inside.split('x').map(str::trim).collect();
    let elem = Elem::parse(parts.pop()?)?;
    let dims: Vec<u64> = parts.into_iter().map(|n| n.parse().ok().filter(|n| *n > 0)).collect::<Option<_>>()?;
    (!dims.is_empty()).then_some((dims, elem))
}

ops! {
    OPS;

    /// `!pto.local_array<2x4xf32>` holds 2 × 4 numbers, at most 256. An element that was not set must not be read: the
    /// run stops.
    pub DECLARE "pto.declare_local_array" "An array of numbers on the stack of the scalar unit": PLAIN,
        source: "PTO IR of the public assembler 0.60, pto.declare_local_array", verify: verify_declare,
        lower: lower_declare
        => {
            syntax: Syntax::Format("attr-dict `->` type($array)"),
            results: &[result("array", LOCAL_ARRAY, Infer::Written, "the array")],
        };

    /// The number that the element holds now.
    pub GET "pto.local_array_get" "Read an element of an array on the stack": PLAIN,
        source: "PTO IR of the public assembler 0.60, pto.local_array_get",
        verify: |op, _, diags| same_type(op, op.module.ty(op.result(0)), diags), lower: lower_get
        => {
            syntax: Syntax::Format("$array `[` $indices `]` attr-dict `:` type($array) `->` type($result)"),
            operands: &[
                operand("array", LOCAL_ARRAY, Touch::Nothing, "the array"),
                variadic("indices", INTEGER, Touch::Nothing, "an index for each dimension"),
            ],
            results: &[result("result", SCALAR, Infer::Written, "the element")],
        };

    /// The element holds `value` from here on.
    pub SET "pto.local_array_set" "Write an element of an array on the stack": PLAIN,
        source: "PTO IR of the public assembler 0.60, pto.local_array_set", verify: verify_set, lower: lower_set
        => {
            syntax: Syntax::Format("$array `[` $indices `]` `,` $value attr-dict `:` type($array) `,` type($value)"),
            operands: &[
                operand("array", LOCAL_ARRAY, Touch::Nothing, "the array"),
                variadic("indices", INTEGER, Touch::Nothing, "an index for each dimension"),
                operand("value", SCALAR, Touch::Nothing, "what to write"),
            ],
        };
}

fn verify_declare(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    let count =
        shape(op.module.ty(op.result(0))).map(|(dims, _)| dims.iter().fold(1u64, |n, dim| n.saturating_mul(*dim)));
    if let Some(count) = count.filter(|n| *n > MOST) {
        let message = format!("an array of {count} elements on the stack is not modelled: at most {MOST}");
        diags.push(op.error(slipring_ir::Kind::Unsupported, message));
    }
}

fn lower_declare(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (dims, _) = shape(op.module.ty(op.result(0))).ok_or(Reported)?;
    let count = dims.iter().product::<u64>();
    // Two registers for each element: its value, and whether it was set.
    let mut number = || Binding::Scalar(Operand::Reg(d.variable(Operand::Imm(0))));
    let slots = (0..2 * count).map(|_| number()).collect();
    d.bind(op.result(0), Binding::Many(slots));
    Ok(())
}

fn lower_get(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let slots = slots(op, d)?;
    let at = index(op, d)?;
    let (mut value, mut known) = (Operand::Imm(0), Operand::Imm(0));
    for (element, [number, set]) in slots.iter().enumerate() {
        let pick = |[at, element, number]: [u64; 3]| Ok(if at == element { number } else { 0 });
        let element = Operand::Imm(element as u64);
        if at.as_imm().is_some() && at != element {
            continue;
        }
        let part = d.compute(pick, [at, element, Operand::Reg(*number)]);
        value = d.add(value, part);
        let part = d.compute(pick, [at, element, Operand::Reg(*set)]);
        known = d.add(known, part);
    }
    let unset = d.compute(|[known, ..]| Ok(u64::from(known == 0)), [known, Operand::Imm(0), Operand::Imm(0)]);
    trap_if(d, unset, "an element of an array on the stack is read that was not set");
    let value = Operand::Reg(d.variable(value));
    d.bind(op.result(0), Binding::Scalar(value));
    Ok(())
}

fn verify_set(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    if let Some(ty) = op.ty("value") {
        same_type(op, ty, diags);
    }
}

fn lower_set(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let slots = slots(op, d)?;
    let at = index(op, d)?;
    let value = d.scalar(op.operand("value").ok_or(Reported)?)?;
    for (element, [number, set]) in slots.into_iter().enumerate() {
        let element = Operand::Imm(element as u64);
        if at.as_imm().is_some() && at != element {
            continue;
        }
        let hit = d.compute(|[at, element, _]| Ok(u64::from(at == element)), [at, element, Operand::Imm(0)]);
        for (slot, new) in [(number, value), (set, Operand::Imm(1))] {
            let choose = |[hit, new, old]: [u64; 3]| Ok(if hit != 0 { new } else { old });
            let a = d.compute(choose, [hit, new, Operand::Reg(slot)]);
            d.emit(Inst::Move { d: slot, a });
        }
    }
    Ok(())
}

fn same_type(op: &OpRef<'_>, ty: &Type, diags: &mut slipring_ir::Diags) {
    let Some((dims, elem)) = op.ty("array").and_then(shape) else { return };
    if dims.len() != op.operands("indices").len() {
        let message =
            format!("the array has {} dimensions, and {} indices are given", dims.len(), op.operands("indices").len());
        diags.push(op.error("array-index", message));
    }
    if ty.elem() != Some(elem) {
        diags.push(op.error("elem-type", format!("the array holds `{elem}`, not `{ty}`")));
    }
}

/// The registers of the elements.
fn slots(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<Vec<[Reg; 2]>, Reported> {
    let array: ValueId = op.operand("array").ok_or(Reported)?;
    let reg = |binding: &Binding| if let Binding::Scalar(Operand::Reg(reg)) = binding { Some(*reg) } else { None };
    let of = |parts: &[Binding]| Some([reg(&parts[0])?, reg(&parts[1])?]);
    let found = match d.binding(array) {
        Some(Binding::Many(list)) => list.chunks_exact(2).map(of).collect(),
        _ => None,
    };
    found.ok_or_else(|| d.unsupported("an array on the stack that control flow passes on"))
}

/// The index of the selected element in memory order. The run stops if an index is out of range.
fn index(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<Operand, Reported> {
    let (dims, _) = op.ty("array").and_then(shape).ok_or(Reported)?;
    let mut at = Operand::Imm(0);
    for (value, extent) in op.operands("indices").iter().zip(dims) {
        let index = d.scalar(*value)?;
        let extent = Operand::Imm(extent);
        let beyond = d.compute(|[index, extent, _]| Ok(u64::from(index >= extent)), [index, extent, Operand::Imm(0)]);
        if beyond == Operand::Imm(1) {
            return Err(d.error("array-index", "the index is not inside of the array"));
        }
        trap_if(d, beyond, "an index is not inside of an array on the stack");
        at = d.mul(at, extent);
        at = d.add(at, index);
    }
    Ok(at)
}

pub(super) fn trap_if(d: &mut Decoder<'_>, condition: Operand, message: &'static str) {
    if condition == Operand::Imm(0) {
        return;
    }
    let fine = d.label();
    d.jump_if_zero(condition, fine);
    d.emit(Inst::Trap { message: message.into() });
    d.place(fine);
}
