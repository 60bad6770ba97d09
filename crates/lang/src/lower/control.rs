//! Loops.
//!
//! The values that a loop changes are carried ([`super::carry`]): numbers as values of the loop, tiles in one buffer,
//! into which the end of the body copies the new tile.

use std::rc::Rc;

use indexmap::IndexSet;
use ruff_python_ast::{Expr, StmtFor};
use slipring_ir::{BlockId, Diagnostic, OpId, Reported, Span, Type, ValueId};
use slipring_mlir::scf;

use super::bounds::{Bounds, iterations, known_bounds};
use super::carry::CarriedName;
use super::items::MOST;
use super::lowering::{Lower, Lowered};
use super::names::Names;
use super::state::{CarryPlan, Frame, PlanKey};
use crate::dtype::DType;
use crate::globals::Scope;
use crate::syntax::at;
use crate::value::{Const, Index, Scalar, Value};
use crate::words::IN_HEADS;

/// The reason why a loop was not lowered.
pub(super) enum Stop {
    Reported(Reported),
    /// The value of a name cannot be carried from one iteration to the next. If the iterations only exchange the
    /// tensors that names refer to: the number of iterations after which each name has its own again.
    Never(Box<Diagnostic>, Option<i64>),
}

impl From<Reported> for Stop {
    fn from(reported: Reported) -> Stop {
        Stop::Reported(reported)
    }
}

/// A lowered loop.
pub(super) struct Done {
    pub before: Scope,
    pub carried: Vec<CarriedName>,
    pub op: OpId,
    pub targets: Option<Vec<Rc<str>>>,
}

/// The maximum number of iterations that are combined into one because names exchange their tensors.
pub(super) const MOST_TOGETHER: i64 = 4;

/// The maximum number of iterations that are lowered one by one because rebound values cannot be carried.
const MOST_ONE_BY_ONE: i64 = 64;

/// The maximum number of attempts to find out how a loop carries its names: each attempt changes one of them.
const MOST_ATTEMPTS: usize = 32;

/// The most stages of a pipelined loop.
const MOST_STAGES: i64 = 16;

/// The maximum total number of iterations to which the loops of a file are unrolled.
const MOST_UNROLLED: u64 = 1 << 16;

