//! Arrays of numbers: one number for each element, which loops and branches carry like others. If an index is only
//! known at run time, every element is inspected.

use super::entry::{Call, ENTRY, entries};
use crate::dtype::DType;
use crate::lower::{Lower, Lowered};
use crate::value::{Const, Value};
use crate::words::{Means, followed_as, followed_with};

/// The maximum number of elements of an array.
const MOST: i64 = 256;

entries! {
    "array.create" =>
        "An array of numbers, zeros at first; of ids of tasks: nothing, since scopes run in the order of the text":
        ENTRY, params: "extent/size, dtype", lower: create,
        followed: followed_with("extent/size/n, dtype=", Means::Array);
    "array.get_element" => "An element of an array, as `array[index]`": ENTRY, params: "array, index",
        lower: |lower, call| {
            let ((array, _), (index, _)) = (call.need(lower, "array")?, call.need(lower, "index")?);
            match array {
                Value::Tuple(items) => lower.array_element(&items, &index, call.span),
                other => Err(call.wrong(lower, "array", "an array", &other, call.span)),
            }
        }, followed: followed_as(Means::Element);
    "array.update_element" => "An array with another element at a place, as `array[index] = value`": ENTRY,
        params: "array, index, value",
        lower: |lower, call| {
            let ((array, _), (index, _)) = (call.need(lower, "array")?, call.need(lower, "index")?);
            let (value, _) = call.need(lower, "value")?;
            match array {
                Value::Tuple(items) => lower.with_element(&items, &index, &value, call.span),
                other => Err(call.wrong(lower, "array", "an array", &other, call.span)),
            }
        };
}

fn create(lower: &mut Lower<'_>, call: &Call) -> Lowered {
    let ty = match call.need(lower, "dtype")? {
        (Value::Path(path), _) if &*path == "pl.TASK_ID" => return Ok(Value::Nothing),
        (Value::Const(Const::DType(ty)), _) => ty,
        (other, span) => return Err(call.wrong(lower, "dtype", "a type of numbers", &other, span)),
    };
    let extent = call.int(lower, "extent")?.unwrap_or(0);
    if !(1..=MOST).contains(&extent) {
        return Err(lower.error("argument", call.span, format!("an array has 1 to {MOST} elements, not {extent}")));
    }
    let zero = match ty {
        DType::Bool => Const::Bool(false),
        _ => Const::Int(0),
    };
    let zero = lower.number(&Value::Const(zero), ty, call.span)?;
    let zero = lower.scalar(zero, ty);
    Ok(Value::Tuple(vec![zero; extent as usize].into()))
}
