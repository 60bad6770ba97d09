//! Structural checks.

use slipring_ir::{Diags, Flow, OpId, Span, Type, ValueId};
use slipring_machine::CoreKind;
use slipring_op::function::asked_split;
use slipring_op::ring::Split;
use slipring_op::{InCoreSync, MixedPart, OpDef, OpRef, RingPart, core_of, kernel_kind};
use slipring_tile::Space;

use crate::analysis::facts::{first_operand, flow};
use crate::split::check_split::function::{Function, Placed, is_region, mode, name_of};

/// Checks a function. False if its contents cannot be followed any further.
pub(super) fn check(function: &Function<'_>, diags: &mut Diags) -> bool {
    if let Some((home, of)) = single_core(function) {
        let message = "a function for one kind of core has no part in dividing Vector work";
        for placed in function.ops.iter().filter(|placed| placed.op.def.mixed.is_some()) {
            let error = placed.op.error("split-in-core", message).also(home, format!("{of}, which begins here"));
            diags.push(error.help("leave out the kind of core: the passes make a function for each kind"));
        }
        return false;
    }
    let region = function.first_region();
    twice(function, region, diags);
    let moved = function.ops.iter().any(|placed| moves_by_hand(&placed.op));
    for placed in &function.ops {
        nesting(placed, diags);
        by_hand(placed, diags);
        carried(placed, diags);
        if !crossing(placed, region, diags) {
            in_region(placed, diags);
            outside(placed, region, moved, diags);
        }
    }
    one_kind_of_crossing(function, diags);
    !function.ops.iter().any(nested)
}

/// The reason why a function, or a part of it with ops that divide Vector work, is for one kind of core.
fn single_core(function: &Function<'_>) -> Option<(Span, &'static str)> {
    let module = function.module;
    if kernel_kind(module, function.id).is_some() {
        return Some((module.op(function.id).span, "the function says the kind of core"));
    }
    let opens = |placed: &&Placed<'_>| {
        !module.op(placed.op.id).regions.is_empty()
            && placed.kind.is_none()
            && slipring_op::affinity(&placed.op).is_some()
    };
    let section = function.ops.iter().find(opens)?;
    Some((section.op.span(), "the section is for one kind of core"))
}

fn nested(placed: &Placed<'_>) -> bool {
    is_region(&placed.op) && placed.region.is_some()
}

fn nesting(placed: &Placed<'_>, diags: &mut Diags) {
    if let Some(outer) = placed.region.filter(|_| nested(placed)) {
        diags.push(
            placed
                .op
                .error("split-nested", "a region for the Vector cores is nested in another one")
                .also(outer.span(), "its body is already what each of the two Vector cores runs")
                .help("put the regions one after the other, or leave the inner one out"),
        );
    }
}

/// A function that requests the automatic split and also divides manually.
fn twice(function: &Function<'_>, region: Option<OpRef<'_>>, diags: &mut Diags) {
    let asked = asked_split(function.module, function.id);
    if let (Some(asked), Some(region)) = (asked, region) {
        diags.push(
            region
                .error("split-twice", "the Vector work of this function is divided twice")
                .label("divided by hand here")
                .also(function.module.op(function.id).span, format!("the function asks for it with `split = {asked}`"))
                .help("keep one: take `split` off the function, or take the regions out"),
        );
    }
}

/// Pushes, pops and frees written in the text.
fn moves_by_hand(op: &OpRef<'_>) -> bool {
    op.def.ring.and_then(RingPart::moves).is_some()
}

/// Pipes and flags are managed by the passes here; tiles may be pushed and popped.
fn by_hand(placed: &Placed<'_>, diags: &mut Diags) {
    let op = &placed.op;
    let syncs = op.def.in_core_sync == InCoreSync::Manual && op.module.op(op.id).regions.is_empty();
    let inside_vector_function = op
        .module
        .parent_op(op.id)
        .is_some_and(|outer| OpDef::of(op.module, outer).is_some_and(|def| def.in_core_sync == InCoreSync::Manual));
    let makes_ring = op.def.ring.is_some() && !moves_by_hand(op);
    if makes_ring || (syncs && !inside_vector_function) {
        let name = name_of(op);
        diags.push(
            op.error("mixed-by-hand", format!("`{name}` synchronises by hand in a function for both kinds of core"))
                .help("leave pipes and flags to the passes, or write a function for each kind of core"),
        );
    }
}

/// Tiles that a loop carries as values.
fn carried(placed: &Placed<'_>, diags: &mut Diags) {
    let op = &placed.op;
    if flow(op.module, op.id) != Flow::Repeat {
        return;
    }
    let data = op.module.op(op.id);
    if let Some(tile) = data.operands.iter().find(|v| matches!(op.module.ty(**v), Type::Tile(_))) {
        let name = op.module.value_name(*tile);
        diags.push(
            op.error("tile-carried", format!("the loop carries the tile `{name}` as a value"))
                .also(op.module.value(*tile).span, "the tile")
                .help("declare the tile before the loop and write it in place"),
        );
    }
}

/// The memories of two kinds of core between which an op moves a tile.
fn between(op: &OpRef<'_>) -> Option<(Space, Space)> {
    let space = |value: ValueId| op.module.ty(value).space().filter(|space| *space != Space::Gm);
    let (from, to) = (op.read().find_map(space)?, op.written().find_map(space)?);
    (core_of(from) != core_of(to)).then_some((from, to))
}

