//! Definitions in host code: functions, kernels, classes.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::{Decorator, Expr, StmtClassDef, StmtFunctionDef};
use slipring_ir::{Diagnostic, Span};

use crate::attrs::FunctionAttrs;
use crate::forms::Form;
use crate::given::CONSTEXPR;
use crate::host::Found;
use crate::host::locals::Locals;
use crate::host::run::classes::order_of;
use crate::host::state::{Flow, Host};
use crate::host::value::{Class, Code, Frame, Function, HostValue, Kind, Made, Scope, Wrapped, unknown};
use crate::roles::{Role, role_of};
use crate::syntax::{at, shown};
use crate::value::{Const, Strange, Unknown};

/// The maximum number of functions made from one text.
const MOST_MADE: usize = 256;

impl<'a> Host<'a> {
    pub(super) fn function(&mut self, def: &'a StmtFunctionDef) {
        let parts = self.parts_of(def);
        if parts.is_empty() {
            if let Some(value) = self.defined(def) {
                self.set(def.name.as_str(), value);
            }
            return;
        }
        for part in parts {
            let mut made = None;
            self.in_part(part, |host| {
                made = host.defined(def);
                made.clone()
            });
            if let (Some(value), true) = (made, self.class.is_some()) {
                self.set(def.name.as_str(), value);
            }
        }
    }

    /// The value of a definition; `None` if it raises.
    fn defined(&mut self, def: &'a StmtFunctionDef) -> Option<HostValue<'a>> {
        let name: Rc<str> = def.name.as_str().into();
        let known = self.found.iter().position(|found| std::ptr::eq(found.def, def));
        let said = self.problems.len();
        let role = def.decorator_list.iter().filter_map(|decorator| self.role(decorator)).last();
        let attrs = role.map(|role| self.attrs_of(def, role)).unwrap_or_default();
        if let Some(role) = role {
            self.forms_of(def, role, attrs);
        }
        if known.is_some() {
            // Errors in its decorators were reported the first time.
            self.problems.truncate(said);
        }
        let mut scopes = self.scopes.clone();
        if let Some(mut role) = role {
            // Methods do not see the names of their class.
            scopes.retain(|scope| scope.kind != Kind::Class);
            if role == Role::Kernel(None) && crate::starts::asks_device(def) {
                role = Role::Starts;
            }
            // A kernel in a function that is called several times counts once as a kernel of the file, with the
            // constants of the first call. A program may start each instance.
            let scopes = scopes.split_off(1.min(scopes.len()));
            let same = |found: &Found<'a>| {
                let alike = found.scopes.len() == scopes.len();
                std::ptr::eq(found.def, def) && alike && found.scopes.iter().zip(&scopes).all(|(a, b)| Rc::ptr_eq(a, b))
            };
            let again = self.found.iter().filter(|found| std::ptr::eq(found.def, def)).count();
            let position = match self.found.iter().position(same).or(known.filter(|_| again >= MOST_MADE)) {
                Some(position) => position,
                None => {
                    let constants = self.constants_of(def);
                    self.found.push(Found {
                        def,
                        role,
                        attrs,
                        first: known,
                        within: self.within.clone(),
                        class: self.class.clone(),
                        scopes,
                        module: self.module,
                        constants,
                        part: self.has_parts(),
                        perhaps: self.decided_at.last().copied(),
                    });
                    self.found.len() - 1
                }
            };
            if again >= MOST_MADE && known == Some(position) {
                let why = format!("one of more than {MOST_MADE} functions that are made of `{name}`");
                return Some(unknown(at(&def.name), why));
            }
            return Some(HostValue::Kernel(position));
        }
        let decorators: Vec<HostValue<'a>> =
            def.decorator_list.iter().map(|decorator| self.decorator(decorator)).collect();
        let mut defaults = IndexMap::new();
        for parameter in def.parameters.iter_non_variadic_params() {
            if let Some(default) = &parameter.default {
                let value = self.expr(default);
                defaults.insert(parameter.parameter.name.as_str().into(), value);
            }
        }
        if self.raised.is_some() {
            return None;
        }
        self.parametrized(def, &mut defaults);
        self.costs();
        let place = std::ptr::from_ref(def) as usize;
        let locals = self.locals.entry(place);
        let locals = locals.or_insert_with(|| Rc::new(Locals::of_body(&def.body, Some(&def.parameters)))).clone();
        let function = Function {
            code: Code::Def(def),
            scopes,
            within: self.within.clone(),
            module: self.module,
            defaults,
            locals,
            class: self.class.clone(),
            escaped: Cell::new(false),
            renamed: Cell::new(false),
            is_abstract: Cell::new(false),
        };
        let function = Rc::new(function);
        self.functions.entry(at(def)).or_insert_with(|| (function.clone(), false));
        let mut value = HostValue::Function(function);
        for (decorator, text) in decorators.into_iter().zip(&def.decorator_list).rev() {
            value = self.decorate(decorator, value, at(text), &shown(&text.expression));
        }
        Some(value)
    }

