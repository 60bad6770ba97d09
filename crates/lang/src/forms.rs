//! Rules for the position of builtins with a fixed place in a function, and for their literal arguments.
//!
//! These rules depend on the text alone: they hold for any arguments of the function.

use std::collections::BTreeMap;

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, ExprCall, Number, Parameter, Stmt, StmtFunctionDef, StmtWith};
use slipring_ir::{Diagnostic, Span};

use crate::syntax::{any_expr, at, first_argument, named};

/// The kind of errors that no argument can fix: a parameter whose type is missing or invalid.
pub(crate) const NOT_A_TYPE: slipring_ir::Kind = slipring_ir::Kind::Parameter { of_call: false };
/// Keyword arguments of `pl.spmd`.
pub(crate) const SPMD: &[&str] = &[
    "core_num",
    "sync_start",
    "name_hint",
    "optimizations",
    "deps",
    "no_dep_args",
    "dumps",
    "allow_early_resolve",
    "predicate",
    "windowize",
];

/// Properties of the function that is checked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Form {
    /// True if it places its runtime scopes itself: `auto_scope=False`.
    pub own_scopes: bool,
    /// True if its type makes it a kernel: `InCore`, `AIC`, `AIV`.
    pub typed_kernel: bool,
    /// True if its parameters declare their shapes, so that a call does not determine them.
    pub shapes_said: bool,
}

/// Resolves an expression to its full path: `pl.spmd` for `pl.spmd(4)`.
pub(crate) type Path<'a, 'p> = dyn FnMut(&'a Expr) -> Option<String> + 'p;

/// Reports the builtins of a function that are misplaced or lack literal arguments.
pub(crate) fn misplaced<'a>(def: &'a StmtFunctionDef, form: Form, path: &mut Path<'a, '_>) -> Vec<Diagnostic> {
    let mut walk = Walk { form, path, found: Vec::new(), cluster: None, manual: None, places: BTreeMap::new() };
    walk.parameters(def);
    // Statements that specify the kind of the function come first, after its docstring.
    let mut before: Option<Span> = None;
    for (position, stmt) in def.body.iter().enumerate() {
        let documentation = position == 0 && matches!(stmt, Stmt::Expr(own) if own.value.is_string_literal_expr());
        match walk.attributes(stmt) {
            Some(call) => {
                walk.form.own_scopes |= sets_false(call, "auto_scope");
                walk.found.extend(before.map(|before| attributes_late(at(call), before)));
            }
            None if documentation => {}
            None => {
                before = before.or(Some(crate::syntax::head(stmt)));
                walk.stmt(stmt);
            }
        }
    }
    walk.found
}

/// The error for a parameter without a type in a function that must declare its types.
pub(crate) fn no_shape(name: &str, word: &str, place: Span) -> Diagnostic {
    let message = format!("the type of `{name}` has neither a shape nor an element type");
    Diagnostic::error(NOT_A_TYPE, place, message).help(format!(
        "write `{word}[[64, 64], pl.FP32]`: a `@pl.function` says its types, a `@pl.jit` takes them from the call"
    ))
}

/// True if a dict literal has `False` for a key, or something that only the kernel's own lowering evaluates.
fn sets_false(call: &ExprCall, key: &str) -> bool {
    let items = call.arguments.args.first().and_then(Expr::as_dict_expr).map_or(&[][..], |dict| &dict.items);
    let is = |own: &Expr| own.as_string_literal_expr().is_some_and(|own| own.value.to_str() == key);
    let mut said = items.iter().filter(|item| item.key.as_ref().is_some_and(is)).map(|item| &item.value);
    said.any(|value| value.as_boolean_literal_expr().is_none_or(|literal| !literal.value))
}

fn attributes_late(place: Span, before: Span) -> Diagnostic {
    Diagnostic::error("function-attr", place, "`pl.func_attr` must come before every other statement of its function")
        .also(before, "this one stands before it")
        .help("move it to the beginning of the body, below its documentation")
}

struct Walk<'a, 'p, 'w> {
    form: Form,
    path: &'w mut Path<'a, 'p>,
    found: Vec<Diagnostic>,
    /// The surrounding `pl.cluster()`.
    cluster: Option<Span>,
    /// The surrounding manual scope.
    manual: Option<Span>,
    /// Named buffers of tiles: their number of slots, and the first place that specifies it.
    places: BTreeMap<&'a str, (i64, Span)>,
}

impl<'a> Walk<'a, '_, '_> {
    fn word(&mut self, expr: &'a Expr) -> Option<(String, &'a ExprCall)> {
        let call = expr.as_call_expr()?;
        Some(((self.path)(&call.func)?, call))
    }

