//! Loops of a core's program: what determines their trip count, and whether they terminate.
//!
//! A loop is a sequence of instructions that ends in a jump back to its first one, which is how structured control flow
//! is lowered. It is certain to terminate if each iteration moves a value closer to a fixed bound: its ranking.

use std::collections::BTreeSet;

use crate::{CoreProgram, Inst, Law, Operand, Order, Reg, Relation, SiteRef, Trap};

/// What is known about the termination of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// A counter grows by a positive step up to a fixed bound, and never wraps.
    Counted,
    /// A value moves towards a constant bound, by this much each iteration, or by division. The loop terminates as long
    /// as the value fits its type.
    Toward {
        /// The amount added each iteration; `None` if the value is divided.
        by: Option<i64>,
    },
    /// A value moves away from a fixed bound by this much each iteration: the loop continues until the value wraps.
    Away {
        /// The amount added each iteration.
        by: i64,
    },
    /// Nothing that its condition depends on changes in it: a loop that iterates once iterates forever.
    Never,
    /// Unknown.
    Open,
}

/// A loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// Its first instruction, and the jump back to it.
    pub head: usize,
    #[allow(missing_docs)]
    pub back: usize,
    /// Its op.
    pub site: SiteRef,
    /// Its termination.
    pub end: End,
    /// Registers that decide its control flow, and those that these are computed from in it. If they hold the same
    /// values at two jumps back, the loop behaves the same from both.
    pub deciding: Vec<Reg>,
    /// Whether loaded values decide, too, or waits for values that others write.
    pub loads: bool,
}

impl Loop {
    /// True if it contains an instruction.
    pub const fn has(&self, pc: usize) -> bool {
        self.head <= pc && pc <= self.back
    }
}

/// The register that an instruction writes, and the operands that it is computed from; empty for work.
pub(crate) fn written(core: &CoreProgram, inst: &Inst) -> Option<(Reg, Vec<Operand>)> {
    Some(match inst {
        Inst::Scalar { d, args, .. } => (*d, args.to_vec()),
        Inst::Move { d, a } => (*d, vec![*a]),
        Inst::Add { d, a, b } => (*d, vec![*a, *b]),
        Inst::Special { d, .. } => (*d, Vec::new()),
        Inst::Issue { work } => (core.works.get(*work as usize)?.result?, Vec::new()),
        _ => return None,
    })
}

/// The jump target of an instruction, if any.
pub(crate) const fn target(inst: &Inst) -> Option<usize> {
    match inst {
        Inst::Jump { to }
        | Inst::JumpIfZero { to, .. }
        | Inst::JumpIfGe { to, .. }
        | Inst::Meet { to, .. }
        | Inst::Poll { to, .. } => Some(*to as usize),
        _ => None,
    }
}

/// A value during an iteration of a loop, relative to the loop's head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Term {
    /// The same in every iteration.
    Fixed,
    /// A register's value at the head plus a constant.
    From(Reg, i64),
    /// A register's value at the head, divided by two or more; a quotient that is rounded up stays at 1.
    Part { of: Reg, up: bool },
}

/// The sum of two values or, with a sign of -1, the first minus the second: one of them is a constant.
fn sum(x: Term, y: Term, a: Operand, b: Operand, sign: i64) -> Option<Term> {
    match (x, y) {
        (Term::Fixed, Term::Fixed) => Some(Term::Fixed),
        (Term::From(reg, by), Term::Fixed) => Some(Term::From(reg, by.checked_add(b.as_imm()?.checked_mul(sign)?)?)),
        (Term::Fixed, Term::From(reg, by)) if sign == 1 => Some(Term::From(reg, by.checked_add(a.as_imm()?)?)),
        _ => None,
    }
}

/// A loop of a core under analysis.
struct View<'a> {
    core: &'a CoreProgram,
    head: usize,
    back: usize,
}

/// Maximum number of instructions followed for a value.
const DEPTH: u32 = 16;

