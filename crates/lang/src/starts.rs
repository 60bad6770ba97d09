//! The forms that start kernels: `pl.at`, `pl.spmd`, `pl.submit`, calls; and other actions of a function.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt, StmtFunctionDef, StmtWith};

use crate::syntax::any_expr;

/// The last name of a callee: `at` for `pl.at(…)`.
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

/// True for `with pl.at(level=pl.Level.CHIP, …):`, and for higher levels: its body starts kernels, like a function of
/// that level.
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

/// True for a statement that is a single task: a scope, or a loop over blocks.
pub(crate) fn is_scope(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::With(stmt) if of_chip(stmt) => false,
        Stmt::With(stmt) => stmt.items.iter().any(|item| is_call_of(&item.context_expr, &["at", "spmd"])),
        Stmt::For(stmt) => is_call_of(&stmt.iter, &["spmd"]),
        _ => false,
    }
}

/// True for `pl.spmd(pl.system.available_cluster_count())`: the number of blocks depends on the device.
pub(crate) fn asks_cores(call: &ExprCall) -> bool {
    let asks = |arg: &Expr| is_call_of(arg, &["available_cluster_count", "available_aiv_count"]);
    called(call) == "spmd" && call.arguments.args.iter().any(asks)
}

/// True for a function with such a number of blocks: a kernel alone does not know its device.
pub(crate) fn asks_device(def: &StmtFunctionDef) -> bool {
    any_expr(&def.body, &mut |expr| matches!(expr, Expr::Call(call) if asks_cores(call)))
}

/// Resolution of the names of a function.
pub(crate) trait Meant {
    /// The number of kernels that a call starts, counting those in loops twice.
    fn starts_kernels(&self, callee: &Expr) -> usize;
    /// The full name of a builtin.
    fn path(&self, word: &Expr) -> Option<String>;
}

/// Actions of a function outside its scopes.
#[derive(Default)]
pub(crate) struct Outside {
    /// Number of starts of kernels, counting those in loops twice.
    pub starts: usize,
    /// Number of scopes and submits among them, which only an orchestration has.
    pub scopes: usize,
    /// Number of kernel ops.
    pub ops: usize,
}

impl Outside {
    /// The actions of a function, with its names resolved, or by its text alone.
    pub fn of(def: &StmtFunctionDef, names: Option<&dyn Meant>) -> Outside {
        let mut count = Count { names, found: Outside::default(), loops: 0 };
        def.body.iter().for_each(|stmt| count.visit_stmt(stmt));
        count.found
    }
}

/// The number of starts up to which they are distinguished.
const MANY: usize = 2;

/// The counts so far.
struct Count<'k> {
    names: Option<&'k dyn Meant>,
    found: Outside,
    loops: usize,
}

/// Builtins that an orchestration may use outside scopes.
#[rustfmt::skip]
pub const OF_ORCHESTRATIONS: &[&str] = &[
    "range", "parallel", "unroll", "pipeline", "while_", "cond", "yield_", "create_tensor", "create", "slice", "view", "reshape",
    "dim", "no_dep", "submit", "spmd_submit", "task_dummy", "task_invalid", "scope", "manual_scope", "cluster", "const", "cdiv", "min",
    "max", "static_assert", "static_print", "func_attr", "dump_tag", "at", "spmd", "dynamic", "cast", "read", "Scalar",
    "available_cluster_count", "available_aiv_count", "write", "assemble", "transpose",
];

impl Count<'_> {
    /// Counts starts of kernels, those in loops twice, up to the number that is distinguished.
    fn begins(&mut self, kernels: usize) {
        let weight = if self.loops > 0 { 2 } else { 1 };
        self.found.starts = self.found.starts.saturating_add(kernels * weight).min(MANY);
    }

    fn starts_kernels(&self, value: &Expr) -> usize {
        let Expr::Call(call) = value else { return 0 };
        self.names.map_or(0, |names| names.starts_kernels(&call.func))
    }

    /// The last name of a call of a builtin: `submit` for `pl.submit(…)`.
    fn word(&self, call: &ExprCall) -> Option<String> {
        let Some(names) = self.names else {
            return is_of_pl(&call.func).then(|| called(call).to_string());
        };
        let path = names.path(&call.func)?;
        Some(path.strip_prefix("pl.")?.rsplit('.').next().unwrap_or_default().to_string())
    }
}

/// True for `pl.word` and `pl.family.word`.
fn is_of_pl(func: &Expr) -> bool {
    let is_pl = |base: &Expr| matches!(base, Expr::Name(base) if base.id.as_str() == "pl");
    matches!(func, Expr::Attribute(attribute)
        if is_pl(&attribute.value) || matches!(&*attribute.value, Expr::Attribute(inner) if is_pl(&inner.value)))
}

impl<'e> Visitor<'e> for Count<'_> {
    fn visit_stmt(&mut self, stmt: &'e Stmt) {
        if is_scope(stmt) {
            self.begins(1);
            self.found.scopes += 1;
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
                ) && self.starts_kernels(&assign.value) == 0 =>
            {
                self.found.ops += 1;
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'e Expr) {
        if let Expr::Call(call) = expr {
            match self.word(call).as_deref() {
                Some("submit" | "spmd_submit") => {
                    self.begins(1);
                    self.found.scopes += 1;
                }
                Some(word) => self.found.ops += usize::from(!OF_ORCHESTRATIONS.contains(&word)),
                None => self.begins(self.starts_kernels(expr)),
            }
        }
        walk_expr(self, expr);
    }
}

/// True for a function that starts several kernels, or one in a loop: a whole program, not a kernel with a scope.
pub(crate) fn several_scopes(def: &StmtFunctionDef) -> bool {
    let found = Outside::of(def, None);
    found.scopes > 0 && found.ops == 0 && found.starts > 1
}