    /// Checks the types of its parameters: missing parts, and names in them that a later parameter shadows.
    fn parameters(&mut self, def: &'a StmtFunctionDef) {
        let all: Vec<&'a Parameter> = def.parameters.iter_non_variadic_params().map(|own| &own.parameter).collect();
        for (position, own) in all.iter().enumerate() {
            let Some(annotation) = own.annotation.as_deref() else { continue };
            let mut names = Names(Vec::new());
            names.visit_expr(annotation);
            for (name, place) in names.0 {
                let Some(later) = all[position + 1..].iter().find(|later| later.name.as_str() == name) else {
                    continue;
                };
                let message =
                    format!("the type of `{}` reads `{name}`, and a parameter that follows has that name", own.name);
                let error = Diagnostic::error(NOT_A_TYPE, place, message).also(at(&later.name), "this parameter");
                self.found
                    .push(error.help("put the number before the tensors whose extent it is, or name it otherwise"));
            }
            if self.form.shapes_said {
                self.shape_said(own, annotation);
            }
        }
    }

    fn shape_said(&mut self, own: &Parameter, annotation: &'a Expr) {
        let inner = match annotation {
            Expr::Subscript(part) if matches!((self.path)(&part.value).as_deref(), Some("pl.Out" | "pl.InOut")) => {
                &*part.slice
            }
            other => other,
        };
        if let Some(word @ ("pl.Tensor" | "pl.Tile")) = (self.path)(inner).as_deref() {
            self.found.push(no_shape(own.name.as_str(), word, at(inner)));
        }
    }

    /// Checks the named buffers of a type: each has the same number of slots everywhere.
    fn places(&mut self, annotation: &'a Expr) {
        let Expr::Subscript(ty) = annotation else { return };
        let Expr::Tuple(parts) = &*ty.slice else { return };
        for part in &parts.elts {
            let named_place = if let Expr::Subscript(slot) = part { &*slot.value } else { part };
            let Some((word, call)) = self.word(named_place) else { continue };
            let name = call.arguments.args.first().and_then(Expr::as_string_literal_expr);
            let (Some(name), "pl.MemRef") = (name, &*word) else { continue };
            let slots = match named(call, "slots") {
                None => 1,
                Some(Expr::NumberLiteral(number)) => match &number.value {
                    Number::Int(n) => n.as_i64().unwrap_or(1),
                    _ => continue,
                },
                Some(_) => continue,
            };
            let &mut (first, place) = self.places.entry(name.value.to_str()).or_insert((slots, at(call)));
            if first != slots {
                let message = format!("`{}` has {slots} slots here and {first} elsewhere", name.value.to_str());
                let error = Diagnostic::error("type-argument", at(call), message).also(place, "said first here");
                self.found.push(error.help("give both the same `slots=`, or the second place another name"));
            }
        }
    }

    /// `pl.func_attr(…)`.
    fn attributes(&mut self, stmt: &'a Stmt) -> Option<&'a ExprCall> {
        let Stmt::Expr(stmt) = stmt else { return None };
        self.word(&stmt.value).filter(|(word, _)| word == "pl.func_attr").map(|(_, call)| call)
    }

    fn body(&mut self, body: &'a [Stmt]) {
        body.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Expr(own) => self.alone(&own.value),
            Stmt::AnnAssign(own) => self.places(&own.annotation),
            Stmt::With(own) => {
                let around = (self.cluster, self.manual);
                own.items.iter().for_each(|item| self.scope(own, &item.context_expr, item.optional_vars.as_deref()));
                self.body(&own.body);
                (self.cluster, self.manual) = around;
            }
            Stmt::For(own) => {
                if let Some((word, call)) = self.word(&own.iter)
                    && word == "pl.spmd"
                {
                    self.not_waited_for(call);
                    self.early_in_cluster(call);
                }
                self.body(&own.body);
                self.body(&own.orelse);
            }
            Stmt::While(own) => {
                self.body(&own.body);
                self.body(&own.orelse);
            }
            Stmt::If(own) => {
                self.body(&own.body);
                own.elif_else_clauses.iter().for_each(|clause| self.body(&clause.body));
            }
            _ => {}
        }
    }

    /// Checks a call that is a statement.
    fn alone(&mut self, expr: &'a Expr) {
        let Some((word, call)) = self.word(expr) else { return };
        match &*word {
            "pl.func_attr" => {
                let error =
                    Diagnostic::error("function-attr", at(call), "`pl.func_attr` is nested in a block of its function");
                self.found.push(error.help("move it to the beginning of the body, below its documentation"));
            }
            "pl.submit" | "pl.spmd_submit" => {
                let message =
                    format!("`{word}` gives what the kernel returns and the id of its task: nothing takes them");
                let error = Diagnostic::error("submit", at(call), message);
                self.found.push(error.help(format!("write `out, task = {word}(…)`")));
            }
            "pl.dump_tag" if self.form.typed_kernel => {
                let message =
                    "`pl.dump_tag` names a tensor for the tasks that are started after it: a kernel starts none";
                let error = Diagnostic::error("scope", at(call), message);
                self.found.push(error.help("write it in the function that starts the kernel, before the call"));
            }
            _ => {}
        }
    }

