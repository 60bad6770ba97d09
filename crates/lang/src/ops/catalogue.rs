//! All ops of the language, found by their names here and in other languages.

use slipring_ir::{Diagnostic, Span};
use slipring_op::OpDef;

use super::entry::{ANYTHING, Call, Entry};
use super::{
    arrays, choose, composed, cross, devices, elementwise, gather, matrix, memory, pipe, reduce, shape, sort, system,
    table, trig,
};
use crate::lower::{Lower, Lowered, Words};
use crate::params::Given;
use crate::words::{self, IN_HEADS, InProgram};

/// The builtins that kernels call.
pub(crate) struct Language;

impl Words for Language {
    fn call(&self, lower: &mut Lower<'_>, path: &str, place: Span, given: Given, span: Span) -> Lowered {
        let name = path.strip_prefix("pl.").unwrap_or(path);
        let Some(entry) = find(name) else {
            if path.starts_with("pld.") {
                return Err(lower.report(devices::not_for_kernels(path, place)));
            }
            let mut error = Diagnostic::error("unknown-op", place, format!("there is no `{path}`"));
            if IN_HEADS.contains(&path) {
                let message = format!("`{path}` is only allowed in the head of a loop");
                let head = format!("write `for … in {path}(…):`");
                return Err(lower.report(Diagnostic::error("loop", place, message).help(head)));
            }
            let known = catalogue().flat_map(|entry| entry.names.iter().copied());
            let near = slipring_ir::text::nearest(name.rsplit('.').next().unwrap_or(name), known);
            let last = name.rsplit('.').next().unwrap_or(name);
            if let Some(own) = of_numpy(last).filter(|_| !path.starts_with("pl.")) {
                error = error.help(format!("a kernel calls the language's own: `pl.{own}`"));
            } else if let Some(instead) = instead_of(last) {
                error = error.help(instead);
            } else if let Some(near) = near {
                error = error.help(format!("did you mean `pl.{near}`?"));
            }
            return Err(lower.report(error));
        };
        let call = Call::bind(lower, entry, given, span)?;
        (entry.lower)(lower, &call)
    }

    fn knows(&self, name: &str) -> bool {
        find(name).is_some()
    }

    fn op(&self, name: &str) -> Option<&'static OpDef> {
        find(name)?.op
    }

    fn makes_end(&self, name: &str) -> bool {
        find(name).and_then(|entry| entry.ring()).is_some_and(|part| part.makes_end())
    }

    fn method<'n>(&self, name: &'n str) -> Option<&'n str> {
        as_method(name)
    }

    fn instead_of(&self, name: &str) -> Option<String> {
        instead_of(name)
    }
}

const FAMILIES: &[&[Entry]] = &[
    elementwise::OPS,
    choose::OPS,
    composed::OPS,
    reduce::OPS,
    shape::OPS,
    trig::OPS,
    gather::OPS,
    table::OPS,
    sort::OPS,
    matrix::OPS,
    memory::OPS,
    cross::OPS,
    pipe::OPS,
    system::OPS,
    arrays::OPS,
];

/// Every op of the language, family by family.
pub fn catalogue() -> impl Iterator<Item = &'static Entry> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// The op for a function of numpy, torch or `math`, by its name there.
fn of_numpy(name: &str) -> Option<&'static str> {
    let other = match name {
        "multiply" => "mul",
        "subtract" | "sub_" => "sub",
        "divide" | "true_divide" => "div",
        "dot" | "mm" | "bmm" => "matmul",
        "concatenate" | "cat" | "hstack" => "concat",
        "sum" => "row_sum",
        "amax" => "row_max",
        "amin" => "row_min",
        "fabs" | "absolute" => "abs",
        "negative" => "neg",
        "full_like" => "expands",
        "empty" => "create_tile",
        "reciprocal" => "recip",
        "astype" | "to" => "cast",
        "sort" | "argsort" => "sort32",
        same => {
            return find(same).map(|entry| *entry.names.iter().find(|own| **own == same).unwrap_or(&entry.names[0]));
        }
    };
    Some(other)
}

