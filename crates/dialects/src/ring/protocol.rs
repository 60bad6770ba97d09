//! How ring ops expand: the tagged protocol of seed 000.
//!
//! | op | steps |
//! |---|---|
//! | initialise | the consumer signals every slot free |
//! | push | wait free → move → signal ready → advance the push tag |
//! | pop | wait ready → load, or bind to the slot → advance the pop tag |
//! | free | signal free → advance the free tag |
//!
//! A consumer has two tags, so several pops may be outstanding; where pop and free alternate they are the
//! seed's single tag. Which pipe a step holds: a push the pipe that moves the tile (FIX, MTE3); a pop from
//! global memory MTE2, which loads; a pop on chip V or MTE1, which use the tile. Where the platform's waits
//! stall the whole core, the scalar unit waits.

use std::collections::BTreeMap;

use slipring_ir::{Dim, ValueId};
use slipring_machine::{Pipe, Role};
use slipring_program::{Direction, Inst, Operand, Reg};
use slipring_tile::{Layout, Space};

use super::plan::{PlannedRing, Split, pipe_id};
use crate::decode::{Binding, Decoder, Mode, TileRef};
use crate::def::{Lowered, OpRef, Reported, RingPart};
use crate::effect::{MoveEffect, MovePart, Place};

/// A core's ends of the kernel's rings, by pipe id and direction.
#[derive(Clone, Debug, Default)]
pub struct CoreRings {
    /// `None` where an end was initialised with an error, which is reported there and once.
    ends: BTreeMap<(i64, Direction), Option<End>>,
}

/// One end of a ring.
#[derive(Clone, Copy, Debug)]
struct End {
    /// Address of slot 0.
    base: Operand,
    /// Where pops from global memory land; slots as in the ring.
    landing: Option<Operand>,
    /// Slot of the next push (producer) or pop (consumer).
    tag: Reg,
    /// Slot of the next free (consumer).
    free_tag: Reg,
}

/// Operands of the initialise ops, in order: GM slot buffer, C2V consumer buffer, V2C consumer buffer.
const GM_SLOT_BUFFER: usize = 0;
const CONSUMER_BUFFER: [usize; 2] = [1, 2];

/// Expands `aic_initialize_pipe` and `aiv_initialize_pipe`.
///
/// # Errors
/// Reported where the platform needs a GM slot buffer and none is given.
pub fn initialize(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let id = pipe_id(op);
    let rings: Vec<PlannedRing> =
        [Direction::C2V, Direction::V2C].iter().filter_map(|direction| d.rings.get(id, *direction).cloned()).collect();
    d.core_rings.ends.extend(rings.iter().map(|ring| ((id, ring.direction), None)));
    for ring in rings {
        let end = bind_end(op, d, &ring)?;
        d.core_rings.ends.insert((id, ring.direction), Some(end));
        let consumer = consumer_lanes(&ring, d.role);
        if !consumer.is_empty() {
            d.note("signals every slot free");
        }
        for lane in consumer {
            for slot in 0..ring.slots {
                let sync = d.ring_flag(ring.part(lane), true, Operand::imm(i64::from(slot)));
                d.emit(Inst::Set { pipe: Pipe::S, sync });
            }
        }
    }
    Ok(())
}

fn bind_end(op: &OpRef<'_>, d: &mut Decoder<'_>, ring: &PlannedRing) -> Result<End, Reported> {
    let bytes = u64::from(ring.slots) * u64::from(ring.slot_bytes);
    let buffer = op.operand(CONSUMER_BUFFER[usize::from(ring.direction == Direction::V2C)]);
    let mut landing = None;
    let base = if d.mode == Mode::Reference {
        d.ring_memory(ring.first, ring.space, bytes)
    } else if ring.space == Space::Gm {
        let Some(gm) = op.operand(GM_SLOT_BUFFER) else {
            let total = bytes * if ring.both_ways { 2 } else { 1 };
            return Err(d.report(
                op.error("gm-slot-buffer", "requires 'gm_slot_buffer': this platform keeps rings in global memory")
                    .help(format!(
                        "pass a buffer of {total} bytes for each cluster: `gm_slot_buffer = %p : !pto.ptr<…>`"
                    )),
            ));
        };
        if let Some(buffer) = buffer.filter(|v| is_reserved(op, *v)) {
            landing = Some(d.scalar(buffer)?);
        }
        let start = d.scalar(gm)?;
        let behind_the_other = ring.both_ways && ring.direction == Direction::V2C;
        d.add(start, Operand::Imm(if behind_the_other { bytes } else { 0 }))
    } else {
        let Some(buffer) = buffer else {
            let name = if ring.direction == Direction::C2V { "c2v_consumer_buf" } else { "v2c_consumer_buf" };
            return Err(
                d.report(op.error("consumer-buffer", format!("requires '{name}': this platform keeps rings on chip")))
            );
        };
        d.scalar(buffer)?
    };
    let tag = d.variable(Operand::Imm(0));
    let free_tag = d.variable(Operand::Imm(0));
    Ok(End { base, landing, tag, free_tag })
}

