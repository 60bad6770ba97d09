//! Writing flags and barriers into a module.

use std::collections::BTreeMap;

use slipring_dialects::Dialects;
use slipring_ir::{Attr, AttrDict, BlockId, Module, OpId};
use slipring_machine::Pipe;

use super::build::Built;
use super::place::{Action, Placement, Side};
use crate::analysis::facts::terminator;

/// Names of the ops that are written.
pub const SET: &str = "pto.set_flag";
/// See [`SET`].
pub const WAIT: &str = "pto.wait_flag";
/// See [`SET`].
pub const BARRIER: &str = "pto.barrier";

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
        let (Some(anchor), Some(op)) = (anchor, make(module, anchor, placement.action)) else { continue };
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

fn make(module: &mut Module, anchor: Option<Anchor>, action: Action) -> Option<OpId> {
    let pipe = |pipe: Pipe| Attr::member("pipe", &format!("PIPE_{}", pipe.name()));
    let (name, attrs): (&str, AttrDict) = match action {
        Action::Set(flag) | Action::Wait(flag) => (
            if matches!(action, Action::Set(_)) { SET } else { WAIT },
            [
                ("src_pipe", pipe(flag.from)),
                ("dst_pipe", pipe(flag.to)),
                ("event_id", Attr::member("event", &format!("EVENT_ID{}", flag.id))),
            ]
            .into_iter()
            .collect(),
        ),
        Action::Barrier(of) => {
            let of = of.map_or(Attr::member("pipe", "PIPE_ALL"), pipe);
            (BARRIER, [("pipe", of)].into_iter().collect())
        }
    };
    let span = match anchor? {
        Anchor::Before(op) | Anchor::After(op) => module.op(op).span,
        Anchor::End(block) => module.block(block).ops.last().map_or(Default::default(), |op| module.op(*op).span),
    };
    let schema = Dialects::get().registry.get(name)?;
    Some(module.build(schema, &[], attrs, &[], span))
}

/// The number of `EVENT_ID3`.
pub fn event_number(text: &str) -> Option<u32> {
    text.strip_prefix("EVENT_ID")?.parse().ok()
}
