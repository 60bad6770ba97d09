//! Windows of global memory that are provably disjoint.

use slipring_ir::{BlockId, Flow, Module, OpId, ValueDef, ValueId};
use slipring_op::OpRef;
use slipring_op::rules::constant;

use super::sides::{Side, side};
use crate::analysis::affine::Affine;
use crate::analysis::facts::flow;
use crate::analysis::windows::Window;

/// Two accesses that are compared: both in this block or inside it, in one run of the block, or in different iterations of
/// the loop whose body it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    pub block: BlockId,
    pub around: Option<OpId>,
}

/// What a value in an offset represents in two accesses.
enum Term {
    /// The Vector core's number.
    Lane,
    /// The same value in both.
    Same,
    /// The counter of the loop between the two, with its step.
    Counter(i64),
    /// Any value of this range, in each of them.
    Range(i64, i64),
    Unknown,
}

/// True if a window and a later one do not overlap, for these lanes.
pub(super) fn apart(earlier: &Window, later: &Window, lanes: [i64; 2], module: &Module, scope: Scope) -> bool {
    let same_view = earlier.source == later.source && matches!(term(module, earlier.source, scope), Term::Same);
    let mut dims = earlier.dims.iter().zip(&later.dims);
    same_view && dims.any(|(a, b)| is_apart(a, b, lanes, module, scope).unwrap_or(false))
}

/// Compares one dimension: the distance from the first window's start to the second's is at least `least` and at most
/// `most`, and `step` more for each iteration in between. `None` if it is unknown.
type Extent = (Affine, Option<i64>);

fn is_apart(a: &Extent, b: &Extent, lanes: [i64; 2], module: &Module, scope: Scope) -> Option<bool> {
    let (first_size, later_size) = (a.1?, b.1?);
    let mut least = b.0.constant.checked_sub(a.0.constant)?;
    let mut most = least;
    let mut step = 0i64;
    let mut values: Vec<ValueId> = a.0.terms.keys().chain(b.0.terms.keys()).copied().collect();
    values.sort_unstable();
    values.dedup();
    for value in values {
        let factor = |of: &Affine| of.terms.get(&value).copied().unwrap_or(0);
        let (first, second) = (factor(&a.0), factor(&b.0));
        match term(module, value, scope) {
            Term::Lane => {
                let distance = second.checked_mul(lanes[1])?.checked_sub(first.checked_mul(lanes[0])?)?;
                (least, most) = (least.checked_add(distance)?, most.checked_add(distance)?);
            }
            Term::Same if first == second => {}
            Term::Counter(by) if first == second => step = step.checked_add(first.checked_mul(by)?)?,
            Term::Range(low, high) => {
                for factor in [second, first.checked_neg()?] {
                    let (x, y) = (factor.checked_mul(low)?, factor.checked_mul(high)?);
                    (least, most) = (least.checked_add(x.min(y))?, most.checked_add(x.max(y))?);
                }
            }
            _ => return None,
        }
    }
    // The later access is at least one iteration later.
    let after = step >= 0 && least.checked_add(step)? >= first_size;
    let before = step <= 0 && most.checked_add(step)?.checked_neg()? >= later_size;
    Some(after || before)
}

fn term(module: &Module, value: ValueId, scope: Scope) -> Term {
    let home = match module.value(value).def {
        ValueDef::Result(op, _) => module.op(op).block,
        ValueDef::Arg(block, _) => Some(block),
    };
    let Some(home) = home else { return Term::Unknown };
    let shared = match scope.around {
        Some(around) => module.op(around).block,
        None => Some(scope.block),
    };
    let mut outer = std::iter::successors(shared, |block| module.op(module.block_parent(*block)?).block);
    if outer.any(|block| block == home) {
        return Term::Same;
    }
    let ValueDef::Arg(_, 0) = module.value(value).def else { return Term::Unknown };
    let Some(owner) = module.block_parent(home) else { return Term::Unknown };
    if side(module, owner) == Side::Region {
        return Term::Lane;
    }
    match counter(module, owner) {
        Some((_, _, step)) if scope.around == Some(owner) => Term::Counter(step),
        Some((Some(low), Some(high), step)) if low < high => Term::Range(low, low + (high - 1 - low) / step * step),
        _ => Term::Unknown,
    }
}

/// First value, end and step of a counted loop's counter; the bounds if they are constant.
fn counter(module: &Module, op: OpId) -> Option<(Option<i64>, Option<i64>, i64)> {
    if flow(module, op) != Flow::Repeat {
        return None;
    }
    let op = OpRef::of(module, op)?;
    let [lower, upper, step] = op.range()?.map(|bound| constant(module, bound));
    let step = step.filter(|step| *step > 0)?;
    let small = |n: Option<i64>| n.filter(|n| n.unsigned_abs() < 1 << 40);
    Some((small(lower), small(upper), step))
}