/// True if a value is the memory that this function reserved for its ring.
fn is_reserved(op: &OpRef<'_>, value: ValueId) -> bool {
    let definition = op.module.defining_op(value);
    let def = definition.and_then(|id| crate::Dialects::get().def(&op.module.op(id).name));
    // Once resolved the reservation is a constant; 0 from a constant is the seed's "unused".
    def.is_some_and(|def| def.ring == Some(RingPart::Reserve))
}

/// Lanes for which a core is the consumer.
fn consumer_lanes(ring: &PlannedRing, role: Role) -> Vec<usize> {
    match (ring.direction, role) {
        (Direction::C2V, Role::Aic) => Vec::new(),
        (Direction::C2V, vector) => vec![vector.subblock() as usize],
        (Direction::V2C, Role::Aic) => ring.lanes().collect(),
        (Direction::V2C, _) => Vec::new(),
    }
}

/// Lanes for which a core is the producer.
fn producer_lanes(ring: &PlannedRing, role: Role) -> Vec<usize> {
    match (ring.direction, role) {
        (Direction::C2V, Role::Aic) => ring.lanes().collect(),
        (Direction::C2V, _) => Vec::new(),
        (Direction::V2C, Role::Aic) => Vec::new(),
        (Direction::V2C, vector) => vec![vector.subblock() as usize],
    }
}

/// The pipe that uses a popped tile, or loads it.
pub const fn consumer_pipe(direction: Direction, in_gm: bool) -> Pipe {
    match (in_gm, direction) {
        (true, _) => Pipe::Mte2,
        (false, Direction::C2V) => Pipe::V,
        (false, Direction::V2C) => Pipe::Mte1,
    }
}

/// The pipe that moves a pushed tile.
pub const fn producer_pipe(direction: Direction) -> Pipe {
    match direction {
        Direction::C2V => Pipe::Fix,
        Direction::V2C => Pipe::Mte3,
    }
}

fn end_of(op: &OpRef<'_>, d: &mut Decoder<'_>, direction: Direction) -> Result<(PlannedRing, End), Reported> {
    let id = pipe_id(op);
    let ring = d.rings.get(id, direction).cloned();
    match (ring, d.core_rings.ends.get(&(id, direction)).copied()) {
        (Some(ring), Some(Some(end))) => Ok((ring, end)),
        (_, Some(None)) => Err(Reported),
        _ => {
            let name = op.def.schema.name;
            Err(d.error("ring-not-initialized", format!("`{name}` comes before the pipe is initialised")))
        }
    }
}

/// `(tag + 1) % slots`.
fn advance(d: &mut Decoder<'_>, tag: Reg, slots: u32) {
    let args = [Operand::Reg(tag), Operand::imm(i64::from(slots)), Operand::Imm(0)];
    d.emit(Inst::Scalar { f: |[tag, slots, _]| Ok(if tag + 1 == slots { 0 } else { tag + 1 }), d: tag, args });
}

fn slot_address(d: &mut Decoder<'_>, base: Operand, tag: Reg, slot_bytes: u32) -> Operand {
    let offset = d.mul(Operand::Reg(tag), Operand::imm(i64::from(slot_bytes)));
    d.add(base, offset)
}

fn wait(d: &mut Decoder<'_>, pipe: Pipe, ring: &PlannedRing, lanes: &[usize], free: bool, tag: Reg) {
    let holds = if d.platform.sync.wait_stalls_core { Pipe::S } else { pipe };
    d.note(if free { "waits for a free slot" } else { "waits for a tile" });
    for lane in lanes {
        let sync = d.ring_flag(ring.part(*lane), free, Operand::Reg(tag));
        d.emit(Inst::Wait { pipe: holds, sync });
    }
}

fn signal(d: &mut Decoder<'_>, pipe: Pipe, ring: &PlannedRing, lanes: &[usize], free: bool, tag: Reg) {
    d.note(if free { "signals the slot free" } else { "signals the slot ready" });
    for lane in lanes {
        let sync = d.ring_flag(ring.part(*lane), free, Operand::Reg(tag));
        d.emit(Inst::Set { pipe, sync });
    }
}

