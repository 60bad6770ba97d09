//! `expand-mixed`: derives a program for each kind of core from a kernel that is written for the whole cluster.
//!
//! Such a kernel is a function without a kind whose ops belong to both, or with regions for the Vector cores
//! (`slipring_op::MixedPart`). Each kind gets the part it needs (`needed`): its own work, scalar code, the control flow
//! around them. A tile that crosses becomes a push on one side and a pop on the other, with the declared split, through
//! a pipe (`pipes`) that the pass creates in the form the platform supports; slots are freed after the last use
//! (`land`). Where the cores exchange results through global memory, barriers are inserted in between (`order`). Pushes
//! and pops written in the text are kept, on pipes created for them; where the text has no frees, their pops free
//! automatically. A function with the original name calls both.

mod apart;
mod land;
mod needed;
mod order;
mod pipes;
mod project;
mod replay;
mod sides;
mod write;

use needed::Needed;
use order::Meetings;
use pipes::{Pipes, hand_pipe, slot_buffer};
use project::{Parts, Projector};
use replay::Replay;
use sides::{Side, side, works_on};
use slipring_ir::{BlockId, Diagnostic, Diags, FuncType, Module, OpId, Type, ValueMap};
use slipring_machine::{CoreKind, Platform};
use slipring_mlir::arith;
use slipring_op::function::{ask_slots, ask_split, set_both_lanes, set_kernel_kind, set_slot_bytes, unmark_entry};
use slipring_op::ring::Split;
use slipring_op::{InCoreSync, OpDef, OpRef, RingPart, is_mixed, symbol_name};
use slipring_pto as pto;

use crate::analysis::facts::{Functions, terminator};
use crate::context::{Pass, PassContext};
use crate::split::functions::{call_both, drop_unused, free_name};

/// The pass.
pub const PASS: Pass = Pass {
    name: "expand-mixed",
    summary: "Make a program for each kind of core out of a kernel for the whole cluster",
    run,
};

const KINDS: [CoreKind; 2] = [CoreKind::Cube, CoreKind::Vector];

/// A kernel for the whole cluster.
struct Kernel<'m> {
    /// The module as written.
    from: &'m Module,
    function: OpId,
    body: BlockId,
    /// True if both Vector cores run it: it has regions or divided tiles, or queries the lane number.
    both_lanes: bool,
    /// True if it has regions: they determine where Vector work runs.
    regions: bool,
    /// AIV1's part of a kernel for one Vector core, if the Cube core receives signals of both together.
    replay: Option<Replay>,
    pipes: Pipes,
    meetings: Meetings,
    /// Names of the functions for the two kinds.
    names: [String; 2],
}

fn run(module: &mut Module, context: &PassContext<'_>, diags: &mut Diags) {
    let functions = Functions::of(module);
    let mixed: Vec<_> = functions.with_bodies(module).filter(|(f, body)| is_to_expand(module, *f, *body)).collect();
    if mixed.is_empty() {
        return;
    }
    let from = module.clone();
    for (function, body) in mixed {
        let before = diags.list.len();
        refuse(&from, &functions, function, body, diags);
        if diags.list.len() > before {
            continue;
        }
        let name = symbol_name(&from, function);
        let regions = from.walk(body).into_iter().any(|op| side(&from, op) == Side::Region);
        let both_lanes = regions || from.walk(body).into_iter().any(|op| is_per_lane(&from, op));
        let both_lanes = both_lanes || slipring_op::asks_lane(&from, function);
        let pipes = Pipes::of_kernel(&from, function, body, context.platform);
        // Where the Cube core receives signals of both Vector cores together, a signal of one alone does not arrive.
        let hears_both = context.platform.sync.broadcast_reduce;
        let meets = |both_lanes, replay: Option<&Replay>| Meetings::of(&from, &functions, body, both_lanes, replay);
        let replays = hears_both && !both_lanes && (!pipes.is_empty() || !meets(false, None).is_empty());
        let replay = replays.then(|| Replay::of(&from, body));
        let both_lanes = both_lanes || replays;
        let kernel = Kernel {
            from: &from,
            function,
            body,
            both_lanes,
            regions,
            meetings: meets(both_lanes, replay.as_ref()),
            replay,
            pipes,
            names: ["aic", "aiv"].map(|half| free_name(&functions, &format!("{name}_{half}"))),
        };
        match kernel.pipes.too_deep(&from, function, context.platform) {
            Some(error) => diags.push(error),
            None => expand(module, &kernel, context.platform, diags),
        }
    }
}

