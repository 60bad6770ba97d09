//! Reductions over the lanes (micro-instruction manual 10).
//!
//! Sums are binary trees: first neighbours (lanes 2i and 2i + 1), then neighbouring sums, with inactive lanes counting
//! as 0. Sums of f16 are kept in f32 and rounded once at the end; integers wrap in the type of the result.

use std::ops::Range;

use slipring_ir::{Diags, Infer, OpSchema};
use slipring_machine::{Platform, VectorPort};
use slipring_tile::{Elem, convert};
use slipring_vector::{BYTES, Mask, Register};

use super::check::{self, COMMON, FLOATS};
use super::emit::Emit;
use super::{GOVERNING, MASK, OUT, STEP, vreg};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef, Reported};
use slipring_op::rules::{result, schema};
use slipring_op::{ops, positional};

const SCHEMA: OpSchema =
    schema("", positional!("src" "mask" => "out"), &[vreg("src", "the source"), GOVERNING], &[OUT], &[]);

fn rules(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::lanes_of(op, "src", op.def.lane_types, diags);
    check::governs(op, "mask", "src", diags);
    let (Some(elem), Some(out)) = (check::elem(op, "src"), check::result_elem(op, 0)) else { return };
    let wanted = if op.def == &VCADD { sum_elem(elem) } else { elem };
    if out != wanted {
        diags.push(op.error("vreg-type", format!("lanes of {elem} give a result of {wanted}, not {out}")));
    }
}

/// Type of the sum of all lanes: narrow integers are widened.
fn sum_elem(elem: Elem) -> Elem {
    match elem {
        Elem::I8 => Elem::I16,
        Elem::U8 => Elem::U16,
        Elem::I16 => Elem::I32,
        Elem::U16 => Elem::U32,
        other => other,
    }
}

/// A register, and the predicate for the active lanes.
const REDUCED: OpDef = OpDef { schema: SCHEMA, verify: rules, lane_types: COMMON, ..STEP };

ops! {
    OPS;

    /// Lane 0 is the sum of the active lanes, the others 0. A binary tree: lanes 2i and 2i + 1 first, then neighbouring
    /// sums; inactive lanes count as 0. Sums of f16 are kept in f32 and rounded once. 8-bit integers give a 16-bit sum,
    /// 16-bit ones a 32-bit sum; 32-bit sums wrap.
    VCADD "pto.vcadd" "Sum of all lanes": REDUCED, lower: |op, d| sum(op, d, 1);

    /// Lanes 0 to 7 are the sums of the eight groups of 32 bytes, the others 0; each sum a tree as of `pto.vcadd`.
    /// Integers wrap in their own type.
    VCGADD "pto.vcgadd" "Sums of groups of 32 bytes": REDUCED, lower: |op, d| sum(op, d, 8);

    /// `out[i] = src[2i] + src[2i + 1]` in the lower half, rounded once, and 0 in the upper half; inactive lanes count
    /// as 0. (The manual's words describe a running sum; the public examples compute this.)
    VCPADD "pto.vcpadd" "Sums of neighbouring lanes": REDUCED, lane_types: FLOATS, lower: lower_vcpadd;

    /// Lane 0 is the largest active lane, lane 1 the index of the first such lane as an integer of the lanes' width,
    /// the others 0. NaN counts as the largest. Where no lane is active: -inf or the smallest integer, and index 0.
    VCMAX "pto.vcmax" "Largest lane and its place": REDUCED, lower: |op, d| extreme(op, d, 1, true);

    /// Lane 0 is the smallest active lane, lane 1 the index of the first such lane as an integer of the lanes' width,
    /// the others 0. NaN counts as the smallest. Where no lane is active: +inf or the largest integer, and index 0.
    VCMIN "pto.vcmin" "Smallest lane and its place": REDUCED, lower: |op, d| extreme(op, d, 1, false);

    /// Lane 0 is the largest active lane, the others 0; `where` are the active lanes that are equal to it, +0 being
    /// equal to -0. NaN counts as the largest, and NaNs as equal. Where no lane is active: -inf or the smallest
    /// integer, and no lane.
    VCBMAX "pto.vcbmax" "Largest lane, and all that are equal to it": STEP.with(MARKED), lane_types: COMMON,
        source: "micro-instruction manual of assembler 0.60, 10; of NaN, `pto.vcmax` here", verify: marked_rules,
        lower: |op, d| marked(op, d, true);

    /// Lane 0 is the smallest active lane, the others 0; `where` are the active lanes that are equal to it, +0 being
    /// equal to -0. NaN counts as the smallest, and NaNs as equal. Where no lane is active: +inf or the largest
    /// integer, and no lane.
    VCBMIN "pto.vcbmin" "Smallest lane, and all that are equal to it": STEP.with(MARKED), lane_types: COMMON,
        source: "micro-instruction manual of assembler 0.60, 10; of NaN, `pto.vcmin` here", verify: marked_rules,
        lower: |op, d| marked(op, d, false);

    /// Lanes 0 to 7 are the largest active lanes of the eight groups of 32 bytes, the others 0. NaN counts as the
    /// largest; a group without an active lane gives -inf or the smallest integer.
    VCGMAX "pto.vcgmax" "Largest lanes of groups of 32 bytes": REDUCED,
        lower: |op, d| extreme(op, d, 8, true);

    /// Lanes 0 to 7 are the smallest active lanes of the eight groups of 32 bytes, the others 0. NaN counts as the
    /// smallest; a group without an active lane gives +inf or the largest integer.
    VCGMIN "pto.vcgmin" "Smallest lanes of groups of 32 bytes": REDUCED,
        lower: |op, d| extreme(op, d, 8, false);
}

