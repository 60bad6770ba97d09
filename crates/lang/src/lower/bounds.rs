//! The bounds of loops, and loops that count down.

use ruff_python_ast::{Expr, ExprCall, Operator, StmtFor};
use ruff_text_size::Ranged;

use super::lowering::{Lower, Lowered};
use super::names::Names;
use crate::syntax::at;
use crate::tree;
use crate::value::{Const, Value};

/// A loop's first value, end and step.
pub(super) struct Bounds {
    pub first: Value,
    pub end: Value,
    pub step: Value,
}

/// First value, end and step of a loop, if they are known and the step is positive.
pub(super) fn known_bounds(bounds: &Bounds) -> Option<(i64, i64, i64)> {
    match (&bounds.first, &bounds.end, &bounds.step) {
        (Value::Const(Const::Int(first)), Value::Const(Const::Int(end)), Value::Const(Const::Int(step)))
            if *step > 0 =>
        {
            Some((*first, *end, *step))
        }
        _ => None,
    }
}

/// The number of iterations, if it is a signed 64-bit integer.
pub(super) fn iterations(bounds: (i64, i64, i64)) -> Option<i64> {
    i64::try_from(count_of(bounds)).ok()
}

/// The number of iterations from a first value to an end, with a nonzero step.
pub(super) fn count_of((first, end, step): (i64, i64, i64)) -> u64 {
    let runs = if step > 0 { first < end } else { first > end };
    if runs { end.abs_diff(first).div_ceil(step.unsigned_abs()) } else { 0 }
}

impl Lower<'_> {
    /// Lowers a loop that counts down as one that counts its iterations.
    pub(super) fn upwards(
        &mut self,
        stmt: &StmtFor,
        bounds: Bounds,
        lower: impl FnOnce(&mut Self, &StmtFor, &Bounds) -> Lowered<()>,
    ) -> Lowered<()> {
        let Value::Const(Const::Int(step @ ..0)) = bounds.step else { return lower(self, stmt, &bounds) };
        let (span, range) = (at(&*stmt.iter), stmt.iter.range());
        let number = |n: i64| Value::Const(Const::Int(n));
        let Some(down) = step.checked_neg() else {
            return Err(self.error("loop", span, "the step of a loop is a number of less than 64 bits"));
        };
        let distance = self.binary_number(Operator::Sub, &bounds.first, &bounds.end, span)?;
        let rounded = self.binary_number(Operator::Add, &distance, &number(down - 1), span)?;
        let iterations = self.binary_number(Operator::FloorDiv, &rounded, &number(down), span)?;
        let names = ["first$", "step$", "iteration$"].map(|name| format!("{name}{}", u32::from(range.start())));
        let [first, step, iteration] = &names;
        self.set(first, bounds.first);
        self.set(step, number(down));
        let mut stmt = stmt.clone();
        let counter = match &mut *stmt.target {
            Expr::Tuple(tuple) if tuple.elts.len() == 2 => &mut tuple.elts[0],
            single => single,
        };
        let counter = std::mem::replace(counter, tree::bound(iteration, range));
        let place = counter.range();
        let product = tree::operation(tree::read(iteration, place), Operator::Mult, tree::read(step, place), place);
        let value = tree::operation(tree::read(first, place), Operator::Sub, product, place);
        stmt.body.insert(0, tree::assign(counter.clone(), value, place));
        let bounds = Bounds { first: number(0), end: iterations, step: number(1) };
        lower(self, &stmt, &bounds)?;
        let last = match (self.names.env.get(&**first), &bounds.end) {
            (Some(Value::Const(Const::Int(first))), Value::Const(Const::Int(iterations @ 1..))) => {
                (iterations - 1).checked_mul(down).and_then(|way| first.checked_sub(way))
            }
            _ => None,
        };
        if let (Expr::Name(name), Some(last)) = (&counter, last)
            && !self.names.env.contains_key(name.id.as_str())
            && !Names::of(&stmt.body[1..]).bound.iter().any(|bound| **bound == *name.id.as_str())
        {
            self.set(name.id.as_str(), number(last));
        }
        Ok(())
    }

    /// `stop`, `start, stop` or `start, stop, step`.
    pub(super) fn bounds(&mut self, call: &ExprCall, accepted: &[&str]) -> Lowered<Bounds> {
        self.only_keywords(call, accepted, "a loop")?;
        let args: Vec<Value> = call.arguments.args.iter().map(|arg| self.expr(arg)).collect::<Lowered<_>>()?;
        let int = |n| Value::Const(Const::Int(n));
        match args.as_slice() {
            [end] => Ok(Bounds { first: int(0), end: end.clone(), step: int(1) }),
            [first, end] => Ok(Bounds { first: first.clone(), end: end.clone(), step: int(1) }),
            [first, end, step] => Ok(Bounds { first: first.clone(), end: end.clone(), step: step.clone() }),
            _ => Err(self.error("argument", at(call), "a loop takes an end, a start and an end, or these and a step")),
        }
    }

    /// Reports a keyword that the callee does not accept.
    pub(super) fn only_keywords(&mut self, call: &ExprCall, accepted: &[&str], what: &str) -> Lowered<()> {
        for keyword in &call.arguments.keywords {
            let name = keyword.arg.as_ref().map_or("**", |name| name.as_str());
            if !accepted.contains(&name) {
                return Err(self.error("argument", at(keyword), format!("{what} has no argument `{name}`")));
            }
        }
        Ok(())
    }

    /// First value, end and step of a range, which must all be known.
    pub(super) fn known_range(&mut self, call: &ExprCall) -> Lowered<[i64; 3]> {
        let Bounds { first, end, step } = self.bounds(call, &[])?;
        let span = at(call);
        Ok([
            self.known_int(&first, "the start of a listed range", span)?,
            self.known_int(&end, "the end of a listed range", span)?,
            self.known_int(&step, "the step of a listed range", span)?,
        ])
    }
}
