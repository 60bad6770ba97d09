//! What is kept from one execution of a function to the next.

use slipring_program::Access;

use crate::Register;
use crate::clock::Clock;
use crate::footprint::Footprint;
use crate::shade::Shade;
use crate::trace::Trace;

/// What is kept from one execution to the next, so that nothing is allocated.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// On the heap one by one, so that a result can be made beside its operands and then take its place.
    #[allow(clippy::vec_box, reason = "results take their place without being copied")]
    pub registers: Vec<Box<Register>>,
    /// Where the next result is made; taken while it is.
    pub spare: Option<Box<Register>>,
    /// Scalar registers, and the constants of the function after them.
    pub numbers: Vec<u64>,
    pub footprint: Footprint,
    pub trace: Trace,
    /// If anybody asks which bytes are uninitialised.
    pub shade: Option<Shade>,
    pub clock: Clock,
    /// Vector instructions that were executed: of many the first ones.
    pub executed: u32,
    /// The clock sees them as they are executed; before that they are only written down, in `trace`.
    pub timed: bool,
    /// Plans of scalar work.
    pub access: Access,
    /// Accesses outside the unified buffer.
    pub elsewhere: Access,
}
