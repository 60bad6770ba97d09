//! Which signals a function needs: as few as keep every dependence between pipes.
//!
//! Work A on pipe p and later work B on pipe q that touch the same bytes, one of them writing, must not overlap. In the
//! innermost block that holds both, let A' and B' be the nodes around them. If A' comes before B', p signals right after A'
//! and q waits right before B'. If A comes before B only in the next iteration of a loop, the pair is carried. Both
//! ends of a pair stand in the same block, so every path sets as often as it waits, iterations or not.
//!
//! Dependences are taken from the innermost blocks outwards and the near ones first. A pair is placed only if those placed
//! before do not make the dependence certain already, by whatever chain of signals and pipe order.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::Flow;
use slipring_machine::{CoreKind, Pipe};

use super::order::{Order, Pair, Pos};
use super::tree::{Node, Parent, Relation, Tree};

/// A dependence between work of two pipes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Dependence {
    /// Innermost blocks first.
    depth: std::cmp::Reverse<usize>,
    kind: Kind,
    /// Nodes between the two.
    distance: usize,
    block: usize,
    /// Node and work that come first.
    a: (usize, usize),
    /// Node and work that wait.
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

/// Places the signals that the dependences of a tree need.
pub fn plan(tree: &Tree) -> Order<'_> {
    let mut order = Order::new(tree);
    for (block, data) in tree.blocks.iter().enumerate() {
        for node in 0..data.nodes.len() {
            if order.is_alone(Parent { block, node }) {
                let at = order.middle(block, node);
                order.add_barrier(block, at);
            }
        }
    }
    let (dependences, joints) = dependences(tree);
    for block in joints {
        let at = order.middle(block, tree.blocks[block].nodes.len());
        order.add_barrier(block, at);
    }
    for dependence in dependences {
        if !is_certain(&order, &dependence) {
            let pair = pair_for(&mut order, &dependence);
            order.add(pair);
        }
    }
    order
}

/// Every dependence between pipes in the order of placing that others do not imply, and the blocks at whose end everything
/// must be waited for: the regions of loops with several of them, which no pair can connect.
///
/// Of the works of one pipe in one block that a work depends on, the last one is enough: who knows that it is done knows
/// it of those before. Of those that depend on it in the next execution, the first one is.
fn dependences(tree: &Tree) -> (Vec<Dependence>, BTreeSet<usize>) {
    let mut found = Vec::new();
    let mut joints = BTreeSet::new();
    for later in 0..tree.works.len() {
        let b = &tree.works[later];
        let repeated = tree.is_repeated(tree.places[later].block);
        // Pipes and blocks of which the last work that conflicts was met, and the first one so far.
        let mut met: BTreeMap<(Pipe, Option<CoreKind>, usize), usize> = BTreeMap::new();
        for earlier in (0..later).rev() {
            let a = &tree.works[earlier];
            let key = (a.pipe, a.core, tree.places[earlier].block);
            if a.pipe == b.pipe || (!repeated && met.contains_key(&key)) || !a.conflicts(b) {
                continue;
            }
            let before = found.len();
            let nodes = relate(tree, earlier, later, &mut found, &mut joints);
            if !nodes {
                continue;
            }
            match met.get(&key).copied() {
                None if found.len() == before + 2 => drop(met.insert(key, before + 1)),
                None => drop(met.insert(key, before)),
                Some(first) if found.len() == before + 2 => {
                    // The carried one takes the place of the carried one of a later work.
                    found[first] = found[before + 1];
                    found.truncate(before);
                }
                Some(_) => found.truncate(before),
            }
        }
    }
    found.sort_unstable();
    (found, joints)
}

/// Adds the dependences of two works. True if they stand in different nodes of a block.
fn relate(
    tree: &Tree,
    earlier: usize,
    later: usize,
    found: &mut Vec<Dependence>,
    joints: &mut BTreeSet<usize>,
) -> bool {
    match tree.relation(tree.places[earlier], tree.places[later]) {
        Relation::Nodes { block, a, b } => {
            let depth = std::cmp::Reverse(tree.depth(block));
            let forward =
                Dependence { depth, kind: Kind::Forward, distance: b - a, block, a: (a, earlier), b: (b, later) };
            found.push(forward);
            if tree.is_repeated(block) {
                let distance = tree.blocks[block].nodes.len() - b + a;
                found.push(Dependence { kind: Kind::Carried, distance, a: (b, later), b: (a, earlier), ..forward });
            }
            return true;
        }
        Relation::Regions { block, node } => match &tree.blocks[block].nodes[node] {
            Node::Group { flow: Flow::Repeat | Flow::Once, blocks } => joints.extend(blocks),
            _ if tree.is_repeated(block) => {
                let depth = std::cmp::Reverse(tree.depth(block));
                let (a, b) = ((node, earlier), (node, later));
                let both = Dependence { depth, kind: Kind::SameNode, distance: 0, block, a, b };
                found.extend([both, Dependence { a: b, b: a, ..both }]);
            }
            _ => {}
        },
        Relation::Same => {}
    }
    false
}

fn is_certain(order: &Order<'_>, dependence: &Dependence) -> bool {
    let Dependence { block, kind, a, b, .. } = *dependence;
    let (p, q) = (order.tree.works[a.1].pipe, order.tree.works[b.1].pipe);
    let direct = kind == Kind::Forward && order.at_once(block, p, Pos::after(a.0), q, Pos::before(b.0));
    direct || order.certain(block, a.1, b.1, kind != Kind::Forward)
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
