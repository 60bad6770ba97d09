//! Kernels whose halves are written in two modules, one for each kind of core.

use slipring_ir::{Module, OpId, ValueMap};
use slipring_machine::CoreKind;
use slipring_op::function::{are_halves, clear_kernel_kind, has_entry_mark, set_kernel_kind, unmark_entry};
use slipring_op::{kernel_kind, symbol_name};

use super::functions::{call_both, free_name};
use crate::analysis::facts::Functions;

/// Gives the halves of each kernel names of their own, `<name>_aic` and `<name>_aiv`, and makes a function of the
/// original name that calls both, unless only the halves of another kernel call them.
pub(super) fn join_halves(module: &mut Module) {
    for halves in pairs(module) {
        let functions = Functions::of(module);
        let name = symbol_name(module, halves[0]).to_string();
        let names = ["aic", "aiv"].map(|suffix| free_name(&functions, &format!("{name}_{suffix}")));
        let calls = halves.map(|half| calls_of(module, half));
        let returns = module.function_type(halves[0]).is_none_or(|ty| !ty.results.is_empty());
        let marked = halves.iter().any(|half| has_entry_mark(module, *half));
        if !returns && (marked || calls.iter().all(Vec::is_empty)) {
            call_halves(module, halves, &names);
        }
        for ((half, name), (calls, kind)) in halves.into_iter().zip(&names).zip(calls.iter().zip(KINDS)) {
            unmark_entry(module, half);
            module.name_privately(half, name);
            set_kernel_kind(module, half, kind);
            calls.iter().for_each(|call| module.set_callee(*call, name));
        }
    }
}

const KINDS: [CoreKind; 2] = [CoreKind::Cube, CoreKind::Vector];

/// The Cube and the Vector half of each kernel that has both.
fn pairs(module: &Module) -> Vec<[OpId; 2]> {
    let functions = Functions::of(module);
    let halves = functions.namesakes(module).filter(|(one, other)| are_halves(module, *one, *other));
    let ordered = |(one, other)| match kernel_kind(module, one) {
        Some(CoreKind::Cube) => [one, other],
        _ => [other, one],
    };
    halves.map(ordered).collect()
}

/// The calls of a function.
fn calls_of(module: &Module, function: OpId) -> Vec<OpId> {
    module.walk(module.top).into_iter().filter(|op| module.callee(*op) == Some(function)).collect()
}

/// Makes the function that calls both halves, behind the module of the Cube half.
fn call_halves(module: &mut Module, halves: [OpId; 2], names: &[String; 2]) {
    let Some(own) = module.parent_op(halves[0]) else { return };
    let both = module.clone_op(halves[0], &mut ValueMap::default());
    clear_kernel_kind(module, both);
    module.insert_after(own, both);
    call_both(module, both, names);
}
