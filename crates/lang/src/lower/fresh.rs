//! Names that are first bound in a loop and live after it.

use std::rc::Rc;

use slipring_ir::{OpId, ValueId};

use super::carry::{Carried, type_of};
use super::control::Done;
use super::lowering::Lower;
use super::names::Names;
use super::state::{CarryKind, CarryPlan};
use crate::dtype::DType;
use crate::value::{Const, Index, TileId, Value};

impl Lower<'_> {
    /// Initial values for values that are only bound inside a loop.
    pub(super) fn start_fresh(&mut self, way: Option<&CarryKind>, first: &mut Vec<ValueId>) -> Option<Carried> {
        match way? {
            CarryKind::FreshNumber(ty) => {
                let zero = match ty {
                    DType::Bool => Const::Bool(false),
                    ty if ty.is_float() => Const::Float(0.0),
                    _ => Const::Int(0),
                };
                first.push(self.number(&Value::Const(zero), *ty, self.e.span).ok()?);
                Some(Carried::Number(*ty))
            }
            CarryKind::FreshWindow(like) => {
                first.extend(like.offsets.iter().map(|_| self.e.index(0)));
                Some(Carried::Window((**like).clone()))
            }
            _ => None,
        }
    }

    /// Names that a body binds and that are live after its loop, although they were unbound before: their values there,
    /// and the names that have to be carried for that. Tiles stay in their buffers, which are moved before the loop;
    /// numbers are only defined if the loop certainly runs (`runs`).
    pub(super) fn fresh_names(&mut self, names: &Names, done: &Done, runs: bool) -> (CarryPlan, Vec<(Rc<str>, Value)>) {
        let (mut plan, mut known) = (CarryPlan::new(), Vec::new());
        for name in &names.bound {
            let carried = done.carried.iter().any(|(other, _)| other == name);
            if carried || done.before.contains_key(name) || !self.is_read_later(name) {
                continue;
            }
            match self.names.env.get(name).cloned() {
                Some(value @ (Value::Const(_) | Value::Path(_))) if runs => known.push((name.clone(), value)),
                Some(value @ Value::Scalar(_)) if runs => {
                    plan.insert(name.clone(), CarryKind::FreshNumber(type_of(&value)));
                }
                // A window at a known place is the same whichever iteration has bound the name.
                Some(Value::Tensor(window)) if window.offsets.iter().all(|at| matches!(at, Index::Known(_))) => {
                    known.push((name.clone(), Value::Tensor(window)));
                }
                Some(Value::Tensor(window)) if runs => {
                    plan.insert(name.clone(), CarryKind::FreshWindow(Box::new(window)));
                }
                Some(Value::Tile(id)) if self.hoisted(id, done.op) => known.push((name.clone(), Value::Tile(id))),
                _ => {}
            }
        }
        (plan, known)
    }

    /// Rebinds names to their values inside a loop.
    pub(super) fn set_again(&mut self, known: Vec<(Rc<str>, Value)>) {
        for (name, value) in known {
            let value = match value {
                Value::Tile(id) => Value::Tile(self.renewed(id)),
                other => other,
            };
            self.set(&name, value);
        }
    }

    /// Moves the buffer of a tile before the loop that makes it. False if that is not possible.
    pub(super) fn hoisted(&mut self, id: TileId, op: OpId) -> bool {
        let tile = self.tile(id).clone();
        let open = |extent: &Index| matches!(extent, Index::At(_));
        let Some(made) = self.e.module.defining_op(tile.value).filter(|_| self.held.allocs.contains(&tile.value))
        else {
            return false;
        };
        if tile.valid.is_some_and(|valid| valid.iter().any(open)) {
            return false;
        }
        let inside = (0..self.e.module.op(op).regions.len())
            .any(|at| self.e.module.body(op, at) == self.e.module.op(made).block);
        if inside {
            self.e.module.remove(made);
            self.e.module.insert_before(op, made);
        }
        inside || self.open.region.is_some()
    }
}
