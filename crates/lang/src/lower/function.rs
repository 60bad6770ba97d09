//! Functions: kernels, and functions that are inlined into the kernels that call them.

use ruff_python_ast::{Expr, Stmt};
use slipring_ir::{Attr, Diagnostic, Diags, FuncType, Kind, OpId, Reported, Span, Type, ValueId};
use slipring_machine::CoreKind;
use slipring_mlir::func;
use slipring_op::function::{ask_slots, ask_split, set_both_lanes, set_kernel_kind};
use slipring_op::ring::set_reserved_space;
use slipring_tile::{Elem, Space};

use super::lowering::{Lower, Lowered, Words, describe};
use super::made::with_made_tiles;
use super::names::Names;
use super::signature::{annotated, annotated_as, check_result, check_said, declare, tensor_parameter};
use super::state::Facts;
use crate::attrs::FunctionAttrs;
use crate::compiled::{Direction, KernelInfo, ParamInfo, Returned, Strided};
use crate::emit::Emitter;
use crate::given::{CONSTEXPR, constexpr};
use crate::globals::{Function, Globals};
use crate::params::Given;
use crate::passed::Passed;
use crate::specialise::{Specialised, needs_arguments};
use crate::syntax::at;
use crate::value::{Const, Index, Tensor, TileId, Value, dense};

/// The maximum depth of nested calls.
const MOST_CALLS: usize = 32;

/// Lowers a kernel to a function of the module. If an opaque function turns out to write parameters without declaring
/// it, it is lowered again.
pub(crate) fn lower_function(
    emitter: &mut Emitter,
    (globals, words): (&Globals<'_>, &'static dyn Words),
    function: &Function<'_>,
    kind: Option<CoreKind>,
    given: &Specialised,
    diags: &mut Diags,
) -> Result<(OpId, KernelInfo), Reported> {
    loop {
        let (known, said) = (globals.written_in(&function.name), diags.list.len());
        let outcome = with_made_tiles(globals, diags, |diags| {
            lower_once(emitter, (globals, words), function, kind, given, diags)
        });
        if globals.written_in(&function.name) == known {
            return outcome;
        }
        diags.list.truncate(said);
    }
}

fn lower_once(
    emitter: &mut Emitter,
    (globals, words): (&Globals<'_>, &'static dyn Words),
    function: &Function<'_>,
    kind: Option<CoreKind>,
    given: &Specialised,
    diags: &mut Diags,
) -> Result<(OpId, KernelInfo), Reported> {
    let def = function.def;
    let head = Span::new(at(&def.name).start.saturating_sub(4), at(&def.name).end);
    emitter.span = head;
    emitter.block = emitter.module.top;
    let name = &*function.name;
    let op = emitter.make(&func::FUNC, &[], &[("sym_name", Attr::Str(name.into()))], &[]);
    emitter.module.op_mut(op).loc = None;
    let body = emitter.region(op);
    emitter.enter_function(body);
    let mut lower = Lower::new(emitter, (globals, words), diags);
    lower.names.env = function.scope.clone();
    lower.open.blocks.push(body);
    lower.open.calls.push(name.into());
    lower.facts.kind = kind;
    lower.opaque = function.attrs.opaque.then(|| function.name.clone());
    lower.says(&function.attrs);
    let mut params = Vec::new();
    let mut types = Vec::new();
    let mut outcome = Ok(());
    let mut seen: Vec<&str> = Vec::new();
    for parameter in def.parameters.iter_non_variadic_params() {
        let name = parameter.parameter.name.as_str();
        if name == "self" {
            continue;
        }
        if seen.contains(&name) {
            let span = at(&parameter.parameter.name);
            outcome = Err(lower.error("duplicate", span, format!("a second parameter `{name}`")));
            continue;
        }
        seen.push(name);
        if let Some(Passed::Number(Const::None)) = given.get(name) {
            // No argument: uses of the parameter report it.
            lower.names.env.insert(name.into(), Value::Const(Const::None));
            continue;
        }
        if let Some(value) = constant_parameter(&mut lower, parameter) {
            match value {
                Ok(value) => drop(lower.names.env.insert(name.into(), value)),
                Err(reported) => {
                    lower.names.poisoned.insert(name.into());
                    outcome = Err(reported);
                }
            }
            continue;
        }
        let written = lower.globals.is_written(&function.name, name);
        match declare(&mut lower, &parameter.parameter, body, given.get(name), written) {
            Ok((info, ty)) => {
                params.push(info);
                types.push(ty);
            }
            Err(reported) => {
                lower.names.poisoned.insert(name.into());
                outcome = Err(reported);
            }
        }
    }
    if outcome.is_err() && needs_arguments(lower.globals, function, given) {
        return Err(Reported);
    }
    if let Some(extra) = def.parameters.vararg.as_ref().or(def.parameters.kwarg.as_ref()) {
        outcome = Err(lower.unsupported(at(&**extra), "`*` and `**` among a kernel's parameters"));
    }
    lower.outcome.results = def.returns.as_deref().map_or_else(Vec::new, |returns| match returns {
        Expr::Subscript(subscript) if !subscript.slice.is_tuple_expr() => vec![returns.clone()],
        Expr::Subscript(subscript) if subscript.value.is_name_expr() => match &*subscript.slice {
            Expr::Tuple(tuple) => tuple.elts.clone(),
            _ => Vec::new(),
        },
        Expr::Tuple(tuple) => tuple.elts.clone(),
        other => vec![other.clone()],
    });
    for result in lower.outcome.results.clone() {
        outcome = check_result(&mut lower, &result).and(outcome);
    }
    lower.body(&def.body).and(outcome)?;
    lower.check_lane_questions()?;
    if let Some(span) = lower.facts.defers {
        return Err(lower.report(deferred(span, "stands in a function of its own here")));
    }
    lower.check_hand_ends()?;
    if kind.is_none() && lower.facts.pipe_end.is_none() {
        // Functions for one kind of core are parts of a kernel.
        lower.check_outputs();
    }
    lower.end_body(head, &mut params, &mut types);
    let gives = std::mem::take(&mut lower.outcome.gives);
    let facts = lower.facts.clone();
    if let Some((CoreKind::Cube, _)) = facts.pipe_end {
        for reserve in &facts.reserved {
            set_reserved_space(&mut emitter.module, *reserve, Space::Mat);
        }
    }
    put_function(emitter, op, types, &facts);
    if let Some(kind) = kind.or(facts.pipe_end.map(|(kind, _)| kind)) {
        set_kernel_kind(&mut emitter.module, op, kind);
    }
    if let Some(both) = facts.both_lanes {
        set_both_lanes(&mut emitter.module, op, both);
    }
    let (blocks, together) = (facts.blocks.unwrap_or(1), facts.together);
    Ok((op, KernelInfo { name: name.to_string(), params, blocks, together, defers: false, gives }))
}

