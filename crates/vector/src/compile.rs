//! A function in the form that the interpreter executes.

use std::collections::BTreeMap;

use slipring_program::{Inst, Operand};

use crate::clock::Cost;
use crate::code::{Code, Compact, Loop, Number, NumberAt, STEPS, Stretch, Vector};
use crate::{Arg, Parts, Step};

impl Compact {
    /// The program of a function with this many scalar registers.
    pub fn new(parts: &Parts, scalars: usize) -> Compact {
        let (code, vectors) = (Vec::new(), Vec::new());
        let (numbers, slots, constants) = (Vec::new(), Vec::new(), Vec::new());
        let known = BTreeMap::new();
        let (stretches, order, loops) = (Vec::new(), Vec::new(), Vec::new());
        let mut compact = Compact { code, stretches, order, vectors, loops, numbers, slots, scalars, constants, known };
        compact.code = parts.code.iter().map(|inst| compact.inst(inst)).collect();
        compact.vectors = parts.steps.iter().map(|step| compact.vector(step, parts)).collect();
        compact.stretch();
        for head in 0..compact.code.len() {
            if let Some(found) = Loop::find(&compact.code, head, parts) {
                compact.loops.push(found);
                compact.stretches[head + 1].rounds = compact.loops.len() as u32;
            }
        }
        compact
    }

    /// Finds the stretches, from the last instruction to the first.
    fn stretch(&mut self) {
        let vector = |code: &Code| if let Code::Vector(work) = code { Some(*work) } else { None };
        self.order = self.code.iter().filter_map(vector).collect();
        self.stretches = vec![Stretch { first: self.order.len() as u32, ..Stretch::default() }; self.code.len() + 1];
        for (pc, code) in self.code.iter().enumerate().rev() {
            let next = self.stretches[pc + 1];
            self.stretches[pc] = match code {
                Code::Vector(_) => {
                    Stretch { cost: next.cost + STEPS, vectors: next.vectors + 1, first: next.first - 1, rounds: 0 }
                }
                Code::Scalar { .. } | Code::Move { .. } | Code::Add { .. } => Stretch { cost: next.cost + 1, ..next },
                Code::Jump { to } => Stretch { cost: 1 + u64::from(self.chooses(*to)), vectors: 0, ..next },
                Code::JumpIfZero { .. } | Code::JumpIfGe { .. } | Code::End => Stretch { cost: 1, vectors: 0, ..next },
            };
        }
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
        let cost =
            Cost::new(&step.cost, step.memory.is_some(), [&step.reads, &step.writes], &parts.spec, &mut self.slots);
        Vector { first, count: step.args.len() as u32, result: step.result, whole: step.whole, cost }
    }
}
