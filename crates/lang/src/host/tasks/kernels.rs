//! The kernels of the tasks, compiled once for all tasks that differ only in scalars and places.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use ruff_python_ast::{Stmt, StmtFunctionDef};
use slipring_ir::{Diagnostic, Diags, Kind, Source, Span};
use slipring_machine::CoreKind;
use slipring_tasks as tasks;
use slipring_tile::Elem;

use super::number::Number;
use super::uses;
use crate::annotations::direction;
use crate::compiled::{Direction, ParamInfo};
use crate::emit::Emitter;
use crate::forms::NOT_A_TYPE;
use crate::given::constexpr;
use crate::globals::{Function, Globals};
use crate::host::{HostValue, View};
use crate::lower::signature::declare;
use crate::lower::{
    Left, Lower, RegionKind, RegionParam, common, constant_parameter, is_constant, lower_function, lower_region,
    wanted_names,
};
use crate::ops::Language;
use crate::orchestration::TaskKernel;
use crate::passed::Passed;
use crate::roles::Role;
use crate::specialise::Specialised;
use crate::starts::is_scope;
use crate::syntax::{at, head};
use crate::value::{Const, Domain, Value, whole};

/// Shape, strides and type of a tensor argument, the owner if it is a part of memory of all devices, and whether it
/// holds booleans.
type Shape = (Vec<u64>, Vec<u64>, Elem, Option<Domain>, bool);

fn shape_of(view: &View) -> Shape {
    (view.shape.clone(), view.strides.clone(), view.elem, view.domain, view.truths)
}

/// An argument for a kernel parameter.
#[derive(Clone)]
pub(crate) enum Handed {
    Tensor(Rc<View>),
    Number(Const),
    /// `None`.
    Nothing,
}

/// A compiled kernel, and the information that its tasks need.
#[derive(Clone)]
pub(crate) struct Compiled {
    /// Index in the list.
    pub kernel: usize,
    /// For each passed parameter: how the task accesses it, whether it declares that itself, and its place.
    pub uses: Vec<(tasks::Direction, bool, Span)>,
}

/// The numbers that are passed to a scope, and what they are multiples of.
type Units = std::collections::BTreeMap<Rc<str>, u64>;

/// A compiled scope.
#[derive(Clone)]
struct Variant {
    shapes: Vec<Shape>,
    /// Scalars, by name.
    numbers: Vec<(Rc<str>, Number)>,
    /// Other constants.
    constants: Vec<(Rc<str>, Const)>,
    compiled: Compiled,
    left: Rc<Vec<(Rc<str>, Left)>>,
}

/// What a function is compiled for: which one it is, the shapes of what is handed to it, and its constants.
type Key = (usize, Vec<Option<Shape>>, Vec<(Rc<str>, Const)>);

/// A scope of an orchestration.
pub(crate) struct Scope<'a> {
    pub stmt: &'a Stmt,
    /// Index of the function that contains it, and its text.
    pub function: usize,
    pub def: &'a StmtFunctionDef,
    pub name: String,
}

/// A compiled scope, for one task.
pub(crate) struct Ready {
    pub compiled: Compiled,
    /// The tensors that are passed, each once.
    pub views: Vec<Rc<View>>,
    /// Scalars that are passed after them.
    pub numbers: Vec<i64>,
    /// Values of the names that the scope binds, after it.
    pub left: Rc<Vec<(Rc<str>, Left)>>,
}

/// The kernels of a program.
pub(crate) struct Kernels<'a> {
    source: Arc<Source>,
    globals: Globals<'a>,
    names: Vec<Rc<str>>,
    pub list: Vec<TaskKernel>,
    functions: Vec<(Key, Compiled)>,
    scopes: IndexMap<Span, Vec<Variant>>,
    /// Pairs that run together: the two kernels, names of the second one's parameters, and the combined kernel.
    pub(super) pairs: Vec<((usize, usize), Vec<String>, usize)>,
}

/// Values of names.
type Named<'n, T> = &'n [(Rc<str>, T)];

