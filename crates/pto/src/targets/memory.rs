//! Memory in the text (`memref`): moves of it, and its form as tiles.

use std::collections::BTreeMap;

use slipring_ir::{AttrDict, BlockId, Dim, MemRefType, Module, OpId, Parameter, Type, ValueId, ViewType};
use slipring_machine::Platform;
use slipring_op::target::Scalars;
use slipring_tile::{Elem, Space};

use super::fixes::{Fixed, constant_before};
use super::refused::whole_lines;
use crate::MAKE_TENSOR_VIEW;

/// Ops that move tiles between memories.
pub(super) const MOVES: &[&str] = &["pto.tload", "pto.tstore", "pto.tprefetch"];

/// Replaces a memory operand of a move by a tensor, because moves are of windows of tensors: possible for a parameter
/// of a known shape.
pub(super) fn memory_as_a_tensor(scalars: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    for at in 0..module.op(id).operands.len() {
        let value = module.op(id).operands[at];
        let Type::MemRef(memory) = module.ty(value).clone() else { continue };
        let why = "it moves windows of tensors, and this memory is not a parameter of known shape";
        let extents: Option<Vec<u64>> = memory.dims.iter().map(|dim| dim.known()).collect();
        let global = memory.space.is_none_or(|space| space == Space::Gm);
        if !global {
            continue;
        }
        let (Some(elem), Some(extents), None) = (memory.elem.elem(), extents, &memory.strides) else {
            return Err(why.into());
        };
        let own = module.parameter(value).ok_or(why)?;
        for Parameter { function, at, value } in linked(module, own)? {
            module.retype_parameter(function, at, Type::Ptr(elem, None));
            let mut users = module.users(value);
            users.retain(|user| MOVES.contains(&&*module.op(*user).name));
            let Some(body) = module.body(function, 0).filter(|_| !users.is_empty()) else { continue };
            // With more dimensions, the assembler might take some of them for blocks (NZ).
            let view = tensor_of(scalars, module, (body, value), &in_two(&extents), elem)?;
            for user in users {
                let own = module.op_mut(user).operands.iter_mut().filter(|operand| **operand == value);
                own.for_each(|operand| *operand = view);
            }
        }
    }
    Ok(())
}

/// The parameters that are the same memory through all calls. Only moves may use them.
fn linked(module: &Module, own: Parameter) -> Result<Vec<Parameter>, String> {
    let no_parameter = "it moves windows of tensors, and a call passes memory that is no parameter";
    let found = module.passed_together(own).map_err(|_| no_parameter)?;
    for user in found.iter().flat_map(|own| module.users(own.value)) {
        let name = &module.op(user).name;
        let called = module.callee(user).and_then(|called| module.body(called, 0));
        if !MOVES.contains(&&**name) && called.is_none() {
            return Err(format!("it moves windows of tensors, and `{name}` takes the same memory as it is"));
        }
    }
    Ok(found)
}

/// Makes a contiguous tensor of a parameter, at the beginning of the function.
fn tensor_of(
    scalars: &Scalars,
    module: &mut Module,
    (body, pointer): (BlockId, ValueId),
    extents: &[u64],
    elem: Elem,
) -> Result<ValueId, String> {
    let first = *module.block(body).ops.first().ok_or("the function is empty")?;
    let span = module.op(first).span;
    let mut numbers: BTreeMap<i64, ValueId> = BTreeMap::new();
    let mut number = |module: &mut Module, n: u64| -> Result<ValueId, String> {
        let n = i64::try_from(n).map_err(|_| "an extent that takes more than 64 bits")?;
        if let Some(known) = numbers.get(&n) {
            return Ok(*known);
        }
        let value = constant_before(scalars, module, first, n, Type::Index)?;
        numbers.insert(n, value);
        Ok(value)
    };
    let (mut shape, mut strides) = (Vec::new(), Vec::new());
    for (at, extent) in extents.iter().enumerate() {
        shape.push(number(module, *extent)?);
        strides.push(number(module, extents[at + 1..].iter().product())?);
    }
    let dims = extents.iter().map(|extent| Dim::Static(*extent)).collect();
    let view = Type::TensorView(ViewType { elem, dims });
    let operands: &[(&str, &[ValueId])] = &[("ptr", &[pointer]), ("shape", &shape), ("strides", &strides)];
    let made = MAKE_TENSOR_VIEW.make(module, operands, AttrDict::default(), &[view], span);
    module.insert_before(first, made);
    Ok(module.op(made).results[0])
}

/// Converts local memory to the two dimensions that it has in the C++: the last one, and all others combined, like the
/// tile for it.
pub(super) fn memory_in_two_dimensions(_: &Scalars, module: &mut Module, id: OpId, _: &Platform) -> Fixed {
    let Some(Type::MemRef(memory)) = module.op(id).results.first().map(|value| module.ty(*value)) else {
        return Ok(());
    };
    if let Some(space) = memory.space.filter(|space| *space != Space::Vec) {
        let space = space.name();
        return Err(format!("its C++ lays this memory out by rows, and `{space}` has blocks: use `pto.alloc_tile`"));
    }
    let cols = memory.dims.last().and_then(|dim| dim.known());
    whole_lines("rows", cols.zip(memory.elem.elem()).map_or(0, |(cols, elem)| cols * elem.bytes() as u64))?;
    let whole = memory.dims.len() == 2;
    let Some(function) = module.function_of(id) else { return Ok(()) };
    let Some(body) = module.body(function, 0) else { return Ok(()) };
    if let Some(own) = module.block(body).args.iter().find_map(|value| flat(module.ty(*value))) {
        return Err(format!("a function takes local memory of two dimensions only, such as `{own}`"));
    }
    if whole {
        return Ok(());
    }
    // Values carried by loops and selected by branches get the new type, too.
    for op in module.walk(body) {
        let inner = module.op(op).regions.iter().flat_map(|region| &module.region(*region).blocks);
        let args = inner.flat_map(|block| &module.block(*block).args);
        let values: Vec<ValueId> = args.chain(&module.op(op).results).copied().collect();
        for value in values {
            if let Some(ty) = flat(module.ty(value)) {
                module.value_mut(value).ty = ty;
            }
        }
    }
    Ok(())
}

/// The two-dimensional type of local memory with another number of dimensions.
fn flat(ty: &Type) -> Option<Type> {
    let Type::MemRef(memory) = ty else { return None };
    if memory.dims.len() == 2 || memory.space.is_none_or(|space| space == Space::Gm) || memory.strides.is_some() {
        return None;
    }
    let extents: Vec<u64> = memory.dims.iter().map(|dim| dim.known()).collect::<Option<_>>()?;
    let dims = in_two(&extents).map(Dim::Static).into_iter().collect();
    Some(Type::MemRef(MemRefType { dims, ..(**memory).clone() }.into()))
}

/// The last dimension, and the product of all others.
fn in_two(extents: &[u64]) -> [u64; 2] {
    let (cols, rows) = extents.split_last().unwrap_or((&1, &[]));
    [rows.iter().product(), *cols]
}
