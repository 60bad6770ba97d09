//! One vector instruction.

use std::fmt;

use slipring_machine::VectorOp;
use slipring_program::{Fault, Operand, Reg};
use smallvec::SmallVec;

use crate::{Barrier, Kind, Machine};

/// A register of the vector function: a vector, a predicate or an alignment register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot(pub u16);

/// What an instruction does. The numbers are its scalar operands; the answer goes to its scalar result, if it has one.
pub type Kernel = Box<dyn Fn(&mut Machine<'_>, &[u64]) -> Result<u64, Fault> + Send + Sync>;

/// A number that an instruction takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arg {
    /// A register or a constant.
    Value(Operand),
    /// The address of element `offset`, of so many bytes, after `base`.
    Element {
        #[allow(missing_docs)]
        base: Operand,
        #[allow(missing_docs)]
        offset: Operand,
        #[allow(missing_docs)]
        bytes: u64,
    },
}

impl Arg {
    /// What it is made of.
    pub fn operands(self) -> [Operand; 2] {
        match self {
            Arg::Value(value) => [value, Operand::Imm(0)],
            Arg::Element { base, offset, .. } => [base, offset],
        }
    }
}

impl From<Operand> for Arg {
    fn from(value: Operand) -> Arg {
        Arg::Value(value)
    }
}

/// A whole register that is loaded from the unified buffer or stored there.
#[derive(Clone, Copy, Debug)]
pub enum Whole {
    /// Into this register.
    Load(Slot),
    /// From this register, if all lanes of so many bytes are active in the predicate.
    Store(Slot, Option<(Slot, usize)>),
}

/// A vector instruction, decoded.
pub struct Step {
    /// Name for faults: the op.
    pub name: &'static str,
    /// What it does.
    pub kernel: Kernel,
    /// What that is where it moves a whole register and its first number is the address, a multiple of 32 bytes: the
    /// interpreter does so by itself where nothing is to be said of the access.
    pub whole: Option<Whole>,
    /// It does nothing but read and write its registers, and never fails.
    pub on_registers: bool,
    /// Numbers that it takes, at most 8.
    pub args: SmallVec<[Arg; 3]>,
    /// Scalar result.
    pub result: Option<Reg>,
    /// Registers that it reads: it waits for them.
    pub reads: SmallVec<[Slot; 4]>,
    /// Registers that it writes.
    pub writes: SmallVec<[Slot; 2]>,
    /// Those of them that are predicates, one bit each.
    pub masks: u8,
    /// Of a step that touches memory or [`counts`](Step::counts): those of the registers it reads that are only stored, or
    /// passed on. The others decide which bytes it touches.
    pub data: SmallVec<[Slot; 2]>,
    /// Of a step that touches memory: the numbers that are only stored, one bit each. The others decide which bytes it touches.
    pub values: u8,
    /// Its registers decide how far a [`placed`](Step::placed) step gets: it sets SQZN.
    pub counts: bool,
    /// SQZN and AR decide which bytes it touches.
    pub placed: bool,
    /// How it touches memory.
    pub memory: Option<Kind>,
    /// Which accesses it orders; the kernel does so.
    pub barrier: Option<Barrier>,
    /// Port, latency and the cycles that it holds the port.
    pub cost: VectorOp,
}

impl Step {
    /// An instruction that touches no memory.
    pub fn new(
        name: &'static str,
        cost: VectorOp,
        kernel: impl Fn(&mut Machine<'_>, &[u64]) -> Result<u64, Fault> + Send + Sync + 'static,
    ) -> Step {
        let (args, reads, writes, data) = Default::default();
        let (masks, values, counts, placed) = Default::default();
        let kernel = Box::new(kernel);
        let (result, memory, barrier, whole, on_registers) = (None, None, None, None, false);
        Step {
            name,
            kernel,
            whole,
            on_registers,
            args,
            result,
            reads,
            writes,
            masks,
            data,
            values,
            counts,
            placed,
            memory,
            barrier,
            cost,
        }
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} {:?} -> {:?} {:?}", self.name, self.args, self.reads, self.writes, self.result)
    }
}
