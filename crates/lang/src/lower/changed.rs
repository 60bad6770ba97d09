//! Lists and dicts that a kernel makes and changes: a change is visible through every name and every containing list.
//!
//! The contents are known at compile time, so a change happens exactly once. It is rejected where the run may pass
//! several times or not at all: in the body of a loop or branch other than the one that made the list, and in a
//! function that it was passed to.

use std::rc::Rc;

use ruff_python_ast::{Expr, ExprCall, ExprSlice, Operator};
use slipring_ir::{Diagnostic, Span};

use super::lowering::{Lower, Lowered, describe};
use super::state::Made;
use crate::syntax::at;
use crate::value::{Const, Items, Record, Value};

/// Methods that change a list.
const METHODS: [&str; 6] = ["append", "extend", "insert", "pop", "reverse", "clear"];

/// The maximum number of values in a list or tuple, including nested lists.
const MOST: usize = 1 << 16;
/// The maximum nesting depth of lists.
const MOST_DEEP: usize = 100;
/// The maximum number of values in a list that changes, and in lists that contain it: each change rebuilds them.
const MOST_CHANGED: usize = 4096;
/// Number of known lists above which unreferenced ones are forgotten.
const FEW: usize = 64;

impl Lower<'_> {
    /// The values of `[…]` and `(…)`.
    pub(super) fn tuple(&mut self, list: &[Expr], span: Span) -> Lowered {
        let items: Vec<Value> = list.iter().map(|expr| self.expr(expr)).collect::<Lowered<_>>()?;
        self.listed(items, span)
    }

    pub(super) fn listed(&mut self, items: Vec<Value>, span: Span) -> Lowered {
        let mut left = MOST;
        if !fits(&items, &mut left, MOST_DEEP) {
            let message =
                format!("a list of more than {MOST} values, or more than {MOST_DEEP} lists inside each other");
            return Err(self.error("too-large", span, message));
        }
        Ok(Value::Tuple(items.into()))
    }

    /// A slice of a list: a new list, with bounds as in Python.
    pub(super) fn sliced(&mut self, items: &Items, slice: &ExprSlice, span: Span) -> Lowered {
        let mut bound = |part: &Option<Box<Expr>>| -> Lowered<Option<i64>> {
            let Some(part) = part else { return Ok(None) };
            let value = self.expr(part)?;
            self.known_int(&value, "a bound of a part of a list", at(&**part)).map(Some)
        };
        let (lower, upper, step) = (bound(&slice.lower)?, bound(&slice.upper)?, bound(&slice.step)?.unwrap_or(1));
        if step == 0 {
            return Err(self.error("subscript", span, "the step of a part of a list is not 0"));
        }
        let len = items.len() as i64;
        // For a negative step, the excluded bounds are the positions before the first and the last one.
        let (least, most) = if step > 0 { (0, len) } else { (-1, len - 1) };
        let place = |n: i64| (if n < 0 { n.saturating_add(len) } else { n }).clamp(least, most);
        let (mut now, end) = if step > 0 {
            (lower.map_or(0, place), upper.map_or(len, place))
        } else {
            (lower.map_or(len - 1, place), upper.map_or(-1, place))
        };
        let mut made = Vec::new();
        while if step > 0 { now < end } else { now > end } {
            made.push(items[now as usize].clone());
            now = now.saturating_add(step);
        }
        self.listed(made, span)
    }

    /// Concatenated lists, or a repeated one. `None` for other operands.
    pub(super) fn joined(&mut self, op: Operator, a: &Value, b: &Value, span: Span) -> Lowered<Option<Value>> {
        let items: Vec<Value> = match (op, a, b) {
            (Operator::Add, Value::Tuple(a), Value::Tuple(b)) => a.iter().chain(b).cloned().collect(),
            (Operator::Mult, Value::Tuple(items), Value::Const(Const::Int(n))) => {
                let count = items.len().saturating_mul((*n).max(0) as usize);
                items.iter().cycle().take(count.min(MOST + 1)).cloned().collect()
            }
            _ => return Ok(None),
        };
        self.listed(items, span).map(Some)
    }

    /// Records that names are bound to a list or dict that an expression makes.
    pub(super) fn note_list(&mut self, made_by: &Expr, value: &Value) {
        let makes = match value {
            Value::Tuple(_) => self.makes_list(made_by),
            Value::Record(_) => made_by.is_dict_expr(),
            _ => false,
        };
        if makes && !self.names.lists.iter().any(|made| is_same(&made.value, value)) {
            if self.names.lists.len() >= FEW {
                self.names.lists.retain(Made::is_held);
            }
            let id = self.names.lists.iter().map(|made| made.id + 1).max().unwrap_or(0);
            let made = Made { id, value: value.clone(), block: self.e.block, calls: self.open.call_sites.len() };
            self.names.lists.push(made);
        }
    }

    /// True if an expression, whose value is known to be listed, makes a list: not a tuple, and not a name for a list.
    fn makes_list(&self, expr: &Expr) -> bool {
        match expr {
            Expr::List(_) | Expr::ListComp(_) => true,
            Expr::BinOp(binary) => [&binary.left, &binary.right].into_iter().any(|side| self.is_list(side)),
            Expr::Subscript(part) => part.slice.is_slice_expr() && self.is_list(&part.value),
            _ => false,
        }
    }

    /// True if an expression is a list that the kernel made.
    fn is_list(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Name(name) => {
                let value = self.names.env.get(name.id.as_str());
                value.is_some_and(|value| self.is_as_made(value))
            }
            other => self.makes_list(other),
        }
    }

    /// True if a value is a list or dict that the kernel made, in its current state.
    fn is_as_made(&self, value: &Value) -> bool {
        self.number_of(value).is_some()
    }

    /// The id of a list or dict that the kernel made.
    pub(super) fn number_of(&self, value: &Value) -> Option<usize> {
        self.names.lists.iter().find(|made| is_same(&made.value, value)).map(|made| made.id)
    }

    /// The current state of the list or dict with this id.
    pub(super) fn made(&self, id: usize) -> Option<&Value> {
        self.names.lists.iter().find(|made| made.id == id).map(|made| &made.value)
    }

    /// Reports an index that changes a list, if it is evaluated twice.
    pub(super) fn index_changes_nothing(&mut self, target: &Expr) -> Lowered<()> {
        let Expr::Subscript(part) = target else { return Ok(()) };
        match changes_list(&part.slice) {
            true => {
                let error =
                    Diagnostic::error("value-kind", at(&*part.slice), "this index changes a list, and is needed twice")
                        .help("give the index a name first");
                Err(self.report(error))
            }
            false => Ok(()),
        }
    }

    /// True if the kernel made a list or dict here and may change it.
    fn made_here(&self, value: &Value) -> bool {
        let calls = self.open.call_sites.len();
        let here = |made: &Made| is_same(&made.value, value) && made.block == self.e.block && made.calls == calls;
        self.names.lists.iter().any(here)
    }

    /// `list += values`: changes the list itself. `None` if the name is bound to something else.
    pub(super) fn extended(&mut self, target: &Expr, op: Operator, a: &Value, b: &Value) -> Lowered<Option<()>> {
        let (Expr::Name(name), Value::Tuple(_)) = (target, a) else { return Ok(None) };
        if self.names.tuples.contains(name.id.as_str()) || !matches!(op, Operator::Add | Operator::Mult) {
            return Ok(None);
        }
        // Evaluating the operand may have changed the list.
        let Value::Tuple(items) = self.expr(target)? else { return Ok(None) };
        match self.joined(op, &Value::Tuple(items.clone()), b, at(target))? {
            Some(new) => self.change(&Value::Tuple(items), new, at(target)).map(Some),
            _ => Ok(None),
        }
    }

    /// `list[i] = value` for a list that the kernel made here, `dict[key] = value` for any dict. False for anything
    /// else.
    pub(super) fn changed_at(&mut self, base: &Value, index: &Expr, value: &Value, span: Span) -> Lowered<bool> {
        if let Value::Record(record) = base
            && record.is_dict
        {
            let key = self.key(index)?;
            let new = self.with_entry(record.entries.clone(), key, value.clone(), span)?;
            return self.change(base, Value::Record(Record::dict(new).into()), span).map(|()| true);
        }
        let Value::Tuple(items) = base else { return Ok(false) };
        if !self.made_here(base) {
            return match self.is_as_made(base) && !crate::value::is_array(base) {
                true => self.change(base, base.clone(), span).map(|()| true),
                false => Ok(false),
            };
        }
        if matches!(index, Expr::Slice(_) | Expr::Tuple(_)) {
            return Ok(false);
        }
        let Value::Const(Const::Int(n)) = self.expr(index)? else { return Ok(false) };
        let mut new: Vec<Value> = items.iter().cloned().collect();
        let place = self.place_in(n, new.len(), at(index))?;
        new[place] = value.clone();
        let new = self.listed(new, span)?;
        self.change(base, new, span).map(|()| true)
    }

    /// A method that changes a list, and its value. `None` for other calls.
    pub(super) fn list_method(&mut self, call: &ExprCall) -> Lowered<Option<Value>> {
        let Expr::Attribute(member) = &*call.func else { return Ok(None) };
        let (method, Expr::Name(name)) = (member.attr.as_str(), &*member.value) else { return Ok(None) };
        if !METHODS.contains(&method) {
            return Ok(None);
        }
        if self.list_of(name.id.as_str()).is_none() {
            return Ok(None);
        }
        let span = at(call);
        self.only_keywords(call, &[], &format!("`{method}`"))?;
        let given: Vec<Value> = call.arguments.args.iter().map(|arg| self.expr(arg)).collect::<Lowered<_>>()?;
        // Evaluating the arguments may have changed the list.
        let Some(items) = self.list_of(name.id.as_str()) else { return Ok(None) };
        let mut new: Vec<Value> = items.iter().cloned().collect();
        let mut value = Value::Const(Const::None);
        match (method, &given[..]) {
            ("append", [one]) => new.push(one.clone()),
            ("extend", [Value::Tuple(more)]) => new.extend(more.iter().cloned()),
            ("extend", [other]) => {
                let message = format!("`extend` takes what is listed, not {}", describe(self, other));
                return Err(self.error("argument", span, message));
            }
            ("insert", [before, one]) => {
                let n = self.known_int(before, "the position", span)?;
                let from_end = if n < 0 { n.saturating_add(new.len() as i64) } else { n };
                new.insert(from_end.clamp(0, new.len() as i64) as usize, one.clone());
            }
            ("pop", []) => {
                let place = self.place_in(-1, new.len(), span)?;
                value = new.remove(place);
            }
            ("pop", [which]) => {
                let n = self.known_int(which, "the position", span)?;
                let place = self.place_in(n, new.len(), span)?;
                value = new.remove(place);
            }
            ("reverse", []) => new.reverse(),
            ("clear", []) => new.clear(),
            _ => {
                let message = format!("`{method}` of a list does not take {} values", given.len());
                return Err(self.error("argument", span, message));
            }
        }
        let new = self.listed(new, span)?;
        self.change(&Value::Tuple(items), new, span)?;
        Ok(Some(value))
    }

    /// The list or tuple that a name of the kernel or of the file is bound to.
    fn list_of(&self, name: &str) -> Option<Items> {
        match self.names.env.get(name).cloned().or_else(|| self.globals.get(name)) {
            Some(Value::Tuple(items)) => Some(items),
            _ => None,
        }
    }

    /// The index of the value at a position, which counts from the end if it is negative.
    pub(crate) fn place_in(&mut self, n: i64, len: usize, span: Span) -> Lowered<usize> {
        let place = if n < 0 { n.saturating_add(len as i64) } else { n };
        match usize::try_from(place).ok().filter(|place| *place < len) {
            Some(place) => Ok(place),
            None => Err(self.error("bounds", span, format!("there are {len} values, not one at {n}"))),
        }
    }

    /// Replaces the contents of a list or dict, under all its names and in all containing lists.
    pub(super) fn change(&mut self, old: &Value, new: Value, span: Span) -> Lowered<()> {
        if !self.made_here(old) {
            let what = if matches!(old, Value::Tuple(_)) { "list" } else { "dict" };
            let error = Diagnostic::error("value-kind", span, format!("this {what} cannot be changed here"));
            return Err(self.report(error.help(super::unknown::LISTS)));
        }
        if holds(&new, old) {
            return Err(self.error("value-kind", span, "a list cannot hold itself"));
        }
        let mut renewed = vec![(old.clone(), new)];
        let values = self.names.env.iter().filter(|(_, value)| matches!(value, Value::Tuple(_) | Value::Record(_)));
        let after = values.filter_map(|(name, value)| Some((name.clone(), renew(value, &mut renewed)?)));
        let after: Vec<(Rc<str>, Value)> = after.collect();
        let is_small = |(_, value): &(Value, Value)| match value {
            Value::Tuple(items) => fits(items, &mut { MOST_CHANGED }, MOST_DEEP),
            _ => true,
        };
        if !renewed.iter().all(is_small) {
            let message = format!("a list that changes is one of more than {MOST_CHANGED} values, or lies in one");
            return Err(self.error("too-large", span, message));
        }
        self.names.env.extend(after);
        for made in &mut self.names.lists {
            if let Some((_, new)) = renewed.iter().find(|(old, _)| is_same(old, &made.value)) {
                made.value = new.clone();
            }
        }
        Ok(())
    }
}

