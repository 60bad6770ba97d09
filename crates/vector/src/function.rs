//! A vector function, its instructions, and the machine that they act on.

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

/// The parts of a function.
#[derive(Debug)]
pub struct Parts {
    /// Scalar instructions and jumps; [`Inst::Issue`] executes the vector instruction with that index, and
    /// [`Inst::End`] ends the function. No others occur.
    pub code: Vec<Inst>,
    /// The location of each.
    pub sites: Vec<SiteRef>,
    /// Vector instructions.
    pub steps: Vec<Step>,
    /// Number of vector registers, predicates and alignment registers.
    pub slots: u16,
    /// Scalar registers that receive the effect's arguments.
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
    /// Scalar instructions are tracked as well: something may have to come after a scalar load.
    pub(crate) follows_numbers: bool,
    pub(crate) compact: Compact,
    /// Its accesses need to be checked one by one, as an earlier execution showed.
    pub(crate) intricate: AtomicBool,
    /// The dependence on buffer contents, by the arguments that come from them; for the last such execution.
    pub(crate) from_data: Mutex<Option<(u64, Arc<FromData>)>>,
    /// The duration of the last timed execution, and its steps: the same steps take the same time.
    pub(crate) timed: Mutex<Option<(Vec<u32>, u64)>>,
}

/// The vector unit of one core during the execution of a function.
#[derive(Debug)]
pub struct Machine<'a> {
    pub(crate) state: &'a mut State,
    pub(crate) function: &'a Function,
    /// The unified buffer, moved out of `memory`.
    pub(crate) ub: Vec<u8>,
    pub(crate) memory: &'a mut Memory,
    pub(crate) env: Env,
    pub(crate) scratch: &'a mut Scratch,
    pub(crate) output: &'a mut Output,
    /// The current instruction.
    pub(crate) current: Moment,
    /// Special register AR: bytes written by the current unaligned store. 0 when a function starts.
    pub ar: u64,
    /// Special register SQZN: bytes kept by the last `vsqz`. 0 when a function starts.
    pub sqzn: u64,
    /// Set when the function is executed again in another order: its accesses have already been checked.
    pub(crate) aside: Option<Aside>,
}

/// The semantics of an instruction. The slice contains its scalar operands; the returned value goes to its scalar
/// result, if it has one.
pub type Kernel = Box<dyn Fn(&mut Machine<'_>, &[u64]) -> Result<u64, Fault> + Send + Sync>;

/// A vector instruction, decoded.
pub struct Step {
    /// Name for faults: the op.
    pub name: &'static str,
    /// Its semantics.
    pub kernel: Kernel,
    /// Set if it moves a whole register and its first scalar is the address, a multiple of 32 bytes: the interpreter
    /// then executes it directly if nothing about the access needs checking.
    pub whole: Option<Whole>,
    /// It only reads and writes its registers, and never fails.
    pub on_registers: bool,
    /// Its scalar operands, at most 8.
    pub args: SmallVec<[Arg; 3]>,
    /// Scalar result.
    pub result: Option<Reg>,
    /// Registers that it reads, and waits for.
    pub reads: SmallVec<[Slot; 4]>,
    /// Registers that it writes.
    pub writes: SmallVec<[Slot; 2]>,
    /// Those of them that are predicates, one bit each.
    pub masks: u64,
    /// For a step that touches memory or [`counts`](Step::counts): the registers it reads that are only stored, or
    /// passed on. The others determine its accesses.
    pub data: SmallVec<[Slot; 2]>,
    /// For a step that touches memory: the scalars that are only stored, one bit each. The others determine its
    /// accesses.
    pub values: u8,
    /// Its registers determine the extent of a [`placed`](Step::placed) step: it sets SQZN.
    pub counts: bool,
    /// SQZN and AR determine its accesses.
    pub placed: bool,
    /// For a step that touches no memory: its registers and scalars decide whether it ends in a fault.
    pub faults: bool,
    /// Its kind of memory access.
    pub memory: Option<Kind>,
    /// The accesses it orders; its kernel does so.
    pub barrier: Option<Barrier>,
    /// Port, latency and the cycles that it occupies the port.
    pub cost: VectorOp,
}

impl Step {
    /// Whether written register `at` is a predicate.
    pub(crate) fn is_mask(&self, at: usize) -> bool {
        at < 64 && self.masks >> at & 1 != 0
    }

    /// An instruction that touches no memory.
    pub fn new(
        name: &'static str,
        cost: VectorOp,
        kernel: impl Fn(&mut Machine<'_>, &[u64]) -> Result<u64, Fault> + Send + Sync + 'static,
    ) -> Step {
        let (args, reads, writes, data) = Default::default();
        let (masks, values, counts, placed, faults) = Default::default();
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
            faults,
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
