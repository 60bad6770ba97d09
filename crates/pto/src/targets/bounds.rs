//! Loop bounds, rewritten so that the C++ of the assembler runs the same number of iterations.

use slipring_ir::{Attr, AttrDict, Module, OpId, Type, ValueDef, ValueId};
use slipring_machine::Platform;
use slipring_op::def::{FromZero, OpRef};
use slipring_op::rules::constant;
use slipring_op::target::Scalars;

use super::fixes::{Fixed, constant_before, op};
use super::scalars::of_two_before;

/// Maximum depth of the search for values that are never negative.
const DEPTH: u32 = 16;

/// In the C++ a loop without carried values counts in `size_t`: a negative bound, for which the text runs no iteration,
/// becomes about 2^64. Such a bound is clamped to zero, and a loop that may begin below zero is shifted to begin at
/// zero.
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

/// True for an integer that is never negative, as far as its operations show.
fn is_counted(module: &Module, value: ValueId, depth: u32) -> bool {
    if let Some(number) = constant(module, value) {
        return number >= 0;
    }
    if depth == 0 {
        return false;
    }
    let counted = |value: ValueId| is_counted(module, value, depth - 1);
    match module.value(value).def {
        ValueDef::Result(made, _) => OpRef::of(module, made).is_some_and(|made| {
            let named = |name: &&str| made.if_declared(name).is_some_and(counted);
            match made.def.from_zero {
                FromZero::Unknown => false,
                FromZero::Always => true,
                FromZero::IfAll(names) => names.iter().all(&named),
                FromZero::IfOne(names) => names.iter().any(named),
            }
        }),
        ValueDef::Arg(block, at) => {
            let owner = module.block_parent(block).and_then(|owner| OpRef::of(module, owner));
            at == 0 && owner.and_then(|owner| owner.range()).is_some_and(|[first, ..]| counted(first))
        }
    }
}
