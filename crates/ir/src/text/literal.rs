//! Float literals: decimal text to the bits of a format, and back.

use half::{bf16, f16};
use slipring_tile::{Elem, load_f32, store_f32};

use crate::Type;

/// Bits of a float type; `None` for other types.
pub(crate) fn float_width(ty: &Type) -> Option<u32> {
    match ty {
        Type::F64 => Some(64),
        Type::Float(elem) => Some(elem.bytes() as u32 * 8),
        _ => None,
    }
}

/// The bits of a number in a float type, rounded to nearest; `None` if it is beyond its range or the type
/// is no float.
pub fn bits_of(value: f64, ty: &Type) -> Option<u64> {
    let (bits, finite) = match ty {
        Type::F64 => (value.to_bits(), value.is_finite()),
        Type::Float(Elem::F32) => ((value as f32).to_bits().into(), (value as f32).is_finite()),
        Type::Float(Elem::F16) => (f16::from_f64(value).to_bits().into(), f16::from_f64(value).is_finite()),
        Type::Float(Elem::BF16) => (bf16::from_f64(value).to_bits().into(), bf16::from_f64(value).is_finite()),
        Type::Float(elem) if elem.bytes() == 1 && elem.values() == 1 => {
            let mut byte = [0];
            store_f32(*elem, &[value as f32], &mut byte);
            let bits = u64::from(byte[0]);
            // Beyond the range there is an infinity or NaN.
            (bits, value_of(bits, ty).is_some_and(f64::is_finite) && value.is_finite())
        }
        _ => return None,
    };
    finite.then_some(bits)
}

/// The number that bits of a float type stand for; `None` if the type is no float.
pub fn value_of(bits: u64, ty: &Type) -> Option<f64> {
    match ty {
        Type::F64 => Some(f64::from_bits(bits)),
        Type::Float(Elem::F32) => Some(f32::from_bits(bits as u32).into()),
        Type::Float(Elem::F16) => Some(f16::from_bits(bits as u16).into()),
        Type::Float(Elem::BF16) => Some(bf16::from_bits(bits as u16).into()),
        Type::Float(elem) if elem.bytes() == 1 && elem.values() == 1 => {
            let mut value = [0.0];
            load_f32(*elem, &[bits as u8], &mut value);
            Some(value[0].into())
        }
        _ => None,
    }
}

/// The shortest decimal that reads back as these bits, always with a point; hexadecimal bits where no
/// decimal does.
pub(crate) fn float_text(bits: u64, ty: &Type) -> String {
    let width = float_width(ty).unwrap_or(64) as usize;
    if let Some(value) = value_of(bits, ty) {
        let text = match ty {
            Type::F64 => format!("{value:?}"),
            // Exact in f32, and the shortest f32 decimal is nearer to it than to any other value of the type.
            _ => format!("{:?}", value as f32),
        };
        let text = match text.split_once('e') {
            Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
            _ => text,
        };
        let read: Option<f64> = text.parse().ok();
        if value.is_finite() && read.and_then(|v| bits_of(v, ty)) == Some(bits) {
            return text;
        }
    }
    format!("0x{bits:0digits$X}", digits = width / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_read_back_as_their_bits() {
        let cases = [
            (0x3f80_0000, Type::F32, "1.0"),
            (0x8000_0000, Type::F32, "-0.0"),
            (0x3dcc_cccd, Type::F32, "0.1"),
            (0x0000_0001, Type::F32, "1.0e-45"),
            (0x7f7f_ffff, Type::F32, "3.4028235e38"),
            (0x7f80_0000, Type::F32, "0x7F800000"),
            (0x7fc0_0001, Type::F32, "0x7FC00001"),
            (0x3c00, Type::Float(Elem::F16), "1.0"),
            (0x7bff, Type::Float(Elem::F16), "65504.0"),
            (0x7c00, Type::Float(Elem::F16), "0x7C00"),
            (0x7e, Type::Float(Elem::F8E4M3), "448.0"),
            (0x3ff0_0000_0000_0000, Type::F64, "1.0"),
        ];
        for (bits, ty, text) in cases {
            assert_eq!(float_text(bits, &ty), text);
        }
        for bits in 0..=0xffffu64 {
            for ty in [Type::Float(Elem::F16), Type::Float(Elem::BF16)] {
                let text = float_text(bits, &ty);
                let back = match text.strip_prefix("0x") {
                    Some(hex) => u64::from_str_radix(hex, 16).ok(),
                    None => text.parse().ok().and_then(|v| bits_of(v, &ty)),
                };
                assert_eq!(back, Some(bits), "{text} : {ty}");
            }
        }
        assert_eq!(bits_of(1e6, &Type::Float(Elem::F16)), None);
        assert_eq!(bits_of(1e60, &Type::F32), None);
    }
}
