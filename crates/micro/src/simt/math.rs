//! Scalar mathematics of workitems.

use slipring_ir::{Diags, Syntax, Type};
use slipring_op::decode::{Binding, Decoder};
use slipring_op::def::{Lowered, OpDef, OpRef, Reported};
use slipring_op::number::{BF16, F16, F32, bits, float, signed as signed_of, unsigned, wrap};
use slipring_op::rules::schema;
use slipring_op::{by_float, ops, positional, workitems};
use slipring_program::{Law, Operand, ScalarFn, Trap};
use slipring_tile::convert::round_integral;
use slipring_tile::math::{cos, exp, ln, maximum, minimum, pow, sin, sqrt};
use slipring_tile::{Elem, RoundMode, store_f64};

use super::{I32, SIGNEDNESS, VALUE, WORK, arguments, number, out, scalars, signed, value};

/// Types of most functions of floats; those of the others.
const HALVES: &[Type] = &[scalars::F16, scalars::F32];
const FLOATS: &[Type] = &[scalars::F16, scalars::BF16, scalars::F32];
const SINGLE: &[Type] = &[scalars::F32];

const ONE: OpDef = OpDef {
    schema: schema("", positional!("x" => "result"), &[value("x", "a number")], &[out(VALUE, "of its type")], &[]),
    verify: |op, _, diags| verify_floats(op, "x", HALVES, diags),
    ..WORK
};

const TWO: OpDef = OpDef {
    schema: schema(
        "",
        positional!("a" "b" => "result"),
        &[value("a", "a number"), value("b", "a number")],
        &[out(VALUE, "of their type")],
        &[],
    ),
    verify: |op, _, diags| verify_floats(op, "a", FLOATS, diags),
    ..WORK
};

const PRODUCT: OpDef = OpDef {
    schema: schema(
        "",
        Syntax::Format(
            "$lhs `,` $rhs (keyword($signedness))? attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)",
        ),
        &[value("lhs", "a factor"), value("rhs", "a factor")],
        &[out(VALUE, "the product, or half of it")],
        &[SIGNEDNESS],
    ),
    ..WORK
};

/// Lowers an op on floats to a function of `f32`, rounded once to the type.
macro_rules! rounded {
    (|$a:ident $(, $more:ident)*| $value:expr) => {
        |op: &OpRef<'_>, d: &mut Decoder<'_>| {
            fn f<const T: u8>([$a $(, $more)*, ..]: [u64; 3]) -> Result<u64, Trap> {
                let $a = float::<T>($a);
                $(let $more = float::<T>($more);)*
                Ok(bits::<T>($value))
            }
            let ty = op.module.ty(*op.module.op(op.id).operands.first().ok_or(Reported)?);
            let f: Option<ScalarFn> = by_float!(ty, f);
            compute(op, d, f.ok_or(Reported)?)
        }
    };
}

