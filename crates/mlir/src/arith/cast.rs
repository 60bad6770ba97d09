//! Conversions between scalar types.

use slipring_ir::{Infer, OpSchema, OperandSpec, ResultSpec, Syntax, Touch, Type, TypeRule};
use slipring_program::{Law, ScalarFn, Trap};

use super::{FLOAT, SCALAR_OP, compute};
use slipring_op::decode::Decoder;
use slipring_op::def::{FromZero, Linear, Lowered, OpDef, OpRef};
use slipring_op::number::{bits, float, unsigned, width, wrap};
use slipring_op::rules::{INTEGER, SCALAR, operand, result, schema};
use slipring_op::{by_float, by_width};

/// The ops of this file.
pub(crate) const OPS: &[&OpDef] = &[
    &INDEX_CAST,
    &INDEX_CASTUI,
    &EXTSI,
    &EXTUI,
    &TRUNCI,
    &SITOFP,
    &UITOFP,
    &FPTOSI,
    &FPTOUI,
    &EXTF,
    &TRUNCF,
    &BITCAST,
    &UNREALIZED,
];

const CAST: Syntax = Syntax::Format("$in attr-dict `:` type($in) `to` type($out)");

const fn from(ty: TypeRule) -> OperandSpec {
    operand("in", ty, Touch::Nothing, "the number")
}

const fn to(ty: TypeRule) -> ResultSpec {
    result("out", ty, Infer::Written, "the converted number")
}

const INT_TO_INT: OpDef = OpDef { schema: schema("", CAST, &[from(INTEGER)], &[to(INTEGER)], &[]), ..SCALAR_OP };

/// Lowers a conversion that is a function of the source type and then one of the target type, each with its law.
fn cast(op: &OpRef<'_>, d: &mut Decoder<'_>, read: (Law, Option<ScalarFn>), write: (Law, Option<ScalarFn>)) -> Lowered {
    let ((law, Some(read)), (then, Some(write))) = (read, write) else {
        let (from, to) = (op.ty("in").cloned(), op.module.ty(op.result(0)).clone());
        let from = from.map_or_else(String::new, |t| t.to_string());
        return Err(d.unsupported(&format!("a conversion from `{from}` to `{to}`")));
    };
    compute(op, d, law, read)?;
    let Some(slipring_op::decode::Binding::Scalar(value)) = d.binding(op.result(0)).cloned() else { return Ok(()) };
    let value =
        d.compute_by(then, write, [value, slipring_program::Operand::Imm(0), slipring_program::Operand::Imm(0)]);
    d.bind(op.result(0), slipring_op::decode::Binding::Scalar(value));
    Ok(())
}

fn same([a, ..]: [u64; 3]) -> Result<u64, Trap> {
    Ok(a)
}

fn zero_extend<const W: u32>([a, ..]: [u64; 3]) -> Result<u64, Trap> {
    Ok(unsigned::<W>(a))
}

fn sign_extend<const W: u32>([a, ..]: [u64; 3]) -> Result<u64, Trap> {
    Ok(slipring_op::number::signed::<W>(a) as u64)
}

fn keep<const W: u32>([a, ..]: [u64; 3]) -> Result<u64, Trap> {
    Ok(wrap::<W>(a))
}

/// What becomes of a number that the target's type cannot hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Narrow {
    /// It has overflowed.
    Overflows,
    /// Dropping its high bits is intended.
    Cut,
}

/// Lowers a conversion between integers: read with or without a sign, kept at the target's width.
fn integers(op: &OpRef<'_>, d: &mut Decoder<'_>, with_sign: bool, narrow: Narrow) -> Lowered {
    let (Some(from), to) = (op.ty("in"), op.module.ty(op.result(0))) else { return Ok(()) };
    let read = if with_sign { by_width!(from, sign_extend) } else { by_width!(from, zero_extend) };
    let low = |bits: Option<u32>, signed| match bits.and_then(|bits| u8::try_from(bits).ok()) {
        Some(bits @ ..=63) => Law::Low { bits, signed },
        _ => Law::Same,
    };
    // A register holds an integer with its sign: reading it with its sign keeps the number, reading it without may
    // not.
    let law = if with_sign { Law::Same } else { low(width(from), false) };
    // Nobody counts in 8 or 16 bits: whoever asks for so few means the low ones.
    let cut = narrow == Narrow::Cut || width(to) < Some(32);
    let then = if cut && width(to) < width(from) { low(width(to), true) } else { Law::Same };
    cast(op, d, (law, read), (then, by_width!(to, keep)))
}

macro_rules! integer_casts {
    ($($id:ident $name:literal $summary:literal $narrow:ident $sign:literal $(counts $when:expr)?;)*) => {
        $(
            pub static $id: OpDef = OpDef {
                schema: schema($name, CAST, &[from(INTEGER)], &[to(INTEGER)], &[]),
                summary: $summary,
                linear: Some(Linear::Same),
                $(from_zero: $when,)?
                lower: |op, d| integers(op, d, $sign, Narrow::$narrow),
                ..INT_TO_INT
            };
        )*
    };
}

