//! Builtins that order, print or start things, and those that a single kernel does not support.

use std::rc::Rc;

use slipring_ir::{Attr, Diagnostic, Span};
use slipring_pto as pto;

use super::entry::{ANYTHING, Call, ENTRY, Entry, REFUSED, entries};
use crate::attrs::FunctionAttrs;
use crate::lower::{Lower, Lowered, describe};
use crate::roles::Role;
use crate::value::{Const, Record, Value};
use crate::words::{Means, followed_as, followed_with};

const NOTHING: Entry = Entry { params: ANYTHING, lower: |_, _| Ok(Value::Nothing), ..ENTRY };
/// Starts kernels or moves data between devices: not supported in a kernel.
const HOST: Entry = Entry { lower: host, ..REFUSED };

entries! {
    "bar_all" | "bar_v" | "bar_m" =>
        "Nothing: ops take effect one after another, and the compiler adds the synchronisation that keeps it so":
        NOTHING;
    "sync_src" | "sync_dst" => "Nothing, for the same reason": NOTHING;
    "func_attr" =>
        "What the function says of itself, as `attrs=` of its decorator: how it is divided, its blocks, slots of its rings":
        ENTRY, params: "attrs", lower: func_attr, followed: followed_as(Means::Attributes);
    "dump_tag" => "Nothing: it says which tensor the public compiler reports": ENTRY, params: "x/tensor",
        lower: |lower, call| call.need(lower, "x").map(|_| Value::Nothing), followed: followed_as(Means::Tagged);
    "no_dep" => "The value itself": ENTRY, params: "x/tensor",
        lower: |lower, call| call.need(lower, "x").map(|(value, _)| value), followed: followed_as(Means::NoDep);
    "print" => "Print texts, numbers and tiles in the order of the program, with label, core, block and iteration":
        ENTRY, params: "x, second=, third=, fourth=, fifth=, sixth=, *, label=", op: Some(&pto::TPRINT), lower: print,
        followed: followed_with(ANYTHING, Means::Print);
    "device_assert" =>
        "Claim that a condition holds: a finding with the values where it does not, nothing where it is known to; as `assert`":
        ENTRY, params: "cond/condition, msg/message=", op: Some(&pto::TRAP),
        lower: |lower, call| Err(lower.unsupported(call.span, "`pl.device_assert` here"));
    "static_print" => "Say what values are, when the kernel is compiled": ENTRY,
        params: "x, second=, third=, fourth=, fifth=, sixth=, *, label=", lower: static_print,
        followed: followed_with(ANYTHING, Means::Print);
    "syncall" => "Wait until all cores of the launch have come here; what they stored before is visible after it":
        ENTRY, params: "*, core_type=, mode=, gm_workspace=, used_cores=", op: Some(&pto::SYNCALL),
        lower: super::meet::syncall;
    "sync_set" | "sync_wait" | "set_ffts" => "Synchronisation by hand between the cores of a block": REFUSED;
    "cacheinvalid" => "Write back and forget what the scalar unit's cache holds: all of it, or the line in which a window of a \
        tensor begins": ENTRY, params: "tensor=, shapes=, offsets=", op: Some(&pto::CACHE_INVALID), lower: cacheinvalid;
    "prefetch.make_context" => "Nothing: what prefetches of a kernel share": ENTRY,
        lower: |_, _| Ok(handle(CONTEXT));
    "prefetch.async_prefetch" =>
        "Nothing: a hint to bring a tensor of one row into the L2 cache, which changes no contents": ENTRY,
        params: "src, ctx", lower: prefetch;
    "prefetch.session" => "Nothing: what the waits of a context share": ENTRY, params: "ctx",
        lower: |lower, call| handed(lower, call, "ctx", CONTEXT).map(|()| handle(SESSION));
    "prefetch.wait" => "True: a prefetch has ended": ENTRY, params: "event/evt, session_handle/session",
        lower: prefetched;
    "MemRef" => "Nothing: the memory that a tile's type names": NOTHING,
        lower: |_, _| Ok(Value::Path("pl.MemRef".into()));
    "fence" => "Nothing: accesses take effect one after another": NOTHING;
    "available_cluster_count" => "How many clusters the program runs on: the number of blocks of `pl.spmd`": ENTRY,
        lower: |lower, call| cores(lower, call, 0), followed: followed_as(Means::Clusters);
    "available_aiv_count" => "How many Vector cores the program runs on: the number of blocks of `pl.spmd`": ENTRY,
        lower: |lower, call| cores(lower, call, 1), followed: followed_as(Means::VectorCores);
    "task_dummy" | "task_invalid" => "Ids of tasks": HOST, followed: followed_with("", Means::Nothing);
    "submit" | "spmd_submit" | "call_group" | "call_spmd" => "Start a kernel": HOST;
    "while_" | "cond" => "A loop that runs as long as a condition holds": REFUSED;
    "dynamic" => "An extent that is known when the kernel runs": REFUSED, lower: dynamic;
}

