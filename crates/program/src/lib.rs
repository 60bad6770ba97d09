//! The programs that the engine runs.
//!
//! A [`Program`] is flat: for each core a list of [`Inst`]s over numbered registers. High-level ops (TPUSH, TPOP, tile
//! loads, matmul …) have already been expanded into scalar steps, [`Work`] for a pipe and synchronisation steps. This
//! crate knows nothing of the text, the IR or any op, and runs nothing.

mod access;
mod address;
mod arguments;
mod bounds;
mod cancel;
mod constants;
mod decision;
mod depends;
mod effect;
mod finding;
mod inst;
mod known;
mod loops;
mod memory;
mod probe;
mod program;
mod shadow;
mod steady;
mod tries;
mod words;

pub use access::{
    Access, Change, Changed, Cleans, Env, Extent, InnerConflict, Reorder, SignalUse, TwoWorkitems, Update, UpdateKind,
};
pub use address::{gm_address, gm_split, moved, runs, scaled};
pub use cancel::Cancel;
pub use decision::{Causes, Choice, Decision};
pub use depends::Flow;
pub use effect::{Action, Asked, Discover, Effect, Fault, Output, Run, Scratch, UNDEFINED};
pub use finding::{Finding, Label, SiteRef};
pub use inst::{Inst, Law, Operand, Order, Reg, Relation, ScalarFn, Special, SyncRef, Trap, WorkId};
pub use loops::{End, Loop};
pub use memory::{Borrowed, GmBuffer, Memory, SPR_BYTES, zeroed};
pub use probe::{Execution, mark};
pub use program::{CoreProgram, Direction, Param, ParamKind, Program, RingDecl, Site, SyncDecl, SyncRole, Work};
pub use shadow::{Marks, Misuse, Nothing, Shadow, Uninit, Unwritten};
pub use slipring_finding::{Holes, Kind, Miss, Part, Party, Severity, Start, Unit, Waiting};
pub use tries::{Judged, Lost, Outcome, Round, Tries};
pub use words::Words;
