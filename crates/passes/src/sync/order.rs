//! The guarantees given by placed flags: which pipe knows at which point that earlier work is complete.
//!
//! A position in a block is a gap between its nodes and a place within that gap. The order within a gap is: the sets
//! for the node before it, the last waits of a loop before it, other placements one after another, the first sets of a
//! loop after it, and the waits for the node after it.
//!
//! A *forward* pair signals and waits in the same execution of its block. A *carried* pair waits for the signal sent in
//! the previous execution of the block; the first wait is matched by a set before the outermost loop around it, the
//! last set by a wait after that loop.

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use slipring_ir::Flow;
use slipring_machine::Pipe;

use super::tree::{Node, Parent, Tree};

/// A position in a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pos {
    /// Before node `gap`.
    pub gap: u32,
    /// Order within the gap.
    pub sub: u32,
}

impl Ord for Pos {
    #[inline]
    fn cmp(&self, other: &Pos) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Pos {
    #[inline]
    fn partial_cmp(&self, other: &Pos) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Pos {
    /// Both parts as one integer: comparing positions is the most frequent operation of searches.
    #[inline]
    pub(super) const fn key(self) -> u64 {
        (self.gap as u64) << 32 | self.sub as u64
    }

    /// The start of a block.
    pub const START: Pos = Pos { gap: 0, sub: 0 };

    /// After everything.
    pub const END: Pos = Pos { gap: u32::MAX, sub: u32::MAX };

    /// Of a set right after node `node`.
    pub const fn after(node: usize) -> Pos {
        Pos { gap: node as u32 + 1, sub: 0 }
    }

    /// Of a wait right before node `node`.
    pub const fn before(node: usize) -> Pos {
        Pos { gap: node as u32, sub: u32::MAX }
    }

    /// Of the first set of a carried pair, right before loop `node`.
    pub const fn prime(node: usize) -> Pos {
        Pos { gap: node as u32, sub: u32::MAX - 1 }
    }

    /// Of the last wait of a carried pair, right after loop `node`.
    pub const fn drain(node: usize) -> Pos {
        Pos { gap: node as u32 + 1, sub: 1 }
    }
}

/// A signal from one pipe to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Pair {
    pub from: Pipe,
    pub to: Pipe,
    pub block: usize,
    pub set: Pos,
    pub wait: Pos,
    /// True if the wait belongs to the next execution of the block.
    pub carried: bool,
}

impl Pair {
    /// One pair that enforces the order of both: set at the later of the two sets, waited for at the earlier of the two
    /// waits.
    pub fn merged_with(&self, other: &Pair) -> Pair {
        Pair { set: self.set.max(other.set), wait: self.wait.min(other.wait), ..*self }
    }

    /// The slack between set and wait, in nodes, that the two lose in total when merged.
    pub fn lost_with(&self, other: &Pair) -> u32 {
        self.set.gap.abs_diff(other.set.gap) + self.wait.gap.abs_diff(other.wait.gap)
    }
}

/// For each pipe the earliest position at which it knows that something is complete (or the latest position at which it
/// needs to know).
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// By pipe; the last one is for the pipe that issued the work, of which it knows only that its own later signals come
    /// after it.
    at: [Option<Pos>; Pipe::COUNT + 1],
    issuer: Pipe,
}

impl Known {
    /// Only this pipe knows, from this position on. A pipe that runs its work in order knows about its own work.
    pub fn only(pipe: Pipe, at: Pos) -> Known {
        let mut known = Known { at: [None; Pipe::COUNT + 1], issuer: pipe };
        known.at[pipe.index()] = Some(at);
        known
    }

    /// Nobody knows; this pipe issued the work at this position and may overlap it with its own later work.
    pub fn issued(pipe: Pipe, at: Pos) -> Known {
        let mut known = Known { at: [None; Pipe::COUNT + 1], issuer: pipe };
        known.at[Pipe::COUNT] = Some(at);
        known
    }

    /// The same pipes, all from the same position on.
    fn all_at(&self, at: Pos) -> Known {
        Known { at: self.at.map(|k| k.map(|_| at)), ..*self }
    }

