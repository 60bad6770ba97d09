//! Assignment of event ids to signals.
//!
//! A flag holds one signal. Two pairs of the same pipes may share an id only if the second set is certain to come after
//! the first wait, not merely later in the text: the setting pipe may be far ahead of the waiting one. The same holds
//! for one pair in two executions of its block. Where the signals already placed do not guarantee it, one more signal
//! in the opposite direction is placed. When ids run out, crossing pairs are merged, then pairs wait for older ones,
//! and as a last resort a barrier of all pipes replaces the pair.

use std::collections::{BTreeMap, VecDeque};
use std::ops::{RangeFrom, RangeToInclusive};

use slipring_ir::Flow;
use slipring_machine::Pipe;

use super::order::{Known, Order, Pair, Pos};
use super::plan::meeting;
use super::tree::{Flag, Node, Tree, flags_inside};
use super::users::{Number, Use, User, Users};

/// A pair and its event id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Event {
    pub pair: Pair,
    pub id: u32,
}

/// The cost of a shortage of ids.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pressure {
    /// Pairs that were merged because ids ran out.
    pub merged: usize,
    /// Barriers of all pipes placed because ids ran out.
    pub barriers: usize,
}

struct Events<'o, 't> {
    order: &'o mut Order<'t>,
    ids: u32,
    given: BTreeMap<(Pipe, Pipe), Users>,
    pressure: Pressure,
}

/// Gives every pair of `order` an event id below `ids`. May add, merge and replace pairs.
pub fn assign(order: &mut Order<'_>, ids: u32) -> (Vec<Event>, Pressure) {
    let mut events = Events { order, ids, given: BTreeMap::new(), pressure: Pressure::default() };
    events.take_callees();
    let mut pairs = events.order.pairs();
    // A carried pair holds its id for a whole loop, so it chooses first.
    pairs.sort_by_cached_key(|p| (!p.carried, place_in_program(events.order.tree, p)));
    let mut queue: VecDeque<Pair> = pairs.into();
    let mut left = 16 * queue.len() + 64;
    while let Some(pair) = queue.pop_front() {
        if events.order.is_exhausted() {
            break;
        }
        left = left.saturating_sub(1);
        if events.order.has(&pair) {
            events.place(pair, &mut queue, left > 0);
        }
    }
    let order = &*events.order;
    let mut list: Vec<Event> = Vec::new();
    for User { id, pair, .. } in events.given.values().flat_map(Users::iter) {
        list.extend(pair.filter(|p| order.has(p)).map(|pair| Event { pair, id: *id }));
    }
    (list, events.pressure)
}

/// Position in program order. Blocks are numbered in the order in which they open, so within one block this is the
/// order of the text.
fn place_in_program(tree: &Tree, pair: &Pair) -> (Vec<usize>, Pos) {
    let mut path = Vec::new();
    let mut at = pair.block;
    while let Some(parent) = tree.blocks[at].parent {
        path.extend([at, parent.node]);
        at = parent.block;
    }
    path.reverse();
    (path, pair.set)
}

impl Events<'_, '_> {
    /// Flags of callees belong to them, those of the tile library to it; nothing here may use them across a call or
    /// such an op.
    fn take_callees(&mut self) {
        let tree = self.order.tree;
        for (block, data) in tree.blocks.iter().enumerate() {
            for (node, inner) in data.nodes.iter().enumerate() {
                let flags: Vec<Flag> = match inner {
                    Node::Call { flags, .. } => flags.clone(),
                    Node::Work(work) => flags_inside(&tree.works[*work]).collect(),
                    Node::Group { .. } => continue,
                };
                for Flag { from, to, id } in flags {
                    let held = Use { block, set: Pos::before(node), wait: Pos::after(node) };
                    self.given.entry((from, to)).or_default().add(User { held, id, pair: None });
                }
            }
        }
    }

