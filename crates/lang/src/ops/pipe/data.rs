//! Push, pop and free: the pipe that they use, its direction, and the contents of the slot.
//!
//! A function with an end of a pipe is the program of one core: its kind determines the direction. In a kernel for both
//! kinds of core, the name of the op or the memory of its tile does; there the passes make the pipes.

use std::rc::Rc;

use slipring_ir::{Attr, Diagnostic, Reported, Span, Type, ValueId};
use slipring_machine::CoreKind;
use slipring_op::{Direction, OpDef};
use slipring_pto as pto;
use slipring_tile::{Elem, Space};

use super::super::entry::Call;
use crate::globals::Push;
use crate::lower::pipes::peer;
use crate::lower::{Lower, Lowered, Place, Popped};
use crate::value::{Split, TileId, Value};

/// The direction of pushes from a kind of core.
fn out_of(from: CoreKind) -> Direction {
    match from {
        CoreKind::Cube => Direction::C2V,
        CoreKind::Vector => Direction::V2C,
    }
}

/// The push op of a kind of core, and the memory that it takes the tile from.
fn push_of(from: CoreKind) -> (&'static OpDef, Space) {
    (pto::push_of(out_of(from)), if from == CoreKind::Cube { Space::Acc } else { Space::Vec })
}

/// The pop op of a kind of core, and the memory of the popped tile.
fn pop_of(to: CoreKind) -> (&'static OpDef, Space) {
    (pto::pop_of(out_of(peer(to))), if to == CoreKind::Cube { Space::Mat } else { Space::Vec })
}

fn free_of(to: CoreKind) -> &'static OpDef {
    pto::free_of(out_of(peer(to)))
}

/// The kind of core that the name of the op implies; `op_of` gives the op for each kind.
fn said(call: &Call, op_of: impl Fn(CoreKind) -> &'static OpDef) -> Option<CoreKind> {
    [CoreKind::Cube, CoreKind::Vector].into_iter().find(|kind| Some(op_of(*kind)) == call.entry.op)
}

/// The kind of core of the function: from its end of a pipe, or its type. `None` for kernels of both kinds.
fn own_kind(lower: &mut Lower<'_>, call: &Call) -> Lowered<Option<CoreKind>> {
    if let Some((kind, _)) = lower.facts.pipe_end {
        return Ok(Some(kind));
    }
    if lower.facts.end_failed {
        return Err(Reported);
    }
    if lower.facts.kind.is_none() {
        return Ok(None);
    }
    Err(no_pipe(lower, call, format!("`pl.{}` without an end of a pipe", call.entry.names[0])))
}

fn no_pipe(lower: &mut Lower<'_>, call: &Call, message: String) -> Reported {
    let error = Diagnostic::error("no-pipe", call.span, message).help(
        "set the pipe up before: `aic_initialize_pipe(…)` on the Cube core, `aiv_initialize_pipe(…)` on a Vector core; a \
         kernel for both kinds of core pushes and pops itself",
    );
    lower.report(error)
}

