//! Where the cores of a cluster wait for each other because of what they leave in global memory.

use std::collections::BTreeSet;

use slipring_ir::{BlockId, Module, OpId};

/// Places at which all cores of the cluster meet.
#[derive(Clone, Debug, Default)]
pub(super) struct Meetings {
    /// Right before these ops.
    pub before: BTreeSet<OpId>,
    /// At the end of these blocks.
    pub at_end: BTreeSet<BlockId>,
}

impl Meetings {
    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.at_end.is_empty()
    }

    /// The blocks that hold them.
    pub fn blocks(&self, module: &Module) -> Vec<BlockId> {
        let before = self.before.iter().filter_map(|op| module.op(*op).block);
        before.chain(self.at_end.iter().copied()).collect()
    }
}
