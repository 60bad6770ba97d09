//! Barriers of one pipe, for pipes that overlap their own work.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::Flow;
use slipring_machine::Pipe;
use slipring_tile::Space;

use super::order::Order;
use super::tree::{Node, Parent, Relation, Tree};

/// The nodes of a tree that need a barrier of `pipe` right before them: some path has work of the pipe that conflicts with
/// theirs in a memory where the pipe overlaps its own work, no barrier since, and no signals that go round by other pipes.
pub fn barriers<'t>(order: &'t Order<'t>, pipe: Pipe, overlapping: &[(Pipe, Space)]) -> Vec<Parent> {
    let mut finder = Finder {
        order,
        tree: order.tree,
        pipe,
        overlapping,
        all: order.barriers().into_iter().map(|(block, at)| (block, at.gap as usize)).collect(),
        needed: BTreeSet::new(),
        heads: BTreeMap::new(),
        changed: true,
    };
    while finder.changed {
        finder.changed = false;
        finder.block(0, &mut BTreeSet::new());
    }
    finder.needed.into_iter().map(|(block, node)| Parent { block, node }).collect()
}

struct Finder<'t, 'o> {
    order: &'t Order<'t>,
    tree: &'t Tree,
    pipe: Pipe,
    /// Memories in which pipes overlap their own work.
    overlapping: &'o [(Pipe, Space)],
    /// Gaps with a barrier of all pipes.
    all: BTreeSet<(usize, usize)>,
    /// Nodes that need one of this pipe.
    needed: BTreeSet<(usize, usize)>,
    /// Work that is pending where an iteration of each loop begins. Kept from one walk through the function to the
    /// next, so that the number of walks does not multiply with the nesting.
    heads: BTreeMap<(usize, usize), BTreeSet<usize>>,
    changed: bool,
}

impl Finder<'_, '_> {
    /// Goes through a block. `pending` is the work of the pipe that no barrier has waited for on some path.
    fn block(&mut self, block: usize, pending: &mut BTreeSet<usize>) {
        for (node, data) in self.tree.blocks[block].nodes.iter().enumerate() {
            if self.all.contains(&(block, node)) {
                pending.clear();
            }
            match data {
                Node::Work(work) => self.works(&[*work], (block, node), pending),
                Node::Call { blocks, .. } => {
                    let inner = blocks.iter().flat_map(|b| &self.tree.blocks[*b].nodes);
                    let inner = inner.filter_map(|n| if let Node::Work(work) = n { Some(*work) } else { None });
                    self.works(&inner.collect::<Vec<_>>(), (block, node), pending);
                }
                Node::Group { flow: Flow::Once, blocks } => blocks.iter().for_each(|b| self.block(*b, pending)),
                Node::Group { flow: Flow::OneOf, blocks } => {
                    let entry = pending.clone();
                    for inner in blocks {
                        let mut path = entry.clone();
                        self.block(*inner, &mut path);
                        pending.extend(path);
                    }
                }
                Node::Group { flow: Flow::Repeat, blocks } => {
                    pending.extend(self.heads.get(&(block, node)).into_iter().flatten());
                    let (mut path, before) = (pending.clone(), pending.len());
                    for inner in blocks {
                        self.block(*inner, &mut path);
                        pending.extend(&path);
                    }
                    self.changed |= pending.len() > before;
                    self.heads.insert((block, node), pending.clone());
                }
            }
        }
        if self.all.contains(&(block, self.tree.blocks[block].nodes.len())) {
            pending.clear();
        }
    }

    fn works(&mut self, works: &[usize], place: (usize, usize), pending: &mut BTreeSet<usize>) {
        let own: Vec<usize> = works.iter().copied().filter(|w| self.tree.works[*w].pipe == self.pipe).collect();
        let clash = |w: &usize| pending.iter().any(|p| self.depends(*p, *w));
        if self.needed.contains(&place) || own.iter().any(clash) {
            self.needed.insert(place);
            pending.clear();
        }
        pending.extend(own);
    }

    /// True if work `b` needs work `a` to be complete and signals do not make sure of it.
    fn depends(&self, a: usize, b: usize) -> bool {
        if !self.tree.works[a].overlaps(&self.tree.works[b], self.overlapping) {
            return false;
        }
        match self.tree.relation(self.tree.places[a], self.tree.places[b]) {
            Relation::Nodes { block, a: first, b: second } => !self.order.certain(block, a, b, first > second),
            Relation::Regions { block, node } if self.tree.flow_of(block, node) == Flow::OneOf => {
                !self.order.certain(block, a, b, true)
            }
            Relation::Regions { .. } => true,
            Relation::Same => !self.order.certain(self.tree.places[a].block, a, b, true),
        }
    }
}
