//! Scalars: constants are folded, the rest is computed by the scalar unit.

use ruff_python_ast::{CmpOp, Operator, UnaryOp};
use slipring_ir::{Attr, Diagnostic, Reported, Span, Type, ValueId};
use slipring_mlir::arith;
use slipring_pto as pto;
use slipring_tile::{Elem, Space};

use super::lowering::{Lower, Lowered, describe};
use crate::constants;
use crate::dtype::{DType, scalar_type};
use crate::value::{Const, Index, RegionId, Scalar, TileId, Value};

/// The maximum exponent of a power that is computed by multiplication.
const MOST_FACTORS: i64 = 8;

impl Lower<'_> {
    /// A scalar that an op in the current region computes.
    pub fn scalar(&mut self, value: ValueId, ty: DType) -> Value {
        Value::Scalar(Scalar { value, ty, region: self.open_region_op() })
    }

    /// The op of the innermost open region.
    pub(super) fn open_region_op(&self) -> Option<slipring_ir::OpId> {
        self.open.region.map(|RegionId(at)| self.open.regions[at as usize].op)
    }

    /// A number as a value of a type.
    ///
    /// # Errors
    /// Reported if it is not a number, or a non-constant of another type.
    pub fn number(&mut self, value: &Value, ty: DType, span: Span) -> Lowered<ValueId> {
        if let Value::Const(c) = value {
            self.fits(c, ty, span)?;
        }
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
            (Value::Tile(id), _) if self.tile(*id).shape.iter().all(|n| *n == 1) => {
                let id = self.demand(value, Space::Vec, span)?;
                let first = self.e.index(0);
                let element = self.element_of_tile(id, first);
                self.number(&element, ty, span)
            }
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

    /// The element of a tile in UB that is this many elements from its address, as a number.
    pub fn element_of_tile(&mut self, id: TileId, offset: ValueId) -> Value {
        let (src, elem) = (self.tile(id).value, self.tile(id).ty.layout.elem);
        let operands = [("src", &[src][..]), ("offset", &[offset])];
        let value = self.e.value(&pto::TGETVAL, &operands, &[], scalar_type(elem));
        self.scalar(value, DType::Elem(elem))
    }

    /// Reports a constant that a type cannot represent.
    pub fn fits(&mut self, value: &Const, ty: DType, span: Span) -> Lowered<()> {
        match constants::mismatch(value, ty) {
            None => Ok(()),
            Some(why) => Err(self.error("constant", span, why)),
        }
    }

    /// A constant float, rounded to its type.
    fn float(&mut self, x: f64, elem: Elem) -> ValueId {
        // Scalars are passed as f32 if the element type is narrower; ops round to the tile's type.
        let ty = Type::Float(if elem.bytes() == 4 { elem } else { Elem::F32 });
        let bits = u64::from((x as f32).to_bits());
        self.e.constant(Attr::Float(bits, ty.clone()), ty)
    }

    /// `pl.cast` of a number: an integer to a float; a float to an integer, rounded towards zero as in C; otherwise the
    /// usual conversion to a required type.
    pub fn cast_number(&mut self, value: &Value, elem: Elem, span: Span) -> Lowered {
        let ty = DType::Elem(elem);
        let value = match value {
            Value::Scalar(scalar) if !scalar.ty.is_float() && scalar.ty != DType::Bool && elem.is_float() => {
                let int = match scalar.ty {
                    DType::Index => self.number(value, DType::Elem(Elem::I64), span)?,
                    _ => scalar.value,
                };
                let cast = if scalar.ty.is_unsigned() { &arith::UITOFP } else { &arith::SITOFP };
                // Scalars are passed as f32 if the element type is narrower.
                self.e.value(cast, &[("in", &[int])], &[], Type::Float(Elem::F32))
            }
            Value::Scalar(scalar) if scalar.ty.is_float() && !elem.is_float() => {
                let cast = if ty.is_unsigned() { &arith::FPTOUI } else { &arith::FPTOSI };
                self.e.value(cast, &[("in", &[scalar.value])], &[], ty.ir())
            }
            Value::Scalar(scalar) if scalar.ty == DType::Bool => {
                let one = if elem.is_float() { DType::Elem(Elem::I32).ir() } else { ty.ir() };
                let int = self.e.value(&arith::EXTUI, &[("in", &[scalar.value])], &[], one);
                match elem.is_float() {
                    true => self.e.value(&arith::UITOFP, &[("in", &[int])], &[], Type::Float(Elem::F32)),
                    false => int,
                }
            }
            Value::Scalar(scalar) if let (DType::Elem(from), false) = (scalar.ty, elem.is_float()) => {
                let (own, wanted) = (from.bytes(), elem.bytes());
                let cast = match scalar.ty.is_unsigned() {
                    _ if own > wanted => Some(&arith::TRUNCI),
                    _ if own == wanted => None,
                    true => Some(&arith::EXTUI),
                    false => Some(&arith::EXTSI),
                };
                match cast {
                    Some(cast) => self.e.value(cast, &[("in", &[scalar.value])], &[], ty.ir()),
                    None => scalar.value,
                }
            }
            other => self.number(other, ty, span)?,
        };
        let ty = if elem.is_float() { DType::Elem(Elem::F32) } else { ty };
        Ok(self.scalar(value, ty))
    }

    /// Converts between `index` and the integers.
    fn convert(&mut self, scalar: Scalar, ty: DType, span: Span) -> Lowered<ValueId> {
        let is_int = |ty: DType| matches!(ty, DType::Elem(elem) if !elem.is_float());
        match (scalar.ty, ty) {
            (DType::Index, to) if is_int(to) => {
                Ok(self.e.value(&arith::INDEX_CAST, &[("in", &[scalar.value])], &[], to.ir()))
            }
            (from, DType::Index) if is_int(from) => {
                let cast = if from.is_unsigned() { &arith::INDEX_CASTUI } else { &arith::INDEX_CAST };
                Ok(self.e.value(cast, &[("in", &[scalar.value])], &[], Type::Index))
            }
            (DType::Elem(Elem::F32), DType::Elem(elem)) if elem.is_float() => Ok(scalar.value),
            // As in Python.
            (from, to) if to.is_float() && (from == DType::Index || is_int(from)) => {
                match self.cast_number(&Value::Scalar(scalar), Elem::F32, span)? {
                    Value::Scalar(float) => Ok(float.value),
                    _ => Err(self.error("scalar-type", span, "this number is not a float")),
                }
            }
            (from, to) => {
                let message = format!(
                    "{} scalar where {} one is needed",
                    crate::dtype::with_article(from.name()),
                    crate::dtype::with_article(to.name())
                );
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

    /// An offset times a constant.
    pub fn times(&mut self, a: Index, n: i64) -> Index {
        match a {
            Index::Known(a) => Index::Known(a.saturating_mul(n)),
            Index::At(_) if n == 1 => a,
            index => {
                let (value, by) = (self.index_value(index), self.e.index(n));
                let value = self.e.value(&arith::MULI, &[("lhs", &[value]), ("rhs", &[by])], &[], Type::Index);
                let region = self.open_region_op();
                Index::At(Scalar { value, ty: DType::Index, region })
            }
        }
    }

    /// The sum of two offsets.
    pub fn add_index(&mut self, a: Index, b: Index) -> Index {
        match (a, b) {
            (Index::Known(a), Index::Known(b)) => Index::Known(a.saturating_add(b)),
            (Index::Known(0), other) | (other, Index::Known(0)) => other,
            (a, b) => self.of_two(&arith::ADDI, a, b),
        }
    }

    /// The difference of two offsets.
    pub fn less(&mut self, a: Index, b: Index) -> Index {
        match (a, b) {
            (Index::Known(a), Index::Known(b)) => Index::Known(a.saturating_sub(b)),
            (a, Index::Known(0)) => a,
            (a, b) => self.of_two(&arith::SUBI, a, b),
        }
    }

    /// The smaller of two offsets.
    pub fn smaller(&mut self, a: Index, b: Index) -> Index {
        match (a, b) {
            (Index::Known(a), Index::Known(b)) => Index::Known(a.min(b)),
            (a, b) if a == b => a,
            (a, b) => self.of_two(&arith::MINSI, a, b),
        }
    }

    /// The larger of two offsets.
    pub fn larger(&mut self, a: Index, b: Index) -> Index {
        match (a, b) {
            (Index::Known(a), Index::Known(b)) => Index::Known(a.max(b)),
            (a, b) if a == b => a,
            (a, b) => self.of_two(&arith::MAXSI, a, b),
        }
    }

    fn of_two(&mut self, op: &'static slipring_op::OpDef, a: Index, b: Index) -> Index {
        let (a, b) = (self.index_value(a), self.index_value(b));
        let value = self.e.value(op, &[("lhs", &[a]), ("rhs", &[b])], &[], Type::Index);
        let region = self.open_region_op();
        Index::At(Scalar { value, ty: DType::Index, region })
    }

    /// The folded constant, or its error.
    pub(super) fn folded(&mut self, result: Result<Const, String>, span: Span) -> Lowered {
        result.map(Value::Const).map_err(|why| self.error("constant", span, why))
    }

    /// A unary operator on a number.
    pub fn unary_number(&mut self, op: UnaryOp, value: &Value, span: Span) -> Lowered {
        match (op, value) {
            (op, Value::Const(c)) => match constants::unary(op, c) {
                Some(folded) => self.folded(folded, span),
                None => {
                    let what = describe(self, value);
                    Err(self.error("operator", span, format!("this operator does not work on {what}")))
                }
            },
            (UnaryOp::UAdd, Value::Scalar(_)) => Ok(value.clone()),
            (UnaryOp::Not, Value::Scalar(scalar)) if scalar.ty == DType::Bool => {
                let one = self.e.constant(Attr::Bool(true), Type::I1);
                let value = self.e.value(&arith::XORI, &[("lhs", &[scalar.value]), ("rhs", &[one])], &[], Type::I1);
                Ok(self.scalar(value, DType::Bool))
            }
            (UnaryOp::Invert, Value::Scalar(scalar)) if !scalar.ty.is_float() && scalar.ty != DType::Bool => {
                let ones = match scalar.ty.is_unsigned() {
                    true => (1i128 << (8 * scalar.ty.bytes())) - 1,
                    false => -1,
                };
                let ty = scalar.ty.ir();
                let ones = self.e.constant(Attr::Int(ones, ty.clone()), ty.clone());
                let value = self.e.value(&arith::XORI, &[("lhs", &[scalar.value]), ("rhs", &[ones])], &[], ty);
                Ok(self.scalar(value, scalar.ty))
            }
            // Zeros must change their sign, too.
            (UnaryOp::USub, Value::Scalar(scalar)) if scalar.ty.is_float() => {
                let negated = self.e.value(&arith::NEGF, &[("in", &[scalar.value])], &[], scalar.ty.ir());
                Ok(self.scalar(negated, scalar.ty))
            }
            (UnaryOp::USub, Value::Scalar(_)) => {
                self.binary_number(Operator::Sub, &Value::Const(Const::Int(0)), value, span)
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
            return self.folded(constants::binary(op, x, y), span);
        }
        if let (Operator::Pow, Value::Scalar(base), Value::Const(Const::Int(times @ 1..=MOST_FACTORS))) = (op, a, b)
            && base.ty != DType::Bool
        {
            return (1..*times).try_fold(a.clone(), |power, _| self.binary_number(Operator::Mult, &power, a, span));
        }
        let ty = match (a, b) {
            (Value::Scalar(a), Value::Scalar(b)) if a.ty == b.ty => a.ty,
            (Value::Scalar(s), Value::Scalar(_)) | (Value::Scalar(_), Value::Scalar(s)) if s.ty.is_float() => s.ty,
            (Value::Scalar(_), Value::Scalar(s)) if s.ty.is_float() => s.ty,
            (Value::Scalar(s), Value::Const(Const::Float(_))) | (Value::Const(Const::Float(_)), Value::Scalar(s))
                if !s.ty.is_float() =>
            {
                DType::Elem(Elem::F32)
            }
            (Value::Scalar(a), Value::Scalar(_)) if a.ty == DType::Index => DType::Index,
            (Value::Scalar(_), Value::Scalar(b)) if b.ty == DType::Index => DType::Index,
            (Value::Scalar(s), _) | (_, Value::Scalar(s)) => s.ty,
            _ => {
                let (x, y) = (describe(self, a), describe(self, b));
                let error = Diagnostic::error("operator", span, format!("this operator does not work on {x} and {y}"));
                let lists = [a, b].iter().any(|value| matches!(value, Value::Tuple(_)));
                return Err(self.report(if lists { error.help(super::unknown::LISTS) } else { error }));
            }
        };
        let name = match (op, ty.is_float()) {
            // Booleans have no arithmetic, only `&`, `|` and `^`.
            (
                Operator::Add
                | Operator::Sub
                | Operator::Mult
                | Operator::FloorDiv
                | Operator::Mod
                | Operator::LShift
                | Operator::RShift,
                false,
            ) if ty == DType::Bool => return Err(self.no_operator(ty, span)),
            (Operator::Add, false) => &arith::ADDI,
            (Operator::Sub, false) => &arith::SUBI,
            (Operator::Mult, false) => &arith::MULI,
            (Operator::FloorDiv, false) if ty.is_unsigned() => &arith::DIVUI,
            (Operator::FloorDiv, false) => &arith::FLOORDIVSI,
            (Operator::Mod, false) if ty.is_unsigned() => &arith::REMUI,
            (Operator::Mod, false) => &arith::REMSI,
            (Operator::BitAnd, false) => &arith::ANDI,
            (Operator::BitOr, false) => &arith::ORI,
            (Operator::BitXor, false) => &arith::XORI,
            (Operator::LShift, false) => &arith::SHLI,
            (Operator::RShift, false) if ty.is_unsigned() => &arith::SHRUI,
            (Operator::RShift, false) => &arith::SHRSI,
            (Operator::Add, true) => &arith::ADDF,
            (Operator::Sub, true) => &arith::SUBF,
            (Operator::Mult, true) => &arith::MULF,
            (Operator::Div, true) => &arith::DIVF,
            _ => return Err(self.no_operator(ty, span)),
        };
        let (lhs, rhs) = (self.number(a, ty, span)?, self.number(b, ty, span)?);
        let mut value = self.e.value(name, &[("lhs", &[lhs]), ("rhs", &[rhs])], &[], ty.ir());
        if op == Operator::Mod && !ty.is_unsigned() {
            value = self.sign_of_divisor(value, (b, rhs), ty);
        }
        Ok(self.scalar(value, ty))
    }

    fn no_operator(&mut self, ty: DType, span: Span) -> Reported {
        self.error("operator", span, format!("this operator does not work on {} scalars", ty.name()))
    }

    /// Python's remainder, which has the sign of the divisor, from a remainder with the sign of the dividend.
    fn sign_of_divisor(&mut self, rest: ValueId, (written, divisor): (&Value, ValueId), ty: DType) -> ValueId {
        let two = |lower: &mut Self, op, a, b| lower.e.value(op, &[("lhs", &[a]), ("rhs", &[b])], &[], ty.ir());
        // Their sum cannot overflow if the divisor is at most a quarter of the type's range.
        let quarter = 1u64 << (8 * ty.bytes() - 2);
        if matches!(written, Value::Const(Const::Int(n)) if n.unsigned_abs() <= quarter) {
            let sum = two(self, &arith::ADDI, rest, divisor);
            return two(self, &arith::REMSI, sum, divisor);
        }
        let is = |lower: &mut Self, relation, a, b| {
            let predicate = [("predicate", Attr::member("cmpi_predicate", relation))];
            lower.e.value(&arith::CMPI, &[("lhs", &[a]), ("rhs", &[b])], &predicate, Type::I1)
        };
        let zero = self.e.constant(Attr::Int(0, ty.ir()), ty.ir());
        let signs = two(self, &arith::XORI, rest, divisor);
        let (differ, some) = (is(self, "slt", signs, zero), is(self, "ne", rest, zero));
        let both = self.e.value(&arith::ANDI, &[("lhs", &[differ]), ("rhs", &[some])], &[], Type::I1);
        let operands: &[(_, &[_])] = &[("condition", &[both]), ("true_value", &[divisor]), ("false_value", &[zero])];
        let more = self.e.value(&arith::SELECT, operands, &[], ty.ir());
        two(self, &arith::ADDI, rest, more)
    }

    /// The absolute value of a number of the run.
    pub fn absolute(&mut self, value: &Value, span: Span) -> Lowered {
        if matches!(value, Value::Scalar(scalar) if scalar.ty.is_unsigned()) {
            return Ok(value.clone());
        }
        let negated = self.unary_number(UnaryOp::USub, value, span)?;
        self.extreme(true, value, &negated, span)
    }

    /// The smaller or larger of two numbers.
    pub fn extreme(&mut self, larger: bool, a: &Value, b: &Value, span: Span) -> Lowered {
        if let (Value::Const(x), Value::Const(y)) = (a, b)
            && let Some(order) = constants::order(x, y)
        {
            // For equal values Python takes the first.
            let second = if larger { order.is_lt() } else { order.is_gt() };
            return Ok(if second { b.clone() } else { a.clone() });
        }
        let ty = shared_type(a, b).unwrap_or(DType::Elem(Elem::F32));
        let name = match (larger, ty.is_float()) {
            (true, false) if ty.is_unsigned() => &arith::MAXUI,
            (false, false) if ty.is_unsigned() => &arith::MINUI,
            (true, false) => &arith::MAXSI,
            (false, false) => &arith::MINSI,
            (true, true) => &arith::MAXIMUMF,
            (false, true) => &arith::MINIMUMF,
        };
        let (lhs, rhs) = (self.number(a, ty, span)?, self.number(b, ty, span)?);
        let value = self.e.value(name, &[("lhs", &[lhs]), ("rhs", &[rhs])], &[], ty.ir());
        Ok(self.scalar(value, ty))
    }

    /// A comparison of two numbers.
    pub fn compare_numbers(&mut self, op: CmpOp, a: &Value, b: &Value, span: Span) -> Lowered {
        if let (Value::Const(x), Value::Const(y)) = (a, b)
            && let Some(result) = constants::compare(op, x, y)
        {
            return Ok(Value::Const(Const::Bool(result)));
        }
        let Some(ty) = shared_type(a, b) else {
            let (x, y) = (describe(self, a), describe(self, b));
            return Err(self.error("operator", span, format!("{x} and {y} cannot be compared")));
        };
        let float = ty.is_float();
        let predicate = match (op, float) {
            (CmpOp::Eq, false) => "eq",
            (CmpOp::NotEq, false) => "ne",
            (CmpOp::Lt, false) if ty.is_unsigned() => "ult",
            (CmpOp::LtE, false) if ty.is_unsigned() => "ule",
            (CmpOp::Gt, false) if ty.is_unsigned() => "ugt",
            (CmpOp::GtE, false) if ty.is_unsigned() => "uge",
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
        let (name, kind) = if float { (&arith::CMPF, "cmpf_predicate") } else { (&arith::CMPI, "cmpi_predicate") };
        let predicate = Attr::member(kind, predicate);
        let value = self.e.value(name, &[("lhs", &[lhs]), ("rhs", &[rhs])], &[("predicate", predicate)], Type::I1);
        Ok(self.scalar(value, DType::Bool))
    }

    /// A power whose exponent is a small integer, by multiplication from the left, or a half, by a square root.
    pub(super) fn power(&mut self, base: Value, exponent: &Value, span: Span) -> Lowered {
        const MOST: i64 = MOST_FACTORS;
        let twice = match exponent {
            Value::Const(Const::Int(n)) => n.checked_mul(2),
            Value::Const(Const::Float(n)) if (2.0 * n).fract() == 0.0 && n.abs() <= MOST as f64 => {
                Some((2.0 * n) as i64)
            }
            _ => None,
        };
        let products =
            twice.map(|twice| (twice.unsigned_abs() / 2, twice % 2 != 0)).filter(|(whole, half)| match half {
                true => *whole == 0,
                false => (1..=MOST as u64).contains(whole),
            });
        let (Some((whole, half)), Value::Tile(_) | Value::Tensor(_) | Value::Parts(_)) = (products, &base) else {
            let message = format!("on tiles, `**` takes a constant from 1 to {MOST}, 0.5, or one of these below 0");
            let error = Diagnostic::error("operator", span, message)
                .help("a power of positive elements is `pl.exp(pl.log(x) * y)`, 2 to the power of them `pl.exp(x * 0.6931471805599453)`");
            return Err(self.report(error));
        };
        // Loaded once.
        let base = match base {
            Value::Tensor(_) => Value::Tile(self.demand(&base, slipring_tile::Space::Vec, span)?),
            tile => tile,
        };
        let below = twice.is_some_and(|twice| twice < 0);
        if half {
            return self.call_by_name(if below { "rsqrt" } else { "sqrt" }, vec![base], span);
        }
        let mut power = base.clone();
        for _ in 1..whole {
            power = self.call_by_name("mul", vec![power, base.clone()], span)?;
        }
        if below { self.call_by_name("recip", vec![power], span) } else { Ok(power) }
    }
}

/// The type for a choice between two numbers or their comparison: that of the scalar, preferably the first one, except
/// for an offset, which other integers may not be able to hold.
pub(super) fn shared_type(a: &Value, b: &Value) -> Option<DType> {
    match (a, b) {
        (Value::Scalar(a), Value::Scalar(b)) if b.ty == DType::Index && !a.ty.is_float() => Some(b.ty),
        (Value::Scalar(s), _) | (_, Value::Scalar(s)) => Some(s.ty),
        _ => None,
    }
}
