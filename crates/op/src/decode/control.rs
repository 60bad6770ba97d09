//! Expansion of structured control flow and calls.

use slipring_ir::{Diagnostic, ValueId};
use slipring_program::{Inst, Law, Operand, Trap};

use super::{Binding, Decoder};
use crate::def::{Lowered, OpRef, Reported};

/// A counted loop, or a vector function if the loop is marked as one.
///
/// # Errors
/// Reported by the body.
pub fn lower_for(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    if op.attr(crate::names::VECTOR_LOOP).is_none() {
        return counted_loop(op, d);
    }
    d.vector_function(|d| counted_loop(op, d))?;
    // The carried values of such a loop stay in the vector unit.
    for result in &op.module.op(op.id).results {
        d.bind(*result, Binding::Handle(0));
    }
    Ok(())
}

/// A counted loop. Operands: first, end, step, and the carried values; the body's arguments: the counter and
/// the carried values.
///
/// # Errors
/// Reported by the body.
fn counted_loop(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (first, end, step) = (scalar(op, d, "lower")?, scalar(op, d, "upper")?, scalar(op, d, "step")?);
    let step = match step {
        Operand::Imm(step) if step as i64 <= 0 => {
            return Err(d.error("loop-step", format!("the step of a loop is positive, not {}", step as i64)));
        }
        Operand::Imm(_) => step,
        _ => {
            let positive = |[step, ..]: [u64; 3]| if step as i64 > 0 { Ok(step) } else { Err(Trap::LoopStep) };
            d.compute_by(Law::Same, positive, [step, Operand::Imm(0), Operand::Imm(0)])
        }
    };
    let carried = carry(op.operands("init"), d)?;
    let counter = d.variable(first);
    let (head, exit) = (d.label(), d.label());
    d.place(head);
    d.jump_if_ge(Operand::Reg(counter), end, exit);
    let body = op.module.body(op.id, 0).ok_or(Reported)?;
    let args = op.module.block(body).args.clone();
    if let Some((index, args)) = args.split_first() {
        d.bind(*index, Binding::Scalar(Operand::Reg(counter)));
        bind_all(args, &carried, d);
    }
    let yielded = d.block(body)?;
    d.assign(&carried, &yielded);
    let fits = |end: u64, step: u64| (end as i64).checked_add(step as i64).is_some();
    let (a, b) = (Operand::Reg(counter), step);
    d.emit(match (end, step) {
        (Operand::Imm(end), Operand::Imm(step)) if fits(end, step) => Inst::Add { d: counter, a, b },
        // A saturated counter is the largest integer, which is below no end: the loop stops.
        _ => {
            let f = |[a, b, _]: [u64; 3]| Ok((a as i64).saturating_add(b as i64) as u64);
            Inst::Scalar { f, law: Law::Sum, d: counter, args: [a, b, Operand::Imm(0)] }
        }
    });
    d.jump(head);
    d.place(exit);
    bind_all(&op.module.op(op.id).results, &carried, d);
    Ok(())
}

/// A branch. Operand: the condition; regions: `then` and, optionally, `else`.
///
/// # Errors
/// Reported by the branches.
pub fn lower_if(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let condition = scalar(op, d, "condition")?;
    let (otherwise, end) = (d.label(), d.label());
    d.jump_if_zero(condition, otherwise);
    let then = op.module.body(op.id, 0).ok_or(Reported)?;
    let yielded = d.block(then);
    let results: Vec<Binding> = yielded.iter().flatten().map(|binding| d.phi(binding)).collect();
    let yielded = yielded.unwrap_or_default();
    d.assign(&results, &yielded);
    d.jump(end);
    d.place(otherwise);
    if let Some(block) = op.module.body(op.id, 1) {
        let yielded = d.block(block)?;
        d.assign(&results, &yielded);
    }
    d.place(end);
    bind_all(&op.module.op(op.id).results, &results, d);
    Ok(())
}