/// Part of a tile of `rows` × `cols` that a lane has under a split: first row and column, rows and columns.
fn lane_part(split: Split, rows: u32, cols: u32, lane: usize) -> (u32, u32, u32, u32) {
    let lane = lane as u32;
    match split {
        Split::None => (0, 0, rows, cols),
        Split::UpDown => (lane * (rows / 2), 0, rows / 2, cols),
        Split::LeftRight => (0, lane * (cols / 2), rows, cols / 2),
    }
}

/// Shape of the whole tile whose part a lane has.
fn whole_shape(split: Split, rows: u32, cols: u32) -> (u32, u32) {
    match split {
        Split::None => (rows, cols),
        Split::UpDown => (rows * 2, cols),
        Split::LeftRight => (rows, cols * 2),
    }
}

/// How a tile of a shape lies in a slot: as the consumer pops it; row-major in global memory.
fn slot_layout(ring: &PlannedRing, pushed: &Layout, rows: u32, cols: u32) -> Layout {
    let like = ring.popped.map_or(*pushed, |tile| tile.layout);
    if ring.space == Space::Gm { Layout::nd(like.elem, rows, cols) } else { Layout { rows, cols, ..like } }
}

/// Expands `tpush_to_aiv` and `tpush_to_aic`.
///
/// # Errors
/// Reported where the pipe is not initialised on this core.
pub fn push(op: &OpRef<'_>, d: &mut Decoder<'_>, direction: Direction) -> Lowered {
    let (ring, end) = end_of(op, d, direction)?;
    let Some(value) = op.operand(0) else { return Err(Reported) };
    let tile = d.tile(value)?;
    let split = Split::of(op).unwrap_or(Split::None);
    let lanes = producer_lanes(&ring, d.role);
    let pipe = producer_pipe(direction);
    wait(d, pipe, &ring, &lanes, true, end.tag);
    d.note("moves the tile into the slot");
    let address = slot_address(d, end.base, end.tag, ring.slot_bytes);
    let effect = push_effect(d.role, &ring, split, &tile);
    if !effect.parts.is_empty() {
        let cost = d.platform.dma_cost(tile.ty.space, ring.space);
        d.issue(pipe, effect, vec![tile.addr, address, tile.valid[0], tile.valid[1]], cost);
    }
    signal(d, pipe, &ring, &lanes, false, end.tag);
    advance(d, end.tag, ring.slots);
    Ok(())
}

fn push_effect(role: Role, ring: &PlannedRing, split: Split, tile: &TileRef) -> MoveEffect {
    let pushed = tile.ty.layout;
    let (rows, cols) = (pushed.rows, pushed.cols);
    let whole = |core, layout| Place { space: ring.space, core, layout };
    let (to, parts) = match (ring.direction, ring.space) {
        // One image of the whole tile, each lane loads its part.
        (Direction::C2V, Space::Gm) => {
            (whole(role, slot_layout(ring, &pushed, rows, cols)), vec![MovePart::all(role, rows, cols)])
        }
        (Direction::C2V, _) => {
            let (_, _, part_rows, part_cols) = lane_part(split, rows, cols, 0);
            let parts = ring.lanes().filter(|lane| *lane == 0 || split != Split::None || ring.lanes[1]).map(|lane| {
                let (r, c, part_rows, part_cols) = lane_part(split, rows, cols, lane);
                MovePart { from: (r, c), core: Role::lane(lane), to: (0, 0), rows: part_rows, cols: part_cols }
            });
            (whole(Role::Aiv0, slot_layout(ring, &pushed, part_rows, part_cols)), parts.collect())
        }
        (Direction::V2C, _) => {
            let lane = role.subblock() as usize;
            let (all_rows, all_cols) = whole_shape(split, rows, cols);
            let (r, c, ..) = lane_part(split, all_rows, all_cols, lane);
            // Without a split both lanes hold the same tile: lane 0 brings it, lane 1 only takes part in the handshake.
            let brings = split != Split::None || lane == 0 || !ring.lanes[0];
            let part = MovePart { from: (0, 0), core: Role::Aic, to: (r, c), rows, cols };
            (whole(Role::Aic, slot_layout(ring, &pushed, all_rows, all_cols)), if brings { vec![part] } else { vec![] })
        }
    };
    let room = Some(u64::from(ring.slot_bytes));
    MoveEffect {
        from: Place { space: tile.ty.space, core: role, layout: pushed },
        to,
        parts,
        room,
        ..MoveEffect::default()
    }
}