    /// Pipes whose signals may carry the knowledge, and where they have it.
    fn places(&self) -> impl Iterator<Item = (Pipe, Option<Pos>)> + use<> {
        Pipe::ALL.into_iter().chain([self.issuer]).zip(self.at)
    }

    /// Pipes whose signals carry the knowledge.
    fn sources(&self) -> impl Iterator<Item = (Pipe, Pos)> + use<> {
        self.places().filter_map(|(pipe, at)| Some((pipe, at?)))
    }

    fn meets(&self, needed: &Known) -> bool {
        self.at.iter().zip(needed.at).any(|(k, n)| matches!((k, n), (Some(k), Some(n)) if *k <= n))
    }

    fn improve(&mut self, pipe: Pipe, at: Pos) -> bool {
        let slot = &mut self.at[pipe.index()];
        let better = slot.is_none_or(|old| at < old);
        if better {
            *slot = Some(at);
        }
        better
    }

    /// A pipe learns it by a wait. Whatever the scalar unit has waited for is complete before anything that it issues
    /// later.
    fn arrive(&mut self, pipe: Pipe, at: Pos) -> bool {
        if pipe != Pipe::S {
            return self.improve(pipe, at);
        }
        let mut changed = false;
        for pipe in Pipe::ALL {
            changed |= self.improve(pipe, at);
        }
        changed
    }

    /// It is also in time if this pipe knows it, or has issued it, at this position.
    fn extend(&mut self, pipe: Pipe, at: Pos) -> bool {
        let issuer = (pipe == self.issuer).then_some(Pipe::COUNT);
        [Some(pipe.index()), issuer].into_iter().flatten().fold(false, |changed, index| {
            let slot = &mut self.at[index];
            let better = slot.is_none_or(|old| at > old);
            if better {
                *slot = Some(at);
            }
            better || changed
        })
    }
}

/// Signals between two pipes in one block: sets with their waits. None covers another, so later sets have later waits,
/// and the list is sorted by both.
#[derive(Clone, Default, Debug)]
struct Signals(Vec<(Pos, Pos)>);

impl Signals {
    /// The number of signals with a set before a position.
    #[inline]
    fn set_before(&self, at: Pos) -> usize {
        self.0.partition_point(|(set, _)| *set < at)
    }

    /// The earliest wait for a set at `from` or later.
    #[inline]
    fn next(&self, from: Pos) -> Option<Pos> {
        // Most pipes never signal each other.
        if self.0.is_empty() {
            return None;
        }
        self.0.get(self.set_before(from)).map(|(_, wait)| *wait)
    }

    /// The latest set whose wait is at `to` or earlier.
    #[inline]
    fn previous(&self, to: Pos) -> Option<Pos> {
        let count = self.0.partition_point(|(_, wait)| *wait <= to);
        count.checked_sub(1).map(|last| self.0[last].0)
    }

    fn has(&self, set: Pos, wait: Pos) -> bool {
        self.0.get(self.set_before(set)) == Some(&(set, wait))
    }

    fn add(&mut self, set: Pos, wait: Pos) {
        if self.next(set).is_some_and(|earliest| earliest <= wait) {
            return;
        }
        // Signals with sets up to this one whose waits are not before this one are covered.
        let end = self.0.partition_point(|(other, _)| *other <= set);
        let first = self.0[..end].partition_point(|(_, other)| *other < wait);
        self.0.splice(first..end, [(set, wait)]);
    }

    fn remove(&mut self, set: Pos, wait: Pos) {
        let at = self.set_before(set);
        if self.0.get(at) == Some(&(set, wait)) {
            self.0.remove(at);
        }
    }

    /// Drops the signals whose set is not after a position and whose wait is not before it.
    fn drop_over(&mut self, at: Pos) {
        let first = self.0.partition_point(|(_, wait)| *wait < at);
        let end = self.0.partition_point(|(set, _)| *set <= at);
        if first < end {
            self.0.drain(first..end);
        }
    }
}

/// The signals of one block by the two pipes.
#[derive(Clone, Debug)]
struct Lists(Vec<Signals>);

impl Default for Lists {
    fn default() -> Lists {
        Lists(vec![Signals::default(); Pipe::COUNT * Pipe::COUNT])
    }
}

