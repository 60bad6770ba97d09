//! Sorting, and random numbers.

use slipring_ir::{Attr, Diagnostic, ValueId};
use slipring_pto as pto;
use slipring_tile::{Elem, Space};

use super::entry::{Call, ENTRY, entries};
use super::operands::vector;
use crate::dtype::DType;
use crate::lower::on_tiles::emit;
use crate::lower::{Lower, Lowered};
use crate::value::{Const, TileId, Value, fold};

entries! {
    "sort32" =>
        "Each 32 elements of a row in descending order, as records of 8 bytes: element, then its number of `idx` (UINT32)":
        ENTRY, params: "src, idx", op: Some(&pto::TSORT32), lower: sort32;
    "mrgsort" =>
        "Sorted lists of records merged: every four runs of `block_len` elements of one row, or two to four lists":
        ENTRY, params: "src0, src1=, src2=, src3=, tmp=, exhausted=, *, block_len=", op: Some(&pto::TMRGSORT),
        lower: merge;
    "random" => "Words of Philox 4x32 for a key and a counter (A5)": ENTRY,
        params: "key0, key1, counter0, counter1, counter2, counter3, shape, valid_shape=, dtype=, rounds= \
                 | key0, key1, counter0, counter1, counter2, counter3, shape, dtype, rounds", op: Some(&pto::TRANDOM),
        lower: random;
}

/// Number of elements of a type in a record of 8 bytes.
fn per_record(elem: Elem) -> u64 {
    8 / elem.bytes().max(1) as u64
}

fn sort32(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let (src, idx) = (vector(lower, call, "src")?, vector(lower, call, "idx")?);
    for id in [src, idx] {
        lower.wholly_valid(id, "a sort", call.span)?;
    }
    let (tile, indices) = (lower.tile(src).clone(), lower.tile(idx).clone());
    let elem = tile.ty.layout.elem;
    let ((rows, cols), (lines, width)) = (fold(&tile.shape), fold(&indices.shape));
    if width != cols || (lines != 1 && lines != rows) {
        let message = format!("{rows} rows of {cols} elements are sorted with {lines} rows of {width} indices");
        let error = Diagnostic::error("shapes", call.span, message)
            .also(indices.span, "the indices")
            .help("`idx` has one row for all, or one for each row of `src`");
        return Err(lower.report(error));
    }
    let mut shape = tile.shape.to_vec();
    if let Some(last) = shape.last_mut() {
        *last *= per_record(elem);
    }
    let target = lower.new_tile(&shape, elem, Space::Vec, "sort32");
    emit(lower, &pto::TSORT32, &[("src", src), ("idx", idx)], target);
    Ok(Value::Tile(target))
}

fn merge(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let first = vector(lower, call, "src0")?;
    let tile = lower.tile(first).clone();
    let elem = tile.ty.layout.elem;
    if let Some((block, span)) = call.get("block_len").cloned() {
        if let Some(other) = ["src1", "src2", "src3", "tmp"].iter().find(|name| call.has(name)) {
            let message = format!("`block_len` merges the runs of one list, and `{other}` is given as well");
            return Err(lower.error("argument", span, message));
        }
        if let Value::Const(Const::Int(n)) = block
            && (n <= 0 || n % 64 != 0)
        {
            return Err(lower.error("argument", span, format!("runs of {n} elements: a multiple of 64 is needed")));
        }
        let block = lower.number(&block, DType::Elem(Elem::I32), span)?;
        let target = lower.new_tile(&tile.shape, elem, Space::Vec, "mrgsort");
        let dst = lower.tile(target).value;
        let groups: [(&str, &[ValueId]); 3] = [("sources", &[tile.value]), ("blockLen", &[block]), ("dst", &[dst])];
        lower.e.op(&pto::TMRGSORT, &groups, &[], &[]);
        return Ok(Value::Tile(target));
    }
    let mut lists: Vec<TileId> = vec![first];
    for name in ["src1", "src2", "src3"] {
        if call.has(name) {
            lists.push(vector(lower, call, name)?);
        }
    }
    if lists.len() < 2 {
        let error = Diagnostic::error("argument", call.span, "`pl.mrgsort` of one list needs `block_len`")
            .help("the elements of a sorted run: `pl.mrgsort(src, block_len=64)`; or pass two to four lists");
        return Err(lower.report(error));
    }
    for id in &lists {
        lower.wholly_valid(*id, "a sort", call.span)?;
    }
    // The result has the length of the working memory; without one, that of all lists together.
    let tmp = match call.has("tmp") {
        true => vector(lower, call, "tmp")?,
        false => {
            let all = lists.iter().map(|id| fold(&lower.tile(*id).shape).1).sum();
            lower.new_tile(&[1, all], elem, Space::Vec, "tmp")
        }
    };
    let shape = lower.tile(tmp).shape.to_vec();
    let target = lower.new_tile(&shape, elem, Space::Vec, "mrgsort");
    let sources: Vec<ValueId> = lists.iter().map(|id| lower.tile(*id).value).collect();
    let (tmp, dst) = (lower.tile(tmp).value, lower.tile(target).value);
    let groups: [(&str, &[ValueId]); 3] = [("sources", &sources), ("dst", &[dst]), ("tmp", &[tmp])];
    let stops = call.flag(lower, "exhausted")?;
    let attrs: &[_] = if stops { &[("exhausted", Attr::Bool(true))] } else { &[] };
    lower.e.op(&pto::TMRGSORT, &groups, attrs, &[]);
    Ok(Value::Tile(target))
}

fn random(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let mut words: Vec<ValueId> = Vec::new();
    const WORDS: [&str; 6] = ["key0", "key1", "counter0", "counter1", "counter2", "counter3"];
    for name in WORDS {
        let (value, span) = call.need(lower, name)?;
        let value = match value {
            // A word is a signed or unsigned 32-bit integer.
            Value::Const(Const::Int(n)) if (1 << 31..1 << 32).contains(&n) => Value::Const(Const::Int(n - (1 << 32))),
            other => other,
        };
        words.push(lower.number(&value, DType::Elem(Elem::I32), span)?);
    }
    let shape = call.need_shape(lower, "shape")?;
    // For tensors the type directly follows the shape.
    let early = match call.get("valid_shape") {
        Some((Value::Const(Const::DType(DType::Elem(elem))), _)) => Some(*elem),
        _ => None,
    };
    let elem = early.or(call.elem(lower, "dtype")?).unwrap_or(Elem::U32);
    let target = match call.has("valid_shape") && early.is_none() {
        false => lower.new_tile(&shape, elem, Space::Vec, "random"),
        true => {
            let valid = call.offsets(lower, "valid_shape")?;
            let [rows, cols] = valid[..] else {
                return Err(lower.error("argument", call.span, "`valid_shape` has two extents"));
            };
            lower.valid_fits([rows, cols], &shape, call.span)?;
            lower.new_valid_tile(&shape, elem, Space::Vec, [rows, cols], "random")
        }
    };
    let dst = [lower.tile(target).value];
    let mut groups: Vec<(&str, &[ValueId])> =
        WORDS.iter().zip(&words).map(|(n, v)| (*n, std::slice::from_ref(v))).collect();
    groups.push(("dst", &dst));
    let rounds = call.int(lower, "rounds")?.unwrap_or(10);
    if !matches!(rounds, 7 | 10) {
        return Err(lower.error("argument", call.span, format!("{rounds} rounds: the generator has 7 or 10")));
    }
    lower.e.op(&pto::TRANDOM, &groups, &[("rounds", Attr::int(rounds))], &[]);
    Ok(Value::Tile(target))
}
