//! `assert` and `pl.device_assert`. A condition that is known to hold costs nothing; others are checked at run time.

use ruff_python_ast::{BoolOp, CmpOp, Expr, InterpolatedStringElement};
use slipring_ir::{Attr, Diagnostic, Span, ValueId};
use slipring_mlir::scf;
use slipring_pto as pto;

use super::changed::changes_list;
use super::lowering::{Lower, Lowered, describe};
use crate::dtype::DType;
use crate::syntax::at;
use crate::text::python_text;
use crate::value::{Const, Scalar, Value};

/// The message of a failed assertion: text with a `printf` conversion for each number.
#[derive(Clone, Default)]
struct Said {
    text: String,
    values: Vec<ValueId>,
}

impl Said {
    fn text(&mut self, text: &str) {
        self.text.push_str(&text.replace('%', "%%"));
    }

    fn number(&mut self, scalar: Scalar) {
        self.text.push_str(if scalar.ty.is_float() { "%g" } else { "%d" });
        self.values.push(scalar.value);
    }
}

impl Lower<'_> {
    /// `pl.device_assert(condition, "message")`: as `assert` does.
    pub(super) fn device_assert(&mut self, call: &ruff_python_ast::ExprCall) -> Lowered {
        let span = at(call);
        let by_name = |names: &[&str]| {
            let named = |keyword: &&ruff_python_ast::Keyword| {
                keyword.arg.as_ref().is_some_and(|name| names.contains(&name.as_str()))
            };
            call.arguments.keywords.iter().find(named).map(|keyword| &keyword.value)
        };
        let args = &call.arguments.args;
        let (test, message) =
            (args.first().or(by_name(&["cond", "condition"])), args.get(1).or(by_name(&["msg", "message"])));
        match test {
            Some(test) if args.len() <= 2 => self.asserted(test, message, span).map(|()| Value::Nothing),
            _ => {
                let error = Diagnostic::error("argument", span, "`pl.device_assert` takes a condition and a message")
                    .help("it is called as `pl.device_assert(i < n, \"message\")`");
                Err(self.report(error))
            }
        }
    }

    /// Lowers an assertion: nothing if it always holds, an error if it never does, else a conditional stop.
    pub(crate) fn asserted(&mut self, test: &Expr, message: Option<&Expr>, span: Span) -> Lowered<()> {
        match test {
            Expr::BoolOp(all) if all.op == BoolOp::And => {
                all.values.iter().try_for_each(|part| self.asserted(part, message, span))
            }
            Expr::Compare(compare) => {
                let mut left = &*compare.left;
                for (op, right) in compare.ops.iter().zip(&compare.comparators) {
                    self.claim_pair(left, *op, right, message, span)?;
                    left = right;
                }
                Ok(())
            }
            _ => {
                let value = self.expr(test)?;
                self.claim_bool(&value, test, &[], message, span)
            }
        }
    }

    fn claim_pair(&mut self, left: &Expr, op: CmpOp, right: &Expr, message: Option<&Expr>, span: Span) -> Lowered<()> {
        let before = self.e.position();
        let (a, b) = (self.expr(left)?, self.expr(right)?);
        if self.holds(op, &a, &b) {
            // Unused arithmetic is removed from the program; effects of calls are not.
            if self.is_arithmetic(left) && self.is_arithmetic(right) {
                self.e.drop_arithmetic(before);
            }
            return Ok(());
        }
        let place = Span::new(at(left).start, at(right).end);
        let is_tile = |value: &Value| matches!(value, Value::Tile(_) | Value::Tensor(_) | Value::Parts(_));
        let boolean = match is_tile(&a) || is_tile(&b) {
            true => self.compare(op, &a, &b, place)?,
            false => self.compare_numbers(op, &a, &b, place)?,
        };
        let sides = [(left, a), (right, b)];
        let mut named = Vec::new();
        for (expr, value) in &sides {
            if let Value::Scalar(scalar) = value {
                named.push((self.written(at(*expr)), *scalar));
            }
        }
        self.claim_at(&boolean, place, &named, message, span)
    }

    fn claim_bool(
        &mut self,
        value: &Value,
        test: &Expr,
        named: &[(String, Scalar)],
        message: Option<&Expr>,
        span: Span,
    ) -> Lowered<()> {
        self.claim_at(value, at(test), named, message, span)
    }

    fn claim_at(
        &mut self,
        value: &Value,
        place: Span,
        named: &[(String, Scalar)],
        message: Option<&Expr>,
        span: Span,
    ) -> Lowered<()> {
        let mut said = Said::default();
        said.text(&format!("`{}` does not hold", self.written(place)));
        if let Some(message) = message {
            said.text(": ");
            self.said_by(message, &mut said)?;
        }
        for (at, (name, scalar)) in named.iter().enumerate() {
            said.text(&format!("{}{name} = ", if at == 0 { "; " } else { ", " }));
            said.number(*scalar);
        }
        let holds = match value {
            Value::Const(constant) => {
                if crate::constants::is_true(constant) {
                    return Ok(());
                }
                if self.open.branches == 0
                    && self.open.loops == 0
                    && self.open.region.is_none()
                    && said.values.is_empty()
                {
                    let error = Diagnostic::error("assert", span, said.text.replace("%%", "%"));
                    return Err(self.report(error));
                }
                self.stop(&said);
                return Ok(());
            }
            Value::Scalar(_) => self.number(value, DType::Bool, place)?,
            Value::Tile(_) | Value::Tensor(_) => self.all_of(value, place)?,
            other => return Err(self.no_condition(other, place)),
        };
        let op = self.e.op(&scf::IF, &[("condition", &[holds])], &[], &[]);
        let blocks = [self.e.region(op), self.e.region(op)];
        self.in_block(blocks[1], |l| l.stop(&said));
        for block in blocks {
            self.e.inside(block, |e| e.op(&scf::YIELD, &[("values", &[])], &[], &[]));
        }
        Ok(())
    }

    fn stop(&mut self, said: &Said) {
        let attrs = [("reason", Attr::Str(said.text.as_str().into())), ("assertion", Attr::Bool(true))];
        self.e.op(&pto::TRAP, &[("values", &said.values)], &attrs, &[]);
    }

    /// Whether no element of a mask is false.
    fn all_of(&mut self, value: &Value, span: Span) -> Lowered<ValueId> {
        let mask = match value {
            Value::Tile(id) if self.tile(*id).mask.is_some() => *id,
            other => {
                let what = describe(self, other);
                let error = Diagnostic::error("condition", span, format!("a claim is a truth value, not {what}")).help(
                    "an element is read with `pl.read(x, [i, j])`; a claim on all elements is a comparison: `x > 0.0`",
                );
                return Err(self.report(error));
            }
        };
        let ones = Value::Tile(super::masks::unpacked(self, mask)?);
        let mut least = ones;
        if self.shape_of(&least).split_last().is_some_and(|(_, lines)| lines.iter().any(|n| *n > 1)) {
            least = self.call_by_name("col_min", vec![least], span)?;
        }
        least = self.call_by_name("row_min", vec![least], span)?;
        let first = Value::Tuple(vec![Value::Const(Const::Int(0)), Value::Const(Const::Int(0))].into());
        let least = self.call_by_name("read", vec![least, first], span)?;
        let boolean = self.compare_numbers(CmpOp::NotEq, &least, &Value::Const(Const::Int(0)), span)?;
        self.number(&boolean, DType::Bool, span)
    }

    /// The text of a message: a string, or an f-string with numbers of the run.
    fn said_by(&mut self, message: &Expr, said: &mut Said) -> Lowered<()> {
        if changes_list(message) {
            let error = Diagnostic::error(
                "value-kind",
                at(message),
                "this message changes a list, and is only made where the claim fails",
            );
            return Err(self.report(error.help("change the list before, or leave it out of the message")));
        }
        let Expr::FString(string) = message else {
            match self.expr(message)? {
                Value::Const(constant) => said.text(&python_text(&constant)),
                Value::Scalar(scalar) => said.number(scalar),
                other => {
                    let what = describe(self, &other);
                    said.text(&what);
                }
            }
            return Ok(());
        };
        for element in string.value.elements() {
            match element {
                InterpolatedStringElement::Literal(literal) => said.text(&literal.value),
                InterpolatedStringElement::Interpolation(part) if part.format_spec.is_none() => {
                    self.said_by(&part.expression, said)?;
                }
                InterpolatedStringElement::Interpolation(_) => {
                    let named = super::unknown::expression(message);
                    return Err(self.not_here(named, at(message)));
                }
            }
        }
        Ok(())
    }

    /// A part of the text, on one line.
    pub(crate) fn written(&self, span: Span) -> String {
        let text = &self.e.module.source.text[span.start as usize..span.end as usize];
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// True if a comparison of integers is known to hold in every iteration of the enclosing loops.
    fn holds(&self, op: CmpOp, a: &Value, b: &Value) -> bool {
        if let (Value::Tuple(a), Value::Tuple(b), CmpOp::Eq) = (a, b, op) {
            return a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.holds(op, a, b));
        }
        let side = |value: &Value| match value {
            Value::Const(Const::Int(n)) => Some(Err(*n)),
            Value::Scalar(scalar) if !scalar.ty.is_float() => Some(Ok(scalar.value)),
            _ => None,
        };
        let (Some(a), Some(b)) = (side(a), side(b)) else { return false };
        let compare = |x: i64, y: i64| match op {
            CmpOp::Eq => x == y,
            CmpOp::NotEq => x != y,
            CmpOp::Lt => x < y,
            CmpOp::LtE => x <= y,
            CmpOp::Gt => x > y,
            CmpOp::GtE => x >= y,
            _ => false,
        };
        let numbers: Vec<ValueId> = [a, b].into_iter().filter_map(Result::ok).collect();
        if let Some(each) = self.in_each_iteration(&numbers) {
            return !each.is_empty()
                && each.iter().all(|known| {
                    let mut known = known.iter().copied();
                    let mut number = |side: Result<ValueId, i64>| side.map_or_else(Some, |_| known.next().flatten());
                    let (x, y) = (number(a), number(b));
                    x.zip(y).is_some_and(|(x, y)| compare(x, y))
                });
        }
        // Too many iterations to enumerate: compares the ranges of both sides.
        let range = |side: Result<ValueId, i64>| side.map_or_else(|n| Some((n, n)), |value| self.range(value));
        let (Some(x), Some(y)) = (range(a), range(b)) else { return false };
        match op {
            CmpOp::Lt => x.1 < y.0,
            CmpOp::LtE => x.1 <= y.0,
            CmpOp::Gt => x.0 > y.1,
            CmpOp::GtE => x.0 >= y.1,
            CmpOp::NotEq => x.1 < y.0 || y.1 < x.0,
            _ => false,
        }
    }
}