/// The kind of core that executes this op, which the text may specify in several ways; reports contradictions.
fn kind_of(
    lower: &mut Lower<'_>,
    call: &Call,
    own: Option<CoreKind>,
    op_of: impl Fn(CoreKind) -> &'static OpDef,
    otherwise: impl FnOnce(&mut Lower<'_>) -> Lowered<CoreKind>,
) -> Lowered<CoreKind> {
    let Some(said) = said(call, op_of) else {
        return own.map_or_else(|| otherwise(lower), Ok);
    };
    if own.is_none_or(|own| own == said) {
        return Ok(said);
    }
    let place = lower.facts.pipe_end.map_or(call.span, |(_, place)| place);
    let error =
        Diagnostic::error("wrong-core", call.span, format!("`pl.{}` in the other core's program", call.entry.names[0]))
            .also(place, "this function's end of the pipe");
    Err(lower.report(error))
}

/// The pipe of an op: its number, and the name of its ring's buffer if it has one.
struct Used {
    id: i64,
    buffer: Option<Rc<str>>,
}

/// The pipe of an op that moves tiles `from` a kind of core: from its `id`, the pipe that it names, or the buffer that
/// it names; else pipe 0.
fn used(lower: &mut Lower<'_>, call: &Call, from: CoreKind, names: &[&str]) -> Lowered<Used> {
    let ring = usize::from(from == CoreKind::Vector);
    let mut id = call.int(lower, "id")?.map(|id| (id, call.get("id").map_or(call.span, |(_, span)| *span)));
    let mut buffer = None;
    for name in names {
        let Some((value, span)) = call.get(name).cloned() else { continue };
        let found = match &value {
            Value::Pipe(end) => Some(end.clone()),
            Value::Buffer(_) | Value::Scalar(_) => {
                let address = match &value {
                    Value::Buffer(buffer) => buffer.base,
                    Value::Scalar(scalar) => scalar.value,
                    _ => continue,
                };
                buffer = named(lower, address);
                let mut ends = lower.facts.pipes.iter();
                let found = ends.find(|end| end.buffers[ring].is_some() && end.buffers[ring] == buffer).cloned();
                if let (None, Some(name)) = (&found, &buffer) {
                    let message =
                        format!("no end of a pipe of this function has its slots in `{name}` in this direction");
                    let error = Diagnostic::error("pipe-buffer", span, message)
                        .help("name the buffer that `initialize_pipe` was given, or the pipe by its `id`");
                    return Err(lower.report(error));
                }
                found
            }
            Value::Tensor(tensor) => {
                let mut ends = lower.facts.pipes.iter();
                ends.find(|end| end.slots == Some(tensor.root)).cloned()
            }
            _ => None,
        };
        let Some(end) = found else {
            if matches!(value, Value::Scalar(_)) {
                continue;
            }
            return Err(call.wrong(lower, name, "a pipe, or the memory of its slots", &value, span));
        };
        match id {
            Some((id, place)) if id != end.id => {
                let message = format!("this is pipe {}, and the op names pipe {id} too", end.id);
                let error = Diagnostic::error("pipe-id", span, message)
                    .also(place, format!("pipe {id}"))
                    .also(end.span, format!("pipe {} is set up here", end.id))
                    .help("name one pipe");
                return Err(lower.report(error));
            }
            _ => id = Some((end.id, span)),
        }
    }
    let id = id.map_or(0, |(id, _)| id);
    let end = lower.facts.pipes.iter().find(|end| end.id == id);
    let buffer = buffer.or_else(|| end.and_then(|end| end.buffers[ring].clone()));
    Ok(Used { id, buffer })
}

/// `split` and `id`.
fn attributes(split: Split, id: i64) -> Vec<(&'static str, Attr)> {
    let mut attrs = vec![("split", Attr::int(split as i64))];
    if id != 0 {
        attrs.push(("id", Attr::int(id)));
    }
    attrs
}

fn no_stride(lower: &mut Lower<'_>, call: &Call) -> Lowered<()> {
    match call.get("lane_stride").map(|(_, span)| *span) {
        Some(span) => Err(lower.unsupported(span, "`lane_stride`")),
        None => Ok(()),
    }
}

/// `TPUSH(tile, pipe)`, `TPUSH(prod, tile, fifo)`, `tpush_to_aiv(tile)`, `tpush_to_aic(tile)`.
pub(super) fn push(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    no_stride(lower, call)?;
    let (value, span) = call.need(lower, "tile")?;
    let own = own_kind(lower, call)?;
    let lies = match &value {
        Value::Tile(id) if own.is_none() => Some(lower.tile(*id).ty.space),
        _ => None,
    };
    let kind = kind_of(
        lower,
        call,
        own,
        |kind| push_of(kind).0,
        |_| Ok(if lies.is_none_or(|space| space == Space::Vec) { CoreKind::Vector } else { CoreKind::Cube }),
    )?;
    let (op, space) = push_of(kind);
    if let Some(lies) = lies.filter(|lies| *lies != space) {
        let message = format!("the {} core pushes tiles in `{space}`, and this one is in `{lies}`", kind.name());
        let error = Diagnostic::error("push-space", span, message)
            .help("the Cube core pushes products, the Vector cores what they computed");
        return Err(lower.report(error));
    }
    let id = lower.demand(&value, space, span)?;
    let split = call.split(lower, "split")?.or(lower.facts.ends).unwrap_or(Split::None);
    let Used { id: pipe, buffer } = used(lower, call, kind, &["pipe", "prod", "fifo"])?;
    let tile = lower.tile(id);
    let (value, push) = (
        tile.value,
        Push {
            function: lower.open.calls[0].clone(),
            from: kind,
            id: pipe,
            buffer,
            shape: tile.shape.clone(),
            elem: tile.ty.layout.elem,
            split,
            span: call.span,
        },
    );
    lower.globals.pushes.borrow_mut().push(push);
    lower.facts.hand_ends.push((kind, pipe, true, call.span));
    lower.e.op(op, &[("tile", &[value])], &attributes(split, pipe), &[]);
    Ok(Value::Nothing)
}

/// Pushes into the ring of a pop: from the other function, or from the same one in a kernel for both kinds of core.
fn pushed(lower: &mut Lower<'_>, mixed: bool, from: CoreKind, ring: &Used) -> Vec<Push> {
    let find = |lower: &Lower<'_>| -> Vec<Push> {
        let own = &lower.open.calls[0];
        let pushes = lower.globals.pushes.borrow();
        let same = |push: &&Push| {
            let buffers = mixed || push.buffer == ring.buffer;
            push.from == from && push.id == ring.id && (*push.function == **own) == mixed && buffers
        };
        pushes.iter().filter(same).cloned().collect()
    };
    let found = find(lower);
    if !found.is_empty() || mixed {
        return found;
    }
    crate::lower::lower_ahead(&lower.e.module.source.clone(), (lower.globals, lower.words));
    find(lower)
}

