//! The intermediate representation: modules, operations, regions, values, types and attributes, with
//! their places in the text; the text itself, parsed and printed; diagnostics; the pass manager.
//!
//! It knows no op by name: what an op looks like comes from the [`OpSchema`]s of a [`Registry`].

mod attr;
mod compare;
mod diag;
pub mod function;
mod module;
mod name;
mod schema;
mod source;
pub mod text;
mod types;

pub use attr::{Attr, AttrDict};
pub use compare::{difference, difference_but_for_names};
pub use diag::{Diagnostic, Diags, Labeled, Reported};
pub use function::{Parameter, Part};
pub use module::{Block, BlockId, Mark, Module, Op, OpId, Region, RegionId, Value, ValueDef, ValueId, ValueMap};
pub use name::Name;
pub use schema::{
    Arity, AttrKind, AttrSpec, Declaration, EnumSpec, Flow, Infer, OpSchema, OperandSpec, Registry, ResultSpec, Syntax,
    Touch, TypeRule,
};
pub use slipring_finding::{Kind, Line, Severity};
pub use source::{CPP_SUFFIXES, Elsewhere, Lang, Source, Span, WrittenAt, brief, visible, visible_name};
pub use types::{Dim, FuncType, MemRefType, PipeParam, PipeType, Sign, TileType, Type, ViewType};
