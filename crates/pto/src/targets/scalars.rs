//! Scalars, rewritten so that the C++ of the assembler has the same semantics.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use slipring_ir::{Attr, AttrDict, BlockId, Module, OpId, Sign, Type, ValueDef, ValueId};
use slipring_machine::Platform;
use slipring_op::def::{OpDef, OpRef};
use slipring_op::target::{OpTable, Scalars};

use super::fixes::{Fixed, constant_before, op, replace};
use crate::STORE_SCALAR;

/// Inserts a binary op before another one.
pub(super) fn of_two_before(
    module: &mut Module,
    anchor: OpId,
    def: &'static OpDef,
    [lhs, rhs]: [ValueId; 2],
) -> ValueId {
    let (ty, span) = (module.ty(lhs).clone(), module.op(anchor).span);
    let made = def.make(module, &[("lhs", &[lhs]), ("rhs", &[rhs])], AttrDict::default(), &[ty], span);
    module.insert_before(anchor, made);
    module.op(made).results[0]
}

/// Inserts a cast before another op.
pub(super) fn cast_before(module: &mut Module, anchor: OpId, def: &'static OpDef, value: ValueId, ty: Type) -> ValueId {
    let span = module.op(anchor).span;
    let made = def.make(module, &[("in", &[value])], AttrDict::default(), &[ty], span);
    module.insert_before(anchor, made);
    module.op(made).results[0]
}

/// Index and 32-bit integers have the same type in the C++: a cast between them is folded away, and if it was the whole
/// expression, the translation finds none (`unsupported operation`). The cast goes through 64 bits instead.
pub(super) fn cast_by_way_of_64_bits(scalars: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    let unsigned = !std::ptr::eq(this.def, scalars.index_cast);
    let (from, result) = (this.if_declared("in").ok_or("it casts nothing")?, this.result(0));
    let (widen, cast) = match unsigned {
        true => (scalars.widen_unsigned, scalars.index_cast_unsigned),
        false => (scalars.widen, scalars.index_cast),
    };
    let (last, near) = match (module.ty(from).clone(), module.ty(result).clone()) {
        (Type::I32, Type::Index) => (cast, cast_before(module, id, widen, from, Type::I64)),
        (Type::Index, Type::I32) => (scalars.narrow, cast_before(module, id, cast, from, Type::I64)),
        _ => return Ok(()),
    };
    let (ty, span) = (module.ty(result).clone(), module.op(id).span);
    let made = last.make(module, &[("in", &[near])], AttrDict::default(), &[ty], span);
    module.insert_before(id, made);
    replace(module, id, made);
    Ok(())
}

/// Replaces a float addition by the subtraction of the negated operand: exact, including zeros and infinities.
pub(super) fn sum_as_difference(scalars: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    let [lhs, rhs] = both(&this)?;
    let (ty, span) = (module.ty(rhs).clone(), module.op(id).span);
    let negated = cast_before(module, id, scalars.negate, rhs, ty.clone());
    let operands: &[(&str, &[ValueId])] = &[("lhs", &[lhs]), ("rhs", &[negated])];
    let made = scalars.subtract_floats.make(module, operands, AttrDict::default(), &[ty], span);
    module.insert_before(id, made);
    replace(module, id, made);
    Ok(())
}

