//! Ops that are written into the generated functions.

use slipring_ir::{AttrDict, BlockId, Module, OpId, Span, Type, ValueId};
use slipring_machine::{CoreKind, Pipe, Platform};
use slipring_mlir::arith;
use slipring_op::OpDef;
use slipring_op::make::mark_placed;
use slipring_pto as pto;

/// Appends an existing op to a block; returns its only result, with a name.
pub(super) fn put(module: &mut Module, block: BlockId, op: OpId, name: &str) -> ValueId {
    module.append(block, op);
    let value = module.op(op).results[0];
    module.value_mut(value).name = Some(name.into());
    value
}

/// Creates an op at the end of a block; returns its only result, with a name.
pub(super) fn value(
    module: &mut Module,
    block: BlockId,
    (def, name): (&'static OpDef, &str),
    operands: &[(&str, &[ValueId])],
    ty: Type,
    span: Span,
) -> ValueId {
    let op = def.make(module, operands, AttrDict::default(), &[ty], span);
    put(module, block, op, name)
}

/// A move of a tile, not in any block yet.
pub(super) fn move_tile(module: &mut Module, from: ValueId, to: ValueId, span: Span) -> OpId {
    pto::TMOV.make(module, &[("src", &[from]), ("dst", &[to])], AttrDict::default(), &[], span)
}

/// A constant at the end of a block.
pub(super) fn constant(module: &mut Module, block: BlockId, name: &str, number: i64, ty: Type, span: Span) -> ValueId {
    let op = arith::constant(module, number, ty, span);
    put(module, block, op, name)
}

/// A barrier of all cores of the cluster: each waits until its own pipes are idle, the Vector cores signal the Cube
/// core, and continue when it has received all their signals. The semaphores are the platform's last two, which no ring
/// uses.
pub(super) fn meet(
    module: &mut Module,
    block: BlockId,
    kind: CoreKind,
    both_lanes: bool,
    platform: &Platform,
    span: Span,
) {
    let sync = &platform.sync;
    let last = i64::from(sync.semaphores) - 1;
    let lanes = if both_lanes && !sync.broadcast_reduce { 2 } else { 1 };
    let ids = |id: i64| match kind {
        CoreKind::Cube => (0..lanes).map(|lane| id + lane * i64::from(sync.subblock_offset)).collect::<Vec<_>>(),
        CoreKind::Vector => vec![id],
    };
    let barrier = pto::barrier(module, None, span);
    mark_placed(module, barrier);
    module.append(block, barrier);
    let wait = |module: &mut Module, id: i64| {
        for id in ids(id) {
            let op = pto::sync_wait(module, Pipe::S, id, span);
            module.append(block, op);
        }
    };
    let set = |module: &mut Module, from: Pipe, id: i64| {
        for id in ids(id) {
            let op = pto::sync_set(module, from, id, span);
            module.append(block, op);
        }
    };
    match kind {
        CoreKind::Cube => {
            wait(module, last - 1);
            set(module, Pipe::Fix, last);
        }
        CoreKind::Vector => {
            set(module, Pipe::Mte3, last - 1);
            wait(module, last);
        }
    }
}