impl View<'_> {
    fn insts(&self) -> impl Iterator<Item = (usize, &Inst)> {
        (self.head..=self.back).map(|pc| (pc, &self.core.insts[pc]))
    }

    /// The instructions in the loop that write a register.
    fn writers(&self, reg: Reg) -> Vec<usize> {
        let writes = |(pc, inst)| written(self.core, inst).filter(|(d, _)| *d == reg).map(|_| pc);
        self.insts().filter_map(writes).collect()
    }

    /// True if an instruction is executed in every iteration that does not leave the loop before it.
    fn always(&self, pc: usize) -> bool {
        self.insts()
            .take_while(|(at, _)| *at < pc)
            .all(|(_, inst)| target(inst).is_none_or(|to| to <= pc && to > self.head || to > self.back))
    }

    fn operand(&self, operand: Operand, at: usize, depth: u32) -> Option<Term> {
        match operand {
            Operand::Imm(_) => Some(Term::Fixed),
            Operand::Reg(reg) => self.term(reg, at, depth),
        }
    }

    /// The value of a register before an instruction of an iteration.
    fn term(&self, reg: Reg, at: usize, depth: u32) -> Option<Term> {
        let depth = depth.checked_sub(1)?;
        let [pc] = self.writers(reg)[..] else {
            return self.writers(reg).is_empty().then_some(Term::Fixed);
        };
        if pc >= at {
            return Some(Term::From(reg, 0));
        }
        let of = |operand: &Operand| self.operand(*operand, pc, depth);
        match &self.core.insts[pc] {
            Inst::Move { a, .. } => of(a),
            Inst::Add { a, b, .. } => sum(of(a)?, of(b)?, *a, *b, 1),
            Inst::Special { .. } => Some(Term::Fixed),
            Inst::Scalar { law, args: [a, b, c], .. } => {
                let terms = [of(a)?, of(b)?, of(c)?];
                if terms == [Term::Fixed; 3] {
                    return Some(Term::Fixed);
                }
                match law {
                    Law::Same => Some(terms[0]),
                    // A number that is read without its sign has as many bits: it fits as long as the counter does. One
                    // that is cut to fewer bits repeats, in 32 or more after more iterations than a run has.
                    Law::Low { bits, signed } if !signed || *bits >= 32 => Some(terms[0]),
                    Law::Sum => sum(terms[0], terms[1], *a, *b, 1),
                    Law::Difference => sum(terms[0], terms[1], *a, *b, -1),
                    Law::Quotient | Law::Ceiling => match (terms[0], b.as_imm()) {
                        (Term::From(of, 0), Some(2..)) => Some(Term::Part { of, up: *law == Law::Ceiling }),
                        _ => None,
                    },
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The value of a counting register in the next iteration.
    fn next(&self, reg: Reg) -> Option<Term> {
        let [pc] = self.writers(reg)[..] else { return None };
        if !self.always(pc) {
            return None;
        }
        match &self.core.insts[pc] {
            Inst::Move { a: Operand::Reg(from), .. } if *from != reg => self.term(*from, pc, DEPTH),
            // It is updated in place.
            _ => self.term(reg, pc + 1, DEPTH),
        }
    }

    /// The termination of a loop that continues while a register tested by this instruction is not 0.
    fn condition(&self, reg: Reg, at: usize, depth: u32) -> End {
        let Some(depth) = depth.checked_sub(1) else { return End::Open };
        let [pc] = self.writers(reg)[..] else {
            return if self.writers(reg).is_empty() { End::Never } else { End::Open };
        };
        if pc >= at {
            return End::Open;
        }
        let both = |a: Operand, b: Operand| {
            let of = |operand: Operand| match operand {
                Operand::Reg(reg) => self.condition(reg, pc, depth),
                Operand::Imm(_) => End::Never,
            };
            match (of(a), of(b)) {
                (end @ End::Toward { .. }, _) | (_, end @ End::Toward { .. }) => end,
                (End::Never, End::Never) => End::Never,
                _ => End::Open,
            }
        };
        match &self.core.insts[pc] {
            Inst::Move { a: Operand::Reg(from), .. } => self.condition(*from, pc, depth),
            Inst::Scalar { law: Law::Relation(relation), args: [a, b, _], .. } => self.relation(*relation, *a, *b, pc),
            Inst::Scalar { law: Law::Mask, args: [a, b, _], .. } => both(*a, *b),
            _ if self.term(reg, at, DEPTH) == Some(Term::Fixed) => End::Never,
            _ => End::Open,
        }
    }

    /// The termination of a loop that continues while a relation holds.
    fn relation(&self, relation: Relation, a: Operand, b: Operand, pc: usize) -> End {
        let (Some(x), Some(y)) = (self.operand(a, pc, DEPTH), self.operand(b, pc, DEPTH)) else { return End::Open };
        let (reg, order, bound) = match (x, y) {
            (Term::Fixed, Term::Fixed) => return End::Never,
            (Term::From(reg, _), Term::Fixed) => (reg, relation.order, b),
            (Term::Fixed, Term::From(reg, _)) => (reg, relation.turned().order, a),
            _ => return End::Open,
        };
        match (self.next(reg), order) {
            (Some(Term::From(same, 0)), _) if same == reg => End::Never,
            (Some(Term::From(same, by @ 1..)), Order::Less | Order::LessOrEqual | Order::Equal) if same == reg => {
                End::Toward { by: Some(by) }
            }
            (Some(Term::From(same, by @ ..=-1)), Order::Greater | Order::GreaterOrEqual | Order::Equal)
                if same == reg =>
            {
                End::Toward { by: Some(by) }
            }
            (Some(Term::From(same, by)), Order::Less | Order::LessOrEqual | Order::Greater | Order::GreaterOrEqual)
                if same == reg =>
            {
                End::Away { by }
            }
            // A positive value decreases to 0 and no further, or to 1 if it is rounded up.
            (Some(Term::Part { of, up }), Order::Greater)
                if of == reg && bound.as_imm().is_some_and(|least| least >= i64::from(up)) =>
            {
                End::Toward { by: None }
            }
            (Some(Term::Part { of, up }), Order::GreaterOrEqual)
                if of == reg && bound.as_imm().is_some_and(|least| least > i64::from(up)) =>
            {
                End::Toward { by: None }
            }
            _ => End::Open,
        }
    }

    /// True if the first instruction leaves the loop when a counter has reached its bound, and the counter only grows.
    fn is_counted(&self) -> bool {
        let (Inst::JumpIfGe { a: Operand::Reg(counter), b, to } | Inst::Meet { a: Operand::Reg(counter), b, to }) =
            &self.core.insts[self.head]
        else {
            return false;
        };
        let stays = matches!(self.operand(*b, self.head, DEPTH), Some(Term::Fixed));
        let [pc] = self.writers(*counter)[..] else { return false };
        let step = match &self.core.insts[pc] {
            Inst::Add { a, b, .. } if *a == Operand::Reg(*counter) => *b,
            Inst::Scalar { law: Law::Sum, args: [a, b, _], .. } if *a == Operand::Reg(*counter) => *b,
            _ => return false,
        };
        *to as usize > self.back && stays && pc + 1 == self.back && self.is_positive(step)
    }

    /// True if a step is positive, or else stops the program.
    fn is_positive(&self, step: Operand) -> bool {
        let Operand::Reg(reg) = step else { return step.as_imm().is_some_and(|step| step > 0) };
        let all = &self.core.insts;
        let mut made = all.iter().filter(|inst| written(self.core, inst).is_some_and(|(d, _)| d == reg));
        let checks = |inst: &Inst| match inst {
            Inst::Scalar { f, law: Law::Same, .. } => {
                [0, -1, i64::MIN].iter().all(|step| f([*step as u64, 0, 0]) == Err(Trap::LoopStep))
            }
            _ => false,
        };
        made.next().is_some_and(checks) && made.next().is_none()
    }

    fn end(&self) -> End {
        if self.is_counted() {
            return End::Counted;
        }
        let mut ends = self.exits().map(|pc| match &self.core.insts[pc] {
            _ if !self.always(pc) => End::Open,
            Inst::JumpIfZero { a: Operand::Reg(reg), .. } => self.condition(*reg, pc, DEPTH),
            // It never iterates.
            Inst::JumpIfZero { a: Operand::Imm(0), .. } => End::Counted,
            Inst::JumpIfZero { .. } => End::Never,
            _ => End::Open,
        });
        let Some(first) = ends.next() else { return End::Never };
        ends.fold(first, |all, end| match (all, end) {
            (End::Counted | End::Toward { .. }, _) => all,
            (_, End::Counted | End::Toward { .. }) => end,
            (all, end) if all == end => all,
            _ => End::Open,
        })
    }

    /// The instructions that may leave the loop.
    fn exits(&self) -> impl Iterator<Item = usize> {
        let leaves = |inst: &Inst| target(inst).is_some_and(|to| to > self.back || to < self.head);
        self.insts().filter(move |(_, inst)| leaves(inst)).map(|(pc, _)| pc)
    }

    fn look(&self) -> Loop {
        let mut deciding: BTreeSet<u32> = BTreeSet::new();
        let mut loads = false;
        let reg = |operand: &Operand| operand.as_reg().map(|reg| reg.0);
        for (_, inst) in self.insts() {
            match inst {
                Inst::JumpIfZero { a, .. } => deciding.extend(reg(a)),
                Inst::JumpIfGe { a, b, .. } | Inst::Meet { a, b, .. } => {
                    deciding.extend([a, b].into_iter().filter_map(reg))
                }
                Inst::Poll { .. } => loads = true,
                _ => {}
            }
        }
        let mut known = None;
        while known.replace(deciding.len()) != Some(deciding.len()) {
            for (_, inst) in self.insts() {
                let Some((_, args)) = written(self.core, inst).filter(|(d, _)| deciding.contains(&d.0)) else {
                    continue;
                };
                loads |= matches!(inst, Inst::Issue { .. });
                deciding.extend(args.iter().filter_map(reg));
            }
        }
        let deciding = deciding.into_iter().map(Reg).collect();
        let site = self.core.inst_sites[self.back];
        Loop { head: self.head, back: self.back, site, end: self.end(), deciding, loads }
    }
}

impl CoreProgram {
    /// The loops, inner ones before outer ones.
    pub fn loops(&self) -> Vec<Loop> {
        let back = |(pc, inst): (usize, &Inst)| match inst {
            Inst::Jump { to } if *to as usize <= pc => Some(View { core: self, head: *to as usize, back: pc }),
            _ => None,
        };
        self.insts.iter().enumerate().filter_map(back).map(|view| view.look()).collect()
    }

    /// The conditional jumps that leave a loop.
    pub fn exits(&self, of: &Loop) -> Vec<usize> {
        View { core: self, head: of.head, back: of.back }.exits().collect()
    }
}
