//! How often a core repeats itself: from the same instruction, with registers of which some have advanced by constant
//! steps.

use std::collections::BTreeSet;

use crate::loops::{target, written};
use crate::{Action, CoreProgram, Inst, Law, Operand, Reg};

impl CoreProgram {
    /// How many more times a core at `pc` is certain to repeat what it did since it was last there, provided that
    /// everything it waits for arrives as it did then. `moved` is the change of each of its registers since then.
    /// `None` if unknown.
    ///
    /// Registers that have changed must be pure counters: they grow by constants, and decide nothing except that a
    /// fixed bound has not been reached. The duration of work must not depend on bytes, and its operands must be
    /// unchanged or periodic.
    pub fn goes_on(&self, pc: usize, regs: &[u64], moved: &[u64]) -> Option<u64> {
        let counts = |operand: Operand| match operand {
            Operand::Reg(Reg(reg)) => moved.get(reg as usize).is_some_and(|by| *by != 0),
            Operand::Imm(_) => false,
        };
        // Everything it may reach as long as no bound is reached.
        let (mut seen, mut open) = (BTreeSet::new(), vec![pc]);
        while let Some(at) = open.pop() {
            let inst = self.insts.get(at)?;
            if !seen.insert(at) {
                continue;
            }
            let leaves = matches!(inst, Inst::JumpIfGe { a, .. } if counts(*a));
            open.extend(target(inst).filter(|_| !leaves));
            if !matches!(inst, Inst::Jump { .. } | Inst::Trap { .. } | Inst::End) {
                open.push(at + 1);
            }
        }
        let writes: BTreeSet<u32> =
            seen.iter().filter_map(|at| written(self, &self.insts[*at])).map(|(Reg(reg), _)| reg).collect();
        let stays = |operand: Operand| match operand {
            Operand::Reg(Reg(reg)) => !writes.contains(&reg),
            Operand::Imm(_) => true,
        };
        let value = |operand: Operand| match operand {
            Operand::Reg(Reg(reg)) => regs.get(reg as usize).map(|value| *value as i64),
            Operand::Imm(value) => Some(value as i64),
        };
        let mut times = u64::MAX;
        for at in seen {
            match &self.insts[at] {
                Inst::Add { d, a, b } | Inst::Scalar { law: Law::Sum, d, args: [a, b, _], .. }
                    if counts(Operand::Reg(*d)) =>
                {
                    if *a != Operand::Reg(*d) || !stays(*b) || value(*b)? <= 0 {
                        return None;
                    }
                }
                Inst::JumpIfGe { a, b, .. } if counts(*a) => {
                    let Operand::Reg(Reg(reg)) = *a else { return None };
                    if !stays(*b) {
                        return None;
                    }
                    let (now, by) = (value(*a)?, *moved.get(reg as usize)? as i64);
                    let left = value(*b)?.checked_sub(1)?.checked_sub(now)?;
                    if by <= 0 || left < 0 {
                        return None;
                    }
                    times = times.min((left / by) as u64);
                }
                inst => {
                    let into = written(self, inst).is_some_and(|(d, _)| counts(Operand::Reg(d)));
                    if into || self.reads(inst)?.into_iter().any(counts) {
                        return None;
                    }
                }
            }
        }
        Some(times)
    }

    /// Operands of an instruction; `None` for one whose behaviour depends on more than registers and signals.
    fn reads(&self, inst: &Inst) -> Option<Vec<Operand>> {
        Some(match inst {
            Inst::Issue { work } => {
                let work = self.works.get(*work as usize)?;
                match &work.effect {
                    Action::Planned(effect) if work.result.is_none() && !effect.answers() => work.args.to_vec(),
                    _ => return None,
                }
            }
            Inst::Set { sync, .. } | Inst::Wait { sync, .. } | Inst::Inside { sync } => vec![sync.index],
            Inst::Product { at, m, n, .. } => vec![*at, *m, *n],
            Inst::FromProduct { at, rows, cols, .. } => vec![*at, *rows, *cols],
            Inst::JumpIfZero { a, .. } => vec![*a],
            Inst::JumpIfGe { a, b, .. } => vec![*a, *b],
            Inst::Scalar { .. } | Inst::Move { .. } | Inst::Add { .. } | Inst::Special { .. } => written(self, inst)?.1,
            Inst::Jump { .. } | Inst::Barrier { .. } | Inst::Trap { .. } | Inst::End => Vec::new(),
            Inst::Meet { .. } | Inst::Poll { .. } | Inst::Acquire { .. } | Inst::Release { .. } => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use slipring_machine::Role;

    use super::*;

    fn core(insts: Vec<Inst>) -> CoreProgram {
        let inst_sites = vec![0; insts.len()];
        CoreProgram { role: Role::Aic, insts, inst_sites, works: Vec::new(), regs: 3 }
    }

    fn reg(at: u32) -> Operand {
        Operand::Reg(Reg(at))
    }

    /// `for r0 in r0..end step 2`, with one more instruction in it.
    fn counted(end: Operand, body: Inst) -> CoreProgram {
        let step = Inst::Add { d: Reg(0), a: reg(0), b: Operand::Imm(2) };
        core(vec![Inst::JumpIfGe { a: reg(0), b: end, to: 4 }, body, step, Inst::Jump { to: 0 }, Inst::End])
    }

    #[test]
    fn a_counter_goes_on_up_to_its_bound() {
        let nothing = Inst::Barrier { pipe: None };
        let code = counted(Operand::Imm(11), nothing.clone());
        // From 4 on, by 2 each time: 6, 8 and 10 are below 11.
        assert_eq!(code.goes_on(0, &[4, 0, 0], &[2, 0, 0]), Some(3));
        assert_eq!(code.goes_on(1, &[10, 0, 0], &[2, 0, 0]), Some(0));
        assert_eq!(code.goes_on(0, &[11, 0, 0], &[2, 0, 0]), None);
        // A bound in a register must stay.
        let code = counted(reg(1), nothing);
        assert_eq!(code.goes_on(0, &[4, 9, 0], &[4, 0, 0]), Some(1));
        let code = counted(reg(1), Inst::Move { d: Reg(1), a: Operand::Imm(9) });
        assert_eq!(code.goes_on(0, &[4, 9, 0], &[4, 0, 0]), None);
    }

    #[test]
    fn what_counts_does_nothing_else() {
        let end = Operand::Imm(100);
        let moved = [2, 0, 0];
        for body in [
            Inst::Move { d: Reg(1), a: reg(0) },
            Inst::Move { d: Reg(0), a: reg(1) },
            Inst::Add { d: Reg(1), a: reg(1), b: reg(0) },
            Inst::Add { d: Reg(0), a: reg(0), b: Operand::Imm(u64::MAX) },
            Inst::JumpIfZero { a: reg(0), to: 4 },
            Inst::JumpIfGe { a: Operand::Imm(8), b: reg(0), to: 4 },
            Inst::Poll { a: reg(1), to: 0 },
        ] {
            assert_eq!(counted(end, body.clone()).goes_on(0, &[4, 0, 0], &moved), None, "{body:?}");
        }
        // What comes back may decide, and may be computed with.
        for body in [Inst::JumpIfZero { a: reg(1), to: 4 }, Inst::Move { d: Reg(1), a: reg(2) }] {
            assert_eq!(counted(end, body.clone()).goes_on(0, &[4, 0, 0], &moved), Some(47), "{body:?}");
        }
    }
}
