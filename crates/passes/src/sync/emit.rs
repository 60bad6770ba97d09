//! Writing flags and barriers into a module.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{BlockId, Module, OpId};
use slipring_pto as pto;

use super::buckets::Buckets;
use super::build::Built;
use super::place::{Action, Placement, Side};
use crate::analysis::facts::terminator;

/// The position of an action in a module.
#[derive(Clone, Copy, Debug)]
enum Anchor {
    Before(OpId),
    After(OpId),
    End(BlockId),
}

/// Writes the placed actions into a function.
pub fn emit(module: &mut Module, built: &Built, placed: &[Placement]) {
    // Twice the index of the op they precede, plus one if they come after it.
    let (mut made, places): (Vec<(usize, OpId)>, usize) = (Vec::new(), 2 * module.op_count());
    let mut ends: BTreeMap<BlockId, Vec<OpId>> = BTreeMap::new();
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
            match anchor {
                Anchor::Before(at) => made.push((2 * at.index(), op)),
                Anchor::After(at) => made.push((2 * at.index() + 1, op)),
                Anchor::End(block) => ends.entry(block).or_default().push(op),
            }
            changed.insert(block);
        }
    }
    let made = Buckets::new(places, made);
    for block in changed {
        let mut ops = Vec::new();
        for &op in &module.block(block).ops {
            ops.extend(made.at(2 * op.index()));
            ops.push(op);
            ops.extend(made.at(2 * op.index() + 1));
        }
        ops.extend(ends.remove(&block).into_iter().flatten());
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
