//! Layouts of tiles in the memories.

use slipring_ir::TileType;
use slipring_tile::{BLayout, Elem, Layout, SLayout, Space};

use crate::value::{fold, valid};

/// A memory, with a layout of tiles in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub space: Space,
    pub(super) blayout: BLayout,
    pub(super) slayout: SLayout,
}

impl Place {
    /// The usual layout in a memory: rows in UB, fractals on the Cube core.
    pub const fn of(space: Space) -> Place {
        let (blayout, slayout) = match space {
            Space::Right => (BLayout::RowMajor, SLayout::ColMajor),
            Space::Mat | Space::Left | Space::Acc => (BLayout::ColMajor, SLayout::RowMajor),
            Space::LeftScale => (BLayout::RowMajor, SLayout::RowMajor),
            Space::RightScale => (BLayout::ColMajor, SLayout::ColMajor),
            _ => (BLayout::RowMajor, SLayout::NoneBox),
        };
        Place { space, blayout, slayout }
    }

    /// The same memory with the named layouts; `None` for unknown names.
    pub fn with(self, blayout: Option<&str>, slayout: Option<&str>) -> Option<Place> {
        let blayout = match blayout {
            None => self.blayout,
            Some("row_major") => BLayout::RowMajor,
            Some("col_major") => BLayout::ColMajor,
            Some(_) => return None,
        };
        let slayout = match slayout {
            None => self.slayout,
            Some("row_major") => SLayout::RowMajor,
            Some("col_major") => SLayout::ColMajor,
            Some("none_box") => SLayout::NoneBox,
            Some(_) => return None,
        };
        Some(Place { blayout, slayout, ..self })
    }

    /// The type of a tile of a shape: padded to whole boxes, or to 32 bytes for a line layout.
    pub fn tile_type(self, shape: &[u64], elem: Elem) -> TileType {
        let (rows, cols) = fold(shape);
        let blayout = if self.space == Space::Vec && cols == 1 && rows > 1 { BLayout::ColMajor } else { self.blayout };
        let scales = matches!(
            (self.blayout, self.slayout),
            (BLayout::RowMajor, SLayout::RowMajor) | (BLayout::ColMajor, SLayout::ColMajor)
        );
        let fractal = match self.space {
            Space::Acc => 1024,
            _ if scales => 32,
            _ => 512,
        };
        let layout = Layout { elem, rows: 1, cols: 1, blayout, slayout: self.slayout, fractal };
        let line = (32 / elem.bytes() as u64).max(1);
        let (row_unit, col_unit) = match (self.slayout, blayout) {
            (SLayout::NoneBox, BLayout::RowMajor) => (1, line),
            (SLayout::NoneBox, BLayout::ColMajor) => (line, 1),
            // Like the operands that they belong to, whose boxes are 32 bytes wide.
            (SLayout::RowMajor, _) if scales => (32, 2),
            (SLayout::ColMajor, _) if scales => (2, 32),
            // Operands are padded in both directions, so that they fit L0A, L0B and their transposed views.
            _ => {
                let (rows, cols) = layout.box_shape();
                let unit = u64::from(rows.max(cols));
                (unit, unit)
            }
        };
        let up = |n: u64, unit: u64| u32::try_from(n.next_multiple_of(unit)).unwrap_or(u32::MAX);
        let layout = Layout { rows: up(rows, row_unit), cols: up(cols, col_unit), ..layout };
        TileType { space: self.space, layout, valid: valid(rows, cols), pad: 0, compact: 0 }
    }
}
