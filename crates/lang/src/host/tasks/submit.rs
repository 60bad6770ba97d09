//! Submits and calls of kernels.

use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::{Expr, ExprCall};
use slipring_ir::{Diagnostic, Diags, Kind, Span};
use slipring_tasks::graph::PREDICATE;
use slipring_tasks::{Bytes, Origin, Task, Use};
use slipring_tile::Elem;

use super::super::value::{HostValue, Wrapped};
use super::entry::{dispatches, only_starts};
use crate::compiled::ParamInfo;
use crate::dtype::DType;
use crate::host::recorder::{Arg, Groups, Options};
use crate::host::state::Host;
use crate::host::tasks::kernels::Handed;
use crate::host::value::unknown;
use crate::host::view::{View, dense_strides};
use crate::orchestration::{Predicate, TaskArg, TaskCall};
use crate::roles::Role;
use crate::syntax::{at, order_sign};
use crate::value::Const;

/// Options of a submit that are evaluated separately from the arguments.
const APART: &[&str] = &["deps", "predicate", "no_dep_args"];

impl<'a> Host<'a> {
    pub(super) fn submit(&mut self, call: &'a ExprCall, span: Span) -> HostValue<'a> {
        let mut options = self.options(call);
        let mut args = self.arguments(call, APART);
        let many = matches!(&*call.func, Expr::Attribute(a) if a.attr.as_str() == "spmd_submit");
        let mut callee = if args.is_empty() { None } else { Some(args.remove(0)) };
        while let Some((None, HostValue::Wrapped(wrapped), place)) = callee.clone()
            && let Wrapped::Partial(inner, before) = &*wrapped
        {
            let (first, named): (Vec<_>, Vec<_>) = before.iter().cloned().partition(|(name, _)| name.is_none());
            args.splice(0..0, first.into_iter().map(|(_, value)| (None, value, place)));
            for (name, value) in named {
                if !args.iter().any(|(own, ..)| *own == name) {
                    args.push((name, value, place));
                }
            }
            callee = Some((None, inner.clone(), place));
        }
        let Some((None, HostValue::Kernel(kernel), _)) = callee else {
            let error = Diagnostic::error("submit", span, "`pl.submit` takes a kernel first");
            return self.stop(error.help("write `pl.submit(self.kernel, …)`"));
        };
        if many {
            match args.iter().find(|arg| arg.0.as_deref() == Some("core_num")).map(|arg| arg.1.clone()) {
                Some(HostValue::Const(Const::Int(n))) if (1..=4096).contains(&n) => options.blocks = Some(n as u32),
                _ => {
                    return self.stop_at(
                        "submit",
                        span,
                        "`pl.spmd_submit` needs `core_num=`, a number of blocks from 1 to 4096",
                    );
                }
            }
        }
        if !self.dumps_are_arguments(&args) {
            return unknown(span, "what stopped the program");
        }
        args.retain(|arg| {
            let name = arg.0.as_deref();
            !(matches!(name, Some("sync_start" | "dumps" | "allow_early_resolve")) || many && name == Some("core_num"))
        });
        let first = self.rec().graph.tasks.len();
        let (value, task) = self.start(kernel, args, span, options);
        if self.rec().stopped {
            return value;
        }
        // A start of several tasks is complete when all of them are.
        let task = task.unwrap_or_else(|| {
            let after = (first..self.rec().graph.tasks.len()).collect();
            self.join("submit", Options { after, ..Options::default() }, span)
        });
        let mut all = match value {
            HostValue::Tuple(items) => items.to_vec(),
            HostValue::Const(Const::None) => Vec::new(),
            one => vec![one],
        };
        all.push(HostValue::Task(task));
        HostValue::tuple(all)
    }

    /// Requires `dumps=` to list tensor arguments of the kernel.
    fn dumps_are_arguments(&mut self, args: &[Arg<'a>]) -> bool {
        let Some((_, dumps, place)) = args.iter().find(|arg| arg.0.as_deref() == Some("dumps")) else { return true };
        let is_given = |item: &HostValue<'a>| {
            let HostValue::Device(asked) = item else { return false };
            args.iter().any(|arg| matches!(&arg.1, HostValue::Device(own) if own.tensor == asked.tensor))
        };
        if dumps.items().is_some_and(|items| items.iter().all(is_given)) {
            return true;
        }
        let error =
            Diagnostic::error("submit", *place, "`dumps=` lists what is no tensor among this kernel's arguments");
        self.stop(error.help("list arguments of this call"));
        false
    }

    /// `deps=`, `no_dep_args=`, `predicate=`, `sync_start=` of a call.
    pub(super) fn options(&mut self, call: &'a ExprCall) -> Options {
        let mut options = Options::default();
        for keyword in &call.arguments.keywords {
            match keyword.arg.as_ref().map_or("", |name| name.as_str()) {
                "deps" => self.dependencies(&keyword.value, &mut options),
                "no_dep_args" => {
                    if let Some(error) = crate::syntax::wrong_names("no_dep_args", &keyword.value) {
                        self.stop(error);
                        continue;
                    }
                    let list = self.expr(&keyword.value);
                    if list.items().is_none() {
                        self.stop_at("no-dep", at(&keyword.value), "`no_dep_args` is a list of tensors");
                    }
                    for item in list.items().unwrap_or_default() {
                        match item {
                            HostValue::Device(view) => options.untracked.push(view.tensor),
                            _ => drop(self.stop_at("no-dep", at(&keyword.value), "`no_dep_args` is a list of tensors")),
                        }
                    }
                }
                "sync_start" => {
                    let value = self.expr(&keyword.value);
                    match value {
                        HostValue::Const(Const::Bool(boolean)) => options.together = boolean,
                        HostValue::Const(_) => {
                            drop(self.stop_at("argument", at(&keyword.value), "`sync_start` is True or False"));
                        }
                        _ => drop(self.not_known(&value, "`sync_start`", at(&keyword.value))),
                    }
                }
                "allow_early_resolve" => {
                    if matches!(self.expr(&keyword.value), HostValue::Const(value) if !matches!(value, Const::Bool(_)))
                    {
                        self.stop_at("argument", at(&keyword.value), "`allow_early_resolve` is True or False");
                    }
                }
                "predicate" => options.predicate = self.predicate(&keyword.value),
                _ => {}
            }
        }
        options
    }

    /// The list of `deps=`: ids and whole arrays of them, or some of an array's.
    fn dependencies(&mut self, list: &'a Expr, options: &mut Options) {
        let entries: &'a [Expr] = match list {
            Expr::List(list) => &list.elts,
            Expr::Tuple(tuple) => &tuple.elts,
            Expr::Name(_) => {
                let error = Diagnostic::error("deps", at(list), "`deps=` is a list that is written out");
                self.stop(error.help("list what is waited for here: `deps=[task]`, `deps=[ids[k] for k in range(4)]`"));
                return;
            }
            other => return self.dependency(other, options),
        };
        let (mut whole, mut part) = (None, None);
        for entry in entries {
            match entry {
                Expr::Name(name) if self.get(name.id.as_str()).is_some_and(|value| value.items().is_some()) => {
                    whole.get_or_insert(at(entry));
                }
                Expr::Subscript(_) | Expr::ListComp(_) => {
                    part.get_or_insert(at(entry));
                }
                _ => {}
            }
            self.dependency(entry, options);
        }
        if let (Some(whole), Some(part)) = (whole, part) {
            let error = Diagnostic::error("deps", part, "`deps=` lists parts of an array beside a whole one");
            let error = error.also(whole, "all ids of this array are waited for");
            self.stop(error.help("list the array alone, or each of its ids: `deps=[ids[0], ids[1]]`"));
        }
    }

