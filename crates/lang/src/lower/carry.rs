//! Values carried through loops: numbers and offsets as carried values, tiles in buffers.
//!
//! The value of a name at the end of a loop's body decides how it is carried, and that is only known after the body was
//! lowered. So a loop is lowered under an assumption ([`CarryKind`]), by default that windows and builtins do not
//! change. If the end of the body refutes it ([`CarryMismatch`]), the loop is rolled back and lowered again
//! ([`super::control`]). Every kind of value is carried, shown to be unchanged, or rejected.

use std::rc::Rc;

use slipring_ir::{Diagnostic, OpId, Span, ValueId};
use slipring_mlir::scf;
use slipring_tile::{Elem, Space};

use super::copies::cannot_be_copied;
use super::held::{BuffersMark, Copies};
use super::lowering::{Lower, Lowered, describe};
use super::names::Names;
use super::state::{CarryKind, CarryPlan};
use crate::dtype::DType;
use crate::globals::Scope;
use crate::jumps::quoted;
use crate::value::{Const, Index, Parts, Tensor, TileId, Value, show};

/// The form of a carried name.
#[derive(Clone, Debug)]
pub(super) enum Carried {
    Same(Value),
    Number(DType),
    /// A window like this one, with carried offsets.
    Window(Tensor),
    /// A tile in this buffer.
    Tile(TileId),
    /// A tile in this buffer, with carried valid rows and columns.
    Counted(TileId),
    Each(Vec<Carried>),
    /// A list of matrices of this shape.
    Parts(Vec<u64>, Vec<Carried>),
}

/// A name that a loop carries.
pub(super) type CarriedName = (Rc<str>, Carried);

/// The value of a name at the end of an iteration cannot be carried as assumed.
#[derive(Debug)]
pub(super) enum CarryMismatch {
    /// It can be carried in this way.
    CarryKind(CarryKind),
    /// It cannot be carried.
    Never(Box<Diagnostic>),
}

