//! The names that statements bind and read.

use std::collections::BTreeSet;
use std::rc::Rc;

use indexmap::IndexSet;
use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, ExprCall, ExprContext, Stmt};

/// Names in some statements.
#[derive(Default)]
pub(super) struct Names {
    /// Names that are read.
    pub read: BTreeSet<Rc<str>>,
    /// Names that are bound, each once, in the order of the text.
    pub bound: IndexSet<Rc<str>>,
    /// Names that may be read before they are bound.
    pub exposed: BTreeSet<Rc<str>>,
    /// Names that are bound on every path.
    pub certain: BTreeSet<Rc<str>>,
    /// Names with an assignment to a part: they are not rebound.
    pub written: IndexSet<Rc<str>>,
    /// True if a tile may be changed in place: by an assignment to a part, or by a called function.
    pub may_write: bool,
}

impl Names {
    /// Names in a list of statements.
    pub fn of(body: &[Stmt]) -> Names {
        let mut names = Names::default();
        let mut certain = BTreeSet::new();
        names.block(body, &mut certain);
        names.certain = certain;
        names
    }

    /// Adds the names of a loop's `init_values`: each iteration reads them, and its `pl.yield_` binds them.
    pub fn carry(&mut self, carried: &[Rc<str>]) {
        self.bound.retain(|name| !carried.contains(name));
        self.bound.extend(carried.iter().cloned());
        self.exposed.extend(carried.iter().cloned());
    }

    /// Adds the names that a target binds.
    pub fn assigned(&mut self, target: &Expr) {
        self.target(target, &mut BTreeSet::new());
    }

    /// Adds the names that an expression reads.
    pub fn read_by(&mut self, expr: &Expr) {
        self.expr(expr, &BTreeSet::new());
    }

    fn block(&mut self, body: &[Stmt], certain: &mut BTreeSet<Rc<str>>) {
        body.iter().for_each(|stmt| self.stmt(stmt, certain));
    }

    fn stmt(&mut self, stmt: &Stmt, certain: &mut BTreeSet<Rc<str>>) {
        match stmt {
            Stmt::Assign(assign) => {
                self.expr(&assign.value, certain);
                assign.targets.iter().for_each(|t| self.target(t, certain));
            }
            Stmt::AnnAssign(assign) => {
                assign.value.iter().for_each(|v| self.expr(v, certain));
                self.target(&assign.target, certain);
            }
            Stmt::AugAssign(assign) => {
                self.expr(&assign.value, certain);
                if let Expr::Name(name) = &*assign.target {
                    self.reads(name.id.as_str(), certain);
                }
                self.target(&assign.target, certain);
            }
            Stmt::For(stmt) => {
                self.expr(&stmt.iter, certain);
                let mut inside = certain.clone();
                self.target(&stmt.target, &mut inside);
                // Regions run exactly once; loops may not run at all.
                self.block(&stmt.body, &mut inside);
                if runs_once(&stmt.iter) {
                    *certain = inside;
                }
            }
            Stmt::While(stmt) => {
                self.expr(&stmt.test, certain);
                self.block(&stmt.body, &mut certain.clone());
            }
            Stmt::If(stmt) => {
                self.expr(&stmt.test, certain);
                let mut arms = vec![certain.clone()];
                self.block(&stmt.body, &mut arms[0]);
                let mut has_else = false;
                for clause in &stmt.elif_else_clauses {
                    clause.test.iter().for_each(|t| self.expr(t, certain));
                    has_else |= clause.test.is_none();
                    let mut arm = certain.clone();
                    self.block(&clause.body, &mut arm);
                    arms.push(arm);
                }
                if has_else {
                    let mut common = arms.pop().unwrap_or_default();
                    common.retain(|name| arms.iter().all(|arm| arm.contains(name)));
                    *certain = common;
                }
            }
            Stmt::With(stmt) => {
                for item in &stmt.items {
                    self.expr(&item.context_expr, certain);
                    item.optional_vars.iter().for_each(|v| self.target(v, certain));
                }
                self.block(&stmt.body, certain);
            }
            Stmt::Expr(stmt) => match popped_into(&stmt.value) {
                // The name is bound to the popped tile from here on; only the type of its earlier value is used.
                Some((call, target @ Expr::Name(_))) => {
                    let mut others = call.arguments.args.iter().filter(|arg| !std::ptr::eq(*arg, target));
                    others.by_ref().for_each(|arg| self.expr(arg, certain));
                    call.arguments.keywords.iter().for_each(|keyword| self.expr(&keyword.value, certain));
                    self.target(target, certain);
                }
                _ => self.expr(&stmt.value, certain),
            },
            Stmt::Return(stmt) => stmt.value.iter().for_each(|v| self.expr(v, certain)),
            Stmt::Assert(stmt) => {
                self.expr(&stmt.test, certain);
                stmt.msg.iter().for_each(|message| self.expr(message, certain));
            }
            _ => {}
        }
    }

