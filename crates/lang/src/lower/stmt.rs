//! Statements.

use std::rc::Rc;

use ruff_python_ast::{Expr, Stmt};
use slipring_ir::{Diagnostic, Span};
use slipring_mlir::arith;
use slipring_pto as pto;

use super::lowering::{Lower, Lowered, describe};
use super::names::{Names, popped_into};
use super::signature::{annotated, check_said};
use super::state::OpenBody;
use crate::dtype::{DType, scalar_type as scalar_type_of};
use crate::syntax::at;
use crate::value::{Tensor, Value};

/// The maximum number of statements that are compiled for a file.
const MOST_STATEMENTS: u64 = 1 << 16;

impl Lower<'_> {
    /// Lowers statements in order. After an error the statements after it are still lowered, so that their errors are
    /// reported; names that the failed statement binds are unbound then, without further reports.
    pub fn body(&mut self, body: &[Stmt]) -> Lowered<()> {
        let mut outcome = Ok(());
        self.open.bodies.push(OpenBody::of(body));
        for (now, stmt) in body.iter().enumerate() {
            if let Some(open) = self.open.bodies.last_mut() {
                open.now = now;
            }
            let this = self.count_statement(at(stmt)).and_then(|()| self.stmt(stmt));
            if this.is_err() {
                self.poison(stmt);
            }
            outcome = outcome.and(this);
            if self.too_large() {
                break;
            }
        }
        self.open.bodies.pop();
        outcome
    }

    /// Counts a lowered statement, and rejects it if calls and unrolled loops make a file's kernels too large.
    fn count_statement(&mut self, span: Span) -> Lowered<()> {
        let total = self.globals.lowered.get() + 1;
        self.globals.lowered.set(total);
        if total <= MOST_STATEMENTS {
            return Ok(());
        }
        let message = format!(
            "more than {MOST_STATEMENTS} statements are compiled for this file, those of calls and unrolled loops counted each time"
        );
        let error = Diagnostic::error("too-large", span, message).help(
            "call fewer functions inside each other, and use `pl.range` in place of `pl.unroll` and `pl.pipeline`",
        );
        Err(self.report_once(error))
    }

    /// True if the limit is exceeded: the rest is skipped.
    fn too_large(&self) -> bool {
        self.globals.lowered.get() > MOST_STATEMENTS || self.reports.stopped
    }

    /// After an error: marks names that the statement would have bound. A tensor or tile with a failed write to a part
    /// keeps its value.
    fn poison(&mut self, stmt: &Stmt) {
        let value = match stmt {
            Stmt::Assign(assign) => Some(&*assign.value),
            Stmt::Expr(stmt) => Some(&*stmt.value),
            _ => None,
        };
        let called = value.and_then(|value| value.as_call_expr()).map(|call| &*call.func);
        self.facts.end_failed |= match called {
            Some(Expr::Name(name)) => self.words.makes_end(&name.id),
            Some(Expr::Attribute(attribute)) => self.words.makes_end(&attribute.attr),
            _ => false,
        };
        let names = Names::of(std::slice::from_ref(stmt));
        for name in names.bound.into_iter().chain(names.written) {
            let stays = match self.names.env.get(&name) {
                Some(Value::Tensor(_)) => true,
                Some(Value::Tile(_)) => match stmt {
                    Stmt::Assign(assign) => assign.targets.iter().all(Expr::is_subscript_expr),
                    _ => false,
                },
                _ => false,
            };
            if !stays {
                self.names.poisoned.insert(name);
            }
        }
    }

    /// Reports a call of a function of the file that ends without `return`, if its result is bound to a name.
    fn gives_something(&mut self, value: &Value, expr: &Expr) -> Lowered<()> {
        let (Value::Nothing, Expr::Call(call)) = (value, expr) else { return Ok(()) };
        let path = crate::globals::path_of(self.globals, &self.names.env, &call.func);
        let Some(name) = path.as_deref().and_then(|path| path.strip_prefix('@')) else { return Ok(()) };
        let Some(function) = self.globals.functions.get(name) else { return Ok(()) };
        let name = function.def.name.to_string();
        let error = Diagnostic::error("value-kind", at(expr), format!("`{name}` gives nothing back"))
            .also(at(&function.def.name), "it has no `return`")
            .help(format!("end `{name}` with `return …`, or call it without giving the result a name"));
        Err(self.report(error))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Lowered<()> {
        let outer = std::mem::replace(&mut self.e.span, at(stmt));
        let outcome = self.deeper(at(stmt), |l| l.stmt_here(stmt));
        self.e.span = outer;
        outcome
    }

    fn stmt_here(&mut self, stmt: &Stmt) -> Lowered<()> {
        let span = at(stmt);
        match stmt {
            Stmt::Assign(assign) if self.is_yield(&assign.value) => self.yield_values(&assign.value, &assign.targets),
            Stmt::Expr(stmt) if self.is_yield(&stmt.value) => self.yield_values(&stmt.value, &[]),
            Stmt::Assign(assign) => {
                let value = self.expr(&assign.value)?;
                self.gives_something(&value, &assign.value)?;
                self.note_list(&assign.value, &value);
                assign.targets.iter().try_for_each(|target| self.assign(target, value.clone()))?;
                let names =
                    assign.targets.iter().filter_map(Expr::as_name_expr).filter(|_| assign.value.is_tuple_expr());
                self.names.tuples.extend(names.map(|name| Rc::from(name.id.as_str())));
                Ok(())
            }
            Stmt::AnnAssign(assign) => match &assign.value {
                Some(value) if self.is_yield(value) => {
                    annotated(self, &assign.annotation)?;
                    self.yield_values(value, std::slice::from_ref(&*assign.target))
                }
                Some(value) => {
                    let said = annotated(self, &assign.annotation)?;
                    self.expected = said.clone().filter(|_| value.is_call_expr());
                    let place = at(&**value);
                    let made = self.expr(value)?;
                    if let Some(said) = said {
                        check_said(self, &assign.annotation, &made, &said, place)?;
                    }
                    self.note_list(value, &made);
                    self.assign(&assign.target, made)
                }
                None => annotated(self, &assign.annotation).map(|_| ()),
            },
            Stmt::AugAssign(assign) => {
                self.index_changes_nothing(&assign.target)?;
                let a = self.expr(&assign.target)?;
                let b = self.expr(&assign.value)?;
                if let Some(()) = self.extended(&assign.target, assign.op, &a, &b)? {
                    return Ok(());
                }
                let value = self.binary(assign.op, a, b, span)?;
                self.assign(&assign.target, value)
            }
            Stmt::Expr(stmt) if stmt.value.is_string_literal_expr() || stmt.value.is_ellipsis_literal_expr() => Ok(()),
            Stmt::Expr(stmt) => {
                let value = self.expr(&stmt.value)?;
                match popped_into(&stmt.value) {
                    Some((_, target)) if target.is_name_expr() => self.assign(target, value),
                    Some((_, other)) => {
                        let error = Diagnostic::error("value-kind", at(other), "a pop takes its tile into a name")
                            .help("give the tile a name before, or write `tile = TPOP(fifo)`");
                        Err(self.report(error))
                    }
                    None => Ok(()),
                }
            }
            Stmt::For(stmt) => self.for_loop(stmt),
            Stmt::While(stmt) => self.while_loop(stmt),
            Stmt::If(stmt) => self.branch(stmt),
            Stmt::With(stmt) => self.with(stmt),
            Stmt::Return(stmt) => {
                if self.open.calls.len() > 1 || self.open.blocks.len() > 1 {
                    let error = Diagnostic::error(
                        slipring_ir::Kind::Unsupported,
                        span,
                        "a `return` before the end of a function cannot be compiled",
                    )
                    .help("put the rest of the body under an `if`, and return at the end");
                    return Err(self.report(error));
                }
                match &stmt.value {
                    None => Ok(()),
                    Some(value) => {
                        let value = self.expr(value)?;
                        self.give_back(value, 0, span)
                    }
                }
            }
            Stmt::Pass(_) => Ok(()),
            Stmt::Break(_) | Stmt::Continue(_) if self.open.region.is_some() => {
                let error = Diagnostic::error("loop", span, "`break` and `continue` inside a `split_aiv` region")
                    .help("a region runs once on each Vector core: put the rest of the body under an `if`");
                Err(self.report(error))
            }
            Stmt::Break(_) | Stmt::Continue(_) if self.open.loops == 0 => {
                Err(self.error("loop", span, "`break` or `continue` outside of a loop"))
            }
            Stmt::Break(_) | Stmt::Continue(_) => {
                let error = Diagnostic::error(
                    slipring_ir::Kind::Unsupported,
                    span,
                    "`break` and `continue` cannot be compiled here",
                )
                .help("they leave `pl.range` and `while`; put the rest of the body under an `if`");
                Err(self.report(error))
            }
            Stmt::Assert(stmt) => self.asserted(&stmt.test, stmt.msg.as_deref(), span),
            other => Err(self.not_here(super::unknown::statement(other), span)),
        }
    }

    /// Binds a target.
    pub(super) fn assign(&mut self, target: &Expr, value: Value) -> Lowered<()> {
        let span = at(target);
        match target {
            Expr::Name(name) => {
                self.names.tuples.remove(name.id.as_str());
                self.bind(name.id.as_str(), value);
                Ok(())
            }
            Expr::Tuple(tuple) => self.assign_each(&tuple.elts, value, span),
            Expr::List(list) => self.assign_each(&list.elts, value, span),
            Expr::Subscript(subscript) => {
                let base = self.expr(&subscript.value)?;
                if let (Value::Nothing, Value::Nothing) = (&base, &value) {
                    // Ids of tasks.
                    return Ok(());
                }
                if let (Value::Tuple(_), Expr::Name(name)) = (&base, &*subscript.value)
                    && self.names.tuples.contains(name.id.as_str())
                {
                    let error = Diagnostic::error("value-kind", span, "the elements of a tuple cannot be assigned");
                    let help = format!("make an array, `{0} = pl.array.create(…)`, or bind `{0}` anew", name.id);
                    return Err(self.report(error.help(help)));
                }
                if self.changed_at(&base, &subscript.slice, &value, span)? {
                    return Ok(());
                }
                if let (Value::Tuple(items), Expr::Name(name)) = (&base, &*subscript.value)
                    && crate::value::is_array(&base)
                {
                    let index = self.expr(&subscript.slice)?;
                    return self.set_element(name.id.as_str(), items, &index, &value, span);
                }
                if let Value::Tile(target) = base
                    && may_be_mask(&subscript.slice)
                {
                    let place = at(&*subscript.slice);
                    let index = self.expr(&subscript.slice)?;
                    if !matches!(index, Value::Tile(id) if self.tile(id).mask.is_some()) {
                        let part = self.tile_at(target, &index, place, span)?;
                        return self.put(&part, &value, span);
                    }
                    let chosen = super::masks::choose(self, index, (value, span), (Value::Tile(target), span), place)?;
                    return self.put(&Value::Tile(target), &chosen, span);
                }
                let part = self.subscript(base, &subscript.slice, span)?;
                self.put(&part, &value, span)
            }
            _ => Err(self.unsupported(span, "this kind of assignment")),
        }
    }

    pub(super) fn assign_each(&mut self, targets: &[Expr], value: Value, span: Span) -> Lowered<()> {
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
                    self.by_element(tensor)?;
                    return self.write_element(tensor, value, span);
                }
                let resized = self.as_large(tensor, value);
                let tensor = resized.as_ref().unwrap_or(tensor);
                let cut = self.cut_to(value, tensor, span)?;
                self.store(cut.as_ref().unwrap_or(value), tensor, false, span)
            }
            Value::Tile(target) => {
                self.not_in_part(*target, span)?;
                let source = self.demand(value, slipring_tile::Space::Vec, span)?;
                let (from, to) = (self.tile(source).clone(), self.tile(*target).clone());
                if crate::value::fold(&from.shape) != crate::value::fold(&to.shape) {
                    let message =
                        format!("{} does not fit {}", crate::value::show(&from.shape), crate::value::show(&to.shape));
                    return Err(self.error("store-shape", span, message));
                }
                self.e.op(&pto::TMOV, &[("src", &[from.value]), ("dst", &[to.value])], &[], &[]);
                self.written_in_place(*target, span)
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
            let what = describe(self, value);
            let error = Diagnostic::error(
                "store-shape",
                span,
                format!("{what} is stored into a window of more than one element"),
            )
            .help("a tile of one number is `pl.full(shape, dtype, value)`");
            return Err(self.report(error));
        }
        self.writable(tensor.root, span)?;
        self.stored(tensor, None, span)?;
        let number = self.number(value, crate::dtype::DType::Elem(tensor.elem), span)?;
        let (pointer, offset) = self.accessed(tensor);
        self.e.op(&pto::STORE_SCALAR, &[("value", &[number]), ("ptr", &[pointer]), ("offset", &[offset])], &[], &[]);
        Ok(())
    }

    /// The number in a window of one element.
    pub fn read_element(&mut self, element: &Tensor, span: Span) -> Value {
        self.reads(element, span);
        let (pointer, offset) = self.accessed(element);
        let ty = scalar_type_of(element.elem);
        let value = self.e.value(&pto::LOAD_SCALAR, &[("ptr", &[pointer]), ("offset", &[offset])], &[], ty);
        self.scalar(value, DType::Elem(element.elem))
    }

    /// Pointer and element offset of the first element of a window, for an access. If only the run knows whether it is
    /// inside its row, or inside the rows of a part of a tensor, the pointer is that of a window, which the run checks.
    fn accessed(&mut self, tensor: &Tensor) -> (slipring_ir::ValueId, slipring_ir::ValueId) {
        let root = &self.tensors.roots[tensor.root];
        let is_part = self.e.module.defining_op(root.pointer).is_some();
        let ones = root.dims.iter().take_while(|extent| **extent == 1).count();
        let inner = tensor.offsets.iter().zip(&root.dims).skip(if is_part { 0 } else { ones + 1 });
        let mut unsure = inner.filter_map(|(offset, extent)| match offset {
            crate::value::Index::Known(_) => None,
            crate::value::Index::At(first) => Some((first.value, *extent)),
        });
        if unsure.all(|(first, extent)| self.begins_inside(first, extent)) {
            return self.element(tensor);
        }
        let ty = self.e.module.ty(root.pointer).clone();
        let window = self.window(tensor);
        let pointer = self.e.value(&pto::TENSOR_VIEW_ADDR, &[("src", &[window])], &[], ty);
        (pointer, self.e.index(0))
    }

    /// The pointer of a part of a tensor that begins so many elements after its start.
    pub(crate) fn pointer_at(&mut self, root: &super::Root, offset: slipring_ir::ValueId) -> slipring_ir::ValueId {
        let groups: [(&str, &[_]); 2] = [("ptr", &[root.pointer]), ("offset", &[offset])];
        self.e.value(&pto::ADDPTR, &groups, &[], slipring_ir::Type::Ptr(root.elem, None))
    }

    /// Makes the last tensor a part, since the memory of other devices comes after it.
    pub(crate) fn parts_of_devices(&mut self) {
        let Some(root) = self.tensors.roots.last().cloned() else { return };
        if let Some(op) = self.e.module.defining_op(root.view) {
            self.e.module.remove(op);
        }
        let start = self.e.index(0);
        let pointer = self.pointer_at(&root, start);
        let view = super::signature::whole_view(self, pointer, root.elem, (&root.dims, &root.strides), root.scales);
        self.e.name(view, &format!("{}_view", root.name));
        if let Some(root) = self.tensors.roots.last_mut() {
            (root.pointer, root.view) = (pointer, view);
        }
    }

    /// Pointer and element offset of the first element of a window.
    pub fn element(&mut self, tensor: &Tensor) -> (slipring_ir::ValueId, slipring_ir::ValueId) {
        let strides = self.tensors.roots[tensor.root].strides.clone();
        let mut sum = crate::value::Index::Known(0);
        for (offset, stride) in tensor.offsets.iter().zip(strides) {
            let stride = stride as i64;
            let part = match *offset {
                crate::value::Index::Known(n) => crate::value::Index::Known(n.saturating_mul(stride)),
                index => {
                    let (value, by) = (self.index_value(index), self.e.index(stride));
                    let product =
                        self.e.value(&arith::MULI, &[("lhs", &[value]), ("rhs", &[by])], &[], slipring_ir::Type::Index);
                    match self.scalar(product, crate::dtype::DType::Index) {
                        Value::Scalar(scalar) => crate::value::Index::At(scalar),
                        _ => index,
                    }
                }
            };
            sum = self.add_index(sum, part);
        }
        (self.tensors.roots[tensor.root].pointer, self.index_value(sum))
    }
}

/// True if an index may be a mask, the result of a comparison of tiles.
fn may_be_mask(index: &Expr) -> bool {
    matches!(index, Expr::Name(_) | Expr::Compare(_) | Expr::BinOp(_) | Expr::UnaryOp(_) | Expr::Call(_))
}
