//! Rules that both ends of a pipe must agree on, with errors that point to both ends.

use slipring_ir::{Attr, Diagnostic, Diags, Span, TileType, Type};
use slipring_machine::{CoreKind, Platform};
use slipring_program::Direction;
use slipring_tile::{SLayout, Space};

use super::ends::Ends;
use super::spec::ring_tile;
use super::split::Split;
use super::words;
use crate::def::OpRef;
use crate::ring::inits::{Init, Part};
use crate::ring::key::PipeKey;
use crate::ring::library::Library;

/// Requires both ends to exist once and to have the same parameters.
pub(super) fn check_ends(pipe: &[Init<'_>], diags: &mut Diags) {
    for kind in [CoreKind::Cube, CoreKind::Vector] {
        let mut same = pipe.iter().filter(|p| p.kind == kind);
        if let (Some(first), Some(second)) = (same.next(), same.next()) {
            let name = second.spec.key.text(second.op.module);
            let (message, help) = match second.spec.key {
                PipeKey::Flag(_) => (
                    format!("the {} core makes two pipes with the same flag id", kind.name()),
                    "give the second pipe another flag id",
                ),
                _ => {
                    (format!("the {} core initialises {name} twice", kind.name()), "give the second pipe another `id`")
                }
            };
            let error = second.op.error("ring-initialized-twice", message);
            diags.push(error.also(first.op.span(), "first here").help(help));
        }
    }
    let end = |kind| pipe.iter().find(|p| p.kind == kind);
    let (Some(cube), Some(vector)) = (end(CoreKind::Cube), end(CoreKind::Vector)) else {
        return complete_pair(pipe, diags);
    };
    for ((name, here), (_, there)) in says(vector).into_iter().zip(says(cube)) {
        if here != there {
            diags.push(
                vector
                    .op
                    .error("ring-mismatch", format!("the two ends of a pipe disagree on `{name}`"))
                    .label(format!("{here} here"))
                    .also(cube.op.span(), format!("{there} at the other end"))
                    .help("both ends of a pipe are initialised with the same directions, slot size and slot count"),
            );
        }
    }
}

/// The parameters that an end declares, for comparison with the other one; defaults replace those that are left out.
fn says(init: &Init<'_>) -> [(&'static str, String); 9] {
    let config = &init.spec.config;
    let mask = i64::from(config.directions[0]) | i64::from(config.directions[1]) << 1;
    let protocol = if config.counted { words::COUNTED } else { words::TAGGED };
    [
        (words::DIRECTIONS, mask.to_string()),
        (words::SLOT_SIZE, config.slot_bytes.to_string()),
        (words::SLOTS, init.spec.slots.to_string()),
        (words::PROTOCOL, protocol.to_string()),
        (words::PERIOD, config.period.to_string()),
        (words::CREDITS, init.spec.credits.to_string()),
        (words::LANE, config.lane.map_or("both".to_string(), |lane| lane.to_string())),
        (words::EPILOGUE, config.epilogue.map_or("none".to_string(), |epilogue| epilogue.to_string())),
        (words::PLACEMENT, if init.spec.in_gm { words::IN_GM } else { words::ON_CHIP }.to_string()),
    ]
}

/// Requires a pipe value without a flag of its own to belong to a pair of functions.
fn complete_pair(pipe: &[Init<'_>], diags: &mut Diags) {
    let [only] = pipe else { return };
    if let PipeKey::Slots(reservation) = only.spec.key {
        let message = "requires a complete peer init pair when local_addr comes from pto.reserve_buffer or \
                       pto.import_reserved_buffer";
        let span = only.op.module.op(reservation).span;
        let error = only.op.error("pipe-pair", message).also(span, "the slots are reserved here");
        diags.push(error.help("make the pipe in the function of the other core too"));
    } else if only.spec.config.flag.is_none() && only.spec.key == PipeKey::Flag(0) {
        let message = "requires local_addr to come from pto.reserve_buffer or pto.import_reserved_buffer when 'flag_base' is not explicit";
        diags.push(only.op.error("pipe-pair", message).help("write `flag_base`, the same at both ends"));
    }
}

/// Requires a core that pushes, pops or frees to make its end of the pipe with that direction.
pub(super) fn check_provided(part: &Part<'_>, direction: Direction, inits: &[Init<'_>], diags: &mut Diags) {
    let mut provided = inits.iter().filter(|init| Some(init.spec.key) == part.key && init.spec.has(direction));
    if provided.clone().any(|init| init.kind == part.kind) {
        return;
    }
    let name = part.op.def.schema.name;
    let Some(PipeKey::Id(_)) = part.key else {
        let of = part.key.map_or("its pipe".to_string(), |key| key.text(part.op.module));
        let message = format!("`{name}` goes {}, and {of} does not", direction.name());
        return diags.push(
            part.op
                .error("pipe-direction", message)
                .help("push tiles in `acc` or `vec`, pop them in `vec` or `mat`, as the pipe's direction says"),
        );
    };
    let bit = if direction == Direction::C2V { 1 } else { 2 };
    let mut error = part.op.error(
        "ring-not-initialized",
        format!("`{name}` uses a {} ring that its core does not initialise", direction.name()),
    );
    if let Some(other) = provided.next() {
        error = error.also(other.op.span(), "the other end is initialised here");
    }
    let core = if part.kind == CoreKind::Cube { "aic" } else { "aiv" };
    diags.push(error.help(format!("call `pto.{core}_initialize_pipe` before it with bit {bit} of `dir_mask` set")));
}

