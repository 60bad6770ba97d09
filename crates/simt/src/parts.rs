//! The parts of a launch.

use slipring_machine::SimtSpec;
use slipring_program::{Inst, Reg, SiteRef};

use crate::instruction::Instruction;

/// The parts of a launch.
#[derive(Debug)]
pub struct Parts {
    /// Scalar instructions and jumps; [`Inst::Issue`] executes the step with that index, and [`Inst::End`] ends the
    /// workitem. No others occur.
    pub code: Vec<Inst>,
    /// The location of each.
    pub sites: Vec<SiteRef>,
    /// The other instructions.
    pub steps: Vec<Instruction>,
    /// Registers that receive the effect's arguments, after the first three: its shape.
    pub inputs: Vec<Reg>,
    /// The most workitems that its program promises to be launched with.
    pub envelope: u32,
    /// Costs.
    pub spec: SimtSpec,
}
