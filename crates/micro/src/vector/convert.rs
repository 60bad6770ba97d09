//! Conversions of lanes to another type (micro-instruction manual 9).

use slipring_ir::{AttrKind, Diags, Syntax, Touch};
use slipring_machine::{Platform, VectorPort};
use slipring_tile::{Elem, RoundMode, Saturation, convert};
use slipring_vector::{BYTES, Register, conversions};

use super::check;
use super::emit::Emit;
use super::{GOVERNING, OUT, STEP, vreg};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpRef, Reported};
use slipring_op::rules::{SCALAR, defaulted, one_of, operand, required};
use slipring_op::{ops, positional};

/// The rounding modes of conversions to floats of 8 and 4 bits; all other pairs support every mode.
fn roundings(from: Elem, to: Elem) -> &'static [&'static str] {
    match (from, to) {
        (_, Elem::HiF8) => &["A"],
        (Elem::F32, Elem::F8E4M3 | Elem::F8E5M2) => &["R", "A", "Z"],
        (_, to) if to.is_small_float() => &["R", "A", "F", "C", "Z"],
        _ => &["R", "A", "F", "C", "Z", "O"],
    }
}

/// Width in bits of an element; a packed type holds two values.
fn bits(elem: Elem) -> usize {
    8 * elem.bytes() / elem.values()
}

ops! {
    OPS;

    /// Each active lane, rounded once. Where the types differ in width by a factor n, `part` says which of n
    /// neighbours: a narrow result takes lanes `n × i + part` and leaves the others 0, so that several results are
    /// merged by `pto.vor`; a wide result is computed from lanes `n × i + part`. `EVEN` and `ODD` are parts 0 and 1 of
    /// two, `P0` to `P3` parts 0 to 3 of four; 0 where nothing is said. `SAT`: the nearest value of the target, NaN
    /// becomes 0, infinities the largest finite value. `NOSAT`: infinities, NaN, the low bits of an integer. Where
    /// nothing is said floats become integers as with `SAT`, everything else as with `NOSAT`. The predicate governs
    /// source lanes; lanes of 64 bits are governed by a `b32` predicate. A lane of a packed type is two values of 4
    /// bits, and differs from `bf16` by a factor of 4.
    VCVT "pto.vcvt" "Convert lanes to another type": STEP,
        source: "micro-instruction manual 9; floats of 8 and 4 bits: verifier and conversion tests of assembler 0.60",
        verify: |op, _, diags| cvt_rules(op, diags), lower: cvt
        => {
            syntax: positional!("src" "mask" => "out"),
            operands: &[vreg("src", "the source"), GOVERNING],
            results: &[OUT],
            attrs: &[
                defaulted(
                    "rnd",
                    AttrKind::Str,
                    "`R` nearest even (default), `A` nearest away, `F`, `C`, `Z` or `O` to odd",
                ),
                defaulted("sat", AttrKind::Str, "`SAT` or `NOSAT`"),
                defaulted("part", AttrKind::Str, "`EVEN`, `ODD`, or `P0` to `P3`"),
            ],
        };

    /// `src × factor`, rounded once, to f16: lane `i` goes to lane `2i`, or `2i + 1` for `ODD`; the others are 0. What
    /// is beyond f16 becomes an infinity.
    VMULSCVT "pto.vmulscvt" "Scale lanes and convert them to f16": STEP,
        source: "micro-instruction manual of assembler 0.60, 13", verify: verify_vmulscvt, lower: lower_vmulscvt
        => {
            syntax: Syntax::Format(
                "$src `,` $factor `,` $mask `,` $rnd `,` $part attr-dict `:` type($src) `,` type($factor) `,` type($mask) `->` type($out)",
            ),
            operands: &[
                vreg("src", "the source, of f32"),
                operand("factor", SCALAR, Touch::Nothing, "what each lane is multiplied by, of f32"),
                GOVERNING,
            ],
            results: &[OUT],
            attrs: &[
                required("rnd", AttrKind::Str, "as for `pto.vcvt`; assembler 0.60 documents them and takes `A` only"),
                required("part", AttrKind::Str, "`EVEN` or `ODD`"),
            ],
        };

    /// The whole number next to each active lane, as a float: `R` to the nearest (ties to even), `A` to the nearest
    /// (ties away from zero), `F` down, `C` up, `Z` towards zero.
    VTRC "pto.vtrc" "Round lanes to whole numbers": STEP, verify: verify_vtrc, lower: lower_vtrc
        => {
            syntax: Syntax::Format("$src `,` $mask `,` $rnd attr-dict `:` type($src) `,` type($mask) `->` type($out)"),
            operands: &[vreg("src", "the source"), GOVERNING],
            results: &[OUT],
            attrs: &[required("rnd", AttrKind::Str, "`R` nearest even, `A` nearest away from zero, `F`, `C` or `Z`")],
        };

    /// `out[i] = index + i`, or `index - i` for `DESC`. Integers wrap; floats are rounded once.
    VCI "pto.vci" "Count through the lanes": STEP, verify: verify_vci, lower: lower_vci
        => {
            syntax: positional!("index" => "out"),
            operands: &[operand("index", SCALAR, Touch::Nothing, "the first number, of the lanes' type")],
            results: &[OUT],
            attrs: &[defaulted("order", AttrKind::Str, "`ASC` (default) or `DESC`")],
        };
}

