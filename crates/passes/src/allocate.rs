//! `allocate`: addresses for everything in local memory.
//!
//! For each memory of a core: reserved rings and tiles with an address of their own stay where they are; everything else is
//! placed around them, side by side while that fits, sharing bytes over time where it must. Two buffers share
//! bytes only if their lives do not even touch, so an op never writes what it reads in the same step.

pub mod check;
mod lifetime;
mod map;
mod overwritten;
pub mod pack;
mod report;

use std::ops::Range;

use slipring_dialects::ring::{SlotBase, pipe_key, slot_space};
use slipring_dialects::{Dialects, OpRef, RingPart};
use slipring_ir::{Attr, AttrDict, Diagnostic, Diags, Module, OpId, Type, ValueId};
use slipring_machine::SpaceSpec;
use slipring_program::Direction;
use slipring_tile::Space;

use crate::facts::{Functions, def, op_ref, operand_index, syncs_by_hand};
use crate::manager::{Pass, PassContext};
use crate::rings::{RingOp, consumes, pipe, ring_bytes, ring_ops, slots_of, write_imports};
use crate::roots::{Address, RootId, RootKind, Roots, home};
pub use map::{MapBuffer, MemoryMap, memory_maps};
pub use overwritten::overwritten;
use pack::{Live, Request, pack};

/// The pass.
pub const PASS: Pass =
    Pass { name: "allocate", summary: "Give tiles and rings in local memory their addresses", run: allocate };

/// Alignment of rings in bytes.
const RING_ALIGN: u64 = 256;

/// Something that needs bytes of a memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Item {
    Root(RootId),
    /// A reservation.
    Ring(OpId),
}

/// One memory of the cores that run a group of functions.
struct Memory<'m> {
    module: &'m Module,
    space: Space,
    spec: &'m SpaceSpec,
    items: Vec<Item>,
    requests: Vec<Request>,
    /// What has its place already.
    fixed: Vec<Fixed>,
    /// How deep the rings in reservations are.
    depths: Vec<Depth>,
}

/// The depth of a ring in a reservation.
#[derive(Clone, Copy, Debug)]
struct Depth {
    /// The reservation.
    reservation: OpId,
    slots: u32,
    slot_bytes: u32,
}

/// A range that is taken.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Fixed {
    range: Range<u64>,
    /// True for the slots of a ring.
    ring: bool,
    /// The op that says so.
    op: OpId,
}

/// An address to write into the module.
struct Decision {
    item: Item,
    address: u64,
}

fn allocate(module: &mut Module, context: &PassContext<'_>, diags: &mut Diags) {
    let functions = Functions::of(module);
    let roots = Roots::of(module, &functions);
    let before = diags.list.len();
    let decisions = decide(module, context, &functions, &roots, diags);
    if diags.list[before..].iter().any(|d| d.severity == slipring_ir::Severity::Error) {
        return;
    }
    for decision in decisions {
        match decision.item {
            Item::Ring(op) => module.op_mut(op).attrs.set("base", Attr::int(decision.address as i64)),
            Item::Root(root) => write_address(module, roots.root(root).op, decision.address),
        }
    }
    write_imports(module, &functions);
}

/// Writes an address as the op's operand `addr` or, where it has none, as its attribute.
fn write_address(module: &mut Module, op: Option<OpId>, address: u64) {
    let Some(op) = op else { return };
    let operand = def(module, op).and_then(|def| operand_index(&def.schema, "addr"));
    let Some(index) = operand else {
        module.op_mut(op).attrs.set("addr", Attr::int(address as i64));
        return;
    };
    let Some(value) = constant_before(module, op, address) else { return };
    let data = module.op_mut(op);
    let at: usize = data.segments.iter().take(index).map(|n| usize::from(*n)).sum();
    data.operands.insert(at, value);
    if let Some(count) = data.segments.get_mut(index) {
        *count = 1;
    }
}

fn constant_before(module: &mut Module, anchor: OpId, number: u64) -> Option<ValueId> {
    let schema = Dialects::get().registry.get("arith.constant")?;
    let attrs: AttrDict = [("value", Attr::int(number as i64))].into_iter().collect();
    let span = module.op(anchor).span;
    let constant = module.build(schema, &[], attrs, &[Type::I64], span);
    module.insert_before(anchor, constant);
    module.op(constant).results.first().copied()
}

