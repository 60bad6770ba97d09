//! The buffers that a value may refer to.
//!
//! A *root* is a buffer: a tile declared in local memory, the landing area of a popped tile, an argument of a function
//! that nobody calls. Views, reshapes, loop-carried values, results of branches and arguments of calls propagate roots.

use std::ops::Range;

use slipring_ir::{Flow, Module, OpId, Touch, ValueDef, ValueId};
pub use slipring_op::address::Address;
use slipring_op::ring::ring_tile;
use slipring_op::{OpDef, OpRef, PipeRule, RingPart};
use slipring_tile::Space;
use smallvec::SmallVec;

use crate::analysis::facts::{Functions, buffer_bytes, flow, terminator};

/// Position of a root in [`Roots::roots`].
pub type RootId = u32;

/// The kind of a root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RootKind {
    /// Declared by an op that gives its address, or leaves that to the allocator.
    Declared,
    /// A popped tile: a slot of a ring, or a copy of it.
    Popped,
    /// An argument of a function that nobody calls, or memory at a computed address.
    Unknown,
}

/// A buffer.
#[derive(Clone, Debug)]
pub struct Root {
    /// Its kind.
    pub kind: RootKind,
    /// Its memory.
    pub space: Space,
    /// The first value that refers to it.
    pub value: ValueId,
    /// The op that declares or pops it.
    pub op: Option<OpId>,
    /// Its size, if known.
    pub bytes: Option<u64>,
    /// Its address.
    pub address: Address,
}

impl Root {
    /// The bytes that it takes in its memory, if its address is constant and its size known.
    pub fn range(&self) -> Option<Range<u64>> {
        match (self.address, self.bytes) {
            (Address::At(start), Some(bytes)) => Some(start..start.saturating_add(bytes)),
            _ => None,
        }
    }

    /// Whether two buffers share bytes of one memory; `None` if the address or the size of one is not known.
    pub fn overlaps(&self, other: &Root) -> Option<bool> {
        if self.space != other.space {
            return Some(false);
        }
        let (own, other) = (self.range()?, other.range()?);
        Some(own.start < other.end && other.start < own.end)
    }
}

/// The roots of a module, and the roots that each value may refer to.
#[derive(Clone, Debug, Default)]
pub struct Roots {
    /// All roots.
    pub roots: Vec<Root>,
    of: Vec<SmallVec<[RootId; 2]>>,
}

impl Roots {
    /// Finds the roots of a module.
    pub fn of(module: &Module, functions: &Functions) -> Roots {
        let mut roots = Roots { roots: Vec::new(), of: vec![SmallVec::new(); module.value_count()] };
        for (_, body) in functions.with_bodies(module) {
            module.walk(body).into_iter().for_each(|op| roots.popped_into(module, op));
        }
        let mut flows = Vec::new();
        let mut called = Vec::new();
        for (_, body) in functions.with_bodies(module) {
            for op in module.walk(body) {
                if let Some(callee) = functions.callee(module, op) {
                    call_flows(module, op, callee, &mut flows);
                    called.push(callee);
                } else if !module.op(op).regions.is_empty() {
                    region_flows(module, op, &mut flows);
                } else {
                    roots.results(module, op, &mut flows);
                }
            }
        }
        for (function, body) in functions.with_bodies(module) {
            if !called.contains(&function) {
                for &arg in &module.block(body).args {
                    roots.unknown(module, arg);
                }
            }
        }
        roots.propagate(&flows);
        roots
    }

    /// The roots that a value may refer to; none for values that are not memory.
    pub fn get(&self, value: ValueId) -> &[RootId] {
        self.of.get(value.index()).map_or(&[], |list| list)
    }

    /// The roots of the operands that an op accesses in this way.
    pub fn touched(&self, module: &Module, op: OpId, how: impl Fn(Touch) -> bool) -> Vec<RootId> {
        let specs = OpDef::of(module, op).into_iter().flat_map(|def| def.schema.operands.iter().enumerate());
        let values = specs.filter(|(_, spec)| how(spec.touch)).flat_map(|(at, _)| module.operand_group(op, at));
        values.flat_map(|value| self.get(*value).iter().copied()).collect()
    }

    /// The roots that an op may write: those of operands, and of results of work and of rings.
    pub fn written(&self, module: &Module, op: OpId) -> Vec<RootId> {
        let mut all = self.touched(module, op, Touch::writes);
        let makes = |def: &'static OpDef| !matches!(def.pipe, PipeRule::None) || def.ring.is_some();
        if OpDef::of(module, op).is_some_and(makes) {
            all.extend(module.op(op).results.iter().flat_map(|value| self.get(*value)));
        }
        all
    }

    /// A root.
    pub fn root(&self, id: RootId) -> &Root {
        &self.roots[id as usize]
    }

    fn add(&mut self, root: Root) {
        self.of[root.value.index()].push(self.roots.len() as RootId);
        self.roots.push(root);
    }

    fn unknown(&mut self, module: &Module, value: ValueId) {
        if let Some(space) = module.ty(value).space() {
            let op = module.defining_op(value);
            let address = Address::Computed;
            self.add(Root { kind: RootKind::Unknown, space, value, op, bytes: None, address });
        }
    }

