//! A warp: 32 lanes, and where each of them is.

use slipring_program::Operand;

use crate::instruction::{Lanes, active};
use crate::shape::LANES;

/// A warp during a launch.
#[derive(Debug)]
pub(crate) struct Warp {
    /// The number of the workitem in lane 0.
    pub first: u32,
    /// The lanes with a workitem that has not ended.
    pub live: u32,
    /// Those of them that wait for the others.
    pub waiting: u32,
    /// The next instruction of each lane.
    pub pcs: [u32; LANES],
    /// The registers, each with the values of its lanes.
    numbers: Vec<Lanes>,
}

/// Lanes at the same instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Group {
    pub lanes: u32,
    pub pc: u32,
    /// The instruction of the others that are furthest behind.
    pub next: u32,
}

impl Warp {
    /// A warp of this many workitems, with the arguments of the launch in their registers.
    pub fn new(first: u32, workitems: u32, scalars: usize, inputs: impl Iterator<Item = (usize, u64)>) -> Warp {
        let live = if workitems >= LANES as u32 { u32::MAX } else { (1 << workitems) - 1 };
        let mut numbers = vec![[0; LANES]; scalars];
        inputs.for_each(|(reg, value)| numbers[reg] = [value; LANES]);
        Warp { first, live, waiting: 0, pcs: [0; LANES], numbers }
    }

    /// The lanes that are furthest behind among those that can go on; `None` if there are none.
    pub fn behind(&self) -> Option<Group> {
        let open = self.live & !self.waiting;
        let pc = active(open).map(|lane| self.pcs[lane]).min()?;
        let lanes = active(open).filter(|lane| self.pcs[*lane] == pc).fold(0, |set, lane| set | 1 << lane);
        let next = active(open & !lanes).map(|lane| self.pcs[lane]).min().unwrap_or(u32::MAX);
        Some(Group { lanes, pc, next })
    }

    /// Sends lanes to an instruction.
    pub fn send(&mut self, lanes: u32, pc: u32) {
        active(lanes).for_each(|lane| self.pcs[lane] = pc);
    }

    /// The value of an operand in each lane.
    pub fn values(&self, operand: Operand) -> Lanes {
        match operand {
            Operand::Reg(reg) => self.numbers[reg.0 as usize],
            Operand::Imm(value) => [value; LANES],
        }
    }

    /// Sets a register in some lanes.
    pub fn set(&mut self, reg: usize, lanes: u32, values: &Lanes) {
        let to = &mut self.numbers[reg];
        match lanes {
            u32::MAX => *to = *values,
            _ => active(lanes).for_each(|lane| to[lane] = values[lane]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_that_are_behind_go_first() {
        let mut warp = Warp::new(0, 4, 0, std::iter::empty());
        assert_eq!(warp.behind(), Some(Group { lanes: 0b1111, pc: 0, next: u32::MAX }));
        warp.send(0b0101, 7);
        warp.send(0b1010, 3);
        assert_eq!(warp.behind(), Some(Group { lanes: 0b1010, pc: 3, next: 7 }));
        warp.waiting = 0b1010;
        assert_eq!(warp.behind(), Some(Group { lanes: 0b0101, pc: 7, next: u32::MAX }));
        warp.live = 0b1010;
        assert_eq!(warp.behind(), None);
    }
}
