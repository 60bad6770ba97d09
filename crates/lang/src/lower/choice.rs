//! Conditionally evaluated parts of expressions: operands of `and` and `or` after the first, the arms of `a if c else
//! b`, and later comparisons of `a < b < c`.
//!
//! If the condition is only known at run time and a part is more than arithmetic, it goes into an arm of a branch: a
//! load that the condition guards is not executed if it does not hold, and neither are stores of a called function.

use ruff_python_ast::{BoolOp, CmpOp, Expr, Operator};
use slipring_ir::Span;

use super::lowering::{Lower, Lowered};
use crate::constants::is_true;
use crate::dtype::DType;
use crate::globals::path_of;
use crate::jumps::CHOICE;
use crate::numbers::ONLY_THEIR_ARGUMENTS;
use crate::syntax::at;
use crate::value::{Const, Scalar, Value};

impl Lower<'_> {
    /// `body if test else orelse`.
    pub(super) fn chosen(&mut self, choice: &ruff_python_ast::ExprIf, span: Span) -> Lowered {
        let (body, orelse) = (&*choice.body, &*choice.orelse);
        match self.expr(&choice.test)? {
            Value::Const(c) => self.expr(if is_true(&c) { body } else { orelse }),
            Value::Scalar(scalar)
                if [body, orelse].iter().all(|arm| self.is_arithmetic(arm) && !self.names_tile(arm)) =>
            {
                let condition = self.number(&Value::Scalar(scalar), DType::Bool, at(&*choice.test))?;
                let (a, b) = (self.expr(body)?, self.expr(orelse)?);
                self.select(condition, &a, &b, span)
            }
            Value::Scalar(scalar) => self.either(scalar, |l| l.expr(body), |l| l.expr(orelse), span),
            mask @ (Value::Tile(_) | Value::Tensor(_)) => {
                let (a, b) = (self.expr(body)?, self.expr(orelse)?);
                super::masks::choose(self, mask, (a, at(body)), (b, at(orelse)), span)
            }
            other => Err(self.no_condition(&other, at(&*choice.test))),
        }
    }

    /// `a and b and c`, `a or b or c`.
    pub(super) fn bool_op(&mut self, op: BoolOp, values: &[Expr], span: Span) -> Lowered {
        let Some((first, rest)) = values.split_first() else { return Ok(Value::Const(Const::Bool(true))) };
        let first = self.expr(first)?;
        self.further(op, first, rest, span)
    }

    fn further(&mut self, op: BoolOp, before: Value, rest: &[Expr], span: Span) -> Lowered {
        let Some((next, rest)) = rest.split_first() else { return Ok(before) };
        match &before {
            // A constant that decides ends the evaluation.
            Value::Const(c) if is_true(c) == (op == BoolOp::Or) => Ok(before),
            Value::Scalar(scalar) if ![next].into_iter().chain(rest).all(|part| self.is_arithmetic(part)) => self
                .where_open(
                    op,
                    *scalar,
                    |l| {
                        let value = l.expr(next)?;
                        l.further(op, value, rest, span)
                    },
                    span,
                ),
            _ => {
                let value = self.expr(next)?;
                let both = self.both(op, &before, &value, span)?;
                self.further(op, both, rest, span)
            }
        }
    }

    /// `a < b < c`, given the value of `a`.
    pub(super) fn compared(&mut self, left: Value, ops: &[CmpOp], rights: &[Expr], span: Span) -> Lowered {
        let (Some((op, ops)), Some((right, rights))) = (ops.split_first(), rights.split_first()) else {
            return Ok(Value::Const(Const::Bool(true)));
        };
        let right = self.expr(right)?;
        let this = self.compare(*op, &left, &right, span)?;
        if ops.is_empty() {
            return Ok(this);
        }
        match &this {
            Value::Const(c) if !is_true(c) => Ok(this),
            Value::Scalar(scalar) if !rights.iter().all(|part| self.is_arithmetic(part)) => {
                self.where_open(BoolOp::And, *scalar, |l| l.compared(right, ops, rights, span), span)
            }
            _ => {
                let rest = self.compared(right, ops, rights, span)?;
                self.both(BoolOp::And, &this, &rest, span)
            }
        }
    }

    /// The later operands, evaluated only if the earlier ones do not decide.
    fn where_open(
        &mut self,
        op: BoolOp,
        before: Scalar,
        rest: impl FnOnce(&mut Self) -> Lowered,
        span: Span,
    ) -> Lowered {
        let decided = Value::Const(Const::Bool(op == BoolOp::Or));
        let rest = |l: &mut Self| {
            let value = rest(l)?;
            let boolean = l.number(&value, DType::Bool, span)?;
            Ok(l.scalar(boolean, DType::Bool))
        };
        match op {
            BoolOp::And => self.either(before, rest, |_| Ok(decided), span),
            BoolOp::Or => self.either(before, |_| Ok(decided), rest, span),
        }
    }

    /// One of two values, depending on a condition: only the selected one is evaluated.
    fn either(
        &mut self,
        condition: Scalar,
        yes: impl FnOnce(&mut Self) -> Lowered,
        no: impl FnOnce(&mut Self) -> Lowered,
        span: Span,
    ) -> Lowered {
        let condition = self.number(&Value::Scalar(condition), DType::Bool, span)?;
        let name: std::rc::Rc<str> = CHOICE.into();
        self.read_behind([name.clone()].into());
        let arm = |l: &mut Self, value: Lowered| value.map(|value| l.set(CHOICE, value));
        let outcome = self.two_arms(
            condition,
            vec![name],
            |l| {
                let value = yes(l);
                arm(l, value)
            },
            |l| {
                let value = no(l);
                arm(l, value)
            },
            (span, false),
        );
        self.open.read_later.pop();
        outcome?;
        let value = self.lookup(CHOICE, span)?;
        self.names.env.shift_remove(CHOICE);
        Ok(value)
    }

    /// True if an expression refers to a tile or tensor.
    fn names_tile(&self, expr: &Expr) -> bool {
        crate::syntax::any_part(expr, &mut |part| {
            let Expr::Name(name) = part else { return false };
            matches!(self.names.env.get(name.id.as_str()), Some(Value::Tile(_) | Value::Tensor(_) | Value::Parts(_)))
        })
    }

    /// True if evaluating an expression always succeeds and has no effect but its value: no loads, no calls of
    /// functions of the text, no division by a possible zero.
    pub(super) fn is_arithmetic(&self, expr: &Expr) -> bool {
        let all = |exprs: &[Expr]| exprs.iter().all(|expr| self.is_arithmetic(expr));
        match expr {
            Expr::Name(_)
            | Expr::NumberLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::NoneLiteral(_)
            | Expr::StringLiteral(_) => true,
            Expr::Attribute(member) => self.is_arithmetic(&member.value),
            Expr::UnaryOp(unary) => self.is_arithmetic(&unary.operand),
            Expr::BinOp(binary) => {
                let divides = matches!(binary.op, Operator::Div | Operator::FloorDiv | Operator::Mod | Operator::Pow);
                let known = self.quiet_constant(&binary.right).is_some_and(|n| n > 0);
                (known || !divides) && self.is_arithmetic(&binary.left) && self.is_arithmetic(&binary.right)
            }
            Expr::BoolOp(operation) => all(&operation.values),
            Expr::Compare(compare) => self.is_arithmetic(&compare.left) && all(&compare.comparators),
            Expr::If(choice) => {
                [&choice.test, &choice.body, &choice.orelse].iter().all(|part| self.is_arithmetic(part))
            }
            Expr::Tuple(tuple) => all(&tuple.elts),
            // The index of a list element is known at compile time.
            Expr::Subscript(part) => {
                let listed = match &*part.value {
                    Expr::Name(name) => {
                        matches!(self.names.env.get(name.id.as_str()), Some(Value::Tuple(_) | Value::Record(_)) | None)
                    }
                    Expr::Attribute(member) => member.attr.as_str() == "shape",
                    _ => false,
                };
                listed && self.is_arithmetic(&part.slice)
            }
            Expr::Call(call) => {
                let path = path_of(self.globals, &self.names.env, &call.func);
                let known = path.is_some_and(|path| ONLY_THEIR_ARGUMENTS.contains(&&*path));
                known
                    && all(&call.arguments.args)
                    && call.arguments.keywords.iter().all(|keyword| self.is_arithmetic(&keyword.value))
            }
            _ => false,
        }
    }
}