    /// The constants of a kernel (`pl.constexpr`) that are given from outside.
    fn constants_of(&mut self, def: &'a StmtFunctionDef) -> Vec<(Rc<str>, Const)> {
        let mut constants = Vec::new();
        for own in def.parameters.iter_non_variadic_params() {
            let name = own.parameter.name.as_str();
            let Some(set) = self.sets.iter().position(|(set, ..)| set == name) else { continue };
            let Some(annotation) = &own.parameter.annotation else { continue };
            if let (HostValue::Path(path), HostValue::Const(value)) = (self.expr(annotation), self.sets[set].1.clone())
                && &*path == CONSTEXPR
            {
                self.sets[set].2 = true;
                constants.push((name.into(), value));
            }
        }
        constants
    }

    /// The value of a host decorator. If a decorator's first name is unknown, that is reported if the file has no
    /// kernel.
    fn decorator(&mut self, decorator: &'a Decorator) -> HostValue<'a> {
        if shown(&decorator.expression).starts_with("pytest.") || self.is_marked(decorator) {
            return HostValue::Path("pytest.mark".into());
        }
        self.expr(&decorator.expression)
    }

    /// True for a mark for a test runner.
    fn is_marked(&mut self, decorator: &'a Decorator) -> bool {
        let mut expr = &decorator.expression;
        loop {
            expr = match expr {
                Expr::Call(call) => &call.func,
                Expr::Attribute(attribute) => &attribute.value,
                Expr::Name(name) => {
                    let value = self.get(name.id.as_str());
                    return matches!(value, Some(HostValue::Path(path)) if path.starts_with("pytest"));
                }
                _ => return false,
            }
        }
    }

    /// The result of a decorator for a function or class.
    fn decorate(&mut self, decorator: HostValue<'a>, value: HostValue<'a>, span: Span, shown: &str) -> HostValue<'a> {
        if self.raised.is_some() {
            return value;
        }
        match &decorator {
            HostValue::Path(path) => {
                if let Some(known) = self.decorated(&path.clone(), value.clone(), span) {
                    return known;
                }
            }
            HostValue::Method(method) => {
                if let (HostValue::Wrapped(wrapped), "setter" | "getter") = (&method.0, &*method.1)
                    && let Wrapped::Property(read, set) = &**wrapped
                {
                    return HostValue::Wrapped(Rc::new(match &*method.1 {
                        "setter" => Wrapped::Property(read.clone(), Some(value)),
                        _ => Wrapped::Property(value, set.clone()),
                    }));
                }
            }
            other if Host::is_function(other) || self.has(other, "__call__") => {
                return self.call_value(decorator.clone(), vec![(None, value)], span, &|| shown.to_string());
            }
            _ => {}
        }
        let what = format!("what the decorator `{shown}` makes of it");
        self.let_go(&[value, decorator], span, &what);
        HostValue::Unknown(Rc::new(Unknown { span, why: what, is: Strange::Decorated }))
    }