fn lower_vcpadd(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let lanes = BYTES / check::elem(op, "src").ok_or(Reported)?.bytes();
    sum(op, d, lanes / 2)
}

const MARKED: OpSchema = OpSchema {
    syntax: positional!("src" "mask" => "out" "where"),
    results: &[OUT, result("where", MASK, Infer::Written, "the active lanes that are equal to it")],
    ..SCHEMA
};

fn marked_rules(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    rules(op, platform, diags);
    check::same_masks(op, diags);
}

/// The extreme of all lanes, and a mask of the lanes that are equal to it.
fn marked(op: &OpRef<'_>, d: &mut Decoder<'_>, largest: bool) -> Lowered {
    let mut e = Emit::new(op, d);
    let elem = e.elem("src")?;
    let (src, mask, out, marks) = (e.reg("src")?, e.reg("mask")?, e.out(0), e.out(1));
    let bytes = elem.bytes();
    let lanes = BYTES / bytes;
    e.compute(VectorPort::Alu, elem, move |m, _| {
        let (src, mask) = (*m.reg(src), m.mask(mask));
        let (bits, at) = extreme_of(elem, &src, &mask, 0..lanes, largest);
        let mut result = Register::ZERO;
        result.set_bits(0, bytes, bits);
        let mut values = [0f32; 128];
        if elem.is_float() {
            convert::load_f32(elem, &src.0, &mut values[..lanes]);
        }
        let equal = |i: usize| match elem.is_float() {
            true => values[i] == values[at] || (values[i].is_nan() && values[at].is_nan()),
            false => src.bits(i, bytes) == src.bits(at, bytes),
        };
        // If no lane is active, none is marked, whatever `at` is.
        let where_ = Mask::from_fn(bytes, |i| mask.lane(i, bytes) && equal(i));
        m.set(out, result);
        m.set_mask(marks, where_);
    })
}

/// The sums of `groups` groups of equal size, in the first lanes of the result.
fn sum(op: &OpRef<'_>, d: &mut Decoder<'_>, groups: usize) -> Lowered {
    let to = check::result_elem(op, 0).ok_or(Reported)?;
    let mut e = Emit::new(op, d);
    let elem = e.elem("src")?;
    let (src, mask, out) = (e.reg("src")?, e.reg("mask")?, e.out(0));
    let size = BYTES / elem.bytes() / groups;
    e.compute(VectorPort::Alu, elem, move |m, _| {
        let mut src = *m.reg(src);
        src.zero_inactive(&m.mask(mask), elem.bytes());
        let mut result = Register::ZERO;
        if elem.is_float() {
            let mut lanes = [0f32; 128];
            convert::load_f32(elem, &src.0, &mut lanes[..size * groups]);
            let mut sums = [0f32; 128];
            for (sum, group) in sums.iter_mut().zip(lanes.chunks_exact_mut(size)).take(groups) {
                *sum = tree(group, |a, b| a + b);
            }
            convert::store_f32(to, &sums[..groups], &mut result.0[..groups * to.bytes()]);
        } else {
            for group in 0..groups {
                let lanes = (0..size).map(|i| integer(elem, &src, group * size + i));
                let sum = lanes.fold(0i64, i64::wrapping_add);
                result.set_bits(group, to.bytes(), sum as u64);
            }
        }
        m.set(out, result);
    })
}

