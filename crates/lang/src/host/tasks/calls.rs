//! Calls in a program that is followed: the callee must be known, and no argument may be dropped.

use std::cell::RefCell;
use std::rc::Rc;

use ruff_python_ast::{Expr, ExprCall, Parameters, StmtFunctionDef};
use slipring_ir::{Diagnostic, Span};

use super::super::value::HostValue;
use crate::host::names::is_of_python;
use crate::host::recorder::Arg;
use crate::host::state::{Flow, Host};
use crate::host::value::unknown;
use crate::params::{ByName, by_name};
use crate::syntax::{at, shown};
use crate::value::Const;

/// Modules of Python whose functions print, measure or look up something: they affect no task.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "logging", "math", "os", "platform", "pprint", "random", "sys", "time", "typing", "warnings", "print", "datetime", "torch", "numpy",
    "np",
];

/// True for a value that contains a part of the program: a tensor, a task id, a kernel, memory of devices.
fn of_program(value: &HostValue<'_>, depth: usize) -> bool {
    match value {
        HostValue::Device(_) | HostValue::Task(_) | HostValue::Kernel(_) | HostValue::Window(_) => true,
        HostValue::Tuple(_) | HostValue::List(_) if depth < 8 => {
            value.items().is_some_and(|items| items.iter().any(|item| of_program(item, depth + 1)))
        }
        HostValue::Dict(items) if depth < 8 => items.borrow().values().any(|(_, item)| of_program(item, depth + 1)),
        HostValue::Bound(bound) if depth < 8 => of_program(&bound.0, depth + 1),
        HostValue::Method(method) if depth < 8 => of_program(&method.0, depth + 1),
        _ => false,
    }
}

/// True for a name or a member of one: evaluating it has no effect.
pub(super) fn is_plain(expr: &Expr) -> bool {
    match expr {
        Expr::Name(_) => true,
        Expr::Attribute(attribute) => is_plain(&attribute.value),
        _ => false,
    }
}

/// The parameters of a builtin where a program is followed; `None` for one that accepts anything, or exists in kernels
/// only.
fn takes(word: &str) -> Option<&'static str> {
    let joins = (word == "task_dummy").then_some("*, deps=");
    joins.or_else(|| super::devices::takes(word)).or_else(|| crate::ops::followed_params(word))
}

/// The arguments of a builtin by parameter name. Arguments that it does not read have no effect in a program, which is
/// reported.
#[derive(Default)]
pub(super) struct Bound<'a> {
    args: ByName<HostValue<'a>>,
    asked: RefCell<Vec<&'static str>>,
}

impl<'a> Bound<'a> {
    /// An argument, if it is given.
    pub fn get(&self, name: &str) -> Option<HostValue<'a>> {
        let found = self.args.iter().find(|(own, _)| *own == name);
        debug_assert!(found.is_some() || self.args.is_empty(), "no parameter `{name}`");
        let (name, value) = found?;
        self.asked.borrow_mut().push(name);
        value.as_ref().map(|(value, _)| value.clone())
    }

    /// The first given argument that was not read, except those that have their default meaning anyway.
    fn unread(&self) -> Option<(&'static str, Span)> {
        let asked = self.asked.borrow();
        self.args.iter().find_map(|(name, value)| {
            let (value, place) = value.as_ref().filter(|_| !asked.contains(name))?;
            let default = match value {
                HostValue::Const(Const::None | Const::Bool(false)) => true,
                HostValue::Const(Const::Member(_, kind)) => &**kind == "ND",
                _ => false,
            };
            (!default).then_some((*name, *place))
        })
    }
}

