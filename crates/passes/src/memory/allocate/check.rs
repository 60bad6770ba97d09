//! An independent check of addresses: no buffer may read bytes that another buffer has overwritten in the meantime.
//!
//! It follows the ops in program order, including callees, and tracks for each byte of each memory its possible owners
//! (none at first, several where paths differ), each with the op that wrote it, and the buffers whose contents there
//! have been overwritten by another one.
//!
//! | op | effect |
//! |---|---|
//! | reads buffer b | b's bytes must be unowned or owned by b, and no other buffer that the op writes may be there; |
//! | | those that b owns have been read by its name |
//! | writes buffer b | b's bytes are owned by b; their previous owners have lost them |
//! | writes b or c | the bytes may be owned by b or c as well |
//! | paths that join | the union of both |
//! | loop | the union at its head of the entry and the end of each iteration |
//!
//! The sets only grow, so the function is walked until no loop head changes, and only then are clashes reported. The
//! check knows nothing of lifetimes: a buffer may be overwritten as long as it is never read afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use slipring_ir::{BlockId, Flow, Module, OpId, Touch};
use slipring_machine::{CoreKind, Platform};
use slipring_op::{OpDef, OpRef, PipeRule, RingPart, kernel_kind};
use slipring_tile::Space;
use smallvec::SmallVec;

use crate::analysis::facts::{Functions, flow, runs_on};
use crate::analysis::rings::ring_ops;
use crate::analysis::roots::{Address, RootId, RootKind, Roots};

/// A problem with the addresses of a module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Clash {
    /// The op reads a buffer that another one has overwritten.
    Overwritten {
        /// The reading op.
        reader: OpId,
        /// The op that declares the buffer.
        buffer: OpId,
    },
    /// The op overwrites a buffer that it reads, under another name.
    InPlace {
        /// The op.
        op: OpId,
        /// The op that declares the buffer it reads.
        buffer: OpId,
    },
    /// A buffer overlaps the slots of a ring.
    InRing {
        /// The op that declares the buffer.
        buffer: OpId,
        /// The op that reserves the slots.
        ring: OpId,
    },
    /// A buffer has no address.
    NoAddress(OpId),
    /// The function's nested calls are so numerous that it was not followed to the end.
    NotFollowed(OpId),
}

/// Contents of a buffer that were needed and are lost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub struct Loss {
    pub buffer: RootId,
    /// The op that reads the lost contents: the first in the text.
    pub reader: OpId,
    /// The op whose result is there instead, and the buffer this op meant to write.
    pub writer: OpId,
    pub by: RootId,
    /// Nothing has read this result by its own name in between.
    pub unread: bool,
}

/// Result of an inspection.
#[derive(Debug)]
pub struct Inspection {
    /// The buffers that losses refer to.
    pub roots: Roots,
    /// Problems with the addresses.
    pub clashes: BTreeSet<Clash>,
    /// Contents that were overwritten and read afterwards: one loss for each two buffers and each value of `unread`.
    /// Pairs of buffers used as names for the same bytes, one being read though only the other was written, do not
    /// count.
    pub losses: Vec<Loss>,
}

/// A buffer that may own bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Owner {
    root: RootId,
    /// The op that wrote them.
    writer: OpId,
    /// An op may have read them since, by the name of this buffer.
    read: bool,
}

/// Bytes with the same history.
#[derive(Clone, PartialEq, Eq, Default)]
struct Bytes {
    /// Possible owners, sorted by buffer and writer; empty if there is none.
    owners: SmallVec<[Owner; 2]>,
    /// Buffers that may have lost contents here, sorted. One of the owners is then another buffer.
    lost: SmallVec<[RootId; 2]>,
}

impl Bytes {
    /// A write of this buffer and no other.
    fn write(&mut self, root: RootId, writer: OpId) {
        for owner in std::mem::take(&mut self.owners) {
            self.lose(owner.root);
        }
        self.lost.retain(|buffer| *buffer != root);
        self.owners.push(Owner { root, writer, read: false });
    }

    /// A write of this buffer or of another. True if something changed.
    fn may_write(&mut self, new: Owner) -> bool {
        match self.owners.binary_search_by_key(&(new.root, new.writer), |owner| (owner.root, owner.writer)) {
            Ok(at) => new.read && !std::mem::replace(&mut self.owners[at].read, true),
            Err(at) => {
                self.owners.insert(at, new);
                true
            }
        }
    }

