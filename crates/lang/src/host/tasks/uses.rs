//! Accesses of a compiled kernel to its parameters, from the declarations of its ops.

use slipring_ir::{Module, OpId, ValueDef, ValueId};
use slipring_op::OpRef;
use slipring_tasks::Direction;

/// How a function accesses each of its arguments; `None` if it does not.
pub(crate) fn used(module: &Module, function: OpId) -> Vec<Option<Direction>> {
    let Some(body) = module.body(function, 0) else { return Vec::new() };
    let mut found = vec![(false, false); module.block(body).args.len()];
    for id in module.walk(body) {
        let Some(op) = OpRef::of(module, id) else { continue };
        for (at, spec) in op.def.schema.operands.iter().enumerate() {
            let (reads, writes) = (spec.touch.reads(), spec.touch.writes());
            if !reads && !writes {
                continue;
            }
            for value in op.operands(at) {
                if let Some(arg) = argument(module, *value, body, 0)
                    && let Some(slot) = found.get_mut(arg)
                {
                    slot.0 |= reads || (writes && op.update().is_some());
                    slot.1 |= writes;
                }
            }
        }
    }
    let direction = |(reads, writes): (bool, bool)| match (reads, writes) {
        (false, false) => None,
        (true, false) => Some(Direction::In),
        (false, true) => Some(Direction::Out),
        (true, true) => Some(Direction::InOut),
    };
    found.into_iter().map(direction).collect()
}

/// The argument of the function that a pointer or view originates from.
fn argument(module: &Module, value: ValueId, body: slipring_ir::BlockId, depth: usize) -> Option<usize> {
    const MOST_DEPTH: usize = 64;
    match module.value(value).def {
        _ if depth > MOST_DEPTH => None,
        ValueDef::Arg(block, at) => (block == body).then_some(usize::from(at)),
        ValueDef::Result(op, _) => argument(module, *module.op(op).operands.first()?, body, depth + 1),
    }
}
