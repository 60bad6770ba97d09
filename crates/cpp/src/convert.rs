//! Conversions of numbers, and numbers as operands and as elements.

use slipring_ir::{Attr, Type, ValueId};
use slipring_mlir::arith;
use slipring_op::OpDef;
use slipring_op::rules::{constant, constant_attr};
use slipring_tile::convert::convert;
use slipring_tile::{Elem, RoundMode};

use crate::tree::Node;
use crate::types::Number;
use crate::value::{Read, Reader};

impl Reader<'_> {
    /// Converts a number to another type.
    pub fn converted(&mut self, node: Node<'_>, (id, from): (ValueId, Number), to: Number) -> Read<ValueId> {
        let def: &'static OpDef = match (from, to) {
            _ if from.ty() == to.ty() => return Ok(id),
            (Number::Int(..) | Number::Bool, Number::Int(width, _)) if constant(&self.module, id).is_some() => {
                let value = constant(&self.module, id).unwrap_or_default();
                return Ok(self.integer(low_bits(value_of(value, from), width), to));
            }
            (Number::Int(..) | Number::Bool, Number::Bool) => {
                let zero = self.integer(0, from);
                return Ok(self.relation("ne", [id, zero], &arith::CMPI, "cmpi_predicate"));
            }
            (Number::Bool, Number::Int(..)) => &arith::EXTUI,
            (Number::Int(a, signed), Number::Int(b, _)) => match (a < b, signed) {
                (true, true) => &arith::EXTSI,
                (true, false) => &arith::EXTUI,
                (false, _) => &arith::TRUNCI,
            },
            (Number::Int(_, true), Number::Float(_)) => &arith::SITOFP,
            (Number::Int(_, false), Number::Float(_)) => &arith::UITOFP,
            (Number::Float(_), Number::Int(_, true)) => &arith::FPTOSI,
            (Number::Float(_), Number::Int(_, false)) => &arith::FPTOUI,
            (Number::Float(Elem::F32), Number::Float(_)) => &arith::TRUNCF,
            (Number::Float(_), Number::Float(Elem::F32)) => &arith::EXTF,
            _ => return Err(self.unknown(node, "a conversion of numbers")),
        };
        Ok(self.result(def, &[("in", &[id])], Vec::new(), to.ty()))
    }

    /// Converts an element of memory to a signless number for arithmetic.
    pub fn signless(&mut self, id: ValueId, number: Number) -> ValueId {
        match number {
            Number::Int(_, false) => self.result(&arith::UNREALIZED, &[("in", &[id])], Vec::new(), number.ty()),
            _ => id,
        }
    }

    /// Converts a number to an element of memory.
    pub fn as_element(&mut self, node: Node<'_>, value: (ValueId, Number), to: Number) -> Read<ValueId> {
        let id = self.converted(node, value, to)?;
        Ok(match to {
            Number::Int(_, false) => self.result(&arith::UNREALIZED, &[("in", &[id])], Vec::new(), to.element_type()),
            _ => id,
        })
    }

    /// A number as an operand that stands for its value, with integer promotion: the types of numbers in arithmetic do
    /// not say that a short one has no sign.
    pub fn by_value(&mut self, node: Node<'_>, (id, from): (ValueId, Number)) -> Read<ValueId> {
        match from {
            Number::Int(width, false) if width < 32 => self.converted(node, (id, from), Number::I32),
            _ => Ok(id),
        }
    }

    /// Reads a number as an operand that stands for its value.
    pub fn number_by_value(&mut self, node: Node<'_>) -> Read<ValueId> {
        let value = self.number(node)?;
        self.by_value(node, value)
    }

    /// A number as an operand that becomes an element of tiles of this type. The parameter of the library's function has
    /// the type of the elements, so it is converted as C++ converts an argument: to integers modulo their range. What
    /// becomes a float keeps its own type, as far as the op converts and checks its value; constants that fit get the
    /// type of the elements.
    pub fn as_element_of_tile(&mut self, node: Node<'_>, value: (ValueId, Number), elem: Elem) -> Read<ValueId> {
        let (id, from) = value;
        let to = Number::of(elem);
        match (from, to) {
            (Number::Float(own), Number::Float(_)) if own == elem || !self.is_constant_of(id, elem) => Ok(id),
            (Number::Float(_), Number::Float(_)) => self.converted(node, value, to),
            (Number::Int(..), Number::Float(_)) => self.as_element(node, value, from),
            (Number::Bool, Number::Float(_)) => Ok(id),
            _ => self.as_element(node, value, to),
        }
    }

    /// Whether a value is a constant of f32 that this type can represent, rounded.
    fn is_constant_of(&self, id: ValueId, elem: Elem) -> bool {
        let Some(Attr::Float(bits, Type::Float(Elem::F32))) = constant_attr(&self.module, id) else { return false };
        let value = f32::from_bits(*bits as u32);
        let (mut there, mut back) = (vec![0; elem.bytes()], [0; 4]);
        convert(Elem::F32, &value.to_le_bytes(), elem, &mut there, RoundMode::Rint, false);
        convert(elem, &there, Elem::F32, &mut back, RoundMode::Rint, false);
        f32::from_le_bytes(back).is_finite() || !value.is_finite()
    }
}

/// The value of a constant of this type, of which the program has the bits as a number with a sign.
fn value_of(bits: i64, from: Number) -> i64 {
    match from {
        Number::Int(width, false) if width < 64 => bits & ((1 << width) - 1),
        Number::Bool => bits & 1,
        _ => bits,
    }
}

/// The low bits of a number, as a number with a sign.
fn low_bits(value: i64, width: u16) -> i64 {
    let unused = 64 - u32::from(width);
    value << unused >> unused
}
