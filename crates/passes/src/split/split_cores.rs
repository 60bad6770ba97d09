//! `split-cores`: a function for each kind of core.
//!
//! A function with `pto.section.cube` and `pto.section.vector` regions becomes two, `<name>_aic` and `<name>_aiv`, each
//! with the code for its kind of core, and a function of the original name that calls both. The same happens to a
//! function that calls functions of both kinds, unless it calls exactly one of each, one after the other. A function
//! with sections of one kind becomes a function of that kind. Next to sections, an op that only one kind of core can run,
//! or that synchronises pipes which only such a core has, is for that kind, as if it were in a section. Functions of one name in a module of each kind are such
//! halves already: they get those names, and the one that calls both. A decoder for one kind of core skips code for the
//! other; this pass makes explicit what each of them runs.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{BlockId, Diags, Module, OpId, ValueId, ValueMap};
use slipring_machine::{CoreKind, Platform};
use slipring_op::function::{has_entry_mark, set_kernel_kind, unmark_entry};
use slipring_op::ring::{import_peer, set_import_peer};
use slipring_op::{OpRef, PipeRule, SyncAct, affinity, kernel_kind, symbol_name};

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

fn run(module: &mut Module, context: &PassContext<'_>, _: &mut Diags) {
    join_halves(module);
    let functions = Functions::of(module);
    let order: Vec<OpId> = functions.with_bodies(module).map(|(f, _)| f).collect();
    let mut fates = BTreeMap::new();
    for &function in &order {
        decide(module, &functions, context.platform, function, &mut fates, &mut Vec::new());
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
            Some(Fate::Splits) => split(module, function, context.platform, &functions, &halves),
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

/// The kind of core that an op is for where it stands next to sections: the one that its work needs, or that alone has
/// the pipes which the op synchronises.
fn kind_of_work(module: &Module, op: OpId, platform: &Platform) -> Option<CoreKind> {
    let op = OpRef::of(module, op)?;
    let works = !matches!(op.def.pipe, PipeRule::None) || op.def.ring.is_some();
    let pipes = || match op.sync()? {
        SyncAct::Set(signal) | SyncAct::Wait(signal) => Some(vec![signal.from, signal.to]),
        SyncAct::Barrier(pipe) | SyncAct::Send { pipe, .. } | SyncAct::Receive { pipe, .. } => Some(vec![pipe?]),
        SyncAct::Get { pipe, .. } | SyncAct::Release { pipe, .. } => Some(vec![pipe]),
    };
    affinity(&op).filter(|_| works).or_else(|| {
        let pipes = pipes()?;
        let has = |kind| pipes.iter().all(|pipe| platform.pipes_of(kind).contains(pipe));
        match (has(CoreKind::Cube), has(CoreKind::Vector)) {
            (true, false) => Some(CoreKind::Cube),
            (false, true) => Some(CoreKind::Vector),
            _ => None,
        }
    })
}

fn decide(
    module: &Module,
    functions: &Functions,
    platform: &Platform,
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
        fate_of(module, functions, platform, body, fates, open)
    };
    open.pop();
    fates.insert(function, fate);
    fate
}

fn fate_of(
    module: &Module,
    functions: &Functions,
    platform: &Platform,
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
        let fate = decide(module, functions, platform, callee, fates, open);
        let kind = match fate {
            Fate::OfKind(kind) => Some(kind),
            _ => kernel_kind(module, callee),
        };
        calls_split |= fate == Fate::Splits;
        called.extend(kind.map(|kind| (kind, module.op(op).block == Some(body))));
    }
    if !sections.is_empty() {
        let mut beside = Vec::new();
        outside(module, body, &mut beside);
        sections.extend(beside.into_iter().filter_map(|op| kind_of_work(module, op, platform)));
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

/// The ops that are not in a section, outer before inner.
fn outside(module: &Module, block: BlockId, found: &mut Vec<OpId>) {
    for &op in module.block(block).ops.iter().filter(|op| section_kind(module, **op).is_none()) {
        found.push(op);
        let blocks = module.op(op).regions.iter().flat_map(|region| &module.region(*region).blocks);
        blocks.for_each(|inner| outside(module, *inner, found));
    }
}

/// Removes the ops outside of sections that are for the other kind of core, but for those whose results this kind needs.
fn drop_others(module: &mut Module, body: BlockId, kind: CoreKind, platform: &Platform) {
    let mut ops = Vec::new();
    outside(module, body, &mut ops);
    let mut used: BTreeMap<ValueId, usize> = BTreeMap::new();
    for value in module.walk(body).iter().flat_map(|op| &module.op(*op).operands) {
        *used.entry(*value).or_default() += 1;
    }
    // Users come after what they use, and what is inside an op after it.
    for op in ops.into_iter().rev() {
        let needed = module.op(op).results.iter().any(|value| used.get(value).is_some_and(|count| *count > 0));
        if needed || kind_of_work(module, op, platform).is_none_or(|own| own == kind) {
            continue;
        }
        for value in module.op(op).operands.clone() {
            used.entry(value).and_modify(|count| *count -= 1);
        }
        module.remove(op);
    }
}

fn half_of(halves: &[String; 2], kind: CoreKind) -> &str {
    &halves[usize::from(kind == CoreKind::Vector)]
}

/// Splits a function into two, and one that calls them.
fn split(
    module: &mut Module,
    function: OpId,
    platform: &Platform,
    functions: &Functions,
    halves: &BTreeMap<String, [String; 2]>,
) {
    let Some(names) = halves.get(symbol_name(module, function)).cloned() else { return };
    let mut behind = function;
    for kind in [CoreKind::Cube, CoreKind::Vector] {
        let copy = module.clone_op(function, &mut ValueMap::default());
        // The entry mark of the file's kernel stays with the function that calls both.
        unmark_entry(module, copy);
        module.name_privately(copy, half_of(&names, kind));
        module.insert_after(behind, copy);
        if let Some(body) = module.body(copy, 0) {
            drop_others(module, body, kind, platform);
        }
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