    pub(super) fn dependency(&mut self, entry: &'a Expr, options: &mut Options) {
        if let Expr::Name(name) = entry
            && self.get(name.id.as_str()).is_none()
        {
            options.never.push((name.id.as_str().into(), at(entry)));
            return;
        }
        let value = self.expr(entry);
        let number = matches!(value, HostValue::Const(Const::Int(_) | Const::Float(_) | Const::Bool(_)));
        if number || self.is_scalar_parameter(entry) {
            let error = Diagnostic::error("deps", at(entry), "`deps=` takes ids of tasks, this is a number");
            self.stop(error.help("bind the id of a task: `with pl.at(…) as first:`, `out, first = pl.submit(…)`"));
            return;
        }
        self.depend_on(&value, at(entry), options);
    }

    /// True for the name of a scalar parameter that was not rebound.
    fn is_scalar_parameter(&mut self, entry: &'a Expr) -> bool {
        let Expr::Name(name) = entry else { return false };
        let Some(HostValue::Unknown(why)) = self.get(name.id.as_str()) else { return false };
        let Some(&(_, def)) = self.rec().functions.last() else { return false };
        let mut own = def.parameters.iter_non_variadic_params().map(|own| &own.parameter);
        own.any(|own| own.name.as_str() == name.id.as_str() && why.span == at(own))
    }