    /// A read by the name of this buffer.
    fn read(&mut self, root: RootId) {
        self.owners.iter_mut().filter(|owner| owner.root == root).for_each(|owner| owner.read = true);
    }

    fn lose(&mut self, buffer: RootId) -> bool {
        self.lost.binary_search(&buffer).map_err(|at| self.lost.insert(at, buffer)).is_err()
    }

    /// True if something changed.
    fn join(&mut self, path: &Bytes) -> bool {
        let mut changed = false;
        for owner in &path.owners {
            changed |= self.may_write(*owner);
        }
        for buffer in &path.lost {
            changed |= self.lose(*buffer);
        }
        changed
    }
}

type State = BTreeMap<Space, Vec<Bytes>>;

/// Number of ops followed in a file, besides the allowance of each function.
const BUDGET: u64 = 4_000_000;

/// How often a function's own ops may be followed for each kind of core.
const WALKS: u64 = 64;

struct Checker<'m> {
    module: &'m Module,
    platform: &'m Platform,
    functions: Functions,
    roots: Roots,
    /// Starts and ends of buffers in each memory: between two adjacent cuts all bytes have the same history.
    cuts: BTreeMap<Space, Vec<u64>>,
    found: BTreeSet<Clash>,
    /// First reader of each lost buffer and the writer, by the buffer that overwrote it and `Loss::unread`.
    losses: BTreeMap<(RootId, RootId, bool), (OpId, OpId)>,
    /// Pairs of buffers that are names for the same bytes.
    aliases: BTreeSet<(RootId, RootId)>,
    kind: Option<CoreKind>,
    /// The functions being followed, and the calls that led there.
    calls: Vec<OpId>,
    sites: Vec<OpId>,
    /// The possible state at the head of each loop, by the calls that led there.
    heads: BTreeMap<(Vec<OpId>, OpId), State>,
    changed: bool,
    /// The module has loops: without any, nothing repeats, and one walk is sufficient.
    loops: bool,
    /// True once a fixed point is reached.
    report: bool,
    /// Remaining ops to follow, so that the check of deeply nested calls terminates.
    budget: u64,
    /// The part of the budget that the functions share.
    shared: u64,
}

/// Checks a module whose buffers all have addresses.
pub fn clashes(module: &Module, platform: &Platform) -> Vec<Clash> {
    inspect(module, platform).clashes.into_iter().collect()
}

/// Follows a module; buffers without an address are ignored.
pub fn inspect(module: &Module, platform: &Platform) -> Inspection {
    let functions = Functions::of(module);
    let roots = Roots::of(module, &functions);
    let mut checker = Checker {
        module,
        platform,
        functions,
        roots,
        cuts: BTreeMap::new(),
        found: BTreeSet::new(),
        losses: BTreeMap::new(),
        aliases: BTreeSet::new(),
        kind: None,
        calls: Vec::new(),
        sites: Vec::new(),
        heads: BTreeMap::new(),
        changed: false,
        loops: module.walk(module.top).into_iter().any(|op| flow(module, op) == Flow::Repeat),
        report: false,
        budget: 0,
        shared: BUDGET,
    };
    checker.cut();
    checker.rings();
    let starts: Vec<(OpId, BlockId)> = checker.functions.with_bodies(module).collect();
    for (function, body) in starts {
        for kind in [CoreKind::Cube, CoreKind::Vector] {
            if kernel_kind(module, function).is_none_or(|k| k == kind) {
                checker.kind = Some(kind);
                checker.function(function, body);
            }
        }
    }
    let Checker { roots, found: clashes, losses, aliases, .. } = checker;
    let same = |a: RootId, b: RootId| aliases.contains(&(a.min(b), a.max(b)));
    let losses = losses.into_iter().filter(|((buffer, by, _), _)| !same(*buffer, *by));
    let loss = |((buffer, by, unread), (reader, writer))| Loss { buffer, reader, writer, by, unread };
    let mut losses: Vec<Loss> = losses.map(loss).collect();
    losses.sort_unstable_by_key(|loss| (loss.reader, *loss));
    Inspection { roots, clashes, losses }
}