integer_casts! {
    INDEX_CAST "arith.index_cast" "Between `index` and an integer, with a sign" Overflows true counts FromZero::IfAll(&["in"]);
    INDEX_CASTUI "arith.index_castui" "Between `index` and an integer, without a sign" Cut false;
    EXTSI "arith.extsi" "To a wider integer, with a sign" Overflows true counts FromZero::IfAll(&["in"]);
    EXTUI "arith.extui" "To a wider integer, without a sign" Cut false counts FromZero::Always;
    TRUNCI "arith.trunci" "To a narrower integer" Cut true;
    UNREALIZED "builtin.unrealized_conversion_cast" "The same integer under another type" Overflows true;
}

fn number_of<const T: u8>([a, ..]: [u64; 3]) -> Result<u64, Trap> {
    Ok(u64::from(float::<T>(a).to_bits()))
}

fn rounded<const T: u8>([a, ..]: [u64; 3]) -> Result<u64, Trap> {
    Ok(bits::<T>(f32::from_bits(a as u32)))
}

/// Converts an integer to the nearest float of a type: through `f64` where that is exact, else rounded to odd first, so
/// that it is rounded once.
fn from_integer<const T: u8>(magnitude: u64, negative: bool) -> u64 {
    // Keep 32 leading bits and a sticky bit: every float type here then rounds as it would from the full integer.
    let shift = 32u32.saturating_sub(magnitude.leading_zeros());
    let sticky = u64::from(shift > 0 && magnitude & ((1 << shift) - 1) != 0);
    let kept = ((magnitude >> shift) << 1) | sticky;
    let exact = kept as f64 * 2f64.powi(shift as i32 - 1);
    let exact = if negative { -exact } else { exact };
    if T == slipring_op::number::F32 {
        return u64::from((exact as f32).to_bits());
    }
    // For a 16-bit type, round to odd in f32, which keeps the bits that the second rounding needs.
    let near = exact as f32;
    let odd = if f64::from(near) == exact || near.to_bits() & 1 == 1 {
        near
    } else if (f64::from(near).abs()) < exact.abs() {
        f32::from_bits(near.to_bits() + 1)
    } else {
        f32::from_bits(near.to_bits() - 1)
    };
    bits::<T>(odd)
}

fn signed_to_float<const T: u8>([a, ..]: [u64; 3]) -> Result<u64, Trap> {
    Ok(from_integer::<T>((a as i64).unsigned_abs(), (a as i64) < 0))
}

fn unsigned_to_float<const T: u8>([a, ..]: [u64; 3]) -> Result<u64, Trap> {
    Ok(from_integer::<T>(a, false))
}

pub static SITOFP: OpDef = OpDef {
    schema: schema("arith.sitofp", CAST, &[from(INTEGER)], &[to(FLOAT)], &[]),
    summary: "Signed integer to float",
    doc: "The nearest float, ties to even.",
    lower: |op, d| {
        let to = op.module.ty(op.result(0));
        let read = op.ty("in").and_then(|ty| by_width!(ty, sign_extend));
        cast(op, d, (Law::Unknown, read), (Law::Unknown, by_float!(to, signed_to_float)))
    },
    ..SCALAR_OP
};

pub static UITOFP: OpDef = OpDef {
    schema: schema("arith.uitofp", CAST, &[from(INTEGER)], &[to(FLOAT)], &[]),
    summary: "Unsigned integer to float",
    doc: "The nearest float, ties to even.",
    lower: |op, d| {
        let to = op.module.ty(op.result(0));
        let read = op.ty("in").and_then(|ty| by_width!(ty, zero_extend));
        cast(op, d, (Law::Unknown, read), (Law::Unknown, by_float!(to, unsigned_to_float)))
    },
    ..SCALAR_OP
};

fn float_to_signed<const W: u32>([a, ..]: [u64; 3]) -> Result<u64, Trap> {
    let limit = 1i64.checked_shl(W.min(63) - u32::from(W < 64)).unwrap_or(i64::MAX);
    let value = f32::from_bits(a as u32) as i64;
    Ok(wrap::<W>(if W == 64 { value } else { value.clamp(-limit, limit - 1) } as u64))
}

fn float_to_unsigned<const W: u32>([a, ..]: [u64; 3]) -> Result<u64, Trap> {
    let value = f32::from_bits(a as u32) as u64;
    Ok(wrap::<W>(value.min(unsigned::<W>(u64::MAX))))
}

pub static FPTOSI: OpDef = OpDef {
    schema: schema("arith.fptosi", CAST, &[from(FLOAT)], &[to(INTEGER)], &[]),
    summary: "Float to signed integer",
    doc: "Towards zero; what does not fit becomes the nearest number that does, NaN becomes 0.",
    lower: |op, d| {
        let to = op.module.ty(op.result(0));
        let read = op.ty("in").and_then(|ty| by_float!(ty, number_of));
        cast(op, d, (Law::Unknown, read), (Law::Unknown, by_width!(to, float_to_signed)))
    },
    ..SCALAR_OP
};

