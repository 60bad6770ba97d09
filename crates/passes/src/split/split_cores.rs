//! `split-cores`: a function for each kind of core.
//!
//! A function with `pto.section.cube` and `pto.section.vector` regions becomes two, `<name>_aic` and `<name>_aiv`, each
//! with the code for its kind of core, and a function of the original name that calls both. The same happens to a
//! function that calls functions of both kinds, unless it calls exactly one of each, one after the other. A function
//! with sections of one kind becomes a function of that kind. Functions of one name in a module of each kind are such
//! halves already: they get those names, and the one that calls both. A decoder for one kind of core skips code for the
//! other; this pass makes explicit what each of them runs.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{BlockId, Diags, Module, OpId, ValueMap};
use slipring_machine::CoreKind;
use slipring_op::function::{has_entry_mark, set_kernel_kind, unmark_entry};
use slipring_op::ring::{import_peer, set_import_peer};
use slipring_op::{OpRef, PipeRule, affinity, kernel_kind, symbol_name};

use super::functions::{call_both, drop_unused, free_name};
use super::halves::join_halves;
use crate::analysis::facts::{Functions, terminator};
use crate::context::{Pass, PassContext};

/// The pass.
pub const PASS: Pass = Pass { name: "split-cores", summary: "Make a function for each kind of core", run };

/// The fate of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    /// Unchanged: it is scalar code, is already of one kind, or calls one function of each kind.
    Stays,
    /// It becomes a function of this kind.
    OfKind(CoreKind),
    /// It becomes two functions and one that calls them.
    Splits,
}

fn run(module: &mut Module, _: &PassContext<'_>, _: &mut Diags) {
    join_halves(module);
    let functions = Functions::of(module);
    let order: Vec<OpId> = functions.with_bodies(module).map(|(f, _)| f).collect();
    let mut fates = BTreeMap::new();
    for &function in &order {
        decide(module, &functions, function, &mut fates, &mut Vec::new());
    }
    let mut halves: BTreeMap<String, [String; 2]> = BTreeMap::new();
    for (function, fate) in &fates {
        if *fate == Fate::Splits {
            let name = symbol_name(module, *function).to_string();
            let half = |suffix: &str| free_name(&functions, &format!("{name}_{suffix}"));
            halves.insert(name.clone(), [half("aic"), half("aiv")]);
        }
    }
    for &function in &order {
        match fates.get(&function) {
            Some(Fate::OfKind(kind)) => keep(module, function, *kind, &functions, &halves),
            Some(Fate::Splits) => split(module, function, &functions, &halves),
            _ => {}
        }
    }
    for function in order.iter().filter(|f| fates.get(f) != Some(&Fate::Splits)) {
        if let Some(kind) = kernel_kind(module, *function) {
            retarget_imports(module, *function, kind, &halves);
        }
    }
    drop_uncalled(module, &functions, &fates);
}

/// The kind of core that a section is for. An op with a body that runs on a pipe is not a section.
fn section_kind(module: &Module, op: OpId) -> Option<CoreKind> {
    let op = OpRef::of(module, op)?;
    let opens = !module.op(op.id).regions.is_empty() && matches!(op.def.pipe, PipeRule::None);
    affinity(&op).filter(|_| opens)
}

fn decide(
    module: &Module,
    functions: &Functions,
    function: OpId,
    fates: &mut BTreeMap<OpId, Fate>,
    open: &mut Vec<OpId>,
) -> Fate {
    if let Some(fate) = fates.get(&function) {
        return *fate;
    }
    let Some(body) = module.body(function, 0).filter(|_| !open.contains(&function)) else { return Fate::Stays };
    open.push(function);
    let fate = if kernel_kind(module, function).is_some() {
        Fate::Stays
    } else {
        fate_of(module, functions, body, fates, open)
    };
    open.pop();
    fates.insert(function, fate);
    fate
}

fn fate_of(
    module: &Module,
    functions: &Functions,
    body: BlockId,
    fates: &mut BTreeMap<OpId, Fate>,
    open: &mut Vec<OpId>,
) -> Fate {
    let mut sections = BTreeSet::new();
    let mut called: Vec<(CoreKind, bool)> = Vec::new();
    let mut calls_split = false;
    for op in module.walk(body) {
        sections.extend(section_kind(module, op));
        let Some(callee) = functions.callee(module, op) else { continue };
        let fate = decide(module, functions, callee, fates, open);
        let kind = match fate {
            Fate::OfKind(kind) => Some(kind),
            _ => kernel_kind(module, callee),
        };
        calls_split |= fate == Fate::Splits;
        called.extend(kind.map(|kind| (kind, module.op(op).block == Some(body))));
    }
    let kinds: BTreeSet<CoreKind> = sections.iter().copied().chain(called.iter().map(|c| c.0)).collect();
    let once_each = called.iter().all(|(kind, at_top)| *at_top && called.iter().filter(|c| c.0 == *kind).count() == 1);
    let returns = terminator(module, body).is_some_and(|end| !module.op(end).operands.is_empty());
    let single = kinds.iter().next().copied().filter(|_| kinds.len() == 1);
    match single {
        // Values returned to both kinds cannot be separated.
        _ if returns && kinds.len() > 1 => Fate::Stays,
        _ if calls_split => Fate::Splits,
        _ if sections.is_empty() && once_each => Fate::Stays,
        Some(kind) => Fate::OfKind(kind),
        None => Fate::Splits,
    }
}

