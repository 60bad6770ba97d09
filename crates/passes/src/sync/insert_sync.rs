//! `insert-sync`: flags between the pipes of a core, for functions that set none themselves.
//!
//! A pipe runs its work in order and independently of the others. Where two pipes touch the same bytes, one of them
//! writing, the pass makes the later one wait: [`crate::sync::plan`] determines the signals, [`crate::sync::events`]
//! their event ids. Pipes that overlap their own work get barriers. All issued work is complete at the end of the
//! kernel, so nothing is added there. Only plans that [`crate::sync::check`] has accepted are written
//! ([`crate::sync::settle`]).

use std::collections::BTreeSet;

use slipring_ir::{BlockId, Diagnostic, Diags, Module, OpId, Severity};
use slipring_machine::{Pipe, Platform};
use slipring_op::{OpDef, PipeRule, symbol_name};
use slipring_pto::is_event;
use slipring_tile::Space;

use crate::analysis::access::Accesses;
use crate::analysis::facts::{Functions, counted, syncs};
use crate::context::{InsertSync, Pass, PassContext};
use crate::sync::build::{Builder, Built};
use crate::sync::check::Problem;
use crate::sync::collect::Collect;
use crate::sync::emit::emit;
use crate::sync::events::Pressure;
use crate::sync::place::Placement;
use crate::sync::settle::{Settled, flags, settle};

/// The pass.
pub const PASS: Pass = Pass { name: "insert-sync", summary: "Add flags between pipes where none are set by hand", run };

fn run(module: &mut Module, context: &PassContext<'_>, diags: &mut Diags) {
    let functions = Functions::of(module);
    for (built, placed) in place_all(module, &functions, context, diags) {
        emit(module, &built, &placed);
    }
}

fn place_all(
    module: &Module,
    functions: &Functions,
    context: &PassContext<'_>,
    diags: &mut Diags,
) -> Vec<(Built, Vec<Placement>)> {
    let platform = context.platform;
    let left = match context.insert_sync {
        InsertSync::Asked => false,
        InsertSync::Never => true,
        InsertSync::WhereNone => syncs(module) > 0,
    };
    let accesses = Accesses::new(module, functions, platform);
    let mut builder = Builder::new(module, functions, platform, &accesses);
    // Loads are ordered under either interpretation of the order of moves (`interpretations::UNORDERED_MOVES`). Other
    // moves of one pipe that touch the same bytes mostly belong to rings, whose signals keep them in order.
    let mut overlapping = platform.overlapping();
    let loads = Space::NAMED.into_iter().filter(|space| *space != Space::Gm).map(|space| (Pipe::Mte2, space));
    let more: Vec<(Pipe, Space)> = loads.filter(|pair| !overlapping.contains(pair)).collect();
    overlapping.extend(more);
    let mut all = Vec::new();
    for (function, body) in builder.order() {
        if let Some(error) = too_much(module, function, body) {
            diags.push(error);
            continue;
        }
        let built = builder.build(function, body);
        if builder.is_manual(body) {
            events_by_hand(module, platform, body, diags);
            if context.insert_sync == InsertSync::Asked {
                let name = symbol_name(module, function);
                let message = format!("`@{name}` gets no flags besides those that it sets by hand");
                let note = Diagnostic::warning("sync-by-hand", module.op(function).span, message);
                let note = Diagnostic { severity: Severity::Note, ..note };
                diags.push(note.help("leave out all of them: the compiler adds flags to functions that have none"));
            }
            builder.summarise(function, &built, builder.flags_by_hand(body));
            continue;
        }
        let settled = match settle(&built.tree, platform.sync.event_ids, &overlapping) {
            Ok(settled) => settled,
            Err(problems) => {
                diags.push(rejected(module, function, &problems));
                continue;
            }
        };
        if left {
            // Manually written synchronisation is not completed, nor are functions alongside it.
            if !settled.placed.is_empty() {
                diags.push(left_alone(module, function));
            }
            builder.summarise(function, &built, Vec::new());
            continue;
        }
        report(module, function, platform, &settled, diags);
        builder.summarise(function, &built, flags(&settled.placed));
        all.push((built, settled.placed));
    }
    all
}

/// Maximum number of pipe ops in a function: this keeps the cost of one function within some seconds and some hundred
/// megabytes.
const MOST_WORK: usize = 131_072;

