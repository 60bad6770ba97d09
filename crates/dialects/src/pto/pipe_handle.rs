//! Rings by explicit pipe handles: the form that the public assembler lowers the frontend ops to.
//!
//! Read, printed and verified; running them is not supported yet.

use slipring_ir::{AttrKind, Diags, Infer, OpSchema, Syntax, Touch, Type, TypeRule};
use slipring_machine::{Pipe, Platform};

use crate::def::{CoreRule, InCoreSync, OpDef, OpRef, PipeRule, no_rules};
use crate::rules::{ANY, INTEGER, TILE, defaulted, operand, optional, required, result, schema};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[&INITIALIZE_L2L, &INITIALIZE_L2G2L, &TPUSH, &TPOP, &TFREE];

const PIPE_HANDLE: TypeRule =
    TypeRule { describe: "a pipe", accepts: |t| matches!(t, Type::Named(name) if &**name == "pto.pipe") };

const HANDLE: OpDef = OpDef {
    schema: schema("", Syntax::Generic, &[], &[], &[]),
    summary: "",
    doc: "The explicit form of the ring ops. Read and verified; it cannot be run yet.",
    source: "PTO IR of the public assembler, internal pipe ops",
    core: CoreRule::Any,
    pipe: PipeRule::None,
    ring: None,
    per_lane: false,
    in_core_sync: InCoreSync::No,
    verify: no_rules,
    lower: |_, d| Err(d.unsupported("a pipe handle")),
};

static INITIALIZE_L2L: OpDef = OpDef {
    schema: schema(
        "pto.initialize_l2l_pipe",
        Syntax::Format("attr-dict `(` $local `:` type($local) (`,` $peer `:` type($peer))? `)` `->` type($pipe)"),
        &[
            operand("local", INTEGER, Touch::Nothing, "address of the consumer's slots, in bytes"),
            optional("peer", INTEGER, Touch::Nothing, "address of the other direction's slots, in bytes"),
        ],
        &[result("pipe", PIPE_HANDLE, Infer::Written, "the pipe")],
        &[
            required("dir_mask", AttrKind::Int, "1: Cube to Vector, 2: Vector to Cube, 3: both"),
            required("slot_size", AttrKind::Int, "bytes of a slot"),
            required("slot_num", AttrKind::Int, "slots of each ring"),
            defaulted("local_slot_num", AttrKind::Int, "slots of the landing area"),
            defaulted("flag_base", AttrKind::Int, "first flag"),
            defaulted("nosplit", AttrKind::Bool, "true: every tile goes undivided"),
        ],
    ),
    summary: "A pipe whose slots are on chip, as a value",
    verify: verify_initialize,
    ..HANDLE
};

static INITIALIZE_L2G2L: OpDef = OpDef {
    schema: schema(
        "pto.initialize_l2g2l_pipe",
        Syntax::Format(
            "attr-dict `(` $gm `:` type($gm) `,` $local `:` type($local) (`,` $peer `:` type($peer))? `)` `->` type($pipe)",
        ),
        &[
            operand("gm", ANY, Touch::Nothing, "slots in global memory"),
            operand("local", INTEGER, Touch::Nothing, "address of the landing area, in bytes"),
            optional("peer", INTEGER, Touch::Nothing, "address of the other direction's landing area, in bytes"),
        ],
        &[result("pipe", PIPE_HANDLE, Infer::Written, "the pipe")],
        &[
            required("dir_mask", AttrKind::Int, "1: Cube to Vector, 2: Vector to Cube, 3: both"),
            required("slot_size", AttrKind::Int, "bytes of a slot"),
            required("slot_num", AttrKind::Int, "slots of each ring"),
            defaulted("local_slot_num", AttrKind::Int, "slots of the landing area"),
            defaulted("flag_base", AttrKind::Int, "first flag"),
            defaulted("nosplit", AttrKind::Bool, "true: every tile goes undivided"),
        ],
    ),
    summary: "A pipe whose slots are in global memory, as a value",
    verify: verify_initialize,
    ..HANDLE
};