/// True if evaluating an expression may change a list.
pub(super) fn changes_list(expr: &Expr) -> bool {
    crate::syntax::any_part(expr, &mut |part| {
        let Expr::Call(call) = part else { return false };
        matches!(&*call.func, Expr::Attribute(member) if METHODS.contains(&member.attr.as_str()))
    })
}

/// True if both are the same list or dict, not only equal.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Tuple(a), Value::Tuple(b)) => a.is(b),
        (Value::Record(a), Value::Record(b)) => Rc::ptr_eq(a, b),
        _ => false,
    }
}

/// True if a list or dict is a value or is contained in it.
fn holds(value: &Value, list: &Value) -> bool {
    is_same(value, list) || matches!(value, Value::Tuple(items) if items.iter().any(|item| holds(item, list)))
}

/// True if a list, including nested ones, has at most `left` values and is not nested too deeply.
fn fits(items: &[Value], left: &mut usize, deep: usize) -> bool {
    items.iter().all(|item| {
        let Some(fewer) = left.checked_sub(1) else { return false };
        *left = fewer;
        match item {
            Value::Tuple(inner) => deep > 0 && fits(inner, left, deep - 1),
            _ => true,
        }
    })
}

/// The value with the first of the pairs replaced; `None` if it does not contain it. Containing lists and tuples are
/// rebuilt and added to the pairs, once each, so that shared lists stay shared.
fn renew(value: &Value, renewed: &mut Vec<(Value, Value)>) -> Option<Value> {
    if let Some((_, new)) = renewed.iter().find(|(old, _)| is_same(value, old)) {
        return Some(new.clone());
    }
    let Value::Tuple(items) = value else { return None };
    let inner: Vec<Option<Value>> = items.iter().map(|item| renew(item, renewed)).collect();
    if inner.iter().all(Option::is_none) {
        return None;
    }
    let new = inner.into_iter().zip(items).map(|(new, old)| new.unwrap_or_else(|| old.clone())).collect();
    let new = Value::Tuple(new);
    renewed.push((value.clone(), new.clone()));
    Some(new)
}
