//! Maps types of C++ to types of the program.

use slipring_ir::{Dim, Sign, TileType, Type};
use slipring_tile::{BLayout, Elem, Layout, SLayout, Space};

use crate::tree::{Node, inside, name, template};

/// A numeric type of C++.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Number {
    Bool,
    /// Number of bits, and whether it is signed.
    Int(u16, bool),
    Float(Elem),
}

impl Number {
    pub const I32: Number = Number::Int(32, true);
    pub const I64: Number = Number::Int(64, true);

    /// The type of its values in arithmetic: integers are signless there, and ops determine the signedness.
    pub fn ty(self) -> Type {
        match self {
            Number::Bool => Type::I1,
            Number::Int(width, _) => Type::Int { width, sign: Sign::Signless },
            Number::Float(elem) => Type::Float(elem),
        }
    }

    /// Its type as an element of memory.
    pub fn element_type(self) -> Type {
        match self {
            Number::Int(width, false) => Type::Int { width, sign: Sign::Unsigned },
            other => other.ty(),
        }
    }

    /// The integer of this width that has a sign.
    pub fn with_a_sign(self) -> Number {
        match self {
            Number::Int(width, _) => Number::Int(width, true),
            other => other,
        }
    }

    pub fn of(elem: Elem) -> Number {
        match elem {
            Elem::I8 => Number::Int(8, true),
            Elem::I16 => Number::Int(16, true),
            Elem::I32 => Number::I32,
            Elem::I64 => Number::I64,
            Elem::U8 => Number::Int(8, false),
            Elem::U16 => Number::Int(16, false),
            Elem::U32 => Number::Int(32, false),
            Elem::U64 => Number::Int(64, false),
            float => Number::Float(float),
        }
    }

    pub fn elem(self) -> Option<Elem> {
        self.element_type().elem()
    }
}

/// Names of numeric types.
const NUMBERS: &[(&str, Number)] = &[
    ("bool", Number::Bool),
    ("int8_t", Number::Int(8, true)),
    ("int16_t", Number::Int(16, true)),
    ("int32_t", Number::I32),
    ("int64_t", Number::I64),
    ("uint8_t", Number::Int(8, false)),
    ("uint16_t", Number::Int(16, false)),
    ("uint32_t", Number::Int(32, false)),
    ("uint64_t", Number::Int(64, false)),
    ("int", Number::I32),
    ("unsigned", Number::Int(32, false)),
    ("size_t", Number::Int(64, false)),
    ("float", Number::Float(Elem::F32)),
    ("half", Number::Float(Elem::F16)),
    ("bfloat16_t", Number::Float(Elem::BF16)),
    ("float8_e4m3_t", Number::Float(Elem::F8E4M3)),
    ("float8_e5m2_t", Number::Float(Elem::F8E5M2)),
    ("float8_e8m0_t", Number::Float(Elem::F8E8M0)),
    ("hifloat8_t", Number::Float(Elem::HiF8)),
    ("float4_e2m1x2_t", Number::Float(Elem::F4E2M1x2)),
    ("float4_e1m2x2_t", Number::Float(Elem::F4E1M2x2)),
];

/// The C++ name of an element type, if it has one.
pub fn element_name(elem: Elem) -> Option<&'static str> {
    NUMBERS.iter().find(|(_, number)| number.elem() == Some(elem)).map(|(name, _)| *name)
}

/// The C++ names of all element types that have one.
pub fn element_names() -> Vec<&'static str> {
    let first = |(name, number): &&(&'static str, Number)| number.elem().and_then(element_name) == Some(*name);
    NUMBERS.iter().filter(first).map(|(name, _)| *name).collect()
}

/// The numeric type that a type node denotes.
pub(crate) fn number(text: &str, node: Node<'_>) -> Option<Number> {
    let own = name(text, inside(node));
    NUMBERS.iter().find(|(name, _)| *name == own).map(|(_, number)| *number)
}

/// The element type that a type node denotes.
pub(crate) fn elem(text: &str, node: Node<'_>) -> Option<Elem> {
    number(text, node)?.elem()
}

/// Parses an integer literal: `-1`, `16`, `0x10`, `1024u`.
pub(crate) fn integer(text: &str) -> Option<i64> {
    let (text, negative) = match text.trim().strip_prefix('-') {
        Some(rest) => (rest.trim(), true),
        None => (text.trim(), false),
    };
    let digits: String = text.trim_end_matches(['u', 'U', 'l', 'L']).chars().filter(|c| *c != '\'').collect();
    let value = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok()? as i64,
        None if digits.len() > 1 && digits.starts_with('0') => return None,
        None => digits.parse::<u64>().ok()? as i64,
    };
    Some(if negative { value.wrapping_neg() } else { value })
}

