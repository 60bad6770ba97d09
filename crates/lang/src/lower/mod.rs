//! Lowering of a kernel's body, statement by statement.
//!
//! Python rebinds names, while the module has buffers. An expression that makes a tile makes a new buffer, so that
//! names can be rebound freely. Tiles that a loop carries ([`carry`]) and tiles that both arms of a branch make
//! ([`branch`]) are put into one buffer. A tile is moved to the memory where it is needed on demand ([`place`]).

mod ahead;
mod arith;
mod arrays;
mod assume;
mod attempt;
mod bounds;
mod branch;
mod buffers;
mod carry;
mod changed;
mod choice;
mod claims;
mod control;
mod copies;
mod dicts;
mod exchange;
mod expr;
mod extents;
mod fresh;
mod function;
mod further;
mod held;
mod items;
mod iterations;
mod layouts;
mod lists;
mod lowering;
mod made;
pub(crate) mod masks;
mod names;
pub(crate) mod on_tiles;
mod outputs;
pub(crate) mod pipes;
mod place;
mod places;
mod region;
mod scope;
pub(crate) mod signature;
mod split;
mod state;
mod stmt;
mod tails;
mod tile_parts;
mod tiles;
mod unknown;
mod window;
mod word;
mod yields;

pub(crate) use ahead::lower_ahead;
pub(crate) use expr::is_least;
pub(crate) use extents::common;
pub(crate) use function::{constant_parameter, is_constant, lower_function};
pub(crate) use layouts::Place;
pub(crate) use lowering::{Lower, Lowered, Words, describe};
pub(crate) use names::{read_in_scope, read_names};
pub(crate) use region::{Left, RegionKind, RegionParam, lower_region, wanted_names};
pub(crate) use state::{CarryKind, Popped, Root};
