//! The pipes through which a kernel's tiles cross, and the ops that create them.
//!
//! Pushes and pops written in the text keep their pipe ids; shards and gathers use the ids after those.

use std::collections::BTreeMap;

use slipring_ir::{BlockId, Diagnostic, Module, OpId, Span, TileType, Type, ValueId};
use slipring_machine::{CoreKind, Platform};
use slipring_mlir::arith;
use slipring_op::function::asked_slots;
use slipring_op::ring::{Split, slot_space};
use slipring_op::{OpRef, RingPart};
use slipring_program::Direction;
use slipring_pto as pto;
use slipring_pto::NewPipe;
use slipring_tile::Space;

use super::sides::{Side, side};
use super::write::{constant, put, value};

/// Default number of slots of a generated ring.
const SLOTS: i64 = 2;

/// Flags of a direction (seed 000): a slot takes one, so there are no more pipes.
const FLAGS: i64 = 8;

/// Name of the parameter for slots in global memory.
const SLOT_BUFFER: &str = "gm_slot_buffer";

/// A pipe: at most one ring in each direction.
#[derive(Clone, Debug, Default)]
struct Pipe {
    /// C2V and V2C: the common properties of all tiles of the ring.
    rings: [Option<Common>; 2],
    /// Bytes of a slot: the largest tile.
    slot_bytes: i64,
    slots: i64,
    /// Pushed and popped explicitly by the text.
    by_hand: bool,
    /// The text has no frees.
    auto_free: bool,
}

/// Common properties of all tiles of a ring: a slot has one layout, and a ring is split or not.
type Common = (slipring_tile::Elem, slipring_tile::BLayout, slipring_tile::SLayout, u32, bool);

/// The pipes of a kernel.
#[derive(Clone, Debug, Default)]
pub(super) struct Pipes {
    pipes: Vec<Pipe>,
    of: BTreeMap<OpId, usize>,
    /// Slots of each ring.
    pub slots: i64,
}

impl Pipes {
    /// Chooses a pipe for each tile that crosses: the first one for all, as long as they agree in element type and
    /// layout.
    pub fn of_kernel(module: &Module, function: OpId, body: BlockId, platform: &Platform) -> Pipes {
        let slots = asked_slots(module, function).unwrap_or(SLOTS);
        let mut pipes = Pipes { slots, ..Pipes::default() };
        pipes.by_hand(module, function, body);
        for op in module.walk(body) {
            if let Side::Crosses(direction) = side(module, op) {
                pipes.add(module, op, direction);
            }
        }
        if asked_slots(module, function).is_none() {
            pipes.leave_flags();
        }
        if platform.ring.fixed_depth {
            pipes.as_deep_as_all(platform);
        }
        pipes
    }

    /// Limits pipes by hand to the flags left by compiler-made pipes: all together take one for each slot. A pipe of
    /// both directions takes them in both halves.
    fn leave_flags(&mut self) {
        let rings = |pipe: &Pipe| pipe.rings.iter().flatten().count() as i64;
        let sum = |by_hand: bool, count: &dyn Fn(&Pipe) -> i64| -> i64 {
            self.pipes.iter().filter(|pipe| pipe.by_hand == by_hand && rings(pipe) > 0).map(count).sum()
        };
        let both = self.pipes.iter().any(|pipe| rings(pipe) == 2);
        let (flags, taken, sharing) = match both {
            true => (FLAGS / 2, sum(false, &|pipe| pipe.slots), sum(true, &|_| 1)),
            false => (FLAGS, sum(false, &|pipe| pipe.slots * rings(pipe)), sum(true, &rings)),
        };
        if taken == 0 || sharing == 0 {
            return;
        }
        let each = ((flags - taken) / sharing).max(1);
        let slots = 1 << each.ilog2();
        self.pipes.iter_mut().filter(|pipe| pipe.by_hand).for_each(|pipe| pipe.slots = pipe.slots.min(slots));
    }

    /// Gives every pipe the only depth that the platform supports for it.
    fn as_deep_as_all(&mut self, platform: &Platform) {
        for pipe in &mut self.pipes {
            let both = pipe.rings.iter().all(Option::is_some);
            pipe.slots = if both { platform.ring.slots_both_ways } else { platform.ring.slots_one_way }.into();
        }
        self.slots = self.pipes.iter().map(|pipe| pipe.slots).min().unwrap_or(self.slots);
    }