/// The error for a function with more ops than flags can be found for in reasonable time.
fn too_much(module: &Module, function: OpId, body: BlockId) -> Option<Diagnostic> {
    let on_pipe = |op: &OpId| OpDef::of(module, *op).is_some_and(|def| !matches!(def.pipe, PipeRule::None));
    let count = module.walk(body).iter().filter(|op| on_pipe(op)).count();
    (count > MOST_WORK).then(|| {
        let name = symbol_name(module, function);
        let message = format!("`@{name}` has {count} ops on pipes; a function may have {MOST_WORK}");
        Diagnostic::error("too-many-ops", module.op(function).span, message)
            .help("keep loops as loops, or divide the work among functions that the kernel calls")
    })
}

/// Reports events that are waited for in a function whose manual flags are incomplete: nobody adds the flags that the
/// events represent.
fn events_by_hand(module: &Module, platform: &Platform, body: BlockId, diags: &mut Diags) {
    let waits = |op: &OpId| module.op(*op).operands.iter().any(|v| is_event(module.ty(*v)));
    if let Some(op) = module.walk(body).into_iter().find(waits)
        && !problems(module, platform).is_empty()
    {
        diags.push(
            Diagnostic::error(
                "event-by-hand",
                module.op(op).span,
                "this function sets its flags by hand: nothing waits for the event",
            )
            .help("use `pto.set_flag` and `pto.wait_flag` here too, or leave all flags to the compiler"),
        );
    }
}

/// Reports a function without flags in a text whose other functions have some.
fn left_alone(module: &Module, function: OpId) -> Diagnostic {
    let name = symbol_name(module, function);
    let message = format!("`@{name}` gets no flags: other functions of this text synchronise by hand");
    let mut note = Diagnostic::warning("sync-by-hand", module.op(function).span, message);
    note.severity = Severity::Note;
    note.help("`--insert-sync` adds flags to every function that has none")
}

/// No plan was accepted, not even the one with a barrier before all work.
fn rejected(module: &Module, function: OpId, problems: &[Problem]) -> Diagnostic {
    let name = symbol_name(module, function);
    let message = format!("no flags were found that keep the pipes of `@{name}` in order");
    let first = problems.iter().take(4).map(|problem| format!("the check says: {problem:?}"));
    first
        .fold(Diagnostic::error("no-sync", module.op(function).span, message), Diagnostic::note)
        .help("set flags by hand in this function, and report this: barriers alone should have done")
}

fn report(module: &Module, function: OpId, platform: &Platform, settled: &Settled, diags: &mut Diags) {
    let Settled { pressure, mended, given_up, .. } = *settled;
    if pressure == Pressure::default() && mended == 0 && !given_up {
        return;
    }
    let (name, ids) = (symbol_name(module, function), platform.sync.event_ids);
    let message = match pressure == Pressure::default() {
        true if given_up => {
            format!(
                "there is now a barrier of all pipes before each operation of `@{name}`: the function is too large for a search for signals"
            )
        }
        true => format!("barriers take the place of signals in `@{name}`"),
        false => format!("`@{name}` needs more than the {}", counted(ids as usize, "event id")),
    };
    let mut note = Diagnostic::warning("event-ids", module.op(function).span, message);
    note.severity = Severity::Note;
    note.primary = None;
    if pressure.merged > 0 {
        let (merged, were) = (counted(pressure.merged, "signal"), if pressure.merged == 1 { "was" } else { "were" });
        note = note.note(format!("{merged} {were} merged with others: some work waits longer than it must"));
    }
    let barriers = pressure.barriers + mended;
    if barriers > 0 {
        let take = if barriers == 1 { "takes" } else { "take" };
        note = note.note(format!("{} of all pipes {take} the place of signals", counted(barriers, "barrier")));
    }
    diags.push(note);
}

/// Checks the flags of every kernel of a module, whoever set them: each function that nobody calls is followed through
/// its calls, once for each kind of core. Independent of how the pass places flags.
pub fn problems(module: &Module, platform: &Platform) -> Vec<Problem> {
    let functions = Functions::of(module);
    let accesses = Accesses::new(module, &functions, platform);
    let collect = Collect::new(module, &functions, &accesses);
    let starts = collect.starts();
    let of = |(function, body, kind)| collect.steps(function, body, kind, &BTreeSet::new()).problems(platform);
    starts.into_iter().flat_map(of).collect()
}