    fn place(&mut self, pair: Pair, queue: &mut VecDeque<Pair>, may_add: bool) {
        // It may have had an id before: a barrier dropped it, and now another pair needs the same signal.
        if let Some(used) = self.given.get_mut(&(pair.from, pair.to)) {
            used.release(&pair);
        }
        if !self.repeats_safely(&pair) {
            if may_add {
                let back = self.way_back(&pair);
                self.order.add(back);
                queue.push_front(pair);
                queue.push_front(back);
            } else {
                self.replace_by_barrier(&pair);
            }
            return;
        }
        if let Some(id) = (0..self.ids).find(|id| self.is_free(&pair, *id)) {
            let held = self.held(&pair);
            self.given.entry((pair.from, pair.to)).or_default().add(User { held, id, pair: Some(pair) });
            return;
        }
        // In a loop every signal has to be safe from one iteration to the next: first try with fewer of them.
        let helped = may_add
            && match self.order.tree.is_repeated(pair.block) {
                true => self.merge_carried(&pair, queue) || self.merge(&pair) || self.wait_for_older(&pair, queue),
                false => self.wait_for_older(&pair, queue) || self.merge(&pair),
            };
        if !helped {
            self.replace_by_barrier(&pair);
        }
    }

    fn is_free(&self, pair: &Pair, id: u32) -> bool {
        let Some(used) = self.given.get(&(pair.from, pair.to)) else { return true };
        let held = self.held(pair);
        let apart = |user: &User| self.apart(pair, &held, &user.held);
        if used.outside(id, held.block).any(|user| self.is_there(user) && !apart(user)) {
            return false;
        }
        // In one block the users of an id are consecutive: only those adjacent to the pair matter. If the block is
        // repeated, the first also follows the last.
        let first =
            |set: RangeFrom<Pos>| used.inside(id, held.block, set).map(|(_, user)| user).find(|u| self.is_there(u));
        let last = |set: RangeToInclusive<Pos>| {
            used.inside(id, held.block, set).rev().map(|(_, user)| user).find(|u| self.is_there(u))
        };
        let around = match self.order.tree.is_repeated(held.block) {
            true => [first(Pos::START..), last(..=Pos::END)],
            false => [None, None],
        };
        let next_to = [last(..=held.set), first(held.set..)];
        next_to.into_iter().chain(around).flatten().all(apart)
    }

    /// True if the pair that has an id is still needed.
    fn is_there(&self, user: &User) -> bool {
        user.pair.is_none_or(|pair| self.order.has(&pair))
    }

    /// The range over which a pair holds its id.
    fn held(&self, pair: &Pair) -> Use {
        match self.order.tree.outermost_loop(pair.block) {
            Some(home) if pair.carried => {
                Use { block: home.block, set: Pos::prime(home.node), wait: Pos::drain(home.node) }
            }
            _ => Use { block: pair.block, set: pair.set, wait: pair.wait },
        }
    }

    /// True if the pair's next set is guaranteed to come after its wait.
    fn repeats_safely(&self, pair: &Pair) -> bool {
        let known = Known::only(pair.to, pair.wait);
        let needed = Known::only(pair.from, pair.set);
        if pair.carried {
            self.order.in_time(pair.block, known, &needed)
        } else {
            self.order.in_time_later(pair.block, known, needed)
        }
    }

    /// A signal in the opposite direction that makes the pair's next set wait for its wait.
    fn way_back(&mut self, pair: &Pair) -> Pair {
        let (from, to, block) = (pair.to, pair.from, pair.block);
        let node = pair.wait.gap as usize;
        if pair.wait.gap == pair.set.gap && pair.wait.sub != u32::MAX {
            return meeting(self.order, block, node, from, to);
        }
        let before = pair.set.gap as usize - 1;
        Pair { from, to, block, set: Pos::after(node), wait: Pos::before(before), carried: !pair.carried }
    }