/// Replaces an unsigned division that rounds up by one that rounds down: the assembler translates it as signed.
pub(super) fn rounded_up_by_one_less(scalars: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    let [lhs, rhs] = both(&this)?;
    let (ty, span) = (module.ty(lhs).clone(), module.op(id).span);
    let one = constant_before(scalars, module, id, 1, ty.clone())?;
    let zero = constant_before(scalars, module, id, 0, ty.clone())?;
    // Each step goes to a variable: see `numbers_with_their_brackets`.
    let step = |module: &mut Module, def, operands| {
        let made = of_two_before(module, id, def, operands);
        variables(scalars, module, id, &[made]).map(|copies| copies[0])
    };
    let less = step(module, scalars.subtract, [lhs, one])?;
    let down = step(module, scalars.divide_unsigned, [less, rhs])?;
    let up = step(module, scalars.add, [down, one])?;
    let equal = [("predicate", Attr::member("cmpi_predicate", "eq"))];
    let none = scalars.compare.make(module, &[("lhs", &[lhs]), ("rhs", &[zero])], equal, &[Type::I1], span);
    module.insert_before(id, none);
    let condition = module.op(none).results[0];
    let operands: &[(&str, &[ValueId])] =
        &[("condition", &[condition]), ("true_value", &[zero]), ("false_value", &[up])];
    let made = scalars.select.make(module, operands, AttrDict::default(), &[ty], span);
    module.insert_before(id, made);
    replace(module, id, made);
    Ok(())
}

fn both(this: &OpRef<'_>) -> Result<[ValueId; 2], String> {
    let operand = |name| this.if_declared(name).ok_or("it has no two operands");
    Ok([operand("lhs")?, operand("rhs")?])
}

/// In the C++, the carried values of a loop are assigned one after the other: if a later value depends on an earlier
/// one, all are copied first, as the results of a branch.
pub(super) fn carried_at_once(scalars: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let regions = module.op(id).regions.len();
    // The last region ends with the next carried values; the first one begins with the current ones.
    let (Some(first), Some(last)) = (module.body(id, 0), module.body(id, regions - 1)) else { return Ok(()) };
    let Some(end) = module.block(last).ops.last().copied() else { return Ok(()) };
    let carried = module.op(end).operands.to_vec();
    if carried.len() < 2 || *module.op(end).name != *scalars.branch_end.schema.name {
        return Ok(());
    }
    let own = module.block(first).args.len() - carried.len();
    let args = module.block(first).args[own..].to_vec();
    let mut earliest: BTreeMap<ValueId, usize> = args.iter().enumerate().map(|(at, arg)| (*arg, at)).collect();
    if first == last {
        computed_from(module, first, &mut earliest);
    } else {
        handed_on(module, [first, last], &mut earliest);
    }
    let overwritten = |at: usize| earliest.get(&carried[at]).is_some_and(|arg| *arg < at);
    if !(1..carried.len()).any(overwritten) {
        return Ok(());
    }
    let copies = variables(scalars, module, end, &carried)?;
    module.op_mut(end).operands = copies.into_iter().collect();
    Ok(())
}

/// Adds the values that a block computes from carried ones, each with the first of these. Loops and branches put their
/// results in variables.
fn computed_from(module: &Module, block: BlockId, earliest: &mut BTreeMap<ValueId, usize>) {
    for op in module.block(block).ops.iter().map(|id| module.op(*id)).filter(|op| op.regions.is_empty()) {
        if let Some(at) = op.operands.iter().filter_map(|value| earliest.get(value)).min().copied() {
            earliest.extend(op.results.iter().map(|result| (*result, at)));
        }
    }
}

/// Adds the values that a condition passes to the other region unchanged. Computed ones are in variables there.
fn handed_on(module: &Module, [before, after]: [BlockId; 2], earliest: &mut BTreeMap<ValueId, usize>) {
    let Some(condition) = module.block(before).ops.last() else { return };
    let handed = module.operands_named(*condition, "args");
    for (arg, value) in module.block(after).args.iter().zip(handed) {
        if let Some(at) = earliest.get(value).copied() {
            earliest.insert(*arg, at);
        }
    }
}

/// Ops that compute with scalars, and their form in the C++.
pub(super) static USERS: LazyLock<OpTable> = LazyLock::new(|| OpTable::built_in(include_str!("scalars.tsv")));

/// True if the table has this word for an op.
fn is(op: &str, word: &str) -> bool {
    USERS.words(op).is_some_and(|words| words.contains(&word))
}

