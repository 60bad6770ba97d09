//! Finds the earlier or later work that conflicts with a given work item, without comparing all pairs.
//!
//! Work items of one pipe and kind of core form a *lane*, numbered in program order (*ranks*). Their accesses are
//! stored in trees over the bytes of each local memory and over the windows of each view, so that the last (or first)
//! conflicting item in a range of ranks is found in time logarithmic in the number of items. The index agrees with
//! [`Work::conflicts`] and [`Work::overlaps`], which tests verify.

use std::collections::BTreeMap;
use std::ops::Range;

use slipring_machine::{CoreKind, Pipe};
use slipring_tile::Space;

use crate::analysis::touch::{Access, Bounds, Memory, Work};

/// A pipe of a kind of core; `None` if the kind is unknown.
type KindPipe = (Pipe, Option<CoreKind>);

/// The memories in which a conflict counts; called with `None` for events.
type Counts<'c> = &'c dyn Fn(Option<Space>) -> bool;

/// The index of a list of work items.
#[derive(Debug)]
pub struct Conflicts<'w> {
    works: &'w [Work],
    /// Every lane with its work items, in program order.
    lanes: Vec<(KindPipe, Vec<u32>)>,
    /// Lane and rank of each work item.
    places: Vec<(u32, u32)>,
    local: BTreeMap<Space, Intervals>,
    global: Global,
    events: BTreeMap<u32, Shelf>,
}

/// The end of a range from which a search starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    First,
    Last,
}

impl<'w> Conflicts<'w> {
    /// The index of work items in program order.
    pub fn new(works: &'w [Work]) -> Conflicts<'w> {
        let mut lanes: Vec<(KindPipe, Vec<u32>)> = Vec::new();
        let mut places = Vec::with_capacity(works.len());
        for (at, work) in works.iter().enumerate() {
            let lane = (work.pipe, work.core);
            let index = lanes.iter().position(|(l, _)| *l == lane).unwrap_or_else(|| {
                lanes.push((lane, Vec::new()));
                lanes.len() - 1
            });
            places.push((index as u32, lanes[index].1.len() as u32));
            lanes[index].1.push(at as u32);
        }
        let mut local: BTreeMap<Space, Vec<(u64, u64)>> = BTreeMap::new();
        let mut views: BTreeMap<(u32, u32), Vec<&Bounds>> = BTreeMap::new();
        for access in works.iter().flat_map(|w| &w.accesses) {
            match (access.memory, &access.window) {
                (Memory::Local(space), _) => local.entry(space).or_default().push(access.bytes),
                (Memory::Global(id), Some(window)) => views.entry((id, window.view)).or_default().push(window),
                _ => {}
            }
        }
        let mut index = Conflicts {
            works,
            lanes,
            places,
            local: local.into_iter().map(|(space, ranges)| (space, Intervals::new(ranges))).collect(),
            global: Global::new(views),
            events: BTreeMap::new(),
        };
        for (at, work) in works.iter().enumerate() {
            let (lane, rank) = index.places[at];
            for access in &work.accesses {
                let entry = Entry { lane, rank, write: access.write };
                match access.memory {
                    Memory::Local(space) => {
                        if let Some(tree) = index.local.get_mut(&space) {
                            tree.add(access.bytes, entry);
                        }
                    }
                    Memory::Global(id) => index.global.add(Some(id), access.window.as_ref(), entry),
                    Memory::AnyGlobal => index.global.add(None, None, entry),
                    Memory::Event(id) => index.events.entry(id).or_default().add(entry),
                }
            }
        }
        index
    }

    /// The lanes: pipe, kind of core.
    pub fn lanes(&self) -> impl Iterator<Item = (usize, KindPipe)> + '_ {
        self.lanes.iter().enumerate().map(|(index, (lane, _))| (index, *lane))
    }

    /// Lane and rank of a work item.
    pub fn place(&self, work: usize) -> (usize, u32) {
        let (lane, rank) = self.places[work];
        (lane as usize, rank)
    }

    /// The work item with this rank.
    pub fn work(&self, lane: usize, rank: u32) -> usize {
        self.lanes[lane].1[rank as usize] as usize
    }

