//! Dependence of a program's steps on anything but its text: loaded data and scalar arguments of the launch.

use crate::decision::{Causes, Choice, Decision};
use crate::{CoreProgram, Inst, Operand, ParamKind, Program, Reg, SiteRef, Special, Work};

/// Scalar instructions of a core or of a vector function, and the dependences of their registers. The analysis is
/// flow-insensitive, with one value per register: effects of a branch are a decision of the branch.
#[derive(Debug)]
pub struct Flow<'a> {
    /// The instructions.
    pub code: &'a [Inst],
    /// Their locations.
    pub sites: &'a [SiteRef],
    /// The dependences of each register.
    pub regs: Vec<Causes>,
}

impl Flow<'_> {
    /// The dependences of an operand.
    pub fn of(&self, operand: Operand) -> Causes {
        match operand {
            Operand::Reg(Reg(reg)) => self.regs.get(reg as usize).copied().unwrap_or_default(),
            Operand::Imm(_) => Causes::default(),
        }
    }

    /// Adds to the dependences of a register; true if that was new.
    pub fn add(&mut self, Reg(reg): Reg, causes: Causes) -> bool {
        let Some(known) = self.regs.get_mut(reg as usize) else { return false };
        let joined = known.join(causes);
        std::mem::replace(known, joined) != joined
    }

    /// Propagates dependences until nothing changes. `special` gives those of a launch value; `issue` propagates
    /// through work: it adds to registers and returns whether anything changed.
    pub fn settle(
        &mut self,
        special: impl Fn(Special) -> Causes,
        mut issue: impl FnMut(&mut Self, u32, SiteRef) -> bool,
    ) {
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (inst, site) in self.code.iter().zip(self.sites) {
                changed |= match inst {
                    Inst::Scalar { d, args, .. } => {
                        self.add(*d, args.iter().fold(Causes::default(), |all, arg| all.join(self.of(*arg))))
                    }
                    Inst::Move { d, a } => self.add(*d, self.of(*a)),
                    Inst::Add { d, a, b } => self.add(*d, self.of(*a).join(self.of(*b))),
                    Inst::Special { d, which } => self.add(*d, special(*which)),
                    Inst::Issue { work } => issue(self, *work, *site),
                    _ => false,
                };
            }
        }
    }

    /// Decisions of the instructions themselves; `issue` adds those of work.
    pub fn decisions(&self, found: &mut Vec<Decision>, mut issue: impl FnMut(u32, SiteRef, &mut Vec<Decision>)) {
        for (inst, site) in self.code.iter().zip(self.sites) {
            let (choice, causes) = match inst {
                Inst::JumpIfZero { a, .. } => (Choice::Control, self.of(*a)),
                Inst::Poll { a, .. } => (Choice::Wait, self.of(*a)),
                Inst::JumpIfGe { a, b, .. } | Inst::Meet { a, b, .. } => {
                    (Choice::Control, self.of(*a).join(self.of(*b)))
                }
                Inst::Set { sync, .. } | Inst::Wait { sync, .. } => (Choice::Sync, self.of(sync.index)),
                Inst::Acquire { token, .. } | Inst::Release { token, .. } => (Choice::Sync, self.of(token.index)),
                // A divisor: zero stops the program.
                Inst::Scalar { f, args, .. } if !self.of(args[1]).is_empty() && f([1, 0, 0]).is_err() => {
                    (Choice::Trap, self.of(args[1]))
                }
                Inst::Issue { work } => {
                    issue(*work, *site, found);
                    continue;
                }
                _ => continue,
            };
            if !causes.is_empty() {
                found.push(Decision { site: *site, choice, causes });
            }
        }
    }
}

impl Work {
    /// True if an operand determines the accesses. Whether it is valid for its type is a separate question.
    pub fn decides(&self, at: usize, site: SiteRef) -> bool {
        let mut causes = vec![Causes::default(); self.args.len()];
        causes[at] = Causes { data: false, params: 1 };
        let mut found = Vec::new();
        self.effect.decisions(&causes, site, &mut found);
        found.iter().any(|decision| decision.causes.params != 0 && decision.choice != Choice::Fault)
    }
}

impl Program {
    /// The dependences of a core's registers.
    pub fn flow<'a>(&self, core: &'a CoreProgram) -> Flow<'a> {
        let regs = vec![Causes::default(); core.regs as usize];
        let mut flow = Flow { code: &core.insts, sites: &core.inst_sites, regs };
        let special = |which| match which {
            Special::Param(at) => match self.params.get(at as usize).map(|param| param.kind) {
                Some(ParamKind::Scalar(_) | ParamKind::Bool) => Causes { data: false, params: 1 << at.min(63) },
                _ => Causes::default(),
            },
            _ => Causes::default(),
        };
        flow.settle(special, |flow, work, _| match core.works[work as usize].result {
            Some(result) => flow.add(result, Causes::DATA),
            None => false,
        });
        flow
    }

    /// Points at which loaded data or scalar arguments decide the program's behaviour, in order of location.
    pub fn decisions(&self) -> Vec<Decision> {
        let mut found = Vec::new();
        for core in &self.cores {
            let flow = self.flow(core);
            flow.decisions(&mut found, |work, site, found| {
                let work = &core.works[work as usize];
                let args: Vec<Causes> = work.args.iter().map(|arg| flow.of(*arg)).collect();
                work.effect.decisions(&args, site, found);
            });
        }
        found.sort_by_key(|decision| (decision.site, decision.choice));
        found.dedup();
        found
    }
}