    /// The role that a decorator gives to its function; `None` for host functions.
    fn role(&mut self, decorator: &'a Decorator) -> Option<Role> {
        if self.is_partial(&decorator.expression) {
            let error =
                Diagnostic::error("decorator", at(decorator), "a decorator that `functools.partial` makes is not read");
            self.problems.push(error.help("write it out: `@pl.function(type=pl.FunctionType.InCore)`"));
            return None;
        }
        let path = self.path_of_decorator(&decorator.expression);
        let Some(path) = path else {
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
                    let warning = Diagnostic::warning(slipring_ir::Kind::HostFunction, at(decorator), message);
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

    /// Reports misplaced builtins of a function.
    fn forms_of(&mut self, def: &'a StmtFunctionDef, role: Role, attrs: FunctionAttrs) {
        // The types of a kernel's parameters are checked when it is compiled.
        let shapes_said = attrs.shapes_said && !matches!(role, Role::Kernel(_));
        let mut typed = matches!(role, Role::Kernel(Some(_)));
        for decorator in &def.decorator_list {
            let path = self.path_of_decorator(&decorator.expression);
            let incore = matches!(path.as_deref(), Some("pl.function" | "pl.incore" | "pl.jit.incore"));
            typed |= incore && role == Role::Kernel(None) && !attrs.opaque;
        }
        let form = Form { own_scopes: attrs.own_scopes, typed_kernel: typed, shapes_said };
        let found = crate::forms::misplaced(def, form, &mut |expr| self.path_as_written(expr));
        self.problems.extend(found);
    }

    /// The path of a builtin, or of another module, as written: nothing is evaluated.
    fn path_as_written(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Name(name) => match self.get(name.id.as_str()) {
                Some(HostValue::Path(path)) => Some(path.to_string()),
                _ => None,
            },
            Expr::Attribute(part) => Some(format!("{}.{}", self.path_as_written(&part.value)?, part.attr)),
            _ => None,
        }
    }

    /// True for `@pl.function` without a type, `@pl.function(type=pl.FunctionType.Opaque)` and `@pl.jit.opaque`.
    fn is_opaque(&mut self, path: Option<&str>, expr: &'a Expr) -> bool {
        match (path, expr) {
            (Some("pl.jit.opaque"), _) => true,
            (Some("pl.function"), Expr::Call(call)) => {
                let ty = call.arguments.keywords.iter().find(|own| own.arg.as_ref().is_some_and(|own| own == "type"));
                let opaque = |value| matches!(value, HostValue::Const(Const::Member(_, name)) if &*name == "Opaque");
                ty.is_none_or(|ty| opaque(self.expr(&ty.value)))
            }
            (Some("pl.function"), _) => true,
            _ => false,
        }
    }

    /// The attributes in a function's decorators; reports arguments that they do not accept.
    fn attrs_of(&mut self, def: &'a StmtFunctionDef, role: Role) -> FunctionAttrs {
        let mut attrs = FunctionAttrs::default();
        for decorator in &def.decorator_list {
            let path = self.path_of_decorator(&decorator.expression);
            attrs.opaque |= self.is_opaque(path.as_deref(), &decorator.expression);
            attrs.shapes_said |= path.as_deref() == Some("pl.function");
            attrs.may_be_program |= matches!(path.as_deref(), Some("pl.jit" | "pl.jit.opaque" | "pl.function"));
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
                            for (key, value) in items.borrow().values() {
                                let constant = if let HostValue::Const(c) = value { Some(c) } else { None };
                                let key = key.text().unwrap_or_else(|| "…".into());
                                self.problems.extend(attrs.take(&key, constant, role, place));
                            }
                        }
                        HostValue::Const(Const::None) => {}
                        _ => {
                            let what = "`attrs` of a function is a dict whose entries are known";
                            self.problems.push(Diagnostic::error("function-attr", place, what));
                        }
                    },
                    "auto_scope" => {
                        let said = self.expr(value);
                        let constant = if let HostValue::Const(c) = &said { Some(c) } else { None };
                        self.problems.extend(attrs.take("auto_scope", constant, role, place));
                    }
                    "external_source" => {
                        let error =
                            Diagnostic::error(slipring_ir::Kind::Unsupported, place, "a kernel that is written in C++");
                        self.problems.push(error.help("slipring runs what is written in the kernel language"));
                    }
                    "strict_ssa" if self.expr(value).as_bool() != Some(false) => {
                        let found = crate::ssa::assigned_again(def, &mut |value| self.is_yield(value));
                        self.problems.extend(found);
                    }
                    _ => {}
                }
            }
        }
        attrs
    }

    /// Reports arguments that a decorator does not accept.
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

    /// True for `functools.partial` of a decorator of the language, or a name for it.
    fn is_partial(&mut self, expr: &'a Expr) -> bool {
        let value = match expr {
            Expr::Name(name) => self.get(name.id.as_str()),
            Expr::Call(call) if self.path_of_decorator(&call.func).as_deref() == Some("functools.partial") => {
                Some(self.expr(expr))
            }
            Expr::Call(call) => return self.is_partial(&call.func),
            _ => None,
        };
        let Some(HostValue::Wrapped(wrapped)) = value else { return false };
        matches!(&*wrapped, Wrapped::Partial(HostValue::Path(path), _) if path.starts_with("pl."))
    }

    /// True for a call of `pl.yield_`, by any name; names that are unknown here are local to the function.
    pub(in crate::host) fn is_yield(&mut self, value: &'a Expr) -> bool {
        let Expr::Call(call) = value else { return false };
        let first = match &*call.func {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(word) => word.value.as_name_expr().map_or("", |name| name.id.as_str()),
            _ => "",
        };
        self.get(first).is_some() && self.path_of_decorator(&call.func).as_deref() == Some("pl.yield_")
    }

    /// The full name of a decorator, without calling anything.
    fn path_of_decorator(&mut self, expr: &'a Expr) -> Option<Rc<str>> {
        match expr {
            Expr::Call(call) => self.path_of_decorator(&call.func),
            Expr::Name(name) => match self.get(name.id.as_str()) {
                Some(HostValue::Path(path)) => Some(path),
                Some(_) => None,
                None => self.expr_path(expr),
            },
            Expr::Attribute(attribute) => {
                let base = self.path_of_decorator(&attribute.value)?;
                match self.attribute(HostValue::Path(base), attribute.attr.as_str(), at(expr)) {
                    HostValue::Path(path) => Some(path),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// `@pytest.mark.parametrize("m, n", [(64, 32), …])`: the first values are used as defaults.
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
        let span = at(&def.name);
        let decorators: Vec<HostValue<'a>> =
            def.decorator_list.iter().map(|decorator| self.decorator_of_class(decorator)).collect();
        let mut bases: Vec<Rc<Class<'a>>> = Vec::new();
        let mut made = Made::default();
        let mut foreign: Option<Rc<Unknown>> = None;
        let mut exception: Option<Rc<str>> = None;
        let mut strange = |place: Span, why: String| {
            foreign.get_or_insert_with(|| Rc::new(Unknown::new(place, why)));
        };
        for base in def.arguments.iter().flat_map(|arguments| arguments.args.iter()) {
            let base_value = match base {
                // `Generic[T]`
                Expr::Subscript(subscript) => self.expr(&subscript.value),
                other => self.expr(other),
            };
            match &base_value {
                HostValue::Class(base) => {
                    bases.push(base.clone());
                    if let Some(why) = &*base.foreign.borrow() {
                        strange(why.span, why.why.clone());
                    }
                    exception = exception.or_else(|| base.exception.clone());
                    let own = base.made.get();
                    made.named_tuple |= own.named_tuple;
                    made.dataclass |= own.dataclass;
                    made.init |= own.init;
                    made.eq |= own.eq;
                    made.frozen |= own.frozen;
                    made.abstract_base |= own.abstract_base;
                    made.strange_fields |= own.strange_fields;
                }
                HostValue::Path(path) => match &**path {
                    "typing.NamedTuple" => (made.named_tuple, made.init) = (true, true),
                    "abc.ABC" => made.abstract_base = true,
                    "object" | "typing.Generic" | "typing.Protocol" => {}
                    path if crate::host::exceptions::exception(path).is_some() => exception = Some(path.into()),
                    path => strange(at(base), format!("what `{path}` makes of a class")),
                },
                _ => strange(at(base), format!("what `{}` makes of a class", shown(base))),
            }
        }
        for keyword in def.arguments.iter().flat_map(|arguments| arguments.keywords.iter()) {
            let value = self.expr(&keyword.value);
            match &value {
                HostValue::Path(path) if &**path == "abc.ABCMeta" => made.abstract_base = true,
                _ => strange(at(keyword), "what a metaclass makes of a class".into()),
            }
        }
        if self.raised.is_some() {
            return;
        }
        let locals = Rc::new(Locals::of_body(&def.body, None));
        let names: Scope<'a> = Frame::with(Kind::Class, IndexMap::new(), Some(locals));
        // Its methods see the class object, even before its end.
        let class = Rc::new(Class {
            name: name.clone(),
            names: names.clone(),
            order: RefCell::new(Vec::new()),
            fields: RefCell::new(Vec::new()),
            made: Cell::new(made),
            foreign: RefCell::new(foreign),
            exception,
        });
        match order_of(&class, &bases) {
            Some(order) => *class.order.borrow_mut() = order,
            None => {
                let why = Rc::new(Unknown::new(span, "a class whose bases have no order"));
                *class.foreign.borrow_mut() = Some(why);
            }
        }
        let outer = self.class.replace(class.clone());
        self.scopes.push(names.clone());
        self.within.push(name.clone());
        let flow = self.body(&def.body);
        self.within.pop();
        self.scopes.pop();
        self.class = outer;
        if let Flow::Unsure(why, _) = flow {
            *class.foreign.borrow_mut() = Some(why);
        }
        if self.raised.is_some() {
            return;
        }
        self.class_is_made(def, &class);
        if self.raised.is_some() {
            return;
        }
        if made.named_tuple {
            self.fields_of(def, &class, false);
        }
        let mut value = HostValue::Class(class.clone());
        for (decorator, text) in decorators.into_iter().zip(&def.decorator_list).rev() {
            let path = match &decorator {
                HostValue::Path(path) => path.to_string(),
                _ => String::new(),
            };
            match (&*path, &text.expression) {
                ("dataclasses.dataclass", expression) => self.dataclass(def, &class, expression),
                // The language's class decorators return the class.
                ("pl.program" | "pld.program", expression) => {
                    if let Expr::Call(call) = expression
                        && let Some(strict) = crate::syntax::named(call, "strict_ssa")
                        && self.expr(strict).as_bool() != Some(false)
                    {
                        for method in def.body.iter().filter_map(ruff_python_ast::Stmt::as_function_def_stmt) {
                            let found = crate::ssa::assigned_again(method, &mut |value| self.is_yield(value));
                            self.problems.extend(found);
                        }
                    }
                    class.made.set(Made { program: true, ..class.made.get() });
                }
                (path, _) if path.starts_with("pl.") || path.starts_with("pld.") => {}
                _ => value = self.decorate(decorator, value, at(text), &shown(&text.expression)),
            }
        }
        self.set(&name, value);
    }

    /// A decorator of a class: the name of the callee for a call, whose arguments are read from the text.
    fn decorator_of_class(&mut self, decorator: &'a Decorator) -> HostValue<'a> {
        if let Expr::Call(call) = &decorator.expression
            && let Expr::Name(_) | Expr::Attribute(_) = &*call.func
            && let HostValue::Path(path) = self.expr(&call.func)
            && (&*path == "dataclasses.dataclass" || path.starts_with("pl."))
        {
            if &*path == "pl.program" {
                self.options_known(&path, call);
            }
            return HostValue::Path(path);
        }
        self.decorator(decorator)
    }
}