/// The form of a value in the C++ if it has a single use, and is thus written into the expression that uses it.
struct Written {
    wraps: bool,
    chooses: bool,
    divides: bool,
    compares: bool,
}

impl Written {
    fn of(module: &Module, value: ValueId) -> Option<Written> {
        let ValueDef::Result(made, _) = module.value(value).def else { return None };
        let name = &*module.op(made).name;
        // A conversion to boolean must take the lowest bit, before the cast.
        let lowest_bit = name == "arith.trunci" && *module.ty(value) == Type::I1;
        let [wraps, chooses, divides, compares] =
            ["wraps", "chooses", "divides", "compares"].map(|word| is(name, word));
        Some(Written { wraps: wraps || lowest_bit, chooses, divides, compares })
    }
}

/// A value with a single use is written into the expression that uses it, and two casts around it lose their
/// parentheses (LLVM 19): `(int64_t) ((int32_t) a + b)`. If that changes its value, it gets a variable.
pub(super) fn numbers_with_their_brackets(scalars: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let user = module.op(id).name.clone();
    let casts = is(&user, "casts");
    let compares = is(&user, "compares");
    for at in 0..module.op(id).operands.len() {
        let value = module.op(id).operands[at];
        let Some(written) = Written::of(module, value) else { continue };
        let Written { wraps, chooses, divides, .. } = written;
        let unsigned_shift = divides && defined_by(module, value, "arith.shrui");
        let narrow = matches!(module.ty(value), Type::Int { width: 2..32, .. });
        let lost = unsigned_shift
            || narrow && (wraps || chooses)
            || casts && (wraps || chooses || divides)
            || compares && (chooses || written.compares);
        if lost {
            let copy = variables(scalars, module, id, &[value])?[0];
            module.op_mut(id).operands[at] = copy;
        }
    }
    Ok(())
}

fn defined_by(module: &Module, value: ValueId, name: &str) -> bool {
    module.defining_op(value).is_some_and(|made| *module.op(made).name == *name)
}

/// Puts initial values of loops and branches, and loop bounds, into variables, because they are under casts as well.
pub(super) fn given_in_variables(scalars: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    // A loop with carried values counts in `int32_t`, through `size_t`: that is one more cast.
    let bounds = *module.op(id).name == *"scf.for" && module.op(id).results.is_empty();
    for at in 0..module.op(id).operands.len() {
        let value = module.op(id).operands[at];
        let Some(written) = Written::of(module, value) else { continue };
        let bound = bounds && at < 3;
        let whole = matches!(module.ty(value), Type::Int { .. } | Type::Index);
        if whole && (written.chooses || written.divides || bound && written.wraps) {
            let copy = variables(scalars, module, id, &[value])?[0];
            module.op_mut(id).operands[at] = copy;
        }
    }
    Ok(())
}

/// Rewrites signed comparisons of booleans: in the C++ booleans are unsigned, so true is larger, while here true is -1
/// and thus smaller.
pub(super) fn truths_without_a_sign(scalars: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let this = op(module, id)?;
    let [lhs, rhs] = both(&this)?;
    if *module.ty(lhs) != Type::I1 {
        return Ok(());
    }
    let name = module.op(id).name.clone();
    let span = module.op(id).span;
    if &*name == "arith.cmpi" {
        let unsigned = this.text("predicate").and_then(|predicate| Some(format!("u{}", predicate.strip_prefix('s')?)));
        if let Some(predicate) = unsigned {
            module.op_mut(id).operands = [rhs, lhs].into_iter().collect();
            module.op_mut(id).attrs.set("predicate", Attr::member("cmpi_predicate", &predicate));
        }
        return Ok(());
    }
    let both_true = &*name == "arith.maxsi";
    let known = constant_before(scalars, module, id, i64::from(!both_true), Type::I1)?;
    let (yes, no) = if both_true { (rhs, known) } else { (known, rhs) };
    let operands: &[(&str, &[ValueId])] = &[("condition", &[lhs]), ("true_value", &[yes]), ("false_value", &[no])];
    let made = scalars.select.make(module, operands, AttrDict::default(), &[Type::I1], span);
    module.insert_before(id, made);
    replace(module, id, made);
    Ok(())
}

