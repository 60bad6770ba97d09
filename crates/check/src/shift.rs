//! Two executions of a program side by side, compared by the differences of their registers.
//!
//! One has run some iterations more than the other, or has a different argument. Propagated through the instructions,
//! the differences show whether both take the same path, use the same signals and touch the same bytes up to a constant
//! distance; if so, both behave alike. A difference is a multiple of one unknown positive integer, so a proof for one
//! covers all of them.

use std::collections::{BTreeMap, BTreeSet};

use slipring_machine::Role;
use slipring_program::{CoreProgram, Inst, Law, Operand, Reg, SiteRef, Special};

use crate::rounds::ArgUse;

/// The difference of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shift {
    /// A constant difference.
    By(i64),
    /// It holds loaded data: no decision depends on it.
    Data,
    /// Unknown.
    Unknown,
}

/// A register of both executions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Pair {
    shift: Shift,
    /// A lower bound in both; `None` if unknown.
    low: Option<i64>,
}

const SAME: Pair = Pair { shift: Shift::By(0), low: Some(0) };

impl Pair {
    /// Nonnegative in both.
    fn natural(self) -> bool {
        self.low.is_some_and(|low| low >= 0)
    }

    /// The common properties of this pair and another one that reaches the same point.
    fn join(self, other: Pair) -> Pair {
        let shift = match (self.shift, other.shift) {
            (a, b) if a == b => a,
            (Shift::Unknown, _) | (_, Shift::Unknown) => Shift::Unknown,
            (Shift::Data, Shift::By(0)) | (Shift::By(0), Shift::Data) => Shift::Data,
            _ => Shift::Unknown,
        };
        let low = match (self.low, other.low) {
            (Some(a), Some(b)) if b >= a => Some(a),
            // A bound that decreases once may decrease each time.
            (Some(_), Some(b)) if b >= 0 => Some(0),
            _ => None,
        };
        Pair { shift, low }
    }
}

/// A difference that cannot be followed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Obstacle {
    /// In the control flow.
    Control(SiteRef),
    /// In the signal used.
    Signal(SiteRef),
    /// In the accesses of work.
    Access(SiteRef),
    /// In a divisor.
    Divisor(SiteRef),
}

/// The inputs of the analysis.
#[derive(Debug)]
pub struct Follow<'a> {
    /// The core.
    pub core: &'a CoreProgram,
    /// The parameter by which the executions differ, the difference, and its minimum value.
    pub param: Option<(u32, i64, i64)>,
    /// The difference of the constant bound of each [`Inst::Meet`].
    pub bound: i64,
    /// True if both are followed up to the loop: at an [`Inst::Meet`] both enter it.
    pub into: bool,
    /// True if a core may enter or leave a loop at each [`Inst::Meet`], whatever its values. What follows is analysed
    /// path by path, as long as there are few.
    pub free: bool,
    /// The values passed for operands.
    pub args: &'a BTreeMap<(Role, u32, usize), ArgUse>,
    /// Operands whose accesses may be anywhere in their buffer: the core, the work, and the operand's index.
    pub wide: &'a BTreeSet<(Role, u32, usize)>,
}

/// Maximum number of separately analysed paths to an instruction.
const PATHS: usize = 12;

/// The state before an instruction, on some path to it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct State {
    /// A loop has been left.
    left: bool,
    regs: Vec<Pair>,
}

/// Adds a path to an instruction; true if it was new.
fn add(list: &mut Vec<State>, coming: State, most: usize) -> bool {
    let alike = |known: &State| {
        known.left == coming.left && known.regs.iter().zip(&coming.regs).all(|(a, b)| a.shift == b.shift)
    };
    let full = list.len() >= most;
    let Some(known) = list.iter().position(alike).or(full.then(|| list.len() - 1)) else {
        list.push(coming);
        return true;
    };
    let joined: Vec<Pair> = list[known].regs.iter().zip(&coming.regs).map(|(a, b)| a.join(*b)).collect();
    let left = list[known].left || coming.left;
    let new = State { left, regs: joined };
    let changed = list[known] != new;
    list[known] = new;
    changed
}

/// The differences of the accesses to buffers: they should have one distance each.
pub type Distances = BTreeMap<usize, BTreeSet<i64>>;

