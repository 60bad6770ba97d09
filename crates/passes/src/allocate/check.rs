//! An independent check of addresses: that no buffer reads bytes which another buffer has written in the meantime.
//!
//! It follows the ops in program order, calls into their callees, and keeps for each byte of each memory whose it is: nobody's
//! yet, one buffer's, or one of several depending on the path.
//!
//! | op | effect |
//! |---|---|
//! | reads buffer b | b's bytes must be nobody's or b's, and no other buffer that it writes may lie there |
//! | writes buffer b | b's bytes are b's |
//! | writes b or c | bytes of others become those of one of several |
//! | paths that join | nobody's and b's are b's; b's and c's are those of one of several |
//! | loop | from the entry until nothing changes |
//!
//! It knows nothing of lives: a buffer may be overwritten as long as nobody reads it afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use slipring_dialects::{PipeRule, RingPart, kernel_kind};
use slipring_ir::{BlockId, Flow, Module, OpId, Touch};
use slipring_machine::CoreKind;
use slipring_tile::Space;

use crate::facts::{Functions, def, flow, memory_of, runs_on};
use crate::rings::ring_ops;
use crate::roots::{Address, RootId, RootKind, Roots};

/// What is wrong with the addresses of a module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Clash {
    /// The op reads a buffer that another has overwritten.
    Overwritten {
        /// The op that reads.
        reader: OpId,
        /// The op that declares the buffer.
        buffer: OpId,
    },
    /// The op writes the bytes of a buffer that it reads, by another name.
    InPlace {
        /// The op.
        op: OpId,
        /// The op that declares the buffer it reads.
        buffer: OpId,
    },
    /// A buffer lies in the slots of a ring.
    InRing {
        /// The op that declares the buffer.
        buffer: OpId,
        /// The op that reserves the slots.
        ring: OpId,
    },
    /// A buffer has no address.
    NoAddress(OpId),
}

/// Whose bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Nobody,
    Root(RootId),
    OneOfSeveral,
}

type State = BTreeMap<Space, Vec<Owner>>;

struct Checker<'m> {
    module: &'m Module,
    functions: Functions,
    roots: Roots,
    /// Starts and ends of buffers in each memory: between two neighbours all bytes have the same owner.
    cuts: BTreeMap<Space, Vec<u64>>,
    found: BTreeSet<Clash>,
    kind: Option<CoreKind>,
    calls: Vec<OpId>,
    /// Ops left to follow, so that the check of deeply nested calls ends.
    budget: u64,
}