impl Lower<'_> {
    /// Decides what a loop carries: names that exist, that the body binds, and whose old value it reads or whose new
    /// value is live after it. Returns the first values of carried ones. The names that the body reads must be among
    /// the live ones.
    pub(super) fn start_carrying(
        &mut self,
        names: &Names,
        counter: &str,
        plan: &CarryPlan,
        span: Span,
    ) -> Lowered<(Vec<CarriedName>, Vec<ValueId>)> {
        let (mut carried, mut first) = (Vec::new(), Vec::new());
        for name in &names.bound {
            let Some(value) = self.names.env.get(name).cloned() else {
                if let Some(how) = self.start_fresh(plan.get(name), &mut first) {
                    carried.push((name.clone(), how));
                }
                continue;
            };
            if !self.is_read_later(name) || **name == *counter {
                continue;
            }
            let way = match plan.get(name) {
                Some(way) => way.clone(),
                None => self.usual_way(name, &value),
            };
            let how = self.start(name, &value, &way, &mut first, span)?;
            carried.push((name.clone(), how));
        }
        Ok((carried, first))
    }

    /// Requests that the enclosing loop carries the names of an empty tensor as an accumulator; false if that was
    /// tried, or there is no loop. The caller must abort lowering the body without a report: the loop is lowered again.
    pub fn wants_accumulator(&mut self, tensor: &Tensor, way: &CarryKind) -> bool {
        if self.open.loops == 0 || !self.carry.tried.insert(tensor.root) {
            return false;
        }
        let names = self.names.env.iter().filter(|(_, value)| matches!(value, Value::Tensor(own) if own == tensor));
        let names: Vec<_> = names.map(|(name, _)| (name.clone(), way.clone())).collect();
        // The rest of the body may request others.
        self.carry.wanted.extend(names.iter().cloned());
        !names.is_empty()
    }

    fn usual_way(&self, name: &str, value: &Value) -> CarryKind {
        match value {
            Value::Const(Const::Int(_) | Const::Float(_) | Const::Bool(_)) | Value::Scalar(_) => {
                CarryKind::Number(None)
            }
            // A tile that no other name shares may be rebound in its buffer; for a shared one the change would be
            // visible.
            Value::Tile(id) if self.is_shared(name, *id) && self.tile(*id).ty.space != Space::Acc => CarryKind::Same,
            Value::Tile(id) => CarryKind::Buffer(self.tile(*id).ty.space),
            Value::Tuple(items) => CarryKind::Each(items.iter().map(|item| self.usual_way(name, item)).collect()),
            Value::Parts(parts) => {
                CarryKind::Each(parts.tiles.iter().map(|id| self.usual_way(name, &Value::Tile(*id))).collect())
            }
            _ => CarryKind::Same,
        }
    }

    fn start(
        &mut self,
        name: &str,
        value: &Value,
        way: &CarryKind,
        first: &mut Vec<ValueId>,
        span: Span,
    ) -> Lowered<Carried> {
        Ok(match (way, value) {
            (CarryKind::Number(ty), Value::Const(_) | Value::Scalar(_)) => {
                let ty = ty.unwrap_or_else(|| type_of(value));
                first.push(self.number(value, ty, span)?);
                Carried::Number(ty)
            }
            (CarryKind::Window, Value::Tensor(tensor)) => {
                for offset in &tensor.offsets {
                    first.push(self.index_value(*offset));
                }
                Carried::Window(tensor.clone())
            }
            (CarryKind::Buffer(space), Value::Tensor(tensor)) if self.holds_nothing(tensor) => {
                Carried::Tile(self.new_tile(&tensor.shape(), tensor.elem, *space, "create_tensor"))
            }
            (CarryKind::Accumulator(ty), Value::Tensor(tensor)) if self.holds_nothing(tensor) => {
                let (shape, buffer) = (tensor.shape(), self.buffer(*ty));
                if ty.valid.iter().all(|extent| extent.known().is_some()) {
                    return Ok(Carried::Tile(self.add_tile(buffer, *ty, &shape, "create_tensor")));
                }
                let (rows, cols) = crate::value::fold(&shape);
                let valid = [rows, cols].map(|n| Index::Known(n as i64));
                first.extend(valid.map(|extent| self.index_value(extent)));
                Carried::Counted(self.set_valid(buffer, *ty, &shape, valid, "create_tensor"))
            }
            (CarryKind::Buffer(_), Value::Tensor(tensor)) => Carried::Tile(self.materialized(tensor)?),
            (CarryKind::Buffer(space), Value::Tile(id)) if self.tile(*id).ty.space != *space => {
                let moved = self.demand(value, *space, span)?;
                Carried::Tile(self.own_buffer(name, moved, span)?)
            }
            (CarryKind::Buffer(_), Value::Tile(id)) => Carried::Tile(self.own_buffer(name, *id, span)?),
            (CarryKind::Each(ways), Value::Tuple(items)) if ways.len() == items.len() => {
                let each = items.iter().zip(ways).map(|(item, way)| self.start(name, item, way, first, span));
                Carried::Each(each.collect::<Lowered<_>>()?)
            }
            (CarryKind::Each(ways), Value::Parts(parts)) if ways.len() == parts.tiles.len() => {
                let tiles = parts.tiles.iter().zip(ways);
                let each = tiles.map(|(id, way)| self.start(name, &Value::Tile(*id), way, first, span));
                Carried::Parts(parts.shape.clone(), each.collect::<Lowered<_>>()?)
            }
            _ => Carried::Same(value.clone()),
        })
    }

    /// The value of a carried name, given the loop's values.
    pub(super) fn carried_value(&mut self, how: &Carried, values: &mut std::slice::Iter<'_, ValueId>) -> Value {
        match how {
            Carried::Same(value) => value.clone(),
            Carried::Number(ty) => match values.next() {
                Some(value) => self.scalar(*value, *ty),
                None => Value::Nothing,
            },
            Carried::Window(like) => {
                let mut window = like.clone();
                for offset in &mut window.offsets {
                    if let Some(value) = values.next()
                        && let Value::Scalar(scalar) = self.scalar(*value, DType::Index)
                    {
                        *offset = Index::At(scalar);
                    }
                }
                Value::Tensor(window)
            }
            Carried::Tile(id) => Value::Tile(self.renewed(*id)),
            Carried::Counted(id) => {
                let id = self.renewed(*id);
                let mut extent = || match self.scalar(*values.next()?, DType::Index) {
                    Value::Scalar(scalar) => Some(Index::At(scalar)),
                    _ => None,
                };
                let extents = [extent(), extent()];
                if let [Some(rows), Some(cols)] = extents {
                    self.held.tiles[id.0 as usize].valid = Some([rows, cols]);
                }
                Value::Tile(id)
            }
            Carried::Each(each) => Value::Tuple(each.iter().map(|how| self.carried_value(how, values)).collect()),
            Carried::Parts(shape, each) => {
                let tiles = each.iter().filter_map(|how| match self.carried_value(how, values) {
                    Value::Tile(id) => Some(id),
                    _ => None,
                });
                let tiles = tiles.collect();
                Value::Parts(Rc::new(Parts { shape: shape.clone(), tiles, whole: Default::default() }))
            }
        }
    }

    /// The reason why an iteration that ended with this value cannot be followed by another one; `None` if it can.
    pub(super) fn mismatch(&self, name: &str, how: &Carried, end: &Value, span: Span) -> Option<CarryMismatch> {
        let in_space = |id: &TileId| self.tile(*id).ty.space;
        let never = || Some(CarryMismatch::Never(Box::new(self.other_kind(name, how, end, span))));
        let way = |way| Some(CarryMismatch::CarryKind(way));
        match (how, end) {
            (Carried::Same(before), end) if self.same(before, end) => None,
            (Carried::Number(ty), Value::Const(_) | Value::Scalar(_)) => match number_fits(end, *ty) {
                true => None,
                false if !ty.is_float() && type_of(end).is_float() => way(CarryKind::Number(Some(type_of(end)))),
                false => never(),
            },
            (Carried::Same(Value::Tensor(a)) | Carried::Window(a), Value::Tensor(b)) if alike(a, b) => match how {
                Carried::Window(_) => None,
                _ => way(CarryKind::Window),
            },
            (Carried::Same(Value::Tensor(tensor)), Value::Tile(id)) if self.holds_nothing(tensor) => {
                way(match in_space(id) {
                    Space::Acc => CarryKind::Accumulator(self.tile(*id).ty),
                    space => CarryKind::Buffer(space),
                })
            }
            (Carried::Same(Value::Tensor(_)) | Carried::Window(_), Value::Tile(id)) if in_space(id) == Space::Vec => {
                way(CarryKind::Buffer(Space::Vec))
            }
            (Carried::Same(Value::Tile(_)), Value::Tensor(_)) => way(CarryKind::Buffer(Space::Vec)),
            (Carried::Same(Value::Tile(before)), Value::Tile(id)) => match in_space(id) {
                Space::Vec => way(CarryKind::Buffer(Space::Vec)),
                _ => way(CarryKind::Buffer(in_space(before))),
            },
            (Carried::Tile(to), Value::Tile(from)) => {
                let (source, target) = (self.tile(*from), self.tile(*to));
                if source.value == target.value {
                    return None;
                }
                if let Some(error) = self.unequal(source, target, span) {
                    return Some(CarryMismatch::Never(Box::new(error)));
                }
                match (source.ty.space, target.ty.space) {
                    (_, Space::Vec) => None,
                    (Space::Vec, Space::Acc) => way(CarryKind::Buffer(Space::Vec)),
                    (Space::Vec, Space::Mat) => None,
                    _ => Some(CarryMismatch::Never(Box::new(cannot_be_copied(source, span)))),
                }
            }
            (Carried::Counted(to), Value::Tile(from)) => {
                let (source, target) = (self.tile(*from), self.tile(*to));
                if source.value == target.value {
                    return None;
                }
                match source.ty.space {
                    Space::Vec => way(CarryKind::Buffer(Space::Vec)),
                    _ => Some(CarryMismatch::Never(Box::new(cannot_be_copied(source, span)))),
                }
            }
            (Carried::Tile(to), Value::Tensor(tensor)) => {
                let target = self.tile(*to);
                if tensor.shape() != target.shape || tensor.elem != target.ty.layout.elem || target.valid.is_some() {
                    return never();
                }
                (target.ty.space != Space::Vec).then_some(CarryMismatch::CarryKind(CarryKind::Buffer(Space::Vec)))
            }
            (Carried::Each(each), Value::Tuple(items)) if each.len() == items.len() => {
                let found: Vec<Option<CarryMismatch>> =
                    each.iter().zip(items).map(|(how, item)| self.mismatch(name, how, item, span)).collect();
                if found.iter().all(Option::is_none) {
                    return None;
                }
                let mut ways = Vec::new();
                for (mismatch, how) in found.into_iter().zip(each) {
                    ways.push(match mismatch {
                        None => self.way_of(how),
                        Some(CarryMismatch::CarryKind(way)) => way,
                        never => return never,
                    });
                }
                way(CarryKind::Each(ways))
            }
            (Carried::Parts(shape, each), Value::Parts(parts)) if *shape == parts.shape => {
                let found =
                    each.iter().zip(&parts.tiles).map(|(how, id)| self.mismatch(name, how, &Value::Tile(*id), span));
                match found.flatten().next() {
                    None => None,
                    Some(CarryMismatch::Never(error)) => Some(CarryMismatch::Never(error)),
                    Some(CarryMismatch::CarryKind(_)) => never(),
                }
            }
            _ => never(),
        }
    }

    fn way_of(&self, how: &Carried) -> CarryKind {
        match how {
            Carried::Same(_) => CarryKind::Same,
            Carried::Number(ty) => CarryKind::Number(Some(*ty)),
            Carried::Window(_) => CarryKind::Window,
            Carried::Tile(id) => CarryKind::Buffer(self.tile(*id).ty.space),
            Carried::Counted(id) => CarryKind::Accumulator(self.tile(*id).ty),
            Carried::Each(each) | Carried::Parts(_, each) => {
                CarryKind::Each(each.iter().map(|how| self.way_of(how)).collect())
            }
        }
    }

    fn other_kind(&self, name: &str, how: &Carried, end: &Value, span: Span) -> Diagnostic {
        let before = match how {
            Carried::Same(value) => describe(self, value),
            Carried::Number(ty) => format!("a scalar of type {}", ty.name()),
            Carried::Window(tensor) => describe(self, &Value::Tensor(tensor.clone())),
            Carried::Tile(id) | Carried::Counted(id) => describe(self, &Value::Tile(*id)),
            Carried::Each(each) => format!("{} values", each.len()),
            Carried::Parts(shape, _) => format!("a list {} of matrices", show(shape)),
        };
        let after = describe(self, end);
        if let (Carried::Same(Value::Tensor(a)) | Carried::Window(a), Value::Tensor(b)) = (how, end)
            && a.root != b.root
        {
            return self.two_tensors(name, a, b, span);
        }
        let message = format!("{} is {before} when an iteration begins and {after} when it ends", quoted(name));
        Diagnostic::error("carry-type", span, message)
            .help("use another name for the other value, or `pl.unroll`, which lowers each iteration by itself")
    }

    /// The error for a name that refers to a window of one tensor or of another.
    pub(super) fn two_tensors(&self, name: &str, a: &Tensor, b: &Tensor, span: Span) -> Diagnostic {
        let [x, y] = [a, b].map(|window| &self.tensors.roots[window.root]);
        let name = quoted(name);
        let message =
            format!("whether {name} is a window of `{}` or of `{}` is known only at run time", x.name, y.name);
        Diagnostic::error("carry", span, message).also(x.span, "the one tensor").also(y.span, "the other").help(
            "load what is read (`pl.load`), keep both in one tensor and change the offset, or give the loop constant bounds",
        )
    }

    /// Ends a loop's body whose values match: tiles go into their buffers, the rest to the next iteration. `runs` says
    /// that the loop has at least one iteration.
    pub(super) fn finish_iteration(
        &mut self,
        carried: &[CarriedName],
        since: BuffersMark,
        (op, runs): (OpId, bool),
        span: Span,
    ) -> Lowered<()> {
        let (mut next, mut copies) = (Vec::new(), Vec::new());
        for (name, how) in carried {
            let value = self.lookup(name, span)?;
            self.finish(name, how, &value, since, (&mut next, &mut copies), span)?;
        }
        self.nothing_taken_from_before(carried, since, op)?;
        for (name, from, to) in &copies {
            self.part_if_shared(Some(name), *from, *to);
        }
        self.windows_for_the_next(&copies, since)?;
        let puts: Vec<(TileId, TileId)> = copies.into_iter().map(|(_, from, to)| (from, to)).collect();
        self.copy_all(puts.clone())?;
        self.parted_in_loop(&puts, since, runs)?;
        self.e.op(&scf::YIELD, &[("values", &next)], &[], &[]);
        Ok(())
    }

    fn finish(
        &mut self,
        name: &Rc<str>,
        how: &Carried,
        value: &Value,
        since: BuffersMark,
        (next, copies): (&mut Vec<ValueId>, &mut Copies),
        span: Span,
    ) -> Lowered<()> {
        match (how, value) {
            (Carried::Number(ty), value) => next.push(self.number(value, *ty, span)?),
            (Carried::Window(_), Value::Tensor(tensor)) => {
                for offset in &tensor.offsets {
                    next.push(self.index_value(*offset));
                }
            }
            (Carried::Tile(to) | Carried::Counted(to), Value::Tile(id)) => {
                self.still_there(*id, span)?;
                if let (Carried::Counted(_), Some(valid)) = (how, self.tile(*id).valid) {
                    next.extend(valid.map(|extent| self.index_value(extent)));
                }
                self.loaded_in_loop(name, *id, since)?;
                copies.push((name.clone(), *id, *to));
            }
            (Carried::Tile(to), Value::Tensor(tensor)) => {
                let id = self.materialized(tensor)?;
                self.loaded_in_loop(name, id, since)?;
                copies.push((name.clone(), id, *to));
            }
            (Carried::Each(each), Value::Tuple(items)) => {
                for (how, item) in each.iter().zip(items) {
                    self.finish(name, how, item, since, (&mut *next, &mut *copies), span)?;
                }
            }
            (Carried::Parts(_, each), Value::Parts(parts)) => {
                for (how, id) in each.iter().zip(&parts.tiles) {
                    self.finish(name, how, &Value::Tile(*id), since, (&mut *next, &mut *copies), span)?;
                }
            }
            // Values that match and are not carried are unchanged.
            _ => {}
        }
        Ok(())
    }

    /// Reports a tile from before a loop that an iteration overwrites in place, so that the next one no longer has it.
    fn nothing_taken_from_before(&mut self, carried: &[CarriedName], since: BuffersMark, op: OpId) -> Lowered<()> {
        fn carries(lower: &Lower<'_>, how: &Carried, buffer: ValueId) -> bool {
            match how {
                Carried::Tile(id) | Carried::Counted(id) => lower.buffer_of(*id) == buffer,
                Carried::Each(each) | Carried::Parts(_, each) => each.iter().any(|how| carries(lower, how, buffer)),
                Carried::Same(_) | Carried::Number(_) | Carried::Window(_) => false,
            }
        }
        let lost = self.held.buffers.taken_since(since).iter().find(|taken| {
            let made_before = self.e.module.defining_op(taken.buffer).is_none_or(|made| made < op);
            made_before && !carried.iter().any(|(_, how)| carries(self, how, taken.buffer))
        });
        let Some(taken) = lost.copied() else { return Ok(()) };
        let message = "an iteration overwrites this tile in place, and the next one needs it again";
        let error = Diagnostic::error("tile-gone", taken.span, message).help(
            "rebind the name that it was made with: `acc = pl.matmul_acc(acc, a, b)`, or make the tile in the loop",
        );
        Err(self.report(error))
    }

    /// Records that a copy separates two names, if a name other than `name` is bound to the original.
    pub(super) fn part_if_shared(&mut self, name: Option<&Rc<str>>, from: TileId, to: TileId) {
        let source = self.buffer_of(from);
        let shared = self.names_in(source).iter().any(|other| Some(other) != name);
        self.part_ways(from, to, shared);
    }

    /// After a loop: binds carried names to the results, and unbinds other names that the body binds.
    pub(super) fn leave(
        &mut self,
        before: Scope,
        names: &Names,
        carried: &[CarriedName],
        op: OpId,
        (place, why): (Span, &'static str),
    ) {
        self.names.env = before;
        for name in &names.bound {
            self.lose(name, place, why);
        }
        let results = self.e.module.op(op).results.clone();
        let mut results = results.iter();
        for (name, how) in carried {
            let value = self.carried_value(how, &mut results);
            self.set(name, value);
        }
    }

    // ---- values that do not change ----

    /// True if two values are identical.
    pub(super) fn same(&self, a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::Const(a), Value::Const(b)) => a == b,
            (Value::Scalar(a), Value::Scalar(b)) => a.value == b.value,
            (Value::Tensor(a), Value::Tensor(b)) => a == b,
            (Value::Tile(a), Value::Tile(b)) => {
                let (x, y) = (self.tile(*a), self.tile(*b));
                x.value == y.value && x.generation == y.generation && x.valid == y.valid && x.shape == y.shape
            }
            (Value::Tuple(a), Value::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.same(a, b)),
            (Value::Parts(a), Value::Parts(b)) => {
                let tiles = a.tiles.iter().zip(&b.tiles);
                a.shape == b.shape && tiles.into_iter().all(|(a, b)| self.same(&Value::Tile(*a), &Value::Tile(*b)))
            }
            (Value::Buffer(a), Value::Buffer(b)) => Rc::ptr_eq(a, b),
            (Value::Pipe(a), Value::Pipe(b)) => Rc::ptr_eq(a, b),
            (Value::Path(a), Value::Path(b)) => a == b,
            (Value::Record(a), Value::Record(b)) => Rc::ptr_eq(a, b),
            (Value::Nothing, Value::Nothing) => true,
            _ => false,
        }
    }
}

