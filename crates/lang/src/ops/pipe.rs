//! Hand-written pipes: slot memory, both ends, push, pop and free (seed 000, DSL Grammar; and the public spelling).

use std::rc::Rc;

use slipring_ir::{Attr, Diagnostic, Span, Type};
use slipring_machine::CoreKind;
use slipring_op::CoreRule;
use slipring_pto as pto;
use slipring_tile::{Elem, Space};

use self::data::named;
use super::entry::{Call, ENTRY, Entry, entries};
use crate::dtype::DType;
use crate::lower::{Lower, Lowered};
use crate::value::{Buffer, Const, PipeEnd, Value};

mod data;

const INITIALIZE: Entry = Entry {
    params: "dir_mask, slot_size, gm_slot_buffer=, c2v_consumer_buf=, v2c_consumer_buf=, slot_num=, local_slot_num=, id=, lane= | \
             c2v_buf=, v2c_buf=, *, dir_mask, slot_size, slot_num=, local_slot_num=, id=, lane=, gm_slot_buffer=",
    lower: initialize,
    ..ENTRY
};
const PUSH: Entry = Entry {
    params: "tile, pipe=, *, split=, id=, lane_stride= | prod, tile, fifo, *, split=, id=, lane_stride=",
    lower: data::push,
    ..ENTRY
};
const POP: Entry = Entry {
    params: "pipe=, *, shape=, dtype=, split=, id=, lane_stride= | cons, tile, fifo, *, split=, id=, lane_stride=",
    lower: data::pop,
    ..ENTRY
};
const FREE: Entry = Entry { params: "tile=, split=, id=", lower: data::free, ..ENTRY };

entries! {
    "reserve_buffer" => "Memory for the slots of a ring that this core consumes": ENTRY, params: "name, size, base=",
        op: Some(&pto::RESERVE_BUFFER), lower: reserve;
    "import_peer_buffer" => "The memory that the peer reserved": ENTRY, params: "name, peer_func",
        op: Some(&pto::IMPORT_RESERVED_BUFFER), lower: import;
    "aic_initialize_pipe" => "The Cube core's ends of a pipe": INITIALIZE, op: Some(&pto::AIC_INITIALIZE_PIPE);
    "aiv_initialize_pipe" => "A Vector core's ends of a pipe": INITIALIZE, op: Some(&pto::AIV_INITIALIZE_PIPE);
    "TPUSH" => "Push a tile to the other kind of core": PUSH;
    "tpush_to_aiv" => "Push a tile to the Vector cores": PUSH, op: Some(&pto::TPUSH_TO_AIV);
    "tpush_to_aic" => "Push a tile to the Cube core": PUSH, op: Some(&pto::TPUSH_TO_AIC);
    "TPOP" => "Pop a tile of the other kind of core": POP;
    "tpop_from_aic" => "Pop a tile of the Cube core": POP, op: Some(&pto::TPOP_FROM_AIC);
    "tpop_from_aiv" => "Pop a tile of the Vector cores": POP, op: Some(&pto::TPOP_FROM_AIV);
    "TFREE" => "Give a popped slot back": FREE;
    "tfree_to_aic" | "tfree_from_aic" => "Give a slot back to the Cube core": FREE, op: Some(&pto::TFREE_FROM_AIC);
    "tfree_to_aiv" | "tfree_from_aiv" => "Give a slot back to the Vector cores": FREE, op: Some(&pto::TFREE_FROM_AIV);
}

fn text(lower: &mut Lower<'_>, call: &Call, name: &str) -> Lowered<Rc<str>> {
    match call.need(lower, name)? {
        (Value::Const(Const::Str(text)), _) => Ok(text),
        // A function of the file is referred to by name.
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
        // The kind of core is only known once its end of the pipe is set up: see `initialize`.
        ("location", Attr::member("address_space", Space::Vec.name())),
        ("auto", Attr::Bool(base < 0)),
    ];
    if base >= 0 {
        attrs.push(("base", Attr::int(base)));
    }
    let value = lower.e.value(call.op(), &[], &attrs, Type::I32);
    lower.facts.reserved.extend(lower.e.module.defining_op(value));
    lower.facts.buffers.push((value, name.clone()));
    lower.globals.reserve(&lower.open.calls[0], &name, size);
    Ok(Value::Buffer(Rc::new(Buffer { base: value, name, peer: None, size: Some(size) })))
}

fn import(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (name, peer) = (text(lower, call, "name")?, text(lower, call, "peer_func")?);
    let within = lower.open.calls.first().cloned().unwrap_or_default();
    let Some(peer) = lower.globals.full_name(&peer, &within) else {
        let span = call.get("peer_func").map_or(call.span, |(_, span)| *span);
        return Err(lower.error("unknown-function", span, format!("there is no kernel `{peer}` in this file")));
    };
    let attrs = [("name", Attr::Str(name.to_string().into())), ("peer_func", Attr::Symbol(peer.to_string().into()))];
    let value = lower.e.value(call.op(), &[], &attrs, Type::I32);
    lower.facts.buffers.push((value, name.clone()));
    Ok(Value::Buffer(Rc::new(Buffer { base: value, name, peer: Some(peer), size: None })))
}

/// An address: a reserved buffer, its base, or a number.
fn address(lower: &mut Lower<'_>, value: &Value, span: Span) -> Lowered<slipring_ir::ValueId> {
    match value {
        Value::Buffer(buffer) => Ok(buffer.base),
        other => lower.number(other, DType::Elem(Elem::I32), span),
    }
}

fn initialize(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let kind = if call.op().core == CoreRule::Cube { CoreKind::Cube } else { CoreKind::Vector };
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
    for names in names {
        let given = names.into_iter().find_map(|name| call.get(name)).cloned();
        let (value, span) = given.unwrap_or((Value::Const(Const::Int(0)), call.span));
        buffers.push(address(lower, &value, span)?);
    }
    let (c2v, v2c) = (buffers[0], buffers[1]);
    let mut gm = Vec::new();
    let mut slots = None;
    match call.get("gm_slot_buffer").cloned() {
        None | Some((Value::Const(Const::Int(0)), _)) => {}
        Some((Value::Tensor(tensor), _)) => {
            gm.push(lower.tensors.roots[tensor.root].pointer);
            slots = Some(tensor.root);
        }
        Some((other, span)) => return Err(call.wrong(lower, "gm_slot_buffer", "a tensor", &other, span)),
    }
    let groups: [(&str, &[_]); 3] =
        [("gm_slot_buffer", &gm), ("c2v_consumer_buf", &[c2v]), ("v2c_consumer_buf", &[v2c])];
    lower.e.op(call.op(), &groups, &attrs, &[]);
    let buffers = [c2v, v2c].map(|address| named(lower, address));
    let end = Rc::new(PipeEnd { id: call.int(lower, "id")?.unwrap_or(0), buffers, slots, span: call.span });
    lower.facts.pipes.push(end.clone());
    Ok(Value::Pipe(end))
}