    /// The pipes of pushes and pops written in the text. Unless the function specifies it, they have the depth of
    /// manual pipes: 8 slots for one direction, 4 each for two, fewer if several pipes share the flags.
    fn by_hand(&mut self, module: &Module, function: OpId, body: BlockId) {
        for op in module.walk(body).into_iter().filter_map(|op| OpRef::of(module, op)) {
            let Some(id) = hand_pipe(&op) else { continue };
            if id >= self.pipes.len() {
                self.pipes.resize(id + 1, Pipe::default());
            }
            let pipe = &mut self.pipes[id];
            if !pipe.by_hand {
                (pipe.by_hand, pipe.auto_free) = (true, true);
            }
            let Some(part) = op.def.ring else { continue };
            let (direction, tile) = match part {
                RingPart::Push(direction) => (direction, op.tile("tile")),
                RingPart::Pop(direction) => (direction, module.ty(op.result(0)).as_tile()),
                RingPart::Free(_) => {
                    pipe.auto_free = false;
                    continue;
                }
                RingPart::Initialize | RingPart::Reserve | RingPart::Import => continue,
                RingPart::Status(..) | RingPart::Scale(_) | RingPart::Handle(_) => continue,
            };
            let Some(tile) = tile else { continue };
            let divided = Split::of(&op) != Some(Split::None);
            let layout = tile.layout;
            pipe.rings[direction as usize] =
                Some((layout.elem, layout.blayout, layout.slayout, layout.fractal, divided));
            let parts = if divided && tile.space == Space::Vec { 2 } else { 1 };
            pipe.slot_bytes = pipe.slot_bytes.max((parts * layout.bytes() as i64 + 31) / 32 * 32);
        }
        let rings: usize = self.pipes.iter().map(|pipe| pipe.rings.iter().flatten().count()).sum();
        let own = asked_slots(module, function);
        let slots = own.unwrap_or_else(|| (FLAGS / rings.next_power_of_two() as i64).max(1));
        self.pipes.iter_mut().for_each(|pipe| pipe.slots = slots);
    }

    fn add(&mut self, module: &Module, id: OpId, direction: Direction) {
        let Some(op) = OpRef::of(module, id) else { return };
        let (Some(whole), Some(popped)) = (whole_tile(&op), op.tile("dst")) else { return };
        let layout = popped.layout;
        let divided = Split::of(&op) != Some(Split::None);
        let common = (layout.elem, layout.blayout, layout.slayout, layout.fractal, divided);
        let ring = direction as usize;
        let fits = |pipe: &Pipe| !pipe.by_hand && pipe.rings[ring].is_none_or(|other| other == common);
        let at = self.pipes.iter().position(fits).unwrap_or_else(|| {
            self.pipes.push(Pipe::default());
            self.pipes.len() - 1
        });
        let slots = self.slots;
        let pipe = &mut self.pipes[at];
        pipe.slots = slots;
        pipe.rings[ring] = Some(common);
        // Whole blocks of 32 bytes, so that every slot is aligned. A padded part may be larger than the whole.
        let part = op.tile("src").map_or(0, |pushed| pushed.layout.bytes()).max(layout.bytes());
        let bytes = whole.layout.bytes().max(part);
        pipe.slot_bytes = pipe.slot_bytes.max((bytes as i64 + 31) / 32 * 32);
        self.of.insert(id, at);
    }

    /// Id of the pipe through which a tile crosses.
    pub fn of(&self, op: OpId) -> usize {
        self.of.get(&op).copied().unwrap_or(0)
    }

    /// Slots in global memory requested by the function that exceed the consumer's memory: the library gives the
    /// consumer of such a ring a landing slot for each of them (the reserved buffer of a manual pipe).
    pub fn too_deep(&self, module: &Module, function: OpId, platform: &Platform) -> Option<Diagnostic> {
        let asked = asked_slots(module, function).filter(|_| platform.ring.in_gm)?;
        let ends = [(Direction::C2V, Space::Vec), (Direction::V2C, Space::Mat)];
        for (pipe, (direction, space)) in self.pipes.iter().flat_map(|pipe| ends.map(|end| (pipe, end))) {
            let Some((.., divided)) = pipe.rings[direction as usize] else { continue };
            let parts = if divided && direction == Direction::C2V { 2 } else { 1 };
            let (slot, capacity) = (pipe.slot_bytes / parts, platform.space(space).map_or(0, |spec| spec.bytes as i64));
            if asked.saturating_mul(slot) > capacity {
                let message =
                    format!("`{space}` is too small: {asked} slots of {slot} bytes are asked for, it has {capacity}");
                let error = Diagnostic::error("memory-full", module.op(function).span, message)
                    .label("the consumer keeps a place for each slot of the ring");
                return Some(error.help(match capacity / slot.max(1) {
                    0 => "divide the tile that crosses: not one of it fits".to_string(),
                    most => {
                        format!("ask for at most {most}: `pl.cross_core_slot(slot_num={most})`, `slot_num` in a text")
                    }
                }));
            }
        }
        None
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.pipes.iter().all(|pipe| pipe.rings.iter().all(Option::is_none))
    }

    /// Bytes of global memory taken by the slots of a block, if the platform keeps rings there.
    pub fn gm_bytes(&self, platform: &Platform) -> i64 {
        let of = |pipe: &Pipe| pipe.rings.iter().flatten().count() as i64 * pipe.slots * pipe.slot_bytes;
        if platform.ring.in_gm { self.pipes.iter().map(of).sum() } else { 0 }
    }

