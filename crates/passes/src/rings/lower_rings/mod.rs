//! `lower-rings`: what pushes, pops and frees do, as ops of their own: waits, moves, signals.
//!
//! Runs where it is asked for only: `slipring opt FILE --stop-after lower-rings` after all others, `--pass lower-rings` alone.
//!
//! | op | what stands in its place |
//! |---|---|
//! | initialise | the consumer signals every slot free; the tags begin at 0 |
//! | push | wait for a free slot, move the tile into it, signal it ready |
//! | pop | wait for a ready slot; the tile at its address, or a load out of global memory |
//! | free | signal the slot free |
//!
//! Signals are semaphores with the ids that the ring's flags have (`pto.sync.set`, `pto.sync.wait`). The slot of an op that
//! stands in the body of its function is a number. Elsewhere a tag counts, in an array of one element. Addresses stay
//! symbolic: a sum of what the reservation or the import gives, or of the pointer to the slots in global memory.
//! Both Vector cores run the text that both ran before: `dual_aiv_dispatch` says so. At the end of its function the producer takes
//! the free signals back, so that every set has its wait. On A2/A3 the text then needs `pto.set_ffts`, as a warning says.
//!
//! What is written out does the same: the same bytes, and findings where there were some. What a ring alone knows is gone: that a
//! tile is used after its slot was freed, that a tile was never popped, that a lane's tile was lost (a semaphore counts to 15,
//! and knows no slot). Check such things on the rings.
//!
//! The pipes of a kernel are written out together or not at all, since they share the flags. A note (`ring-stays`) names
//! what is not written out: control pipes, the fixpipe's work on the way, free signals for several tiles, switched
//! phases, rows that become blocks in L1, pipes to one Vector core of two that run, tiles in parts of which not all is valid,
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
