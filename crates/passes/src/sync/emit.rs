//! Writing flags and barriers into a module.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{BlockId, Module, OpId};
use slipring_pto as pto;

use super::build::Built;
use super::place::{Action, Placement, Side};
use crate::analysis::facts::terminator;

/// Where in a module an action goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Anchor {
    Before(OpId),
    After(OpId),
    End(BlockId),
}

/// Writes what was placed in a function.
pub fn emit(module: &mut Module, built: &Built, placed: &[Placement]) {
    let mut made: BTreeMap<Anchor, Vec<OpId>> = BTreeMap::new();
    let mut changed: BTreeSet<BlockId> = BTreeSet::new();
    for placement in placed {
        let ops = &built.ops[placement.block];
        let end_of = |block: BlockId| terminator(module, block).map_or(Anchor::End(block), Anchor::Before);
        let anchor = match placement.side {
            Side::After(node) => ops.get(node).map(|op| Anchor::After(*op)),
            Side::Before(node) => {
                ops.get(node).map(|op| Anchor::Before(*op)).or(built.blocks[placement.block].map(end_of))
            }
        };
        let Some(anchor) = anchor else { continue };
        let block = match anchor {
            Anchor::Before(op) | Anchor::After(op) => module.op(op).block,
            Anchor::End(block) => Some(block),
        };
        if let Some(block) = block {
            let op = make(module, anchor, placement.action);
            made.entry(anchor).or_default().push(op);
            changed.insert(block);
        }
    }
    for block in changed {
        let mut ops = Vec::new();
        let mut take = |ops: &mut Vec<OpId>, anchor: Anchor| ops.extend(made.remove(&anchor).into_iter().flatten());
        for &op in &module.block(block).ops {
            take(&mut ops, Anchor::Before(op));
            ops.push(op);
            take(&mut ops, Anchor::After(op));
        }
        take(&mut ops, Anchor::End(block));
        module.set_ops(block, ops);
    }
}

fn make(module: &mut Module, anchor: Anchor, action: Action) -> OpId {
    let span = match anchor {
        Anchor::Before(op) | Anchor::After(op) => module.op(op).span,
        Anchor::End(block) => module.block(block).ops.last().map_or(Default::default(), |op| module.op(*op).span),
    };
    match action {
        Action::Set(flag) => pto::set_flag(module, [flag.from, flag.to], flag.id, span),
        Action::Wait(flag) => pto::wait_flag(module, [flag.from, flag.to], flag.id, span),
        Action::Barrier(of) => pto::barrier(module, of, span),
    }
}
