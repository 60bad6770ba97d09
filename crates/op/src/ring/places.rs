//! Addresses of a ring's slots: known, aligned, and equal at both ends.

use std::collections::BTreeSet;

use slipring_ir::{Diags, Module, ValueDef, ValueId};
use slipring_machine::{CoreKind, Platform};
use slipring_program::Direction;

use super::base::{SlotBase, outermost_argument};
use super::spec::{PipeSpec, consumer, consumer_buffer, gm_root, slot_space};
use crate::def::{OpRef, RingPart};
use crate::ring::inits::Init;
use crate::ring::words;

/// Checks the slot addresses of a pipe in one direction, at each end alone and of both together.
pub(super) fn check(pipe: &[Init<'_>], direction: Direction, platform: &Platform, diags: &mut Diags) {
    if pipe[0].spec.config.control {
        return same_buffer(pipe, diags);
    }
    for init in pipe {
        slot_size(init, direction, platform, diags);
        if !init.spec.in_gm {
            known(init, direction, platform, diags);
        }
    }
    if pipe[0].spec.in_gm { same_buffer(pipe, diags) } else { same_base(pipe, direction, diags) }
}

/// Requires every slot to begin at an address where a tile may begin.
fn slot_size(init: &Init<'_>, direction: Direction, platform: &Platform, diags: &mut Diags) {
    let space = slot_space(direction);
    let Some(align) = platform.space(space).map(|spec| spec.align) else { return };
    let bytes = u64::from(init.spec.slot_bytes);
    if bytes.is_multiple_of(align) || diags.has_at("pipe-slot-size", init.op.span()) {
        return;
    }
    let message = format!("slots of {bytes} bytes: tiles in `{space}` begin at multiples of {align}");
    let next = bytes.next_multiple_of(align);
    diags.push(init.op.error("pipe-slot-size", message).help(format!("set `slot_size` to {next} at both ends")));
}

/// Requires the text to determine the address of slots on chip: the placement of other buffers depends on it.
fn known(init: &Init<'_>, direction: Direction, platform: &Platform, diags: &mut Diags) {
    let (module, space) = (init.op.module, slot_space(direction));
    let Some(value) = consumer_buffer(&init.op, direction) else { return };
    let base = SlotBase::of(init.op.module, value);
    if base == SlotBase::Computed {
        if init.kind == consumer(direction) {
            diags.push(
                init.op
                    .error("ring-base", format!("where the slots of the {} ring begin is not known before the run", direction.name()))
                    .label(format!("`{}` is computed", module.value_name(value)))
                    .help("reserve them with `pto.reserve_buffer`, or give a constant address: tiles are placed around them"),
            );
        }
        return;
    }
    if let SlotBase::In { reservation, offset } = base
        && init.kind == consumer(direction)
    {
        let has = module.op(reservation).attrs.get(words::SIZE).and_then(slipring_ir::Attr::as_int).unwrap_or(0);
        let needed = i64::try_from(init.spec.local_bytes()).unwrap_or(i64::MAX);
        if offset < 0 || (offset > 0 && offset.saturating_add(needed) > has) {
            let message = format!(
                "the slots take bytes {offset} to {} of a reservation of {has}",
                offset.saturating_add(needed) - 1
            );
            diags.push(
                init.op
                    .error("reserve-size", message)
                    .also(module.op(reservation).span, "reserved here")
                    .help(format!("reserve {} bytes", offset.max(0).saturating_add(needed))),
            );
        }
    }
    let Some(align) = platform.space(space).map(|spec| spec.align) else { return };
    if let Some(at) = base.address(module).or(match base {
        SlotBase::In { offset, .. } => Some(offset),
        _ => None,
    }) && at.rem_euclid(align as i64) != 0
    {
        let message = format!("the slots begin at {at}: tiles in `{space}` begin at multiples of {align}");
        diags.push(init.op.error("reserve-align", message));
    }
}

fn ends<'p, 'm>(pipe: &'p [Init<'m>]) -> Option<(&'p Init<'m>, &'p Init<'m>)> {
    let end = |kind| pipe.iter().find(|init| init.kind == kind);
    end(CoreKind::Cube).zip(end(CoreKind::Vector))
}

