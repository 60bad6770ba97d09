//! The ops of a function by their regions, and the terms for how tiles are divided.

use slipring_ir::{BlockId, Module, OpId};
use slipring_machine::CoreKind;
use slipring_op::ring::Split;
use slipring_op::{MixedPart, OpRef, PipeRule, affinity};

/// A function of the whole cluster.
pub(crate) struct Function<'a> {
    pub(crate) module: &'a Module,
    pub(crate) id: OpId,
    pub(crate) body: BlockId,
    /// Its declared ops in the order of the text.
    pub(crate) ops: Vec<Placed<'a>>,
}

/// An op and its position.
#[derive(Clone, Copy)]
pub(crate) struct Placed<'a> {
    pub(crate) op: OpRef<'a>,
    /// The region for the Vector cores around it.
    pub(crate) region: Option<OpRef<'a>>,
    /// The kind of core that works on it. `None` for scalar code, control flow and declarations.
    pub(crate) kind: Option<CoreKind>,
}

impl<'a> Function<'a> {
    pub(crate) fn of(module: &'a Module, id: OpId, body: BlockId) -> Function<'a> {
        let ops = module.walk(body).into_iter().filter_map(|op| {
            let op = OpRef::of(module, op)?;
            let kind = affinity(&op).filter(|_| !matches!(op.def.pipe, PipeRule::None));
            Some(Placed { op, region: region_of(&op), kind })
        });
        Function { module, id, body, ops: ops.collect() }
    }

    /// The first region: if there is one, regions determine where all Vector work runs.
    pub(crate) fn first_region(&self) -> Option<OpRef<'a>> {
        self.ops.iter().map(|placed| placed.op).find(is_region)
    }
}

pub(crate) fn is_region(op: &OpRef<'_>) -> bool {
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

/// The name of an op in messages: as in the text, or in the language that it came from.
pub(crate) fn name_of(op: &OpRef<'_>) -> &'static str {
    slipring_op::names::bare(op.def.schema.name)
}

/// The name of a split in messages.
pub(crate) fn mode(split: Split) -> &'static str {
    match split {
        Split::None => "split 0 (NONE)",
        Split::UpDown => "split 1 (UP_DOWN)",
        Split::LeftRight => "split 2 (LEFT_RIGHT)",
    }
}

/// The split that divides an axis.
pub(crate) fn split_of(axis: usize) -> Split {
    if axis == 0 { Split::UpDown } else { Split::LeftRight }
}

/// `rows` or `columns`.
pub(crate) fn positions(axis: usize) -> &'static str {
    ["rows", "columns"][axis & 1]
}
