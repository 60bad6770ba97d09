//! Which function of a file is a whole program.

use std::rc::Rc;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt, StmtFunctionDef, StmtWith};

use crate::host::{Host, Refs};
use crate::program::{Globals, Role};
use crate::syntax::any_expr;

/// The last word of what a call calls: `at` of `pl.at(…)`.
fn called(call: &ExprCall) -> &str {
    match &*call.func {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => "",
    }
}

fn is_call_of(expr: &Expr, names: &[&str]) -> bool {
    matches!(expr, Expr::Call(call) if names.contains(&called(call)))
}

/// True for `with pl.at(level=pl.Level.CHIP, …):`, and for levels above: what stands in it starts kernels, as a function of that
/// level does.
pub(crate) fn of_chip(stmt: &StmtWith) -> bool {
    const BELOW: &[&str] = &["AIV", "AIC", "CORE_GROUP", "CHIP_DIE", "L2CACHE", "PROCESSOR", "UMA"];
    let [item] = &stmt.items[..] else { return false };
    let Expr::Call(call) = &item.context_expr else { return false };
    let level = call.arguments.keywords.iter().find(|k| k.arg.as_ref().is_some_and(|name| name == "level"));
    let level = level.map(|level| &level.value).or_else(|| call.arguments.args.first());
    called(call) == "at"
        && matches!(level, Some(Expr::Attribute(word)) if !BELOW.contains(&word.attr.as_str())
            && matches!(&*word.value, Expr::Attribute(kind) if kind.attr.as_str() == "Level"))
}

/// True for a statement that is one task: a scope, or a loop over blocks.
pub(crate) fn is_scope(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::With(stmt) if of_chip(stmt) => false,
        Stmt::With(stmt) => stmt.items.iter().any(|item| is_call_of(&item.context_expr, &["at", "spmd"])),
        Stmt::For(stmt) => is_call_of(&stmt.iter, &["spmd"]),
        _ => false,
    }
}

/// True for `pl.spmd(pl.system.available_cluster_count())`: the number of blocks is that of the device.
pub(crate) fn asks_cores(call: &ExprCall) -> bool {
    let asks = |arg: &Expr| is_call_of(arg, &["available_cluster_count", "available_aiv_count"]);
    called(call) == "spmd" && call.arguments.args.iter().any(asks)
}

/// True for a function that asks so for its blocks: a kernel alone does not know its device.
pub(crate) fn asks_device(def: &StmtFunctionDef) -> bool {
    any_expr(&def.body, &mut |expr| matches!(expr, Expr::Call(call) if asks_cores(call)))
}

/// What a function does outside of its scopes.
#[derive(Default)]
struct Outside<'k, 'a> {
    /// What its names stand for, and the functions whose call is a start of kernels; nothing where only its text is looked at.
    kernels: Option<(Refs<'k, 'a>, &'k [usize])>,
    /// Starts of kernels, those in loops twice.
    starts: usize,
    /// Scopes and submits among them, which only an orchestration has.
    scopes: usize,
    /// Ops of kernels.
    ops: usize,
    loops: usize,
}

/// Words of the language that an orchestration may use outside of scopes.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "range", "parallel", "unroll", "pipeline", "while_", "cond", "yield_", "create_tensor", "create", "slice", "view", "reshape",
    "dim", "no_dep", "submit", "spmd_submit", "task_dummy", "task_invalid", "scope", "manual_scope", "cluster", "const", "cdiv", "min",
    "max", "static_assert", "static_print", "func_attr", "dump_tag", "at", "spmd", "dynamic", "cast", "read", "Scalar",
    "available_cluster_count", "available_aiv_count", "write", "assemble", "transpose",
];

impl Outside<'_, '_> {
    fn starts_kernel(&self, value: &Expr) -> bool {
        let Expr::Call(call) = value else { return false };
        let Some((refs, kernels)) = &self.kernels else { return false };
        refs.kernel(&call.func).is_some_and(|at| kernels.contains(&at))
    }

    /// The last word of a call of the language: `submit` of `pl.submit(…)`.
    fn word(&self, call: &ExprCall) -> Option<String> {
        let Some((refs, _)) = &self.kernels else {
            return is_of_pl(&call.func).then(|| called(call).to_string());
        };
        let path = refs.path(&call.func)?;
        Some(path.strip_prefix("pl.")?.rsplit('.').next().unwrap_or_default().to_string())
    }
}

/// True for `pl.word` and `pl.family.word`.
fn is_of_pl(func: &Expr) -> bool {
    let is_pl = |base: &Expr| matches!(base, Expr::Name(base) if base.id.as_str() == "pl");
    matches!(func, Expr::Attribute(attribute)
        if is_pl(&attribute.value) || matches!(&*attribute.value, Expr::Attribute(inner) if is_pl(&inner.value)))
}

