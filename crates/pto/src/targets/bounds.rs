//! Bounds of loops, so that the C++ that the assembler writes counts as often.

use slipring_ir::{Attr, AttrDict, Module, OpId, Type, ValueDef, ValueId};
use slipring_machine::Platform;
use slipring_op::rules::constant;
use slipring_op::target::Scalars;

use super::fixes::{Fixed, constant_before, op};
use super::scalars::of_two_before;

/// What is never below zero where none of its numbers is.
const KEEP: &[&str] = &[
    "arith.addi",
    "arith.muli",
    "arith.divsi",
    "arith.ceildivsi",
    "arith.floordivsi",
    "arith.minsi",
    "arith.divui",
    "arith.remui",
    "arith.minui",
    "arith.shrui",
    "arith.shrsi",
    "arith.index_cast",
    "arith.extsi",
];

/// What is never below zero where one of its numbers is not.
const ANY: &[&str] = &["arith.maxsi", "arith.andi"];

/// What is never below zero.
const COUNTS: &[&str] = &[
    "arith.extui",
    "pto.get_block_idx",
    "pto.get_block_num",
    "pto.get_subblock_idx",
    "pto.get_subblock_num",
    "pto.get_tensor_view_dim",
];

/// How far back it is asked whether a number is never below zero.
const DEPTH: u32 = 16;

/// A loop that carries nothing counts in `size_t`: where the text says no turn, a bound below zero says 2^64. Such a bound is zero
/// at least, and a loop that may begin below zero counts from there.
pub(super) fn counted_without_a_sign(scalars: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    let (Some(lower), Some(upper)) = (this.if_declared("lower"), this.if_declared("upper")) else { return Ok(()) };
    if *module.ty(lower) != Type::Index || !module.op(id).results.is_empty() {
        return Ok(());
    }
    let from_zero = is_counted(module, lower, DEPTH);
    if from_zero && is_counted(module, upper, DEPTH) {
        return Ok(());
    }
    let zero = constant_before(scalars, module, id, 0, Type::Index)?;
    let last = match from_zero {
        true => upper,
        false => of_two_before(module, id, scalars.subtract, [upper, lower]),
    };
    let last = at_least(scalars, module, id, last, zero);
    if from_zero {
        module.op_mut(id).operands[1] = last;
        return Ok(());
    }
    let Some(body) = module.body(id, 0) else { return Ok(()) };
    let Some(counter) = module.block(body).args.first().copied() else { return Ok(()) };
    module.op_mut(id).operands[0] = zero;
    module.op_mut(id).operands[1] = last;
    let (Some(first), span) = (module.block(body).ops.first().copied(), module.op(id).span) else { return Ok(()) };
    let operands: &[(&str, &[ValueId])] = &[("lhs", &[lower]), ("rhs", &[lower])];
    let sum = scalars.add.make(module, operands, AttrDict::default(), &[Type::Index], span);
    let value = module.op(sum).results[0];
    module.replace_uses(counter, value);
    module.op_mut(sum).operands[1] = counter;
    module.insert_before(first, sum);
    Ok(())
}

fn at_least(scalars: &Scalars, module: &mut Module, id: OpId, number: ValueId, least: ValueId) -> ValueId {
    let span = module.op(id).span;
    let less = [("predicate", Attr::member("cmpi_predicate", "slt"))];
    let below = scalars.compare.make(module, &[("lhs", &[number]), ("rhs", &[least])], less, &[Type::I1], span);
    module.insert_before(id, below);
    let condition = module.op(below).results[0];
    let operands: &[(&str, &[ValueId])] =
        &[("condition", &[condition]), ("true_value", &[least]), ("false_value", &[number])];
    let made = scalars.select.make(module, operands, AttrDict::default(), &[Type::Index], span);
    module.insert_before(id, made);
    module.op(made).results[0]
}

/// True for a number that is never below zero, as far as its operations tell.
fn is_counted(module: &Module, value: ValueId, depth: u32) -> bool {
    if let Some(number) = constant(module, value) {
        return number >= 0;
    }
    if depth == 0 {
        return false;
    }
    let each = |values: &[ValueId]| values.iter().all(|value| is_counted(module, *value, depth - 1));
    match module.value(value).def {
        ValueDef::Result(made, _) => {
            let data = module.op(made);
            let name = &*module.op(made).name;
            KEEP.contains(&name) && each(&data.operands)
                || name == "arith.remsi" && each(&data.operands[..1])
                || name == "arith.select" && each(&data.operands[1..])
                || ANY.contains(&name) && data.operands.iter().any(|value| each(&[*value]))
                || COUNTS.contains(&name)
        }
        ValueDef::Arg(block, at) => {
            let Some(owner) = module.block_parent(block) else { return false };
            at == 0 && *module.op(owner).name == *"scf.for" && each(&module.op(owner).operands[..1])
        }
    }
}
