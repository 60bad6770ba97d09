//! Which kind of core runs an op of a kernel for the whole cluster.

use std::collections::BTreeSet;

use slipring_ir::{Module, OpId, ValueDef, ValueId};
use slipring_machine::CoreKind;
use slipring_op::{MixedPart, OpRef, PipeRule, affinity, core_of};
use slipring_program::Direction;
use slipring_tile::Space;

use crate::analysis::facts::terminator;

/// Where an op runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    /// On every core: scalar code, views of global memory, control flow.
    Both,
    /// On the cores of a kind.
    Of(CoreKind),
    /// A tile that crosses: one kind of core pushes it, the other pops it.
    Crosses(Direction),
    /// A region for the Vector cores.
    Region,
}

/// Where an op runs, according to its declaration and the memories of its tiles.
pub(super) fn side(module: &Module, id: OpId) -> Side {
    let Some(op) = OpRef::of(module, id) else { return Side::Both };
    match op.def.mixed {
        Some(MixedPart::Region) => return Side::Region,
        Some(MixedPart::Shard | MixedPart::Gather | MixedPart::Cross) => return Side::Crosses(direction(&op)),
        None => {}
    }
    let data = module.op(id);
    let local = |v: &ValueId| module.ty(*v).space().filter(|space| *space != Space::Gm);
    // Views and declarations of tiles belong to the core that has the memory.
    let by_tile = || data.operands.iter().chain(&data.results).find_map(local).map(core_of);
    let own = affinity(&op).or(op.def.per_lane.map(|_| CoreKind::Vector));
    let own = own.or_else(|| if data.regions.is_empty() { by_tile() } else { None });
    own.map_or(Side::Both, Side::Of)
}

fn direction(op: &OpRef<'_>) -> Direction {
    if op.space("dst") == Some(Space::Vec) { Direction::C2V } else { Direction::V2C }
}

/// True for control flow: an op with regions whose parts the two kinds of core share.
pub(super) fn is_control(module: &Module, op: OpId) -> bool {
    !module.op(op).regions.is_empty() && side(module, op) == Side::Both
}

/// True for ops that only make values: one is needed where its values are.
pub(super) fn is_pure(module: &Module, id: OpId) -> bool {
    let data = module.op(id);
    let Some(op) = OpRef::of(module, id) else { return false };
    !data.results.is_empty() && data.regions.is_empty() && op.written().next().is_none() && op.def.ring.is_none()
}

/// True if an op is work for a kind of core, or moves a tile between the two.
pub(super) fn works_on(module: &Module, id: OpId, kind: CoreKind) -> bool {
    let busy = OpRef::of(module, id).is_some_and(|op| !matches!(op.def.pipe, PipeRule::None));
    match side(module, id) {
        Side::Of(own) => own == kind && busy,
        Side::Crosses(_) => true,
        Side::Region => kind == CoreKind::Vector,
        Side::Both => false,
    }
}

/// True for an op that every core executes.
pub(super) fn on_each_core(module: &Module, op: OpId) -> bool {
    OpRef::of(module, op).is_some_and(|op| op.def.each_core)
}

/// The region for the Vector cores around an op.
pub(super) fn region_around(module: &Module, op: OpId) -> Option<OpId> {
    std::iter::successors(module.parent_op(op), |at| module.parent_op(*at)).find(|at| side(module, *at) == Side::Region)
}

/// The single kind of core for an op that any could execute but that must be done once: a store of a scalar, a print.
/// In a region it is the Vector cores; elsewhere the Cube core, unless the op needs values that only the Vector cores
/// have. Prints are done by the Vector cores, which print tiles, unless they need values that only the Cube core has.
pub(super) fn once(module: &Module, op: OpId) -> CoreKind {
    let needs = |kind: CoreKind| {
        let mut seen = BTreeSet::new();
        module.op(op).operands.iter().any(|v| is_of(module, *v, kind, &mut seen))
    };
    let prints = || OpRef::of(module, op).is_some_and(|op| op.def.prints) && !needs(CoreKind::Cube);
    let vector = region_around(module, op).is_some() || needs(CoreKind::Vector) || prints();
    if vector { CoreKind::Vector } else { CoreKind::Cube }
}

/// True if a value is computed from something that only one kind of core can read.
fn is_of(module: &Module, value: ValueId, kind: CoreKind, seen: &mut BTreeSet<ValueId>) -> bool {
    if !seen.insert(value) {
        return false;
    }
    let op = match module.value(value).def {
        ValueDef::Result(op, _) => op,
        ValueDef::Arg(block, _) => match module.block_parent(block) {
            Some(op) => op,
            None => return false,
        },
    };
    match side(module, op) {
        Side::Of(own) => own == kind,
        Side::Region => kind == CoreKind::Vector,
        Side::Crosses(_) => false,
        Side::Both => {
            let regions = module.op(op).regions.len();
            let ends = (0..regions).filter_map(|r| terminator(module, module.body(op, r)?));
            let own = if module.is_function(op) { &[][..] } else { &module.op(op).operands };
            let from: Vec<ValueId> =
                own.iter().copied().chain(ends.flat_map(|end| module.op(end).operands.clone())).collect();
            from.into_iter().any(|v| !module.is_function(op) && is_of(module, v, kind, seen))
        }
    }
}
