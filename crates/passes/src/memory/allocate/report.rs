//! Diagnostics of `allocate` when things do not fit.

use slipring_ir::{Diagnostic, Module, OpId};
use slipring_machine::SpaceSpec;
use slipring_op::RingPart;
use slipring_op::ring::reserved_name;
use slipring_op::{OpDef, OpRef};
use slipring_tile::Space;

use super::{Depth, Fixed, Item, Memory};
use crate::analysis::roots::Roots;
use crate::memory::pack::{Overflow, pack};

/// The suffix of the names of reservations made by the compiler.
const GENERATED: &str = "_slot_buffer";

/// Maximum number of buffers listed in a message.
const LISTED: usize = 12;

/// Something at an address beyond the end of its memory.
pub(super) fn outside(module: &Module, space: Space, spec: &SpaceSpec, fixed: &Fixed) -> Diagnostic {
    let (start, end) = (fixed.range.start, fixed.range.end);
    let code = if fixed.ring { "ring-outside" } else { "tile-outside" };
    Diagnostic::error(
        code,
        module.op(fixed.op).span,
        format!("bytes [{start}, {end}) lie outside `{space}`, which has {}", spec.bytes),
    )
}

/// A ring that overlaps something else.
pub(super) fn overlap(module: &Module, space: Space, a: &Fixed, b: &Fixed) -> Diagnostic {
    let (ring, other) = if a.ring { (a, b) } else { (b, a) };
    let show = |f: &Fixed| format!("[{}, {})", f.range.start, f.range.end);
    let what = if other.ring { "two rings overlap" } else { "a tile lies in a reserved ring" };
    Diagnostic::error(
        "ring-overlap",
        module.op(other.op).span,
        format!("{what}: {} overlaps with {} in `{space}`", show(other), show(ring)),
    )
    .also(module.op(ring.op).span, "the ring is declared here")
    .help("move one of them, or leave the address to the allocator")
}

/// Buffers share bytes in functions that synchronise by hand.
pub(super) fn shared_by_hand(module: &Module, space: Space, op: OpId) -> Diagnostic {
    let message = format!("buffers in `{space}` have to share bytes, and this kernel synchronises its pipes by hand");
    Diagnostic::warning("shared-by-hand", module.op(op).span, message)
        .label("manual flags do not cover shared bytes")
        .help("give the tiles addresses yourself, use fewer bytes, or leave the flags to the compiler")
}

impl Depth {
    /// Bytes of the ring with at most this many slots.
    fn bytes(&self, slots: u32) -> u64 {
        u64::from(slots.min(self.slots)) * u64::from(self.slot_bytes)
    }
}

