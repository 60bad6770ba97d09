//! Expressions: numbers, pointers, elements of memory.

use slipring_ir::{Attr, Reported, Type, ValueId};
use slipring_micro::CASTPTR;
use slipring_mlir::arith;
use slipring_op::OpDef;
use slipring_pto as pto;
use slipring_tile::Elem;

use crate::tree::{Node, inside, name, parts, template};
use crate::types::{Number, integer, literal, number};
use crate::value::{Read, Reader, Value};

/// Binary operators: the op for signed integers, for unsigned integers, and for floats.
const BINARY: &[(&str, [Option<&OpDef>; 3])] = &[
    ("+", [Some(&arith::ADDI), Some(&arith::ADDI), Some(&arith::ADDF)]),
    ("-", [Some(&arith::SUBI), Some(&arith::SUBI), Some(&arith::SUBF)]),
    ("*", [Some(&arith::MULI), Some(&arith::MULI), Some(&arith::MULF)]),
    ("/", [Some(&arith::DIVSI), Some(&arith::DIVUI), Some(&arith::DIVF)]),
    ("%", [Some(&arith::REMSI), Some(&arith::REMUI), None]),
    ("&", [Some(&arith::ANDI), Some(&arith::ANDI), None]),
    ("|", [Some(&arith::ORI), Some(&arith::ORI), None]),
    ("^", [Some(&arith::XORI), Some(&arith::XORI), None]),
    ("<<", [Some(&arith::SHLI), Some(&arith::SHLI), None]),
    (">>", [Some(&arith::SHRSI), Some(&arith::SHRUI), None]),
];

/// Comparisons: the predicate for signed integers, for unsigned integers, and for floats.
const RELATIONS: &[(&str, [&str; 3])] = &[
    ("==", ["eq", "eq", "oeq"]),
    ("!=", ["ne", "ne", "une"]),
    ("<", ["slt", "ult", "olt"]),
    ("<=", ["sle", "ule", "ole"]),
    (">", ["sgt", "ugt", "ogt"]),
    (">=", ["sge", "uge", "oge"]),
];

impl<'t> Reader<'t> {
    /// Reads an expression.
    pub fn expression(&mut self, node: Node<'_>) -> Read<Value> {
        let node = inside(node);
        match node.kind() {
            "identifier" => self.named(node),
            "number_literal" => self.literal(node),
            "true" | "false" => {
                let value = self.integer(i64::from(node.kind() == "true"), Number::Bool);
                Ok(Value::Number(value, Number::Bool))
            }
            "null" => Ok(Value::Nowhere),
            "qualified_identifier" => match name(self.text, node).rsplit_once("::") {
                Some((kind, member)) => {
                    let kind = kind.rsplit("::").next().unwrap_or(kind);
                    Ok(Value::Word(kind.to_string(), member.to_string()))
                }
                None => self.named(node),
            },
            "cast_expression" => self.cast(node),
            "unary_expression" => self.unary(node),
            "binary_expression" => match self.cast_of_signed(node)? {
                Some(value) => Ok(value),
                None => self.binary(node),
            },
            "conditional_expression" => self.choice(node),
            "subscript_expression" => self.element(node),
            "call_expression" => self.called(node),
            "compound_literal_expression" => self.object(node),
            _ => Err(self.unknown(node, "an expression")),
        }
    }

    fn literal(&mut self, node: Node<'_>) -> Read<Value> {
        let text = self.of(node);
        if integer(text).is_some() {
            let Some((n, number)) = literal(text) else { return Err(self.unknown(node, "a number")) };
            // A constant of the program holds the bits as a number with a sign.
            let n = if number.ty() == Type::I32 { i64::from(n as i32) } else { n };
            return Ok(Value::Number(self.integer(n, number), number));
        }
        let digits = text.strip_suffix(['f', 'F']).filter(|_| !text.starts_with("0x"));
        match digits.and_then(|digits| digits.parse::<f32>().ok()) {
            Some(value) => Ok(Value::Number(self.float(value), Number::Float(Elem::F32))),
            None => Err(self.unknown(node, "a number")),
        }
    }

