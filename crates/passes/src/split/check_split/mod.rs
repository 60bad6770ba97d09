//! `check-split`: whether kernels for the whole cluster divide their Vector work in a way that can run (seed 001, Validation).
//!
//! Changes nothing. `structure` looks at what stands where: Cube ops in regions, Vector ops outside of them, cross-core copies that
//! nobody wrote, splits that do not go together. `walk` follows the tiles through the function: which hold a lane's half, and of
//! which axis, which differ between the lanes, and what is then gathered, reduced or stored. `lanes` knows which numbers depend
//! on the lane. What cannot be told is let pass: the sequential semantics and the race check of a run judge it.

mod lanes;
mod stores;
mod structure;
mod tiles;
mod walk;

use slipring_ir::{BlockId, Diags, Module, OpId};
use slipring_machine::CoreKind;
use slipring_op::ring::Split;
use slipring_op::{MixedPart, OpRef, PipeRule, affinity, is_mixed};

use crate::analysis::facts::Functions;
use crate::manager::{Pass, PassContext};

/// The pass.
pub const PASS: Pass =
    Pass { name: "check-split", summary: "Check how kernels for both kinds of core divide their work", run };

fn run(module: &mut Module, _: &PassContext<'_>, diags: &mut Diags) {
    check(module, diags);
}

/// Reports what is wrong with the functions of a module that are for the whole cluster.
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

/// A function of the whole cluster.
struct Function<'a> {
    module: &'a Module,
    id: OpId,
    body: BlockId,
    /// Its ops in the order of the text, those that somebody declares.
    ops: Vec<Placed<'a>>,
}

/// An op and where it stands.
#[derive(Clone, Copy)]
struct Placed<'a> {
    op: OpRef<'a>,
    /// The region for the Vector cores around it.
    region: Option<OpRef<'a>>,
    /// The kind of core that works on it. `None` for scalar code, control flow and declarations.
    kind: Option<CoreKind>,
}

impl<'a> Function<'a> {
    fn of(module: &'a Module, id: OpId, body: BlockId) -> Function<'a> {
        let ops = module.walk(body).into_iter().filter_map(|op| {
            let op = OpRef::of(module, op)?;
            let kind = affinity(&op).filter(|_| !matches!(op.def.pipe, PipeRule::None));
            Some(Placed { op, region: region_of(&op), kind })
        });
        Function { module, id, body, ops: ops.collect() }
    }

    /// The first region: with one, regions say where all Vector work runs.
    fn first_region(&self) -> Option<OpRef<'a>> {
        self.ops.iter().map(|placed| placed.op).find(is_region)
    }
}

fn is_region(op: &OpRef<'_>) -> bool {
    op.def.mixed == Some(MixedPart::Region)
}

/// The innermost region for the Vector cores around an op.
fn region_of<'a>(op: &OpRef<'a>) -> Option<OpRef<'a>> {
    let mut at = op.id;
    loop {
        at = op.module.parent_op(at)?;
        if let Some(outer) = OpRef::of(op.module, at).filter(is_region) {
            return Some(outer);
        }
    }
}

/// How messages call an op: as in the text, or in the language that it came from.
fn name_of(op: &OpRef<'_>) -> &'static str {
    slipring_op::names::bare(op.def.schema.name)
}

/// How messages call a split.
fn mode(split: Split) -> &'static str {
    match split {
        Split::None => "split 0 (NONE)",
        Split::UpDown => "split 1 (UP_DOWN)",
        Split::LeftRight => "split 2 (LEFT_RIGHT)",
    }
}

/// The split that divides an axis.
fn split_of(axis: usize) -> Split {
    if axis == 0 { Split::UpDown } else { Split::LeftRight }
}

/// `rows` or `columns`.
fn positions(axis: usize) -> &'static str {
    ["rows", "columns"][axis & 1]
}
