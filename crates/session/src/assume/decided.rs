//! Conditions of a text that follow from the assumptions: comparisons of sums of the kernel's scalar arguments.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{BlockId, Module, OpId, ValueDef, ValueId};
use slipring_machine::CoreKind;
use slipring_op::rules::constant;
use slipring_op::{Linear, OpDef, OpRef, reachable};
use slipring_passes::analysis::affine::{Affine, Follow};
use slipring_program::{Order, Param};

use super::{Assumed, Condition, Number, Op};

/// The range of 64-bit integers: values outside it wrap.
const ALL: Between = Between { low: i64::MIN as i128, high: i64::MAX as i128 };

/// An interval of integers.
#[derive(Clone, Copy)]
struct Between {
    low: i128,
    high: i128,
}

impl Between {
    fn both(self, other: Between) -> Between {
        Between { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    fn is_inside(self, other: Between) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    /// The interval of values with this relation to 0; everything if they only differ from it.
    fn of(order: Order) -> Between {
        let (low, high) = match order {
            Order::Equal => (0, 0),
            Order::Less => (ALL.low, -1),
            Order::LessOrEqual => (ALL.low, 0),
            Order::Greater => (1, ALL.high),
            Order::GreaterOrEqual => (0, ALL.high),
            Order::Different => (ALL.low, ALL.high),
        };
        Between { low, high }
    }
}

/// An opaque value: an argument, or the remainder of a sum.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Atom {
    Param(usize),
    Rest(Box<Sum>, i128),
}

/// `constant + Σ factor × atom`; no factor is 0.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Sum {
    terms: BTreeMap<Atom, i128>,
    constant: i128,
}

impl Sum {
    fn constant(constant: i128) -> Sum {
        Sum { terms: BTreeMap::new(), constant }
    }

    fn atom(atom: Atom) -> Sum {
        Sum { terms: BTreeMap::from([(atom, 1)]), constant: 0 }
    }

    /// This sum plus a multiple of another.
    fn plus(mut self, other: &Sum, times: i128) -> Option<Sum> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(times)?)?;
        for (atom, factor) in &other.terms {
            let own = self.terms.entry(atom.clone()).or_default();
            *own = own.checked_add(factor.checked_mul(times)?)?;
        }
        self.terms.retain(|_, factor| *factor != 0);
        Some(self)
    }

    /// The value, if it contains no argument.
    fn known(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }

    fn of(number: &Number) -> Option<Sum> {
        match number {
            Number::Is(value) => Some(Sum::constant(*value)),
            Number::Param(at) => Some(Sum::atom(Atom::Param(*at))),
            Number::Of(op, a, b) => {
                let (a, b) = (Sum::of(a)?, Sum::of(b)?);
                match (op, a.known(), b.known()) {
                    (Op::Add, ..) => a.plus(&b, 1),
                    (Op::Sub, ..) => a.plus(&b, -1),
                    (Op::Mul, Some(times), _) => Sum::default().plus(&b, times),
                    (Op::Mul, _, Some(times)) => Sum::default().plus(&a, times),
                    (Op::Rem, None, Some(by)) if by > 0 => Some(Sum::atom(Atom::Rest(Box::new(a), by))),
                    _ => None,
                }
            }
        }
    }
}

/// The assumptions, as sums with a relation to 0.
struct Known(Vec<(Sum, Order)>);

impl Known {
    fn new(conditions: &[Condition]) -> Known {
        let each = conditions.iter().filter_map(|one| {
            let sum = Sum::of(&one.left)?.plus(&Sum::of(&one.right)?, -1)?;
            Some((sum, one.order))
        });
        Known(each.collect())
    }

    /// The range of an atom; `None` if a division in the text may give a result other than the assumed one.
    fn atom(&self, atom: &Atom) -> Option<Between> {
        let mut all = ALL;
        for (sum, order) in &self.0 {
            let (Some((own, factor)), 1) = (sum.terms.iter().next(), sum.terms.len()) else { continue };
            if own == atom {
                // `factor × atom + constant` is in that interval.
                let Between { low, high } = Between::of(*order);
                let ends = |a: i128, b: i128| Between { low: ceiled(a, *factor), high: a_floor(b, *factor) };
                let (low, high) = (low - sum.constant, high - sum.constant);
                all = all.both(if *factor > 0 { ends(low, high) } else { ends(high, low) });
            }
        }
        let Atom::Rest(of, by) = atom else { return Some(all) };
        let positive = self.sum(of).is_some_and(|of| of.low >= 0 && of.is_inside(ALL));
        match (all.low, all.high) {
            _ if positive => Some(all.both(Between { low: 0, high: by - 1 })),
            // The remainder of a negative number is zero as well, whichever way it is rounded.
            (0, 0) if by.count_ones() == 1 => Some(all),
            _ => None,
        }
    }

    /// The range of a sum, from its atoms and from the assumptions about similar sums.
    fn sum(&self, sum: &Sum) -> Option<Between> {
        let mut all = Between { low: sum.constant, high: sum.constant };
        for (atom, factor) in &sum.terms {
            let Between { low, high } = self.atom(atom)?;
            let (a, b) = (low.checked_mul(*factor)?, high.checked_mul(*factor)?);
            all = Between { low: all.low.checked_add(a.min(b))?, high: all.high.checked_add(a.max(b))? };
        }
        for (other, order) in &self.0 {
            let Between { low, high } = Between::of(*order);
            if let Some(more) = sum.clone().plus(other, -1).and_then(|rest| rest.known()) {
                all = all.both(Between { low: low + more, high: high + more });
            }
            if let Some(more) = sum.clone().plus(other, 1).and_then(|rest| rest.known()) {
                all = all.both(Between { low: more - high, high: more - low });
            }
        }
        Some(all)
    }