fn cacheinvalid(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let space = [("space", Attr::member("address_space", "gm"))];
    if !call.has("tensor") {
        if call.has("shapes") || call.has("offsets") {
            let error = Diagnostic::error(
                "argument",
                call.span,
                "`shapes=` and `offsets=` are those of a window of a tensor",
            )
            .help("write `pl.system.cacheinvalid(x, shapes, offsets)`, or `pl.system.cacheinvalid()` for all lines");
            return Err(lower.report(error));
        }
        lower.e.op(&pto::CACHE_INVALID, &[], &space, &[]);
        return Ok(Value::Nothing);
    }
    let (tensor, span) = super::memory::tensor(lower, call, "tensor")?;
    let (shape, offsets) = (call.need_shape(lower, "shapes")?, call.offsets(lower, "offsets")?);
    let window = lower.tensor_window(&tensor, &offsets, &shape, span)?;
    let line = lower.window(&window);
    lower.e.op(&pto::CACHE_INVALID, &[("addr", &[line])], &space, &[]);
    Ok(Value::Nothing)
}

/// What the words of prefetches give: names for nothing.
const CONTEXT: &str = "a prefetch context";
const SESSION: &str = "a prefetch session";
const EVENT: &str = "a prefetch";

fn handle(what: &str) -> Value {
    Value::Record(Rc::new(Record { what: what.into(), fields: Vec::new(), entries: Vec::new(), is_dict: false }))
}

/// Requires an argument to be one of these.
fn handed(lower: &mut Lower<'_>, call: &Call, name: &str, what: &str) -> Lowered<()> {
    match call.need(lower, name)? {
        (Value::Record(record), _) if &*record.what == what => Ok(()),
        (other, span) => Err(call.wrong(lower, name, what, &other, span)),
    }
}

fn prefetch(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    handed(lower, call, "ctx", CONTEXT)?;
    let (tensor, span) = super::memory::tensor(lower, call, "src")?;
    let shape = tensor.shape();
    if shape.iter().rev().skip(1).any(|extent| *extent != 1) {
        let message = format!("a prefetch of a tensor {}", crate::value::show(&shape));
        let error = Diagnostic::error("shapes", span, message).help("it takes a tensor of one row: `[n]` or `[1, n]`");
        return Err(lower.report(error));
    }
    Ok(handle(EVENT))
}

fn prefetched(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    handed(lower, call, "event", EVENT)?;
    handed(lower, call, "session_handle", SESSION)?;
    Ok(Value::Const(Const::Bool(true)))
}

fn host(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let message = format!("`pl.{}` is for the host and no part of a kernel", call.entry.names[0]);
    Err(lower.error(slipring_ir::Kind::Unsupported, call.span, message))
}

/// Known if a whole program is followed; otherwise only host code may query it.
fn cores(lower: &mut Lower<'_>, call: &Call, which: usize) -> Lowered {
    match lower.globals.cores[which].get().map(i64::try_from) {
        Some(Ok(n)) => Ok(Value::Const(Const::Int(n))),
        _ => host(lower, call),
    }
}

fn dynamic(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let error = Diagnostic::error(
        slipring_ir::Kind::Unsupported,
        call.span,
        "extents that are known only at run time (`pl.dynamic`)",
    )
    .help("give the extent as a number: a kernel is compiled for its shapes");
    Err(lower.report(error))
}