pub static FPTOUI: OpDef = OpDef {
    schema: schema("arith.fptoui", CAST, &[from(FLOAT)], &[to(INTEGER)], &[]),
    summary: "Float to unsigned integer",
    doc: "Towards zero; what does not fit becomes the nearest number that does, NaN becomes 0.",
    lower: |op, d| {
        let to = op.module.ty(op.result(0));
        let read = op.ty("in").and_then(|ty| by_float!(ty, number_of));
        cast(op, d, (Law::Unknown, read), (Law::Unknown, by_width!(to, float_to_unsigned)))
    },
    ..SCALAR_OP
};

macro_rules! float_casts {
    ($($id:ident $name:literal $summary:literal;)*) => {
        $(
            pub static $id: OpDef = OpDef {
                schema: schema($name, CAST, &[from(FLOAT)], &[to(FLOAT)], &[]),
                summary: $summary,
                doc: "Rounded once, to the nearest, ties to even.",
                lower: |op, d| {
                    let to = op.module.ty(op.result(0));
                    let read = op.ty("in").and_then(|ty| by_float!(ty, number_of));
                    cast(op, d, (Law::Unknown, read), (Law::Unknown, by_float!(to, rounded)))
                },
                ..SCALAR_OP
            };
        )*
    };
}

float_casts! {
    EXTF "arith.extf" "To a wider float";
    TRUNCF "arith.truncf" "To a narrower float";
}

/// Bits of a scalar type.
fn bit_count(ty: &Type) -> Option<u32> {
    width(ty).or(match ty {
        Type::Float(elem) => Some(8 * elem.bytes() as u32),
        _ => None,
    })
}

pub static BITCAST: OpDef = OpDef {
    schema: OpSchema {
        aliases: &["llvm.bitcast"],
        ..schema("arith.bitcast", CAST, &[from(SCALAR)], &[to(SCALAR)], &[])
    },
    summary: "The same bits as another type",
    doc: "Both types have the same number of bits.",
    verify: |op, _, diags| {
        let (from, to) = (op.ty("in").and_then(bit_count), bit_count(op.module.ty(op.result(0))));
        if from != to {
            diags.push(op.error("cast-width", "both types of `arith.bitcast` must have the same number of bits"));
        }
    },
    lower: |op, d| {
        let to = op.module.ty(op.result(0));
        let from = op.ty("in");
        // A float's bits fill the register with zeros above, an integer's with its sign.
        let read = from.and_then(|ty| if width(ty).is_some() { by_width!(ty, zero_extend) } else { Some(same) });
        let write = if width(to).is_some() { by_width!(to, keep) } else { Some(same as ScalarFn) };
        cast(op, d, (Law::Unknown, read), (Law::Unknown, write))
    },
    ..SCALAR_OP
};

#[cfg(test)]
mod tests {
    use super::*;
    use slipring_op::number::{BF16, F16, F32};

    #[test]
    fn integers_become_the_nearest_float() {
        let f32_of = |x: i64| f32::from_bits(signed_to_float::<F32>([x as u64, 0, 0]).unwrap() as u32);
        for x in [0, 1, -1, 16_777_217, -16_777_219, i64::MAX, i64::MIN, 0x7fff_ffbf_ffff_ffff] {
            assert_eq!(f32_of(x), x as f32, "{x}");
        }
        assert_eq!(f32::from_bits(unsigned_to_float::<F32>([u64::MAX, 0, 0]).unwrap() as u32), u64::MAX as f32);
        // 2049 is halfway between the f16 values 2048 and 2050: ties go to even.
        assert_eq!(signed_to_float::<F16>([2049, 0, 0]).unwrap(), 0x6800);
        assert_eq!(signed_to_float::<F16>([2051, 0, 0]).unwrap(), 0x6802);
        // Just above the midpoint of two bf16 values, by less than f32 can represent.
        let above = (257i64 << 40) + 1;
        assert_eq!(signed_to_float::<BF16>([above as u64, 0, 0]).unwrap(), 0x5781);
    }

    #[test]
    fn floats_saturate() {
        let of = |x: f32| u64::from(x.to_bits());
        assert_eq!(float_to_signed::<8>([of(300.0), 0, 0]).unwrap() as i64, 127);
        assert_eq!(float_to_signed::<8>([of(-300.0), 0, 0]).unwrap() as i64, -128);
        assert_eq!(float_to_signed::<64>([of(1e30), 0, 0]).unwrap() as i64, i64::MAX);
        assert_eq!(float_to_unsigned::<16>([of(70000.0), 0, 0]).unwrap() as u16, 65535);
        assert_eq!(float_to_signed::<32>([of(f32::NAN), 0, 0]).unwrap(), 0);
    }
}
