//! Parts of the language that order, print or start things, and those that a single kernel does not have.

use slipring_ir::{Attr, Diagnostic};
use slipring_pto as pto;

use super::{Call, ENTRY, Entry, REFUSED};
use crate::attrs::FunctionAttrs;
use crate::lower::{Lower, Lowered, describe};
use crate::program::Role;
use crate::value::{Const, Value};

const NOTHING: Entry = Entry { params: "…", lower: |_, _| Ok(Value::Nothing), ..ENTRY };
/// Starts kernels or moves data between devices: not a part of a kernel.
const HOST: Entry = Entry { lower: host, ..REFUSED };

pub(super) const OPS: &[Entry] = &[
    Entry {
        names: &["bar_all", "bar_v", "bar_m"],
        doc: "Nothing: ops take effect one after another, and the compiler adds the synchronisation that keeps it so",
        ..NOTHING
    },
    Entry { names: &["sync_src", "sync_dst"], doc: "Nothing, for the same reason", ..NOTHING },
    Entry {
        names: &["func_attr"],
        params: "attrs",
        doc: "What the function says of itself, as `attrs=` of its decorator: how it is divided, its blocks, slots of its rings",
        lower: func_attr,
        ..ENTRY
    },
    Entry { names: &["dump_tag"], doc: "Nothing: it says how the public compiler reports", ..NOTHING },
    Entry {
        names: &["no_dep"],
        params: "x/tensor",
        doc: "The value itself",
        lower: |lower, call| call.need(lower, "x").map(|(value, _)| value),
        ..ENTRY
    },
    Entry {
        names: &["print"],
        params: "x, label=",
        op: Some(&pto::TPRINT),
        doc: "Print a tile or a number",
        lower: print,
        ..ENTRY
    },
    Entry {
        names: &["static_print"],
        params: "x, second=, third=, fourth=, *, label=",
        doc: "Say what values are, when the kernel is compiled",
        lower: static_print,
        ..ENTRY
    },
    Entry {
        names: &["syncall"],
        params: "*, core_type=, mode=, gm_workspace=, used_cores=",
        op: Some(&pto::SYNCALL),
        doc: "Wait until all cores of the launch have come here; what they stored before is seen behind it",
        lower: super::meet::syncall,
        ..ENTRY
    },
    Entry {
        names: &["sync_set", "sync_wait", "set_ffts"],
        doc: "Synchronisation by hand between the cores of a block",
        ..REFUSED
    },
    Entry {
        names: &["cacheinvalid", "fence"],
        doc: "Nothing: memory has no caches here. Which of them the hardware needs is not checked",
        ..NOTHING
    },
    Entry {
        names: &["available_cluster_count"],
        doc: "How many clusters the program runs on: the number of blocks of `pl.spmd`",
        lower: |lower, call| cores(lower, call, 0),
        ..ENTRY
    },
    Entry {
        names: &["available_aiv_count"],
        doc: "How many Vector cores the program runs on: the number of blocks of `pl.spmd`",
        lower: |lower, call| cores(lower, call, 1),
        ..ENTRY
    },
    Entry { names: &["task_dummy", "task_invalid"], doc: "Ids of tasks", ..HOST },
    Entry { names: &["submit", "spmd_submit", "call_group", "call_spmd"], doc: "Start a kernel", ..HOST },
    Entry { names: &["while_", "cond"], doc: "A loop that runs as long as a condition holds", ..REFUSED },
    Entry { names: &["dynamic"], doc: "An extent that is known when the kernel runs", lower: dynamic, ..REFUSED },
];

fn host(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let message = format!("`pl.{}` is for the host and no part of a kernel", call.entry.names[0]);
    Err(lower.error(slipring_ir::Kind::Unsupported, call.span, message))
}

/// Known where a whole program is followed, and for the host otherwise.
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

fn print(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (value, span) = call.need(lower, "x")?;
    match &value {
        Value::Tile(_) | Value::Tensor(_) => {
            let id = lower.demand(&value, slipring_tile::Space::Vec, span)?;
            if let Some(label) = call.word(lower, "label")? {
                text(lower, &format!("{label}:"));
            }
            let tile = lower.tile(id).value;
            lower.e.op(&pto::TPRINT, &[("src", &[tile])], &[], &[]);
        }
        Value::Scalar(scalar) => {
            let label =
                call.word(lower, "label")?.map_or_else(String::new, |label| format!("{label}: ").replace('%', "%%"));
            let form = if scalar.ty.is_float() { "%f" } else { "%d" };
            let attrs = [("format", Attr::Str(format!("{label}{form}").into()))];
            let value = scalar.value;
            lower.e.op(&pto::PRINT, &[("scalar", &[value])], &attrs, &[]);
        }
        Value::Const(constant) => {
            let label = call.word(lower, "label")?.map_or_else(String::new, |label| format!("{label}: "));
            let said = crate::host::python_text(constant);
            text(lower, &format!("{label}{said}"));
        }
        _ => return static_print(lower, call),
    }
    Ok(Value::Nothing)
}

/// Prints a line of text.
fn text(lower: &mut Lower<'_>, line: &str) {
    let attrs = [("format", Attr::Str(line.replace('%', "%%").into()))];
    let value = lower.e.index(0);
    lower.e.op(&pto::PRINT, &[("scalar", &[value])], &attrs, &[]);
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
    let (value, span) = call.need(lower, "x")?;
    let more =
        ["second", "third", "fourth"].into_iter().filter(|name| call.has(name)).filter_map(|name| call.get(name));
    let label = call.word(lower, "label")?.map(|label| format!("{label}:"));
    let values = std::iter::once(&value).chain(more.map(|(value, _)| value)).map(|value| match value {
        Value::Const(Const::Str(text)) => text.to_string(),
        other => describe(lower, other),
    });
    let said = label.into_iter().chain(values);
    let note = Diagnostic::warning("static-print", span, said.collect::<Vec<_>>().join(" "));
    lower.report(Diagnostic { severity: slipring_ir::Severity::Note, ..note });
    Ok(Value::Nothing)
}
