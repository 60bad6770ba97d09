//! Verification of a module against the declarations.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::text::{MOST_EXTENT, nearest};
use slipring_ir::{Arity, Diagnostic, Diags, Dim, Kind, Module, OpId, Part, TileType, Type};
use slipring_machine::{CoreKind, Platform};

use crate::def::{OpDef, OpRef, PipeRule};
use crate::facts::CoreRule;
use crate::function::{are_halves, kernel_kind};
use crate::numbers::numbers;
use crate::reach::affinity;
use crate::rules::counted;
use crate::table::Table;
use crate::working::working_memory;

/// Checks every op of a module: that it is declared, that its operands have accepted types, that it is on a core that
/// can run it, and its own rules. Reports every error.
pub fn verify(table: &Table, module: &Module, platform: &Platform, diags: &mut Diags) {
    let first = diags.list.len();
    for id in module.walk(module.top) {
        let data = module.op(id);
        let Some(op) = OpRef::of(module, id) else {
            let mut error =
                Diagnostic::error("unknown-op", data.span, format!("`{}` is not an op that slipring knows", data.name));
            if let Some(near) = nearest(&data.name, table.registry.names()) {
                error = error.help(format!("did you mean `{near}`?"));
            }
            diags.push(error);
            continue;
        };
        let before = diags.list.len();
        place(&op, diags);
        operand_types(&op, diags);
        result_count(&op, diags);
        tile_extents(&op, diags);
        core(&op, diags);
        element_types(&op, platform, diags);
        if diags.list.len() == before {
            (op.def.verify)(&op, platform, diags);
        }
        if diags.list.len() == before {
            tile_rules(&op, platform, diags);
            working_memory(&op, platform, diags);
        }
    }
    names_differ(module, diags);
    // What is written once may be many ops, with the same mistake.
    let mut said = BTreeSet::new();
    let mut at = 0;
    diags.list.retain(|own| {
        at += 1;
        let place = own.primary.as_ref().map(|primary| (primary.span.start, primary.span.end, primary.text.clone()));
        at <= first || place.is_none() || said.insert((place, own.code, own.message.clone()))
    });
}

/// Reports functions of the same name, except declarations of a function that is defined elsewhere in the module, and
/// the halves of a kernel, which take the same parameters.
fn names_differ(module: &Module, diags: &mut Diags) {
    // Of each name the first function, and perhaps the other half of its kernel.
    let mut known: BTreeMap<&str, (OpId, Option<OpId>)> = BTreeMap::new();
    for function in module.functions() {
        let Some(name) = module.symbol_name(function) else { continue };
        let Some((first, half)) = known.get_mut(name) else {
            known.insert(name, (function, None));
            continue;
        };
        let declared = module.is_declaration(function) != module.is_declaration(*first);
        if declared && module.parent_op(function) != module.parent_op(*first) {
            continue;
        }
        let halves = half.is_none() && are_halves(module, *first, function);
        if halves && module.function_type(*first) == module.function_type(function) {
            *half = Some(function);
            continue;
        }
        let message = match halves {
            true => format!("`@{name}` takes other parameters on the other kind of core"),
            false => format!("`@{name}` is defined twice"),
        };
        let mut error = Diagnostic::error("redefinition", module.op(function).span, message);
        if halves {
            error = error.help("functions of one name are the halves of one kernel: give them one list of parameters");
        }
        diags.push(error.also(module.op(*first).span, "first here"));
    }
}

/// Reports an op that computes or does work outside every function: it would never run.
fn place(op: &OpRef<'_>, diags: &mut Diags) {
    let data = op.module.op(op.id);
    let outside = op.module.parent_op(op.id).is_none_or(|outer| op.module.part(outer) == Part::Module);
    let runs = !data.operands.is_empty() || !data.results.is_empty() || !matches!(op.def.pipe, PipeRule::None);
    if outside && runs {
        let message = format!("`{}` is outside every function", op.def.schema.name);
        diags.push(op.error("outside-function", message).help("move it into the function that uses it"));
    }
}

