//! What an instruction of a workitem does.

use std::fmt;

use slipring_program::{Change, Fault, Operand, Reg};
use slipring_tile::{Elem, Space};
use smallvec::SmallVec;

use crate::shape::{LANES, Shape};

/// A value of each lane of a warp.
pub type Lanes = [u64; LANES];

/// The lanes of a set, in order.
pub fn active(set: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| set >> lane & 1 != 0)
}

/// A workitem: its number in the launch, and the shape of the launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Workitem {
    pub number: u32,
    pub shape: Shape,
}

impl Workitem {
    /// Its coordinates: x, y and z.
    pub fn at(self) -> [u32; 3] {
        let [x, y, _] = self.shape;
        [self.number % x, self.number / x % y, self.number / x / y]
    }

    /// Its position in its warp.
    pub fn lane(self) -> u32 {
        self.number % LANES as u32
    }
}

/// An element of memory that a step touches: its first argument is the address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell {
    /// Global memory, or the unified buffer.
    pub space: Space,
    /// Its type.
    pub elem: Elem,
}

/// A register of a workitem that lasts from one launch to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// Its number.
    pub number: u32,
    /// A number for the type of the value in it, not 0.
    pub kind: u16,
}

/// The new contents of an element: of the old ones, and the arguments of the step.
pub type Compute = Box<dyn Fn(u64, &[u64]) -> u64 + Send + Sync>;
/// The results of the lanes of a set: of the arguments, for each its value in each lane.
pub type Exchange = Box<dyn Fn(u32, &[Lanes]) -> Result<Lanes, Fault> + Send + Sync>;

/// What a step does.
pub enum Act {
    /// Asks something of the workitem.
    Ask(fn(Workitem) -> u64),
    /// Exchanges values between the lanes of a warp that execute it together.
    Exchange(Exchange),
    /// Reads an element.
    Load(Cell),
    /// Writes the second argument to an element.
    Store(Cell),
    /// Reads an element and writes it, in one atomic step; the result is what was there before. To other work the
    /// change is one of this kind.
    Change(Cell, Change, Compute),
    /// Keeps the first argument for the next launch.
    Keep(Slot),
    /// Gives what the launch before kept.
    Resume(Slot),
    /// Waits for all workitems of the launch.
    Meet,
    /// Nothing: values are where they belong at once.
    Nothing,
}

/// An instruction of a workitem that is not scalar arithmetic.
pub struct Instruction {
    /// Name for faults: the op.
    pub name: &'static str,
    /// What it does.
    pub act: Act,
    /// Its arguments.
    pub args: SmallVec<[Operand; 4]>,
    /// Where its result goes, if it is used.
    pub result: Option<Reg>,
}

impl fmt::Debug for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} -> {:?}", self.name, self.args, self.result)
    }
}

impl Instruction {
    /// True if it touches memory.
    pub(crate) fn is_access(&self) -> bool {
        matches!(self.act, Act::Load(_) | Act::Store(_) | Act::Change(..))
    }
}