/// The value and the type of an integer literal: the first type of those that its suffix permits which holds the value
/// without its sign. Only literals in base 16 become unsigned by their size.
pub(crate) fn literal(text: &str) -> Option<(i64, Number)> {
    // The grammar takes a sign as a part of the literal.
    if let Some(rest) = text.trim().strip_prefix('-') {
        let (value, number) = literal(rest.trim())?;
        let negated = value.wrapping_neg();
        return Some((if number == Number::Int(32, false) { i64::from(negated as u32) } else { negated }, number));
    }
    let (value, lower) = (integer(text)?, text.to_ascii_lowercase());
    let (long, unsigned, base_16) = (lower.contains('l'), lower.contains('u'), lower.starts_with("0x"));
    let bits = 64 - value.cast_unsigned().leading_zeros();
    let (width, signed) = [(32, true), (32, false), (64, true), (64, false)].into_iter().find(|(width, signed)| {
        let permitted = if *signed { !unsigned } else { unsigned || base_16 };
        permitted && !(long && *width == 32) && bits <= u32::from(*width) - u32::from(*signed)
    })?;
    Some((value, Number::Int(width, signed)))
}

/// A member of an enumeration: `TileType::Vec`.
pub(crate) fn member<'t>(text: &'t str, node: Node<'_>, of: &str) -> Option<&'t str> {
    name(text, inside(node)).strip_prefix(of)?.strip_prefix("::")
}

/// A boolean template argument.
pub(crate) fn flag_word(text: &str, node: Node<'_>) -> Option<bool> {
    match &text[inside(node).byte_range()] {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// A dimension: `-1` is dynamic.
fn dim(text: &str, node: Node<'_>) -> Option<Dim> {
    match integer(&text[inside(node).byte_range()])? {
        -1 => Some(Dim::Dynamic),
        n => u64::try_from(n).ok().map(Dim::Static),
    }
}

fn space(word: &str) -> Option<Space> {
    match word {
        "ScaleLeft" => Some(Space::LeftScale),
        "ScaleRight" => Some(Space::RightScale),
        word => Space::NAMED.into_iter().find(|space| *space != Space::Gm && space.name().eq_ignore_ascii_case(word)),
    }
}

/// `Tile<TileType::Vec, float, 8, 64, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512, PadValue::Null,
/// CompactMode::Null>`; everything after the columns is optional.
pub(crate) fn tile(text: &str, node: Node<'_>) -> Option<TileType> {
    let (name, given) = template(text, node);
    if name != "Tile" || !(4..=11).contains(&given.len()) {
        return None;
    }
    let place = |n: usize| given.get(n).copied();
    let size = |n: usize| integer(&text[inside(given[n]).byte_range()]).and_then(|n| u32::try_from(n).ok());
    let (rows, cols) = (size(2)?, size(3)?);
    let blayout = match place(4) {
        None => BLayout::RowMajor,
        Some(node) => match member(text, node, "BLayout")? {
            "RowMajor" => BLayout::RowMajor,
            "ColMajor" => BLayout::ColMajor,
            _ => return None,
        },
    };
    let valid = |n: usize, whole: u32| place(n).map_or(Some(Dim::Static(whole.into())), |node| dim(text, node));
    let slayout = match place(7) {
        None => SLayout::NoneBox,
        Some(node) => match member(text, node, "SLayout")? {
            "NoneBox" => SLayout::NoneBox,
            "RowMajor" => SLayout::RowMajor,
            "ColMajor" => SLayout::ColMajor,
            _ => return None,
        },
    };
    let fractal = if given.len() > 8 { size(8)? } else { 512 };
    let of = |n: usize, kind: &str, members: &[&str]| match place(n) {
        None => Some(0),
        Some(node) => members.iter().position(|m| Some(*m) == member(text, node, kind)).map(|n| n as u8),
    };
    let space = space(member(text, given[0], "TileType")?)?;
    let layout = Layout { elem: elem(text, given[1])?, rows, cols, blayout, slayout, fractal };
    // C++ has a name for each memory of scales; any other layout cannot be written.
    if TileType::memory(space, &layout) != Some(space) {
        return None;
    }
    Some(TileType {
        space,
        layout,
        valid: [valid(5, rows)?, valid(6, cols)?],
        pad: of(9, "PadValue", &["Null", "Zero", "Max", "Min"])?,
        compact: of(10, "CompactMode", &["Null", "Normal", "RowPlusOne"])?,
    })
}

/// `Shape<1, 1, 1, 8, 512>` or `Stride<…>`.
pub(crate) fn extents(text: &str, node: Node<'_>, of: &str) -> Option<Vec<Dim>> {
    let (name, args) = template(text, node);
    let dims: Option<Vec<Dim>> = args.iter().map(|node| dim(text, *node)).collect();
    dims.filter(|dims| name == of && (1..=5).contains(&dims.len()))
}
