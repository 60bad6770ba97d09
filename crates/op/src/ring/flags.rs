//! Flag ids of pipes, and whether there are enough of them.
//!
//! Between the Cube core and each Vector core there are flags in each direction. Rings, counted pipes and hand-written
//! semaphores share them. A tagged ring takes one id for each slot, from 0 on; in a pipe with both directions the
//! Vector-to-Cube ring takes ids from the middle on (seed 000, flag usage). A counted pipe takes two ids for each
//! direction.

use super::spec::PipeSpec;
use super::words;
use slipring_ir::{Diagnostic, Diags, Module, Severity};
use slipring_machine::{Platform, Role};
use slipring_program::Direction;

use crate::decode::Decoding;
use crate::ring::inits::Init;
use crate::ring::planned::{Flags, Protocol};
use crate::rules::counted;

/// The first flag of a pipe, as the Cube core names those of AIV0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FlagBase(u32);

impl FlagBase {
    /// The flags of one direction. A counted pipe uses `FlagID` and `FlagID + 1`, and `FlagID + 2` and `FlagID + 3` for
    /// the second direction if it has both; a tagged pipe uses one for each slot.
    pub fn of(self, direction: Direction, spec: &PipeSpec, platform: &Platform) -> Protocol {
        let second = spec.both_ways() && direction == Direction::V2C;
        if spec.config.counted {
            let first = if second { self.0 + 2 } else { self.0 };
            return Protocol::Counted(Flags { ready: first, free: first + 1 });
        }
        Protocol::Tagged(if second { self.0 + platform.sync.ring_flags / 2 } else { self.0 })
    }
}

/// All ids that a pipe takes, starting at its first one.
fn ids(spec: &PipeSpec, base: u32, platform: &Platform) -> Vec<u32> {
    let directions = [Direction::C2V, Direction::V2C].into_iter().filter(|direction| spec.has(*direction));
    let of = |direction| match FlagBase(base).of(direction, spec, platform) {
        Protocol::Tagged(first) => (first..first.saturating_add(spec.slots)).collect(),
        Protocol::Counted(flags) => vec![flags.ready, flags.free],
    };
    directions.flat_map(of).collect()
}

/// Ids that are in use, with the pipe that uses each.
struct Taken<'p, 'm> {
    pipes: &'p [&'p [Init<'m>]],
    ids: Vec<(u32, usize)>,
}

impl Taken<'_, '_> {
    /// True if two pipes use flags between the same cores: pipes to different lanes have separate flags.
    fn meet(&self, a: usize, b: usize) -> bool {
        let lane = |at: usize| self.pipes[at][0].spec.config.lane;
        lane(a).is_none() || lane(b).is_none() || lane(a) == lane(b)
    }

    /// The first of these ids that another pipe uses, and that pipe.
    fn clash(&self, at: usize, ids: &[u32]) -> Option<(u32, usize)> {
        self.ids.iter().copied().find(|(id, other)| ids.contains(id) && self.meet(at, *other))
    }

