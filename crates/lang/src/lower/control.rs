//! Loops and branches, and what passes through them.
//!
//! A scalar that a loop changes is carried by the loop; of a branch it is a result. A tile that is changed keeps one buffer:
//! the loop's body ends by copying the new tile into it, and both arms of a branch write it.

use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::{Expr, Stmt, StmtFor, StmtIf};
use slipring_ir::{BlockId, Diagnostic, OpId, Span, Type, ValueId};

use super::arith::truth;
use super::carry::{Carried, type_of};
use super::names::Names;
use super::{Lower, Lowered, Value, describe};
use crate::dtype::DType;
use crate::syntax::at;
use crate::value::{Const, Index, Scalar, TileId};

/// A loop's first value, end and step.
struct Bounds {
    first: Value,
    end: Value,
    step: Value,
}

/// A loop or branch whose body may end in `pl.yield_`.
#[derive(Clone, Debug)]
pub(crate) enum Frame {
    /// A loop with `init_values`: the names that it carries, and the targets that its `pl.yield_` bound.
    Loop { carried: Vec<Rc<str>>, targets: Option<Vec<Rc<str>>> },
    /// A loop without them.
    Plain,
    /// An arm of a branch.
    Arm,
}

/// The most stages of a pipelined loop.
const MOST_STAGES: i64 = 16;

/// The most iterations that the loops of a file are unrolled to, together.
const MOST_UNROLLED: u64 = 1 << 16;

