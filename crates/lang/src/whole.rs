//! Final checks of lowered functions: the result is either a valid module, or an error with the reason.

use slipring_op::ring::import_peer;
use std::collections::BTreeSet;

use slipring_ir::{BlockId, Diagnostic, Diags, Module, OpId, Span, ValueId};

/// Reports a function whose lowering stopped without an error.
pub(crate) fn given_up(name: &str, span: Span, diags: &mut Diags) {
    if !diags.has_errors() {
        let message = format!("`{name}` could not be compiled, for an unknown reason");
        diags
            .push(Diagnostic::error("internal", span, message).help("this is a mistake of slipring: please report it"));
    }
}

/// Reports values that are used where they are not defined: a number of a loop, branch or region after it.
pub(crate) fn check_values(module: &Module, function: OpId, diags: &mut Diags) {
    if diags.has_errors() {
        return;
    }
    let mut visible = BTreeSet::new();
    if let Some(op) = regions(module, function, &mut visible) {
        let span = module.op(op).span;
        let error = Diagnostic::error(
            "value-scope",
            span,
            "a value is used here that exists inside a loop, branch or region only",
        )
        .note("a name may refer to a window or tile made with it")
        .help("compute it again where it is used; that nothing reported it earlier is a bug in slipring");
        diags.push(error);
    }
}

/// The first op in the regions of an op that uses a value which is not visible there.
fn regions(module: &Module, op: OpId, visible: &mut BTreeSet<ValueId>) -> Option<OpId> {
    let blocks: Vec<BlockId> =
        module.op(op).regions.iter().flat_map(|region| module.region(*region).blocks.iter().copied()).collect();
    blocks.into_iter().find_map(|block| {
        let mut here: Vec<ValueId> = module.block(block).args.to_vec();
        visible.extend(here.iter().copied());
        let mut found = None;
        for inner in &module.block(block).ops {
            if module.op(*inner).operands.iter().any(|value| !visible.contains(value)) {
                found = Some(*inner);
                break;
            }
            found = regions(module, *inner, visible);
            if found.is_some() {
                break;
            }
            here.extend(module.op(*inner).results.iter().copied());
            visible.extend(module.op(*inner).results.iter().copied());
        }
        for value in here {
            visible.remove(&value);
        }
        found
    })
}

/// True if a function imports another one's buffer.
pub(crate) fn imports_from(module: &Module, function: OpId, peer: &str) -> bool {
    let Some(body) = module.body(function, 0) else { return false };
    let names = |op: &OpId| import_peer(module, *op) == Some(peer);
    module.walk(body).iter().any(names)
}
