//! `place-frees`: inserts the frees of automatically freeing pipes whose popped tile is its slot.
//!
//! A pop from global memory has copied the tile and frees the slot at once. On chip the tile is the slot: the slot is
//! free after the last use of the tile (seed 000, Compiler Toolchain Implications, 7), and that is where this pass
//! inserts an op that frees it. Frees are in the order of the pops, since a free releases the oldest slot. A tile whose
//! last use cannot be determined is an error: such a pipe needs explicit frees.

use std::collections::BTreeSet;

use slipring_ir::{BlockId, Diagnostic, Diags, Module, OpId, Severity, ValueId};
use slipring_op::make::is_placed as is_placed_op;
use slipring_op::ring::{PipeKey, own_end, pipe_key, ring_tile};
use slipring_op::{OpRef, RingPart};
use slipring_pto as pto;

use crate::analysis::facts::Functions;
use crate::analysis::last_use::{uses, with_inner};
use crate::analysis::rings::pipe;
use crate::context::{Pass, PassContext};

/// The pass.
pub const PASS: Pass = Pass {
    name: "place-frees",
    summary: "Free popped slots after their last use, in pipes that free by themselves",
    run,
};

/// A pop that needs a free after it.
#[derive(Clone, Copy, Debug)]
struct Pop {
    op: OpId,
    key: PipeKey,
    tile: ValueId,
    /// Position in its block.
    at: usize,
    /// The passes created its pipe: the text does not state that the instruction frees.
    made: bool,
    /// Landing slots of a pop that copies its tile there.
    places: Option<usize>,
}

fn run(module: &mut Module, context: &PassContext<'_>, diags: &mut Diags) {
    let functions = Functions::of(module);
    let mut frees: Vec<(OpId, OpId)> = Vec::new();
    for (_, body) in functions.with_bodies(module) {
        let mut blocks = vec![body];
        while let Some(block) = blocks.pop() {
            place(module, block, context, &mut frees, diags);
            let regions = module.block(block).ops.iter().flat_map(|op| module.op(*op).regions.iter());
            blocks.extend(regions.flat_map(|region| module.region(*region).blocks.iter()).copied());
        }
    }
    // In reverse order: several frees after one op then are in the order of their pops.
    for (pop, anchor) in frees.into_iter().rev() {
        if let Some(free) = pto::placed_free_after(module, pop) {
            module.insert_after(anchor, free);
        }
    }
}

/// Finds for each pop of a block the op after which it is freed.
fn place(module: &Module, block: BlockId, context: &PassContext<'_>, frees: &mut Vec<(OpId, OpId)>, diags: &mut Diags) {
    let pops = pops(module, block, context);
    landing(module, block, &pops, diags);
    let pops: Vec<Pop> = pops.into_iter().filter(|pop| pop.places.is_none()).collect();
    let keys: BTreeSet<PipeKey> = pops.iter().map(|pop| pop.key).collect();
    for key in keys {
        let own: Vec<Pop> = pops.iter().copied().filter(|pop| pop.key == key).collect();
        if is_placed(module, block, key) {
            continue;
        }
        let mut behind = 0;
        let mut said = false;
        for pop in &own {
            let next = own.iter().find(|other| other.at > pop.at && other.tile == pop.tile);
            match last_use(module, block, pop, next.map(|other| other.at)) {
                Ok(last) => {
                    behind = behind.max(last);
                    if let Some(inner) = pops_inside(module, block, key, pop.at..behind + 1) {
                        diags.push(unclear(
                            module,
                            pop,
                            inner,
                            "the same pipe is popped here while the tile is in use",
                        ));
                        return;
                    }
                    let anchor = module.block(block).ops[behind];
                    if behind > pop.at && !pop.made && !std::mem::replace(&mut said, true) {
                        diags.push(moved(module, pop, anchor));
                    }
                    frees.push((pop.op, anchor));
                }
                Err(culprit) => {
                    return diags.push(unclear(
                        module,
                        pop,
                        culprit,
                        "used here, not in the code that follows the pop",
                    ));
                }
            }
        }
    }
}

/// Reports that the instruction itself frees earlier than the code that is run here.
fn moved(module: &Module, pop: &Pop, anchor: OpId) -> Diagnostic {
    let message = "the free of this pop comes after the last use of its tile; the instruction itself frees in its last phase (seed \
                   003), where the producer may overwrite the tile in use";
    let note = Diagnostic::warning("free-moved", module.op(pop.op).span, message);
    let note = note.also(module.op(anchor).span, "freed after this");
    let help = "say so in the file: `auto_free = false`, and a `pto.tfree` after the last use";
    Diagnostic { severity: Severity::Note, ..note.help(help) }
}

