//! `allocate`: assigns addresses to everything in local memory.
//!
//! For each memory of a core: reserved rings and tiles with explicit addresses stay where they are; everything else is
//! placed around them, side by side while that fits, sharing bytes over time where it must. Two buffers share bytes
//! only if their lifetimes do not even touch, so an op never writes what it reads in the same step. The exception:
//! where a memory would be too small, the result of an elementwise op may take the place of a source whose lifetime
//! ends there, unless its declaration keeps the two apart.

mod apart;
mod beside;
pub mod check;
mod map;
mod overwritten;
mod report;

use slipring_ir::{Diags, Module, OpId, Type};
use slipring_mlir::arith;
use slipring_op::OpDef;
use slipring_op::ring::set_reserved_base;
use slipring_tile::Space;

use self::beside::Beside;
use crate::analysis::facts::{Functions, syncs_by_hand};
use crate::analysis::rings::{ring_ops, write_imports};
use crate::analysis::roots::Roots;
use crate::context::{Pass, PassContext};
use crate::memory::allocate::beside::Decision;
use crate::memory::layout::{Depth, Fixed, Item, Memory, groups};
use crate::memory::lifetime::lifetimes;

pub use apart::apart;
pub use map::{MapBuffer, MemoryMap, memory_maps};
pub use overwritten::overwritten;

/// The pass.
pub const PASS: Pass =
    Pass { name: "allocate", summary: "Give tiles and rings in local memory their addresses", run: allocate };

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
            Item::Ring(op) => set_reserved_base(module, op, decision.address),
            Item::Root(root) => write_address(module, roots.root(root).op, decision.address),
        }
    }
    write_imports(module, &functions);
}

/// Writes an address into the op that declares a buffer.
fn write_address(module: &mut Module, op: Option<OpId>, address: u64) {
    let Some((op, def)) = op.and_then(|op| Some((op, OpDef::of(module, op)?))) else { return };
    def.set_address(module, op, address, |module| {
        let span = module.op(op).span;
        let constant = arith::constant(module, address as i64, Type::I64, span);
        module.insert_before(op, constant);
        module.op(constant).results[0]
    });
}

fn decide(
    module: &Module,
    context: &PassContext<'_>,
    functions: &Functions,
    roots: &Roots,
    diags: &mut Diags,
) -> Vec<Decision> {
    let mut lives = lifetimes(module, functions, roots, context.platform);
    let beside = Beside::of(module, functions, roots, &mut lives);
    let rings = ring_ops(module, functions);
    let mut decisions = Vec::new();
    for group in groups(module, functions) {
        for (name, spec) in &context.platform.space {
            let Some(space) = Space::parse(name).filter(|space| !space.is_scale()) else { continue };
            let mut memory = Memory::new(module, space, spec);
            memory.keep_reserved(context, &group);
            memory.take_rings(context, &rings, &group);
            memory.take_roots(context, functions, &group, roots, &lives, diags);
            memory.check_fixed(diags);
            memory.place(context, roots, &group, &mut decisions, diags);
        }
        beside.place(module, &group, roots, &lives, &mut decisions, diags);
    }
    decisions
}

impl Memory<'_> {
    /// Reports rings that overlap something else, and anything outside the memory.
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

    fn place(
        &self,
        context: &PassContext<'_>,
        roots: &Roots,
        group: &[OpId],
        decisions: &mut Vec<Decision>,
        diags: &mut Diags,
    ) {
        match self.packed(context.platform, roots, group) {
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

/// An op by which a group of functions synchronises its pipes manually.
fn manual_sync(module: &Module, group: &[OpId]) -> Option<OpId> {
    let mut bodies = group.iter().filter_map(|f| module.body(*f, 0));
    bodies.find_map(|body| module.walk(body).into_iter().find(|op| syncs_by_hand(module, *op)))
}