impl Lower<'_> {
    pub(super) fn for_loop(&mut self, stmt: &StmtFor) -> Lowered<()> {
        if !stmt.orelse.is_empty() {
            return Err(self.unsupported(at(stmt), "`else` of a loop"));
        }
        let Expr::Call(call) = &*stmt.iter else {
            return self.over_items(stmt);
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
                self.stages_said(&path, call)?;
                let bounds = self.bounds(call, &[])?;
                self.upwards(stmt, bounds, |l, stmt, bounds| l.unrolled(stmt, bounds))
            }
            "pl.range" | "pl.parallel" | "pl.pipeline" | "range" => {
                self.stages_said(&path, call)?;
                let bounds = self.bounds(call, &["stage", "init_values", "attrs"])?;
                self.upwards(stmt, bounds, |l, stmt, bounds| l.counted_with(stmt, call, bounds))
            }
            "pl.while_" => self.while_values(stmt, call),
            path if IN_HEADS.contains(&path) => self.over_items(stmt),
            _ => {
                let error = Diagnostic::error("loop", at(&*stmt.iter), format!("`{path}` is not a loop"))
                    .help("use `pl.range`, `pl.unroll`, `pl.pipeline`, `pl.parallel` or `pl.split_aiv`");
                Err(self.report(error))
            }
        }
    }

    /// Requires a pipelined loop to specify its stages, and other loops not to.
    fn stages_said(&mut self, path: &str, call: &ruff_python_ast::ExprCall) -> Lowered<()> {
        let wrong = crate::syntax::wrong_stages(path, call);
        wrong.map_or(Ok(()), |error| Err(self.report(error)))
    }

    /// The single name that a loop binds.
    pub(super) fn loop_name(&mut self, target: &Expr) -> Lowered<Rc<str>> {
        match target {
            Expr::Name(name) => Ok(name.id.as_str().into()),
            _ => Err(self.error("loop", at(target), "this loop binds a single name")),
        }
    }

    fn unrolled(&mut self, stmt: &StmtFor, bounds: &Bounds) -> Lowered<()> {
        let span = at(&*stmt.iter);
        let first = self.known_int(&bounds.first, "the start of an unrolled loop", span)?;
        let end = self.known_int(&bounds.end, "the end of an unrolled loop", span)?;
        let step = self.known_int(&bounds.step, "the step of an unrolled loop", span)?;
        if step <= 0 || (end.saturating_sub(first)) / step > MOST as i64 {
            let message = format!("an unrolled loop must have a step other than 0 and at most {MOST} iterations");
            return Err(self.error("loop", span, message));
        }
        let name = self.loop_name(&stmt.target)?;
        self.each_iteration(stmt, &name, &Frame::Plain, (first, end, step))
    }

    /// Lowers each iteration of a loop separately, as Python runs it.
    fn each_iteration(
        &mut self,
        stmt: &StmtFor,
        counter: &str,
        frame: &Frame,
        numbers: (i64, i64, i64),
    ) -> Lowered<()> {
        let bind = |l: &mut Self, i: i64| {
            l.set(counter, Value::Const(Const::Int(i)));
            Ok(())
        };
        self.each_bound(stmt, bind, frame, numbers)
    }

    /// Like [`Lower::each_iteration`]; `bind` binds the names of the loop in an iteration.
    pub(super) fn each_bound(
        &mut self,
        stmt: &StmtFor,
        mut bind: impl FnMut(&mut Self, i64) -> Lowered<()>,
        frame: &Frame,
        (first, end, step): (i64, i64, i64),
    ) -> Lowered<()> {
        let span = at(&*stmt.iter);
        let mut i = first;
        // Names that later iterations read are live.
        let names = self.names_in_loop(&stmt.body, frame);
        let mut changing = Names::default();
        changing.assigned(&stmt.target);
        let changing: IndexSet<_> = changing.bound.into_iter().chain(names.bound.iter().cloned()).collect();
        let changing = Rc::new(changing);
        self.read_behind(names.exposed);
        let (mut outcome, mut targets) = (Ok(()), None);
        while i < end && outcome.is_ok() {
            outcome = bind(self, i).and_then(|()| self.count_unrolled(span)).and_then(|()| {
                self.open.yields.push(frame.clone());
                let outcome = self.written_out(changing.clone(), |l| l.body(&stmt.body));
                let yielded = self.yielded(span, outcome)?;
                targets = yielded;
                Ok(())
            });
            i = i.saturating_add(step);
        }
        self.open.read_later.pop();
        if first >= end {
            // Names that would have been bound are not.
            for name in &names.bound {
                if !self.names.env.contains_key(name) {
                    self.lose(name, at(stmt), "assigned only inside this loop, which does not run");
                }
            }
        }
        outcome?;
        self.bind_yielded(targets, frame.carried());
        Ok(())
    }

    /// Lowers a single iteration of a loop that binds these names.
    pub(super) fn written_out<T>(&mut self, changing: Rc<IndexSet<Rc<str>>>, work: impl FnOnce(&mut Self) -> T) -> T {
        self.open.written_out.push((self.open.call_sites.len(), changing));
        let result = work(self);
        self.open.written_out.pop();
        result
    }

    /// True if an expression may differ in another iteration of an unrolled loop: it uses a name that the loop binds,
    /// or one of a function that the loop calls.
    pub(super) fn changes_with_iteration(&self, expr: &Expr) -> bool {
        crate::syntax::any_part(expr, &mut |part| {
            let Expr::Name(name) = part else { return false };
            let name = name.id.as_str();
            self.open.written_out.iter().any(|(calls, bound)| match *calls == self.open.call_sites.len() {
                true => bound.contains(name),
                false => self.names.env.contains_key(name),
            })
        })
    }

    /// Counts an unrolled iteration, and rejects it if a file's kernels get too large.
    pub(super) fn count_unrolled(&mut self, span: Span) -> Lowered<()> {
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
                    Value::Tuple(values) => values.into(),
                    single => vec![single],
                };
                let targets = match targets {
                    Expr::Tuple(tuple) => &tuple.elts[..],
                    Expr::List(list) => &list.elts[..],
                    single => std::slice::from_ref(single),
                };
                self.assign_each(targets, Value::Tuple(values.into()), at(&init.value))?;
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
        if crate::globals::path_of(self.globals, &self.names.env, &call.func).as_deref() == Some("pl.parallel") {
            self.independent(stmt, &carried);
        }
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
        match known_bounds(bounds) {
            // An empty loop has no effect in Python.
            Some((first, end, _)) if first >= end => self.each_iteration(stmt, &counter, &frame, (0, 0, 1)),
            _ => self.iterated(stmt, &counter, &frame, bounds, stages),
        }
    }

    /// Warns of numbers and tiles that an iteration of a parallel loop takes from the one before.
    fn independent(&mut self, stmt: &StmtFor, carried: &[Rc<str>]) {
        let names = Names::of(&stmt.body);
        let bound = |name: &&Rc<str>| names.bound.contains(*name) || carried.contains(name);
        let value = |name: &&Rc<str>| {
            matches!(self.names.env.get(&***name), Some(Value::Const(_) | Value::Scalar(_) | Value::Tile(_)))
        };
        let taken: Vec<String> =
            names.exposed.iter().filter(bound).filter(value).map(|name| format!("`{name}`")).collect();
        if taken.is_empty() {
            return;
        }
        let message = format!("an iteration of `pl.parallel` takes {} from the one before", taken.join(", "));
        let warning = Diagnostic::warning("parallel", at(&*stmt.iter), message)
            .note("it says that iterations do not depend on each other: the public compiler may run them at once")
            .help("count with `pl.range`");
        self.report(warning);
    }

    /// A loop whose iterations may have to be combined or lowered one by one: if a name refers to another tensor in
    /// every other iteration, two of them form the body.
    fn iterated(
        &mut self,
        stmt: &StmtFor,
        counter: &Rc<str>,
        frame: &Frame,
        bounds: &Bounds,
        stages: i64,
    ) -> Lowered<()> {
        let known = known_bounds(bounds);
        let iterations = known.and_then(iterations);
        let (mut first, mut least) = (None, 1);
        for together in 1..=MOST_TOGETHER {
            if together < least {
                continue;
            }
            let fits = iterations.is_some_and(|iterations| iterations >= 2 * together * stages)
                && matches!(frame, Frame::Plain);
            if together > 1 && !fits {
                continue;
            }
            let attempt = self.attempt();
            match self.pipelined(stmt, counter, frame.clone(), bounds, (stages, stages * together)) {
                Ok(()) => return Ok(()),
                Err(Stop::Reported(reported)) => return Err(reported),
                Err(Stop::Never(error, period)) => {
                    self.take_back(&attempt);
                    first.get_or_insert(error);
                    least = period.unwrap_or(least);
                }
            }
        }
        match (known, iterations) {
            (Some(known), Some(iterations)) if iterations <= MOST_ONE_BY_ONE => {
                self.each_iteration(stmt, counter, frame, known)
            }
            _ => Err(first.map_or(Reported, |error| self.report(*error))),
        }
    }

    /// A counted loop with overlapping iterations: its body contains several of them (the second of `stages`), each
    /// with its own buffers, so that one loads while another computes. Remaining iterations follow in a separate loop.
    /// If the number of iterations is not known, or the loop yields explicitly, the iterations do not overlap.
    fn pipelined(
        &mut self,
        stmt: &StmtFor,
        counter: &Rc<str>,
        frame: Frame,
        bounds: &Bounds,
        (asked, copies): (i64, i64),
    ) -> Result<(), Stop> {
        // First value, combined step, end of the overlapping loop, end of all.
        let known = known_bounds(bounds).and_then(|(first, end, step)| {
            let rounds = iterations((first, end, step))? / copies;
            let stride = step.checked_mul(copies)?;
            Some((first, stride, first.checked_add(rounds.checked_mul(stride)?)?, end))
        });
        let Some((first, stride, middle, end)) = known.filter(|_| copies > 1 && matches!(frame, Frame::Plain)) else {
            if asked > 1 {
                let message = "the iterations of this loop run one after another: `stage` has no effect";
                let note = Diagnostic::warning("pipeline", at(&*stmt.iter), message)
                    .help("give it constant bounds, and rebind names in place of `init_values`");
                self.report(Diagnostic { severity: slipring_ir::Severity::Note, ..note });
            }
            return self.counted(stmt, counter, &frame, bounds, 1);
        };
        let int = |n| Value::Const(Const::Int(n));
        if middle > first {
            let bounds = Bounds { first: int(first), end: int(middle), step: int(stride) };
            self.counted(stmt, counter, &frame, &bounds, copies)?;
        }
        if middle < end {
            let rest = Bounds { first: int(middle), end: int(end), step: bounds.step.clone() };
            self.iterated(stmt, counter, &frame, &rest, 1)?;
        }
        Ok(())
    }

    /// A counted loop with `copies` iterations in its body, which `bounds.step` counts together. It is lowered until
    /// what it carries matches its body.
    fn counted(
        &mut self,
        stmt: &StmtFor,
        counter: &Rc<str>,
        frame: &Frame,
        bounds: &Bounds,
        copies: i64,
    ) -> Result<(), Stop> {
        let key = PlanKey { sites: self.open.call_sites.clone(), at: at(stmt), copies };
        self.planned(&key, at(stmt), at(&*stmt.iter), |l, plan| {
            l.counted_as(stmt, counter, frame, bounds, copies, plan)
        })
    }

    /// Lowers a loop until what it carries matches its body: `lower` gets the ways in which names are carried, and
    /// returns those that are wrong.
    pub(super) fn planned(
        &mut self,
        key: &PlanKey,
        place: Span,
        head: Span,
        mut lower: impl FnMut(&mut Self, &CarryPlan) -> Result<CarryPlan, Stop>,
    ) -> Result<(), Stop> {
        let outermost = self.open.loops == 0;
        self.open.loops += 1;
        let mut outcome = Err(Stop::Reported(Reported));
        for _ in 0..MOST_ATTEMPTS {
            let attempt = self.attempt();
            crate::counts::looped();
            let plan = self.carry.plans.get(key).cloned().unwrap_or_default();
            match lower(self, &plan) {
                Ok(misfits) if misfits.is_empty() => {
                    outcome = Ok(());
                    break;
                }
                Ok(misfits) => {
                    self.take_back(&attempt);
                    let plan = self.carry.plans.entry(key.clone()).or_default();
                    plan.extend(misfits);
                }
                Err(Stop::Reported(_)) if !self.carry.wanted.is_empty() => {
                    self.take_back(&attempt);
                    let wanted = std::mem::take(&mut self.carry.wanted);
                    self.carry.plans.entry(key.clone()).or_default().extend(wanted);
                }
                Err(stop) => {
                    outcome = Err(stop);
                    break;
                }
            }
            if let Err(reported) = self.count_unrolled(head) {
                outcome = Err(Stop::Reported(reported));
                break;
            }
            let message = "the values that this loop carries to its next iteration cannot be determined";
            outcome = Err(Stop::Never(Box::new(Diagnostic::error("carry", place, message)), None));
        }
        self.open.loops -= 1;
        if outermost {
            self.carry.plans.clear();
        }
        outcome
    }

    /// Lowers a loop that carries names according to a plan, by default in the usual ways. Returns the names for which
    /// that is wrong, and the ways that may be right.
    fn counted_as(
        &mut self,
        stmt: &StmtFor,
        counter: &Rc<str>,
        frame: &Frame,
        bounds: &Bounds,
        copies: i64,
        plan: &CarryPlan,
    ) -> Result<CarryPlan, Stop> {
        let span = at(&*stmt.iter);
        if let Value::Const(Const::Int(0)) = bounds.step {
            return Err(self.error("loop", span, "the step of a loop must not be 0").into());
        }
        let [first, end, step] =
            [&bounds.first, &bounds.end, &bounds.step].map(|value| self.number(value, DType::Index, span));
        let (first, end, step) = (first?, end?, step?);
        let names = self.names_in_loop(&stmt.body, frame);
        self.read_behind(names.exposed.clone());
        let outcome = self.counted_body(stmt, counter, (&names, frame, bounds, copies), (first, end, step), plan);
        self.open.read_later.pop();
        let done = match outcome? {
            Ok(done) => done,
            Err(misfits) => return Ok(misfits),
        };
        let place = (at(stmt), "assigned only inside this loop");
        let runs = known_bounds(bounds).and_then(iterations).is_some_and(|iterations| iterations > 0);
        let (carry, known) = self.fresh_names(&names, &done, runs);
        if !carry.is_empty() {
            return Ok(carry);
        }
        self.leave(done.before, &names, &done.carried, done.op, place);
        self.set_again(known);
        self.after_counter(counter, &names, (bounds, copies), at(stmt));
        self.bind_yielded(done.targets, frame.carried());
        Ok(CarryPlan::new())
    }

    fn counted_body(
        &mut self,
        stmt: &StmtFor,
        counter: &Rc<str>,
        (names, frame, bounds, copies): (&Names, &Frame, &Bounds, i64),
        (first, end, step): (ValueId, ValueId, ValueId),
        plan: &CarryPlan,
    ) -> Result<Result<Done, CarryPlan>, Stop> {
        let span = at(&*stmt.iter);
        let (carried, init) = self.start_carrying(names, counter, plan, span)?;
        if names.may_write {
            self.forget_copies();
        }
        let types: Vec<Type> = init.iter().map(|v| self.e.module.ty(*v).clone()).collect();
        let op = self.e.op(
            &scf::FOR,
            &[("lower", &[first]), ("upper", &[end]), ("step", &[step]), ("init", &init)],
            &[],
            &types,
        );
        let block = self.e.region(op);
        let place = self.e.span;
        let index =
            self.e.module.add_arg(block, Type::Index, Some(counter.clone().to_string().into()), at(&*stmt.target));
        let args: Vec<ValueId> = types.iter().map(|ty| self.e.module.add_arg(block, ty.clone(), None, place)).collect();
        let before = self.names.env.clone();
        let starts = self.begin_iteration(&carried, &args);
        let index = Scalar { value: index, ty: DType::Index, region: None };
        self.set(counter, Value::Scalar(index));
        let since = self.held.buffers.mark();
        let mut targets = None;
        let outcome = self.in_block(block, |l| -> Result<CarryPlan, Stop> {
            l.open.yields.push(frame.clone());
            let mut outcome = l.body(&stmt.body);
            for copy in 1..copies {
                outcome = outcome.and_then(|()| l.next_copy(stmt, counter, index, (bounds, copy, copies)));
            }
            targets = l.yielded(span, outcome)?;
            let misfits = l.misfits(&carried, &starts, span)?;
            if misfits.is_empty() {
                let runs = known_bounds(bounds).and_then(iterations).is_some_and(|iterations| iterations > 0);
                l.finish_iteration(&carried, since, (op, runs), span)?;
            }
            Ok(misfits)
        });
        let misfits = outcome?;
        if misfits.is_empty() { Ok(Ok(Done { before, carried, op, targets })) } else { Ok(Err(misfits)) }
    }

    /// Binds the counter after a loop to the last iteration's value, if it is known and there was one.
    fn after_counter(&mut self, counter: &str, names: &Names, (bounds, copies): (&Bounds, i64), span: Span) {
        let last = known_bounds(bounds).filter(|_| !names.bound.iter().any(|name| **name == *counter));
        let last = last.and_then(|(first, end, step)| {
            let one = step / copies;
            let iterations = iterations((first, end, step))?.checked_mul(copies)?;
            first.checked_add(iterations.checked_sub(1)?.checked_mul(one)?)
        });
        match last {
            Some(last) => self.set(counter, Value::Const(Const::Int(last))),
            _ => self.lose(counter, span, "the counter of this loop, whose last value is not known"),
        }
    }

    /// An additional iteration in the body of a pipelined loop.
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
        self.set(counter, value);
        self.count_unrolled(at(&*stmt.iter))?;
        self.body(&stmt.body)
    }

    /// Builds into a block.
    pub fn in_block<R>(&mut self, block: BlockId, work: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.e.block, block);
        self.open.blocks.push(block);
        let result = work(self);
        self.open.blocks.pop();
        self.e.block = outer;
        result
    }
}
