//! Comparisons, and what masks choose.

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

/// The elements of one side where a mask holds, else those of the other.
pub(super) fn selected(name: &str, args: &Args) -> Eval {
    let public = name == "sels" && args.get(1, "src").is_some();
    let number = |value: &Value| !matches!(value, Value::Array(_));
    let a = args.need(1, if args.get(1, "lhs").is_some() { "lhs" } else { "src" })?;
    // Working memory stands before or behind the number.
    let b = match (args.get(3, "scalar").filter(number), args.get(2, "rhs")) {
        (Some(last), _) if public => last,
        (_, second) => second.ok_or("no second choice")?,
    };
    chosen(&args.array(0, "mask")?, &a, &b)
}

/// The elements of `a` where a mask holds, else those of `b`. Numbers are of the type of the other choice, or of the mask's.
pub fn chosen(mask: &Array, a: &Value, b: &Value) -> Eval {
    let elem = a.array().or_else(|_| b.array()).map_or(mask.elem, |array| array.elem);
    let side = |value: &Value| match value {
        Value::Array(array) => Ok(array.values()),
        number => Ok::<_, String>(vec![scalar(number, elem)?; mask.count()]),
    };
    let pick = |((mask, x), y): ((f64, f64), f64)| if mask == 0.0 { y } else { x };
    let values = mask.values().into_iter().zip(side(a)?).zip(side(b)?).map(pick).collect();
    Ok(Value::Array(Array::new(&mask.shape, elem, values)))
}
