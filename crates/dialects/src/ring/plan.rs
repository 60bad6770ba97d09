//! What rings a kernel has: gathered from both sides before either is decoded.

use slipring_ir::{Diags, Module, Span, TileType};
use slipring_machine::{CoreKind, Platform, Role};
use slipring_program::{Direction, RingDecl, SyncDecl, SyncRole};
use slipring_tile::Space;

use crate::Dialects;
use crate::decode::{Kernel, Mode};
use crate::def::{OpRef, Reported, RingPart};
use crate::reach::reachable;

/// How a tile is divided between the two Vector cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Split {
    /// Not divided.
    None,
    /// Upper half of the rows to lane 0, lower half to lane 1.
    UpDown,
    /// Left half of the columns to lane 0, right half to lane 1.
    LeftRight,
}

impl Split {
    /// The mode of a `split` attribute: 0, 1 or 2.
    pub fn of(op: &OpRef<'_>) -> Option<Split> {
        match op.int("split").unwrap_or(0) {
            0 => Some(Split::None),
            1 => Some(Split::UpDown),
            2 => Some(Split::LeftRight),
            _ => None,
        }
    }
}

/// A ring of a kernel: one direction of one pipe, to one or both Vector cores.
#[derive(Clone, Debug)]
pub struct PlannedRing {
    /// `id` attribute of the pipe's ops.
    pub id: i64,
    /// Direction.
    pub direction: Direction,
    /// Slots.
    pub slots: u32,
    /// Bytes from one slot to the next.
    pub slot_bytes: u32,
    /// True where the pipe has both directions.
    pub both_ways: bool,
    /// Vector cores at the ring's other end.
    pub lanes: [bool; 2],
    /// Memory that holds the slots.
    pub space: Space,
    /// Type of the tiles that the consumer pops: the layout of the tile in its slot. `None` without a pop.
    pub popped: Option<TileType>,
    /// Index in the program's rings of the part of lane 0 (or of the only lane); lane 1's follows.
    pub first: u32,
    name: String,
}

impl PlannedRing {
    /// Lanes that take part, in order.
    pub fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let lanes = self.lanes;
        (0..2).filter(move |lane| lanes[*lane])
    }

    /// Index in the program's rings of a lane's part.
    pub fn part(&self, lane: usize) -> u32 {
        self.first + u32::from(lane == 1 && self.lanes[0])
    }
}

/// All rings of a kernel.
#[derive(Clone, Debug, Default)]
pub struct RingPlan {
    /// The rings, by pipe id and direction.
    pub rings: Vec<PlannedRing>,
}

/// An op that takes part in a ring, on the side where it stands.
struct Part<'a> {
    op: OpRef<'a>,
    part: RingPart,
    kind: CoreKind,
}

impl RingPlan {
    /// Gathers the rings of a kernel and checks that both sides agree.
    ///
    /// # Errors
    /// Reports every disagreement at both places: slot sizes, slot counts, directions, splits, tiles.
    pub fn new(
        module: &Module,
        kernel: &Kernel,
        platform: &Platform,
        mode: Mode,
        diags: &mut Diags,
    ) -> Result<RingPlan, Reported> {
        let parts = gather(module, kernel);
        let before = diags.list.len();
        let mut plan = RingPlan::default();
        let mut inits: Vec<&Part<'_>> = parts.iter().filter(|p| p.part == RingPart::Initialize).collect();
        inits.sort_by_key(|p| (pipe_id(&p.op), p.kind != CoreKind::Cube));
        for pipe in inits.chunk_by(|a, b| pipe_id(&a.op) == pipe_id(&b.op)) {
            check_inits(pipe, diags);
            check_nosplit(pipe, &parts, diags);
            let init = &pipe[0].op;
            let both_ways = init.int("dir_mask") == Some(3);
            for (direction, bit) in [(Direction::C2V, 1), (Direction::V2C, 2)] {
                if init.int("dir_mask").unwrap_or(0) & bit == 0 {
                    continue;
                }
                let ring = plan_ring(&parts, kernel, platform, mode, init, direction, both_ways, &mut plan, diags);
                plan.rings.push(ring);
            }
        }
        if mode == Mode::Device {
            check_shared_flags(&inits, &plan, platform, diags);
        }
        for part in &parts {
            if let RingPart::Push(direction) | RingPart::Pop(direction) | RingPart::Free(direction) = part.part {
                check_provided(part, direction, &inits, diags);
            }
        }
        let failed = diags.list[before..].iter().any(|d| d.severity == slipring_ir::Severity::Error);
        if failed { Err(Reported) } else { Ok(plan) }
    }