impl Memory<'_> {
    /// The memory is full: what fills it, and what could be reduced.
    pub(super) fn full(&self, roots: &Roots, overflow: &Overflow) -> Diagnostic {
        let fixed: u64 = self.fixed.iter().map(|f| f.range.end - f.range.start).sum();
        let needed = overflow.peak + fixed;
        let space = self.space;
        let mut lines: Vec<(u64, OpId, String)> = self
            .fixed
            .iter()
            .map(|f| {
                let size = f.range.end - f.range.start;
                (size, f.op, format!("{} at address {}", self.name(f.op), f.range.start))
            })
            .collect();
        for &at in &overflow.alive {
            let op = match self.items[at] {
                Item::Ring(op) => Some(op),
                Item::Root(root) => roots.root(root).op,
            };
            lines.extend(op.map(|op| (self.requests[at].bytes, op, self.name(op))));
        }
        lines.sort_by_key(|(bytes, op, _)| (std::cmp::Reverse(*bytes), *op));
        let place = lines.first().map_or(Default::default(), |(_, op, _)| self.module.op(*op).span);
        let message = if needed > self.usable {
            let capacity =
                if self.usable < self.spec.bytes { self.spec.capacity() } else { self.spec.bytes.to_string() };
            format!("`{space}` is too small: {needed} bytes are in use at the same time, it has {capacity}")
        } else {
            let usable = self.usable;
            format!("`{space}` is too small: its {usable} bytes are cut into pieces that are too short")
        };
        let mut error = Diagnostic::error("memory-full", place, message).label("the largest part");
        for (bytes, op, what) in lines.iter().take(LISTED) {
            let line = self.module.source.line(self.module.op(*op).span.start);
            error = error.note(format!("{bytes:>8} bytes: {what}, line {line}"));
        }
        if lines.len() > LISTED {
            let rest: u64 = lines[LISTED..].iter().map(|(bytes, ..)| bytes).sum();
            error = error.note(format!("{rest:>8} bytes: {} more", lines.len() - LISTED));
        }
        let rings: u64 = lines.iter().filter(|(_, op, _)| self.is_ring(*op)).map(|(bytes, ..)| bytes).sum();
        if rings == 0 {
            return error.help("use smaller tiles, or declare a tile inside the loop that uses it");
        }
        let error = error.note(format!("rings take {rings} of these bytes"));
        let deepest = self.depths.iter().map(|depth| depth.slots).max();
        let fitting = deepest.and_then(|slots| (1..slots).rev().find(|slots| self.fits_with(*slots)));
        error.help(self.knob(deepest, fitting))
    }

    /// How to make the rings smaller, and by how much.
    fn knob(&self, deepest: Option<u32>, fitting: Option<u32>) -> String {
        let generated = self.depths.iter().any(|depth| self.is_generated(depth.reservation));
        let Some(deepest) = deepest else {
            return "lower `slot_num` at both ends of the pipe, or push smaller tiles".to_string();
        };
        let Some(slots) = fitting else {
            let of = if deepest > 1 { format!("not even one slot instead of {deepest} fits: ") } else { String::new() };
            return format!("{of}let smaller tiles cross between the kinds of core, or use smaller tiles here");
        };
        if generated {
            return format!(
                "lower the depth of the ring from {deepest} to {slots}: `optimizations=[pl.cross_core_slot(slot_num={slots})]` \
                 (`slot_num = {slots}` of the function), or let smaller tiles cross"
            );
        }
        let bytes = self.depths.iter().find(|depth| depth.slots == deepest).map_or(0, |depth| depth.bytes(slots));
        format!(
            "`slot_num = {slots}` instead of {deepest} at both ends of the pipe fits, with a buffer of {bytes} bytes; or push \
             smaller tiles"
        )
    }

    /// True if everything fits when rings have at most this many slots.
    fn fits_with(&self, slots: u32) -> bool {
        let depth = |op: OpId| self.depths.iter().find(|depth| depth.reservation == op);
        let smaller = |op: OpId, bytes: u64| depth(op).map_or(bytes, |depth| bytes.min(depth.bytes(slots)));
        let mut requests = self.requests.clone();
        for (item, request) in self.items.iter().zip(&mut requests) {
            if let Item::Ring(op) = item {
                request.bytes = smaller(*op, request.bytes);
            }
        }
        let taken = |f: &Fixed| f.range.start..f.range.start + smaller(f.op, f.range.end - f.range.start);
        let blocked: Vec<_> = self.fixed.iter().map(taken).collect();
        pack(&requests, self.usable, &blocked).is_ok()
    }

    /// True for a ring that the compiler made: its depth is an option of the kernel.
    fn is_generated(&self, reservation: OpId) -> bool {
        let op = OpRef::of(self.module, reservation);
        op.and_then(|op| reserved_name(&op)).is_some_and(|name| name.ends_with(GENERATED))
    }

    fn is_ring(&self, op: OpId) -> bool {
        OpDef::of(self.module, op).is_some_and(|def| def.ring.is_some_and(RingPart::reserves))
            || self.fixed.iter().any(|f| f.op == op && f.ring)
    }

    /// The name of an op's declared object in messages.
    fn name(&self, op: OpId) -> String {
        let data = self.module.op(op);
        let ring = OpRef::of(self.module, op).filter(|_| self.is_ring(op));
        if let Some(name) = ring.and_then(|ring| reserved_name(&ring)) {
            return format!("ring `{name}`");
        }
        match data.results.first() {
            Some(value) => format!("`{}` of type `{}`", self.module.value_name(*value), self.module.ty(*value)),
            None => "slots of a ring".to_string(),
        }
    }
}
