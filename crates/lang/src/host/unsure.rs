//! Code that may or may not run, and values that code which is not followed may change.
//!
//! A *trial* records the changes of code to earlier state. A branch that may run is a trial: its kernels are found, its
//! changes are reverted, and what it changed or bound is unknown afterwards.

use std::collections::BTreeSet;
use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::Stmt;
use slipring_ir::Span;

use super::names::is_of_python;
use super::value::{Function, HostValue, Wrapped, next_number};
use crate::host::locals::Locals;
use crate::host::state::{Flow, Host, Saved, Trial};
use crate::host::value::{Scope, Source, unknown};
use crate::value::Unknown;

/// Maximum depth of nested trials.
const MOST_TRIALS: usize = 12;

/// The changes of a trial: containers, and names with their values in it.
#[derive(Default)]
pub(super) struct Changes<'a> {
    held: Vec<HostValue<'a>>,
    names: Vec<(Scope<'a>, Rc<str>, Vec<HostValue<'a>>)>,
    frames: Vec<Scope<'a>>,
}

/// How code that may run could end.
pub(super) enum Ends {
    Next,
    /// It might leave its loop.
    Loop,
    /// It might leave its function.
    Function,
}

impl<'a> Host<'a> {
    pub(super) fn begin_trial(&mut self) {
        self.trials.push(Trial { first: next_number(), saved: Vec::new(), known: BTreeSet::new() });
    }

    /// Keeps the changes of a trial.
    pub(super) fn keep_trial(&mut self) {
        self.trials.pop();
    }

