//! `pl.assume`: constraints on the scalar arguments of each launch, as the attribute of the kernel that proofs and runs
//! read.

use ruff_python_ast::{BoolOp, Expr, ExprCall, Operator, UnaryOp};
use slipring_ir::{Attr, Diagnostic, ValueDef};
use slipring_op::function::ASSUME;

use super::lowering::{Lower, Lowered};
use crate::constants::is_true;
use crate::syntax::{at, order_sign};
use crate::value::{Const, Value};

/// The help text for an invalid condition.
const FORM: &str = "compare whole numbers: constants, the kernel's scalar arguments, and `+`, `-`, `*`, `//`, `%` of them, as in \
                    `pl.assume(n % 8 == 0, 0 < n <= 256)`";

/// An operand of a condition: its text, whether that is a single number or name, and whether it contains an argument.
struct Number {
    text: String,
    single: bool,
    varies: bool,
}

impl Number {
    /// The text as an operand.
    fn operand(&self) -> String {
        if self.single { self.text.clone() } else { format!("({})", self.text) }
    }
}

impl Lower<'_> {
    /// `pl.assume(condition, …)`.
    pub(super) fn assume(&mut self, call: &ExprCall) -> Lowered {
        let span = at(call);
        if call.arguments.args.is_empty() || !call.arguments.keywords.is_empty() {
            let error = Diagnostic::error("argument", span, "`pl.assume` takes one condition or several");
            return Err(self.report(error.help(FORM)));
        }
        if self.open.blocks.len() > 1 || self.open.calls.len() > 1 {
            let message = "`pl.assume` in a loop, a branch, a scope or a helper";
            let error = Diagnostic::error("argument", span, message);
            return Err(self.report(error.help("it is of the whole launch: write it first in the kernel")));
        }
        let mut conditions = Vec::new();
        for test in &call.arguments.args {
            self.assumed(test, &mut conditions)?;
        }
        let function = self.e.module.block_parent(self.open.blocks[0]);
        if let Some(function) = function.filter(|_| !conditions.is_empty()) {
            let attrs = &mut self.e.module.op_mut(function).attrs;
            let before = attrs.get(ASSUME).and_then(Attr::as_str).map(str::to_string);
            let all: Vec<String> = before.into_iter().chain(conditions).collect();
            attrs.set(ASSUME, Attr::Str(all.join(", ").into()));
        }
        Ok(Value::Nothing)
    }

    /// Appends the comparisons of a condition.
    fn assumed(&mut self, test: &Expr, conditions: &mut Vec<String>) -> Lowered<()> {
        match test {
            Expr::BoolOp(all) if all.op == BoolOp::And => {
                all.values.iter().try_for_each(|part| self.assumed(part, conditions))
            }
            Expr::Compare(compare) => {
                let mut left = self.assumed_number(&compare.left)?;
                for (op, right) in compare.ops.iter().zip(&compare.comparators) {
                    let Some(order) = order_sign(*op) else { return Err(self.no_assumption(test)) };
                    let right = self.assumed_number(right)?;
                    if left.varies || right.varies {
                        conditions.push(format!("{} {order} {}", left.text, right.text));
                    } else {
                        self.assumed_constant(test)?;
                    }
                    left = right;
                }
                Ok(())
            }
            _ => self.assumed_constant(test),
        }
    }

    /// Checks a condition without arguments: if it is false, no launch satisfies it.
    fn assumed_constant(&mut self, test: &Expr) -> Lowered<()> {
        match self.expr(test)? {
            Value::Const(condition) if is_true(&condition) => Ok(()),
            Value::Const(_) => {
                Err(self.error("static-assert", at(test), "no launch satisfies what is assumed here: it never holds"))
            }
            _ => Err(self.no_assumption(test)),
        }
    }

    fn assumed_number(&mut self, expr: &Expr) -> Lowered<Number> {
        match expr {
            Expr::BinOp(binary) => {
                let op = match binary.op {
                    Operator::Add => "+",
                    Operator::Sub => "-",
                    Operator::Mult => "*",
                    Operator::FloorDiv => "//",
                    Operator::Mod => "%",
                    _ => return Err(self.no_assumption(expr)),
                };
                let (a, b) = (self.assumed_number(&binary.left)?, self.assumed_number(&binary.right)?);
                if !a.varies && !b.varies {
                    return self.assumed_operand(expr);
                }
                Ok(Number { text: format!("{} {op} {}", a.operand(), b.operand()), single: false, varies: true })
            }
            Expr::UnaryOp(unary) if unary.op == UnaryOp::USub => {
                let a = self.assumed_number(&unary.operand)?;
                if !a.varies {
                    return self.assumed_operand(expr);
                }
                Ok(Number { text: format!("0 - {}", a.operand()), single: false, varies: true })
            }
            _ => self.assumed_operand(expr),
        }
    }

    /// A constant, or an argument of the kernel.
    fn assumed_operand(&mut self, expr: &Expr) -> Lowered<Number> {
        let (text, varies) = match self.expr(expr)? {
            Value::Const(Const::Int(number)) => (number.to_string(), false),
            Value::Scalar(scalar) if !scalar.ty.is_float() => match self.e.module.value(scalar.value).def {
                ValueDef::Arg(block, _) if block == self.open.blocks[0] => {
                    (self.e.module.value_name(scalar.value).trim_start_matches('%').to_string(), true)
                }
                _ => return Err(self.no_assumption(expr)),
            },
            _ => return Err(self.no_assumption(expr)),
        };
        Ok(Number { text, single: true, varies })
    }

    fn no_assumption(&mut self, expr: &Expr) -> slipring_ir::Reported {
        let message = "`pl.assume` of something else than the kernel's scalar arguments and constants";
        self.report(Diagnostic::error("argument", at(expr), message).help(FORM))
    }
}
