//! Barriers and fences of workitems.

use slipring_ir::{OpSchema, Syntax};
use slipring_op::decode::Decoder;
use slipring_op::def::{InCoreSync, Lowered, OpDef};
use slipring_op::rules::schema;
use slipring_op::{names, ops};
use slipring_simt::Act;

use super::WORK;

const SYNC: OpDef =
    OpDef { schema: schema("", Syntax::Format("attr-dict"), &[], &[], &[]), in_core_sync: InCoreSync::Manual, ..WORK };

ops! {
    OPS [&SYNCTHREADS];

    /// What a workitem wrote is in memory at once here, so that this does nothing. It makes nobody wait: a race between
    /// two workitems stays one.
    THREADFENCE "pto.threadfence" "Order the accesses of a workitem": SYNC, lower: |_, d| step(d, Act::Nothing);

    /// As `pto.threadfence`.
    THREADFENCE_BLOCK "pto.threadfence_block" "Order the accesses of a workitem for its block": SYNC,
        lower: |_, d| step(d, Act::Nothing);
}

pub(super) static SYNCTHREADS: OpDef = OpDef {
    schema: OpSchema { name: names::SYNCTHREADS, ..SYNC.schema },
    summary: "Wait for all workitems of the launch",
    doc: "Every workitem of the launch waits for all others: what they did before comes before what they do next. All of \
          them must come to the same one; where a branch or a loop keeps one away, the run stops with an error. Other \
          pipes are ordered by flags, around the launch.",
    lower: |_, d| step(d, Act::Meet),
    ..SYNC
};

fn step(d: &mut Decoder<'_>, act: Act) -> Lowered {
    d.workitem_step(act, &[], false).map(drop)
}
