//! The program of a function in executable form: operands are indices into one list of values, registers first and
//! constants after them, so that each is resolved only once.

use std::collections::BTreeMap;

use slipring_program::{Fault, Reg, ScalarFn, Trap, moved, scaled};
use smallvec::{SmallVec, smallvec};

use crate::Whole;
use crate::clock::Cost;

/// Steps of the run's limit per vector instruction; a scalar one takes 1.
pub(crate) const STEPS: u64 = 8;

/// An index in the list of values.
pub(crate) type NumberAt = u32;

/// A step of the scalar unit, or a vector instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Code {
    /// The vector instruction with this index.
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

/// Where execution continues.
pub(crate) enum Next {
    Behind,
    At(u32),
    Over,
}

impl Code {
    /// The value that an instruction of the scalar unit computes, and those that it reads.
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
    /// The trap of the instruction.
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

/// A scalar operand of a vector instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    At(NumberAt),
    /// The address `offset` elements of this size after `base`.
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

/// The data of a vector instruction that the interpreter needs before its kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vector {
    /// The index of its first scalar, in the list of all.
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// The register for its result.
    pub result: Option<Reg>,
    /// See [`Step::whole`].
    pub whole: Option<Whole>,
    pub cost: Cost,
}

/// The instructions from one up to the next that branches or ends the function: all of them are executed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stretch {
    /// Their cost in steps of the run's limit.
    pub cost: u64,
    /// Number of vector instructions among them: a range of [`Compact::order`] starting at this one.
    pub vectors: u32,
    pub first: u32,
    /// 0, or after the comparison of a loop its index in [`Compact::loops`], from 1.
    pub rounds: u32,
}

/// A function's program.
#[derive(Debug)]
pub(crate) struct Compact {
    pub code: Vec<Code>,
    /// For each instruction the stretch that starts there, and one more at the end.
    pub stretches: Vec<Stretch>,
    /// The indices of the vector instructions, in program order.
    pub order: Vec<u32>,
    pub vectors: Vec<Vector>,
    /// Loops that may execute many iterations at once.
    pub loops: Vec<Loop>,
    pub(crate) numbers: Vec<Number>,
    /// Registers that instructions read and write, used by the clock.
    pub slots: Vec<u16>,
    /// Scalar registers.
    pub scalars: usize,
    pub(crate) constants: Vec<u64>,
    /// The index of each constant.
    pub(crate) known: BTreeMap<u64, NumberAt>,
}

impl Compact {
    /// True for an instruction that branches.
    pub fn chooses(&self, pc: u32) -> bool {
        matches!(self.code.get(pc as usize), Some(Code::JumpIfZero { .. } | Code::JumpIfGe { .. }))
    }

    /// The initial list of values: registers are 0.
    pub fn begin(&self, list: &mut Vec<u64>) {
        list.clear();
        list.resize(self.scalars, 0);
        list.extend_from_slice(&self.constants);
    }

    /// The values of argument `at` of an instruction.
    pub fn of_argument(&self, vector: &Vector, at: usize) -> SmallVec<[NumberAt; 2]> {
        match self.numbers[vector.first as usize + at] {
            Number::At(place) => smallvec![place],
            Number::Element { base, offset, .. } => smallvec![base, offset],
        }
    }

    /// Collects the scalar operands of an instruction at the front of `into`.
    ///
    /// # Errors
    /// An address outside every memory.
    #[inline]
    pub fn gather(&self, vector: &Vector, list: &[u64], into: &mut [u64; 8]) -> Result<usize, Trap> {
        let (first, count) = (vector.first as usize, vector.count as usize);
        for (number, into) in self.numbers[first..first + count].iter().zip(into) {
            *into = number.of(list)?;
        }
        Ok(count)
    }

    /// The form of the first scalar operand of an instruction, if it has any.
    pub fn first_number(&self, vector: &Vector) -> Option<Number> {
        self.numbers.get(vector.first as usize).filter(|_| vector.count > 0).copied()
    }

    /// The first scalar operand of an instruction, if it has a valid one.
    #[inline]
    pub fn first(&self, vector: &Vector, list: &[u64]) -> Option<u64> {
        self.numbers.get(vector.first as usize).filter(|_| vector.count > 0)?.of(list).ok()
    }
}

/// The fault for a trap of a scalar instruction.
#[cold]
pub(crate) fn fault(trap: Trap, site: u32) -> Fault {
    let (kind, message) = trap.says();
    Fault { site: Some(site), ..Fault::new(kind, message) }
}

/// A loop that can be executed this way: after its comparison come vector instructions, then additions, then the jump
/// back.
#[derive(Debug)]
pub(crate) struct Loop {
    /// It continues while the first value is less than the second.
    pub(crate) counter: NumberAt,
    pub(crate) bound: NumberAt,
    /// Its vector instructions.
    pub(crate) body: Vec<u32>,
    /// The values that change, and their increments per iteration.
    pub(crate) sums: SmallVec<[(NumberAt, NumberAt); 2]>,
}
