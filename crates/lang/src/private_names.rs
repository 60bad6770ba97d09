//! Private names of classes: inside `class A`, Python mangles `__x` to `_A__x`, so that a class and its bases do not
//! clash in it.

use ruff_python_ast::visitor::transformer::{Transformer, walk_expr, walk_keyword, walk_parameter, walk_stmt};
use ruff_python_ast::{Expr, Identifier, Keyword, Parameter, Stmt};

/// The body of a module with private names mangled as in Python.
pub(crate) fn spelled_out(mut body: Vec<Stmt>) -> Vec<Stmt> {
    Private { class: None }.visit_body(&mut body);
    body
}

struct Private {
    /// The enclosing class, without the leading underscores of its name.
    class: Option<String>,
}

impl Private {
    fn name(&self, name: &str) -> Option<String> {
        let class = self.class.as_ref().filter(|class| !class.is_empty())?;
        (name.starts_with("__") && !name.ends_with("__") && !name.contains('.')).then(|| format!("_{class}{name}"))
    }

    fn own(&self, name: &mut Identifier) {
        if let Some(whole) = self.name(name.as_str()) {
            name.id = whole.into();
        }
    }
}

impl Transformer for Private {
    fn visit_stmt(&self, stmt: &mut Stmt) {
        match stmt {
            Stmt::ClassDef(def) => {
                // Names in the bases, decorators and keywords belong to the enclosing class.
                let inner = Private { class: Some(def.name.trim_start_matches('_').to_string()) };
                let mut body = std::mem::take(&mut def.body);
                inner.visit_body(&mut body);
                self.own(&mut def.name);
                walk_stmt(self, stmt);
                if let Stmt::ClassDef(def) = stmt {
                    def.body = body;
                }
                return;
            }
            Stmt::FunctionDef(def) => self.own(&mut def.name),
            Stmt::Global(names) => names.names.iter_mut().for_each(|name| self.own(name)),
            Stmt::Nonlocal(names) => names.names.iter_mut().for_each(|name| self.own(name)),
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&self, expr: &mut Expr) {
        match expr {
            Expr::Name(name) => {
                if let Some(whole) = self.name(name.id.as_str()) {
                    name.id = whole.into();
                }
            }
            Expr::Attribute(attribute) => self.own(&mut attribute.attr),
            _ => {}
        }
        walk_expr(self, expr);
    }

    fn visit_parameter(&self, parameter: &mut Parameter) {
        self.own(&mut parameter.name);
        walk_parameter(self, parameter);
    }

    fn visit_keyword(&self, keyword: &mut Keyword) {
        if let Some(name) = &mut keyword.arg {
            self.own(name);
        }
        walk_keyword(self, keyword);
    }
}
