//! What statements of the host define: functions, kernels, classes.

use std::cell::RefCell;
use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::{Decorator, Expr, Stmt, StmtClassDef, StmtFunctionDef};
use slipring_ir::Diagnostic;

use super::Host;
use crate::host::Found;
use crate::host::value::{Class, Function, HostValue, Scope, shown};
use crate::program::{Role, role_of};
use crate::syntax::at;
use crate::value::Const;

impl<'a> Host<'a> {
    pub(super) fn function(&mut self, def: &'a StmtFunctionDef) {
        let name: Rc<str> = def.name.as_str().into();
        let role = def.decorator_list.iter().filter_map(|decorator| self.role(decorator)).last();
        let mut scopes = self.scopes.clone();
        if self.class.is_some() {
            // Methods do not see the names of their class.
            scopes.pop();
        }
        if let Some(mut role) = role {
            if role == Role::Kernel(None) && crate::tasks::asks_device(def) {
                role = Role::Starts;
            }
            // One of a function that is called several times counts once: with the constants of the first call.
            let first = self.found.iter().position(|found| std::ptr::eq(found.def, def));
            let position = first.unwrap_or(self.found.len());
            if first.is_none() {
                self.found.push(Found {
                    def,
                    role,
                    within: self.within.clone(),
                    class: self.class.clone(),
                    scopes: scopes.split_off(1.min(scopes.len())),
                    module: self.module,
                });
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