    /// The ring of a pipe and direction.
    pub fn get(&self, id: i64, direction: Direction) -> Option<&PlannedRing> {
        self.rings.iter().find(|ring| ring.id == id && ring.direction == direction)
    }

    /// Slots of ring `index` of the program.
    pub fn slots(&self, index: u32) -> u32 {
        self.at(index).0.slots
    }

    fn at(&self, index: u32) -> (&PlannedRing, usize) {
        let has = |ring: &&PlannedRing| ring.lanes().any(|lane| ring.part(lane) == index);
        let ring = self.rings.iter().find(has).expect("indices come from this plan");
        let lane = ring.lanes().find(|lane| ring.part(*lane) == index).unwrap_or(0);
        (ring, lane)
    }

    /// The rings as the program lists them: one for each lane.
    pub fn decls(&self) -> Vec<RingDecl> {
        let each = self.rings.iter().flat_map(|ring| ring.lanes().map(move |lane| (ring, lane)));
        each.map(|(ring, lane)| RingDecl {
            name: ring.name.as_str().into(),
            direction: ring.direction,
            lane: Role::lane(lane),
            slots: ring.slots,
            slot_bytes: ring.slot_bytes,
            space: ring.space,
            base: None,
        })
        .collect()
    }

    /// The declaration of a slot's flag.
    pub fn flag_decl(&self, index: u32, free: bool, slot: u32) -> SyncDecl {
        let (ring, lane) = self.at(index);
        let vector = Role::lane(lane);
        let (producer, consumer) = match ring.direction {
            Direction::C2V => (Role::Aic, vector),
            Direction::V2C => (vector, Role::Aic),
        };
        let (setter, waiter) = if free { (consumer, producer) } else { (producer, consumer) };
        let state = if free { "free" } else { "ready" };
        SyncDecl {
            name: format!("{} slot {slot} {state} ({setter}→{waiter})", ring.name).into(),
            role: if free {
                SyncRole::RingFree { ring: index, slot }
            } else {
                SyncRole::RingReady { ring: index, slot }
            },
            setter,
            waiter,
            max: 1,
            saturates: false,
            final_count: u32::from(free),
        }
    }
}

/// `id` of a pipe's op; 0 where nothing is written.
pub(crate) fn pipe_id(op: &OpRef<'_>) -> i64 {
    op.int("id").unwrap_or(0)
}

fn gather<'a>(module: &'a Module, kernel: &Kernel) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    let lane_start = kernel.start[1].or(kernel.start[2]);
    for (kind, start) in [(CoreKind::Cube, kernel.start[0]), (CoreKind::Vector, lane_start)] {
        let Some(start) = start else { continue };
        for id in reachable(module, start, kind) {
            if let Some(def) = Dialects::get().def(&module.op(id).name)
                && let Some(part) = def.ring
            {
                parts.push(Part { op: OpRef { module, id, def }, part, kind });
            }
        }
    }
    parts
}

