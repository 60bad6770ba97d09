//! Writing flags and barriers into a module.

use std::collections::BTreeMap;

use slipring_dialects::pto;
use slipring_ir::{BlockId, Module, OpId};

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
    // What goes after an op goes after what went there before.
    let mut last: BTreeMap<OpId, OpId> = BTreeMap::new();
    for placement in placed {
        let ops = &built.ops[placement.block];
        let anchor = match placement.side {
            Side::After(node) => ops.get(node).map(|op| Anchor::After(*op)),
            Side::Before(node) => {
                ops.get(node).map(|op| Anchor::Before(*op)).or(built.blocks[placement.block].map(Anchor::End))
            }
        };
        let Some(anchor) = anchor else { continue };
        let op = make(module, anchor, placement.action);
        match anchor {
            Anchor::Before(at) => module.insert_before(at, op),
            Anchor::After(at) => {
                let behind = last.insert(at, op).unwrap_or(at);
                module.insert_after(behind, op);
            }
            Anchor::End(block) => match terminator(module, block) {
                Some(end) => module.insert_before(end, op),
                None => module.append(block, op),
            },
        }
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
