//! Flag ids of pipes, and whether there are enough.

use slipring_ir::{Diags, Module};
use slipring_machine::Platform;
use slipring_program::Direction;

use super::plan::{Init, Protocol, RingPlan};
use crate::rules::counted;

/// The two counters of a counted ring: ids as the Cube core names those of AIV0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flags {
    /// A tile is ready.
    pub ready: u32,
    /// A slot is free.
    pub free: u32,
}

/// The first flag of a counted pipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FlagBase(u32);

impl FlagBase {
    /// `FlagID` and `FlagID + 1`; of a pipe with both directions the second has `FlagID + 2` and `FlagID + 3`.
    pub fn of(self, direction: Direction, both_ways: bool) -> Flags {
        let first = if both_ways && direction == Direction::V2C { self.0 + 2 } else { self.0 };
        Flags { ready: first, free: first + 1 }
    }
}

/// Gives every counted pipe its flags: those that it asks for, else the next free ones. `None` for tagged pipes.
pub(super) fn assign(pipes: &[&[Init<'_>]], platform: &Platform, diags: &mut Diags) -> Vec<Option<FlagBase>> {
    let mut taken: Vec<(u32, usize)> = Vec::new();
    let mut bases = vec![None; pipes.len()];
    let counted = |at: &usize| pipes[*at][0].spec.config.counted;
    let asked = |pipe: &[Init<'_>]| pipe.iter().find_map(|init| init.spec.config.flag);
    let width = |at: usize| if pipes[at][0].spec.both_ways() { 4 } else { 2 };
    for at in (0..pipes.len()).filter(counted) {
        let Some(flag) = asked(pipes[at]).and_then(|flag| u32::try_from(flag).ok()) else { continue };
        let ids = flag..flag.saturating_add(width(at));
        if let Some((id, other)) = taken.iter().copied().find(|(id, _)| ids.contains(id)) {
            let module = pipes[at][0].op.module;
            collision(module, pipes[at], pipes[other], id, diags);
        }
        taken.extend(ids.map(|id| (id, at)));
        bases[at] = Some(FlagBase(flag));
    }
    for at in (0..pipes.len()).filter(counted) {
        if bases[at].is_some() {
            continue;
        }
        let free = |base: &u32| taken.iter().all(|(id, _)| !(*base..base + width(at)).contains(id));
        let base = (0..).step_by(2).find(free).unwrap_or(0);
        if base + width(at) > platform.ring.flag_ids {
            let message = format!("no flags are left for this pipe: the platform has {}", platform.ring.flag_ids);
            diags.push(pipes[at][0].op.error("pipe-flags", message));
        }
        taken.extend((base..base + width(at)).map(|id| (id, at)));
        bases[at] = Some(FlagBase(base));
    }
    bases
}

fn collision(module: &Module, pipe: &[Init<'_>], other: &[Init<'_>], id: u32, diags: &mut Diags) {
    let (name, with) = (pipe[0].spec.key.text(module), other[0].spec.key.text(module));
    diags.push(
        pipe[0]
            .op
            .error("pipe-flags", format!("flag {id} is used by {name} and by {with}"))
            .also(other[0].op.span(), "the other pipe")
            .help("a pipe takes its flag id and the next, a pipe with both directions the next three: choose ids that do not overlap"),
    );
}

/// Every slot of a tagged ring needs a flag of its own, and the two directions of a pipe share the platform's flags.
pub(super) fn check_own(init: &Init<'_>, platform: &Platform, diags: &mut Diags) {
    let flags = platform.sync.ring_flags / if init.spec.both_ways() { 2 } else { 1 };
    let slots = init.spec.slots;
    if !init.spec.config.counted && slots > flags {
        diags.push(
            init.op
                .error(
                    "ring-flags",
                    format!(
                        "a ring of {} needs {}, and the platform has {flags} for it",
                        counted(slots, "slot"),
                        counted(slots, "flag")
                    ),
                )
                .help(format!("set `slot_num` to at most {flags}")),
        );
    }
}

/// The tagged pipes of a kernel share the flags between a Vector core and the Cube core: one for each slot.
pub(super) fn check_shared(inits: &[Init<'_>], plan: &RingPlan, platform: &Platform, diags: &mut Diags) {
    let tagged = plan.rings.iter().filter(|ring| ring.protocol == Protocol::Tagged);
    let (used, flags) = (tagged.map(|ring| ring.slots).sum::<u32>(), platform.sync.ring_flags);
    let mut tagged = inits.iter().filter(|init| !init.spec.config.counted);
    let (Some(first), Some(last)) = (tagged.next(), tagged.next_back()) else { return };
    if used > flags && first.spec.key != last.spec.key {
        let message = format!(
            "the kernel's rings have {used} slots, and the platform has {} for all of them",
            counted(flags, "flag")
        );
        let also = "this pipe takes flags from the same cores";
        diags.push(
            last.op
                .error("ring-flags", message)
                .also(first.op.span(), also)
                .help(format!("set `slot_num` so that the slots of all pipes together are at most {flags}")),
        );
    }
}
