//! The catalogue: every op that a kernel may call, declared once, with its parameters, how it is lowered, and what it does in a
//! program that is followed.
//!
//! What an op means is said by the declaration of the op that it becomes (`crates/pto`); what is here is its spelling.

mod arrays;
mod batch;
mod bind;
mod choose;
mod collectives;
mod composed;
mod cross;
mod devices;
mod elementwise;
mod expand;
mod gather;
mod mask;
mod matrix;
mod meet;
mod memory;
mod own;
mod pipe;
mod reduce;
mod shape;
mod sort;
mod system;
mod table;
mod trig;

use slipring_op::OpDef;
use slipring_op::def::RingPart;

use crate::host::meaning::InProgram;
use crate::lower::{Lower, Lowered};

pub(crate) use arrays::is_array;
pub(crate) use bind::{ByName, Call, Given, by_name};
pub(crate) use collectives::OWN_SIGNALS;
pub(crate) use devices::not_for_kernels;
pub(crate) use mask::{choose, unpacked};
pub(crate) use memory::read_element;
pub(crate) use pipe::{BARE, makes_end, pops};

/// An op of the language.
pub struct Entry {
    /// Its names after `pl.`; the first is the usual one.
    pub names: &'static [&'static str],
    /// Its parameters: `lhs, rhs, out_dtype=, *, atomic=`. Those after `*` are given by name; those with `=` may be
    /// left out. `|` stands between ways to call it, `…` for anything.
    pub params: &'static str,
    /// The op that it becomes; none where that depends on its arguments.
    pub op: Option<&'static OpDef>,
    /// The op that it becomes where its second operand is a number; none where it may not be one.
    pub with_number: Option<&'static OpDef>,
    /// The op that it becomes where its second operand is a column, which has a value for each row; none where there is none.
    pub with_column: Option<&'static OpDef>,
    /// The same of a row, which has a value for each column.
    pub with_row: Option<&'static OpDef>,
    /// What it does, for lists.
    pub doc: &'static str,
    /// True for an op that is known by its name and not compiled.
    pub refused: bool,
    /// What it does in a program that is followed, outside of its kernels; none where it stands in kernels only.
    pub(crate) followed: Option<InProgram>,
    pub(crate) lower: fn(&mut Lower<'_>, &Call) -> Lowered,
}

impl Entry {
    /// What it does to a ring, where its op says it.
    pub(crate) fn ring(&self) -> Option<RingPart> {
        self.op.and_then(|op| op.ring)
    }

    /// True for a product whose left operand is one row.
    pub(crate) fn is_of_a_row(&self) -> bool {
        self.op.and_then(|op| op.product).is_some_and(|product| product.vector)
    }

    /// Its usual name as a file writes it.
    pub(crate) fn spelled(&self) -> String {
        let name = self.names[0];
        if name.starts_with("pld.") { name.to_string() } else { format!("pl.{name}") }
    }
}

/// An entry to change fields of.
const ENTRY: Entry = Entry {
    names: &[],
    params: "",
    op: None,
    with_number: None,
    with_column: None,
    with_row: None,
    doc: "",
    refused: false,
    followed: None,
    lower: |lower, call| Err(lower.unsupported(call.span, format!("`pl.{}`", call.entry.names[0]))),
};

/// Parameters of what is called in any way.
pub(crate) const ANYTHING: &str = "…";

/// An op of the public language that is known and not compiled, however it is called.
const REFUSED: Entry = Entry { params: ANYTHING, refused: true, ..ENTRY };

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

/// The op that does what a function of numpy, torch or `math` does, by the name that it has there.
pub(crate) fn of_numpy(name: &str) -> Option<&'static str> {
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

/// The op that a method of a tile or tensor is: `x.cast(…)` is `pl.cast(x, …)`.
pub(crate) fn as_method(name: &str) -> Option<&str> {
    let name = if matches!(name, "to" | "astype") { "cast" } else { name };
    catalogue().any(|entry| entry.names.contains(&name)).then_some(name)
}

/// What to write for a name that other languages of tiles have, and this one has not.
pub(crate) fn instead_of(name: &str) -> Option<String> {
    Some(match name {
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

/// The op of a name without `pl.`. `tile.`, `tensor.` and `system.` before it make no difference.
pub fn find(name: &str) -> Option<&'static Entry> {
    if name.starts_with("pld.") {
        return devices::OPS.iter().find(|entry| entry.names.contains(&name));
    }
    let bare = ["tile.", "tensor.", "system."].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    let by = |name: &str| catalogue().find(|entry| entry.names.contains(&name));
    by(name).or_else(|| by(bare))
}

/// What a word does in a program that is followed, outside of its kernels; none for one that has no meaning of its own there.
pub(crate) fn followed(name: &str) -> Option<InProgram> {
    crate::words::followed(name).or_else(|| find(name).filter(|entry| entry.names.contains(&name))?.followed)
}

/// What a word takes there; none for one that takes anything.
pub(crate) fn followed_params(name: &str) -> Option<&'static str> {
    let of_entry = || {
        let entry = find(name)?;
        Some(entry.followed?.takes.unwrap_or(entry.params)).filter(|takes| *takes != ANYTHING)
    };
    crate::words::takes(name).or_else(of_entry)
}