    pub(super) fn depend_on(&mut self, value: &HostValue<'a>, span: Span, options: &mut Options) {
        match value {
            HostValue::Task(id) => options.after.push(self.rec().tickets[*id]),
            // An id that no task has: no wait.
            HostValue::Const(Const::None) => {}
            HostValue::List(_) | HostValue::Tuple(_) => {
                value.items().unwrap_or_default().iter().for_each(|item| self.depend_on(item, span, options));
            }
            HostValue::Device(_) => {
                let error = Diagnostic::error("deps", span, "`deps=` takes ids of tasks, this is a tensor");
                self.stop(error.help(
                    "bind the id of the task that writes it: `with pl.at(…) as first:`, `out, first = pl.submit(…)`",
                ));
            }
            other => drop(self.not_known(other, "what this task waits for", span)),
        }
    }

    /// `tensor[indices] OP number`, which is not evaluated here.
    pub(super) fn predicate(&mut self, expr: &'a Expr) -> Option<Predicate> {
        let form = "a predicate is `tensor[indices] OP number`: reduce anything else to one number in a kernel before";
        let Expr::Compare(comparison) = expr else {
            self.stop_at("predicate", at(expr), form);
            return None;
        };
        let ([op], [right], Expr::Subscript(left)) =
            (&comparison.ops[..], &comparison.comparators[..], &*comparison.left)
        else {
            self.stop_at("predicate", at(expr), form);
            return None;
        };
        let Some(op) = order_sign(*op) else {
            self.stop_at("predicate", at(expr), form);
            return None;
        };
        let indices = match self.expr(&left.slice) {
            HostValue::Tuple(items) => items.to_vec(),
            one => vec![one],
        };
        let numbers: Option<Vec<i64>> = indices
            .iter()
            .map(|index| if let HostValue::Const(Const::Int(n)) = index { Some(*n) } else { None })
            .collect();
        match (self.expr(&left.value), numbers, self.expr(right)) {
            (HostValue::Device(view), Some(numbers), HostValue::Const(Const::Int(number)))
                if numbers.len() == view.shape.len() =>
            {
                let inside = numbers.iter().zip(&view.shape).all(|(n, extent)| *n >= 0 && (*n as u64) < *extent);
                if !inside || view.elem.is_float() {
                    self.stop_at(
                        "predicate",
                        at(expr),
                        "a predicate compares a whole number of a tensor, at an index that it has",
                    );
                    return None;
                }
                let element: u64 = numbers.iter().zip(&view.strides).map(|(n, stride)| *n as u64 * stride).sum();
                let offset = (view.offset + element) * view.elem.bytes() as u64;
                Some(Predicate { tensor: view.tensor, offset, op, number, span: at(expr) })
            }
            _ => {
                self.stop_at("predicate", at(expr), form);
                None
            }
        }
    }

