//! The contents of the Vector cores' tiles at a point of the program.

use std::collections::BTreeMap;

use slipring_ir::{Module, Span, TileType, Type, ValueId};
use slipring_op::{Along, OpRef, PipeRule};
use slipring_tile::{BLayout, SLayout, Space};

use crate::analysis::facts::first_operand;

/// Which part of a whole tile a lane holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Cut {
    /// No known part: a tile of its own.
    #[default]
    Whole,
    /// Half of the rows (0) or columns (1).
    Axis(usize),
    /// A part that is not along an axis.
    Unsure,
}

impl Cut {
    fn with(self, other: Cut) -> Cut {
        match (self, other) {
            (Cut::Whole, cut) | (cut, Cut::Whole) => cut,
            (a, b) if a == b => a,
            _ => Cut::Unsure,
        }
    }
}

/// The contents of a tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Contents {
    pub cut: Cut,
    /// Where it was divided.
    pub by: Option<Span>,
    /// Why the lanes' tiles differ; `None` if they are the same.
    pub lane: Option<Span>,
}

impl Contents {
    /// The combination of both.
    pub fn with(self, other: Contents) -> Contents {
        Contents { cut: self.cut.with(other.cut), by: self.by.or(other.by), lane: self.lane.or(other.lane) }
    }
}

/// Contents of tiles by the value that declares them. A tile that is not listed is the same on both lanes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Tiles(BTreeMap<ValueId, Contents>);

impl Tiles {
    /// The contents of a tile, or of a view of one, that a value represents.
    pub fn get(&self, module: &Module, value: ValueId) -> Contents {
        let view = View::of(module, value);
        let mut contents = self.0.get(&view.root).copied().unwrap_or_default();
        for (from, to) in view.shapes.iter().rev() {
            contents.cut = reshaped(contents.cut, from, to);
        }
        contents
    }

    /// An op writes a tile, or a part of one; the rest is kept.
    pub fn set(&mut self, module: &Module, value: ValueId, mut contents: Contents) {
        let view = View::of(module, value);
        for (from, to) in &view.shapes {
            contents.cut = reshaped(contents.cut, to, from);
        }
        let tile = self.0.entry(view.root).or_default();
        *tile = if view.part { tile.with(contents) } else { contents };
    }

    /// The union of both; locations are those of the first if it has any.
    pub fn join(mut self, other: Tiles) -> Tiles {
        for (value, contents) in other.0 {
            let tile = self.0.entry(value).or_default();
            *tile = tile.with(contents);
        }
        self
    }
}

/// How a value views a tile.
struct View {
    root: ValueId,
    /// Changes of shape on the way to the root: from, to; last one first.
    shapes: Vec<(TileType, TileType)>,
    /// True if it is only a part.
    part: bool,
}

impl View {
    fn of(module: &Module, value: ValueId) -> View {
        let mut view = View { root: value, shapes: Vec::new(), part: false };
        while let Some(op) = module.defining_op(view.root).and_then(|op| OpRef::of(module, op)) {
            let Some(source) = first_operand(&op).filter(|_| matches!(op.def.pipe, PipeRule::None)) else { break };
            let (Type::Tile(from), Type::Tile(to)) = (module.ty(source), module.ty(view.root)) else { break };
            match op.def.along[0] {
                Along::Part => view.part = true,
                _ => view.shapes.push((*from, *to)),
            }
            view.root = source;
        }
        view
    }
}

/// The axis along which two tiles are consecutive in memory when they are concatenated.
fn outer_axis(tile: &TileType) -> Option<usize> {
    let (rows, cols) = (tile.layout.rows, tile.layout.cols);
    match (tile.layout.slayout, tile.layout.blayout) {
        (SLayout::NoneBox, BLayout::RowMajor) => Some(usize::from(rows == 1)),
        (SLayout::NoneBox, BLayout::ColMajor) => Some(usize::from(cols != 1)),
        _ => None,
    }
}

/// The part that half of a tile becomes when its memory is reinterpreted in another shape.
fn reshaped(cut: Cut, from: &TileType, to: &TileType) -> Cut {
    let Cut::Axis(axis) = cut else { return cut };
    let shape = |tile: &TileType| (tile.layout.rows, tile.layout.cols, tile.layout.blayout, tile.layout.slayout);
    if shape(from) == shape(to) {
        return cut;
    }
    match (outer_axis(from), outer_axis(to)) {
        (Some(outer), Some(now)) if outer == axis => Cut::Axis(now),
        _ => Cut::Unsure,
    }
}

/// The type of a tile in UB.
pub(super) fn vector_tile(module: &Module, value: ValueId) -> Option<&TileType> {
    module.ty(value).as_tile().filter(|tile| tile.space == Space::Vec)
}
