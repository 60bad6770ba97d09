//! Reductions of logical vectors (SPEC of virtual micro-instructions, group 5).
//!
//! A sum of floats is made as the SPEC lowers it: what is wider than an instruction reduces (a register, or 32 bytes of
//! a group) is first added up part by part, in the type of the lanes; then neighbours are added, then neighbouring sums.

use slipring_ir::{AttrKind, AttrSpec, Diags, OpSchema, Syntax};
use slipring_machine::VectorPort;
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef};
use slipring_op::ops;
use slipring_op::rules::{counted, defaulted, required, schema};
use slipring_tile::{Elem, convert};
use slipring_vector::BYTES;

use super::value::{Bytes, clear_inactive, integer, set_bits};
use super::{GOVERNING, LOGICAL, OUT, PMODE, check, vector};
use crate::vector::check::COMMON;
use crate::vector::emit::Emit;

const REASSOC: AttrSpec =
    defaulted("reassoc", AttrKind::Unit, "floats may be added in another order; a sum of floats requires it");
const GROUP: AttrSpec =
    defaulted("group", AttrKind::Int, "number of equal groups, each reduced by itself; 1 if left out");
const NUM_GROUPS: AttrSpec = required("num_groups", AttrKind::Int, "number of equal groups, each reduced by itself");

const SCHEMA: OpSchema = schema(
    "",
    Syntax::Format("$src `,` $mask attr-dict `:` type($src) `,` type($mask) `->` type($out)"),
    &[vector("src", "the source"), GOVERNING],
    &[OUT],
    &[GROUP, PMODE],
);

const REDUCED: OpDef = OpDef { schema: SCHEMA, verify: |op, _, diags| rules(op, "group", diags), ..LOGICAL };
/// A vector whose largest or smallest lane is wanted.
const ORDERED: OpDef = OpDef {
    verify: |op, platform, diags| {
        rules(op, "group", diags);
        if let Some(lanes) = check::vector(op, "src") {
            check::order(op, lanes, platform, diags);
        }
    },
    ..REDUCED
};
const SUMMED: OpDef = OpDef {
    schema: OpSchema { attrs: &[GROUP, PMODE, REASSOC], ..SCHEMA },
    verify: |op, _, diags| sum_rules(op, "group", diags),
    ..LOGICAL
};
const GROUPED: OpDef = OpDef {
    schema: OpSchema { attrs: &[NUM_GROUPS], ..SCHEMA },
    source: super::DECLARED,
    verify: |op, _, diags| rules(op, "num_groups", diags),
    ..LOGICAL
};

/// What is kept of the lanes of a group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Sum,
    Largest,
    Smallest,
}

ops! {
    OPS;

    /// The sum of the active lanes, or with `group = C` of those of each of `C` equal groups; the result has a lane for
    /// each. Integers wrap in their own type.
    VCADD "pto.vmi.vcadd" "Sum of the lanes": SUMMED, lower: |op, d| reduce(op, d, "group", Kept::Sum)
        => { aliases: &["pto.vmi.reduce_addf", "pto.vmi.reduce_addi"] };

    /// The largest active lane, or with `group = C` that of each of `C` equal groups. NaN counts as the largest; where
    /// no lane is active it is -inf or the smallest integer. Integers without a sign are unsigned.
    VCMAX "pto.vmi.vcmax" "Largest of the lanes": ORDERED, lower: |op, d| reduce(op, d, "group", Kept::Largest)
        => { aliases: &["pto.vmi.reduce_maxf", "pto.vmi.reduce_maxi"] };

    /// The smallest active lane, or with `group = C` that of each of `C` equal groups. NaN counts as the smallest; where
    /// no lane is active it is +inf or the largest integer. Integers without a sign are unsigned.
    VCMIN "pto.vmi.vcmin" "Smallest of the lanes": ORDERED, lower: |op, d| reduce(op, d, "group", Kept::Smallest)
        => { aliases: &["pto.vmi.reduce_minf", "pto.vmi.reduce_mini"] };

    /// As `pto.vmi.vcadd` in groups.
    GROUP_REDUCE_ADDF "pto.vmi.group_reduce_addf" "Sums of groups of floats": GROUPED,
        verify: |op, _, diags| sum_rules(op, "num_groups", diags),
        lower: |op, d| reduce(op, d, "num_groups", Kept::Sum)
        => { attrs: &[NUM_GROUPS, REASSOC] };

    /// As `pto.vmi.vcadd` in groups.
    GROUP_REDUCE_ADDI "pto.vmi.group_reduce_addi" "Sums of groups of integers": GROUPED,
        lower: |op, d| reduce(op, d, "num_groups", Kept::Sum)
        => { attrs: &[NUM_GROUPS, REASSOC] };

    /// As `pto.vmi.vcmax` in groups.
    GROUP_REDUCE_MAX "pto.vmi.group_reduce_maxf" "Largest lanes of groups": GROUPED,
        lower: |op, d| reduce(op, d, "num_groups", Kept::Largest)
        => { aliases: &["pto.vmi.group_reduce_maxi"] };

    /// As `pto.vmi.vcmin` in groups.
    GROUP_REDUCE_MIN "pto.vmi.group_reduce_minf" "Smallest lanes of groups": GROUPED,
        lower: |op, d| reduce(op, d, "num_groups", Kept::Smallest)
        => { aliases: &["pto.vmi.group_reduce_mini"] };
}

