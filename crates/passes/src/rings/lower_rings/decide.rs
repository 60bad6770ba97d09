//! Whether the pipes of a kernel can be expanded, and the role of each of their ops.

use super::tags;
use slipring_ir::{Module, OpId, TileType, Type, ValueId};
use slipring_machine::{CoreKind, Role};
use slipring_op::ring::{PlannedRing, RingPlan, Split, consumer_buffer, gm_buffer, own_end, pipe_key, ring_tile};
use slipring_op::{Kernel, OpRef, RingPart, make, reachable};
use slipring_program::Direction;
use slipring_tile::Space;

use crate::analysis::facts::Functions;
use crate::rings::lower_rings::work::{Act, Base, End, RingStep, Stays, Tags, Work};

/// Examines every op of a kernel's pipes.
pub fn decide(module: &Module, kernel: &Kernel, others: &[&Kernel], plan: &RingPlan) -> Result<Work, Stays> {
    let starts = [(CoreKind::Cube, kernel.start[0]), (CoreKind::Vector, kernel.start[1].or(kernel.start[2]))];
    let functions = Functions::of(module);
    let called = |op: OpId| Some((functions.callee(module, op)?, op));
    let calls: Vec<(OpId, OpId)> = module.walk(module.top).into_iter().filter_map(called).collect();
    let mut work = Work { steps: vec![], ends: vec![], inits: vec![], both_lanes: kernel.lanes() == 2 };
    for (kind, start) in starts {
        let Some(start) = start else { continue };
        let parts: Vec<OpRef<'_>> = reachable(module, start, kind)
            .into_iter()
            .filter_map(|id| OpRef::of(module, id).filter(|op| op.def.ring.is_some()))
            .filter(|op| !op.def.ring.is_some_and(|part| part.reserves() || part.imports()))
            .collect();
        for op in &parts {
            once(module, op, kind, others, &calls)?;
        }
        for op in parts.iter().filter(|op| op.def.ring.is_some_and(RingPart::makes_end)) {
            work.inits.push(op.id);
            let users = module.op(op.id).results.iter().flat_map(|pipe| users(module, *pipe));
            if let Some(other) = users.into_iter().find(|user| !parts.iter().any(|part| part.id == *user)) {
                return Stays::at(other, "the pipe is passed on here");
            }
            for ring in plan.rings.iter().filter(|ring| Some(ring.key) == pipe_key(op)) {
                work.ends.push(end(module, op, kind, ring, kernel)?);
            }
        }
        for op in parts.iter().filter(|op| !op.def.ring.is_some_and(RingPart::makes_end)) {
            let step = step(module, op, kind, &work.ends)?;
            work.steps.push(step);
        }
    }
    for at in 0..work.ends.len() {
        let tags = tags::of(module, &work, at);
        work.ends[at].tags = tags;
    }
    Ok(work)
}

/// Refuses ops of functions that run several times, or in several kernels; `calls` are all calls of the module, with
/// their callees.
fn once(
    module: &Module,
    op: &OpRef<'_>,
    kind: CoreKind,
    others: &[&Kernel],
    calls: &[(OpId, OpId)],
) -> Result<(), Stays> {
    let Some(function) = module.function_of(op.id) else { return Stays::at(op.id, "it stands in no function") };
    let calls: Vec<OpId> = calls.iter().filter(|(callee, _)| *callee == function).map(|(_, call)| *call).collect();
    let in_a_region = |call: &OpId| {
        let caller = module.function_of(*call).and_then(|caller| module.body(caller, 0));
        module.op(*call).block != caller
    };
    if let Some(call) = calls.get(1).or_else(|| calls.iter().find(|call| in_a_region(call))) {
        return Stays::at(*call, "the function with its end is called several times, or on a condition");
    }
    let elsewhere =
        |other: &&&Kernel| other.start.iter().flatten().any(|start| reachable(module, *start, kind).contains(&op.id));
    if others.iter().any(|other| elsewhere(&other)) {
        return Stays::at(op.id, "several kernels have the end that it belongs to");
    }
    let events = module.op(op.id).results.iter().filter(|v| module.ty(**v).as_tile().is_none());
    let makes = op.def.ring.is_some_and(RingPart::makes_end);
    if !makes && events.into_iter().any(|event| !users(module, *event).is_empty()) {
        return Stays::at(op.id, "its event is used");
    }
    Ok(())
}

/// The ops that use a value.
pub fn users(module: &Module, value: ValueId) -> Vec<OpId> {
    module.walk(module.top).into_iter().filter(|op| module.op(*op).operands.contains(&value)).collect()
}

