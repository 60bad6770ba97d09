//! `strict_ssa=True`: each name of the function is assigned once, and no part of a tensor is assigned.

use std::collections::BTreeMap;

use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};
use slipring_ir::{Diagnostic, Span};

use crate::syntax::at;

/// Reports repeated assignments that run after the first one: in the same block, or in a nested one. Results of
/// `pl.yield_` are values of the surrounding loop or branch and are not checked: `is_yield` recognises them.
pub(crate) fn assigned_again<'e>(
    def: &'e StmtFunctionDef,
    is_yield: &mut dyn FnMut(&'e Expr) -> bool,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let names = def.parameters.iter().map(|own| (own.name().as_str(), at(own.name()))).collect();
    block(&def.body, names, is_yield, &mut found);
    found
}

fn block<'e>(
    body: &'e [Stmt],
    mut seen: BTreeMap<&'e str, Span>,
    is_yield: &mut dyn FnMut(&'e Expr) -> bool,
    found: &mut Vec<Diagnostic>,
) {
    for stmt in body {
        match stmt {
            Stmt::Assign(assign) if !is_yield(&assign.value) => {
                assign.targets.iter().for_each(|target| bind(target, &mut seen, found));
            }
            Stmt::AnnAssign(assign) if assign.value.as_ref().is_some_and(|value| !is_yield(value)) => {
                bind(&assign.target, &mut seen, found);
            }
            Stmt::AugAssign(assign) => bind(&assign.target, &mut seen, found),
            Stmt::For(own) => {
                let mut inner = seen.clone();
                bind(&own.target, &mut inner, found);
                block(&own.body, inner, is_yield, found);
            }
            Stmt::While(own) => block(&own.body, seen.clone(), is_yield, found),
            Stmt::With(own) => block(&own.body, seen.clone(), is_yield, found),
            Stmt::If(own) => {
                block(&own.body, seen.clone(), is_yield, found);
                own.elif_else_clauses.iter().for_each(|clause| block(&clause.body, seen.clone(), is_yield, found));
            }
            _ => {}
        }
    }
}

/// Records the names that a target binds.
fn bind<'e>(target: &'e Expr, seen: &mut BTreeMap<&'e str, Span>, found: &mut Vec<Diagnostic>) {
    match target {
        // Names with `$` do not come from the author: they are used to rewrite `break` and `continue`.
        Expr::Name(name) if name.id.as_str() != "_" && !name.id.contains('$') => {
            if let Some(first) = seen.insert(name.id.as_str(), at(target)) {
                let message = format!("`{}` is assigned again in a function with `strict_ssa`", name.id);
                let error = Diagnostic::error("redefinition", at(target), message).also(first, "first here");
                found.push(error.help("give the second value another name, or leave `strict_ssa` out"));
            }
        }
        Expr::Tuple(tuple) => tuple.elts.iter().for_each(|own| bind(own, seen, found)),
        Expr::List(list) => list.elts.iter().for_each(|own| bind(own, seen, found)),
        Expr::Starred(own) => bind(&own.value, seen, found),
        Expr::Subscript(_) => {
            let message = "a part is assigned to in a function with `strict_ssa`";
            let error = Diagnostic::error("redefinition", at(target), message);
            found.push(
                error.help("bind what `pl.store` or `pl.assemble` gives to a new name, or leave `strict_ssa` out"),
            );
        }
        _ => {}
    }
}