    /// True if the two are guaranteed never to hold a signal at the same time.
    fn apart(&self, pair: &Pair, a: &Use, b: &Use) -> bool {
        let tree = self.order.tree;
        let Some(block) = common_block(tree, a.block, b.block) else { return false };
        let over = |held: &Use| self.order.outward(held.block, Known::only(pair.to, held.wait), block);
        let begins = |held: &Use| self.order.inward(held.block, Known::only(pair.from, held.set), block);
        let later = |a: &Use, b: &Use| self.order.in_time_later(block, over(a), begins(b));
        let (span_a, span_b) = (span_in(tree, a, block), span_in(tree, b, block));
        if a.block != block && b.block != block && span_a == span_b {
            let exclusive = tree.flow_of(block, span_a.0.gap as usize) == Flow::OneOf;
            return exclusive && later(a, b) && later(b, a);
        }
        let (first, second) = if span_a.0 <= span_b.0 { (a, b) } else { (b, a) };
        span_a.1.min(span_b.1) <= span_a.0.max(span_b.0)
            && self.order.in_time(block, over(first), &begins(second))
            && later(second, first)
    }

    /// Makes the pair wait until an older pair is over, whose id it can then have.
    fn wait_for_older(&mut self, pair: &Pair, queue: &mut VecDeque<Pair>) -> bool {
        if !pair.carried && pair.set.sub != 0 {
            return false;
        }
        let held = self.held(pair);
        let limit = if pair.carried { held.set } else { Pos::before(pair.set.gap as usize - 1) };
        let Some(used) = self.given.get(&(pair.from, pair.to)) else { return false };
        // For each id, the last pair that is over.
        let last_of = |id: u32| {
            let over = |user: &User| {
                let o = user.pair.filter(|o| (o.carried || o.set.sub == 0) && o.over(&user.held) <= limit)?;
                self.order.has(&o).then_some((user.held, o))
            };
            let last = used.inside(id, held.block, ..=limit).rev().find_map(|(_, user)| over(user));
            last.filter(|(u, _)| !self.apart(pair, &held, u))
        };
        let mut candidates: Vec<(Use, Pair)> = (0..self.ids).filter_map(last_of).collect();
        candidates.sort_by_key(|(u, _)| u.wait);
        // The middle one: an acknowledgement also covers all pairs before it, so one is needed per group of pairs, and
        // the setting pipe stays half of the ids ahead.
        let Some(&(older_use, older)) = candidates.get(candidates.len() / 2) else {
            return false;
        };
        let (from, to, block) = (pair.to, pair.from, held.block);
        let set =
            if older.carried { self.order.middle(block, older_use.wait.gap as usize) } else { older.over(&older_use) };
        let wait = if pair.carried { self.order.middle(block, held.set.gap as usize) } else { limit };
        let back = Pair { from, to, block, set, wait, carried: false };
        let mut added = vec![back];
        if self.order.tree.is_repeated(held.block) {
            let (set, wait) = (Pos::after(pair.wait.gap as usize), Pos::before(older.set.gap as usize - 1));
            added.push(Pair { set, wait, carried: true, ..back });
        }
        queue.push_front(*pair);
        for signal in added {
            self.order.add(signal);
            queue.push_front(signal);
        }
        true
    }

    /// Merges the pair with another one of the same pipes that it crosses: one signal, set at the later of the two
    /// sets, waited for at the earlier of the two waits.
    fn merge(&mut self, pair: &Pair) -> bool {
        let held = self.held(pair);
        let Some(used) = self.given.get(&(pair.from, pair.to)) else { return false };
        let crossing = |id: u32| {
            let near = used.inside(id, held.block, ..=held.wait).rev().filter(|(_, user)| self.is_there(user));
            near.take_while(|(_, user)| held.set <= user.held.wait)
        };
        let same = |o: &Pair| o.block == pair.block && o.carried == pair.carried;
        let candidates = (0..self.ids)
            .flat_map(crossing)
            .filter_map(|(number, user)| Some((number, user.id, user.pair.filter(same)?)));
        let Some((number, id, other)) = candidates.min_by_key(|(number, _, o)| (pair.lost_with(o), *number)) else {
            return false;
        };
        let merged = pair.merged_with(&other);
        if !merged.carried && merged.set > merged.wait {
            return false;
        }
        self.order.remove(&other);
        self.order.remove(pair);
        self.order.add(merged);
        let held = self.held(&merged);
        if let Some(users) = self.given.get_mut(&(pair.from, pair.to)) {
            users.replace(number, User { held, id, pair: Some(merged) });
        }
        self.pressure.merged += 1;
        true
    }