/// Cross-core copies: their position, and whether they are present. True for an op that is one, or was meant as one.
fn crossing(placed: &Placed<'_>, region: Option<OpRef<'_>>, diags: &mut Diags) -> bool {
    let op = &placed.op;
    let name = name_of(op);
    match op.def.mixed {
        Some(MixedPart::Region) => true,
        Some(MixedPart::Shard | MixedPart::Gather) => {
            if placed.region.is_none() {
                let error = op.error("split-outside", format!("`{name}` is outside every region"));
                diags.push(
                    error
                        .label("no Vector core runs this")
                        .help("put it into a region for the Vector cores (`split_aiv`): it is where a tile crosses"),
                );
            }
            true
        }
        part => {
            let Some((from, _)) = between(op) else { return part.is_some() };
            if part.is_some() && region.is_none() {
                return true;
            }
            let Some(region) = region else {
                diags.push(
                    op.error("cross-by-move", format!("`{name}` moves a tile from one kind of core to the other"))
                        .help("let the tile cross (`tcross`), or divide it with regions"),
                );
                return true;
            };
            let (code, message, help) = match core_of(from) {
                CoreKind::Vector => (
                    "needs-gather",
                    "the Cube core reads a tile of the Vector cores, of which each holds its own",
                    "gather it first (`aic_gather`), inside the region, and read the gathered tile here",
                ),
                CoreKind::Cube => (
                    "needs-shard",
                    "the Vector cores read a tile of the Cube core that was not handed to them",
                    "shard it (`aiv_shard`) at the top of the region, with split 0 (NONE) if each needs the whole tile",
                ),
            };
            let mut error = op.error(code, message).label("crosses here");
            if let Some(written) = first_operand(op) {
                let name = op.module.value_name(written);
                error = error.also(op.module.value(written).span, format!("`{name}` is declared here"));
            }
            diags.push(error.also(region.span(), "regions say what crosses in this function").help(help));
            true
        }
    }
}

/// Ops of the Cube core inside a region for the Vector cores.
fn in_region(placed: &Placed<'_>, diags: &mut Diags) {
    let (Some(region), Some(CoreKind::Cube)) = (placed.region, placed.kind) else { return };
    let divided = Split::of(&region).is_some_and(|split| split != Split::None);
    let help = if divided {
        "move it outside, and gather what it reads first (`aic_gather`): each Vector core holds only its half"
    } else {
        "move it outside of the region"
    };
    diags.push(
        placed
            .op
            .error("cube-in-region", format!("`{}` is the Cube core's work", name_of(&placed.op)))
            .label("stands among the Vector cores' work")
            .also(region.span(), "the region begins here")
            .help(help),
    );
}

/// Vector work, and queries of the lane number, outside every region. `by_hand`: the function pushes and pops
/// explicitly, and without a region it is then a program for each lane.
fn outside(placed: &Placed<'_>, region: Option<OpRef<'_>>, by_hand: bool, diags: &mut Diags) {
    let op = &placed.op;
    let name = name_of(op);
    if placed.region.is_some() {
        return;
    }
    if op.def.per_lane.is_some() {
        if region.is_none() && by_hand {
            return;
        }
        let mut error = op
            .error("lane-outside", format!("`{name}` is outside every region"))
            .label("the Cube core has no lane, and both Vector cores would get the same answer");
        if let Some(region) = region {
            error = error.also(region.span(), "this region has the number of its lane");
        }
        diags.push(error.help("ask inside a region for the Vector cores (`split_aiv`), which also binds the number"));
        return;
    }
    let Some(region) = region.filter(|_| placed.kind == Some(CoreKind::Vector)) else { return };
    if moves_global(op.module, op.id) || (op.written().next().is_none() && op.module.op(op.id).results.is_empty()) {
        return;
    }
    diags.push(
        op.error("vector-outside", format!("`{name}` is Vector work outside every region"))
            .label("no Vector core is told to run this")
            .also(region.span(), "in a function with a region, regions say where Vector work runs")
            .help("put it into a region of its own; with split 0 (NONE) both Vector cores do it"),
    );
}

/// True for loads and stores.
fn moves_global(module: &slipring_ir::Module, op: OpId) -> bool {
    let data = module.op(op);
    data.operands.iter().any(|value| module.ty(*value).space() == Some(Space::Gm))
}

/// The public assembler reports divided and undivided tiles on one pipe as an error, and a function has one pipe.
fn one_kind_of_crossing(function: &Function<'_>, diags: &mut Diags) {
    let crossings = function
        .ops
        .iter()
        .map(|placed| &placed.op)
        .filter(|op| matches!(op.def.mixed, Some(MixedPart::Shard | MixedPart::Gather)));
    let mut first: Option<(&OpRef<'_>, Split)> = None;
    for op in crossings {
        let Some(split) = Split::of(op) else { continue };
        match first {
            None => first = Some((op, split)),
            Some((earlier, other)) if (other == Split::None) != (split == Split::None) => {
                diags.push(
                    op.error("split-mix", "divided and whole tiles cross in one function")
                        .label(mode(split))
                        .also(earlier.span(), mode(other))
                        .note(
                            "they share one pipe, and the assembler cannot mix `split = 0` with other splits on the same \
                             logical pipe",
                        )
                        .help("divide all tiles that cross, or none; or make two kernels of it"),
                );
                return;
            }
            Some(_) => {}
        }
    }
}
