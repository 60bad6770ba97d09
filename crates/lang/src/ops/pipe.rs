//! Pipes by hand: memory for the slots, both ends, push, pop and free (seed 000, DSL Grammar; the public spelling beside it).

use std::rc::Rc;

use slipring_ir::{Attr, Diagnostic, Span, Type};
use slipring_machine::CoreKind;
use slipring_tile::{Elem, Space};

use super::{Call, ENTRY, Entry};
use crate::dtype::DType;
use crate::lower::{Lower, Lowered, Place, Push, Reported};
use crate::value::{Buffer, Const, Split, Value};

const INITIALIZE: Entry = Entry {
    params: "dir_mask, slot_size, gm_slot_buffer=, c2v_consumer_buf=, v2c_consumer_buf=, slot_num=, local_slot_num=, id=, lane= | \
             c2v_buf=, v2c_buf=, *, dir_mask, slot_size, slot_num=, local_slot_num=, id=, lane=, gm_slot_buffer=",
    lower: initialize,
    ..ENTRY
};
const PUSH: Entry = Entry { params: "tile, pipe=, split=, id=, lane_stride=", lower: push, ..ENTRY };
const POP: Entry = Entry { params: "pipe=, shape=, dtype=, split=, id=, lane_stride=", lower: pop, ..ENTRY };
const FREE: Entry = Entry { params: "tile=, split=, id=", lower: free, ..ENTRY };

pub(super) const OPS: &[Entry] = &[
    Entry {
        names: &["reserve_buffer"],
        params: "name, size, base=",
        op: "pto.reserve_buffer",
        doc: "Memory for the slots of a ring that this core consumes",
        lower: reserve,
        ..ENTRY
    },
    Entry {
        names: &["import_peer_buffer"],
        params: "name, peer_func",
        op: "pto.import_reserved_buffer",
        doc: "The memory that the peer reserved",
        lower: import,
        ..ENTRY
    },
    Entry {
        names: &["aic_initialize_pipe"],
        op: "pto.aic_initialize_pipe",
        doc: "The Cube core's ends of a pipe",
        ..INITIALIZE
    },
    Entry {
        names: &["aiv_initialize_pipe"],
        op: "pto.aiv_initialize_pipe",
        doc: "A Vector core's ends of a pipe",
        ..INITIALIZE
    },
    Entry { names: &["TPUSH"], doc: "Push a tile to the other kind of core", ..PUSH },
    Entry { names: &["tpush_to_aiv"], op: "pto.tpush_to_aiv", doc: "Push a tile to the Vector cores", ..PUSH },
    Entry { names: &["tpush_to_aic"], op: "pto.tpush_to_aic", doc: "Push a tile to the Cube core", ..PUSH },
    Entry { names: &["TPOP"], doc: "Pop a tile of the other kind of core", ..POP },
    Entry { names: &["tpop_from_aic"], op: "pto.tpop_from_aic", doc: "Pop a tile of the Cube core", ..POP },
    Entry { names: &["tpop_from_aiv"], op: "pto.tpop_from_aiv", doc: "Pop a tile of the Vector cores", ..POP },
    Entry { names: &["TFREE"], doc: "Give a popped slot back", ..FREE },
    Entry {
        names: &["tfree_to_aic", "tfree_from_aic"],
        op: "pto.tfree_from_aic",
        doc: "Give a slot back to the Cube core",
        ..FREE
    },
    Entry {
        names: &["tfree_to_aiv", "tfree_from_aiv"],
        op: "pto.tfree_from_aiv",
        doc: "Give a slot back to the Vector cores",
        ..FREE
    },
];

/// Names that kernels use without `pl.` in front.
pub(crate) const BARE: [&str; 5] = ["TPUSH", "TPOP", "TFREE", "aic_initialize_pipe", "aiv_initialize_pipe"];

fn text(lower: &mut Lower<'_>, call: &Call, name: &str) -> Lowered<Rc<str>> {
    match call.need(lower, name)? {
        (Value::Const(Const::Str(text)), _) => Ok(text),
        // A function of the file is known by its name.
        (Value::Path(path), _) if path.starts_with('@') => Ok(path[1..].into()),
        (other, span) => Err(call.wrong(lower, name, "a name", &other, span)),
    }
}

fn reserve(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let name = text(lower, call, "name")?;
    call.need(lower, "size")?;
    let size = call.int(lower, "size")?.unwrap_or(0);
    let base = call.int(lower, "base")?.unwrap_or(-1);
    let mut attrs = vec![
        ("name", Attr::Str(name.to_string().into())),
        ("size", Attr::int(size)),
        // The kind of core is known once its end of the pipe is: see `initialize`.
        ("location", Attr::member("address_space", Space::Vec.name())),
        ("auto", Attr::Bool(base < 0)),
    ];
    if base >= 0 {
        attrs.push(("base", Attr::int(base)));
    }
    let value = lower.e.value(call.entry.op, &[], &attrs, Type::I32);
    lower.facts.reserved.extend(lower.e.module.defining_op(value));
    lower.facts.buffers.push((value, name));
    Ok(Value::Buffer(Rc::new(Buffer { base: value, size: Some(size) })))
}