/// Folds neighbours, then neighbouring results, until one is left. The number of lanes must be a power of two.
fn tree(lanes: &mut [f32], f: impl Fn(f32, f32) -> f32) -> f32 {
    let mut left = lanes.len();
    while left > 1 {
        left /= 2;
        for i in 0..left {
            lanes[i] = f(lanes[2 * i], lanes[2 * i + 1]);
        }
    }
    lanes[0]
}

/// An integer lane.
fn integer(elem: Elem, register: &Register, lane: usize) -> i64 {
    let bits = register.bits(lane, elem.bytes());
    if !elem.is_signed_int() {
        return bits as i64;
    }
    let unused = 64 - 8 * elem.bytes() as u32;
    (bits << unused) as i64 >> unused
}

/// The extremes of `groups` groups of equal size, in the first lanes of the result; for a single group also its lane.
fn extreme(op: &OpRef<'_>, d: &mut Decoder<'_>, groups: usize, largest: bool) -> Lowered {
    let mut e = Emit::new(op, d);
    let elem = e.elem("src")?;
    let (src, mask, out) = (e.reg("src")?, e.reg("mask")?, e.out(0));
    let bytes = elem.bytes();
    let size = BYTES / bytes / groups;
    e.compute(VectorPort::Alu, elem, move |m, _| {
        let (src, mask) = (*m.reg(src), m.mask(mask));
        let mut result = Register::ZERO;
        for group in 0..groups {
            let lanes = group * size..(group + 1) * size;
            let (bits, at) = extreme_of(elem, &src, &mask, lanes, largest);
            result.set_bits(group, bytes, bits);
            if groups == 1 {
                result.set_bits(1, bytes, at as u64);
            }
        }
        m.set(out, result);
    })
}

/// The bits of the extreme of these lanes, and its lane.
fn extreme_of(elem: Elem, src: &Register, mask: &Mask, lanes: Range<usize>, largest: bool) -> (u64, usize) {
    match elem.is_float() {
        true => float_extreme(elem, src, mask, lanes, largest),
        false => integer_extreme(elem, src, mask, lanes, largest),
    }
}

fn float_extreme(elem: Elem, src: &Register, mask: &Mask, lanes: Range<usize>, largest: bool) -> (u64, usize) {
    let mut values = [0f32; 128];
    let bytes = elem.bytes();
    convert::load_f32(elem, &src.0, &mut values[..BYTES / bytes]);
    let mut best = if largest { f32::NEG_INFINITY } else { f32::INFINITY };
    let mut at = 0;
    for i in lanes.filter(|i| mask.lane(*i, bytes)) {
        let better = if largest { values[i] > best } else { values[i] < best };
        if better || (values[i].is_nan() && !best.is_nan()) {
            (best, at) = (values[i], i);
        }
    }
    let mut stored = [0; 8];
    convert::store_f32(elem, &[best], &mut stored[..bytes]);
    (u64::from_le_bytes(stored), at)
}

fn integer_extreme(elem: Elem, src: &Register, mask: &Mask, lanes: Range<usize>, largest: bool) -> (u64, usize) {
    let bits = 8 * elem.bytes() as u32;
    let (low, high) = match elem.is_signed_int() {
        true => (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits)),
        false => (0, (u64::MAX >> (64 - bits)) as i64),
    };
    let mut best = if largest { low } else { high };
    let mut at = 0;
    for i in lanes.filter(|i| mask.lane(*i, elem.bytes())) {
        let value = integer(elem, src, i);
        let better = if largest { value > best } else { value < best };
        if better {
            (best, at) = (value, i);
        }
    }
    (best as u64, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_adds_neighbours_first() {
        // 1e8 and -1e8 only cancel if the tree pairs them as documented.
        assert_eq!(tree(&mut [1e8, -1e8, 1.0, 2.0], |a, b| a + b), 3.0);
        assert_eq!(tree(&mut [1e8, 1.0, -1e8, 2.0], |a, b| a + b), 0.0);
    }
}