    /// Reverts the changes of a trial.
    pub(super) fn undo_trial(&mut self) -> Changes<'a> {
        let mut changes = Changes::default();
        let Some(trial) = self.trials.pop() else { return changes };
        for saved in trial.saved.into_iter().rev() {
            match saved {
                Saved::List(list, items, lost) => {
                    *list.borrow_mut() = items;
                    *list.lost.borrow_mut() = lost;
                    changes.held.push(HostValue::List(list));
                }
                Saved::Dict(dict, entries, lost) => {
                    *dict.borrow_mut() = entries;
                    *dict.lost.borrow_mut() = lost;
                    changes.held.push(HostValue::Dict(dict));
                }
                Saved::Iter(iter, source) => {
                    if let HostValue::Iter(own) = &iter {
                        *own.borrow_mut() = *source;
                    }
                    changes.held.push(iter);
                }
                Saved::Name(scope, name, value, lost, perhaps) => {
                    let was = scope.borrow().get(&name).cloned();
                    match (&value, lost) {
                        (_, Some(lost)) => drop(scope.lost.borrow_mut().insert(name.clone(), lost)),
                        _ => drop(scope.lost.borrow_mut().shift_remove(&name)),
                    }
                    match value.clone() {
                        Some(value) => drop(scope.borrow_mut().insert(name.clone(), value)),
                        None => drop(scope.borrow_mut().shift_remove(&name)),
                    }
                    match perhaps {
                        true => scope.perhaps.borrow_mut().insert(name.clone()),
                        false => scope.perhaps.borrow_mut().remove(&name),
                    };
                    changes.names.push((scope, name, was.into_iter().chain(value).collect()));
                }
                Saved::Frame(scope, lost) => {
                    *scope.all_lost.borrow_mut() = lost;
                    changes.frames.push(scope);
                }
            }
        }
        // An outer trial has recorded the same things when they were first changed.
        changes
    }

    /// Makes the changed values unknown. True if that is new information.
    pub(super) fn settle(&mut self, changes: Changes<'a>, place: Span) -> bool {
        let before = self.losses;
        let why = |what: String| Rc::new(Unknown::new(place, what));
        for held in &changes.held {
            self.lose(held, &why("what may or may not have been changed here".into()));
        }
        for frame in &changes.frames {
            self.lose_frame(frame, &why("what may or may not have been changed here".into()));
        }
        let mut counts: IndexMap<(usize, Rc<str>), usize> = IndexMap::new();
        for (scope, name, _) in &changes.names {
            *counts.entry((Rc::as_ptr(scope) as usize, name.clone())).or_default() += 1;
        }
        for (scope, name, values) in changes.names {
            let count = counts.get(&(Rc::as_ptr(&scope) as usize, name.clone())).copied().unwrap_or(0);
            let now = scope.borrow().get(&name).cloned();
            let defines = |value: &HostValue<'a>| {
                matches!(
                    value,
                    HostValue::Kernel(_) | HostValue::Function(_) | HostValue::Class(_) | HostValue::Path(_)
                )
            };
            // What is defined on one path only is that, or nothing: not where Python has something of that name.
            if let ([one], None, 1) = (&values[..], &now, count)
                && defines(one)
                && !is_of_python(&name)
            {
                self.touch_name(&scope, &name);
                scope.put_perhaps(&name, one.clone());
                scope.perhaps.borrow_mut().insert(name);
                continue;
            }
            // A module that may be missing exists where it is used.
            let modules = |value: &HostValue<'a>| match value {
                HostValue::Path(_) => Some(true),
                HostValue::Const(crate::value::Const::None) => Some(false),
                _ => None,
            };
            if let Some(kinds) = values.iter().map(modules).collect::<Option<Vec<bool>>>()
                && kinds.contains(&true)
                && let Some(path) = values.iter().find(|value| matches!(value, HostValue::Path(_)))
            {
                self.touch_name(&scope, &name);
                scope.put_perhaps(&name, path.clone());
                continue;
            }
            let known = Rc::new(Unknown::new(place, format!("`{name}`, which depends on this")));
            values.iter().for_each(|value| self.lose(value, &known));
            if !matches!(now, Some(HostValue::Unknown(_))) {
                self.losses += 1;
                self.touch_name(&scope, &name);
                scope.put_perhaps(&name, HostValue::Unknown(known));
            }
        }
        self.losses > before
    }

    /// Runs code that may or may not run. Its definitions are found; what it changes becomes unknown.
    pub(super) fn perhaps(&mut self, place: Span, run: &mut dyn FnMut(&mut Host<'a>) -> Flow<'a>) -> Ends {
        self.several(place, &mut [run])
    }

    /// Runs several alternatives, of which one runs.
    pub(super) fn several(&mut self, place: Span, arms: &mut [&mut dyn FnMut(&mut Host<'a>) -> Flow<'a>]) -> Ends {
        if self.recorder.is_some() {
            let what = unknown(place, "what decides this");
            self.not_known(&what, "what decides whether this runs", place);
            return Ends::Next;
        }
        if self.trials.len() >= MOST_TRIALS {
            self.lose_all(place, "more that may or may not run inside each other than is followed");
            return Ends::Function;
        }
        let mut all = Changes::default();
        let mut ends = Ends::Next;
        for arm in arms {
            self.begin_trial();
            self.decided_at.push(place);
            let flow = arm(self);
            self.decided_at.pop();
            let raised = self.raised.take();
            let raises = raised.is_some();
            if raises {
                self.risks += 1;
            }
            // The result is one of several values.
            if let Flow::Return(value) = &flow {
                let why = Rc::new(Unknown::new(place, "what may or may not be given back"));
                self.lose(value, &why);
            }
            let changes = self.undo_trial();
            if raises {
                if raised.as_ref().is_some_and(|raised| raised.limit) {
                    self.lose_all(place, "calls that are too deep inside each other");
                }
                // If it runs, nothing after it does: outside `try` its changes do not matter.
                if self.tries == 0 {
                    continue;
                }
            }
            all.held.extend(changes.held);
            all.names.extend(changes.names);
            all.frames.extend(changes.frames);
            match flow {
                Flow::Next | Flow::Stop => {}
                Flow::Break | Flow::Continue | Flow::Unsure(_, false) => {
                    if let Ends::Next = ends {
                        ends = Ends::Loop;
                    }
                }
                Flow::Return(_) | Flow::Unsure(_, true) => ends = Ends::Function,
            }
        }
        self.settle(all, place);
        ends
    }

    /// Runs code with an unknown number of iterations, until it loses nothing more.
    pub(super) fn repeatedly(
        &mut self,
        body: &'a [Stmt],
        place: Span,
        run: &mut dyn FnMut(&mut Host<'a>) -> Flow<'a>,
    ) -> Ends {
        const ROUNDS: usize = 4;
        let mut leaves = Ends::Next;
        let bound: Vec<Rc<str>> = Locals::of_body(body, None).bound.iter().cloned().collect();
        for name in bound {
            // Names that the body binds may be bound already.
            if let Some((scope, value)) = self.find_for_binding(&name) {
                let why = Rc::new(Unknown::new(place, format!("`{name}`, which depends on this")));
                let keeps = matches!(
                    value,
                    HostValue::Kernel(_) | HostValue::Function(_) | HostValue::Class(_) | HostValue::Path(_)
                );
                if !keeps {
                    self.lose(&value, &why);
                    self.touch_name(&scope, &name);
                    scope.put_perhaps(&name, HostValue::Unknown(why));
                }
            }
        }
        for _ in 0..ROUNDS {
            let before = self.losses;
            if let Ends::Function = self.several(place, &mut [run]) {
                leaves = Ends::Function;
            }
            if self.losses == before || self.spent() {
                return leaves;
            }
        }
        self.lose_all(place, "more than is followed of a loop");
        leaves
    }

    /// Must be called before a container is changed.
    pub(super) fn touch(&mut self, value: &HostValue<'a>) {
        let Some(trial) = self.trials.last() else { return };
        let (number, at) = match value {
            HostValue::List(list) => (list.number, Rc::as_ptr(list) as usize),
            HostValue::Dict(dict) | HostValue::Set(dict) => (dict.number, Rc::as_ptr(dict) as usize),
            HostValue::Iter(iter) => (0, Rc::as_ptr(iter) as usize),
            _ => return,
        };
        let (first, known) = (trial.first, trial.known.contains(&(at, "".into())));
        if number >= first || known {
            return;
        }
        for trial in &mut self.trials {
            if number >= trial.first || !trial.known.insert((at, "".into())) {
                continue;
            }
            trial.saved.push(match value {
                HostValue::List(list) => Saved::List(list.clone(), list.borrow().clone(), list.lost.borrow().clone()),
                HostValue::Dict(dict) | HostValue::Set(dict) => {
                    Saved::Dict(dict.clone(), dict.borrow().clone(), dict.lost.borrow().clone())
                }
                HostValue::Iter(iter) => Saved::Iter(value.clone(), Box::new(iter.borrow().clone())),
                _ => return,
            });
        }
    }

    /// Must be called before a name of a scope is bound.
    pub(super) fn touch_name(&mut self, scope: &Scope<'a>, name: &Rc<str>) {
        let at = Rc::as_ptr(scope) as usize;
        for trial in &mut self.trials {
            if scope.number >= trial.first || !trial.known.insert((at, name.clone())) {
                continue;
            }
            let value = scope.borrow().get(name).cloned();
            let lost = scope.lost.borrow().get(name).cloned();
            let perhaps = scope.perhaps.borrow().contains(name);
            trial.saved.push(Saved::Name(scope.clone(), name.clone(), value, lost, perhaps));
        }
    }

    /// Binds a name of a scope.
    pub(super) fn bind_in(&mut self, scope: &Scope<'a>, name: &str, value: HostValue<'a>) {
        if !self.trials.is_empty() {
            self.touch_name(scope, &name.into());
        }
        scope.put(name, value);
    }

    /// Makes the contents of a value unknown: code that is not followed may change it at any time.
    pub(super) fn lose(&mut self, value: &HostValue<'a>, why: &Rc<Unknown>) {
        let mut work = vec![value.clone()];
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        while let Some(value) = work.pop() {
            // It costs a step, once for each trial that records it.
            self.step();
            match &value {
                HostValue::Tuple(items) if seen.insert(Rc::as_ptr(items) as usize) => {
                    work.extend(items.iter().cloned());
                }
                HostValue::List(list) if list.lost.borrow().is_none() => {
                    self.touch(&value);
                    self.losses += 1;
                    *list.lost.borrow_mut() = Some(why.clone());
                    work.extend(std::mem::take(&mut *list.borrow_mut()));
                }
                HostValue::View(dict, _) => work.push(HostValue::Dict(dict.clone())),
                HostValue::Dict(dict) | HostValue::Set(dict) if dict.lost.borrow().is_none() => {
                    self.touch(&value);
                    self.losses += 1;
                    *dict.lost.borrow_mut() = Some(why.clone());
                    let entries = std::mem::take(&mut *dict.borrow_mut());
                    work.extend(entries.into_values().flat_map(|(key, value)| [key, value]));
                }
                HostValue::Iter(source) => {
                    let lost = matches!(&*source.borrow(), Source::Lost(_));
                    if !lost {
                        self.touch(&value);
                        self.losses += 1;
                        let old = std::mem::replace(&mut *source.borrow_mut(), Source::Lost(why.clone()));
                        work.extend(old.holds());
                    }
                }
                HostValue::Object(object) => {
                    let Some(class) = &object.class else { continue };
                    if object.fields.all_lost().is_none() {
                        work.extend(object.fields.borrow().values().cloned());
                        self.lose_frame(&object.fields.clone(), why);
                        work.extend(self.methods(class));
                    }
                }
                HostValue::Class(class)
                    if seen.insert(Rc::as_ptr(class) as usize) && class.names.all_lost().is_none() =>
                {
                    work.extend(self.methods(class));
                    work.extend(class.names.borrow().values().filter(|v| !is_code(v)).cloned());
                    self.lose_data(&class.names.clone(), why);
                }
                HostValue::Function(function) if seen.insert(Rc::as_ptr(function) as usize) => {
                    work.extend(self.escapes(function, why));
                }
                HostValue::Bound(bound) => work.extend([bound.0.clone(), bound.1.clone()]),
                HostValue::Wrapped(wrapped) => match &**wrapped {
                    Wrapped::Static(inner) | Wrapped::OfClass(inner) | Wrapped::Cached(inner, _) => {
                        work.push(inner.clone());
                    }
                    Wrapped::Property(read, set) => {
                        work.extend([Some(read.clone()), set.clone()].into_iter().flatten())
                    }
                    Wrapped::Partial(inner, given) => {
                        work.push(inner.clone());
                        work.extend(given.iter().map(|(_, value)| value.clone()));
                    }
                },
                HostValue::Method(method) => work.push(method.0.clone()),
                HostValue::Super(inner) => work.push(inner.0.clone()),
                HostValue::Exception(exception) => work.extend(exception.1.iter().cloned()),
                _ => {}
            }
        }
    }

    fn methods(&self, class: &Rc<super::value::Class<'a>>) -> Vec<HostValue<'a>> {
        let of = |class: &Rc<super::value::Class<'a>>| -> Vec<HostValue<'a>> {
            class.names.borrow().values().filter(|value| is_code(value)).cloned().collect()
        };
        class.order.borrow().iter().flat_map(of).collect()
    }

    /// Values that a function that may be called at any time may change: data that its text names, and names that it
    /// declares `global`.
    fn escapes(&mut self, function: &Rc<Function<'a>>, why: &Rc<Unknown>) -> Vec<HostValue<'a>> {
        if !function.escaped.replace(true) {
            self.escaped.push(function.clone());
        }
        let locals = function.locals.clone();
        let mut reached = Vec::new();
        for name in locals.globals.iter().chain(&locals.nonlocals).chain(&locals.shared) {
            let scope = function.scopes.iter().rev().find(|scope| scope.borrow().contains_key(name)).cloned();
            let Some(scope) = scope.or_else(|| function.scopes.first().cloned()) else { continue };
            if !scope.lost.borrow().contains_key(name) {
                self.touch_name(&scope, name);
                self.losses += 1;
                reached.extend(scope.get(name));
                scope.lost.borrow_mut().insert(name.clone(), why.clone());
                scope.borrow_mut().insert(name.clone(), HostValue::Unknown(why.clone()));
            }
        }
        for name in locals.read.iter().filter(|name| !locals.bound.contains(*name)) {
            let value = function.scopes.iter().rev().find_map(|scope| scope.borrow().get(name).cloned());
            reached.extend(value);
        }
        reached.extend(function.defaults.values().cloned());
        reached
    }

    /// Loses all fields of an instance.
    fn lose_frame(&mut self, frame: &Scope<'a>, why: &Rc<Unknown>) {
        self.save_frame(frame);
        self.losses += 1;
        *frame.all_lost.borrow_mut() = Some(why.clone());
        let names: Vec<Rc<str>> = frame.borrow().keys().cloned().collect();
        for name in names {
            self.touch_name(frame, &name);
            let keeps = frame.borrow().get(&name).is_some_and(super::value::is_definition);
            if !keeps {
                frame.borrow_mut().insert(name, HostValue::Unknown(why.clone()));
            }
        }
    }

    /// Loses the data of a class or module, but not its functions.
    fn lose_data(&mut self, frame: &Scope<'a>, why: &Rc<Unknown>) {
        self.save_frame(frame);
        self.losses += 1;
        *frame.all_lost.borrow_mut() = Some(why.clone());
        let names: Vec<Rc<str>> = frame.borrow().keys().cloned().collect();
        for name in names {
            let keeps = frame.borrow().get(&name).is_some_and(|v| is_code(v) || super::value::is_definition(v));
            if !keeps {
                self.touch_name(frame, &name);
                frame.borrow_mut().insert(name, HostValue::Unknown(why.clone()));
            }
        }
    }

    fn save_frame(&mut self, frame: &Scope<'a>) {
        let at = Rc::as_ptr(frame) as usize;
        for trial in &mut self.trials {
            if frame.number < trial.first && trial.known.insert((at, "".into())) {
                trial.saved.push(Saved::Frame(frame.clone(), frame.all_lost()));
            }
        }
    }

    /// Loses all data that names refer to.
    pub(super) fn lose_all(&mut self, place: Span, why: &str) {
        let why = Rc::new(Unknown::new(place, why));
        let frames: Vec<Scope<'a>> = self.scopes.iter().chain(self.outside()).cloned().collect();
        for frame in frames {
            let values: Vec<_> = frame.borrow().values().cloned().collect();
            values.iter().for_each(|value| self.lose(value, &why));
            self.lose_data(&frame, &why);
        }
    }

    /// Passes these values to a call that is not followed: it may keep them and change them.
    pub(super) fn let_go<'v>(&mut self, values: impl IntoIterator<Item = &'v HostValue<'a>>, span: Span, what: &str)
    where
        'a: 'v,
    {
        if self.raised.is_some() {
            // It is not reached.
            return;
        }
        let why = Rc::new(Unknown::new(span, format!("what {what} may have changed")));
        self.risks += 1;
        values.into_iter().for_each(|value| self.lose(value, &why));
        // It may call functions that were passed earlier.
        if !self.escaped.is_empty() {
            let escaped = self.escaped.clone();
            for function in escaped {
                self.lose(&HostValue::Function(function), &why);
            }
        }
    }

    /// A value that contains these, one of which is unknown.
    pub(super) fn lost_in(&mut self, values: &[HostValue<'a>], span: Span, why: &str) -> HostValue<'a> {
        if self.raised.is_some() {
            return unknown(span, "what is not reached");
        }
        let first = values.iter().find_map(|value| match value {
            HostValue::Unknown(why) => Some(why.clone()),
            _ => None,
        });
        let result = first.map_or_else(|| unknown(span, why), HostValue::Unknown);
        if let HostValue::Unknown(why) = &result {
            let why = why.clone();
            values.iter().for_each(|value| self.lose(value, &why));
        }
        self.risks += 1;
        result
    }
}

/// True for functions of a class.
fn is_code(value: &HostValue<'_>) -> bool {
    matches!(
        value,
        HostValue::Function(_)
            | HostValue::Wrapped(_)
            | HostValue::Kernel(_)
            | HostValue::Class(_)
            | HostValue::Bound(_)
    )
}
