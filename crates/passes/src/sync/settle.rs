//! A plan that the independent check accepts.
//!
//! The reasoning of [`super::order`] about chains of signals is intricate, and [`super::events`] relies on it to share
//! ids. Neither is trusted: [`super::check`] verifies the plan of every function before it is written. A rejected plan
//! is repaired in a simple way: a misused flag is dropped, each of its waits becoming a barrier of all pipes, and work
//! that may start too early gets such a barrier before it. Both only ever strengthen the order, so a few rounds lead to
//! a valid plan; if not, a barrier before all work does.

use std::collections::BTreeSet;

use slipring_machine::Pipe;
use slipring_tile::Space;

use super::buckets::Buckets;
use super::check::{Problem, SyncStep, check};
use super::events::{Pressure, assign};
use super::index::Conflicts;
use super::place::{Action, Placement, Side, placements};
use super::plan::plan;
use super::tree::{Block, Flag, Node, Tree};

/// The placements for a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settled {
    /// All placements, in the order of writing.
    pub placed: Vec<Placement>,
    /// The cost of a shortage of ids.
    pub pressure: Pressure,
    /// Barriers of all pipes placed because the check rejected the plan.
    pub mended: usize,
    /// True if finding signals takes too long, so a barrier is placed before all work.
    pub given_up: bool,
}

/// Number of repairs before the plan is replaced by barriers everywhere.
const ROUNDS: usize = 8;

/// Plans the flags of a function with event ids below `ids`. `overlapping` lists the memories in which pipes overlap
/// their own work.
///
/// # Errors
/// Problems that the check finds even with a barrier before all work: the flags of a callee are wrong, or this code is.
pub fn settle(tree: &Tree, ids: u32, overlapping: &[(Pipe, Space)]) -> Result<Settled, Vec<Problem>> {
    let conflicts = Conflicts::new(&tree.works);
    let mut order = plan(tree, &conflicts);
    let (events, pressure) = assign(&mut order, ids);
    let placed = placements(&order, &conflicts, &events, overlapping);
    let given_up = order.is_exhausted();
    let (placed, pressure) = if given_up { (everywhere(tree), Pressure::default()) } else { (placed, pressure) };
    let settled = |(placed, mended)| Settled { placed, pressure, mended, given_up };
    accepted(tree, &conflicts, placed, overlapping).map(settled)
}

/// The placements, repaired until the check accepts them, and the number of barriers added.
///
/// # Errors
/// See [`settle`].
pub fn accepted(
    tree: &Tree,
    conflicts: &Conflicts<'_>,
    mut placed: Vec<Placement>,
    overlapping: &[(Pipe, Space)],
) -> Result<(Vec<Placement>, usize), Vec<Problem>> {
    let judge = |placed: &[Placement]| check(&steps(tree, placed), &tree.works, conflicts, overlapping);
    let barriers = |placed: &[Placement]| placed.iter().filter(|p| p.action == Action::Barrier(None)).count();
    let planned = barriers(&placed);
    for _ in 0..ROUNDS {
        let problems = judge(&placed);
        if problems.is_empty() {
            let mended = barriers(&placed).saturating_sub(planned);
            return Ok((placed, mended));
        }
        mend(tree, &mut placed, &problems);
    }
    let placed = everywhere(tree);
    let problems = judge(&placed);
    if problems.is_empty() { Ok((placed.clone(), barriers(&placed))) } else { Err(problems) }
}

/// Drops misused flags and puts barriers before work that may start too early.
fn mend(tree: &Tree, placed: &mut Vec<Placement>, problems: &[Problem]) {
    let mut misused = BTreeSet::new();
    let mut late = BTreeSet::new();
    for problem in problems {
        match problem {
            Problem::Race(_, work) => late.extend(node_of(tree, *work)),
            Problem::SetTwice(flag)
            | Problem::NeverSet(flag)
            | Problem::Unbalanced(flag)
            | Problem::LeftSet(flag)
            | Problem::Inside(flag, _) => {
                misused.insert(*flag);
            }
        }
    }
    placed.retain(|p| !matches!(p.action, Action::Set(flag) if misused.contains(&flag)));
    for place in placed.iter_mut() {
        if matches!(place.action, Action::Wait(flag) if misused.contains(&flag)) {
            place.action = Action::Barrier(None);
        }
    }
    // A callee that uses such a flag finds it clear after a barrier.
    late.extend(nodes(tree).filter(|(block, node)| {
        matches!(&tree.blocks[*block].nodes[*node], Node::Call { flags, .. } if flags.iter().any(|f| misused.contains(f)))
    }));
    placed.extend(late.into_iter().map(barrier_before));
    placed.dedup_by(|b, a| b == a && a.action == Action::Barrier(None));
}

