//! How a piece of a region ends: the blocks that may run next, and the values that they need.

use std::collections::BTreeMap;

use slipring_ir::ValueId;

use super::graph::Vertex;

/// A value that a block needs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Need {
    /// Its argument at this position.
    Argument(usize),
    /// This value of a loop that has been left.
    Value(ValueId),
}

/// The values that a block needs, and what they are now.
pub(super) type Handed = BTreeMap<Need, ValueId>;

/// The end of a piece.
#[derive(Clone, Default, Debug)]
pub(super) struct Exits {
    /// The blocks that may run next.
    pub to: BTreeMap<Vertex, Handed>,
    /// The one that does, as a number, where there are several.
    pub which: Option<ValueId>,
}

impl Exits {
    /// A piece that always ends here.
    pub fn only(node: Vertex, values: Handed) -> Exits {
        Exits { to: BTreeMap::from([(node, values)]), which: None }
    }

    /// The blocks that several pieces together may lead to, with what each of them needs: values of a loop only where
    /// every piece that leads there has them.
    pub fn union(pieces: &[Exits]) -> BTreeMap<Vertex, Vec<Need>> {
        let mut all: BTreeMap<Vertex, Vec<Need>> = BTreeMap::new();
        for (node, values) in pieces.iter().flat_map(|piece| &piece.to) {
            match all.get_mut(node) {
                Some(needed) => needed.retain(|one| values.contains_key(one)),
                None => drop(all.insert(*node, values.keys().copied().collect())),
            }
        }
        all
    }
}
