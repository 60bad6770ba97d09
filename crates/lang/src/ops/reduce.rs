//! Reductions of rows and columns to one element, and broadcasts of values over rows and columns.

use slipring_ir::{Attr, Diagnostic};
use slipring_pto as pto;
use slipring_tile::{Elem, Space};

use super::entry::{Call, ENTRY, Entry, entries};
use super::operands::{like, vector};
use crate::lower::on_tiles::emit_with;
use crate::lower::{Lower, Lowered};
use crate::value::{Value, show};

const ROW: Entry = Entry { params: "x/input/tile, tmp_tile/tmp=", lower: rows, ..ENTRY };
const COL: Entry = Entry { params: "x/input/tile, tmp_tile/tmp=", lower: columns, ..ENTRY };
/// The results are indices.
const ROW_INDEX: Entry = Entry { lower: row_indices, ..ROW };
const COL_INDEX: Entry = Entry { lower: column_indices, ..COL };
const ROW_EXPAND: Entry = Entry {
    params: "x/lhs/tile/tensor, values/rhs/row_vec/col_vec, tmp=",
    lower: |lower, call| expand(lower, call, true),
    ..ENTRY
};
const COL_EXPAND: Entry = Entry { lower: |lower, call| expand(lower, call, false), ..ROW_EXPAND };

entries! {
    "row_sum" => "Sum of each row": ROW, op: Some(&pto::TROWSUM);
    "row_max" => "Largest element of each row": ROW, op: Some(&pto::TROWMAX);
    "row_min" => "Smallest element of each row": ROW, op: Some(&pto::TROWMIN);
    "row_mean" => "Mean of each row: its sum times a constant": ROW, op: Some(&pto::TROWSUM), lower: row_mean;
    "col_mean" => "Mean of each column: its sum times a constant": COL, op: Some(&pto::TCOLSUM), lower: col_mean;
    "row_prod" => "Product of each row": ROW, op: Some(&pto::TROWPROD);
    "row_argmax" => "Column of the largest element of each row": ROW_INDEX, op: Some(&pto::TROWARGMAX);
    "row_argmin" => "Column of the smallest element of each row": ROW_INDEX, op: Some(&pto::TROWARGMIN);
    "col_sum" => "Sum of each column; in pairs of rows where `tmp` is given": COL, op: Some(&pto::TCOLSUM);
    "col_max" => "Largest element of each column": COL, op: Some(&pto::TCOLMAX);
    "col_min" => "Smallest element of each column": COL, op: Some(&pto::TCOLMIN);
    "col_prod" => "Product of each column": COL, op: Some(&pto::TCOLPROD);
    "col_argmax" => "Row of the largest element of each column": COL_INDEX, op: Some(&pto::TCOLARGMAX);
    "col_argmin" => "Row of the smallest element of each column": COL_INDEX, op: Some(&pto::TCOLARGMIN);
    "row_expand_add" => "Add, a value for each row": ROW_EXPAND, op: Some(&pto::TROWEXPANDADD);
    "row_expand_sub" => "Subtract, a value for each row": ROW_EXPAND, op: Some(&pto::TROWEXPANDSUB);
    "row_expand_mul" => "Multiply, a value for each row": ROW_EXPAND, op: Some(&pto::TROWEXPANDMUL);
    "row_expand_div" => "Divide, a value for each row": ROW_EXPAND, op: Some(&pto::TROWEXPANDDIV);
    "row_expand_max" => "Larger, a value for each row": ROW_EXPAND, op: Some(&pto::TROWEXPANDMAX);
    "row_expand_min" => "Smaller, a value for each row": ROW_EXPAND, op: Some(&pto::TROWEXPANDMIN);
    "row_expand_expdif" => "Exponential of a difference, a value for each row": ROW_EXPAND,
        op: Some(&pto::TROWEXPANDEXPDIF);
    "col_expand_add" => "Add, a value for each column": COL_EXPAND, op: Some(&pto::TCOLEXPANDADD);
    "col_expand_sub" => "Subtract, a value for each column": COL_EXPAND, op: Some(&pto::TCOLEXPANDSUB);
    "col_expand_mul" => "Multiply, a value for each column": COL_EXPAND, op: Some(&pto::TCOLEXPANDMUL);
    "col_expand_div" => "Divide, a value for each column": COL_EXPAND, op: Some(&pto::TCOLEXPANDDIV);
    "col_expand_max" => "Larger, a value for each column": COL_EXPAND, op: Some(&pto::TCOLEXPANDMAX);
    "col_expand_min" => "Smaller, a value for each column": COL_EXPAND, op: Some(&pto::TCOLEXPANDMIN);
    "col_expand_expdif" => "Exponential of a difference, a value for each column": COL_EXPAND,
        op: Some(&pto::TCOLEXPANDEXPDIF);
}