fn verify_initialize(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    let both = op.int("dir_mask") == Some(3);
    let peer = op.def.schema.operands.len() - 1;
    if !matches!(op.int("dir_mask"), Some(1..=3)) {
        diags.push(op.error("pipe-direction", "expects 'dir_mask' to be 1, 2, or 3"));
    } else if both && op.operand(peer).is_none() {
        diags.push(op.error("pipe-peer", "expects 'peer_local_addr' when dir_mask is 3"));
    } else if !both && op.operand(peer).is_some() {
        diags.push(op.error("pipe-peer", "'peer_local_addr' is only allowed when dir_mask is 3"));
    }
    if op.int("slot_size").is_none_or(|n| n <= 0) {
        diags.push(op.error("pipe-slot-size", "expects 'slot_size' to be greater than 0"));
    }
    if !matches!(op.int("slot_num"), Some(4 | 8)) {
        diags.push(op.error("pipe-slot-num", "expects 'slot_num' to be 4 or 8"));
    }
    if op.int("flag_base").is_some_and(|n| n < 0) {
        diags.push(op.error("pipe-flag-base", "expects 'flag_base' to be non-negative when present"));
    }
    match (op.int("local_slot_num"), op.int("slot_num")) {
        (Some(local), _) if local <= 0 => {
            diags.push(op.error("pipe-slot-num", "expects 'local_slot_num' to be greater than 0"));
        }
        (Some(local), Some(slots)) if local > slots => {
            diags.push(op.error("pipe-slot-num", "expects 'local_slot_num' to be less than or equal to slot_num"));
        }
        _ => {}
    }
}

const MOVE: OpSchema = schema(
    "",
    Syntax::Format("`(` $tile `,` $pipe `:` type($tile) `,` type($pipe) `)` attr-dict"),
    &[operand("tile", TILE, Touch::ReadWrite, "the tile"), operand("pipe", PIPE_HANDLE, Touch::Nothing, "the pipe")],
    &[],
    &[required("split", AttrKind::Int, "0: whole tile, 1: upper and lower half, 2: left and right half")],
);

static TPUSH: OpDef = OpDef {
    schema: OpSchema { name: "pto.tpush", ..MOVE },
    summary: "Push a tile into a pipe",
    core: CoreRule::ByTile,
    pipe: PipeRule::By(|op, _| match op.space(0) {
        Some(slipring_tile::Space::Acc) => Pipe::Fix,
        _ => Pipe::Mte3,
    }),
    verify: verify_handle,
    ..HANDLE
};

static TPOP: OpDef = OpDef {
    schema: OpSchema { name: "pto.tpop", ..MOVE },
    summary: "Pop a tile from a pipe",
    core: CoreRule::ByTile,
    pipe: PipeRule::By(|_, platform| if platform.ring.in_gm { Pipe::Mte2 } else { Pipe::S }),
    verify: verify_handle,
    ..HANDLE
};

static TFREE: OpDef = OpDef {
    schema: schema(
        "pto.tfree",
        Syntax::Format("`(` $pipe `:` type($pipe) `)` attr-dict"),
        &[operand("pipe", PIPE_HANDLE, Touch::Nothing, "the pipe")],
        &[],
        &[required("split", AttrKind::Int, "as at the pop")],
    ),
    summary: "Give a popped slot of a pipe back",
    verify: verify_handle,
    ..HANDLE
};

fn verify_handle(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    if !matches!(op.int("split"), Some(0..=2)) {
        diags.push(op.error("ring-split", "expects 'split' to be 0, 1, or 2"));
    }
    let pipe = op.operand(op.def.schema.operands.len() - 1);
    let maker = pipe.and_then(|p| op.module.defining_op(p)).map(|id| &*op.module.op(id).name);
    let made_here = [INITIALIZE_L2L.schema.name, INITIALIZE_L2G2L.schema.name];
    if !maker.is_some_and(|name| made_here.contains(&name)) {
        diags.push(op.error(
            "pipe-handle",
            "pipe_handle must be produced by pto.initialize_l2l_pipe or pto.initialize_l2g2l_pipe",
        ));
    }
}
