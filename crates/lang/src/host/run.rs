//! Statements of the host, and what they define.

mod define;

use std::cell::RefCell;
use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::{Expr, Stmt};
use slipring_ir::{Diagnostic, Span};

use super::value::{Class, Function, HostValue, Object, Scope, shown};
use super::{Flow, Found, HostCall, MOST_DEPTH, MOST_STEPS, ModuleText, unknown};
use crate::Name;
use crate::program::language;
use crate::syntax::at;
use crate::value::Const;

/// The host code of a file while it is run.
pub(crate) struct Host<'a> {
    modules: &'a [ModuleText],
    /// Names of each module, once it has been begun.
    pub module_names: Vec<Option<Scope<'a>>>,
    /// Kernels, in the order in which they were defined.
    pub found: Vec<Found<'a>>,
    /// Calls of kernels.
    pub calls: Vec<HostCall>,
    /// What is wrong with decorators.
    pub problems: Vec<Diagnostic>,
    /// A decorator whose first word is not known, such as `pl` without the import.
    pub undecorated: Option<(Span, String)>,
    /// `from slipring.language import *` in a module.
    pub star: Vec<bool>,
    /// Values that the caller gives to parameters of enclosing functions, and whether any was used.
    pub sets: Vec<(String, HostValue<'a>, bool)>,
    /// Functions of the host by their place, and whether they have been called.
    functions: IndexMap<Span, (Rc<Function<'a>>, bool)>,
    /// Scopes that are open, innermost last; the first is the module's.
    pub(super) scopes: Vec<Scope<'a>>,
    pub(super) module: usize,
    pub(super) within: Vec<Rc<str>>,
    class: Option<Rc<Class<'a>>>,
    steps: u64,
    depth: usize,
    /// Names around the file.
    given: IndexMap<Rc<str>, HostValue<'a>>,
    /// What a program submits, while it is followed.
    pub(super) recorder: Option<Box<super::tasks::Recorder<'a>>>,
}

impl<'a> Host<'a> {
    /// Runs the file, then each of its functions that nothing has called, as a test runner would: with the defaults of its
    /// parameters. `given` are names around the file.
    pub fn run(modules: &'a [ModuleText], sets: Vec<(String, Const)>, given: &[(String, Name)]) -> Host<'a> {
        let mut host = Host {
            modules,
            module_names: modules.iter().map(|_| None).collect(),
            found: Vec::new(),
            calls: Vec::new(),
            problems: Vec::new(),
            undecorated: None,
            star: modules.iter().map(|_| false).collect(),
            sets: sets.into_iter().map(|(name, value)| (name, HostValue::Const(value), false)).collect(),
            functions: IndexMap::new(),
            scopes: Vec::new(),
            module: 0,
            within: Vec::new(),
            class: None,
            steps: 0,
            depth: 0,
            given: IndexMap::new(),
            recorder: None,
        };
        host.given = given.iter().map(|(name, value)| (name.as_str().into(), host.value_of(value))).collect();
        host.import(0);
        let mut next = 0;
        // Functions that are called may define others.
        while let Some((_, (function, called))) = host.functions.get_index(next) {
            let (function, called) = (function.clone(), *called);
            next += 1;
            if !called && function.module == 0 {
                host.call_function(&function, Vec::new(), true);
            }
        }
        host
    }

    /// A name around the file.
    fn value_of(&mut self, name: &Name) -> HostValue<'a> {
        HostValue::Const(match name {
            Name::Int(n) => Const::Int(*n),
            Name::Float(x) => Const::Float(*x),
            Name::Bool(truth) => Const::Bool(*truth),
            Name::Str(text) => Const::Str(text.as_str().into()),
            Name::None => Const::None,
            Name::Tuple(items) => {
                return HostValue::Tuple(Rc::new(items.iter().map(|item| self.value_of(item)).collect()));
            }
            Name::Members(what, members) => {
                let fields = members.iter().map(|(name, value)| (name.as_str().into(), self.value_of(value)));
                let fields = Rc::new(RefCell::new(fields.collect()));
                return HostValue::Object(Rc::new(Object { class: None, what: what.as_str().into(), fields }));
            }
            Name::Dict(entries) => {
                let entries = entries.iter().filter_map(|(key, value)| match self.value_of(key) {
                    HostValue::Const(key) => Some((key, self.value_of(value))),
                    _ => None,
                });
                return HostValue::Dict(Rc::new(RefCell::new(entries.collect())));
            }
            // It is defined when the text has been run.
            Name::Function(name) => return HostValue::Path(format!("@{name}").into()),
            Name::Path(path) => {
                if let Some(extent) = path.strip_prefix("pl.dynamic.") {
                    return HostValue::Dynamic(extent.into());
                }
                let mut parts = path.split('.');
                let first = HostValue::Path(parts.next().unwrap_or_default().into());
                return parts.fold(first, |value, part| self.attribute(value, part, Span::default()));
            }
        })
    }

    /// The names of a module, which is run if it has not been.
    pub(super) fn import(&mut self, module: usize) -> Scope<'a> {
        if let Some(names) = &self.module_names[module] {
            return names.clone();
        }
        let names: Scope<'a> = Rc::new(RefCell::new(IndexMap::new()));
        self.module_names[module] = Some(names.clone());
        let main = if module == 0 { "__main__" } else { &*self.modules[module].name };
        names.borrow_mut().insert("__name__".into(), HostValue::str(main));
        if module == 0 {
            names.borrow_mut().extend(self.given.clone());
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

    /// The first kernel of the text of one.
    pub fn first(&self, kernel: usize) -> usize {
        self.found[kernel].first.unwrap_or(kernel)
    }

    /// Counts a step; false once there have been too many.
    pub(super) fn step(&mut self) -> bool {
        self.steps += 1;
        self.steps < MOST_STEPS
    }

    /// The function that a name around the file stands for, where it is one.
    pub(super) fn function_named(&self, value: HostValue<'a>) -> HostValue<'a> {
        let HostValue::Path(path) = &value else { return value };
        let Some(name) = path.strip_prefix('@') else { return value };
        if let Some(position) = self.found.iter().position(|found| found.def.name.as_str() == name) {
            return HostValue::Kernel(position);
        }
        let module = self.module_names.first().and_then(Option::as_ref);
        module.and_then(|names| names.borrow().get(name).cloned()).unwrap_or(value)
    }

    pub(super) fn get(&self, name: &str) -> Option<HostValue<'a>> {
        self.scopes.iter().rev().find_map(|scope| scope.borrow().get(name).cloned())
    }

    pub(super) fn set(&mut self, name: &str, value: HostValue<'a>) {
        if let Some(scope) = self.scopes.last() {
            scope.borrow_mut().insert(name.into(), value);
        }
    }

    pub(super) fn body(&mut self, body: &'a [Stmt]) -> Flow<'a> {
        for stmt in body {
            if !self.step() {
                return Flow::Stop;
            }
            match self.stmt(stmt) {
                Flow::Next => {}
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
                assign.targets.iter().for_each(|target| self.assign(target, value.clone()));
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    let value = self.expr(value);
                    self.assign(&assign.target, value);
                }
            }
            Stmt::AugAssign(assign) => {
                let (a, b) = (self.expr(&assign.target), self.expr(&assign.value));
                let value = self.binary(assign.op, a, b, at(stmt));
                self.assign(&assign.target, value);
            }
            Stmt::Expr(stmt) => drop(self.expr(&stmt.value)),
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => self.class(class),
            Stmt::Return(stmt) => {
                let value = stmt.value.as_ref().map_or(HostValue::Const(Const::None), |v| self.expr(v));
                return Flow::Return(value);
            }
            Stmt::If(branch) => return self.branch(branch),
            Stmt::For(stmt) => return self.for_loop(stmt),
            Stmt::While(stmt) => {
                while self.step() {
                    match self.expr(&stmt.test).truth() {
                        Some(true) => {}
                        Some(false) => return self.body(&stmt.orelse),
                        None => {
                            self.forget(&stmt.body, at(&*stmt.test));
                            return Flow::Next;
                        }
                    }
                    match self.body(&stmt.body) {
                        Flow::Next | Flow::Continue => {}
                        Flow::Break => return Flow::Next,
                        other => return other,
                    }
                }
                return Flow::Stop;
            }
            Stmt::With(stmt) => {
                for item in &stmt.items {
                    let value = self.expr(&item.context_expr);
                    if let Some(target) = &item.optional_vars {
                        self.assign(target, value);
                    }
                }
                return self.body(&stmt.body);
            }
            Stmt::Try(stmt) => {
                // Nothing here fails: what is not known is unknown.
                let flow = self.body(&stmt.body);
                let flow = if let Flow::Next = flow { self.body(&stmt.orelse) } else { flow };
                return match self.body(&stmt.finalbody) {
                    Flow::Next => {
                        if let Flow::Stop = flow {
                            Flow::Next
                        } else {
                            flow
                        }
                    }
                    other => other,
                };
            }
            Stmt::Break(_) => return Flow::Break,
            Stmt::Continue(_) => return Flow::Continue,
            Stmt::Raise(_) => return Flow::Stop,
            Stmt::Delete(stmt) => {
                for target in &stmt.targets {
                    if let (Expr::Name(name), Some(scope)) = (target, self.scopes.last()) {
                        scope.borrow_mut().shift_remove(name.id.as_str());
                    }
                }
            }
            _ => {}
        }
        Flow::Next
    }

    fn import_from(&mut self, import: &'a ruff_python_ast::StmtImportFrom) {
        let said = import.module.as_ref().map_or("", |m| m.as_str());
        let level = import.level as usize;
        let own = crate::helpers::package(&self.modules[self.module].name);
        // What lies above the file's folder is no helper.
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
                    None => self.star[self.module] |= language(module) == Some("pl"),
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

    /// The helper module of a name: one that lies next to the file.
    fn helper(&self, dotted: &str) -> Option<usize> {
        (!dotted.is_empty()).then(|| self.modules.iter().position(|module| module.name == dotted)).flatten()
    }

    /// What `import a.b` binds: the module next to the file, else a name that the host has.
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
            None if whole => HostValue::Path(dotted.into()),
            None => HostValue::Path(dotted.split('.').next().unwrap_or(dotted).into()),
        }
    }

    fn branch(&mut self, branch: &'a ruff_python_ast::StmtIf) -> Flow<'a> {
        let mut clauses = vec![(Some(&*branch.test), &branch.body)];
        clauses.extend(branch.elif_else_clauses.iter().map(|clause| (clause.test.as_ref(), &clause.body)));
        let mut open: Vec<&'a [Stmt]> = Vec::new();
        let mut place = Span::default();
        for (test, body) in clauses {
            let holds = test.map_or(Some(true), |test| self.expr(test).truth());
            match holds {
                Some(true) if open.is_empty() => return self.body(body),
                Some(false) => {}
                other => {
                    open.push(body);
                    place = test.map_or(place, at);
                    if other == Some(true) {
                        break;
                    }
                }
            }
        }
        // Any of these may run: what they define is found, what they bind is not known.
        for body in open {
            self.body(body);
            self.forget(body, place);
        }
        Flow::Next
    }

    fn for_loop(&mut self, stmt: &'a ruff_python_ast::StmtFor) -> Flow<'a> {
        let over = self.expr(&stmt.iter);
        let Some(items) = over.items() else {
            self.assign(
                &stmt.target,
                unknown(at(&*stmt.iter), format!("what a loop over `{}` gives", shown(&stmt.iter))),
            );
            self.body(&stmt.body);
            self.forget(&stmt.body, at(&*stmt.iter));
            return Flow::Next;
        };
        for item in items {
            self.assign(&stmt.target, item);
            match self.body(&stmt.body) {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Flow::Next,
                other => return other,
            }
        }
        self.body(&stmt.orelse)
    }

    /// Names that statements bind, which may or may not have run, are not known. What is defined stays.
    fn forget(&mut self, body: &'a [Stmt], place: Span) {
        for name in crate::lower::bound_names(body) {
            let stays = matches!(
                self.get(&name),
                Some(HostValue::Kernel(_) | HostValue::Function(_) | HostValue::Class(_) | HostValue::Path(_))
            );
            if !stays {
                self.set(&name, unknown(place, format!("`{name}`, which depends on this")));
            }
        }
    }

    pub(super) fn assign(&mut self, target: &'a Expr, value: HostValue<'a>) {
        if self.recorder.is_some() && self.task_assign(target, &value) {
            return;
        }
        match target {
            Expr::Name(name) => {
                let set = self.sets.iter().position(|(set, ..)| *set == name.id.as_str() && self.scopes.len() == 1);
                let value = match set {
                    Some(at) => {
                        self.sets[at].2 = true;
                        self.sets[at].1.clone()
                    }
                    None => value,
                };
                if self.recorder.is_some() {
                    self.named(name.id.as_str(), &value);
                }
                self.set(name.id.as_str(), value);
            }
            Expr::Tuple(_) | Expr::List(_) => {
                let targets = match target {
                    Expr::Tuple(tuple) => &tuple.elts[..],
                    Expr::List(list) => &list.elts[..],
                    _ => &[],
                };
                let items = value.items().filter(|items| items.len() == targets.len());
                for (index, target) in targets.iter().enumerate() {
                    let item = items.as_ref().and_then(|items| items.get(index).cloned());
                    let item = item.unwrap_or_else(|| match &value {
                        HostValue::Unknown(why) => HostValue::Unknown(why.clone()),
                        _ => unknown(at(target), "a part of what is not known"),
                    });
                    self.assign(target, item);
                }
            }
            Expr::Subscript(subscript) => {
                let base = self.expr(&subscript.value);
                let key = self.expr(&subscript.slice);
                match (base, key) {
                    (HostValue::List(items), HostValue::Const(Const::Int(n))) => {
                        let mut items = items.borrow_mut();
                        let at = if n < 0 { n + items.len() as i64 } else { n };
                        if let Some(item) = usize::try_from(at).ok().and_then(|at| items.get_mut(at)) {
                            *item = value;
                        }
                    }
                    (HostValue::Dict(items), HostValue::Const(key)) => {
                        let mut items = items.borrow_mut();
                        match items.iter().position(|(known, _)| *known == key) {
                            Some(at) => items[at].1 = value,
                            None if items.len() < super::MOST_VALUES => items.push((key, value)),
                            None => {}
                        }
                    }
                    _ => {}
                }
            }
            Expr::Attribute(attribute) => {
                if let HostValue::Object(object) = self.expr(&attribute.value) {
                    object.fields.borrow_mut().insert(attribute.attr.as_str().into(), value);
                }
            }
            _ => {}
        }
    }

    /// Calls a function of the host. `alone` says that nothing passes it arguments.
    pub(super) fn call_function(
        &mut self,
        function: &Rc<Function<'a>>,
        given: Vec<(Option<Rc<str>>, HostValue<'a>)>,
        alone: bool,
    ) -> HostValue<'a> {
        let place = at(&function.def.name);
        let name = function.def.name.as_str();
        let followed = self.recorder.is_some();
        if self.depth >= MOST_DEPTH || !self.step() {
            if followed {
                return self.stop_at(
                    "recursion",
                    place,
                    format!("more than {MOST_DEPTH} calls inside each other, or too many steps"),
                );
            }
            return unknown(place, format!("`{name}`, which calls too much"));
        }
        if let Some((_, called)) = self.functions.get_mut(&at(function.def)) {
            *called = true;
        }
        let names: Scope<'a> = Rc::new(RefCell::new(IndexMap::new()));
        let mut positional = given.iter().filter(|(keyword, _)| keyword.is_none()).map(|(_, value)| value.clone());
        for parameter in function.def.parameters.iter_non_variadic_params() {
            let wanted = parameter.parameter.name.as_str();
            let set = self.sets.iter_mut().find(|(set, ..)| *set == wanted);
            let keyword = || given.iter().find(|(k, _)| k.as_deref() == Some(wanted)).map(|(_, value)| value.clone());
            let passed = positional.next().or_else(keyword);
            let value = match (set, passed) {
                (Some(set), _) => {
                    set.2 = true;
                    set.1.clone()
                }
                (None, Some(value)) => value,
                (None, None) => match function.defaults.get(wanted) {
                    Some(value) => value.clone(),
                    None => {
                        let why = match alone {
                            true => format!(
                                "`{wanted}`, a parameter of `{name}`, which nothing calls: give it `--set {wanted}=…`"
                            ),
                            false => format!("`{wanted}`, which is not passed to `{name}`"),
                        };
                        unknown(at(&parameter.parameter), why)
                    }
                },
            };
            names.borrow_mut().insert(wanted.into(), value);
        }
        if let Some(rest) = &function.def.parameters.vararg {
            names.borrow_mut().insert(rest.name.as_str().into(), HostValue::Tuple(Rc::new(positional.collect())));
        }
        let mut scopes = function.scopes.clone();
        scopes.push(names);
        let outer = (std::mem::replace(&mut self.scopes, scopes), self.module, self.class.take());
        let mut within = function.within.clone();
        within.push(name.into());
        let within = std::mem::replace(&mut self.within, within);
        self.module = function.module;
        self.depth += 1;
        let helper = followed && self.enter_helper(function.def);
        let flow = self.body(&function.def.body);
        if helper {
            self.leave_helper(&flow, name, place);
        }
        self.depth -= 1;
        (self.scopes, self.module, self.class) = outer;
        self.within = within;
        match flow {
            Flow::Return(mut value) => {
                if function.module != 0 {
                    nowhere(&mut value);
                }
                value
            }
            Flow::Stop => unknown(place, format!("what `{name}` gives, which does not come to its end")),
            _ => HostValue::Const(Const::None),
        }
    }
}

/// Takes the place from a value that is not known, for its text is that of another module.
fn nowhere(value: &mut HostValue<'_>) {
    if let HostValue::Unknown(why) = value {
        *value = unknown(Span::default(), why.why.clone());
    }
}
