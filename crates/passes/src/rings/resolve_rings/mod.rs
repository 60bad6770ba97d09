//! `resolve-rings`: reservations, imports and the use of rings, checked before anything is placed.
//!
//! Every import must name a reservation of its peer, a reservation must hold all slots and be in a memory that the
//! consumer can access, and every popped tile must be freed on every path (seed 000, Compiler Toolchain Implications).
//! Imports of reservations with an address get it here, the others once the allocator has placed their reservation.

mod balance;
mod landing;
use std::ops::Range;

use slipring_ir::{Diagnostic, Diags, Module, Severity};
use slipring_machine::Platform;
use slipring_op::ring::{consumer_buffer, import_peer, reserved_name, slot_space};
use slipring_op::{OpRef, RingPart, kernel_kind};
use slipring_program::Direction;

use crate::analysis::facts::Functions;
use crate::analysis::rings::{Import, RingOp, at_name, consumes, goes, import_of, pipe, ring_ops, write_imports};
use crate::context::{Pass, PassContext};
use crate::rings::resolve_rings::landing::DIRECTIONS;

/// The pass.
pub const PASS: Pass =
    Pass { name: "resolve-rings", summary: "Pair reservations with imports, check how rings are used", run };

fn run(module: &mut Module, context: &PassContext<'_>, diags: &mut Diags) {
    let functions = Functions::of(module);
    if context.platform.ring.landing {
        landing::reserve(module, &functions, context.platform);
    }
    if context.platform.ring.fixed_depth {
        landing::count(module, context.platform);
    }
    let all = ring_ops(module, &functions);
    for (at, op) in all.iter().enumerate() {
        match op.part {
            RingPart::Import => import(op, &functions, &all, diags),
            RingPart::Reserve => {
                reservation(op, context.platform, diags);
                against_others(op, &all[..at], diags);
                unused(op, &all, diags);
            }
            RingPart::Initialize => DIRECTIONS.into_iter().for_each(|d| initialise(op, d, context.platform, diags)),
            // Ops that move tiles are checked where slots are counted.
            RingPart::Push(_) | RingPart::Pop(_) | RingPart::Free(_) => {}
            RingPart::Status(..) | RingPart::Scale(_) | RingPart::Handle(_) => {}
        }
    }
    in_global_memory(&all, context.platform, diags);
    balance::check(module, &functions, &all, context.platform, diags);
    write_imports(module, &functions);
}

fn import<'m>(op: &RingOp<'m>, functions: &Functions, all: &[RingOp<'m>], diags: &mut Diags) {
    match import_of(op, functions, all) {
        Import::NoFunction => {
            diags.push(
                op.op
                    .error("import-peer", "expects 'peer_func' to reference an existing func.func")
                    .label(format!("there is no `@{}`", import_peer(op.op.module, op.op.id).unwrap_or(""))),
            );
        }
        Import::NoReservation => {
            let peer = import_peer(op.op.module, op.op.id).and_then(|name| functions.get(name));
            let there = all.iter().filter(|r| r.part.reserves() && Some(r.function) == peer);
            let names: Vec<_> = there.filter_map(|r| Some(format!("`{}`", reserved_name(&r.op)?))).collect();
            let name = reserved_name(&op.op).unwrap_or("");
            let peer = peer.map_or(String::new(), |f| at_name(op.op.module, f));
            let mut error = op
                .op
                .error("import-unmatched", "expects matching peer reserve_buffer to exist")
                .label(format!("`{peer}` does not reserve `{name}`"));
            error = match names.as_slice() {
                [] => error.help(format!("reserve it in `{peer}`: `pto.reserve_buffer {{name = \"{name}\", …}}`")),
                names => error.help(format!("it reserves {}", names.join(", "))),
            };
            diags.push(error);
        }
        Import::Of(reservation) => {
            let same = kernel_kind(op.op.module, op.function).is_some()
                && kernel_kind(op.op.module, op.function) == kernel_kind(op.op.module, reservation.function);
            if same {
                diags.push(
                    op.op
                        .error("import-peer", "a ring connects cores of different kinds")
                        .also(reservation.op.span(), "reserved by a function of the same kind"),
                );
            }
        }
    }
}

fn reservation(op: &RingOp<'_>, platform: &Platform, diags: &mut Diags) {
    let Some(base) = op.base() else { return };
    let Some(spec) = platform.space(op.space()) else { return };
    let (space, end) = (op.space(), base.saturating_add(op.bytes()));
    if end > spec.bytes {
        diags.push(op.op.error(
            "reserve-capacity",
            format!("exceeds available local memory capacity: [{base}, {end}) in `{space}`, which has {}", spec.bytes),
        ));
    }
    if base % spec.align != 0 {
        diags.push(
            op.op
                .error("reserve-align", format!("the address {base} is not a multiple of {}", spec.align))
                .help(format!("place rings in `{space}` at multiples of {} bytes", spec.align)),
        );
    }
}

fn range(op: &RingOp<'_>) -> Option<Range<u64>> {
    let base = op.base()?;
    Some(base..base.saturating_add(op.bytes()))
}

