//! What an atomic change makes of the old value.

use slipring_ir::Type;
use slipring_op::number::{BF16, F16, F32, bits, float};
use slipring_program::{Change, Update, UpdateKind};
use slipring_tile::Elem;
use slipring_tile::math::{maximum, minimum};

use super::scalars;

/// The function of an atomic change: the old value and the given one, to the new one.
pub(super) type Join = fn(u64, u64) -> u64;

/// A change by its meaning for integers and for floats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    /// Of `i32` and `i64`, sign-extended.
    pub of_signed: Join,
    /// Of the same, meant unsigned: zero-extended.
    pub of_unsigned: Join,
    /// Of floats; `None` if it is for integers only.
    pub of_floats: Option<fn(f32, f32) -> f32>,
    /// What it is to other work, if its old value is not used.
    pub change: fn(Elem) -> Change,
}

const fn update(kind: UpdateKind, elem: Elem) -> Change {
    Change::Update(Update { kind, elem })
}

pub(super) const ADD: Kind = Kind {
    of_signed: u64::wrapping_add,
    of_unsigned: u64::wrapping_add,
    of_floats: Some(|a, b| a + b),
    change: |elem| update(UpdateKind::Add, elem),
};
pub(super) const SUB: Kind =
    Kind { of_signed: u64::wrapping_sub, of_unsigned: u64::wrapping_sub, of_floats: Some(|a, b| a - b), ..ADD };
pub(super) const MIN: Kind = Kind {
    of_signed: |a, b| (a as i64).min(b as i64) as u64,
    of_unsigned: u64::min,
    of_floats: Some(minimum),
    change: |elem| update(UpdateKind::Min, elem),
};
pub(super) const MAX: Kind = Kind {
    of_signed: |a, b| (a as i64).max(b as i64) as u64,
    of_unsigned: u64::max,
    of_floats: Some(maximum),
    change: |elem| update(UpdateKind::Max, elem),
};
pub(super) const AND: Kind = bitwise(|a, b| a & b, |_| Change::And);
pub(super) const OR: Kind = bitwise(|a, b| a | b, |_| Change::Or);
pub(super) const XOR: Kind = bitwise(|a, b| a ^ b, |_| Change::Xor);

const fn bitwise(join: Join, change: fn(Elem) -> Change) -> Kind {
    Kind { of_signed: join, of_unsigned: join, of_floats: None, change }
}

/// The change on registers of a type.
pub(super) fn on(kind: Kind, ty: &Type, signed: bool) -> Box<dyn Fn(u64, u64) -> u64 + Send + Sync> {
    let float = kind.of_floats.unwrap_or(|a, _| a);
    if *ty == scalars::F16 {
        return Box::new(move |a, b| joined::<F16>(a, b, float));
    }
    if *ty == scalars::BF16 {
        return Box::new(move |a, b| joined::<BF16>(a, b, float));
    }
    if *ty == scalars::F32 {
        return Box::new(move |a, b| joined::<F32>(a, b, float));
    }
    let narrow = *ty == Type::I32;
    match signed {
        true => Box::new(kind.of_signed),
        false if narrow => Box::new(move |a, b| (kind.of_unsigned)(u64::from(a as u32), u64::from(b as u32))),
        false => Box::new(kind.of_unsigned),
    }
}

fn joined<const T: u8>(a: u64, b: u64, join: fn(f32, f32) -> f32) -> u64 {
    bits::<T>(join(float::<T>(a), float::<T>(b)))
}
