//! Float literals: decimal text to the bits of a format, and back.

use slipring_tile::{Elem, load_f32, store_f64};

use crate::Type;

/// Width of a float type in bits; `None` for other types.
pub(crate) fn float_width(ty: &Type) -> Option<u32> {
    match ty {
        Type::F64 => Some(64),
        Type::Float(elem) => Some(elem.bytes() as u32 * 8),
        _ => None,
    }
}

/// The bits of a number in a float type, rounded to nearest; `None` if it is out of range or the type is not a float.
pub fn bits_of(value: f64, ty: &Type) -> Option<u64> {
    let (bits, finite) = match ty {
        Type::F64 => (value.to_bits(), value.is_finite()),
        Type::Float(Elem::F32) => ((value as f32).to_bits().into(), (value as f32).is_finite()),
        Type::Float(elem) if elem.values() == 1 => {
            let mut bytes = [0; 8];
            store_f64(*elem, &[value], &mut bytes[..elem.bytes()]);
            let bits = u64::from_le_bytes(bytes);
            // Out of range, the result is infinity or NaN.
            (bits, value_of(bits, ty).is_some_and(f64::is_finite) && value.is_finite())
        }
        _ => return None,
    };
    finite.then_some(bits)
}

/// The number represented by bits of a float type; `None` if the type is not a float.
pub fn value_of(bits: u64, ty: &Type) -> Option<f64> {
    match ty {
        Type::F64 => Some(f64::from_bits(bits)),
        Type::Float(Elem::F32) => Some(f32::from_bits(bits as u32).into()),
        Type::Float(elem) if elem.values() == 1 => {
            let mut value = [0.0];
            load_f32(*elem, &bits.to_le_bytes()[..elem.bytes()], &mut value);
            Some(value[0].into())
        }
        _ => None,
    }
}

/// The shortest decimal that parses to these bits, always with a point; hexadecimal bits if there is none.
pub(crate) fn float_text(bits: u64, ty: &Type) -> String {
    let width = float_width(ty).unwrap_or(64) as usize;
    if let Some(value) = value_of(bits, ty) {
        let text = match ty {
            Type::F64 => format!("{value:?}"),
            // Exact in f32, and the shortest f32 decimal is closer to it than to any other value of the type.
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
        let short = Elem::ALL.into_iter().filter(|e| e.is_float() && e.bytes() <= 2);
        for (elem, ty) in short.map(|e| (e, Type::Float(e))) {
            for bits in 0..1u64 << (8 * elem.bytes()) {
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
        // Just above the middle of two f16: rounding to f32 on the way would lose what tells them apart.
        assert_eq!(bits_of(1.0 + 2f64.powi(-11) + 2f64.powi(-40), &Type::Float(Elem::F16)), Some(0x3c01));
        assert_eq!(bits_of(0.0, &Type::Float(Elem::F8E8M0)), None);
        assert_eq!(bits_of(1.0, &Type::Float(Elem::F4E2M1x2)), None);
    }
}
