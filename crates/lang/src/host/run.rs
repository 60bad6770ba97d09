//! Statements of host code, and its definitions.

mod around;
mod bind;
mod classes;
mod define;
mod flow;

use std::collections::BTreeMap;
use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::Stmt;
use slipring_ir::{Diagnostic, Span};

use super::ModuleText;
use super::value::{HostValue, Object, made_so_far};
use crate::given::Names;
use crate::host::limits::{MOST_MADE, MOST_STEPS};
use crate::host::locals::Locals;
use crate::host::state::{Around, Flow, Host};
use crate::host::value::{Frame, Kind, Scope, unknown};
use crate::syntax::at;
use crate::value::{Const, Unknown};
use crate::words::language;

impl<'a> Host<'a> {
    /// Runs the file, then each of its functions that was not called, as a test runner would: with the defaults of its
    /// parameters, and without effect on the file's data. `given` are names around the file.
    pub fn run(modules: &'a [ModuleText], sets: Vec<(String, Const)>, given: Option<&Names>) -> Host<'a> {
        let mut host = Host {
            modules,
            module_names: modules.iter().map(|_| None).collect(),
            found: Vec::new(),
            calls: Vec::new(),
            problems: Vec::new(),
            undecorated: None,
            star: modules.iter().map(|_| false).collect(),
            foreign_star: modules.iter().map(|_| None).collect(),
            sets: sets.into_iter().map(|(name, value)| (name, HostValue::Const(value), false)).collect(),
            functions: IndexMap::new(),
            locals: BTreeMap::new(),
            scopes: Vec::new(),
            module: 0,
            within: Vec::new(),
            class: None,
            called: Vec::new(),
            steps: 0,
            depth: 0,
            nest: 0,
            raised: None,
            handled: Vec::new(),
            risks: 0,
            tries: 0,
            trials: Vec::new(),
            losses: 0,
            escaped: Vec::new(),
            changed: Vec::new(),
            decided_at: Vec::new(),
            spent: None,
            full: false,
            made_before: made_so_far(),
            around: Around::default(),
            recorder: None,
        };
        host.surround(given);
        host.import(0);
        host.fill_in_functions();
        host.end_of_file();
        let mut next = 0;
        // Functions that are called may define others.
        while let Some((_, (function, called))) = host.functions.get_index(next) {
            let (function, called) = (function.clone(), *called);
            next += 1;
            if called || function.module != 0 || host.spent() {
                continue;
            }
            let escaped = host.escaped.len();
            host.begin_trial();
            host.call_function(&function, Vec::new(), true);
            host.raised = None;
            host.undo_trial();
            host.escaped.truncate(escaped);
        }
        // Following a program starts with fresh limits.
        (host.steps, host.spent) = (0, None);
        host
    }

    /// Reports what stopped the file's own code, if anything.
    fn end_of_file(&mut self) {
        if let Some(raised) = self.raised.take()
            && let Some(error) = self.uncaught(&raised)
        {
            self.problems.push(error);
        }
        if let Some(error) = self.out_of_steps() {
            self.problems.push(error);
        }
        self.spent = None;
        // The code that runs next has its own steps.
        self.steps = 0;
    }

    /// The error that host code has reached the limit of steps, if it has.
    pub(super) fn out_of_steps(&self) -> Option<Diagnostic> {
        let place = self.spent?;
        let what = match self.full {
            true => format!("makes lists, dicts and strings of more than {MOST_MADE} values"),
            false => format!("runs for more than {MOST_STEPS} steps"),
        };
        let message = format!("the file's own code {what}: it is not followed further");
        Some(
            Diagnostic::error("host-steps", place, message).help(
                "write the numbers that it computes, or let Python run the file: `python -m slipring COMMAND FILE`",
            ),
        )
    }

    /// The name of a module.
    pub(super) fn module_name(&self, module: usize) -> &str {
        &self.modules[module].name
    }

    /// The names of a module, which is run first if necessary.
    pub(super) fn import(&mut self, module: usize) -> Scope<'a> {
        if let Some(names) = &self.module_names[module] {
            return names.clone();
        }
        let names: Scope<'a> = Frame::new(Kind::Module, IndexMap::new());
        self.module_names[module] = Some(names.clone());
        let main = if module == 0 { "__main__" } else { &*self.modules[module].name };
        names.borrow_mut().insert("__name__".into(), HostValue::str(main));
        if module == 0 {
            names.borrow_mut().extend(self.around.whole.clone());
        }
        let outer = (std::mem::replace(&mut self.scopes, vec![names.clone()]), self.module, self.class.take());
        let within = std::mem::take(&mut self.within);
        self.module = module;
        self.body(&self.modules[module].body);
        (self.scopes, self.module, self.class) = outer;
        self.within = within;
        if module != 0 {
            names.borrow_mut().values_mut().for_each(nowhere);
        }
        names
    }