    /// The ranks of a lane whose work items are in a range.
    pub fn ranks(&self, lane: usize, works: Range<usize>) -> Range<u32> {
        let list = &self.lanes[lane].1;
        let rank = |work: usize| list.partition_point(|w| (*w as usize) < work) as u32;
        rank(works.start)..rank(works.end)
    }

    /// True if work items of the lane can conflict with this one at all: no core of one kind runs the work of the
    /// other.
    pub fn may_meet(&self, work: usize, lane: usize) -> bool {
        !matches!((self.works[work].core, self.lanes[lane].0.1), (Some(a), Some(b)) if a != b)
    }

    /// The last work item of a lane, within these ranks, that conflicts with a given one.
    pub fn last(&self, work: usize, lane: usize, ranks: Range<u32>) -> Option<u32> {
        self.find(work, lane, ranks, End::Last, &|_| true)
    }

    /// The first work item of a lane, within these ranks, that conflicts with a given one.
    pub fn first(&self, work: usize, lane: usize, ranks: Range<u32>) -> Option<u32> {
        self.find(work, lane, ranks, End::First, &|_| true)
    }

    /// The last work item, within these ranks of a lane of the same pipe, that must not overlap a given one; see
    /// [`Work::overlaps`].
    pub fn last_overlap(
        &self,
        work: usize,
        lane: usize,
        ranks: Range<u32>,
        overlapping: &[(Pipe, Space)],
    ) -> Option<u32> {
        let pipe = self.works[work].pipe;
        self.find(work, lane, ranks, End::Last, &|space| {
            overlapping.iter().any(|(of, in_space)| *of == pipe && space.is_none_or(|space| space == *in_space))
        })
    }

    fn find(&self, work: usize, lane: usize, ranks: Range<u32>, end: End, counts: Counts<'_>) -> Option<u32> {
        if ranks.is_empty() || !self.may_meet(work, lane) {
            return None;
        }
        let mut best = Best { lane: lane as u32, ranks, end, found: None };
        for access in self.works[work].accesses.iter().filter(|a| counts(a.space())) {
            match access.memory {
                Memory::Local(space) => {
                    if let Some(tree) = self.local.get(&space) {
                        tree.each(access.bytes, |shelf| best.look(shelf, access.write));
                    }
                }
                Memory::Event(id) => {
                    if let Some(shelf) = self.events.get(&id) {
                        best.look(shelf, access.write);
                    }
                }
                Memory::AnyGlobal => best.look(&self.global.all, access.write),
                Memory::Global(id) => {
                    best.look(&self.global.anywhere, access.write);
                    self.global.buffers.get(&id).into_iter().for_each(|buffer| {
                        buffer.each(self, lane, access, &mut best);
                    });
                }
            }
        }
        best.found
    }
}

/// An access as stored in shelves.
#[derive(Clone, Copy)]
struct Entry {
    lane: u32,
    rank: u32,
    write: bool,
}

/// The best result of a search so far, within the remaining range.
struct Best {
    lane: u32,
    ranks: Range<u32>,
    end: End,
    found: Option<u32>,
}

impl Best {
    fn look(&mut self, shelf: &Shelf, write: bool) {
        if let Some(found) = shelf.list(self.lane, write).and_then(|list| self.nearest(list).next()) {
            self.take(found);
        }
    }

    /// The ranks of a list that are still of interest, starting from the searched end.
    fn nearest<'l>(&self, list: &'l [u32]) -> impl Iterator<Item = u32> + use<'l> {
        let start = list.partition_point(|rank| *rank < self.ranks.start);
        let end = start + list[start..].partition_point(|rank| *rank < self.ranks.end);
        let (mut inner, from) = (list[start..end].iter().copied(), self.end);
        std::iter::from_fn(move || if from == End::First { inner.next() } else { inner.next_back() })
    }

    fn take(&mut self, found: u32) {
        self.found = Some(found);
        match self.end {
            End::First => self.ranks.end = found,
            End::Last => self.ranks.start = found + 1,
        }
    }
}

/// Ranks of accesses by lane.
#[derive(Default, Debug)]
struct Shelf(Vec<(u32, Ranks)>);

/// Ranks in ascending order.
#[derive(Default, Debug)]
struct Ranks {
    all: Vec<u32>,
    writes: Vec<u32>,
}

