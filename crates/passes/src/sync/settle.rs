//! A plan that the independent check accepts.
//!
//! What [`super::order`] says of chains of signals is clever, and [`super::events`] leans on it to share ids. Neither is believed: the
//! plan of every function is judged by [`super::check`] before it is written. What is rejected is mended in a way that
//! needs no cleverness: a flag that is misused is given up, each of its waits becoming a barrier of all pipes, and work that
//! may come too early gets such a barrier before it. Both only ever add certainty, so a few rounds end in a plan that stands;
//! if not, a barrier before all work does.

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

/// What to place in a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settled {
    /// Everything to place, in the order of writing.
    pub placed: Vec<Placement>,
    /// What the ids cost.
    pub pressure: Pressure,
    /// Barriers of all pipes that were placed because the check rejected the plan.
    pub mended: usize,
    /// True where finding signals takes too long, so that a barrier stands before all work.
    pub given_up: bool,
}

/// How often a plan is mended before everything is given up for barriers.
const ROUNDS: usize = 8;

/// Plans the flags of a function with event ids below `ids`. `overlapping` says in which memories pipes overlap their
/// own work.
///
/// # Errors
/// What the check finds even where a barrier stands before all work: the flags of a callee are at fault, or this code.
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

/// What was placed, mended until the check accepts it, and how many barriers that took.
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

/// Gives up the flags that are misused and puts barriers before the work that may come too early.
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

/// A barrier before all work: slow, and right whatever the function does.
fn everywhere(tree: &Tree) -> Vec<Placement> {
    let busy = |(block, node): &(usize, usize)| !matches!(tree.blocks[*block].nodes[*node], Node::Group { .. });
    nodes(tree).filter(busy).map(barrier_before).collect()
}

fn barrier_before((block, node): (usize, usize)) -> Placement {
    Placement { block, side: Side::Before(node), action: Action::Barrier(None) }
}

/// Every node in which something can be placed: what a call holds is its callee's.
fn nodes(tree: &Tree) -> impl Iterator<Item = (usize, usize)> + '_ {
    let open = |block: &usize| tree.blocks[*block].parent.is_none_or(|p| !is_call(tree, p.block, p.node));
    let blocks = (0..tree.blocks.len()).filter(open);
    blocks.flat_map(|block| (0..tree.blocks[block].nodes.len()).map(move |node| (block, node)))
}

fn is_call(tree: &Tree, block: usize, node: usize) -> bool {
    matches!(tree.blocks[block].nodes[node], Node::Call { .. })
}

/// The node before which a barrier keeps work back: its own, or the call that does it.
fn node_of(tree: &Tree, work: usize) -> Option<(usize, usize)> {
    let place = tree.places.get(work)?;
    let call = tree.blocks[place.block].parent.filter(|p| is_call(tree, p.block, p.node));
    let place = call.as_ref().unwrap_or(place);
    Some((place.block, place.node))
}

/// A function with what is placed in it, for the check.
pub fn steps(tree: &Tree, placed: &[Placement]) -> Vec<SyncStep> {
    block_steps(tree, 0, &BySide::new(tree, placed))
}

/// What is placed, by its place.
struct BySide {
    /// The first place of each block: before and after each node, and at the end.
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

/// The number of a side within its block.
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

/// The flags among what is placed.
pub fn flags(placed: &[Placement]) -> Vec<Flag> {
    placed.iter().filter_map(|p| if let Action::Set(flag) = p.action { Some(flag) } else { None }).collect()
}
