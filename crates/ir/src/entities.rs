//! Values, blocks and regions of a module, and the ids of its parts.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::{Span, Type};

macro_rules! entity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// Position in its table.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

entity! {
    /// An operation of a module.
    OpId
}

entity! {
    /// A value of a module: a result of an operation or an argument of a block.
    ValueId
}

entity! {
    /// A block of a module.
    BlockId
}

entity! {
    /// A region of a module.
    RegionId
}

/// A value.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Value {
    pub ty: Type,
    /// Name in the text without `%`; the results of one op with several share it.
    pub name: Option<Arc<str>>,
    pub def: ValueDef,
    /// Its name's location in the text.
    pub span: Span,
}

/// The definition of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueDef {
    /// Result of an operation, by position.
    Result(OpId, u16),
    /// Argument of a block, by position.
    Arg(BlockId, u16),
}

/// A block: arguments, then operations.
#[derive(Clone, Default, Debug)]
#[allow(missing_docs)]
pub struct Block {
    pub args: SmallVec<[ValueId; 2]>,
    pub ops: Vec<OpId>,
    pub region: Option<RegionId>,
}

/// A region: blocks of one operation. Control flow is structured, so nearly always one block.
#[derive(Clone, Default, Debug)]
#[allow(missing_docs)]
pub struct Region {
    pub blocks: SmallVec<[BlockId; 1]>,
    pub parent: Option<OpId>,
}
