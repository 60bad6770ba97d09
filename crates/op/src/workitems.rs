//! Bodies of workitems (SIMT): which ops are in one, and which belong there.

use slipring_ir::{Diags, Module, OpId};

use crate::def::{OpDef, OpRef, PipeRule};
use crate::facts::{InCoreSync, Workitems};
use crate::names::SIMT_ENTRY;

/// The most workitems that a body is made for where it does not say (micro-instruction manual of assembler 0.60, 17).
pub const ENVELOPE: u32 = 1024;

/// True for a function that is the body of workitems.
pub fn is_entry(module: &Module, function: OpId) -> bool {
    module.op(function).attrs.get(SIMT_ENTRY).is_some()
}

/// True for an op in a body of workitems: in a function that is one, or in a region that is one.
pub fn is_inside(module: &Module, op: OpId) -> bool {
    let launches = |at: OpId| OpDef::of(module, at).is_some_and(|def| def.workitems == Workitems::Launches);
    let mut around = std::iter::successors(module.parent_op(op), |at| module.parent_op(*at));
    around.any(|at| is_entry(module, at) || launches(at))
}

/// True for an op that belongs in a body of workitems: it says so, or it does nothing but compute.
pub fn belongs_inside(def: &OpDef) -> bool {
    let computes = matches!(def.pipe, PipeRule::None) && def.ring.is_none() && def.in_core_sync == InCoreSync::No;
    match def.workitems {
        Workitems::Inside | Workitems::Both => true,
        Workitems::Launches => false,
        Workitems::IfComputes => computes && !def.in_vector_function && !def.prints,
    }
}

/// Requires an op to be in a body of workitems.
pub fn inside(op: &OpRef<'_>, diags: &mut Diags) {
    if !is_inside(op.module, op.id) {
        let message = format!("`{}` is outside of every body of workitems", op.def.schema.name);
        let error = op.error("outside-simt", message);
        diags.push(error.help(format!("put it into a function with `{SIMT_ENTRY}`, or into `pto.section.simt`")));
    }
}

/// Refuses an op outside of the bodies of workitems, where the assembler accepts it.
pub fn only_inside(op: &OpRef<'_>, diags: &mut Diags) {
    if !is_inside(op.module, op.id) {
        let message = format!("`{}` is not modelled outside of the bodies of workitems", op.def.schema.name);
        diags.push(op.error(slipring_ir::Kind::Unsupported, message));
    }
}

/// Requires an op to be outside of the bodies of workitems.
pub fn outside(op: &OpRef<'_>, diags: &mut Diags) {
    if is_inside(op.module, op.id) {
        let message = format!("`{}` is in a body of workitems, which launches nothing", op.def.schema.name);
        diags.push(op.error("in-simt", message).help("move it to the function that launches the body"));
    }
}
