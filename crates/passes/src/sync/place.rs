//! The location of each set, wait and barrier.

use std::cmp::Ordering;

use slipring_machine::Pipe;
use slipring_tile::Space;

use super::barriers::barriers;
use super::events::Event;
use super::index::Conflicts;
use super::order::{Order, Pos};
use super::tree::Flag;

/// A placed action.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Action {
    Set(Flag),
    Wait(Flag),
    /// A barrier of one pipe, or of all.
    Barrier(Option<Pipe>),
}

/// A side of a node in a block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Side {
    /// Right after a node.
    After(usize),
    /// Right before a node, or at the end of the block.
    Before(usize),
}

/// An action and its position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Placement {
    pub block: usize,
    pub side: Side,
    pub action: Action,
}

/// All placements, block by block in program order. `overlapping` lists the memories in which pipes overlap their own
/// work.
pub fn placements(
    order: &Order<'_>,
    conflicts: &Conflicts<'_>,
    events: &[Event],
    overlapping: &[(Pipe, Space)],
) -> Vec<Placement> {
    let mut list: Vec<(usize, u32, Side, Pos, Action)> = Vec::new();
    let mut put = |block: usize, at: Pos, side: Side, action: Action| list.push((block, at.gap, side, at, action));
    for Event { pair, id } in events {
        let flag = Flag { from: pair.from, to: pair.to, id: *id };
        let set_side = match pair.set {
            Pos { gap, sub: 0 } => Side::After(gap as usize - 1),
            Pos { gap, .. } => Side::Before(gap as usize),
        };
        put(pair.block, pair.set, set_side, Action::Set(flag));
        put(pair.block, pair.wait, Side::Before(pair.wait.gap as usize), Action::Wait(flag));
        if let (true, Some(home)) = (pair.carried, order.tree.outermost_loop(pair.block)) {
            put(home.block, Pos::prime(home.node), Side::Before(home.node), Action::Set(flag));
            put(home.block, Pos::drain(home.node), Side::After(home.node), Action::Wait(flag));
        }
    }
    for (block, at) in order.barriers() {
        put(block, at, Side::Before(at.gap as usize), Action::Barrier(None));
    }
    for pipe in Pipe::ALL.into_iter().filter(|pipe| overlapping.iter().any(|(of, _)| of == pipe)) {
        for place in barriers(order, conflicts, pipe, overlapping) {
            put(place.block, Pos::before(place.node), Side::Before(place.node), Action::Barrier(Some(pipe)));
        }
    }
    // Most are alone in their gap.
    let gap = |(block, gap, ..): &(usize, u32, Side, Pos, Action)| (*block as u64) << 32 | u64::from(*gap);
    list.sort_unstable_by(|a, b| match gap(a).cmp(&gap(b)) {
        Ordering::Equal => (a.2, a.3, a.4).cmp(&(b.2, b.3, b.4)),
        other => other,
    });
    list.into_iter().map(|(block, _, side, _, action)| Placement { block, side, action }).collect()
}