/// True for an op of a function without regions that both Vector cores must run.
fn is_per_lane(module: &Module, op: OpId) -> bool {
    OpRef::of(module, op).is_some_and(|op| {
        op.def.per_lane.is_some() || (hand_pipe(&op).is_some() && Split::of(&op).is_some_and(|s| s != Split::None))
    })
}

/// True if a function for the whole cluster has pushes, pops or frees written in the text.
pub fn has_rings_by_hand(module: &Module) -> bool {
    let functions = Functions::of(module);
    functions.with_bodies(module).any(|(function, body)| {
        let own = |op: &OpId| OpRef::of(module, *op).is_some_and(|op| hand_pipe(&op).is_some());
        is_to_expand(module, function, body) && module.walk(body).iter().any(own)
    })
}

/// True for functions to split: those written for the whole cluster. A function with manual flags, or rings that it
/// creates itself, and without an op specific to such kernels, is left to its author.
fn is_to_expand(module: &Module, function: OpId, body: BlockId) -> bool {
    let ops = module.walk(body);
    let any = |test: fn(&OpDef) -> bool| ops.iter().any(|op| OpDef::of(module, *op).is_some_and(test));
    let by_hand = any(|def| makes_ring(def) || def.in_core_sync == InCoreSync::Manual);
    is_mixed(module, function) && (!by_hand || any(|def| def.mixed.is_some()))
}

/// True for ops that create a pipe or use one by its value.
fn makes_ring(def: &OpDef) -> bool {
    def.ring.is_some_and(|part| part.moves().is_none())
}

/// Reports manual rings that have only one end.
fn unpaired(module: &Module, body: BlockId, diags: &mut Diags) {
    let ops: Vec<OpRef<'_>> = module.walk(body).into_iter().filter_map(|op| OpRef::of(module, op)).collect();
    for op in &ops {
        let Some(part) = op.def.ring else { continue };
        let (direction, pushes) = match (part.pushes(), part.pops()) {
            (Some(direction), _) => (direction, true),
            (None, Some(direction)) => (direction, false),
            (None, None) => continue,
        };
        let Some(pipe) = hand_pipe(op) else {
            diags.push(op.error("pipe-id", "the id of a pipe is a number from 0 to 7"));
            continue;
        };
        let other = if pushes { RingPart::Pop(direction) } else { RingPart::Push(direction) };
        if !ops.iter().any(|o| o.def.ring == Some(other) && hand_pipe(o) == Some(pipe)) {
            let what = if pushes { "pops what is pushed here" } else { "pushes what is popped here" };
            let message = format!("nothing in this kernel for the whole cluster {what}");
            diags.push(op.error("mixed-by-hand", message).help("write both ends, with the same `id`"));
        }
    }
}

/// Reports constructs not allowed in a kernel for the whole cluster.
fn refuse(module: &Module, functions: &Functions, function: OpId, body: BlockId, diags: &mut Diags) {
    let name = symbol_name(module, function);
    for op in module.walk(module.top) {
        if functions.callee(module, op) == Some(function) {
            let error = Diagnostic::error(
                "mixed-call",
                module.op(op).span,
                format!("`@{name}` is written for the whole cluster, and cannot be called"),
            );
            diags.push(error.also(module.op(function).span, "defined here").help("launch it as a kernel of its own"));
        }
    }
    unpaired(module, body, diags);
    for id in module.walk(body) {
        let Some(op) = OpRef::of(module, id) else { continue };
        if makes_ring(op.def) || op.def.in_core_sync == InCoreSync::Manual {
            let what = if makes_ring(op.def) { "its rings" } else { "its flags" };
            diags.push(
                op.error("mixed-by-hand", format!("a kernel for the whole cluster leaves {what} to the compiler"))
                    .help("take it out, or write a function for each kind of core"),
            );
        }
        let callee = functions.callee(module, id).and_then(|f| module.body(f, 0));
        let works = |op: &OpId| KINDS.into_iter().any(|kind| works_on(module, *op, kind));
        if callee.is_some_and(|body| module.walk(body).iter().any(works)) {
            let message = "a function with tiles cannot be called from a kernel for the whole cluster";
            diags.push(op.error("mixed-call", message).help("write its body in the place of the call"));
        }
    }
    if let Some(end) = terminator(module, body).filter(|end| !module.op(*end).operands.is_empty()) {
        let message = "a kernel for the whole cluster returns nothing";
        diags
            .push(Diagnostic::error("mixed-result", module.op(end).span, message).help("pass a buffer for the result"));
    }
}

