//! Lanes of another type (micro-instruction manual 9).

use slipring_ir::{AttrKind, Diags, Syntax, Touch};
use slipring_machine::{Platform, VectorPort};
use slipring_tile::{Elem, RoundMode, Saturation, convert};
use slipring_vector::{BYTES, Register, conversions};

use super::check;
use super::emit::Emit;
use super::{GOVERNING, OUT, STEP, vreg};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpRef, Reported};
use slipring_op::rules::{SCALAR, defaulted, operand, required};
use slipring_op::{ops, positional};

ops! {
    OPS;

    /// Each active lane, rounded once. Where the types differ in width by a factor n, `part` says which of n
    /// neighbours: a narrow result takes lanes `n × i + part` and leaves the others 0, so that several results are
    /// merged by `pto.vor`; a wide result is computed from lanes `n × i + part`. `EVEN` and `ODD` are parts 0 and 1,
    /// `P0` to `P3` parts 0 to 3; 0 where nothing is said. `SAT`: the nearest value of the target, NaN becomes 0,
    /// infinities the largest finite value. `NOSAT`: infinities, NaN, the low bits of an integer. Where nothing is said
    /// floats become integers as with `SAT`, everything else as with `NOSAT`. The predicate governs source lanes; lanes
    /// of 64 bits are governed by a `b32` predicate.
    VCVT "pto.vcvt" "Convert lanes to another type": STEP, verify: |op, _, diags| cvt_rules(op, diags), lower: cvt
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

fn verify_vtrc(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    check::same(op, diags);
    check::lanes_of(op, "src", &[Elem::F16, Elem::BF16, Elem::F32], diags);
    check::governs(op, "mask", "src", diags);
    check::one_of(op, "rnd", &["R", "A", "F", "C", "Z"], diags);
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
    check::one_of(op, "order", &["ASC", "DESC"], diags);
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

fn cvt_rules(op: &OpRef<'_>, diags: &mut Diags) {
    check::governs(op, "mask", "src", diags);
    check::one_of(op, "rnd", &["R", "A", "F", "C", "Z", "O"], diags);
    check::one_of(op, "sat", &["SAT", "NOSAT"], diags);
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
    let factor = from.bytes().max(to.bytes()) / from.bytes().min(to.bytes());
    if part(op).is_none_or(|part| part >= factor) {
        let found = op.text("part").unwrap_or("");
        let message = format!("part `{found}`: {from} and {to} differ in width by a factor of {factor}");
        let words = ["none", "`EVEN`, `ODD`", "", "`P0` to `P3`"][factor.min(4) - 1];
        diags.push(op.error("attr-value", message).help(format!("legal here: {words}")));
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
    let (narrow, wide) = (from.bytes(), to.bytes());
    e.compute(VectorPort::Alu, from, move |m, _| {
        let mut src = *m.reg(src);
        src.zero_inactive(&m.mask(mask), narrow);
        let mut result = Register::ZERO;
        if narrow < wide {
            let step = wide / narrow;
            let lanes = BYTES / wide;
            let mut taken = Register::ZERO;
            for i in 0..lanes {
                taken.set_bits(i, narrow, src.bits(i * step + part, narrow));
            }
            convert::convert(from, &taken.0[..lanes * narrow], to, &mut result.0, mode, saturation);
        } else {
            let step = narrow / wide;
            let lanes = BYTES / narrow;
            let mut made = Register::ZERO;
            convert::convert(from, &src.0, to, &mut made.0[..lanes * wide], mode, saturation);
            for i in 0..lanes {
                result.set_bits(i * step + part, wide, made.bits(i, wide));
            }
        }
        m.set(out, result);
    })
}