/// Requires `nosplit`, if an initialise op has it, to match the pipe's data ops.
pub(super) fn check_nosplit(pipe: &[Init<'_>], parts: &[Part<'_>], diags: &mut Diags) {
    let says = |p: &Init<'_>| p.op.attr(words::UNDIVIDED).and_then(Attr::as_bool);
    let data = |p: &&Part<'_>| p.part.moves().is_some();
    for init in pipe {
        let Some(nosplit) = says(init) else { continue };
        let mut users = parts.iter().filter(data).filter(|p| p.key == Some(init.spec.key));
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

/// Requires pushes and pops to use the same split.
pub(super) fn check_splits(pushes: &[OpRef<'_>], pops: &[OpRef<'_>], diags: &mut Diags) {
    for op in pushes.iter().chain(pops) {
        if Split::of(op).is_none() {
            diags.push(Split::refused(op));
        }
    }
    let sides = [(pushes, pops, "pushed", "pop", "popped"), (pops, pushes, "popped", "push", "pushed")];
    for (own, others, done, other, other_done) in sides {
        for op in own {
            let split = Split::of(op);
            if others.is_empty() || others.iter().any(|o| Split::of(o) == split) {
                continue;
            }
            let text = |op: &OpRef<'_>| Split::of(op).map_or(-1, Split::number);
            diags.push(
                op.error("ring-split", format!("the tile is {done} with a split that no {other} of the ring uses"))
                    .label(format!("split = {}", text(op)))
                    .also(others[0].span(), format!("{other_done} with split = {}", text(&others[0])))
                    .help("push and pop a tile with the same `split`"),
            );
        }
    }
}

/// Requires a free to have the split of its pop, if it specifies one; which axis is divided makes no difference.
pub(super) fn check_free_splits(frees: &[OpRef<'_>], pops: &[OpRef<'_>], diags: &mut Diags) {
    for op in frees.iter().filter(|op| op.attr(words::SPLIT).is_some()) {
        let split = Split::of(op);
        let alike = |pop: &OpRef<'_>| Split::of(pop).map(|split| split == Split::None);
        let known = pops.iter().any(|pop| alike(pop) == split.map(|split| split == Split::None));
        let (Some(first), false) = (pops.first(), known) else { continue };
        let number = |op: &OpRef<'_>| Split::of(op).map_or(-1, Split::number);
        diags.push(
            op.error("ring-split", "the slot is freed with a split that no pop of the ring uses")
                .label(format!("split = {}", number(op)))
                .also(first.span(), format!("popped with split = {}", number(first)))
                .help("pop a tile and free its slot with the same `split`"),
        );
    }
}

/// Requires a pipe to a single Vector core to move whole tiles: there is no second core to divide them with.
pub(super) fn check_undivided<'o, 'm: 'o>(
    init: &OpRef<'_>,
    lane: usize,
    ops: impl Iterator<Item = &'o OpRef<'m>>,
    diags: &mut Diags,
) {
    for op in ops.filter(|op| Split::of(op).is_some_and(|split| split != Split::None)) {
        diags.push(
            op.error("ring-split", "the tile is divided, and its pipe goes to one Vector core")
                .also(init.span(), format!("`lane = {lane}` here"))
                .help("use `split = 0`, or a pipe to both Vector cores, without `lane`"),
        );
    }
}

/// True if the pushes and pops of a ring are of slots in global memory; either all are, or none.
pub(super) fn same_kind(pushes: &[OpRef<'_>], pops: &[OpRef<'_>], diags: &mut Diags) -> bool {
    let all = || pushes.iter().chain(pops);
    let is_entry = |op: &OpRef<'_>| {
        let data = op.module.op(op.id);
        let mut values = data.results.iter().chain(&data.operands);
        values.any(|value| matches!(op.module.ty(*value), Type::TensorView(_)))
    };
    let (Some(entry), tile) = (all().find(|op| is_entry(op)), all().find(|op| !is_entry(op))) else { return false };
    if let Some(tile) = tile {
        let error = tile.error("ring-entry", "a ring carries tiles, or slots in global memory");
        diags.push(error.label("a tile here").also(entry.span(), "a slot here").help("use a pipe for each"));
    }
    true
}

