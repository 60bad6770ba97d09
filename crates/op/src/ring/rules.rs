//! Rules for pipes on a platform (seed 003, Constraints and Target-Profile Restrictions).

use slipring_ir::{Diags, Type};
use slipring_machine::Platform;
use slipring_program::Direction;
use slipring_tile::Space;

use super::spec::{Config, PipeSpec, gm_buffer, slot_space};
use super::words;
use crate::def::OpRef;
use crate::ring::fixpipe;

/// Reports invalid parameters of an op that makes a pipe.
pub fn verify_pipe(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    let config = match Config::of(op) {
        Ok(config) => config,
        Err(message) => {
            let error = op.error("pipe-type", message);
            return diags.push(error.help(
                "`!pto.tpipe<FlagID, direction, slot size, slots, local slots>` or \
                 `!pto.tmpipe<FlagID, kind, depth, period, producer tile, consumer tile, unit flag, local depth, ratio>`",
            ));
        }
    };
    if config.slot_bytes <= 0 || config.slot_bytes > i64::from(u32::MAX) {
        diags.push(op.error("pipe-slot-size", "expects 'slot_size' to be greater than 0"));
        return;
    }
    if config.control && config.slot_bytes < 4 {
        diags.push(op.error("pipe-slot-size", "a control signal has 32 bits: a slot of it takes 4 bytes"));
    }
    if config.slots.is_some_and(|n| n <= 0) {
        diags.push(op.error("pipe-slot-num", "expects 'slot_num' to be greater than 0"));
        return;
    }
    match (config.local_slots, config.slots) {
        (Some(local), _) if local <= 0 => {
            diags.push(op.error("pipe-slot-num", "expects 'local_slot_num' to be greater than 0"));
        }
        (Some(local), Some(slots)) if local > slots && written_local(op) => {
            diags.push(op.error("pipe-slot-num", "expects 'local_slot_num' to be less than or equal to slot_num"));
        }
        _ => {}
    }
    if op.int(words::LANE).is_some_and(|lane| !(0..2).contains(&lane)) {
        let error = op.error("pipe-lane", "expects 'lane' to be 0 or 1");
        return diags
            .push(error.label("0 is AIV0, 1 is AIV1").help("leave `lane` out for a pipe to every Vector core"));
    }
    let Some(spec) = PipeSpec::of(op, platform) else { return };
    if config.local_slots.is_some_and(|local| local > i64::from(spec.slots))
        && config.slots.is_none()
        && written_local(op)
    {
        let message = format!("expects 'local_slot_num' to be at most the {} slots of this pipe", spec.slots);
        diags.push(op.error("pipe-slot-num", message));
    }
    if written_local(op) && !platform.ring.in_gm && !spec.in_gm && op.module.op(op.id).results.is_empty() {
        let message = format!(
            "'local_slot_num' is of slots in global memory: on {} they lie where they are taken",
            platform.name
        );
        diags.push(op.error("pipe-slot-num", message));
    }
    fixpipe::verify(op, &config, platform, diags);
    placement(op, &spec, platform, diags);
    counters(op, &spec, platform, diags);
    region(op, &spec, diags);
    slot_tensor(op, &spec, diags);
}

/// True if the op itself specifies the depth of the landing area, instead of a default of its type.
fn written_local(op: &OpRef<'_>) -> bool {
    op.attr(words::LOCAL_SLOTS).is_some()
}

/// Requires the slots to be in a memory that the platform supports.
fn placement(op: &OpRef<'_>, spec: &PipeSpec, platform: &Platform, diags: &mut Diags) {
    let name = &platform.name;
    if gm_direction(op) && platform.ring.in_gm {
        let message = format!("{name} has no `*_GM` directions: every ring lies in global memory there");
        diags.push(op.error("pipe-placement", message).help("write the direction without `_GM`"));
    }
    for direction in [Direction::C2V, Direction::V2C] {
        if spec.in_gm || !spec.has(direction) {
            continue;
        }
        let from = if direction == Direction::C2V { Space::Acc } else { Space::Vec };
        let to = slot_space(direction);
        if platform.ring.in_gm || !platform.has_way(from, to) {
            let why = if platform.has_way(from, to) {
                format!("{name} keeps rings in global memory")
            } else {
                format!("no tile moves from `{from}` to `{to}` on {name}")
            };
            let message =
                format!("the slots of a {} pipe cannot lie in the consumer's `{to}`: {why}", direction.name());
            diags.push(
                op.error("pipe-placement", message)
                    .help("keep the slots in global memory: GM_FIFO, or a GM slot buffer"),
            );
        }
    }
}

