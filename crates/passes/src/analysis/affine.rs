//! Integers as linear combinations of opaque values.

use std::collections::BTreeMap;

use slipring_ir::{Module, Type, ValueId};
use slipring_op::rules::constant;
use slipring_op::{Linear, OpDef};

/// Maximum number of ops followed when analysing a value.
const DEPTH: usize = 32;

/// `constant + Σ factor × value`, as long as nothing wraps.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Affine {
    /// The constant part.
    pub constant: i64,
    /// The factor of each value; none is 0.
    pub terms: BTreeMap<ValueId, i64>,
}

impl Affine {
    fn scaled(mut self, by: i64) -> Option<Affine> {
        self.constant = self.constant.checked_mul(by)?;
        for factor in self.terms.values_mut() {
            *factor = factor.checked_mul(by)?;
        }
        self.terms.retain(|_, factor| *factor != 0);
        Some(self)
    }

    fn plus(mut self, other: Affine) -> Option<Affine> {
        self.constant = self.constant.checked_add(other.constant)?;
        for (value, factor) in other.terms {
            let sum = self.terms.entry(value).or_default();
            *sum = sum.checked_add(factor)?;
        }
        self.terms.retain(|_, factor| *factor != 0);
        Some(self)
    }
}

/// Which ops are followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Follow {
    /// Only 64-bit ops, which addresses never overflow: the result holds for every input.
    Exact,
    /// All of them, assuming that nothing wraps.
    Intended,
}

impl Affine {
    /// An opaque value.
    fn atom(value: ValueId) -> Affine {
        Affine { constant: 0, terms: BTreeMap::from([(value, 1)]) }
    }

    /// The linear form of an integer, as far as it consists of sums, differences and products with constants.
    pub fn of(module: &Module, value: ValueId, follow: Follow) -> Affine {
        followed(module, value, follow, DEPTH).unwrap_or_else(|| Affine::atom(value))
    }

    /// The value, if it is the same in every run.
    pub fn known(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }
}

fn followed(module: &Module, value: ValueId, follow: Follow, depth: usize) -> Option<Affine> {
    if let Some(constant) = constant(module, value) {
        return Some(Affine { constant, terms: BTreeMap::new() });
    }
    let op = module.defining_op(value).filter(|_| depth > 0)?;
    if follow == Follow::Exact && !matches!(module.ty(value), Type::Index | Type::Int { width: 64, .. }) {
        return None;
    }
    let data = module.op(op);
    let of = |at: usize| {
        let value = *data.operands.get(at)?;
        Some(followed(module, value, follow, depth - 1).unwrap_or_else(|| Affine::atom(value)))
    };
    match OpDef::of(module, op)?.linear? {
        // A value extended from fewer bits is unchanged.
        Linear::Same => of(0),
        Linear::Sum => of(0)?.plus(of(1)?),
        Linear::Difference => of(0)?.plus(of(1)?.scaled(-1)?),
        Linear::Product => {
            let (a, b) = (of(0)?, of(1)?);
            match (a.known(), b.known()) {
                (Some(a), _) => b.scaled(a),
                (_, Some(b)) => a.scaled(b),
                _ => None,
            }
        }
        Linear::Remainder => None,
    }
}