/// Puts values into variables before an op, as the results of branches. Integers are also compared in the condition: a
/// value with two uses gets a variable before any cast.
fn variables(scalars: &Scalars, module: &mut Module, anchor: OpId, values: &[ValueId]) -> Result<Vec<ValueId>, String> {
    values.iter().map(|value| variable(scalars, module, anchor, *value)).collect()
}

fn variable(scalars: &Scalars, module: &mut Module, anchor: OpId, value: ValueId) -> Result<ValueId, String> {
    let (ty, span) = (module.ty(value).clone(), module.op(anchor).span);
    let condition = match ty {
        Type::Int { .. } | Type::Index => {
            let zero = constant_before(scalars, module, anchor, 0, ty.clone())?;
            let equal = [("predicate", Attr::member("cmpi_predicate", "eq"))];
            let operands: &[(&str, &[ValueId])] = &[("lhs", &[value]), ("rhs", &[zero])];
            let compared = scalars.compare.make(module, operands, equal, &[Type::I1], span);
            module.insert_before(anchor, compared);
            module.op(compared).results[0]
        }
        _ => constant_before(scalars, module, anchor, 1, Type::I1)?,
    };
    let branch = scalars.branch.make(module, &[("condition", &[condition])], AttrDict::default(), &[ty], span);
    for _ in 0..2 {
        let region = module.add_region(branch);
        let block = module.add_block(region);
        let given = scalars.branch_end.make(module, &[("values", &[value])], AttrDict::default(), &[], span);
        module.append(block, given);
    }
    module.insert_before(anchor, branch);
    Ok(module.op(branch).results[0])
}

/// Makes constants signless: tile ops take signless ones whatever the signedness of their elements, and stores to
/// global memory take a cast one.
pub(super) fn constant_of_bits(scalars: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let result = op(module, id)?.result(0);
    let Type::Int { width, sign: Sign::Signed | Sign::Unsigned } = *module.ty(result) else { return Ok(()) };
    let all = module.walk(module.top);
    let users: Vec<OpId> = all.into_iter().filter(|user| module.op(*user).operands.contains(&result)).collect();
    let stores = |user: &OpId| *module.op(*user).name == *STORE_SCALAR.schema.name;
    let on_tiles = |user: &OpId| {
        module.op(*user).name.starts_with("pto.t")
            && module.op(*user).operands.iter().any(|value| module.ty(*value).as_tile().is_some())
    };
    if let Some(user) = users.iter().find(|user| !stores(user) && !on_tiles(user)) {
        return Err(format!("`{}` takes no numbers of type {}", module.op(*user).name, module.ty(result)));
    }
    let stored = users.iter().any(stores);
    let computing: Vec<OpId> = users.into_iter().filter(|user| !stores(user)).collect();
    let Some(Attr::Int(value, _)) = module.op(id).attrs.get("value") else { return Ok(()) };
    let free = 128 - u32::from(width);
    let (bits, plain) = ((*value << free) >> free, Type::Int { width, sign: Sign::Signless });
    let (ty, span) = (module.ty(result).clone(), module.op(id).span);
    let number = scalars.constant.make(module, &[], [("value", Attr::Int(bits, plain.clone()))], &[plain], span);
    module.insert_before(id, number);
    let bits = module.op(number).results[0];
    for user in computing {
        module.op_mut(user).operands.iter_mut().filter(|value| **value == result).for_each(|value| *value = bits);
    }
    if !stored {
        module.remove(id);
        return Ok(());
    }
    let operands: &[(&str, &[ValueId])] = &[("in", &[bits])];
    let cast = scalars.unsign.make(module, operands, AttrDict::default(), &[ty], span);
    module.insert_before(id, cast);
    replace(module, id, cast);
    Ok(())
}