/// The mean of each row: the sum times a constant.
fn row_mean(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    mean(lower, call, [false, true])
}

fn col_mean(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    mean(lower, call, [true, false])
}

fn mean(lower: &mut Lower<'_>, call: &Call, axes: [bool; 2]) -> Lowered {
    let source = vector(lower, call, "x")?;
    let tile = lower.tile(source).clone();
    let elem = tile.ty.layout.elem;
    if !elem.is_float() {
        let name = crate::dtype::DType::Elem(elem).name();
        let error = Diagnostic::error("argument", call.span, format!("a mean of {name} elements"))
            .help("convert them first: `pl.cast(x, pl.FP32)`");
        return Err(lower.report(error));
    }
    let (rows, cols) = crate::value::fold(&tile.shape);
    let (at, count) = if axes[0] { (0, rows) } else { (1, cols) };
    // In a tail, only the reduced rows or columns may be partially valid.
    if tile.valid.is_some_and(|valid| valid[at] != crate::value::Index::Known(count as i64)) {
        lower.wholly_valid(source, "a mean", call.span)?;
    }
    let sum = reduced(lower, call, axes, None)?;
    let part = Value::Const(crate::value::Const::Float(1.0 / count as f64));
    lower.call_by_name("mul", vec![sum, part], call.span)
}

fn rows(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    reduced(lower, call, [false, true], None)
}

fn columns(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    reduced(lower, call, [true, false], None)
}

fn row_indices(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    reduced(lower, call, [false, true], Some(Elem::I32))
}

fn column_indices(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    reduced(lower, call, [true, false], Some(Elem::I32))
}

/// Reduces the marked axes to one position; the results have another type if one is given.
fn reduced(lower: &mut Lower<'_>, call: &Call, axes: [bool; 2], elem: Option<Elem>) -> Lowered {
    let source = vector(lower, call, "x")?;
    let model = lower.tile(source).clone();
    let (rows, cols) = crate::value::fold(&model.shape);
    let shape = if axes[0] { [1, cols] } else { [rows, 1] };
    let elem = elem.unwrap_or(model.ty.layout.elem);
    let mut operands = vec![("src", source)];
    if let Some((value, span)) = call.get("tmp_tile").cloned() {
        operands.push(("tmp", lower.demand(&value, Space::Vec, span)?));
    } else if call.op().wants_tmp {
        let layout = model.ty.layout;
        let needed = u64::from(call.op().working.rows_for(layout, [rows, cols]));
        let shape = if needed > u64::from(layout.rows) { &[needed, cols][..] } else { &model.shape };
        let tmp = lower.new_tile(shape, layout.elem, Space::Vec, "tmp");
        operands.push(("tmp", tmp));
    }
    let target = lower.tile_valid_like(source, &shape, elem, axes.map(|reduced| !reduced), call.entry.names[0]);
    // With working memory the rows are added in pairs, as in the public compiler.
    let pairs = std::ptr::eq(call.op(), &pto::TCOLSUM) && operands.len() > 1;
    let attrs = [("isBinary", Attr::Bool(true))];
    emit_with(lower, call.op(), &operands, target, if pairs { &attrs } else { &[] });
    Ok(Value::Tile(target))
}

fn expand(lower: &mut Lower<'_>, call: &Call, by_row: bool) -> Lowered {
    let source = vector(lower, call, "x")?;
    let values = vector(lower, call, "values")?;
    let (x, v) = (lower.tile(source).clone(), lower.tile(values).clone());
    let ((rows, cols), (v_rows, v_cols)) = (crate::value::fold(&x.shape), crate::value::fold(&v.shape));
    let fits = if by_row { v_rows == rows && v_cols == 1 } else { v_cols == cols && v_rows == 1 };
    if !fits {
        let (name, wanted) = (call.entry.names[0], if by_row { [rows, 1] } else { [1, cols] });
        let message =
            format!("`pl.{name}` of a tile {} takes values {}, not {}", show(&x.shape), show(&wanted), show(&v.shape));
        let error = Diagnostic::error("shapes", call.span, message).also(x.span, "the tile").also(v.span, "the values");
        return Err(lower.report(error));
    }
    let mut operands = vec![("src0", source), ("src1", values)];
    if call.op().schema.operands.iter().any(|own| own.name == "tmp") {
        if let Some((tmp, span)) = call.get("tmp").cloned() {
            let Value::Tile(_) = tmp else { return Err(call.wrong(lower, "tmp", "a tile", &tmp, span)) };
            operands.push(("tmp", lower.demand(&tmp, Space::Vec, span)?));
        }
    } else {
        call.idle_memory(lower, "tmp", "this instruction needs no working memory")?;
    }
    Ok(Value::Tile(like(lower, call, source, &operands)))
}
