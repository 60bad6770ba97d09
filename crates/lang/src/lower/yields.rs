//! `pl.yield_`: the end of a loop with `init_values`, or of an arm.

use std::rc::Rc;

use ruff_python_ast::Expr;
use slipring_ir::{Diagnostic, Span};

use super::lowering::{Lower, Lowered};
use super::state::Frame;
use crate::syntax::at;
use crate::value::Value;

impl Lower<'_> {
    /// True for a call of `pl.yield_`.
    pub(super) fn is_yield(&self, expr: &Expr) -> bool {
        let Expr::Call(call) = expr else { return false };
        crate::globals::path_of(self.globals, &self.names.env, &call.func).as_deref() == Some("pl.yield_")
    }

    /// `a2, b2 = pl.yield_(a_new, b_new)` at the end of a loop's body or of an arm.
    pub(super) fn yield_values(&mut self, expr: &Expr, targets: &[Expr]) -> Lowered<()> {
        let (Expr::Call(call), span) = (expr, at(expr)) else { return Ok(()) };
        let values: Vec<Value> = call.arguments.args.iter().map(|arg| self.expr(arg)).collect::<Lowered<_>>()?;
        let carried = match self.open.yields.last() {
            Some(Frame::Arm) => Vec::new(),
            Some(Frame::Loop { carried, targets: None }) => carried.clone(),
            Some(Frame::Loop { .. }) => return Err(self.error("yield", span, "a second `pl.yield_` in this loop")),
            Some(Frame::Plain) | None => {
                let error = Diagnostic::error("yield", span, "`pl.yield_` where nothing takes its values")
                    .help("it ends the body of a loop with `init_values`, or an arm of a branch");
                return Err(self.report(error));
            }
        };
        if let Some(Frame::Loop { carried, .. }) = self.open.yields.last()
            && carried.len() != values.len()
        {
            let message = format!("{} values are yielded, the loop carries {}", values.len(), carried.len());
            return Err(self.error("yield", span, message));
        }
        for (name, value) in carried.iter().zip(&values) {
            self.bind(name, value.clone());
        }
        let mut flat: Vec<&Expr> = Vec::new();
        for target in targets {
            match target {
                Expr::Tuple(tuple) => flat.extend(&tuple.elts),
                other => flat.push(other),
            }
        }
        if !flat.is_empty() && flat.len() != values.len() {
            let message = format!("{} names for {} values", flat.len(), values.len());
            return Err(self.error("unpack", span, message));
        }
        for (target, value) in flat.iter().zip(values) {
            self.assign(target, value)?;
        }
        let names = flat.into_iter().map(|t| self.loop_name(t)).collect::<Lowered<Vec<_>>>()?;
        if names.is_empty() && matches!(self.open.yields.last(), Some(Frame::Loop { .. })) {
            return Err(self.report(crate::syntax::yields_nameless(span)));
        }
        if let Some(Frame::Loop { targets, .. }) = self.open.yields.last_mut() {
            *targets = Some(names);
        }
        Ok(())
    }

    /// The names that the `pl.yield_` at the end of a loop's body bound.
    pub(super) fn yielded(&mut self, span: Span, outcome: Lowered<()>) -> Lowered<Option<Vec<Rc<str>>>> {
        let Some(Frame::Loop { targets, .. }) = self.open.yields.pop() else { return outcome.map(|()| None) };
        if targets.is_none() && outcome.is_ok() {
            let message = "a loop with `init_values` whose body does not end in `pl.yield_`";
            let error =
                Diagnostic::error("yield", span, message).help("end the body with `a2, b2 = pl.yield_(a_new, b_new)`");
            return Err(self.report(error));
        }
        outcome.map(|()| targets)
    }

    /// Binds the results of a loop with `init_values`: the values that the last iteration yielded, or the first values
    /// if there was none.
    pub(super) fn bind_yielded(&mut self, targets: Option<Vec<Rc<str>>>, asked: &[Rc<str>]) {
        for (target, name) in targets.into_iter().flatten().zip(asked) {
            if let Some(value) = self.names.env.get(name).cloned() {
                self.set(&target, value);
            }
        }
    }
}