/// This core's part of a pushed tile.
fn part(push: &Push) -> Vec<u64> {
    let (mut shape, split) = (push.shape.to_vec(), push.split);
    let axis = if split == Split::LeftRight { shape.len().saturating_sub(1) } else { 0 };
    match (push.from, split) {
        (_, Split::None) => {}
        (CoreKind::Cube, _) => shape[axis] = shape[axis].div_ceil(2),
        (CoreKind::Vector, _) => shape[axis] *= 2,
    }
    shape
}

/// The direction of a pop that does not specify it, in a kernel for both kinds of core: the one with more pushes than
/// pops so far.
fn open_direction(lower: &mut Lower<'_>, call: &Call, id: i64) -> Lowered<CoreKind> {
    let open = |from: CoreKind| {
        let of = |pushes: bool| {
            let same = lower.facts.hand_ends.iter().filter(|(kind, pipe, is_push, _)| {
                *pipe == id && *is_push == pushes && *kind == if pushes { from } else { peer(from) }
            });
            same.count()
        };
        of(true) > of(false)
    };
    // Loops execute more pushes and pops than are in the text.
    let any = |from: CoreKind| {
        lower.facts.hand_ends.iter().any(|(kind, pipe, push, _)| *push && (*kind, *pipe) == (from, id))
    };
    let ways = match (open(CoreKind::Cube), open(CoreKind::Vector)) {
        (false, false) => (any(CoreKind::Cube), any(CoreKind::Vector)),
        open => open,
    };
    match ways {
        (true, false) => Ok(CoreKind::Vector),
        (false, true) => Ok(CoreKind::Cube),
        (false, false) => {
            let message = format!("`pl.{}`: nothing has been pushed before into this pipe", call.entry.names[0]);
            Err(no_pipe(lower, call, message))
        }
        (true, true) => {
            let message = "tiles of both directions have been pushed before: which one is popped?";
            let error = Diagnostic::error("pop-direction", call.span, message)
                .help("say it: `pl.tpop_from_aic(…)` on the Vector cores, `pl.tpop_from_aiv(…)` on the Cube core");
            Err(lower.report(error))
        }
    }
}

/// `TPOP(pipe)`, `TPOP(cons, tile, fifo)`, `tpop_from_aic(…)`, `tpop_from_aiv(…)`.
pub(super) fn pop(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    no_stride(lower, call)?;
    let own = own_kind(lower, call)?;
    let into = destination(lower, call)?;
    let id = call.int(lower, "id")?.unwrap_or(0);
    let kind = kind_of(
        lower,
        call,
        own,
        |kind| pop_of(kind).0,
        |lower| match into {
            Some((_, Space::Mat)) => Ok(CoreKind::Cube),
            Some(_) => Ok(CoreKind::Vector),
            None => open_direction(lower, call, id),
        },
    )?;
    let (op, space) = pop_of(kind);
    if let Some((id, lies)) = into.filter(|(_, lies)| *lies != space) {
        let message = format!("the {} core pops into `{space}`, and this tile is in `{lies}`", kind.name());
        let error = Diagnostic::error("tile-space", call.span, message).also(lower.tile(id).span, "the tile");
        return Err(lower.report(error));
    }
    let ring = used(lower, call, peer(kind), &["pipe", "cons", "fifo"])?;
    let into = into.map(|(id, _)| (lower.tile(id).shape.to_vec(), lower.tile(id).ty.layout.elem));
    let said = match into {
        Some(said) => Some(said),
        None => {
            // The arguments of the call take precedence; a contradicting annotation is an error.
            let (shape, elem) = (given_shape(lower, call)?, given_elem(lower, call)?);
            let (expected, of_elem) = call.expected.clone().unzip();
            shape.or(expected).zip(elem.or(of_elem))
        }
    };
    let mut split = call.split(lower, "split")?.or(lower.facts.ends);
    let pushes =
        if said.is_none() || split.is_none() { pushed(lower, own.is_none(), peer(kind), &ring) } else { vec![] };
    // The split follows from the pushes, if all of them agree.
    if let (None, Some(first)) = (split, pushes.first())
        && pushes.iter().all(|push| push.split == first.split)
    {
        split = Some(first.split);
    }
    let (shape, elem) = match said {
        Some(said) => said,
        None => {
            let (shape, elem) = described(lower, call, &pushes)?;
            (given_shape(lower, call)?.unwrap_or(shape), given_elem(lower, call)?.unwrap_or(elem))
        }
    };
    let split = split.unwrap_or(Split::None);
    let ty = Place::of(space).tile_type(&shape, elem);
    let value = lower.e.value(op, &[], &attributes(split, ring.id), Type::Tile(ty));
    let tile = lower.add_tile(value, ty, &shape, "tpop");
    let block = lower.e.block;
    lower.facts.popped.push(Popped { value, kind, id: ring.id, split, span: call.span, block, freed: Vec::new() });
    lower.facts.hand_ends.push((kind, ring.id, false, call.span));
    Ok(Value::Tile(tile))
}

