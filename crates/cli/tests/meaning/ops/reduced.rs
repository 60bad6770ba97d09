//! Rows and columns reduced to one element.

use crate::meaning::array::Array;
use crate::meaning::number;
use crate::meaning::ops::Args;
use crate::meaning::value::{Eval, Value};

/// The operation that combines the elements of a reduction.
pub fn combined(what: &str) -> &str {
    match what {
        "sum" => "add",
        "prod" => "mul",
        other => other,
    }
}

/// `row_sum`, `col_max` …
pub fn reduced(args: &Args, rows: bool, what: &str, registers: bool) -> Eval {
    let array = args.array(0, "x")?;
    let ([all_rows, all_cols], lines) = (array.rows_cols(), array.rows());
    let (shape, values) = if rows {
        let mut values = lines
            .iter()
            .map(|row| number::reduce_row(what, array.elem, row, registers))
            .collect::<Option<Vec<f64>>>()
            .ok_or_else(|| format!("{what} of {}", array.elem))?;
        values.resize(all_rows, f64::NAN);
        ([all_rows, 1], values)
    } else {
        // With a scratch tile, rows are added pairwise.
        let pairs = what == "add" && args.get(1, "tmp_tile").or(args.get(1, "tmp")).is_some();
        let column = |col: usize| lines.iter().map(|row| row[col]).collect::<Vec<f64>>();
        let mut values = (0..array.counted()[1])
            .map(|col| match pairs {
                true => number::add_in_pairs(array.elem, column(col), registers),
                false => number::reduce_column(what, array.elem, &column(col), registers),
            })
            .collect::<Option<Vec<f64>>>()
            .ok_or_else(|| format!("{what} of {}", array.elem))?;
        values.resize(all_cols, f64::NAN);
        ([1, all_cols], values)
    };
    let valid = array.valid.map(|[r, c]| if rows { [r, 1] } else { [1, c] });
    Ok(Value::Array(Array { valid, ..Array::new(&shape, array.elem, values) }))
}