/// A barrier before all work: slow, and correct for every function.
fn everywhere(tree: &Tree) -> Vec<Placement> {
    let busy = |(block, node): &(usize, usize)| !matches!(tree.blocks[*block].nodes[*node], Node::Group { .. });
    nodes(tree).filter(busy).map(barrier_before).collect()
}

fn barrier_before((block, node): (usize, usize)) -> Placement {
    Placement { block, side: Side::Before(node), action: Action::Barrier(None) }
}

/// Every node at which something can be placed: the contents of a call belong to its callee.
fn nodes(tree: &Tree) -> impl Iterator<Item = (usize, usize)> + '_ {
    let open = |block: &usize| tree.blocks[*block].parent.is_none_or(|p| !is_call(tree, p.block, p.node));
    let blocks = (0..tree.blocks.len()).filter(open);
    blocks.flat_map(|block| (0..tree.blocks[block].nodes.len()).map(move |node| (block, node)))
}

fn is_call(tree: &Tree, block: usize, node: usize) -> bool {
    matches!(tree.blocks[block].nodes[node], Node::Call { .. })
}

/// The node before which a barrier holds back work: its own, or the call that executes it.
fn node_of(tree: &Tree, work: usize) -> Option<(usize, usize)> {
    let place = tree.places.get(work)?;
    let call = tree.blocks[place.block].parent.filter(|p| is_call(tree, p.block, p.node));
    let place = call.as_ref().unwrap_or(place);
    Some((place.block, place.node))
}

/// A function with its placements, for the check.
pub fn steps(tree: &Tree, placed: &[Placement]) -> Vec<SyncStep> {
    block_steps(tree, 0, &BySide::new(tree, placed))
}

/// Placements by their position.
struct BySide {
    /// The first index of each block: before and after each node, and at the end.
    blocks: Vec<usize>,
    actions: Buckets<Action>,
}

impl BySide {
    fn new(tree: &Tree, placed: &[Placement]) -> BySide {
        let mut count = 0;
        let first = |block: &Block| {
            count += 2 * block.nodes.len() + 1;
            count - (2 * block.nodes.len() + 1)
        };
        let blocks: Vec<usize> = tree.blocks.iter().map(first).collect();
        let actions = placed.iter().map(|own| (blocks[own.block] + number(own.side), own.action)).collect();
        BySide { actions: Buckets::new(count, actions), blocks }
    }

    fn at(&self, block: usize, side: Side) -> &[Action] {
        self.actions.at(self.blocks[block] + number(side))
    }
}

/// The index of a side within its block.
fn number(side: Side) -> usize {
    match side {
        Side::Before(node) => 2 * node,
        Side::After(node) => 2 * node + 1,
    }
}

fn block_steps(tree: &Tree, block: usize, placed: &BySide) -> Vec<SyncStep> {
    let mut list = Vec::new();
    let add = |list: &mut Vec<SyncStep>, side: Side| {
        list.extend(placed.at(block, side).iter().map(|action| match *action {
            Action::Set(flag) => SyncStep::Set(flag),
            Action::Wait(flag) => SyncStep::Wait(flag),
            Action::Barrier(pipe) => SyncStep::Barrier(pipe),
        }));
    };
    for (at, node) in tree.blocks[block].nodes.iter().enumerate() {
        add(&mut list, Side::Before(at));
        list.push(match node {
            Node::Work(work) => SyncStep::Work(*work),
            Node::Group { flow, blocks } => {
                SyncStep::Group(*flow, blocks.iter().map(|b| block_steps(tree, *b, placed)).collect())
            }
            Node::Call { blocks, flags, .. } => {
                let works = blocks.iter().flat_map(|b| &tree.blocks[*b].nodes);
                let works = works.filter_map(|n| if let Node::Work(work) = n { Some(*work) } else { None });
                SyncStep::Call(works.collect(), flags.clone())
            }
        });
        add(&mut list, Side::After(at));
    }
    add(&mut list, Side::Before(tree.blocks[block].nodes.len()));
    list
}

/// The flags among the placements.
pub fn flags(placed: &[Placement]) -> Vec<Flag> {
    placed.iter().filter_map(|p| if let Action::Set(flag) = p.action { Some(flag) } else { None }).collect()
}
