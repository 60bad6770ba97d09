//! The destination of popped tiles, and when their slots are freed.
//!
//! A popped tile replaces the tile named in the source if all uses of that follow the pop in its block. Otherwise, or
//! if the slot would be held while more tiles of the ring are popped than it has slots, the tile is copied out and the
//! slot freed at once. L1 cannot be copied: there such a tile is an error. The free comes right after the last use.

use std::collections::BTreeMap;

use slipring_ir::{BlockId, Diagnostic, Diags, Module, OpId, ValueId};
use slipring_op::OpRef;
use slipring_op::ring::ring_tile;
use slipring_program::Direction;
use slipring_pto as pto;
use slipring_tile::Space;

use super::project::Popped;
use super::write::move_tile;
use crate::analysis::last_use::{uses, with_inner};

/// A pop in its block.
#[derive(Clone, Copy, Debug)]
struct Pop {
    popped: Popped,
    block: BlockId,
    at: usize,
    /// Position of the last use, if the popped tile can replace the declared one.
    last: Option<usize>,
    direction: Direction,
}

/// Binds, copies and frees the popped tiles of a generated function, whose body is `body`.
pub(super) fn land(module: &mut Module, body: BlockId, popped: &[Popped], slots: i64, diags: &mut Diags) {
    let mut pops: Vec<Pop> = popped.iter().filter_map(|p| place(module, *p)).collect();
    let tiles: Vec<ValueId> = pops.iter().map(|pop| pop.popped.dst).collect();
    for tile in tiles {
        bind(module, body, tile, &mut pops);
    }
    for at in 0..pops.len() {
        if pops[at].last.is_some() && holds_too_long(module, &pops, at, slots) {
            pops[at].last = None;
        }
    }
    if !all_or_none(module, &mut pops, diags) {
        return;
    }
    write(module, &pops);
}

fn place(module: &Module, popped: Popped) -> Option<Pop> {
    let (block, at) = module.position(popped.pop)?;
    let direction = OpRef::of(module, popped.pop)?.def.ring?.pops()?;
    Some(Pop { popped, block, at, last: None, direction })
}

/// Finds the uses of a declared tile, and whether the tiles popped into it can replace it.
fn bind(module: &Module, body: BlockId, tile: ValueId, pops: &mut [Pop]) {
    let own: Vec<usize> = (0..pops.len()).filter(|at| pops[*at].popped.dst == tile).collect();
    let Some(first) = own.first().map(|at| pops[*at]) else { return };
    let declared = module.defining_op(tile).is_some_and(|op| {
        // A view of a larger tile is not a separate tile.
        let operands = &module.op(op).operands;
        !operands.iter().any(|v| module.ty(*v).space().is_some())
    });
    if !declared || own.iter().any(|at| pops[*at].block != first.block || !pops[*at].popped.bindable) {
        return;
    }
    let length = module.block(first.block).ops.len();
    let mut found = Vec::new();
    for (nth, at) in own.iter().enumerate() {
        let end = own.get(nth + 1).map_or(length, |next| pops[*next].at);
        match uses(module, first.block, tile, pops[*at].at + 1..end) {
            Ok(uses) => found.push((*at, end, uses)),
            Err(_) => return,
        }
    }
    // There must be no use of the tile, or of a view of it, anywhere else.
    let inside = |op: OpId, at: usize, end: usize| {
        let ops = &module.block(first.block).ops[pops[at].at..end];
        ops.contains(&op)
            || std::iter::successors(module.parent_op(op), |o| module.parent_op(*o)).any(|o| ops.contains(&o))
    };
    for op in module.walk(body) {
        for value in &module.op(op).operands {
            let mut users = found.iter().filter(|(_, _, uses)| uses.names.contains(value)).peekable();
            if users.peek().is_some() && !users.any(|(at, end, _)| inside(op, *at, *end)) {
                return;
            }
        }
    }
    for (at, _, uses) in found {
        pops[at].last = Some(uses.last);
    }
}

