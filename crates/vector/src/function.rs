//! A vector function, the instructions that it consists of, and the machine that they act on.

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use slipring_machine::{VectorOp, VectorSpec};
use slipring_program::{Env, Fault, Inst, Memory, Output, Reg, Scratch, SiteRef};
use smallvec::SmallVec;

use crate::Barrier;
use crate::access::{Kind, Moment};
use crate::aside::Aside;
use crate::code::Compact;
use crate::shade::FromData;
use crate::slot::{Arg, Slot, Whole};
use crate::state::State;

/// What a function consists of.
#[derive(Debug)]
pub struct Parts {
    /// Scalar instructions and jumps; [`Inst::Issue`] executes the vector instruction of that number, and
    /// [`Inst::End`] ends the function. Others do not occur.
    pub code: Vec<Inst>,
    /// For each of them its place.
    pub sites: Vec<SiteRef>,
    /// Vector instructions.
    pub steps: Vec<Step>,
    /// Number of vector registers, predicates and alignment registers.
    pub slots: u16,
    /// Scalar registers that the effect's arguments go to.
    pub inputs: Vec<Reg>,
    /// Ports and costs.
    pub spec: VectorSpec,
}

/// A vector function: an effect for pipe V, whose cost unit is the cycle. Its arguments are the values of
/// [`Parts::inputs`] when the scalar unit launches it.
#[derive(Debug)]
pub struct Function {
    pub(crate) parts: Parts,
    pub(crate) scalars: usize,
    /// Pairs of memory accesses that the function can have.
    pub(crate) relevant: u16,
    /// Scalar instructions are followed as well: something may have to come after a scalar load.
    pub(crate) follows_numbers: bool,
    pub(crate) compact: Compact,
    /// Its accesses need to be judged one by one: so it turned out.
    pub(crate) intricate: AtomicBool,
    /// What contents of buffers have a part in, by which arguments come from them; of the last such execution.
    pub(crate) from_data: Mutex<Option<(u64, Arc<FromData>)>>,
    /// How long the last execution took that was timed, and its steps: the same steps take as long.
    pub(crate) timed: Mutex<Option<(Vec<u32>, u64)>>,
}

/// The vector unit of one core while it executes a function.
#[derive(Debug)]
pub struct Machine<'a> {
    pub(crate) state: &'a mut State,
    pub(crate) function: &'a Function,
    /// The unified buffer, taken out of `memory`.
    pub(crate) ub: Vec<u8>,
    pub(crate) memory: &'a mut Memory,
    pub(crate) env: Env,
    pub(crate) scratch: &'a mut Scratch,
    pub(crate) output: &'a mut Output,
    /// The instruction that executes.
    pub(crate) current: Moment,
    /// Special register AR: bytes that the running unaligned store has put down. 0 when a function starts.
    pub ar: u64,
    /// Special register SQZN: bytes that the last `vsqz` kept. 0 when a function starts.
    pub sqzn: u64,
    /// The function runs once more, in another order: its accesses have been judged.
    pub(crate) aside: Option<Aside>,
}

/// What an instruction does. The numbers are its scalar operands; the answer goes to its scalar result, if it has one.
pub type Kernel = Box<dyn Fn(&mut Machine<'_>, &[u64]) -> Result<u64, Fault> + Send + Sync>;

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