impl Lists {
    fn of(&self, from: Pipe, to: Pipe) -> &Signals {
        &self.0[from.index() * Pipe::COUNT + to.index()]
    }

    fn of_mut(&mut self, from: Pipe, to: Pipe) -> &mut Signals {
        &mut self.0[from.index() * Pipe::COUNT + to.index()]
    }

    /// The earliest wait for a set at `from_pos` or later.
    fn next(&self, from: Pipe, to: Pipe, from_pos: Pos) -> Option<Pos> {
        self.of(from, to).next(from_pos)
    }

    /// The latest set whose wait is at `to_pos` or earlier.
    fn previous(&self, from: Pipe, to: Pipe, to_pos: Pos) -> Option<Pos> {
        self.of(from, to).previous(to_pos)
    }

    /// Every signal as a pair of a block.
    fn pairs(&self, block: usize, carried: bool) -> impl Iterator<Item = Pair> + '_ {
        let pipes = Pipe::ALL.into_iter().flat_map(|from| Pipe::ALL.into_iter().map(move |to| (from, to)));
        pipes.flat_map(move |(from, to)| {
            let signals = self.of(from, to).0.iter();
            signals.map(move |(set, wait)| Pair { from, to, block, set: *set, wait: *wait, carried })
        })
    }
}

#[derive(Clone, Default, Debug)]
struct BlockOrder {
    forward: Lists,
    carried: Lists,
    /// Positions at which all issued work is waited for, sorted.
    barriers: Vec<Pos>,
    /// Next free slot between the sets and the waits of a gap.
    middle: BTreeMap<u32, u32>,
}

/// Number of propagation rounds, each of some hundred steps, that the flags of one function may cost: some seconds.
const MOST_ROUNDS: u64 = 1 << 22;

/// The pairs and barriers placed in a tree.
#[derive(Clone, Debug)]
pub struct Order<'t> {
    /// The tree.
    pub tree: &'t Tree,
    blocks: Vec<Option<Box<BlockOrder>>>,
    /// Rounds in which knowledge or need was propagated.
    rounds: Cell<u64>,
}

