//! The program of a function, as it is executed: operands are places in one list of numbers, the registers first and the
//! constants after them, so that none is looked at twice.

use std::collections::BTreeMap;

use slipring_program::{Fault, Reg, ScalarFn, Trap, moved, scaled};
use smallvec::{SmallVec, smallvec};

use crate::Whole;
use crate::clock::Cost;

/// Steps of the run's limit that a vector instruction takes; a scalar one takes 1.
pub(crate) const STEPS: u64 = 8;

/// A place in the list of numbers.
pub(crate) type NumberAt = u32;

/// A step of the scalar unit, or a vector instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Code {
    /// The vector instruction of this number.
    Vector(u32),
    Scalar {
        f: ScalarFn,
        d: NumberAt,
        args: [NumberAt; 3],
    },
    Move {
        d: NumberAt,
        a: NumberAt,
    },
    Add {
        d: NumberAt,
        a: NumberAt,
        b: NumberAt,
    },
    Jump {
        to: u32,
    },
    JumpIfZero {
        a: NumberAt,
        to: u32,
    },
    JumpIfGe {
        a: NumberAt,
        b: NumberAt,
        to: u32,
    },
    End,
}

/// Where a function goes on.
pub(crate) enum Next {
    Behind,
    At(u32),
    Over,
}

impl Code {
    /// The number that an instruction of the scalar unit makes, and those that it takes.
    pub fn numbers(&self) -> (Option<NumberAt>, SmallVec<[NumberAt; 3]>) {
        match *self {
            Code::Scalar { d, args, .. } => (Some(d), args.into()),
            Code::Move { d, a } => (Some(d), smallvec![a]),
            Code::Add { d, a, b } => (Some(d), smallvec![a, b]),
            Code::JumpIfZero { a, .. } => (None, smallvec![a]),
            Code::JumpIfGe { a, b, .. } => (None, smallvec![a, b]),
            Code::Vector(_) | Code::Jump { .. } | Code::End => (None, SmallVec::new()),
        }
    }

    /// Executes an instruction of the scalar unit.
    ///
    /// # Errors
    /// What the instruction stops with.
    #[inline(always)]
    pub fn scalar(&self, numbers: &mut [u64]) -> Result<Next, Trap> {
        let leave = |leaves: bool, to: u32| if leaves { Next::At(to) } else { Next::Behind };
        match *self {
            Code::Scalar { f, d, args } => numbers[d as usize] = f(args.map(|a| numbers[a as usize]))?,
            Code::Move { d, a } => numbers[d as usize] = numbers[a as usize],
            Code::Add { d, a, b } => numbers[d as usize] = numbers[a as usize].wrapping_add(numbers[b as usize]),
            Code::Jump { to } => return Ok(Next::At(to)),
            Code::JumpIfZero { a, to } => return Ok(leave(numbers[a as usize] == 0, to)),
            Code::JumpIfGe { a, b, to } => {
                return Ok(leave(numbers[a as usize] as i64 >= numbers[b as usize] as i64, to));
            }
            Code::Vector(_) => {}
            Code::End => return Ok(Next::Over),
        }
        Ok(Next::Behind)
    }
}

/// A number that a vector instruction takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    At(NumberAt),
    /// The address of element `offset`, of so many bytes, after `base`.
    Element {
        base: NumberAt,
        offset: NumberAt,
        bytes: u64,
    },
}

impl Number {
    #[inline(always)]
    fn of(&self, list: &[u64]) -> Result<u64, Trap> {
        match *self {
            Number::At(place) => Ok(list[place as usize]),
            Number::Element { base, offset, bytes } => {
                moved(list[base as usize], scaled(list[offset as usize], bytes)?)
            }
        }
    }
}

/// What the interpreter needs of a vector instruction before its kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vector {
    /// Its numbers, in the list of all.
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// Where its result goes.
    pub result: Option<Reg>,
    /// See [`Step::whole`].
    pub whole: Option<Whole>,
    pub cost: Cost,
}

