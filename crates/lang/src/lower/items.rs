//! Loops over listed values: tuples and lists, and `enumerate`, `zip` and `reversed` of them.

use ruff_python_ast::{Comprehension, Expr, ExprCall, StmtFor};
use slipring_ir::{Diagnostic, Span};

use super::bounds::count_of;
use super::lowering::{Lower, Lowered, describe};
use super::names::Names;
use super::state::Frame;
use crate::constants::is_true;
use crate::syntax::at;
use crate::value::{Const, Items, Value};

/// The maximum number of iterations of an unrolled loop.
pub(super) const MOST: u64 = 4096;

/// A list that the kernel made and a loop iterates over.
struct Walked {
    /// Its id.
    id: usize,
    /// Its contents at the beginning of the loop.
    items: Items,
    backwards: bool,
}

impl Lower<'_> {
    /// A loop over listed values: each iteration is unrolled.
    pub(super) fn over_items(&mut self, stmt: &StmtFor) -> Lowered<()> {
        let mut lists = Vec::new();
        let items = self.items(&stmt.iter, &mut lists)?;
        let target = std::slice::from_ref(&*stmt.target);
        let (span, place) = (at(&*stmt.target), at(&*stmt.iter));
        let bind = |l: &mut Self, i: i64| {
            l.still_the_same(&lists, i as usize, place)?;
            l.assign_each(target, Value::Tuple(vec![items[i as usize].clone()].into()), span)
        };
        self.each_bound(stmt, bind, &Frame::Plain, (0, items.len() as i64, 1))?;
        self.still_the_same(&lists, items.len(), place)
    }

    /// Reports a list that changed while a loop still iterates over it: Python would continue in the changed list.
    /// `done` of its values were processed.
    fn still_the_same(&mut self, lists: &[Walked], done: usize, place: Span) -> Lowered<()> {
        let same = |list: &Walked| {
            let Some(Value::Tuple(now)) = self.made(list.id) else { return false };
            let done = if list.backwards { 0 } else { done };
            let mut left = now.iter().zip(&list.items).skip(done);
            now.len() == list.items.len() && left.all(|(now, then)| self.same(now, then))
        };
        if lists.iter().all(same) {
            return Ok(());
        }
        let error = Diagnostic::error("value-kind", place, "this list changes while the loop goes through it")
            .help("go through a copy of it: `for x in values[:]`");
        Err(self.report(error))
    }

    /// `[value for name in listed if condition]`: each value is unrolled.
    pub(super) fn comprehension(&mut self, value: &Expr, generators: &[Comprehension], span: Span) -> Lowered {
        let mut made = Vec::new();
        let mut own = Names::default();
        generators.iter().for_each(|part| own.assigned(&part.target));
        // Its names are local: afterwards they have their earlier values.
        let before = self.names.only(&own.bound);
        let outcome = self.each_value(value, generators, &mut made);
        for name in &own.bound {
            self.names.restore(name, &before);
        }
        outcome.and_then(|()| self.listed(made, span))
    }

    fn each_value(&mut self, value: &Expr, generators: &[Comprehension], made: &mut Vec<Value>) -> Lowered<()> {
        let Some((first, further)) = generators.split_first() else {
            made.push(self.expr(value)?);
            return self.few_enough(made.len() as u64, at(value));
        };
        let mut lists = Vec::new();
        let (items, place) = (self.items(&first.iter, &mut lists)?, at(&first.iter));
        let count = items.len();
        'items: for (done, item) in items.into_iter().enumerate() {
            self.still_the_same(&lists, done, place)?;
            self.assign(&first.target, item)?;
            for condition in &first.ifs {
                match self.expr(condition)? {
                    Value::Const(known) if is_true(&known) => {}
                    Value::Const(_) => continue 'items,
                    other => {
                        let message = format!(
                            "a condition of a list is known when it is made, this is {}",
                            describe(self, &other)
                        );
                        return Err(self.error("condition", at(condition), message));
                    }
                }
            }
            self.each_value(value, further, made)?;
        }
        self.still_the_same(&lists, count, place)
    }

    /// The values that a loop takes from the expression after its `in`.
    fn items(&mut self, listed: &Expr, lists: &mut Vec<Walked>) -> Lowered<Vec<Value>> {
        let items = match listed {
            Expr::Call(call) => self.called_items(call, lists)?,
            _ => None,
        };
        if let Some(items) = items {
            return self.not_too_many(items, listed);
        }
        let value = self.expr(listed)?;
        if let (Some(id), Value::Tuple(items)) = (self.number_of(&value), &value) {
            lists.push(Walked { id, items: items.clone(), backwards: false });
        }
        match value {
            Value::Tuple(items) => self.not_too_many(items.into(), listed),
            other => {
                let message =
                    format!("a loop runs over `pl.range(…)` or what is listed, not over {}", describe(self, &other));
                let error = Diagnostic::error("loop", at(listed), message)
                    .help("rows of a tensor are `x[i, :]` for `i in pl.range(x.shape[0])`");
                Err(self.report(error))
            }
        }
    }

    fn not_too_many(&mut self, items: Vec<Value>, listed: &Expr) -> Lowered<Vec<Value>> {
        self.few_enough(items.len() as u64, at(listed)).map(|()| items)
    }

    fn few_enough(&mut self, count: u64, span: Span) -> Lowered<()> {
        if count <= MOST {
            return Ok(());
        }
        let message = format!("a loop over a list is written out, and {count} values are more than {MOST}");
        Err(self.report(
            Diagnostic::error("loop", span, message).help("count with `pl.range`, and read the values from a tensor"),
        ))
    }

    /// The values of a call. `None` for one that has to be evaluated to know them.
    fn called_items(&mut self, call: &ExprCall, lists: &mut Vec<Walked>) -> Lowered<Option<Vec<Value>>> {
        let Value::Path(path) = self.expr(&call.func)? else { return Ok(None) };
        match &*path {
            "enumerate" => self.numbered(call, lists).map(Some),
            "zip" => self.side_by_side(call, lists).map(Some),
            "reversed" => {
                let [listed] = &call.arguments.args[..] else {
                    return Err(self.takes(call, "`reversed` takes a list"));
                };
                self.only_keywords(call, &[], "`reversed`")?;
                let before = lists.len();
                let mut items = self.items(listed, lists)?;
                lists[before..].iter_mut().for_each(|list| list.backwards = true);
                items.reverse();
                Ok(Some(items))
            }
            "range" | "pl.range" | "pl.unroll" => self.counted_items(call).map(Some),
            _ => Ok(None),
        }
    }

    fn numbered(&mut self, call: &ExprCall, lists: &mut Vec<Walked>) -> Lowered<Vec<Value>> {
        self.only_keywords(call, &["start"], "`enumerate`")?;
        let keyword = call.arguments.keywords.first().map(|keyword| &keyword.value);
        let (listed, start) = match (&call.arguments.args[..], keyword) {
            ([listed], start) => (listed, start),
            ([listed, start], None) => (listed, Some(start)),
            _ => return Err(self.takes(call, "`enumerate` takes a list and the number of its first value")),
        };
        let first = match start {
            None => 0,
            Some(start) => {
                let value = self.expr(start)?;
                self.known_int(&value, "the first number of `enumerate`", at(start))?
            }
        };
        let items = self.items(listed, lists)?;
        let numbered = |(at, item): (i64, Value)| Value::Tuple(vec![Value::Const(Const::Int(at)), item].into());
        match first.checked_add(items.len() as i64) {
            Some(end) => Ok((first..end).zip(items).map(numbered).collect()),
            None => Err(self.error("loop", at(call), "the numbers of `enumerate` have less than 64 bits")),
        }
    }

    fn side_by_side(&mut self, call: &ExprCall, lists: &mut Vec<Walked>) -> Lowered<Vec<Value>> {
        self.only_keywords(call, &["strict"], "`zip`")?;
        let strict = match call.arguments.keywords.first() {
            None => false,
            Some(keyword) => match self.expr(&keyword.value)? {
                Value::Const(Const::Bool(strict)) => strict,
                _ => return Err(self.error("argument", at(keyword), "`strict` is `True` or `False`")),
            },
        };
        let all: Vec<Vec<Value>> =
            call.arguments.args.iter().map(|list| self.items(list, lists)).collect::<Lowered<_>>()?;
        let shortest = all.iter().map(Vec::len).min().unwrap_or(0);
        if let Some(longer) = all.iter().position(|list| strict && list.len() != shortest) {
            let message = format!("`zip` is strict, and its lists have {shortest} and {} values", all[longer].len());
            return Err(self.error("loop", at(call), message));
        }
        Ok((0..shortest)
            .map(|at| Value::Tuple(all.iter().map(|list| list[at].clone()).collect::<Vec<_>>().into()))
            .collect())
    }

    /// The values of a known range.
    fn counted_items(&mut self, call: &ExprCall) -> Lowered<Vec<Value>> {
        let [first, end, step] = self.known_range(call)?;
        if step == 0 {
            return Err(self.error("loop", at(call), "the step of a loop must not be 0"));
        }
        let count = count_of((first, end, step));
        self.few_enough(count, at(call))?;
        // Each value is between the bounds, but the intermediate product may overflow.
        let number = |at: i64| first.wrapping_add(at.wrapping_mul(step));
        Ok((0..count as i64).map(|at| Value::Const(Const::Int(number(at)))).collect())
    }

    fn takes(&mut self, call: &ExprCall, what: &str) -> slipring_ir::Reported {
        self.error("argument", at(call), what.to_string())
    }
}