impl<'a> Host<'a> {
    /// Checks a call whose callee is neither a kernel nor a builtin: an error if its effect on the program is not
    /// known. `None` if it has the same meaning as in any host code.
    pub(super) fn known_callee(&mut self, callee: &HostValue<'a>, call: &'a ExprCall) -> Option<HostValue<'a>> {
        let place = at(&*call.func);
        match callee {
            HostValue::Unknown(why) => {
                let name = shown(&call.func);
                if self.rec().stopped {
                    return None;
                }
                let error =
                    Diagnostic::error("unknown-function", place, format!("`{name}` is called, and is not known"));
                let error = match (why.span.is_empty() || why.span == place, &*call.func) {
                    (true, _) => error.note(format!("it is {}", why.why)),
                    (false, _) => error.also(why.span, why.why.clone()),
                };
                let error = match self.near(&call.func) {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => {
                        error.help("a call that is not known would be left out of the program: define it in this file")
                    }
                };
                Some(self.refuse(error))
            }
            HostValue::Const(_)
            | HostValue::Tuple(_)
            | HostValue::List(_)
            | HostValue::Dict(_)
            | HostValue::Range(..)
            | HostValue::Task(_)
            | HostValue::Device(_)
            | HostValue::Window(_)
            | HostValue::Tensor(_) => {
                let message = format!("`{}` is called, and is not a function", shown(&call.func));
                Some(self.refuse_at("unknown-function", place, message))
            }
            _ => None,
        }
    }

    /// A name of the file that is similar to the called one.
    fn near(&mut self, func: &'a Expr) -> Option<String> {
        let (wanted, names): (String, Vec<String>) = match func {
            Expr::Name(name) => {
                let visible = self.scopes.iter().flat_map(|scope| {
                    let scope = scope.borrow();
                    let callable = scope
                        .iter()
                        .filter(|(_, value)| matches!(value, HostValue::Kernel(_) | HostValue::Function(_)));
                    callable.map(|(name, _)| name.to_string()).collect::<Vec<_>>()
                });
                (name.id.to_string(), visible.collect())
            }
            Expr::Attribute(attribute) => match self.expr(&attribute.value) {
                HostValue::Class(class) => {
                    (attribute.attr.to_string(), class.names.borrow().keys().map(|name| name.to_string()).collect())
                }
                _ => return None,
            },
            _ => return None,
        };
        let base = match func {
            Expr::Attribute(attribute) => format!("{}.", shown(&attribute.value)),
            _ => String::new(),
        };
        slipring_ir::text::nearest(&wanted, names.iter().map(String::as_str)).map(|near| format!("{base}{near}"))
    }

    /// Follows a call of the host in a program.
    pub(in crate::host) fn follow_call(
        &mut self,
        callee: &HostValue<'a>,
        call: &'a ExprCall,
        span: Span,
    ) -> HostValue<'a> {
        let args = self.arguments(call, &[]);
        if self.rec().stopped {
            return unknown(span, "what stopped the program");
        }
        let given: Vec<(Option<Rc<str>>, HostValue<'a>)> =
            args.into_iter().map(|(name, value, _)| (name, value)).collect();
        let fits = match callee {
            HostValue::Function(function) => {
                self.arguments_fit(function.name(), function.parameters(), false, &given, span)
            }
            _ => true,
        };
        if !fits {
            return unknown(span, "what stopped the program");
        }
        let value = self.call_value(callee.clone(), given.clone(), span, &|| shown(&call.func));
        self.call_followed(call, callee, &given, value)
    }

    /// Enters a host helper, whose body is followed.
    pub(in crate::host) fn enter_helper(&mut self, def: &'a StmtFunctionDef) -> bool {
        let functions = &mut self.rec().functions;
        let Some(&(function, _)) = functions.last() else { return false };
        functions.push((function, def));
        true
    }

    /// Leaves a host helper.
    pub(in crate::host) fn leave_helper(&mut self, flow: &Flow<'a>, name: &str, place: Span) {
        self.rec().functions.pop();
        if matches!(flow, Flow::Stop) && !self.rec().stopped {
            match self.out_of_steps() {
                Some(error) => self.refuse(error),
                None => self.refuse_at("raise", place, format!("`{name}` does not complete: it raises")),
            };
        }
    }

    /// `pl.func_attr({…})` in a function that starts kernels.
    pub(super) fn attributes(&mut self, args: &[Arg<'a>], span: Span) -> HostValue<'a> {
        let Some((_, HostValue::Dict(items), place)) = args.first() else {
            return self.refuse_at("function-attr", span, "`pl.func_attr` takes a dict whose entries are known");
        };
        let Some(&(function, _)) = self.rec().functions.last() else { return HostValue::Const(Const::None) };
        let (role, mut attrs) = (self.found[function].role, self.found[function].attrs);
        for (key, value) in items.borrow().values() {
            let constant = if let HostValue::Const(c) = value { Some(c) } else { None };
            let key = key.text().unwrap_or_else(|| "…".into());
            let Some(said) = attrs.take(&key, constant, role, *place) else { continue };
            match said.severity {
                slipring_ir::Severity::Error => return self.refuse(said),
                _ => self.rec().diags.push(said),
            }
        }
        self.found[function].attrs = attrs;
        HostValue::Const(Const::None)
    }

    /// Checks the result of a host call: an error if it is not known and involves a part of the program, or a whole
    /// statement is lost.
    pub(in crate::host) fn call_followed(
        &mut self,
        call: &'a ExprCall,
        callee: &HostValue<'a>,
        given: &[(Option<Rc<str>>, HostValue<'a>)],
        value: HostValue<'a>,
    ) -> HostValue<'a> {
        let HostValue::Unknown(why) = &value else { return value };
        if self.recorder.is_none() || self.rec().stopped {
            return value;
        }
        // Its body was followed.
        if matches!(callee, HostValue::Function(_) | HostValue::Bound(_) | HostValue::Class(_)) {
            return value;
        }
        let name = shown(&call.func);
        let language = matches!(callee, HostValue::Path(path) if path.starts_with("pl.") || path.starts_with("pld."));
        if language
            && let Some((_, HostValue::Unknown(why))) = given.iter().find(|own| matches!(own.1, HostValue::Unknown(_)))
        {
            return HostValue::Unknown(why.clone());
        }
        let takes = given.iter().any(|(_, value)| of_program(value, 0)) || of_program(callee, 0);
        if !takes && !language {
            return value;
        }
        let what = if language {
            "a program that is followed has no such word"
        } else {
            "what it does with the program is not known"
        };
        let error = Diagnostic::error("unknown-function", at(call), format!("`{name}`: {what}"));
        let error = match why.span.is_empty() || at(call).start <= why.span.start && why.span.end <= at(call).end {
            true => error.note(format!("it is {}", why.why)),
            false => error.also(why.span, why.why.clone()),
        };
        self.refuse(error.help("an orchestration starts kernels, and functions of this file that start some"))
    }

    /// Checks an expression statement: an error if its effect is not known.
    pub(super) fn lone_expression(&mut self, expr: &'a Expr) {
        let value = self.expr(expr);
        let HostValue::Unknown(why) = &value else { return };
        if self.rec().stopped {
            return;
        }
        if let Expr::Call(call) = expr {
            match self.plain_value(&call.func) {
                Some(HostValue::Path(path)) if HARMLESS.contains(&path.split('.').next().unwrap_or_default()) => return,
                // The effects of their bodies are followed.
                Some(HostValue::Function(_) | HostValue::Bound(_) | HostValue::Class(_)) => return,
                Some(HostValue::Path(path)) if is_of_python(&path) => return,
                _ => {}
            }
        }
        if self.rec().groups == crate::host::recorder::Groups::Asked {
            return;
        }
        let error = Diagnostic::error(
            slipring_ir::Kind::Unsupported,
            at(expr),
            "what this statement does to the program is not known",
        );
        let error = match why.span.is_empty() || why.span == at(expr) {
            true => error.note(format!("it is {}", why.why)),
            false => error.also(why.span, why.why.clone()),
        };
        self.refuse(error.help("an orchestration starts kernels, and computes with numbers and lists"));
    }

    /// The value of a name or a member of one; `None` for expressions with effects.
    pub(super) fn plain_value(&mut self, expr: &'a Expr) -> Option<HostValue<'a>> {
        is_plain(expr).then(|| self.expr(expr))
    }

    /// An undefined name.
    pub(in crate::host) fn undefined(&mut self, name: &str, span: Span) -> Option<HostValue<'a>> {
        if self.recorder.is_none() || self.rec().stopped || is_of_python(name) {
            return None;
        }
        let error = Diagnostic::error("undefined-name", span, format!("`{name}` is not defined"));
        let visible: Vec<Rc<str>> =
            self.scopes.iter().flat_map(|scope| scope.borrow().keys().cloned().collect::<Vec<_>>()).collect();
        let error = match slipring_ir::text::nearest(name, visible.iter().map(|name| &**name)) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error,
        };
        Some(self.refuse(error))
    }

    /// True if arguments fit the parameters of a function as in Python; otherwise reports it.
    pub(in crate::host) fn arguments_fit(
        &mut self,
        name: &str,
        parameters: Option<&Parameters>,
        bound: bool,
        given: &[(Option<Rc<str>>, HostValue<'a>)],
        span: Span,
    ) -> bool {
        let own: Vec<_> = parameters.iter().flat_map(|own| own.iter_non_variadic_params()).collect();
        let skipped = usize::from(bound);
        let in_order = own
            .iter()
            .filter(|p| parameters.is_some_and(|all| !all.kwonlyargs.iter().any(|own| std::ptr::eq(own, **p))));
        let in_order: Vec<&str> = in_order.map(|p| p.parameter.name.as_str()).skip(skipped).collect();
        let positional = given.iter().filter(|(keyword, _)| keyword.is_none()).count();
        let (open, named) = parameters.map_or((false, false), |own| (own.vararg.is_some(), own.kwarg.is_some()));
        let mut wrong = None;
        if positional > in_order.len() && !open {
            wrong = Some(format!("`{name}` takes {} arguments in order, {positional} are given", in_order.len()));
        }
        for (keyword, _) in given {
            let Some(keyword) = keyword else { continue };
            let known = own.iter().any(|p| p.parameter.name.as_str() == &**keyword);
            if !known && !named {
                wrong.get_or_insert_with(|| format!("`{name}` has no parameter `{keyword}`"));
            } else if in_order.iter().take(positional).any(|own| *own == &**keyword) {
                wrong.get_or_insert_with(|| format!("`{keyword}` of `{name}` is given twice"));
            }
        }
        let mut missing = None;
        for parameter in own.iter().skip(skipped) {
            let wanted = parameter.parameter.name.as_str();
            let by_order = in_order.iter().take(positional).any(|own| *own == wanted);
            let by_name = given.iter().any(|(keyword, _)| keyword.as_deref() == Some(wanted));
            if parameter.default.is_none() && !by_order && !by_name && wrong.is_none() {
                wrong = Some(format!("`{name}` needs `{wanted}`"));
                missing = Some(at(&parameter.parameter));
            }
        }
        match wrong {
            Some(message) => {
                let error = Diagnostic::error("argument", span, message);
                self.refuse(match missing {
                    Some(place) => error.also(place, "declared here"),
                    None => error,
                });
                false
            }
            None => true,
        }
    }

    /// The bound arguments of a builtin, empty for one that accepts anything. `None` after reporting arguments that do
    /// not fit.
    pub(super) fn bound(&mut self, word: &str, args: &[Arg<'a>], span: Span) -> Option<Bound<'a>> {
        let in_order = args.iter().filter(|arg| arg.0.is_none()).map(|arg| (arg.1.clone(), arg.2)).collect();
        let named =
            args.iter().filter_map(|(name, value, place)| Some((name.clone()?, value.clone(), *place))).collect();
        let Some(takes) = takes(word) else { return Some(Bound::default()) };
        match by_name((&spelled(word), takes), in_order, named, span) {
            Ok(args) => Some(Bound { args, asked: RefCell::default() }),
            Err(error) => {
                self.refuse(*error);
                None
            }
        }
    }

    /// Reports an argument that the builtin has in a kernel, but not where a program is followed.
    pub(super) fn all_read(&mut self, word: &str, bound: &Bound<'a>) {
        if let Some((name, place)) = bound.unread().filter(|_| !self.rec().stopped) {
            let message = format!("`{name}` of `{}` outside every kernel", spelled(word));
            let error = Diagnostic::error("argument", place, message);
            self.refuse(error.help("say it in the kernel, where a tile has it"));
        }
    }

    /// True if the keywords of a scope or loop are known; otherwise reports it.
    pub(super) fn keywords_known(&mut self, word: &str, call: &'a ExprCall, known: &[&str]) -> bool {
        for keyword in &call.arguments.keywords {
            let name = keyword.arg.as_ref().map_or("**", |name| name.as_str());
            if known.contains(&name) {
                continue;
            }
            let error = Diagnostic::error("argument", at(keyword), format!("`{word}` has no argument `{name}`"));
            let error = match slipring_ir::text::nearest(name, known.iter().copied()) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error,
            };
            self.refuse(error);
            return false;
        }
        true
    }
}

/// A builtin as files write it.
fn spelled(word: &str) -> String {
    if word.starts_with("pld.") { word.to_string() } else { format!("pl.{word}") }
}
