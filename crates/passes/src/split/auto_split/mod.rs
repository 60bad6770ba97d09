//! `auto-split`: a kernel for the whole cluster, written with whole tiles, becomes one in which each Vector core does
//! half of the work.
//!
//! A function with the attribute `split` (1: rows, 2: columns) marks where tiles cross between the kinds of core
//! (`tcross`) and leaves the rest to this pass. The result is the explicit form, which could have been written by hand:
//! Vector work in `split_aiv` regions, cross-core copies as shards and gathers, tiles of half the size, each core's
//! windows of global memory.
//!
//! All tiles are decided together (`axes`): cross-core copies request halving, the declarations of ops (`OpDef::along`)
//! determine which tiles are divided together and which must stay whole, and unconstrained tiles are halved where
//! possible. A tile that stays whole exists on both cores; transfers out of it are done by the first core. A tile that
//! cannot be divided is an error: nothing is guessed.

mod axes;
mod build;
mod constraints;
mod hazards;
mod ragged;
mod regions;
mod rewrite;
mod windows;

use axes::BY_HAND;
use constraints::vector_tile;
use hazards::Hazards;
use slipring_ir::{BlockId, Diagnostic, Diags, Module, OpId};
use slipring_machine::CoreKind;
use slipring_op::function::{ask_split, asked_split, asks_split};
use slipring_op::{InCoreSync, MixedPart, OpRef, PipeRule, affinity, kernel_kind, symbol_name};

use crate::analysis::facts::Functions;
use crate::context::{Pass, PassContext};

/// The pass.
pub const PASS: Pass = Pass {
    name: "auto-split",
    summary: "Divide Vector work between the two Vector cores where a function asks for it",
    run,
};

fn run(module: &mut Module, context: &PassContext<'_>, diags: &mut Diags) {
    let functions = Functions::of(module);
    let asked: Vec<(OpId, BlockId)> = functions.with_bodies(module).filter(|(f, _)| asks_split(module, *f)).collect();
    for (function, body) in asked {
        match split(module, context, &functions, function, body) {
            Ok(None) => {}
            Ok(Some(warning)) => diags.push(warning),
            Err(errors) => errors.into_iter().for_each(|error| diags.push(error)),
        }
    }
}

/// Divides a function. `Some` is a warning: there was nothing to divide.
fn split(
    module: &mut Module,
    context: &PassContext<'_>,
    functions: &Functions,
    function: OpId,
    body: BlockId,
) -> Result<Option<Diagnostic>, Vec<Diagnostic>> {
    let span = module.op(function).span;
    let axis = match asked_split(module, function) {
        Some(1) => 0,
        Some(2) => 1,
        _ => {
            let message = "`split` of a function is 1 (rows) or 2 (columns)";
            return Err(vec![Diagnostic::error("split-mode", span, message).help("leave it out for no split")]);
        }
    };
    if slipring_op::asks_lane(module, function) {
        let message = "the automatic split cannot divide a kernel that takes its Vector core as an argument";
        return Err(vec![Diagnostic::error("auto-split", span, message).help("leave `split` out")]);
    }
    if !crosses(module, function, body) {
        let name = symbol_name(module, function);
        let message = format!("`@{name}` has no cross-core copies: it is left unchanged");
        let warning = Diagnostic::warning("split-nothing", span, message)
            .label("`split` divides tiles that are copied between Cube and Vector cores")
            .help("leave `split` out, or write the split of Vector work explicitly (`split_aiv`)");
        return Ok(Some(warning));
    }
    let refused: Vec<Diagnostic> =
        module.walk(body).into_iter().filter_map(|op| refusal(module, functions, op)).collect();
    if !refused.is_empty() {
        return Err(refused);
    }
    if let Some((tile, op)) = constraints::carried(module, body) {
        let name = module.value_name(tile);
        let message =
            format!("`{name}` is a tile that control flow passes on, which the automatic split does not follow");
        let help = "declare the tile before, and write it in place";
        return Err(vec![Diagnostic::error("auto-split", module.op(op).span, message).help(help)]);
    }
    let mut axes = constraints::collect(module, body, axis);
    axes.solve(module)?;
    let unsent = module.walk(body).into_iter().filter_map(|op| whole_gather(module, &axes, op));
    let unsent: Vec<Diagnostic> = unsent.collect();
    if !unsent.is_empty() {
        return Err(unsent);
    }
    if let Some(error) = ragged::unplaceable(module, &axes, body) {
        return Err(vec![error]);
    }
    let hazards = Hazards::of(module, functions, context.platform, body, &axes);
    let errors = rewrite::rewrite(module, body, &axes, &hazards);
    if !errors.is_empty() {
        return Err(errors);
    }
    ask_split(module, function, None);
    Ok(None)
}