fn operand_types(op: &OpRef<'_>, diags: &mut Diags) {
    for (index, spec) in op.def.schema.operands.iter().enumerate() {
        for value in op.operands(index) {
            if !(spec.ty.accepts)(op.module.ty(*value)) {
                let name = op.module.value_name(*value);
                diags.push(
                    op.error(
                        "operand-type",
                        format!("`{}` of `{}` must be {}", spec.name, op.def.schema.name, spec.ty.describe),
                    )
                    .label(format!("`{name}` is not"))
                    .also(op.module.value(*value).span, format!("`{name}` is defined here")),
                );
            }
        }
    }
}

/// Reports element types that the platform's unit does not support, and constants that an element type cannot
/// represent.
fn element_types(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    for rule in op.elem_types() {
        let Some(index) = op.def.schema.operands.iter().position(|spec| spec.name == rule.operand) else { continue };
        let Some(elem) = op.ty(index).and_then(Type::elem) else { continue };
        let known = rule.on(platform);
        if !known.contains(&elem) {
            let names: Vec<&str> = known.iter().map(|elem| elem.name()).collect();
            let (name, on) = (op.def.schema.name, &platform.name);
            let message = match names[..] {
                [] => format!("`{name}` does not exist on {on}"),
                _ => format!("`{name}` works on {} on {on}, not on {elem}", names.join(", ")),
            };
            let kind = match names[..] {
                [] => Kind::Other("tile-elem"),
                _ => Kind::ElementType(elem.name().to_string()),
            };
            let error = op.error(kind, message).label(format!("`{}` has `{elem}`", rule.operand));
            // Short floats that cannot even be loaded: no op of the device converts them.
            let stays_out = elem.is_float()
                && elem.bytes() == 1
                && matches!(op.def.pipe, PipeRule::Fixed(slipring_machine::Pipe::Mte2));
            let help = match stays_out {
                true => {
                    "convert them before the launch (`x.astype(np.float16)` on the host), or choose a platform that has them"
                }
                false => "convert the elements first (`pl.cast`, `pto.tcvt`), or choose a platform that has them",
            };
            // If one source line becomes several ops, it gets one error for the elements that none of them supports.
            let place = |own: &slipring_ir::Diagnostic| own.primary.as_ref().map(|primary| primary.span);
            let said = |own: &slipring_ir::Diagnostic| own.kind == error.kind && place(own) == place(&error);
            if !names.is_empty() && diags.list.iter().any(said) {
                continue;
            }
            diags.push(if names.is_empty() { error } else { error.help(help) });
        }
    }
    if matches!(op.def.core, CoreRule::Vector | CoreRule::ByTile) {
        numbers(op, diags);
    }
}

/// Requires declared results to be present: rules and lowerings rely on them.
fn result_count(op: &OpRef<'_>, diags: &mut Diags) {
    let declared = op.def.schema.results.iter().filter(|spec| spec.arity == Arity::One).count();
    let given = op.module.op(op.id).results.len();
    if given < declared {
        diags.push(op.error(
            "result-count",
            format!("`{}` has {}, not {given}", op.def.schema.name, counted(declared, "result")),
        ));
    }
}

/// Reports tile extents that the parser would reject: modules made by other means may have any.
fn tile_extents(op: &OpRef<'_>, diags: &mut Diags) {
    for value in &op.module.op(op.id).results {
        let Some(tile) = op.module.ty(*value).as_tile() else { continue };
        if let Some(extent) = [tile.layout.rows, tile.layout.cols].into_iter().find(|n| !(1..=MOST_EXTENT).contains(n))
        {
            diags.push(op.error("type", format!("tiles have 1 to {MOST_EXTENT} rows and columns, not {extent}")));
        }
    }
}

