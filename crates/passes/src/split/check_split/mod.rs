//! `check-split`: whether kernels for the whole cluster divide their Vector work in a way that can run (seed 001,
//! Validation).
//!
//! It changes nothing. `structure` checks the position of ops: Cube ops in regions, Vector ops outside of them, missing
//! cross-core copies, incompatible splits. `walk` follows the tiles through the function: which hold a lane's half, and
//! of which axis, which differ between the lanes, and what is then gathered, reduced or stored. `lanes` tracks the
//! values that depend on the lane. Whatever cannot be determined is accepted: the sequential semantics and the race
//! check of a run cover it.

mod function;
mod lanes;
mod standing;
mod stores;
mod structure;
mod tiles;
mod walk;
use slipring_ir::{Diags, Module};
use slipring_op::is_mixed;

use crate::analysis::facts::Functions;
use crate::context::{Pass, PassContext};
use crate::split::check_split::function::Function;

/// The pass.
pub const PASS: Pass =
    Pass { name: "check-split", summary: "Check how kernels for both kinds of core divide their work", run };

fn run(module: &mut Module, _: &PassContext<'_>, diags: &mut Diags) {
    check(module, diags);
}

/// Reports errors in the functions of a module that are for the whole cluster.
pub fn check(module: &Module, diags: &mut Diags) {
    for (function, body) in Functions::of(module).with_bodies(module) {
        let function = Function::of(module, function, body);
        let parts = function.ops.iter().any(|placed| placed.op.def.mixed.is_some());
        if !parts && !is_mixed(module, function.id) {
            continue;
        }
        if structure::check(&function, diags) {
            walk::check(&function, diags);
        }
    }
}
