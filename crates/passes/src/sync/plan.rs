//! The signals a function needs: a small set that preserves every dependence between pipes.
//!
//! Work A on pipe p and later work B on pipe q that touch the same bytes, one of them writing, must not overlap. In the
//! innermost block that holds both, let A' and B' be the nodes around them. If A' comes before B', p signals right
//! after A' and q waits right before B'. If A comes before B only in the next iteration of a loop, the pair is carried.
//! Both ends of a pair are in the same block, so every path sets as often as it waits, with or without iterations.
//!
//! Dependences are processed from the innermost blocks outwards, near ones first. A pair is placed only if those placed
//! before do not already guarantee the dependence, through any chain of signals and pipe order. More distant work of a
//! pipe is examined only as long as the guarantee for nearer work does not cover it too.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::ops::Range;

use slipring_ir::Flow;
use slipring_machine::Pipe;
use smallvec::SmallVec;

use super::index::Conflicts;
use super::order::{Known, Order, Pair, Pos};
use super::tree::{Node, Parent, Tree};

/// A dependence between work of two pipes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Dependence {
    /// Innermost blocks first.
    depth: Reverse<usize>,
    kind: Kind,
    /// Nodes between the two.
    distance: usize,
    block: usize,
    /// Node and work of the first access.
    a: (usize, usize),
    /// Node and work of the second access, which waits.
    b: (usize, usize),
}

/// How the second work comes after the first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    /// In the same execution of the block.
    Forward,
    /// In the next execution, in the same node.
    SameNode,
    /// In the next execution, in an earlier node.
    Carried,
}

/// Places the signals required by the dependences of a tree.
pub fn plan<'t>(tree: &'t Tree, conflicts: &Conflicts<'_>) -> Order<'t> {
    let mut order = Order::new(tree);
    for (block, data) in tree.blocks.iter().enumerate() {
        for node in 0..data.nodes.len() {
            if order.is_alone(Parent { block, node }) {
                let at = order.middle(block, node);
                order.add_barrier(block, at);
            }
        }
    }
    let mut searches = Searches { tree, conflicts, runs: runs(tree, conflicts), heap: BinaryHeap::new() };
    for block in searches.begin() {
        let at = order.middle(block, tree.blocks[block].nodes.len());
        order.add_barrier(block, at);
    }
    while let Some(Reverse((dependence, mut search))) = searches.heap.pop() {
        if order.is_exhausted() {
            break;
        }
        if !is_certain(&order, &dependence) {
            let pair = pair_for(&mut order, &dependence);
            order.add(pair);
        } else if !speaks_for_farther(&order, &dependence, search.ahead) {
            search.steps += 1;
            if search.steps < MOST_STEPS {
                searches.next(search);
            } else {
                // Possibly one signal more than needed, which covers everything farther away.
                let pair = pair_for(&mut order, &dependence);
                order.add(pair);
            }
        }
    }
    order
}

/// Number of already guaranteed dependences that a search examines.
const MOST_STEPS: u32 = 256;

/// A search for the dependences of one work item in one lane, in either direction: from the nearest to the farthest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Search {
    kind: Kind,
    /// Block and node between which, or between whose executions, the dependence exists.
    block: usize,
    node: usize,
    /// True if this work comes first and the others follow in the next execution: the first of them is the nearest.
    ahead: bool,
    /// The work item that the search started from.
    work: usize,
    /// The lane of the others, and the remaining ranks.
    lane: usize,
    from: u32,
    to: u32,
    steps: u32,
}

struct Searches<'t, 'c> {
    tree: &'t Tree,
    conflicts: &'c Conflicts<'c>,
    /// By lane and rank: the adjacent ranks in the same block without another one between them.
    runs: Vec<Vec<Range<u32>>>,
    /// The nearest dependence of each search.
    heap: BinaryHeap<Reverse<(Dependence, Search)>>,
}

/// By lane and rank the run of ranks in the same block around it.
pub(super) fn runs(tree: &Tree, conflicts: &Conflicts<'_>) -> Vec<Vec<Range<u32>>> {
    let lane_runs = |lane: usize| {
        let mut list: Vec<Range<u32>> = Vec::new();
        let all = conflicts.ranks(lane, 0..tree.works.len());
        let block = |rank: u32| tree.places[conflicts.work(lane, rank)].block;
        let mut start = 0;
        for rank in all.clone() {
            if rank + 1 == all.end || block(rank) != block(rank + 1) {
                list.extend(std::iter::repeat_n(start..rank + 1, (rank + 1 - start) as usize));
                start = rank + 1;
            }
        }
        list
    };
    conflicts.lanes().map(|(lane, _)| lane_runs(lane)).collect()
}

