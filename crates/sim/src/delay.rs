//! A schedule in a few words: which works take longer than usual.

use std::fmt;
use std::str::FromStr;

use slipring_machine::{Pipe, Role};

use crate::observe::Agent;

/// One execution of work takes longer. As text: `delay AIV0.MTE3 work 4 by 1200`, with `in block 2` behind it for another block than
/// the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delay {
    /// Whose.
    pub role: Role,
    /// On which pipe; `S` is the scalar unit.
    pub pipe: Pipe,
    /// Which of the works that the pipe does in the block, from 1.
    pub work: u32,
    /// So many cycles longer.
    pub by: u64,
    /// In which block.
    pub block: u32,
}

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "delay {}.{} work {} by {}", self.role, self.pipe, self.work, self.by)?;
        if self.block > 0 { write!(f, " in block {}", self.block) } else { Ok(()) }
    }
}

impl FromStr for Delay {
    type Err = String;

    fn from_str(text: &str) -> Result<Delay, String> {
        let wrong = || format!("`{text}` is not `delay CORE.PIPE work N by CYCLES`, perhaps with `in block N`");
        let words: Vec<&str> = text.split_whitespace().collect();
        let (whose, work, by, block) = match words[..] {
            ["delay", whose, "work", work, "by", by] => (whose, work, by, "0"),
            ["delay", whose, "work", work, "by", by, "in", "block", block] => (whose, work, by, block),
            _ => return Err(wrong()),
        };
        let (core, pipe) = whose.split_once('.').ok_or_else(wrong)?;
        let role = Role::ALL.into_iter().find(|role| role.to_string().eq_ignore_ascii_case(core)).ok_or_else(wrong)?;
        let pipe = Pipe::ALL.into_iter().find(|own| own.to_string().eq_ignore_ascii_case(pipe)).ok_or_else(wrong)?;
        let work: u32 = work.parse().map_err(|_| wrong())?;
        let (by, block) = (by.parse().map_err(|_| wrong())?, block.parse().map_err(|_| wrong())?);
        if work == 0 { Err(wrong()) } else { Ok(Delay { role, pipe, work, by, block }) }
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

    /// A work starts: by how much it takes longer.
    #[inline]
    pub fn start(&mut self, agent: Agent) -> u64 {
        let mut more = 0u64;
        for (delay, seen) in self.list.iter().zip(&mut self.seen) {
            if (delay.role, delay.pipe, delay.block) == (agent.role, agent.pipe, agent.block) {
                *seen += 1;
                if *seen == delay.work {
                    more = more.saturating_add(delay.by);
                }
            }
        }
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_read_as_they_are_written() {
        for text in ["delay AIV0.MTE3 work 4 by 1200", "delay AIC.FIX work 1 by 0 in block 3"] {
            assert_eq!(text.parse::<Delay>().map(|delay| delay.to_string()), Ok(text.to_string()));
        }
        for wrong in ["", "delay", "delay AIV0 work 4 by 1", "delay AIV9.V work 1 by 1", "delay AIV0.V work 0 by 1"] {
            assert!(wrong.parse::<Delay>().unwrap_err().contains(&format!("`{wrong}`")), "{wrong}");
        }
    }
}