fn import(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (name, peer) = (text(lower, call, "name")?, text(lower, call, "peer_func")?);
    if !lower.globals.functions.contains_key(&peer) {
        let span = call.get("peer_func").map_or(call.span, |(_, span)| *span);
        return Err(lower.error("unknown-function", span, format!("there is no kernel `{peer}` in this file")));
    }
    let attrs = [("name", Attr::Str(name.to_string().into())), ("peer_func", Attr::Symbol(peer.to_string().into()))];
    let value = lower.e.value(call.entry.op, &[], &attrs, Type::I32);
    lower.facts.buffers.push((value, name));
    Ok(Value::Buffer(Rc::new(Buffer { base: value, size: None })))
}

/// An address: a reserved buffer, its base, or a number.
fn address(lower: &mut Lower<'_>, value: &Value, span: Span) -> Lowered<slipring_ir::ValueId> {
    match value {
        Value::Buffer(buffer) => Ok(buffer.base),
        other => lower.number(other, DType::Elem(Elem::I32), span),
    }
}

fn initialize(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let kind = if call.entry.op == "pto.aic_initialize_pipe" { CoreKind::Cube } else { CoreKind::Vector };
    if let Some((first, place)) = lower.facts.pipe_end.filter(|(first, _)| *first != kind) {
        let message = format!("this function has an end of a pipe for the {} core already", first.name());
        let error = Diagnostic::error("pipe-ends", call.span, message)
            .also(place, "here")
            .help("write the two cores' programs as two functions");
        return Err(lower.report(error));
    }
    lower.facts.pipe_end = Some((kind, call.span));
    let mut attrs = Vec::new();
    for name in ["dir_mask", "slot_size", "slot_num", "local_slot_num", "id", "lane"] {
        if let Some(n) = call.int(lower, name)? {
            attrs.push((name, Attr::int(n)));
        }
    }
    let names = [["c2v_consumer_buf", "c2v_buf"], ["v2c_consumer_buf", "v2c_buf"]];
    let mut buffers = Vec::new();
    for (direction, names) in names.into_iter().enumerate() {
        let given = names.into_iter().find_map(|name| call.get(name)).cloned();
        let (value, span) = given.unwrap_or((Value::Const(Const::Int(0)), call.span));
        let value = address(lower, &value, span)?;
        let known = lower.facts.buffers.iter().find(|(buffer, _)| *buffer == value);
        lower.facts.rings[direction] = known.map(|(_, name)| name.clone());
        buffers.push(value);
    }
    let (c2v, v2c) = (buffers[0], buffers[1]);
    let mut gm = Vec::new();
    match call.get("gm_slot_buffer").cloned() {
        None | Some((Value::Const(Const::Int(0)), _)) => {}
        Some((Value::Tensor(tensor), _)) => gm.push(lower.roots[tensor.root].pointer),
        Some((other, span)) => return Err(call.wrong(lower, "gm_slot_buffer", "a tensor", &other, span)),
    }
    let groups: [(&str, &[_]); 3] =
        [("gm_slot_buffer", &gm), ("c2v_consumer_buf", &[c2v]), ("v2c_consumer_buf", &[v2c])];
    lower.e.op(call.entry.op, &groups, &attrs, &[]);
    Ok(Value::Nothing)
}

/// The kind of core that the function is for, told by its end of the pipe.
fn own_kind(lower: &mut Lower<'_>, call: &Call) -> Lowered<CoreKind> {
    if let Some((kind, _)) = lower.facts.pipe_end {
        return Ok(kind);
    }
    if lower.diags.has_errors() {
        // Setting it up may be what failed.
        return Err(Reported);
    }
    let message = format!("`pl.{}` without an end of a pipe", call.entry.names[0]);
    let error = Diagnostic::error("no-pipe", call.span, message).help(
        "set the pipe up before: `aic_initialize_pipe(…)` on the Cube core, `aiv_initialize_pipe(…)` on a Vector core",
    );
    Err(lower.report(error))
}

/// `split` and `id`.
fn attributes(lower: &mut Lower<'_>, call: &Call, split: Split) -> Lowered<Vec<(&'static str, Attr)>> {
    let mut attrs = vec![("split", Attr::int(split as i64))];
    if let Some(id) = call.int(lower, "id")? {
        attrs.push(("id", Attr::int(id)));
    }
    Ok(attrs)
}

/// The buffer of the ring that a push or pop uses: the one that it names, else the function's for that direction.
fn ring(lower: &mut Lower<'_>, call: &Call, from: CoreKind) -> Option<Rc<str>> {
    let by_direction = lower.facts.rings[usize::from(from == CoreKind::Vector)].clone();
    let address = match call.get("pipe") {
        Some((Value::Buffer(buffer), _)) => buffer.base,
        Some((Value::Scalar(scalar), _)) => scalar.value,
        _ => return by_direction,
    };
    let named = lower.facts.buffers.iter().find(|(buffer, _)| *buffer == address);
    named.map(|(_, name)| name.clone()).or(by_direction)
}