impl<'e> Visitor<'e> for Outside<'_, '_> {
    fn visit_stmt(&mut self, stmt: &'e Stmt) {
        let weight = if self.loops > 0 { 2 } else { 1 };
        if is_scope(stmt) {
            self.starts += weight;
            self.scopes += 1;
            return;
        }
        match stmt {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            Stmt::For(_) | Stmt::While(_) => {
                self.loops += 1;
                walk_stmt(self, stmt);
                self.loops -= 1;
            }
            Stmt::Assign(assign)
                if assign.targets.iter().any(
                    |target| matches!(target, Expr::Subscript(s) if s.slice.is_slice_expr() || s.slice.is_tuple_expr()),
                ) && !self.starts_kernel(&assign.value) =>
            {
                self.ops += 1;
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'e Expr) {
        if let Expr::Call(call) = expr {
            let weight = if self.loops > 0 { 2 } else { 1 };
            match self.word(call).as_deref() {
                Some("submit" | "spmd_submit") => {
                    self.starts += weight;
                    self.scopes += 1;
                }
                Some(word) => self.ops += usize::from(!WORDS.contains(&word)),
                None => self.starts += if self.starts_kernel(expr) { weight } else { 0 },
            }
        }
        walk_expr(self, expr);
    }
}

fn outside(def: &StmtFunctionDef) -> Outside<'static, 'static> {
    let mut found = Outside::default();
    def.body.iter().for_each(|stmt| found.visit_stmt(stmt));
    found
}

/// What a function that was found does, with its names as they are; `kernels` are those whose call is a start of kernels.
fn outside_of<'k, 'a>(host: &'k Host<'a>, at: usize, kernels: &'k [usize]) -> Outside<'k, 'a> {
    let mut found = Outside { kernels: Some((Refs::of(host, at), kernels)), ..Outside::default() };
    host.found[at].def.body.iter().for_each(|stmt| found.visit_stmt(stmt));
    found
}

/// True for a function whose body starts kernels, as an orchestration's does: it has scopes and no ops outside of them.
pub(crate) fn dispatches(host: &Host<'_>, at: usize) -> bool {
    let found = outside_of(host, at, &[]);
    found.scopes > 0 && found.ops == 0
}

/// True for one that starts several, or one in a loop: a whole program, and no kernel with a scope.
pub(crate) fn several_scopes(def: &StmtFunctionDef) -> bool {
    let found = outside(def);
    found.scopes > 0 && found.ops == 0 && found.starts > 1
}

/// The functions whose call is a start of kernels: kernels, and helpers that start some and have no ops of their own.
fn starters(host: &Host<'_>) -> Vec<usize> {
    let inline = |at: &usize| host.found[*at].role == Role::Inline;
    let (helpers, mut known): (Vec<usize>, Vec<usize>) = (0..host.found.len()).partition(inline);
    loop {
        let starts = |at: &&usize| {
            let own = outside_of(host, **at, &known);
            own.starts > 0 && own.ops == 0
        };
        let more: Vec<usize> = helpers.iter().filter(|at| !known.contains(at)).filter(starts).copied().collect();
        if more.is_empty() {
            return known;
        }
        known.extend(more);
    }
}

/// Those of [`starters`] but one.
fn others_of(starters: &[usize], at: usize) -> Vec<usize> {
    starters.iter().copied().filter(|other| *other != at).collect()
}

/// True for a function that starts kernels and has no ops of its own.
pub(crate) fn only_starts(host: &Host<'_>, at: usize) -> bool {
    let known = others_of(&starters(host), at);
    let own = outside_of(host, at, &known);
    own.starts > 0 && own.ops == 0
}

/// The function that is a whole program: the one that is asked for, else the only one that nothing else starts. A function of
/// type Orchestration is one; so is a `@pl.jit` that starts several kernels, or one in a loop, and has no ops of its own.
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
        // The end of a full name does where only one has it.
        return exact.or_else(|| ends.next().filter(|_| ends.next().is_none()));
    }
    // Who is called by another one is a part of it.
    let called = |at: usize| (0..host.found.len()).filter(|other| *other != at).any(|other| mentions(host, other, at));
    let free: Vec<usize> = programs.into_iter().filter(|at| !called(*at)).collect();
    let kernels = (0..host.found.len()).filter(own).filter(|at| matches!(host.found[*at].role, Role::Kernel(_)));
    let others = kernels.filter(|at| !free.contains(at) && !called(*at)).count();
    match free[..] {
        [only] if others == 0 || matches!(host.found[only].role, Role::Starts | Role::Group) => Some(only),
        _ => None,
    }
}

/// True if a function's body names another one: it calls that, or submits it.
fn mentions(host: &Host<'_>, at: usize, wanted: usize) -> bool {
    let refs = Refs::of(host, at);
    any_expr(&host.found[at].def.body, &mut |expr| refs.kernel(expr) == Some(wanted))
}
