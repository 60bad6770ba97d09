//! Scalars that become elements.

use slipring_program::Fault;
use slipring_tile::convert::convert;
use slipring_tile::{Elem, RoundMode};

/// How a scalar among an op's operands becomes an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NumberUse {
    /// As a value of the element's type: floats rounded to the nearest, integers unchanged.
    #[default]
    Value,
    /// As bits: an unsigned number of the element's width is also accepted.
    Bits,
    /// As a shift count: a negative or too large one shifts everything out.
    Count,
}

/// A scalar operand.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    /// Its argument index.
    pub at: usize,
    /// Its type.
    pub from: Elem,
    /// The element's type.
    pub to: Elem,
    /// How it becomes an element.
    pub usage: NumberUse,
}

/// A register's value.
#[derive(Clone, Copy)]
enum Value {
    Int(i128),
    Float(f64),
}

/// Smallest and largest integer of a type.
fn range(elem: Elem) -> (i128, i128) {
    let width = 8 * elem.bytes() as u32;
    if elem.is_signed_int() { (-(1 << (width - 1)), (1 << (width - 1)) - 1) } else { (0, (1 << width) - 1) }
}

impl Number {
    fn value(&self, bits: u64) -> Value {
        let bytes = bits.to_le_bytes();
        if self.from.is_float() {
            let mut single = [0; 4];
            convert(self.from, &bytes[..self.from.bytes()], Elem::F32, &mut single, RoundMode::Rint, false);
            return Value::Float(f64::from(f32::from_le_bytes(single)));
        }
        let unused = 64 - 8 * self.from.bytes() as u32;
        let bits = bits << unused;
        Value::Int(match self.from.is_signed_int() {
            true => i128::from(bits as i64 >> unused),
            false => i128::from(bits >> unused),
        })
    }

    /// A fault if the element's type cannot represent the value.
    ///
    /// # Errors
    /// `scalar-range`.
    pub fn check(&self, bits: u64) -> Result<(), Fault> {
        let Number { from, to, usage, .. } = *self;
        if from == to && usage != NumberUse::Count {
            return Ok(());
        }
        let (low, high) = range(to);
        let (fits, shown) = match self.value(bits) {
            Value::Int(n) if to.is_float() => (self.element(bits)[..to.bytes()] != infinity(to, n < 0), n.to_string()),
            Value::Int(n) => {
                let low = if usage == NumberUse::Bits { low.min(-(high + 1) / 2) } else { low };
                let high = if usage == NumberUse::Bits { range(unsigned(to)).1 } else { high };
                (usage == NumberUse::Count || (low..=high).contains(&n), n.to_string())
            }
            Value::Float(x) if to.is_float() => {
                (!x.is_finite() || self.element(bits)[..to.bytes()] != infinity(to, x < 0.0), x.to_string())
            }
            Value::Float(x) => {
                let whole = x.fract() == 0.0 && x.abs() < 2f64.powi(64);
                (whole && (usage == NumberUse::Count || (low..=high).contains(&(x as i128))), x.to_string())
            }
        };
        if fits {
            return Ok(());
        }
        Err(Fault::new("scalar-range", format!("the number {shown} is not a value of {to}"))
            .help("give a number that the element type of the tile has"))
    }

    /// True if [`Number::check`] reports a fault for some value of its type.
    pub fn may_fault(&self) -> bool {
        let largest: u64 = match self.from {
            Elem::F32 => 0x7f7f_ffff,
            Elem::F16 => 0x7bff,
            Elem::BF16 => 0x7f7f,
            float if float.is_float() => return true,
            int => {
                let (low, high) = range(int);
                return [low, high].iter().any(|end| self.check(*end as u64).is_err());
            }
        };
        !self.to.is_float() || self.usage == NumberUse::Count || self.check(largest).is_err()
    }

    /// The element's bytes.
    pub fn element(&self, bits: u64) -> [u8; 8] {
        let Number { from, to, usage, .. } = *self;
        if usage == NumberUse::Count {
            let width = 8 * to.bytes() as i128;
            let count = match self.value(bits) {
                Value::Int(n) => n,
                Value::Float(x) => x as i128,
            };
            return (if (0..width).contains(&count) { count } else { width } as u64).to_le_bytes();
        }
        scalar_bytes(bits, from, to)
    }
}

/// The unsigned integer of the same size.
pub fn unsigned(elem: Elem) -> Elem {
    match elem.bytes() {
        1 => Elem::U8,
        2 => Elem::U16,
        4 => Elem::U32,
        _ => Elem::U64,
    }
}

/// The bytes of an infinity; empty for a type without one.
fn infinity(elem: Elem, negative: bool) -> Vec<u8> {
    let value = if negative { f32::NEG_INFINITY } else { f32::INFINITY };
    if !matches!(elem, Elem::F32 | Elem::F16 | Elem::BF16) {
        return Vec::new();
    }
    let mut bytes = vec![0; elem.bytes()];
    convert(Elem::F32, &value.to_le_bytes(), elem, &mut bytes, RoundMode::Rint, false);
    bytes
}

/// A scalar register as an element of another type: floats rounded to the nearest, integers to integers by their low
/// bits, floats to integers with saturation.
pub(super) fn scalar_bytes(bits: u64, from: Elem, to: Elem) -> [u8; 8] {
    let mut bytes = [0; 8];
    let saturate = from.is_float() && !to.is_float();
    convert(from, &bits.to_le_bytes()[..from.bytes()], to, &mut bytes[..to.bytes()], RoundMode::Rint, saturate);
    bytes
}