    /// Adds a task: returns its index in the list.
    pub(super) fn add(&mut self, call: TaskCall, name: String, uses: Vec<Use>, options: Options, span: Span) -> usize {
        let recorder = self.rec();
        if recorder.graph.tasks.len() >= slipring_tasks::graph::MOST_TASKS {
            let message = format!("more than {} tasks", slipring_tasks::graph::MOST_TASKS);
            self.stop_at("too-many-tasks", span, message);
            return 0;
        }
        let iteration =
            recorder.iterations.iter().map(|(name, n)| format!("{name} = {n}")).collect::<Vec<_>>().join(", ");
        let task = recorder.graph.tasks.len();
        for (name, place) in options.never {
            recorder.later.entry(name).or_default().push((task, place));
        }
        let barrier = recorder.device.and_then(|device| recorder.barriers.get(&device).copied());
        let mut after = options.after;
        after.extend(barrier.filter(|barrier| !after.contains(barrier)));
        let mut uses = uses;
        for own in &mut uses {
            own.tracked &= !options.untracked.contains(&own.tensor);
        }
        if let Some(predicate) = &options.predicate {
            uses.push(read_by(predicate, recorder.graph.tensors[predicate.tensor].elem.bytes() as u64));
        }
        recorder.graph.tasks.push(Task {
            name,
            uses,
            after,
            never: Vec::new(),
            manual: recorder.manual.is_some(),
            blocks: options.blocks.unwrap_or(1),
            together: options.together,
            defers: options.defers,
            dummy: false,
            device: recorder.device.and_then(|device| u32::try_from(device).ok()).unwrap_or(0),
            behind: recorder.behind,
            span,
            iteration,
        });
        recorder.calls.push(TaskCall { predicate: options.predicate, ..call });
        task
    }

    /// Adds an empty task: returns its id.
    pub(super) fn join(&mut self, name: &str, options: Options, span: Span) -> usize {
        let task = self.add(TaskCall::default(), name.into(), Vec::new(), options, span);
        if let Some(own) = self.rec().graph.tasks.get_mut(task) {
            own.dummy = true;
        }
        self.ticket(task)
    }

