//! Statements.

use ruff_python_ast::{Expr, Stmt};
use slipring_ir::{Diagnostic, Span};

use super::names::Names;
use super::{Lower, Lowered, Value, describe};
use crate::syntax::at;
use crate::value::Tensor;

impl Lower<'_> {
    /// Lowers statements in order. After an error the statements behind it are lowered too, so that their errors are
    /// reported; names that the failed statement binds then stand for nothing and are not reported again.
    pub fn body(&mut self, body: &[Stmt]) -> Lowered<()> {
        let mut outcome = Ok(());
        for (at, stmt) in body.iter().enumerate() {
            self.read_later.push(Names::of(&body[at + 1..]).read);
            let this = self.stmt(stmt);
            self.read_later.pop();
            outcome = outcome.and(this);
            if outcome.is_err() {
                // What follows depends on what failed: going on would report the consequences.
                break;
            }
        }
        outcome
    }

    fn stmt(&mut self, stmt: &Stmt) -> Lowered<()> {
        let outer = std::mem::replace(&mut self.e.span, at(stmt));
        let outcome = self.stmt_here(stmt);
        self.e.span = outer;
        outcome
    }

    fn stmt_here(&mut self, stmt: &Stmt) -> Lowered<()> {
        let span = at(stmt);
        match stmt {
            Stmt::Assign(assign) => {
                let value = self.expr(&assign.value)?;
                assign.targets.iter().try_for_each(|target| self.assign(target, value.clone()))
            }
            Stmt::AnnAssign(assign) => match &assign.value {
                Some(value) => {
                    let value = self.expr(value)?;
                    self.assign(&assign.target, value)
                }
                None => Ok(()),
            },
            Stmt::AugAssign(assign) => {
                let a = self.expr(&assign.target)?;
                let b = self.expr(&assign.value)?;
                let value = self.binary(assign.op, a, b, span)?;
                self.assign(&assign.target, value)
            }
            Stmt::Expr(stmt) if stmt.value.is_string_literal_expr() => Ok(()),
            Stmt::Expr(stmt) => self.expr(&stmt.value).map(drop),
            Stmt::For(stmt) => self.for_loop(stmt),
            Stmt::While(stmt) => Err(self.unsupported(at(stmt), "`while` (use `pl.range`)")),
            Stmt::If(stmt) => self.branch(stmt),
            Stmt::With(stmt) => self.with(stmt),
            Stmt::Return(stmt) => {
                self.facts.returned.get_or_insert(span);
                match &stmt.value {
                    None => Ok(()),
                    Some(value) => {
                        let value = self.expr(value)?;
                        self.give_back(value, span)
                    }
                }
            }
            Stmt::Pass(_) => Ok(()),
            Stmt::Break(_) | Stmt::Continue(_) => {
                let error = Diagnostic::error("unsupported", span, "`break` and `continue` cannot be compiled yet")
                    .help("put the rest of the body under an `if`");
                Err(self.report(error))
            }
            Stmt::Assert(_) => Err(self.error("unsupported", span, "a kernel cannot raise: use `pl.static_assert`")),
            _ => Err(self.unsupported(span, "this kind of statement in a kernel")),
        }
    }

    /// Binds a target.
    fn assign(&mut self, target: &Expr, value: Value) -> Lowered<()> {
        let span = at(target);
        match target {
            Expr::Name(name) => {
                self.lost.shift_remove(name.id.as_str());
                self.bind(name.id.as_str(), value);
                Ok(())
            }
            Expr::Tuple(tuple) => self.assign_each(&tuple.elts, value, span),
            Expr::List(list) => self.assign_each(&list.elts, value, span),
            Expr::Subscript(subscript) => {
                let base = self.expr(&subscript.value)?;
                let part = self.subscript(base, &subscript.slice, span)?;
                self.put(&part, &value, span)
            }
            _ => Err(self.unsupported(span, "this kind of assignment")),
        }
    }

    fn assign_each(&mut self, targets: &[Expr], value: Value, span: Span) -> Lowered<()> {
        let Value::Tuple(items) = value else {
            let what = describe(self, &value);
            return Err(self.error("unpack", span, format!("{} names for {what}", targets.len())));
        };
        if items.len() != targets.len() {
            let message = format!("{} names for {} values", targets.len(), items.len());
            return Err(self.error("unpack", span, message));
        }
        targets.iter().zip(items).try_for_each(|(target, item)| self.assign(target, item))
    }

    /// Stores a value into a part of a tensor or tile.
    pub fn put(&mut self, part: &Value, value: &Value, span: Span) -> Lowered<()> {
        match part {
            Value::Tensor(tensor) => {
                if let Value::Const(_) | Value::Scalar(_) = value {
                    return self.write_element(tensor, value, span);
                }
                self.store(value, tensor, false, span)
            }
            Value::Tile(target) => {
                let source = self.demand(value, slipring_tile::Space::Vec, span)?;
                let (from, to) = (self.tile(source).clone(), self.tile(*target).clone());
                if super::fold(&from.shape) != super::fold(&to.shape) {
                    let message = format!("{} does not fit {}", super::show(&from.shape), super::show(&to.shape));
                    return Err(self.error("store-shape", span, message));
                }
                self.e.op("pto.tmov", &[("src", &[from.value]), ("dst", &[to.value])], &[], &[]);
                Ok(())
            }
            other => {
                let what = describe(self, other);
                Err(self.error("store", span, format!("nothing can be stored into {what}")))
            }
        }
    }

    /// Writes one element of a tensor.
    pub fn write_element(&mut self, tensor: &Tensor, value: &Value, span: Span) -> Lowered<()> {
        if tensor.sizes.iter().product::<u64>() != 1 {
            return Err(self.error("store-shape", span, "a number is stored into a window of more than one element"));
        }
        let number = self.number(value, crate::dtype::DType::Elem(tensor.elem), span)?;
        let (pointer, offset) = self.element(tensor);
        self.e.op("pto.store_scalar", &[("value", &[number]), ("ptr", &[pointer]), ("offset", &[offset])], &[], &[]);
        Ok(())
    }

    /// Pointer and element offset of the first element of a window.
    pub fn element(&mut self, tensor: &Tensor) -> (slipring_ir::ValueId, slipring_ir::ValueId) {
        let dims = self.roots[tensor.root].dims.clone();
        let mut stride: i64 = dims.iter().product::<u64>() as i64;
        let mut sum = crate::value::Index::Known(0);
        for (offset, extent) in tensor.offsets.iter().zip(dims) {
            stride /= (extent as i64).max(1);
            let part = match *offset {
                crate::value::Index::Known(n) => crate::value::Index::Known(n * stride),
                index => {
                    let (value, by) = (self.index_value(index), self.e.index(stride));
                    let product =
                        self.e.value("arith.muli", &[("lhs", &[value]), ("rhs", &[by])], &[], slipring_ir::Type::Index);
                    match self.scalar(product, crate::dtype::DType::Index) {
                        Value::Scalar(scalar) => crate::value::Index::At(scalar),
                        _ => index,
                    }
                }
            };
            sum = self.add_index(sum, part);
        }
        (self.roots[tensor.root].pointer, self.index_value(sum))
    }

    /// `return`: outputs are parameters, so there is nothing to do for them.
    fn give_back(&mut self, value: Value, span: Span) -> Lowered<()> {
        match value {
            Value::Tuple(items) => items.into_iter().try_for_each(|item| self.give_back(item, span)),
            Value::Tensor(_) | Value::Nothing | Value::Const(_) => Ok(()),
            other => {
                let what = describe(self, &other);
                let error = Diagnostic::error("return-tile", span, format!("a kernel cannot return {what}"))
                    .help("store it into a `pl.Out[…]` parameter: `out[:] = …`");
                Err(self.report(error))
            }
        }
    }
}