/// A tile, a window or a vector register of two: the condition decides which of the two stands for the result, as a
/// branch does.
///
/// # Errors
/// Reported where one of the two is something else.
pub fn lower_choice(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let condition = scalar(op, d, "condition")?;
    let mut either = |name: &str| -> Result<Binding, Reported> {
        match d.binding(op.operand(name).ok_or(Reported)?) {
            Some(binding @ (Binding::Tile(_) | Binding::View(_) | Binding::Vector(_))) => Ok(binding.clone()),
            Some(_) => Err(d.unsupported("a choice between values of this type")),
            None => Err(Reported),
        }
    };
    let (yes, no) = (either("true_value")?, either("false_value")?);
    let chosen = d.phi(&yes);
    let (otherwise, end) = (d.label(), d.label());
    d.jump_if_zero(condition, otherwise);
    d.assign(std::slice::from_ref(&chosen), &[yes]);
    d.jump(end);
    d.place(otherwise);
    d.assign(std::slice::from_ref(&chosen), &[no]);
    d.place(end);
    bind_all(&op.module.op(op.id).results, &[chosen], d);
    Ok(())
}

/// A region that runs once; the results are what it yields.
///
/// # Errors
/// Reported by the region.
pub fn lower_once(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let body = op.module.body(op.id, 0).ok_or(Reported)?;
    let yielded = d.block(body)?;
    bind_all(&op.module.op(op.id).results, &yielded, d);
    Ok(())
}

/// A loop with a condition. Operands: the carried values; regions: before, which ends in the condition and the
/// values passed on, and after, which yields the next carried values.
///
/// # Errors
/// Reported by the regions.
pub fn lower_while(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let carried = carry(op.operands("init"), d)?;
    let (head, exit) = (d.label(), d.label());
    d.place(head);
    let before = op.module.body(op.id, 0).ok_or(Reported)?;
    bind_all(&op.module.block(before).args.clone(), &carried, d);
    let passed = d.block(before)?;
    let Some((Binding::Scalar(condition), values)) = passed.split_first() else {
        return Err(d.error("while-condition", "the first region of `scf.while` must end in `scf.condition`"));
    };
    let results: Vec<Binding> = values.iter().map(|binding| d.phi(binding)).collect();
    d.assign(&results, values);
    d.jump_if_zero(*condition, exit);
    let after = op.module.body(op.id, 1).ok_or(Reported)?;
    bind_all(&op.module.block(after).args.clone(), &results, d);
    let next = d.block(after)?;
    d.assign(&carried, &next);
    d.jump(head);
    d.place(exit);
    bind_all(&op.module.op(op.id).results, &results, d);
    Ok(())
}

/// A terminator that passes on all its operands.
///
/// # Errors
/// None: every lowering function has this signature.
pub fn lower_yield(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    d.set_yield(&op.module.op(op.id).operands);
    Ok(())
}

/// A call.
///
/// # Errors
/// Reported if there is no such function, or it cannot be run.
pub fn lower_call(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let name = op.module.callee_name(op.id).unwrap_or("");
    let Some(callee) = op.module.symbol_from(op.id, name) else {
        return Err(d.report(Diagnostic::error(
            "unknown-function",
            op.span(),
            format!("there is no function `@{name}`"),
        )));
    };
    let args = op.module.op(op.id).operands.iter().filter_map(|v| d.binding(*v).cloned()).collect();
    if crate::workitems::is_entry(op.module, callee) {
        return d.launch_function(callee, args);
    }
    let results = d.call(callee, args)?;
    bind_all(&op.module.op(op.id).results, &results, d);
    Ok(())
}

fn scalar(op: &OpRef<'_>, d: &mut Decoder<'_>, index: &str) -> Result<Operand, Reported> {
    d.scalar(op.operand(index).ok_or(Reported)?)
}

/// Registers for carried values, initialised with their first values.
fn carry(values: &[ValueId], d: &mut Decoder<'_>) -> Result<Vec<Binding>, Reported> {
    let first: Vec<Binding> =
        values.iter().map(|v| d.binding(*v).cloned().ok_or(Reported)).collect::<Result<_, _>>()?;
    let carried: Vec<Binding> = first.iter().map(|binding| d.phi(binding)).collect();
    d.assign(&carried, &first);
    Ok(carried)
}

fn bind_all(values: &[ValueId], bindings: &[Binding], d: &mut Decoder<'_>) {
    for (value, binding) in values.iter().zip(bindings) {
        d.bind(*value, binding.clone());
    }
}
