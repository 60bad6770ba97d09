//! Comparisons, and selections by masks.

use super::*;

/// A comparison by its name: 1 where it holds.
pub(super) fn compared(args: &Args) -> Eval {
    let (mut a, b) = (args.array(0, "lhs")?, args.need(1, "rhs")?);
    let others = match &b {
        Value::Array(b) => {
            let shape = together(&a.shape, &b.shape)?;
            a = repeated(&a, &shape)?;
            repeated(b, &shape)?.values()
        }
        number => vec![scalar(number, a.elem)?; a.count()],
    };
    let how = match args.need(2, "cmp_type")? {
        Value::Int(n) => ["eq", "ne", "lt", "le", "gt", "ge"].get(n as usize).ok_or("no comparison")?.to_string(),
        word => word.member()?.to_string(),
    };
    let holds: fn(f64, f64) -> bool = match how.as_str() {
        "eq" => |x, y| x == y,
        "ne" => |x, y| x != y,
        "lt" => |x, y| x < y,
        "le" => |x, y| x <= y,
        "gt" => |x, y| x > y,
        "ge" => |x, y| x >= y,
        other => return Err(format!("no comparison: {other}")),
    };
    let values = a.values().into_iter().zip(others).map(|(x, y)| f64::from(u8::from(holds(x, y)))).collect();
    Ok(Value::Array(Array::new(&a.shape, a.elem, values)))
}

/// Unpacks bits of integers, lowest first, to ones and zeros; the result of a comparison is returned unchanged, as it
/// already has this form.
fn unpacked(mask: Array, like: &Array) -> Array {
    let compared = mask.shape == like.shape && mask.values().iter().all(|x| *x == 0.0 || *x == 1.0);
    // A single compared row applies to all rows.
    let row = mask.rows_cols() == [1, like.rows_cols()[1]];
    if row && let Ok(all) = repeated(&mask, &like.shape) {
        return all;
    }
    if mask.elem.is_float() || compared {
        return mask;
    }
    let (width, [rows, cols]) = (8 * mask.elem.bytes(), like.rows_cols());
    let lines = mask.rows();
    let bit = |row: usize, col: usize| (lines[row][col / width] as i64) >> (col % width) & 1;
    let bits = (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col)));
    Array::new(&like.shape, mask.elem, bits.map(|(row, col)| bit(row, col) as f64).collect())
}

/// The elements of one operand where a mask holds, else those of the other.
pub(super) fn selected(name: &str, args: &Args) -> Eval {
    let public = name == "sels" && args.get(1, "src").is_some();
    let number = |value: &Value| !matches!(value, Value::Array(_));
    let a = args.need(1, if args.get(1, "lhs").is_some() { "lhs" } else { "src" })?;
    // The scratch tile comes before or after the number.
    let b = match (args.get(3, "scalar").filter(number), args.get(2, "rhs")) {
        (Some(last), _) if public => last,
        (_, second) => second.ok_or("no second choice")?,
    };
    let mask = args.array(0, "mask")?;
    match a.array().or_else(|_| b.array()) {
        Ok(like) => chosen(&unpacked(mask, &like), &a, &b),
        Err(_) => chosen(&mask, &a, &b),
    }
}

/// The elements of `a` where a mask holds, else those of `b`. Numbers have the type of the other operand, or of the
/// mask.
pub fn chosen(mask: &Array, a: &Value, b: &Value) -> Eval {
    // Two numbers with at least one float give floats.
    let is_float = |value: &Value| matches!(value, Value::Float(_) | Value::Single(_));
    let of_mask = if is_float(a) || is_float(b) { Elem::F32 } else { mask.elem };
    let of_mask = if mask.elem.is_float() { mask.elem } else { of_mask };
    let elem = a.array().or_else(|_| b.array()).map_or(of_mask, |array| array.elem);
    let side = |value: &Value| match value {
        Value::Array(array) => Ok(array.values()),
        number => Ok::<_, String>(vec![scalar(number, elem)?; mask.count()]),
    };
    let pick = |((mask, x), y): ((f64, f64), f64)| if mask == 0.0 { y } else { x };
    let values = mask.values().into_iter().zip(side(a)?).zip(side(b)?).map(pick).collect();
    Ok(Value::Array(Array::new(&mask.shape, elem, values)))
}
