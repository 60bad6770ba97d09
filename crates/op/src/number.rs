//! Scalars in registers: the representation of integers of a width and of floats of a type.

use slipring_ir::Type;
use slipring_tile::Elem;

/// The low `W` bits of a value as a register keeps them: sign-extended, `i1` as 0 or 1.
pub const fn wrap<const W: u32>(value: u64) -> u64 {
    match W {
        1 => value & 1,
        64 => value,
        _ => (((value << (64 - W)) as i64) >> (64 - W)) as u64,
    }
}

/// The low `W` bits as an unsigned integer.
pub const fn unsigned<const W: u32>(value: u64) -> u64 {
    if W == 64 { value } else { value & ((1 << W) - 1) }
}

/// The low `W` bits of a register as a signed integer; `i1` is 0 or -1.
pub const fn signed<const W: u32>(value: u64) -> i64 {
    if W == 1 { -((value & 1) as i64) } else { value as i64 }
}

/// Width of an integer type in bits; 64 for `index`.
pub fn width(ty: &Type) -> Option<u32> {
    match ty {
        Type::Index => Some(64),
        Type::Int { width, .. } => Some(u32::from(*width)),
        _ => None,
    }
}

/// Picks the version of a function for an integer type: `by_width!(ty, f)` is `f::<32>` for `i32`.
#[macro_export]
macro_rules! by_width {
    ($ty:expr, $f:ident) => {
        match $crate::number::width($ty) {
            Some(1) => Some($f::<1> as slipring_program::ScalarFn),
            Some(8) => Some($f::<8> as slipring_program::ScalarFn),
            Some(16) => Some($f::<16> as slipring_program::ScalarFn),
            Some(32) => Some($f::<32> as slipring_program::ScalarFn),
            Some(64) => Some($f::<64> as slipring_program::ScalarFn),
            _ => None,
        }
    };
}

/// Float types as constant parameters, which select the version of a function.
pub const F32: u8 = 0;
#[allow(missing_docs)]
pub const F16: u8 = 1;
#[allow(missing_docs)]
pub const BF16: u8 = 2;

const fn elem<const T: u8>() -> Elem {
    match T {
        F16 => Elem::F16,
        BF16 => Elem::BF16,
        _ => Elem::F32,
    }
}

/// The value of a float in a register.
pub fn float<const T: u8>(bits: u64) -> f32 {
    if T == F32 {
        return f32::from_bits(bits as u32);
    }
    let mut value = [0f32];
    slipring_tile::load_f32(elem::<T>(), &(bits as u16).to_le_bytes(), &mut value);
    value[0]
}

/// The register bits of a float, rounded once to its type. A NaN becomes the canonical NaN of the type.
pub fn bits<const T: u8>(value: f32) -> u64 {
    if T == F32 {
        return u64::from(if value.is_nan() { slipring_tile::math::NAN.to_bits() } else { value.to_bits() });
    }
    let mut bytes = [0u8; 2];
    slipring_tile::store_f32(elem::<T>(), &[value], &mut bytes);
    u64::from(u16::from_le_bytes(bytes))
}

/// Picks the version of a function for a float type.
#[macro_export]
macro_rules! by_float {
    ($ty:expr, $f:ident) => {
        match $ty {
            slipring_ir::Type::Float(slipring_tile::Elem::F32) => {
                Some($f::<{ $crate::number::F32 }> as slipring_program::ScalarFn)
            }
            slipring_ir::Type::Float(slipring_tile::Elem::F16) => {
                Some($f::<{ $crate::number::F16 }> as slipring_program::ScalarFn)
            }
            slipring_ir::Type::Float(slipring_tile::Elem::BF16) => {
                Some($f::<{ $crate::number::BF16 }> as slipring_program::ScalarFn)
            }
            _ => None,
        }
    };
}
