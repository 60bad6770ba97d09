//! Slots in global memory that the text fills and reads itself (PTO IR of the public assembler 0.60).

use slipring_ir::{AttrKind, Diags, Infer, OpSchema, OperandSpec, Syntax, Touch, Type, ValueId};
use slipring_op::def::{CoreRule, LaneQuery, OpDef, OpRef};
use slipring_op::ops;
use slipring_op::ring::{self, words};
use slipring_op::rules::{INTEGER, PLAIN, TENSOR_VIEW, defaulted, optional, required, result, schema};
use slipring_program::Direction;

const ALLOCATE: OpSchema = schema(
    "",
    Syntax::Format("attr-dict `->` type($entry)"),
    &[],
    &[result("entry", TENSOR_VIEW, Infer::Written, "the slot, as the pipe's `gm_slot_tensor` says")],
    &[
        required(
            words::SPLIT,
            AttrKind::Int,
            "0: whole slot; 1, 2: a Vector core has the lower or right part of it, too",
        ),
        defaulted(words::ID, AttrKind::Int, "which pipe; 0 by default"),
    ],
);

const ALLOCATE_DOC: &str = "Waits until the next slot is free, and gives it as a view: of a pipe in global memory whose ends have a \
     `gm_slot_tensor`. The text stores into it, and pushes it: slots are pushed in the order in which they were given. The wait \
     holds the pipe that stores. Under a split Vector core 1 has what begins behind its view of the slot (1), or behind one row of \
     that (2).";

/// The base of ops on slots that are filled in place.
const ENTRIES: OpDef = OpDef {
    schema: ALLOCATE,
    doc: ALLOCATE_DOC,
    source: "PTO IR of the public assembler 0.60; tile library, TALLOC",
    verify: |op, _, diags| verify_entry(op, op.result(0), diags),
    ..PLAIN
};

ops! {
    OPS;

    pub TALLOC_TO_AIV "pto.talloc_to_aiv" "A free slot in global memory, to be filled by the Cube core": ENTRIES,
        core: CoreRule::Cube, lower: |op, d| ring::allocate_entry(op, d, Direction::C2V);

    pub TALLOC_TO_AIC "pto.talloc_to_aic" "A free slot in global memory, to be filled by a Vector core": ENTRIES,
        core: CoreRule::Vector, lower: |op, d| ring::allocate_entry(op, d, Direction::V2C);
}

/// Requires a slot of a pipe to be a view like the one at its end on this core.
pub(super) fn verify_entry(op: &OpRef<'_>, entry: ValueId, diags: &mut Diags) {
    verify_split(op, diags);
    let Some(end) = ring::own_end(op) else { return };
    match end.operand("gm_slot_buffer").map(|value| op.module.ty(value)) {
        Some(ty) if matches!(ty, Type::TensorView(_)) => {
            if ty != op.module.ty(entry) {
                let message = format!("expects a slot of this pipe to be a `{ty}`");
                diags.push(op.error("view-type", message).also(end.span(), "as its end says"));
            }
        }
        _ => {
            let message = "the slots of this pipe are not views: its ends have no `gm_slot_tensor`";
            diags.push(op.error("ring-entry", message).also(end.span(), "made here"));
        }
    }
}

/// Requires a slot that is pushed or freed to come from an allocation or a pop.
pub(super) fn verify_given(op: &OpRef<'_>, entry: ValueId, by: &OpDef, diags: &mut Diags) {
    verify_entry(op, entry, diags);
    let given = op.module.defining_op(entry).and_then(|id| op.other(id));
    if given.is_none_or(|given| given.def != by) {
        diags.push(op.error("ring-entry", format!("expects the slot that `{}` gives", by.schema.name)));
    }
}

/// The index of the Vector core, if the text specifies it.
pub(super) const SUBBLOCK: OperandSpec =
    optional("aiv_subblockid", INTEGER, Touch::Nothing, "which Vector core this is: what `pto.get_subblock_idx` gives");

/// Requires a Vector core to use its own index.
pub(super) fn own_subblock(op: &OpRef<'_>, diags: &mut Diags) {
    let Some(value) = op.operand("aiv_subblockid") else { return };
    if ring::Split::of(op) == Some(ring::Split::None) {
        diags.push(op.error("ring-split", "expects `aiv_subblockid` only where a tile is divided: `split` is not 0"));
    }
    let data = op.module.op(op.id);
    if data.results.iter().chain(&data.operands).any(|value| matches!(op.module.ty(*value), Type::TensorView(_))) {
        diags.push(op.error("ring-entry", "expects `aiv_subblockid` of tiles, not of slots in global memory"));
    }
    let query = op.module.defining_op(value).and_then(|id| op.other(id)).and_then(|made| made.def.per_lane);
    if query != Some(LaneQuery::Number) {
        let message = "an `aiv_subblockid` that is not what `pto.get_subblock_idx` gives is not modelled";
        diags.push(op.error(slipring_ir::Kind::Unsupported, message));
    }
}

pub(super) fn verify_split(op: &OpRef<'_>, diags: &mut Diags) {
    if ring::Split::of(op).is_none() {
        diags.push(ring::Split::refused(op));
    }
}