/// True for `DIR_C2V_GM` and the like.
fn gm_direction(op: &OpRef<'_>) -> bool {
    let ty = op.module.op(op.id).results.first().map(|v| op.module.ty(*v));
    let Some(Type::Pipe(pipe)) = ty else { return false };
    let code = pipe.params.get(1).map(|p| p.to_string()).unwrap_or_default();
    !pipe.multi && (code.ends_with("_GM") || matches!(code.as_str(), "5" | "6" | "7"))
}

/// Requires flags in range, counters that cannot overflow, and a period that the ring can sustain.
fn counters(op: &OpRef<'_>, spec: &PipeSpec, platform: &Platform, diags: &mut Diags) {
    let (config, ids) = (&spec.config, i64::from(platform.ring.flag_ids));
    if !op.module.op(op.id).results.is_empty() && spec.slots > platform.ring.max_slots {
        let message = format!(
            "a pipe of {} slots: {} has pipes of at most {}",
            spec.slots, platform.name, platform.ring.max_slots
        );
        diags.push(op.error("pipe-slot-num", message));
    }
    if let Some(flag) = config.flag {
        let last = flag.saturating_add(if spec.both_ways() { 3 } else { 1 });
        if flag < 0 {
            diags.push(op.error("pipe-flag-base", "expects 'flag_base' to be non-negative when present"));
        } else if last >= ids {
            diags.push(
                op.error(
                    "pipe-flags",
                    format!("the pipe takes flags {flag} to {last}, and {} has flags 0 to {}", platform.name, ids - 1),
                )
                .help(format!("a flag id of at most {}", ids - 1 - (last - flag))),
            );
        }
    }
    if config.period < 1 {
        diags.push(
            op.error(
                "pipe-period",
                format!("a period of {}: a free signal stands for at least one tile", config.period),
            )
            .help("a period is from 1 to the number of slots"),
        );
    } else if config.period > i64::from(spec.slots) {
        diags.push(
            op.error(
                "pipe-period",
                format!(
                    "a period of {} in a ring of {}: the producer would wait for more slots than there are",
                    config.period, spec.slots
                ),
            )
            .help("a period is from 1 to the number of slots"),
        );
    } else if !config.counted && config.period != 1 {
        diags.push(
            op.error("pipe-period", "a tagged ring signals every slot: its period is 1")
                .help("use the counted protocol"),
        );
    }
    let max = platform.sync.semaphore_max;
    if config.counted && (spec.slots > max || spec.credits > max) {
        let most = spec.slots.max(spec.credits);
        let what = if spec.slots > max { "tiles can be ready at a time" } else { "free signals can be outstanding" };
        diags.push(
            op.error("pipe-counter", format!("up to {most} {what}, and a counter of 4 bits holds {max}"))
                .help(format!("a ring of at most {max} slots")),
        );
    }
}

/// Requires a view of a slot to have the size of a slot.
fn slot_tensor(op: &OpRef<'_>, spec: &PipeSpec, diags: &mut Diags) {
    let Some(Type::TensorView(view)) = gm_buffer(op).map(|v| op.module.ty(v)) else { return };
    let count = view.dims.iter().map(|d| d.known()).product::<Option<u64>>();
    let Some(bytes) = count.and_then(|n| n.checked_mul(view.elem.bytes() as u64)) else { return };
    // If a tile is divided, the Vector cores' end has a view of one half.
    let slot = u64::from(spec.slot_bytes);
    if bytes != slot && bytes.checked_mul(2) != Some(slot) {
        let message = format!("expects gm_slot_tensor to be a view of a slot of {slot} bytes, not of {bytes}");
        diags.push(op.error("view-shape", message));
    }
}

/// Requires the slots to fit into the buffer that is given for them, if its size is known.
fn region(op: &OpRef<'_>, spec: &PipeSpec, diags: &mut Diags) {
    let Some(Type::MemRef(memref)) = gm_buffer(op).map(|v| op.module.ty(v)) else { return };
    let count = memref.dims.iter().map(|d| d.known()).product::<Option<u64>>();
    let (Some(count), Some(elem)) = (count, memref.elem.elem()) else { return };
    let has = count.saturating_mul(elem.bytes() as u64);
    let needs = spec.ring_bytes().saturating_mul(if spec.both_ways() { 2 } else { 1 });
    if spec.in_gm && has < needs {
        let message =
            format!("{} slots of {} bytes make {needs}, and the buffer has {has}", spec.slots, spec.slot_bytes);
        let warning = slipring_ir::Diagnostic::warning("pipe-region", op.span(), message);
        diags.push(warning.help("pushes beyond its end stop the run"));
    }
}