/// The value of a parameter that is known at compile time: `TILE: pl.constexpr = 64`, or a scalar that is specialised
/// for the passed value. `None` for others.
pub(crate) fn constant_parameter(
    lower: &mut Lower<'_>,
    parameter: &ruff_python_ast::ParameterWithDefault,
) -> Option<Lowered> {
    let name = parameter.parameter.name.as_str();
    if let Some(value) = lower.names.env.get(&constexpr(name)) {
        return Some(Ok(value.clone()));
    }
    if !is_constant(lower.globals, &lower.names.env, parameter) {
        return None;
    }
    if let Some(value) = lower.globals.get(name).filter(|value| matches!(value, Value::Const(_))) {
        return Some(Ok(value));
    }
    let Some(default) = &parameter.default else {
        let span = at(&parameter.parameter.name);
        let error = Diagnostic::error(
            Kind::Parameter { of_call: true },
            span,
            format!("`{name}` is a constant without a value"),
        )
        .help(format!(
            "give it a default, `{name}: pl.constexpr = 64`, or a value: `--set {name}=64`, in Python `{name}=64`"
        ));
        return Some(Err(lower.report(error)));
    };
    Some(lower.expr(default))
}

/// True for a parameter that is a constant: `TILE: pl.constexpr`.
pub(crate) fn is_constant(
    globals: &Globals<'_>,
    scope: &crate::globals::Scope,
    parameter: &ruff_python_ast::ParameterWithDefault,
) -> bool {
    let annotation = parameter.parameter.annotation.as_deref();
    annotation.is_some_and(|own| crate::globals::path_of(globals, scope, own).as_deref() == Some(CONSTEXPR))
}

/// Appends a function whose body is complete: its type, and the facts of its body.
pub(super) fn put_function(emitter: &mut Emitter, op: OpId, types: Vec<Type>, facts: &Facts) {
    emitter.module.set_function_type(op, FuncType { inputs: types, results: Vec::new() });
    if let Some((split, _)) = facts.divided() {
        ask_split(&mut emitter.module, op, Some(split as i64));
    }
    if let Some(n) = facts.slot_num {
        ask_slots(&mut emitter.module, op, Some(n));
    }
    let top = emitter.module.top;
    emitter.module.append(top, op);
}

