//! Expressions.

use std::rc::Rc;

use ruff_python_ast::{BoolOp, CmpOp, Expr, InterpolatedStringElement, Number, Operator, UnaryOp};
use slipring_ir::{Diagnostic, Span, Type};
use slipring_mlir::arith;

use super::lowering::{Lower, Lowered, describe};
use crate::constants::is_true;
use crate::dtype::DType;
use crate::members::member;
use crate::params::Given;
use crate::syntax::at;
use crate::text::python_text;
use crate::value::{Const, Partial, Value};

impl Lower<'_> {
    /// The value of an expression; emits the ops that it needs.
    pub fn expr(&mut self, expr: &Expr) -> Lowered {
        let outer = std::mem::replace(&mut self.e.span, at(expr));
        let value = self.deeper(at(expr), |l| l.expr_here(expr));
        self.e.span = outer;
        value
    }

    fn expr_here(&mut self, expr: &Expr) -> Lowered {
        let span = at(expr);
        Ok(match expr {
            Expr::Name(name) => return self.lookup(name.id.as_str(), span),
            Expr::NumberLiteral(literal) => match &literal.value {
                Number::Int(n) => match n.as_i64() {
                    Some(n) => Value::Const(Const::Int(n)),
                    None => return Err(self.error("constant", span, crate::constants::TOO_LARGE)),
                },
                Number::Float(x) if x.is_infinite() => {
                    let message =
                        "the number does not fit into a float of 64 bits, whose numbers end at 1.7976931348623157e308";
                    return Err(self.error("constant", span, message));
                }
                Number::Float(x) => Value::Const(Const::Float(*x)),
                Number::Complex { .. } => return Err(self.error("constant", span, "a kernel has no complex numbers")),
            },
            Expr::StringLiteral(literal) => Value::Const(Const::Str(literal.value.to_str().into())),
            Expr::BooleanLiteral(literal) => Value::Const(Const::Bool(literal.value)),
            Expr::NoneLiteral(_) => Value::Const(Const::None),
            Expr::Tuple(tuple) => return self.tuple(&tuple.elts, span),
            Expr::List(list) => return self.tuple(&list.elts, span),
            Expr::Attribute(attribute) => {
                let base = self.expr(&attribute.value)?;
                return self.attribute(base, attribute.attr.as_str(), span);
            }
            Expr::UnaryOp(unary) if is_least(unary) => Value::Const(Const::Int(i64::MIN)),
            Expr::UnaryOp(unary) => {
                let value = self.expr(&unary.operand)?;
                if matches!(value, Value::Tile(_) | Value::Tensor(_) | Value::Parts(_)) {
                    match unary.op {
                        UnaryOp::USub => return self.call_by_name("neg", vec![value], span),
                        UnaryOp::Invert | UnaryOp::Not => return self.call_by_name("not_", vec![value], span),
                        UnaryOp::UAdd => return Ok(value),
                    }
                }
                return self.unary_number(unary.op, &value, span);
            }
            Expr::BinOp(binary)
                if binary.op == Operator::MatMult
                    && [&binary.left, &binary.right].iter().any(|side| is_turned(side)) =>
            {
                let mut given = Given::default();
                for (side, word) in [(&binary.left, "a_trans"), (&binary.right, "b_trans")] {
                    let value = self.turned(side, word, &mut given)?;
                    given.positional.push((value, at(&**side)));
                }
                return self.call_path("pl.matmul", span, given, span);
            }
            Expr::BinOp(binary) => {
                let (a, b) = (self.expr(&binary.left)?, self.expr(&binary.right)?);
                return self.binary(binary.op, a, b, span);
            }
            Expr::BoolOp(operation) => return self.bool_op(operation.op, &operation.values, span),
            Expr::Compare(compare) => {
                let left = self.expr(&compare.left)?;
                return self.compared(left, &compare.ops, &compare.comparators, span);
            }
            Expr::If(choice) => return self.chosen(choice, span),
            Expr::Subscript(subscript) => {
                let base = self.expr(&subscript.value)?;
                return match self.subscript(base, &subscript.slice, span)? {
                    // A single element is a number.
                    Value::Tensor(element) if element.shape().is_empty() && element.reshaped.is_none() => {
                        self.by_element(&element)?;
                        Ok(self.read_element(&element, span))
                    }
                    part => Ok(part),
                };
            }
            Expr::Call(call) => return self.call(call),
            Expr::Dict(dict) => return self.dict(dict),
            Expr::ListComp(list) => return self.comprehension(&list.elt, &list.generators, span),
            Expr::FString(string) => self.formatted(string)?,
            other => return Err(self.not_here(super::unknown::expression(other), span)),
        })
    }

    /// An operator on numbers, tiles or tensors.
    pub fn binary(&mut self, op: Operator, a: Value, b: Value, span: Span) -> Lowered {
        let is_tile = |value: &Value| matches!(value, Value::Tile(_) | Value::Tensor(_) | Value::Parts(_));
        if let Some(joined) = self.joined(op, &a, &b, span)? {
            return Ok(joined);
        }
        if !is_tile(&a) && !is_tile(&b) {
            return self.binary_number(op, &a, &b, span);
        }
        let name = match op {
            Operator::Add => "add",
            Operator::Sub => "sub",
            Operator::Mult => "mul",
            Operator::Div => "div",
            Operator::MatMult => "matmul",
            Operator::BitAnd => "and_",
            Operator::BitOr => "or_",
            Operator::BitXor => "xor",
            Operator::Mod => "rem",
            Operator::LShift => "shl",
            Operator::RShift => "shr",
            Operator::FloorDiv => {
                let error = Diagnostic::error("operator", span, "there is no op for `//` on tiles")
                    .help("`pl.div` is the quotient; `pl.cast(…, pl.INT32, mode=\"floor\")` rounds down");
                return Err(self.report(error));
            }
            Operator::Pow => return self.power(a, &b, span),
        };
        self.call_by_name(name, vec![a, b], span)
    }

    pub(super) fn compare(&mut self, op: CmpOp, a: &Value, b: &Value, span: Span) -> Lowered {
        let is_tile = |value: &Value| matches!(value, Value::Tile(_) | Value::Tensor(_) | Value::Parts(_));
        if !is_tile(a) && !is_tile(b) {
            return self.compare_numbers(op, a, b, span);
        }
        let (how, turned) = match op {
            CmpOp::Eq => ("eq", "eq"),
            CmpOp::NotEq => ("ne", "ne"),
            CmpOp::Lt => ("lt", "gt"),
            CmpOp::LtE => ("le", "ge"),
            CmpOp::Gt => ("gt", "lt"),
            CmpOp::GtE => ("ge", "le"),
            _ => return Err(self.error("operator", span, "only ==, !=, <, <=, > and >= compare tiles")),
        };
        let (first, second, how) = if is_tile(a) { (a, b, how) } else { (b, a, turned) };
        let how = Value::Const(Const::Str(how.into()));
        self.call_by_name("cmp", vec![first.clone(), second.clone(), how], span)
    }

    pub(super) fn both(&mut self, op: BoolOp, a: &Value, b: &Value, span: Span) -> Lowered {
        match (a, b) {
            (Value::Scalar(scalar), tiles @ (Value::Tile(_) | Value::Tensor(_)))
            | (tiles @ (Value::Tile(_) | Value::Tensor(_)), Value::Scalar(scalar))
                if scalar.ty == DType::Bool =>
            {
                Err(self.no_condition(tiles, span))
            }
            (Value::Tile(_) | Value::Tensor(_), _) | (_, Value::Tile(_) | Value::Tensor(_)) => {
                let name = if op == BoolOp::And { "and_" } else { "or_" };
                self.call_by_name(name, vec![a.clone(), b.clone()], span)
            }
            (Value::Const(c), other) => {
                let decides = is_true(c) == (op == BoolOp::Or);
                Ok(if decides { Value::Const(c.clone()) } else { other.clone() })
            }
            (Value::Scalar(scalar), Value::Const(Const::Bool(c))) if scalar.ty == DType::Bool => {
                let decides = *c == (op == BoolOp::Or);
                Ok(if decides { b.clone() } else { a.clone() })
            }
            _ => {
                // Only the run knows which of the two is selected; only its truth value is needed.
                let b = match b {
                    Value::Const(c) => &Value::Const(Const::Bool(is_true(c))),
                    other => other,
                };
                let (lhs, rhs) = (self.number(a, DType::Bool, span)?, self.number(b, DType::Bool, span)?);
                let name = if op == BoolOp::And { &arith::ANDI } else { &arith::ORI };
                let value = self.e.value(name, &[("lhs", &[lhs]), ("rhs", &[rhs])], &[], Type::I1);
                Ok(self.scalar(value, DType::Bool))
            }
        }
    }

    pub(crate) fn select(&mut self, condition: slipring_ir::ValueId, a: &Value, b: &Value, span: Span) -> Lowered {
        let ty = super::arith::shared_type(a, b).unwrap_or(match (a, b) {
            (Value::Const(Const::Int(_)), Value::Const(Const::Int(_))) => DType::Index,
            (Value::Const(Const::Bool(_)), Value::Const(Const::Bool(_))) => DType::Bool,
            _ => DType::Elem(slipring_tile::Elem::F32),
        });
        let (x, y) = (self.number(a, ty, span)?, self.number(b, ty, span)?);
        let operands: [(&str, &[_]); 3] = [("condition", &[condition]), ("true_value", &[x]), ("false_value", &[y])];
        let value = self.e.value(&arith::SELECT, &operands, &[], ty.ir());
        Ok(self.scalar(value, ty))
    }

    /// A member of a value.
    pub(super) fn attribute(&mut self, base: Value, name: &str, span: Span) -> Lowered {
        match &base {
            Value::Path(path) => self.member(path.clone(), name, span),
            Value::Record(record) => match record.get(name) {
                Some(Value::Unknown(why)) => Err(self.not_known(name, &why.clone(), span)),
                Some(value) => Ok(value.clone()),
                None => {
                    let mut error =
                        Diagnostic::error("attribute", span, format!("{} has no member `{name}`", record.what));
                    let known = record.fields.iter().map(|(field, _)| &**field);
                    if let Some(near) = slipring_ir::text::nearest(name, known) {
                        error = error.help(format!("did you mean `{near}`?"));
                    }
                    Err(self.report(error))
                }
            },
            Value::Buffer(buffer) if name == "base" => {
                Ok(self.scalar(buffer.base, DType::Elem(slipring_tile::Elem::I32)))
            }
            Value::Buffer(buffer) if name == "size" => match buffer.size {
                Some(size) => Ok(Value::Const(Const::Int(size))),
                None => self.reserved_size(&buffer.clone(), span),
            },
            // Both roles of an end, as named by the library.
            Value::Pipe(_) if matches!(name, "prod" | "cons") => Ok(base),
            Value::Tensor(_) | Value::Tile(_) | Value::Parts(_) if name == "shape" => {
                let shape = self.shape_of(&base);
                Ok(Value::Tuple(shape.iter().map(|n| Value::Const(Const::Int(*n as i64))).collect()))
            }
            Value::Tensor(_) | Value::Tile(_) | Value::Parts(_) if name == "T" => {
                self.call_by_name("transpose", vec![base], span)
            }
            Value::Tensor(tensor) if name == "dtype" => Ok(Value::Const(Const::DType(DType::Elem(tensor.elem)))),
            Value::Tile(id) if name == "dtype" => {
                Ok(Value::Const(Const::DType(DType::Elem(self.tile(*id).ty.layout.elem))))
            }
            // An op as a method: `x.cast(pl.FP16)`.
            Value::Tensor(_) | Value::Tile(_) | Value::Parts(_) if self.words.method(name).is_some() => {
                let callee = format!("pl.{}", self.words.method(name).unwrap_or(name));
                Ok(Value::Partial(Rc::new(Partial {
                    callee: callee.into(),
                    positional: vec![base],
                    keywords: Vec::new(),
                })))
            }
            other => {
                let what = describe(self, other);
                let mut error = Diagnostic::error("attribute", span, format!("{what} has no member `{name}`"));
                if matches!(other, Value::Tensor(_) | Value::Tile(_) | Value::Parts(_)) {
                    error = self.words.instead_of(name).map_or(error.clone(), |instead| error.help(instead));
                }
                if matches!(other, Value::Tuple(_)) {
                    error = error.help(super::unknown::LISTS);
                }
                Err(self.report(error))
            }
        }
    }

    /// `f"…"` of constants; in `pl.static_print` also other values.
    fn formatted(&mut self, string: &ruff_python_ast::ExprFString) -> Lowered {
        let mut text = String::new();
        for element in string.value.elements() {
            match element {
                InterpolatedStringElement::Literal(literal) => text.push_str(&literal.value),
                InterpolatedStringElement::Interpolation(part) => match self.expr(&part.expression)? {
                    Value::Const(value) if part.format_spec.is_none() => text.push_str(&python_text(&value)),
                    other if self.saying => text.push_str(&describe(self, &other)),
                    _ => {
                        let named = super::unknown::expression(&Expr::FString(string.clone()));
                        return Err(self.not_here(named, at(string)));
                    }
                },
            }
        }
        Ok(Value::Const(Const::Str(text.into())))
    }

    /// The shape of a tile or tensor.
    pub fn shape_of(&self, value: &Value) -> Vec<u64> {
        match value {
            Value::Tensor(tensor) => tensor.shape().to_vec(),
            Value::Tile(id) => self.tile(*id).shape.to_vec(),
            Value::Parts(parts) => parts.shape.clone(),
            _ => Vec::new(),
        }
    }

    /// A member of the language, or of one of its parts.
    fn member(&mut self, path: Rc<str>, name: &str, span: Span) -> Lowered {
        let last = path.rsplit('.').next().unwrap_or("");
        if let Some(found) = member(&path, name) {
            return Ok(Value::Const(found));
        }
        if matches!(last, "Mem" | "MemorySpace" | "SplitMode") {
            return Err(self.error("attribute", span, format!("`{path}` has no member `{name}`")));
        }
        Ok(Value::Path(format!("{path}.{name}").into()))
    }

    fn call(&mut self, call: &ruff_python_ast::ExprCall) -> Lowered {
        let span = at(call);
        let expected = self.expected.take();
        if let Expr::Attribute(member) = &*call.func
            && member.attr.as_str() == "get_byte"
            && let Value::Const(Const::DType(ty)) = self.expr(&member.value)?
        {
            return Ok(Value::Const(Const::Int(ty.bytes())));
        }
        if let Expr::Attribute(member) = &*call.func
            && member.attr.as_str() == "bind_dynamic"
            && let Value::Tensor(tensor) = self.expr(&member.value)?
        {
            return super::signature::bind_extent(self, &tensor.shape(), &call.arguments.args, span);
        }
        if let Some(value) = self.list_method(call)?.map_or_else(|| self.dict_method(call), |value| Ok(Some(value)))? {
            return Ok(value);
        }
        let callee = self.expr(&call.func)?;
        let mut given = Given { expected, ..Given::default() };
        let (path, before) = match callee {
            Value::Path(path) => (path, None),
            Value::Partial(partial) => (partial.callee.clone(), Some(partial)),
            _ => {
                let what = describe(self, &callee);
                return Err(self.error("call", at(&*call.func), format!("{what} cannot be called")));
            }
        };
        if &*path == "pl.device_assert" {
            return self.device_assert(call);
        }
        if &*path == "pl.assume" {
            return self.assume(call);
        }
        let first = before.iter().flat_map(|own| own.positional.iter().cloned());
        given.positional.extend(first.map(|value| (value, at(&*call.func))));
        self.saying = &*path == "pl.static_print";
        for (position, arg) in call.arguments.args.iter().enumerate() {
            let word = [("pl.matmul", 0, "a_trans"), ("pl.matmul", 1, "b_trans")];
            let word = word.iter().find(|(name, at, _)| *name == &*path && *at == position && is_turned(arg));
            if let Some((.., word)) = word {
                let value = self.turned(arg, word, &mut given)?;
                given.positional.push((value, at(arg)));
                continue;
            }
            if arg.is_starred_expr() {
                return Err(self.unsupported(at(arg), "`*` in a call"));
            }
            let value = match arg {
                Expr::Dict(dict) if &*path == "pl.func_attr" => self.attributes(dict)?,
                arg => self.expr(arg)?,
            };
            given.positional.push((value, at(arg)));
        }
        for keyword in &call.arguments.keywords {
            let Some(name) = &keyword.arg else { return Err(self.unsupported(at(keyword), "`**` in a call")) };
            let value = self.expr(&keyword.value)?;
            given.keywords.push((name.as_str().into(), value, at(&keyword.value)));
        }
        self.saying = false;
        for (name, value) in before.iter().flat_map(|own| own.keywords.iter()) {
            // Arguments of the call take precedence over bound ones.
            if !given.keywords.iter().any(|(own, ..)| own == name) {
                given.keywords.push((name.clone(), value.clone(), at(&*call.func)));
            }
        }
        if &*path == "functools.partial" {
            return self.partial(given, span);
        }
        self.call_path(&path, at(&*call.func), given, span)
    }

    /// `functools.partial(f, …)`.
    fn partial(&mut self, given: Given, span: Span) -> Lowered {
        let mut positional = given.positional.into_iter().map(|(value, _)| value);
        let (callee, before) = match positional.next() {
            Some(Value::Path(path)) => (path, None),
            Some(Value::Partial(partial)) => (partial.callee.clone(), Some(partial)),
            _ => return Err(self.error("call", span, "`functools.partial` takes a function first")),
        };
        let mut keywords: Vec<(Rc<str>, Value)> =
            given.keywords.into_iter().map(|(name, value, _)| (name, value)).collect();
        let inner = before.iter().flat_map(|own| own.keywords.iter());
        for (name, value) in inner {
            if !keywords.iter().any(|(own, _)| own == name) {
                keywords.push((name.clone(), value.clone()));
            }
        }
        let positional = before.iter().flat_map(|own| own.positional.iter().cloned()).chain(positional).collect();
        Ok(Value::Partial(Rc::new(Partial { callee, positional, keywords })))
    }

    /// An operand of a product. For `x.T` it is `x`, and the flag `word` is added to the arguments.
    fn turned(&mut self, side: &Expr, word: &'static str, given: &mut Given) -> Lowered {
        let Expr::Attribute(attribute) = side else { return self.expr(side) };
        if !is_turned(side) {
            return self.expr(side);
        }
        let base = self.expr(&attribute.value)?;
        if !matches!(base, Value::Tensor(_) | Value::Tile(_) | Value::Parts(_)) {
            return self.attribute(base, attribute.attr.as_str(), at(side));
        }
        given.keywords.push((word.into(), Value::Const(Const::Bool(true)), at(side)));
        Ok(base)
    }

    fn call_path(&mut self, path: &str, place: Span, given: Given, span: Span) -> Lowered {
        if let Some(value) = self.builtin(path, &given, span) {
            return value;
        }
        if let Some(function) = path.strip_prefix('@') {
            return self.call_function(function, given, span);
        }
        if path == "breakpoint" {
            let warning = Diagnostic::warning("breakpoint", place, "a compiled kernel does not stop here");
            self.report(warning.help("`kernel.reference(…)` runs the function itself, and stops"));
            return Ok(Value::Nothing);
        }
        self.words.call(self, path, place, given, span)
    }

    /// Calls an op of the catalogue with positional arguments.
    pub fn call_by_name(&mut self, name: &'static str, args: Vec<Value>, span: Span) -> Lowered {
        let positional = args.into_iter().map(|value| (value, span)).collect();
        self.call_path(name, span, Given { positional, ..Given::default() }, span)
    }

    /// Builtin functions of Python.
    fn builtin(&mut self, path: &str, given: &Given, span: Span) -> Option<Lowered> {
        let args: Vec<Value> = given.positional.iter().map(|(value, _)| value.clone()).collect();
        let numbers = args.iter().all(|v| matches!(v, Value::Const(_) | Value::Scalar(_)));
        let list = match args.as_slice() {
            [Value::Tuple(items)] if matches!(path, "min" | "max" | "sum") => items,
            all => all,
        };
        let constants = list.iter().map(|v| if let Value::Const(c) = v { Some(c.clone()) } else { None });
        if let Some(constants) = constants.collect::<Option<Vec<Const>>>()
            && let Some(value) = crate::numbers::of_numbers(path, &constants)
        {
            return Some(self.folded(value, span));
        }
        match (path, args.as_slice()) {
            ("min" | "max" | "pl.min" | "pl.max", [a, b]) if numbers => {
                Some(self.extreme(path.ends_with("max"), a, b, span))
            }
            ("abs", [number @ Value::Scalar(_)]) => Some(self.absolute(number, span)),
            ("len", [Value::Tuple(items)]) => Some(Ok(Value::Const(Const::Int(items.len() as i64)))),
            _ => self.word(path, given, span),
        }
    }
}

/// True for `-9223372036854775808`, whose digits alone exceed a 64-bit integer.
pub(crate) fn is_least(unary: &ruff_python_ast::ExprUnaryOp) -> bool {
    let Expr::NumberLiteral(literal) = &*unary.operand else { return false };
    let Number::Int(n) = &literal.value else { return false };
    unary.op == UnaryOp::USub && n.as_u64() == Some(1 << 63)
}

/// True for `x.T`.
fn is_turned(expr: &Expr) -> bool {
    expr.as_attribute_expr().is_some_and(|attribute| attribute.attr.as_str() == "T")
}