/// Requires an op of one kind of core not to be in a function or section of the other kind.
fn core(op: &OpRef<'_>, diags: &mut Diags) {
    if matches!(op.def.pipe, PipeRule::None) && op.def.ring.is_none() {
        return;
    }
    let Some(kind) = affinity(op) else { return };
    if let Some((home, outer)) = home(op)
        && home != kind
    {
        diags.push(
            op.error("wrong-core", format!("`{}` runs on the {} core", op.def.schema.name, kind.name()))
                .label(format!("is in the program of the {} core", home.name()))
                .also(op.module.op(outer).span, "which begins here"),
        );
    }
}

/// The kind of core of an op's section or function, if it has one.
pub fn home_kind(op: &OpRef<'_>) -> Option<CoreKind> {
    home(op).map(|(kind, _)| kind)
}

/// The kind of core that the surrounding section or function is for.
fn home(op: &OpRef<'_>) -> Option<(CoreKind, OpId)> {
    let (module, mut at) = (op.module, op.id);
    while let Some(outer) = module.parent_op(at) {
        let def = OpDef::of(module, outer);
        match def.map(|d| d.core) {
            Some(CoreRule::Cube) => return Some((CoreKind::Cube, outer)),
            Some(CoreRule::Vector) => return Some((CoreKind::Vector, outer)),
            _ => {}
        }
        if let Some(kind) = kernel_kind(module, outer) {
            return Some((kind, outer));
        }
        at = outer;
    }
    None
}

/// Reports tiles whose layout differs from the one of the platform's library, and known valid shapes that differ.
pub(crate) fn tile_rules(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    layouts(op, platform, diags);
    shapes(op, platform, diags);
}

/// Reports the first tile whose layout differs.
pub(crate) fn layouts(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    for rule in op.def.tiles.layouts.iter().filter(|rule| rule.on.holds(platform)) {
        let tiles = rule.operands.iter().filter_map(|name| Some((*name, op.tile(*name)?)));
        let mut there = tiles.filter(|(_, tile)| rule.within.is_none_or(|space| space == tile.space));
        let Some((name, tile)) = there.find(|(_, tile)| !rule.lies.fits(tile)) else { continue };
        let (op_name, on, lies) = (op.def.schema.name, &platform.name, rule.lies.describe());
        let layout = &tile.layout;
        let within = rule.within.map_or(String::new(), |space| format!(" in `{space}`"));
        diags.push(
            op.error("tile-layout", format!("`{op_name}` takes `{name}`{within} with {lies} on {on}"))
                .label(format!("`{name}` has blayout={}, slayout={}", layout.blayout.name(), layout.slayout.name()))
                .help("write the type of the tile with that layout where it is made, and fill it so"),
        );
        return;
    }
}

/// Reports the first pair of known valid shapes that differ.
pub(crate) fn shapes(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    for rule in op.def.tiles.shapes {
        let mut tiles = rule.operands.iter().filter_map(|name| Some((*name, op.tile(*name)?)));
        let Some((first, like)) = tiles.next() else { continue };
        let asked = [(rule.rows, "rows"), (rule.columns, "columns")];
        for (name, tile) in tiles {
            let differs = |axis: usize| {
                let both = like.valid[axis].known().zip(tile.valid[axis].known());
                both.is_some_and(|(a, b)| a != b)
            };
            let found = asked.iter().enumerate().find(|(axis, (on, _))| on.holds(platform) && differs(*axis));
            let Some((_, (_, what))) = found else { continue };
            let show = |tile: &TileType| tile.valid.map(|dim: Dim| dim.to_string()).join(" x ");
            let (op_name, on) = (op.def.schema.name, &platform.name);
            diags.push(
                op.error("tile-valid", format!("`{op_name}` takes equally many valid {what} on {on}"))
                    .label(format!("`{first}` has {}, `{name}` {}", show(like), show(tile)))
                    .help("give both tiles one valid shape: in their types, or with `pto.set_validshape`"),
            );
            return;
        }
    }
}