impl Checker<'_> {
    fn range(&self, root: RootId) -> Option<Range<u64>> {
        let root = self.roots.root(root);
        match (root.address, root.bytes) {
            (Address::At(start), Some(bytes)) => Some(start..start + bytes),
            _ => None,
        }
    }

    fn cut(&mut self) {
        for id in 0..self.roots.roots.len() as RootId {
            let root = self.roots.root(id);
            let space = root.space;
            if let Some(range) = self.range(id) {
                self.cuts.entry(space).or_default().extend([range.start, range.end]);
            } else if let (RootKind::Declared, Address::Open, Some(op)) = (root.kind, root.address, root.op) {
                self.found.insert(Clash::NoAddress(op));
            }
        }
        for cuts in self.cuts.values_mut() {
            cuts.sort_unstable();
            cuts.dedup();
        }
    }

    fn rings(&mut self) {
        for ring in ring_ops(self.module, &self.functions).iter().filter(|r| r.part.reserves()) {
            let Some(base) = ring.base() else {
                self.found.insert(Clash::NoAddress(ring.op.id));
                continue;
            };
            for id in 0..self.roots.roots.len() as RootId {
                let root = self.roots.root(id);
                let same_core = crate::analysis::roots::home(self.module, root.value) == Some(ring.function);
                if let (Some(range), Some(buffer)) = (self.range(id), root.op)
                    && root.space == ring.space()
                    && same_core
                    && range.start < base + ring.bytes()
                    && base < range.end
                {
                    self.found.insert(Clash::InRing { buffer, ring: ring.op.id });
                }
            }
        }
    }

    fn function(&mut self, function: OpId, body: BlockId) {
        self.calls = vec![function];
        self.heads.clear();
        self.budget = self.shared + WALKS * self.module.walk(body).len() as u64;
        let nobody = |cuts: &Vec<u64>| vec![Bytes::default(); cuts.len()];
        let begin: State = self.cuts.iter().map(|(s, cuts)| (*s, nobody(cuts))).collect();
        self.changed = self.loops;
        while std::mem::take(&mut self.changed) && self.budget > 0 {
            self.block(body, &mut begin.clone());
        }
        self.report = true;
        self.block(body, &mut begin.clone());
        self.report = false;
        self.shared = self.shared.min(self.budget);
        if self.budget == 0 {
            self.found.insert(Clash::NotFollowed(function));
        }
    }

    fn block(&mut self, block: BlockId, state: &mut State) {
        for &op in &self.module.block(block).ops {
            self.budget = self.budget.saturating_sub(1);
            if self.budget == 0 {
                return;
            }
            self.op(op, state);
        }
    }

    fn op(&mut self, op: OpId, state: &mut State) {
        let data = self.module.op(op);
        if let Some(callee) = self.functions.callee(self.module, op) {
            if let Some(body) = self.module.body(callee, 0)
                && runs_on(self.module, callee, self.kind)
                && !self.calls.contains(&callee)
            {
                self.calls.push(callee);
                self.sites.push(op);
                self.block(body, state);
                self.sites.pop();
                self.calls.pop();
            }
            return;
        }
        if data.regions.is_empty() {
            self.accesses(op, state);
            return;
        }
        let blocks: Vec<BlockId> = (0..data.regions.len()).filter_map(|r| self.module.body(op, r)).collect();
        match flow(self.module, op) {
            Flow::Once => blocks.into_iter().for_each(|b| self.block(b, state)),
            Flow::OneOf => {
                let entry = state.clone();
                for block in blocks {
                    let mut path = entry.clone();
                    self.block(block, &mut path);
                    join(state, &path);
                }
            }
            Flow::Repeat => {
                // Kept from one walk to the next, so that the number of walks does not multiply with the nesting.
                let key = (self.sites.clone(), op);
                let mut head = self.heads.remove(&key).unwrap_or_default();
                join(&mut head, state);
                let mut path = head.clone();
                // A loop with a condition ends after its first region, which computes it.
                let mut left = None;
                for (at, block) in blocks.iter().enumerate() {
                    self.block(*block, &mut path);
                    if at == 0 && blocks.len() > 1 {
                        left = Some(path.clone());
                    }
                }
                self.changed |= join(&mut head, &path);
                *state = left.unwrap_or_else(|| head.clone());
                self.heads.insert(key, head);
            }
        }
    }

    fn accesses(&mut self, op: OpId, state: &mut State) {
        let data = self.module.op(op);
        let Some(def) = OpDef::of(self.module, op) else { return };
        let (mut read, mut certain): (Vec<RootId>, Vec<RootId>) = (Vec::new(), Vec::new());
        for (index, spec) in def.schema.operands.iter().enumerate() {
            if spec.touch.reads() {
                for value in self.module.operand_group(op, index) {
                    let roots = self.roots.get(*value);
                    read.extend(roots);
                    certain.extend(<&[RootId; 1]>::try_from(roots).ok().into_iter().flatten());
                }
            }
        }
        for &root in &certain {
            self.bytes(root, state).into_iter().flatten().for_each(|bytes| bytes.read(root));
        }
        if self.report {
            certain.iter().for_each(|root| self.needs(op, *root, state));
        }
        for &root in &read {
            self.read(op, root, state);
        }
        let mut written: Vec<&[RootId]> = Vec::new();
        let own = OpRef { module: self.module, id: op, def };
        for (index, spec) in def.schema.operands.iter().enumerate() {
            // Working memory that the platform's library does not touch keeps its contents.
            if spec.touch != Touch::Nothing && spec.touch.writes() && !own.leaves_alone(spec, self.platform) {
                written.extend(self.module.operand_group(op, index).iter().map(|v| self.roots.get(*v)));
            }
        }
        let fills = def.ring.and_then(RingPart::pops).is_some() || !matches!(def.pipe, PipeRule::None);
        for value in data.results.iter().filter(|v| fills && self.module.ty(**v).space().is_some()) {
            written.push(self.roots.get(*value));
        }
        let mut in_place = Vec::new();
        let allowed = crate::memory::in_place::in_place(self.module, self.platform, &self.roots, op);
        // Elementwise, with source and result at the same address.
        let harmless = |source: RootId, target: RootId| {
            let listed = allowed.as_ref().is_some_and(|(sources, own)| *own == target && sources.contains(&source));
            listed && self.range(source) == self.range(target)
        };
        for roots in written {
            for root in roots {
                let clash = |r: &&RootId| *r != root && self.overlap(**r, *root) && !harmless(**r, *root);
                in_place.extend(read.iter().filter(clash).copied());
                for bytes in self.bytes(*root, state).into_iter().flatten() {
                    match roots.len() {
                        1 => bytes.write(*root, op),
                        _ => drop(bytes.may_write(Owner { root: *root, writer: op, read: false })),
                    }
                }
            }
        }
        for buffer in in_place.into_iter().filter_map(|root| self.roots.root(root).op) {
            self.found.insert(Clash::InPlace { op, buffer });
        }
    }

    fn overlap(&self, a: RootId, b: RootId) -> bool {
        let (Some(x), Some(y)) = (self.range(a), self.range(b)) else { return false };
        self.roots.root(a).space == self.roots.root(b).space && x.start < y.end && y.start < x.end
    }

    fn bytes<'s>(&self, root: RootId, state: &'s mut State) -> Option<&'s mut [Bytes]> {
        let range = self.range(root)?;
        let space = self.roots.root(root).space;
        let cuts = self.cuts.get(&space)?;
        let parts = cuts.partition_point(|c| *c < range.start)..cuts.partition_point(|c| *c < range.end);
        state.get_mut(&space)?.get_mut(parts)
    }

    fn read(&mut self, reader: OpId, root: RootId, state: &mut State) {
        let Some(bytes) = self.bytes(root, state) else { return };
        let intact = bytes.iter().all(|b| b.owners.iter().all(|owner| owner.root == root));
        if let (false, true, Some(buffer)) = (intact, self.report, self.roots.root(root).op) {
            self.found.insert(Clash::Overwritten { reader, buffer });
        }
    }

    /// An op reads exactly this buffer: records losses, and contents written only under another name.
    fn needs(&mut self, reader: OpId, root: RootId, state: &mut State) {
        let Some(bytes) = self.bytes(root, state) else { return };
        for bytes in bytes {
            let others = bytes.owners.iter().filter(|owner| owner.root != root);
            if bytes.lost.contains(&root) {
                for Owner { root: by, writer, read } in others {
                    let first = self.losses.entry((root, *by, !read)).or_insert((reader, *writer));
                    *first = (reader, *writer).min(*first);
                }
            } else if bytes.owners.iter().all(|owner| owner.root != root) {
                self.aliases.extend(others.map(|owner| (root.min(owner.root), root.max(owner.root))));
            }
        }
    }
}

/// True if something changed.
fn join(state: &mut State, path: &State) -> bool {
    let mut changed = false;
    for (space, bytes) in path {
        let own = state.entry(*space).or_default();
        own.resize(bytes.len(), Bytes::default());
        for (own, other) in own.iter_mut().zip(bytes) {
            changed |= own.join(other);
        }
    }
    changed
}