impl Lower<'_> {
    pub(super) fn for_loop(&mut self, stmt: &StmtFor) -> Lowered<()> {
        if !stmt.orelse.is_empty() {
            return Err(self.unsupported(at(stmt), "`else` of a loop"));
        }
        let Expr::Call(call) = &*stmt.iter else {
            let error = Diagnostic::error("loop", at(&*stmt.iter), "a kernel's loop runs over `pl.range(…)`")
                .help("use `pl.range`, `pl.unroll`, `pl.pipeline`, `pl.parallel` or `pl.split_aiv`");
            return Err(self.report(error));
        };
        let callee = self.expr(&call.func)?;
        let path = match &callee {
            Value::Path(path) => path.clone(),
            _ => "".into(),
        };
        match &*path {
            "pl.split_aiv" => self.split_region(stmt, call),
            "pl.spmd" => self.spmd_loop(stmt, call),
            "pl.unroll" => {
                let bounds = self.bounds(call, &["stage"])?;
                self.unrolled(stmt, &bounds)
            }
            "pl.range" | "pl.parallel" | "pl.pipeline" | "range" => {
                let bounds = self.bounds(call, &["stage", "init_values", "attrs"])?;
                self.counted_with(stmt, call, &bounds)
            }
            _ => {
                let error = Diagnostic::error("loop", at(&*stmt.iter), format!("`{path}` is no loop"))
                    .help("use `pl.range`, `pl.unroll`, `pl.pipeline`, `pl.parallel` or `pl.split_aiv`");
                Err(self.report(error))
            }
        }
    }

    /// `stop`, `start, stop` or `start, stop, step`.
    fn bounds(&mut self, call: &ruff_python_ast::ExprCall, accepted: &[&str]) -> Lowered<Bounds> {
        for keyword in &call.arguments.keywords {
            let name = keyword.arg.as_ref().map_or("**", |n| n.as_str());
            if !accepted.contains(&name) {
                return Err(self.error("argument", at(keyword), format!("a loop has no argument `{name}`")));
            }
        }
        let args: Vec<Value> = call.arguments.args.iter().map(|arg| self.expr(arg)).collect::<Lowered<_>>()?;
        let int = |n| Value::Const(Const::Int(n));
        match args.as_slice() {
            [end] => Ok(Bounds { first: int(0), end: end.clone(), step: int(1) }),
            [first, end] => Ok(Bounds { first: first.clone(), end: end.clone(), step: int(1) }),
            [first, end, step] => Ok(Bounds { first: first.clone(), end: end.clone(), step: step.clone() }),
            _ => Err(self.error("argument", at(call), "a loop takes an end, a start and an end, or these and a step")),
        }
    }

    /// The single name that a loop binds.
    pub(super) fn loop_name(&mut self, target: &Expr) -> Lowered<Rc<str>> {
        match target {
            Expr::Name(name) => Ok(name.id.as_str().into()),
            _ => Err(self.error("loop", at(target), "this loop binds a single name")),
        }
    }

    fn unrolled(&mut self, stmt: &StmtFor, bounds: &Bounds) -> Lowered<()> {
        const MOST: i64 = 4096;
        let span = at(&*stmt.iter);
        let first = self.known_int(&bounds.first, "the start of an unrolled loop", span)?;
        let end = self.known_int(&bounds.end, "the end of an unrolled loop", span)?;
        let step = self.known_int(&bounds.step, "the step of an unrolled loop", span)?;
        if step <= 0 || (end.saturating_sub(first)) / step > MOST {
            let message = format!("an unrolled loop has a positive step and at most {MOST} iterations");
            return Err(self.error("loop", span, message));
        }
        let name = self.loop_name(&stmt.target)?;
        let mut i = first;
        // What later iterations read is still needed.
        self.read_later.push(Names::of(&stmt.body).read);
        let mut outcome = Ok(());
        while i < end && outcome.is_ok() {
            self.env.insert(name.clone(), Value::Const(Const::Int(i)));
            outcome = self.count_unrolled(span).and_then(|()| self.body(&stmt.body));
            i = i.saturating_add(step);
        }
        self.read_later.pop();
        outcome
    }

    /// Counts an iteration that is written out, and refuses it where that makes a file's kernels too large.
    fn count_unrolled(&mut self, span: Span) -> Lowered<()> {
        let total = self.globals.unrolled.get() + 1;
        self.globals.unrolled.set(total);
        if total <= MOST_UNROLLED {
            return Ok(());
        }
        let message = format!("more than {MOST_UNROLLED} iterations are unrolled in this file");
        let error = Diagnostic::error("loop", span, message).help("use `pl.range` for the outer loops");
        Err(self.report(error))
    }

    /// A counted loop, with the names of its `init_values`: `for i, (a, b) in pl.range(n, init_values=(x, y)):`.
    fn counted_with(&mut self, stmt: &StmtFor, call: &ruff_python_ast::ExprCall, bounds: &Bounds) -> Lowered<()> {
        let given = |name: &str| call.arguments.keywords.iter().find(|k| k.arg.as_ref().is_some_and(|n| n == name));
        let init = given("init_values");
        let parts = match &*stmt.target {
            Expr::Tuple(tuple) => match &tuple.elts[..] {
                [counter, carried] => Some((counter, carried)),
                _ => None,
            },
            _ => None,
        };
        let (counter, carried) = match (init, parts) {
            (None, None) => (&*stmt.target, Vec::new()),
            (Some(init), Some((counter, targets))) => {
                let values = match self.expr(&init.value)? {
                    Value::Tuple(values) => values,
                    single => vec![single],
                };
                let targets = match targets {
                    Expr::Tuple(tuple) => &tuple.elts[..],
                    Expr::List(list) => &list.elts[..],
                    single => std::slice::from_ref(single),
                };
                self.assign_each(targets, Value::Tuple(values), at(&init.value))?;
                (counter, targets.iter().map(|t| self.loop_name(t)).collect::<Lowered<_>>()?)
            }
            _ => {
                let error = Diagnostic::error(
                    "loop",
                    at(&*stmt.target),
                    "a loop with `init_values` binds a counter and as many names",
                )
                .help("write `for i, (a, b) in pl.range(n, init_values=(x, y)):` and end its body with `pl.yield_`");
                return Err(self.report(error));
            }
        };
        let counter = self.loop_name(counter)?;
        let stages = match given("stage") {
            Some(stage) => {
                let value = self.expr(&stage.value)?;
                self.known_int(&value, "the number of stages", at(&stage.value))?
            }
            None => 1,
        };
        if !(1..=MOST_STAGES).contains(&stages) {
            let message = format!("a pipelined loop has 1 to {MOST_STAGES} stages, not {stages}");
            return Err(self.error("loop", at(call), message));
        }
        let frame = if carried.is_empty() { Frame::Plain } else { Frame::Loop { carried, targets: None } };
        self.pipelined(stmt, counter, frame, bounds, stages)
    }

    /// A counted loop whose iterations overlap: so many of them stand in its body, each with buffers of its own, so that one
    /// loads while another is computed. Iterations that are left over follow in a loop of their own. Where the number of
    /// iterations is not known, or the loop says what it yields, one iteration follows the other.
    fn pipelined(
        &mut self,
        stmt: &StmtFor,
        counter: Rc<str>,
        frame: Frame,
        bounds: &Bounds,
        stages: i64,
    ) -> Lowered<()> {
        // First value, step of the overlapping loop, where it ends, where all ends.
        let known = match (&bounds.first, &bounds.end, &bounds.step) {
            (Value::Const(Const::Int(first)), Value::Const(Const::Int(end)), Value::Const(Const::Int(step)))
                if *step > 0 && end > first =>
            {
                let turns = i64::try_from(end.abs_diff(*first).div_ceil(step.unsigned_abs())).ok().map(|n| n / stages);
                let stride = step.checked_mul(stages);
                let middle = || first.checked_add(turns?.checked_mul(stride?)?);
                stride.zip(middle()).map(|(stride, middle)| (*first, stride, middle, *end))
            }
            _ => None,
        };
        let Some((first, stride, middle, end)) = known.filter(|_| stages > 1 && matches!(frame, Frame::Plain)) else {
            if stages > 1 {
                let message = "the iterations of this loop run one after another: `stage` has no effect";
                let note = Diagnostic::warning("pipeline", at(&*stmt.iter), message)
                    .help("give it constant bounds, and rebind names in place of `init_values`");
                self.report(Diagnostic { severity: slipring_ir::Severity::Note, ..note });
            }
            return self.counted(stmt, counter, frame, bounds, 1);
        };
        let int = |n| Value::Const(Const::Int(n));
        if middle > first {
            let bounds = Bounds { first: int(first), end: int(middle), step: int(stride) };
            self.counted(stmt, counter.clone(), frame.clone(), &bounds, stages)?;
        }
        if middle < end {
            let rest = Bounds { first: int(middle), end: int(end), step: bounds.step.clone() };
            self.counted(stmt, counter, frame, &rest, 1)?;
        }
        Ok(())
    }

    /// A counted loop with `copies` iterations in its body, which `bounds.step` counts together.
    fn counted(&mut self, stmt: &StmtFor, counter: Rc<str>, frame: Frame, bounds: &Bounds, copies: i64) -> Lowered<()> {
        let span = at(&*stmt.iter);
        if let Value::Const(Const::Int(n)) = bounds.step
            && n <= 0
        {
            return Err(self.error("loop", span, "the step of a loop is positive"));
        }
        let [first, end, step] =
            [&bounds.first, &bounds.end, &bounds.step].map(|value| self.number(value, DType::Index, span));
        let (first, end, step) = (first?, end?, step?);
        let mut names = Names::of(&stmt.body);
        let mut asked = Vec::new();
        if let Frame::Loop { carried, .. } = &frame {
            asked.clone_from(carried);
            names.bound.retain(|name| !carried.contains(name));
            names.bound.extend(carried.iter().cloned());
            names.exposed.extend(carried.iter().cloned());
        }
        let carried = self.start_carrying(&names, &counter, span)?;
        let init: Vec<ValueId> = carried.iter().filter_map(|(_, _, init)| *init).collect();
        let types: Vec<Type> = init.iter().map(|v| self.e.module.ty(*v).clone()).collect();
        let op = self.e.op(
            "scf.for",
            &[("lower", &[first]), ("upper", &[end]), ("step", &[step]), ("init", &init)],
            &[],
            &types,
        );
        let block = self.e.region(op);
        let place = self.e.span;
        let index =
            self.e.module.add_arg(block, Type::Index, Some(counter.clone().to_string().into()), at(&*stmt.target));
        let args: Vec<ValueId> = types.iter().map(|ty| self.e.module.add_arg(block, ty.clone(), None, place)).collect();
        let before = self.env.clone();
        let mut args_left = args.iter();
        for (name, kind, _) in &carried {
            let value = match kind {
                Carried::Scalar(ty) => {
                    let Some(value) = args_left.next() else { continue };
                    self.scalar(*value, *ty)
                }
                Carried::Tile(id) => Value::Tile(*id),
            };
            self.env.insert(name.clone(), value);
        }
        let index = Scalar { value: index, ty: DType::Index, region: None };
        self.env.insert(counter.clone(), Value::Scalar(index));
        let mut targets = None;
        let outcome = self.in_block(block, |l| {
            l.read_later.push(names.exposed.clone());
            l.yields.push(frame);
            let mut outcome = l.body(&stmt.body);
            for copy in 1..copies {
                outcome = outcome.and_then(|()| l.next_copy(stmt, &counter, index, (bounds, copy, copies)));
            }
            if let Some(Frame::Loop { targets: bound, .. }) = l.yields.pop() {
                if bound.is_none() && outcome.is_ok() {
                    let error = Diagnostic::error(
                        "yield",
                        span,
                        "a loop with `init_values` whose body does not end in `pl.yield_`",
                    )
                    .help("end the body with `a2, b2 = pl.yield_(a_new, b_new)`");
                    outcome = Err(l.report(error));
                }
                targets = bound;
            }
            l.read_later.pop();
            outcome.and_then(|()| l.finish_iteration(&carried, span))
        });
        outcome?;
        self.leave(before, &names, &carried, op, at(stmt), "assigned only inside this loop");
        // What the last iteration yielded, or the first values if there was none.
        for (target, name) in targets.into_iter().flatten().zip(asked) {
            if let Some(value) = self.env.get(&name).cloned() {
                self.lost.shift_remove(&target);
                self.env.insert(target, value);
            }
        }
        Ok(())
    }

    /// A further iteration in the body of a pipelined loop.
    fn next_copy(
        &mut self,
        stmt: &StmtFor,
        counter: &Rc<str>,
        index: Scalar,
        (bounds, copy, copies): (&Bounds, i64, i64),
    ) -> Lowered<()> {
        let Value::Const(Const::Int(step)) = bounds.step else { return Ok(()) };
        let value = match self.add_index(Index::At(index), Index::Known(step / copies * copy)) {
            Index::At(scalar) => Value::Scalar(scalar),
            Index::Known(n) => Value::Const(Const::Int(n)),
        };
        self.env.insert(counter.clone(), value);
        self.count_unrolled(at(&*stmt.iter))?;
        self.body(&stmt.body)
    }

    /// True for a call of `pl.yield_`.
    pub(super) fn is_yield(&self, expr: &Expr) -> bool {
        let Expr::Call(call) = expr else { return false };
        crate::program::path_of(self.globals, &call.func).as_deref() == Some("pl.yield_")
    }

    /// `a2, b2 = pl.yield_(a_new, b_new)` at the end of a loop's body or of an arm.
    pub(super) fn yield_values(&mut self, expr: &Expr, targets: &[Expr]) -> Lowered<()> {
        let (Expr::Call(call), span) = (expr, at(expr)) else { return Ok(()) };
        let values: Vec<Value> = call.arguments.args.iter().map(|arg| self.expr(arg)).collect::<Lowered<_>>()?;
        let carried = match self.yields.last() {
            Some(Frame::Arm) => Vec::new(),
            Some(Frame::Loop { carried, targets: None }) => carried.clone(),
            Some(Frame::Loop { .. }) => return Err(self.error("yield", span, "a second `pl.yield_` in this loop")),
            Some(Frame::Plain) | None => {
                let error = Diagnostic::error("yield", span, "`pl.yield_` where nothing takes its values")
                    .help("it ends the body of a loop with `init_values`, or an arm of a branch");
                return Err(self.report(error));
            }
        };
        if let Some(Frame::Loop { carried, .. }) = self.yields.last()
            && carried.len() != values.len()
        {
            let message = format!("{} values are yielded, the loop carries {}", values.len(), carried.len());
            return Err(self.error("yield", span, message));
        }
        for (name, value) in carried.iter().zip(&values) {
            self.bind(name, value.clone());
        }
        let mut flat: Vec<&Expr> = Vec::new();
        for target in targets {
            match target {
                Expr::Tuple(tuple) => flat.extend(&tuple.elts),
                other => flat.push(other),
            }
        }
        if !flat.is_empty() && flat.len() != values.len() {
            let message = format!("{} names for {} values", flat.len(), values.len());
            return Err(self.error("unpack", span, message));
        }
        for (target, value) in flat.iter().zip(values) {
            self.assign(target, value)?;
        }
        let names = flat.into_iter().map(|t| self.loop_name(t)).collect::<Lowered<Vec<_>>>()?;
        if let Some(Frame::Loop { targets, .. }) = self.yields.last_mut() {
            *targets = Some(names);
        }
        Ok(())
    }

    /// Builds into a block.
    pub(super) fn in_block<R>(&mut self, block: BlockId, work: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.e.block, block);
        self.blocks.push(block);
        let result = work(self);
        self.blocks.pop();
        self.e.block = outer;
        result
    }

    // ---- branches ----

    pub(super) fn branch(&mut self, stmt: &StmtIf) -> Lowered<()> {
        let mut arms: Vec<(&Expr, &[Stmt])> = vec![(&stmt.test, &stmt.body)];
        let mut otherwise: &[Stmt] = &[];
        for clause in &stmt.elif_else_clauses {
            match &clause.test {
                Some(test) => arms.push((test, &clause.body)),
                None => otherwise = &clause.body,
            }
        }
        self.arms(&arms, otherwise, at(stmt))
    }

    fn arms(&mut self, arms: &[(&Expr, &[Stmt])], otherwise: &[Stmt], span: Span) -> Lowered<()> {
        let Some(((test, then), rest)) = arms.split_first() else { return self.body(otherwise) };
        match self.expr(test)? {
            Value::Const(c) => {
                let taken = truth(&c);
                self.arm(|l| if taken { l.body(then) } else { l.arms(rest, otherwise, span) })
            }
            condition @ Value::Scalar(_) => {
                let condition = self.number(&condition, DType::Bool, at(*test))?;
                self.run_time_branch(condition, then, rest, otherwise, span)
            }
            other => {
                let what = describe(self, &other);
                Err(self.error("condition", at(*test), format!("a condition is a truth value, not {what}")))
            }
        }
    }

    /// Lowers an arm of a branch.
    fn arm(&mut self, work: impl FnOnce(&mut Self) -> Lowered<()>) -> Lowered<()> {
        self.yields.push(Frame::Arm);
        let outcome = work(self);
        self.yields.pop();
        outcome
    }

    fn run_time_branch(
        &mut self,
        condition: ValueId,
        then: &[Stmt],
        rest: &[(&Expr, &[Stmt])],
        otherwise: &[Stmt],
        span: Span,
    ) -> Lowered<()> {
        let mut bound = Names::of(then).bound;
        for body in rest.iter().map(|(_, body)| *body).chain([otherwise]) {
            for name in Names::of(body).bound {
                if !bound.contains(&name) {
                    bound.push(name);
                }
            }
        }
        // Tiles that exist get a buffer that the arms may write.
        let bound: Vec<Rc<str>> = bound.into_iter().filter(|name| self.is_read_later(name)).collect();
        for name in &bound {
            if let Some(Value::Tile(id)) = self.env.get(name).cloned() {
                let own = self.own_buffer(id, span)?;
                self.env.insert(name.clone(), Value::Tile(own));
            }
        }
        let before = self.env.clone();
        let op = self.e.op("scf.if", &[("condition", &[condition])], &[], &[]);
        let blocks = [self.e.region(op), self.e.region(op)];
        let then_outcome = self.in_block(blocks[0], |l| l.arm(|l| l.body(then)));
        let then_env = std::mem::replace(&mut self.env, before.clone());
        for name in then_env.keys().filter(|name| !before.contains_key(*name)) {
            self.lost.insert(name.clone(), (span, "assigned in the other arm of this branch only"));
        }
        let else_outcome = self.in_block(blocks[1], |l| l.arm(|l| l.arms(rest, otherwise, span)));
        let else_env = std::mem::replace(&mut self.env, before);
        then_outcome.and(else_outcome)?;
        self.merge(op, blocks, [then_env, else_env], &bound, span)
    }

    /// After a branch: names stand for what the arm that ran bound them to.
    fn merge(
        &mut self,
        op: OpId,
        blocks: [BlockId; 2],
        envs: [IndexMap<Rc<str>, Value>; 2],
        bound: &[Rc<str>],
        span: Span,
    ) -> Lowered<()> {
        let mut yields: [Vec<ValueId>; 2] = [Vec::new(), Vec::new()];
        let mut copies: [Vec<(TileId, TileId)>; 2] = [Vec::new(), Vec::new()];
        for name in bound {
            let values = [envs[0].get(name).cloned(), envs[1].get(name).cloned()];
            let [Some(a), Some(b)] = values else {
                self.env.shift_remove(name);
                self.lost.insert(name.clone(), (span, "assigned in one arm of this branch only"));
                continue;
            };
            match (&a, &b) {
                (Value::Tile(x), Value::Tile(y)) => {
                    let target = match self.env.get(name) {
                        Some(Value::Tile(id)) => *id,
                        _ => self.buffer_before(op, *x),
                    };
                    copies[0].push((*x, target));
                    copies[1].push((*y, target));
                    let merged = self.renewed(target);
                    self.env.insert(name.clone(), Value::Tile(merged));
                }
                (Value::Const(x), Value::Const(y)) if x == y => {
                    self.env.insert(name.clone(), a);
                }
                (Value::Scalar(_) | Value::Const(_), Value::Scalar(_) | Value::Const(_)) => {
                    let ty = match (&a, &b) {
                        (Value::Scalar(s), _) | (_, Value::Scalar(s)) => s.ty,
                        (Value::Const(x), _) => type_of(x),
                        _ => DType::Index,
                    };
                    for (at, value) in [&a, &b].into_iter().enumerate() {
                        let value = self.in_block(blocks[at], |l| l.number(value, ty, span))?;
                        yields[at].push(value);
                    }
                    let place = self.e.span;
                    let result = self.e.module.add_result(op, ty.ir(), Some(name.to_string().into()), place);
                    let result = self.scalar(result, ty);
                    self.env.insert(name.clone(), result);
                }
                (Value::Tensor(_), Value::Tensor(_)) => {}
                _ => {
                    let (x, y) = (describe(self, &a), describe(self, &b));
                    let error =
                        Diagnostic::error("branch-type", span, format!("after this branch `{name}` is {x} or {y}"))
                            .help("give it the same kind of value in both arms, or use two names");
                    return Err(self.report(error));
                }
            }
        }
        for (block, copies) in blocks.into_iter().zip(copies) {
            self.in_block(block, |l| l.copy_all(copies))?;
        }
        for (block, values) in blocks.into_iter().zip(&yields) {
            self.e.inside(block, |e| e.op("scf.yield", &[("values", values)], &[], &[]));
        }
        Ok(())
    }
}