    /// Checks an item of `with`.
    fn scope(&mut self, stmt: &'a StmtWith, item: &'a Expr, name: Option<&'a Expr>) {
        let Some((word, call)) = self.word(item) else { return };
        let manual = word == "pl.manual_scope" || word == "pl.scope" && self.is_manual(call);
        if let Some(outer) = self.manual.filter(|_| manual || word == "pl.scope") {
            self.found.push(inside_manual(manual, at(call), outer));
            return;
        }
        if manual {
            self.manual = Some(at(call));
        }
        match &*word {
            "pl.cluster" => self.cluster = Some(at(call)),
            "pl.scope" if !self.form.own_scopes && !self.is_manual(call) => {
                let message = "a scope that the compiler places: `pl.scope()` in a function without `auto_scope=False`";
                let help = "give the function `auto_scope=False`, or write `pl.scope(mode=pl.ScopeMode.MANUAL)`";
                self.found.push(Diagnostic::error("scope", at(call), message).help(help));
            }
            "pl.spmd" => {
                if name.is_none() {
                    self.not_waited_for(call);
                }
                self.early_in_cluster(call);
                if let (Some(name), Some(cluster)) = (name, self.cluster) {
                    let message = "blocks of a cluster are not a task of their own: they have no id";
                    let error = Diagnostic::error("scope", at(name), message).also(cluster, "the cluster is the task");
                    self.found.push(error.help("leave `as` out"));
                }
                if !differ(&stmt.body, self.path) {
                    let message = "all blocks do the same: nothing in them asks for the number of the block";
                    let error = Diagnostic::error("scope", at(call), message);
                    self.found.push(error.help("write `i = pl.tile.get_block_idx()`, or `for i in pl.spmd(…):`"));
                }
            }
            _ => {}
        }
        if let Some(name) = name
            && matches!(&*word, "pl.cluster" | "pl.scope" | "pl.manual_scope" | "pl.auto_incore")
        {
            let error = Diagnostic::error("scope", at(name), format!("`{word}` is not a task: it has no id"));
            self.found.push(error.also(at(call), "this scope").help("`as` takes the id of `pl.at(…)` or `pl.spmd(…)`"));
        }
    }

    fn is_manual(&mut self, call: &'a ExprCall) -> bool {
        let mode = first_argument(call, "mode");
        mode.is_some_and(|mode| (self.path)(mode).is_none_or(|path| !path.ends_with(".AUTO")))
    }

    /// Checks `deps=` on blocks whose task has no name.
    fn not_waited_for(&mut self, call: &'a ExprCall) {
        let Some(deps) = named(call, "deps") else { return };
        let error = Diagnostic::error("scope", at(deps), "`deps=` on blocks that are not a named task")
            .help("write `with pl.spmd(…, deps=[…]) as task:`, or `out, task = pl.spmd_submit(…, deps=[…])`");
        self.found.push(error);
    }

    fn early_in_cluster(&mut self, call: &'a ExprCall) {
        if let (Some(early), Some(cluster)) = (named(call, "allow_early_resolve"), self.cluster) {
            let message = "`allow_early_resolve` on blocks inside a cluster, which is one task";
            let error = Diagnostic::error("scope", at(early), message).also(cluster, "the cluster");
            self.found.push(error.help("leave it out, or start the kernel without a cluster"));
        }
    }
}

/// The error for a scope inside a manual scope.
pub(crate) fn inside_manual(manual: bool, span: Span, outer: Span) -> Diagnostic {
    let what = if manual { "a manual scope" } else { "an auto scope" };
    let error = Diagnostic::error("scope", span, format!("{what} inside a manual scope"));
    error.also(outer, "the manual scope").help("write them one after the other")
}

/// Collects the names that an expression reads.
struct Names<'a>(Vec<(&'a str, Span)>);

impl<'a> Visitor<'a> for Names<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr {
            self.0.push((name.id.as_str(), at(expr)));
        }
        walk_expr(self, expr);
    }
}

/// True if blocks may behave differently: they query their index, or call something that may.
fn differ<'a>(body: &'a [Stmt], path: &mut Path<'a, '_>) -> bool {
    any_expr(body, &mut |expr| {
        let Expr::Call(call) = expr else { return false };
        match path(&call.func).as_deref() {
            Some(word) => {
                let last = word.rsplit('.').next().unwrap_or(word);
                matches!(last, "get_block_idx" | "at") || !word.starts_with("pl.")
            }
            // A method, or a function of the file. Operations that all devices do together may be for each block.
            None => true,
        }
    })
}