impl<'a> Kernels<'a> {
    pub fn new(source: Arc<Source>, globals: Globals<'a>, names: Vec<Rc<str>>) -> Kernels<'a> {
        Kernels {
            source,
            globals,
            names,
            list: Vec::new(),
            functions: Vec::new(),
            scopes: IndexMap::new(),
            pairs: Vec::new(),
        }
    }

    /// Records the number of clusters or Vector cores.
    pub fn know(&self, vector_cores: bool, number: u64) {
        self.globals.cores[usize::from(vector_cores)].set(Some(number));
    }

    /// The line number of a place.
    pub fn line(&self, span: Span) -> usize {
        self.source.line_column(span.start).0
    }

    fn fresh(&self) -> Emitter {
        // The limit on lowered statements applies to the kernels of each task separately.
        self.globals.lowered.set(0);
        self.globals.unrolled.set(0);
        Emitter::new(self.source.clone())
    }

    /// Compiles a function as the kernel of a task.
    ///
    /// # Errors
    /// After reporting why it cannot be one.
    pub fn function(&mut self, found: usize, handed: &[(Rc<str>, Handed)], diags: &mut Diags) -> Result<Compiled, ()> {
        let shapes: Vec<Option<Shape>> = handed
            .iter()
            .map(|(_, value)| if let Handed::Tensor(view) = value { Some(shape_of(view)) } else { None })
            .collect();
        let name = self.names[found].clone();
        let function = self.globals.functions.get(&name);
        // A constant is compiled in.
        let constant = |(wanted, value): &(Rc<str>, Handed)| {
            let (function, Handed::Number(number)) = (function?, value) else { return None };
            let parameter = function.def.parameters.iter_non_variadic_params();
            let mut own = parameter.filter(|own| *own.parameter.name.as_str() == **wanted);
            let is_constant = own.any(|own| is_constant(&self.globals, &function.scope, own));
            is_constant.then(|| (wanted.clone(), number.clone()))
        };
        let key = (found, shapes, handed.iter().filter_map(constant).collect::<Vec<_>>());
        if let Some((_, known)) = self.functions.iter().find(|(own, _)| *own == key) {
            return Ok(known.clone());
        }
        let Some(mut function) = function.cloned() else {
            let error = slipring_ir::Diagnostic::error(
                slipring_ir::Kind::Unsupported,
                Span::default(),
                format!("`{name}` of another module"),
            );
            diags.push(error.help("let Python run the file, `python -m slipring COMMAND FILE`, or define the kernel in the file of the program"));
            return Err(());
        };
        for (name, number) in &key.2 {
            function.scope.insert(constexpr(name), Value::Const(number.clone()));
        }
        let kind = match function.role {
            Role::Kernel(kind) => kind,
            _ => None,
        };
        let (emitter, op, info) = self.lowered(&function, kind, handed, diags)?;
        let written = uses::used(&emitter.module, op);
        let mut all = Vec::new();
        for (at, (name, _)) in handed.iter().enumerate() {
            let parameter =
                function.def.parameters.iter_non_variadic_params().find(|p| p.parameter.name.as_str() == &**name);
            let annotation = parameter.and_then(|p| p.parameter.annotation.as_deref());
            let said = annotation.map_or(Direction::In, |own| direction(&self.globals, &function.scope, own).0);
            let said = match said {
                Direction::In if self.globals.is_written(&function.name, name) => Direction::InOut,
                said => said,
            };
            let said = match said {
                Direction::In => tasks::Direction::In,
                Direction::Out => tasks::Direction::Out,
                Direction::InOut => tasks::Direction::InOut,
            };
            let place = parameter.map_or(Span::default(), at_of);
            let _ = written.get(at);
            all.push((said, true, place));
        }
        let mut module = emitter.module;
        slipring_op::function::mark_entry(&mut module, op);
        self.list.push(TaskKernel { module, info });
        let compiled = Compiled { kernel: self.list.len() - 1, uses: all };
        self.functions.push((key, compiled.clone()));
        Ok(compiled)
    }

    fn lowered(
        &self,
        function: &Function<'a>,
        kind: Option<CoreKind>,
        handed: &[(Rc<str>, Handed)],
        diags: &mut Diags,
    ) -> Result<(Emitter, slipring_ir::OpId, crate::compiled::KernelInfo), ()> {
        let mut written: BTreeSet<usize> = BTreeSet::new();
        loop {
            let mut given = Specialised::new();
            for (at, (name, value)) in handed.iter().enumerate() {
                let passed = match value {
                    Handed::Tensor(view) => Passed::Part {
                        shape: view.shape.clone(),
                        elem: view.elem,
                        strides: view.strides.clone(),
                        written: written.contains(&at),
                        domain: view.domain,
                    },
                    Handed::Number(number) => Passed::Number(number.clone()),
                    Handed::Nothing => Passed::Number(Const::None),
                };
                given.insert(name.clone(), passed);
            }
            let mut emitter = self.fresh();
            let mut own = Diags::default();
            let outcome = lower_function(&mut emitter, (&self.globals, &Language), function, kind, &given, &mut own);
            // A written input is detected when the tasks run: it shows its effect on their order there.
            let inputs: Vec<usize> = (0..handed.len())
                .filter(|at| {
                    let read_only = Kind::ReadOnly { name: (&*handed[*at].0).into() };
                    !written.contains(at) && own.list.iter().any(|said| said.kind == read_only)
                })
                .collect();
            if !inputs.is_empty() {
                written.extend(inputs);
                continue;
            }
            // Tasks share outputs: what one of them does not write another one writes.
            own.list.retain(|message| !matches!(message.kind, Kind::OutputInPart(_)));
            match outcome {
                Ok((op, info)) => {
                    crate::whole::check_values(&emitter.module, op, &mut own);
                    let failed = own.has_errors();
                    add(diags, own);
                    return if failed { Err(()) } else { Ok((emitter, op, info)) };
                }
                Err(_) => {
                    crate::whole::given_up(&function.name, at(&function.def.name), &mut own);
                    add(diags, own);
                    return Err(());
                }
            }
        }
    }

    /// Compiles a scope as the kernel of a task. `seen` are the values of the surrounding names that it reads.
    ///
    /// # Errors
    /// After reporting the errors in it.
    pub fn scope(
        &mut self,
        scope: &Scope<'a>,
        seen: &[(Rc<str>, HostValue<'a>)],
        diags: &mut Diags,
    ) -> Result<Ready, ()> {
        let name_of = |at: usize| self.names[at].clone();
        let mut views: Vec<Rc<View>> = Vec::new();
        let mut params: Vec<(Rc<str>, usize)> = Vec::new();
        let mut numbers: Vec<(Rc<str>, i64)> = Vec::new();
        let mut constants: Vec<(Rc<str>, Const)> = Vec::new();
        let mut env = crate::globals::Scope::new();
        for (name, value) in seen {
            match value {
                HostValue::Const(Const::Int(n)) => numbers.push((name.clone(), *n)),
                HostValue::Const(c) => constants.push((name.clone(), c.clone())),
                HostValue::Device(_) | HostValue::List(_) | HostValue::Tuple(_) => {
                    let value = tensors(value, name, &mut views, &mut params);
                    env.insert(name.clone(), value.unwrap_or_else(|| seen_value(seen, name).to_value(&name_of)));
                }
                other => drop(env.insert(name.clone(), other.to_value(&name_of))),
            }
        }
        let shapes: Vec<Shape> = views.iter().map(|view| shape_of(view)).collect();
        let key = at(scope.stmt);
        let same = |variant: &&Variant| {
            variant.shapes == shapes
                && variant.constants == constants
                && variant.numbers.len() == numbers.len()
                && variant
                    .numbers
                    .iter()
                    .zip(&numbers)
                    .all(|((name, number), (own, n))| name == own && number.takes(*n))
        };
        let ready = |variant: &Variant, views: Vec<Rc<View>>| Ready {
            compiled: variant.compiled.clone(),
            views,
            numbers: variant
                .numbers
                .iter()
                .zip(&numbers)
                .filter(|((_, number), _)| matches!(number, Number::Passed { .. }))
                .map(|(_, (_, n))| *n)
                .collect(),
            left: variant.left.clone(),
        };
        let known = self.scopes.get(&key).map_or(&[][..], |list| &list[..]);
        if let Some(variant) = known.iter().find(same) {
            return Ok(ready(variant, views));
        }
        // Values that differ from those of the first task of this scope may be passed instead of compiled in.
        let first = known.iter().find(|variant| variant.shapes == shapes && variant.constants == constants);
        let open: Units = first.map_or_else(Units::new, |first| {
            let differs = |(name, n): &&(Rc<str>, i64)| {
                first.numbers.iter().any(|(known, number)| known == name && *number != Number::Fixed(*n))
            };
            // Parts side by side begin at multiples of their size.
            let unit = |(name, n): &(Rc<str>, i64)| {
                let known = known.iter().filter_map(|variant| {
                    let (_, number) = variant.numbers.iter().find(|(own, _)| own == name)?;
                    Some(number.unit())
                });
                (name.clone(), known.fold(n.unsigned_abs(), common))
            };
            numbers.iter().filter(differs).map(unit).collect()
        });
        let made = [open, Units::new()].into_iter().enumerate().find_map(|(attempt, open)| {
            let mut own = Diags::default();
            let variant = self.compile(scope, (&views, &params), (&numbers, &constants, &open), env.clone(), &mut own);
            let last = attempt == 1;
            match variant {
                Ok(variant) => {
                    add(diags, own);
                    Some(variant)
                }
                Err(()) => {
                    if last {
                        add(diags, own);
                    }
                    None
                }
            }
        });
        let Some(variant) = made else { return Err(()) };
        let result = ready(&variant, views);
        self.scopes.entry(key).or_default().push(variant);
        Ok(result)
    }

    fn compile(
        &mut self,
        scope: &Scope<'a>,
        (views, names): (&[Rc<View>], Named<'_, usize>),
        (numbers, constants, open): (Named<'_, i64>, Named<'_, Const>, &Units),
        seen: crate::globals::Scope,
        diags: &mut Diags,
    ) -> Result<Variant, ()> {
        let within = self.names[scope.function].clone();
        let mut env =
            self.globals.functions.get(&within).map_or_else(Default::default, |function| function.scope.clone());
        env.extend(seen);
        for (name, value) in constants {
            env.insert(name.clone(), Value::Const(value.clone()));
        }
        for (name, n) in numbers.iter().filter(|(name, _)| !open.contains_key(name)) {
            env.insert(name.clone(), Value::Const(Const::Int(*n)));
        }
        let wanted = wanted_names(&scope.def.body, &is_scope);
        let mut directions = vec![Direction::InOut; views.len()];
        let mut round = 0;
        loop {
            let mut params = Vec::new();
            for (at, view) in views.iter().enumerate() {
                let name = names
                    .iter()
                    .find(|(_, own)| *own == at)
                    .map_or_else(|| Rc::from(format!("tensor{at}")), |(name, _)| name.clone());
                let (shape, strides, elem, domain, truths) = shape_of(view);
                let kind = RegionKind::Tensor { shape, strides, elem, direction: directions[at], domain, truths };
                params.push(RegionParam { name, kind, span: at_span(scope.stmt) });
            }
            for (name, unit) in numbers.iter().filter_map(|(name, _)| open.get_key_value(name)) {
                let kind = RegionKind::Int { unit: *unit };
                params.push(RegionParam { name: name.clone(), kind, span: at_span(scope.stmt) });
            }
            let mut emitter = self.fresh();
            let mut own = Diags::default();
            let number = if self.list.iter().any(|kernel| kernel.info.name == scope.name) {
                format!("_{}", self.list.len())
            } else {
                String::new()
            };
            let name = format!("{}{number}", scope.name);
            let outcome = lower_region(
                &mut emitter,
                (&self.globals, &Language),
                (&name, &within),
                (env.clone(), &params),
                (scope.stmt, &wanted),
                &mut own,
            );
            let Ok((op, info, left)) = outcome else {
                crate::whole::given_up(&scope.name, at_span(scope.stmt), &mut own);
                add(diags, own);
                return Err(());
            };
            crate::whole::check_values(&emitter.module, op, &mut own);
            if own.has_errors() {
                add(diags, own);
                return Err(());
            }
            let used = uses::used(&emitter.module, op);
            let found: Vec<Direction> = (0..views.len())
                .map(|at| match used.get(at).copied().flatten() {
                    None | Some(tasks::Direction::In) => Direction::In,
                    Some(tasks::Direction::Out) => Direction::Out,
                    Some(tasks::Direction::InOut) => Direction::InOut,
                })
                .collect();
            round += 1;
            if found != directions && round < 3 && found.contains(&Direction::In) {
                // Compiled again: inputs are loaded once, and need no order with writes. An output of a scope is a part
                // of a tensor that others may have written.
                directions = found
                    .iter()
                    .map(|own| if *own == Direction::In { Direction::In } else { Direction::InOut })
                    .collect();
                if round == 1 {
                    continue;
                }
            }
            add(diags, own);
            let uses = (0..views.len())
                .map(|at| (used.get(at).copied().flatten().unwrap_or(tasks::Direction::In), false, Span::default()))
                .collect();
            let mut module = emitter.module;
            slipring_op::function::mark_entry(&mut module, op);
            self.list.push(TaskKernel { module, info });
            return Ok(Variant {
                shapes: views.iter().map(|view| shape_of(view)).collect(),
                numbers: numbers
                    .iter()
                    .map(|(name, n)| {
                        let passed = open.get(name).map(|unit| Number::Passed { unit: *unit });
                        (name.clone(), passed.unwrap_or(Number::Fixed(*n)))
                    })
                    .collect(),
                constants: constants.to_vec(),
                compiled: Compiled { kernel: self.list.len() - 1, uses },
                left: Rc::new(left),
            });
        }
    }
}

fn at_span(stmt: &Stmt) -> Span {
    head(stmt)
}

fn at_of(parameter: &ruff_python_ast::ParameterWithDefault) -> Span {
    at(&parameter.parameter)
}

fn add(diags: &mut Diags, more: Diags) {
    for message in more.list {
        if !diags.list.contains(&message) {
            diags.push(message);
        }
    }
}

fn seen_value<'s, 'a>(seen: &'s [(Rc<str>, HostValue<'a>)], name: &Rc<str>) -> &'s HostValue<'a> {
    seen.iter().find(|(own, _)| own == name).map(|(_, value)| value).expect("it is one of them")
}

/// A value with tensors in it as a scope sees it; each tensor becomes a parameter. `None` if it contains none.
fn tensors(
    value: &HostValue<'_>,
    name: &str,
    views: &mut Vec<Rc<View>>,
    params: &mut Vec<(Rc<str>, usize)>,
) -> Option<Value> {
    match value {
        HostValue::Device(view) => {
            let alike = |own: &Rc<View>| {
                own.tensor == view.tensor && own.offset == view.offset && shape_of(own) == shape_of(view)
            };
            let position = views.iter().position(alike).unwrap_or_else(|| {
                views.push(view.clone());
                params.push((name.into(), views.len() - 1));
                views.len() - 1
            });
            Some(Value::Tensor(whole(position, view.elem, &view.shape)))
        }
        HostValue::List(_) | HostValue::Tuple(_) => {
            let items = value.items()?;
            if !items.iter().any(has_tensor) {
                return None;
            }
            let each = items.iter().enumerate().map(|(at, item)| {
                let name = format!("{name}{at}");
                tensors(item, &name, views, params).unwrap_or_else(|| item.to_value(&|at| format!("{at}").into()))
            });
            Some(Value::Tuple(each.collect()))
        }
        _ => None,
    }
}

fn has_tensor(value: &HostValue<'_>) -> bool {
    match value {
        HostValue::Device(_) => true,
        HostValue::List(_) | HostValue::Tuple(_) => value.items().is_some_and(|items| items.iter().any(has_tensor)),
        _ => false,
    }
}

/// The parameters of a whole program.
#[derive(Default)]
pub(crate) struct Parameters {
    /// Those that are passed, in order.
    pub passed: Vec<ParamInfo>,
    /// Those that are constants of the program, by their names.
    pub constants: Vec<(Rc<str>, Const)>,
}

/// The parameters of a whole program.
pub(crate) fn parameters(
    source: &Arc<Source>,
    globals: &Globals<'_>,
    function: &Function<'_>,
    given: &Specialised,
    diags: &mut Diags,
) -> Option<Parameters> {
    let mut emitter = Emitter::new(source.clone());
    let op =
        emitter.make(&slipring_mlir::func::FUNC, &[], &[("sym_name", slipring_ir::Attr::Str("entry".into()))], &[]);
    let body = emitter.region(op);
    emitter.enter_function(body);
    let mut lower = Lower::new(&mut emitter, (globals, &Language), diags);
    lower.names.env = function.scope.clone();
    let mut own = Parameters::default();
    for parameter in function.def.parameters.iter_non_variadic_params() {
        let name = parameter.parameter.name.as_str();
        if name == "self" {
            continue;
        }
        if let Some(value) = constant_parameter(&mut lower, parameter) {
            match value.ok()? {
                Value::Const(constant) => own.constants.push((name.into(), constant)),
                other => {
                    let what = crate::lower::describe(&lower, &other);
                    let message = format!("the constant `{name}` of a program is a number or a string, not {what}");
                    lower.report(Diagnostic::error(NOT_A_TYPE, at(&parameter.parameter), message));
                    return None;
                }
            }
            continue;
        }
        let (info, _) = declare(&mut lower, &parameter.parameter, body, given.get(name), false).ok()?;
        own.passed.push(info);
    }
    Some(own)
}
