//! Consumers of a memory: rings and tiles, of functions that call each other.

use std::ops::Range;

use slipring_ir::{Diagnostic, Diags, Module, OpId, ValueId};
use slipring_machine::SpaceSpec;
use slipring_op::ring::{SlotBase, pipe_key, slot_space};
use slipring_op::{OpRef, RingPart};
use slipring_program::Direction;
use slipring_tile::Space;

use super::lifetime::lifetimes;
use super::pack::{Live, Request};
use crate::analysis::facts::Functions;
use crate::analysis::rings::{RingOp, consumes, pipe, ring_bytes, ring_ops, slots_of};
use crate::analysis::roots::{Address, Root, RootId, RootKind, Roots, home};
use crate::context::PassContext;

/// Alignment of rings in bytes.
pub(super) const RING_ALIGN: u64 = 256;

/// An item that needs bytes of a memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Item {
    Root(RootId),
    /// A reservation.
    Ring(OpId),
}

/// One memory of the cores that run a group of functions.
pub(super) struct Memory<'m> {
    pub(super) module: &'m Module,
    pub(super) space: Space,
    pub(super) spec: &'m SpaceSpec,
    /// Bytes for tiles and rings, from address 0: the whole memory, unless an op of the group uses the reserved part.
    pub(super) usable: u64,
    pub(super) items: Vec<Item>,
    pub(super) requests: Vec<Request>,
    /// Ranges that are already placed.
    pub(super) fixed: Vec<Fixed>,
    /// The depths of the rings in reservations.
    pub(super) depths: Vec<Depth>,
}

/// The depth of a ring in a reservation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Depth {
    /// The reservation.
    pub(super) reservation: OpId,
    pub(super) slots: u32,
    pub(super) slot_bytes: u32,
}

/// An occupied range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Fixed {
    pub(super) range: Range<u64>,
    /// True for the slots of a ring.
    pub(super) ring: bool,
    /// The op that declares it.
    pub(super) op: OpId,
}

/// The tiles without an address that are in use together where a memory cannot hold all of them, with their sizes,
/// largest first: one list for each group of functions that does not fit.
pub(super) fn crowds(module: &Module, context: &PassContext<'_>, space: Space) -> Vec<Vec<(ValueId, u64)>> {
    let Some(spec) = context.platform.space(space) else { return Vec::new() };
    // Most modules have no tile in the queried memories, and computing the lifetimes of all others is expensive.
    if !(0..module.value_count() as u32).any(|value| module.ty(ValueId(value)).space() == Some(space)) {
        return Vec::new();
    }
    let functions = Functions::of(module);
    let roots = Roots::of(module, &functions);
    let own = || roots.roots.iter().filter(|root| root.space == space);
    let beside = |end: u64, root: &Root| {
        let end = end.saturating_add(root.bytes.unwrap_or(0));
        end.checked_next_multiple_of(spec.align.max(1)).unwrap_or(u64::MAX)
    };
    if own().all(|root| !matches!(root.address, Address::At(_))) && own().fold(0, beside) <= spec.usable() {
        // All of them fit side by side, whatever their lifetimes.
        return Vec::new();
    }
    let lives = lifetimes(module, &functions, &roots, context.platform);
    let mut crowds = Vec::new();
    for group in groups(module, &functions) {
        let mut memory = Memory::new(module, space, spec);
        memory.keep_reserved(context, &group);
        memory.take_roots(context, &functions, &group, &roots, &lives, &mut Diags::default());
        let Err(overflow) = memory.packed(context.platform, &roots, &group) else { continue };
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

/// Groups of functions that call each other; each group in the order of the text.
pub(super) fn groups(module: &Module, functions: &Functions) -> Vec<Vec<OpId>> {
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
    /// An empty memory.
    pub(super) fn new(module: &'m Module, space: Space, spec: &'m SpaceSpec) -> Memory<'m> {
        let (items, requests, fixed, depths) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Memory { module, space, spec, usable: spec.bytes, items, requests, fixed, depths }
    }

    /// Keeps the reserved bytes free if an op of the group needs them.
    pub(super) fn keep_reserved(&mut self, context: &PassContext<'_>, group: &[OpId]) {
        let needs = |op: OpId| OpRef::of(self.module, op).is_some_and(|op| op.in_library_memory(context.platform));
        let mut bodies = group.iter().filter_map(|function| self.module.body(*function, 0));
        if self.spec.reserved > 0 && bodies.any(|body| self.module.walk(body).into_iter().any(needs)) {
            self.usable = self.spec.usable();
        }
    }

    pub(super) fn take_rings(&mut self, context: &PassContext<'_>, rings: &[RingOp<'_>], group: &[OpId]) {
        for ring in rings.iter().filter(|r| group.binary_search(&r.function).is_ok()) {
            match ring.part {
                RingPart::Reserve if ring.space() != self.space => {}
                RingPart::Reserve => match ring.base() {
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
                // Memory of another function, and users of memory that is counted here.
                RingPart::Import | RingPart::Status(..) | RingPart::Scale(_) | RingPart::Handle(_) => {}
                RingPart::Push(_) | RingPart::Pop(_) | RingPart::Free(_) => {}
            }
        }
    }

    /// Records the depth of a pipe whose slots are in a reservation of this memory.
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

    /// Slots at a constant address given in the text.
    fn take_constant_slots(&mut self, init: &OpRef<'_>, context: &PassContext<'_>) {
        let Some(spec) = pipe(init, context.platform) else { return };
        // Only a pipe value has its landing area at a constant address; otherwise such a buffer is unused.
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

    pub(super) fn take_roots(
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
                    // Tiles come before rings, so that without pressure the first tile is at address 0.
                    let at = self.items.len() - rings;
                    self.items.insert(at, Item::Root(id as RootId));
                    let align = self.spec.align.max(1);
                    self.requests.insert(at, Request { bytes, align, live: lives[id].clone(), always: false });
                }
            }
        }
    }
}

/// True if a popped tile needs bytes of its own: slots are in global memory, and the pipe reserves no landing area.
fn needs_landing(module: &Module, context: &PassContext<'_>, functions: &Functions, pop: OpId) -> bool {
    let Some(op) = OpRef::of(module, pop) else { return false };
    let Some(direction) = op.ring().and_then(RingPart::pops) else { return false };
    let key = pipe_key(&op);
    let rings = ring_ops(module, functions);
    let inits = rings.iter().filter(|r| r.part.makes_end() && r.pipe() == key);
    let mut own = inits.filter(|r| consumes(&r.op, direction)).peekable();
    let in_gm = own.peek().and_then(|r| pipe(&r.op, context.platform)).map_or(context.platform.ring.in_gm, |s| s.in_gm);
    let lands = |r: &RingOp<'_>| match slots_of(&r.op, direction) {
        Some(SlotBase::In { .. }) => true,
        Some(_) => !module.op(r.op.id).results.is_empty(),
        None => false,
    };
    in_gm && !own.any(lands)
}
