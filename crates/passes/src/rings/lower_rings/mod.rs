//! `lower-rings`: expands pushes, pops and frees into explicit ops: waits, moves, signals.
//!
//! Runs only on request: `slipring opt FILE --stop-after lower-rings` after all others, `--pass lower-rings` alone.
//!
//! | op | replacement |
//! |---|---|
//! | initialise | the consumer signals every slot as free; the tags begin at 0 |
//! | push | wait for a free slot, move the tile into it, signal it as ready |
//! | pop | wait for a ready slot; use the tile at its address, or load it from global memory |
//! | free | signal the slot as free |
//!
//! Signals are semaphores with the ids of the ring's flags (`pto.sync.set`, `pto.sync.wait`). For an op directly in the
//! body of its function the slot is a constant; elsewhere a tag counts it, in an array of one element. Addresses stay
//! symbolic: a sum that starts from the reservation or the import, or from the pointer to the slots in global memory.
//! Text that both Vector cores ran before is still run by both: `dual_aiv_dispatch` marks it. At the end of its
//! function the producer consumes the free signals, so that every set has its wait. On A2/A3 the text then needs
//! `pto.set_ffts`, which a warning states.
//!
//! The expanded text behaves the same: it gives the same bytes, and findings where there were some. Information that
//! only a ring has is lost: that a tile is used after its slot was freed, that a tile was never popped, that a lane's
//! tile was lost (a semaphore counts to 15, and knows no slot). Check such properties on the rings.
//!
//! The pipes of a kernel are expanded together or not at all, since they share the flags. A note (`ring-stays`) names
//! what is not expanded: control pipes, fixpipe operations in transit, free signals for several tiles, switched phases,
//! rows that become blocks in L1, pipes to one of two running Vector cores, partially valid tiles that cross in parts,
//! pipes of functions that are called several times.

mod decide;
mod tags;
mod work;
mod write;
use slipring_ir::{Diagnostic, Diags, Module, OpId, Severity};
use slipring_op::ring::RingPlan;
use slipring_op::{Decoding, Kernel, kernels, select_kernel};

use crate::context::{Pass, PassContext};
use crate::rings::lower_rings::work::Stays;

/// The pass.
pub const PASS: Pass =
    Pass { name: "lower-rings", summary: "Write pushes, pops and frees out as waits, moves and signals", run };

fn run(module: &mut Module, context: &PassContext<'_>, diags: &mut Diags) {
    let all: Vec<Kernel> = match select_kernel(module, None, &mut Diags::default()) {
        Some(kernel) => vec![kernel],
        None => kernels(module).into_iter().map(|(_, kernel)| kernel).collect(),
    };
    for (at, kernel) in all.iter().enumerate() {
        if let Some(function) = kernel.start[0].filter(|_| kernel.mixed) {
            let why = "it is for the whole cluster, and has pipes once the passes before this one have divided it";
            diags.push(stays(module, kernel, function, why));
            continue;
        }
        let mut found = Diags::default();
        let plan = RingPlan::new(module, kernel, context.platform, Decoding::Device, &mut found);
        diags.list.extend(found.list.into_iter().filter(|d| d.severity == Severity::Error));
        let Ok(plan) = plan else { continue };
        if plan.rings.is_empty() {
            continue;
        }
        let others: Vec<&Kernel> = all.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, k)| k).collect();
        match decide::decide(module, kernel, &others, &plan) {
            Ok(work) => write::write(module, kernel, &work, context.platform),
            Err(Stays { op, why }) => {
                let note = stays(module, kernel, op, &why);
                diags.push(note);
            }
        }
    }
}

fn stays(module: &Module, kernel: &Kernel, op: OpId, why: &str) -> Diagnostic {
    let message = format!("the pipes of `{}` are not written out: {why}", kernel.name);
    let note = Diagnostic::warning("ring-stays", module.op(op).span, message);
    Diagnostic { severity: Severity::Note, ..note }
}
