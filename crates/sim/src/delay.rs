//! A concise description of a schedule: which work items take longer than usual.

use std::fmt;
use std::str::FromStr;

use slipring_machine::interpretations::UNORDERED_STORES;
use slipring_machine::{Pipe, Platform, Role};
use slipring_program::Reorder;

use crate::agent::Agent;

/// One delayed execution of work. Text form: `delay AIV0.MTE3 work 4 by 1200`, or `delay AIV0.V work 1 past work 2` on
/// a pipe that overlaps its own work; for a step of a vector function: `delay AIV0.V work 3 step 2 past step 5`. A
/// suffix such as `in block 2` selects a block other than the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delay {
    /// The core.
    pub role: Role,
    /// The pipe; `S` is the scalar unit.
    pub pipe: Pipe,
    /// Index of the work among those the pipe executes in the block, from 1.
    pub work: u32,
    /// The kind of delay.
    pub late: Late,
    /// The block.
    pub block: u32,
}

/// Kinds of delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Late {
    /// It takes this many cycles longer.
    By(u64),
    /// Its reads and writes happen after this later work of its pipe, or as soon as a signal, a barrier or an access
    /// that the pipe keeps in order requires them.
    Past(u32),
    /// For a vector function: the reads and writes of this step, counted from 1 in order of execution, happen after
    /// those of a later step, or as soon as nothing can proceed without them.
    Step {
        /// The step.
        step: u32,
        /// The later one.
        past: u32,
    },
}

/// A delay that had no effect, and the work that existed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unused {
    /// The delay.
    pub delay: Delay,
    /// Work items that its pipe executed in its block.
    pub works: u32,
    /// If the delay concerns a step: the number of steps that its work item executed.
    pub steps: Option<u32>,
}

impl Delay {
    /// True if it concerns work of this pipe in its block.
    pub fn is_of(&self, agent: Agent) -> bool {
        (self.role, self.pipe, self.block) == (agent.role, agent.pipe, agent.block)
    }
}

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "delay {}.{} work {} ", self.role, self.pipe, self.work)?;
        match self.late {
            Late::By(cycles) => write!(f, "by {cycles}")?,
            Late::Past(later) => write!(f, "past work {later}")?,
            Late::Step { step, past } => write!(f, "step {step} past step {past}")?,
        }
        if self.block > 0 { write!(f, " in block {}", self.block) } else { Ok(()) }
    }
}

impl FromStr for Delay {
    type Err = String;

    fn from_str(text: &str) -> Result<Delay, String> {
        let wrong = || {
            format!(
                "`{text}` is not `delay CORE.PIPE work N by CYCLES`, `delay CORE.PIPE work N past work M` or `delay CORE.PIPE work N \
                 step I past step J`, perhaps with `in block N`"
            )
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let (words, block) = match &words[..] {
            [words @ .., "in", "block", block] => (words, *block),
            words => (words, "0"),
        };
        let number = |text: &str| text.parse().map_err(|_| wrong());
        let (whose, work, late) = match words {
            ["delay", whose, "work", work, "by", by] => (whose, work, Late::By(by.parse().map_err(|_| wrong())?)),
            ["delay", whose, "work", work, "past", "work", later] => (whose, work, Late::Past(number(later)?)),
            ["delay", whose, "work", work, "step", step, "past", "step", past] => {
                (whose, work, Late::Step { step: number(step)?, past: number(past)? })
            }
            _ => return Err(wrong()),
        };
        let (core, pipe) = whose.split_once('.').ok_or_else(wrong)?;
        let role = Role::ALL.into_iter().find(|role| role.to_string().eq_ignore_ascii_case(core)).ok_or_else(wrong)?;
        let pipe = Pipe::ALL.into_iter().find(|own| own.to_string().eq_ignore_ascii_case(pipe)).ok_or_else(wrong)?;
        let (work, block) = (number(work)?, number(block)?);
        let never = match late {
            Late::By(_) => false,
            Late::Past(later) => later <= work,
            Late::Step { step, past } => step == 0 || past <= step,
        };
        if work == 0 || never { Err(wrong()) } else { Ok(Delay { role, pipe, work, late, block }) }
    }
}

/// Counts work items and determines which are delayed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delays {
    list: Vec<Delay>,
    /// Work items so far on the pipe of each delay.
    seen: Vec<u32>,
    /// Steps executed by the work of each delay.
    steps: Vec<u32>,
    /// Some delays concern steps of vector functions.
    inner: bool,
}