impl Follow<'_> {
    /// Follows both from an instruction on, with registers that have these differences (and lower bounds): returns the
    /// differences before each reached instruction.
    ///
    /// # Errors
    /// A difference that cannot be followed.
    pub fn from(
        &self,
        pc: usize,
        regs: &[(Shift, Option<i64>)],
        distances: &mut Distances,
    ) -> Result<BTreeMap<usize, Vec<Shift>>, Obstacle> {
        let most = if self.free { PATHS } else { 1 };
        let states = self.states(pc, regs, most);
        let all = states.iter().flat_map(|(pc, list)| list.iter().map(move |state| (pc, state)));
        all.clone().try_for_each(|(pc, state)| self.judge(*pc, &state.regs, distances))?;
        let mut shifts: BTreeMap<usize, Vec<Shift>> = BTreeMap::new();
        for (pc, state) in all {
            shifts.entry(*pc).or_insert_with(|| state.regs.iter().map(|pair| pair.shift).collect());
        }
        Ok(shifts)
    }

    /// The difference of an operand of each [`Inst::Meet`] reached from an instruction on, and whether a loop has been
    /// left before: by instruction.
    pub fn at_meets(&self, pc: usize, regs: &[(Shift, Option<i64>)]) -> BTreeMap<usize, BTreeSet<(bool, Option<i64>)>> {
        let mut found: BTreeMap<usize, BTreeSet<(bool, Option<i64>)>> = BTreeMap::new();
        for (pc, list) in self.states(pc, regs, PATHS) {
            let Inst::Meet { a, .. } = self.core.insts[pc] else { continue };
            for state in list {
                let by = match Follow::of(&state.regs, a).shift {
                    Shift::By(by) => Some(by),
                    Shift::Data | Shift::Unknown => None,
                };
                found.entry(pc).or_default().insert((state.left, by));
            }
        }
        found
    }

    fn states(&self, pc: usize, regs: &[(Shift, Option<i64>)], most: usize) -> BTreeMap<usize, Vec<State>> {
        let start: Vec<Pair> = regs.iter().map(|(shift, low)| Pair { shift: *shift, low: *low }).collect();
        let mut states: BTreeMap<usize, Vec<State>> = BTreeMap::from([(pc, vec![State { left: false, regs: start }])]);
        let mut open = BTreeSet::from([pc]);
        while let Some(pc) = open.pop_first() {
            for state in states.get(&pc).cloned().unwrap_or_default() {
                let mut regs = state.regs.clone();
                for next in self.step(pc, &mut regs) {
                    let meets =
                        matches!(self.core.insts[pc], Inst::Meet { to, .. } if to as usize == next && next != pc + 1);
                    let coming = State { left: state.left || (self.free && meets), regs: regs.clone() };
                    if add(states.entry(next).or_default(), coming, most) {
                        open.insert(next);
                    }
                }
            }
        }
        states
    }

    fn of(regs: &[Pair], operand: Operand) -> Pair {
        match operand {
            Operand::Reg(Reg(reg)) => regs.get(reg as usize).copied().unwrap_or(SAME),
            Operand::Imm(value) => Pair { shift: Shift::By(0), low: Some(value as i64) },
        }
    }

    /// The bound of an [`Inst::Meet`].
    fn bound(&self, regs: &[Pair], operand: Operand) -> Pair {
        match operand {
            Operand::Imm(_) => Pair { shift: Shift::By(self.bound), low: Some(0) },
            Operand::Reg(_) => Follow::of(regs, operand),
        }
    }

    /// Executes an instruction; returns the possible next instructions.
    fn step(&self, pc: usize, regs: &mut [Pair]) -> Vec<usize> {
        let mut set = |Reg(reg): Reg, pair: Pair| {
            if let Some(place) = regs.get_mut(reg as usize) {
                *place = pair;
            }
        };
        match &self.core.insts[pc] {
            Inst::Scalar { law, d, args: args @ [first, second, _], .. } => {
                let [a, b, c] = args.map(|arg| Follow::of(regs, arg));
                let value = computed(*law, [a, b, c], first.as_imm(), second.as_imm());
                regs[d.0 as usize] = value;
            }
            Inst::Move { d, a } => {
                let value = Follow::of(regs, *a);
                regs[d.0 as usize] = value;
            }
            Inst::Add { d, a, b } => {
                let (a, b) = (Follow::of(regs, *a), Follow::of(regs, *b));
                regs[d.0 as usize] = computed(Law::Sum, [a, b, SAME], None, None);
            }
            Inst::Special { d, which } => set(*d, self.special(*which)),
            Inst::Issue { work } => {
                if let Some(result) = self.core.works[*work as usize].result {
                    set(result, Pair { shift: Shift::Data, low: None });
                }
            }
            Inst::Jump { to } => return vec![*to as usize],
            Inst::JumpIfZero { to, .. } | Inst::JumpIfGe { to, .. } | Inst::Poll { to, .. } => {
                return vec![pc + 1, *to as usize];
            }
            Inst::Meet { to, .. } => return if self.into { vec![pc + 1] } else { vec![pc + 1, *to as usize] },
            Inst::End | Inst::Trap { .. } => return Vec::new(),
            _ => {}
        }
        vec![pc + 1]
    }

    fn special(&self, which: Special) -> Pair {
        match (which, self.param) {
            (Special::Param(at), Some((param, by, low))) if at == param => {
                Pair { shift: Shift::By(by), low: Some(low) }
            }
            (Special::Param(_), _) => Pair { shift: Shift::By(0), low: None },
            _ => SAME,
        }
    }

    /// Whether an instruction decides the same in both.
    fn judge(&self, pc: usize, regs: &[Pair], distances: &mut Distances) -> Result<(), Obstacle> {
        let site = self.core.inst_sites[pc];
        let same = |operand: Operand| matches!(Follow::of(regs, operand).shift, Shift::By(0) | Shift::Data);
        let ok = |same: bool, obstacle: Obstacle| if same { Ok(()) } else { Err(obstacle) };
        match &self.core.insts[pc] {
            Inst::JumpIfZero { a, .. } | Inst::Poll { a, .. } => ok(same(*a), Obstacle::Control(site)),
            Inst::JumpIfGe { a, b, .. } => {
                ok(together(Follow::of(regs, *a), Follow::of(regs, *b)), Obstacle::Control(site))
            }
            Inst::Meet { .. } if self.free => Ok(()),
            Inst::Meet { a, b, .. } => {
                let (a, b) = (Follow::of(regs, *a), self.bound(regs, *b));
                let further = matches!((a.shift, b.shift), (Shift::By(0), Shift::By(by)) if by >= 0);
                ok(if self.into { further } else { together(a, b) }, Obstacle::Control(site))
            }
            Inst::Set { sync, .. } | Inst::Wait { sync, .. } => ok(same(sync.index), Obstacle::Signal(site)),
            Inst::Acquire { token, .. } | Inst::Release { token, .. } => ok(same(token.index), Obstacle::Signal(site)),
            Inst::Scalar { law: Law::Quotient | Law::Ceiling | Law::Remainder, args: [_, divisor, _], .. } => {
                ok(same(*divisor), Obstacle::Divisor(site))
            }
            Inst::Issue { work } => self.judge_work(*work, site, regs, distances),
            _ => Ok(()),
        }
    }

    fn judge_work(&self, id: u32, site: SiteRef, regs: &[Pair], distances: &mut Distances) -> Result<(), Obstacle> {
        let work = &self.core.works[id as usize];
        for (at, arg) in work.args.iter().enumerate() {
            let place = (self.core.role, id, at);
            if self.wide.contains(&place) {
                continue;
            }
            let used = self.args.get(&place);
            let by = match Follow::of(regs, *arg).shift {
                Shift::By(by) => by,
                // No decision depends on data.
                Shift::Data => continue,
                Shift::Unknown if !work.decides(at, site) => continue,
                Shift::Unknown => return Err(Obstacle::Access(site)),
            };
            // If it was never passed, it is never issued.
            let Some(used) = used else { continue };
            for buffer in &used.buffers {
                distances.entry(*buffer).or_default().insert(by);
            }
            let moves = by == 0 || (!used.buffers.is_empty() && !used.other) || !work.decides(at, site);
            if !moves {
                return Err(Obstacle::Access(site));
            }
        }
        Ok(())
    }
}

