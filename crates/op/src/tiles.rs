//! Requirements of an op on its tiles: element types, layouts, and which valid shapes must be equal.
//!
//! Sources of layouts and shapes: assertions of the platforms' tile libraries (`static_assert` of layouts, `PTO_ASSERT`
//! of valid shapes) and the public manual. A rule exists if one of them requires it, no library contradicts it, and the
//! public assembler rejects violations.

use slipring_ir::TileType;
use slipring_machine::{Capability, Platform};
use slipring_tile::{BLayout, Elem, SLayout, Space};

/// Requirements of an op on its tiles.
#[derive(Clone, Copy, Debug)]
pub struct TileRules {
    /// Their layouts.
    pub layouts: &'static [LayoutRule],
    /// The valid shapes that must be equal.
    pub shapes: &'static [ShapeRule],
}

impl TileRules {
    /// No requirements.
    pub const NONE: TileRules = TileRules { layouts: &[], shapes: &[] };
}

/// The kinds of vector unit on which a rule applies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum On {
    /// On all.
    All,
    /// On units that work on memory (A2/A3).
    Memory,
    /// On units that work on registers (A5).
    Registers,
    /// On none.
    None,
}

impl On {
    /// True if the rule applies on this platform.
    pub fn holds(self, platform: &Platform) -> bool {
        match self {
            On::All => true,
            On::Memory => !platform.can(Capability::RegisterLayouts),
            On::Registers => platform.can(Capability::RegisterLayouts),
            On::None => false,
        }
    }

    /// For reference pages.
    pub fn describe(self) -> &'static str {
        match self {
            On::All => "",
            On::Memory => " on A2/A3",
            On::Registers => " on A5",
            On::None => " nowhere",
        }
    }
}

/// The element types of an operand on the two kinds of vector unit.
#[derive(Clone, Copy, Debug)]
pub struct ElemTypes {
    /// The declared operand.
    pub operand: &'static str,
    /// On a unit that works on memory (A2/A3).
    pub memory: &'static [Elem],
    /// On a unit that works on registers (A5).
    pub registers: &'static [Elem],
}

impl ElemTypes {
    /// The types on one platform.
    pub fn on(&self, platform: &Platform) -> &'static [Elem] {
        if platform.can(Capability::RegisterTypes) { self.registers } else { self.memory }
    }
}

/// The layout of some of an op's tiles.
#[derive(Clone, Copy, Debug)]
pub struct LayoutRule {
    /// The declared operands.
    pub operands: &'static [&'static str],
    /// The memory that the rule is restricted to, if any.
    pub within: Option<Space>,
    /// The required layout.
    pub lies: LayoutConstraint,
    /// The units on which this applies.
    pub on: On,
}

/// A constraint on the layout of a tile in its memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LayoutConstraint {
    /// By rows, with or without boxes. A tile of one column whose elements are contiguous has the same bytes as one
    /// row.
    Rows,
    /// By rows, without boxes; one column as above.
    PlainRows,
    /// In boxes.
    Boxes {
        /// The order of the boxes.
        boxes: BLayout,
        /// The order of the elements in a box.
        inside: SLayout,
    },
    /// In boxes of this order, whatever the order of the boxes: texts leave the latter to the platform for L0A.
    Inside(SLayout),
    /// Not by columns without boxes.
    RowsOrBoxes,
}

impl LayoutConstraint {
    /// True if this tile satisfies it.
    pub fn fits(self, tile: &TileType) -> bool {
        let layout = &tile.layout;
        let plain = layout.slayout == SLayout::NoneBox;
        let rows = layout.blayout == BLayout::RowMajor || layout.cols == 1 && plain;
        match self {
            LayoutConstraint::Rows => rows,
            LayoutConstraint::PlainRows => rows && plain,
            LayoutConstraint::Boxes { boxes, inside } => layout.blayout == boxes && layout.slayout == inside,
            LayoutConstraint::Inside(inside) => layout.slayout == inside,
            LayoutConstraint::RowsOrBoxes => layout.blayout == BLayout::RowMajor || !plain,
        }
    }

    /// Its description in the terms of a tile type.
    pub fn describe(self) -> String {
        match self {
            LayoutConstraint::Rows => "blayout=row_major".into(),
            LayoutConstraint::PlainRows => "blayout=row_major, slayout=none_box".into(),
            LayoutConstraint::Boxes { boxes, inside } => format!("blayout={}, slayout={}", boxes.name(), inside.name()),
            LayoutConstraint::Inside(inside) => format!("slayout={}", inside.name()),
            LayoutConstraint::RowsOrBoxes => "blayout=row_major or in boxes".into(),
        }
    }
}

/// Operands whose valid shapes must be equal.
#[derive(Clone, Copy, Debug)]
pub struct ShapeRule {
    /// The declared operands.
    pub operands: &'static [&'static str],
    /// The units on which they must have the same number of valid rows.
    pub rows: On,
    /// The units on which they must have the same number of valid columns.
    pub columns: On,
}
