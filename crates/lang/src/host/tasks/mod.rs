//! Functions that start kernels: their submits become tasks.
//!
//! While a program is followed, the host code is that of its orchestration: builtins of the language have a meaning
//! here, and a value that is needed but not known is an error at its place.
//!
//! | module | subject |
//! |---|---|
//! | `calls` | callees, which must be known, and arguments, which must be accepted |
//! | `cluster` | tasks that run together on one cluster |
//! | `collective` | operations of all devices together, started by the host |
//! | `devices` | several devices, and memory of each |
//! | `direct` | direct accesses of an orchestration to tensors |
//! | `entry` | the function of a file that is a whole program |
//! | `kernels` | the kernels of the tasks, compiled |
//! | `meaning` | semantics of each builtin here |
//! | `pairs` | a kernel for the Cube core and one for the Vector cores, combined |
//! | `statements` | loops, branches, modes |
//! | `words` | calls of builtins, tensors and their parts |
//! | `submit` | submits and calls of kernels |
//! | `scope` | scopes that are tasks |
//! | `uses` | how a compiled kernel accesses its parameters |

mod calls;
mod cluster;
mod collective;
mod devices;
mod direct;
pub(crate) mod entry;
pub(crate) mod kernels;
mod meaning;
mod number;
mod pairs;
mod scope;
mod statements;
mod submit;
mod uses;
mod words;

use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::{Expr, ExprCall, StmtFunctionDef};
use slipring_ir::{Diagnostic, Diags, Kind, Span};
use slipring_tasks::Origin;

use super::value::HostValue;
use crate::compiled::ParamInfo;
use crate::host::recorder::{Options, Recorder};
use crate::host::state::{Flow, Host};
use crate::host::value::unknown;
use crate::host::view::View;
use crate::orchestration::Orchestration;
use crate::roles::Role;
use crate::syntax::at;
use crate::value::Const;

impl<'a> Host<'a> {
    /// Follows a function that starts kernels, for arguments with these shapes and scalars.
    pub(crate) fn record(
        host: &mut Host<'a>,
        entry: usize,
        (params, constants): (&[ParamInfo], Vec<(Rc<str>, Const)>),
        numbers: &[Option<String>],
        mut recorder: Recorder<'a>,
        into: &mut Orchestration,
        diags: &mut Diags,
    ) {
        let def = host.found[entry].def;
        let mut given: Vec<(Rc<str>, HostValue<'a>)> =
            constants.into_iter().map(|(name, constant)| (name, HostValue::Const(constant))).collect();
        for (param, number) in params.iter().zip(numbers) {
            let mut parameters = def.parameters.iter_non_variadic_params();
            let parameter = parameters.find(|own| *own.parameter.name.as_str() == *param.name);
            let span = parameter.map_or(at(&def.name), |own| at(&own.parameter));
            let value = match &param.shape {
                Some(shape) => {
                    let view = recorder.tensor(&param.name, param.elem, shape, Origin::Argument, span);
                    let view = view.of_truths(param.truths);
                    into.tensor_of.push(Some(view.tensor));
                    HostValue::Device(view)
                }
                None => {
                    into.tensor_of.push(None);
                    match number.as_deref().and_then(number_of) {
                        Some(number) => HostValue::Const(number),
                        None => {
                            recorder.waiting.push(span);
                            unknown(span, format!("`{0}`: pass it, `--arg {0}=3:{1}`", param.name, param.elem))
                        }
                    }
                }
            };
            given.push((param.name.as_str().into(), value));
        }
        host.recorder = Some(Box::new(recorder));
        // A function of type Group is one task on one cluster, whoever starts it.
        let place = at(&def.name);
        let result = match host.found[entry].role {
            Role::Group => host.cluster(place, &Options::default(), |host| host.follow(entry, given)).0,
            _ => host.follow(entry, given),
        };
        let said = host.found[entry].attrs;
        host.ask(0, &Options { blocks: said.blocks, together: said.together, ..Options::default() });
        host.alone_in_clusters();
        if let Some(recorder) = host.recorder.take() {
            let Recorder {
                mut graph,
                calls,
                kernels,
                filled,
                diags: own,
                later,
                open,
                asked,
                devices,
                doubtful,
                buffers,
                stopped,
                ..
            } = *recorder;
            if !stopped {
                into.groups = buffers.iter().map(|own| own.group(devices)).collect();
            }
            (into.open, into.by_answers, into.devices, into.doubtful) = (open, asked, devices, doubtful);
            for (name, waits) in later {
                for (task, span) in waits {
                    graph.tasks[task].never.push((name.to_string(), span));
                }
            }
            diags.list.extend(own.list);
            into.graph = graph;
            into.calls = calls;
            into.kernels = kernels.list;
            into.without_unused();
            into.filled = filled;
            into.returned = tensors_in(&result).iter().map(|view| view.piece()).collect();
        }
    }

    /// Reports kernels that share a ring with a kernel that is not started with them.
    fn alone_in_clusters(&mut self) {
        let recorder = self.rec();
        if recorder.stopped {
            return;
        }
        for (task, call) in recorder.graph.tasks.iter().zip(&recorder.calls) {
            let Some(peer) = call.kernel.and_then(|kernel| recorder.kernels.alone(kernel)) else { continue };
            let message = format!("`{}` passes tiles to or from `{peer}`, and is started without it", task.name);
            let error = Diagnostic::error("cluster", task.span, message).note(
                "tasks run one after the other, or on clusters of their own: a ring joins the cores of one cluster",
            );
            recorder.diags.push(error.help("start both in one `with pl.cluster():`, or in a function of type Group"));
            return;
        }
    }

    pub(super) fn rec(&mut self) -> &mut Recorder<'a> {
        self.recorder.as_mut().expect("only while a program is followed")
    }

