//! The rings of a kernel, gathered from both sides before either is decoded.

use slipring_ir::{Diags, Module, ValueId};
use slipring_machine::{CoreKind, Platform, Role};
use slipring_program::{Direction, RingDecl, SyncDecl, SyncRole};
use slipring_tile::Space;

use super::ends::Ends;
use super::library::Library;
use super::phases::Phase;
use super::spec::{PipeSpec, pipe_key, ring_tile, slot_space};
use super::{agree, flags, places};
use crate::decode::{Decoding, Kernel};
use crate::def::{OpRef, Reported, RingPart};
use crate::reach::reachable;
use crate::ring::fixpipe;
use crate::ring::inits::{Init, Part};
use crate::ring::key::PipeKey;
use crate::ring::planned::{PlannedRing, Protocol, RingPlan};

impl RingPlan {
    /// Gathers the rings of a kernel and checks that both sides agree.
    ///
    /// # Errors
    /// Reports every disagreement at both ends: slot sizes, slot counts, directions, protocols, flags, splits, tiles.
    pub fn new(
        module: &Module,
        kernel: &Kernel,
        platform: &Platform,
        mode: Decoding,
        diags: &mut Diags,
    ) -> Result<RingPlan, Reported> {
        let parts = gather(module, kernel);
        let before = diags.list.len();
        let mut plan = RingPlan {
            rebound: parts.iter().filter(|p| p.part.pops().is_some()).filter_map(popped_operand).collect(),
            counter_max: platform.sync.semaphore_max,
            lane_offset: platform.sync.subblock_offset,
            returns: mode == Decoding::Device && !platform.sync.semaphores_reset,
            ..RingPlan::default()
        };
        let mut inits: Vec<Init<'_>> = parts
            .iter()
            .filter(|p| p.part.makes_end())
            .filter_map(|p| Some(Init { op: p.op, kind: p.kind, spec: PipeSpec::of(&p.op, platform)? }))
            .collect();
        inits.sort_by_key(|p| (p.spec.key, p.kind != CoreKind::Cube));
        flags::count_where_short(&mut inits, platform, mode, diags);
        let pipes: Vec<&[Init<'_>]> = inits.chunk_by(|a, b| a.spec.key == b.spec.key).collect();
        let flags = flags::assign(&pipes, platform, mode, diags);
        for (pipe, flags) in pipes.iter().zip(flags) {
            agree::check_ends(pipe, diags);
            agree::check_nosplit(pipe, &parts, diags);
            flags::check_own(&pipe[0], platform, diags);
            let (cores, both) = (kernel, [Direction::C2V, Direction::V2C]);
            for direction in both.into_iter().filter(|d| pipe[0].spec.has(*d)) {
                let flags = flags.of(direction, &pipe[0].spec, platform);
                if mode == Decoding::Device {
                    places::check(pipe, direction, platform, diags);
                }
                let slots = places::known_slots(pipe, direction).filter(|_| mode == Decoding::Device);
                let alone = pipes.len() == 1;
                let at = RingSetting { kernel: cores, platform, mode, direction, flags, slots, alone };
                let ring = plan_ring(&parts, &pipe[0], &at, plan.next(), diags);
                plan.rings.push(ring);
            }
        }
        for part in &parts {
            if let Some(direction) = part.part.moves() {
                agree::check_provided(part, direction, &inits, diags);
            }
        }
        let failed = diags.list[before..].iter().any(|d| d.severity == slipring_ir::Severity::Error);
        if failed { Err(Reported) } else { Ok(plan) }
    }

    /// The ring of a pipe and direction.
    pub fn get(&self, key: PipeKey, direction: Direction) -> Option<&PlannedRing> {
        self.rings.iter().find(|ring| ring.key == key && ring.direction == direction)
    }

    /// The number of flags of one kind in ring `index` of the program.
    pub fn flags(&self, index: u32) -> u32 {
        self.at(index).0.flags()
    }

    /// True for a tile that a pop binds to a slot, so that its address changes.
    pub fn rebinds(&self, tile: ValueId) -> bool {
        self.rebound.contains(&tile)
    }

    /// The ring that uses this semaphore between two cores as a flag: its name, and a description of its flags.
    pub fn flag_user(&self, setter: Role, waiter: Role, id: i64) -> Option<(&str, String)> {
        let uses = |ring: &&PlannedRing| {
            ring.lanes().map(Role::lane).any(|lane| {
                let (producer, consumer) = match ring.direction {
                    Direction::C2V => (Role::Aic, lane),
                    Direction::V2C => (lane, Role::Aic),
                };
                let to_consumer = (setter, waiter) == (producer, consumer);
                if !to_consumer && (setter, waiter) != (consumer, producer) {
                    return false;
                }
                match ring.protocol {
                    Protocol::Tagged(first) => (i64::from(first)..i64::from(first + ring.slots)).contains(&id),
                    Protocol::Counted(flags) => id == i64::from(if to_consumer { flags.ready } else { flags.free }),
                }
            })
        };
        let flags = |ring: &PlannedRing| match ring.protocol {
            Protocol::Tagged(first) => format!("{first} to {}", first + ring.slots - 1),
            Protocol::Counted(flags) => format!("{} and {}", flags.ready, flags.free),
        };
        self.rings.iter().find(uses).map(|ring| (ring.name.as_str(), flags(ring)))
    }

    fn next(&self) -> u32 {
        self.rings.iter().map(|r| r.lanes().count() as u32).sum()
    }

    fn at(&self, index: u32) -> (&PlannedRing, usize) {
        let has = |ring: &&PlannedRing| ring.lanes().any(|lane| ring.part(lane) == index);
        let ring = self.rings.iter().find(has).expect("indices come from this plan");
        let lane = ring.lanes().find(|lane| ring.part(*lane) == index).unwrap_or(0);
        (ring, lane)
    }

    /// The rings as listed in the program: one for each lane.
    pub fn decls(&self) -> Vec<RingDecl> {
        let each = self.rings.iter().flat_map(|ring| ring.lanes().map(move |lane| (ring, lane)));
        each.map(|(ring, lane)| RingDecl {
            name: ring.name.as_str().into(),
            direction: ring.direction,
            lane: Role::lane(lane),
            slots: ring.slots,
            slot_bytes: ring.slot_bytes,
            space: ring.space,
            counted: !ring.protocol.is_tagged(),
            period: ring.period,
            credits: ring.credits,
            base: ring.base,
            sparse: !ring.switched.is_empty(),
            undivided: ring.leaning.undivided,
            from_rows: ring.leaning.rows,
        })
        .collect()
    }

    /// The declaration of a slot's flag, or of a counter.
    pub fn flag_decl(&self, index: u32, free: bool, slot: u32) -> SyncDecl {
        let (ring, lane) = self.at(index);
        let vector = Role::lane(lane);
        let (producer, consumer) = match ring.direction {
            Direction::C2V => (Role::Aic, vector),
            Direction::V2C => (vector, Role::Aic),
        };
        let (setter, waiter) = if free { (consumer, producer) } else { (producer, consumer) };
        let state = if free { "free" } else { "ready" };
        let offset = self.lane_offset * lane as u32;
        let (what, id, max, end) = match ring.protocol {
            Protocol::Tagged(first) => {
                (format!("slot {slot}"), format!(", flag {}", first + slot + offset), 1, ring.credits.min(1))
            }
            Protocol::Counted(flags) => {
                let id = if free { flags.free } else { flags.ready } + offset;
                (format!("flag {id}"), String::new(), self.counter_max, ring.credits)
            }
        };
        SyncDecl {
            name: format!("{} {what} {state} ({setter}→{waiter}{id})", ring.name).into(),
            role: if free {
                SyncRole::RingFree { ring: index, slot }
            } else {
                SyncRole::RingReady { ring: index, slot }
            },
            setter,
            waiter,
            max,
            saturates: false,
            final_count: if free { end } else { 0 },
            returned: if free && self.returns { end } else { 0 },
        }
    }
}

/// The tile that a pop binds, if it takes the tile as an operand.
fn popped_operand(part: &Part<'_>) -> Option<ValueId> {
    let tile = ring_tile(&part.op)?;
    part.op.module.op(part.op.id).operands.contains(&tile).then_some(tile)
}

fn gather<'a>(module: &'a Module, kernel: &Kernel) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    let lane_start = kernel.start[1].or(kernel.start[2]);
    for (kind, start) in [(CoreKind::Cube, kernel.start[0]), (CoreKind::Vector, lane_start)] {
        let Some(start) = start else { continue };
        for id in reachable(module, start, kind) {
            let Some(op) = OpRef::of(module, id).filter(|op| op.def.ring.is_some()) else { continue };
            if let Some(part) = op.ring() {
                parts.push(Part { op, part, kind, key: pipe_key(&op) });
            }
        }
    }
    parts
}

