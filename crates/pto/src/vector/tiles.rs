//! Layouts of the tiles of vector operations, and equal valid shapes, on the two kinds of vector unit.
//!
//! Sources: the assertions of the tile library's headers and the verification sections of the public manual. There is
//! no rule if a library accepts columns (`TEXPANDS`, the source of `TCOLARGMAX`), or only the assembler has the
//! requirement.

use slipring_op::{LayoutConstraint, LayoutRule, On, ShapeRule, TileRules};

const fn rows(operands: &'static [&'static str]) -> LayoutRule {
    LayoutRule { operands, within: None, lies: LayoutConstraint::Rows, on: On::All }
}

const fn plain_rows(operands: &'static [&'static str]) -> LayoutRule {
    LayoutRule { operands, within: None, lies: LayoutConstraint::PlainRows, on: On::All }
}

/// Requires the same valid shape on all platforms.
const fn equal(operands: &'static [&'static str]) -> ShapeRule {
    ShapeRule { operands, rows: On::All, columns: On::All }
}

const fn equal_rows(operands: &'static [&'static str]) -> ShapeRule {
    ShapeRule { operands, rows: On::All, columns: On::None }
}

const fn equal_columns(operands: &'static [&'static str]) -> ShapeRule {
    ShapeRule { operands, rows: On::None, columns: On::All }
}

const EACH_OF_TWO: ShapeRule = equal(&["dst", "src0", "src1"]);
const EACH: ShapeRule = equal(&["dst", "src"]);

/// Two sources.
pub(super) const TWO: TileRules = TileRules { layouts: &[rows(&["src0", "src1", "dst"])], shapes: &[EACH_OF_TWO] };
/// One source.
pub(super) const ONE: TileRules = TileRules { layouts: &[rows(&["src", "dst"])], shapes: &[EACH] };
/// One source, whose layout is unspecified.
pub(super) const SHAPES: TileRules = TileRules { layouts: &[], shapes: &[EACH] };
/// Like [`SHAPES`], but on units that work on registers the assembler only compares columns.
pub(super) const SHAPES_OF_SUM: TileRules =
    TileRules { layouts: &[], shapes: &[ShapeRule { operands: &["dst", "src"], rows: On::Memory, columns: On::All }] };
/// Remainders, with their working memory.
pub(super) const REMAINDER: TileRules =
    TileRules { layouts: &[rows(&["src0", "src1", "tmp", "dst"])], shapes: &[EACH_OF_TWO] };
pub(super) const REMAINDER_BY: TileRules = TileRules { layouts: &[rows(&["src", "tmp", "dst"])], shapes: &[EACH] };
/// Operations for which units that work on memory need working memory.
pub(super) const PRELU: TileRules =
    TileRules { layouts: &[rows(&["src0", "src1", "dst"]), TMP_IN_ROWS], shapes: &[EACH_OF_TWO] };
const TMP_IN_ROWS: LayoutRule =
    LayoutRule { operands: &["tmp"], within: None, lies: LayoutConstraint::Rows, on: On::Memory };
pub(super) const EXCLUSIVE: TileRules = TileRules {
    layouts: &[rows(&["src0", "src1", "dst"]), TMP_IN_ROWS],
    shapes: &[EACH_OF_TWO, ShapeRule { operands: &["dst", "tmp"], rows: On::Memory, columns: On::Memory }],
};
/// Comparisons: the mask has a row for each row of the source.
pub(super) const COMPARE: TileRules = TileRules {
    layouts: &[],
    shapes: &[
        ShapeRule { operands: &["src0", "src1"], rows: On::Memory, columns: On::Memory },
        ShapeRule { operands: &["src0", "dst"], rows: On::Memory, columns: On::None },
    ],
};
pub(super) const COMPARE_NUMBER: TileRules = TileRules { layouts: &[], shapes: &[equal_rows(&["src", "dst"])] };
pub(super) const SELECT: TileRules = TileRules { layouts: &[rows(&["src0", "src1", "dst"])], shapes: &[] };
/// Rows to one element: a result in column order is a single column.
pub(super) const BY_ROW: TileRules = TileRules { layouts: &[plain_rows(&["src", "dst"])], shapes: &[] };
/// Columns to one element.
pub(super) const BY_COLUMN: TileRules = TileRules { layouts: &[plain_rows(&["src", "dst"])], shapes: &[] };
pub(super) const COLUMN_INDEX: TileRules = TileRules { layouts: &[plain_rows(&["dst"])], shapes: &[] };
pub(super) const SPREAD_ROWS: TileRules =
    TileRules { layouts: &[plain_rows(&["dst"])], shapes: &[equal_rows(&["dst", "src"])] };
pub(super) const SPREAD_COLUMNS: TileRules =
    TileRules { layouts: &[plain_rows(&["src", "dst"])], shapes: &[equal_columns(&["dst", "src"])] };
/// A tile and a column.
pub(super) const WITH_COLUMN: TileRules = TileRules { layouts: &[rows(&["dst"])], shapes: &[] };
/// A tile and a row.
pub(super) const WITH_ROW: TileRules = TileRules {
    layouts: &[rows(&["src0", "src1", "dst"])],
    shapes: &[equal(&["dst", "src0"]), equal_columns(&["dst", "src1"])],
};
/// Powers; the exponent may be a scalar.
pub(super) const POWER: TileRules = TileRules {
    layouts: &[rows(&["base", "exponent", "dst"])],
    shapes: &[equal(&["dst", "base", "exponent"]), TMP_LIKE_DST],
};
/// `TPOW_IMPL` for units that work on memory asserts it.
const TMP_LIKE_DST: ShapeRule = ShapeRule { operands: &["dst", "tmp"], rows: On::Memory, columns: On::Memory };
/// Values with their indices.
pub(super) const NUMBERED: TileRules = TileRules {
    layouts: &[],
    shapes: &[equal(&["src0", "index0"]), equal(&["src1", "index1"]), equal(&["dst", "index"])],
};
/// Interleaved streams, whose valid shapes the op's own rules check.
pub(super) const WOVEN: TileRules = TileRules { layouts: &[rows(&["src0", "src1", "dst0", "dst1"])], shapes: &[] };
pub(super) const TRIANGLE: TileRules = TileRules { layouts: &[rows(&["dst"])], shapes: &[] };
/// The manual allows sources in column order on units that work on registers.
pub(super) const TURNED: TileRules = TileRules {
    layouts: &[LayoutRule { operands: &["src"], within: None, lies: LayoutConstraint::Rows, on: On::Memory }],
    shapes: &[],
};
pub(super) const JOINED: TileRules = TileRules {
    layouts: &[LayoutRule {
        operands: &["src0", "src1", "dst"],
        within: None,
        lies: LayoutConstraint::Rows,
        on: On::Registers,
    }],
    shapes: &[equal_rows(&["dst", "src0", "src1"])],
};
