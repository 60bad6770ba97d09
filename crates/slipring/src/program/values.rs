//! What tensors hold before the first task, and what predicates find in them.

use slipring_lang::tasks::Predicate;
use slipring_program::zeroed;
use slipring_tile::Elem;

use crate::Error;
use crate::args::{Defaults, Value, read_arg};

/// The value of an element that is a whole number.
fn element(elem: Elem, bytes: &[u8], at: u64) -> i64 {
    let mut wide = [0u8; 8];
    let size = elem.bytes();
    let Some(own) = bytes.get(at as usize..at as usize + size) else { return 0 };
    wide[..size].copy_from_slice(own);
    let raw = i64::from_le_bytes(wide);
    let signed = matches!(elem, Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64);
    let unused = 64 - 8 * size as u32;
    if signed { raw << unused >> unused } else { raw }
}

/// True if a predicate holds for the bytes of its tensor.
pub(super) fn holds(predicate: &Predicate, elem: Elem, bytes: &[u8]) -> bool {
    let value = element(elem, bytes, predicate.offset);
    match predicate.op {
        "==" => value == predicate.number,
        "!=" => value != predicate.number,
        "<" => value < predicate.number,
        "<=" => value <= predicate.number,
        ">" => value > predicate.number,
        _ => value >= predicate.number,
    }
}

/// The bytes of a tensor that the program makes, before its first task.
pub(super) fn first_value(own: &slipring_tasks::Tensor, filled: Option<&str>) -> Result<Vec<u8>, Error> {
    match filled {
        None => zeroed(own.bytes() as usize)
            .map_err(|_| Error::Unsupported(format!("there is no memory for `{}`", own.name))),
        Some(text) => match read_arg(text, &Defaults::default()).map(|arg| arg.value) {
            Ok(Value::Buffer(data)) => Ok(data),
            _ => Err(Error::Arguments(format!("`{text}` is not a first value of `{}`", own.name))),
        },
    }
}
