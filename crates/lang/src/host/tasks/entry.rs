//! Selection of the function of a file that is a whole program.

use std::rc::Rc;

use ruff_python_ast::Expr;

use crate::globals::Globals;
use crate::host::{Host, Refs};
use crate::roles::Role;
use crate::starts::{Meant, Outside};
use crate::syntax::any_expr;

/// A function whose call starts kernels, and how many.
type Starter = (usize, usize);

/// The names of a function, and the functions whose call starts kernels.
struct OfHost<'k, 'a> {
    refs: Refs<'k, 'a>,
    kernels: &'k [Starter],
}

impl Meant for OfHost<'_, '_> {
    fn starts_kernels(&self, callee: &Expr) -> usize {
        let called = self.refs.kernel(callee);
        self.kernels.iter().find(|(at, _)| Some(*at) == called).map_or(0, |(_, starts)| *starts)
    }

    fn path(&self, word: &Expr) -> Option<String> {
        self.refs.path(word).map(|path| path.to_string())
    }
}

/// The actions of a function outside kernels, with its names; `kernels` are those whose call starts kernels.
fn outside_of(host: &Host<'_>, at: usize, kernels: &[Starter]) -> Outside {
    Outside::of(host.found[at].def, Some(&OfHost { refs: Refs::of(host, at), kernels }))
}

/// True for a function whose body starts kernels as an orchestration does: it has scopes, and no ops outside them.
pub(crate) fn dispatches(host: &Host<'_>, at: usize) -> bool {
    let found = outside_of(host, at, &[]);
    found.scopes > 0 && found.ops == 0
}

/// The functions whose call starts kernels: kernels, and helpers that start some and have no ops of their own.
fn starters(host: &Host<'_>) -> Vec<Starter> {
    let inline = |at: &usize| host.found[*at].role == Role::Inline;
    let (helpers, kernels): (Vec<usize>, Vec<usize>) = (0..host.found.len()).partition(inline);
    let kernels: Vec<Starter> = kernels.into_iter().map(|at| (at, 1)).collect();
    let mut known = kernels.clone();
    // Helpers may be started through other helpers: iterates to a fixed point.
    loop {
        let starts = |at: &usize| {
            let own = outside_of(host, *at, &known);
            (own.starts > 0 && own.ops == 0).then_some((*at, own.starts))
        };
        let more = [kernels.clone(), helpers.iter().filter_map(starts).collect()].concat();
        if more == known {
            return known;
        }
        known = more;
    }
}

/// All of [`starters`] except one.
fn others_of(starters: &[Starter], at: usize) -> Vec<Starter> {
    starters.iter().copied().filter(|(other, _)| *other != at).collect()
}

/// True for a function that starts kernels and has no ops of its own.
pub(crate) fn only_starts(host: &Host<'_>, at: usize) -> bool {
    let known = others_of(&starters(host), at);
    let own = outside_of(host, at, &known);
    own.starts > 0 && own.ops == 0
}

/// The function that is a whole program: the requested one, else the only one that nothing else starts. A function of
/// type Orchestration is a program; so is a `@pl.jit` that starts several kernels, or one in a loop, and has no ops of
/// its own.
pub(crate) fn entry(host: &Host<'_>, globals: &Globals<'_>, names: &[Rc<str>], asked: Option<&str>) -> Option<usize> {
    let starters = starters(host);
    let is_program = |at: usize| {
        let found = &host.found[at];
        let kernels = others_of(&starters, at);
        let own = outside_of(host, at, &kernels);
        match found.role {
            Role::Starts | Role::Group => true,
            Role::Kernel(None) => own.ops == 0 && own.starts > 1 && found.attrs.may_be_program,
            _ => false,
        }
    };
    let own = |at: &usize| {
        host.found[*at].module == 0 && host.found[*at].first.is_none() && globals.functions.contains_key(&names[*at])
    };
    let programs: Vec<usize> = (0..host.found.len()).filter(own).filter(|at| is_program(*at)).collect();
    if let Some(asked) = asked {
        let exact = programs.iter().copied().find(|at| *names[*at] == *asked);
        let mut ends = programs
            .iter()
            .copied()
            .filter(|at| names[*at].strip_suffix(asked).is_some_and(|rest| rest.ends_with('.')));
        // The end of a full name suffices if it is unique.
        return exact.or_else(|| ends.next().filter(|_| ends.next().is_none()));
    }
    // A function that another one calls is a part of it.
    let called = |at: usize| (0..host.found.len()).filter(|other| *other != at).any(|other| mentions(host, other, at));
    let free: Vec<usize> = programs.into_iter().filter(|at| !called(*at)).collect();
    let kernels = (0..host.found.len()).filter(own).filter(|at| matches!(host.found[*at].role, Role::Kernel(_)));
    let others = kernels.filter(|at| !free.contains(at) && !called(*at)).count();
    match free[..] {
        [only] if others == 0 || matches!(host.found[only].role, Role::Starts | Role::Group) => Some(only),
        _ => None,
    }
}

/// True if a function's body refers to another one: it calls or submits it.
fn mentions(host: &Host<'_>, at: usize, wanted: usize) -> bool {
    let refs = Refs::of(host, at);
    any_expr(&host.found[at].def.body, &mut |expr| refs.kernel(expr) == Some(wanted))
}
