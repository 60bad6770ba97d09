//! Functions derived from a function: names, calls, and cleanup.

use std::collections::BTreeSet;

use slipring_ir::{BlockId, Module, OpId, Type, ValueId};
use slipring_mlir::func;
use slipring_op::OpDef;

use crate::analysis::facts::{Functions, terminator};

/// An unused function name based on the wanted one.
pub(super) fn free_name(functions: &Functions, wanted: &str) -> String {
    let mut name = wanted.to_string();
    while functions.get(&name).is_some() {
        name.push('_');
    }
    name
}

/// Replaces a function's body by calls of its two halves.
pub(super) fn call_both(module: &mut Module, function: OpId, names: &[String; 2]) {
    let Some(body) = module.body(function, 0) else { return };
    let end = terminator(module, body);
    for op in module.block(body).ops.clone() {
        if Some(op) != end {
            module.remove(op);
        }
    }
    let args: Vec<ValueId> = module.block(body).args.to_vec();
    let span = module.op(function).span;
    for name in names {
        let call = func::call(module, name, &args, &[], span);
        match end {
            Some(end) => module.insert_before(end, call),
            None => module.append(body, call),
        }
    }
}

/// Removes ops that only make values which nothing uses any more.
pub(super) fn drop_unused(module: &mut Module, body: BlockId) {
    loop {
        let ops = module.walk(body);
        let used: BTreeSet<ValueId> = ops.iter().flat_map(|op| module.op(*op).operands.iter().copied()).collect();
        let idle: Vec<OpId> = ops.into_iter().filter(|op| is_idle(module, *op, &used)).collect();
        if idle.is_empty() {
            return;
        }
        idle.into_iter().for_each(|op| module.remove(op));
    }
}

fn is_idle(module: &Module, op: OpId, used: &BTreeSet<ValueId>) -> bool {
    let data = module.op(op);
    let Some(def) = OpDef::of(module, op) else { return false };
    // Values of special types may represent more than a value.
    def.only_computes()
        && data.regions.is_empty()
        && !data.results.is_empty()
        && data.results.iter().all(|v| !used.contains(v) && !matches!(module.ty(*v), Type::Named(_)))
}
