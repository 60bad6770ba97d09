//! The intermediate representation: modules, operations, regions, values, types and attributes, with their source
//! locations; the text itself, parsed and printed; diagnostics; the pass manager.
//!
//! It knows no op by name: the form of an op comes from the [`OpSchema`]s of a [`Registry`].

mod attr;
mod compare;
mod declaration;
mod diag;
mod entities;
pub mod function;
mod logical;
mod module;
mod name;
mod schema;
mod source;
mod specs;
pub mod text;
mod types;

pub use attr::{Attr, AttrDict};
pub use compare::{difference, difference_but_for_names};
pub use declaration::{Declaration, Module, Op, OpSchema, Registry, Syntax};
pub use diag::{Diagnostic, Diags, Labeled, Reported};
pub use entities::{Block, BlockId, OpId, Region, RegionId, Value, ValueDef, ValueId};
pub use function::Parameter;
pub use logical::{LaneType, LogicalMask, LogicalVector};
pub use module::{Mark, ValueMap};
pub use name::Name;
pub use slipring_finding::{Kind, Line, Severity};
pub use source::{CPP_SUFFIXES, Elsewhere, Lang, Source, Span, WrittenAt, brief, visible, visible_name};
pub use specs::{
    Arity, AttrKind, AttrSpec, EnumSpec, FlagsSpec, Flow, Infer, OperandSpec, Part, ResultSpec, Touch, TypeRule,
};
pub use types::{Dim, FuncType, MemRefType, PipeParam, PipeType, Sign, TileType, Type, ViewType};