fn check_inits(pipe: &[&Part<'_>], diags: &mut Diags) {
    for kind in [CoreKind::Cube, CoreKind::Vector] {
        let mut same = pipe.iter().filter(|p| p.kind == kind);
        if let (Some(first), Some(second)) = (same.next(), same.next()) {
            diags.push(
                second
                    .op
                    .error(
                        "ring-initialized-twice",
                        format!("the {} core initialises pipe {} twice", kind.name(), pipe_id(&second.op)),
                    )
                    .also(first.op.span(), "first here")
                    .help("give the second pipe another `id`"),
            );
        }
    }
    let cube = pipe.iter().find(|p| p.kind == CoreKind::Cube);
    let vector = pipe.iter().find(|p| p.kind == CoreKind::Vector);
    if let (Some(cube), Some(vector)) = (cube, vector) {
        for name in ["dir_mask", "slot_size", "slot_num"] {
            if cube.op.int(name) != vector.op.int(name) {
                let show = |v: Option<i64>| v.map_or("the default".to_string(), |v| v.to_string());
                diags.push(
                    vector
                        .op
                        .error("ring-mismatch", format!("the two ends of a pipe disagree on `{name}`"))
                        .label(format!("{} here", show(vector.op.int(name))))
                        .also(cube.op.span(), format!("{} at the other end", show(cube.op.int(name))))
                        .help("both ends of a pipe are initialised with the same directions, slot size and slot count"),
                );
            }
        }
    }
}

#[allow(clippy::too_many_arguments)]
fn plan_ring(
    parts: &[Part<'_>],
    kernel: &Kernel,
    platform: &Platform,
    mode: Mode,
    init: &OpRef<'_>,
    direction: Direction,
    both_ways: bool,
    plan: &mut RingPlan,
    diags: &mut Diags,
) -> PlannedRing {
    let id = pipe_id(init);
    let of = |wanted: fn(RingPart) -> bool| {
        parts.iter().filter(move |p| wanted(p.part) && pipe_id(&p.op) == id).map(|p| &p.op).collect::<Vec<_>>()
    };
    let (pushes, pops) = match direction {
        Direction::C2V => (of(|p| p == RingPart::Push(Direction::C2V)), of(|p| p == RingPart::Pop(Direction::C2V))),
        Direction::V2C => (of(|p| p == RingPart::Push(Direction::V2C)), of(|p| p == RingPart::Pop(Direction::V2C))),
    };
    check_splits(&pushes, &pops, diags);
    let popped = same_tile(&pops, diags);
    check_shapes(&pushes, &pops, direction, diags);
    let default = if both_ways { platform.ring.slots_both_ways } else { platform.ring.slots_one_way };
    let slots = init.int("slot_num").map_or(default, |n| n.clamp(1, 1 << 16) as u32);
    check_flags(init, slots, both_ways, platform, diags);
    let slot_bytes = init.int("slot_size").unwrap_or(0).clamp(0, i64::from(u32::MAX)) as u32;
    for op in pushes.iter().chain(&pops) {
        let data = op.module.op(op.id);
        let tile = data.operands.iter().chain(&data.results).find_map(|v| op.module.ty(*v).as_tile());
        // How much of a tile with a dynamic valid shape goes into the slot is only known when it is moved.
        if let Some(tile) = tile
            && tile.valid.iter().all(|v| v.known().is_some())
            && tile.layout.bytes() > slot_bytes as usize
        {
            diags.push(
                op.error(
                    "ring-slot-size",
                    format!("a tile of {} bytes does not fit into a slot of {slot_bytes}", tile.layout.bytes()),
                )
                .also(init.span(), "the pipe's slots are declared here")
                .help(format!("set `slot_size` to {} at both ends", tile.layout.bytes())),
            );
        }
    }
    let has = |role: Role| kernel.start[role.index()].is_some();
    let lanes = [has(Role::Aiv0), has(Role::Aiv1)];
    let space = match (mode, direction) {
        (Mode::Device, _) if platform.ring.in_gm => Space::Gm,
        (_, Direction::C2V) => Space::Vec,
        (_, Direction::V2C) => Space::Mat,
    };
    // A reference ring is a plain FIFO: so deep that its depth is not seen.
    let slots = if mode == Mode::Reference { slots.max(REFERENCE_SLOTS) } else { slots };
    let first = plan.rings.iter().map(|r| r.lanes().count() as u32).sum();
    let name = format!("ring {}{}", direction.name(), if id == 0 { String::new() } else { format!(" of pipe {id}") });
    PlannedRing { id, direction, slots, slot_bytes, both_ways, lanes, space, popped, first, name }
}

/// A core that pushes, pops or frees must initialise its end of the pipe with that direction.
fn check_provided(part: &Part<'_>, direction: Direction, inits: &[&Part<'_>], diags: &mut Diags) {
    let bit = if direction == Direction::C2V { 1 } else { 2 };
    let same_pipe =
        |init: &&&Part<'_>| pipe_id(&init.op) == pipe_id(&part.op) && init.op.int("dir_mask").unwrap_or(0) & bit != 0;
    let mut provided = inits.iter().filter(same_pipe);
    if provided.clone().any(|init| init.kind == part.kind) {
        return;
    }
    let mut error = part.op.error(
        "ring-not-initialized",
        format!("`{}` uses a {} ring that its core does not initialise", part.op.def.schema.name, direction.name()),
    );
    if let Some(other) = provided.next() {
        error = error.also(other.op.span(), "the other end is initialised here");
    }
    let core = if part.kind == CoreKind::Cube { "aic" } else { "aiv" };
    diags.push(error.help(format!("call `pto.{core}_initialize_pipe` before it with bit {bit} of `dir_mask` set")));
}

/// Every slot needs a flag of its own, and the two directions of a pipe share the platform's flags.
fn check_flags(init: &OpRef<'_>, slots: u32, both_ways: bool, platform: &Platform, diags: &mut Diags) {
    let flags = platform.sync.ring_flags / if both_ways { 2 } else { 1 };
    if slots > flags {
        diags.push(
            init.error(
                "ring-flags",
                format!("a ring of {slots} slots needs {slots} flags, and the platform has {flags} for it"),
            )
            .help(format!("set `slot_num` to at most {flags}")),
        );
    }
}

/// The pipes of a kernel share the flags between a Vector core and the Cube core: one for each slot of each ring.
fn check_shared_flags(inits: &[&Part<'_>], plan: &RingPlan, platform: &Platform, diags: &mut Diags) {
    let (used, flags) = (plan.rings.iter().map(|ring| ring.slots).sum::<u32>(), platform.sync.ring_flags);
    let (Some(first), Some(last)) = (inits.first(), inits.last()) else { return };
    if used > flags && pipe_id(&first.op) != pipe_id(&last.op) {
        let message =
            format!("the kernel's rings have {used} slots, and the platform has {flags} flags for all of them");
        let also = "this pipe takes flags from the same cores";
        diags.push(
            last.op
                .error("ring-flags", message)
                .also(first.op.span(), also)
                .help(format!("set `slot_num` so that the slots of all pipes together are at most {flags}")),
        );
    }
}

/// `nosplit`, where an initialise op says it, must be what the pipe's data ops do.
fn check_nosplit(pipe: &[&Part<'_>], parts: &[Part<'_>], diags: &mut Diags) {
    let says = |p: &Part<'_>| p.op.attr("nosplit").and_then(slipring_ir::Attr::as_bool);
    let data = |p: &&Part<'_>| matches!(p.part, RingPart::Push(_) | RingPart::Pop(_) | RingPart::Free(_));
    for init in pipe {
        let Some(nosplit) = says(init) else { continue };
        let mut users = parts.iter().filter(data).filter(|p| pipe_id(&p.op) == pipe_id(&init.op));
        let conflict = users.find(|p| Split::of(&p.op).is_some_and(|split| (split == Split::None) != nosplit));
        if let Some(user) = conflict {
            let needs = if nosplit { "split = 1 or split = 2" } else { "split = 0" };
            diags.push(
                init.op
                    .error(
                        "ring-split",
                        format!("explicit 'nosplit = {nosplit}' conflicts with downstream users that require {needs}"),
                    )
                    .also(user.op.span(), "such as this one")
                    .help("leave `nosplit` out: the data ops say it"),
            );
        }
    }
    if let [first, second, ..] = pipe
        && let (Some(a), Some(b)) = (says(first), says(second))
        && a != b
    {
        diags.push(
            second
                .op
                .error("ring-split", "conflicting explicit 'nosplit' across peer pipe init ops")
                .also(first.op.span(), "the other end"),
        );
    }
}

/// Depth of the rings of a reference run.
const REFERENCE_SLOTS: u32 = 1024;

fn check_splits(pushes: &[&OpRef<'_>], pops: &[&OpRef<'_>], diags: &mut Diags) {
    for op in pushes.iter().chain(pops) {
        if Split::of(op).is_none() {
            diags.push(
                op.error("ring-split", "expects 'split' to be 0, 1, or 2").label("0 none, 1 up/down, 2 left/right"),
            );
        }
    }
    for push in pushes {
        let matched = pops.is_empty() || pops.iter().any(|pop| Split::of(pop) == Split::of(push));
        if !matched {
            diags.push(
                push.error("ring-split", "the tile is pushed with a split that no pop of the ring uses")
                    .label(format!("split = {}", push.int("split").unwrap_or(0)))
                    .also(pops[0].span(), format!("popped with split = {}", pops[0].int("split").unwrap_or(0)))
                    .help("push and pop a tile with the same `split`"),
            );
        }
    }
    for pop in pops {
        let matched = pushes.is_empty() || pushes.iter().any(|push| Split::of(push) == Split::of(pop));
        if !matched {
            diags.push(
                pop.error("ring-split", "the tile is popped with a split that no push of the ring uses")
                    .label(format!("split = {}", pop.int("split").unwrap_or(0)))
                    .also(pushes[0].span(), format!("pushed with split = {}", pushes[0].int("split").unwrap_or(0)))
                    .help("push and pop a tile with the same `split`"),
            );
        }
    }
}

/// The tile type that all pops of a ring share in layout and element type.
fn same_tile(pops: &[&OpRef<'_>], diags: &mut Diags) -> Option<TileType> {
    let mut first: Option<(TileType, Span)> = None;
    for pop in pops {
        let result = *pop.module.op(pop.id).results.first()?;
        let Some(tile) = pop.module.ty(result).as_tile().copied() else { continue };
        match first {
            None => first = Some((tile, pop.span())),
            Some((other, span)) => {
                let (a, b) = (tile.layout, other.layout);
                if (a.elem, a.blayout, a.slayout, a.fractal) != (b.elem, b.blayout, b.slayout, b.fractal) {
                    diags.push(
                        pop.error("ring-layout", "the pops of a ring want different element types or layouts")
                            .also(span, "the other one")
                            .help("a slot holds its tile in one layout: pop it with one type"),
                    );
                }
            }
        }
    }
    first.map(|(tile, _)| tile)
}

/// Pushed and popped shapes must be whole and half of each other as the split says.
fn check_shapes(pushes: &[&OpRef<'_>], pops: &[&OpRef<'_>], direction: Direction, diags: &mut Diags) {
    for push in pushes {
        let Some(pushed) = push.tile(0) else { continue };
        let Some(split) = Split::of(push) else { continue };
        let (vector, cube_says) = match direction {
            Direction::C2V => (None, Some(pushed)),
            Direction::V2C => (Some(pushed), None),
        };
        let shape = (pushed.layout.rows, pushed.layout.cols);
        let expected = match (split, vector.is_some(), cube_says.is_some()) {
            (Split::None, ..) => shape,
            (Split::UpDown, false, _) => (shape.0 / 2, shape.1),
            (Split::LeftRight, false, _) => (shape.0, shape.1 / 2),
            (Split::UpDown, true, _) => (shape.0 * 2, shape.1),
            (Split::LeftRight, true, _) => (shape.0, shape.1 * 2),
        };
        let odd = direction == Direction::C2V
            && ((split == Split::UpDown && shape.0 % 2 != 0) || (split == Split::LeftRight && shape.1 % 2 != 0));
        if odd {
            diags.push(
                push.error("ring-split", format!("a tile of {} × {} cannot be halved", shape.0, shape.1))
                    .help("make the split axis even, or push without a split"),
            );
            continue;
        }
        let same_split: Vec<_> = pops.iter().filter(|pop| Split::of(pop) == Some(split)).collect();
        let fits = |pop: &&&&OpRef<'_>| {
            let result = pop.module.op(pop.id).results.first().map(|v| pop.module.ty(*v));
            result.and_then(|t| t.as_tile()).is_none_or(|t| (t.layout.rows, t.layout.cols) == expected)
        };
        if !same_split.is_empty() && !same_split.iter().any(|pop| fits(&pop)) {
            diags.push(
                push.error(
                    "ring-shape",
                    format!(
                        "a tile of {} × {} is pushed, but no pop takes {} × {}",
                        shape.0, shape.1, expected.0, expected.1
                    ),
                )
                .also(same_split[0].span(), "popped with another shape here")
                .help("a lane gets half of the tile under a split, the whole tile without one"),
            );
        }
    }
}