/// True for windows that differ only in their offsets.
pub(super) fn alike(a: &Tensor, b: &Tensor) -> bool {
    a.root == b.root
        && a.elem == b.elem
        && a.sizes == b.sizes
        && a.dropped == b.dropped
        && a.reshaped == b.reshaped
        && a.valid == b.valid
}

/// True if a number can be carried with this type.
fn number_fits(value: &Value, ty: DType) -> bool {
    let is_int = |ty: DType| ty == DType::Index || matches!(ty, DType::Elem(elem) if !elem.is_float());
    match value {
        Value::Const(Const::Int(_)) => ty != DType::Bool,
        Value::Const(Const::Float(_)) => ty.is_float(),
        Value::Const(Const::Bool(_)) => ty == DType::Bool,
        Value::Scalar(scalar) => {
            scalar.ty == ty
                || (is_int(scalar.ty) && ty == DType::Index)
                || (scalar.ty == DType::Index && is_int(ty))
                || (scalar.ty == DType::Elem(Elem::F32) && ty.is_float())
        }
        _ => false,
    }
}

/// The type of a number when it is carried.
pub(super) fn type_of(value: &Value) -> DType {
    match value {
        Value::Scalar(scalar) => scalar.ty,
        Value::Const(Const::Float(_)) => DType::Elem(Elem::F32),
        Value::Const(Const::Bool(_)) => DType::Bool,
        _ => DType::Index,
    }
}
