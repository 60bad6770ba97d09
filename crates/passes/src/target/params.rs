//! Parameters that functions get for a target: where flags between cores are kept, and the offset of a moved pointer.

use std::collections::BTreeMap;

use slipring_ir::{AttrDict, Dim, FuncType, MemRefType, Module, OpId, Type, ValueId};
use slipring_mlir::arith;
use slipring_op::OpRef;
use slipring_op::function::{FLAG_BYTES, set_flags};
use slipring_pto as pto;
use slipring_tile::Elem;

/// The name of the parameter for flags between cores.
const FLAGS: &str = "gm_flags";

/// Gives functions the address of the flags between cores: a parameter of theirs and of their callers, supplied by the
/// launch; a pointer, or a memref.
pub(super) fn give_flags(module: &mut Module, functions: &[OpId], pointer: bool) {
    let mut given = BTreeMap::new();
    for function in functions {
        let Some(flags) = flags_of(module, *function, pointer, &mut given) else { continue };
        let Some(first) = module.body(*function, 0).and_then(|body| module.block(body).ops.first().copied()) else {
            continue;
        };
        let span = module.op(first).span;
        let set = pto::SET_FFTS.make(module, &[("base", &[flags])], AttrDict::default(), &[], span);
        module.insert_before(first, set);
    }
}

fn flags_of(
    module: &mut Module,
    function: OpId,
    pointer: bool,
    given: &mut BTreeMap<OpId, ValueId>,
) -> Option<ValueId> {
    if let Some(value) = given.get(&function) {
        return Some(*value);
    }
    let int = Type::Int { width: 64, sign: slipring_ir::Sign::Signless };
    let dims = [Dim::Static(FLAG_BYTES / Elem::I64.bytes() as u64)].into_iter().collect();
    let ty = match pointer {
        true => Type::Ptr(Elem::I64, None),
        false => Type::MemRef(MemRefType { elem: int, dims, strides: None, space: None }.into()),
    };
    let value = add_parameter(module, function, FLAGS, ty)?;
    given.insert(function, value);
    let calls = calls_of(module, function);
    if calls.is_empty() {
        set_flags(module, function);
    }
    for call in calls {
        let caller = module.function_of(call)?;
        let passed = flags_of(module, caller, pointer, given)?;
        pass(module, call, passed);
    }
    Some(value)
}

/// Turns memrefs that hold the flags between cores into pointers: parameters, through all calls that pass them. Those
/// with other uses are returned with the reason.
pub(super) fn flags_as_pointers(module: &mut Module) -> Vec<(OpId, String)> {
    let sets = module.walk(module.top).into_iter().filter_map(|id| OpRef::of(module, id));
    let sets = sets.filter(|op| std::ptr::eq(op.def, &pto::SET_FFTS));
    let bases: Vec<(OpId, ValueId)> = sets.filter_map(|op| Some((op.id, op.operand("base")?))).collect();
    let mut wrong = Vec::new();
    for (set, base) in bases {
        if !matches!(module.ty(base), Type::MemRef(_)) {
            continue;
        }
        let Some(all) = module.parameter(base).and_then(|own| module.passed_together(own).ok()) else {
            wrong.push((set, "its flags are a pointer, and this is not a parameter".to_string()));
            continue;
        };
        let is_set = |id: OpId| OpRef::of(module, id).is_some_and(|op| std::ptr::eq(op.def, &pto::SET_FFTS));
        let mut users = all.iter().flat_map(|own| module.users(own.value));
        if let Some(other) = users.find(|id| module.callee(*id).is_none() && !is_set(*id)) {
            let name = &module.op(other).name;
            wrong.push((set, format!("its flags are a pointer, and `{name}` takes this memref")));
            continue;
        }
        for own in all {
            module.retype_parameter(own.function, own.at, Type::Ptr(Elem::I64, None));
        }
    }
    wrong
}

/// A moved pointer is passed to a function as the pointer and the offset: the assembler moves pointers only where they
/// are used.
pub(super) fn pass_distances(module: &mut Module) {
    for function in module.functions().collect::<Vec<_>>() {
        let calls = calls_of(module, function);
        let most = calls.iter().map(|call| module.op(*call).operands.len()).min().unwrap_or(0);
        for at in 0..most {
            // Each iteration removes one move from the pointers of all calls.
            while calls.iter().any(|call| moved(module, *call, at).is_some()) {
                if pass_distance(module, function, &calls, at).is_none() {
                    return;
                }
            }
        }
    }
}

/// The pointer and the offset of a moved pointer that a call passes.
fn moved(module: &Module, call: OpId, at: usize) -> Option<[ValueId; 2]> {
    let value = *module.op(call).operands.get(at)?;
    let made = OpRef::of(module, module.defining_op(value)?).filter(|op| std::ptr::eq(op.def, &pto::ADDPTR))?;
    Some([made.operand("ptr")?, made.operand("offset")?])
}

fn pass_distance(module: &mut Module, function: OpId, calls: &[OpId], at: usize) -> Option<()> {
    let body = module.body(function, 0)?;
    let first = module.block(body).ops.first().copied()?;
    let (pointer, span) = (*module.block(body).args.get(at)?, module.op(first).span);
    let name = format!("{}_moved", module.value(pointer).name.as_deref().unwrap_or("pointer"));
    let distance = add_parameter(module, function, &name, Type::Index)?;
    let ty = module.ty(pointer).clone();
    let operands: &[(&str, &[ValueId])] = &[("ptr", &[pointer]), ("offset", &[distance])];
    let made = pto::ADDPTR.make(module, operands, AttrDict::default(), &[ty], span);
    let own = module.op(made).results[0];
    module.replace_uses(pointer, own);
    let place = module.op(made).operands.iter().position(|value| *value == own)?;
    module.op_mut(made).operands[place] = pointer;
    module.insert_before(first, made);
    for call in calls {
        let span = module.op(*call).span;
        let distance = match moved(module, *call, at) {
            Some([from, distance]) => {
                module.op_mut(*call).operands[at] = from;
                as_index(module, *call, distance)
            }
            None => {
                let zero = [("value", slipring_ir::Attr::Int(0, Type::Index))];
                let made = arith::CONSTANT.make(module, &[], zero, &[Type::Index], span);
                module.insert_before(*call, made);
                module.op(made).results[0]
            }
        };
        pass(module, *call, distance);
    }
    Some(())
}

fn as_index(module: &mut Module, call: OpId, value: ValueId) -> ValueId {
    if *module.ty(value) == Type::Index {
        return value;
    }
    let span = module.op(call).span;
    let cast = arith::INDEX_CAST.make(module, &[("in", &[value])], AttrDict::default(), &[Type::Index], span);
    module.insert_before(call, cast);
    module.op(cast).results[0]
}

fn calls_of(module: &Module, function: OpId) -> Vec<OpId> {
    module.walk(module.top).into_iter().filter(|op| module.callee(*op) == Some(function)).collect()
}

fn pass(module: &mut Module, call: OpId, value: ValueId) {
    let data = module.op_mut(call);
    data.operands.push(value);
    if let Some(last) = data.segments.last_mut() {
        *last += 1;
    }
}

fn add_parameter(module: &mut Module, function: OpId, name: &str, ty: Type) -> Option<ValueId> {
    let (body, span) = (module.body(function, 0)?, module.op(function).span);
    let mut new = FuncType::clone(module.function_type(function)?);
    new.inputs.push(ty.clone());
    module.set_function_type(function, new);
    Some(module.add_arg(body, ty, Some(name.into()), span))
}