/// True for a function with work for both kinds of core.
fn crosses(module: &Module, function: OpId, body: BlockId) -> bool {
    let kinds: Vec<CoreKind> = module
        .walk(body)
        .into_iter()
        .filter_map(|op| OpRef::of(module, op))
        .flat_map(|op| match op.def.mixed {
            Some(MixedPart::Cross) => vec![CoreKind::Cube, CoreKind::Vector],
            _ => affinity(&op).into_iter().collect(),
        })
        .collect();
    kernel_kind(module, function).is_none()
        && [CoreKind::Cube, CoreKind::Vector].iter().all(|kind| kinds.contains(kind))
}

/// Constructs that the pass cannot split.
fn refusal(module: &Module, functions: &Functions, id: OpId) -> Option<Diagnostic> {
    let op = OpRef::of(module, id)?;
    let name = op.def.schema.name;
    if matches!(op.def.mixed, Some(MixedPart::Region | MixedPart::Shard | MixedPart::Gather)) {
        let message = format!("the function asks for the automatic split and has its own `{name}`");
        return Some(op.error("split-twice", message).help("leave out the function's `split`, or the regions"));
    }
    let outside = module
        .op(id)
        .operands
        .iter()
        .any(|v| module.ty(*v).as_tile().is_some_and(|t| vector_tile(module, *v) != Some(t)));
    let vector = affinity(&op) == Some(CoreKind::Vector);
    let calls = functions.callee(module, id).and_then(|f| module.body(f, 0));
    let of_a_kind = |op: OpId| OpRef::of(module, op).is_some_and(|op| affinity(&op).is_some());
    let why = if op.def.per_lane.is_some() {
        "it reads the number of its Vector core"
    } else if op.def.ring.is_some() {
        "it works on a ring"
    } else if op.def.in_core_sync == InCoreSync::Manual {
        "it synchronises pipes by hand"
    } else if calls.is_some_and(|body| module.walk(body).into_iter().any(of_a_kind)) {
        "the function that it calls has work for cores"
    } else if affinity(&op).is_some() && !module.op(id).regions.is_empty() {
        "its body is for one kind of core"
    } else if vector && outside {
        "it writes a tile of the Cube core"
    } else if vector && !matches!(op.def.pipe, PipeRule::None) && constraints::all_tiles(&op).is_empty() {
        "it does not work on tiles"
    } else {
        return None;
    };
    Some(op.error("auto-split", format!("the automatic split does not divide `{name}`: {why}")).help(BY_HAND))
}

/// A tile that goes to the Cube core although each Vector core holds it whole.
fn whole_gather(module: &Module, axes: &axes::Axes, id: OpId) -> Option<Diagnostic> {
    let op = OpRef::of(module, id).filter(|op| op.def.mixed == Some(MixedPart::Cross))?;
    let source = op.operand("src").filter(|v| vector_tile(module, *v).is_some())?;
    if axes.halved(source).is_some() {
        return None;
    }
    let name = module.value_name(source);
    let why = axes.refusal(module, (source, axes.axis), None);
    let error = match &why.primary {
        Some(place) if place.span != op.span() => op
            .error("auto-split", format!("both Vector cores would send the whole of `{name}`"))
            .also(place.span, why.message.clone()),
        _ => op
            .error("auto-split", format!("both Vector cores would send the whole of `{name}`"))
            .note(why.message.clone()),
    };
    Some(error.help(BY_HAND))
}