/// Reports tiles that exceed the local slots while in use at the same time: the last would overwrite the first.
fn landing(module: &Module, block: BlockId, pops: &[Pop], diags: &mut Diags) {
    for (index, pop) in pops.iter().enumerate() {
        let Some(places) = pop.places else { continue };
        // Tiles popped into the same value are lost with the next pop.
        let in_use = |earlier: &&Pop| {
            let other = earlier.key == pop.key && earlier.tile != pop.tile;
            other && last_use(module, block, earlier, None).is_ok_and(|last| last >= pop.at)
        };
        let held: Vec<&Pop> = pops[..index].iter().filter(in_use).collect();
        if held.len() >= places {
            let count = held.len() + 1;
            let message = format!("{count} tiles of the pipe are in use here, and it has {places} local slots");
            let error = Diagnostic::error("landing-full", module.op(pop.op).span, message);
            let first = module.op(held[0].op).span;
            diags.push(
                error
                    .also(first, "this tile would be overwritten")
                    .help("more local slots, or use a tile before the next pop"),
            );
            return;
        }
    }
}

/// The pops of a block, in order, for pipes that free automatically.
fn pops(module: &Module, block: BlockId, context: &PassContext<'_>) -> Vec<Pop> {
    let ops = module.block(block).ops.iter().enumerate();
    let found = ops.filter_map(|(at, &id)| {
        let op = OpRef::of(module, id).filter(|op| op.def.ring.is_some())?;
        op.ring().and_then(RingPart::pops)?;
        let end = own_end(&op)?;
        let spec = pipe(&end, context.platform)?;
        let made = pto::is_made(&end);
        let places = spec.pop_copies().then(|| spec.local_slots() as usize);
        let tile = ring_tile(&op)?;
        spec.config.auto_free.then_some(Pop { op: id, key: spec.key, tile, at, made, places })
    });
    found.collect()
}

/// True if the frees of a pipe are in the block: the pass has already run.
fn is_placed(module: &Module, block: BlockId, key: PipeKey) -> bool {
    module
        .block(block)
        .ops
        .iter()
        .any(|id| is_placed_op(module, *id) && OpRef::of(module, *id).is_some_and(|op| pipe_key(&op) == Some(key)))
}

/// Position in the block of the last op that uses a popped tile or something derived from it, before position `end`,
/// where its tile is popped into again.
///
/// # Errors
/// A use that is not among the ops that follow the pop in its block.
fn last_use(module: &Module, block: BlockId, pop: &Pop, end: Option<usize>) -> Result<usize, OpId> {
    let end = end.unwrap_or(module.block(block).ops.len());
    let found = uses(module, block, pop.tile, pop.at + 1..end)?;
    match stray(module, pop, &found.names) {
        Some(op) => Err(op),
        None => Ok(found.last),
    }
}

/// A use of a popped tile that follows no pop into it in an enclosing block.
fn stray(module: &Module, pop: &Pop, names: &BTreeSet<ValueId>) -> Option<OpId> {
    let covered = |op: OpId| {
        let mut at = op;
        loop {
            let Some((block, position)) = module.position(at) else { return false };
            let before = &module.block(block).ops[..=position];
            let pops_it =
                |id: &OpId| OpRef::of(module, *id).is_some_and(|o| is_pop(&o) && ring_tile(&o) == Some(pop.tile));
            if before.iter().any(pops_it) {
                return true;
            }
            match module.block_parent(block) {
                Some(outer) => at = outer,
                None => return false,
            }
        }
    };
    let top = module.walk(module.top);
    top.into_iter().find(|op| module.op(*op).operands.iter().any(|v| names.contains(v)) && !covered(*op))
}

fn is_pop(op: &OpRef<'_>) -> bool {
    op.def.ring.is_some_and(RingPart::takes_tile)
}

/// A pop of the same pipe in the regions of the ops of a range.
fn pops_inside(module: &Module, block: BlockId, key: PipeKey, range: std::ops::Range<usize>) -> Option<OpId> {
    let outer = module.block(block).ops[range].iter();
    let inner = outer.flat_map(|op| with_inner(module, *op).into_iter().skip(1));
    inner.into_iter().find(|id| OpRef::of(module, *id).is_some_and(|op| is_pop(&op) && pipe_key(&op) == Some(key)))
}

fn unclear(module: &Module, pop: &Pop, culprit: OpId, why: &str) -> Diagnostic {
    let message = "the pop frees its slot by itself, and the last use of the tile cannot be determined";
    Diagnostic::error("free-place", module.op(pop.op).span, message)
        .also(module.op(culprit).span, why)
        .help("make the pipe with `auto_free = false` and free the slot after the last use")
}
