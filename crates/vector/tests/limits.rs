//! Where a function stops under a step limit.

use slipring_machine::{Role, VectorOp, VectorPort, built_in};
use slipring_program::{Access, Discover, Env, Inst, Memory, Operand, Output, Reg, Run, Scratch, SiteRef};
use slipring_vector::{Arg, Function, Parts, Step};

/// Steps of the limit that a vector instruction takes; a scalar instruction takes 1.
const STEPS: u64 = 8;

const REGS: [Reg; 3] = [Reg(0), Reg(1), Reg(2)];

/// Two nested loops: three times four iterations of one vector instruction, and one before and after them.
fn nested() -> Parts {
    let [outer, inner, counted] = REGS;
    let (reg, imm) = (Operand::Reg, Operand::Imm);
    let code = vec![
        Inst::Issue { work: 0 },
        Inst::Move { d: outer, a: imm(0) },
        Inst::JumpIfGe { a: reg(outer), b: imm(3), to: 10 },
        Inst::Move { d: inner, a: imm(0) },
        Inst::JumpIfGe { a: reg(inner), b: imm(4), to: 8 },
        Inst::Issue { work: 1 },
        Inst::Add { d: inner, a: reg(inner), b: imm(1) },
        Inst::Jump { to: 4 },
        Inst::Add { d: outer, a: reg(outer), b: imm(1) },
        Inst::Jump { to: 2 },
        Inst::Issue { work: 2 },
        Inst::End,
    ];
    let sites = (0..code.len() as u32).collect();
    let cost = VectorOp { port: VectorPort::Alu, latency: 5, busy: 1 };
    let step = |name| Step {
        args: [Arg::from(Operand::Reg(counted))].into_iter().collect(),
        result: Some(counted),
        ..Step::new(name, cost, |_, args| Ok(args[0] + 1))
    };
    let spec = built_in("a5").ok().and_then(|platform| platform.vector_function).expect("the A5 has one");
    Parts { code, sites, steps: ["a", "b", "c"].map(step).into(), slots: 1, inputs: Vec::new(), spec }
}

/// Where a function stops under a limit, or the number of steps left if it completes.
fn outcome(function: &Function, limit: u64) -> Result<u64, Option<SiteRef>> {
    let (mut memory, mut output) = (Memory::with_sizes(1, |_| 1024), Output::default());
    let mut scratch = Scratch { steps: limit, ..Scratch::default() };
    let env = Env { block: 0, core: Role::Aiv0 };
    let run = Run { env, memory: &mut memory, scratch: &mut scratch, output: &mut output };
    let outcome = function.discover(&[], run, &mut Access::default());
    outcome.map(|_| scratch.steps).map_err(|fault| fault.site)
}

/// Even if the limit is checked for many instructions at once, each limit stops at the first instruction that exceeds
/// it.
#[test]
fn every_limit_stops_at_its_instruction() {
    let parts = nested();
    // The same, instruction by instruction: locations and the steps spent before them.
    let (mut pc, mut numbers, mut spent, mut walked) = (0, [0u64; 3], 0, Vec::new());
    loop {
        let inst = &parts.code[pc];
        walked.push((pc as SiteRef, spent));
        spent += if matches!(inst, Inst::Issue { .. }) { STEPS } else { 1 };
        let value = |operand: Operand| match operand {
            Operand::Reg(reg) => numbers[reg.0 as usize],
            Operand::Imm(value) => value,
        };
        pc += 1;
        match *inst {
            Inst::Move { d, a } => numbers[d.0 as usize] = value(a),
            Inst::Add { d, a, b } => numbers[d.0 as usize] = value(a) + value(b),
            Inst::Jump { to } => pc = to as usize,
            Inst::JumpIfGe { a, b, to } if value(a) >= value(b) => pc = to as usize,
            Inst::End => break,
            _ => {}
        }
    }
    assert_eq!(walked.iter().filter(|(pc, _)| *pc == 5).count(), 12);
    let function = Function::new(parts);
    for limit in 0..spent {
        let stopped = walked.iter().rev().find(|(_, before)| *before <= limit).map(|(site, _)| *site);
        assert_eq!(outcome(&function, limit), Err(stopped), "{limit} of {spent}");
    }
    assert_eq!([outcome(&function, spent), outcome(&function, spent + 100)], [Ok(0), Ok(100)]);
}