fn no_stride(lower: &mut Lower<'_>, call: &Call) -> Lowered<()> {
    match call.get("lane_stride").map(|(_, span)| *span) {
        Some(span) => Err(lower.unsupported(span, "`lane_stride`")),
        None => Ok(()),
    }
}

fn push(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    no_stride(lower, call)?;
    let (value, span) = call.need(lower, "tile")?;
    let kind = own_kind(lower, call)?;
    let (op, space) = match kind {
        CoreKind::Cube => ("pto.tpush_to_aiv", Space::Acc),
        CoreKind::Vector => ("pto.tpush_to_aic", Space::Vec),
    };
    wrong_side(lower, call, op)?;
    let id = lower.demand(&value, space, span)?;
    let split = call.split(lower, "split")?.unwrap_or(Split::None);
    let attrs = attributes(lower, call, split)?;
    let buffer = ring(lower, call, kind);
    let tile = lower.tile(id);
    let (value, push) =
        (tile.value, Push { from: kind, buffer, shape: tile.shape.clone(), elem: tile.ty.layout.elem, split });
    lower.globals.pushes.borrow_mut().push(push);
    lower.e.op(op, &[("tile", &[value])], &attrs, &[]);
    Ok(Value::Nothing)
}

/// Reports an op that belongs to the other kind of core.
fn wrong_side(lower: &mut Lower<'_>, call: &Call, op: &str) -> Lowered<()> {
    if call.entry.op.is_empty() || call.entry.op == op {
        return Ok(());
    }
    let place = lower.facts.pipe_end.map_or(call.span, |(_, place)| place);
    let error =
        Diagnostic::error("wrong-core", call.span, format!("`pl.{}` in the other core's program", call.entry.names[0]))
            .also(place, "this function's end of the pipe");
    Err(lower.report(error))
}

/// What the other kind of core pushes into the ring that a pop takes from.
fn pushed(lower: &mut Lower<'_>, call: &Call, from: CoreKind) -> Option<Push> {
    let buffer = ring(lower, call, from);
    let find = |lower: &Lower<'_>| {
        let pushes = lower.globals.pushes.borrow();
        pushes.iter().find(|push| push.from == from && push.buffer == buffer).cloned()
    };
    find(lower).or_else(|| {
        crate::program::lower_ahead(&lower.e.module.source.clone(), lower.globals);
        find(lower)
    })
}

/// The part of a pushed tile that this core gets.
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

fn pop(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    no_stride(lower, call)?;
    let kind = own_kind(lower, call)?;
    let (op, space, peer) = match kind {
        CoreKind::Cube => ("pto.tpop_from_aiv", Space::Mat, CoreKind::Vector),
        CoreKind::Vector => ("pto.tpop_from_aic", Space::Vec, CoreKind::Cube),
    };
    wrong_side(lower, call, op)?;
    let said = match (call.shape(lower, "shape")?, call.elem(lower, "dtype")?) {
        (Some(shape), Some(elem)) => Some((shape, elem)),
        _ => call.expected.clone(),
    };
    let mut split = call.split(lower, "split")?;
    let (shape, elem) = match said {
        Some(said) => said,
        None => {
            let Some(push) = pushed(lower, call, peer) else {
                let message = "the shape and type of the popped tile are not known";
                let error = Diagnostic::error("pop-type", call.span, message)
                    .note("no function of this file pushes into this ring")
                    .help(
                        "say them: `TPOP(pipe_buf, shape=[32, 64], dtype=pl.FP32)`, the part that this core receives",
                    );
                return Err(lower.report(error));
            };
            split = split.or(Some(push.split));
            (part(&push), push.elem)
        }
    };
    let attrs = attributes(lower, call, split.unwrap_or(Split::None))?;
    let ty = Place::of(space).tile_type(&shape, elem);
    let value = lower.e.value(op, &[], &attrs, Type::Tile(ty));
    let id = lower.add_tile(value, ty, &shape, "tpop");
    lower.facts.popped.push((value, split.unwrap_or(Split::None)));
    Ok(Value::Tile(id))
}

fn free(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let kind = own_kind(lower, call)?;
    let op = match kind {
        CoreKind::Cube => "pto.tfree_from_aiv",
        CoreKind::Vector => "pto.tfree_from_aic",
    };
    wrong_side(lower, call, op)?;
    // A slot is freed as it was popped.
    let popped = match call.get("tile") {
        Some((Value::Tile(id), _)) => {
            let value = lower.tile(*id).value;
            lower.facts.popped.iter().find(|(tile, _)| *tile == value).map(|(_, split)| *split)
        }
        _ => lower.facts.popped.last().map(|(_, split)| *split),
    };
    let split = call.split(lower, "split")?.or(popped).unwrap_or(Split::None);
    let attrs = attributes(lower, call, split)?;
    lower.e.op(op, &[], &attrs, &[]);
    Ok(Value::Nothing)
}
