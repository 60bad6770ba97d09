//! Conversion of scalars of workitems.

use slipring_ir::{AttrKind, AttrSpec, Diags, EnumSpec, Kind, Syntax, Type};
use slipring_machine::Platform;
use slipring_op::decode::{Binding, Decoder};
use slipring_op::def::{Lowered, OpRef, Reported};
use slipring_op::rules::required;
use slipring_op::{ops, workitems};
use slipring_program::{Law, Operand, Trap};
use slipring_tile::{Elem, RoundMode, Saturation, convert};

use super::{SIGNEDNESS, VALUE, WORK, arguments, out, scalars, signed, value};

const ROUNDS: EnumSpec = EnumSpec { kind: "round", numbered: false, members: &["r", "a", "f", "c", "z", "o", "h"] };
const SATURATIONS: EnumSpec = EnumSpec { kind: "saturation", numbered: false, members: &["sat", "nosat"] };
const ROUND: AttrSpec = required("rounding", AttrKind::Enum(&ROUNDS), "how it is rounded");
const SATURATION: AttrSpec = required("saturation", AttrKind::Enum(&SATURATIONS), "what becomes of too large values");

ops! {
    OPS;

    /// The number in another type. It is rounded to the nearest (`r`: ties to even; `a`: ties away from zero), down
    /// (`f`), up (`c`), towards zero (`z`) or to odd (`o`, from f32 to f16 only). With `sat` the nearest number of the
    /// type replaces what is too large for it, and a NaN becomes 0, as in `pto.vcvt`; with `nosat` it becomes infinite.
    /// Floats become integers with `sat` only. `signed` and `unsigned` say how an integer is meant. From i64, and to it,
    /// only f32 is converted. `round(h)` and packed values are not modelled.
    CONVERT "pto.convert" "Convert a scalar": WORK, verify: verify_convert, lower: lower_convert
        => {
            syntax: Syntax::Format(
                "$src `round` `(` keyword($rounding) `)` keyword($saturation) (keyword($signedness))? attr-dict `:` type($src) \
                 `->` type($result)",
            ),
            operands: &[value("src", "a number")],
            results: &[out(VALUE, "the number in its type")],
            attrs: &[ROUND, SATURATION, SIGNEDNESS],
        };
}

fn verify_convert(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    workitems::only_inside(op, diags);
    let (Some(from), to) = (op.ty("src"), op.module.ty(op.result(0))) else { return };
    if scalars::packed(op, from, diags) || scalars::packed(op, to, diags) {
        return;
    }
    let types = [Type::I32, Type::I64, scalars::F16, scalars::BF16, scalars::F32];
    let integers = [from, to].map(Type::is_int_like);
    let far = (*from == Type::I64 && *to != scalars::F32) || (*to == Type::I64 && *from != scalars::F32);
    if !types.contains(from) || !types.contains(to) || integers == [true; 2] || far {
        diags.push(op.error("simt-type", format!("`pto.convert` does not convert `{from}` to `{to}`")));
        return;
    }
    let integer = integers.contains(&true);
    if integer != signed(op).is_some() {
        let what = if integer { "expects `signed` or `unsigned`" } else { "takes no `signed` or `unsigned`" };
        diags.push(op.error("simt-sign", format!("{what} from `{from}` to `{to}`")));
    }
    if integers[1] && op.text("saturation") != Some("sat") {
        diags.push(op.error("simt-convert", "expects `sat` where a float becomes an integer"));
    }
    verify_round(op, from, to, diags);
}

fn verify_round(op: &OpRef<'_>, from: &Type, to: &Type, diags: &mut Diags) {
    match op.text("rounding") {
        Some("h") => diags.push(op.error(Kind::Unsupported, "`round(h)` is not modelled")),
        Some("o") if (from, to) != (&scalars::F32, &scalars::F16) => {
            diags.push(op.error("simt-convert", format!("`round(o)` is for f32 to f16, not `{from}` to `{to}`")));
        }
        _ => {}
    }
}

/// The types, in the order of their codes.
const ELEMS: [Elem; 7] = [Elem::I32, Elem::U32, Elem::I64, Elem::U64, Elem::F16, Elem::BF16, Elem::F32];

/// The code of the elements of a type.
fn code(ty: &Type, signed: bool) -> Option<u64> {
    let elem = match ty.elem()? {
        Elem::I32 if !signed => Elem::U32,
        Elem::I64 if !signed => Elem::U64,
        elem => elem,
    };
    ELEMS.iter().position(|known| *known == elem).map(|at| at as u64)
}

fn lower_convert(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let signed = signed(op) != Some(false);
    let letter = op.text("rounding").unwrap_or("r").to_uppercase();
    let mode = RoundMode::from_letter(&letter).ok_or(Reported)?;
    let mode = RoundMode::ALL.iter().position(|known| *known == mode).ok_or(Reported)? as u64;
    let from = code(op.ty("src").ok_or(Reported)?, signed).ok_or(Reported)?;
    let to = code(op.module.ty(op.result(0)), signed).ok_or(Reported)?;
    let saturates = u64::from(op.text("saturation") == Some("sat"));
    let how = from | to << 8 | mode << 16 | saturates << 24;
    let value = arguments(op, d)?[0];
    let result = d.compute_by(Law::Unknown, converted, [value, Operand::Imm(how), Operand::Imm(0)]);
    d.bind(op.result(0), Binding::Scalar(result));
    Ok(())
}

/// A value as the second number says: the codes of its type and the new one, the rounding, and whether it saturates.
fn converted([value, how, _]: [u64; 3]) -> Result<u64, Trap> {
    let part = |at: u32| (how >> (8 * at) & 0xff) as usize;
    let (from, to) = (ELEMS[part(0)], ELEMS[part(1)]);
    let mut bytes = [0; 8];
    let saturation: Saturation = (part(3) != 0).into();
    convert(
        from,
        &value.to_le_bytes()[..from.bytes()],
        to,
        &mut bytes[..to.bytes()],
        RoundMode::ALL[part(2)],
        saturation,
    );
    let result = u64::from_le_bytes(bytes);
    // Integers of 32 bits are kept sign-extended, however they are meant.
    Ok(if !to.is_float() && to.bytes() == 4 { result as i32 as u64 } else { result })
}