    /// Writes the ops that create the pipes at the end of a block of a function of one kind. `names` are the functions
    /// of both.
    pub fn make(
        &self,
        module: &mut Module,
        block: BlockId,
        kind: CoreKind,
        (kernel, names): (&str, &[String; 2]),
        platform: &Platform,
        span: Span,
    ) {
        let slots = self.gm_slots(module, block, platform, span);
        let mut offset = 0;
        let mut unused = None;
        for (id, pipe) in self.pipes.iter().enumerate() {
            if pipe.rings.iter().all(Option::is_none) {
                continue;
            }
            let mut buffers = Vec::new();
            for (at, direction) in [Direction::C2V, Direction::V2C].into_iter().enumerate() {
                let name = ["c2v", "v2c"][at];
                buffers.push(if pipe.rings[at].is_none() || platform.ring.in_gm {
                    *unused.get_or_insert_with(|| constant(module, block, "unused", 0, Type::I32, span))
                } else {
                    let number = if id == 0 { String::new() } else { format!("_{id}") };
                    let full = format!("{kernel}_{name}_slot_buffer{number}");
                    let consumes = (direction == Direction::C2V) == (kind == CoreKind::Vector);
                    let peer = &names[usize::from(kind == CoreKind::Cube)];
                    let bytes = pipe.slot_bytes * pipe.slots;
                    buffer(module, block, direction, &full, consumes.then_some(bytes), peer, span)
                });
            }
            let new = NewPipe {
                kind,
                directions: pipe.rings.map(|ring| ring.is_some()),
                slot_bytes: pipe.slot_bytes,
                slots: pipe.slots,
                id,
                auto_free: pipe.auto_free,
            };
            let own = slots.map(|slots| advance(module, block, slots, offset, span));
            offset += pipe.slots * pipe.slot_bytes * pipe.rings.iter().flatten().count() as i64;
            let op = pto::initialize(module, new, own, [buffers[0], buffers[1]], span);
            module.append(block, op);
        }
    }

    /// This block's slots in the function's last parameter, if rings are in global memory.
    fn gm_slots(&self, module: &mut Module, block: BlockId, platform: &Platform, span: Span) -> Option<ValueId> {
        let bytes = self.gm_bytes(platform);
        let buffer = module.block(block).args.last().copied().filter(|_| bytes > 0)?;
        let index = value(module, block, (&pto::GET_BLOCK_IDX, "block"), &[], Type::I64, span);
        let each = constant(module, block, "slots_of_a_block", bytes / 4, Type::I64, span);
        let offset = arith::binary(module, &arith::MULI, [index, each], span);
        let offset = put(module, block, offset, "slots_before");
        Some(pointer(module, block, buffer, offset, ("slots", span)))
    }
}

/// The pipe of a push, pop or free written in the text.
pub(super) fn hand_pipe(op: &OpRef<'_>) -> Option<usize> {
    let own = op.def.ring.and_then(RingPart::moves).is_some();
    own.then(|| pto::pipe_number(op).unwrap_or(0))
        .and_then(|id| usize::try_from(id).ok())
        .filter(|id| *id < FLAGS as usize)
}

/// The type of the parameter for slots in global memory.
pub(super) fn slot_buffer() -> (&'static str, Type) {
    (SLOT_BUFFER, Type::Ptr(slipring_tile::Elem::F32, None))
}

/// A pointer `bytes` further on.
fn advance(module: &mut Module, block: BlockId, slots: ValueId, bytes: i64, span: Span) -> ValueId {
    if bytes == 0 {
        return slots;
    }
    let by = constant(module, block, "slots_of_other_pipes", bytes / 4, Type::I64, span);
    pointer(module, block, slots, by, ("slots_of_pipe", span))
}

/// A pointer `by` elements further on.
fn pointer(module: &mut Module, block: BlockId, ptr: ValueId, by: ValueId, (name, span): (&str, Span)) -> ValueId {
    let ty = module.ty(ptr).clone();
    value(module, block, (&pto::ADDPTR, name), &[("ptr", &[ptr]), ("offset", &[by])], ty, span)
}

/// Memory for slots: reserved by the consumer, which specifies `bytes`, imported by the producer.
fn buffer(
    module: &mut Module,
    block: BlockId,
    direction: Direction,
    name: &str,
    bytes: Option<i64>,
    peer: &str,
    span: Span,
) -> ValueId {
    let (op, called) = match bytes {
        Some(bytes) => (pto::reserve(module, name, slot_space(direction), bytes, span), "own_slots"),
        None => (pto::import(module, name, peer, span), "peer_slots"),
    };
    put(module, block, op, called)
}

/// The memory on the Cube core's side of a cross-core copy: its tile is always whole.
pub(super) fn whole_tile<'m>(op: &OpRef<'m>) -> Option<&'m TileType> {
    [0, 1].into_iter().filter_map(|at| op.tile(at)).find(|tile| tile.space != Space::Vec)
}