/// `shape`, which the signature with three operands does not have.
fn given_shape(lower: &mut Lower<'_>, call: &Call) -> Lowered<Option<Vec<u64>>> {
    call.shape(lower, "shape")
}

fn given_elem(lower: &mut Lower<'_>, call: &Call) -> Lowered<Option<Elem>> {
    call.elem(lower, "dtype")
}

/// The tile that a pop with three operands names, and its place. No other name may share it, because the popped tile
/// replaces it.
fn destination(lower: &mut Lower<'_>, call: &Call) -> Lowered<Option<(TileId, Space)>> {
    let (id, span) = match call.get("tile").cloned() {
        None => return Ok(None),
        Some((Value::Tile(id), span)) => (id, span),
        Some((other, span)) => return Err(call.wrong(lower, "tile", "a tile", &other, span)),
    };
    let value = lower.tile(id).value;
    let stands = |v: &Value| matches!(v, Value::Tile(other) if lower.tile(*other).value == value);
    let names = lower
        .open
        .callers
        .iter()
        .chain([&lower.names.env])
        .flat_map(|scope| scope.values())
        .filter(|v| stands(v))
        .count();
    if names > 1 {
        let error = Diagnostic::error("alias", span, "several names refer to the tile that is popped into")
            .also(lower.tile(id).span, "the tile")
            .help("take the tile that the pop gives: `tile = TPOP(fifo)`");
        return Err(lower.report(error));
    }
    Ok(Some((id, lower.tile(id).ty.space)))
}

/// The type of a popped tile, from the pushes.
fn described(lower: &mut Lower<'_>, call: &Call, pushes: &[Push]) -> Lowered<(Vec<u64>, Elem)> {
    const HELP: &str = "say them: `TPOP(pipe_buf, shape=[32, 64], dtype=pl.FP32)`, the part that this core receives";
    let Some(first) = pushes.first() else {
        let error = Diagnostic::error("pop-type", call.span, "the shape and type of the popped tile are not known")
            .note("no function of this file pushes into this ring")
            .help(HELP);
        return Err(lower.report(error));
    };
    let of = |push: &Push| (part(push), push.elem);
    if let Some(other) = pushes.iter().find(|push| of(push) != of(first)) {
        let mut error =
            Diagnostic::error("pop-type", call.span, "tiles of different shapes or types are pushed into this ring");
        if *first.function == *lower.open.calls[0] {
            error = error.also(first.span, "one").also(other.span, "another");
        }
        return Err(lower.report(error.help(HELP)));
    }
    Ok(of(first))
}

