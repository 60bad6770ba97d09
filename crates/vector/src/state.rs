//! State kept from one execution of a function to the next.

use slipring_program::Access;

use crate::Register;
use crate::clock::Clock;
use crate::footprint::Footprint;
use crate::shade::Shade;
use crate::trace::Trace;

/// State kept from one execution to the next, to avoid allocation.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Individually on the heap, so that a result can be built next to its operands and then swapped in.
    #[allow(clippy::vec_box, reason = "results take their place without being copied")]
    pub registers: Vec<Box<Register>>,
    /// Where the next result is built; taken meanwhile.
    pub spare: Option<Box<Register>>,
    /// Scalar registers, and the constants of the function after them.
    pub numbers: Vec<u64>,
    pub footprint: Footprint,
    pub trace: Trace,
    /// Present if uninitialised bytes are tracked.
    pub shade: Option<Shade>,
    pub clock: Clock,
    /// Executed vector instructions: the first ones if there are many.
    pub executed: u32,
    /// Whether the clock sees them as they are executed; before that they are only recorded, in `trace`.
    pub timed: bool,
    /// Plans of scalar work.
    pub access: Access,
    /// Accesses outside the unified buffer.
    pub elsewhere: Access,
}
