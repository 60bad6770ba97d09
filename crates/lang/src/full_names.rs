//! Full names of functions: prefixed with the enclosing class or function if a file has several of one name.

use std::rc::Rc;

use indexmap::IndexMap;
use slipring_ir::{Diagnostic, Diags};

use crate::host::Found;
use crate::syntax::at;

/// The full names of functions: the plain name if it is unique, else prefixed with the enclosing definitions. Two equal
/// full names are an error.
pub(crate) fn full_names(found: &[Found<'_>], diags: &mut Diags) -> Vec<Rc<str>> {
    let short = |found: &Found<'_>| found.def.name.as_str().to_string();
    let mut counts: IndexMap<String, usize> = IndexMap::new();
    found.iter().filter(|own| own.first.is_none()).for_each(|found| *counts.entry(short(found)).or_default() += 1);
    let mut firsts: IndexMap<Rc<str>, usize> = IndexMap::new();
    let mut names = Vec::new();
    for (position, function) in found.iter().enumerate() {
        if let Some(first) = function.first {
            let number = 1 + found[..position].iter().filter(|own| own.first == Some(first)).count();
            names.push(format!("{}.{}", names[first], number + 1).into());
            continue;
        }
        let name = short(function);
        let full: Rc<str> = match counts[&name] {
            1 => name.into(),
            _ => function.within.iter().map(|part| format!("{part}.")).collect::<String>().into(),
        };
        let full: Rc<str> =
            if full.is_empty() || full.ends_with('.') { format!("{full}{}", function.def.name).into() } else { full };
        if function.part && firsts.contains_key(&full) {
            // Names around the text distinguish them.
            let number = 2 + names.iter().filter(|own: &&Rc<str>| own.starts_with(&format!("{full}."))).count();
            names.push(format!("{full}.{number}").into());
            continue;
        }
        if let Some(first) = firsts.get(&full) {
            let error = Diagnostic::error(
                "duplicate",
                at(&function.def.name),
                format!("a second function `{}`", function.def.name),
            )
            .also(at(&found[*first].def.name), "the first one");
            let decided = function.perhaps.or(found[*first].perhaps).filter(|_| function.module == 0);
            diags.push(match decided {
                Some(place) => error.also(place, "what decides which one Python keeps, and is not known").help(PERHAPS),
                None => error.help("kernels of a file, or of one class, have names of their own"),
            });
        } else {
            firsts.insert(full.clone(), position);
            if let (Some(place), 0) = (function.perhaps, function.module) {
                let message = format!("whether Python comes to `{}` is not known", function.def.name);
                let warning = Diagnostic::warning("kernel-perhaps", at(&function.def.name), message);
                diags.push(warning.also(place, "it is decided here").help(PERHAPS));
            }
        }
        names.push(full);
    }
    names
}

/// The help text for host code that is not followed but decides which kernels exist.
const PERHAPS: &str =
    "let Python run the file, `python -m slipring COMMAND FILE`, or take the kernel out of the branch";
