//! What the engine runs.
//!
//! A [`Program`] is flat: per core a list of [`Inst`]s over numbered registers. High-level ops (TPUSH,
//! TPOP, tile loads, matmul …) have been expanded into scalar steps, [`Work`] for a pipe and
//! synchronisation steps. Nothing here knows the text, the IR or any op; nothing here runs anything.

mod arguments;
mod bounds;
mod cancel;
mod constants;
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

pub use cancel::Cancel;
pub use depends::{Causes, Choice, Decision, Flow};
pub use effect::{
    Access, Action, Cleans, Discover, Effect, Env, Extent, Fault, InnerConflict, Output, Reorder, Run, Scratch,
    SignalUse, UNDEFINED, Update, UpdateKind,
};
pub use finding::{Finding, Label, SiteRef};
pub use inst::{Inst, Law, Operand, Order, Reg, Relation, ScalarFn, Special, SyncRef, Trap};
pub use loops::{End, Loop};
pub use memory::{Borrowed, GmBuffer, Memory, gm_address, gm_split, moved, runs, scaled, zeroed};
pub use probe::{Execution, mark};
pub use program::{
    CoreProgram, Direction, Param, ParamKind, Program, RingDecl, Site, SyncDecl, SyncRole, Work, WorkId,
};
pub use shadow::{Marks, Misuse, Nothing, Shadow, Uninit, Unwritten};
pub use slipring_finding::{Holes, Kind, Miss, Party, Severity, Start, Unit, Waiting};
pub use tries::{Judged, Lost, Outcome, Round, Tries};
pub use words::Words;