impl Delays {
    pub fn new(list: &[Delay]) -> Delays {
        let inner = list.iter().any(|delay| matches!(delay.late, Late::Step { .. }));
        Delays { list: list.to_vec(), seen: vec![0; list.len()], steps: vec![0; list.len()], inner }
    }

    /// The delays of steps of the work that its pipe starts next: the index of the delay, the step, and the later one.
    fn of_next(&self, agent: Agent) -> impl Iterator<Item = (usize, (u32, u32))> {
        let own = self.list.iter().zip(&self.seen).enumerate();
        own.filter_map(move |(at, (delay, seen))| match delay.late {
            Late::Step { step, past } if delay.is_of(agent) && *seen + 1 == delay.work => Some((at, (step, past))),
            _ => None,
        })
    }

    /// The order of the steps of the work that its pipe starts next, if it differs from the usual one.
    #[inline]
    pub fn reorder(&self, agent: Agent, platform: &Platform) -> Option<Reorder> {
        if !self.inner {
            return None;
        }
        let late: Vec<(u32, u32)> = self.of_next(agent).map(|(_, late)| late).collect();
        let stores_in_order = !platform.reads_otherwise(&UNORDERED_STORES);
        (!late.is_empty()).then(|| Reorder { late, stores_in_order, ..Reorder::default() })
    }

    /// Records how many steps the next work of its pipe executed.
    pub fn executed(&mut self, agent: Agent, steps: u32) {
        let own: Vec<usize> = self.of_next(agent).map(|(at, _)| at).collect();
        own.into_iter().for_each(|at| self.steps[at] = steps);
    }

    /// A work item starts: its additional duration, its index among those of its pipe where that matters, and the later
    /// work that it is delayed past.
    #[inline]
    pub fn start(&mut self, agent: Agent) -> (u64, u32, Option<u32>) {
        let (mut more, mut number, mut past) = (0u64, 0, None);
        for (delay, seen) in self.list.iter().zip(&mut self.seen) {
            if !delay.is_of(agent) {
                continue;
            }
            *seen += 1;
            number = *seen;
            match delay.late {
                _ if *seen != delay.work => {}
                Late::Step { .. } => {}
                Late::By(cycles) => more = more.saturating_add(cycles),
                Late::Past(later) => past = past.max(Some(later)),
            }
        }
        (more, number, past)
    }

    /// The delays that no work, or no step, has matched.
    pub fn unused(&self) -> Vec<Unused> {
        let met = self.list.iter().zip(&self.seen).zip(&self.steps);
        let unused = met.filter_map(|((delay, works), steps)| {
            let steps = match delay.late {
                Late::Step { step, .. } if *works >= delay.work => (*steps < step).then_some(Some(*steps)),
                _ => (*works < delay.work).then_some(None),
            };
            steps.map(|steps| Unused { delay: *delay, works: *works, steps })
        });
        unused.collect()
    }

    /// True if some work, or some step, is delayed past a later one.
    pub fn overtake(&self) -> bool {
        self.list.iter().any(|delay| !matches!(delay.late, Late::By(_)))
    }

    /// The first delay past a later work item on a pipe that keeps its work in order.
    pub fn against_order(list: &[Delay], platform: &Platform) -> Option<Delay> {
        list.iter().find(|delay| matches!(delay.late, Late::Past(_)) && !platform.needs_barrier(delay.pipe)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_read_as_they_are_written() {
        for text in [
            "delay AIV0.MTE3 work 4 by 1200",
            "delay AIC.FIX work 1 by 0 in block 3",
            "delay AIV1.V work 1 past work 9",
            "delay AIV0.V work 3 step 2 past step 5 in block 1",
        ] {
            assert_eq!(text.parse::<Delay>().map(|delay| delay.to_string()), Ok(text.to_string()));
        }
        for wrong in [
            "",
            "delay",
            "delay AIV0 work 4 by 1",
            "delay AIV9.V work 1 by 1",
            "delay AIV0.V work 0 by 1",
            "delay AIV0.V work 2 past work 2",
            "delay AIV0.V work 2 step 0 past step 2",
            "delay AIV0.V work 2 step 2 past step 2",
            "delay AIV0.V work 2 step 2 past work 3",
        ] {
            assert!(wrong.parse::<Delay>().unwrap_err().contains(&format!("`{wrong}`")), "{wrong}");
        }
    }
}
