//! Vector functions: the code that pipe V of an A5 runs between two synchronisations.
//!
//! A vector function is a small program of its own. The scalar unit launches it and continues; the function loops over
//! 256-byte registers and predicates, loads from the unified buffer and stores to it, and ends. Here it is a
//! [`Function`]: the scalar instructions of the engine's programs, and among them [`Step`]s, one for each vector
//! instruction, each a closure over the [`Machine`]. To the engine a function is one
//! [`Effect`](slipring_program::Effect) that discovers its accesses.
//!
//! | module | subject |
//! |---|---|
//! | [`Register`], [`Mask`] | 256 bytes; one bit for each byte |
//! | [`Align`] | the ragged end of an unaligned stream |
//! | [`Machine`] | the registers, the unified buffer, checked access to it |
//! | [`Step`] | one vector instruction: its meaning, the registers it reads and writes, its cost |
//! | [`Function`], `interpret` | the program; its interpreter |
//! | `code`, `compile` | the executable program, and its construction |
//! | `rounds` | many iterations of a loop at once, where all its addresses advance by constant steps |
//! | `journal` | accesses at equal distances, checked at the end |
//! | `access` | kinds of accesses, and the ones that a barrier orders |
//! | `footprint` | which bytes were touched, and which accesses a `mem_bar` should have ordered |
//! | `bytes`, `loads` | sets of bytes; the loads that a store may have to come after |
//! | `shade`, `settle` | uninitialised bytes in the registers of a function |
//! | `trace`, `order` | which executions a value was computed from |
//! | `late`, `aside` | a function in another legal order of its steps |
//! | `decide` | decisions that depend on loaded data |
//! | `clock` | cycles: ports, latencies, dependences |
//! | [`conversions`] | the types between which lanes are converted |

mod access;
mod align;
mod aside;
mod bytes;
mod clock;
mod code;
mod compile;
mod conversions;
mod decide;
mod footprint;
mod function;
mod interpret;
mod journal;
mod late;
mod loads;
mod machine;
mod mask;
mod order;
mod register;
mod rounds;
mod settle;
mod shade;
mod slot;
mod state;
mod trace;

pub use access::{Barrier, Kind};
pub use align::{Align, block_of};
pub use conversions::{Conversion, conversions};
pub use function::{Function, Kernel, Machine, Parts, Step};
pub use mask::{BYTES, Mask};
pub use register::Register;
pub use slot::{Arg, Slot, Whole};
