//! Numbers: constants folded, the rest computed by the scalar unit.

use ruff_python_ast::{CmpOp, Operator, UnaryOp};
use slipring_ir::{Attr, Diagnostic, Span, Type, ValueId};
use slipring_tile::Elem;

use super::{Lower, Lowered, Value, describe};
use crate::dtype::DType;
use crate::value::{Const, Index, RegionId, Scalar};

impl Lower<'_> {
    /// A scalar that an op of the current place computes.
    pub fn scalar(&mut self, value: ValueId, ty: DType) -> Value {
        Value::Scalar(Scalar { value, ty, region: self.open_region_op() })
    }

    fn open_region_op(&self) -> Option<slipring_ir::OpId> {
        self.region.map(|RegionId(at)| self.regions[at as usize].op)
    }

    /// A number as a value of a type.
    ///
    /// # Errors
    /// Reported if it is no number, or of another type and no constant.
    pub fn number(&mut self, value: &Value, ty: DType, span: Span) -> Lowered<ValueId> {
        match (value, ty) {
            (Value::Const(Const::Int(n)), DType::Index) => Ok(self.e.index(*n)),
            (Value::Const(Const::Bool(b)), DType::Bool) => Ok(self.e.constant(Attr::Bool(*b), Type::I1)),
            (Value::Const(Const::Int(n)), DType::Elem(elem)) if elem.is_float() => Ok(self.float(*n as f64, elem)),
            (Value::Const(Const::Float(x)), DType::Elem(elem)) if elem.is_float() => Ok(self.float(*x, elem)),
            (Value::Const(Const::Int(n)), DType::Elem(_)) => {
                let ty = ty.ir();
                Ok(self.e.constant(Attr::Int((*n).into(), ty.clone()), ty))
            }
            (Value::Scalar(scalar), _) if scalar.ty == ty => Ok(scalar.value),
            (Value::Scalar(scalar), _) => self.convert(*scalar, ty, span),
            (other, _) => {
                let what = describe(self, other);
                Err(self.error(
                    "value-kind",
                    span,
                    format!("a number of type {} is needed here, this is {what}", ty.name()),
                ))
            }
        }
    }

    /// A constant float, rounded to its type.
    fn float(&mut self, x: f64, elem: Elem) -> ValueId {
        // Scalars are passed as f32 where the element type is narrower; ops round to the tile's type.
        let ty = Type::Float(if elem.bytes() == 4 { elem } else { Elem::F32 });
        let bits = u64::from((x as f32).to_bits());
        self.e.constant(Attr::Float(bits, ty.clone()), ty)
    }

    /// `pl.cast` of a number: an integer as a float; otherwise what happens where a number of the type is needed.
    pub fn cast_number(&mut self, value: &Value, elem: Elem, span: Span) -> Lowered {
        let ty = DType::Elem(elem);
        let value = match value {
            Value::Scalar(scalar) if !scalar.ty.is_float() && scalar.ty != DType::Bool && elem.is_float() => {
                let int = match scalar.ty {
                    DType::Index => self.number(value, DType::Elem(Elem::I64), span)?,
                    _ => scalar.value,
                };
                // Scalars are passed as f32 where the element type is narrower.
                self.e.value("arith.sitofp", &[("in", &[int])], &[], Type::Float(Elem::F32))
            }
            other => self.number(other, ty, span)?,
        };
        let ty = if elem.is_float() { DType::Elem(Elem::F32) } else { ty };
        Ok(self.scalar(value, ty))
    }

    /// Between `index` and the integers.
    fn convert(&mut self, scalar: Scalar, ty: DType, span: Span) -> Lowered<ValueId> {
        let is_int = |ty: DType| matches!(ty, DType::Elem(elem) if !elem.is_float());
        match (scalar.ty, ty) {
            (DType::Index, to) if is_int(to) => {
                Ok(self.e.value("arith.index_cast", &[("in", &[scalar.value])], &[], to.ir()))
            }
            (from, DType::Index) if is_int(from) => {
                Ok(self.e.value("arith.index_cast", &[("in", &[scalar.value])], &[], Type::Index))
            }
            (DType::Elem(Elem::F32), DType::Elem(elem)) if elem.is_float() => Ok(scalar.value),
            (from, to) => {
                let message = format!("a {} scalar stands where a {} one is needed", from.name(), to.name());
                let mut error = Diagnostic::error("scalar-type", span, message);
                if to.is_float() {
                    error = error.help(format!("convert it: `pl.cast(x, pl.{})`", to.name()));
                }
                Err(self.report(error))
            }
        }
    }

    /// A number as an offset.
    pub fn index(&mut self, value: &Value, span: Span) -> Lowered<Index> {
        match value {
            Value::Const(Const::Int(n)) => Ok(Index::Known(*n)),
            Value::Scalar(scalar) if scalar.ty == DType::Index => Ok(Index::At(*scalar)),
            other => {
                let value = self.number(other, DType::Index, span)?;
                let region = self.open_region_op();
                Ok(Index::At(Scalar { value, ty: DType::Index, region }))
            }
        }
    }

    /// The sum of two offsets.
    pub fn add_index(&mut self, a: Index, b: Index) -> Index {
        match (a, b) {
            (Index::Known(a), Index::Known(b)) => Index::Known(a.saturating_add(b)),
            (Index::Known(0), other) | (other, Index::Known(0)) => other,
            (a, b) => {
                let (a, b) = (self.index_value(a), self.index_value(b));
                let sum = self.e.value("arith.addi", &[("lhs", &[a]), ("rhs", &[b])], &[], Type::Index);
                let region = self.open_region_op();
                Index::At(Scalar { value: sum, ty: DType::Index, region })
            }
        }
    }

    /// A unary operator on a number.
    pub fn unary_number(&mut self, op: UnaryOp, value: &Value, span: Span) -> Lowered {
        match (op, value) {
            (UnaryOp::USub, Value::Const(Const::Int(n))) => Ok(Value::Const(Const::Int(n.wrapping_neg()))),
            (UnaryOp::USub, Value::Const(Const::Float(x))) => Ok(Value::Const(Const::Float(-x))),
            (UnaryOp::UAdd, Value::Const(_) | Value::Scalar(_)) => Ok(value.clone()),
            (UnaryOp::Not, Value::Const(c)) => Ok(Value::Const(Const::Bool(!truth(c)))),
            (UnaryOp::Not, Value::Scalar(scalar)) if scalar.ty == DType::Bool => {
                let one = self.e.constant(Attr::Bool(true), Type::I1);
                let value = self.e.value("arith.xori", &[("lhs", &[scalar.value]), ("rhs", &[one])], &[], Type::I1);
                Ok(self.scalar(value, DType::Bool))
            }
            (UnaryOp::USub, Value::Scalar(scalar)) => {
                let zero = if scalar.ty.is_float() { Const::Float(0.0) } else { Const::Int(0) };
                self.binary_number(Operator::Sub, &Value::Const(zero), value, span)
            }
            (_, other) => {
                let what = describe(self, other);
                Err(self.error("operator", span, format!("this operator does not work on {what}")))
            }
        }
    }

    /// A binary operator on two numbers.
    pub fn binary_number(&mut self, op: Operator, a: &Value, b: &Value, span: Span) -> Lowered {
        if let (Value::Const(x), Value::Const(y)) = (a, b) {
            return match fold_binary(op, x, y) {
                Ok(value) => Ok(Value::Const(value)),
                Err(why) => Err(self.error("constant", span, why)),
            };
        }
        let ty = match (a, b) {
            (Value::Scalar(a), Value::Scalar(b)) if a.ty == b.ty => a.ty,
            (Value::Scalar(a), Value::Scalar(_)) if a.ty == DType::Index => DType::Index,
            (Value::Scalar(_), Value::Scalar(b)) if b.ty == DType::Index => DType::Index,
            (Value::Scalar(s), _) | (_, Value::Scalar(s)) => s.ty,
            _ => {
                let (x, y) = (describe(self, a), describe(self, b));
                return Err(self.error("operator", span, format!("this operator does not work on {x} and {y}")));
            }
        };
        let name = match (op, ty.is_float()) {
            (Operator::Add, false) => "arith.addi",
            (Operator::Sub, false) => "arith.subi",
            (Operator::Mult, false) => "arith.muli",
            (Operator::FloorDiv, false) => "arith.floordivsi",
            (Operator::Mod, false) => "arith.remsi",
            (Operator::BitAnd, false) => "arith.andi",
            (Operator::BitOr, false) => "arith.ori",
            (Operator::BitXor, false) => "arith.xori",
            (Operator::LShift, false) => "arith.shli",
            (Operator::RShift, false) => "arith.shrsi",
            (Operator::Add, true) => "arith.addf",
            (Operator::Sub, true) => "arith.subf",
            (Operator::Mult, true) => "arith.mulf",
            (Operator::Div, true) => "arith.divf",
            _ => {
                let message = format!("this operator does not work on {} scalars", ty.name());
                return Err(self.error("operator", span, message));
            }
        };
        let (lhs, rhs) = (self.number(a, ty, span)?, self.number(b, ty, span)?);
        let mut value = self.e.value(name, &[("lhs", &[lhs]), ("rhs", &[rhs])], &[], ty.ir());
        if op == Operator::Mod {
            // Python's remainder has the sign of the divisor.
            let sum = self.e.value("arith.addi", &[("lhs", &[value]), ("rhs", &[rhs])], &[], ty.ir());
            value = self.e.value("arith.remsi", &[("lhs", &[sum]), ("rhs", &[rhs])], &[], ty.ir());
        }
        Ok(self.scalar(value, ty))
    }

    /// The smaller or larger of two numbers.
    pub fn extreme(&mut self, larger: bool, a: &Value, b: &Value, span: Span) -> Lowered {
        if let (Value::Const(Const::Int(x)), Value::Const(Const::Int(y))) = (a, b) {
            return Ok(Value::Const(Const::Int(if larger { *x.max(y) } else { *x.min(y) })));
        }
        let ty = match (a, b) {
            (Value::Scalar(s), _) | (_, Value::Scalar(s)) => s.ty,
            _ => DType::Elem(Elem::F32),
        };
        let name = match (larger, ty.is_float()) {
            (true, false) => "arith.maxsi",
            (false, false) => "arith.minsi",
            (true, true) => "arith.maximumf",
            (false, true) => "arith.minimumf",
        };
        let (lhs, rhs) = (self.number(a, ty, span)?, self.number(b, ty, span)?);
        let value = self.e.value(name, &[("lhs", &[lhs]), ("rhs", &[rhs])], &[], ty.ir());
        Ok(self.scalar(value, ty))
    }

    /// A comparison of two numbers.
    pub fn compare_numbers(&mut self, op: CmpOp, a: &Value, b: &Value, span: Span) -> Lowered {
        if let (Value::Const(x), Value::Const(y)) = (a, b)
            && let Some(result) = compare_constants(op, x, y)
        {
            return Ok(Value::Const(Const::Bool(result)));
        }
        let ty = match (a, b) {
            (Value::Scalar(s), _) | (_, Value::Scalar(s)) => s.ty,
            _ => {
                let (x, y) = (describe(self, a), describe(self, b));
                return Err(self.error("operator", span, format!("{x} and {y} cannot be compared")));
            }
        };
        let float = ty.is_float();
        let predicate = match (op, float) {
            (CmpOp::Eq, false) => "eq",
            (CmpOp::NotEq, false) => "ne",
            (CmpOp::Lt, false) => "slt",
            (CmpOp::LtE, false) => "sle",
            (CmpOp::Gt, false) => "sgt",
            (CmpOp::GtE, false) => "sge",
            (CmpOp::Eq, true) => "oeq",
            (CmpOp::NotEq, true) => "une",
            (CmpOp::Lt, true) => "olt",
            (CmpOp::LtE, true) => "ole",
            (CmpOp::Gt, true) => "ogt",
            (CmpOp::GtE, true) => "oge",
            _ => return Err(self.error("operator", span, "only ==, !=, <, <=, > and >= compare numbers")),
        };
        let (lhs, rhs) = (self.number(a, ty, span)?, self.number(b, ty, span)?);
        let (name, kind) = if float { ("arith.cmpf", "cmpf_predicate") } else { ("arith.cmpi", "cmpi_predicate") };
        let predicate = Attr::member(kind, predicate);
        let value = self.e.value(name, &[("lhs", &[lhs]), ("rhs", &[rhs])], &[("predicate", predicate)], Type::I1);
        Ok(self.scalar(value, DType::Bool))
    }
}