fn end(module: &Module, init: &OpRef<'_>, kind: CoreKind, ring: &PlannedRing, kernel: &Kernel) -> Result<End, Stays> {
    let id = init.id;
    let Some(body) = module.function_of(id).and_then(|function| module.body(function, 0)) else {
        return Stays::at(id, "it stands in no function");
    };
    if module.op(id).block != Some(body) {
        return Stays::at(id, "the end is made on a condition");
    }
    let running = [Role::Aiv0, Role::Aiv1].map(|role| kernel.start[role.index()].is_some());
    if ring.control {
        return Stays::at(id, "it carries a control signal");
    }
    if ring.has_epilogue() {
        return Stays::at(id, "the fixpipe changes its tiles on their way");
    }
    if ring.takes_rows_apart() {
        return Stays::at(id, "rows that are pushed into L1 become blocks there, which no move does");
    }
    if ring.period > 1 {
        return Stays::at(id, format!("a free signal stands for {} tiles", ring.period));
    }
    if !ring.switched.is_empty() {
        return Stays::at(id, "ops turn its signals on and off");
    }
    if ring.lanes != running {
        return Stays::at(id, "it goes to one Vector core of the two that run");
    }
    if ring.protocol.is_tagged() && ring.credits != ring.slots {
        return Stays::at(id, "not every slot is free at its beginning");
    }
    let (base, landing) = match ring.space {
        Space::Gm => {
            let pointer = gm_buffer(init).filter(|v| matches!(module.ty(*v), Type::Ptr(_, None | Some(Space::Gm))));
            let Some(pointer) = pointer else {
                return Stays::at(id, "its slots in global memory are named by no pointer");
            };
            let before = ring.both_ways && ring.direction == Direction::V2C;
            let bytes = if before { u64::from(ring.slots) * u64::from(ring.slot_bytes) } else { 0 };
            (Base::Gm { pointer, bytes }, consumer_buffer(init, ring.direction))
        }
        _ => match consumer_buffer(init, ring.direction) {
            Some(buffer) => (Base::Local(buffer), None),
            None => return Stays::at(id, "the text does not say where its slots lie"),
        },
    };
    for value in [Some(base), landing.map(Base::Local)].into_iter().flatten() {
        if let Base::Local(value) = value
            && !matches!(*module.ty(value), Type::Index | Type::I32 | Type::I64)
        {
            return Stays::at(id, "its addresses are not `i32`, `i64` or `index`");
        }
    }
    Ok(End { ring: ring.clone(), kind, init: id, body, base, landing, tags: Tags::default() })
}

fn step(module: &Module, op: &OpRef<'_>, kind: CoreKind, ends: &[End]) -> Result<RingStep, Stays> {
    let Some((part, direction)) = op.ring().and_then(|part| Some((part, part.moves()?))) else {
        return Stays::at(op.id, "this is not a push, a pop or a free");
    };
    let init = own_end(op).map(|init| init.id);
    let at = ends.iter().position(|end| end.kind == kind && Some(end.init) == init && end.ring.direction == direction);
    let Some(at) = at else { return Stays::at(op.id, "its end is made in another function") };
    let end = &ends[at];
    if module.function_of(op.id) != module.function_of(end.init) {
        return Stays::at(op.id, "its end is made in another function");
    }
    let ring = &end.ring;
    let frees_in_pop = ring.auto_free && ring.space == Space::Gm;
    let act = match part {
        _ if part.pushes().is_some() => Act::Push,
        _ if part.pops().is_some() => Act::Pop { frees: frees_in_pop },
        _ if ring.auto_free && (!make::is_placed(module, op.id) || frees_in_pop) => Act::Nothing,
        _ => Act::Free,
    };
    let split = Split::of(op).unwrap_or(Split::None);
    if let Some(tile) = ring_tile(op)
        && let Some(ty) = module.ty(tile).as_tile()
    {
        tile_goes(op, end, act, split, ty)?;
        if matches!(act, Act::Pop { .. }) && module.op(op.id).operands.contains(&tile) {
            rebound(module, op.id, tile)?;
        }
        if act == (Act::Pop { frees: frees_in_pop })
            && ring.space == Space::Gm
            && end.landing.is_none()
            && op.int(slipring_op::address::ADDRESS).is_none()
        {
            return Stays::at(op.id, "the popped tile has no place yet");
        }
    }
    Ok(RingStep { op: op.id, act, end: at, split })
}

/// Refuses tiles that cross in parts whose locations depend on the valid extents.
fn tile_goes(op: &OpRef<'_>, end: &End, act: Act, split: Split, ty: &TileType) -> Result<(), Stays> {
    let ring = &end.ring;
    let Some(axis) = split.axis() else { return Ok(()) };
    let elem = ty.layout.elem.bytes() as u64;
    if elem == 0 {
        return Stays::at(op.id, "its elements are parts of bytes");
    }
    let whole = [ty.layout.rows, ty.layout.cols][axis];
    let known = ty.valid[axis].known();
    let pops_part = act != Act::Push && end.kind == CoreKind::Vector;
    let in_image = ring.space == Space::Gm && !pops_part;
    if in_image && known != Some(u64::from(whole)) {
        return Stays::at(op.id, "the places of its halves depend on how much of the tile is valid");
    }
    if act == Act::Push && known.is_none() {
        return Stays::at(op.id, "its halves depend on how much of the tile is valid");
    }
    if end.kind == CoreKind::Cube && !whole.is_multiple_of(2) {
        return Stays::at(op.id, "its halves are not equal");
    }
    Ok(())
}

/// Refuses a tile that is popped into if a use of it may see another pop, or none.
fn rebound(module: &Module, pop: OpId, tile: ValueId) -> Result<(), Stays> {
    let uses = users(module, tile);
    let Some((block, _)) = module.position(pop) else { return Stays::at(pop, "it stands in no block") };
    let pops: Vec<OpId> = uses
        .iter()
        .copied()
        .filter(|id| OpRef::of(module, *id).is_some_and(|op| op.def.ring.is_some_and(RingPart::takes_tile)))
        .collect();
    let outer = |op: OpId| {
        std::iter::successors(Some(op), |op| module.parent_op(*op)).find(|op| module.op(*op).block == Some(block))
    };
    let at = |op: OpId| outer(op).and_then(|op| module.position(op)).map(|(_, at)| at);
    let first = pops.iter().filter_map(|pop| at(*pop)).min();
    let clear = pops.iter().all(|other| module.op(*other).block == Some(block))
        && uses.iter().all(|user| at(*user).is_some_and(|at| Some(at) >= first));
    if clear { Ok(()) } else { Stays::at(pop, "the tile that it fills is used where another pop may have filled it") }
}