fn expand(module: &mut Module, kernel: &Kernel<'_>, platform: &Platform, diags: &mut Diags) {
    let ops = kernel.from.walk(kernel.body);
    let kinds: Vec<CoreKind> = KINDS
        .into_iter()
        .filter(|kind| ops.iter().any(|op| works_on(kernel.from, *op, *kind)) || !kernel.meetings.is_empty())
        .collect();
    let needed: Vec<Needed<'_>> = kinds
        .iter()
        .map(|kind| Needed::of(kernel.from, kernel.body, *kind, kinds.len() == 1, &kernel.meetings))
        .collect();
    let before = diags.list.len();
    needed.iter().for_each(|needed| needed.report(diags));
    if diags.list.len() > before {
        return;
    }
    let gm_bytes = kernel.pipes.gm_bytes(platform);
    let mut behind = kernel.function;
    for (kind, needed) in kinds.iter().zip(&needed) {
        let parts = Parts {
            kind: *kind,
            needed,
            pipes: &kernel.pipes,
            meetings: &kernel.meetings,
            platform,
            both_lanes: kernel.both_lanes,
            replay: kernel.replay.as_ref(),
        };
        let made = make(module, kernel, parts, kinds.len() == 1, diags);
        module.insert_after(behind, made);
        behind = made;
    }
    if kinds.len() == 1 {
        return module.remove(kernel.function);
    }
    ask_split(module, kernel.function, None);
    ask_slots(module, kernel.function, None);
    if gm_bytes > 0 {
        set_slot_bytes(module, kernel.function, gm_bytes);
        add_slot_buffer(module, kernel.function, kernel.body);
    }
    call_both(module, kernel.function, &kernel.names);
}

/// The function for a kind of core.
fn make(module: &mut Module, kernel: &Kernel<'_>, parts: Parts<'_>, alone: bool, diags: &mut Diags) -> OpId {
    let data = kernel.from.op(kernel.function).clone();
    let made = module.like(&data);
    ask_split(module, made, None);
    ask_slots(module, made, None);
    if !alone {
        unmark_entry(module, made);
        module.name_privately(made, &kernel.names[usize::from(parts.kind == CoreKind::Vector)]);
    }
    set_kernel_kind(module, made, parts.kind);
    if parts.kind == CoreKind::Vector {
        set_both_lanes(module, made, parts.both_lanes);
    }
    let region = module.add_region(made);
    let block = module.add_block(region);
    let mut map = ValueMap::default();
    for arg in &kernel.from.block(kernel.body).args {
        let value = kernel.from.value(*arg).clone();
        let new = module.add_arg(block, value.ty, value.name, value.span);
        map.insert(*arg, new);
    }
    if kernel.pipes.gm_bytes(parts.platform) > 0 {
        add_slot_buffer(module, made, block);
    }
    let lane = prologue(module, kernel, parts, block, data.span);
    let mut projector = Projector { from: kernel.from, to: module, parts, map, lane, popped: Vec::new(), guard: None };
    projector.block(kernel.body, block);
    if let Some(end) = terminator(kernel.from, kernel.body) {
        let end = projector.to.clone_op(end, &mut projector.map);
        projector.to.append(block, end);
    }
    let popped = projector.popped;
    land::land(module, block, &popped, kernel.pipes.slots, diags);
    drop_unused(module, block);
    made
}

/// The ops before all others: the lane number and the pipes. Returns the lane number.
fn prologue(
    module: &mut Module,
    kernel: &Kernel<'_>,
    parts: Parts<'_>,
    block: BlockId,
    span: slipring_ir::Span,
) -> Option<slipring_ir::ValueId> {
    let mut lane = None;
    if parts.kind == CoreKind::Vector && (kernel.regions || kernel.replay.is_some()) {
        let number = write::value(module, block, (&pto::GET_SUBBLOCK_IDX, "subblock"), &[], Type::I64, span);
        let operands: [(&str, &[slipring_ir::ValueId]); 1] = [("in", &[number])];
        lane = Some(write::value(module, block, (&arith::INDEX_CAST, "lane"), &operands, Type::Index, span));
    }
    let name = symbol_name(kernel.from, kernel.function).to_string();
    kernel.pipes.make(module, block, parts.kind, (&name, &kernel.names), parts.platform, span);
    lane
}

/// Adds the parameter for slots in global memory after the others.
fn add_slot_buffer(module: &mut Module, function: OpId, body: BlockId) {
    let (name, ty) = slot_buffer();
    let span = module.op(function).span;
    module.add_arg(body, ty.clone(), Some(name.into()), span);
    if let Some(old) = module.function_type(function) {
        let mut new = FuncType::clone(old);
        new.inputs.push(ty);
        module.set_function_type(function, new);
    }
}