/// Python's truth of a constant.
pub(super) fn truth(value: &Const) -> bool {
    match value {
        Const::Bool(b) => *b,
        Const::Int(n) => *n != 0,
        Const::Float(x) => *x != 0.0,
        Const::Str(s) => !s.is_empty(),
        Const::None => false,
        _ => true,
    }
}

fn compare_constants(op: CmpOp, a: &Const, b: &Const) -> Option<bool> {
    let number = |c: &Const| match c {
        Const::Int(n) => Some(*n as f64),
        Const::Float(x) => Some(*x),
        Const::Bool(b) => Some(f64::from(u8::from(*b))),
        _ => None,
    };
    Some(match (op, a, b) {
        (CmpOp::Eq | CmpOp::Is, ..) => match (number(a), number(b)) {
            (Some(x), Some(y)) => x == y,
            _ => a == b,
        },
        (CmpOp::NotEq | CmpOp::IsNot, ..) => !compare_constants(CmpOp::Eq, a, b)?,
        (_, Const::Int(x), Const::Int(y)) => ordered(op, x.cmp(y))?,
        _ => ordered(op, number(a)?.partial_cmp(&number(b)?)?)?,
    })
}

fn ordered(op: CmpOp, order: std::cmp::Ordering) -> Option<bool> {
    Some(match op {
        CmpOp::Lt => order.is_lt(),
        CmpOp::LtE => order.is_le(),
        CmpOp::Gt => order.is_gt(),
        CmpOp::GtE => order.is_ge(),
        _ => return None,
    })
}

