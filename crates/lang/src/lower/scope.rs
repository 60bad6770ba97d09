//! Scopes of a kernel, their options, and blocks of a launch.

use ruff_python_ast::{Expr, ExprCall, StmtFor, StmtWith};
use slipring_ir::{Diagnostic, Reported, Span, Type};
use slipring_mlir::arith;
use slipring_op::OpDef;
use slipring_pto as pto;

use super::lowering::{Lower, Lowered, describe};
use crate::dtype::DType;
use crate::syntax::at;
use crate::value::{Const, Value};

/// The maximum number of slots of a ring with a flag for each slot (seed 000).
const MOST_SLOTS: i64 = 8;

impl Lower<'_> {
    /// `with pl.at(…):`, `with pl.spmd(n):`, `with pl.cluster():`.
    pub(super) fn with(&mut self, stmt: &StmtWith) -> Lowered<()> {
        let mut scope = None;
        for item in &stmt.items {
            let span = at(&item.context_expr);
            let Expr::Call(call) = &item.context_expr else {
                return Err(self.error("scope", span, "a kernel's scope is `pl.at(…)`"));
            };
            let callee = self.expr(&call.func)?;
            match &callee {
                Value::Path(path) if &**path == "pl.at" => {
                    scope = Some(span);
                    self.scope(call)?;
                }
                Value::Path(path) if &**path == "pl.spmd" => {
                    scope = Some(span);
                    self.launch(call)?;
                }
                Value::Path(path)
                    if matches!(&**path, "pl.cluster" | "pl.scope" | "pl.auto_incore" | "pl.manual_scope") =>
                {
                    let known = |name: &str| name == "name_hint" || name == "mode" && &**path == "pl.scope";
                    let mut extra = call
                        .arguments
                        .keywords
                        .iter()
                        .map(|own| (own.arg.as_ref().map_or("**", |n| n.as_str()), at(own)));
                    if let Some((name, place)) = extra.find(|(name, _)| !known(name)) {
                        return Err(self.error("argument", place, format!("`{path}` has no argument `{name}`")));
                    }
                    if let Some(extra) = call.arguments.args.first() {
                        return Err(self.error("argument", at(extra), format!("`{path}` takes no such argument")));
                    }
                }
                other => {
                    let what = describe(self, other);
                    return Err(self.error("scope", span, format!("{what} is not a scope of a kernel")));
                }
            }
        }
        // The id of a task is nothing here: scopes run in the order of the text.
        for name in stmt.items.iter().filter_map(|item| item.optional_vars.as_deref()) {
            self.assign(name, Value::Nothing)?;
        }
        self.open.scopes += usize::from(scope.is_some());
        let outcome = self.body(&stmt.body);
        self.open.scopes -= usize::from(scope.is_some());
        self.facts.closed = self.facts.closed.or(scope);
        outcome
    }

    /// Reports a second scope if blocks are requested: every block would run both.
    fn alone(&mut self, span: Span) -> Lowered<()> {
        let Some(first) = self.facts.closed else { return Ok(()) };
        let error = Diagnostic::error("scopes", span, "a second scope in a function that runs in several blocks")
            .also(first, "the first one")
            .help("each scope is a kernel of its own number of blocks: write them as functions of their own");
        Err(self.report(error))
    }

    fn scope(&mut self, call: &ExprCall) -> Lowered<()> {
        let span = at(call);
        if self.facts.blocks.is_some() {
            // Errors inside may be the reason why the function is not a program: they are reported as well.
            let _ = self.alone(span);
        }
        if crate::syntax::first_argument(call, "level").is_none() {
            let error = Diagnostic::error("scope", span, "`pl.at` does not say where its body runs")
                .help("write `pl.at(level=pl.Level.CORE_GROUP)`");
            return Err(self.report(error));
        }
        for (position, arg) in call.arguments.args.iter().enumerate() {
            let value = self.expr(arg)?;
            match position {
                0 => self.level(&value, at(arg))?,
                1 => return Err(self.role_of_kernel(at(arg))),
                _ => return Err(self.error("argument", at(arg), "`pl.at` takes a level and a role in order")),
            }
        }
        for keyword in &call.arguments.keywords {
            let place = at(keyword);
            match keyword.arg.as_ref().map_or("**", |n| n.as_str()) {
                "level" => {
                    let value = self.expr(&keyword.value)?;
                    self.level(&value, place)?;
                }
                "optimizations" => self.optimizations(&keyword.value)?,
                "role" => return Err(self.role_of_kernel(place)),
                name @ ("name_hint" | "deps" | "no_dep_args" | "dumps" | "allow_early_resolve" | "windowize") => {
                    self.told(name, &keyword.value)?;
                }
                name => return Err(self.error("argument", place, format!("`pl.at` has no argument `{name}`"))),
            }
        }
        Ok(())
    }

    /// Checks an option of a scope that does not affect the result.
    fn told(&mut self, name: &str, value: &Expr) -> Lowered<()> {
        let wanted = match name {
            // Ids in `deps` may be submitted later, or never: the task graph checks that.
            "no_dep_args" | "dumps" => {
                if let Some(error) = crate::syntax::wrong_names(name, value) {
                    return Err(self.report(error));
                }
                return self.names_are_there(value);
            }
            "name_hint" => "a string, the name of a function",
            "allow_early_resolve" | "windowize" => "True or False",
            _ => return Ok(()),
        };
        // Computed values belong to the orchestration: they may differ for each task of a scope.
        let fits = match name {
            "name_hint" => {
                value.as_string_literal_expr().is_some_and(|text| crate::syntax::is_name(text.value.to_str()))
            }
            _ => value.is_boolean_literal_expr(),
        };
        if fits || !value.is_literal_expr() {
            return Ok(());
        }
        Err(self.error("argument", at(value), format!("`{name}` is {wanted}")))
    }

    /// True if a name is defined here, whether its value is known or not.
    pub fn is_there(&self, name: &str) -> bool {
        let of_file = || self.globals.get(name).is_some() || self.globals.host.contains(name);
        self.names.env.contains_key(name)
            || self.names.lost.contains_key(name)
            || self.names.poisoned.contains(name)
            || of_file()
    }

    /// Requires the names of a list to be defined.
    fn names_are_there(&mut self, list: &Expr) -> Lowered<()> {
        match list {
            Expr::List(list) => list.elts.iter().try_for_each(|item| self.names_are_there(item)),
            Expr::Tuple(tuple) => tuple.elts.iter().try_for_each(|item| self.names_are_there(item)),
            Expr::Subscript(part) => self.names_are_there(&part.value),
            Expr::Starred(all) => self.names_are_there(&all.value),
            Expr::Name(name) if !self.is_there(&name.id) => self.lookup(&name.id, at(list)).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Reports a role option on a scope that is a kernel.
    fn role_of_kernel(&mut self, span: Span) -> Reported {
        let error = Diagnostic::error("scope", span, "a scope at `pl.Level.CORE_GROUP` is a kernel and has no role")
            .help("leave `role` out: it tells host code apart, at `pl.Level.HOST` and above");
        self.report(error)
    }

    fn level(&mut self, value: &Value, span: Span) -> Lowered<()> {
        match value {
            Value::Const(Const::Member("Level", name)) if &**name == "CORE_GROUP" => Ok(()),
            other => {
                let what = describe(self, other);
                let error = Diagnostic::error(
                    "scope",
                    span,
                    format!("a kernel's scope is at `pl.Level.CORE_GROUP`, not {what}"),
                );
                Err(self.report(error))
            }
        }
    }

    /// `[pl.split(mode), pl.cross_core_slot(slot_num=n)]`, read without evaluating the calls.
    fn optimizations(&mut self, list: &Expr) -> Lowered<()> {
        let items: &[Expr] = match list {
            Expr::List(list) => &list.elts,
            Expr::Tuple(tuple) => &tuple.elts,
            other => return Err(self.error("scope", at(other), "`optimizations` is a list")),
        };
        let mut slots: Option<Span> = None;
        for item in items {
            let span = at(item);
            let Expr::Call(call) = item else {
                return Err(self.error("scope", span, "an optimization is `pl.split(…)` or `pl.cross_core_slot(…)`"));
            };
            let path = match self.expr(&call.func)? {
                Value::Path(path) => match path.strip_prefix("pl.optimizations.") {
                    Some(own) => format!("pl.{own}").into(),
                    None => path,
                },
                _ => "".into(),
            };
            let mut values = Vec::new();
            for arg in &call.arguments.args {
                values.push((None, self.expr(arg)?, at(arg)));
            }
            for keyword in &call.arguments.keywords {
                let name = keyword.arg.as_ref().map(|n| n.as_str().to_string());
                values.push((name, self.expr(&keyword.value)?, at(keyword)));
            }
            let says_slots = values.iter().any(|(name, ..)| name.as_deref() == Some("slot_num"));
            if &*path == "pl.cross_core_slot" && !says_slots {
                let error = Diagnostic::error("argument", span, "`pl.cross_core_slot` does not say how many slots")
                    .help("write `pl.cross_core_slot(slot_num=2)`");
                return Err(self.report(error));
            }
            if let Some(first) = slots.filter(|_| says_slots) {
                let error = Diagnostic::error("argument", span, "the number of slots is given twice")
                    .also(first, "here first")
                    .help("give it once: `pl.cross_core_slot(slot_num=…)`");
                return Err(self.report(error));
            }
            slots = slots.or(says_slots.then_some(span));
            for (name, value, place) in values {
                match (&*path, name.as_deref(), value) {
                    ("pl.split", None | Some("mode"), Value::Const(Const::Split(mode))) => {
                        if let Some((other, first)) = self.facts.split.filter(|(other, _)| *other != mode) {
                            let message = format!(
                                "two scopes of a function are divided in different ways: {} and {}",
                                crate::value::split_name(other),
                                crate::value::split_name(mode)
                            );
                            let error = Diagnostic::error("scopes", span, message)
                                .also(first, "the first one")
                                .help("write the scopes as functions of their own");
                            return Err(self.report(error));
                        }
                        self.facts.split = Some((mode, span));
                    }
                    ("pl.split" | "pl.cross_core_slot", Some("slot_num"), Value::Const(Const::Int(n))) => {
                        if !(1..=MOST_SLOTS).contains(&n) {
                            let message = format!("a ring has 1 to {MOST_SLOTS} slots, not {n}");
                            return Err(self.error("argument", place, message));
                        }
                        self.facts.slot_num = Some(n);
                    }
                    ("pl.split" | "pl.cross_core_slot", _, other) => {
                        let what = describe(self, &other);
                        return Err(self.error("argument", place, format!("`{path}` does not take {what} here")));
                    }
                    _ => return Err(self.error("scope", span, format!("`{path}` is not an optimization of a kernel"))),
                }
            }
        }
        Ok(())
    }

    /// `for i in pl.spmd(n):`: the body runs in every block of the launch, and `i` is the index of the block.
    pub(super) fn spmd_loop(&mut self, stmt: &StmtFor, call: &ExprCall) -> Lowered<()> {
        self.launch(call)?;
        let name = self.loop_name(&stmt.target)?;
        let block = self.block_index();
        self.set(&name, block);
        self.open.scopes += 1;
        let outcome = self.body(&stmt.body);
        self.open.scopes -= 1;
        self.facts.closed = self.facts.closed.or(Some(at(call)));
        outcome
    }

    /// The index of this block.
    pub fn block_index(&mut self) -> Value {
        self.launch_number(&pto::GET_BLOCK_IDX)
    }

    /// A value of the launch as an index.
    pub fn launch_number(&mut self, op: &'static OpDef) -> Value {
        let value = self.e.value(op, &[], &[], Type::I64);
        let value = self.e.value(&arith::INDEX_CAST, &[("in", &[value])], &[], Type::Index);
        self.scalar(value, DType::Index)
    }

    fn launch(&mut self, call: &ExprCall) -> Lowered<()> {
        let span = at(call);
        self.alone(span)?;
        if let Some(error) = crate::syntax::given_twice(call, "core_num") {
            return Err(self.report(error));
        }
        let Some(first) = crate::syntax::first_argument(call, "core_num") else {
            return Err(self.error("argument", span, "`pl.spmd` takes the number of blocks"));
        };
        if let Some(extra) = call.arguments.args.get(1) {
            return Err(self.error("argument", at(extra), "`pl.spmd` takes one number, the blocks"));
        }
        let value = self.expr(first)?;
        let blocks = self.known_int(&value, "the number of blocks", at(first))?;
        let Some(blocks) = u32::try_from(blocks).ok().filter(|n| *n > 0) else {
            return Err(self.error("argument", at(first), format!("{blocks} blocks")));
        };
        for keyword in &call.arguments.keywords {
            let name = keyword.arg.as_ref().map_or("**", |n| n.as_str());
            match name {
                "optimizations" => self.optimizations(&keyword.value)?,
                "sync_start" => match self.expr(&keyword.value)? {
                    Value::Const(Const::Bool(together)) => self.facts.together = together,
                    other => {
                        let what = describe(self, &other);
                        return Err(self.error(
                            "argument",
                            at(keyword),
                            format!("`sync_start` is True or False, not {what}"),
                        ));
                    }
                },
                name if crate::forms::SPMD.contains(&name) => self.told(name, &keyword.value)?,
                name => return Err(self.error("argument", at(keyword), format!("`pl.spmd` has no argument `{name}`"))),
            }
        }
        self.facts.blocks = Some(blocks);
        Ok(())
    }
}