    /// True if a sum is assumed to be nonzero.
    fn is_never_zero(&self, sum: &Sum) -> bool {
        let same = |other: &Sum, sign| sum.clone().plus(other, sign).and_then(|rest| rest.known()) == Some(0);
        self.0.iter().any(|(other, order)| *order == Order::Different && (same(other, 1) || same(other, -1)))
    }

    /// Whether a sum has this relation to 0, if known.
    fn decides(&self, sum: &Sum, order: Order) -> Option<bool> {
        let Between { low, high } = self.sum(sum)?;
        let never = |order, yes: bool| match order {
            _ if low > high => None,
            Order::Equal if low == 0 && high == 0 => Some(yes),
            Order::Equal if low > 0 || high < 0 || self.is_never_zero(sum) => Some(!yes),
            Order::Less if high < 0 => Some(yes),
            Order::Less if low >= 0 => Some(!yes),
            Order::Greater if low > 0 => Some(yes),
            Order::Greater if high <= 0 => Some(!yes),
            _ => None,
        };
        match order {
            Order::Equal | Order::Less | Order::Greater => never(order, true),
            Order::Different => never(Order::Equal, false),
            Order::LessOrEqual => never(Order::Greater, false),
            Order::GreaterOrEqual => never(Order::Less, false),
        }
    }
}

/// Quotients rounded down and up.
fn a_floor(a: i128, by: i128) -> i128 {
    let (quotient, rest) = (a / by, a % by);
    if rest != 0 && (rest < 0) != (by < 0) { quotient - 1 } else { quotient }
}

fn ceiled(a: i128, by: i128) -> i128 {
    -a_floor(-a, by)
}

/// Maximum depth of nested ops that are followed.
const DEPTH: usize = 8;

/// A text and the arguments of its functions.
struct Text<'a> {
    module: &'a Module,
    params: &'a [Param],
    starts: [Option<OpId>; 2],
    /// The ops that the cores reach, including calls.
    ops: BTreeSet<OpId>,
}

impl Text<'_> {
    /// A value of the text as a sum.
    fn sum(&self, value: ValueId, depth: usize) -> Option<Sum> {
        let affine = Affine::of(self.module, value, Follow::Exact);
        let start = Sum::constant(i128::from(affine.constant));
        affine.terms.iter().try_fold(start, |sum, (value, factor)| {
            sum.plus(&self.number(*value, depth.checked_sub(1)?)?, i128::from(*factor))
        })
    }

    /// A value that is not a sum of others.
    fn number(&self, value: ValueId, depth: usize) -> Option<Sum> {
        match self.module.value(value).def {
            ValueDef::Arg(block, at) => self.argument(value, block, at as usize, depth),
            ValueDef::Result(..) => self.rest(value, depth).map(Sum::atom),
        }
    }

    /// An argument of a function: for one in which a core starts, the value passed by the launch; for another, the
    /// value passed by all its calls.
    fn argument(&self, value: ValueId, block: BlockId, at: usize, depth: usize) -> Option<Sum> {
        let own = |function: OpId| self.module.body(function, 0) == Some(block);
        if self.starts.iter().flatten().any(|start| own(*start)) {
            let name = self.module.value_name(value);
            let name = name.strip_prefix('%').unwrap_or(&name);
            return self.params.iter().position(|param| param.name == name).map(|at| Sum::atom(Atom::Param(at)));
        }
        let calls = self.ops.iter().filter(|op| self.module.callee(**op).is_some_and(own));
        let mut passed = calls.map(|call| self.sum(*self.module.op(*call).operands.get(at)?, depth));
        let first = passed.next()??;
        passed.all(|other| other.as_ref() == Some(&first)).then_some(first)
    }

    fn rest(&self, value: ValueId, depth: usize) -> Option<Atom> {
        let op = self.module.defining_op(value)?;
        let [of, by] = self.module.op(op).operands[..] else { return None };
        match OpDef::of(self.module, op)?.linear? {
            Linear::Remainder => {
                let by = i128::from(constant(self.module, by).filter(|by| *by > 0)?);
                Some(Atom::Rest(Box::new(self.sum(of, depth)?), by))
            }
            _ => None,
        }
    }

    /// Whether a comparison holds in every assumed launch.
    fn decided(&self, op: OpId, known: &Known) -> Option<bool> {
        let compared = OpRef::of(self.module, op)?;
        let relation = (compared.def.relation)(&compared)?;
        let [a, b] = self.module.op(op).operands[..] else { return None };
        let (a, b) = (self.sum(a, DEPTH)?, self.sum(b, DEPTH)?);
        for side in [&a, &b] {
            let between = known.sum(side)?;
            // An unsigned comparison treats a negative number as a large one.
            if !between.is_inside(ALL) || (!relation.signed && between.low < 0) {
                return None;
            }
        }
        known.decides(&a.plus(&b, -1)?, relation.order)
    }
}

impl Assumed {
    /// The comparisons of the functions in which a kernel starts, and of their callees, whose outcome is known in every
    /// launch that satisfies the assumptions.
    pub fn decided(&self, module: &Module, starts: [Option<OpId>; 2], params: &[Param]) -> BTreeMap<ValueId, bool> {
        if self.is_empty() {
            return BTreeMap::new();
        }
        let cores = [CoreKind::Cube, CoreKind::Vector].into_iter().zip(starts);
        let ops = cores.filter_map(|(kind, start)| Some(reachable(module, start?, kind))).flatten().collect();
        let (text, known) = (Text { module, params, starts, ops }, Known::new(&self.0));
        let each = text.ops.iter().filter_map(|op| {
            let [result] = module.op(*op).results[..] else { return None };
            Some((result, text.decided(*op, &known)?))
        });
        each.collect()
    }
}