/// True if the two have the same order in both executions.
fn together(a: Pair, b: Pair) -> bool {
    match (a.shift, b.shift) {
        (Shift::By(a), Shift::By(b)) => a == b,
        (Shift::Unknown, _) | (_, Shift::Unknown) => false,
        (Shift::Data, Shift::By(by)) | (Shift::By(by), Shift::Data) => by == 0,
        (Shift::Data, Shift::Data) => true,
    }
}

/// True if a value is larger than a nonnegative constant.
fn above(pair: Pair, constant: Option<i64>) -> bool {
    constant.zip(pair.low).is_some_and(|(constant, low)| constant >= 0 && low > constant)
}

/// The result of a scalar instruction.
fn computed(law: Law, [a, b, c]: [Pair; 3], first: Option<i64>, second: Option<i64>) -> Pair {
    let all = [a.shift, b.shift, c.shift];
    if all.contains(&Shift::Unknown) {
        return Pair { shift: Shift::Unknown, low: None };
    }
    if all.contains(&Shift::Data) {
        let moved = all.iter().any(|shift| matches!(shift, Shift::By(by) if *by != 0));
        return Pair { shift: if moved { Shift::Unknown } else { Shift::Data }, low: None };
    }
    let by = |pair: Pair| match pair.shift {
        Shift::By(by) => by,
        _ => 0,
    };
    let (x, y) = (by(a), by(b));
    let exact = |of: Option<i64>| of.filter(|of| *of > 0);
    // According to the law, if the values differ; equal arguments give equal results for any function.
    let moved = match law {
        Law::Same => Some(x),
        Law::Low { bits, .. } if x % (1i64 << bits.min(62)) == 0 => Some(0),
        // The argument has as many bits, so it fits if it is not negative.
        Law::Low { signed: false, .. } => a.natural().then_some(x),
        // Numbers that fit 32 bits are among the assumptions.
        Law::Low { bits, signed: true } => (bits >= 32).then_some(x),
        Law::Shifted if y == 0 => second.and_then(|by| x.checked_mul(1i64.checked_shl(u32::try_from(by).ok()?)?)),
        Law::Sum => x.checked_add(y),
        Law::Difference => x.checked_sub(y),
        Law::Product => match (first, second) {
            (_, Some(times)) if y == 0 => x.checked_mul(times),
            (Some(times), _) if x == 0 => y.checked_mul(times),
            _ => None,
        },
        Law::Quotient | Law::Ceiling => {
            exact(second).filter(|by| a.natural() && x >= 0 && x % by == 0).map(|by| x / by)
        }
        Law::Remainder => exact(second).filter(|by| a.natural() && x >= 0 && x % by == 0).map(|_| 0),
        Law::Mask => exact(second).filter(|mask| (mask + 1).count_ones() == 1 && x % (mask + 1) == 0).map(|_| 0),
        // A value that is larger than the other stays so.
        Law::Relation(_) if y == 0 && x >= 0 && above(a, second) => Some(0),
        Law::Relation(_) if x == 0 && y >= 0 && above(b, first) => Some(0),
        Law::Relation(relation) if x == y && (relation.compares_signed() || a.natural() && b.natural()) => Some(0),
        Law::Extreme if x == y => Some(x),
        Law::UnsignedExtreme if x == y && a.natural() && b.natural() => Some(x),
        _ => None,
    };
    let same = x == 0 && y == 0 && by(c) == 0;
    let shift = if same { Shift::By(0) } else { moved.map_or(Shift::Unknown, Shift::By) };
    let low = match law {
        Law::Same => a.low,
        Law::Low { signed: false, .. } => a.low.filter(|low| *low >= 0).or(Some(0)),
        Law::Low { bits, signed: true } => a.low.filter(|_| bits >= 32),
        Law::Shifted => a.natural().then_some(0),
        Law::Sum => a.low.zip(b.low).and_then(|(a, b)| a.checked_add(b)),
        Law::Difference => a.low.zip(second).and_then(|(a, b)| a.checked_sub(b)),
        Law::Product | Law::Quotient | Law::Ceiling | Law::Remainder => (a.natural() && b.natural()).then_some(0),
        Law::Extreme => a.low.zip(b.low).map(|(a, b)| a.min(b)),
        Law::UnsignedExtreme => (a.natural() && b.natural()).then_some(0),
        Law::Mask => second.filter(|mask| *mask >= 0).map(|_| 0),
        Law::Relation(_) => Some(0),
        Law::Unknown => None,
    };
    Pair { shift, low }
}