    fn target(&mut self, target: &Expr, certain: &mut BTreeSet<Rc<str>>) {
        match target {
            Expr::Name(name) => {
                self.binds(name.id.as_str());
                certain.insert(name.id.as_str().into());
            }
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|t| self.target(t, certain)),
            Expr::List(list) => list.elts.iter().for_each(|t| self.target(t, certain)),
            Expr::Subscript(subscript) => {
                self.expr(&subscript.slice, certain);
                self.expr(&subscript.value, certain);
                self.may_write = true;
                if let Expr::Name(name) = &*subscript.value {
                    self.written.insert(name.id.as_str().into());
                }
            }
            _ => {}
        }
    }

    fn binds(&mut self, name: &str) {
        if !self.bound.contains(name) {
            self.bound.insert(name.into());
        }
    }

    fn reads(&mut self, name: &str, certain: &BTreeSet<Rc<str>>) {
        self.read.insert(name.into());
        if !certain.contains(name) {
            self.exposed.insert(name.into());
        }
    }

    fn expr(&mut self, expr: &Expr, certain: &BTreeSet<Rc<str>>) {
        struct Reads<'a>(&'a mut Names, &'a BTreeSet<Rc<str>>);
        impl<'a> Visitor<'a> for Reads<'_> {
            fn visit_expr(&mut self, expr: &'a Expr) {
                if let Expr::Name(name) = expr
                    && matches!(name.ctx, ExprContext::Load)
                {
                    self.0.reads(name.id.as_str(), self.1);
                }
                if let Expr::Call(call) = expr {
                    self.0.may_write |= match &*call.func {
                        Expr::Attribute(function) => {
                            function.attr.as_str() == "assemble"
                                || function.value.as_name_expr().is_some_and(|name| name.id.as_str() == "self")
                        }
                        _ => true,
                    };
                }
                walk_expr(self, expr);
            }
        }
        Reads(self, certain).visit_expr(expr);
    }
}

/// The names that a scope may read before it binds them: in its body, and in these parts of its head.
pub(crate) fn read_in_scope<'e>(body: &[Stmt], head: impl Iterator<Item = &'e Expr>) -> Vec<Rc<str>> {
    let mut names = Names::of(body);
    head.for_each(|part| names.read_by(part));
    names.exposed.into_iter().collect()
}

/// The names that a statement may read before it binds them.
pub(crate) fn read_names(stmt: &Stmt) -> Vec<Rc<str>> {
    Names::of(std::slice::from_ref(stmt)).exposed.into_iter().collect()
}

/// The tile operand of a pop with three operands, `TPOP(cons, tile, fifo)`, if it is a statement.
pub(super) fn popped_into(expr: &Expr) -> Option<(&ExprCall, &Expr)> {
    let call = expr.as_call_expr()?;
    let name = match &*call.func {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => return None,
    };
    let pops = crate::words::POPS.contains(&name);
    call.arguments.args.get(1).filter(|_| pops && call.arguments.args.len() == 3).map(|tile| (call, tile))
}

/// True for the iterator of a region.
fn runs_once(iter: &Expr) -> bool {
    let Expr::Call(call) = iter else { return false };
    matches!(&*call.func, Expr::Attribute(attribute) if matches!(attribute.attr.as_str(), "split_aiv" | "spmd"))
}