    fn float(&mut self, value: f32) -> ValueId {
        let attr = Attr::Float(u64::from(value.to_bits()), Type::F32);
        self.result(&arith::CONSTANT, &[], vec![(arith::VALUE, attr)], Type::F32)
    }

    /// `(int64_t)x`, `(__gm__ float *)p`, `(void *)0`.
    fn cast(&mut self, node: Node<'_>) -> Read<Value> {
        let (Some(ty), Some(value)) = (node.child_by_field_name("type"), node.child_by_field_name("value")) else {
            return Err(self.unknown(node, "a cast"));
        };
        self.cast_to(node, ty, value)
    }

    pub fn cast_to(&mut self, node: Node<'_>, ty: Node<'_>, value: Node<'_>) -> Read<Value> {
        if let Some(to) = number(self.text, ty) {
            return Ok(Value::Number(self.number_as(value, to)?, to));
        }
        let pointer = self.of(ty).trim_end().ends_with('*');
        match (pointer, self.of(inside(value))) {
            (true, "0" | "nullptr") => Ok(Value::Nowhere),
            (true, _) => match (self.expression(value)?, number_of_pointer(self.text, ty)) {
                (Value::Pointer(id, elem), to) if to.is_none_or(|to| to == elem) => Ok(Value::Pointer(id, elem)),
                (Value::Pointer(id, _), Some(to)) => {
                    let ty = Type::Ptr(to, None);
                    Ok(Value::Pointer(self.result(&CASTPTR, &[("address", &[id])], Vec::new(), ty), to))
                }
                (Value::Local(id, elem), to) if to == Some(elem) => Ok(Value::Local(id, elem)),
                _ => Err(self.unknown(node, "a cast of a pointer")),
            },
            // Types that only the device compiler has for constants, such as the kind of a barrier.
            (false, "0") => Ok(Value::Nowhere),
            _ => Err(self.unknown(node, "a cast")),
        }
    }

    /// Reads a number as a value of this type; a literal gets the type directly.
    pub fn number_as(&mut self, node: Node<'_>, to: Number) -> Read<ValueId> {
        let written = inside(node);
        let value = literal(self.of(written)).filter(|_| written.kind() == "number_literal").map(|(n, _)| n);
        match (to, value) {
            (Number::Int(64, _), Some(n)) => Ok(self.integer(n, to)),
            (Number::Int(32, _), Some(n)) if i32::try_from(n).is_ok() => Ok(self.integer(n, to)),
            _ => {
                let from = self.number(node)?;
                self.converted(node, from, to)
            }
        }
    }

    fn unary(&mut self, node: Node<'_>) -> Read<Value> {
        let (Some(sign), Some(argument)) = (node.child_by_field_name("operator"), node.child_by_field_name("argument"))
        else {
            return Err(self.unknown(node, "an expression"));
        };
        let sign = self.of(sign);
        let value = self.number(argument)?;
        self.signed(node, sign, value)
    }

    /// `(half)-2.0f`: the grammar does not know the names of these types, and takes a cast of a number with a sign for a
    /// difference or a sum.
    fn cast_of_signed(&mut self, node: Node<'_>) -> Read<Option<Value>> {
        let field = |name| node.child_by_field_name(name);
        let (Some(ty), Some(sign), Some(right)) = (field("left"), field("operator"), field("right")) else {
            return Ok(None);
        };
        let is_cast = ty.kind() == "parenthesized_expression" && matches!(self.of(sign), "+" | "-");
        let Some(to) = number(self.text, ty).filter(|_| is_cast) else { return Ok(None) };
        // A cast binds more tightly than any operator that the grammar could have read inside.
        if matches!(right.kind(), "binary_expression" | "conditional_expression") {
            return Err(self.unknown(node, "a cast"));
        }
        let value = self.number(right)?;
        let Value::Number(id, from) = self.signed(node, self.of(sign), value)? else {
            return Err(self.unknown(node, "a cast"));
        };
        Ok(Some(Value::Number(self.converted(node, (id, from), to)?, to)))
    }

