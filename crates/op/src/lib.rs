//! Op declarations, and the code that is driven by them.
//!
//! An [`OpDef`] holds everything about an op: name, text form, operands and types, rules, core and pipe, the memory it
//! accesses, its cost, its semantics, and its reference page. Parser, printer, verifier, passes, decoder and `slipring
//! ops` read that declaration; no code outside it refers to an op by name. The families are in separate crates: a text
//! is parsed with a [`Table`] of them, and every op of a module carries its declaration ([`OpDef::of`], [`OpRef::of`]).

pub mod address;
mod along;
mod apart;
pub mod decode;
pub mod def;
mod facts;
pub mod function;
pub mod make;
pub mod names;
pub mod number;
pub mod numbers;
mod product;
mod reach;
pub mod ring;
mod rows;
pub mod rules;
mod short;
mod table;
pub mod target;
mod tiles;
mod verify;
mod working;
pub mod workitems;

pub use along::Along;
pub use decode::{
    Decoded, Decoding, Kernel, asks_lane, decode, is_lane_number, kernels, needed_functions, not_launched,
    select_kernel,
};
pub use def::{
    ApartRule, ElemTypes, HandlePart, LibraryFlags, OpDef, OpRef, PipeRule, Product, ProductStart, Reported, RingPart,
    WindowOf, WorkingForm, WorkingMemory, WorkingUse, reduces_in_groups,
};
pub use facts::{
    AddressRule, CoreRule, Counter, InCoreSync, LIBRARY_EVENT, LaneQuery, Linear, MixedPart, Signal, SyncAct, Transfer,
    Workitems,
};
pub use function::{is_entry, kernel_kind, symbol_name};
pub use reach::{affinity, core_of, first_of_kind, is_mixed, knows_lanes, only_kind, reachable, writes_global};
pub use short::complete_tiles;
pub use slipring_program::Direction;
pub use table::Table;
pub use tiles::{LayoutConstraint, LayoutRule, On, ShapeRule, TileRules};
pub use verify::{home_kind, verify};
pub use working::FIRST_SOURCES;