ops! {
    OPS;

    /// Byte `i` of the result is one of eight: bytes 0 to 3 of `rhs`, then those of `lhs`. The low three bits of digit
    /// `i` of `selector`, of four bits each, say which, as in the assembler's test programs; its manual leaves it open.
    PRMT "pto.prmt" "Select bytes of two numbers": WORK, verify: |op, _, diags| workitems::only_inside(op, diags), lower: |op, d| compute(op, d, prmt)
        => {
            syntax: positional!("lhs" "rhs" "selector" => "result"),
            operands: &[
                number("lhs", "bytes 4 to 7"),
                number("rhs", "bytes 0 to 3"),
                number("selector", "which bytes"),
            ],
            results: &[out(I32, "the bytes that were selected")],
        };
    /// The high half of the product of two i32 or two i64, both signed or both unsigned.
    MULHI "pto.mulhi" "The high half of a product": PRODUCT, verify: |op, _, diags| verify_product(op, false, diags),
        lower: lower_mulhi;
    /// The whole product of two i32, both signed or both unsigned.
    MUL_WIDE "pto.mul_i32toi64" "The product of two i32 as i64": PRODUCT,
        verify: |op, _, diags| verify_product(op, true, diags), lower: lower_wide;

    /// `|x|`.
    ABSF "pto.absf" "Absolute value": ONE, lower: rounded!(|x| x.abs());
    /// The square root, rounded once.
    SQRT "pto.sqrt" "Square root": ONE, lower: rounded!(|x| sqrt(x));
    /// `e` to the power of `x`, rounded once; what the hardware's approximation gives, no source says.
    EXP "pto.exp" "Exponential": ONE, lower: rounded!(|x| exp(x));
    /// The natural logarithm, rounded once; −∞ for 0, NaN below.
    LOG "pto.log" "Natural logarithm": ONE, lower: rounded!(|x| ln(x));
    /// The sine of `x` in radians, rounded once; NaN for ∞. The assembler computes it in software, less exactly.
    SIN "pto.sin" "Sine": ONE, verify: |op, _, diags| verify_floats(op, "x", SINGLE, diags), lower: rounded!(|x| sin(x));
    /// The cosine of `x` in radians, as `pto.sin`.
    COS "pto.cos" "Cosine": ONE, verify: |op, _, diags| verify_floats(op, "x", SINGLE, diags),
        lower: rounded!(|x| cos(x));
    /// `a` to the power of `b`, as C's `pow` defines it, rounded once.
    POW "pto.pow" "Power": TWO, verify: |op, _, diags| verify_floats(op, "a", HALVES, diags),
        lower: rounded!(|a, b| pow(a, b));
    /// The next integer that is not smaller.
    CEIL "pto.ceil" "Round up": ONE, verify: |op, _, diags| verify_floats(op, "x", FLOATS, diags),
        lower: rounded!(|x| round_integral(x, RoundMode::Ceil));
    /// The next integer that is not larger.
    FLOOR "pto.floor" "Round down": ONE, verify: |op, _, diags| verify_floats(op, "x", FLOATS, diags),
        lower: rounded!(|x| round_integral(x, RoundMode::Floor));
    /// The nearest integer, of two the even one: the rule of the core's control register when it starts.
    RINT "pto.rint" "Round to the nearest, ties to even": ONE, verify: |op, _, diags| verify_floats(op, "x", FLOATS, diags),
        lower: rounded!(|x| round_integral(x, RoundMode::Rint));
    /// The nearest integer, of two the one further from 0. The manual names no rule for ties: this is that of C's
    /// `round`.
    ROUND "pto.round" "Round to the nearest, ties away from zero": ONE,
        verify: |op, _, diags| verify_floats(op, "x", FLOATS, diags),
        lower: rounded!(|x| round_integral(x, RoundMode::Round));
    /// The smaller number; NaN if one is NaN, −0 rather than +0, as for `pto.vmin`. The manual names no rule for NaN.
    FMIN "pto.fmin" "Smaller number": TWO, lower: rounded!(|a, b| minimum(a, b));
    /// The larger number; NaN if one is NaN, +0 rather than −0, as for `pto.vmax`. The manual names no rule for NaN.
    FMAX "pto.fmax" "Larger number": TWO, lower: rounded!(|a, b| maximum(a, b));
    /// `a × b + acc`, rounded once.
    FMA "pto.fma" "Multiply and add": TWO, lower: lower_fma
        => {
            syntax: positional!("a" "b" "acc" => "result"),
            operands: &[value("a", "a factor"), value("b", "a factor"), value("acc", "what is added to")],
        };
}

/// One scalar instruction on all operands.
fn compute(op: &OpRef<'_>, d: &mut Decoder<'_>, f: ScalarFn) -> Lowered {
    let args = arguments(op, d)?;
    let value: Operand = d.compute_by(Law::Unknown, f, args);
    d.bind(op.result(0), Binding::Scalar(value));
    Ok(())
}

fn verify_floats(op: &OpRef<'_>, first: &str, types: &[Type], diags: &mut Diags) {
    workitems::only_inside(op, diags);
    if scalars::require(op, first, types, diags) {
        let others: Vec<&str> = op.def.schema.operands.iter().skip(1).map(|spec| spec.name).collect();
        scalars::alike(op, first, &others, diags);
    }
}

fn verify_product(op: &OpRef<'_>, widens: bool, diags: &mut Diags) {
    workitems::only_inside(op, diags);
    let types: &[Type] = if widens { &[Type::I32] } else { &[Type::I32, Type::I64] };
    let fits = scalars::require(op, "lhs", types, diags) && op.ty("lhs") == op.ty("rhs");
    let to = op.module.ty(op.result(0));
    if !fits || (widens && *to != Type::I64) || (!widens && op.ty("lhs") != Some(to)) {
        let what = if widens { "two i32 and gives an i64" } else { "two integers of one type and gives one" };
        diags.push(op.error("simt-type", format!("`{}` takes {what}", op.def.schema.name)));
    }
    if signed(op).is_none() {
        diags.push(op.error("simt-sign", "expects `signed` or `unsigned`"));
    }
}

