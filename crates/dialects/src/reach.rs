//! Which ops a core runs, and which core an op belongs to.

use slipring_ir::{Attr, BlockId, Module, OpId, Type};
use slipring_machine::CoreKind;
use slipring_tile::Space;

use crate::Dialects;
use crate::decode::kernel_kind;
use crate::def::{CoreRule, OpRef};

/// The kind of core that an op needs; `None` if any core can run it.
pub fn affinity(op: &OpRef<'_>) -> Option<CoreKind> {
    match op.def.core {
        CoreRule::Any => None,
        CoreRule::Cube => Some(CoreKind::Cube),
        CoreRule::Vector => Some(CoreKind::Vector),
        CoreRule::ByTile => {
            let data = op.module.op(op.id);
            let types = data.operands.iter().chain(&data.results).map(|v| op.module.ty(*v));
            // A move between the two kinds of cores is made by the one that has its source.
            types.filter_map(local_space).map(core_of).next()
        }
    }
}

fn local_space(ty: &Type) -> Option<Space> {
    match ty {
        Type::Tile(tile) => Some(tile.space),
        Type::MemRef(memref) => memref.space.filter(|s| *s != Space::Gm),
        _ => None,
    }
}

/// The kind of core that has a local memory.
pub fn core_of(space: Space) -> CoreKind {
    if space == Space::Vec { CoreKind::Vector } else { CoreKind::Cube }
}

/// The ops that a core of this kind runs when it starts in `function`, calls followed, in the order of the text.
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
        let def = Dialects::get().def(&data.name);
        let section = match def.map(|d| d.core) {
            Some(CoreRule::Cube) => Some(CoreKind::Cube),
            Some(CoreRule::Vector) => Some(CoreKind::Vector),
            _ => None,
        };
        if !data.regions.is_empty() && section.is_some_and(|s| s != kind) {
            continue;
        }
        found.push(op);
        if let Some(callee) = data.attrs.get("callee").and_then(Attr::as_str).and_then(|name| module.symbol(name))
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