    /// Merges two carried pairs of the same pipes, which hold their ids for the whole loop, so that the pair gets one of them.
    fn merge_carried(&mut self, pair: &Pair, queue: &mut VecDeque<Pair>) -> bool {
        if pair.carried {
            return false;
        }
        let Some(home) = self.order.tree.outermost_loop(pair.block) else { return false };
        let Some(used) = self.given.get_mut(&(pair.from, pair.to)) else { return false };
        let held = Pos::prime(home.node);
        let users = (0..self.ids).flat_map(|id| used.inside(id, home.block, held..=held));
        let carried = users.filter_map(|(number, user)| {
            Some((number, user.id, user.pair.filter(|o| o.carried && self.order.has(o))?))
        });
        let mut carried: Vec<(Number, u32, Pair)> = carried.collect();
        carried.sort_by_key(|(number, ..)| *number);
        let couples = (0..carried.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
        let couples = couples.map(|(i, j)| (carried[i], carried[j])).filter(|(a, b)| a.2.block == b.2.block);
        let Some(((i, id, a), (j, _, b))) = couples.min_by_key(|(a, b)| (a.2.lost_with(&b.2), a.0, b.0)) else {
            return false;
        };
        let merged = a.merged_with(&b);
        let held = Use { block: home.block, set: held, wait: Pos::drain(home.node) };
        used.take(j);
        used.replace(i, User { held, id, pair: Some(merged) });
        self.order.remove(&a);
        self.order.remove(&b);
        self.order.add(merged);
        self.pressure.merged += 1;
        queue.push_front(*pair);
        true
    }

    fn replace_by_barrier(&mut self, pair: &Pair) {
        self.order.remove(pair);
        // No later than the original wait: later actions in the same gap may rely on it.
        let before_node = pair.wait == Pos::before(pair.wait.gap as usize);
        let at = if before_node { self.order.middle(pair.block, pair.wait.gap as usize) } else { pair.wait };
        self.order.add_barrier(pair.block, at);
        self.pressure.barriers += 1;
        if let Some(home) = self.order.tree.outermost_loop(pair.block).filter(|_| pair.carried) {
            // Later work may have relied on the wait after the loop.
            self.order.add_barrier(home.block, Pos::drain(home.node));
        }
    }
}

impl Pair {
    /// The point at which the waiting pipe can signal that the pair, held over this range, is over.
    fn over(&self, held: &Use) -> Pos {
        if self.carried { held.wait } else { Pos::after(self.wait.gap as usize) }
    }
}

/// The innermost block that contains two blocks.
fn common_block(tree: &Tree, a: usize, b: usize) -> Option<usize> {
    let up = |block: usize| std::iter::successors(Some(block), |b| tree.blocks[*b].parent.map(|p| p.block));
    up(a).find(|x| up(b).any(|y| y == *x))
}

/// The part of `block` that a use covers: its own positions, or the node that contains it.
fn span_in(tree: &Tree, held: &Use, block: usize) -> (Pos, Pos) {
    let mut at = held.block;
    if at == block {
        return (held.set, held.wait);
    }
    while let Some(parent) = tree.blocks[at].parent {
        if parent.block == block {
            return (Pos::before(parent.node), Pos::after(parent.node));
        }
        at = parent.block;
    }
    (Pos::START, Pos { gap: u32::MAX, sub: u32::MAX })
}
