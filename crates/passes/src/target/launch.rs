//! Launchable kernels: every kernel of a file can be launched, and a Cube and a Vector function that form one kernel
//! become one function.

use std::collections::BTreeSet;

use slipring_ir::function::{SYMBOL, VISIBILITY};
use slipring_ir::{Attr, AttrDict, Diags, FuncType, Module, OpId, Type, ValueId};
use slipring_machine::CoreKind;
use slipring_mlir::func;
use slipring_op::decode::select_kernel;
use slipring_op::function::{has_entry_mark, has_flags, mark_entry, slot_bytes, unmark_entry};
use slipring_op::{kernel_kind, symbol_name};

/// Adds a kernel that calls a Cube and a Vector function that a launch starts together. It has their parameters, as a
/// run takes them: those with the same name are one. If two with the same name have different types, both functions
/// stay kernels.
pub fn join_halves(module: &mut Module) {
    let Some(kernel) = select_kernel(module, None, &mut Diags::default()) else { return };
    let halves = [kernel.start[0], kernel.start[1]];
    let [Some(cube), Some(vector)] = halves else { return };
    let of = |function, kind| kernel_kind(module, function) == Some(kind);
    if !of(cube, CoreKind::Cube) || !of(vector, CoreKind::Vector) {
        return;
    }
    // A launch supplies these as the last parameters of a function.
    if [cube, vector].iter().any(|half| has_flags(module, *half) || slot_bytes(module, *half).is_some()) {
        return;
    }
    let mut params: Vec<(String, Type)> = Vec::new();
    let mut passed: Vec<Vec<usize>> = Vec::new();
    for half in [cube, vector] {
        let Some(body) = module.body(half, 0) else { return };
        let mut own = Vec::new();
        for arg in &module.block(body).args {
            let (name, ty) = (module.value_name(*arg), module.ty(*arg));
            let name = name.trim_start_matches('%');
            let known = params.iter().position(|(other, _)| other == name);
            if known.is_some_and(|at| params[at].1 != *ty) {
                return;
            }
            own.push(known.unwrap_or(params.len()));
            if known.is_none() {
                params.push((name.to_string(), ty.clone()));
            }
        }
        passed.push(own);
    }
    let names: [String; 2] = [cube, vector].map(|half| symbol_name(module, half).to_string());
    let mut name = names.join("_and_");
    while module.symbol(&name).is_some() {
        name.push('_');
    }
    let (span, block) = (module.op(cube).span, module.position(cube));
    let made = func::FUNC.make(module, &[], [(SYMBOL, Attr::Str(name.as_str().into()))], &[], span);
    let inputs = params.iter().map(|(_, ty)| ty.clone()).collect();
    module.set_function_type(made, FuncType { inputs, results: Vec::new() });
    let region = module.op(made).regions.first().copied().unwrap_or_else(|| module.add_region(made));
    let body = module.region(region).blocks.first().copied().unwrap_or_else(|| module.add_block(region));
    let args: Vec<ValueId> =
        params.into_iter().map(|(name, ty)| module.add_arg(body, ty, Some(name.as_str().into()), span)).collect();
    for (half, own) in names.iter().zip(passed) {
        let operands: Vec<ValueId> = own.into_iter().map(|at| args[at]).collect();
        let call = func::call(module, half, &operands, &[], span);
        module.append(body, call);
    }
    let end = func::RETURN.make(module, &[], AttrDict::default(), &[], span);
    module.append(body, end);
    if block.is_some() {
        module.insert_before(cube, made);
    }
    for half in [cube, vector] {
        unmark_entry(module, half);
        module.op_mut(half).attrs.set(VISIBILITY, Attr::Str("private".into()));
    }
    mark_entry(module, made);
}

/// Marks every function that nobody calls as a kernel, if a file has several functions and marks none: without a mark
/// none of them could be launched.
pub fn mark_kernels(module: &mut Module) {
    let functions: Vec<OpId> = module.functions().filter(|f| module.body(*f, 0).is_some()).collect();
    if functions.len() < 2 || functions.iter().any(|f| has_entry_mark(module, *f)) {
        return;
    }
    let called: BTreeSet<OpId> = module.walk(module.top).into_iter().filter_map(|op| module.callee(op)).collect();
    for function in functions {
        let private = module.op(function).attrs.get(VISIBILITY).and_then(Attr::as_str) == Some("private");
        let gives = module.function_type(function).is_some_and(|ty| !ty.results.is_empty());
        if !called.contains(&function) && !private && !gives {
            mark_entry(module, function);
        }
    }
}
