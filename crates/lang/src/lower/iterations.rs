//! Loops with a condition: `while`, and `pl.while_` with its values.

use std::rc::Rc;

use ruff_python_ast::{BoolOp, Expr, ExprCall, Stmt, StmtFor, StmtWhile};
use slipring_ir::{Attr, Diagnostic, Span, Type, ValueId};
use slipring_mlir::scf;

use super::control::{Done, Stop};
use super::lowering::{Lower, Lowered};
use super::names::Names;
use super::state::{CarryPlan, Frame, PlanKey};
use crate::constants::is_true;
use crate::dtype::DType;
use crate::syntax::at;
use crate::value::Value;

/// A loop with a condition.
struct Iterations<'a> {
    test: &'a Expr,
    body: &'a [Stmt],
    frame: Frame,
    span: Span,
}

/// The maximum number of iterations that are lowered one by one because rebound values cannot be carried.
const MOST_ONE_BY_ONE: usize = 64;

impl Lower<'_> {
    pub(super) fn while_loop(&mut self, stmt: &StmtWhile) -> Lowered<()> {
        if !stmt.orelse.is_empty() {
            return Err(self.unsupported(at(stmt), "`else` of this loop"));
        }
        self.iterate(&Iterations { test: &stmt.test, body: &stmt.body, frame: Frame::Plain, span: at(stmt) })
    }

    /// `for (x,) in pl.while_(init_values=(0,)):`, whose body begins with `pl.cond(…)` and ends with `pl.yield_(…)`.
    pub(super) fn while_values(&mut self, stmt: &StmtFor, call: &ExprCall) -> Lowered<()> {
        let init = call.arguments.keywords.iter().find(|k| k.arg.as_ref().is_some_and(|name| name == "init_values"));
        let values = match (init, &call.arguments.args[..]) {
            (Some(init), []) if call.arguments.keywords.len() == 1 => &init.value,
            _ => {
                let error = Diagnostic::error("loop", at(call), "`pl.while_` takes `init_values` and nothing else")
                    .help("write `for (x,) in pl.while_(init_values=(first,)):`");
                return Err(self.report(error));
            }
        };
        let test = stmt.body.first().and_then(|first| match first {
            Stmt::Expr(first) => first.value.as_call_expr(),
            _ => None,
        });
        let test = match test {
            Some(cond)
                if crate::globals::path_of(self.globals, &self.names.env, &cond.func).as_deref() == Some("pl.cond") =>
            {
                cond.arguments.args.first().filter(|_| cond.arguments.len() == 1)
            }
            _ => None,
        };
        let Some(test) = test else {
            let error = Diagnostic::error("loop", at(call), "the body of `pl.while_` begins with its condition")
                .help("write `pl.cond(x < 10)` as the first statement");
            return Err(self.report(error));
        };
        let place = at(values);
        let values = match self.expr(values)? {
            Value::Tuple(values) => values.into(),
            single => vec![single],
        };
        let targets = match &*stmt.target {
            Expr::Tuple(tuple) => &tuple.elts[..],
            Expr::List(list) => &list.elts[..],
            single => std::slice::from_ref(single),
        };
        self.assign_each(targets, Value::Tuple(values.into()), place)?;
        let carried = targets.iter().map(|t| self.loop_name(t)).collect::<Lowered<_>>()?;
        let frame = Frame::Loop { carried, targets: None };
        self.iterate(&Iterations { test, body: &stmt.body[1..], frame, span: at(stmt) })
    }

    fn iterate(&mut self, iterations: &Iterations<'_>) -> Lowered<()> {
        let key = PlanKey { sites: self.open.call_sites.clone(), at: iterations.span, copies: 1 };
        let attempt = self.attempt();
        match self.planned(&key, iterations.span, at(iterations.test), |l, plan| l.iterate_as(iterations, plan)) {
            Ok(()) => Ok(()),
            Err(Stop::Reported(reported)) => Err(reported),
            Err(Stop::Never(error, _)) => {
                self.take_back(&attempt);
                match self.one_by_one(iterations)? {
                    true => Ok(()),
                    false => {
                        self.take_back(&attempt);
                        Err(self.report(*error))
                    }
                }
            }
        }
    }

    /// Lowers each iteration separately, as long as the condition is known. False if it is not, or there are too many.
    fn one_by_one(&mut self, iterations: &Iterations<'_>) -> Lowered<bool> {
        let mut names = self.names_in_loop(iterations.body, &iterations.frame);
        names.read_by(iterations.test);
        let changing = Rc::new(names.bound.clone());
        let mut targets = None;
        for _ in 0..MOST_ONE_BY_ONE {
            match self.expr(iterations.test)? {
                Value::Const(c) if !is_true(&c) => {
                    self.bind_yielded(targets, iterations.frame.carried());
                    return Ok(true);
                }
                Value::Const(_) => {}
                _ => return Ok(false),
            }
            self.count_unrolled(at(iterations.test))?;
            self.read_behind(names.exposed.clone());
            self.open.yields.push(iterations.frame.clone());
            let outcome = self.written_out(changing.clone(), |l| l.body(iterations.body));
            let yielded = self.yielded(iterations.span, outcome);
            self.open.read_later.pop();
            targets = yielded?;
        }
        Ok(false)
    }

    fn iterate_as(&mut self, iterations: &Iterations<'_>, plan: &CarryPlan) -> Result<CarryPlan, Stop> {
        let mut names = self.names_in_loop(iterations.body, &iterations.frame);
        // The condition is evaluated first, and again after each iteration.
        names.read_by(iterations.test);
        self.read_behind(names.exposed.clone());
        let outcome = self.iterate_here(iterations, &names, plan);
        self.open.read_later.pop();
        let done = match outcome? {
            Ok(done) => done,
            Err(misfits) => return Ok(misfits),
        };
        let (carry, known) = self.fresh_names(&names, &done, false);
        if !carry.is_empty() {
            return Ok(carry);
        }
        self.leave(done.before, &names, &done.carried, done.op, (iterations.span, "assigned only inside this loop"));
        self.set_again(known);
        self.bind_yielded(done.targets, iterations.frame.carried());
        Ok(CarryPlan::new())
    }

    fn iterate_here(
        &mut self,
        iterations: &Iterations<'_>,
        names: &Names,
        plan: &CarryPlan,
    ) -> Result<Result<Done, CarryPlan>, Stop> {
        let span = at(iterations.test);
        let (carried, init) = self.start_carrying(names, "", plan, span)?;
        if names.may_write {
            self.forget_copies();
        }
        let types: Vec<Type> = init.iter().map(|v| self.e.module.ty(*v).clone()).collect();
        let op = self.e.op(&scf::WHILE, &[("init", &init)], &[], &types);
        let blocks = [self.e.region(op), self.e.region(op)];
        let place = self.e.span;
        let before = self.names.env.clone();
        let since = self.held.buffers.mark();
        let mut starts = Vec::new();
        for (at, block) in blocks.into_iter().enumerate() {
            let args: Vec<ValueId> =
                types.iter().map(|ty| self.e.module.add_arg(block, ty.clone(), None, place)).collect();
            starts = self.begin_iteration(&carried, &args);
            if at == 0 {
                self.in_block(block, |l| -> Lowered<()> {
                    let goes_on = l.goes_on(iterations.test, false)?;
                    l.e.op(&scf::CONDITION, &[("condition", &[goes_on]), ("args", &args)], &[], &[]);
                    Ok(())
                })?;
            }
        }
        let mut targets = None;
        let misfits = self.in_block(blocks[1], |l| -> Result<CarryPlan, Stop> {
            l.open.yields.push(iterations.frame.clone());
            let outcome = l.body(iterations.body);
            targets = l.yielded(iterations.span, outcome)?;
            let misfits = l.misfits(&carried, &starts, span)?;
            if misfits.is_empty() {
                l.finish_iteration(&carried, since, (op, false), span)?;
            }
            Ok(misfits)
        })?;
        Ok(if misfits.is_empty() { Ok(Done { before, carried, op, targets }) } else { Err(misfits) })
    }

    /// Whether a loop continues. After a `break` the rest of the condition is not evaluated.
    fn goes_on(&mut self, test: &Expr, flagged: bool) -> Lowered<ValueId> {
        if let Expr::BoolOp(both) = test
            && let (BoolOp::And, [Expr::Name(flag), rest]) = (both.op, &both.values[..])
            && flag.id.contains('$')
        {
            let flag = match self.lookup(flag.id.as_str(), at(test))? {
                Value::Const(c) if is_true(&c) => return self.goes_on(rest, true),
                flag => self.number(&flag, DType::Bool, at(test))?,
            };
            let op = self.e.op(&scf::IF, &[("condition", &[flag])], &[], &[Type::I1]);
            let blocks = [self.e.region(op), self.e.region(op)];
            let rest = self.in_block(blocks[0], |l| l.goes_on(rest, true))?;
            let no = self.e.constant(Attr::Bool(false), Type::I1);
            for (block, value) in blocks.into_iter().zip([rest, no]) {
                self.e.inside(block, |e| e.op(&scf::YIELD, &[("values", &[value])], &[], &[]));
            }
            return Ok(self.e.module.op(op).results[0]);
        }
        match self.expr(test)? {
            Value::Const(c) if is_true(&c) && !flagged => {
                let error = Diagnostic::error("loop", at(test), "nothing ends this loop")
                    .help("leave it with `break` or `return`, or write a condition");
                Err(self.report(error))
            }
            Value::Const(c) => Ok(self.e.constant(Attr::Bool(is_true(&c)), Type::I1)),
            value @ Value::Scalar(_) => self.number(&value, DType::Bool, at(test)),
            other => Err(self.no_condition(&other, at(test))),
        }
    }
}