/// The op for a method of a tile or tensor: `x.cast(…)` is `pl.cast(x, …)`.
fn as_method(name: &str) -> Option<&str> {
    let name = if matches!(name, "to" | "astype") { "cast" } else { name };
    catalogue().any(|entry| entry.names.contains(&name)).then_some(name)
}

/// A replacement for a name that other tile languages have, and this one does not.
fn instead_of(name: &str) -> Option<String> {
    Some(match name {
        "len" => "the extent of a tensor is `x.shape[0]`".into(),
        "softmax" => {
            "it is made of `pl.row_max`, `pl.row_expand_sub`, `pl.exp`, `pl.row_sum` and `pl.row_expand_div`".into()
        }
        "sum" | "prod" | "argmax" | "argmin" => {
            format!("it is `pl.row_{name}(x)` of each row, `pl.col_{name}(x)` of each column")
        }
        "round" | "rint" => "`pl.cast(x, pl.INT32)` rounds; its `mode` says how: round, rint, floor, ceil, trunc".into(),
        "topk" | "top_k" => "of a few, take the largest of each row again and again: `m = pl.row_max(t)`, its place `pl.row_argmax(t)`, \
             then `t = pl.where(t == m, -3.4e38, t)`; of many, `pl.sort32` sorts runs of 32 and `pl.mrgsort` merges them"
            .into(),
        "atomic_add" => "a store adds: `pl.store(tile, offsets, x, atomic=pl.AtomicType.Add)`".into(),
        "sort" | "argsort" => "`pl.sort32` sorts runs of 32 numbers, `pl.mrgsort` merges sorted runs".into(),
        "pow" | "power" => "a square is `x * x`, another power `pl.exp(pl.log(x) * n)` where x > 0".into(),
        "mean" | "average" => "it is `pl.row_sum(x) * (1.0 / N)`".into(),
        "erf" => "the hardware has no such op: `1.0 - (((((1.061405429 * t - 1.453152027) * t) + 1.421413741) * t - 0.284496736) * t \
                  + 0.254829592) * t * pl.exp(-x * x)` with `t = pl.recip(x * 0.3275911 + 1.0)` is within 1.5e-7 of it for x >= 0; \
                  it is odd"
            .into(),
        "gelu" => "it is `x * pl.recip(pl.exp((x + x * x * x * 0.044715) * -1.5957691) + 1.0)`, with the usual approximation".into(),
        "cumsum" | "cumprod" | "scan" | "associative_scan" => "the hardware has no scan: along a row it is the product \
             `pl.matmul(x, u)` with a matrix `u` of ones on and above the diagonal; down the rows a loop carries the sum"
            .into(),
        "dot" => "the language has `pl.matmul`".into(),
        "flip" | "roll" => "the hardware moves no elements within a row: `pl.gather(x, indices)` takes them by their numbers".into(),
        other => format!("the language has `pl.{}`", of_numpy(other)?),
    })
}

/// The op with this name, without `pl.`. A prefix `tile.`, `tensor.` or `system.` makes no difference.
pub fn find(name: &str) -> Option<&'static Entry> {
    if name.starts_with("pld.") {
        return devices::OPS.iter().find(|entry| entry.names.contains(&name));
    }
    let bare = ["tile.", "tensor.", "system."].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    let by = |name: &str| catalogue().find(|entry| entry.names.contains(&name));
    by(name).or_else(|| by(bare))
}

/// The semantics of a builtin in a followed program, outside its kernels; `None` if it has no separate one there.
pub(crate) fn followed(name: &str) -> Option<InProgram> {
    words::followed(name).or_else(|| find(name).filter(|entry| entry.names.contains(&name))?.followed)
}

/// The parameters of a builtin there; `None` for one that accepts anything.
pub(crate) fn followed_params(name: &str) -> Option<&'static str> {
    let of_entry = || {
        let entry = find(name)?;
        Some(entry.followed?.takes.unwrap_or(entry.params)).filter(|takes| *takes != ANYTHING)
    };
    words::takes(name).or_else(of_entry)
}

/// True for a builtin of the language: an op, a type, a namespace.
pub(crate) fn is_word(name: &str) -> bool {
    words::WORDS.iter().any(|word| word.name == name) || find(name).is_some()
}