#[cfg(test)]
mod tests {
    use slipring_program::Relation;

    use super::*;

    /// What a law means, for numbers that fit.
    fn meaning(law: Law, a: i64, b: i64) -> Option<i64> {
        Some(match law {
            Law::Same => a,
            Law::Low { bits, signed: true } => a << (64 - u32::from(bits)) >> (64 - u32::from(bits)),
            // It has as many bits.
            Law::Low { bits, signed: false } if a >= -(1 << (bits - 1)) && a < 1 << (bits - 1) => a & ((1 << bits) - 1),
            Law::Low { .. } => return None,
            Law::Shifted => a.checked_mul(1 << u32::try_from(b).ok().filter(|b| *b < 40)?)?,
            Law::Sum => a + b,
            Law::Difference => a - b,
            Law::Product => a * b,
            Law::Quotient => a.checked_div(b)?,
            Law::Ceiling => i64::try_from(law.exact([a.into(), b.into(), 0])?).ok()?,
            Law::Remainder => a.checked_rem(b)?,
            Law::Mask => a & b,
            Law::Relation(relation) if relation.signed => i64::from(relation.holds(a.into(), b.into())),
            Law::Relation(_) => i64::from((a as u64) < b as u64),
            Law::Extreme => a.min(b),
            Law::UnsignedExtreme => (a as u64).min(b as u64) as i64,
            Law::Unknown => (a ^ 5) * (b ^ 3),
        })
    }