/// Turns a function into one of a kind.
fn keep(
    module: &mut Module,
    function: OpId,
    kind: CoreKind,
    functions: &Functions,
    halves: &BTreeMap<String, [String; 2]>,
) {
    set_kernel_kind(module, function, kind);
    if let Some(body) = module.body(function, 0) {
        take(module, body, kind, functions, halves);
    }
    retarget_imports(module, function, kind, halves);
}

fn half_of(halves: &[String; 2], kind: CoreKind) -> &str {
    &halves[usize::from(kind == CoreKind::Vector)]
}

/// Splits a function into two, and one that calls them.
fn split(module: &mut Module, function: OpId, functions: &Functions, halves: &BTreeMap<String, [String; 2]>) {
    let Some(names) = halves.get(symbol_name(module, function)).cloned() else { return };
    let mut behind = function;
    for kind in [CoreKind::Cube, CoreKind::Vector] {
        let copy = module.clone_op(function, &mut ValueMap::default());
        // The entry mark of the file's kernel stays with the function that calls both.
        unmark_entry(module, copy);
        module.name_privately(copy, half_of(&names, kind));
        module.insert_after(behind, copy);
        keep(module, copy, kind, functions, halves);
        if let Some(body) = module.body(copy, 0) {
            drop_unused(module, body);
        }
        behind = copy;
    }
    call_both(module, function, &names);
}

/// Keeps in a block the code of one kind of core: its own sections are inlined, those of the other kind and calls of
/// its functions removed, and calls of split functions redirected to the right half.
fn take(
    module: &mut Module,
    block: BlockId,
    kind: CoreKind,
    functions: &Functions,
    halves: &BTreeMap<String, [String; 2]>,
) {
    for op in module.block(block).ops.clone() {
        match section_kind(module, op) {
            Some(own) if own == kind => {
                for inner in module.body(op, 0).map_or(Vec::new(), |b| module.block(b).ops.clone()) {
                    module.remove(inner);
                    module.insert_before(op, inner);
                    take_inside(module, inner, kind, functions, halves);
                }
                module.remove(op);
                continue;
            }
            Some(_) => {
                module.remove(op);
                continue;
            }
            None => {}
        }
        let callee = module.callee_name(op).map(str::to_string);
        if let Some(callee) = callee {
            if let Some(names) = halves.get(&callee) {
                module.set_callee(op, half_of(names, kind));
            } else if functions.get(&callee).is_some_and(|f| kernel_kind(module, f).is_some_and(|k| k != kind)) {
                module.remove(op);
            }
            continue;
        }
        take_inside(module, op, kind, functions, halves);
    }
}

fn take_inside(
    module: &mut Module,
    op: OpId,
    kind: CoreKind,
    functions: &Functions,
    halves: &BTreeMap<String, [String; 2]>,
) {
    for region in 0..module.op(op).regions.len() {
        if let Some(block) = module.body(op, region) {
            take(module, block, kind, functions, halves);
        }
    }
}

/// A reservation in a function that was split is in the half of the other kind.
fn retarget_imports(module: &mut Module, function: OpId, kind: CoreKind, halves: &BTreeMap<String, [String; 2]>) {
    let other = if kind == CoreKind::Cube { CoreKind::Vector } else { CoreKind::Cube };
    let Some(body) = module.body(function, 0) else { return };
    for op in module.walk(body) {
        let peer = import_peer(module, op).and_then(|name| halves.get(name));
        if let Some(name) = peer.map(|names| half_of(names, other)) {
            set_import_peer(module, op, name);
        }
    }
}

/// Removes functions that only called both halves of a function and are no longer called: their callers now call the
/// halves.
fn drop_uncalled(module: &mut Module, functions: &Functions, fates: &BTreeMap<OpId, Fate>) {
    let split = fates.iter().filter(|(_, fate)| **fate == Fate::Splits).map(|(f, _)| *f);
    for function in split.collect::<Vec<_>>() {
        let name = symbol_name(module, function).to_string();
        let calls = |op: &OpId| module.callee_name(*op) == Some(name.as_str());
        let called = functions.with_bodies(module).any(|(_, body)| module.walk(body).iter().any(calls));
        if module.is_private(function) && !has_entry_mark(module, function) && !called {
            module.remove(function);
        }
    }
}
