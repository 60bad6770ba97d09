//! Landing slots for tiles of rings in global memory, for tool chains whose pops copy into such slots.
//!
//! A pipe for which the text declares no such memory gets a reservation in its consumer and an import in its producer.

use std::collections::BTreeSet;

use slipring_ir::{Attr, Module, OpId};
use slipring_machine::Platform;
use slipring_op::ring::{PipeSpec, consumer, consumer_buffer, has_slot_tensor, reservation_of, slot_space, words};
use slipring_op::{OpRef, RingPart, kernel_kind, symbol_name};
use slipring_program::Direction;
use slipring_pto as pto;

use crate::analysis::facts::Functions;
use crate::analysis::rings::{RingOp, pipe, ring_ops};

/// The needs of one direction of a pipe: the ends of the consumer and the producer, a name and a size.
struct Needed {
    direction: Direction,
    ends: [OpId; 2],
    name: String,
    peer: String,
    bytes: u64,
    /// Landing slots, if they are fewer than the slots.
    places: Option<u32>,
}

/// Number of landing slots if one for each slot would take more than half of the memory: the tile library's default.
const FEW: u32 = 2;

/// Adds missing reservations and imports.
pub(super) fn reserve(module: &mut Module, functions: &Functions, platform: &Platform) {
    let needed = needed(module, functions, platform);
    for Needed { direction, ends, name, peer, bytes, places } in needed {
        if let Some(places) = places {
            for end in ends {
                module.op_mut(end).attrs.set(words::LOCAL_SLOTS, Attr::int(places.into()));
            }
        }
        let span = module.op(ends[0]).span;
        let reservation = pto::reserve(module, &name, slot_space(direction), bytes as i64, span);
        give(module, ends[0], direction, reservation);
        let import = pto::import(module, &name, &peer, span);
        give(module, ends[1], direction, import);
    }
}

fn needed(module: &Module, functions: &Functions, platform: &Platform) -> Vec<Needed> {
    let all = ring_ops(module, functions);
    // Pipe values themselves define where their tiles land.
    let ends: Vec<&RingOp<'_>> =
        all.iter().filter(|op| op.part == RingPart::Initialize && module.op(op.op.id).results.is_empty()).collect();
    let mut list = Vec::new();
    for own in &ends {
        for direction in DIRECTIONS {
            let Some(spec) = pipe(&own.op, platform).filter(|spec| spec.has(direction) && spec.in_gm) else { continue };
            let consumes = kernel_kind(module, own.function) == Some(consumer(direction));
            let held = |end: &RingOp<'_>| {
                let buffer = consumer_buffer(&end.op, direction);
                buffer.and_then(|value| reservation_of(module, value)).is_some()
            };
            let Some(other) = (if consumes { peer(own, &ends, functions) } else { None }) else { continue };
            // Slots that the text reads in place need no landing area.
            if held(own) || held(other) || has_slot_tensor(&own.op) {
                continue;
            }
            let function = symbol_name(module, own.function).to_string();
            let number = pto::pipe_number(&own.op).filter(|id| *id > 0).map_or(String::new(), |id| format!("_{id}"));
            let name = format!("{function}_{}_landing{number}", direction.name().to_lowercase());
            let ends = [own.op.id, other.op.id];
            let memory = platform.space(slot_space(direction)).map_or(u64::MAX, |memory| memory.bytes);
            let many = spec.config.local_slots.is_none() && spec.slots > FEW && spec.local_bytes() > memory / 2;
            let places = many.then_some(FEW);
            let bytes = places.map_or(spec.local_bytes(), |places| u64::from(places) * u64::from(spec.slot_bytes));
            list.push(Needed { direction, ends, name, peer: function, bytes, places });
        }
    }
    list
}

/// The other end of a pipe: with the same id, in a function of the other kind; if there are several, one that the same
/// function calls.
fn peer<'a, 'm>(own: &RingOp<'m>, ends: &[&'a RingOp<'m>], functions: &Functions) -> Option<&'a RingOp<'m>> {
    let module = own.op.module;
    let kind = |function: OpId| kernel_kind(module, function);
    let fits = |end: &&RingOp<'m>| kind(end.function) != kind(own.function) && end.pipe() == own.pipe();
    let all: Vec<&'a RingOp<'m>> = ends.iter().copied().filter(fits).collect();
    let callers = |function: OpId| -> BTreeSet<Option<OpId>> {
        let calls = module.walk(module.top).into_iter().filter(|id| functions.callee(module, *id) == Some(function));
        calls.map(|id| module.function_of(id)).collect()
    };
    let own_callers = callers(own.function);
    let same = all.iter().copied().find(|end| !callers(end.function).is_disjoint(&own_callers));
    same.or_else(|| all.first().copied().filter(|_| all.len() == 1))
}

/// Ends from which the tool chain makes pipe values are synchronised by counters: those with a depth other than its
/// default, and all where a function has several.
pub(super) fn count(module: &mut Module, platform: &Platform) {
    let is_end = |id: &OpId| {
        OpRef::of(module, *id)
            .is_some_and(|op| op.def.ring.is_some_and(RingPart::makes_end) && op.def.schema.results.is_empty())
    };
    let of = |function: OpId| module.body(function, 0).map_or_else(Vec::new, |body| module.walk(body));
    let ends: Vec<Vec<OpId>> =
        module.functions().map(|function| of(function).into_iter().filter(is_end).collect()).collect();
    let several = ends.iter().any(|ends| ends.len() > 1);
    let other = |id: &OpId| {
        let spec = OpRef::of(module, *id).and_then(|op| PipeSpec::of(&op, platform));
        spec.is_some_and(|spec| !spec.config.control && (several || !spec.has_depth_of(platform)))
    };
    let counted: Vec<OpId> = ends.into_iter().flatten().filter(other).collect();
    for end in counted {
        module.op_mut(end).attrs.set(words::PROTOCOL, Attr::Str(words::COUNTED.into()));
    }
}

/// Inserts an op that gives an address before an end of a pipe, and passes its address to the end.
fn give(module: &mut Module, end: OpId, direction: Direction, op: OpId) {
    module.insert_before(end, op);
    let value = module.op(op).results[0];
    module.value_mut(value).name = Some("landing".into());
    let Some(init) = OpRef::of(module, end) else { return };
    let names = ["gm_slot_buffer", "c2v_consumer_buf", "v2c_consumer_buf"];
    let mut operands = names.map(|name| init.operand(name));
    operands[match direction {
        Direction::C2V => 1,
        Direction::V2C => 2,
    }] = Some(value);
    let data = module.op_mut(end);
    data.segments = operands.iter().map(|value| u16::from(value.is_some())).collect();
    data.operands = operands.into_iter().flatten().collect();
}

pub(crate) const DIRECTIONS: [Direction; 2] = [Direction::C2V, Direction::V2C];