    /// A number with a sign or an operator before it.
    fn signed(&mut self, node: Node<'_>, sign: &str, (id, number): (ValueId, Number)) -> Read<Value> {
        match (sign, number) {
            ("+", Number::Float(_)) => Ok(Value::Number(id, number)),
            ("-", Number::Float(_)) => {
                let id = self.result(&arith::NEGF, &[("in", &[id])], Vec::new(), number.ty());
                Ok(Value::Number(id, number))
            }
            ("-" | "~" | "+", Number::Int(..) | Number::Bool) => {
                let to = promoted(number);
                let id = self.converted(node, (id, number), to)?;
                let id = match sign {
                    "-" => {
                        let zero = self.integer(0, to);
                        self.two(&arith::SUBI, [zero, id])
                    }
                    "~" => {
                        let ones = self.integer(-1, to);
                        self.two(&arith::XORI, [id, ones])
                    }
                    _ => id,
                };
                Ok(Value::Number(id, to))
            }
            ("!", _) => {
                let id = self.converted(node, (id, number), Number::Bool)?;
                let one = self.integer(1, Number::Bool);
                Ok(Value::Number(self.two(&arith::XORI, [id, one]), Number::Bool))
            }
            _ => Err(self.unknown(node, "an expression")),
        }
    }

    fn two(&mut self, def: &'static OpDef, values: [ValueId; 2]) -> ValueId {
        let op = arith::binary(&mut self.module, def, values, self.span);
        self.append(op);
        self.module.op(op).results[0]
    }

    pub fn relation(&mut self, word: &str, [a, b]: [ValueId; 2], def: &'static OpDef, kind: &str) -> ValueId {
        let attrs = vec![("predicate", Attr::member(kind, word))];
        self.result(def, &[("lhs", &[a]), ("rhs", &[b])], attrs, Type::I1)
    }

    fn binary(&mut self, node: Node<'_>) -> Read<Value> {
        let field = |name| node.child_by_field_name(name);
        let (Some(left), Some(sign), Some(right)) = (field("left"), field("operator"), field("right")) else {
            return Err(self.unknown(node, "an expression"));
        };
        let sign = self.of(sign);
        let a = self.expression(left)?;
        match a {
            Value::Pointer(pointer, elem) => {
                let by = self.number(right)?;
                self.moved(node, (pointer, elem), sign, by)
            }
            Value::Local(address, elem) if sign == "+" => {
                let by = self.number(right)?;
                let distance = self.converted(node, by, Number::I64)?;
                let bytes = self.integer(elem.bytes() as i64, Number::I64);
                let distance = self.two(&arith::MULI, [distance, bytes]);
                Ok(Value::Local(self.two(&arith::ADDI, [address, distance]), elem))
            }
            Value::Number(id, number) => {
                if matches!(sign, "&&" | "||") {
                    self.anywhere(right)?;
                }
                let right = self.number(right)?;
                self.arithmetic(node, (id, number), sign, right)
            }
            // The error states what the operand is instead.
            _ => Err(self.number(left).err().unwrap_or(Reported)),
        }
    }

    /// `p + n`.
    fn moved(
        &mut self,
        node: Node<'_>,
        (pointer, elem): (ValueId, Elem),
        sign: &str,
        by: (ValueId, Number),
    ) -> Read<Value> {
        let mut distance = self.converted(node, by, Number::I64)?;
        match sign {
            "+" => {}
            "-" => {
                let zero = self.integer(0, Number::I64);
                distance = self.two(&arith::SUBI, [zero, distance]);
            }
            _ => return Err(self.unknown(node, "arithmetic of pointers")),
        }
        let ty = self.module.ty(pointer).clone();
        let moved = self.result(&pto::ADDPTR, &[("ptr", &[pointer]), ("offset", &[distance])], Vec::new(), ty);
        Ok(Value::Pointer(moved, elem))
    }