    /// Each claim about a result holds for all numbers that the claims about its arguments allow.
    #[test]
    fn results_differ_as_is_claimed() {
        const LAWS: [Law; 20] = [
            Law::Unknown,
            Law::Same,
            Law::Low { bits: 2, signed: true },
            Law::Low { bits: 3, signed: false },
            Law::Low { bits: 4, signed: false },
            Law::Low { bits: 5, signed: true },
            Law::Low { bits: 32, signed: true },
            Law::Shifted,
            Law::Sum,
            Law::Difference,
            Law::Product,
            Law::Quotient,
            Law::Ceiling,
            Law::Remainder,
            Law::Mask,
            Law::Relation(Relation::LESS),
            Law::Relation(Relation::EQUAL),
            Law::Relation(Relation { signed: false, ..Relation::LESS }),
            Law::Extreme,
            Law::UnsignedExtreme,
        ];
        let mut claims = 0;
        for law in LAWS {
            for (x, y) in (-9..=9).flat_map(|x| (-2..=9).map(move |y| (x, y))) {
                // The second a constant or a register, the first with a lower bound or without.
                for (second, low) in [None, Some(0), Some(1), Some(3), Some(4), Some(7), Some(-4)]
                    .into_iter()
                    .flat_map(|second| [None, Some(-5), Some(0), Some(5)].into_iter().map(move |low| (second, low)))
                {
                    if second.is_some() && y != 0 {
                        continue;
                    }
                    let one = Pair { shift: Shift::By(x), low };
                    let two = Pair { shift: Shift::By(y), low: second };
                    let Pair { shift, low: claimed } = computed(law, [one, two, SAME], None, second);
                    for (a, b) in (-20i64..20).flat_map(|a| (-20i64..20).map(move |b| (a, b))) {
                        let b = second.unwrap_or(b);
                        // Each difference once and twice.
                        for times in [1, 2] {
                            let (c, d) = (a + times * x, b + times * y);
                            if low.is_some_and(|low| a < low || c < low) {
                                continue;
                            }
                            let (Some(before), Some(after)) = (meaning(law, a, b), meaning(law, c, d)) else {
                                continue;
                            };
                            if let Shift::By(by) = shift {
                                claims += 1;
                                assert_eq!(after - before, times * by, "{law:?} {a} {b} by {x} {y}");
                            }
                            if let Some(least) = claimed
                                && law != Law::Unknown
                            {
                                assert!(before >= least && after >= least, "{law:?} {a} {b}: {before} {least}");
                            }
                        }
                    }
                }
            }
        }
        assert!(claims > 100_000, "{claims}");
    }
}
