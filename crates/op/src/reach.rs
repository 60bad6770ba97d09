//! The ops that a core runs, and the core that an op belongs to.

use slipring_ir::{BlockId, Module, OpId, Type};
use slipring_machine::{CoreKind, Pipe, Platform};
use slipring_tile::Space;

use crate::def::{LibraryFlags, OpDef, OpRef, PipeRule};
use crate::facts::CoreRule;
use crate::function::kernel_kind;

/// The kind of core that an op needs; `None` if any core can run it.
pub fn affinity(op: &OpRef<'_>) -> Option<CoreKind> {
    match op.def.core {
        CoreRule::Any => None,
        CoreRule::Cube => Some(CoreKind::Cube),
        CoreRule::Vector => Some(CoreKind::Vector),
        CoreRule::ByTile => {
            let data = op.module.op(op.id);
            let types = data.operands.iter().chain(&data.results).map(|v| op.module.ty(*v));
            // A move between the two kinds of cores is executed by the core that has the source.
            types.filter_map(Type::space).find(|space| *space != Space::Gm).map(core_of)
        }
    }
}

/// The kind of core that owns a local memory.
pub fn core_of(space: Space) -> CoreKind {
    if space == Space::Vec { CoreKind::Vector } else { CoreKind::Cube }
}

/// The ops that a core of this kind runs when it starts in `function`, including callees, in the order of the text.
/// Sections and functions of the other kind are left out.
pub fn reachable(module: &Module, function: OpId, kind: CoreKind) -> Vec<OpId> {
    let mut found = Vec::new();
    let mut visited = vec![function];
    if let Some(body) = module.body(function, 0) {
        collect(module, body, kind, &mut visited, &mut found);
    }
    found
}

fn collect(module: &Module, block: BlockId, kind: CoreKind, visited: &mut Vec<OpId>, found: &mut Vec<OpId>) {
    for &op in &module.block(block).ops {
        let data = module.op(op);
        let def = OpDef::of(module, op);
        let section = match def.map(|d| d.core) {
            Some(CoreRule::Cube) => Some(CoreKind::Cube),
            Some(CoreRule::Vector) => Some(CoreKind::Vector),
            _ => None,
        };
        if !data.regions.is_empty() && section.is_some_and(|s| s != kind) {
            continue;
        }
        found.push(op);
        if let Some(callee) = module.callee(op)
            && !visited.contains(&callee)
            && kernel_kind(module, callee).is_none_or(|k| k == kind)
            && let Some(body) = module.body(callee, 0)
        {
            visited.push(callee);
            collect(module, body, kind, visited, found);
        }
        for region in &data.regions {
            for &inner in &module.region(*region).blocks {
                collect(module, inner, kind, visited, found);
            }
        }
    }
}

/// True for an op that writes global memory.
pub fn writes_global(op: &OpRef<'_>) -> bool {
    op.written().any(|value| op.module.ty(value).space() == Some(Space::Gm))
}

/// The first op of a function that only a core of this kind can run.
pub fn first_of_kind(module: &Module, function: OpId, kind: CoreKind) -> Option<OpId> {
    let needs = |op: &OpRef<'_>| !matches!(op.def.pipe, PipeRule::None) && affinity(op) == Some(kind);
    reachable(module, function, kind).into_iter().find(|id| OpRef::of(module, *id).as_ref().is_some_and(needs))
}

/// The kind of core that can run a function: the declared one, else the only one that its ops need. `None` for a
/// function of the whole cluster, and for one whose kind cannot be determined.
pub fn only_kind(module: &Module, function: OpId) -> Option<CoreKind> {
    if let Some(kind) = kernel_kind(module, function) {
        return Some(kind);
    }
    let needs = |kind| first_of_kind(module, function, kind).is_some();
    match (needs(CoreKind::Cube), needs(CoreKind::Vector)) {
        _ if is_mixed(module, function) => None,
        (true, false) => Some(CoreKind::Cube),
        (false, true) => Some(CoreKind::Vector),
        _ => None,
    }
}

/// True for a Vector function that queries its lane, or has an end of a ring.
pub fn knows_lanes(module: &Module, function: OpId) -> bool {
    let ops = reachable(module, function, CoreKind::Vector).into_iter().filter_map(|id| OpRef::of(module, id));
    ops.into_iter().any(|op| op.def.per_lane.is_some() || op.def.ring.is_some())
        || crate::decode::asks_lane(module, function)
}

/// True for a function of the whole cluster: it declares no kind of core, has no sections, and has ops of both kinds,
/// or ops that only such a function has. Its callees belong to it, except functions of one kind.
pub fn is_mixed(module: &Module, function: OpId) -> bool {
    let mut ops = Vec::new();
    own_ops(module, function, &mut vec![], &mut ops);
    let kind = |op: &OpRef<'_>| affinity(op).filter(|_| !matches!(op.def.pipe, PipeRule::None));
    let has = |wanted: CoreKind| ops.iter().any(|op| kind(op) == Some(wanted));
    let section = |op: &OpRef<'_>| {
        let opens = !module.op(op.id).regions.is_empty() && matches!(op.def.pipe, PipeRule::None);
        opens && affinity(op).is_some()
    };
    ops.iter().any(|op| op.def.mixed.is_some())
        || (has(CoreKind::Cube) && has(CoreKind::Vector) && !ops.iter().any(section))
}

fn own_ops<'a>(module: &'a Module, function: OpId, visited: &mut Vec<OpId>, found: &mut Vec<OpRef<'a>>) {
    if kernel_kind(module, function).is_some() || visited.contains(&function) {
        return;
    }
    visited.push(function);
    let Some(body) = module.body(function, 0) else { return };
    for id in module.walk(body) {
        found.extend(OpRef::of(module, id));
        if let Some(callee) = module.callee(id) {
            own_ops(module, callee, visited, found);
        }
    }
}

impl OpRef<'_> {
    /// The flags that the tile library of a platform uses internally, where the core has the pipes.
    pub fn inside(&self, platform: &Platform) -> impl Iterator<Item = (Pipe, Pipe)> + use<> {
        let on = |case: &&LibraryFlags| platform.can(case.of) == case.has;
        let case = self.def.inside.iter().filter(on).find(|case| (case.when)(self));
        let kind = crate::affinity(self);
        let pipes = kind.filter(|_| case.is_some()).map(|kind| platform.pipes_of(kind)).unwrap_or_default();
        let has = move |pipe: &Pipe| kind.is_none() || pipes.contains(pipe);
        case.map_or(&[][..], |case| case.flags).iter().copied().filter(move |(from, to)| has(from) && has(to))
    }
}
