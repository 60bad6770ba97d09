//! Ops that are written into the generated functions.

use slipring_dialects::{CoreRule, Dialects, RingPart};
use slipring_ir::{Attr, AttrDict, BlockId, Module, OpId, OpSchema, Span, Type, ValueId};
use slipring_machine::{CoreKind, Platform};

use crate::analysis::facts::operand_index;

/// Makes an op at the end of a block.
pub(super) fn build<const N: usize>(
    module: &mut Module,
    block: BlockId,
    name: &str,
    operands: &[&[ValueId]],
    attrs: [(&str, Attr); N],
    results: &[Type],
    span: Span,
) -> OpId {
    let op = make(module, name, operands, attrs.into_iter().collect(), results, span);
    module.append(block, op);
    op
}

/// Makes an op that is in no block yet. Operands that may be left out at the end are left out.
pub(super) fn make(
    module: &mut Module,
    name: &str,
    operands: &[&[ValueId]],
    attrs: AttrDict,
    results: &[Type],
    span: Span,
) -> OpId {
    match Dialects::get().registry.get(name) {
        Some(schema) => {
            let mut groups = operands.to_vec();
            groups.resize(schema.operands.len().max(groups.len()), &[]);
            module.build(schema, &groups, attrs, results, span)
        }
        None => module.create(name, None, span),
    }
}

/// A move of a tile, in no block yet.
pub(super) fn move_tile(module: &mut Module, from: ValueId, to: ValueId, span: Span) -> OpId {
    const NAME: &str = "pto.tmov";
    let schema = Dialects::get().registry.get(NAME);
    let at = |name: &str| schema.and_then(|schema| operand_index(schema, name));
    let mut groups: [&[ValueId]; 8] = [&[]; 8];
    let (from, to) = ([from], [to]);
    for (name, value) in [("src", &from), ("dst", &to)] {
        if let Some(group) = at(name).and_then(|at| groups.get_mut(at)) {
            *group = value;
        }
    }
    let count = schema.map_or(0, |schema| schema.operands.len()).min(groups.len());
    make(module, NAME, &groups[..count], AttrDict::default(), &[], span)
}

/// The only result of an op that was built.
pub(super) fn result(module: &mut Module, op: OpId, name: &str) -> ValueId {
    let value = module.op(op).results[0];
    module.value_mut(value).name = Some(name.into());
    value
}

/// A constant at the end of a block.
pub(super) fn constant(module: &mut Module, block: BlockId, name: &str, number: i64, ty: Type, span: Span) -> ValueId {
    let attrs = [("value", Attr::Int(number.into(), ty.clone()))];
    let op = build(module, block, "arith.constant", &[], attrs, &[ty], span);
    result(module, op, name)
}

/// The op with this part in rings.
pub(super) fn by_part(part: RingPart) -> Option<&'static OpSchema> {
    Dialects::get().all().iter().find(|def| def.ring == Some(part)).map(|def| &def.schema)
}

/// The op that makes a pipe on a kind of core.
pub(super) fn initialise(kind: CoreKind) -> Option<&'static OpSchema> {
    let own = if kind == CoreKind::Cube { CoreRule::Cube } else { CoreRule::Vector };
    let makes = |def: &&&slipring_dialects::OpDef| def.ring == Some(RingPart::Initialize) && def.core == own;
    Dialects::get().all().iter().find(makes).map(|def| &def.schema)
}

/// Where all cores of the cluster meet: each waits until its own pipes are idle, the Vector cores tell the Cube core,
/// and go on when it has heard of all of them. The semaphores are the platform's last two, which no ring has.
pub(super) fn meet(
    module: &mut Module,
    block: BlockId,
    kind: CoreKind,
    both_lanes: bool,
    platform: &Platform,
    span: Span,
) {
    let pipe = |name: &str| Attr::member("pipe", name);
    let sync = &platform.sync;
    let last = i64::from(sync.semaphores) - 1;
    let lanes = if both_lanes && !sync.broadcast_reduce { 2 } else { 1 };
    let ids = |id: i64| match kind {
        CoreKind::Cube => (0..lanes).map(|lane| id + lane * i64::from(sync.subblock_offset)).collect::<Vec<_>>(),
        CoreKind::Vector => vec![id],
    };
    let barrier = [("pipe", pipe("PIPE_ALL")), ("placed", Attr::Unit)];
    build(module, block, "pto.barrier", &[], barrier, &[], span);
    let wait = |module: &mut Module, id: i64| {
        for id in ids(id) {
            build(
                module,
                block,
                "pto.sync.wait",
                &[],
                [("pipe", pipe("PIPE_S")), ("event_id", Attr::int(id))],
                &[],
                span,
            );
        }
    };
    let set = |module: &mut Module, from: &str, id: i64| {
        for id in ids(id) {
            build(module, block, "pto.sync.set", &[], [("pipe", pipe(from)), ("event_id", Attr::int(id))], &[], span);
        }
    };
    match kind {
        CoreKind::Cube => {
            wait(module, last - 1);
            set(module, "PIPE_FIX", last);
        }
        CoreKind::Vector => {
            set(module, "PIPE_MTE3", last - 1);
            wait(module, last);
        }
    }
}
