//! Names whose value at the end of an iteration is another name's value at its beginning: `a, b = b, a`.
//!
//! How such a name is carried follows from how the other one is, without analysing the body again. So a loop is lowered
//! at most twice for a cycle of names, however many they are.

use slipring_ir::{Span, ValueId};
use slipring_tile::Space;

use super::carry::{Carried, CarriedName, CarryMismatch, alike};
use super::control::Stop;
use super::lowering::Lower;
use super::state::{CarryKind, CarryPlan};
use crate::value::{Origin, Tensor, Value};

/// The maximum number of names for which exchanges are analysed.
const MOST_NAMES: usize = 1 << 12;

impl Lower<'_> {
    /// At the beginning of an iteration: binds carried names, given the loop's values. Returns the value of each, in
    /// order; windows can be told apart even if several names begin with the same one.
    pub(super) fn begin_iteration(&mut self, carried: &[CarriedName], values: &[ValueId]) -> Vec<Value> {
        let mut values = values.iter();
        let mut starts = Vec::with_capacity(carried.len());
        for (name, how) in carried {
            let mut value = self.carried_value(how, &mut values);
            if let Value::Tensor(window) = &mut value {
                window.origin = Origin::next(&mut self.carry.origins);
            }
            self.set(name, value.clone());
            starts.push(value);
        }
        starts
    }

    /// Names that an iteration leaves with values that cannot be carried as assumed, and the ways that may be right.
    /// `starts` are their values at its beginning.
    pub(super) fn misfits(&mut self, carried: &[CarriedName], starts: &[Value], span: Span) -> Result<CarryPlan, Stop> {
        let mut misfits = CarryPlan::new();
        for (name, how) in carried {
            let end = self.lookup(name, span)?;
            match self.mismatch(name, how, &end, span) {
                None => {}
                Some(CarryMismatch::CarryKind(way)) => drop(misfits.insert(name.clone(), way)),
                Some(CarryMismatch::Never(error)) => return Err(Stop::Never(error, self.period(carried, starts))),
            }
        }
        if !misfits.is_empty() && carried.len() <= MOST_NAMES {
            self.follow_exchanges(carried, starts, &mut misfits);
        }
        Ok(misfits)
    }

    /// For each name, the index of the name whose first value it has at the end of the iteration; `None` for other
    /// values.
    fn exchanges(&self, carried: &[CarriedName], starts: &[Value]) -> Vec<Option<usize>> {
        let ends = carried.iter().map(|(name, _)| self.names.env.get(name));
        ends.map(|end| starts.iter().position(|start| end.is_some_and(|end| is_copy(end, start)))).collect()
    }

    /// Adds the names that follow from those that are carried in another way than assumed.
    fn follow_exchanges(&self, carried: &[CarriedName], starts: &[Value], misfits: &mut CarryPlan) {
        let from = self.exchanges(carried, starts);
        // A name that ends with another name's first value must be checked again when that name is carried in another
        // way.
        let mut takers = vec![Vec::new(); carried.len()];
        for (to, from) in from.iter().enumerate() {
            if let Some(from) = from {
                takers[*from].push(to);
            }
        }
        let mut open: Vec<usize> = (0..carried.len()).filter(|at| misfits.contains_key(&carried[*at].0)).collect();
        while let Some(from) = open.pop() {
            let Some(way) = misfits.get(&carried[from].0).cloned() else { continue };
            for to in &takers[from] {
                let (name, how) = &carried[*to];
                if let Some(way) = self.way_after(how, &way).filter(|_| !misfits.contains_key(name)) {
                    misfits.insert(name.clone(), way);
                    open.push(*to);
                }
            }
        }
    }

    /// How a name is carried that ends an iteration with a value carried as `from`, if its own way does not match that.
    fn way_after(&self, how: &Carried, from: &CarryKind) -> Option<CarryKind> {
        match (how, from) {
            (Carried::Number(ty), CarryKind::Number(Some(other))) if !ty.is_float() && other.is_float() => {
                Some(from.clone())
            }
            (Carried::Same(Value::Tensor(_)), CarryKind::Window) => Some(CarryKind::Window),
            (Carried::Same(Value::Tensor(_)) | Carried::Window(_), CarryKind::Buffer(Space::Vec)) => {
                Some(CarryKind::Buffer(Space::Vec))
            }
            (Carried::Tile(id), CarryKind::Buffer(Space::Vec)) if self.tile(*id).ty.space == Space::Acc => {
                Some(CarryKind::Buffer(Space::Vec))
            }
            _ => None,
        }
    }

    /// The number of iterations after which each name refers to its first tensor again, if an iteration only exchanges
    /// the tensors of names; `i64::MAX` if that is never or not soon.
    fn period(&self, carried: &[CarriedName], starts: &[Value]) -> Option<i64> {
        /// One more than can be combined into one body.
        const MOST: i64 = super::control::MOST_TOGETHER;
        if carried.len() > MOST_NAMES {
            return None;
        }
        let from = self.exchanges(carried, starts);
        let mut tensors: Vec<Option<(&Tensor, usize)>> = Vec::new();
        for ((_, how), from) in carried.iter().zip(from) {
            tensors.push(match how {
                Carried::Same(Value::Tensor(first)) => Some((first, from?)),
                Carried::Window(_) => return None,
                _ => None,
            });
        }
        let mut now: Vec<usize> = (0..carried.len()).collect();
        for iterations in 1..=MOST {
            let before = now.clone();
            for (at, tensor) in tensors.iter().enumerate() {
                if let Some((_, from)) = tensor {
                    now[at] = before[*from];
                }
            }
            let back = tensors.iter().zip(&now).all(|(tensor, now)| match (tensor, tensors[*now]) {
                (Some((first, _)), Some((other, _))) => alike(first, other),
                _ => true,
            });
            if back {
                return Some(iterations);
            }
        }
        Some(i64::MAX)
    }
}

/// True for a value that is certainly a copy of a name's value at the beginning of the iteration.
fn is_copy(end: &Value, start: &Value) -> bool {
    match (end, start) {
        (Value::Scalar(end), Value::Scalar(start)) => end.value == start.value,
        (Value::Tensor(end), Value::Tensor(start)) => end.origin.is(start.origin) && end == start,
        (Value::Tile(end), Value::Tile(start)) => end == start,
        _ => false,
    }
}
