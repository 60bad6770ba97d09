//! Expansion of ring ops.
//!
//! | op | steps |
//! |---|---|
//! | initialise | the consumer signals every slot free |
//! | push | allocate: wait free → move → record: signal ready → advance the push tag |
//! | pop | wait ready → load, or bind to the slot → advance the pop tag; in a pipe with automatic frees: signal free |
//! | free | signal free → advance the free tag |
//!
//! A consumer has two tags, so several pops may be outstanding; if pop and free alternate, the two act as the single
//! tag of seed 000. [`super::Phases`] determines the pipe of a step, [`super::Protocol`] the flag, and
//! [`super::signal`] when a step is left out. A control ring has the same steps, all executed by the scalar unit.

use slipring_ir::{Dim, TileType, ValueId};
use slipring_machine::{Cost, Pipe, Role};
use slipring_program::{Direction, Inst, Law, Operand, Reg};
use slipring_tile::{Elem, Space};

use super::base::SlotBase;
use super::phases::Phase;
use super::signal::{self, Gate};
use super::spec::{consumer_buffer, gm_buffer, pipe_key, ring_tile};
use super::split::Split;
use super::{moves, witness};
use slipring_effect::{ElementAccess, Finish, MoveArgs, MoveEffect, TilePlace, Within};

use crate::decode::{Binding, Decoder, Decoding, PlaceInTensor, TileRef, ViewRef, in_memory};
use crate::def::{Lowered, OpRef, Reported, RingPart};
use crate::ring::core_ends::{End, Landing};
use crate::ring::planned::PlannedRing;

/// Expands the ops that make a pipe.
///
/// # Errors
/// Reported if a buffer that the placement needs is missing.
pub fn initialize(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    if let Some(pipe) = op.module.op(op.id).results.first() {
        d.bind(*pipe, Binding::Handle(0));
    }
    let Some(key) = pipe_key(op) else { return Err(Reported) };
    let rings: Vec<PlannedRing> =
        [Direction::C2V, Direction::V2C].iter().filter_map(|direction| d.rings.get(key, *direction).cloned()).collect();
    d.core_rings.ends.extend(rings.iter().map(|ring| ((key, ring.direction), None)));
    for ring in rings {
        let end = bind_end(op, d, &ring)?;
        d.core_rings.ends.insert((key, ring.direction), Some(end));
        let consumer = consumer_lanes(&ring, d.role);
        if !consumer.is_empty() {
            signal::start_free(d, &ring, &consumer);
        }
    }
    Ok(())
}

