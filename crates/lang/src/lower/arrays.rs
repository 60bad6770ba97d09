//! Elements of arrays, which are values: if an index is only known at run time, every element is inspected.

use std::rc::Rc;

use ruff_python_ast::{CmpOp, Stmt};
use slipring_ir::{Attr, Span, Type};
use slipring_mlir::{arith, scf};
use slipring_pto as pto;

use super::lowering::{Lower, Lowered};
use super::names::Names;
use super::state::Frame;
use crate::dtype::DType;
use crate::value::{Const, Index, Value, is_array};

impl Lower<'_> {
    /// The index of an element if it is known; `None` if it is only known at run time.
    fn place_of(&mut self, items: &[Value], index: &Value, span: Span) -> Lowered<Option<usize>> {
        let Value::Const(_) = index else { return Ok(None) };
        let n = self.known_int(index, "the position", span)?;
        self.place_in(n, items.len(), span).map(Some)
    }

    /// An element of an array.
    pub fn array_element(&mut self, items: &[Value], index: &Value, span: Span) -> Lowered {
        if let Some(at) = self.place_of(items, index, span)? {
            return Ok(items[at].clone());
        }
        self.check_index(index, items.len(), span)?;
        let mut found = items[0].clone();
        for (at, item) in items.iter().enumerate().skip(1) {
            found = self.where_at(index, at, item, &found, span)?;
        }
        Ok(found)
    }

    /// An array with one element replaced.
    pub fn with_element(&mut self, items: &[Value], index: &Value, value: &Value, span: Span) -> Lowered {
        let typed = |lower: &mut Self, old: &Value| match old {
            Value::Scalar(scalar) => {
                let number = lower.number(value, scalar.ty, span)?;
                Ok(lower.scalar(number, scalar.ty))
            }
            _ => Ok(value.clone()),
        };
        let mut items = items.to_vec();
        match self.place_of(&items, index, span)? {
            Some(at) => items[at] = typed(self, &items[at])?,
            None => {
                self.check_index(index, items.len(), span)?;
                for (at, item) in items.iter_mut().enumerate() {
                    let new = typed(self, item)?;
                    *item = self.where_at(index, at, &new, item, span)?;
                }
            }
        }
        Ok(Value::Tuple(items.into()))
    }

    /// Reports an index that is out of range in some iteration; if it is only known at run time, the run stops there.
    fn check_index(&mut self, index: &Value, count: usize, span: Span) -> Lowered<()> {
        let (at, count) = (self.index(index, span)?, count as u64);
        let Index::At(scalar) = at else { return Ok(()) };
        self.inside_each_time(at, 1, count, format_args!("an array of {count} elements"), span)?;
        if self.inside_always(scalar.value, count) {
            return Ok(());
        }
        let (first, end) = (Value::Const(Const::Int(0)), Value::Const(Const::Int(count as i64)));
        let mut outside = Vec::new();
        for (relation, bound) in [(CmpOp::Lt, first), (CmpOp::GtE, end)] {
            let boolean = self.compare_numbers(relation, index, &bound, span)?;
            outside.push(self.number(&boolean, DType::Bool, span)?);
        }
        let ends: [(&str, &[_]); 2] = [("lhs", &outside[..1]), ("rhs", &outside[1..])];
        let condition = self.e.value(&arith::ORI, &ends, &[], Type::I1);
        let op = self.e.op(&scf::IF, &[("condition", &[condition])], &[], &[]);
        let blocks = [self.e.region(op), self.e.region(op)];
        self.e.inside(blocks[1], |e| e.op(&scf::YIELD, &[], &[], &[]));
        let counters = self.open_counters();
        self.in_block(blocks[0], |lower| {
            let format = Attr::Str(format!("index %d of an array of {count} elements").into());
            lower.e.op(&pto::PRINT, &[("scalar", &[scalar.value])], &[("format", format)], &[]);
            for (name, counter) in counters {
                let format = Attr::Str(format!("  where `{name}` is %d").into());
                lower.e.op(&pto::PRINT, &[("scalar", &[counter])], &[("format", format)], &[]);
            }
            let reason = format!("the index is outside of this array of {count} elements: it is printed");
            lower.e.op(&pto::TRAP, &[], &[("reason", Attr::Str(reason.into()))], &[]);
            lower.e.op(&scf::YIELD, &[], &[], &[]);
        });
        Ok(())
    }

    /// One of two numbers: `then` if an index is `at`.
    fn where_at(&mut self, index: &Value, at: usize, then: &Value, otherwise: &Value, span: Span) -> Lowered {
        let here = self.compare_numbers(CmpOp::Eq, index, &Value::Const(Const::Int(at as i64)), span)?;
        let here = self.number(&here, DType::Bool, span)?;
        self.select(here, then, otherwise, span)
    }

    /// Changes an element of a named array: an array is a value, so the name is rebound.
    pub fn set_element(
        &mut self,
        name: &str,
        items: &[Value],
        index: &Value,
        value: &Value,
        span: Span,
    ) -> Lowered<()> {
        let changed = self.with_element(items, index, value, span)?;
        self.bind(name, changed);
        Ok(())
    }

    /// The names of arrays among those with assignments to a part: they are rebound.
    pub fn arrays_among<'n>(&self, written: impl Iterator<Item = &'n Rc<str>>) -> Vec<Rc<str>> {
        written.filter(|name| self.names.env.get(*name).is_some_and(is_array)).cloned().collect()
    }

    /// The names in some statements, where changed arrays count as rebound.
    pub(super) fn names_in_body(&self, body: &[Stmt]) -> Names {
        let mut names = Names::of(body);
        for array in self.arrays_among(names.written.iter()) {
            names.exposed.insert(array.clone());
            names.bound.insert(array);
        }
        names
    }

    /// Like [`Lower::names_in_body`], for the body of a loop, with its `init_values`.
    pub(super) fn names_in_loop(&self, body: &[Stmt], frame: &Frame) -> Names {
        let mut names = self.names_in_body(body);
        names.carry(frame.carried());
        names
    }
}
