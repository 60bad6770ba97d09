//! Constructors of ring ops, for passes, and access to their attributes.

use slipring_ir::{Attr, AttrDict, Module, OpId, Span, Type, ValueId};
use slipring_machine::CoreKind;
use slipring_program::Direction;
use slipring_tile::Space;

use super::pipe::*;
use super::pipe_handle::{CTRL_SIGNAL, SET_ALLOCATE_STATUS, SET_FREE_STATUS, SET_RECORD_STATUS, SET_WAIT_STATUS};
use super::pipe_handle::{TFREE, TPOP, TPUSH};
use slipring_op::def::{HandlePart, OpDef, OpRef, RingPart};
use slipring_op::make::mark_placed;
use slipring_op::ring::reserved::{LOCATION, NAME, PEER, SIZE};
use slipring_op::ring::words::{self, ID};
use slipring_op::ring::{Phase, Split};

/// The op that pushes in a direction.
pub fn push_of(direction: Direction) -> &'static OpDef {
    match direction {
        Direction::C2V => &TPUSH_TO_AIV,
        Direction::V2C => &TPUSH_TO_AIC,
    }
}

/// The op that pops in a direction.
pub fn pop_of(direction: Direction) -> &'static OpDef {
    match direction {
        Direction::C2V => &TPOP_FROM_AIC,
        Direction::V2C => &TPOP_FROM_AIV,
    }
}

/// The op that frees in a direction.
pub fn free_of(direction: Direction) -> &'static OpDef {
    match direction {
        Direction::C2V => &TFREE_FROM_AIC,
        Direction::V2C => &TFREE_FROM_AIV,
    }
}

/// The op that makes a pipe on a kind of core.
pub fn initialize_of(kind: CoreKind) -> &'static OpDef {
    match kind {
        CoreKind::Cube => &AIC_INITIALIZE_PIPE,
        CoreKind::Vector => &AIV_INITIALIZE_PIPE,
    }
}

/// The op with this effect on a pipe value.
pub fn handle_of(part: HandlePart) -> &'static OpDef {
    match part {
        HandlePart::Push => &TPUSH,
        HandlePart::Pop => &TPOP,
        HandlePart::Free => &TFREE,
        HandlePart::Signal => &CTRL_SIGNAL,
        HandlePart::Status(Phase::Allocate) => &SET_ALLOCATE_STATUS,
        HandlePart::Status(Phase::Record) => &SET_RECORD_STATUS,
        HandlePart::Status(Phase::Wait) => &SET_WAIT_STATUS,
        HandlePart::Status(Phase::Free) => &SET_FREE_STATUS,
    }
}

/// The number of the pipe that an op makes or uses, if it specifies one.
pub fn pipe_number(op: &OpRef<'_>) -> Option<i64> {
    op.int(ID)
}

/// How a tile passes through a pipe: its split, and the pipe.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    pub split: Split,
    /// The pipe's number.
    pub pipe: usize,
}

impl From<Passage> for AttrDict {
    fn from(passage: Passage) -> AttrDict {
        let mut attrs = AttrDict::from([(words::SPLIT, Attr::int(passage.split.number()))]);
        if passage.pipe > 0 {
            attrs.set(ID, Attr::int(passage.pipe as i64));
        }
        attrs
    }
}

/// A push that is not in a block yet.
pub fn push(module: &mut Module, direction: Direction, tile: ValueId, passage: Passage, span: Span) -> OpId {
    push_of(direction).make(module, &[("tile", &[tile])], passage, &[], span)
}

/// A pop without its result that is not in a block yet. `valid` are the valid rows and columns if the type leaves them
/// dynamic.
pub fn pop(
    module: &mut Module,
    direction: Direction,
    valid: Option<[ValueId; 2]>,
    passage: Passage,
    span: Span,
) -> OpId {
    let [row, col] = [0, 1].map(|at| valid.map(|valid| valid[at]));
    let operands: [(&str, &[ValueId]); 2] = [("valid_row", row.as_slice()), ("valid_col", col.as_slice())];
    pop_of(direction).make(module, &operands, passage, &[], span)
}