/// The instructions from one on to the next that chooses where to go on, or that ends the function: all of them are executed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stretch {
    /// Steps of the run's limit that they take.
    pub cost: u64,
    /// Vector instructions among them: so many of [`Compact::order`], from this one on.
    pub vectors: u32,
    pub first: u32,
    /// 0, or behind the comparison of a loop of [`Compact::loops`] its place there, from 1.
    pub rounds: u32,
}

/// A function's program.
#[derive(Debug)]
pub(crate) struct Compact {
    pub code: Vec<Code>,
    /// For each instruction what is executed from there on; one more at the end.
    pub stretches: Vec<Stretch>,
    /// The vector instructions, in the order of the program.
    pub order: Vec<u32>,
    pub vectors: Vec<Vector>,
    /// Loops that may be executed many rounds at once.
    pub loops: Vec<Loop>,
    pub(crate) numbers: Vec<Number>,
    /// Registers that instructions read and write, for the clock.
    pub slots: Vec<u16>,
    /// Scalar registers.
    pub scalars: usize,
    pub(crate) constants: Vec<u64>,
    /// Where each constant stands.
    pub(crate) known: BTreeMap<u64, NumberAt>,
}

impl Compact {
    /// True of an instruction that chooses where to go on.
    pub fn chooses(&self, pc: u32) -> bool {
        matches!(self.code.get(pc as usize), Some(Code::JumpIfZero { .. } | Code::JumpIfGe { .. }))
    }

    /// The list of numbers at the start: registers are 0.
    pub fn begin(&self, list: &mut Vec<u64>) {
        list.clear();
        list.resize(self.scalars, 0);
        list.extend_from_slice(&self.constants);
    }

    /// The numbers of argument `at` of an instruction.
    pub fn of_argument(&self, vector: &Vector, at: usize) -> SmallVec<[NumberAt; 2]> {
        match self.numbers[vector.first as usize + at] {
            Number::At(place) => smallvec![place],
            Number::Element { base, offset, .. } => smallvec![base, offset],
        }
    }

    /// The numbers that an instruction takes, in front.
    ///
    /// # Errors
    /// An address that is in no memory.
    #[inline]
    pub fn gather(&self, vector: &Vector, list: &[u64], into: &mut [u64; 8]) -> Result<usize, Trap> {
        let (first, count) = (vector.first as usize, vector.count as usize);
        for (number, into) in self.numbers[first..first + count].iter().zip(into) {
            *into = number.of(list)?;
        }
        Ok(count)
    }

    /// What the first number that an instruction takes is made of, if it takes one.
    pub fn first_number(&self, vector: &Vector) -> Option<Number> {
        self.numbers.get(vector.first as usize).filter(|_| vector.count > 0).copied()
    }

    /// The first number that an instruction takes, if it takes one that there is.
    #[inline]
    pub fn first(&self, vector: &Vector, list: &[u64]) -> Option<u64> {
        self.numbers.get(vector.first as usize).filter(|_| vector.count > 0)?.of(list).ok()
    }
}

/// The fault that a scalar instruction stops with.
#[cold]
pub(crate) fn fault(trap: Trap, site: u32) -> Fault {
    let (kind, message) = trap.says();
    Fault { site: Some(site), ..Fault::new(kind, message) }
}

/// A loop that can be executed so: behind its comparison vector instructions, then sums, then the jump back.
#[derive(Debug)]
pub(crate) struct Loop {
    /// It goes on while the first number is less than the second.
    pub(crate) counter: NumberAt,
    pub(crate) bound: NumberAt,
    /// Its vector instructions.
    pub(crate) body: Vec<u32>,
    /// The numbers that change, and by what in each round.
    pub(crate) sums: SmallVec<[(NumberAt, NumberAt); 2]>,
}