impl Lower<'_> {
    /// Applies the attributes of a function.
    pub fn says(&mut self, attrs: &FunctionAttrs) {
        self.facts.split = attrs.split.or(self.facts.split);
        self.facts.ends = attrs.ends.or(self.facts.ends);
        self.facts.slot_num = attrs.slots.or(self.facts.slot_num);
        self.facts.blocks = attrs.blocks.or(self.facts.blocks);
        self.facts.both_lanes = attrs.both_lanes.or(self.facts.both_lanes);
        self.facts.together |= attrs.together;
        self.facts.exact_slices |= attrs.exact_slices;
        self.facts.shapes_said |= attrs.shapes_said;
    }

    /// Ends the body of a function; returned tiles become parameters after the others.
    pub(super) fn end_body(&mut self, head: Span, params: &mut Vec<ParamInfo>, types: &mut Vec<Type>) {
        self.e.span = head;
        let end = self.e.op(&func::RETURN, &[], &[], &[]);
        self.e.module.op_mut(end).loc = None;
        for (info, ty) in std::mem::take(&mut self.outcome.returned) {
            if info.given.is_some() && self.left_out(&info.name) {
                continue;
            }
            params.push(info);
            types.push(ty);
        }
    }

    /// Removes an unused tensor of the kernel's own that is not returned either, such as one whose name became an
    /// accumulator's; false if it is used.
    fn left_out(&mut self, name: &str) -> bool {
        let root = self.facts.created.iter().find_map(|(_, value)| match value {
            Value::Tensor(own) if *self.tensors.roots[own.root].name == *name => Some(&self.tensors.roots[own.root]),
            _ => None,
        });
        let Some((pointer, view)) = root.map(|root| (root.pointer, root.view)) else { return false };
        let Some(op) = self.e.module.defining_op(view) else { return false };
        let takes = |own: &OpId, value: ValueId| self.e.module.op(*own).operands.contains(&value);
        let body = self.e.module.walk(self.open.blocks[0]);
        let used = body.iter().any(|own| takes(own, view) || *own != op && takes(own, pointer));
        if used || self.outcome.gives.iter().any(|given| given.param == name) {
            return false;
        }
        self.e.module.remove(op);
        self.e.module.remove_arg(self.open.blocks[0], pointer);
        true
    }

    /// Reports lane queries where there is no lane: outside regions, only functions that push and pop themselves know
    /// that the other lane runs too.
    fn check_lane_questions(&mut self) -> Lowered<()> {
        if self.facts.pipe_end.is_some() || !self.facts.hand_ends.is_empty() {
            return Ok(());
        }
        let mut outcome = Ok(());
        for span in std::mem::take(&mut self.facts.lane_questions) {
            let message = "`get_subblock_idx` is outside every region";
            let mut error = Diagnostic::error("lane-outside", span, message)
                .label("only one Vector core runs here, and its number is 0");
            if let Some((_, split)) = self.facts.divided() {
                error = error.also(split, "the automatic split divides tiles by itself: the text has no lanes");
            }
            let help =
                "say where both Vector cores run: `for lane in pl.split_aiv(2, mode=…):`, which binds the number";
            outcome = Err(self.report(error.help(help)));
        }
        outcome
    }

    /// Calls a function of the file: inlines its body.
    pub(super) fn call_function(&mut self, name: &str, given: Given, span: Span) -> Lowered {
        let Some(function) = self.globals.functions.get(name).cloned() else {
            let error =
                Diagnostic::error("unknown-function", span, format!("there is no function `{name}` in this file"))
                    .help(
                        "only Python follows functions of other modules: run `python -m slipring COMMAND FILE`; constants may come from them here, too",
                    );
            return Err(self.report(error));
        };
        if self.open.calls.iter().any(|open| **open == *name) {
            let error = Diagnostic::error("recursion", span, format!("`{name}` calls itself"))
                .also(at(&function.def.name), "the function")
                .help("a call is replaced by the function's body: write a loop");
            return Err(self.report(error));
        }
        if self.open.calls.len() > MOST_CALLS {
            return Err(self.error("recursion", span, format!("more than {MOST_CALLS} calls inside each other")));
        }
        self.globals.called.borrow_mut().insert(name.into());
        let mut env = function.scope.clone();
        self.bind_arguments(&function, given, &mut env, span)?;
        self.open.callers.push(std::mem::replace(&mut self.names.env, env));
        let lost = std::mem::take(&mut self.names.lost);
        self.open.call_sites.push(span);
        let poisoned = std::mem::take(&mut self.names.poisoned);
        let tuples = std::mem::take(&mut self.names.tuples);
        self.open.calls.push(name.into());
        let frames = std::mem::take(&mut self.open.yields);
        let result = self.called_body(&function.def.body);
        self.open.yields = frames;
        self.open.calls.pop();
        (self.names.poisoned, self.names.tuples) = (poisoned, tuples);
        self.open.call_sites.pop();
        (self.names.env, self.names.lost) = (self.open.callers.pop().unwrap_or_default(), lost);
        result
    }

    /// Binds arguments to the parameters of a function of the file.
    fn bind_arguments(
        &mut self,
        function: &Function<'_>,
        given: Given,
        env: &mut crate::globals::Scope,
        span: Span,
    ) -> Lowered<()> {
        let name = function.def.name.as_str();
        let mut positional = given.positional.into_iter();
        let mut keywords = given.keywords;
        for parameter in function.def.parameters.iter_non_variadic_params() {
            let wanted = parameter.parameter.name.as_str();
            if wanted == "self" {
                continue;
            }
            let keyword = keywords.iter().position(|(given, ..)| **given == *wanted);
            let (value, place) = match (positional.next(), keyword) {
                (Some((_, place)), Some(_)) => {
                    return Err(self.error("argument", place, format!("`{wanted}` is given twice")));
                }
                (Some(arg), None) => arg,
                (None, Some(at)) => {
                    let (_, value, place) = keywords.remove(at);
                    (value, place)
                }
                (None, None) => match &parameter.default {
                    Some(default) => (self.expr(default)?, at(&**default)),
                    None => {
                        let error = Diagnostic::error("argument", span, format!("`{name}` needs `{wanted}`"))
                            .also(at(&parameter.parameter), "declared here");
                        return Err(self.report(error));
                    }
                },
            };
            let tile = matches!(value, Value::Tile(_) | Value::Tensor(_));
            if let (Some(annotation), true) = (&parameter.parameter.annotation, tile) {
                let shape = self.shape_of(&value);
                // The annotation is resolved in the scope of the callee.
                let own = std::mem::replace(&mut self.names.env, std::mem::take(env));
                let said = annotated_as(self, annotation, Some((wanted, &shape)));
                let outcome = match said {
                    Ok(Some(said)) => check_said(self, annotation, &value, &said, place),
                    Ok(None) => Ok(()),
                    Err(reported) => Err(reported),
                };
                *env = std::mem::replace(&mut self.names.env, own);
                outcome?;
            }
            env.insert(wanted.into(), value);
        }
        if let Some((_, place)) = positional.next() {
            return Err(self.error("argument", place, format!("`{name}` does not take that many arguments")));
        }
        if let Some((keyword, _, place)) = keywords.first() {
            return Err(self.error("argument", *place, format!("`{name}` has no parameter `{keyword}`")));
        }
        Ok(())
    }

    /// Inlines the body of a callee; the value of its last statement, if that is a `return`.
    fn called_body(&mut self, body: &[Stmt]) -> Lowered {
        let (last, before) = match body.split_last() {
            Some((Stmt::Return(last), before)) => (last.value.as_deref(), before),
            _ => (None, body),
        };
        let mut read = Names::default();
        last.into_iter().for_each(|value| read.read_by(value));
        self.read_behind(read.read);
        let outcome = self.body(before);
        self.open.read_later.pop();
        outcome?;
        last.map_or(Ok(Value::Nothing), |value| self.expr(value))
    }

    /// `return`: outputs are parameters, so there is nothing to do for them. A tile becomes an additional output.
    pub(super) fn give_back(&mut self, value: Value, index: usize, span: Span) -> Lowered<()> {
        match value {
            Value::Tuple(items) => {
                items.into_iter().enumerate().try_for_each(|(index, item)| self.give_back(item, index, span))
            }
            Value::Tensor(window) => {
                let part = self.part_of(&window, span)?;
                self.outcome.gives.push(Returned { param: self.tensors.roots[window.root].name.to_string(), part });
                Ok(())
            }
            Value::Nothing | Value::Const(_) => {
                self.outcome.gives.push(Returned::default());
                Ok(())
            }
            Value::Tile(id) if self.open.blocks.len() == 1 && self.open.region.is_none() => {
                self.return_tile(id, index, span)?;
                let last = self.outcome.returned.last();
                self.outcome.gives.extend(last.map(|(info, _)| Returned { param: info.name.clone(), part: None }));
                Ok(())
            }
            other => {
                let what = describe(self, &other);
                let error = Diagnostic::error("return-tile", span, format!("a kernel cannot return {what} here"))
                    .help("store it into a `pl.Out[…]` parameter: `out[:] = …`");
                Err(self.report(error))
            }
        }
    }

    /// The part of its tensor that a returned window is; `None` if it is all of it.
    fn part_of(&mut self, window: &Tensor, span: Span) -> Lowered<Option<Strided>> {
        let root = &self.tensors.roots[window.root];
        // A tensor with a part for each block or device is returned with all of them.
        if root.by_block || root.domain.is_some() {
            return Ok(None);
        }
        let first = self.first_of(window).filter(|_| !window.few);
        let kept: Vec<usize> = (0..window.sizes.len()).filter(|at| !window.dropped[*at]).collect();
        let (mut next, mut contiguous) = (1, true);
        for at in kept.iter().rev().filter(|at| window.sizes[**at] != 1) {
            contiguous &= root.strides[*at] == next;
            next *= window.sizes[*at];
        }
        let shape = window.shape().to_vec();
        let strides = match &window.reshaped {
            Some(_) if contiguous => Some(dense(&shape).to_vec()),
            Some(_) => None,
            None => Some(kept.iter().map(|at| root.strides[*at]).collect()),
        };
        let (Some(first), Some(strides)) = (first, strides) else {
            let message = match first {
                None => "a kernel cannot return a part whose place or size is only known when it runs",
                Some(_) => "a kernel cannot return a part in another shape if the part is not contiguous",
            };
            let error = Diagnostic::error("return-tile", span, message)
                .help("return the whole tensor, or store the part into a `pl.Out[…]` parameter");
            return Err(self.report(error));
        };
        let tensor = &self.tensors.roots[root.of.unwrap_or(window.root)];
        let whole = first == 0 && shape[..] == tensor.dims[..] && strides[..] == tensor.strides[..];
        Ok((!whole).then_some(Strided { first, shape, strides }))
    }

    /// The first element of a window in its tensor, if it is known: that of a view begins where the view does.
    fn first_of(&self, window: &Tensor) -> Option<u64> {
        let root = &self.tensors.roots[window.root];
        let within = window.offsets.iter().zip(&root.strides).map(|(offset, stride)| match offset {
            Index::Known(at) => u64::try_from(*at).ok()?.checked_mul(*stride),
            Index::At(_) => None,
        });
        let within = within.sum::<Option<u64>>()?;
        match root.of {
            None => Some(within),
            Some(_) => {
                let (source, ..) = self.tensors.views.iter().find(|(.., at)| *at == window.root)?;
                Some(within + self.first_of(source)?)
            }
        }
    }

    pub(super) fn return_tile(&mut self, id: TileId, index: usize, span: Span) -> Lowered<()> {
        let said = match self.outcome.results.get(index).cloned() {
            Some(annotation) => annotated(self, &annotation)?,
            None => None,
        };
        let tile = self.tile(id).clone();
        let (shape, elem): (Vec<u64>, Elem) = said.unwrap_or((tile.shape.to_vec(), tile.ty.layout.elem));
        let tensor =
            self.made_parameter(("ret", self.outcome.returned.len()), (shape, elem, None), Direction::Out, span);
        self.outcome.returned_tiles.push(span);
        self.put(&tensor, &Value::Tile(id), span)
    }

    /// A parameter for a tensor that the kernel makes, of a shape, a type and with initial contents: its caller need not
    /// pass it. Its name is a stem and the first number from this one on that leaves it unique.
    pub(crate) fn made_parameter(
        &mut self,
        (stem, number): (&str, usize),
        (shape, elem, given): (Vec<u64>, Elem, Option<String>),
        direction: Direction,
        span: Span,
    ) -> Value {
        let (entry, module) = (self.open.blocks[0], &self.e.module);
        let taken =
            |name: &str| module.block(entry).args.iter().any(|arg| module.value(*arg).name.as_deref() == Some(name));
        let name = (number..).map(|number| format!("{stem}{number}")).find(|name| !taken(name)).unwrap_or_default();
        let (tensor, ty) = tensor_parameter(self, &name, &shape, elem, direction, span, entry);
        let info =
            ParamInfo { name, elem, shape: Some(shape), direction, given, packed: None, truths: false, made: true };
        self.outcome.returned.push((info, ty));
        tensor
    }
}

/// The error for a wait that is requested from the scheduler where it cannot do it.
pub(super) fn deferred(span: Span, why: &str) -> Diagnostic {
    let message = format!("the scheduler waits for a signal in place of a task that does nothing else, and this {why}");
    Diagnostic::error("deferred-wait", span, message).help(
        "put the wait into a scope of its own, `with pl.at(level=pl.Level.CORE_GROUP) as wait:`, and let what needs it \
               come after that: `deps=[wait]`; or wait on the core: `pld.system.wait`",
    )
}
