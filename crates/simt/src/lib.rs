//! Launches of workitems (SIMT): the code that pipe V of an A5 runs once for each of up to 2048 workitems.
//!
//! A launch is a small program of its own: the scalar instructions of the engine's programs, here on registers that
//! each workitem has for itself, and among them [`Instruction`]s, which ask where the workitem is, exchange values with
//! its warp, or touch memory. To the engine a launch is one [`Discover`](slipring_program::Discover) effect: its
//! accesses are the bytes that it really touched.
//!
//! Workitems are numbered by x, then y, then z; 32 in a row are a warp, and their position in it is the lane. The lanes
//! of a warp execute the same instruction where they are at the same one: those that are furthest behind go first, so
//! that lanes which a branch or a loop has separated meet again where it ends. Warps run one after the other from one
//! barrier to the next. Values do not depend on that order unless the program has a race, which is reported, or relies
//! on the order of atomics.
//!
//! | module | subject |
//! |---|---|
//! | `instruction` | what an instruction of a workitem does |
//! | `shape`, `parts` | how many workitems there are; their program |
//! | `launch` | its execution as one piece of work |
//! | `warp` | 32 lanes: where each of them is |
//! | `interpret` | the interpreter |
//! | `decide` | what decides which bytes a launch touches |
//! | `memory` | checked accesses to memory |
//! | `touched` | who touched which bytes since the last barrier |
//! | `slots` | values that last from one launch to the next |
//! | `spans` | sets of bytes |

mod decide;
mod instruction;
mod interpret;
mod launch;
mod memory;
mod parts;
mod shape;
mod slots;
mod spans;
mod touched;
mod warp;

pub use instruction::{Act, Cell, Compute, Exchange, Instruction, Lanes, Slot, Workitem, active};
pub use launch::Launch;
pub use parts::Parts;
pub use shape::{LANES, MOST, Shape};
pub use slots::slot_bytes;