    /// The tile that a pop takes as an operand: from there on it is a slot, or a landing area.
    fn popped_into(&mut self, module: &Module, op: OpId) {
        let pop = OpRef::of(module, op);
        // A pop from a ring returns its tile as a result.
        let pop = pop.filter(|op| op.def.ring.is_some_and(|part| part.takes_tile() && part.pops().is_none()));
        let Some((value, address)) = pop.and_then(|op| Some((ring_tile(&op)?, op.address()?))) else { return };
        if let (Some(space), bytes) = (module.ty(value).space(), buffer_bytes(module.ty(value))) {
            self.add(Root { kind: RootKind::Popped, space, value, op: Some(op), bytes, address });
        }
    }

    fn results(&mut self, module: &Module, op: OpId, flows: &mut Vec<(ValueId, ValueId)>) {
        let data = module.op(op);
        if !data.results.iter().any(|v| module.ty(*v).space().is_some()) {
            return;
        }
        let def = OpDef::of(module, op);
        let sources: SmallVec<[ValueId; 2]> =
            data.operands.iter().copied().filter(|v| module.ty(*v).space().is_some()).collect();
        for &value in &data.results {
            let Some(space) = module.ty(value).space() else { continue };
            let bytes = buffer_bytes(module.ty(value));
            let declared = |kind, address| Root { kind, space, value, op: Some(op), bytes, address };
            match def.map_or(Placed::No, |def| placed(module, op, def)) {
                Placed::Pop(address) => self.add(declared(RootKind::Popped, address)),
                Placed::Yes(address) if sources.is_empty() || address != Address::Open => {
                    self.add(declared(RootKind::Declared, address));
                }
                _ if sources.is_empty() && !self.of[value.index()].is_empty() => {}
                _ if sources.is_empty() => self.unknown(module, value),
                _ => flows.extend(sources.iter().map(|source| (*source, value))),
            }
        }
    }

    fn propagate(&mut self, flows: &[(ValueId, ValueId)]) {
        let mut next: Vec<SmallVec<[ValueId; 2]>> = vec![SmallVec::new(); self.of.len()];
        for (from, to) in flows {
            next[from.index()].push(*to);
        }
        let mut work: Vec<ValueId> =
            (0..self.of.len()).filter(|v| !self.of[*v].is_empty()).map(|v| ValueId(v as u32)).collect();
        while let Some(value) = work.pop() {
            let known = self.of[value.index()].clone();
            for &to in &next[value.index()] {
                let target = &mut self.of[to.index()];
                let before = target.len();
                target.extend(known.iter().copied().filter(|r| !target.contains(r)).collect::<SmallVec<[RootId; 4]>>());
                if target.len() > before {
                    work.push(to);
                }
            }
        }
        self.of.iter_mut().for_each(|list| list.sort_unstable());
    }
}

/// How an op assigns an address to its result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Placed {
    No,
    Yes(Address),
    Pop(Address),
}

fn placed(module: &Module, id: OpId, def: &'static OpDef) -> Placed {
    match (OpRef::of(module, id).and_then(|op| op.address()), def.ring.and_then(RingPart::pops)) {
        (Some(address), Some(_)) => Placed::Pop(address),
        (Some(address), None) => Placed::Yes(address),
        (None, _) => Placed::No,
    }
}

/// Pairs two lists aligned at their ends: a region passes on the last of its values.
fn tails(module: &Module, from: &[ValueId], to: &[ValueId], flows: &mut Vec<(ValueId, ValueId)>) {
    for (from, to) in from.iter().rev().zip(to.iter().rev()) {
        if module.ty(*from).space().is_some() && module.ty(*to).space().is_some() {
            flows.push((*from, *to));
        }
    }
}

fn region_flows(module: &Module, op: OpId, flows: &mut Vec<(ValueId, ValueId)>) {
    let data = module.op(op);
    let blocks: Vec<_> = (0..data.regions.len()).filter_map(|region| module.body(op, region)).collect();
    let ends: Vec<&[ValueId]> =
        blocks.iter().filter_map(|b| terminator(module, *b)).map(|end| &module.op(end).operands[..]).collect();
    let repeats = flow(module, op) == Flow::Repeat;
    for &block in &blocks {
        let args = &module.block(block).args;
        tails(module, &data.operands, args, flows);
        for end in ends.iter().filter(|_| repeats) {
            tails(module, end, args, flows);
        }
    }
    if repeats {
        tails(module, &data.operands, &data.results, flows);
    }
    for end in ends {
        tails(module, end, &data.results, flows);
    }
}

fn call_flows(module: &Module, call: OpId, callee: OpId, flows: &mut Vec<(ValueId, ValueId)>) {
    let Some(body) = module.body(callee, 0) else { return };
    let data = module.op(call);
    let args = &module.block(body).args;
    flows.extend(data.operands.iter().copied().zip(args.iter().copied()));
    if let Some(end) = terminator(module, body) {
        tails(module, &module.op(end).operands, &data.results, flows);
    }
}

/// The function whose body contains a value.
pub fn home(module: &Module, value: ValueId) -> Option<OpId> {
    let block = match module.value(value).def {
        ValueDef::Result(op, _) => module.op(op).block?,
        ValueDef::Arg(block, _) => block,
    };
    let at = module.block_parent(block)?;
    module.function_of(at)
}