impl<'t> Order<'t> {
    /// An empty order.
    pub fn new(tree: &'t Tree) -> Order<'t> {
        Order { tree, blocks: vec![None; tree.blocks.len()], rounds: Cell::new(0) }
    }

    /// True once the queries took more work than a function may cost. Results from then on are unusable.
    pub fn is_exhausted(&self) -> bool {
        self.rounds.get() > MOST_ROUNDS
    }

    fn count_round(&self) {
        self.rounds.set(self.rounds.get() + 1);
    }

    fn block_mut(&mut self, block: usize) -> &mut BlockOrder {
        self.blocks[block].get_or_insert_default()
    }

    fn signals_mut(&mut self, pair: &Pair) -> &mut Signals {
        let order = self.block_mut(pair.block);
        let lists = if pair.carried { &mut order.carried } else { &mut order.forward };
        lists.of_mut(pair.from, pair.to)
    }

    /// Adds a pair. Pairs that it covers are dropped.
    pub fn add(&mut self, pair: Pair) {
        self.signals_mut(&pair).add(pair.set, pair.wait);
    }

    /// Takes a pair out.
    pub fn remove(&mut self, pair: &Pair) {
        self.signals_mut(pair).remove(pair.set, pair.wait);
    }

    /// True if the pair is placed.
    pub fn has(&self, pair: &Pair) -> bool {
        let Some(order) = &self.blocks[pair.block] else { return false };
        let lists = if pair.carried { &order.carried } else { &order.forward };
        lists.of(pair.from, pair.to).has(pair.set, pair.wait)
    }

    /// A new position between the sets and the waits of a gap, after those handed out before.
    pub fn middle(&mut self, block: usize, gap: usize) -> Pos {
        let next = self.block_mut(block).middle.entry(gap as u32).or_insert(1);
        *next += 1;
        Pos { gap: gap as u32, sub: *next }
    }

    /// Adds a barrier of all pipes; drops the forward pairs that span it.
    pub fn add_barrier(&mut self, block: usize, at: Pos) {
        let order = self.block_mut(block);
        let index = order.barriers.partition_point(|b| *b < at);
        order.barriers.insert(index, at);
        for list in &mut order.forward.0 {
            list.drop_over(at);
        }
    }

    /// Every pair, in the order of blocks, pipes and positions.
    pub fn pairs(&self) -> Vec<Pair> {
        let blocks = self.blocks.iter().enumerate().filter_map(|(block, order)| Some((block, order.as_ref()?)));
        blocks
            .flat_map(|(block, order)| order.carried.pairs(block, true).chain(order.forward.pairs(block, false)))
            .collect()
    }

    /// Every barrier: block and position.
    pub fn barriers(&self) -> Vec<(usize, Pos)> {
        let each = self.blocks.iter().enumerate();
        each.flat_map(|(block, order)| order.iter().flat_map(move |o| o.barriers.iter().map(move |b| (block, *b))))
            .collect()
    }

    /// Propagates knowledge through an execution of a block: who knows it where, once every pair and barrier has been
    /// applied.
    fn spread(&self, block: usize, known: &mut Known) {
        self.spread_until(block, known, |_| false);
    }

    /// As `spread`, until `enough` holds.
    fn spread_until(&self, block: usize, known: &mut Known, enough: impl Fn(&Known) -> bool) {
        let Some(order) = &self.blocks[block] else { return };
        // Knowledge that a pipe had in the previous round has already been propagated.
        let mut told = [None; Pipe::COUNT + 1];
        let mut changed = true;
        while changed && !enough(known) {
            changed = false;
            self.count_round();
            let now = known.at;
            for ((from, at), before) in known.places().zip(std::mem::replace(&mut told, now)) {
                let Some(at) = at.filter(|_| at != before) else { continue };
                for to in Pipe::ALL {
                    if let Some(wait) = order.forward.next(from, to, at) {
                        changed |= known.arrive(to, wait);
                    }
                }
                if let Some(barrier) = order.barriers.get(order.barriers.partition_point(|b| *b < at)) {
                    for to in Pipe::ALL {
                        changed |= known.improve(to, *barrier);
                    }
                }
            }
        }
    }

    /// Propagates need backwards: who must know it where, at the latest.
    fn spread_back(&self, block: usize, needed: &mut Known) {
        let Some(order) = &self.blocks[block] else { return };
        let mut changed = true;
        while changed {
            changed = false;
            self.count_round();
            for to in Pipe::ALL {
                let Some(at) = needed.at[to.index()] else { continue };
                for from in Pipe::ALL {
                    if let Some(set) = order.forward.previous(from, to, at) {
                        changed |= needed.extend(from, set);
                    }
                }
                let count = order.barriers.partition_point(|b| *b <= at);
                if let Some(barrier) = count.checked_sub(1).map(|i| order.barriers[i]) {
                    for from in Pipe::ALL {
                        changed |= needed.extend(from, barrier);
                    }
                }
            }
        }
    }

    /// Who knows in block `up_to` what `known` knows at a point inside `block`, which is `up_to` or is inside it.
    pub fn outward(&self, mut block: usize, mut known: Known, up_to: usize) -> Known {
        let mut carried_on = [false; Pipe::COUNT];
        while block != up_to {
            self.spread(block, &mut known);
            if let Some(order) = &self.blocks[block] {
                for (from, at) in known.sources() {
                    for to in Pipe::ALL {
                        carried_on[to.index()] |= order.carried.next(from, to, at).is_some();
                    }
                }
            }
            let Some(parent) = self.tree.blocks[block].parent else { break };
            known = known.all_at(Pos::after(parent.node));
            if self.is_outermost_loop(parent) {
                for pipe in Pipe::ALL.into_iter().filter(|p| carried_on[p.index()]) {
                    known.arrive(pipe, Pos::drain(parent.node));
                }
            }
            block = parent.block;
        }
        known
    }

    /// Who must know in block `up_to`, so that `needed` is met at a point inside `block`.
    pub fn inward(&self, mut block: usize, mut needed: Known, up_to: usize) -> Known {
        let mut primed = [false; Pipe::COUNT];
        while block != up_to {
            self.spread_back(block, &mut needed);
            if let Some(order) = &self.blocks[block] {
                for to in Pipe::ALL {
                    let Some(at) = needed.at[to.index()] else { continue };
                    for from in Pipe::ALL {
                        primed[from.index()] |= order.carried.previous(from, to, at).is_some();
                    }
                }
            }
            let Some(parent) = self.tree.blocks[block].parent else { break };
            needed = needed.all_at(Pos::before(parent.node));
            if self.is_outermost_loop(parent) {
                for pipe in Pipe::ALL.into_iter().filter(|p| primed[p.index()]) {
                    needed.extend(pipe, Pos::prime(parent.node));
                }
            }
            block = parent.block;
        }
        needed
    }

    fn is_outermost_loop(&self, place: Parent) -> bool {
        self.tree.flow_of(place.block, place.node) == Flow::Repeat && self.tree.outermost_loop(place.block).is_none()
    }

    /// True if a single signal guarantees that `to` knows at `wait` what `from` has done at `set`.
    pub fn at_once(&self, block: usize, from: Pipe, set: Pos, to: Pipe, wait: Pos) -> bool {
        let order = self.blocks[block].as_ref();
        order.and_then(|o| o.forward.next(from, to, set)).is_some_and(|at| at <= wait)
    }

    /// True if the knowledge `known` in an execution of a block reaches `needed` in the same execution.
    pub fn in_time(&self, block: usize, mut known: Known, needed: &Known) -> bool {
        // Knowledge is never lost.
        self.spread_until(block, &mut known, |known| known.meets(needed));
        known.meets(needed)
    }

    /// True if the knowledge `known` in an execution of a block reaches `needed` in every later execution of it.
    pub fn in_time_later(&self, mut block: usize, mut known: Known, mut needed: Known) -> bool {
        if !self.tree.is_repeated(block) {
            return true;
        }
        loop {
            self.spread(block, &mut known);
            let mut next = known.all_at(Pos::START);
            if let Some(order) = &self.blocks[block] {
                for (from, at) in known.sources() {
                    for to in Pipe::ALL {
                        if let Some(wait) = order.carried.next(from, to, at) {
                            next.arrive(to, wait);
                        }
                    }
                }
            }
            self.spread_until(block, &mut next, |known| known.meets(&needed));
            if next.meets(&needed) {
                return true;
            }
            // Nothing but the loop's own body happens between two iterations.
            let Some(parent) = self.tree.blocks[block].parent else { return true };
            if self.tree.flow_of(parent.block, parent.node) == Flow::Repeat {
                return false;
            }
            self.spread_back(block, &mut needed);
            known = known.all_at(Pos::after(parent.node));
            needed = needed.all_at(Pos::before(parent.node));
            block = parent.block;
        }
    }

    /// True if work `b` that comes after work `a`, in the same execution of `block` or a later one, is guaranteed to
    /// start after `a` is complete. `block` contains both.
    pub fn certain(&self, block: usize, a: usize, b: usize, later: bool) -> bool {
        let known = match self.tree.works[a].pipe == self.tree.works[b].pipe {
            true => self.issued(a, block),
            false => self.known(a, block),
        };
        let needed = self.needed(b, block);
        if later { self.in_time_later(block, known, needed) } else { self.in_time(block, known, &needed) }
    }

    /// Who knows where, in an enclosing block, that work is complete.
    pub fn known(&self, work: usize, block: usize) -> Known {
        let place = self.tree.places[work];
        self.outward(place.block, Known::only(self.tree.works[work].pipe, Pos::after(place.node)), block)
    }

    /// As `known`, if the pipe of the work does not know it by itself.
    fn issued(&self, work: usize, block: usize) -> Known {
        let place = self.tree.places[work];
        self.outward(place.block, Known::issued(self.tree.works[work].pipe, Pos::after(place.node)), block)
    }

    /// Who must know something in an enclosing block, so that the work's pipe knows it when the work begins.
    pub fn needed(&self, work: usize, block: usize) -> Known {
        let place = self.tree.places[work];
        self.inward(place.block, Known::only(self.tree.works[work].pipe, Pos::before(place.node)), block)
    }

    /// True if this node waits for everything before it begins.
    pub fn is_alone(&self, place: Parent) -> bool {
        matches!(self.tree.blocks[place.block].nodes[place.node], Node::Call { alone: true, .. })
    }
}