/// Prints its arguments in order: strings precede what follows them; each number and each tile has its own lines, with
/// the location.
fn print(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let label = call.word(lower, "label")?;
    let mut given: Vec<(Value, Span)> = MORE.iter().filter_map(|name| call.get(name).cloned()).collect();
    // `pl.print(x, "label")`.
    if let [(first, _), (Value::Const(Const::Str(_)), _)] = &given[..]
        && !matches!(first, Value::Const(_))
    {
        given.swap(0, 1);
    }
    let mut before: Vec<String> = label.iter().map(|label| format!("{label}:")).collect();
    for (value, span) in given {
        match &value {
            Value::Tile(_) | Value::Tensor(_) | Value::Parts(_) => {
                let label = match &before[..] {
                    [] => lower.written(span),
                    _ => std::mem::take(&mut before).join(" ").trim_end_matches(':').to_string(),
                };
                let id = super::operands::vector_of(lower, &value, span)?;
                let tile = lower.tile(id).value;
                let attrs = [("label", Attr::Str(label.into()))];
                lower.e.op(&pto::TPRINT, &[("src", &[tile])], &attrs, &[]);
            }
            Value::Scalar(scalar) => {
                let form = if scalar.ty.is_float() { "%g" } else { "%d" };
                let text = before.drain(..).map(|text| format!("{} ", text.replace('%', "%%"))).collect::<String>();
                line(lower, &format!("{text}{form}"), scalar.value);
            }
            other => before.push(said(lower, other)),
        }
    }
    if !before.is_empty() {
        let value = lower.e.index(0);
        line(lower, &before.join(" ").replace('%', "%%"), value);
    }
    Ok(Value::Nothing)
}

/// Prints a line with a number, and the location.
fn line(lower: &mut Lower<'_>, format: &str, value: slipring_ir::ValueId) {
    let attrs = [("format", Attr::Str(format.into())), ("located", Attr::Bool(true))];
    lower.e.op(&pto::PRINT, &[("scalar", &[value])], &attrs, &[]);
}

/// A constant in the format of Python, other values as a description.
fn said(lower: &Lower<'_>, value: &Value) -> String {
    match value {
        Value::Const(constant) => crate::text::python_text(constant),
        Value::Tuple(items) => {
            let each: Vec<String> = items
                .iter()
                .map(|item| match item {
                    Value::Const(Const::Str(text)) => format!("'{text}'"),
                    other => said(lower, other),
                })
                .collect();
            let end = if each.len() == 1 { "," } else { "" };
            format!("({}{end})", each.join(", "))
        }
        other => describe(lower, other),
    }
}

fn func_attr(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (value, span) = call.need(lower, "attrs")?;
    let Value::Record(record) = &value else {
        return Err(call.wrong(lower, "attrs", "a dict whose entries are known", &value, span));
    };
    let role = lower.facts.kind.map_or(Role::Kernel(None), |kind| Role::Kernel(Some(kind)));
    let mut attrs = FunctionAttrs { split: lower.facts.split, ..FunctionAttrs::default() };
    for (key, value) in &record.entries {
        let constant = if let Value::Const(constant) = value { Some(constant) } else { None };
        let key = if let Const::Str(key) = key { &**key } else { "…" };
        let Some(said) = attrs.take(key, constant, role, span) else { continue };
        let error = said.severity == slipring_ir::Severity::Error;
        let reported = lower.report(said);
        if error {
            return Err(reported);
        }
    }
    lower.says(&attrs);
    Ok(Value::Nothing)
}

fn static_print(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (_, span) = call.need(lower, "x")?;
    let label = call.word(lower, "label")?.map(|label| format!("{label}:"));
    let values = MORE.iter().filter_map(|name| call.get(name)).map(|(value, _)| said(lower, value));
    let said = label.into_iter().chain(values);
    let note = Diagnostic::warning("static-print", span, said.collect::<Vec<_>>().join(" "));
    lower.report(Diagnostic { severity: slipring_ir::Severity::Note, ..note });
    Ok(Value::Nothing)
}

/// The parameters of builtins that take several values.
const MORE: [&str; 6] = ["x", "second", "third", "fourth", "fifth", "sixth"];
