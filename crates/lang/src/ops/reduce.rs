//! Rows and columns reduced to one element, and values repeated over rows and columns.

use slipring_ir::Diagnostic;
use slipring_tile::{Elem, Space};

use super::elementwise::{emit, like, vector};
use super::{Call, ENTRY, Entry};
use crate::lower::{Lower, Lowered, show};
use crate::value::Value;

const ROW: Entry = Entry { params: "x, tmp_tile=", lower: rows, ..ENTRY };
const COL: Entry = Entry { params: "x, tmp_tile=", lower: columns, ..ENTRY };
const EXPAND: Entry = Entry { params: "x, values, tmp=", lower: expand, ..ENTRY };

pub(super) const OPS: &[Entry] = &[
    Entry { names: &["row_sum"], op: "pto.trowsum", doc: "Sum of each row", ..ROW },
    Entry { names: &["row_max"], op: "pto.trowmax", doc: "Largest element of each row", ..ROW },
    Entry { names: &["row_min"], op: "pto.trowmin", doc: "Smallest element of each row", ..ROW },
    Entry { names: &["row_prod"], op: "pto.trowprod", doc: "Product of each row", ..ROW },
    Entry { names: &["row_argmax"], op: "pto.trowargmax", doc: "Column of the largest element of each row", ..ROW },
    Entry { names: &["row_argmin"], op: "pto.trowargmin", doc: "Column of the smallest element of each row", ..ROW },
    Entry { names: &["col_sum"], op: "pto.tcolsum", doc: "Sum of each column", ..COL },
    Entry { names: &["col_max"], op: "pto.tcolmax", doc: "Largest element of each column", ..COL },
    Entry { names: &["col_min"], op: "pto.tcolmin", doc: "Smallest element of each column", ..COL },
    Entry { names: &["col_prod"], op: "pto.tcolprod", doc: "Product of each column", ..COL },
    Entry { names: &["col_argmax"], op: "pto.tcolargmax", doc: "Row of the largest element of each column", ..COL },
    Entry { names: &["col_argmin"], op: "pto.tcolargmin", doc: "Row of the smallest element of each column", ..COL },
    Entry { names: &["row_expand_add"], op: "pto.trowexpandadd", doc: "Add, a value for each row", ..EXPAND },
    Entry { names: &["row_expand_sub"], op: "pto.trowexpandsub", doc: "Subtract, a value for each row", ..EXPAND },
    Entry { names: &["row_expand_mul"], op: "pto.trowexpandmul", doc: "Multiply, a value for each row", ..EXPAND },
    Entry { names: &["row_expand_div"], op: "pto.trowexpanddiv", doc: "Divide, a value for each row", ..EXPAND },
    Entry { names: &["row_expand_max"], op: "pto.trowexpandmax", doc: "Larger, a value for each row", ..EXPAND },
    Entry { names: &["row_expand_min"], op: "pto.trowexpandmin", doc: "Smaller, a value for each row", ..EXPAND },
    Entry {
        names: &["row_expand_expdif"],
        op: "pto.trowexpandexpdif",
        doc: "Exponential of a difference, a value for each row",
        ..EXPAND
    },
    Entry { names: &["col_expand_add"], op: "pto.tcolexpandadd", doc: "Add, a value for each column", ..EXPAND },
    Entry { names: &["col_expand_sub"], op: "pto.tcolexpandsub", doc: "Subtract, a value for each column", ..EXPAND },
    Entry { names: &["col_expand_mul"], op: "pto.tcolexpandmul", doc: "Multiply, a value for each column", ..EXPAND },
    Entry { names: &["col_expand_div"], op: "pto.tcolexpanddiv", doc: "Divide, a value for each column", ..EXPAND },
    Entry { names: &["col_expand_max"], op: "pto.tcolexpandmax", doc: "Larger, a value for each column", ..EXPAND },
    Entry { names: &["col_expand_min"], op: "pto.tcolexpandmin", doc: "Smaller, a value for each column", ..EXPAND },
    Entry {
        names: &["col_expand_expdif"],
        op: "pto.tcolexpandexpdif",
        doc: "Exponential of a difference, a value for each column",
        ..EXPAND
    },
];

fn rows(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let source = vector(lower, call, "x")?;
    let tile = lower.tile(source).clone();
    let (rows, _) = crate::lower::fold(&tile.shape);
    reduced(lower, call, source, &[rows, 1])
}

fn columns(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let source = vector(lower, call, "x")?;
    let tile = lower.tile(source).clone();
    let (_, cols) = crate::lower::fold(&tile.shape);
    reduced(lower, call, source, &[1, cols])
}

/// The arguments of an extreme are indices.
fn is_index(call: &Call) -> bool {
    call.entry.op.contains("arg")
}

fn reduced(lower: &mut Lower<'_>, call: &Call, source: crate::value::TileId, shape: &[u64]) -> Lowered {
    let elem = if is_index(call) { Elem::I32 } else { lower.tile(source).ty.layout.elem };
    let mut operands = vec![("src", source)];
    if let Some((value, span)) = call.get("tmp_tile").cloned() {
        operands.push(("tmp", lower.demand(&value, Space::Vec, span)?));
    } else if is_index(call) || call.entry.op.starts_with("pto.trow") {
        // The instruction wants working memory.
        let model = lower.tile(source).clone();
        let tmp = lower.new_tile(&model.shape, model.ty.layout.elem, Space::Vec, "tmp");
        operands.push(("tmp", tmp));
    }
    let rows = call.entry.op.starts_with("pto.trow");
    let target = lower.tile_valid_like(source, shape, elem, [rows, !rows], call.entry.names[0]);
    emit(lower, call.entry.op, &operands, target);
    Ok(Value::Tile(target))
}

fn expand(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let source = vector(lower, call, "x")?;
    let values = vector(lower, call, "values")?;
    let (x, v) = (lower.tile(source).clone(), lower.tile(values).clone());
    let by_row = call.entry.op.starts_with("pto.trow");
    let ((rows, cols), (v_rows, v_cols)) = (crate::lower::fold(&x.shape), crate::lower::fold(&v.shape));
    let fits = if by_row { v_rows == rows && v_cols == 1 } else { v_cols == cols && v_rows == 1 };
    if !fits {
        let (name, wanted) = (call.entry.names[0], if by_row { [rows, 1] } else { [1, cols] });
        let message =
            format!("`pl.{name}` of a tile {} takes values {}, not {}", show(&x.shape), show(&wanted), show(&v.shape));
        let error = Diagnostic::error("shapes", call.span, message).also(x.span, "the tile").also(v.span, "the values");
        return Err(lower.report(error));
    }
    Ok(Value::Tile(like(lower, call, source, &[("src0", source), ("src1", values)])))
}
