//! What an op asks of its tiles: element types, how they lie in their memory, and which valid shapes are equal.
//!
//! Sources of layouts and shapes: assertions of the platforms' tile libraries (`static_assert` of layouts, `PTO_ASSERT` of valid shapes) and the public
//! manual. A rule stands where one of them asks for it, no library does otherwise, and the public assembler refuses the rest.

use slipring_ir::{Diags, Dim, TileType};
use slipring_machine::{Capability, Platform};
use slipring_tile::{BLayout, Elem, SLayout, Space};

use crate::def::OpRef;

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

/// Tiles that lie otherwise than the platform's library has them, and valid shapes that differ where they are known.
pub(crate) fn tile_rules(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    layouts(op, platform, diags);
    shapes(op, platform, diags);
}

/// The first tile that lies otherwise.
fn layouts(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    for rule in op.def.tiles.layouts.iter().filter(|rule| rule.on.holds(platform)) {
        let tiles = rule.operands.iter().filter_map(|name| Some((*name, op.tile(*name)?)));
        let mut there = tiles.filter(|(_, tile)| rule.within.is_none_or(|space| space == tile.space));
        let Some((name, tile)) = there.find(|(_, tile)| !rule.lies.fits(tile)) else { continue };
        let (op_name, on, lies) = (op.def.schema.name, &platform.name, rule.lies.describe());
        let layout = &tile.layout;
        let within = rule.within.map_or(String::new(), |space| format!(" in `{space}`"));
        diags.push(
            op.error("tile-layout", format!("`{op_name}` takes `{name}`{within} with {lies} on {on}"))
                .label(format!("`{name}` has blayout={}, slayout={}", layout.blayout.name(), layout.slayout.name()))
                .help("write the type of the tile with that layout where it is made, and fill it so"),
        );
        return;
    }
}

/// The first pair of valid shapes that are known and differ.
fn shapes(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    for rule in op.def.tiles.shapes {
        let mut tiles = rule.operands.iter().filter_map(|name| Some((*name, op.tile(*name)?)));
        let Some((first, like)) = tiles.next() else { continue };
        let asked = [(rule.rows, "rows"), (rule.columns, "columns")];
        for (name, tile) in tiles {
            let differs = |axis: usize| {
                let both = like.valid[axis].known().zip(tile.valid[axis].known());
                both.is_some_and(|(a, b)| a != b)
            };
            let found = asked.iter().enumerate().find(|(axis, (on, _))| on.holds(platform) && differs(*axis));
            let Some((_, (_, what))) = found else { continue };
            let show = |tile: &TileType| tile.valid.map(|dim: Dim| dim.to_string()).join(" x ");
            let (op_name, on) = (op.def.schema.name, &platform.name);
            diags.push(
                op.error("tile-valid", format!("`{op_name}` takes equally many valid {what} on {on}"))
                    .label(format!("`{first}` has {}, `{name}` {}", show(like), show(tile)))
                    .help("give both tiles one valid shape: in their types, or with `pto.set_validshape`"),
            );
            return;
        }
    }
}
