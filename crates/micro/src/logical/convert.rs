//! Conversions of lanes to another type (SPEC of virtual micro-instructions, group 6; assembler 0.60 for which integers
//! are signed, and for the older names).

use slipring_ir::{AttrKind, AttrSpec, Diags, Kind, LaneType, LogicalVector, OpSchema};
use slipring_machine::VectorPort;
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef, Reported};
use slipring_op::rules::{defaulted, one_of};
use slipring_op::{ops, positional};
use slipring_tile::{Elem, RoundMode, Saturation, convert};
use slipring_vector::conversions;

use super::value::Bytes;
use super::{LOGICAL, OUT, PMODE, check, vector};
use crate::vector::emit::Emit;

const ROUNDING: AttrSpec = defaulted(
    "rounding",
    AttrKind::Str,
    "`R` nearest even (default; `A` for `!pto.hif8`), `A` nearest away, `Z` towards zero, and to integers and floats of 4 \
     bits `F` down and `C` up. `H` is refused: the SPEC says half up, the published results are not",
);
const SATURATE: AttrSpec = defaulted("saturate", AttrKind::Str, "`SAT` or `NOSAT`, where a value may not fit");

const SCHEMA: OpSchema = OpSchema {
    syntax: positional!("src" => "out"),
    operands: &[vector("src", "the source")],
    results: &[OUT],
    attrs: &[ROUNDING, SATURATE],
    ..LOGICAL.schema
};

/// A conversion by one of the older names.
const OLDER: OpDef =
    OpDef { schema: SCHEMA, source: super::DECLARED, verify: |op, _, diags| rules(op, diags), ..LOGICAL };

ops! {
    OPS;

    /// Each lane, rounded once; there are as many as before. `SAT`: the nearest value of the target, NaN becomes 0.
    /// `NOSAT`: infinities, NaN, the low bits of an integer. What narrows needs one of the two words. Integers without
    /// a sign are unsigned between integers and in conversions of `f16` to 8 bits, and signed otherwise to and from
    /// floats, where the hardware has no unsigned form.
    VCVT "pto.vmi.vcvt" "Convert lanes to another type": LOGICAL, verify: |op, _, diags| rules(op, diags),
        lower: cvt
        => {
            syntax: positional!("src" => "out"),
            operands: &[vector("src", "the source")],
            results: &[OUT],
            attrs: &[ROUNDING, SATURATE, PMODE],
        };

    /// As `pto.vmi.vcvt` to wider floats.
    EXTF "pto.vmi.extf" "Widen floats": OLDER, lower: cvt;

    /// As `pto.vmi.vcvt` to narrower floats.
    TRUNCF "pto.vmi.truncf" "Narrow floats": OLDER, lower: cvt;

    /// As `pto.vmi.vcvt` to signed integers.
    FPTOSI "pto.vmi.fptosi" "Floats to signed integers": OLDER, lower: cvt;

    /// As `pto.vmi.vcvt` to unsigned integers.
    FPTOUI "pto.vmi.fptoui" "Floats to unsigned integers": OLDER, lower: cvt;

    /// As `pto.vmi.vcvt` of signed integers.
    SITOFP "pto.vmi.sitofp" "Signed integers to floats": OLDER, lower: cvt;

    /// Wider integers, filled with the sign.
    EXTSI "pto.vmi.extsi" "Widen integers with their sign": OLDER, lower: cvt;

    /// Wider integers, filled with zeros.
    EXTUI "pto.vmi.extui" "Widen integers with zeros": OLDER, lower: cvt;

    /// Narrower integers.
    TRUNCI "pto.vmi.trunci" "Narrow integers": OLDER, lower: cvt;

    /// The same bits as lanes of another type, which may be more or fewer. Costs nothing.
    VINTERPRET_CAST "pto.vmi.vinterpret_cast" "Look at a vector as another type": LOGICAL,
        verify: |op, _, diags| cast_rules(op, diags), lower: cast
        => {
            syntax: positional!("src" => "out"),
            operands: &[vector("src", "the vector")],
            results: &[OUT],
            aliases: &["pto.vmi.bitcast"],
        };
}