    /// Reports an error that depends on the text alone, and stops following the program.
    pub(super) fn refuse(&mut self, error: Diagnostic) -> HostValue<'a> {
        let recorder = self.rec();
        let read = std::mem::take(&mut recorder.read);
        let value = self.stop(error);
        self.rec().read = read;
        value
    }

    pub(super) fn refuse_at(&mut self, kind: impl Into<Kind>, span: Span, message: impl Into<String>) -> HostValue<'a> {
        self.refuse(Diagnostic::error(kind, span, message))
    }

    /// Reports an error and stops following the program. After an element was read, the error may depend on the
    /// contents of tensors.
    pub(super) fn stop(&mut self, error: Diagnostic) -> HostValue<'a> {
        let span = error.primary.as_ref().map_or(Span::default(), |label| label.span);
        let recorder = self.rec();
        if !recorder.stopped {
            recorder.stopped = true;
            recorder.doubtful |= recorder.read;
            recorder.diags.push(error);
        }
        unknown(span, "what stopped the program")
    }

    pub(super) fn stop_at(&mut self, kind: impl Into<Kind>, span: Span, message: impl Into<String>) -> HostValue<'a> {
        self.stop(Diagnostic::error(kind, span, message))
    }

    /// Reports an unknown value that has to be known.
    pub(super) fn not_known(&mut self, value: &HostValue<'a>, what: &str, span: Span) -> HostValue<'a> {
        let waits = matches!(value, HostValue::Unknown(why) if self.rec().waiting.contains(&why.span));
        let kind = if waits { Kind::Parameter { of_call: true } } else { Kind::Other("not-known") };
        let error = Diagnostic::error(kind, span, format!("{what} is not known when the tasks are submitted"));
        let error = match value {
            HostValue::Unknown(why) if why.span.is_empty() || why.span == span => {
                error.note(format!("it is {}", why.why))
            }
            HostValue::Unknown(why) => error.also(why.span, why.why.clone()),
            _ => error,
        };
        self.stop(
            error.help("loops, branches and shapes of an orchestration depend on numbers, not on what tensors hold"),
        )
    }

    /// Values of `pl.dynamic` in a function with these tensor arguments: the extents of parameters whose types use it.
    fn dims_of(&mut self, def: &'a StmtFunctionDef, given: &[(Rc<str>, Rc<View>)]) -> IndexMap<Rc<str>, u64> {
        let mut dims = IndexMap::new();
        for parameter in def.parameters.iter_non_variadic_params() {
            let Some((_, view)) = given.iter().find(|(name, _)| **name == *parameter.parameter.name.as_str()) else {
                continue;
            };
            // `pl.Out[pl.Tensor[[M, 64], pl.FP32]]`
            let mut annotation = parameter.parameter.annotation.as_deref();
            let mut shape = None;
            while let Some(Expr::Subscript(subscript)) = annotation {
                match &*subscript.slice {
                    Expr::Tuple(parts) => {
                        shape = parts.elts.first();
                        annotation = None;
                    }
                    inner => annotation = Some(inner),
                }
            }
            let Some(Expr::List(list)) = shape else { continue };
            for (extent, n) in list.elts.iter().zip(&view.shape) {
                if let HostValue::Dynamic(name) = self.expr(extent) {
                    dims.entry(name).or_insert(*n);
                }
            }
        }
        dims
    }

    /// `x.bind_dynamic(0, M)`: names an extent of a tensor; the name has its value from there on.
    pub(super) fn bind_extent(&mut self, view: &View, call: &'a ExprCall, span: Span) -> HostValue<'a> {
        let args = self.arguments(call, &[]);
        let [(None, axis, place), (None, extent, name)] = &args[..] else {
            return self.stop_at("argument", span, crate::lower::signature::BIND_DYNAMIC);
        };
        let n = match axis {
            HostValue::Const(Const::Int(n)) => usize::try_from(*n).ok().and_then(|axis| view.shape.get(axis)).copied(),
            _ => None,
        };
        let Some(n) = n else {
            let message = format!("a tensor {} has no such axis", crate::value::show(&view.shape));
            return self.stop_at("bounds", *place, message);
        };
        match self.extent(extent.clone()) {
            HostValue::Dynamic(own) => {
                self.rec().dims.insert(own, n);
                HostValue::Const(Const::None)
            }
            HostValue::Const(Const::Int(known)) if known == n as i64 => HostValue::Const(Const::None),
            HostValue::Const(Const::Int(known)) => {
                let message = format!("this extent is {n}, and the name stands for {known} already");
                self.stop_at("shapes", span, message)
            }
            _ => self.stop_at("argument", *name, "an extent is a `pl.dynamic`, and this is not one"),
        }
    }

    /// The value of a `pl.dynamic` extent where a program is followed.
    pub(in crate::host) fn extent(&self, value: HostValue<'a>) -> HostValue<'a> {
        match (&value, &self.recorder) {
            (HostValue::Dynamic(name), Some(recorder)) => {
                recorder.dims.get(name).map_or(value.clone(), |n| HostValue::int(*n as i64))
            }
            _ => value,
        }
    }

    /// Follows the body of a function of the language at the level of the orchestration.
    pub(super) fn follow(&mut self, found: usize, given: Vec<(Rc<str>, HostValue<'a>)>) -> HostValue<'a> {
        const MOST_DEPTH: usize = 32;
        let def = self.found[found].def;
        if self.rec().functions.len() >= MOST_DEPTH {
            return self.stop_at("recursion", at(&def.name), format!("more than {MOST_DEPTH} calls inside each other"));
        }
        let given_views: Vec<(Rc<str>, Rc<View>)> = given
            .iter()
            .filter_map(|(name, value)| match value {
                HostValue::Device(view) => Some((name.clone(), view.clone())),
                _ => None,
            })
            .collect();
        let names = super::value::Frame::new(super::value::Kind::Function, given.into_iter().collect());
        if let Some(class) = &self.found[found].class {
            names.borrow_mut().insert("self".into(), HostValue::Class(class.clone()));
        }
        let module = self.found[found].module;
        let mut scopes = self.module_names[module].clone().into_iter().collect::<Vec<_>>();
        scopes.extend(self.found[found].scopes.iter().cloned());
        scopes.push(names);
        let outer = (std::mem::replace(&mut self.scopes, scopes), self.module);
        self.module = module;
        let dims = self.dims_of(def, &given_views);
        let outer_dims = std::mem::replace(&mut self.rec().dims, dims);
        self.rec().functions.push((found, def));
        let yielded = self.rec().yielded.take();
        let flow = self.body(&def.body);
        self.rec().yielded = yielded;
        self.rec().functions.pop();
        self.rec().dims = outer_dims;
        (self.scopes, self.module) = outer;
        match flow {
            Flow::Return(value) => value,
            Flow::Stop if !self.rec().stopped => {
                let raised = self.raised.take();
                match raised.and_then(|raised| self.uncaught(&raised)).or_else(|| self.out_of_steps()) {
                    Some(error) => self.stop(error),
                    None => {
                        let message = format!("`{}` does not complete: it runs too long", def.name);
                        self.stop_at("raise", at(&def.name), message)
                    }
                }
            }
            _ => HostValue::Const(Const::None),
        }
    }
}

/// The integers of a list.
fn extents(value: &HostValue<'_>) -> Option<Vec<u64>> {
    let number = |item: &HostValue<'_>| match item {
        HostValue::Const(Const::Int(n)) => u64::try_from(*n).ok(),
        _ => None,
    };
    value.items()?.iter().map(number).collect()
}

fn tensors_in(value: &HostValue<'_>) -> Vec<Rc<View>> {
    match value {
        HostValue::Device(view) => vec![view.clone()],
        HostValue::Tuple(_) | HostValue::List(_) => {
            value.items().unwrap_or_default().iter().flat_map(tensors_in).collect()
        }
        _ => Vec::new(),
    }
}

fn number_of(text: &str) -> Option<Const> {
    match text {
        "true" => Some(Const::Bool(true)),
        "false" => Some(Const::Bool(false)),
        text => text.parse().ok().map(Const::Int).or_else(|| text.parse().ok().map(Const::Float)),
    }
}