    fn take(&mut self, at: usize, ids: &[u32]) {
        self.ids.extend(ids.iter().map(|id| (*id, at)));
    }
}

/// If the tagged pipes of a kernel need more flags than there are, switches those whose text names no protocol to the
/// counted one, as the tile library uses: two flags for each direction. A slot is still freed by the pipe that used it.
pub(super) fn count_where_short(inits: &mut [Init<'_>], platform: &Platform, mode: Decoding, diags: &mut Diags) {
    let pipes: Vec<&[Init<'_>]> = inits.chunk_by(|a, b| a.spec.key == b.spec.key).collect();
    let mut short = Diags::default();
    assign(&pipes, platform, mode, &mut short);
    let open = |init: &Init<'_>| !init.spec.config.counted && init.op.attr(words::PROTOCOL).is_none();
    let (Some(_), max) = (short.list.first(), platform.sync.semaphore_max) else { return };
    if inits.len() < 3 || inits.iter().filter(|init| open(init)).any(|init| init.spec.slots > max) {
        return;
    }
    let mut first = None;
    for init in inits.iter_mut().filter(|init| open(init)) {
        first = first.or(Some(init.op));
        (init.spec.config.counted, init.spec.config.freed_by_user) = (true, true);
    }
    let Some(first) = first else { return };
    let flags = counted(platform.sync.ring_flags, "flag");
    let message = format!("the pipes of this kernel count their tiles: with a flag for each slot {flags} are too few");
    let note = first.error("ring-flags", message).help("`protocol` at both ends of a pipe says it");
    diags.push(Diagnostic { severity: Severity::Note, ..note });
}

/// Assigns flags to every pipe: tagged pipes get theirs, counted ones those that they request, else the next free ones.
pub(super) fn assign(pipes: &[&[Init<'_>]], platform: &Platform, mode: Decoding, diags: &mut Diags) -> Vec<FlagBase> {
    let mut taken = Taken { pipes, ids: Vec::new() };
    let mut bases = vec![FlagBase(0); pipes.len()];
    let spec = |at: usize| &pipes[at][0].spec;
    let counts = |at: &usize| spec(*at).config.counted;
    for at in (0..pipes.len()).filter(|at| !counts(at)) {
        let capacity = platform.sync.ring_flags / if spec(at).both_ways() { 2 } else { 1 };
        let fits = |base: &u32| taken.clash(at, &ids(spec(at), *base, platform)).is_none();
        let base = (0..=capacity.saturating_sub(spec(at).slots)).find(fits);
        if base.is_none() && spec(at).slots <= capacity && mode == Decoding::Device {
            too_many(at, &taken, platform, diags);
        }
        let base = base.unwrap_or(0);
        taken.take(at, &ids(spec(at), base, platform));
        bases[at] = FlagBase(base);
    }
    let asked = |at: usize| pipes[at].iter().find_map(|init| init.spec.config.flag);
    for at in (0..pipes.len()).filter(counts) {
        let Some(flag) = asked(at).and_then(|flag| u32::try_from(flag).ok()) else { continue };
        let wanted = ids(spec(at), flag.min(u32::MAX - 4), platform);
        if let Some((id, other)) = taken.clash(at, &wanted)
            && mode == Decoding::Device
        {
            collision(pipes[at][0].op.module, pipes[at], pipes[other], id, diags);
        }
        taken.take(at, &wanted);
        bases[at] = FlagBase(flag.min(u32::MAX - 4));
    }
    for at in (0..pipes.len()).filter(|at| counts(at) && asked(*at).is_none()) {
        let most = platform.ring.flag_ids;
        let fits = |base: &u32| taken.clash(at, &ids(spec(at), *base, platform)).is_none();
        let base = (0..most).step_by(2).find(fits).unwrap_or(most);
        let wanted = ids(spec(at), base, platform);
        if wanted.iter().any(|id| *id >= most) && mode == Decoding::Device {
            let message = format!("no flags are left for this pipe: the platform has {most}");
            diags.push(pipes[at][0].op.error("pipe-flags", message));
        }
        taken.take(at, &wanted);
        bases[at] = FlagBase(base);
    }
    bases
}

fn collision(module: &Module, pipe: &[Init<'_>], other: &[Init<'_>], id: u32, diags: &mut Diags) {
    let (name, with) = (pipe[0].spec.key.text(module), other[0].spec.key.text(module));
    let help = if other[0].spec.config.counted {
        "a pipe takes its flag id and the next, a pipe with both directions the next three: choose ids that do not overlap"
    } else {
        "a tagged ring takes an id for each slot, from 0 on, and with both directions from the middle on: choose an id after \
         them, or fewer slots"
    };
    diags.push(
        pipe[0]
            .op
            .error("pipe-flags", format!("flag {id} is used by {name} and by {with}"))
            .also(other[0].op.span(), "the other pipe")
            .help(help),
    );
}

/// Requires a separate flag for every slot of a tagged ring; the two directions of a pipe share the platform's flags.
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

/// Reports that the tagged pipes of a kernel need more flags than there are between a Vector core and the Cube core.
fn too_many(at: usize, taken: &Taken<'_, '_>, platform: &Platform, diags: &mut Diags) {
    let (pipes, flags) = (taken.pipes, platform.sync.ring_flags);
    let users = (0..=at).filter(|other| !pipes[*other][0].spec.config.counted && taken.meet(at, *other));
    let slots = |pipe: usize| pipes[pipe][0].spec.slots * if pipes[pipe][0].spec.both_ways() { 2 } else { 1 };
    let used: u32 = users.clone().map(slots).sum();
    let lane = pipes[at][0].spec.config.lane.map_or(String::new(), |lane| format!(" with {}", Role::lane(lane)));
    let has = format!("the platform has {} for all of them", counted(flags, "flag"));
    let message = if used > flags {
        format!("the kernel's rings{lane} have {used} slots, and {has}")
    } else {
        // Pipes with both directions take ids from two separate ranges.
        format!("the kernel's rings{lane} have {used} slots, {has}, and this pipe finds no row of them that is free")
    };
    let last = pipes[at].last().unwrap_or(&pipes[at][0]);
    let mut error = last.op.error("ring-flags", message);
    if let Some(first) = users.filter(|other| *other != at).min() {
        error = error.also(pipes[first][0].op.span(), "this pipe takes flags from the same cores");
    }
    diags.push(error.help(format!("set `slot_num` so that the slots of all pipes together are at most {flags}")));
}