/// The free for a pop that is not in a block yet; `None` for an op that is not a pop.
pub fn free_after(module: &mut Module, pop: OpId) -> Option<OpId> {
    let op = OpRef::of(module, pop)?;
    let Some(RingPart::Pop(direction)) = op.ring() else { return None };
    let attrs = [words::SPLIT, ID].into_iter().filter_map(|name| Some((name, op.attr(name)?.clone())));
    let (attrs, span): (AttrDict, Span) = (attrs.collect(), op.span());
    match op.def.ring {
        Some(RingPart::Handle(_)) => {
            let pipe = op.operand("pipe");
            Some(TFREE.make(module, &[("pipe", pipe.as_slice())], attrs, &[], span))
        }
        _ => Some(free_of(direction).make(module, &[], attrs, &[], span)),
    }
}

/// Like [`free_after`], for a pipe with automatic frees.
pub fn placed_free_after(module: &mut Module, pop: OpId) -> Option<OpId> {
    let free = free_after(module, pop)?;
    mark_placed(module, free);
    Some(free)
}

/// The parameters of a pipe that passes make.
#[derive(Clone, Copy, Debug)]
pub struct NewPipe {
    pub kind: CoreKind,
    /// Whether it has a ring in each direction: C2V, V2C.
    pub directions: [bool; 2],
    pub slot_bytes: i64,
    pub slots: i64,
    /// Its number.
    pub id: usize,
    /// True if pops free their slots.
    pub auto_free: bool,
}

/// An end of a pipe that is not in a block yet. `buffers` are the consumers' memory for slots of both directions.
pub fn initialize(
    module: &mut Module,
    pipe: NewPipe,
    gm_slots: Option<ValueId>,
    buffers: [ValueId; 2],
    span: Span,
) -> OpId {
    let mask = i64::from(pipe.directions[0]) | i64::from(pipe.directions[1]) << 1;
    let (size, slots) = (Attr::int(pipe.slot_bytes), Attr::int(pipe.slots));
    let mut attrs =
        AttrDict::from([(words::DIRECTIONS, Attr::int(mask)), (words::SLOT_SIZE, size), (words::SLOTS, slots)]);
    if pipe.id > 0 {
        attrs.set(ID, Attr::int(pipe.id as i64));
    }
    if pipe.auto_free {
        attrs.set("auto_free", Attr::Bool(true));
        attrs.set(MADE.name, Attr::Unit);
    }
    let operands: [(&str, &[ValueId]); 3] = [
        ("gm_slot_buffer", gm_slots.as_slice()),
        ("c2v_consumer_buf", &buffers[..1]),
        ("v2c_consumer_buf", &buffers[1..]),
    ];
    initialize_of(pipe.kind).make(module, &operands, attrs, &[], span)
}

/// A reservation whose address the allocator chooses, not in a block yet.
pub fn reserve(module: &mut Module, name: &str, space: Space, bytes: i64, span: Span) -> OpId {
    let attrs = [
        (NAME, Attr::Str(name.into())),
        (SIZE, Attr::int(bytes)),
        (LOCATION, Attr::member("address_space", space.name())),
        ("auto", Attr::Bool(true)),
    ];
    RESERVE_BUFFER.make(module, &[], attrs, &[Type::I32], span)
}

/// An import of another function's reservation that is not in a block yet.
pub fn import(module: &mut Module, name: &str, peer: &str, span: Span) -> OpId {
    let attrs = [(NAME, Attr::Str(name.into())), (PEER, Attr::Symbol(peer.into()))];
    IMPORT_RESERVED_BUFFER.make(module, &[], attrs, &[Type::I32], span)
}

/// True for an end of a pipe that was made for a kernel of the whole cluster.
pub fn is_made(init: &OpRef<'_>) -> bool {
    init.attr(MADE.name).is_some()
}
