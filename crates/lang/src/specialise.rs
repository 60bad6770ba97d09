//! Parameters whose shapes come from the arguments: bare `pl.Tensor`, and extents that are `pl.dynamic`.
//!
//! Arguments of the caller take precedence, then those of the first call by the file's own host code with tensors of
//! known shapes.

use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::Expr;

use crate::annotations::{direction, dynamic_name, generic, has_dynamic};
use crate::globals::{Function, Globals, path_of};
use crate::passed::{HostCall, Passed};
use crate::request::Request;
use crate::value::Value;

/// Arguments by parameter name.
pub(crate) type Specialised = IndexMap<Rc<str>, Passed>;

/// The arguments of a function.
pub(crate) fn specialise<'c>(
    globals: &Globals<'_>,
    function: &Function<'_>,
    calls: impl Iterator<Item = &'c HostCall>,
    request: &Request<'_>,
) -> Specialised {
    let names: Vec<Rc<str>> = function
        .def
        .parameters
        .iter_non_variadic_params()
        .map(|p| p.parameter.name.as_str().into())
        .filter(|name: &Rc<str>| **name != *"self")
        .collect();
    let mut candidates = Vec::new();
    let asked = request.function.is_none_or(|name| name == &*function.name);
    if asked && request.args.len() <= names.len() {
        let mut given = Specialised::new();
        let mut in_order = names.iter();
        for arg in request.args {
            let name = match &arg.name {
                Some(name) => Some(name.as_str().into()),
                None => in_order.next().cloned(),
            };
            if let (Some(name), Some(elem), Some(shape)) = (name, arg.elem, &arg.shape) {
                given.insert(name, Passed::Tensor(shape.clone(), elem));
            }
        }
        candidates.push(given);
    }
    for call in calls {
        let mut in_order = names.iter();
        let mut given = Specialised::new();
        for (name, value) in &call.args {
            let name = name.clone().or_else(|| in_order.next().cloned());
            if let Some(name) = name.filter(|name| names.contains(name)) {
                given.insert(name, value.clone());
            }
        }
        candidates.push(given);
    }
    let usable = |given: &Specialised| !needs_arguments(globals, function, given);
    let best = candidates.iter().position(usable).unwrap_or(0);
    if candidates.is_empty() { Specialised::new() } else { candidates.swap_remove(best) }
}

/// The arguments of other calls by the file's own host code: tensors of other shapes or types, each once.
pub(crate) fn others<'c>(
    globals: &Globals<'_>,
    function: &Function<'_>,
    calls: impl Iterator<Item = &'c HostCall>,
    first: &Specialised,
) -> Vec<Specialised> {
    let shapes = |given: &Specialised| {
        let tensor = |passed: &Passed| matches!(passed, Passed::Tensor(..)).then(|| passed.clone());
        given.iter().filter_map(|(name, passed)| Some((name.clone(), tensor(passed)?))).collect::<Vec<_>>()
    };
    let mut seen = vec![shapes(first)];
    let mut found = Vec::new();
    for call in calls {
        let given = specialise(globals, function, std::iter::once(call), &Request::default());
        if needs_arguments(globals, function, &given) || seen.contains(&shapes(&given)) || seen.len() > MOST_OTHERS {
            continue;
        }
        seen.push(shapes(&given));
        found.push(given);
    }
    found
}

/// The maximum number of other calls of a function that are considered.
const MOST_OTHERS: usize = 16;

/// True if the shape or type of a tensor is known neither from the text nor from the arguments.
pub(crate) fn needs_arguments(globals: &Globals<'_>, function: &Function<'_>, given: &Specialised) -> bool {
    function.def.parameters.iter_non_variadic_params().any(|parameter| {
        let Some(annotation) = &parameter.parameter.annotation else { return false };
        let open = is_open(globals, function, annotation);
        open && !matches!(given.get(parameter.parameter.name.as_str()), Some(Passed::Tensor(..) | Passed::Part { .. }))
    })
}

/// True for a type without a complete shape.
fn is_open(globals: &Globals<'_>, function: &Function<'_>, annotation: &Expr) -> bool {
    let (_, inner) = direction(globals, &function.scope, annotation);
    match generic(globals, &function.scope, inner) {
        None => path_of(globals, &function.scope, inner).as_deref() == Some("pl.Tensor"),
        Some((path, args)) if path == "pl.Tensor" => match args.first() {
            Some(Expr::List(list)) => list.elts.iter().any(|extent| has_dynamic(globals, &function.scope, extent)),
            Some(Expr::Tuple(tuple)) => tuple.elts.iter().any(|extent| has_dynamic(globals, &function.scope, extent)),
            Some(Expr::Name(name)) => {
                let name = name.id.as_str();
                match function.scope.get(name).cloned().or_else(|| globals.get(name)) {
                    Some(Value::Tuple(items)) => items.iter().any(|item| dynamic_name(item).is_some()),
                    _ => false,
                }
            }
            _ => false,
        },
        // A function that takes tiles is a part of its callers.
        Some((path, _)) => path == "pl.Tile",
    }
}
