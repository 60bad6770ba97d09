//! What an op asks of its tiles: element types, how they lie in their memory, and which valid shapes are equal.
//!
//! Sources of layouts and shapes: assertions of the platforms' tile libraries (`static_assert` of layouts, `PTO_ASSERT` of valid shapes) and the public
//! manual. A rule stands where one of them asks for it, no library does otherwise, and the public assembler refuses the rest.

use slipring_ir::TileType;
use slipring_machine::{Capability, Platform};
use slipring_tile::{BLayout, Elem, SLayout, Space};

/// What an op asks of its tiles.
#[derive(Clone, Copy, Debug)]
pub struct TileRules {
    /// How they lie.
    pub layouts: &'static [LayoutRule],
    /// Which valid shapes are equal.
    pub shapes: &'static [ShapeRule],
}

impl TileRules {
    /// Nothing.
    pub const NONE: TileRules = TileRules { layouts: &[], shapes: &[] };
}

/// On which kinds of vector unit a rule holds.
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
    /// True on this platform.
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
    /// Those of one platform.
    pub fn on(&self, platform: &Platform) -> &'static [Elem] {
        if platform.can(Capability::RegisterTypes) { self.registers } else { self.memory }
    }
}

/// How some of an op's tiles lie.
#[derive(Clone, Copy, Debug)]
pub struct LayoutRule {
    /// The declared operands.
    pub operands: &'static [&'static str],
    /// The memory in which they are, if the rule speaks of one only.
    pub within: Option<Space>,
    /// How they lie.
    pub lies: LayoutConstraint,
    /// Where this holds.
    pub on: On,
}

/// How a tile lies in its memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LayoutConstraint {
    /// By rows, with or without boxes. A tile of one column whose elements follow one another is the same bytes as one row.
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
    /// In boxes of this order, whatever the order of the boxes: texts leave that of L0A to the platform.
    Inside(SLayout),
    /// Not by columns without boxes.
    RowsOrBoxes,
}

impl LayoutConstraint {
    /// True of this tile.
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

    /// In the words of a tile's type.
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

/// Operands whose valid shapes are equal.
#[derive(Clone, Copy, Debug)]
pub struct ShapeRule {
    /// The declared operands.
    pub operands: &'static [&'static str],
    /// Where they have equally many valid rows.
    pub rows: On,
    /// Where they have equally many valid columns.
    pub columns: On,
}