impl Shelf {
    fn add(&mut self, entry: Entry) {
        let at = self.0.iter().position(|(lane, _)| *lane == entry.lane).unwrap_or_else(|| {
            self.0.push((entry.lane, Ranks::default()));
            self.0.len() - 1
        });
        let ranks = &mut self.0[at].1;
        for list in [Some(&mut ranks.all), entry.write.then_some(&mut ranks.writes)].into_iter().flatten() {
            if list.last() != Some(&entry.rank) {
                list.push(entry.rank);
            }
        }
    }

    /// The accesses that conflict with one: all if it writes, otherwise the writes.
    fn list(&self, lane: u32, write: bool) -> Option<&[u32]> {
        let (_, ranks) = self.0.iter().find(|(of, _)| *of == lane)?;
        Some(if write { &ranks.all } else { &ranks.writes })
    }
}

/// A segment tree over the elementary intervals between the ends of some ranges.
#[derive(Debug)]
struct Intervals {
    cuts: Vec<u64>,
    /// A power of two: node `leaves + i` is the interval between cut `i` and the next; node `n` has the children `2n`
    /// and `2n + 1`.
    leaves: usize,
    /// For each node, the accesses that cover it completely and do not cover its parent.
    covering: Vec<Shelf>,
    /// For each node, the accesses in `covering` of it or of a node below it.
    within: Vec<Shelf>,
}

impl Intervals {
    fn new(ranges: Vec<(u64, u64)>) -> Intervals {
        let mut cuts: Vec<u64> = ranges.into_iter().flat_map(|(start, end)| [start, end]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let leaves = cuts.len().next_power_of_two();
        let shelves = || std::iter::repeat_with(Shelf::default).take(2 * leaves).collect();
        Intervals { leaves, covering: shelves(), within: shelves(), cuts }
    }

    /// The minimal set of nodes that make up a range.
    fn nodes(&self, (start, end): (u64, u64)) -> impl Iterator<Item = usize> + use<> {
        let leaf = |at: u64| self.leaves + self.cuts.partition_point(|cut| *cut < at);
        let (mut left, mut right) = if start < end { (leaf(start), leaf(end)) } else { (1, 1) };
        let mut ready = None;
        std::iter::from_fn(move || {
            if let Some(node) = ready.take() {
                return Some(node);
            }
            while left < right {
                let first = (left & 1 == 1).then_some(left);
                let last = (right & 1 == 1).then_some(right - 1);
                (left, right) = (left.div_ceil(2), right / 2);
                match (first, last) {
                    (Some(first), last) => {
                        ready = last;
                        return Some(first);
                    }
                    (None, Some(last)) => return Some(last),
                    (None, None) => {}
                }
            }
            None
        })
    }

    fn add(&mut self, range: (u64, u64), entry: Entry) {
        for node in self.nodes(range) {
            self.covering[node].add(entry);
            above(node).for_each(|up| self.within[up].add(entry));
        }
    }

    /// Visits every shelf with accesses that overlap a range; each shelf contains only such accesses.
    fn each(&self, range: (u64, u64), mut look: impl FnMut(&Shelf)) {
        for node in self.nodes(range) {
            look(&self.within[node]);
            above(node).skip(1).for_each(|up| look(&self.covering[up]));
        }
    }
}

/// A node and its ancestors.
fn above(node: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(node), |n| (*n > 1).then_some(n / 2))
}

/// Accesses to global memory.
#[derive(Default, Debug)]
struct Global {
    /// All of them.
    all: Shelf,
    /// Those to unknown buffers.
    anywhere: Shelf,
    buffers: BTreeMap<u32, Buffer>,
}

impl Global {
    fn new(views: BTreeMap<(u32, u32), Vec<&Bounds>>) -> Global {
        let mut global = Global::default();
        for ((id, view), windows) in views {
            global.buffers.entry(id).or_default().views.insert(view, Boxes::new(&windows));
        }
        global
    }

    fn add(&mut self, buffer: Option<u32>, window: Option<&Bounds>, entry: Entry) {
        self.all.add(entry);
        match buffer {
            Some(id) => self.buffers.entry(id).or_default().add(window, entry),
            None => self.anywhere.add(entry),
        }
    }
}

/// Accesses to one buffer in global memory.
#[derive(Default, Debug)]
struct Buffer {
    all: Shelf,
    /// By lane: all accesses, and the writes, with their views.
    by_view: BTreeMap<u32, [Views; 2]>,
    views: BTreeMap<u32, Boxes>,
}

