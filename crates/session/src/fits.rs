//! Whether an argument fits its parameter.

use slipring_program::ParamKind;
use slipring_tile::Elem;

/// A parameter's kind, for messages.
pub(crate) fn kind_name(kind: &ParamKind) -> String {
    match kind {
        ParamKind::Buffer { elem, bytes: Some(bytes) } => format!("buffer of {elem}, {bytes} bytes"),
        ParamKind::Buffer { elem, bytes: None } => format!("buffer of {elem}"),
        ParamKind::Scratch { bytes_per_block } => format!("{bytes_per_block} bytes for each block"),
        ParamKind::Scalar(elem) => elem.to_string(),
        ParamKind::Bool => "i1".into(),
    }
}

/// Known properties of an argument.
pub(crate) struct Known<'a> {
    /// Bytes of a buffer; `None` for a scalar.
    pub bytes: Option<usize>,
    /// Element type, if given.
    pub elem: Option<Elem>,
    /// Shape, if given.
    pub shape: Option<&'a [usize]>,
    /// Whether type and shape describe the data itself, and must be the parameter's.
    pub exact: bool,
    /// The start of a message, which describes the argument.
    pub what: &'a str,
}

/// Why an argument does not fit its parameter, if so.
pub(crate) fn mismatch(arg: &Known<'_>, kind: &ParamKind, shape: Option<&[u64]>) -> Option<String> {
    match (kind, arg.bytes) {
        (ParamKind::Buffer { elem, bytes }, Some(given_bytes)) => {
            let elements = shape.and_then(|dims| dims.iter().try_fold(1u64, |n, dim| n.checked_mul(*dim)));
            let expected = bytes.or(elements.and_then(|n| n.checked_mul(elem.bytes() as u64)));
            let written =
                |dims: &[u64]| format!("{elem}[{}]", dims.iter().map(u64::to_string).collect::<Vec<_>>().join("x"));
            // The shape describes the data only if the argument is exact.
            let own = arg.shape.filter(|_| arg.exact);
            let own = own.map(|dims| dims.iter().map(|dim| *dim as u64).collect::<Vec<u64>>());
            let same = |given: Elem| given == *elem || (arg.exact && same_bits(given, *elem));
            let differs = |own: &Vec<u64>| !arg.elem.is_some_and(same) || shape.is_some_and(|shape| shape != own);
            if let (Some(own), Some(given)) = (own.filter(differs), arg.elem) {
                let own = own.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
                let due = shape.map_or(format!("elements of {elem}"), written);
                return Some(format!("{} {given}[{own}], where {due} is expected", arg.what));
            }
            match (arg.elem, expected) {
                (Some(given), _) if !same(given) => Some(format!("a buffer of {given}, where {elem} is expected")),
                (_, Some(bytes)) if given_bytes as u64 != bytes => {
                    let of = shape.map_or(String::new(), |shape| format!(", {}", written(shape)));
                    Some(format!("{given_bytes} bytes, where {bytes} are expected{of}"))
                }
                _ if !given_bytes.is_multiple_of(elem.bytes()) => {
                    Some(format!("{given_bytes} bytes are not a whole number of {elem} elements"))
                }
                _ => None,
            }
        }
        (ParamKind::Buffer { elem, .. }, None) => Some(format!("a scalar, where a buffer of {elem} is expected")),
        (ParamKind::Scratch { .. }, _) => Some("not passed: the launch allocates it".into()),
        (_, Some(_)) => Some(format!("a buffer, where {} is expected", kind_name(kind))),
        (ParamKind::Scalar(elem), None) => {
            let given = arg.elem.map_or("i1".to_string(), |e| e.to_string());
            let fits = arg.elem.is_some_and(|given| given == *elem || same_bits(given, *elem));
            (!fits).then(|| format!("{given}, where {elem} is expected"))
        }
        (ParamKind::Bool, None) => arg.elem.map(|given| format!("{given}, where i1 is expected (`true` or `false`)")),
    }
}

/// Signed integers where unsigned ones of the same width are expected: host libraries without unsigned types pass them
/// that way.
pub(crate) fn same_bits(given: Elem, expected: Elem) -> bool {
    let integer = |elem: Elem| !elem.is_float() && elem.values() == 1;
    let unsigned = integer(expected) && !expected.is_signed_int();
    unsigned && integer(given) && given.is_signed_int() && given.bytes() == expected.bytes()
}