fn bind_end(op: &OpRef<'_>, d: &mut Decoder<'_>, ring: &PlannedRing) -> Result<End, Reported> {
    let bytes = u64::from(ring.slots) * u64::from(ring.slot_bytes);
    let buffer = consumer_buffer(op, ring.direction);
    let mut landing = None;
    // The slots of such a ring stay at the text's address in a reference run as well, because the text itself fills
    // them.
    let base = if d.mode == Decoding::Reference && ring.space != Space::Gm {
        d.ring_memory(ring.first, ring.space, bytes)
    } else if ring.space == Space::Gm {
        let Some(gm) = gm_buffer(op) else {
            let total = bytes * if ring.both_ways { 2 } else { 1 };
            return Err(d.report(
                op.error("gm-slot-buffer", "requires 'gm_slot_buffer': this platform keeps rings in global memory")
                    .help(format!(
                        "pass a buffer of {total} bytes for each cluster as `gm_slot_buffer`: a parameter of the kernel"
                    )),
            ));
        };
        if let Some(buffer) = buffer.filter(|v| is_landing(op, *v)) {
            let base = d.scalar(buffer)?;
            let tag = (ring.local_slots != ring.slots).then(|| d.variable(Operand::Imm(0)));
            landing = Some(Landing { base, tag, slots: ring.local_slots });
        }
        // In a pipe with both directions, the Vector-to-Cube slots follow those of the other direction.
        let start = address_of(op, d, gm)?;
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
    let consumes = !consumer_lanes(ring, d.role).is_empty();
    let switched = |phase| ring.switched.contains(&phase);
    let phases = [Phase::Allocate, Phase::Record, Phase::Wait, Phase::Free];
    let frees_later = ring.auto_free && !frees_in_pop(d, ring) && consumes && switched(Phase::Free);
    let zero = Operand::Imm(0);
    Ok(End {
        base,
        landing,
        tag: d.variable(zero),
        free_tag: d.variable(zero),
        position: (ring.period > 1).then(|| d.variable(zero)),
        status: phases.map(|phase| switched(phase).then(|| d.variable(Operand::Imm(1)))),
        held: frees_later.then(|| (d.variable(zero), d.variable(zero))),
        signal: (ring.control && consumes).then(|| d.variable(zero)),
    })
}

/// The base address of a buffer: a pointer, or a memref.
fn address_of(op: &OpRef<'_>, d: &mut Decoder<'_>, buffer: ValueId) -> Result<Operand, Reported> {
    match d.binding(buffer) {
        Some(Binding::View(view)) => Ok(view.base),
        Some(Binding::Scalar(address)) => Ok(*address),
        _ => Err(d.report(op.error("gm-slot-buffer", "the slots lie in a buffer of global memory"))),
    }
}

/// True if a value is the landing area of popped tiles. On an op that makes a pipe value any address is one; on other
/// ops it is the memory that this function reserved, as a constant is the seed's "unused".
fn is_landing(op: &OpRef<'_>, value: ValueId) -> bool {
    !op.def.schema.results.is_empty() || matches!(SlotBase::of(op.module, value), SlotBase::In { .. })
}

/// Lanes for which a core is the consumer.
fn consumer_lanes(ring: &PlannedRing, role: Role) -> Vec<usize> {
    match (ring.direction, role) {
        (Direction::C2V, Role::Aic) => Vec::new(),
        (Direction::C2V, vector) => own_lane(ring, vector),
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
        (Direction::V2C, vector) => own_lane(ring, vector),
    }
}

/// The lane of a Vector core, if the ring serves it.
fn own_lane(ring: &PlannedRing, vector: Role) -> Vec<usize> {
    let lane = vector.subblock() as usize;
    if ring.includes(vector) { vec![lane] } else { Vec::new() }
}

/// True if a pop of a ring with automatic frees frees its slot immediately: the tile has been copied, or timing does
/// not matter.
fn frees_in_pop(d: &Decoder<'_>, ring: &PlannedRing) -> bool {
    ring.auto_free && (ring.space == Space::Gm || ring.control || d.mode == Decoding::Reference)
}

fn end_of(op: &OpRef<'_>, d: &mut Decoder<'_>, direction: Direction) -> Result<(PlannedRing, End), Reported> {
    let key = pipe_key(op);
    let ring = key.and_then(|key| d.rings.get(key, direction)).cloned();
    match (ring, key.and_then(|key| d.core_rings.ends.get(&(key, direction)).copied())) {
        (Some(ring), Some(Some(end))) => {
            if !ring.includes(d.role) {
                // Both lanes run the same text: ops on the other lane's pipe must not be reached on this lane.
                let (name, other) = (op.def.schema.name, Role::lane(1 - d.role.subblock() as usize));
                let message = format!("{} comes to `{name}` on a pipe to {other} alone", d.role);
                d.emit(Inst::Trap { message: message.into() });
            }
            Ok((ring, end))
        }
        (_, Some(None)) => Err(Reported),
        _ => {
            let name = op.def.schema.name;
            Err(d.error("ring-not-initialized", format!("`{name}` comes before the pipe is initialised")))
        }
    }
}

fn slot_address(d: &mut Decoder<'_>, base: Operand, tag: Reg, slot_bytes: u32) -> Operand {
    let offset = d.mul(Operand::Reg(tag), Operand::imm(i64::from(slot_bytes)));
    d.add(base, offset)
}

/// Binds the event that some forms of the op return: it does not exist at run time.
fn bind_event(op: &OpRef<'_>, d: &mut Decoder<'_>) {
    for value in &op.module.op(op.id).results {
        if op.module.ty(*value).as_tile().is_none() {
            d.bind(*value, Binding::Handle(0));
        }
    }
}

/// Expands a push.
///
/// # Errors
/// Reported where the pipe is not initialised on this core.
pub fn push(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    bind_event(op, d);
    let Some(direction) = op.ring().and_then(RingPart::pushes) else { return Err(Reported) };
    let (ring, end) = end_of(op, d, direction)?;
    let status = |phase: Phase| end.status[phase as usize];
    let lanes = producer_lanes(&ring, d.role);
    if ring.entries {
        signal::phase(d, &ring, &lanes, Phase::Record, end.tag, Gate { status: status(Phase::Record), position: None });
        signal::advance(d, end.tag, ring.slots);
        return Ok(());
    }
    let Some(value) = ring_tile(op) else { return Err(Reported) };
    let tile = d.tile(value)?;
    let split = Split::of(op).unwrap_or(Split::None);
    let position = end.position.map(|position| (position, 0));
    signal::phase(d, &ring, &lanes, Phase::Allocate, end.tag, Gate { status: status(Phase::Allocate), position });
    d.note("moves the tile into the slot");
    let address = slot_address(d, end.base, end.tag, ring.slot_bytes);
    if ring.control {
        push_signal(d, &ring, &tile, address);
    } else {
        let Some(pushed) = op.module.ty(value).as_tile() else { return Err(Reported) };
        let source = TilePlace { space: tile.ty.space, core: d.role, layout: tile.ty.layout };
        let (finish, scale) = match ring.epilogue {
            Some(epilogue) => epilogue.finish(op, d)?,
            None => (Finish::default(), Operand::Imm(0)),
        };
        let effect = MoveEffect { finish, ..moves::push(d.role, &ring, split, source, pushed) };
        witness::push(d, &ring, split, source, &tile, end.tag, pushed);
        if !effect.parts.is_empty() {
            let cost = d.platform.dma_cost(tile.ty.space, ring.space);
            let [rows, cols] = tile.valid;
            let args = MoveArgs { from: tile.addr, to: address, rows, cols, scale }.list();
            let part = lanes.first().map_or(ring.first, |lane| ring.part(*lane));
            let by_valid = ring.space != Space::Gm && d.moves_by_valid(&tile);
            d.out_of_product(&tile, by_valid);
            d.issue_into_ring(ring.phases.record, effect, args, cost, part);
        }
    }
    signal::phase(d, &ring, &lanes, Phase::Record, end.tag, Gate { status: status(Phase::Record), position: None });
    signal::advance(d, end.tag, ring.slots);
    if let Some(position) = end.position {
        signal::advance(d, position, ring.period);
    }
    Ok(())
}

/// Memory that holds a control slot.
fn control_slot(ring: &PlannedRing, load: bool) -> ElementAccess {
    ElementAccess { space: ring.space, core: Role::Aic, elem: Elem::I32, load, within: Within::Anything }
}

/// Writes the first 32 bits of a tile into the slot, from lane 0 if both Vector cores take part.
fn push_signal(d: &mut Decoder<'_>, ring: &PlannedRing, tile: &TileRef, address: Operand) {
    if d.role.subblock() == 1 && ring.lanes[0] {
        return;
    }
    let first =
        ElementAccess { space: tile.ty.space, core: d.role, elem: Elem::I32, load: true, within: Within::Anything };
    let value = d.issue_scalar(first, vec![tile.addr]);
    let cost = Cost::fixed(d.platform.cost.scalar_memory);
    d.issue_into_ring(Pipe::S, control_slot(ring, false), vec![address, value], cost, ring.first);
}

/// Expands a pop. Operands `valid_row` and `valid_col` are the valid rows and columns, if given.
///
/// # Errors
/// Reported where the pipe is not initialised on this core or the popped tile has no memory to land in.
pub fn pop(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    bind_event(op, d);
    let Some(direction) = op.ring().and_then(RingPart::pops) else { return Err(Reported) };
    let (ring, end) = end_of(op, d, direction)?;
    let lanes = consumer_lanes(&ring, d.role);
    let gate = Gate { status: end.status[Phase::Wait as usize], position: None };
    signal::phase(d, &ring, &lanes, Phase::Wait, end.tag, gate);
    d.note("takes the tile");
    let slot = slot_address(d, end.base, end.tag, ring.slot_bytes);
    if ring.entries {
        bind_entry(op, d, slot)?;
    } else if let Some(signal) = end.signal {
        let read = d.issue_scalar(control_slot(&ring, true), vec![slot]);
        d.emit(Inst::Move { d: signal, a: read });
    } else {
        take_tile(op, d, &ring, &end, slot)?;
    }
    signal::advance(d, end.tag, ring.slots);
    if let Some(Landing { tag: Some(tag), slots, .. }) = end.landing {
        signal::advance(d, tag, slots);
    }
    if frees_in_pop(d, &ring) {
        free_slot(d, &ring, &end, end.status[Phase::Free as usize]);
    } else if let (Some((bits, count)), Some(status)) = (end.held, end.status[Phase::Free as usize]) {
        let args = [Operand::Reg(bits), Operand::Reg(status), Operand::Reg(count)];
        let f = |[bits, status, count]: [u64; 3]| Ok(bits | (status & 1) << (count & 63));
        d.emit(Inst::Scalar { f, law: Law::Unknown, d: bits, args });
        d.emit(Inst::Add { d: count, a: Operand::Reg(count), b: Operand::Imm(1) });
    }
    Ok(())
}

/// Expands the op that returns a free slot in global memory.
///
/// # Errors
/// Reported where the pipe is not initialised on this core.
pub fn allocate_entry(op: &OpRef<'_>, d: &mut Decoder<'_>, direction: Direction) -> Lowered {
    let (ring, end) = end_of(op, d, direction)?;
    let lanes = producer_lanes(&ring, d.role);
    let position = end.position.map(|position| (position, 0));
    let gate = Gate { status: end.status[Phase::Allocate as usize], position };
    // Slots may be allocated before earlier ones are pushed, so they need a separate tag: the one that a consumer uses
    // for frees.
    signal::phase(d, &ring, &lanes, Phase::Allocate, end.free_tag, gate);
    let slot = slot_address(d, end.base, end.free_tag, ring.slot_bytes);
    bind_entry(op, d, slot)?;
    signal::advance(d, end.free_tag, ring.slots);
    if let Some(position) = end.position {
        signal::advance(d, position, ring.period);
    }
    Ok(())
}

/// Binds the slot that an op returns: a view like that of its end of the pipe, at this address.
fn bind_entry(op: &OpRef<'_>, d: &mut Decoder<'_>, slot: Operand) -> Result<(), Reported> {
    let view = super::spec::own_end(op).and_then(|own| gm_buffer(&own)).ok_or(Reported)?;
    let view = d.view(view)?;
    let mut base = slot;
    if let (Some(axis), 1) = (Split::of(op).and_then(Split::axis), d.role.subblock()) {
        // The part of Vector core 1 begins after as many elements as the last dimensions of its view have.
        let last = &view.dims[view.dims.len().saturating_sub(2 - axis)..];
        let mut offset = Operand::imm(view.elem.bytes() as i64);
        for extent in last {
            offset = d.mul(offset, *extent);
        }
        base = d.add(base, offset);
    }
    // The tag advances while the slot is in use, so the address needs its own register.
    let base = if let Operand::Reg(_) = base { Operand::Reg(d.variable(base)) } else { base };
    // A slot is a tensor by itself, after which the next slot comes.
    let place = PlaceInTensor::whole(&view.dims, true);
    d.bind(op.result(0), Binding::View(ViewRef { base, place, ..view }));
    Ok(())
}

/// Gives the tile of a pop its address and valid shape, and loads it from global memory.
fn take_tile(
    op: &OpRef<'_>,
    d: &mut Decoder<'_>,
    ring: &PlannedRing,
    end: &End,
    slot: Operand,
) -> Result<(), Reported> {
    let Some(value) = ring_tile(op) else { return Err(Reported) };
    let Some(popped) = op.module.ty(value).as_tile().copied() else { return Err(Reported) };
    let ty = in_memory(d, popped);
    let split = Split::of(op).unwrap_or(Split::None);
    let valid = pop_valid(op, d, ring, split, &popped)?;
    let mut addr = slot;
    if ring.space == Space::Gm {
        addr = landing(op, d, ring, end)?;
        let effect = moves::load(d.role, ring, split, &popped, &ty);
        let cost = d.platform.dma_cost(Space::Gm, ty.space);
        let args = MoveArgs { from: slot, to: addr, rows: valid[0], cols: valid[1], scale: Operand::Imm(0) };
        d.issue(ring.phases.wait, effect, args.list(), cost);
    }
    witness::pop(d, ring, split, &TileRef { ty, addr, valid }, end.tag);
    let known = match d.binding(value) {
        Some(Binding::Tile(tile)) => Some(*tile),
        _ => None,
    };
    match known {
        // An existing tile: its address changes from here on.
        Some(TileRef { addr: Operand::Reg(address), valid: open, .. }) => {
            d.emit(Inst::Move { d: address, a: addr });
            for (open, valid) in open.into_iter().zip(valid) {
                if let Operand::Reg(extent) = open {
                    d.emit(Inst::Move { d: extent, a: valid });
                }
            }
        }
        // The tag advances while the tile is still in use, so the address needs its own register.
        _ => {
            if let Operand::Reg(_) = addr {
                addr = Operand::Reg(d.variable(addr));
            }
            d.bind(value, Binding::Tile(TileRef { ty, addr, valid }));
        }
    }
    Ok(())
}

fn pop_valid(
    op: &OpRef<'_>,
    d: &mut Decoder<'_>,
    ring: &PlannedRing,
    split: Split,
    ty: &TileType,
) -> Result<[Operand; 2], Reported> {
    let extent = moves::popped_extent(ring, split, ty);
    let given = ["valid_row", "valid_col"].map(|name| {
        let at = op.def.schema.operands.iter().position(|o| o.name == name);
        at.and_then(|at| op.operand(at))
    });
    let mut valid = [Operand::Imm(0); 2];
    for at in 0..2 {
        valid[at] = match (given[at], ty.valid[at]) {
            (Some(value), _) => d.scalar(value)?,
            (None, Dim::Static(n)) => Operand::Imm(n),
            (None, Dim::Dynamic) => Operand::imm(i64::from(extent[at])),
        };
        if ty.valid[at] == Dim::Dynamic {
            valid[at] = Operand::Reg(d.variable(valid[at]));
        }
    }
    Ok(valid)
}

/// Address that a pop from global memory loads to: the landing area slot by slot, or the op's `addr`.
fn landing(op: &OpRef<'_>, d: &mut Decoder<'_>, ring: &PlannedRing, end: &End) -> Result<Operand, Reported> {
    if let Some(address) = op.int(crate::address::ADDRESS) {
        return Ok(Operand::imm(address));
    }
    match end.landing {
        Some(landing) => Ok(slot_address(d, landing.base, landing.tag.unwrap_or(end.tag), ring.slot_bytes)),
        None => Err(d.report(
            op.error("no-address", "the popped tile has no memory to land in")
                .help("run the passes (`slipring run` and `slipring build` do), or give it `addr`"),
        )),
    }
}

/// Expands a free. In a pipe with automatic frees, hand-written frees do nothing, and frees placed by passes do nothing
/// if the pop has already freed the slot.
///
/// # Errors
/// Reported where the pipe is not initialised on this core.
pub fn free(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    bind_event(op, d);
    let Some(direction) = op.ring().and_then(RingPart::frees) else { return Err(Reported) };
    let (ring, end) = end_of(op, d, direction)?;
    if ring.auto_free && (!crate::make::is_placed(op.module, op.id) || frees_in_pop(d, &ring)) {
        return Ok(());
    }
    let mut status = end.status[Phase::Free as usize];
    if let Some((bits, count)) = end.held {
        let now = d.compute(|[bits, ..]| Ok(bits & 1), [Operand::Reg(bits), Operand::Imm(0), Operand::Imm(0)]);
        let args = [Operand::Reg(bits), Operand::Imm(0), Operand::Imm(0)];
        d.emit(Inst::Scalar { f: |[bits, ..]| Ok(bits >> 1), law: Law::Unknown, d: bits, args });
        d.emit(Inst::Add { d: count, a: Operand::Reg(count), b: Operand::imm(-1) });
        status = if let Operand::Reg(now) = now { Some(now) } else { status };
    }
    free_slot(d, &ring, &end, status);
    Ok(())
}

fn free_slot(d: &mut Decoder<'_>, ring: &PlannedRing, end: &End, status: Option<Reg>) {
    let lanes = consumer_lanes(ring, d.role);
    let position = end.position.map(|position| (position, ring.period - 1));
    signal::phase(d, ring, &lanes, Phase::Free, end.free_tag, Gate { status, position });
    signal::advance(d, end.free_tag, ring.slots);
    if let Some(position) = end.position {
        signal::advance(d, position, ring.period);
    }
}

/// Emits the pending signals of sparse rings when the program of a core ends: the consumer signals for the last,
/// incomplete period. The counters thus return to their initial values, whatever the number of tiles.
pub(crate) fn finish(d: &mut Decoder<'_>) {
    let ends: Vec<_> = d.core_rings.ends.iter().filter_map(|(key, end)| Some((*key, (*end)?))).collect();
    for ((key, direction), end) in ends {
        let Some(ring) = d.rings.get(key, direction).cloned() else { continue };
        let lanes = consumer_lanes(&ring, d.role);
        if let Some(position) = end.position.filter(|_| !lanes.is_empty()) {
            signal::phase(d, &ring, &lanes, Phase::Free, end.free_tag, Gate { status: Some(position), position: None });
        }
    }
}

/// Expands the ops that turn a phase on or off.
///
/// # Errors
/// Reported where the pipe is not initialised on this core.
pub fn set_status(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let Some((phase, direction)) = op.ring().and_then(RingPart::switches) else { return Err(Reported) };
    let (_, end) = end_of(op, d, direction)?;
    let on = d.scalar(op.operand("on").ok_or(Reported)?)?;
    // In a reference run no phase is ever turned off, so there is no register for it.
    if let Some(status) = end.status[phase as usize] {
        d.emit(Inst::Move { d: status, a: on });
    }
    Ok(())
}

/// The control signal that was popped last.
///
/// # Errors
/// Reported if the core has no end of the pipe that pops one.
pub fn signal_value(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (_, end) = end_of(op, d, Direction::V2C)?;
    let Some(signal) = end.signal else {
        return Err(d.error("pipe-direction", "only the consumer of a control pipe has a signal"));
    };
    let now = d.variable(Operand::Reg(signal));
    d.bind(op.result(0), Binding::Scalar(Operand::Reg(now)));
    Ok(())
}
