//! Barriers of a single pipe, for pipes that overlap their own work.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use slipring_ir::Flow;
use slipring_machine::Pipe;
use slipring_tile::Space;

use super::index::Conflicts;
use super::order::Order;
use super::plan::runs;
use super::runs::Runs;
use super::tree::{Node, Parent, Relation, Tree};

/// The nodes of a tree that need a barrier of `pipe` right before them: on some path, work of the pipe conflicts with
/// theirs in a memory where the pipe overlaps its own work, with no barrier since, and no signals through other pipes.
pub fn barriers<'t>(
    order: &'t Order<'t>,
    conflicts: &Conflicts<'_>,
    pipe: Pipe,
    overlapping: &[(Pipe, Space)],
) -> Vec<Parent> {
    let mut finder = Finder {
        order,
        tree: order.tree,
        conflicts,
        runs: runs(order.tree, conflicts),
        lanes: conflicts.lanes().filter(|(_, (of, _))| *of == pipe).map(|(lane, _)| lane).collect(),
        overlapping,
        all: order.barriers().into_iter().map(|(block, at)| (block, at.gap as usize)).collect(),
        needed: BTreeSet::new(),
        heads: BTreeMap::new(),
        changed: true,
    };
    while finder.changed && !order.is_exhausted() {
        finder.changed = false;
        let mut nothing = finder.nothing();
        finder.block(0, &mut nothing);
    }
    finder.needed.into_iter().map(|(block, node)| Parent { block, node }).collect()
}

/// Work of the pipe not covered by a barrier on some path: ranks by lane, in the order of the finder's lanes.
type Pending = Vec<Runs>;

struct Finder<'t, 'o> {
    order: &'t Order<'t>,
    tree: &'t Tree,
    conflicts: &'o Conflicts<'o>,
    /// See [`runs`].
    runs: Vec<Vec<Range<u32>>>,
    /// The lanes of the pipe.
    lanes: Vec<usize>,
    /// Memories in which pipes overlap their own work.
    overlapping: &'o [(Pipe, Space)],
    /// Gaps with a barrier of all pipes.
    all: BTreeSet<(usize, usize)>,
    /// Nodes that need a barrier of this pipe.
    needed: BTreeSet<(usize, usize)>,
    /// Pending work at the start of an iteration of each loop. Kept from one walk through the function to the next, so
    /// that the number of walks does not multiply with the nesting.
    heads: BTreeMap<(usize, usize), Pending>,
    changed: bool,
}

impl Finder<'_, '_> {
    fn nothing(&self) -> Pending {
        vec![Runs::default(); self.lanes.len()]
    }

    /// Processes a block.
    fn block(&mut self, block: usize, pending: &mut Pending) {
        for (node, data) in self.tree.blocks[block].nodes.iter().enumerate() {
            if self.all.contains(&(block, node)) {
                pending.iter_mut().for_each(Runs::clear);
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
                        unite(pending, &path);
                    }
                }
                Node::Group { flow: Flow::Repeat, blocks } => {
                    if let Some(head) = self.heads.get(&(block, node)) {
                        unite(pending, head);
                    }
                    let (mut path, before) = (pending.clone(), pending.clone());
                    for inner in blocks {
                        self.block(*inner, &mut path);
                        unite(pending, &path);
                    }
                    self.changed |= *pending != before;
                    self.heads.insert((block, node), pending.clone());
                }
            }
        }
        if self.all.contains(&(block, self.tree.blocks[block].nodes.len())) {
            pending.iter_mut().for_each(Runs::clear);
        }
    }

    fn works(&mut self, works: &[usize], place: (usize, usize), pending: &mut Pending) {
        let lane_of = |work: &usize| self.lanes.iter().position(|lane| *lane == self.conflicts.place(*work).0);
        let own: Vec<(usize, usize)> = works.iter().filter_map(|work| Some((lane_of(work)?, *work))).collect();
        if self.needed.contains(&place) || own.iter().any(|(_, work)| self.waits(*work, pending)) {
            self.needed.insert(place);
            pending.iter_mut().for_each(Runs::clear);
        }
        own.into_iter().for_each(|(lane, work)| pending[lane].insert(self.conflicts.place(work).1));
    }

    /// True if work needs some pending work to be complete, and signals do not guarantee it.
    fn waits(&self, work: usize, pending: &Pending) -> bool {
        let here = self.conflicts.place(work);
        self.lanes.iter().zip(pending).any(|(&lane, ranks)| {
            // Work that comes later in the text ran in an earlier iteration.
            let (earlier, later) = if here.0 == lane { (0..here.1, here.1..u32::MAX) } else { (0..u32::MAX, 0..0) };
            ranks.iter().rev().any(|run| {
                let part = |of: &Range<u32>| run.start.max(of.start)..run.end.min(of.end);
                self.waits_for(work, lane, part(&earlier)) || self.waits_for(work, lane, part(&later))
            })
        })
    }

    fn waits_for(&self, work: usize, lane: usize, mut ranks: Range<u32>) -> bool {
        while let Some(rank) = self.conflicts.last_overlap(work, lane, ranks.clone(), self.overlapping) {
            let other = self.conflicts.work(lane, rank);
            if self.order.is_exhausted() || self.depends(other, work) {
                return true;
            }
            // Signals that come after this work also come after the work before it in its block.
            ranks.end = self.runs[lane][rank as usize].start;
        }
        false
    }

    /// True if work `b` needs work `a` to be complete and signals do not guarantee it.
    fn depends(&self, a: usize, b: usize) -> bool {
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

fn unite(pending: &mut Pending, other: &Pending) {
    pending.iter_mut().zip(other).for_each(|(a, b)| a.unite(b));
}