/// The context in which a ring is planned.
struct RingSetting<'a> {
    kernel: &'a Kernel,
    platform: &'a Platform,
    mode: Decoding,
    direction: Direction,
    flags: Protocol,
    /// Address of slot 0 on chip, where it is known.
    slots: Option<u64>,
    /// True if the kernel has no other pipe.
    alone: bool,
}

/// Depth of the rings of a reference run.
const REFERENCE_SLOTS: u32 = 1024;

fn plan_ring(parts: &[Part<'_>], init: &Init<'_>, at: &RingSetting<'_>, first: u32, diags: &mut Diags) -> PlannedRing {
    let (spec, direction) = (&init.spec, at.direction);
    let of = |asked: fn(RingPart) -> Option<Direction>| {
        let same = move |p: &&Part<'_>| asked(p.part) == Some(direction) && p.key == Some(spec.key);
        parts.iter().filter(same).map(|p| p.op).collect::<Vec<_>>()
    };
    let (pushes, pops) = (of(RingPart::pushes), of(RingPart::pops));
    let reference = at.mode == Decoding::Reference;
    let entries = agree::same_kind(&pushes, &pops, diags);
    let space = if spec.in_gm && (entries || !reference) { Space::Gm } else { slot_space(direction) };
    let types = |ops: &[OpRef<'_>]| ops.iter().filter_map(agree::divided).collect();
    let ends = Ends::new(direction, types(&pushes), types(&pops));
    let mut popped = None;
    if !spec.config.control {
        agree::check_splits(&pushes, &pops, diags);
        agree::check_free_splits(&of(RingPart::frees), &pops, diags);
        popped = agree::same_tile(&pops, diags);
        agree::check_shapes(&pushes, &pops, direction, diags);
        // Slots on chip have the layout of the popped tile; in global memory they are images of the Cube core's tiles.
        agree::check_places(&pushes, &ends, direction == Direction::C2V, diags);
        if spec.in_gm && direction == Direction::C2V {
            agree::check_places(&pops, &ends, false, diags);
        }
        agree::check_slot_size(init, direction, &pushes, &pops, popped.as_ref(), diags);
    }
    let has = |role: Role| at.kernel.start[role.index()].is_some();
    let named = |lane: usize| spec.config.lane.is_none_or(|only| only == lane);
    let lanes = [has(Role::Aiv0) && named(0), has(Role::Aiv1) && named(1)];
    // There are two lanes; another lane number is reported elsewhere.
    if let Some(lane) = spec.config.lane.filter(|lane| *lane < lanes.len()) {
        agree::check_undivided(&init.op, lane, pushes.iter().chain(&pops), diags);
        if !lanes[lane] {
            let message = format!("the pipe goes to {}, which does not run this kernel", Role::lane(lane));
            diags.push(init.op.error("pipe-lane", message).help("a pipe to AIV0 has `lane = 0`"));
        }
    }
    let running = lanes.iter().filter(|l| **l).count();
    if let Some(wanted) = spec.config.lanes.filter(|n| running > *n) {
        diags.push(
            init.op
                .error("pipe-ratio", format!("the pipe is for {wanted} Vector core, and the kernel runs {running}"))
                .help("use V2C1_VECS, or do not ask for the lane"),
        );
    }
    let mut library = Library::default();
    if !reference && !spec.config.control && spec.config.lane.is_none() {
        let pushed = pushes.iter().filter_map(|op| op.module.ty(ring_tile(op)?).as_tile().copied());
        let types = (pushed, popped.as_ref());
        library = Library::of(at.platform, direction, space, lanes, [&pushes, &pops], types);
        library.check(at.platform, &pushes, &pops, diags);
    }
    let lanes = library.lanes(at.platform, lanes);
    // A reference ring is a plain FIFO: deep enough that its depth cannot be observed, with a signal for every tile.
    let slots = if reference && !entries { spec.slots.max(REFERENCE_SLOTS) } else { spec.slots };
    let phases = [Phase::Allocate, Phase::Record, Phase::Wait, Phase::Free];
    let switched =
        |phase: &Phase| parts.iter().any(|p| p.part.switches() == Some((*phase, direction)) && p.key == Some(spec.key));
    let ring = PlannedRing {
        key: spec.key,
        direction,
        control: spec.config.control,
        entries,
        slots,
        slot_bytes: spec.slot_bytes,
        base: at.slots,
        both_ways: spec.both_ways(),
        lanes,
        space,
        protocol: if reference { Protocol::Tagged(0) } else { at.flags },
        period: if reference { 1 } else { spec.period },
        credits: if reference { slots } else { spec.credits },
        auto_free: spec.config.auto_free,
        local_slots: spec.local_slots(),
        phases: spec.phases(direction),
        switched: if reference { Vec::new() } else { phases.into_iter().filter(switched).collect() },
        popped,
        first,
        library,
        leaning: library.leaning(at.platform),
        ends,
        epilogue: spec.config.epilogue,
        name: format!("ring {}{}", direction.name(), suffix(spec.key, at.alone, init.op.module)),
    };
    fixpipe::check(&ring, &init.op, &pushes, &pops, diags);
    ring
}

/// The suffix that distinguishes a ring from those of other pipes.
fn suffix(key: PipeKey, alone: bool, module: &Module) -> String {
    match key {
        PipeKey::Id(0) => String::new(),
        PipeKey::Id(_) => format!(" of {}", key.text(module)),
        _ if alone => String::new(),
        PipeKey::Flag(_) | PipeKey::Slots(_) => format!(" of {}", key.text(module)),
    }
}