/// `TFREE(tile)`, `TFREE(cons)`, `TFREE()`, `tfree_to_aic(tile)`, `tfree_to_aiv(tile)`.
pub(super) fn free(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let own = own_kind(lower, call)?;
    let tile = match call.get("tile").cloned() {
        Some((Value::Tile(id), span)) => Some(slot(lower, id, span)?),
        None | Some((Value::Pipe(_) | Value::Buffer(_) | Value::Scalar(_), _)) => None,
        Some((other, span)) => return Err(call.wrong(lower, "tile", "a popped tile, or a pipe", &other, span)),
    };
    let named = tile.flatten();
    let oldest = |lower: &Lower<'_>, kind: Option<CoreKind>, id: Option<i64>| {
        let mut popped = lower.facts.popped.iter();
        popped.position(|p| p.freed.is_empty() && kind.is_none_or(|k| p.kind == k) && id.is_none_or(|id| p.id == id))
    };
    let last = lower.facts.popped.last().map(|p| p.kind);
    let kind = kind_of(lower, call, own, free_of, |lower| {
        let of = named.or_else(|| oldest(lower, None, None)).map(|at| lower.facts.popped[at].kind).or(last);
        match of {
            Some(kind) => Ok(kind),
            None => Err(no_pipe(lower, call, format!("`pl.{}`: nothing has been popped before", call.entry.names[0]))),
        }
    })?;
    let pipe = match (named.map(|at| lower.facts.popped[at].clone()), tile) {
        (Some(popped), _) => {
            let said = call.int(lower, "id")?;
            if popped.kind != kind || said.is_some_and(|id| id != popped.id) {
                let error =
                    Diagnostic::error("free-tile", call.span, "this frees a slot of another ring than the tile's")
                        .also(popped.span, "the tile is popped here")
                        .help("`TFREE(tile)` takes direction and pipe from the tile");
                return Err(lower.report(error));
            }
            popped.id
        }
        // A tile that a loop carries is assumed to be the oldest one.
        (None, Some(_)) => used(lower, call, peer(kind), &[])?.id,
        (None, None) => used(lower, call, peer(kind), &["tile"])?.id,
    };
    let at = named.or_else(|| oldest(lower, Some(kind), Some(pipe)));
    if let Some(at) = named {
        in_order(lower, at, call.span)?;
    }
    // A slot is freed with the split of its pop.
    let same = |p: &&Popped| p.kind == kind && p.id == pipe;
    let popped = match at {
        Some(at) => Some(lower.facts.popped[at].split),
        None => lower.facts.popped.iter().rev().find(same).map(|p| p.split),
    };
    let split = call.split(lower, "split")?.or(popped).unwrap_or(Split::None);
    if let Some(at) = at {
        let block = lower.e.block;
        lower.facts.popped[at].freed.push((block, call.span));
    }
    if tile == Some(None) {
        lower.facts.free_of_carried = true;
    }
    lower.e.op(free_of(kind), &[], &attributes(split, pipe), &[]);
    Ok(Value::Nothing)
}

/// The pop whose slot holds a tile; `None` for a tile that a loop carries.
fn slot(lower: &mut Lower<'_>, id: TileId, span: Span) -> Lowered<Option<usize>> {
    let tile = lower.tile(id);
    let (value, made_by, place) = (tile.value, tile.made_by, tile.span);
    let found = lower.facts.popped.iter().position(|popped| popped.value == value);
    if found.is_none() && made_by != "tpop" {
        let error = Diagnostic::error("free-tile", span, "this tile is in no slot of a ring")
            .also(place, format!("it is made here by `{made_by}`"))
            .help("free the tile that `TPOP` gave, or the oldest slot: `TFREE()`");
        return Err(lower.report(error));
    }
    Ok(found)
}

/// Reports a tile whose slot is free already, or is not the next one of its ring: slots are freed in the order of the
/// pops.
fn in_order(lower: &mut Lower<'_>, at: usize, span: Span) -> Lowered<()> {
    let own = lower.facts.popped[at].clone();
    if let Some((_, first)) = own.freed.iter().find(|(block, _)| lower.open.blocks.contains(block)) {
        let error = Diagnostic::error("double-free", span, "the slot of this tile has been given back already")
            .also(*first, "here")
            .also(own.span, "the tile is popped here");
        return Err(lower.report(error));
    }
    if lower.facts.free_of_carried {
        return Ok(());
    }
    let earlier = &lower.facts.popped[..at];
    let held = |p: &&Popped| p.kind == own.kind && p.id == own.id && p.block == own.block && p.freed.is_empty();
    let Some(first) = earlier.iter().find(held) else { return Ok(()) };
    let error = Diagnostic::error("free-order", span, "a tile that was popped before this one is still held")
        .also(first.span, "popped first")
        .also(own.span, "the tile that is freed")
        .help("a ring gives its slots back in the order of the pops: free the first one before");
    Err(lower.report(error))
}

/// The name of the reservation of an address.
pub(super) fn named(lower: &Lower<'_>, address: ValueId) -> Option<Rc<str>> {
    lower.facts.buffers.iter().find(|(buffer, _)| *buffer == address).map(|(_, name)| name.clone())
}
