//! Branches, loops, `with`, `try` and `match` in host code.

use std::rc::Rc;

use ruff_python_ast::{ExceptHandler, Pattern, Stmt, StmtFor, StmtIf, StmtMatch, StmtTry, StmtWhile, StmtWith};
use slipring_ir::Span;

use super::super::unsure::Ends;
use super::super::value::HostValue;
use crate::host::state::{Flow, Host};
use crate::host::value::{NextItem, unknown};
use crate::syntax::{at, shown};
use crate::value::{Strange, Unknown};

impl<'a> Host<'a> {
    /// The control flow after something that may have left the loop or function.
    fn behind(ends: &Ends, place: Span) -> Flow<'a> {
        let why = || Rc::new(Unknown::new(place, "what depends on this"));
        match ends {
            Ends::Next => Flow::Next,
            Ends::Loop => Flow::Unsure(why(), false),
            Ends::Function => Flow::Unsure(why(), true),
        }
    }

    pub(super) fn branch(&mut self, branch: &'a StmtIf) -> Flow<'a> {
        let mut clauses = vec![(Some(&*branch.test), &branch.body)];
        clauses.extend(branch.elif_else_clauses.iter().map(|clause| (clause.test.as_ref(), &clause.body)));
        let mut open: Vec<&'a [Stmt]> = Vec::new();
        let mut place = Span::default();
        for (test, body) in clauses {
            let holds = match test {
                None => Some(true),
                Some(test) if open.is_empty() => {
                    let value = self.expr(test);
                    self.bool_of(&value, at(test))
                }
                // It is not known whether the branch is taken.
                Some(test) => {
                    self.perhaps(at(test), &mut |host| {
                        host.expr(test);
                        Flow::Next
                    });
                    None
                }
            };
            if self.raised.is_some() {
                return Flow::Stop;
            }
            match holds {
                Some(true) if open.is_empty() => return self.body(body),
                Some(false) => {}
                other => {
                    open.push(body);
                    if place == Span::default() {
                        place = test.map_or(place, at);
                    }
                    if other == Some(true) {
                        break;
                    }
                }
            }
        }
        if open.is_empty() {
            return Flow::Next;
        }
        // Any of these may run: their definitions are found, and what they bind or change becomes unknown.
        let mut arms: Vec<_> = open.into_iter().map(|body| move |host: &mut Host<'a>| host.body(body)).collect();
        let mut arms: Vec<&mut dyn FnMut(&mut Host<'a>) -> Flow<'a>> =
            arms.iter_mut().map(|arm| arm as &mut dyn FnMut(&mut Host<'a>) -> Flow<'a>).collect();
        let ends = self.several(place, &mut arms);
        Self::behind(&ends, place)
    }

    pub(super) fn for_loop(&mut self, stmt: &'a StmtFor) -> Flow<'a> {
        let place = at(&*stmt.iter);
        let over = self.expr(&stmt.iter);
        let iter = self.iter_of(&over, place);
        if self.raised.is_some() {
            return Flow::Stop;
        }
        let gives = |span| unknown(span, format!("what a loop over `{}` gives", shown(&stmt.iter)));
        loop {
            if !self.step() {
                return Flow::Stop;
            }
            match self.next(&iter, place) {
                NextItem::Item(item) => self.assign(&stmt.target, item),
                NextItem::End => return self.body(&stmt.orelse),
                NextItem::Unknown(_) if self.raised.is_some() => return Flow::Stop,
                NextItem::Unknown(why) => {
                    let lost = HostValue::Unknown(why);
                    self.lose_iterated(&over, &lost);
                    return self.unknown_loop(&stmt.body, &stmt.orelse, place, &mut |host| {
                        host.assign(&stmt.target, gives(place));
                    });
                }
            }
            if self.raised.is_some() {
                return Flow::Stop;
            }
            match self.body(&stmt.body) {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Flow::Next,
                // The rest of its iterations may or may not run.
                Flow::Unsure(why, leaves) => {
                    let flow = self.unknown_loop(&stmt.body, &stmt.orelse, why.span, &mut |host| {
                        host.assign(&stmt.target, gives(place));
                    });
                    return if leaves { Flow::Unsure(why, true) } else { flow };
                }
                other => return other,
            }
        }
    }

    /// The loop may change what it iterates over.
    fn lose_iterated(&mut self, over: &HostValue<'a>, why: &HostValue<'a>) {
        if let (HostValue::Unknown(why), HostValue::Iter(_)) = (why, over) {
            let why = why.clone();
            self.lose(over, &why);
        }
    }

    /// A loop with an unknown number of iterations.
    fn unknown_loop(
        &mut self,
        body: &'a [Stmt],
        orelse: &'a [Stmt],
        place: Span,
        begin: &mut dyn FnMut(&mut Host<'a>),
    ) -> Flow<'a> {
        let ends = self.repeatedly(body, place, &mut |host| {
            begin(host);
            host.body(body)
        });
        let behind = self.perhaps(place, &mut |host| host.body(orelse));
        match (ends, behind) {
            (Ends::Function, _) | (_, Ends::Function) => Self::behind(&Ends::Function, place),
            (_, other) => Self::behind(&other, place),
        }
    }

    pub(super) fn while_loop_host(&mut self, stmt: &'a StmtWhile) -> Flow<'a> {
        let place = at(&*stmt.test);
        while self.step() {
            let test = self.expr(&stmt.test);
            match self.bool_of(&test, place) {
                Some(true) => {}
                Some(false) => return self.body(&stmt.orelse),
                None if self.raised.is_some() => return Flow::Stop,
                None => {
                    let mut again = |host: &mut Host<'a>| drop(host.expr(&stmt.test));
                    return self.unknown_loop(&stmt.body, &stmt.orelse, place, &mut again);
                }
            }
            match self.body(&stmt.body) {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Flow::Next,
                Flow::Unsure(why, leaves) => {
                    let mut again = |host: &mut Host<'a>| drop(host.expr(&stmt.test));
                    let flow = self.unknown_loop(&stmt.body, &stmt.orelse, why.span, &mut again);
                    return if leaves { Flow::Unsure(why, true) } else { flow };
                }
                other => return other,
            }
        }
        Flow::Stop
    }

    /// `with`: `__enter__` and `__exit__` of classes of the file are run; others are assumed to let exceptions through.
    pub(super) fn with(&mut self, stmt: &'a StmtWith) -> Flow<'a> {
        self.with_items(&stmt.items, &stmt.body)
    }

    fn with_items(&mut self, items: &'a [ruff_python_ast::WithItem], body: &'a [Stmt]) -> Flow<'a> {
        let Some((item, rest)) = items.split_first() else { return self.body(body) };
        let span = at(&item.context_expr);
        let value = self.expr(&item.context_expr);
        if self.raised.is_some() {
            return Flow::Stop;
        }
        let known = self.has(&value, "__enter__") && self.has(&value, "__exit__");
        let bound = match known {
            true => self.special(&value, "__enter__", Vec::new(), span).unwrap_or_else(HostValue::none),
            false => self.lost_in(std::slice::from_ref(&value), span, "what `with` gives"),
        };
        if let Some(target) = &item.optional_vars {
            self.assign(target, bound);
        }
        if self.raised.is_some() {
            return Flow::Stop;
        }
        if !known {
            // It is not known whether it lets exceptions through.
            self.tries += 1;
            let flow = self.with_items(rest, body);
            self.tries -= 1;
            // Those of these libraries do.
            let of_library = |path: &str| matches!(path.split('.').next(), Some("torch" | "pl"));
            let lets_through = matches!(&value, HostValue::Unknown(why)
                if matches!(&why.is, Strange::Call(path) if of_library(path)));
            if let Some(raised) = self.raised.take() {
                if lets_through {
                    self.raised = Some(raised);
                    return flow;
                }
                self.forget_bound(body, span);
                return Flow::Next;
            }
            return flow;
        }
        self.tries += 1;
        let flow = self.with_items(rest, body);
        self.tries -= 1;
        let raised = self.raised.take();
        let given = match &raised {
            None => vec![(None, HostValue::none()); 3],
            Some(raised) => {
                let kind = match self.exception_of(&raised.value) {
                    Some(kind) => HostValue::Path(kind),
                    None => unknown(span, "an exception"),
                };
                vec![(None, kind), (None, raised.value.clone()), (None, unknown(span, "a traceback"))]
            }
        };
        let kept = self.special(&value, "__exit__", given, span).unwrap_or_else(HostValue::none);
        if self.raised.is_some() {
            return Flow::Stop;
        }
        let Some(raised) = raised else { return flow };
        match self.bool_of(&kept, span) {
            Some(true) => Flow::Next,
            Some(false) => {
                self.raised = Some(raised);
                Flow::Stop
            }
            None => {
                self.forget_bound(body, span);
                Flow::Next
            }
        }
    }

    /// Values bound by statements that ran partially become unknown.
    fn forget_bound(&mut self, body: &'a [Stmt], place: Span) {
        self.risks += 1;
        let bound: Vec<Rc<str>> = super::Locals::of_body(body, None).bound.iter().cloned().collect();
        for name in bound {
            let why = Rc::new(Unknown::new(place, format!("`{name}`, which depends on this")));
            if let Some((_, value)) = self.find_for_binding(&name) {
                self.lose(&value, &why);
            }
            self.set(&name, HostValue::Unknown(why));
        }
    }

    pub(super) fn try_stmt(&mut self, stmt: &'a StmtTry) -> Flow<'a> {
        let flow = self.guarded(stmt);
        // `finally` runs in any case; its exceptions and return values take precedence.
        let raised = self.raised.take();
        let last = self.body(&stmt.finalbody);
        match last {
            Flow::Next if self.raised.is_none() => {
                self.raised = raised;
                flow
            }
            other => other,
        }
    }

    fn guarded(&mut self, stmt: &'a StmtTry) -> Flow<'a> {
        if stmt.handlers.is_empty() {
            return match self.body(&stmt.body) {
                Flow::Next => self.body(&stmt.orelse),
                other => other,
            };
        }
        let risks = self.risks;
        self.tries += 1;
        self.begin_trial();
        let flow = self.body(&stmt.body);
        self.tries -= 1;
        let place = stmt.body.first().map_or(Span::default(), at);
        let unsure = self.risks > risks && self.recorder.is_none();
        if unsure {
            // It is not known whether the body raised: any handler may run, after any part of the body.
            let limit = self.raised.take().is_some_and(|raised| raised.limit);
            let changes = self.undo_trial();
            if limit {
                self.lose_all(place, "calls that are too deep inside each other");
            }
            let leaves = match &flow {
                Flow::Return(value) => {
                    let why = Rc::new(Unknown::new(place, "what may or may not be given back"));
                    self.lose(value, &why);
                    true
                }
                Flow::Unsure(_, leaves) => *leaves,
                _ => false,
            };
            let jumps = matches!(flow, Flow::Break | Flow::Continue | Flow::Unsure(_, false));
            self.settle(changes, place);
            let mut ends = if leaves {
                Ends::Function
            } else if jumps {
                Ends::Loop
            } else {
                Ends::Next
            };
            for body in stmt.handlers.iter().map(|ExceptHandler::ExceptHandler(own)| (own.name.as_ref(), &own.body[..]))
            {
                let (name, body) = body;
                if let Some(name) = name {
                    self.set(name.as_str(), unknown(place, "what was raised"));
                }
                let own = self.perhaps(place, &mut |host| host.body(body));
                if matches!(own, Ends::Function) || matches!((&ends, &own), (Ends::Next, Ends::Loop)) {
                    ends = own;
                }
            }
            let own = self.perhaps(place, &mut |host| host.body(&stmt.orelse));
            if matches!(own, Ends::Function) || matches!((&ends, &own), (Ends::Next, Ends::Loop)) {
                ends = own;
            }
            return Self::behind(&ends, place);
        }
        self.keep_trial();
        let Some(raised) = self.raised.take() else {
            return match flow {
                Flow::Next => self.body(&stmt.orelse),
                other => other,
            };
        };
        for ExceptHandler::ExceptHandler(handler) in &stmt.handlers {
            let caught = match &handler.type_ {
                None => Some(true),
                Some(kind) => {
                    let kind = self.expr(kind);
                    self.catches(&kind, &raised.value)
                }
            };
            match caught {
                Some(false) => {}
                Some(true) if !stmt.is_star => {
                    if let Some(name) = &handler.name {
                        self.set(name.as_str(), raised.value.clone());
                    }
                    self.handled.push(raised.value.clone());
                    let flow = self.body(&handler.body);
                    self.handled.pop();
                    if let (Some(name), Some(scope)) = (&handler.name, self.scopes.last().cloned()) {
                        self.touch_name(&scope, &name.as_str().into());
                        scope.remove(name.as_str());
                    }
                    return flow;
                }
                _ => {
                    // It is not known which handler catches it.
                    let mut ends = Ends::Next;
                    for ExceptHandler::ExceptHandler(other) in &stmt.handlers {
                        let own = self.perhaps(place, &mut |host| host.body(&other.body));
                        if !matches!(own, Ends::Next) {
                            ends = own;
                        }
                    }
                    return Self::behind(&ends, place);
                }
            }
        }
        self.raised = Some(raised);
        Flow::Stop
    }

    pub(super) fn match_stmt(&mut self, stmt: &'a StmtMatch) -> Flow<'a> {
        let place = at(&*stmt.subject);
        let subject = self.expr(&stmt.subject);
        for (index, case) in stmt.cases.iter().enumerate() {
            if self.raised.is_some() {
                return Flow::Stop;
            }
            let fits = self.matches(&case.pattern, &subject, place);
            let holds = match (fits, &case.guard) {
                (Some(true), Some(guard)) => {
                    let value = self.expr(guard);
                    self.bool_of(&value, at(&**guard))
                }
                (fits, _) => fits,
            };
            match holds {
                Some(true) => return self.body(&case.body),
                Some(false) => {}
                None => {
                    let why = Rc::new(Unknown::new(place, "what a pattern takes apart"));
                    self.lose(&subject, &why);
                    let mut ends = Ends::Next;
                    for case in &stmt.cases[index..] {
                        let own = self.perhaps(place, &mut |host| {
                            for name in pattern_names(&case.pattern) {
                                host.set(&name, HostValue::Unknown(why.clone()));
                            }
                            host.body(&case.body)
                        });
                        if !matches!(own, Ends::Next) {
                            ends = own;
                        }
                    }
                    return Self::behind(&ends, place);
                }
            }
        }
        Flow::Next
    }

    /// True if a value matches a pattern, whose names are bound then; `None` if it is not known.
    fn matches(&mut self, pattern: &'a Pattern, value: &HostValue<'a>, span: Span) -> Option<bool> {
        match pattern {
            Pattern::MatchValue(own) => {
                let wanted = self.expr(&own.value);
                self.equals(value, &wanted, span, 0)
            }
            Pattern::MatchSingleton(own) => {
                let wanted = match own.value {
                    ruff_python_ast::Singleton::None => HostValue::none(),
                    ruff_python_ast::Singleton::True => HostValue::bool(true),
                    ruff_python_ast::Singleton::False => HostValue::bool(false),
                };
                super::super::compare::same(value, &wanted)
            }
            Pattern::MatchOr(own) => {
                for pattern in &own.patterns {
                    if self.matches(pattern, value, span)? {
                        return Some(true);
                    }
                }
                Some(false)
            }
            Pattern::MatchAs(own) => {
                if let Some(inner) = &own.pattern
                    && !self.matches(inner, value, span)?
                {
                    return Some(false);
                }
                if let Some(name) = &own.name {
                    self.set(name.as_str(), value.clone());
                }
                Some(true)
            }
            _ => None,
        }
    }
}

fn pattern_names(pattern: &Pattern) -> Vec<Rc<str>> {
    use ruff_python_ast::visitor::Visitor;
    let mut locals = super::Locals::default();
    locals.visit_pattern(pattern);
    locals.bound.into_iter().collect()
}