/// The tile type that all pops of a ring share in layout and element type.
pub(super) fn same_tile(pops: &[OpRef<'_>], diags: &mut Diags) -> Option<TileType> {
    let mut first: Option<(TileType, Span)> = None;
    for pop in pops {
        let Some(tile) = tile_of(pop) else { continue };
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

fn tile_of(op: &OpRef<'_>) -> Option<TileType> {
    op.module.ty(ring_tile(op)?).as_tile().copied()
}

/// The rows and columns that count: the valid extent, or that of the layout if the valid one is dynamic.
fn extents(tile: &TileType) -> [u64; 2] {
    let extents = [tile.layout.rows, tile.layout.cols];
    std::array::from_fn(|axis| tile.valid[axis].known().unwrap_or(extents[axis].into()))
}

/// The split and the tile of a push or a pop.
pub(super) fn divided(op: &OpRef<'_>) -> Option<(Split, TileType)> {
    Some((Split::of(op)?, tile_of(op)?))
}

/// Requires pushed and popped tiles to be the whole and the part that the split implies.
pub(super) fn check_shapes(pushes: &[OpRef<'_>], pops: &[OpRef<'_>], direction: Direction, diags: &mut Diags) {
    let cubes = if direction == Direction::C2V { pushes } else { pops };
    for op in cubes {
        if let Some((n, axis)) = divided(op).and_then(|(split, tile)| split.odd(&tile)) {
            diags.push(odd(op, n, axis));
        }
    }
    for push in pushes {
        let Some((split, pushed)) = divided(push) else { continue };
        let popped: Vec<_> = pops.iter().filter_map(|pop| Some((pop, divided(pop)?))).collect();
        let mut tiles = popped.iter().filter(|(_, (mode, _))| *mode == split);
        let Some((other, _)) = tiles.clone().next() else { continue };
        let fits = |popped: &TileType| match direction {
            Direction::C2V => split.odd(&pushed).is_some() || split.fits(&pushed, popped, direction),
            Direction::V2C => split.odd(popped).is_some() || split.fits(popped, &pushed, direction),
        };
        if tiles.any(|(_, (_, popped))| fits(popped)) {
            continue;
        }
        let [rows, cols] = extents(&pushed);
        let mut wanted = [rows, cols];
        if let Some(axis) = split.axis() {
            wanted[axis] = if direction == Direction::C2V { wanted[axis] / 2 } else { wanted[axis] * 2 };
        }
        let message = format!("a tile of {rows} × {cols} is pushed, but no pop takes {} × {}", wanted[0], wanted[1]);
        diags.push(
            push.error("ring-shape", message)
                .also(other.span(), "popped with another shape here")
                .help("a lane gets half of what is valid of the tile under a split, the whole tile without one"),
        );
    }
}

/// The error for a tile that cannot be halved.
pub fn odd(op: &OpRef<'_>, n: u64, axis: usize) -> slipring_ir::Diagnostic {
    let what = ["rows", "columns"][axis];
    op.error("split-odd", format!("{n} {what} cannot be divided evenly between two Vector cores"))
        .label("the split axis must be even")
        .help("pad the tile to an even extent, or split the other axis")
}

/// The layout of a tile in its slot follows from the types at the other end, so these must agree.
pub(super) fn check_places(ops: &[OpRef<'_>], ends: &Ends, is_cube: bool, diags: &mut Diags) {
    for op in ops {
        let Some((split, own)) = divided(op) else { continue };
        let others = ends.others(split, &own, is_cube);
        let shape = |tile: &TileType| (tile.layout.rows, tile.layout.cols);
        let Some(first) = others.first().map(shape) else { continue };
        let Some(second) = others.iter().map(shape).find(|other| *other != first) else { continue };
        let message = format!(
            "tiles of {} × {} and of {} × {} at the other end fit this one, and lie differently in their slot",
            first.0, first.1, second.0, second.1
        );
        diags.push(op.error("ring-layout", message).help("declare them with one shape, or use a pipe for each"));
    }
}

/// Requires a whole tile to fit into a slot, in the element type in which it is popped. If the Vector cores have
/// separate rings in local memory, their slots hold half of a tile that is divided between them.
pub(super) fn check_slot_size(
    init: &Init<'_>,
    direction: Direction,
    pushes: &[OpRef<'_>],
    pops: &[OpRef<'_>],
    popped: Option<&TileType>,
    diags: &mut Diags,
) {
    let slot_bytes = init.spec.slot_bytes as usize;
    for op in pushes.iter().chain(pops) {
        // For a dynamic valid shape, the bytes that go into the slot are only known when the tile is moved.
        let Some(tile) = tile_of(op).filter(|t| t.valid.iter().all(|v| v.known().is_some())) else { continue };
        let elem = popped.map_or(tile.layout.elem, |t| t.layout.elem);
        let whole = slipring_tile::Layout { elem, ..tile.layout }.bytes();
        let halved = direction == Direction::C2V
            && !init.spec.in_gm
            && pushes.iter().any(|push| push.id == op.id)
            && Split::of(op).is_some_and(|split| split.axis().is_some());
        let bytes = if halved { whole / 2 } else { whole };
        if bytes > slot_bytes {
            diags.push(
                op.error("ring-slot-size", format!("a tile of {bytes} bytes does not fit into a slot of {slot_bytes}"))
                    .also(init.op.span(), "the pipe's slots are declared here")
                    .help(format!("set `slot_size` to {bytes} at both ends")),
            );
        }
    }
}

impl Library {
    /// Inspects the ops of a ring. `lanes` are the Vector cores at its other end.
    pub fn of(
        platform: &Platform,
        direction: Direction,
        space: Space,
        lanes: [bool; 2],
        [pushes, pops]: [&[OpRef<'_>]; 2],
        pushed_and_popped: (impl Iterator<Item = TileType>, Option<&TileType>),
    ) -> Library {
        let alone = platform.sync.broadcast_reduce && lanes.contains(&false) && !(pushes.is_empty() && pops.is_empty());
        if !platform.ring.undivided_to_first || space == Space::Gm {
            return Library { alone, ..Library::default() };
        }
        let mut all = pushes.iter().chain(pops);
        let undivided = lanes == [true, true]
            && !(pushes.is_empty() && pops.is_empty())
            && all.all(|op| Split::of(op) == Some(Split::None));
        let (mut pushed, popped) = pushed_and_popped;
        let blocks = popped.is_some_and(|tile| tile.layout.slayout != SLayout::NoneBox);
        let rows = direction == Direction::V2C && blocks && pushed.any(|tile| tile.layout.slayout == SLayout::NoneBox);
        Library { undivided, rows, alone }
    }

    /// Rejects rings that do not work in a tool that calls the library, and warns about requirements on the launch.
    pub fn check(self, platform: &Platform, pushes: &[OpRef<'_>], pops: &[OpRef<'_>], diags: &mut Diags) {
        let Some(op) = pushes.first().or(pops.first()).filter(|_| platform.ring.by_library) else { return };
        if self.undivided {
            let message = format!(
                "the tile library of `{}` moves undivided tiles between the Cube core and AIV0 only, and both Vector cores use this \
                 ring: AIV1 would wait forever",
                platform.name
            );
            let help = "divide the tile (`split = 1` or `2`), or leave the work to AIV0: a kernel that does not ask which Vector \
                        core it runs on runs on that one";
            diags.push(op.error("pipe-undivided", message).help(help));
        }
        if self.alone {
            let message = format!(
                "on `{}` the Cube core hears both Vector cores at once, and one of them alone uses this ring here",
                platform.name
            );
            let help = "launch it on both, where both do all of it, or divide the tile (`split = 1` or `2`)";
            diags.push(Diagnostic::warning("pipe-undivided", op.span(), message).help(help));
        }
        let rows = |op: &&OpRef<'_>| {
            let tile = super::spec::ring_tile(op).and_then(|tile| op.module.ty(tile).as_tile());
            tile.is_some_and(|tile| tile.layout.slayout == SLayout::NoneBox)
        };
        if let Some(op) = pushes.iter().find(rows).filter(|_| self.rows) {
            let message = format!(
                "the tile library of `{}` copies rows into L1 as they are, and the pop takes blocks of them",
                platform.name
            );
            let help =
                "move the tile into one with `blayout=col_major, slayout=row_major` first (`pto.tmov`), and push that";
            diags.push(op.error("pipe-rows", message).help(help));
        }
    }
}