/// Expands `tpop_from_aic` and `tpop_from_aiv`. Operands 0 and 1 are the valid rows and columns, if given.
///
/// # Errors
/// Reported where the pipe is not initialised on this core or the popped tile has no memory to land in.
pub fn pop(op: &OpRef<'_>, d: &mut Decoder<'_>, direction: Direction) -> Lowered {
    let (ring, end) = end_of(op, d, direction)?;
    let result = op.result(0);
    let Some(ty) = op.module.ty(result).as_tile().copied() else { return Err(Reported) };
    let ty = d.platform_tile(ty);
    let split = Split::of(op).unwrap_or(Split::None);
    let lanes = consumer_lanes(&ring, d.role);
    let in_gm = ring.space == Space::Gm;
    let pipe = consumer_pipe(direction, in_gm);
    wait(d, pipe, &ring, &lanes, false, end.tag);
    d.note("takes the tile");
    let slot = slot_address(d, end.base, end.tag, ring.slot_bytes);
    let valid = pop_valid(op, d, &ty)?;
    let mut tile = TileRef { ty, addr: slot, valid };
    if in_gm {
        tile.addr = landing(op, d, &ring, &end)?;
        let effect = load_effect(d.role, &ring, split, &ty);
        let cost = d.platform.dma_cost(Space::Gm, ty.space);
        d.issue(pipe, effect, vec![slot, tile.addr, valid[0], valid[1]], cost);
    }
    // The tag moves on while the tile is still in use: the address stays in a register of its own.
    if let Operand::Reg(_) = tile.addr {
        tile.addr = Operand::Reg(d.variable(tile.addr));
    }
    d.bind(result, Binding::Tile(tile));
    advance(d, end.tag, ring.slots);
    Ok(())
}

fn pop_valid(op: &OpRef<'_>, d: &mut Decoder<'_>, ty: &slipring_ir::TileType) -> Result<[Operand; 2], Reported> {
    let full = [ty.layout.rows, ty.layout.cols];
    let mut valid = [Operand::Imm(0); 2];
    for at in 0..2 {
        valid[at] = match (op.operand(at), ty.valid[at]) {
            (Some(value), _) => d.scalar(value)?,
            (None, Dim::Static(n)) => Operand::Imm(n),
            (None, Dim::Dynamic) => Operand::imm(i64::from(full[at])),
        };
        if ty.valid[at] == Dim::Dynamic {
            valid[at] = Operand::Reg(d.variable(valid[at]));
        }
    }
    Ok(valid)
}

/// Address that a pop from global memory loads to: the consumer's reserved buffer slot by slot, or the op's `addr`.
fn landing(op: &OpRef<'_>, d: &mut Decoder<'_>, ring: &PlannedRing, end: &End) -> Result<Operand, Reported> {
    if let Some(address) = op.int("addr") {
        return Ok(Operand::imm(address));
    }
    match end.landing {
        Some(base) => Ok(slot_address(d, base, end.tag, ring.slot_bytes)),
        None => Err(d.report(
            op.error("no-address", "the popped tile has no memory to land in")
                .help("run the passes (`slipring run` and `slipring build` do), or give it `addr`"),
        )),
    }
}

fn load_effect(role: Role, ring: &PlannedRing, split: Split, ty: &slipring_ir::TileType) -> MoveEffect {
    let (rows, cols) = (ty.layout.rows, ty.layout.cols);
    let (all_rows, all_cols, from) = match ring.direction {
        Direction::V2C => (rows, cols, (0, 0)),
        Direction::C2V => {
            let (all_rows, all_cols) = whole_shape(split, rows, cols);
            let (r, c, ..) = lane_part(split, all_rows, all_cols, role.subblock() as usize);
            (all_rows, all_cols, (r, c))
        }
    };
    MoveEffect {
        from: Place { space: Space::Gm, core: role, layout: Layout::nd(ty.layout.elem, all_rows, all_cols) },
        to: Place { space: ty.space, core: role, layout: ty.layout },
        parts: vec![MovePart { from, core: role, to: (0, 0), rows, cols }],
        valid_of_part: true,
        ..MoveEffect::default()
    }
}

/// Expands `tfree_from_aic` and `tfree_from_aiv`.
///
/// # Errors
/// Reported where the pipe is not initialised on this core.
pub fn free(op: &OpRef<'_>, d: &mut Decoder<'_>, direction: Direction) -> Lowered {
    let (ring, end) = end_of(op, d, direction)?;
    let lanes = consumer_lanes(&ring, d.role);
    let pipe = consumer_pipe(direction, ring.space == Space::Gm);
    signal(d, pipe, &ring, &lanes, true, end.free_tag);
    advance(d, end.free_tag, ring.slots);
    Ok(())
}
