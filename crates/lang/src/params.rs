//! Parameters of builtins, and the arguments of a call.

use std::rc::Rc;

use slipring_ir::{Diagnostic, Span};
use slipring_tile::Elem;

use crate::value::Value;

/// Arguments as written.
#[derive(Default)]
pub(crate) struct Given {
    pub positional: Vec<(Value, Span)>,
    pub keywords: Vec<(Rc<str>, Value, Span)>,
    /// The tile type from the annotation of the call's target.
    pub expected: Option<(Vec<u64>, Elem)>,
}

/// A parameter of an op.
struct Param {
    name: &'static str,
    /// Alternative names: the public language names some parameters differently for tiles and for tensors.
    others: Vec<&'static str>,
    required: bool,
    keyword_only: bool,
}

impl Param {
    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.others.contains(&name)
    }
}

/// The parameters of one signature of an op.
fn params(way: &'static str) -> Vec<Param> {
    let mut keyword_only = false;
    let mut list = Vec::new();
    for part in way.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        if part == "*" {
            keyword_only = true;
            continue;
        }
        let names = part.trim_end_matches('=');
        let mut all = names.split('/');
        let name = all.next().unwrap_or(names);
        list.push(Param { name, others: all.collect(), required: names.len() == part.len(), keyword_only });
    }
    list
}

/// True if so many positional arguments, and keyword arguments of these names, fit a signature.
fn fits(params: &[Param], in_order: usize, names: &[&str]) -> bool {
    let open: Vec<&Param> = params.iter().filter(|p| !p.keyword_only).collect();
    let by_order = open.iter().take(in_order);
    let by_name = |p: &Param| names.iter().any(|name| p.is_called(name));
    in_order <= open.len()
        && names.iter().all(|name| params.iter().any(|p| p.is_called(name)))
        && by_order.clone().all(|p| !by_name(p))
        && params.iter().all(|p| !p.required || by_name(p) || by_order.clone().any(|q| q.name == p.name))
}

/// Arguments by the names of their parameters.
pub(crate) type ByName<V> = Vec<(&'static str, Option<(V, Span)>)>;

/// Binds arguments to the first signature of a builtin that they fit.
///
/// # Errors
/// Too many, unknown, given twice, missing.
pub(crate) fn by_name<V>(
    (spelled, takes): (&str, &'static str),
    positional: Vec<(V, Span)>,
    keywords: Vec<(Rc<str>, V, Span)>,
    span: Span,
) -> Result<ByName<V>, Box<Diagnostic>> {
    let wrong = |place: Span, message: String| Diagnostic::error("argument", place, message);
    let ways: Vec<Vec<Param>> = takes.split('|').map(params).collect();
    let names: Vec<&str> = keywords.iter().map(|(name, ..)| &**name).collect();
    let way = ways.iter().position(|way| fits(way, positional.len(), &names)).unwrap_or(0);
    let params = &ways[way];
    let mut args: ByName<V> = params.iter().map(|p| (p.name, None)).collect();
    let open = params.iter().filter(|p| !p.keyword_only).count();
    let count = positional.len();
    for (at, arg) in positional.into_iter().enumerate() {
        if at >= open {
            let message = format!("`{spelled}` takes {open} arguments in order, {count} are given");
            return Err(Box::new(wrong(arg.1, message).help(usage(spelled, takes))));
        }
        args[at].1 = Some(arg);
    }
    for (keyword, value, place) in keywords {
        let position = params.iter().position(|param| param.is_called(&keyword));
        let Some(slot) = position.and_then(|at| args.get_mut(at)) else {
            let error = wrong(place, format!("`{spelled}` has no argument `{keyword}`"));
            return Err(Box::new(match slipring_ir::text::nearest(&keyword, params.iter().map(|p| p.name)) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help(usage(spelled, takes)),
            }));
        };
        if slot.1.is_some() {
            return Err(Box::new(wrong(place, format!("`{keyword}` is given twice"))));
        }
        slot.1 = Some((value, place));
    }
    let missing = params.iter().zip(&args).find(|(p, (_, arg))| p.required && arg.is_none());
    match missing {
        Some((param, _)) => {
            let message = format!("`{spelled}` needs `{}`", param.name);
            Err(Box::new(wrong(span, message).help(usage(spelled, takes))))
        }
        None => Ok(args),
    }
}

/// The usage text of a builtin with these parameters.
pub(crate) fn usage(spelled: &str, takes: &str) -> String {
    let ways = takes.split('|').map(|way| {
        // Only the first of alternative names is shown.
        let parts = way.split(',').map(|part| match part.trim().split_once('/') {
            Some((name, rest)) => format!("{name}{}", if rest.ends_with('=') { "=" } else { "" }),
            None => part.trim().to_string(),
        });
        let way = parts.collect::<Vec<_>>().join(", ").replace("=,", "=…,");
        format!("`{spelled}({})`", way.trim_end_matches('='))
    });
    format!("it is called as {}", ways.collect::<Vec<_>>().join(" or "))
}
