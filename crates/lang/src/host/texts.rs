//! The texts of a file and of the modules that it imports.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Stmt};

/// A module: the file itself, or a helper that it imports.
#[derive(PartialEq, Debug)]
pub(crate) struct ModuleText {
    /// Its dotted name; empty for the file itself.
    pub name: String,
    pub body: Vec<Stmt>,
}

impl ModuleText {
    /// The same module with its statements transformed.
    pub fn with(&self, form: impl FnOnce(Vec<Stmt>) -> Vec<Stmt>) -> ModuleText {
        ModuleText { name: self.name.clone(), body: form(self.body.clone()) }
    }

    /// True if a name or attribute in it has this identifier; otherwise nothing in it can be that builtin.
    pub fn mentions(&self, word: &str) -> bool {
        let mut search = Search { word, found: false };
        search.visit_body(&self.body);
        search.found
    }
}

/// A search for an identifier in a module.
struct Search<'w> {
    word: &'w str,
    found: bool,
}

impl<'a> Visitor<'a> for Search<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::ImportFrom(import) => self.found |= import.names.iter().any(|own| own.name.as_str() == self.word),
            _ if self.found => {}
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => self.found |= name.id.as_str() == self.word,
            Expr::Attribute(own) if own.attr.as_str() == self.word => self.found = true,
            _ => walk_expr(self, expr),
        }
    }
}