fn decide(
    module: &Module,
    context: &PassContext<'_>,
    functions: &Functions,
    roots: &Roots,
    diags: &mut Diags,
) -> Vec<Decision> {
    let lives = lifetime::lifetimes(module, functions, roots);
    let rings = ring_ops(module, functions);
    let mut decisions = Vec::new();
    for group in groups(module, functions) {
        for (name, spec) in &context.platform.space {
            let Some(space) = Space::parse(name) else { continue };
            let mut memory = Memory::new(module, space, spec);
            memory.take_rings(context, &rings, &group);
            memory.take_roots(context, functions, &group, roots, &lives, diags);
            memory.check_fixed(diags);
            memory.place(roots, &group, &mut decisions, diags);
        }
    }
    decisions
}

/// The tiles without an address that are in use together where a memory does not have room for all of them, with their bytes,
/// the largest first: a list for each group of functions that does not fit.
pub(crate) fn crowds(module: &Module, context: &PassContext<'_>, space: Space) -> Vec<Vec<(ValueId, u64)>> {
    let functions = Functions::of(module);
    let roots = Roots::of(module, &functions);
    let lives = lifetime::lifetimes(module, &functions, &roots);
    let Some(spec) = context.platform.space(space) else { return Vec::new() };
    let mut crowds = Vec::new();
    for group in groups(module, &functions) {
        let mut memory = Memory::new(module, space, spec);
        memory.take_roots(context, &functions, &group, &roots, &lives, &mut Diags::default());
        let blocked: Vec<Range<u64>> = memory.fixed.iter().map(|f| f.range.clone()).collect();
        let Err(overflow) = pack(&memory.requests, spec.usable(), &blocked) else { continue };
        let alive = overflow.alive.iter().filter_map(|at| match memory.items[*at] {
            Item::Root(root) => Some((roots.root(root).value, memory.requests[*at].bytes)),
            Item::Ring(_) => None,
        });
        let mut crowd: Vec<(ValueId, u64)> = alive.collect();
        crowd.sort_by_key(|(value, bytes)| (std::cmp::Reverse(*bytes), *value));
        crowds.push(crowd);
    }
    crowds
}

