//! Branches between blocks as structured control flow: a text may have both, everything after it sees only the latter.
//!
//! | text | becomes |
//! |---|---|
//! | a branch to one of several blocks | an `scf.if`; its arms have the blocks that only they lead to, what comes after both follows it |
//! | arms that lead to different blocks after it | the same, with a number among the results that says which, and an `scf.if` on it |
//! | a loop that only its first block leaves | an `scf.while`, or an `scf.for` where a counter decides |
//! | any other loop with one entry | an `scf.while` whose first region is the whole loop |
//! | `scf.index_switch` | an `scf.if` in the other arm of one |
//!
//! Each op stays one op, at its place in the text. A loop with two entries is refused.

use slipring_ir::{Diagnostic, Diags, Module, OpId, Part, RegionId, Reported};
use slipring_mlir::{cf, scf};

mod choice;
mod emit;
mod exits;
mod graph;
mod loops;

/// Makes the control flow of a module that was read structured. Reports what cannot be.
pub fn structure(module: &mut Module, diags: &mut Diags) {
    // Inner regions first: outer ones then have structured ops only.
    for op in module.walk(module.top).into_iter().rev() {
        for region in module.op(op).regions.clone() {
            if is_structured(module, region) || region_of_blocks(module, op, region, diags).is_err() {
                continue;
            }
        }
        if module.op(op).is(&scf::INDEX_SWITCH.schema) {
            choice::structure(module, op, diags);
        }
    }
}

/// True for a region of one block without branches.
fn is_structured(module: &Module, region: RegionId) -> bool {
    let blocks = &module.region(region).blocks;
    blocks.len() < 2 && blocks.iter().all(|block| module.block(*block).ops.iter().all(|op| !cf::branches(module, *op)))
}

fn region_of_blocks(module: &mut Module, op: OpId, region: RegionId, diags: &mut Diags) -> Result<(), Reported> {
    let data = module.op(op);
    if data.declaration.is_none() {
        // Reported as an unknown op.
        return Err(Reported);
    }
    if module.part(op) != Part::Function && !data.is(&scf::EXECUTE_REGION.schema) {
        let blocks = &module.region(region).blocks;
        let ops = blocks.iter().flat_map(|block| &module.block(*block).ops);
        let first = ops.copied().find(|op| cf::branches(module, *op)).unwrap_or(op);
        let message = format!("a region of `{}` is one block", data.name);
        let error = Diagnostic::error("regions", module.op(first).span, message).also(data.span, "the region's op");
        diags.push(error.help("branch in the function's body, or in a `scf.execute_region`"));
        return Err(Reported);
    }
    let graph = graph::Graph::of(module, region, diags)?;
    emit::Emit::new(module, &graph, diags).region(region)
}
