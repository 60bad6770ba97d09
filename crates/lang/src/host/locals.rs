//! The names that a text binds and reads.

use std::rc::Rc;

use indexmap::IndexSet;
use ruff_python_ast::visitor::{Visitor, walk_except_handler, walk_expr, walk_pattern, walk_stmt};
use ruff_python_ast::{ExceptHandler, Expr, ExprContext, Parameters, Pattern, Stmt};

/// The names that a function's text binds and reads.
#[derive(Default)]
pub(crate) struct Locals {
    pub bound: IndexSet<Rc<str>>,
    pub globals: IndexSet<Rc<str>>,
    pub nonlocals: IndexSet<Rc<str>>,
    /// Names that it, or a nested function, reads.
    pub read: IndexSet<Rc<str>>,
    /// Names that nested functions declare `global` or `nonlocal`.
    pub shared: IndexSet<Rc<str>>,
    /// True for a generator or coroutine.
    pub suspends: bool,
}

impl Locals {
    /// Those of a body with these parameters.
    pub fn of_body(body: &[Stmt], parameters: Option<&Parameters>) -> Locals {
        let mut locals = Locals::default();
        for stmt in body {
            locals.visit_stmt(stmt);
        }
        locals.finish(parameters)
    }

    /// Those of an expression, for a lambda.
    pub fn of_expr(expr: &Expr, parameters: Option<&Parameters>) -> Locals {
        let mut locals = Locals::default();
        locals.visit_expr(expr);
        locals.finish(parameters)
    }

    fn finish(mut self, parameters: Option<&Parameters>) -> Locals {
        self.bound.retain(|name| !self.globals.contains(name) && !self.nonlocals.contains(name));
        for parameter in parameters.iter().flat_map(|parameters| parameters.iter()) {
            self.bound.insert(parameter.name().as_str().into());
        }
        self
    }

    fn bind(&mut self, name: &str) {
        self.bound.insert(name.into());
    }

    /// Adds the names that a nested function or class reads and shares.
    fn inner(&mut self, inner: Locals) {
        self.shared.extend(inner.globals.iter().chain(&inner.nonlocals).chain(&inner.shared).cloned());
        self.read.extend(inner.read);
    }
}

impl<'a> Visitor<'a> for Locals {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => {
                self.bind(def.name.as_str());
                def.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                for parameter in def.parameters.iter_non_variadic_params() {
                    parameter.default.iter().for_each(|default| self.visit_expr(default));
                }
                self.inner(Locals::of_body(&def.body, Some(&def.parameters)));
            }
            Stmt::ClassDef(def) => {
                self.bind(def.name.as_str());
                def.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                def.arguments.iter().for_each(|arguments| self.visit_arguments(arguments));
                self.inner(Locals::of_body(&def.body, None));
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    let first = alias.name.as_str().split('.').next().unwrap_or_default();
                    self.bind(alias.asname.as_ref().map_or(first, |name| name.as_str()));
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    self.bind(alias.asname.as_ref().unwrap_or(&alias.name).as_str());
                }
            }
            Stmt::Global(stmt) => self.globals.extend(stmt.names.iter().map(|name| Rc::from(name.as_str()))),
            Stmt::Nonlocal(stmt) => self.nonlocals.extend(stmt.names.iter().map(|name| Rc::from(name.as_str()))),
            // Annotations are not evaluated in functions.
            Stmt::AnnAssign(assign) => {
                assign.value.iter().for_each(|value| self.visit_expr(value));
                self.visit_expr(&assign.target);
            }
            other => walk_stmt(self, other),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if matches!(name.ctx, ExprContext::Load) => {
                self.read.insert(name.id.as_str().into());
            }
            Expr::Name(name) => self.bind(name.id.as_str()),
            Expr::Lambda(lambda) => {
                for parameter in lambda.parameters.iter().flat_map(|p| p.iter_non_variadic_params()) {
                    parameter.default.iter().for_each(|default| self.visit_expr(default));
                }
                self.inner(Locals::of_expr(&lambda.body, lambda.parameters.as_deref()));
            }
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => {
                // Names of a comprehension are local to it, except those bound by `:=`.
                let mut inner = Locals::default();
                walk_expr(&mut inner, expr);
                self.read.extend(inner.read);
                self.shared.extend(inner.shared);
                self.suspends |= inner.suspends;
                let mut walrus = Walrus(Vec::new());
                walk_expr(&mut walrus, expr);
                walrus.0.iter().for_each(|name| self.bind(name));
            }
            Expr::Yield(_) | Expr::YieldFrom(_) | Expr::Await(_) => {
                self.suspends = true;
                walk_expr(self, expr);
            }
            other => walk_expr(self, other),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(own) = handler;
        if let Some(name) = &own.name {
            self.bind(name.as_str());
        }
        walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(own) => own.name.as_ref(),
            Pattern::MatchStar(own) => own.name.as_ref(),
            Pattern::MatchMapping(own) => own.rest.as_ref(),
            _ => None,
        };
        name.iter().for_each(|name| self.bind(name.as_str()));
        walk_pattern(self, pattern);
    }
}

/// Names bound by `:=`.
struct Walrus(Vec<String>);

impl<'a> Visitor<'a> for Walrus {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Named(named) = expr
            && let Expr::Name(name) = &*named.target
        {
            self.0.push(name.id.as_str().to_string());
        }
        if !matches!(expr, Expr::Lambda(_)) {
            walk_expr(self, expr);
        }
    }
}
