//! What passes through loops and branches: scalars as carried values, tiles in buffers of their own.

use std::rc::Rc;

use indexmap::IndexMap;
use slipring_ir::{Diagnostic, OpId, Span, Type, ValueId};
use slipring_tile::{Elem, Space};

use super::names::Names;
use super::{Lower, Lowered, Value, describe};
use crate::dtype::DType;
use crate::value::{Const, Scalar, TileId};

/// What a name is while it is carried.
pub(super) enum Carried {
    /// By position among the loop's carried values, and its type.
    Scalar(DType),
    /// In this buffer.
    Tile(TileId),
}

/// A name that a loop carries; for a scalar, its first value.
pub(super) type CarriedName = (Rc<str>, Carried, Option<ValueId>);

impl Lower<'_> {
    /// Decides what a loop carries: names that exist, that the body binds, and whose old value it reads or whose new value
    /// is read after it. Gives the scalars' first values.
    pub(super) fn start_carrying(&mut self, names: &Names, counter: &str, span: Span) -> Lowered<Vec<CarriedName>> {
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
    pub(super) fn own_buffer(&mut self, id: TileId, span: Span) -> Lowered<TileId> {
        self.still_there(id, span)?;
        let value = self.tile(id).value;
        let names = self.env.values().filter(|v| matches!(v, Value::Tile(other) if self.tile(*other).value == value));
        let shared = names.count() > 1 || self.is_view(value) || self.has_views(value);
        if !shared || self.tile(id).ty.space == Space::Acc {
            return Ok(self.renewed(id));
        }
        self.copied(id)
    }

    pub(super) fn is_view(&self, value: ValueId) -> bool {
        let op = self.e.module.defining_op(value);
        op.is_some_and(|op| !self.e.module.op(op).operands.is_empty())
    }

    /// True if a tile of the list is a view of this buffer.
    pub(super) fn has_views(&self, value: ValueId) -> bool {
        self.tiles.iter().any(|tile| {
            let op = self.e.module.defining_op(tile.value);
            op.is_some_and(|op| self.e.module.op(op).operands.first() == Some(&value))
        })
    }

    /// A copy of a tile in the same memory, made where the tile's kind of work may stand.
    pub(super) fn copied(&mut self, id: TileId) -> Lowered<TileId> {
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
    pub(super) fn copy_into(&mut self, from: TileId, to: TileId) -> Lowered<()> {
        let (source, target) = (self.tile(from).clone(), self.tile(to).clone());
        if source.value == target.value {
            return Ok(());
        }
        let span = self.e.span;
        if source.valid != target.valid {
            let error =
                Diagnostic::error("carry", span, "a name stands for tiles with other valid shapes before and after")
                    .also(target.span, "the one")
                    .also(source.span, "the other")
                    .help("make all of the tile valid first: `pl.fillpad`");
            return Err(self.report(error));
        }
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

    /// Copies tiles into buffers as if all at once: `a, b = b, a`.
    pub(super) fn copy_all(&mut self, mut copies: Vec<(TileId, TileId)>) -> Lowered<()> {
        for at in 1..copies.len() {
            let source = self.viewed(self.tile(copies[at].0).value);
            let overwrites =
                |(from, to): &(TileId, TileId)| self.tile(*to).value == source && self.tile(*from).value != source;
            if copies[..at].iter().any(overwrites) {
                copies[at].0 = self.copied(copies[at].0)?;
            }
        }
        copies.into_iter().try_for_each(|(from, to)| self.copy_into(from, to))
    }

    /// The buffer that a value is or is a view of.
    fn viewed(&self, value: ValueId) -> ValueId {
        let op = self.e.module.defining_op(value).map(|op| self.e.module.op(op));
        op.and_then(|op| op.operands.first()).map_or(value, |source| self.viewed(*source))
    }

    /// Ends a loop's body: tiles into their buffers, scalars to the next iteration.
    pub(super) fn finish_iteration(&mut self, carried: &[CarriedName], span: Span) -> Lowered<()> {
        let (mut next, mut copies) = (Vec::new(), Vec::new());
        for (name, kind, _) in carried {
            let value = self.lookup(name, span)?;
            match (kind, value) {
                (Carried::Tile(buffer), Value::Tile(id)) => copies.push((id, *buffer)),
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
        self.copy_all(copies)?;
        self.e.op("scf.yield", &[("values", &next)], &[], &[]);
        Ok(())
    }

    /// After a loop: carried names stand for what came out, names that only the body bound for nothing.
    pub(super) fn leave(
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
                Carried::Tile(id) => Value::Tile(self.renewed(*id)),
            };
            self.env.insert(name.clone(), value);
        }
    }

    /// A buffer like a tile's, declared before an op.
    pub(super) fn buffer_before(&mut self, op: OpId, like: TileId) -> TileId {
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
pub(super) fn type_of(value: &Const) -> DType {
    match value {
        Const::Float(_) => DType::Elem(Elem::F32),
        Const::Bool(_) => DType::Bool,
        _ => DType::Index,
    }
}
