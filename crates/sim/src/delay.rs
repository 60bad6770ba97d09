//! A schedule in a few words: which works take longer than usual.

use std::fmt;
use std::str::FromStr;

use slipring_machine::{Pipe, Platform, Role};

use crate::observe::Agent;

/// One execution of work is late. As text: `delay AIV0.MTE3 work 4 by 1200`, or `delay AIV0.V work 1 past work 2` on a pipe that
/// overlaps its own work; with `in block 2` after it for another block than the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delay {
    /// Whose.
    pub role: Role,
    /// On which pipe; `S` is the scalar unit.
    pub pipe: Pipe,
    /// Which of the works that the pipe does in the block, from 1.
    pub work: u32,
    /// How late it is.
    pub late: Late,
    /// In which block.
    pub block: u32,
}

/// How late a work is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Late {
    /// It takes so many cycles longer.
    By(u64),
    /// What it reads and writes it reads and writes after this later work of its pipe, or as soon as a signal, a barrier or an access
    /// that the pipe keeps in order must come after it.
    Past(u32),
}

impl Delay {
    /// True if it is about a work of this pipe in its block.
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
        }
        if self.block > 0 { write!(f, " in block {}", self.block) } else { Ok(()) }
    }
}

impl FromStr for Delay {
    type Err = String;

    fn from_str(text: &str) -> Result<Delay, String> {
        let wrong = || {
            format!(
                "`{text}` is not `delay CORE.PIPE work N by CYCLES` or `delay CORE.PIPE work N past work M`, perhaps with `in block N`"
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
            _ => return Err(wrong()),
        };
        let (core, pipe) = whose.split_once('.').ok_or_else(wrong)?;
        let role = Role::ALL.into_iter().find(|role| role.to_string().eq_ignore_ascii_case(core)).ok_or_else(wrong)?;
        let pipe = Pipe::ALL.into_iter().find(|own| own.to_string().eq_ignore_ascii_case(pipe)).ok_or_else(wrong)?;
        let (work, block) = (number(work)?, number(block)?);
        let past = matches!(late, Late::Past(later) if later <= work);
        if work == 0 || past { Err(wrong()) } else { Ok(Delay { role, pipe, work, late, block }) }
    }
}

/// Counts works, and knows which are delayed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delays {
    list: Vec<Delay>,
    /// Works so far, for each delay of its pipe.
    seen: Vec<u32>,
}

impl Delays {
    pub fn new(list: &[Delay]) -> Delays {
        Delays { list: list.to_vec(), seen: vec![0; list.len()] }
    }

    /// A work starts: by how much it takes longer, which of the works of its pipe it is where that matters, and the work that it
    /// comes behind.
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
                Late::By(cycles) => more = more.saturating_add(cycles),
                Late::Past(later) => past = past.max(Some(later)),
            }
        }
        (more, number, past)
    }

    /// The delays that no work has met, each with how many works its pipe did in its block.
    pub fn unused(&self) -> Vec<(Delay, u32)> {
        let met = self.list.iter().copied().zip(self.seen.iter().copied());
        met.filter(|(delay, seen)| *seen < delay.work).collect()
    }

    /// True if some work comes after a later one.
    pub fn overtake(&self) -> bool {
        self.list.iter().any(|delay| matches!(delay.late, Late::Past(_)))
    }

    /// The first delay after a later work of a pipe that keeps its work in order.
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
        ] {
            assert!(wrong.parse::<Delay>().unwrap_err().contains(&format!("`{wrong}`")), "{wrong}");
        }
    }
}