/// An integer type of this width.
fn integer(bytes: usize, signed: bool) -> Elem {
    match (bytes, signed) {
        (1, true) => Elem::I8,
        (1, false) => Elem::U8,
        (2, true) => Elem::I16,
        (2, false) => Elem::U16,
        (_, true) => Elem::I32,
        (_, false) => Elem::U32,
    }
}

/// The types between which lanes are converted: where an integer has no sign, `signed` decides, or else what the
/// hardware has.
fn pair(src: LogicalVector, out: LogicalVector, signed: Option<bool>) -> (Elem, Elem) {
    let fixed = |lane: LaneType| match lane {
        LaneType::PairOfBf16 => Some(Elem::BF16),
        LaneType::Signed(elem) => Some(elem),
        LaneType::Elem(elem) if elem.is_float() || elem.name().starts_with('u') => Some(elem),
        LaneType::Elem(_) => None,
    };
    let is_float = |lane: LaneType| fixed(lane).is_some_and(Elem::is_float);
    let bytes = |lane: LaneType| lane.bytes();
    let between = !is_float(src.lane) && !is_float(out.lane);
    let to_byte = fixed(src.lane) == Some(Elem::F16) && bytes(out.lane) == 1;
    let default = signed.unwrap_or(!between && !to_byte);
    let of = |lane: LaneType| fixed(lane).unwrap_or(integer(bytes(lane), default));
    (of(src.lane), of(out.lane))
}

/// The signs that the name of an op gives to integers.
fn named(op: &OpRef<'_>) -> Option<bool> {
    match op.def {
        def if def == &FPTOSI || def == &SITOFP || def == &EXTSI => Some(true),
        def if def == &FPTOUI || def == &EXTUI => Some(false),
        _ => None,
    }
}

/// What an older name requires of the two types: floats or integers, and whether the result is wider.
fn shape_of(op: &OpRef<'_>, from: Elem, to: Elem) -> bool {
    let wider = to.bytes() > from.bytes();
    match op.def {
        def if def == &EXTF => from.is_float() && to.is_float() && wider,
        def if def == &TRUNCF => from.is_float() && to.is_float() && !wider,
        def if def == &FPTOSI || def == &FPTOUI => from.is_float() && !to.is_float(),
        def if def == &SITOFP => !from.is_float() && to.is_float(),
        def if def == &EXTSI || def == &EXTUI => !from.is_float() && !to.is_float() && wider,
        def if def == &TRUNCI => !from.is_float() && !to.is_float() && !wider,
        _ => true,
    }
}

/// Whether there is such a conversion: between integers of any widths, and what the hardware has.
fn is_known(from: Elem, to: Elem) -> bool {
    if !from.is_float() && !to.is_float() {
        return from.bytes() != to.bytes();
    }
    let small = matches!(from, Elem::F8E4M3 | Elem::F8E5M2 | Elem::HiF8);
    conversions(from).iter().any(|(known, _)| *known == to) || small && to == Elem::F16
}