/// Requires the producer to write to the address where the consumer reads.
fn same_base(pipe: &[Init<'_>], direction: Direction, diags: &mut Diags) {
    let Some((cube, vector)) = ends(pipe) else { return };
    let module = cube.op.module;
    let base = |init: &Init<'_>| consumer_buffer(&init.op, direction).map(|v| SlotBase::of(init.op.module, v));
    let (Some(here), Some(there)) = (base(vector), base(cube)) else { return };
    let known = |base: SlotBase| base != SlotBase::Computed;
    if here == there || !known(here) || !known(there) {
        return;
    }
    // Two different origins may resolve to the same address.
    if let (Some(a), Some(b)) = (here.address(module), there.address(module))
        && a == b
    {
        return;
    }
    let text = |base: SlotBase| match (base, base.address(module)) {
        (_, Some(at)) => format!("at {at}"),
        (SlotBase::In { reservation, offset }, None) => {
            let name = module.op(reservation).attrs.get(words::NAME).and_then(slipring_ir::Attr::as_str).unwrap_or("?");
            if offset == 0 { format!("in `{name}`") } else { format!("{offset} bytes into `{name}`") }
        }
        _ => "?".into(),
    };
    let operand = if direction == Direction::C2V { "c2v_consumer_buf" } else { "v2c_consumer_buf" };
    diags.push(
        vector
            .op
            .error(
                "ring-mismatch",
                format!("the two ends of a pipe disagree on where its {} slots are", direction.name()),
            )
            .label(format!("{} here", text(here)))
            .also(cube.op.span(), format!("{} at the other end", text(there)))
            .help(format!("give both ends the same `{operand}`: the consumer reserves it, the producer imports it")),
    );
}

/// Requires both ends to use the same buffer in global memory.
fn same_buffer(pipe: &[Init<'_>], diags: &mut Diags) {
    let Some((cube, vector)) = ends(pipe) else { return };
    let module = cube.op.module;
    let buffer = |init: &Init<'_>| gm_root(&init.op).and_then(|v| outermost_argument(module, v));
    let (Some(here), Some(there)) = (buffer(vector), buffer(cube)) else { return };
    if same_parameter(module, here, there) || diags.has_at("ring-mismatch", vector.op.span()) {
        return;
    }
    diags.push(
        vector
            .op
            .error("ring-mismatch", "the two ends of a pipe have different slot buffers")
            .label(format!("`{}` here", module.value_name(here)))
            .also(cube.op.span(), format!("`{}` at the other end", module.value_name(there)))
            .help("pass one buffer of global memory to both functions"),
    );
}

/// The names of the parameters that hold slots of rings in global memory, in a module whose kernels have been
/// separated.
pub fn slot_parameters(module: &Module, platform: &Platform) -> BTreeSet<String> {
    let ops = module.walk(module.top).into_iter().filter_map(|id| OpRef::of(module, id));
    let makers = ops.filter(|op| op.def.ring.is_some_and(RingPart::makes_end));
    let in_gm = makers.filter(|op| PipeSpec::of(op, platform).is_some_and(|spec| spec.in_gm));
    let buffers = in_gm.filter_map(|op| outermost_argument(module, gm_root(&op)?));
    let named = buffers.map(|value| match (&module.value(value).name, module.value(value).def) {
        (Some(name), _) => name.to_string(),
        (None, ValueDef::Arg(_, at)) => format!("arg{at}"),
        (None, ValueDef::Result(..)) => String::new(),
    });
    named.collect()
}

/// True if two parameters of functions are the same parameter of the kernel: identical, or of the same name in two
/// functions that nobody calls.
fn same_parameter(module: &Module, a: ValueId, b: ValueId) -> bool {
    let function = |value: ValueId| match module.value(value).def {
        ValueDef::Arg(block, _) => module.block_parent(block),
        ValueDef::Result(..) => None,
    };
    a == b || (function(a) != function(b) && module.value(a).name == module.value(b).name)
}

/// The address of slot 0 of a direction in the consumer's memory, if the text determines it; `None` for rings in global
/// memory.
pub(super) fn known_slots(pipe: &[Init<'_>], direction: Direction) -> Option<u64> {
    let own =
        pipe.iter().find(|init| init.kind == consumer(direction) && !init.spec.in_gm && !init.spec.config.control)?;
    let base = SlotBase::of(own.op.module, consumer_buffer(&own.op, direction)?);
    base.address(own.op.module).and_then(|at| u64::try_from(at).ok())
}
