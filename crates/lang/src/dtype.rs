//! Element types by their names in the language.

use slipring_ir::{Sign, Type};
use slipring_tile::Elem;

/// Names and types: `pl.FP32` …
pub(crate) const DTYPES: &[(&str, DType)] = &[
    ("FP32", DType::Elem(Elem::F32)),
    ("FP16", DType::Elem(Elem::F16)),
    ("BF16", DType::Elem(Elem::BF16)),
    ("BFLOAT16", DType::Elem(Elem::BF16)),
    ("FP8E4M3FN", DType::Elem(Elem::F8E4M3)),
    ("FP8E5M2", DType::Elem(Elem::F8E5M2)),
    ("FP8E8M0", DType::Elem(Elem::F8E8M0)),
    ("HF8", DType::Elem(Elem::HiF8)),
    ("INT8", DType::Elem(Elem::I8)),
    ("INT16", DType::Elem(Elem::I16)),
    ("INT32", DType::Elem(Elem::I32)),
    ("INT64", DType::Elem(Elem::I64)),
    ("UINT8", DType::Elem(Elem::U8)),
    ("UINT16", DType::Elem(Elem::U16)),
    ("UINT32", DType::Elem(Elem::U32)),
    ("UINT64", DType::Elem(Elem::U64)),
    ("INDEX", DType::Index),
    ("BOOL", DType::Bool),
];

/// The element types by their names in the language, and the bytes that an element takes: what `get_byte` gives.
pub fn type_bytes() -> impl Iterator<Item = (&'static str, i64)> {
    DTYPES.iter().map(|(name, ty)| (*name, ty.bytes()))
}

/// A type of scalars or elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DType {
    /// A type that tiles can have.
    Elem(Elem),
    /// The type of offsets and counters.
    Index,
    /// Booleans.
    Bool,
}

impl DType {
    /// Its name in the language.
    pub fn name(self) -> &'static str {
        DTYPES.iter().find(|(_, ty)| *ty == self).map_or("?", |(name, _)| name)
    }

    /// Bytes that an element takes.
    pub fn bytes(self) -> i64 {
        match self {
            DType::Elem(elem) => elem.bytes() as i64,
            DType::Index => 8,
            DType::Bool => 1,
        }
    }

    /// The scalar type in the module.
    pub fn ir(self) -> Type {
        match self {
            DType::Index => Type::Index,
            DType::Bool => Type::I1,
            DType::Elem(elem) => scalar_type(elem),
        }
    }

    /// The type of such elements in memory: booleans are bytes with values 0 and 1; offsets and counters have 64 bits.
    pub fn stored(self) -> Option<Elem> {
        match self {
            DType::Elem(elem) => Some(elem),
            DType::Bool => Some(Elem::U8),
            DType::Index => Some(Elem::I64),
        }
    }

    /// True for unsigned integers and booleans.
    pub fn is_unsigned(self) -> bool {
        match self {
            DType::Elem(elem) => !elem.is_float() && !elem.is_signed_int(),
            DType::Bool => true,
            DType::Index => false,
        }
    }

    /// True for floats.
    pub fn is_float(self) -> bool {
        matches!(self, DType::Elem(elem) if elem.is_float())
    }
}

/// The scalar type for an element type.
pub(crate) fn scalar_type(elem: Elem) -> Type {
    if elem.is_float() {
        return Type::Float(elem);
    }
    let signed = elem.is_signed_int();
    Type::Int { width: elem.bytes() as u16 * 8, sign: if signed { Sign::Signless } else { Sign::Unsigned } }
}

/// The name of a type with its article: `an INT32`, `an FP32`, `a UINT32`.
pub(crate) fn with_article(name: &str) -> String {
    let vowel = name.starts_with(['A', 'E', 'F', 'I', 'O', 'a', 'e', 'f', 'i', 'o']);
    format!("{} {name}", if vowel { "an" } else { "a" })
}

/// Element types by their names in torch and numpy.
const TYPES: &[(&str, Elem)] = &[
    ("float32", Elem::F32),
    ("float", Elem::F32),
    ("float16", Elem::F16),
    ("half", Elem::F16),
    ("bfloat16", Elem::BF16),
    ("float8_e4m3fn", Elem::F8E4M3),
    ("float8_e5m2", Elem::F8E5M2),
    ("int8", Elem::I8),
    ("int16", Elem::I16),
    ("int32", Elem::I32),
    ("int", Elem::I32),
    ("int64", Elem::I64),
    ("long", Elem::I64),
    ("uint8", Elem::U8),
    ("uint16", Elem::U16),
    ("uint32", Elem::U32),
    ("uint64", Elem::U64),
];

/// The element type of this name in libraries of arrays.
pub(crate) fn elem_named(name: &str) -> Option<Elem> {
    TYPES.iter().find(|(word, _)| *word == name).map(|(_, elem)| *elem)
}

/// The name of an element type in libraries of arrays.
pub(crate) fn array_name(elem: Elem) -> Option<&'static str> {
    TYPES.iter().find(|(_, own)| *own == elem).map(|(name, _)| *name)
}