fn rules(op: &OpRef<'_>, group: &str, diags: &mut Diags) {
    check::lanes_of(op, "src", COMMON, diags);
    check::pmode(op, diags);
    let (Some(src), Some(out)) = (check::vector(op, "src"), check::result(op, 0)) else { return };
    check::governs(op, "mask", src, diags);
    let groups = if op.attr(group).is_some() { check::groups(op, group, src.lanes, diags) } else { Some(1) };
    if let Some(groups) = groups.filter(|groups| *groups != out.lanes) {
        let message = format!("{} become {}, not {}", counted(groups, "group"), counted(groups, "lane"), out.lanes);
        diags.push(op.error("lane-count", message));
    }
    if src.lane != out.lane {
        diags.push(
            op.error("vreg-type", format!("lanes of {} give a result of {}, not {}", src.lane, src.lane, out.lane)),
        );
    }
}

fn sum_rules(op: &OpRef<'_>, group: &str, diags: &mut Diags) {
    rules(op, group, diags);
    let floats = check::vector(op, "src").and_then(|src| src.lane.arithmetic()).is_some_and(|elem| elem.is_float());
    if floats && op.attr("reassoc").is_none() {
        diags.push(
            op.error("attr-missing", "a sum of floats needs `reassoc`: the hardware does not add them in order")
                .help("write `{reassoc}`"),
        );
    }
}

fn reduce(op: &OpRef<'_>, d: &mut Decoder<'_>, group: &str, kept: Kept) -> Lowered {
    let mut e = Emit::new(op, d);
    let (src, active, out) = (e.vector("src")?, e.predicate("mask")?, e.gives(0)?);
    let grouped = op.attr(group).is_some() && out.count > 1;
    let size = src.count / out.count;
    // The instruction reduces a register, or each of its blocks of 32 bytes.
    let whole = if grouped { 32 } else { BYTES } / src.bytes;
    e.price = Some(match (kept, grouped) {
        (Kept::Sum, false) => ("vcadd", src.slots.len()),
        (Kept::Sum, true) => ("vcgadd", src.slots.len()),
        (Kept::Largest, false) => ("vcmax", src.slots.len()),
        (Kept::Largest, true) => ("vcgmax", src.slots.len()),
        (Kept::Smallest, false) => ("vcmin", src.slots.len()),
        (Kept::Smallest, true) => ("vcgmin", src.slots.len()),
    });
    let elem = match check::vector(op, "src") {
        Some(lanes) if group == "group" => check::order_elem(lanes, e.d.platform),
        _ => src.elem,
    };
    let bytes = src.bytes;
    e.compute(VectorPort::Alu, elem, move |m, _| {
        let (mut all, active) = (src.read(m), active.read(m));
        let mut result = Bytes::from_elem(0, out.size());
        if kept == Kept::Sum {
            clear_inactive(&mut all, bytes, &active);
        }
        for group in 0..out.count {
            let lanes = group * size..(group + 1) * size;
            let part = &all[lanes.start * bytes..lanes.end * bytes];
            let is_active = |i: usize| active.is(lanes.start + i);
            let to = &mut result[group * bytes..][..bytes];
            match (kept, elem.is_float()) {
                (Kept::Sum, true) => sum_of_floats(elem, part, whole, to),
                (Kept::Sum, false) => {
                    let sum = (0..size).fold(0i64, |sum, i| sum.wrapping_add(integer(part, i, elem)));
                    set_bits(to, 0, bytes, sum as u64);
                }
                (_, true) => float_extreme(elem, part, is_active, kept == Kept::Largest, to),
                (_, false) => integer_extreme(elem, part, is_active, kept == Kept::Largest, to),
            }
        }
        out.write(m, &result);
    })
}

/// The sum of floats: parts of `whole` lanes are added up, each sum rounded to the type; then neighbours.
fn sum_of_floats(elem: Elem, part: &[u8], whole: usize, to: &mut [u8]) {
    let mut lanes = vec![0f32; part.len() / elem.bytes()];
    convert::load_f32(elem, part, &mut lanes);
    let mut sums = vec![0f32; whole];
    let mut kept = vec![0; whole * elem.bytes()];
    for (at, lanes) in lanes.chunks(whole).enumerate() {
        sums.iter_mut().zip(lanes).for_each(|(sum, lane)| *sum = if at == 0 { *lane } else { *sum + *lane });
        if at > 0 {
            convert::store_f32(elem, &sums, &mut kept);
            convert::load_f32(elem, &kept, &mut sums);
        }
    }
    let mut left = whole;
    while left > 1 {
        left /= 2;
        for i in 0..left {
            sums[i] = sums[2 * i] + sums[2 * i + 1];
        }
    }
    convert::store_f32(elem, &sums[..1], to);
}

fn float_extreme(elem: Elem, part: &[u8], active: impl Fn(usize) -> bool, largest: bool, to: &mut [u8]) {
    let mut lanes = vec![0f32; part.len() / elem.bytes()];
    convert::load_f32(elem, part, &mut lanes);
    let mut best = if largest { f32::NEG_INFINITY } else { f32::INFINITY };
    for (_, lane) in lanes.iter().enumerate().filter(|(i, _)| active(*i)) {
        let better = if largest { *lane > best } else { *lane < best };
        if better || (lane.is_nan() && !best.is_nan()) {
            best = *lane;
        }
    }
    convert::store_f32(elem, &[best], to);
}

fn integer_extreme(elem: Elem, part: &[u8], active: impl Fn(usize) -> bool, largest: bool, to: &mut [u8]) {
    let unused = 64 - 8 * elem.bytes() as u32;
    let (low, high) = match elem.is_signed_int() {
        true => (i64::MIN >> unused, i64::MAX >> unused),
        false => (0, (u64::MAX >> unused) as i64),
    };
    let lanes = (0..part.len() / elem.bytes()).filter(|i| active(*i)).map(|i| integer(part, i, elem));
    let best = if largest { lanes.fold(low, i64::max) } else { lanes.fold(high, i64::min) };
    set_bits(to, 0, elem.bytes(), best as u64);
}