/// Functions that call each other, together; each group in the order of the text.
fn groups(module: &Module, functions: &Functions) -> Vec<Vec<OpId>> {
    let mut groups: Vec<Vec<OpId>> = Vec::new();
    for (function, _) in functions.with_bodies(module) {
        let mut group = vec![function];
        group.extend(functions.calls(module, function).into_iter().map(|(_, callee)| callee));
        let (joined, apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(|g| g.iter().any(|f| group.contains(f)));
        group.extend(joined.into_iter().flatten());
        group.sort_unstable();
        group.dedup();
        groups = apart;
        groups.push(group);
    }
    groups.sort_unstable();
    groups
}

impl<'m> Memory<'m> {
    /// An empty one.
    fn new(module: &'m Module, space: Space, spec: &'m SpaceSpec) -> Memory<'m> {
        let (items, requests, fixed, depths) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Memory { module, space, spec, items, requests, fixed, depths }
    }

    fn take_rings(&mut self, context: &PassContext<'_>, rings: &[RingOp<'_>], group: &[OpId]) {
        for ring in rings.iter().filter(|r| group.binary_search(&r.function).is_ok()) {
            match ring.part {
                RingPart::Reserve if ring.space() == self.space => match ring.base() {
                    Some(base) => self.fix(base, ring.bytes(), true, ring.op.id),
                    None => {
                        self.items.push(Item::Ring(ring.op.id));
                        let align = self.spec.align.max(RING_ALIGN);
                        self.requests.push(Request { bytes: ring.bytes(), align, live: Vec::new(), always: true });
                    }
                },
                RingPart::Initialize => {
                    self.take_depth(&ring.op, context);
                    self.take_constant_slots(&ring.op, context);
                }
                _ => {}
            }
        }
    }

    /// The depth of a pipe whose slots lie in a reservation of this memory.
    fn take_depth(&mut self, init: &OpRef<'_>, context: &PassContext<'_>) {
        let Some(spec) = pipe(init, context.platform) else { return };
        for direction in [Direction::C2V, Direction::V2C] {
            if let Some(SlotBase::In { reservation, .. }) = slots_of(init, direction)
                && slot_space(direction) == self.space
            {
                self.depths.push(Depth { reservation, slots: spec.local_slots(), slot_bytes: spec.slot_bytes });
            }
        }
    }

    /// Slots at an address that the text gives as a constant.
    fn take_constant_slots(&mut self, init: &OpRef<'_>, context: &PassContext<'_>) {
        let Some(spec) = pipe(init, context.platform) else { return };
        // Only a pipe value has its landing area at a constant address: elsewhere such a buffer is unused.
        if spec.config.control || (spec.in_gm && self.module.op(init.id).results.is_empty()) {
            return;
        }
        for direction in [Direction::C2V, Direction::V2C] {
            if slot_space(direction) == self.space
                && consumes(init, direction)
                && spec.has(direction)
                && let Some(SlotBase::At(base)) = slots_of(init, direction)
                && let Ok(base) = u64::try_from(base)
            {
                self.fix(base, ring_bytes(init, context.platform), true, init.id);
            }
        }
    }

    fn fix(&mut self, start: u64, bytes: u64, ring: bool, op: OpId) {
        let range = start..start.saturating_add(bytes);
        self.fixed.push(Fixed { range, ring, op });
    }

    fn take_roots(
        &mut self,
        context: &PassContext<'_>,
        functions: &Functions,
        group: &[OpId],
        roots: &Roots,
        lives: &[Vec<Live>],
        diags: &mut Diags,
    ) {
        let rings = self.requests.len();
        for (id, root) in roots.roots.iter().enumerate() {
            let Some(op) = root.op.filter(|_| root.space == self.space) else { continue };
            if !home(self.module, root.value).is_some_and(|f| group.contains(&f)) {
                continue;
            }
            let lands = root.kind == RootKind::Popped && needs_landing(self.module, context, functions, op);
            if root.kind == RootKind::Unknown || (root.kind == RootKind::Popped && !lands) {
                continue;
            }
            let Some(bytes) = root.bytes else {
                diags.push(
                    Diagnostic::error("open-shape", self.module.op(op).span, "the size of this buffer is not known")
                        .help("give it a constant shape"),
                );
                continue;
            };
            match root.address {
                Address::At(start) => self.fix(start, bytes, false, op),
                Address::Computed => {}
                Address::Open => {
                    // Tiles come before rings, so that without pressure the first tile lies at 0.
                    let at = self.items.len() - rings;
                    self.items.insert(at, Item::Root(id as RootId));
                    let align = self.spec.align.max(1);
                    self.requests.insert(at, Request { bytes, align, live: lives[id].clone(), always: false });
                }
            }
        }
    }

    /// Reports rings that something else overlaps, and what lies outside the memory.
    fn check_fixed(&self, diags: &mut Diags) {
        for (at, a) in self.fixed.iter().enumerate() {
            if a.range.end > self.spec.bytes {
                diags.push(report::outside(self.module, self.space, self.spec, a));
            }
            for b in &self.fixed[at + 1..] {
                let overlap = a.range.start < b.range.end && b.range.start < a.range.end;
                if overlap && (a.ring || b.ring) && a.op != b.op {
                    diags.push(report::overlap(self.module, self.space, a, b));
                }
            }
        }
    }

    fn place(&self, roots: &Roots, group: &[OpId], decisions: &mut Vec<Decision>, diags: &mut Diags) {
        let blocked: Vec<Range<u64>> = self.fixed.iter().map(|f| f.range.clone()).collect();
        match pack(&self.requests, self.spec.usable(), &blocked) {
            Ok(placed) => {
                if placed.shared
                    && let Some(op) = manual_sync(self.module, group)
                {
                    diags.push(report::shared_by_hand(self.module, self.space, op));
                }
                let each = self.items.iter().zip(placed.addresses);
                decisions.extend(each.map(|(item, address)| Decision { item: *item, address }));
            }
            Err(overflow) => diags.push(self.full(roots, &overflow)),
        }
    }
}

/// True if a popped tile needs bytes of its own: slots lie in global memory, and the pipe reserves no landing area.
fn needs_landing(module: &Module, context: &PassContext<'_>, functions: &Functions, pop: OpId) -> bool {
    let Some(op) = op_ref(module, pop) else { return false };
    let Some(RingPart::Pop(direction)) = op.ring() else { return false };
    let key = pipe_key(&op);
    let rings = ring_ops(module, functions);
    let inits = rings.iter().filter(|r| r.part == RingPart::Initialize && r.pipe() == key);
    let mut own = inits.filter(|r| consumes(&r.op, direction)).peekable();
    let in_gm = own.peek().and_then(|r| pipe(&r.op, context.platform)).map_or(context.platform.ring.in_gm, |s| s.in_gm);
    let lands = |r: &RingOp<'_>| match slots_of(&r.op, direction) {
        Some(SlotBase::In { .. }) => true,
        Some(_) => !module.op(r.op.id).results.is_empty(),
        None => false,
    };
    in_gm && !own.any(lands)
}

/// An op by which a group of functions synchronises its pipes by hand.
fn manual_sync(module: &Module, group: &[OpId]) -> Option<OpId> {
    let mut bodies = group.iter().filter_map(|f| module.body(*f, 0));
    bodies.find_map(|body| module.walk(body).into_iter().find(|op| syncs_by_hand(module, *op)))
}