fn verify_vmulscvt(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::lanes_of(op, "src", &[Elem::F32], diags);
    check::number_for(op, "factor", "src", diags);
    check::governs(op, "mask", "src", diags);
    one_of(op, "rnd", roundings(Elem::F32, Elem::F16), diags);
    one_of(op, "part", &["EVEN", "ODD"], diags);
    if check::result_elem(op, 0) != Some(Elem::F16) {
        diags.push(op.error("vcvt-types", "`pto.vmulscvt` converts f32 to f16"));
    }
}

fn lower_vmulscvt(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mode = op.text("rnd").and_then(RoundMode::from_letter).ok_or(Reported)?;
    let part = part(op).ok_or(Reported)?;
    let mut e = Emit::new(op, d);
    let (src, factor, mask) = (e.reg("src")?, e.number("factor")?, e.reg("mask")?);
    let out = e.out(0);
    e.compute(VectorPort::Alu, Elem::F32, move |m, args| {
        let factor = f64::from(f32::from_bits(args[factor] as u32));
        let (mask, mut lanes) = (m.mask(mask), [0f32; BYTES / 4]);
        convert::load_f32(Elem::F32, &m.reg(src).0, &mut lanes);
        let mut scaled = Register::ZERO;
        for (i, lane) in lanes.iter().enumerate().filter(|(i, _)| mask.lane(*i, 4)) {
            scaled.set_bits(i, 4, to_odd(f64::from(*lane) * factor).to_bits().into());
        }
        let mut made = [0; BYTES / 2];
        convert::convert(Elem::F32, &scaled.0, Elem::F16, &mut made, mode, Saturation::Off);
        let mut result = Register::ZERO;
        for (i, half) in made.as_chunks::<2>().0.iter().enumerate() {
            result.set_bits(2 * i + part, 2, u16::from_le_bytes(*half).into());
        }
        m.set(out, result);
    })
}

fn verify_vtrc(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::same(op, diags);
    check::lanes_of(op, "src", &[Elem::F16, Elem::BF16, Elem::F32], diags);
    check::governs(op, "mask", "src", diags);
    one_of(op, "rnd", &["R", "A", "F", "C", "Z"], diags);
}

fn lower_vtrc(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mode = op.text("rnd").and_then(RoundMode::from_letter).ok_or(Reported)?;
    let mut e = Emit::new(op, d);
    let elem = e.elem("src")?;
    let (src, mask, out) = (e.reg("src")?, e.reg("mask")?, e.out(0));
    e.compute(VectorPort::Alu, elem, move |m, _| {
        let mut lanes = [0f32; 128];
        let lanes = &mut lanes[..BYTES / elem.bytes()];
        convert::load_f32(elem, &m.reg(src).0, lanes);
        lanes.iter_mut().for_each(|lane| *lane = convert::round_integral(*lane, mode));
        let mut result = Register::ZERO;
        convert::store_f32(elem, lanes, &mut result.0);
        result.zero_inactive(&m.mask(mask), elem.bytes());
        m.set(out, result);
    })
}

fn verify_vci(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    one_of(op, "order", &["ASC", "DESC"], diags);
    let known = [Elem::I8, Elem::I16, Elem::I32, Elem::F16, Elem::F32];
    let elem = check::result_elem(op, 0);
    if !elem.is_some_and(|elem| known.contains(&elem)) {
        diags.push(op.error("elem-type", "counts in i8, i16, i32, f16 or f32"));
    }
    if elem.map(|e| (e.bytes(), e.is_float()))
        != op.ty("index").and_then(|t| t.elem()).map(|e| (e.bytes(), e.is_float()))
    {
        diags.push(op.error("elem-type", "the first number has the type of the lanes"));
    }
}

fn lower_vci(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let elem = check::result_elem(op, 0).ok_or(Reported)?;
    let mut e = Emit::new(op, d);
    let (index, out) = (e.number("index")?, e.out(0));
    let down = op.text("order") == Some("DESC");
    e.compute(VectorPort::Alu, elem, move |m, args| {
        let lanes = BYTES / elem.bytes();
        let mut result = Register::ZERO;
        if elem.is_float() {
            let mut first = [0f32];
            convert::load_f32(elem, &args[index].to_le_bytes()[..elem.bytes()], &mut first);
            let lane = |i: usize| if down { first[0] - i as f32 } else { first[0] + i as f32 };
            let values: [f32; 128] = std::array::from_fn(lane);
            convert::store_f32(elem, &values[..lanes], &mut result.0);
        } else {
            for i in 0..lanes {
                let value = if down { args[index].wrapping_sub(i as u64) } else { args[index].wrapping_add(i as u64) };
                result.set_bits(i, elem.bytes(), value);
            }
        }
        m.set(out, result);
    })
}