impl Buffer {
    fn add(&mut self, window: Option<&Bounds>, entry: Entry) {
        self.all.add(entry);
        let view = window.map(|w| w.view);
        let [all, writes] = self.by_view.entry(entry.lane).or_default();
        all.push(entry.rank, view);
        if entry.write {
            writes.push(entry.rank, view);
        }
        if let Some(window) = window
            && let Some(boxes) = self.views.get_mut(&window.view)
        {
            boxes.tree.add(boxes.range(window), entry);
        }
    }

    fn each(&self, index: &Conflicts<'_>, lane: usize, access: &Access, best: &mut Best) {
        let Some(window) = &access.window else { return best.look(&self.all, access.write) };
        if let Some([all, writes]) = self.by_view.get(&best.lane) {
            let found = if access.write { all } else { writes }.of_others(window.view, best);
            found.into_iter().for_each(|rank| best.take(rank));
        }
        let Some(boxes) = self.views.get(&window.view) else { return };
        let conflicts =
            |rank: u32| index.works[index.work(lane, rank)].accesses.iter().any(|other| access.conflicts(other));
        boxes.tree.each(boxes.range(window), |shelf| {
            // Windows that overlap in one dimension may be disjoint in another.
            let found =
                shelf.list(best.lane, access.write).and_then(|list| best.nearest(list).find(|rank| conflicts(*rank)));
            found.into_iter().for_each(|rank| best.take(rank));
        });
    }
}

/// Accesses of one lane to a buffer, in runs of accesses through the same view.
#[derive(Default, Debug)]
struct Views {
    ranks: Vec<u32>,
    /// The run of each access.
    run_of: Vec<u32>,
    /// View (`None` for the whole buffer), first access and end.
    runs: Vec<(Option<u32>, usize, usize)>,
}

impl Views {
    fn push(&mut self, rank: u32, view: Option<u32>) {
        let at = self.ranks.len();
        match self.runs.last_mut() {
            Some(run) if run.0 == view => run.2 = at + 1,
            _ => self.runs.push((view, at, at + 1)),
        }
        self.ranks.push(rank);
        self.run_of.push(self.runs.len() as u32 - 1);
    }

    /// The nearest access in the searched range that is not through this view.
    fn of_others(&self, view: u32, best: &Best) -> Option<u32> {
        let from = self.ranks.partition_point(|rank| *rank < best.ranks.start);
        let to = self.ranks.partition_point(|rank| *rank < best.ranks.end);
        let near = if best.end == End::First { from } else { to.checked_sub(1)? };
        let (of, begin, end) = self.runs[*self.run_of.get(near)? as usize];
        let at = match best.end {
            _ if of != Some(view) => near,
            End::First => end,
            End::Last => begin.checked_sub(1)?,
        };
        (from..to).contains(&at).then(|| self.ranks[at])
    }
}

/// Windows of one view, by the dimension in which they differ most.
#[derive(Debug)]
struct Boxes {
    dim: usize,
    tree: Intervals,
}

impl Boxes {
    fn new(windows: &[&Bounds]) -> Boxes {
        let dims = windows.iter().map(|w| w.bounds.len()).min().unwrap_or(0);
        let starts = |dim: usize| {
            let mut starts: Vec<i64> = windows.iter().map(|w| w.bounds[dim].0).collect();
            starts.sort_unstable();
            starts.dedup();
            starts.len()
        };
        let dim = (0..dims).max_by_key(|dim| (starts(*dim), usize::MAX - dim)).unwrap_or(0);
        let ranges = windows.iter().map(|w| bounds(w, dim)).collect();
        Boxes { dim, tree: Intervals::new(ranges) }
    }

    fn range(&self, window: &Bounds) -> (u64, u64) {
        bounds(window, self.dim)
    }
}

/// The bounds of a window in a dimension, mapped to the order of unsigned integers; the full range in dimensions that
/// it does not have.
fn bounds(window: &Bounds, dim: usize) -> (u64, u64) {
    let ordered = |at: i64| (at as u64) ^ (1 << 63);
    window.bounds.get(dim).map_or((0, u64::MAX), |(start, end)| (ordered(*start), ordered(*end)))
}
