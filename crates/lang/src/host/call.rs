//! Calls in host code: functions of the file, its classes, its kernels, and decorated functions.

use std::cell::RefCell;
use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::{Expr, ExprCall, Parameters};
use slipring_ir::Span;

use super::key::key_of;
use super::tensors;
use super::value::{Code, Function, Given, HostValue, Wrapped};
use crate::host::limits::MOST_DEPTH;
use crate::host::state::{Called, Flow, Host};
use crate::host::value::{Frame, Key, Kind, because, unknown};
use crate::passed::{HostCall, Passed};
use crate::syntax::{at, shown};
use crate::value::{Const, Unknown};

impl<'a> Host<'a> {
    pub(super) fn call(&mut self, call: &'a ExprCall, span: Span) -> HostValue<'a> {
        if let Expr::Name(name) = &*call.func
            && name.id.as_str() == "super"
            && self.get("super").is_none()
            && call.arguments.is_empty()
        {
            return match self.called.last() {
                Some(Called { class: Some(class), first: Some(first) }) => {
                    HostValue::Super(Rc::new((first.clone(), class.clone())))
                }
                _ => unknown(span, "what `super()` gives"),
            };
        }
        let callee = self.expr(&call.func);
        if self.recorder.is_some()
            && let Some(value) = self.task_call(&callee, call, span)
        {
            return value;
        }
        if self.recorder.is_some() {
            return self.follow_call(&callee, call, span);
        }
        let Some(given) = self.arguments_of(call, &callee, span) else {
            return unknown(span, "a call with arguments that are not known");
        };
        if self.raised.is_some() {
            return unknown(span, "what is raised");
        }
        if let Expr::Subscript(subscript) = &*call.func
            && subscript.value.is_name_expr()
            && let HostValue::Dict(items) = self.expr(&subscript.value)
        {
            // An option selects one of several kernels: any of them may be called with these arguments.
            for (_, value) in items.borrow().values() {
                if let HostValue::Kernel(kernel) = value {
                    self.kernel_call(*kernel, &given);
                }
            }
        }
        let value = self.call_value(callee, given, span, &|| shown(&call.func));
        if self.raised.is_some() { unknown(span, "what is raised") } else { value }
    }

    /// The arguments of a call; `None` if their number is not known: the callee may then keep what it gets.
    fn arguments_of(&mut self, call: &'a ExprCall, callee: &HostValue<'a>, span: Span) -> Option<Given<'a>> {
        let mut given: Given<'a> = Vec::new();
        let mut known = true;
        for arg in &call.arguments.args {
            let value = self.expr(arg);
            if !arg.is_starred_expr() {
                given.push((None, value));
                continue;
            }
            match self.all_of(&value, span) {
                Some(items) => given.extend(items.into_iter().map(|item| (None, item))),
                None => {
                    known = false;
                    given.push((None, value));
                }
            }
        }
        for keyword in &call.arguments.keywords {
            let value = self.expr(&keyword.value);
            match (&keyword.arg, value) {
                (Some(name), value) => given.push((Some(name.as_str().into()), value)),
                (None, HostValue::Dict(items)) => {
                    for (key, value) in items.borrow().values() {
                        match key {
                            HostValue::Const(Const::Str(name)) => {
                                given.push((Some(name.clone()), value.clone().seen()));
                            }
                            _ => known = false,
                        }
                    }
                }
                (None, other) => {
                    known = false;
                    given.push((None, other));
                }
            }
        }
        if known || self.raised.is_some() {
            return Some(given);
        }
        if let HostValue::Kernel(kernel) = callee {
            self.kernel_call(*kernel, &[]);
            return None;
        }
        let values: Vec<_> = given.into_iter().map(|(_, value)| value).chain([callee.clone()]).collect();
        self.let_go(&values, span, "a call with arguments that are not known");
        None
    }

