//! Scopes that are tasks: `with pl.at(…):`, `with pl.spmd(n):`, `for i in pl.spmd(n):`.

use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::{Expr, ExprCall, Stmt};
use slipring_ir::{Diagnostic, Diags, Span};
use slipring_tasks::Use;

use super::super::value::HostValue;
use super::kernels::Scope;
use crate::forms::SPMD;
use crate::host::recorder::Options;
use crate::host::state::{Flow, Host};
use crate::host::tasks::kernels::Ready;
use crate::host::value::unknown;
use crate::host::view::View;
use crate::lower::Left;
use crate::orchestration::{TaskArg, TaskCall};
use crate::roles::Role;
use crate::starts::asks_cores;
use crate::syntax::{at, head};
use crate::value::{Const, Index};

/// Keyword arguments of `pl.at`.
const AT: &[&str] = &[
    "level",
    "role",
    "optimizations",
    "deps",
    "no_dep_args",
    "dumps",
    "allow_early_resolve",
    "name_hint",
    "windowize",
    "predicate",
];

impl<'a> Host<'a> {
    /// A scope: one task, whose kernel is its body.
    pub(super) fn scope_stmt(&mut self, stmt: &'a Stmt) -> Flow<'a> {
        let (call, names): (&'a ExprCall, Vec<&'a Expr>) = match stmt {
            Stmt::With(with) => {
                let names = with.items.iter().filter_map(|item| item.optional_vars.as_deref()).collect();
                let [item] = &with.items[..] else {
                    let error = Diagnostic::error("scope", head(stmt), "several scopes in one `with`");
                    self.stop(error.help("write each in a `with` of its own, one inside of the other"));
                    return Flow::Stop;
                };
                let Some(call) = item.context_expr.as_call_expr() else { return Flow::Next };
                (call, names)
            }
            Stmt::For(stmt) => match &*stmt.iter {
                Expr::Call(call) => (call, Vec::new()),
                _ => return Flow::Next,
            },
            _ => return Flow::Next,
        };
        let span = head(stmt);
        if let Some(flow) = self.blocks_of_cluster(stmt, call) {
            return flow;
        }
        if asks_cores(call) {
            call.arguments.args.iter().for_each(|arg| drop(self.expr(arg)));
            if self.rec().stopped {
                return Flow::Stop;
            }
        }
        if !self.scope_keywords(call) {
            return Flow::Stop;
        }
        let mut options = self.options(call);
        if let Some(dispatched) = self.dispatched(stmt, call, &mut options) {
            let (target, kernel, inner) = dispatched;
            let args = self.arguments(inner, &[]);
            let (value, task) = self.start(kernel, args, span, options);
            if let Some(target) = target {
                self.assign(target, value);
            }
            for name in names {
                self.assign(name, task.map_or(HostValue::Const(Const::None), HostValue::Task));
            }
            return Flow::Next;
        }
        let hint = call.arguments.keywords.iter().find(|k| k.arg.as_ref().is_some_and(|name| name == "name_hint"));
        let hint = match hint.map(|hint| (self.expr(&hint.value).text(), at(&hint.value))) {
            Some((Some(hint), place)) if !crate::syntax::is_name(hint.as_str()) => {
                self.stop_at("argument", place, "`name_hint` is a string, the name of a function");
                return Flow::Stop;
            }
            hint => hint.and_then(|hint| hint.0),
        };
        let Some(&(function, def)) = self.rec().functions.last() else { return Flow::Stop };
        let name = hint.unwrap_or_else(|| format!("{}_{}", def.name, self.line_name(span)));
        let module = usize::from(self.module_names[self.module].is_some());
        let mut seen: Vec<(Rc<str>, HostValue<'a>)> = Vec::new();
        // The scheduler reads the number of a predicate, the kernel does not.
        let heard = |keyword: &&ruff_python_ast::Keyword| keyword.arg.as_ref().is_none_or(|name| name != "predicate");
        let head = call.arguments.keywords.iter().filter(heard).map(|keyword| &keyword.value);
        let body = match stmt {
            Stmt::With(with) => &with.body[..],
            Stmt::For(stmt) => &stmt.body,
            _ => &[],
        };
        let inside = crate::lower::read_in_scope(body, call.arguments.args.iter().chain(head));
        for read in crate::lower::read_names(stmt).into_iter().filter(|read| inside.contains(read)) {
            let inner = self.scopes.iter().skip(module).rev().find_map(|scope| scope.borrow().get(&*read).cloned());
            // `pl.dynamic` extents are numbers here.
            let extent = match self.get(&read) {
                Some(value @ HostValue::Dynamic(_)) => Some(self.extent(value)),
                _ => None,
            };
            if let Some(value) =
                inner.filter(|_| &*read != "self").map(|value| extent.clone().unwrap_or(value)).or(extent)
            {
                seen.push((read, value));
            }
        }
        let scope = Scope { stmt, function, def, name: name.clone() };
        let Some((ready, mut task, mut uses)) = self.compiled_scope(&scope, &seen) else { return Flow::Stop };
        let info = self.rec().kernels.list[ready.compiled.kernel].info.clone();
        let mut results: IndexMap<String, Rc<View>> = IndexMap::new();
        for param in &info.params[task.args.len()..] {
            let (arg, own, view) = self.made(param, false, span);
            task.args.push(arg);
            uses.extend(own);
            if let Some(view) = view {
                results.insert(param.name.clone(), view);
            }
        }
        options.blocks = Some(info.blocks);
        options.defers = info.defers;
        let task = self.add(task, name, uses, options, span);
        let id = self.ticket(task);
        for (name, left) in ready.left.iter() {
            let value = match left {
                Left::Tensor(window) => ready.views.get(window.root).and_then(|view| part(view, window)),
                Left::Made(param) => results.get(&**param).cloned().map(HostValue::Device),
                Left::Const(c) => Some(HostValue::Const(c.clone())),
                Left::Gone => None,
            };
            let gone = || unknown(span, format!("`{name}`, which ends with this scope"));
            let value = value.unwrap_or_else(gone);
            self.set(name, value.clone());
            self.named(name, &value);
        }
        for name in names {
            self.assign(name, HostValue::Task(id));
        }
        if self.rec().stopped { Flow::Stop } else { Flow::Next }
    }

    /// True if the arguments of a scope are valid; otherwise reports it.
    fn scope_keywords(&mut self, call: &'a ExprCall) -> bool {
        let at_scope = matches!(&*call.func, Expr::Attribute(word) if word.attr.as_str() == "at")
            || matches!(&*call.func, Expr::Name(word) if word.id.as_str() == "at");
        let (word, known) = if at_scope { ("pl.at", AT) } else { ("pl.spmd", SPMD) };
        if let Some(error) = crate::syntax::given_twice(call, known[0]) {
            self.stop(error);
            return false;
        }
        self.keywords_known(word, call, known)
    }

    /// Compiles a scope, with the task that runs it and what that uses: its tensors and scalars are passed, what it
    /// makes is not. `None` if there were errors, which stop the recording.
    pub(super) fn compiled_scope(
        &mut self,
        scope: &Scope<'a>,
        seen: &[(Rc<str>, HostValue<'a>)],
    ) -> Option<(Ready, TaskCall, Vec<Use>)> {
        let mut diags = Diags::default();
        let ready = self.rec().kernels.scope(scope, seen, &mut diags);
        self.rec().diags.list.extend(diags.list);
        let Ok(ready) = ready else {
            self.rec().stopped = true;
            return None;
        };
        let (mut task, mut uses) =
            (TaskCall { kernel: Some(ready.compiled.kernel), ..TaskCall::default() }, Vec::new());
        for (view, own) in ready.views.iter().zip(&ready.compiled.uses) {
            uses.push(Use {
                tensor: view.tensor,
                param: self.rec().graph.tensors[view.tensor].name.clone(),
                bytes: view.bytes(),
                direction: own.0,
                declared: false,
                tracked: view.tracked,
                span: Span::default(),
            });
            task.args.push(TaskArg::Tensor { tensor: view.tensor, offset: view.first_byte() });
        }
        task.args.extend(ready.numbers.iter().map(|n| TaskArg::Scalar(format!("{n}:i64"))));
        Some((ready, task, uses))
    }

    /// A name for an unnamed scope, from its index among the scopes of its kind.
    pub(super) fn line_name(&mut self, span: Span) -> String {
        format!("at_{}", self.rec().kernels.line(span))
    }

    /// A statement that is a call of a kernel: the bound name, the kernel, the call.
    fn call_of(&mut self, stmt: &'a Stmt) -> Option<(Option<&'a Expr>, usize, &'a ExprCall)> {
        let (target, value) = match stmt {
            Stmt::Assign(assign) if assign.targets.len() == 1 => (Some(&assign.targets[0]), &*assign.value),
            Stmt::Expr(stmt) => (None, &*stmt.value),
            _ => return None,
        };
        let Expr::Call(inner) = value else { return None };
        let HostValue::Kernel(kernel) = self.plain_value(&inner.func)? else { return None };
        (self.found[kernel].role != Role::Inline).then_some((target, kernel, inner))
    }

    /// `with pl.spmd(n):` in a cluster: the kernels that it starts run in `n` blocks. `None` if it has ops of its own.
    fn blocks_of_cluster(&mut self, stmt: &'a Stmt, call: &'a ExprCall) -> Option<Flow<'a>> {
        self.rec().cluster?;
        let Stmt::With(with) = stmt else { return None };
        if with.body.len() < 2 || !with.body.iter().all(|own| self.call_of(own).is_some()) {
            return None;
        }
        let blocks = match crate::syntax::first_argument(call, "core_num").map(|arg| self.expr(arg)) {
            Some(HostValue::Const(Const::Int(n))) if (1..=4096).contains(&n) => Some(n as u32),
            _ => return None,
        };
        let options = Options { blocks, ..self.options(call) };
        let first = self.rec().graph.tasks.len();
        let flow = self.body(&with.body);
        self.ask(first, &options);
        Some(flow)
    }

    /// `with pl.spmd(n): out = kernel(…)`: the kernel itself is the task.
    #[allow(clippy::type_complexity)]
    pub(super) fn dispatched(
        &mut self,
        stmt: &'a Stmt,
        call: &'a ExprCall,
        options: &mut Options,
    ) -> Option<(Option<&'a Expr>, usize, &'a ExprCall)> {
        let Stmt::With(with) = stmt else { return None };
        let [only] = &with.body[..] else { return None };
        let (target, kernel, inner) = self.call_of(only)?;
        let HostValue::Path(path) = self.expr(&call.func) else { return None };
        if &*path != "pl.spmd" {
            return None;
        }
        match crate::syntax::first_argument(call, "core_num").map(|arg| self.expr(arg)) {
            Some(HostValue::Const(Const::Int(n))) if (1..=4096).contains(&n) => options.blocks = Some(n as u32),
            _ => return None,
        }
        Some((target, kernel, inner))
    }
}

/// A window of an argument of a scope.
fn part<'a>(view: &Rc<View>, window: &crate::value::Tensor) -> Option<HostValue<'a>> {
    let mut part = View { shape: Vec::new(), strides: Vec::new(), tracked: true, ..(**view).clone() };
    for (dim, offset) in window.offsets.iter().enumerate() {
        let Index::Known(first) = offset else { return None };
        part.offset += *first as u64 * view.strides[dim];
        if !window.dropped[dim] {
            part.shape.push(window.sizes[dim]);
            part.strides.push(view.strides[dim]);
        }
    }
    window.reshaped.is_none().then(|| HostValue::Device(Rc::new(part)))
}