    /// Starts a function: as a task, or, if it starts kernels itself, by following it. Returns its result, and the
    /// task.
    pub(super) fn start(
        &mut self,
        kernel: usize,
        args: Vec<Arg<'a>>,
        span: Span,
        options: Options,
    ) -> (HostValue<'a>, Option<usize>) {
        let (def, role) = (self.found[kernel].def, self.found[kernel].role);
        let name = def.name.as_str();
        let mut given: Vec<(Rc<str>, HostValue<'a>, Span)> = Vec::new();
        let takes_it = def.parameters.iter_non_variadic_params().any(|p| p.parameter.name.as_str() == "device");
        let (args, device) = self.on_device(args, takes_it);
        let only_asked = self.rec().groups == Groups::Asked && (device.is_some() || matches!(role, Role::Kernel(_)));
        if self.rec().stopped || only_asked {
            return (unknown(span, "what stopped the program"), None);
        }
        if let Some((Some(word), _, place)) = args.iter().find(|arg| {
            let is = |word: &str| def.parameters.iter_non_variadic_params().any(|p| p.parameter.name.as_str() == word);
            arg.0.as_deref().is_some_and(|word| {
                matches!(word, "deps" | "predicate" | "no_dep_args" | "core_num" | "sync_start") && !is(word)
            })
        }) {
            let error = Diagnostic::error("argument", *place, format!("`{name}` has no parameter `{word}`"));
            let what = if &**word == "core_num" { "spmd_submit" } else { "submit" };
            let help = format!("a plain call starts the kernel in one way only: `pl.{what}({name}, …, {word}=…)`");
            return (self.stop(error.help(help)), None);
        }
        let pairs: Vec<_> = args.iter().map(|(name, value, _)| (name.clone(), value.clone())).collect();
        let bound =
            def.parameters.iter_non_variadic_params().next().is_some_and(|p| p.parameter.name.as_str() == "self");
        if !self.arguments_fit(name, Some(&def.parameters), bound, &pairs, span) {
            return (unknown(span, "what stopped the program"), None);
        }
        let mut positional = args.iter().filter(|arg| arg.0.is_none());
        let parameters: Vec<_> =
            def.parameters.iter_non_variadic_params().filter(|p| p.parameter.name.as_str() != "self").collect();
        for parameter in &parameters {
            let wanted = parameter.parameter.name.as_str();
            let named = || args.iter().find(|arg| arg.0.as_deref() == Some(wanted));
            match (positional.next().or_else(named), &parameter.default) {
                (Some((_, value, place)), _) => given.push((wanted.into(), value.clone(), *place)),
                (None, Some(default)) => {
                    let value = self.expr(default);
                    given.push((wanted.into(), value, at(&**default)));
                }
                (None, None) => {
                    let error = Diagnostic::error("argument", span, format!("`{name}` needs `{wanted}`"));
                    return (self.stop(error.also(at(&parameter.parameter), "declared here")), None);
                }
            }
        }
        if role == Role::Host {
            return (self.host_call(def, &given, span), None);
        }
        // A function that the host starts on a device may start kernels there.
        let on_device = device.is_some() && role == Role::Kernel(None) && only_starts(self, kernel);
        if matches!(role, Role::Inline | Role::Starts | Role::Group) || dispatches(self, kernel) || on_device {
            let given = given.into_iter().map(|(name, value, _)| (name, value)).collect();
            if role == Role::Group && self.rec().cluster.is_none() {
                return self.cluster(span, &options, |host| host.follow(kernel, given));
            }
            let first = self.rec().graph.tasks.len();
            let outer = std::mem::replace(&mut self.rec().device, device);
            let value = self.follow(kernel, given);
            self.rec().device = outer;
            let said = self.found[kernel].attrs;
            let options = Options {
                blocks: options.blocks.or(said.blocks),
                together: options.together || said.together,
                ..options
            };
            self.ask(first, &options);
            let tasks = first..self.rec().graph.tasks.len();
            let id = (tasks.len() == 1).then(|| self.ticket(first));
            return (value, id);
        }
        let mut handed = Vec::new();
        for (wanted, value, place) in &given {
            match value {
                HostValue::Device(view) => handed.push((wanted.clone(), Handed::Tensor(view.clone()))),
                HostValue::Const(c @ (Const::Int(_) | Const::Float(_) | Const::Bool(_))) => {
                    handed.push((wanted.clone(), Handed::Number(c.clone())));
                }
                HostValue::Const(Const::None) => handed.push((wanted.clone(), Handed::Nothing)),
                other => {
                    let value = self.not_known(other, &format!("`{wanted}` of `{name}`"), *place);
                    return (value, None);
                }
            }
        }
        let mut diags = Diags::default();
        let compiled = self.rec().kernels.function(kernel, &handed, &mut diags);
        if let (Err(_), Some(at)) = (&compiled, handed.iter().position(|(_, own)| matches!(own, Handed::Nothing)))
            && let Some(first) = diags.list.first_mut()
        {
            let (wanted, _, place) = &given[at];
            let label = slipring_ir::Labeled { span: *place, text: format!("`{wanted}` of `{name}` is None here") };
            first.secondary.push(label);
            let help = "a call returns what its function returns: end the function with `return out`";
            first.help.get_or_insert(help.into());
        }
        self.rec().diags.list.extend(diags.list);
        let Ok(compiled) = compiled else {
            self.rec().stopped = true;
            return (unknown(span, "what could not be compiled"), None);
        };
        let info = self.rec().kernels.list[compiled.kernel].info.clone();
        let (mut call, mut uses) = (TaskCall { kernel: Some(compiled.kernel), ..TaskCall::default() }, Vec::new());
        let mut results: IndexMap<String, HostValue<'a>> = IndexMap::new();
        for param in &info.params {
            let of_param =
                |(wanted, value): &(Rc<str>, Handed)| **wanted == *param.name && !matches!(value, Handed::Nothing);
            let at = handed.iter().position(of_param).unwrap_or(usize::MAX);
            let handed = handed.get(at).map(|(_, value)| value.clone());
            match handed {
                Some(Handed::Tensor(view)) => {
                    let fits =
                        param.shape.as_ref().is_some_and(|shape| *shape == view.shape || view.is_window_of(shape));
                    if !fits || param.elem != view.elem {
                        let show = |shape: &[u64], elem: Elem| {
                            format!("{} {}", crate::value::show(shape), DType::Elem(elem).name())
                        };
                        let message = format!(
                            "`{}` of `{name}` is {}, and is handed {}",
                            param.name,
                            param.shape.as_ref().map_or("a number".into(), |shape| show(shape, param.elem)),
                            show(&view.shape, view.elem)
                        );
                        let error = Diagnostic::error("argument", given[at].2, message);
                        return (self.stop(error.also(compiled.uses[at].2, "declared here")), None);
                    }
                    let (direction, declared, place) = compiled.uses[at];
                    uses.push(Use {
                        tensor: view.tensor,
                        param: param.name.clone(),
                        bytes: view.bytes(),
                        direction,
                        declared,
                        tracked: view.tracked,
                        span: place,
                    });
                    call.args.push(TaskArg::Tensor { tensor: view.tensor, offset: view.first_byte() });
                    let whole = View { tracked: true, ..(*view).clone() };
                    results.insert(param.name.clone(), HostValue::Device(Rc::new(whole)));
                }
                Some(Handed::Number(number)) => match &param.shape {
                    None => call.args.push(TaskArg::Scalar(scalar_text(&number, param.elem))),
                    Some(_) => {
                        let message = format!("`{}` of `{name}` is a tensor, and is handed a number", param.name);
                        return (self.stop_at("argument", given[at].2, message), None);
                    }
                },
                Some(Handed::Nothing) | None => {
                    let (arg, own, view) =
                        self.made(param, info.gives.iter().any(|given| given.param == param.name), span);
                    call.args.push(arg);
                    uses.extend(own);
                    if let Some(view) = view {
                        results.insert(param.name.clone(), HostValue::Device(view));
                    }
                }
            }
        }
        let mut options = options;
        options.blocks = options.blocks.or(Some(info.blocks));
        options.together |= info.together;
        let task = self.add(call, name.to_string(), uses, options, span);
        let mut gives: Vec<HostValue<'a>> = Vec::new();
        for given in &info.gives {
            let whole = results.get(&given.param).cloned().unwrap_or(HostValue::Const(Const::None));
            gives.push(match (whole, &given.part) {
                (HostValue::Device(view), Some(part)) if view.strides == dense_strides(&view.shape) => {
                    let (shape, strides) = (part.shape.clone(), part.strides.clone());
                    HostValue::Device(Rc::new(View {
                        offset: view.offset + part.first,
                        shape,
                        strides,
                        ..(*view).clone()
                    }))
                }
                (_, Some(_)) => {
                    let message = format!("`{name}` returns a part of a tensor that is not contiguous here");
                    self.stop_at(Kind::Unsupported, span, message)
                }
                (whole, None) => whole,
            });
        }
        let value = match &gives[..] {
            [] => HostValue::Const(Const::None),
            [one] => one.clone(),
            _ => HostValue::Tuple(Rc::new(gives)),
        };
        (value, Some(self.ticket(task)))
    }

    /// A tensor that a kernel makes: a new one, or one that it returns.
    pub(super) fn made(
        &mut self,
        param: &ParamInfo,
        given_back: bool,
        span: Span,
    ) -> (TaskArg, Option<Use>, Option<Rc<View>>) {
        let filled = param.direction == crate::compiled::Direction::InOut;
        if let Some(own) = param.given.as_ref().filter(|_| !given_back) {
            return (TaskArg::Own(own.clone()), None, None);
        }
        let number = self.rec().graph.tensors.iter().filter(|tensor| tensor.origin != Origin::Argument).count();
        let shape = param.shape.clone().unwrap_or_default();
        let origin = if filled { Origin::Filled } else { Origin::Created };
        let view =
            self.rec().tensor(&format!("tensor{number}"), param.elem, &shape, origin, span).of_truths(param.truths);
        if filled {
            self.rec().filled[view.tensor].clone_from(&param.given);
        }
        let own = Use {
            tensor: view.tensor,
            param: param.name.clone(),
            bytes: view.bytes(),
            direction: if filled { slipring_tasks::Direction::InOut } else { slipring_tasks::Direction::Out },
            declared: false,
            tracked: true,
            span: Span::default(),
        };
        (TaskArg::Tensor { tensor: view.tensor, offset: 0 }, Some(own), Some(view))
    }
}

/// The use of a predicate: its element is read when the task could start; it adds no edge.
pub(super) fn read_by(predicate: &Predicate, size: u64) -> Use {
    Use {
        tensor: predicate.tensor,
        param: PREDICATE.into(),
        bytes: Bytes::range(predicate.offset, predicate.offset + size),
        direction: slipring_tasks::Direction::In,
        declared: false,
        tracked: false,
        span: predicate.span,
    }
}

/// A scalar of a type in the syntax of the command line.
fn scalar_text(number: &Const, elem: Elem) -> String {
    match number {
        Const::Int(n) => format!("{n}:{elem}"),
        Const::Float(x) => format!("{x:?}:{elem}"),
        Const::Bool(boolean) => boolean.to_string(),
        _ => String::new(),
    }
}
