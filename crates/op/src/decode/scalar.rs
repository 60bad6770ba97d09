//! Scalar arithmetic that lowering needs for addresses and slots. Constants are folded.

use slipring_program::{Inst, Law, Operand, ScalarFn, Trap, moved, scaled};

use super::Decoder;

impl Decoder<'_> {
    /// `f(args)`: folded to its value if all arguments are constants and it does not trap.
    pub fn compute(&mut self, f: ScalarFn, args: [Operand; 3]) -> Operand {
        self.compute_by(Law::Unknown, f, args)
    }

    /// Like [`Decoder::compute`], for a function that follows a law.
    pub fn compute_by(&mut self, law: Law, f: ScalarFn, args: [Operand; 3]) -> Operand {
        if let [Operand::Imm(a), Operand::Imm(b), Operand::Imm(c)] = args
            && let Ok(value) = f([a, b, c])
            // A value that does not fit its type is diagnosed at run time.
            && law.fits([a, b, c], value)
        {
            return Operand::Imm(value);
        }
        let d = self.fresh();
        self.emit(Inst::Scalar { f, law, d, args });
        Operand::Reg(d)
    }

    /// `a + b`, wrapping 64-bit.
    pub fn add(&mut self, a: Operand, b: Operand) -> Operand {
        match (a, b) {
            (Operand::Imm(x), Operand::Imm(y)) => Operand::Imm(x.wrapping_add(y)),
            (x, Operand::Imm(0)) | (Operand::Imm(0), x) => x,
            _ => {
                let d = self.fresh();
                self.emit(Inst::Add { d, a, b });
                Operand::Reg(d)
            }
        }
    }

    /// `a × b`, wrapping 64-bit.
    pub fn mul(&mut self, a: Operand, b: Operand) -> Operand {
        match (a, b) {
            (x, Operand::Imm(1)) | (Operand::Imm(1), x) => x,
            (_, Operand::Imm(0)) | (Operand::Imm(0), _) => Operand::Imm(0),
            _ => self.compute_by(Law::Product, |[a, b, _]| Ok(a.wrapping_mul(b)), [a, b, Operand::Imm(0)]),
        }
    }

    /// The distance of `count` elements or rows of `size` bytes or elements each. The run stops if it overflows.
    pub fn distance(&mut self, count: Operand, size: Operand) -> Operand {
        match (count, size) {
            (x, Operand::Imm(1)) | (Operand::Imm(1), x) => x,
            (_, Operand::Imm(0)) | (Operand::Imm(0), _) => Operand::Imm(0),
            _ => self.compute_by(Law::Product, |[a, b, _]| scaled(a, b), [count, size, Operand::Imm(0)]),
        }
    }

    /// The sum of two distances. The run stops if it overflows.
    pub fn further(&mut self, a: Operand, b: Operand) -> Operand {
        match (a, b) {
            (x, Operand::Imm(0)) | (Operand::Imm(0), x) => x,
            _ => {
                let sum = |[a, b, _]: [u64; 3]| (a as i64).checked_add(b as i64).map(|n| n as u64).ok_or(Trap::Address);
                self.compute_by(Law::Sum, sum, [a, b, Operand::Imm(0)])
            }
        }
    }

    /// The address `by` bytes after `address`; `by` may be negative. The run stops if the address is outside every
    /// memory.
    pub fn moved(&mut self, address: Operand, by: Operand) -> Operand {
        match by {
            Operand::Imm(0) => address,
            _ => self.compute_by(Law::Sum, |[address, by, _]| moved(address, by), [address, by, Operand::Imm(0)]),
        }
    }

    /// `a - b`, wrapping 64-bit.
    pub fn sub(&mut self, a: Operand, b: Operand) -> Operand {
        match (a, b) {
            (x, Operand::Imm(0)) => x,
            _ => self.compute_by(Law::Difference, |[a, b, _]| Ok(a.wrapping_sub(b)), [a, b, Operand::Imm(0)]),
        }
    }

    /// The smaller of two signed numbers.
    pub fn min(&mut self, a: Operand, b: Operand) -> Operand {
        self.compute_by(Law::Extreme, |[a, b, _]| Ok((a as i64).min(b as i64) as u64), [a, b, Operand::Imm(0)])
    }

    /// The larger of two signed numbers.
    pub fn max(&mut self, a: Operand, b: Operand) -> Operand {
        self.compute_by(Law::Extreme, |[a, b, _]| Ok((a as i64).max(b as i64) as u64), [a, b, Operand::Imm(0)])
    }
}