    /// Reads a binary operation on two numbers.
    pub fn arithmetic(
        &mut self,
        node: Node<'_>,
        a: (ValueId, Number),
        sign: &str,
        b: (ValueId, Number),
    ) -> Read<Value> {
        if let "&&" | "||" = sign {
            let both = [self.converted(node, a, Number::Bool)?, self.converted(node, b, Number::Bool)?];
            let def = if sign == "&&" { &arith::ANDI } else { &arith::ORI };
            return Ok(Value::Number(self.two(def, both), Number::Bool));
        }
        let shifts = matches!(sign, "<<" | ">>");
        let Some(common) = (if shifts { Some(promoted(a.1)) } else { common(a.1, b.1) }) else {
            return Err(self.unknown(node, "arithmetic"));
        };
        let both = [self.converted(node, a, common)?, self.converted(node, b, common)?];
        let which = match common {
            Number::Int(_, true) | Number::Bool => 0,
            Number::Int(_, false) => 1,
            Number::Float(_) => 2,
        };
        if let Some((_, words)) = RELATIONS.iter().find(|(own, _)| *own == sign) {
            let (def, kind): (&'static OpDef, _) =
                if which == 2 { (&arith::CMPF, "cmpf_predicate") } else { (&arith::CMPI, "cmpi_predicate") };
            return Ok(Value::Number(self.relation(words[which], both, def, kind), Number::Bool));
        }
        match BINARY.iter().find(|(own, _)| *own == sign).and_then(|(_, defs)| defs[which]) {
            Some(def) => Ok(Value::Number(self.two(def, both), common)),
            None => Err(self.unknown(node, "arithmetic")),
        }
    }

    /// Rejects expressions that must only be evaluated conditionally: operands of `&&`, `||` and `?:` are always
    /// evaluated here.
    fn anywhere(&mut self, node: Node<'_>) -> Read<()> {
        let what = match node.kind() {
            "subscript_expression" => Some("reads memory"),
            "call_expression" => {
                let own = node.child_by_field_name("function").map(|function| template(self.text, function).0);
                (!matches!(own, Some("static_cast" | "min" | "max"))).then_some("calls something")
            }
            "binary_expression" => {
                let divides =
                    node.child_by_field_name("operator").is_some_and(|sign| matches!(self.of(sign), "/" | "%"));
                let by = node.child_by_field_name("right").and_then(|by| integer(self.of(inside(by))));
                (divides && by.is_none_or(|by| by == 0)).then_some("divides by what is not a number here")
            }
            _ => None,
        };
        match what {
            Some(what) => Err(self.error(node, format!("this {what} only if it is reached, which is not read"))),
            None => parts(node).into_iter().try_for_each(|part| self.anywhere(part)),
        }
    }

    /// `c ? a : b`: both operands are evaluated.
    fn choice(&mut self, node: Node<'_>) -> Read<Value> {
        let field = |name| node.child_by_field_name(name);
        let (Some(asked), Some(then), Some(otherwise)) =
            (field("condition"), field("consequence"), field("alternative"))
        else {
            return Err(self.unknown(node, "a choice"));
        };
        self.anywhere(then)?;
        self.anywhere(otherwise)?;
        let asked = self.condition(asked)?;
        let (a, b) = (self.number(then)?, self.number(otherwise)?);
        let Some(common) = common(a.1, b.1) else { return Err(self.unknown(node, "a choice")) };
        let both = [self.converted(node, a, common)?, self.converted(node, b, common)?];
        let operands: [(&str, &[ValueId]); 3] =
            [("condition", &[asked]), ("true_value", &both[..1]), ("false_value", &both[1..])];
        Ok(Value::Number(self.result(&arith::SELECT, &operands, Vec::new(), common.ty()), common))
    }

    /// Reads the condition of a branch.
    pub fn condition(&mut self, node: Node<'_>) -> Read<ValueId> {
        let asked = self.number(node)?;
        self.converted(node, asked, Number::Bool)
    }

    /// The element that `p[i]` or `a[i]` denotes: the indexed object and the index.
    pub fn place(&mut self, node: Node<'_>) -> Read<(Value, ValueId)> {
        let argument = node.child_by_field_name("argument");
        let indices = node.child_by_field_name("indices").map(parts).unwrap_or_default();
        let (Some(argument), [index]) = (argument, indices.as_slice()) else {
            return Err(self.unknown(node, "an element"));
        };
        let whole = self.expression(argument)?;
        let index = self.number(*index)?;
        let index = self.converted(node, index, Number::I64)?;
        Ok((whole, index))
    }

    /// `p[i]` or `a[i]`.
    fn element(&mut self, node: Node<'_>) -> Read<Value> {
        match self.place(node)? {
            (Value::Pointer(pointer, elem), index) => {
                let number = Number::of(elem);
                let operands: [(&str, &[ValueId]); 2] = [("ptr", &[pointer]), ("offset", &[index])];
                let id = self.result(&pto::LOAD_SCALAR, &operands, Vec::new(), number.element_type());
                Ok(Value::Number(self.signless(id, number), number))
            }
            (Value::Array(array, number), index) => {
                let operands: [(&str, &[ValueId]); 2] = [("array", &[array]), ("indices", &[index])];
                let id = self.result(&pto::LOCAL_ARRAY_GET, &operands, Vec::new(), number.element_type());
                Ok(Value::Number(self.signless(id, number), number))
            }
            (other, _) => Err(self.error(node, format!("{} has no elements here", other.described()))),
        }
    }

    /// Reads a call in an expression.
    fn called(&mut self, node: Node<'_>) -> Read<Value> {
        let (Some(function), Some(arguments)) =
            (node.child_by_field_name("function"), node.child_by_field_name("arguments"))
        else {
            return Err(self.unknown(node, "a call"));
        };
        let (own, words) = template(self.text, function);
        let arguments = parts(arguments);
        match (own, words.as_slice(), arguments.as_slice()) {
            ("static_cast", [ty], [value]) => self.cast_to(node, *ty, *value),
            // `(half)(x)` and `half(x)`.
            (_, [], [value]) if number(self.text, function).is_some() => self.cast_to(node, function, *value),
            ("reinterpret_cast", [ty], [value]) => match (number(self.text, *ty), self.expression(*value)?) {
                (Some(to @ Number::Int(64, _)), Value::Local(address, _)) => Ok(Value::Number(address, to)),
                _ => Err(self.unknown(node, "a cast")),
            },
            ("__builtin_inff" | "__builtin_nanf", [], _) => {
                let value = if own == "__builtin_inff" { f32::INFINITY } else { f32::NAN };
                Ok(Value::Number(self.float(value), Number::Float(Elem::F32)))
            }
            ("min" | "max", [], [a, b]) => {
                let (a, b) = (self.number(*a)?, self.number(*b)?);
                let Some(common @ Number::Int(_, true)) = common(a.1, b.1) else {
                    return Err(self.unknown(node, "a choice"));
                };
                let both = [self.converted(node, a, common)?, self.converted(node, b, common)?];
                let def = if own == "min" { &arith::MINSI } else { &arith::MAXSI };
                Ok(Value::Number(self.two(def, both), common))
            }
            _ => self.asked_of(node, function, &arguments),
        }
    }
}

/// The element type of a pointer type.
fn number_of_pointer(text: &str, ty: Node<'_>) -> Option<Elem> {
    number(text, *parts(inside(ty)).first()?)?.elem()
}

/// The type of a small number after integer promotion.
fn promoted(number: Number) -> Number {
    match number {
        Number::Bool => Number::I32,
        Number::Int(width, _) if width < 32 => Number::I32,
        other => other,
    }
}

/// The common type of two numbers in an arithmetic operation.
pub(crate) fn common(a: Number, b: Number) -> Option<Number> {
    Some(match (promoted(a), promoted(b)) {
        (a, b) if a == b => a,
        (Number::Int(wa, sa), Number::Int(wb, sb)) => match wa.cmp(&wb) {
            std::cmp::Ordering::Less => Number::Int(wb, sb),
            std::cmp::Ordering::Greater => Number::Int(wa, sa),
            std::cmp::Ordering::Equal => Number::Int(wa, sa && sb),
        },
        (float @ Number::Float(Elem::F32), _) | (_, float @ Number::Float(Elem::F32)) => float,
        _ => return None,
    })
}