/// Checks a module whose buffers all have addresses.
pub fn clashes(module: &Module) -> Vec<Clash> {
    let functions = Functions::of(module);
    let roots = Roots::of(module, &functions);
    let mut checker = Checker {
        module,
        functions,
        roots,
        cuts: BTreeMap::new(),
        found: BTreeSet::new(),
        kind: None,
        calls: Vec::new(),
        budget: 4_000_000,
    };
    checker.cut();
    checker.rings();
    let starts: Vec<(OpId, BlockId)> = checker.functions.with_bodies(module).collect();
    for (function, body) in starts {
        for kind in [CoreKind::Cube, CoreKind::Vector] {
            if kernel_kind(module, function).is_none_or(|k| k == kind) {
                checker.kind = Some(kind);
                let nobody = |cuts: &Vec<u64>| vec![Owner::Nobody; cuts.len()];
                let mut state: State = checker.cuts.iter().map(|(s, cuts)| (*s, nobody(cuts))).collect();
                checker.calls = vec![function];
                checker.block(body, &mut state, true);
            }
        }
    }
    checker.found.into_iter().collect()
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
        for ring in ring_ops(self.module, &self.functions).iter().filter(|r| r.part == RingPart::Reserve) {
            let Some(base) = ring.base() else {
                self.found.insert(Clash::NoAddress(ring.op.id));
                continue;
            };
            for id in 0..self.roots.roots.len() as RootId {
                let root = self.roots.root(id);
                let same_core = crate::roots::home(self.module, root.value) == Some(ring.function);
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

    fn block(&mut self, block: BlockId, state: &mut State, report: bool) {
        for &op in &self.module.block(block).ops {
            self.budget = self.budget.saturating_sub(1);
            if self.budget == 0 {
                return;
            }
            self.op(op, state, report);
        }
    }

    fn op(&mut self, op: OpId, state: &mut State, report: bool) {
        let data = self.module.op(op);
        if let Some(callee) = self.functions.callee(self.module, op) {
            if let Some(body) = self.module.body(callee, 0)
                && runs_on(self.module, callee, self.kind)
                && !self.calls.contains(&callee)
            {
                self.calls.push(callee);
                self.block(body, state, report);
                self.calls.pop();
            }
            return;
        }
        if data.regions.is_empty() {
            self.accesses(op, state, report);
            return;
        }
        let blocks: Vec<BlockId> = (0..data.regions.len()).filter_map(|r| self.module.body(op, r)).collect();
        match flow(self.module, op) {
            Flow::Once => blocks.into_iter().for_each(|b| self.block(b, state, report)),
            Flow::OneOf => {
                let entry = state.clone();
                for block in blocks {
                    let mut path = entry.clone();
                    self.block(block, &mut path, report);
                    join(state, &path);
                }
            }
            Flow::Repeat => {
                loop {
                    let mut path = state.clone();
                    blocks.iter().for_each(|b| self.block(*b, &mut path, false));
                    if !join(state, &path) {
                        break;
                    }
                }
                let mut path = state.clone();
                for (at, block) in blocks.iter().enumerate() {
                    self.block(*block, &mut path, report);
                    if at == 0 && blocks.len() > 1 {
                        *state = path.clone();
                    }
                }
            }
        }
    }

    fn accesses(&mut self, op: OpId, state: &mut State, report: bool) {
        let data = self.module.op(op);
        let Some(def) = def(self.module, op) else { return };
        let mut read: Vec<RootId> = Vec::new();
        for (index, spec) in def.schema.operands.iter().enumerate() {
            if spec.touch.reads() {
                let values = self.module.operand_group(op, index);
                read.extend(values.iter().flat_map(|v| self.roots.get(*v)));
            }
        }
        for &root in &read {
            self.read(op, root, state, report);
        }
        let mut written: Vec<&[RootId]> = Vec::new();
        for (index, spec) in def.schema.operands.iter().enumerate() {
            if spec.touch != Touch::Nothing && spec.touch.writes() {
                written.extend(self.module.operand_group(op, index).iter().map(|v| self.roots.get(*v)));
            }
        }
        let fills = matches!(def.ring, Some(RingPart::Pop(_))) || !matches!(def.pipe, PipeRule::None);
        for value in data.results.iter().filter(|v| fills && memory_of(self.module.ty(**v)).is_some()) {
            written.push(self.roots.get(*value));
        }
        let mut in_place = Vec::new();
        for roots in written {
            for root in roots {
                in_place.extend(read.iter().filter(|r| *r != root && self.overlap(**r, *root)).copied());
                let Some((atoms, owners)) = self.atoms(*root, state) else { continue };
                for owner in &mut owners[atoms] {
                    *owner = match *owner {
                        _ if roots.len() == 1 => Owner::Root(*root),
                        Owner::Nobody => Owner::Root(*root),
                        Owner::Root(other) if other == *root => *owner,
                        _ => Owner::OneOfSeveral,
                    };
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

    fn atoms<'s>(&self, root: RootId, state: &'s mut State) -> Option<(Range<usize>, &'s mut Vec<Owner>)> {
        let range = self.range(root)?;
        let space = self.roots.root(root).space;
        let cuts = self.cuts.get(&space)?;
        let atoms = cuts.partition_point(|c| *c < range.start)..cuts.partition_point(|c| *c < range.end);
        Some((atoms, state.get_mut(&space)?))
    }

    fn read(&mut self, reader: OpId, root: RootId, state: &mut State, report: bool) {
        let Some((atoms, owners)) = self.atoms(root, state) else { return };
        let intact = owners[atoms].iter().all(|o| matches!(o, Owner::Nobody) || *o == Owner::Root(root));
        if let (false, true, Some(buffer)) = (intact, report, self.roots.root(root).op) {
            self.found.insert(Clash::Overwritten { reader, buffer });
        }
    }
}

/// True if something changed.
fn join(state: &mut State, path: &State) -> bool {
    let mut changed = false;
    for (space, owners) in state {
        let Some(others) = path.get(space) else { continue };
        for (owner, other) in owners.iter_mut().zip(others) {
            let joined = match (*owner, *other) {
                (a, b) if a == b => a,
                (Owner::Nobody, x) | (x, Owner::Nobody) => x,
                _ => Owner::OneOfSeveral,
            };
            changed |= joined != *owner;
            *owner = joined;
        }
    }
    changed
}
