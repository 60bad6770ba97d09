//! The program of a function, as it is executed: operands are places in one list of numbers, the registers first and the
//! constants behind them, so that none is looked at twice.

use std::collections::BTreeMap;

use slipring_program::{Fault, Inst, Operand, Reg, ScalarFn, Trap, moved, scaled};

use crate::clock::Cost;
use crate::{Arg, Parts, Step};

/// A place in the list of numbers.
type NumberAt = u32;

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

/// A number that a vector instruction takes.
#[derive(Clone, Copy, Debug)]
enum Number {
    At(NumberAt),
    /// The address of element `offset`, of so many bytes, after `base`.
    Element {
        base: NumberAt,
        offset: NumberAt,
        bytes: u64,
    },
}

/// What the interpreter needs of a vector instruction before its kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vector {
    /// Its numbers, in the list of all.
    first: u32,
    count: u32,
    /// Where its result goes.
    pub result: Option<Reg>,
    pub cost: Cost,
}

/// A function's program.
#[derive(Debug)]
pub(crate) struct Compact {
    pub code: Vec<Code>,
    pub vectors: Vec<Vector>,
    numbers: Vec<Number>,
    /// Registers that instructions read and write, for the clock.
    pub slots: Vec<u16>,
    /// Scalar registers.
    scalars: usize,
    constants: Vec<u64>,
    /// Where each constant stands.
    known: BTreeMap<u64, NumberAt>,
}

impl Compact {
    /// The program of a function with so many scalar registers.
    pub fn new(parts: &Parts, scalars: usize) -> Compact {
        let (code, vectors) = (Vec::new(), Vec::new());
        let (numbers, slots, constants) = (Vec::new(), Vec::new(), Vec::new());
        let known = BTreeMap::new();
        let mut compact = Compact { code, vectors, numbers, slots, scalars, constants, known };
        compact.code = parts.code.iter().map(|inst| compact.inst(inst)).collect();
        compact.vectors = parts.steps.iter().map(|step| compact.vector(step, parts)).collect();
        compact
    }

    fn place(&mut self, operand: Operand) -> NumberAt {
        match operand {
            Operand::Reg(reg) => reg.0,
            Operand::Imm(value) => *self.known.entry(value).or_insert_with(|| {
                self.constants.push(value);
                (self.scalars + self.constants.len() - 1) as NumberAt
            }),
        }
    }

    fn inst(&mut self, inst: &Inst) -> Code {
        match *inst {
            Inst::Issue { work } => Code::Vector(work),
            Inst::Scalar { f, d, args, .. } => Code::Scalar { f, d: d.0, args: args.map(|a| self.place(a)) },
            Inst::Move { d, a } => Code::Move { d: d.0, a: self.place(a) },
            Inst::Add { d, a, b } => Code::Add { d: d.0, a: self.place(a), b: self.place(b) },
            Inst::Jump { to } => Code::Jump { to },
            Inst::JumpIfZero { a, to } => Code::JumpIfZero { a: self.place(a), to },
            Inst::JumpIfGe { a, b, to } => Code::JumpIfGe { a: self.place(a), b: self.place(b), to },
            _ => Code::End,
        }
    }

    fn vector(&mut self, step: &Step, parts: &Parts) -> Vector {
        let first = self.numbers.len() as u32;
        for arg in &step.args {
            let number = match *arg {
                Arg::Value(operand) => Number::At(self.place(operand)),
                Arg::Element { base, offset, bytes } => {
                    Number::Element { base: self.place(base), offset: self.place(offset), bytes }
                }
            };
            self.numbers.push(number);
        }
        let cost = Cost::new(step, &parts.spec, &mut self.slots);
        Vector { first, count: step.args.len() as u32, result: step.result, cost }
    }

    /// The list of numbers at the start: registers are 0.
    pub fn begin(&self, list: &mut Vec<u64>) {
        list.clear();
        list.resize(self.scalars, 0);
        list.extend_from_slice(&self.constants);
    }

    /// The numbers that an instruction takes, in front.
    ///
    /// # Errors
    /// An address that is in no memory.
    #[inline]
    pub fn gather(&self, vector: &Vector, list: &[u64], into: &mut [u64; 8]) -> Result<usize, Trap> {
        let (first, count) = (vector.first as usize, vector.count as usize);
        for (number, into) in self.numbers[first..first + count].iter().zip(into) {
            *into = match *number {
                Number::At(place) => list[place as usize],
                Number::Element { base, offset, bytes } => {
                    moved(list[base as usize], scaled(list[offset as usize], bytes)?)?
                }
            };
        }
        Ok(count)
    }
}

/// The fault that a scalar instruction stops with.
#[cold]
pub(crate) fn fault(trap: Trap, site: u32) -> Fault {
    let (kind, message) = trap.says();
    Fault { site: Some(site), ..Fault::new(kind, message) }
}