fn part(op: &OpRef<'_>) -> Option<usize> {
    Some(match op.text("part").unwrap_or("P0") {
        "EVEN" | "P0" | "PART_EVEN" | "PART_P0" => 0,
        "ODD" | "P1" | "PART_ODD" | "PART_P1" => 1,
        "P2" | "PART_P2" => 2,
        "P3" | "PART_P3" => 3,
        _ => return None,
    })
}

/// Rounds a value to odd: the neighbouring `f32` whose last bit is 1, unless the value is exact. Rounding the result to
/// fewer bits then gives the same as rounding the value directly.
fn to_odd(exact: f64) -> f32 {
    let near = exact as f32;
    if f64::from(near) == exact || !near.is_finite() || near.to_bits() & 1 == 1 {
        return near;
    }
    // The neighbour on the other side of the value.
    let outwards = f64::from(near).abs() < exact.abs();
    f32::from_bits(if outwards { near.to_bits() + 1 } else { near.to_bits() - 1 })
}

/// The words for the parts of a conversion between types that differ in width by this factor.
const fn parts(factor: usize) -> &'static [&'static str] {
    match factor {
        2 => &["EVEN", "ODD"],
        4 => &["P0", "P1", "P2", "P3"],
        _ => &[],
    }
}

fn cvt_rules(op: &OpRef<'_>, diags: &mut Diags) {
    check::governs(op, "mask", "src", diags);
    one_of(op, "sat", &["SAT", "NOSAT"], diags);
    let (Some(from), Some(to)) = (check::elem(op, "src"), check::result_elem(op, 0)) else { return };
    let names: Vec<_> = conversions(from).iter().map(|(to, _)| to.name()).collect();
    if !names.contains(&to.name()) {
        let mut error = op.error("vcvt-types", format!("`pto.vcvt` does not convert {from} to {to}"));
        if !names.is_empty() {
            error = error.help(format!("{from} becomes {}", names.join(", ")));
        }
        diags.push(error);
        return;
    }
    one_of(op, "rnd", roundings(from, to), diags);
    not_meant(op, from, to, diags);
    let factor = bits(from).max(bits(to)) / bits(from).min(bits(to));
    let written = op.text("part").map(|part| part.strip_prefix("PART_").unwrap_or(part));
    if written.is_some_and(|written| !parts(factor).contains(&written)) {
        let found = op.text("part").unwrap_or("");
        let message = format!("part `{found}`: {from} and {to} differ in width by a factor of {factor}");
        let words = if factor == 1 { "none".to_string() } else { parts(factor).join(", ") };
        diags.push(op.error("attr-value", message).help(format!("legal here: {words}")));
    }
}

/// Reports a rounding of a conversion that is exact, and what to do with values that always fit.
fn not_meant(op: &OpRef<'_>, from: Elem, to: Elem, diags: &mut Diags) {
    let Some((_, how)) = conversions(from).iter().find(|(own, _)| *own == to) else { return };
    for (name, meant, why) in [("rnd", how.rounds, "is not rounded"), ("sat", how.clips, "has no such choice")] {
        if !meant && op.attr(name).is_some() {
            let message = format!("`{name}` of a conversion of {from} to {to}, which {why}");
            diags.push(op.error("attr-value", message).help(format!("leave `{name}` out")));
        }
    }
}

fn cvt(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let to = check::result_elem(op, 0).ok_or(Reported)?;
    let mode = RoundMode::from_letter(op.text("rnd").unwrap_or("R")).ok_or(Reported)?;
    let part = part(op).ok_or(Reported)?;
    let mut e = Emit::new(op, d);
    let from = e.elem("src")?;
    let saturation: Saturation = match op.text("sat") {
        Some(sat) => (sat == "SAT").into(),
        None => (from.is_float() && !to.is_float()).into(),
    };
    let (src, mask, out) = (e.reg("src")?, e.reg("mask")?, e.out(0));
    e.compute(VectorPort::Alu, from, move |m, _| {
        let mut src = *m.reg(src);
        src.zero_inactive(&m.mask(mask), from.bytes());
        let mut result = Register::ZERO;
        if bits(from) < bits(to) {
            let step = bits(to) / bits(from);
            let lanes = BYTES / from.bytes() / step;
            let mut taken = Register::ZERO;
            for i in 0..lanes {
                taken.set_bits(i, from.bytes(), src.bits(i * step + part, from.bytes()));
            }
            convert::convert(from, &taken.0[..lanes * from.bytes()], to, &mut result.0, mode, saturation);
        } else {
            let step = bits(from) / bits(to);
            let lanes = BYTES / to.bytes() / step;
            let mut made = Register::ZERO;
            convert::convert(from, &src.0, to, &mut made.0[..lanes * to.bytes()], mode, saturation);
            for i in 0..lanes {
                result.set_bits(i * step + part, to.bytes(), made.bits(i, to.bytes()));
            }
        }
        m.set(out, result);
    })
}