fn prmt([lhs, rhs, selector]: [u64; 3]) -> Result<u64, Trap> {
    let bytes = unsigned::<32>(rhs) | unsigned::<32>(lhs) << 32;
    let byte = |digit: u32| bytes >> (8 * (selector >> (4 * digit) & 7)) & 0xff;
    Ok(wrap::<32>((0..4).fold(0, |all, digit| all | byte(digit) << (8 * digit))))
}

fn lower_mulhi(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    fn of_signed<const W: u32>([a, b, _]: [u64; 3]) -> Result<u64, Trap> {
        Ok(wrap::<W>(((i128::from(signed_of::<W>(a)) * i128::from(signed_of::<W>(b))) >> W) as u64))
    }
    fn of_unsigned<const W: u32>([a, b, _]: [u64; 3]) -> Result<u64, Trap> {
        Ok(wrap::<W>(((u128::from(unsigned::<W>(a)) * u128::from(unsigned::<W>(b))) >> W) as u64))
    }
    let wide = op.ty("lhs") == Some(&Type::I64);
    let f: ScalarFn = match (signed(op) == Some(true), wide) {
        (true, false) => of_signed::<32>,
        (true, true) => of_signed::<64>,
        (false, false) => of_unsigned::<32>,
        (false, true) => of_unsigned::<64>,
    };
    compute(op, d, f)
}

fn lower_wide(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    match signed(op) {
        Some(true) => compute(op, d, |[a, b, _]| Ok((a as i64).wrapping_mul(b as i64) as u64)),
        _ => compute(op, d, |[a, b, _]| Ok(unsigned::<32>(a) * unsigned::<32>(b))),
    }
}

fn lower_fma(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    fn f<const T: u8>([a, b, c]: [u64; 3]) -> Result<u64, Trap> {
        let exact = odd_sum(f64::from(float::<T>(a)) * f64::from(float::<T>(b)), f64::from(float::<T>(c)));
        if T == F32 || exact.is_nan() {
            return Ok(bits::<T>(exact as f32));
        }
        let mut bytes = [0; 2];
        let elem = if T == F16 { Elem::F16 } else { Elem::BF16 };
        debug_assert!(T == F16 || T == BF16);
        store_f64(elem, &[exact], &mut bytes);
        Ok(u64::from(u16::from_le_bytes(bytes)))
    }
    let f: Option<ScalarFn> = by_float!(op.ty("a").ok_or(Reported)?, f);
    compute(op, d, f.ok_or(Reported)?)
}

/// The sum, rounded to the neighbour whose last bit is 1 if it is inexact: it can be rounded to fewer bits again.
fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let part = sum - a;
    let rest = (a - (sum - part)) + (b - part);
    if !sum.is_finite() || rest == 0.0 || sum.to_bits() & 1 != 0 {
        return sum;
    }
    let outwards = (rest > 0.0) == (sum > 0.0);
    f64::from_bits(if outwards { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums whose exact value is close to the middle between two neighbours.
    #[test]
    fn a_sum_is_rounded_once() {
        let fused = |a: f32, b: f32, c: f32| odd_sum(f64::from(a) * f64::from(b), f64::from(c)) as f32;
        let middle = 1.0 + f32::EPSILON;
        for tiny in [f32::MIN_POSITIVE, -f32::MIN_POSITIVE, 1e-20, -1e-20, 0.0] {
            for (a, b) in [(middle, middle), (4097.0, 4097.0), (1.5, middle), (-4097.0, 4097.0)] {
                assert_eq!(fused(a, b, tiny).to_bits(), a.mul_add(b, tiny).to_bits(), "{a} {b} {tiny}");
            }
        }
    }

    #[test]
    fn bytes_are_selected_by_digits() {
        let [lhs, rhs] = [0x1122_3344, 0xaabb_ccdd];
        for (selector, result) in
            [(0x3210, 0xaabb_ccdd_u32), (0x7654, 0x1122_3344), (0x89ab, 0xddcc_bbaa), (0xffff, 0x1111_1111)]
        {
            assert_eq!(prmt([lhs, rhs, selector]).map(|value| value as u32), Ok(result));
        }
    }
}
