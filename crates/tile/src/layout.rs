//! The position of a tile's elements within its bytes.

use crate::Elem;

/// Order of the boxes of a tile, or of its elements where it has no boxes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum BLayout {
    RowMajor,
    ColMajor,
}

impl BLayout {
    /// The spelling in `.pto` text.
    pub fn name(self) -> &'static str {
        match self {
            BLayout::RowMajor => "row_major",
            BLayout::ColMajor => "col_major",
        }
    }
}

/// Order of the elements inside one box (fractal).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SLayout {
    /// The tile has no boxes.
    NoneBox,
    /// A box is 16 rows, each `fractal / 16` bytes long.
    RowMajor,
    /// A box is 16 columns, each `fractal / 16` bytes long.
    ColMajor,
}

impl SLayout {
    /// The spelling in `.pto` text.
    pub fn name(self) -> &'static str {
        match self {
            SLayout::NoneBox => "none_box",
            SLayout::RowMajor => "row_major",
            SLayout::ColMajor => "col_major",
        }
    }
}

/// The layout of a tile of `rows` × `cols` elements (the allocated shape, not the valid one).
///
/// | name | `blayout` | `slayout` |
/// |---|---|---|
/// | ND | row-major | none |
/// | DN | column-major | none |
/// | NZ | column-major | row-major |
/// | ZZ | row-major | row-major |
/// | ZN | row-major | column-major |
/// | NN | column-major | column-major |
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub struct Layout {
    pub elem: Elem,
    pub rows: u32,
    pub cols: u32,
    pub blayout: BLayout,
    pub slayout: SLayout,
    /// Size of one box in bytes (512, or 1024 for 32-bit accumulators); unused without boxes.
    pub fractal: u32,
}

impl Layout {
    /// Plain row-major.
    pub const fn nd(elem: Elem, rows: u32, cols: u32) -> Layout {
        Layout { elem, rows, cols, blayout: BLayout::RowMajor, slayout: SLayout::NoneBox, fractal: 512 }
    }

    /// Column-major boxes of row-major elements, boxes of 512 bytes.
    pub const fn nz(elem: Elem, rows: u32, cols: u32) -> Layout {
        Layout { elem, rows, cols, blayout: BLayout::ColMajor, slayout: SLayout::RowMajor, fractal: 512 }
    }

    /// Rows and columns of one box, in elements; `(1, 1)` without boxes.
    pub const fn box_shape(&self) -> (u32, u32) {
        let line = self.fractal / 16 / self.elem.bytes() as u32;
        match self.slayout {
            SLayout::NoneBox => (1, 1),
            SLayout::RowMajor => (16, line),
            SLayout::ColMajor => (line, 16),
        }
    }

    /// True when the allocated shape is a whole number of boxes.
    pub const fn is_whole(&self) -> bool {
        let (br, bc) = self.box_shape();
        br > 0 && bc > 0 && self.rows.is_multiple_of(br) && self.cols.is_multiple_of(bc)
    }

    /// Bytes of the whole tile.
    pub const fn bytes(&self) -> usize {
        self.rows as usize * self.cols as usize * self.elem.bytes()
    }

    /// Byte offset of element (`row`, `col`), which must lie inside the tile.
    pub const fn offset(&self, row: u32, col: u32) -> usize {
        let (rows, cols) = (self.rows as usize, self.cols as usize);
        let (row, col) = (row as usize, col as usize);
        let (br, bc) = self.box_shape();
        let (br, bc) = (br as usize, bc as usize);
        let (outer_r, outer_c) = (row / br, col / bc);
        let (inner_r, inner_c) = (row % br, col % bc);
        let boxes = match self.blayout {
            BLayout::RowMajor => outer_r * (cols / bc) + outer_c,
            BLayout::ColMajor => outer_c * (rows / br) + outer_r,
        };
        let inner = match self.slayout {
            SLayout::NoneBox => 0,
            SLayout::RowMajor => inner_r * bc + inner_c,
            SLayout::ColMajor => inner_c * br + inner_r,
        };
        (boxes * br * bc + inner) * self.elem.bytes()
    }
}
