//! Loops and branches, and what passes through them.
//!
//! A scalar that a loop changes is carried by the loop; of a branch it is a result. A tile that is changed keeps one buffer:
//! the loop's body ends by copying the new tile into it, and both arms of a branch write it.

use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::{Expr, Stmt, StmtFor, StmtIf};
use slipring_ir::{BlockId, Diagnostic, OpId, Span, Type, ValueId};
use slipring_tile::{Elem, Space};

use super::arith::truth;
use super::names::Names;
use super::{Lower, Lowered, Value, describe};
use crate::dtype::DType;
use crate::syntax::at;
use crate::value::{Const, Scalar, TileId};

/// A loop's first value, end and step.
struct Bounds {
    first: Value,
    end: Value,
    step: Value,
}

/// What a name is while it is carried.
enum Carried {
    /// By position among the loop's carried values, and its type.
    Scalar(DType),
    /// In this buffer.
    Tile(TileId),
}

/// A name that a loop carries; for a scalar, its first value.
type CarriedName = (Rc<str>, Carried, Option<ValueId>);

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
                self.counted(stmt, &bounds)
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
            if name == "init_values" {
                return Err(self.unsupported(at(keyword), "`init_values` (rebind the names in the body instead)"));
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
            outcome = self.body(&stmt.body);
            i += step;
        }
        self.read_later.pop();
        outcome
    }

    fn counted(&mut self, stmt: &StmtFor, bounds: &Bounds) -> Lowered<()> {
        let span = at(&*stmt.iter);
        let counter = self.loop_name(&stmt.target)?;
        if let Value::Const(Const::Int(n)) = bounds.step
            && n <= 0
        {
            return Err(self.error("loop", span, "the step of a loop is positive"));
        }
        let [first, end, step] =
            [&bounds.first, &bounds.end, &bounds.step].map(|value| self.number(value, DType::Index, span));
        let (first, end, step) = (first?, end?, step?);
        let names = Names::of(&stmt.body);
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
        let index = self.scalar(index, DType::Index);
        self.env.insert(counter.clone(), index);
        let outcome = self.in_block(block, |l| {
            l.read_later.push(names.exposed.clone());
            let outcome = l.body(&stmt.body);
            l.read_later.pop();
            outcome.and_then(|()| l.finish_iteration(&carried, span))
        });
        outcome?;
        self.leave(before, &names, &carried, op, at(stmt), "assigned only inside this loop");
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

    /// Decides what a loop carries: names that exist, that the body binds, and whose old value it reads or whose new value
    /// is read after it. Gives the scalars' first values.
    fn start_carrying(&mut self, names: &Names, counter: &str, span: Span) -> Lowered<Vec<CarriedName>> {
        let mut carried = Vec::new();
        for name in &names.bound {
            let needed = names.exposed.contains(name) || self.is_read_later(name);
            let Some(value) = self.env.get(name).cloned().filter(|_| needed && **name != *counter) else { continue };
            match value {
                Value::Tile(id) => {
                    let own = self.own_buffer(id, span)?;
                    carried.push((name.clone(), Carried::Tile(own), None));
                }
                Value::Scalar(Scalar { value, ty, .. }) => {
                    carried.push((name.clone(), Carried::Scalar(ty), Some(value)));
                }
                Value::Const(c @ (Const::Int(_) | Const::Float(_) | Const::Bool(_))) => {
                    let ty = type_of(&c);
                    let value = self.number(&Value::Const(c), ty, span)?;
                    carried.push((name.clone(), Carried::Scalar(ty), Some(value)));
                }
                // Tensors and the like: stores rebind their names to what they already are.
                _ => {}
            }
        }
        Ok(carried)
    }

    /// A tile with a buffer that nothing else looks at: the tile's own, or a copy.
    fn own_buffer(&mut self, id: TileId, span: Span) -> Lowered<TileId> {
        self.still_there(id, span)?;
        let value = self.tile(id).value;
        let names = self.env.values().filter(|v| matches!(v, Value::Tile(other) if self.tile(*other).value == value));
        let shared = names.count() > 1 || self.is_view(value) || self.has_views(value);
        if !shared || self.tile(id).ty.space == Space::Acc {
            // Copies elsewhere would go stale.
            let fresh = super::Tile { copies: Vec::new(), ..self.tile(id).clone() };
            self.tiles.push(fresh);
            return Ok(TileId(self.tiles.len() as u32 - 1));
        }
        self.copied(id)
    }

    fn is_view(&self, value: ValueId) -> bool {
        let op = self.e.module.defining_op(value);
        op.is_some_and(|op| !self.e.module.op(op).operands.is_empty())
    }

    /// True if a tile of the list is a view of this buffer.
    fn has_views(&self, value: ValueId) -> bool {
        self.tiles.iter().any(|tile| {
            let op = self.e.module.defining_op(tile.value);
            op.is_some_and(|op| self.e.module.op(op).operands.first() == Some(&value))
        })
    }

    /// A copy of a tile in the same memory, made where the tile's kind of work may stand.
    fn copied(&mut self, id: TileId) -> Lowered<TileId> {
        let tile = self.tile(id).clone();
        if tile.ty.space != Space::Vec {
            let message = format!("a tile in `{}` cannot be copied, which is needed to carry it", tile.ty.space);
            let span = self.e.span;
            let error = Diagnostic::error("carry", span, message).also(tile.span, "the tile is made here");
            return Err(self.report(error.help("carry a tile that no other name stands for")));
        }
        let value = self.buffer(tile.ty);
        let copy = self.add_tile(value, tile.ty, &tile.shape, tile.made_by);
        self.tiles[copy.0 as usize].region = tile.region;
        self.copy_into(id, copy)?;
        Ok(copy)
    }

    /// Copies a tile into another one's buffer, unless it lies there.
    fn copy_into(&mut self, from: TileId, to: TileId) -> Lowered<()> {
        let (source, target) = (self.tile(from).clone(), self.tile(to).clone());
        if source.value == target.value {
            return Ok(());
        }
        let span = self.e.span;
        if source.ty.layout.elem != target.ty.layout.elem || source.shape != target.shape {
            let show = |t: &super::Tile| format!("{} {}", super::show(&t.shape), DType::Elem(t.ty.layout.elem).name());
            let message = format!("a name stands for a tile {} before and {} after", show(&target), show(&source));
            let error = Diagnostic::error("carry-type", span, message)
                .also(target.span, "the one")
                .also(source.span, "the other")
                .help("a tile that a loop or branch changes keeps its shape and type: use another name");
            return Err(self.report(error));
        }
        let from_id = if source.ty.space == target.ty.space {
            from
        } else {
            self.demand(&Value::Tile(from), target.ty.space, span)?
        };
        let source = self.tile(from_id).clone();
        if source.ty.space != Space::Vec {
            let message = format!("a tile in `{}` cannot be copied, which is needed to carry it", source.ty.space);
            let error = Diagnostic::error("carry", span, message)
                .also(source.span, "the tile is made here")
                .help("accumulate in place: `acc = pl.matmul_acc(acc, a, b)`");
            return Err(self.report(error));
        }
        // A function with regions runs Vector work in regions only.
        match source.region.filter(|_| self.region.is_none()) {
            None => {
                self.e.op("pto.tmov", &[("src", &[source.value]), ("dst", &[target.value])], &[], &[]);
            }
            Some(region) => {
                let mode = self.regions[region.0 as usize].used.map_or(0, |(mode, _)| mode as i64);
                let op = self.e.op("pto.split_aiv", &[], &[("split", slipring_ir::Attr::int(mode))], &[]);
                let block = self.e.region(op);
                let place = self.e.span;
                self.e.module.add_arg(block, Type::Index, None, place);
                self.e.inside(block, |e| {
                    e.op("pto.tmov", &[("src", &[source.value]), ("dst", &[target.value])], &[], &[])
                });
            }
        }
        Ok(())
    }

    /// Ends a loop's body: tiles into their buffers, scalars to the next iteration.
    fn finish_iteration(&mut self, carried: &[CarriedName], span: Span) -> Lowered<()> {
        let mut next = Vec::new();
        for (name, kind, _) in carried {
            let value = self.lookup(name, span)?;
            match (kind, value) {
                (Carried::Tile(buffer), Value::Tile(id)) => self.copy_into(id, *buffer)?,
                (Carried::Scalar(ty), value @ (Value::Scalar(_) | Value::Const(_))) => {
                    next.push(self.number(&value, *ty, span)?);
                }
                (_, other) => {
                    let what = describe(self, &other);
                    let message = format!("`{name}` is something else at the end of the loop's body: {what}");
                    return Err(self.error("carry-type", span, message));
                }
            }
        }
        self.e.op("scf.yield", &[("values", &next)], &[], &[]);
        Ok(())
    }

    /// After a loop: carried names stand for what came out, names that only the body bound for nothing.
    fn leave(
        &mut self,
        before: IndexMap<Rc<str>, Value>,
        names: &Names,
        carried: &[CarriedName],
        op: OpId,
        place: Span,
        why: &'static str,
    ) {
        self.env = before;
        for name in &names.bound {
            if !self.env.contains_key(name) {
                self.lost.insert(name.clone(), (place, why));
            }
        }
        let results = self.e.module.op(op).results.clone();
        let mut results = results.iter();
        for (name, kind, _) in carried {
            let value = match kind {
                Carried::Scalar(ty) => {
                    let Some(value) = results.next() else { continue };
                    self.scalar(*value, *ty)
                }
                Carried::Tile(id) => {
                    let fresh = super::Tile { copies: Vec::new(), ..self.tile(*id).clone() };
                    self.tiles.push(fresh);
                    Value::Tile(TileId(self.tiles.len() as u32 - 1))
                }
            };
            self.env.insert(name.clone(), value);
        }
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
                if truth(&c) {
                    self.body(then)
                } else {
                    self.arms(rest, otherwise, span)
                }
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
        let then_outcome = self.in_block(blocks[0], |l| l.body(then));
        let then_env = std::mem::replace(&mut self.env, before.clone());
        let else_outcome = self.in_block(blocks[1], |l| l.arms(rest, otherwise, span));
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
                    for (id, block) in [(*x, blocks[0]), (*y, blocks[1])] {
                        self.in_block(block, |l| l.copy_into(id, target))?;
                    }
                    let fresh = super::Tile { copies: Vec::new(), ..self.tile(target).clone() };
                    self.tiles.push(fresh);
                    self.env.insert(name.clone(), Value::Tile(TileId(self.tiles.len() as u32 - 1)));
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
        for (block, values) in blocks.into_iter().zip(&yields) {
            self.e.inside(block, |e| e.op("scf.yield", &[("values", values)], &[], &[]));
        }
        Ok(())
    }

    /// A buffer like a tile's, declared before an op.
    fn buffer_before(&mut self, op: OpId, like: TileId) -> TileId {
        let tile = self.tile(like).clone();
        let alloc = self.e.make("pto.alloc_tile", &[], &[], &[Type::Tile(tile.ty)]);
        let anchor = self.region.map_or(op, |region| self.regions[region.0 as usize].op);
        self.e.module.insert_before(anchor, alloc);
        let value = self.e.module.op(alloc).results[0];
        let id = self.add_tile(value, tile.ty, &tile.shape, tile.made_by);
        self.tiles[id.0 as usize].region = tile.region;
        id
    }
}

/// The type that a constant gets when it is carried.
fn type_of(value: &Const) -> DType {
    match value {
        Const::Float(_) => DType::Elem(Elem::F32),
        Const::Bool(_) => DType::Bool,
        _ => DType::Index,
    }
}