fn rules(op: &OpRef<'_>, diags: &mut Diags) {
    check::pmode(op, diags);
    let (Some(src), Some(out)) = (check::vector(op, "src"), check::result(op, 0)) else { return };
    check::lanes(op, "a result", out, src.lanes, diags);
    let (from, to) = pair(src, out, named(op));
    let of_pairs = |lane: LaneType| lane == LaneType::PairOfBf16;
    let packed = from.values() == 2 || to.values() == 2;
    // An older name says which integers it takes.
    let signed = |lane: LaneType| matches!(lane, LaneType::Signed(_));
    let whole = |lane: LaneType| lane.arithmetic().is_some_and(|elem| !elem.is_float());
    let otherwise = named(op)
        .is_some_and(|wanted| [src.lane, out.lane].into_iter().any(|lane| whole(lane) && signed(lane) != wanted));
    if otherwise
        || !is_known(from, to)
        || !shape_of(op, from, to)
        || (of_pairs(src.lane) || of_pairs(out.lane)) != packed
    {
        let message = format!("`{}` does not convert {} to {}", op.def.schema.name, src.lane, out.lane);
        diags.push(op.error("vcvt-types", message));
        return;
    }
    if op.text("rounding") == Some("H") {
        let message = "rounding `H` is not modelled: the SPEC says half up, the published results are not";
        diags.push(op.error(Kind::Unsupported, message).help("one of R, A, Z"));
        return;
    }
    let narrows = bits(to) < bits(from) || from.is_float() && !to.is_float() || (from, to) == (Elem::BF16, Elem::F16);
    let fits = (from, to) == (Elem::F16, Elem::I32) || packed;
    if from.is_float() && narrows {
        let roundings: &[&str] = match to.is_float() && !packed {
            true => &["R", "A", "Z"],
            false => &["R", "A", "F", "C", "Z"],
        };
        one_of(op, "rounding", roundings, diags);
    } else if op.attr("rounding").is_some() {
        let message = format!("`rounding` of a conversion of {} to {}, which takes none", src.lane, out.lane);
        diags.push(op.error("attr-value", message).help("leave `rounding` out"));
    }
    let chooses = narrows && !fits;
    if chooses && op.attr("saturate").is_none() {
        let message = format!("lanes of {} may not fit into {}: `saturate` is missing", src.lane, out.lane);
        diags.push(op.error("attr-missing", message).help("write `saturate = \"SAT\"` or `\"NOSAT\"`"));
    }
    if chooses {
        one_of(op, "saturate", &["SAT", "NOSAT"], diags);
    } else if op.attr("saturate").is_some() {
        let message = format!("`saturate` of a conversion of {} to {}, which has no such choice", src.lane, out.lane);
        diags.push(op.error("attr-value", message).help("leave `saturate` out"));
    }
    if (from, to) == (Elem::I32, Elem::I8) && op.text("saturate") == Some("SAT") {
        let message = "no instruction narrows 32 bits to 8 with a sign and saturates";
        diags.push(op.error(Kind::Unsupported, message).help("narrow to `si16` first"));
    }
}

/// Width in bits of a value.
fn bits(elem: Elem) -> usize {
    8 * elem.bytes() / elem.values()
}

fn cvt(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (ty, to_ty) = (check::vector(op, "src").ok_or(Reported)?, check::result(op, 0).ok_or(Reported)?);
    let (from, to) = pair(ty, to_ty, named(op));
    let default = if to == Elem::HiF8 { "A" } else { "R" };
    let mode = RoundMode::from_letter(op.text("rounding").unwrap_or(default)).ok_or(Reported)?;
    let saturation: Saturation = match op.text("saturate") {
        Some(word) => (word == "SAT").into(),
        // Where there is no choice, floats that become integers fit.
        None => (from.is_float() && !to.is_float()).into(),
    };
    let mut e = Emit::new(op, d);
    let (src, out) = (e.vector("src")?, e.gives(0)?);
    // An instruction converts one part of a register where the widths differ.
    e.price = Some(("vcvt", src.slots.len().max(out.slots.len())));
    e.compute(VectorPort::Alu, from, move |m, _| {
        let all = src.read(m);
        let mut result = Bytes::from_elem(0, out.size());
        let small = from.is_small_float() && to == Elem::F16;
        if small {
            // By way of `f32`, which has all values of both.
            let mut wide = vec![0; 4 * src.count];
            convert::convert(from, &all, Elem::F32, &mut wide, mode, saturation);
            convert::convert(Elem::F32, &wide, to, &mut result, mode, saturation);
        } else {
            convert::convert(from, &all, to, &mut result, mode, saturation);
        }
        out.write(m, &result);
    })
}

fn cast_rules(op: &OpRef<'_>, diags: &mut Diags) {
    let (Some(src), Some(out)) = (check::vector(op, "src"), check::result(op, 0)) else { return };
    if src.bytes() != out.bytes() {
        let message = format!("`{src}` has {} bytes, `{out}` has {}", src.bytes(), out.bytes());
        diags.push(op.error("vreg-type", message));
    }
}

fn cast(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let src = super::emit::registers(op, d, "src")?;
    d.bind(op.result(0), slipring_op::decode::Binding::Vector(src.slots));
    Ok(())
}
