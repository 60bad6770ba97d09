//! Register contents, and the intended values of registers that overflowed their types.

use slipring_program::{Inst, Law, Operand, Reg, SiteRef};

/// The value that a register was meant to hold, and the instruction at which it overflowed its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Number {
    pub exact: i128,
    pub site: SiteRef,
    /// The intended and the actual result of that instruction.
    pub left: (i128, i64),
}

/// The intended values of a core's registers, where they differ from the actual ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meant {
    numbers: Vec<Option<Number>>,
    /// Number of such registers.
    left: usize,
}

impl Meant {
    /// True if every register holds its intended value.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.numbers.clear();
        self.left = 0;
    }

    pub(crate) fn get(&self, operand: Operand) -> Option<Number> {
        match operand {
            Operand::Reg(Reg(reg)) => self.numbers.get(reg as usize).copied().flatten(),
            Operand::Imm(_) => None,
        }
    }

    /// Records that a register holds its intended value, or does not.
    pub fn set(&mut self, Reg(reg): Reg, number: Option<Number>) {
        let place = reg as usize;
        if number.is_some() && place >= self.numbers.len() {
            self.numbers.resize(place + 1, None);
        }
        if let Some(known) = self.numbers.get_mut(place) {
            self.left -= usize::from(known.is_some());
            self.left += usize::from(number.is_some());
            *known = number;
        }
    }

    /// The exact values of three operands with these register values, and where the first of them overflowed its type.
    fn exact(&self, args: [Operand; 3], values: [u64; 3]) -> ([i128; 3], Option<Number>) {
        let numbers = args.map(|arg| self.get(arg));
        let mut exact = values.map(|value| i128::from(value as i64));
        for (exact, number) in exact.iter_mut().zip(numbers) {
            *exact = number.map_or(*exact, |number| number.exact);
        }
        (exact, numbers.into_iter().flatten().next())
    }

    /// Records the result of an instruction.
    fn computed(&mut self, law: Law, (d, result): (Reg, u64), args: [Operand; 3], values: [u64; 3], site: SiteRef) {
        let (exact, from) = self.exact(args, values);
        let actual = i128::from(result as i64);
        let number = |exact: i128| {
            let first = Number { exact, site, left: (exact, result as i64) };
            Some(Number { exact, ..from.unwrap_or(first) }).filter(|_| exact != actual)
        };
        let meant = match (law, from) {
            // A quotient of values in range is what its rounding makes of it.
            (Law::Quotient | Law::Ceiling, None) => None,
            (
                Law::Same | Law::Sum | Law::Difference | Law::Product | Law::Shifted | Law::Quotient | Law::Ceiling,
                _,
            ) => {
                if from.is_none() && law.fits(values, result) {
                    None
                } else {
                    number(law.exact(exact).unwrap_or(i128::MAX))
                }
            }
            (_, None) => None,
            (Law::Relation(relation), Some(_)) if relation.signed => {
                number(i128::from(relation.holds(exact[0], exact[1])))
            }
            // One of the operands, unchanged.
            (Law::Extreme | Law::UnsignedExtreme | Law::Unknown, Some(_)) => {
                let same = |(_, value): &(&Operand, &u64)| **value == result;
                args.iter().zip(&values).find(same).and_then(|(arg, _)| self.get(*arg))
            }
            // The remainder is the same if the two differ by a multiple of the divisor, such as a power of two.
            (Law::Remainder, Some(_)) => {
                let left = exact[0].checked_rem(exact[1]).unwrap_or(i128::MAX);
                let same = actual.checked_sub(left).and_then(|more| more.checked_rem(exact[1])) == Some(0);
                if same { None } else { number(left) }
            }
            // The operation works on bits, not on a number.
            _ => None,
        };
        self.set(d, meant);
    }

    /// Tracks the instruction that is executed next.
    pub fn follow(&mut self, inst: &Inst, site: SiteRef, regs: &[u64]) {
        let value = |operand: Operand| value(regs, operand);
        match inst {
            Inst::Scalar { f, law, d, args } => {
                let values = args.map(value);
                // An instruction that traps stops the run.
                let Ok(result) = f(values) else { return };
                self.computed(*law, (*d, result), *args, values, site);
            }
            Inst::Move { d, a } => self.set(*d, self.get(*a)),
            Inst::Add { d, a, b } => {
                let values = [value(*a), value(*b), 0];
                let sum = values[0].wrapping_add(values[1]);
                self.computed(Law::Sum, (*d, sum), [*a, *b, Operand::Imm(0)], values, site);
            }
            Inst::Special { d, .. } => self.set(*d, None),
            _ => {}
        }
    }

    /// The overflowed value that decides whether a loop is left (when the first of two operands is not below the
    /// second), and its register value; only if the intended values decide otherwise.
    pub(crate) fn leaves(&self, operands: [Operand; 2], values: [u64; 2]) -> Option<Number> {
        let numbers = operands.map(|operand| self.get(operand));
        let [a, b] = [0, 1].map(|at| numbers[at].map_or(i128::from(values[at] as i64), |number| number.exact));
        let leaves = values[0] as i64 >= values[1] as i64;
        numbers.into_iter().flatten().next().filter(|_| leaves != (a >= b))
    }
}

/// Value of an operand.
#[inline(always)]
pub(crate) fn value(regs: &[u64], operand: Operand) -> u64 {
    match operand {
        Operand::Reg(r) => regs[r.0 as usize],
        Operand::Imm(v) => v,
    }
}