/// True if a tile is in use while other tiles of its ring are popped: in a loop or branch, or as many as there are slots.
fn holds_too_long(module: &Module, pops: &[Pop], at: usize, slots: i64) -> bool {
    let pop = pops[at];
    let Some(last) = pop.last else { return false };
    let same = |other: &&Pop| other.popped.pipe == pop.popped.pipe && other.direction == pop.direction;
    let meanwhile = &module.block(pop.block).ops[pop.at + 1..=last.max(pop.at)];
    let beside = pops.iter().filter(same).filter(|o| meanwhile.contains(&o.popped.pop)).count();
    let inner: Vec<OpId> = meanwhile.iter().flat_map(|op| with_inner(module, *op).into_iter().skip(1)).collect();
    beside as i64 >= slots || pops.iter().filter(same).any(|o| inner.contains(&o.popped.pop))
}

/// The tiles popped into one declared tile are all bound or all copied. Reports tiles in L1 that would have to be
/// copied.
fn all_or_none(module: &Module, pops: &mut [Pop], diags: &mut Diags) -> bool {
    let mut clean = true;
    let copied: Vec<ValueId> = pops.iter().filter(|p| p.last.is_none()).map(|p| p.popped.dst).collect();
    for pop in pops.iter_mut().filter(|p| copied.contains(&p.popped.dst)) {
        pop.last = None;
        let op = module.op(pop.popped.pop);
        if module.ty(pop.popped.dst).space() == Some(Space::Vec) {
            continue;
        }
        clean = false;
        diags.push(
            Diagnostic::error(
                "gather-held",
                op.span,
                "this tile is used later than its slot can be held, and L1 has no way to copy it",
            )
            .also(module.value(pop.popped.dst).span, "the tile")
            .help(
                "use it in the block in which it is gathered and before the ring comes round, raise `slot_num`, or send \
                 it through global memory",
            ),
        );
    }
    clean
}

/// Binds the popped tiles, copies where necessary, and frees.
fn write(module: &mut Module, pops: &[Pop]) {
    let mut copies: BTreeMap<OpId, OpId> = BTreeMap::new();
    let mut anchors = Vec::new();
    for pop in pops {
        // Frees release the oldest slot: none precedes that of an earlier pop.
        let same = |o: &&Pop| (o.block, o.popped.pipe, o.direction) == (pop.block, pop.popped.pipe, pop.direction);
        let earlier = pops.iter().filter(same).filter(|o| o.at <= pop.at);
        let behind = earlier.map(|o| o.last.unwrap_or(o.at)).max().unwrap_or(pop.at);
        anchors.push((pop.popped.pop, module.block(pop.block).ops[behind]));
    }
    let ranges: Vec<Option<(usize, usize)>> = pops.iter().map(|p| p.last.map(|last| (p.at, last))).collect();
    for (pop, range) in pops.iter().zip(&ranges) {
        let Some(tile) = OpRef::of(module, pop.popped.pop).and_then(|op| ring_tile(&op)) else { continue };
        let Some((at, last)) = *range else { continue };
        let ops: Vec<OpId> = module.block(pop.block).ops[at..=last].to_vec();
        for op in ops.into_iter().flat_map(|op| with_inner(module, op)).collect::<Vec<_>>() {
            for operand in &mut module.op_mut(op).operands {
                if *operand == pop.popped.dst {
                    *operand = tile;
                }
            }
        }
    }
    for pop in pops.iter().filter(|p| p.last.is_none()) {
        let Some(tile) = OpRef::of(module, pop.popped.pop).and_then(|op| ring_tile(&op)) else { continue };
        let span = module.op(pop.popped.pop).span;
        let copy = move_tile(module, tile, pop.popped.dst, span);
        module.insert_after(pop.popped.pop, copy);
        copies.insert(pop.popped.pop, copy);
    }
    // In reverse order: several frees after one op then are in the order of their pops.
    for (pop, anchor) in anchors.into_iter().rev() {
        let anchor = copies.get(&anchor).copied().unwrap_or(anchor);
        if let Some(free) = pto::free_after(module, pop) {
            module.insert_after(anchor, free);
        }
    }
}
