//! Statements of a program that is followed.

use std::rc::Rc;

use ruff_python_ast::{Expr, ExprCall, Stmt, StmtFor, StmtWith};
use slipring_ir::{Diagnostic, Span};

use super::super::run::Host;
use super::super::value::{HostValue, range, shown};
use super::super::{Flow, MOST_VALUES};
use super::submit::Options;
use crate::syntax::at;
use crate::tasks;
use crate::value::Const;

impl<'a> Host<'a> {
    /// A statement of a program that is followed; `None` where it means what it means in any host code.
    pub(in crate::host) fn task_stmt(&mut self, stmt: &'a Stmt) -> Option<Flow<'a>> {
        if self.rec().stopped {
            return Some(Flow::Stop);
        }
        if let Some(flow) = self.collective(stmt) {
            return Some(flow);
        }
        let flow = match stmt {
            _ if tasks::is_scope(stmt) => self.scope_stmt(stmt),
            Stmt::With(with) => return self.mode(with),
            Stmt::For(stmt) => self.loop_over(stmt),
            Stmt::If(branch) => {
                let mut clauses = vec![(Some(&*branch.test), &branch.body)];
                clauses.extend(branch.elif_else_clauses.iter().map(|clause| (clause.test.as_ref(), &clause.body)));
                let mut chosen = Flow::Next;
                for (test, body) in clauses {
                    let holds = match test {
                        None => true,
                        Some(test) => {
                            let value = self.expr(test);
                            match value.truth() {
                                Some(truth) => truth,
                                None => {
                                    self.not_known(&value, "this condition", at(test));
                                    return Some(Flow::Stop);
                                }
                            }
                        }
                    };
                    if holds {
                        chosen = self.body(body);
                        break;
                    }
                }
                chosen
            }
            Stmt::Assert(stmt) => match self.expr(&stmt.test).truth() {
                Some(false) => {
                    self.stop_at("assert", at(stmt), "this does not hold");
                    Flow::Stop
                }
                _ => Flow::Next,
            },
            Stmt::Raise(stmt) => {
                self.stop_at("raise", at(stmt), "the program raises here");
                Flow::Stop
            }
            Stmt::Assign(assign) => {
                let [Expr::Subscript(target)] = &assign.targets[..] else { return None };
                let base = self.expr(&target.value);
                match (&base, &*target.value) {
                    (HostValue::Device(view), _) => {
                        let view = view.clone();
                        let value = self.expr(&assign.value);
                        self.put(&view, &target.slice, &value, at(stmt));
                        Flow::Next
                    }
                    // An array is a value: a change of it binds its name anew.
                    (HostValue::List(items), Expr::Name(name)) => {
                        let value = self.expr(&assign.value);
                        let copy = HostValue::list(items.borrow().clone());
                        self.set(name.id.as_str(), copy);
                        self.assign(&assign.targets[0], value);
                        Flow::Next
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some(if self.rec().stopped { Flow::Stop } else { flow })
    }

    pub(super) fn misplaced(&mut self, what: &str, span: Span) -> HostValue<'a> {
        let error = Diagnostic::error("misplaced-op", span, format!("{what} stands outside of every kernel"));
        self.stop(
            error.help("an orchestration only starts kernels: put it under `with pl.at(level=pl.Level.CORE_GROUP):`"),
        )
    }

    /// `with pl.scope():`, `with pl.manual_scope():`, `with pl.cluster():`.
    pub(super) fn mode(&mut self, with: &'a StmtWith) -> Option<Flow<'a>> {
        let [item] = &with.items[..] else { return None };
        let Expr::Call(call) = &item.context_expr else { return None };
        let HostValue::Path(path) = self.expr(&call.func) else { return None };
        let span = at(call);
        if tasks::of_chip(with) {
            return Some(self.body(&with.body));
        }
        let mode = call.arguments.keywords.iter().find(|k| k.arg.as_ref().is_some_and(|name| name == "mode"));
        let mode = mode.map(|mode| shown(&mode.value));
        let manual = match &*path {
            "pl.manual_scope" => true,
            "pl.scope" => mode.is_some_and(|mode| mode.ends_with("MANUAL")),
            "pl.cluster" => return Some(self.cluster(span, &Options::default(), |host| host.body(&with.body)).0),
            _ => return None,
        };
        if let Some(outer) = self.rec().manual {
            let what = if manual { "a manual scope" } else { "an auto scope" };
            let error = Diagnostic::error("scope", span, format!("{what} inside a manual scope"));
            self.stop(error.also(outer, "the manual scope").help("write them one behind the other"));
            return Some(Flow::Stop);
        }
        if manual {
            self.rec().manual = Some(span);
        }
        let flow = self.body(&with.body);
        self.rec().manual = None;
        Some(flow)
    }

    pub(super) fn loop_over(&mut self, stmt: &'a StmtFor) -> Flow<'a> {
        let call = match &*stmt.iter {
            Expr::Call(call) => Some(call),
            _ => None,
        };
        let word = call.and_then(|call| match self.expr(&call.func) {
            HostValue::Path(path) => path.strip_prefix("pl.").map(str::to_string),
            _ => None,
        });
        let (Some(call), Some(word)) = (call, word) else {
            let over = self.expr(&stmt.iter);
            let Some(items) = over.items() else {
                self.not_known(&over, "what this loop is over", at(&*stmt.iter));
                return Flow::Stop;
            };
            return self.turns(stmt, items, None);
        };
        match word.as_str() {
            "range" | "parallel" | "unroll" | "pipeline" => {}
            "while_" => return self.while_loop(stmt, call),
            other => {
                self.stop_at("loop", at(call), format!("an orchestration has no loop over `pl.{other}`"));
                return Flow::Stop;
            }
        }
        let mut bounds = Vec::new();
        for arg in &call.arguments.args {
            match self.expr(arg) {
                HostValue::Const(Const::Int(n)) => bounds.push(n),
                other => {
                    self.not_known(&other, "a bound of this loop", at(arg));
                    return Flow::Stop;
                }
            }
        }
        let (first, end, step) = match bounds[..] {
            [end] => (0, end, 1),
            [first, end] => (first, end, 1),
            [first, end, step] if step != 0 => (first, end, step),
            _ => {
                self.stop_at("loop", at(call), "a loop has an end, or a first value and an end, or these and a step");
                return Flow::Stop;
            }
        };
        let items = range(first, end, step).take(MOST_VALUES).map(HostValue::int).collect();
        let carried = self.carried(call);
        self.turns(stmt, items, carried)
    }

    /// The values of `init_values`.
    pub(super) fn carried(&mut self, call: &'a ExprCall) -> Option<HostValue<'a>> {
        let init = call.arguments.keywords.iter().find(|k| k.arg.as_ref().is_some_and(|name| name == "init_values"))?;
        Some(self.expr(&init.value))
    }

    pub(super) fn turns(
        &mut self,
        stmt: &'a StmtFor,
        items: Vec<HostValue<'a>>,
        mut carried: Option<HostValue<'a>>,
    ) -> Flow<'a> {
        let (counter, rest) = match (&*stmt.target, &carried) {
            (Expr::Tuple(tuple), Some(_)) if tuple.elts.len() == 2 => (&tuple.elts[0], Some(&tuple.elts[1])),
            (target, _) => (target, None),
        };
        let name: Rc<str> = counter.as_name_expr().map_or("", |name| name.id.as_str()).into();
        let outer = self.rec().yielded.take();
        let depth = self.rec().turns.len();
        let mut flow = Flow::Next;
        for item in items {
            if let (HostValue::Const(Const::Int(n)), false) = (&item, name.is_empty() || name.starts_with('_')) {
                let turn = (name.clone(), *n);
                self.rec().turns.push(turn);
            }
            self.assign(counter, item);
            if let (Some(rest), Some(values)) = (rest, &carried) {
                self.assign(rest, values.clone());
            }
            let this = self.body(&stmt.body);
            self.rec().turns.truncate(depth);
            if carried.is_some()
                && let Some(values) = self.rec().yielded.take()
            {
                // One value is a tuple of one for the names of the loop.
                carried = Some(match values {
                    HostValue::Tuple(_) => values,
                    one => HostValue::Tuple(Rc::new(vec![one])),
                });
            }
            match this {
                Flow::Next | Flow::Continue => {}
                Flow::Break => break,
                other => {
                    flow = other;
                    break;
                }
            }
        }
        self.rec().yielded = outer;
        flow
    }

    pub(super) fn while_loop(&mut self, stmt: &'a StmtFor, call: &'a ExprCall) -> Flow<'a> {
        let mut carried = self.carried(call).unwrap_or_else(|| HostValue::Tuple(Rc::new(Vec::new())));
        let Some((Stmt::Expr(first), body)) = stmt.body.split_first() else {
            self.stop_at("loop", at(call), "the body of `pl.while_` begins with `pl.cond(…)`");
            return Flow::Stop;
        };
        let Expr::Call(condition) = &*first.value else {
            self.stop_at("loop", at(call), "the body of `pl.while_` begins with `pl.cond(…)`");
            return Flow::Stop;
        };
        while self.step() {
            self.assign(&stmt.target, carried.clone());
            let Some(test) = condition.arguments.args.first() else { return Flow::Next };
            let value = self.expr(test);
            match value.truth() {
                Some(true) => {}
                Some(false) => return Flow::Next,
                None => {
                    self.not_known(&value, "this condition", at(test));
                    return Flow::Stop;
                }
            }
            match self.body(body) {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Flow::Next,
                other => return other,
            }
            carried = match self.rec().yielded.take() {
                Some(values @ HostValue::Tuple(_)) => values,
                Some(one) => HostValue::Tuple(Rc::new(vec![one])),
                None => self.expr(&stmt.target),
            };
        }
        Flow::Stop
    }
}