    /// The first kernel with the same text.
    pub fn first(&self, kernel: usize) -> usize {
        self.found[kernel].first.unwrap_or(kernel)
    }

    /// Counts a step; false if the limit is exceeded.
    pub(super) fn step(&mut self) -> bool {
        self.steps += 1;
        self.full |= made_so_far() - self.made_before > MOST_MADE;
        if (self.steps >= MOST_STEPS || self.full) && self.spent.is_none() {
            self.spent = Some(Span::default());
        }
        self.spent.is_none()
    }

    /// Counts allocated memory.
    pub(super) fn costs(&mut self) {
        const STEPS: u64 = 16;
        self.steps += STEPS;
    }

    /// True once the limit of steps is exceeded.
    pub(super) fn spent(&self) -> bool {
        self.spent.is_some()
    }

    /// The value of a name. Names of a class are only visible in its own body.
    pub(super) fn get(&self, name: &str) -> Option<HostValue<'a>> {
        self.find(name).map(|(_, value)| value)
    }

    fn find(&self, name: &str) -> Option<(Scope<'a>, HostValue<'a>)> {
        let mut innermost = true;
        for scope in self.scopes.iter().rev() {
            let seen = scope.kind != Kind::Class || innermost;
            innermost = false;
            if let Some(locals) = scope.locals.as_ref().filter(|_| seen)
                && locals.globals.contains(name)
            {
                let module = self.scopes.first()?;
                return module.get(name).map(|value| (module.clone(), value));
            }
            if !seen {
                continue;
            }
            if let Some(value) = scope.get(name) {
                return Some((scope.clone(), value));
            }
            if scope.kind == Kind::Function && scope.locals.as_ref().is_some_and(|locals| locals.bound.contains(name)) {
                return None;
            }
        }
        None
    }

    /// The scope and the value of a name that is about to be bound.
    pub(super) fn find_for_binding(&self, name: &str) -> Option<(Scope<'a>, HostValue<'a>)> {
        let scope = self.scope_for(name)?;
        scope.get(name).map(|value| (scope.clone(), value))
    }

    /// True for the name of what is defined on one path only.
    pub(super) fn may_be_unbound(&self, name: &str) -> bool {
        self.find(name).is_some_and(|(scope, _)| scope.perhaps.borrow().contains(name))
    }

    /// True for a local name of the running function that is not bound yet.
    pub(super) fn is_unbound(&self, name: &str) -> bool {
        for scope in self.scopes.iter().rev() {
            if scope.kind == Kind::Function {
                return scope.locals.as_ref().is_some_and(|locals| locals.bound.contains(name))
                    && !scope.borrow().contains_key(name);
            }
            if scope.kind != Kind::Inner {
                return false;
            }
        }
        false
    }

    /// The scope in which a name is bound.
    fn scope_for(&self, name: &str) -> Option<Scope<'a>> {
        let last = self.scopes.last()?;
        if let Some(locals) = &last.locals {
            if locals.globals.contains(name) {
                return self.scopes.first().cloned();
            }
            if locals.nonlocals.contains(name) {
                let mut outer = self.scopes.iter().rev().skip(1).filter(|scope| scope.kind == Kind::Function);
                let binds = |scope: &&Scope<'a>| {
                    let text = scope.locals.as_ref().is_some_and(|locals| locals.bound.contains(name));
                    text || scope.borrow().contains_key(name)
                };
                return outer.find(binds).cloned();
            }
        }
        Some(last.clone())
    }

    pub(super) fn set(&mut self, name: &str, value: HostValue<'a>) {
        if let Some(scope) = self.scope_for(name) {
            self.bind_in(&scope, name, value);
        }
    }

    pub(super) fn body(&mut self, body: &'a [Stmt]) -> Flow<'a> {
        for (index, stmt) in body.iter().enumerate() {
            if !self.step() {
                if self.module == 0 {
                    self.spent = self.spent.map(|place| if place.is_empty() { at(stmt) } else { place });
                }
                return Flow::Stop;
            }
            let flow = self.stmt(stmt);
            if self.raised.is_some() || self.spent() {
                if self.module == 0 {
                    self.spent = self.spent.map(|place| if place.is_empty() { at(stmt) } else { place });
                }
                return Flow::Stop;
            }
            match flow {
                Flow::Next => {}
                Flow::Unsure(why, leaves) => {
                    // The rest may or may not run.
                    let rest = &body[index + 1..];
                    let ends = self.perhaps(why.span, &mut |host| host.body(rest));
                    let leaves = leaves || matches!(ends, super::unsure::Ends::Function);
                    return Flow::Unsure(why, leaves);
                }
                other => return other,
            }
        }
        Flow::Next
    }

    fn stmt(&mut self, stmt: &'a Stmt) -> Flow<'a> {
        if self.recorder.is_some()
            && let Some(flow) = self.task_stmt(stmt)
        {
            return flow;
        }
        match stmt {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let dotted = alias.name.as_str();
                    let value = match (language(dotted), &alias.asname) {
                        (Some(path), Some(_)) => HostValue::Path(path.into()),
                        _ => self.imported(dotted, alias.asname.is_some()),
                    };
                    let first = dotted.split('.').next().unwrap_or(dotted);
                    let name = alias.asname.as_ref().map_or(first, |name| name.as_str());
                    self.set(name, value);
                }
            }
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::Assign(assign) => {
                let value = self.expr(&assign.value);
                for target in &assign.targets {
                    self.assign(target, value.clone());
                }
            }
            Stmt::AnnAssign(assign) => {
                self.annotation(&assign.annotation);
                if let Some(value) = &assign.value {
                    let value = self.expr(value);
                    self.assign(&assign.target, value);
                }
            }
            Stmt::AugAssign(assign) => self.augmented(assign, at(stmt)),
            Stmt::Expr(stmt) => drop(self.expr(&stmt.value)),
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => self.class(class),
            Stmt::Return(stmt) => {
                let value = stmt.value.as_ref().map_or(HostValue::none(), |v| self.expr(v));
                return Flow::Return(value);
            }
            Stmt::If(branch) => return self.branch(branch),
            Stmt::For(stmt) => return self.for_loop(stmt),
            Stmt::While(stmt) => return self.while_loop_host(stmt),
            Stmt::With(stmt) => return self.with(stmt),
            Stmt::Try(stmt) => return self.try_stmt(stmt),
            Stmt::Match(stmt) => return self.match_stmt(stmt),
            Stmt::Break(_) => return Flow::Break,
            Stmt::Continue(_) => return Flow::Continue,
            Stmt::Raise(stmt) => self.raise_stmt(stmt),
            Stmt::Assert(stmt) => {
                let test = self.expr(&stmt.test);
                if self.bool_of(&test, at(&*stmt.test)) == Some(false) {
                    let said = match &stmt.msg {
                        Some(text) => {
                            let value = self.expr(text);
                            vec![value]
                        }
                        None => Vec::new(),
                    };
                    self.raise(HostValue::Exception(Rc::new(("AssertionError".into(), said))), at(stmt));
                }
            }
            Stmt::Delete(stmt) => {
                for target in &stmt.targets {
                    self.delete(target);
                }
            }
            Stmt::TypeAlias(stmt) => self.assign(&stmt.name, unknown(at(&*stmt.value), "a name of a type")),
            Stmt::Global(_) | Stmt::Nonlocal(_) | Stmt::Pass(_) => {}
            Stmt::IpyEscapeCommand(_) => {}
        }
        Flow::Next
    }

    fn import_from(&mut self, import: &'a ruff_python_ast::StmtImportFrom) {
        let said = import.module.as_ref().map_or("", |m| m.as_str());
        let level = import.level as usize;
        let own = crate::helpers::package(&self.modules[self.module].name);
        // Modules above the file's folder are not helpers.
        let resolved = if level == 0 { Some(said.to_string()) } else { crate::helpers::relative(own, level, said) };
        let module = resolved.as_deref().unwrap_or("..");
        let helper = self.helper(module);
        let names = helper.map(|helper| self.import(helper));
        for alias in &import.names {
            let (name, bound) = (alias.name.as_str(), alias.asname.as_ref().unwrap_or(&alias.name).as_str());
            if name == "*" {
                match &names {
                    Some(names) => {
                        let public: Vec<_> = names
                            .borrow()
                            .iter()
                            .filter(|(name, _)| !name.starts_with('_'))
                            .map(|(name, value)| (name.clone(), value.clone()))
                            .collect();
                        public.into_iter().for_each(|(name, value)| self.set(&name, value));
                    }
                    None if language(module) == Some("pl") => self.star[self.module] = true,
                    None => self.star_of(at(alias)),
                }
                continue;
            }
            let full = if module.is_empty() { name.to_string() } else { format!("{module}.{name}") };
            let value = match &names {
                Some(names) => names.borrow().get(name).cloned().unwrap_or_else(|| {
                    unknown(at(alias), format!("`{name}` of the module `{module}`, which does not define it"))
                }),
                None if level > 0 => self.imported(&full, true),
                None => match (language(&full), language(module)) {
                    (Some(path), _) => HostValue::Path(path.into()),
                    (None, Some("pl")) => self.attribute(HostValue::Path("pl".into()), name, at(alias)),
                    _ => self.imported(&full, true),
                },
            };
            self.set(bound, value);
        }
    }

    /// The helper module of a name, next to the file.
    fn helper(&self, dotted: &str) -> Option<usize> {
        (!dotted.is_empty()).then(|| self.modules.iter().position(|module| module.name == dotted)).flatten()
    }

    /// The value bound by `import a.b`: the module next to the file, else a name known to the host.
    fn imported(&mut self, dotted: &str, whole: bool) -> HostValue<'a> {
        match self.helper(dotted) {
            Some(helper) => {
                let fields = self.import(helper);
                HostValue::Object(Rc::new(Object {
                    class: None,
                    what: format!("the module `{dotted}`").into(),
                    fields,
                }))
            }
            None => {
                // The module may not exist.
                let own = language(dotted).is_some() || super::names::is_standard(dotted);
                self.risks += u64::from(!own);
                let first = dotted.split('.').next().unwrap_or(dotted);
                HostValue::Path(if whole { dotted } else { first }.into())
            }
        }
    }

    /// `from … import *` of an unknown module: it may bind any name.
    fn star_of(&mut self, place: Span) {
        self.risks += 1;
        let module = self.module;
        self.foreign_star[module].get_or_insert(place);
        let Some(scope) = self.scopes.last().cloned() else { return };
        let names: Vec<Rc<str>> = scope.borrow().keys().cloned().collect();
        for name in names {
            let Some(value) = scope.get(&name) else { continue };
            if !super::value::is_definition(&value) && !name.starts_with("__") {
                let why = Rc::new(Unknown::new(place, format!("`{name}`, which this import may bind")));
                self.lose(&value, &why);
                self.bind_in(&scope, &name, HostValue::Unknown(why));
            }
        }
    }

    /// Executes `raise`.
    fn raise_stmt(&mut self, stmt: &'a ruff_python_ast::StmtRaise) {
        let span = at(stmt);
        let Some(raised) = &stmt.exc else {
            match self.handled.last().cloned() {
                Some(value) => drop(self.raise(value, span)),
                None => drop(self.fail("RuntimeError", "No active exception to reraise", span)),
            }
            return;
        };
        let value = self.expr(raised);
        if self.raised.is_some() {
            return;
        }
        // Whatever it is, something is raised.
        let made = self.made_exception(value.clone(), span);
        if self.raised.is_none() {
            self.raise(made.unwrap_or(value), span);
        }
    }
}

/// Removes the place from an unknown value, because it is in the text of another module.
fn nowhere(value: &mut HostValue<'_>) {
    if let HostValue::Unknown(why) = value {
        *value = unknown(Span::default(), why.why.clone());
    }
}
