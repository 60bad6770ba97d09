//! Arrays of numbers, as immutable lists.

use super::Args;
use crate::meaning::value::{Eval, Value};

/// `pl.array.…`.
pub(super) fn array(name: &str, args: &Args) -> Eval {
    if name == "array.create" {
        return Ok(Value::Tuple(vec![Value::Int(0); args.need(0, "extent")?.int()? as usize]));
    }
    let (list, index) = (args.need(0, "array")?, args.need(1, "index")?);
    match name {
        "array.get_element" => element(&list.items(), &index),
        _ => changed(&list, &index, args.need(2, "value")?),
    }
}

/// An element; negative indices count from the end.
pub fn element(items: &[Value], index: &Value) -> Eval {
    Ok(items[place(items, index)?].clone())
}

/// An array with one element replaced.
pub fn changed(list: &Value, index: &Value, value: Value) -> Eval {
    let mut items = list.items();
    let at = place(&items, index)?;
    items[at] = value;
    Ok(Value::Tuple(items))
}

fn place(items: &[Value], index: &Value) -> Eval<usize> {
    let index = index.int()?;
    let from_the_end = if index < 0 { index + items.len() as i128 } else { index };
    usize::try_from(from_the_end).ok().filter(|at| *at < items.len()).ok_or(format!("no element {index}"))
}