fn against_others(op: &RingOp<'_>, before: &[RingOp<'_>], diags: &mut Diags) {
    for other in before.iter().filter(|r| r.part.reserves() && r.function == op.function) {
        let function = at_name(op.op.module, op.function);
        if reserved_name(&other.op) == reserved_name(&op.op) {
            let name = reserved_name(&op.op).unwrap_or("");
            diags.push(
                op.op
                    .error("reserve-name", format!("`{name}` is reserved twice in `{function}`"))
                    .also(other.op.span(), "first here"),
            );
        }
        if let (Some(a), Some(b)) = (range(other), range(op))
            && other.space() == op.space()
            && a.start < b.end
            && b.start < a.end
        {
            diags.push(
                op.op
                    .error(
                        "ring-overlap",
                        format!(
                            "overlapping reserve_buffer ranges in function '{}': [{}, {}) overlaps with [{}, {})",
                            function.trim_start_matches('@'),
                            b.start,
                            b.end,
                            a.start,
                            a.end
                        ),
                    )
                    .also(other.op.span(), "the other one")
                    .help("move one of them, or leave both addresses to the allocator with `auto = true`"),
            );
        }
    }
}

/// True if an initialise op takes its buffer for a direction from this op.
fn takes(init: &RingOp<'_>, direction: Direction, from: &RingOp<'_>) -> bool {
    let value = consumer_buffer(&init.op, direction);
    value.is_some_and(|v| init.op.module.defining_op(v) == Some(from.op.id))
}

fn unused(op: &RingOp<'_>, all: &[RingOp<'_>], diags: &mut Diags) {
    let value = op.op.result(0);
    let module = op.op.module;
    let passed_on = module
        .body(op.function, 0)
        .is_some_and(|body| module.walk(body).into_iter().any(|id| module.op(id).operands.contains(&value)));
    let mut inits = all.iter().filter(|r| r.part.makes_end());
    if !passed_on && !inits.any(|init| DIRECTIONS.into_iter().any(|d| takes(init, d, op))) {
        let warning = Diagnostic::warning("reserve-unused", op.op.span(), "no pipe uses this reservation");
        diags
            .push(warning.help("pass it to the initialise op of this core as the buffer of the direction it consumes"));
    }
}

fn initialise(init: &RingOp<'_>, direction: Direction, platform: &Platform, diags: &mut Diags) {
    if !goes(&init.op, direction, platform) {
        return;
    }
    let module = init.op.module;
    let Some(value) = consumer_buffer(&init.op, direction) else { return };
    let Some(definition) = module.defining_op(value).and_then(|id| OpRef::of(module, id)) else { return };
    let consumes = consumes(&init.op, direction);
    let operand = if direction == Direction::C2V { "c2v_consumer_buf" } else { "v2c_consumer_buf" };
    let Some(part) = definition.def.ring else { return };
    match (part, consumes) {
        (RingPart::Reserve, false) => diags.push(
            init.op
                .error("ring-side", format!("`{operand}` must be imported here: the slots are the peer's"))
                .also(definition.span(), "reserved by the producer")
                .help("reserve it in the peer and use `pto.import_reserved_buffer` here"),
        ),
        (RingPart::Import, true) => diags.push(
            init.op
                .error("ring-side", format!("`{operand}` must be reserved here: this core consumes the tiles"))
                .also(definition.span(), "imported by the consumer")
                .help("reserve it here with `pto.reserve_buffer` and import it in the peer"),
        ),
        (RingPart::Reserve, true) => {
            let reservation = RingOp { function: init.function, op: definition, part: RingPart::Reserve };
            check_reservation(init, &reservation, direction, platform, diags);
        }
        (RingPart::Import, false) => {}
        // These give no slot addresses.
        (RingPart::Initialize | RingPart::Status(..) | RingPart::Scale(_) | RingPart::Handle(_), _) => {}
        (RingPart::Push(_) | RingPart::Pop(_) | RingPart::Free(_), _) => {}
    }
}

fn check_reservation(
    init: &RingOp<'_>,
    reservation: &RingOp<'_>,
    direction: Direction,
    platform: &Platform,
    diags: &mut Diags,
) {
    let wanted = slot_space(direction);
    if reservation.space() != wanted {
        let location = reservation.space();
        diags.push(
            reservation
                .op
                .error("reserve-location", format!("the slots of a {} ring lie in `{wanted}`", direction.name()))
                .label(format!("reserved in `{location}`"))
                .also(init.op.span(), "used here"),
        );
    }
    let Some(spec) = pipe(&init.op, platform) else { return };
    let (needed, has) = (spec.local_bytes(), reservation.bytes());
    if has < needed {
        let (count, slot) = (spec.local_slots(), u64::from(spec.slot_bytes));
        let fewer = has.checked_div(slot).filter(|n| *n > 0);
        let fewer = fewer.map_or(String::new(), |n| format!(", or `slot_num` at both ends to {n}"));
        diags.push(
            reservation
                .op
                .error("reserve-size", format!("{has} bytes are too few for {count} slots of {slot} bytes"))
                .also(init.op.span(), format!("{count} slots of {slot} bytes make {needed}"))
                .help(format!("set `size` to {needed}{fewer}")),
        );
    }
}

/// Where rings are in global memory, reservations are only landing areas of popped tiles.
fn in_global_memory(all: &[RingOp<'_>], platform: &Platform, diags: &mut Diags) {
    let mut reservations = all.iter().filter(|r| r.part.reserves() || r.part.imports());
    let Some(first) = reservations.next().filter(|_| platform.ring.in_gm) else { return };
    let message = format!("on `{}` rings lie in global memory: reserved buffers only hold popped tiles", platform.name);
    let note = Diagnostic::warning("ring-in-gm", first.op.span(), message);
    diags.push(Diagnostic { severity: Severity::Note, primary: None, ..note });
}