    pub(super) fn call_value(
        &mut self,
        callee: HostValue<'a>,
        given: Given<'a>,
        span: Span,
        shown: &dyn Fn() -> String,
    ) -> HostValue<'a> {
        if self.raised.is_some() || !self.step() {
            return unknown(span, "what is not reached");
        }
        if self.nest >= super::limits::MOST_NEST {
            return self.too_deep(span);
        }
        self.nest += 1;
        let value = self.call_here(callee, given, span, shown);
        self.nest -= 1;
        value.seen()
    }

    fn call_here(
        &mut self,
        callee: HostValue<'a>,
        mut given: Given<'a>,
        span: Span,
        shown: &dyn Fn() -> String,
    ) -> HostValue<'a> {
        match &callee {
            HostValue::Path(path) => {
                let path = path.clone();
                self.call_path(&path, given, span)
            }
            HostValue::Function(function) => self.call_function(&function.clone(), given, false),
            HostValue::Bound(bound) => {
                given.insert(0, (None, bound.0.clone()));
                self.call_value(bound.1.clone(), given, span, shown)
            }
            HostValue::Wrapped(wrapped) => match &**wrapped {
                Wrapped::Static(inner) => self.call_value(inner.clone(), given, span, shown),
                Wrapped::Partial(inner, before) => {
                    let named = before.iter().filter(|(name, _)| name.is_some());
                    let named: Vec<_> =
                        named.filter(|(name, _)| !given.iter().any(|(own, _)| own == name)).cloned().collect();
                    let mut all: Given<'a> = before.iter().filter(|(name, _)| name.is_none()).cloned().collect();
                    all.extend(given);
                    all.extend(named);
                    self.call_value(inner.clone(), all, span, shown)
                }
                Wrapped::Cached(inner, memo) => self.call_cached(inner, memo, given, span, shown),
                Wrapped::OfClass(_) | Wrapped::Property(..) => {
                    self.not_followed(callee.clone(), &given, span, "a call of what a decorator made")
                }
            },
            HostValue::Class(class) => self.instance(class, given, span),
            HostValue::Object(_) => match self.special(&callee, "__call__", given.clone(), span) {
                Some(value) => value,
                None => self.not_followed(callee.clone(), &given, span, &format!("a call of `{}`", shown())),
            },
            HostValue::Kernel(kernel) => {
                self.kernel_call(*kernel, &given);
                unknown(span, format!("what `{}` gives when it runs", shown()))
            }
            HostValue::Method(method) => {
                let (base, name) = (method.0.clone().seen(), method.1.clone());
                self.method(&base, &name, given, span)
            }
            HostValue::Const(Const::Int(_) | Const::Float(_) | Const::Bool(_) | Const::None | Const::Str(_))
            | HostValue::List(_)
            | HostValue::Dict(_)
            | HostValue::Tuple(_)
            | HostValue::Set(_) => {
                let what = self.type_name(&callee);
                self.fail("TypeError", format!("'{what}' object is not callable"), span)
            }
            HostValue::Unknown(why) => {
                let why = why.clone();
                self.not_followed(callee, &given, span, "a call of what is not known");
                HostValue::Unknown(why)
            }
            _ => self.not_followed(callee.clone(), &given, span, &format!("a call of `{}`", shown())),
        }
    }

    /// The result of a call that is not followed: its arguments may be kept and changed.
    pub(super) fn not_followed(
        &mut self,
        callee: HostValue<'a>,
        given: &[(Option<Rc<str>>, HostValue<'a>)],
        span: Span,
        what: &str,
    ) -> HostValue<'a> {
        let values: Vec<_> = given.iter().map(|(_, value)| value.clone()).chain([callee]).collect();
        self.let_go(&values, span, what);
        unknown(span, what)
    }

    fn call_cached(
        &mut self,
        inner: &HostValue<'a>,
        memo: &RefCell<IndexMap<Vec<Key>, HostValue<'a>>>,
        given: Given<'a>,
        span: Span,
        shown: &dyn Fn() -> String,
    ) -> HostValue<'a> {
        /// The default size of `lru_cache`.
        const MOST_KEPT: usize = 128;
        let key = given.iter().map(|(name, value)| match name {
            None => key_of(value),
            Some(_) => None,
        });
        let Some(key) = key.collect::<Option<Vec<Key>>>().filter(|_| memo.borrow().len() < MOST_KEPT) else {
            return self.not_followed(inner.clone(), &given, span, "what `lru_cache` keeps");
        };
        if let Some(known) = memo.borrow().get(&key) {
            return known.clone().seen();
        }
        if !self.trials.is_empty() {
            // The cached value would depend on code that may not run.
            return self.not_followed(inner.clone(), &given, span, "what `lru_cache` keeps");
        }
        let value = self.call_value(inner.clone(), given, span, shown);
        if self.raised.is_none() {
            memo.borrow_mut().insert(key, value.clone());
        }
        value
    }

    /// Records the arguments of a kernel call.
    pub(super) fn kernel_call(&mut self, kernel: usize, given: &[(Option<Rc<str>>, HostValue<'a>)]) {
        let passed = |value: &HostValue<'a>| match value {
            HostValue::Tensor(tensor) => Passed::Tensor(tensor.0.clone(), tensor.1),
            HostValue::Const(c @ (Const::Int(_) | Const::Float(_) | Const::Bool(_))) => Passed::Number(c.clone()),
            _ => Passed::Unknown,
        };
        let args: Vec<_> = given.iter().map(|(name, value)| (name.clone(), passed(value))).collect();
        let call = HostCall { kernel, args };
        if !self.calls.contains(&call) {
            self.calls.push(call);
        }
    }

    /// Calls a host function. `alone` means that it is run on its own, without arguments.
    pub(super) fn call_function(
        &mut self,
        function: &Rc<Function<'a>>,
        given: Given<'a>,
        alone: bool,
    ) -> HostValue<'a> {
        let place = function.span();
        let name = function.name();
        self.costs();
        if let Code::Def(def) = function.code
            && let Some((_, called)) = self.functions.get_mut(&at(def))
        {
            *called = true;
        }
        let whole = HostValue::Function(function.clone());
        if self.depth >= MOST_DEPTH {
            if self.recorder.is_some() {
                let message = format!("more than {MOST_DEPTH} calls inside each other");
                return self.stop_at("recursion", place, message);
            }
            return self.too_deep(place);
        }
        if function.locals.suspends || matches!(function.code, Code::Def(def) if def.is_async) {
            return self.not_followed(whole, &given, place, &format!("what the generator `{name}` gives"));
        }
        let bound = match function.code {
            Code::Def(def) => self.bind(function, Some(&def.parameters), given, alone),
            Code::Lambda(lambda) => self.bind(function, lambda.parameters.as_deref(), given, alone),
        };
        let Some(names) = bound else { return unknown(place, "what is raised") };
        let first = names.values().next().cloned();
        let mut scopes = function.scopes.clone();
        scopes.push(Frame::with(Kind::Function, names, Some(function.locals.clone())));
        let outer = (std::mem::replace(&mut self.scopes, scopes), self.module, self.class.take());
        let mut within = function.within.clone();
        within.push(name.into());
        let within = std::mem::replace(&mut self.within, within);
        self.called.push(Called { class: function.class.clone(), first });
        self.module = function.module;
        self.depth += 1;
        let helper = match function.code {
            Code::Def(def) => self.recorder.is_some() && self.enter_helper(def),
            Code::Lambda(_) => false,
        };
        let flow = match function.code {
            Code::Def(def) => self.body(&def.body),
            Code::Lambda(lambda) => Flow::Return(self.expr(&lambda.body)),
        };
        if helper {
            self.leave_helper(&flow, name, place);
        }
        self.depth -= 1;
        self.called.pop();
        (self.scopes, self.module, self.class) = outer;
        self.within = within;
        let result = match flow {
            Flow::Return(value) => value,
            Flow::Stop => unknown(place, format!("what `{name}` gives, which does not complete")),
            Flow::Unsure(why, true) => HostValue::Unknown(Rc::new(Unknown::new(
                why.span,
                format!("what `{name}` gives, which depends on this"),
            ))),
            _ => HostValue::none(),
        };
        match result {
            HostValue::Unknown(why) if function.module != 0 && function.module != self.module => {
                HostValue::Unknown(Rc::new(Unknown { span: Span::default(), ..(*why).clone() }))
            }
            other => other,
        }
    }

    /// Binds a function's parameters to arguments. `None` if they do not fit.
    fn bind(
        &mut self,
        function: &Rc<Function<'a>>,
        parameters: Option<&'a Parameters>,
        given: Given<'a>,
        alone: bool,
    ) -> Option<IndexMap<Rc<str>, HostValue<'a>>> {
        let mut names: IndexMap<Rc<str>, HostValue<'a>> = IndexMap::new();
        let name = function.name();
        let place = function.span();
        let (named, positional): (Given<'a>, Given<'a>) = given.into_iter().partition(|(name, _)| name.is_some());
        let mut positional = positional.into_iter().map(|(_, value)| value);
        let mut named: IndexMap<Rc<str>, HostValue<'a>> =
            named.into_iter().filter_map(|(name, value)| Some((name?, value))).collect();
        let Some(parameters) = parameters else {
            if positional.next().is_some() || !named.is_empty() {
                self.fail("TypeError", format!("{name}() takes no arguments"), place);
                return None;
            }
            return Some(names);
        };
        let without_name = parameters.posonlyargs.len();
        let by_position = without_name + parameters.args.len();
        for (index, parameter) in parameters.iter_non_variadic_params().enumerate() {
            let wanted = parameter.parameter.name.as_str();
            let set = self.sets.iter_mut().find(|(set, ..)| *set == wanted);
            let first = if index < by_position { positional.next() } else { None };
            let second = if index >= without_name { named.shift_remove(wanted) } else { None };
            if first.is_some() && second.is_some() {
                self.fail("TypeError", format!("{name}() got multiple values for argument '{wanted}'"), place);
                return None;
            }
            let value = match (set, first.or(second)) {
                (Some(set), _) => {
                    set.2 = true;
                    set.1.clone()
                }
                (None, Some(value)) => value,
                (None, None) => match function.defaults.get(wanted) {
                    Some(value) => value.clone().seen(),
                    None if alone => {
                        HostValue::Unknown(Rc::new(Unknown::parameter(at(&parameter.parameter), wanted, name)))
                    }
                    None => {
                        self.fail("TypeError", format!("{name}() missing a required argument: '{wanted}'"), place);
                        return None;
                    }
                },
            };
            names.insert(wanted.into(), value);
        }
        let rest: Vec<_> = positional.collect();
        match &parameters.vararg {
            Some(own) => drop(names.insert(own.name.as_str().into(), HostValue::tuple(rest))),
            None if !rest.is_empty() => {
                self.fail(
                    "TypeError",
                    format!("{name}() takes {by_position} positional arguments, more are given"),
                    place,
                );
                return None;
            }
            None => {}
        }
        match (&parameters.kwarg, named.first()) {
            (Some(own), _) => {
                let pairs = named.into_iter().map(|(name, value)| (HostValue::str(name), value)).collect();
                let dict = self.dict_of(pairs, place);
                names.insert(own.name.as_str().into(), dict);
            }
            (None, Some((more, _))) => {
                self.fail("TypeError", format!("{name}() got an unexpected keyword argument '{more}'"), place);
                return None;
            }
            (None, None) => {}
        }
        Some(names)
    }

    /// Methods of Python values, and of other values of the host.
    fn method(&mut self, base: &HostValue<'a>, name: &Rc<str>, given: Given<'a>, span: Span) -> HostValue<'a> {
        let args: Vec<HostValue<'a>> = given.iter().filter(|(n, _)| n.is_none()).map(|(_, v)| v.clone()).collect();
        let keyword = |wanted: &str| given.iter().find(|(n, _)| n.as_deref() == Some(wanted)).map(|(_, v)| v.clone());
        match (base, &**name) {
            (HostValue::Kernel(kernel), name) if super::object::OF_KERNELS.contains(&name) => {
                self.kernel_call(*kernel, &given);
                base.clone()
            }
            (HostValue::Const(Const::DType(ty)), "get_byte") => HostValue::int(ty.bytes()),
            (HostValue::Tensor(own), name) => tensors::method(own, name, &args, &keyword, span),
            (HostValue::List(_), name) => self.list_method(base, name, &given, span),
            (HostValue::Dict(_), name) => self.dict_method(base, name, &given, span),
            (HostValue::Set(_), name) => self.set_method(base, name, &given, span),
            (HostValue::Const(Const::Str(text)), name) => {
                let text = text.clone();
                self.str_method(&text, name, &given, span)
            }
            (HostValue::Tuple(_), "index" | "count") => self.list_method(base, name, &given, span),
            (HostValue::Const(Const::Float(x)), "is_integer") if given.is_empty() => HostValue::bool(x.fract() == 0.0),
            (HostValue::Const(Const::Int(n)), "bit_length") if given.is_empty() => {
                HostValue::int(i64::from(64 - n.unsigned_abs().leading_zeros()))
            }
            (HostValue::Object(object), name) if &*object.what == super::library::PARSER => {
                self.parser_method(base, name, &args, &keyword, span)
            }
            (HostValue::Unknown(_), _) => {
                let why = because(base.clone(), span, "a method");
                self.not_followed(base.clone(), &given, span, &format!("a call of `{name}`"));
                why
            }
            _ => self.not_followed(base.clone(), &given, span, &format!("a call of `{name}`")),
        }
    }
}
