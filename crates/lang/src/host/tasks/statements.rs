//! Statements of a program that is followed.

use std::rc::Rc;

use ruff_python_ast::{Expr, ExprCall, Stmt, StmtFor, StmtWhile, StmtWith, WithItem};
use slipring_ir::{Diagnostic, Span};

use super::super::value::HostValue;
use crate::host::contents::range;
use crate::host::limits::MOST_SEEN;
use crate::host::recorder::Options;
use crate::host::state::{Flow, Host};
use crate::starts::{is_scope, of_chip};
use crate::syntax::{at, shown};
use crate::value::Const;

impl<'a> Host<'a> {
    /// Follows a statement of a program; `None` if it has the same meaning as in any host code.
    pub(in crate::host) fn task_stmt(&mut self, stmt: &'a Stmt) -> Option<Flow<'a>> {
        if self.rec().stopped {
            return Some(Flow::Stop);
        }
        if let Some(flow) = self.collective(stmt) {
            return Some(flow);
        }
        let flow = match stmt {
            _ if is_scope(stmt) => self.scope_stmt(stmt),
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
                            match value.as_bool() {
                                Some(boolean) => boolean,
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
            Stmt::Assert(stmt) => match self.expr(&stmt.test).as_bool() {
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
            Stmt::While(stmt) => self.while_statement(stmt),
            Stmt::Expr(stmt) => {
                self.lone_expression(&stmt.value);
                Flow::Next
            }
            Stmt::AugAssign(stmt) => {
                self.augmented(stmt, at(stmt));
                Flow::Next
            }
            Stmt::FunctionDef(def) if !def.decorator_list.is_empty() => {
                let what = format!("`{}` is defined inside of a function that starts kernels", def.name);
                let error = Diagnostic::error(slipring_ir::Kind::Unsupported, at(&def.name), what);
                self.refuse(error.help("define it outside: a kernel is known before the program starts it"));
                Flow::Stop
            }
            Stmt::Match(_) | Stmt::Global(_) | Stmt::Nonlocal(_) | Stmt::TypeAlias(_) | Stmt::IpyEscapeCommand(_) => {
                let what = "this kind of statement in a function that starts kernels";
                self.refuse_at(slipring_ir::Kind::Unsupported, at(stmt), what);
                Flow::Stop
            }
            _ => return None,
        };
        Some(if self.rec().stopped { Flow::Stop } else { flow })
    }

    pub(super) fn misplaced(&mut self, what: &str, span: Span) -> HostValue<'a> {
        let error = Diagnostic::error("misplaced-op", span, format!("{what} is outside every kernel"));
        self.refuse(
            error.help("an orchestration only starts kernels: put it under `with pl.at(level=pl.Level.CORE_GROUP):`"),
        )
    }

    /// Follows an assignment to a part of a value; false if it has the same meaning as in any host code.
    pub(in crate::host) fn task_assign(&mut self, target: &'a Expr, value: &HostValue<'a>) -> bool {
        if self.rec().stopped {
            return true;
        }
        let place = at(target);
        match target {
            Expr::Subscript(part) => match (self.expr(&part.value), &*part.value) {
                (HostValue::Device(view), _) => {
                    self.put(&view, &part.slice, value, place);
                    true
                }
                (HostValue::List(items), base) => {
                    let index = self.expr(&part.slice);
                    let count = items.borrow().len() as i64;
                    let HostValue::Const(Const::Int(n)) = index else {
                        self.not_known(&index, "the element that is assigned", at(&*part.slice));
                        return true;
                    };
                    if !(-count..count).contains(&n) {
                        self.stop_at("bounds", place, format!("element {n} of a list of {count}"));
                        return true;
                    }
                    // An array is a value: changing an element rebinds the name.
                    if let Expr::Name(name) = base {
                        let copy = HostValue::list(items.borrow().clone());
                        self.set(name.id.as_str(), copy);
                    }
                    false
                }
                (HostValue::Dict(_), _) => {
                    let key = self.expr(&part.slice);
                    if matches!(key, HostValue::Const(_)) {
                        return false;
                    }
                    self.not_known(&key, "the entry that is assigned", at(&*part.slice));
                    true
                }
                (other, _) => {
                    self.not_known(&other, "what a part of is assigned", place);
                    true
                }
            },
            Expr::Attribute(member) => match self.expr(&member.value) {
                HostValue::Object(_) => false,
                other => {
                    self.not_known(&other, "what a member of is assigned", place);
                    true
                }
            },
            Expr::Tuple(_) | Expr::List(_) => {
                let names = match target {
                    Expr::Tuple(tuple) => tuple.elts.len(),
                    Expr::List(list) => list.elts.len(),
                    _ => 0,
                };
                let count = value.items().map(|items| items.len());
                if count == Some(names) || matches!(value, HostValue::Unknown(_)) {
                    return false;
                }
                let what = count.map_or("one value".to_string(), |count| format!("{count} values"));
                self.stop_at("unpack", place, format!("{names} names for {what}"));
                true
            }
            Expr::Name(_) => false,
            _ => {
                self.stop_at(
                    slipring_ir::Kind::Unsupported,
                    place,
                    "this kind of assignment in a function that starts kernels",
                );
                true
            }
        }
    }

    /// `while test:`.
    fn while_statement(&mut self, stmt: &'a StmtWhile) -> Flow<'a> {
        while self.step() {
            let value = self.expr(&stmt.test);
            match value.as_bool() {
                Some(true) => {}
                Some(false) => return self.body(&stmt.orelse),
                None => {
                    self.not_known(&value, "this condition", at(&*stmt.test));
                    return Flow::Stop;
                }
            }
            match self.body(&stmt.body) {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Flow::Next,
                other => return other,
            }
        }
        Flow::Stop
    }

    /// `with pl.scope():`, `with pl.manual_scope():`, `with pl.cluster():`.
    pub(super) fn mode(&mut self, with: &'a StmtWith) -> Option<Flow<'a>> {
        let own = |item: &'a WithItem| item.context_expr.as_call_expr();
        let call = with.items.iter().find_map(own)?;
        let HostValue::Path(path) = self.plain_value(&call.func)? else { return None };
        let span = at(call);
        if with.items.len() > 1 && path.starts_with("pl.") {
            let error = Diagnostic::error("scope", span, "several scopes in one `with`");
            self.stop(error.help("write each in a `with` of its own, one inside of the other"));
            return Some(Flow::Stop);
        }
        let known: &[&str] = match &*path {
            "pl.manual_scope" => &[],
            "pl.scope" => &["mode", "name_hint"],
            "pl.cluster" => &["name_hint"],
            _ if of_chip(with) => &["level", "role", "name_hint"],
            _ => return None,
        };
        let in_order = usize::from(of_chip(with)) * 2;
        if !self.keywords_known(&path, call, known) {
            return Some(Flow::Stop);
        }
        if let Some(extra) = call.arguments.args.get(in_order) {
            self.stop_at("argument", at(extra), format!("`{path}` takes no such argument"));
            return Some(Flow::Stop);
        }
        let bound = with.items.iter().find_map(|item| item.optional_vars.as_deref());
        if of_chip(with) {
            return Some(self.body(&with.body));
        }
        let mode = call.arguments.keywords.iter().find(|k| k.arg.as_ref().is_some_and(|name| name == "mode"));
        let mode = mode.map(|mode| shown(&mode.value));
        let manual = match &*path {
            "pl.manual_scope" => true,
            "pl.scope" => mode.is_some_and(|mode| mode.ends_with("MANUAL")),
            "pl.cluster" => {
                let (flow, task) = self.cluster(span, &Options::default(), |host| host.body(&with.body));
                if let Some(name) = bound {
                    self.assign(name, task.map_or(HostValue::Const(Const::None), HostValue::Task));
                }
                return Some(flow);
            }
            _ => return None,
        };
        if let Some(name) = bound {
            self.stop_at("scope", at(name), format!("`{path}` gives no id: tasks inside of it have their own"));
            return Some(Flow::Stop);
        }
        if let Some(outer) = self.rec().manual {
            self.stop(crate::forms::inside_manual(manual, span, outer));
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
        let word = call.and_then(|call| match self.plain_value(&call.func) {
            Some(HostValue::Path(path)) => path.strip_prefix("pl.").map(str::to_string),
            _ => None,
        });
        let (Some(call), Some(word)) = (call, word) else {
            let over = self.expr(&stmt.iter);
            if let HostValue::Range(first, end, step) = over
                && range(first, end, step).nth(MOST_SEEN).is_some()
            {
                self.stop_at("too-large", at(&*stmt.iter), format!("a loop of more than {MOST_SEEN} iterations"));
                return Flow::Stop;
            }
            let Some(items) = self.all_of(&over, at(&*stmt.iter)) else {
                self.not_known(&over, "what this loop is over", at(&*stmt.iter));
                return Flow::Stop;
            };
            return self.iterations(stmt, items, None);
        };
        match word.as_str() {
            "range" | "parallel" | "unroll" | "pipeline" => {
                if let Some(error) = crate::syntax::wrong_stages(&format!("pl.{word}"), call) {
                    self.stop(error);
                    return Flow::Stop;
                }
            }
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
        let known: &[&str] = if word == "pipeline" { &["init_values", "stage"] } else { &["init_values"] };
        if !self.keywords_known(&format!("pl.{word}"), call, known) {
            return Flow::Stop;
        }
        let items: Vec<_> = range(first, end, step).take(MOST_SEEN + 1).map(HostValue::int).collect();
        if items.len() > MOST_SEEN {
            self.stop_at("too-large", at(call), format!("a loop of more than {MOST_SEEN} iterations"));
            return Flow::Stop;
        }
        let carried = self.carried(call);
        self.iterations(stmt, items, carried)
    }

    /// The values of `init_values`.
    pub(super) fn carried(&mut self, call: &'a ExprCall) -> Option<HostValue<'a>> {
        let init = call.arguments.keywords.iter().find(|k| k.arg.as_ref().is_some_and(|name| name == "init_values"))?;
        Some(self.expr(&init.value))
    }

    /// Reports the last `pl.yield_` of a loop if it lacks names for the loop's results.
    fn yields_nameless(&mut self, body: &'a [Stmt]) -> bool {
        let Some(Stmt::Expr(last)) = body.last() else { return false };
        let is = self.is_yield(&last.value);
        if is {
            self.stop(crate::syntax::yields_nameless(at(&*last.value)));
        }
        is
    }

    pub(super) fn iterations(
        &mut self,
        stmt: &'a StmtFor,
        items: Vec<HostValue<'a>>,
        mut carried: Option<HostValue<'a>>,
    ) -> Flow<'a> {
        if carried.is_some() && self.yields_nameless(&stmt.body) {
            return Flow::Stop;
        }
        let (counter, rest) = match (&*stmt.target, &carried) {
            (Expr::Tuple(tuple), Some(_)) if tuple.elts.len() == 2 => (&tuple.elts[0], Some(&tuple.elts[1])),
            (target, _) => (target, None),
        };
        let name: Rc<str> = counter.as_name_expr().map_or("", |name| name.id.as_str()).into();
        let outer = self.rec().yielded.take();
        let depth = self.rec().iterations.len();
        let (mut flow, mut left) = (Flow::Next, false);
        for item in items {
            if let (HostValue::Const(Const::Int(n)), false) = (&item, name.is_empty() || name.starts_with('_')) {
                let iteration = (name.clone(), *n);
                self.rec().iterations.push(iteration);
            }
            self.assign(counter, item);
            if let (Some(rest), Some(values)) = (rest, &carried) {
                self.assign(rest, values.clone());
            }
            let this = self.body(&stmt.body);
            self.rec().iterations.truncate(depth);
            if carried.is_some()
                && let Some(values) = self.rec().yielded.take()
            {
                // A single value is a tuple of one for the names of the loop.
                carried = Some(match values {
                    HostValue::Tuple(_) => values,
                    one => HostValue::Tuple(Rc::new(vec![one])),
                });
            }
            match this {
                Flow::Next | Flow::Continue => {}
                Flow::Break => {
                    left = true;
                    break;
                }
                other => {
                    (flow, left) = (other, true);
                    break;
                }
            }
        }
        self.rec().yielded = outer;
        if left { flow } else { self.body(&stmt.orelse) }
    }

    pub(super) fn while_loop(&mut self, stmt: &'a StmtFor, call: &'a ExprCall) -> Flow<'a> {
        let mut carried = self.carried(call).unwrap_or_else(|| HostValue::tuple(Vec::new()));
        let Some((Stmt::Expr(first), body)) = stmt.body.split_first() else {
            self.stop_at("loop", at(call), "the body of `pl.while_` begins with `pl.cond(…)`");
            return Flow::Stop;
        };
        let Expr::Call(condition) = &*first.value else {
            self.stop_at("loop", at(call), "the body of `pl.while_` begins with `pl.cond(…)`");
            return Flow::Stop;
        };
        if self.yields_nameless(body) {
            return Flow::Stop;
        }
        while self.step() {
            self.assign(&stmt.target, carried.clone());
            let Some(test) = condition.arguments.args.first() else { return Flow::Next };
            let value = self.expr(test);
            match value.as_bool() {
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
