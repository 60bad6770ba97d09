//! Which ops of a block go into a region for the Vector cores.

use slipring_ir::{Module, OpId, Part};
use slipring_machine::CoreKind;
use slipring_op::{CoreRule, InCoreSync, MixedPart, OpRef, PipeRule, affinity};

use super::constraints::{all_tiles, vector_tile};

/// The role of an op when regions are formed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Only makes a value: it is placed outside of regions, before its use.
    Value,
    /// Work of the Vector cores, or control flow that contains nothing else.
    Vector,
    /// Control flow that contains work for the Vector cores among other things.
    Mixed,
    /// Everything else: it ends a region.
    Other,
}

/// The kind of an op.
pub(super) fn kind(module: &Module, id: OpId) -> Kind {
    let Some(op) = OpRef::of(module, id) else { return Kind::Other };
    let data = module.op(id);
    if op.def.schema.terminator {
        return Kind::Other;
    }
    if !data.regions.is_empty() {
        return of_regions(module, id);
    }
    if op.def.mixed == Some(MixedPart::Cross) || affinity(&op) == Some(CoreKind::Vector) {
        return Kind::Vector;
    }
    let plain = op.def.core == CoreRule::Any
        && matches!(op.def.pipe, PipeRule::None)
        && op.def.ring.is_none()
        && op.def.in_core_sync == InCoreSync::No
        && op.def.schema.part != Part::Call;
    if plain && !data.results.is_empty() {
        return Kind::Value;
    }
    // Ops that change the meaning of a tile's name, such as its valid shape.
    if plain && all_tiles(&op).iter().any(|v| vector_tile(module, *v).is_some()) { Kind::Vector } else { Kind::Other }
}

fn of_regions(module: &Module, id: OpId) -> Kind {
    let blocks = module.op(id).regions.iter().flat_map(|r| module.region(*r).blocks.iter().copied());
    let inner: Vec<OpId> = blocks.flat_map(|block| module.walk(block)).collect();
    let has_work = |op: &OpId| module.op(*op).regions.is_empty() && kind(module, *op) == Kind::Vector;
    if !inner.iter().any(has_work) {
        return Kind::Other;
    }
    let crosses = |op: &OpId| OpRef::of(module, *op).is_some_and(|op| op.def.mixed.is_some());
    let ends = |op: &OpId| OpRef::of(module, *op).is_some_and(|op| op.def.schema.terminator);
    let others = |op: &OpId| module.op(*op).regions.is_empty() && !ends(op) && kind(module, *op) == Kind::Other;
    // A region passes on no values.
    if module.op(id).results.is_empty() && !inner.iter().any(|op| crosses(op) || others(op)) {
        Kind::Vector
    } else {
        Kind::Mixed
    }
}
