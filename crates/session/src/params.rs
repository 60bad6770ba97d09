//! Special roles of kernel parameters: sums, slots of rings.

use slipring_ir::{Module, OpId, ValueDef, ValueId};
use slipring_op::ring::gm_buffer;
use slipring_op::{Kernel, OpRef, RingPart};
use slipring_program::{Special, UpdateKind};

/// Parameters whose buffers are targets of atomic additions.
pub(crate) fn summed_params(module: &Module, kernel: &Kernel) -> Vec<usize> {
    let mut found = Vec::new();
    for id in module.walk(module.top) {
        let Some(op) = OpRef::of(module, id) else { continue };
        if op.update() != Some(UpdateKind::Add) {
            continue;
        }
        for value in op.written() {
            trace(module, kernel, value, 0, &mut found);
        }
    }
    found
}

/// Parameters used only as slots of rings in global memory.
pub(crate) fn slot_params(module: &Module, kernel: &Kernel) -> Vec<usize> {
    let mut found = Vec::new();
    for id in module.walk(module.top) {
        let Some(op) = OpRef::of(module, id) else { continue };
        if op.def.ring.is_some_and(RingPart::makes_end)
            && let Some(slots) = gm_buffer(&op)
        {
            trace(module, kernel, slots, 0, &mut found);
        }
    }
    found
}

/// Follows a pointer back to kernel parameters: through pointer arithmetic and calls.
fn trace(module: &Module, kernel: &Kernel, value: ValueId, depth: usize, found: &mut Vec<usize>) {
    if depth > 64 {
        return;
    }
    match module.value(value).def {
        ValueDef::Result(op, _) => {
            if let Some(first) = module.op(op).operands.first() {
                trace(module, kernel, *first, depth + 1, found);
            }
        }
        ValueDef::Arg(block, at) => {
            let Some(function) = module.block_parent(block) else { return };
            for (start, args) in kernel.start.iter().zip(&kernel.args) {
                if *start == Some(function)
                    && let Some(Special::Param(param)) = args.get(usize::from(at))
                {
                    found.push(*param as usize);
                }
            }
            for call in calls_of(module, function) {
                if let Some(arg) = module.op(call).operands.get(usize::from(at)) {
                    trace(module, kernel, *arg, depth + 1, found);
                }
            }
        }
    }
}

fn calls_of(module: &Module, function: OpId) -> Vec<OpId> {
    let name = module.symbol_name(function).unwrap_or("");
    let calls = |op: &OpId| module.callee_name(*op) == Some(name);
    module.walk(module.top).into_iter().filter(calls).collect()
}
