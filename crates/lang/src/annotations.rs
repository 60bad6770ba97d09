//! Type annotations in a function's text.

use std::rc::Rc;

use ruff_python_ast::Expr;

use crate::compiled::Direction;
use crate::globals::{Globals, Scope, path_of};
use crate::value::Value;

/// `pl.Out[T]`, `pl.InOut[T]` or `T`.
pub(crate) fn direction<'e>(globals: &Globals<'_>, scope: &Scope, annotation: &'e Expr) -> (Direction, &'e Expr) {
    if let Expr::Subscript(subscript) = annotation {
        match path_of(globals, scope, &subscript.value).as_deref() {
            Some("pl.Out") => return (Direction::Out, &subscript.slice),
            Some("pl.InOut") => return (Direction::InOut, &subscript.slice),
            // Memory of a device is both read and written.
            Some("pld.DistributedTensor") => return (Direction::InOut, annotation),
            _ => {}
        }
    }
    (Direction::In, annotation)
}

/// `path[args]`.
pub(crate) fn generic<'e>(globals: &Globals<'_>, scope: &Scope, expr: &'e Expr) -> Option<(String, Vec<&'e Expr>)> {
    let Expr::Subscript(subscript) = expr else { return None };
    let args = match &*subscript.slice {
        Expr::Tuple(tuple) => tuple.elts.iter().collect(),
        other => vec![other],
    };
    Some((path_of(globals, scope, &subscript.value)?, args))
}

/// True for an extent that is `pl.dynamic`, or computed from one.
pub(crate) fn has_dynamic(globals: &Globals<'_>, scope: &Scope, extent: &Expr) -> bool {
    match extent {
        Expr::BinOp(sum) => has_dynamic(globals, scope, &sum.left) || has_dynamic(globals, scope, &sum.right),
        other => path_of(globals, scope, other).is_some_and(|path| path.starts_with("pl.dynamic")),
    }
}

/// The name of an extent that is `pl.dynamic`.
pub(crate) fn dynamic_name(value: &Value) -> Option<Rc<str>> {
    match value {
        Value::Path(path) => path.strip_prefix("pl.dynamic").map(|rest| rest.trim_start_matches('.').into()),
        _ => None,
    }
}