impl Searches<'_, '_> {
    /// Starts every search, and finds the blocks that need a full barrier at their end: the regions of loops with
    /// several regions, which no pair can connect.
    ///
    /// Among the work items of one pipe in one block that an item depends on, the last is sufficient: knowing that it
    /// is complete implies the same for those before it. Among those that depend on it in the next execution, the first
    /// is.
    fn begin(&mut self) -> BTreeSet<usize> {
        let tree = self.tree;
        let spans = tree.works_of_blocks();
        let start_of = |blocks: &[usize]| {
            blocks.iter().map(|b| &spans[*b]).find(|span| !span.is_empty()).map_or(0, |span| span.start)
        };
        let mut joints = BTreeSet::new();
        for work in 0..tree.works.len() {
            let Parent { mut block, mut node } = tree.places[work];
            let mut start = work;
            loop {
                let earlier = spans[block].start..start;
                let search =
                    Search { kind: Kind::Forward, block, node, ahead: false, work, lane: 0, from: 0, to: 0, steps: 0 };
                self.search(search, &earlier);
                if tree.is_repeated(block) {
                    self.search(Search { kind: Kind::Carried, ahead: true, ..search }, &earlier);
                }
                let Some(parent) = &tree.blocks[block].parent else { break };
                let outer = &tree.blocks[parent.block].nodes[parent.node];
                let (Node::Group { blocks, .. } | Node::Call { blocks, .. }) = outer else { break };
                let earlier_arms = start_of(blocks)..spans[block].start;
                if let Node::Group { flow: Flow::Repeat | Flow::Once, blocks } = outer {
                    if blocks.len() > 1 && !joints.contains(&block) && self.meets(work, earlier_arms) {
                        joints.extend(blocks);
                    }
                } else if tree.is_repeated(parent.block) {
                    let Parent { block, node } = *parent;
                    for ahead in [false, true] {
                        self.search(Search { kind: Kind::SameNode, block, node, ahead, ..search }, &earlier_arms);
                    }
                }
                (start, block, node) = (start_of(blocks), parent.block, parent.node);
            }
        }
        joints
    }

    /// The lanes of other pipes that a work item may conflict with.
    fn lanes(&self, work: usize) -> impl Iterator<Item = usize> + use<'_> {
        let pipe = self.tree.works[work].pipe;
        let meets = move |lane: &usize| self.conflicts.may_meet(work, *lane);
        self.conflicts.lanes().filter(move |(_, (of, _))| *of != pipe).map(|(lane, _)| lane).filter(meets)
    }

    /// True if a work item conflicts with some of these.
    fn meets(&self, work: usize, others: Range<usize>) -> bool {
        self.lanes(work)
            .any(|lane| self.conflicts.last(work, lane, self.conflicts.ranks(lane, others.clone())).is_some())
    }

    /// Starts a search in every lane. `others` come before the work in the text.
    fn search(&mut self, search: Search, others: &Range<usize>) {
        if others.is_empty() {
            return;
        }
        for lane in self.lanes(search.work).collect::<SmallVec<[usize; 8]>>() {
            let Range { start: from, end: to } = self.conflicts.ranks(lane, others.clone());
            self.next(Search { lane, from, to, ..search });
        }
    }

    /// Finds the nearest dependence in the remaining range of a search.
    fn next(&mut self, mut search: Search) {
        let Search { kind, block, node, ahead, work, lane, .. } = search;
        let find = if ahead { Conflicts::first } else { Conflicts::last };
        let Some(rank) = find(self.conflicts, work, lane, search.from..search.to) else { return };
        // The remaining range begins after the block of this one.
        let run = &self.runs[lane][rank as usize];
        if ahead {
            search.from = run.end
        } else {
            search.to = run.start
        }
        let other = self.conflicts.work(lane, rank);
        let there = self.node_in(block, other);
        let distance = match kind {
            Kind::Forward => node - there,
            Kind::SameNode => 0,
            Kind::Carried => self.tree.blocks[block].nodes.len() - node + there,
        };
        let (mine, theirs) = ((node, work), (there, other));
        let (a, b) = if ahead { (mine, theirs) } else { (theirs, mine) };
        let depth = Reverse(self.tree.depth(block));
        self.heap.push(Reverse((Dependence { depth, kind, distance, block, a, b }, search)));
    }

    /// The node of a block that is a work item or contains it.
    fn node_in(&self, block: usize, work: usize) -> usize {
        let mut place = self.tree.places[work];
        while place.block != block {
            match self.tree.blocks[place.block].parent {
                Some(parent) => place = parent,
                None => break,
            }
        }
        place.node
    }
}

fn is_certain(order: &Order<'_>, dependence: &Dependence) -> bool {
    let Dependence { block, kind, a, b, .. } = *dependence;
    let (p, q) = (order.tree.works[a.1].pipe, order.tree.works[b.1].pipe);
    let direct = kind == Kind::Forward && order.at_once(block, p, Pos::after(a.0), q, Pos::before(b.0));
    direct || order.certain(block, a.1, b.1, kind != Kind::Forward)
}

/// True if the guarantee for a dependence also covers work farther away: it would suffice even if the nearer work were
/// known to be complete only at its own position.
fn speaks_for_farther(order: &Order<'_>, dependence: &Dependence, ahead: bool) -> bool {
    let Dependence { block, kind, a, b, .. } = *dependence;
    let (p, q) = (order.tree.works[a.1].pipe, order.tree.works[b.1].pipe);
    let (set, wait) = (Known::only(p, Pos::after(a.0)), Known::only(q, Pos::before(b.0)));
    let known = if ahead { order.known(a.1, block) } else { set };
    let needed = if ahead { wait } else { order.needed(b.1, block) };
    match kind {
        Kind::Forward => order.in_time(block, known, &needed),
        Kind::SameNode | Kind::Carried => order.in_time_later(block, known, needed),
    }
}

fn pair_for(order: &mut Order<'_>, dependence: &Dependence) -> Pair {
    let tree = order.tree;
    let (from, to) = (tree.works[dependence.a.1].pipe, tree.works[dependence.b.1].pipe);
    let block = dependence.block;
    match dependence.kind {
        Kind::SameNode => meeting(order, block, dependence.a.0, from, to),
        kind => Pair {
            from,
            to,
            block,
            set: Pos::after(dependence.a.0),
            wait: Pos::before(dependence.b.0),
            carried: kind == Kind::Carried,
        },
    }
}

/// A signal that begins and ends right before a node.
pub fn meeting(order: &mut Order<'_>, block: usize, node: usize, from: Pipe, to: Pipe) -> Pair {
    let (set, wait) = (order.middle(block, node), order.middle(block, node));
    Pair { from, to, block, set, wait, carried: false }
}
