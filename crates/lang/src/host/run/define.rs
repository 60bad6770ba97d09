//! What statements of the host define: functions, kernels, classes.

use std::cell::RefCell;
use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::{Decorator, Expr, Stmt, StmtClassDef, StmtFunctionDef};
use slipring_ir::Diagnostic;

use super::Host;
use crate::attrs::FunctionAttrs;
use crate::host::value::{Class, Function, HostValue, Scope, shown};
use crate::host::{Found, unknown};
use crate::program::{Role, role_of};
use crate::syntax::at;
use crate::value::Const;

/// The most functions that are made of one text.
const MOST_MADE: usize = 256;

impl<'a> Host<'a> {
    pub(super) fn function(&mut self, def: &'a StmtFunctionDef) {
        let name: Rc<str> = def.name.as_str().into();
        let known = self.found.iter().position(|found| std::ptr::eq(found.def, def));
        let said = self.problems.len();
        let role = def.decorator_list.iter().filter_map(|decorator| self.role(decorator)).last();
        let attrs = role.map(|role| self.attrs_of(def, role)).unwrap_or_default();
        if known.is_some() {
            // What is wrong with its decorators was told the first time.
            self.problems.truncate(said);
        }
        let mut scopes = self.scopes.clone();
        if self.class.is_some() {
            // Methods do not see the names of their class.
            scopes.pop();
        }
        if let Some(mut role) = role {
            if role == Role::Kernel(None) && crate::tasks::asks_device(def) {
                role = Role::Starts;
            }
            // One of a function that is called several times counts once as a kernel of the file: with the constants of the first
            // call. A program may start each of them.
            let scopes = scopes.split_off(1.min(scopes.len()));
            let same = |found: &Found<'a>| {
                let alike = found.scopes.len() == scopes.len();
                std::ptr::eq(found.def, def) && alike && found.scopes.iter().zip(&scopes).all(|(a, b)| Rc::ptr_eq(a, b))
            };
            let again = self.found.iter().filter(|found| std::ptr::eq(found.def, def)).count();
            let position = match self.found.iter().position(same).or(known.filter(|_| again >= MOST_MADE)) {
                Some(position) => position,
                None => {
                    self.found.push(Found {
                        def,
                        role,
                        attrs,
                        first: known,
                        within: self.within.clone(),
                        class: self.class.clone(),
                        scopes,
                        module: self.module,
                    });
                    self.found.len() - 1
                }
            };
            if again >= MOST_MADE && known == Some(position) {
                let why = format!("one of more than {MOST_MADE} functions that are made of `{name}`");
                return self.set(&name, unknown(at(&def.name), why));
            }
            return self.set(&name, HostValue::Kernel(position));
        }
        let mut defaults = IndexMap::new();
        for parameter in def.parameters.iter_non_variadic_params() {
            if let Some(default) = &parameter.default {
                let value = self.expr(default);
                defaults.insert(parameter.parameter.name.as_str().into(), value);
            }
        }
        self.parametrized(def, &mut defaults);
        let function = Function { def, scopes, within: self.within.clone(), module: self.module, defaults };
        let function = Rc::new(function);
        self.functions.entry(at(def)).or_insert_with(|| (function.clone(), false));
        self.set(&name, HostValue::Function(function));
    }

    /// What a decorator makes of its function; `None` for those of the host.
    fn role(&mut self, decorator: &'a Decorator) -> Option<Role> {
        let Some(path) = self.expr_path(&decorator.expression) else {
            let word = shown(&decorator.expression);
            if self.module == 0 && word.starts_with("pl.") {
                self.undecorated.get_or_insert((at(decorator), "pl".into()));
            }
            return None;
        };
        if !path.starts_with("pl.") || matches!(&*path, "pl.program") {
            return None;
        }
        let mut member = |word: &str| -> Option<Rc<str>> {
            let Expr::Call(call) = &decorator.expression else { return None };
            let said = call.arguments.keywords.iter().find(|k| k.arg.as_ref().is_some_and(|n| n.as_str() == word));
            match self.expr(&said?.value) {
                HostValue::Const(Const::Member(_, name)) => Some(name),
                _ => None,
            }
        };
        let (ty, level, own) = (member("type"), member("level"), member("role"));
        let ty = ty.as_deref();
        match role_of(&path, ty, (level.as_deref(), own.as_deref())) {
            Ok(role) => {
                if let (Role::Starts | Role::Group, Some(ty)) = (role, ty) {
                    let message =
                        format!("a function of type {ty} starts kernels: it is a whole program and no kernel");
                    let warning = Diagnostic::warning("host-function", at(decorator), message);
                    self.problems
                        .push(warning.help("`slipring run` runs it, with `--func` where the file has several"));
                }
                Some(role)
            }
            Err(why) => {
                let help = "a kernel has `@pl.incore` or `@pl.jit`";
                self.problems.push(Diagnostic::error("decorator", at(decorator), why).help(help));
                None
            }
        }
    }

    /// What the decorators of a function say of it, and what they are given that they do not take.
    fn attrs_of(&mut self, def: &'a StmtFunctionDef, role: Role) -> FunctionAttrs {
        let mut attrs = FunctionAttrs::default();
        for decorator in &def.decorator_list {
            let Expr::Call(call) = &decorator.expression else { continue };
            let Some(path) = self.expr_path(&decorator.expression).filter(|path| path.starts_with("pl.")) else {
                continue;
            };
            self.options_known(&path, call);
            for keyword in &call.arguments.keywords {
                let (place, value) = (at(keyword), &keyword.value);
                match keyword.arg.as_ref().map_or("**", |name| name.as_str()) {
                    "attrs" => match self.expr(value) {
                        HostValue::Dict(items) => {
                            for (key, value) in items.borrow().iter() {
                                let constant = if let HostValue::Const(c) = value { Some(c) } else { None };
                                let key = if let Const::Str(key) = key { &**key } else { "…" };
                                self.problems.extend(attrs.take(key, constant, role, place));
                            }
                        }
                        HostValue::Const(Const::None) => {}
                        _ => {
                            let what = "`attrs` of a function is a dict whose entries are known";
                            self.problems.push(Diagnostic::error("function-attr", place, what));
                        }
                    },
                    "external_source" => {
                        let error = Diagnostic::error("unsupported", place, "a kernel that is written in C++");
                        self.problems.push(error.help("slipring runs what is written in the kernel language"));
                    }
                    "strict_ssa" if self.expr(value).truth() != Some(false) => {
                        let what = "`strict_ssa` is not checked: names may be assigned again";
                        self.problems.push(Diagnostic::warning("decorator", place, what));
                    }
                    _ => {}
                }
            }
        }
        attrs
    }

    /// Reports what a decorator is given and does not take.
    pub(super) fn options_known(&mut self, path: &str, call: &'a ruff_python_ast::ExprCall) {
        let known = crate::attrs::options_of(path);
        let wrong = |place, what: String| Diagnostic::error("decorator", place, what);
        if let Some(arg) = call.arguments.args.first() {
            let what = format!("`@{path}` takes no argument without a name");
            self.problems.push(wrong(at(arg), what));
        }
        for keyword in &call.arguments.keywords {
            let name = keyword.arg.as_ref().map_or("**", |name| name.as_str());
            if known.contains(&name) {
                continue;
            }
            let error = wrong(at(keyword), format!("`@{path}` has no argument `{name}`"));
            self.problems.push(match slipring_ir::text::nearest(name, known.iter().copied()) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error,
            });
        }
    }

    /// `@pytest.mark.parametrize("m, n", [(64, 32), …])`: the first values count as defaults.
    fn parametrized(&mut self, def: &'a StmtFunctionDef, defaults: &mut IndexMap<Rc<str>, HostValue<'a>>) {
        for decorator in &def.decorator_list {
            let Expr::Call(call) = &decorator.expression else { continue };
            if !shown(&call.func).ends_with("parametrize") || call.arguments.args.len() < 2 {
                continue;
            }
            let names = match self.expr(&call.arguments.args[0]) {
                HostValue::Const(Const::Str(names)) => {
                    names.split(',').map(|name| name.trim().to_string()).collect::<Vec<_>>()
                }
                other => other.items().unwrap_or_default().iter().filter_map(HostValue::text).collect(),
            };
            let Some(first) = self.expr(&call.arguments.args[1]).items().and_then(|v| v.first().cloned()) else {
                continue;
            };
            let values = if let [_] = names[..] { vec![first] } else { first.items().unwrap_or_default() };
            for (name, value) in names.iter().zip(values) {
                defaults.insert(name.as_str().into(), value);
            }
        }
    }

    pub(super) fn class(&mut self, def: &'a StmtClassDef) {
        let name: Rc<str> = def.name.as_str().into();
        let names: Scope<'a> = Rc::new(RefCell::new(IndexMap::new()));
        let bases: Vec<_> =
            def.arguments.iter().flat_map(|arguments| arguments.args.iter()).map(|base| self.expr(base)).collect();
        let mut fields: Vec<(Rc<str>, Option<HostValue<'a>>)> = Vec::new();
        let (mut foreign, mut fielded) = (false, false);
        for base in &bases {
            match base {
                HostValue::Class(base) => {
                    names.borrow_mut().extend(base.names.borrow().iter().map(|(n, v)| (n.clone(), v.clone())));
                    fields.extend(base.fields.iter().cloned());
                    foreign |= base.foreign;
                }
                HostValue::Path(path) if matches!(&**path, "typing.NamedTuple" | "object") => fielded = true,
                _ => foreign = true,
            }
        }
        for decorator in &def.decorator_list {
            let path = self.expr_path(&decorator.expression).unwrap_or_default();
            fielded |= matches!(&*path, "dataclasses.dataclass");
            if let ("pl.program", Expr::Call(call)) = (&*path, &decorator.expression) {
                self.options_known(&path, call);
            }
        }
        // Its methods see what it is, also before its end.
        let class = Rc::new(Class { name: name.clone(), names: names.clone(), fields: Vec::new(), foreign });
        let outer = self.class.replace(class.clone());
        self.scopes.push(names.clone());
        self.within.push(name.clone());
        self.body(&def.body);
        self.within.pop();
        self.scopes.pop();
        self.class = outer;
        if fielded {
            for stmt in &def.body {
                if let Stmt::AnnAssign(field) = stmt
                    && let Expr::Name(field_name) = &*field.target
                {
                    let default = field.value.is_some().then(|| names.borrow().get(field_name.id.as_str()).cloned());
                    fields.push((field_name.id.as_str().into(), default.flatten()));
                }
            }
        }
        let class = Class { name: name.clone(), names, fields, foreign };
        self.set(&name, HostValue::Class(Rc::new(class)));
    }
}