/// Python's arithmetic on constants.
fn fold_binary(op: Operator, a: &Const, b: &Const) -> Result<Const, String> {
    let overflow = || "the number does not fit into 64 bits".to_string();
    match (a, b) {
        (Const::Int(x), Const::Int(y)) => {
            let (x, y) = (*x, *y);
            let result = match op {
                Operator::Add => x.checked_add(y),
                Operator::Sub => x.checked_sub(y),
                Operator::Mult => x.checked_mul(y),
                Operator::FloorDiv | Operator::Mod if y == 0 => return Err("division by zero".into()),
                Operator::FloorDiv => {
                    x.checked_div_euclid(y).map(|q| if y < 0 && x.rem_euclid(y) != 0 { q - 1 } else { q })
                }
                Operator::Mod => x.checked_rem(y).map(|r| if r != 0 && (r < 0) != (y < 0) { r + y } else { r }),
                Operator::LShift => u32::try_from(y).ok().and_then(|y| x.checked_mul(1i64.checked_shl(y)?)),
                Operator::RShift => u32::try_from(y).ok().map(|y| x >> y.min(63)),
                Operator::BitAnd => Some(x & y),
                Operator::BitOr => Some(x | y),
                Operator::BitXor => Some(x ^ y),
                Operator::Pow if y >= 0 => u32::try_from(y).ok().and_then(|y| x.checked_pow(y)),
                Operator::Div if y == 0 => return Err("division by zero".into()),
                Operator::Div => return Ok(Const::Float(x as f64 / y as f64)),
                _ => return fold_floats(op, x as f64, y as f64),
            };
            result.map(Const::Int).ok_or_else(overflow)
        }
        (Const::Int(x), Const::Float(y)) => fold_floats(op, *x as f64, *y),
        (Const::Float(x), Const::Int(y)) => fold_floats(op, *x, *y as f64),
        (Const::Float(x), Const::Float(y)) => fold_floats(op, *x, *y),
        (Const::Str(x), Const::Str(y)) if op == Operator::Add => Ok(Const::Str(format!("{x}{y}").into())),
        _ => Err("this operator does not work on these constants".into()),
    }
}

fn fold_floats(op: Operator, x: f64, y: f64) -> Result<Const, String> {
    Ok(Const::Float(match op {
        Operator::Add => x + y,
        Operator::Sub => x - y,
        Operator::Mult => x * y,
        Operator::Div | Operator::FloorDiv | Operator::Mod if y == 0.0 => return Err("division by zero".into()),
        Operator::Div => x / y,
        Operator::FloorDiv => (x / y).floor(),
        // The square root is correctly rounded everywhere; other powers are not.
        Operator::Pow if y == 0.5 => x.sqrt(),
        Operator::Pow if y == -0.5 => 1.0 / x.sqrt(),
        Operator::Pow if y.fract() == 0.0 && y.abs() <= 64.0 => {
            let power = (0..y.abs() as u32).fold(1.0, |product, _| product * x);
            if y < 0.0 { 1.0 / power } else { power }
        }
        _ => return Err("this operator does not work on these constants".into()),
    }))
}
