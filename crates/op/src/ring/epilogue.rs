//! Conversions of the fixpipe on tiles on their way from the accumulator into a pipe: layout, element type, ReLU.
//!
//! The epilogue belongs to the pipe, and both ends declare the same one. The scale belongs to the pushes: each uses the
//! one that the last op before it in its block gave to the pipe.

use slipring_effect::Payload;
use slipring_tile::{BLayout, Elem, SLayout};

use super::words;

/// A conversion of element types.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Quant {
    pub(crate) name: &'static str,
    /// Elements of the accumulator.
    pub(crate) from: &'static [Elem],
    /// Elements of the popped tile; empty if they are those of the accumulator.
    pub(crate) to: &'static [Elem],
    /// The kind of scale.
    pub(crate) scale: Option<Payload>,
    /// True if only platforms with [`Capability::ColumnScaledFloats`] support it.
    pub(crate) newer: bool,
}

pub(crate) const fn quant(
    name: &'static str,
    from: &'static [Elem],
    to: &'static [Elem],
    scale: Option<Payload>,
    newer: bool,
) -> Quant {
    Quant { name, from, to, scale, newer }
}

const F32: &[Elem] = &[Elem::F32];
const I32: &[Elem] = &[Elem::I32];
const SCALAR: Option<Payload> = Some(Payload::Scalar);
const TABLE: Option<Payload> = Some(Payload::Table);

const QUANTS: [Quant; 15] = [
    quant("no_convert", &[Elem::F32, Elem::I32], &[], None, false),
    quant("f32_f16", F32, &[Elem::F16], None, false),
    quant("f32_bf16", F32, &[Elem::BF16], None, false),
    quant("req8_scalar", I32, &[Elem::I8, Elem::U8], SCALAR, false),
    quant("req8_vec", I32, &[Elem::I8], TABLE, false),
    quant("deqf16_scalar", I32, &[Elem::F16], SCALAR, false),
    quant("deqf16_vec", I32, &[Elem::F16], TABLE, false),
    quant("qf322b8_pre_scalar", F32, &[Elem::I8, Elem::U8], SCALAR, false),
    quant("qf322b8_pre_vec", F32, &[Elem::I8], TABLE, false),
    quant("qf322f16_pre_scalar", F32, &[Elem::F16], SCALAR, false),
    quant("qf322bf16_pre_scalar", F32, &[Elem::BF16], SCALAR, false),
    quant("qs322bf16_pre_scalar", I32, &[Elem::BF16], SCALAR, true),
    quant("qs322bf16_pre_vec", I32, &[Elem::BF16], TABLE, true),
    quant("qf322hif8_pre_scalar", F32, &[Elem::HiF8], SCALAR, true),
    quant("qf322fp8_pre_scalar", F32, &[Elem::F8E4M3], SCALAR, true),
];

/// Layouts: name, and the layout of the popped tile.
pub(crate) const LAYOUTS: [(&str, BLayout, SLayout); 3] = [
    ("nz2nd", BLayout::RowMajor, SLayout::NoneBox),
    ("nz2dn", BLayout::ColMajor, SLayout::NoneBox),
    ("nz2nz", BLayout::ColMajor, SLayout::RowMajor),
];

const RELUS: [&str; 2] = ["no_relu", "normal_relu"];

/// The conversions on the tiles of a pipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Epilogue {
    pub(crate) quant: &'static Quant,
    /// Index into [`LAYOUTS`].
    pub(crate) layout: usize,
    pub(crate) relu: bool,
}

impl std::fmt::Display for Epilogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (layout, relu) = (LAYOUTS[self.layout].0, RELUS[usize::from(self.relu)]);
        write!(f, "layout = {layout}, quant = {}, relu = {relu}", self.quant.name)
    }
}

impl Epilogue {
    /// True if pushed values become 8-bit integers.
    pub fn makes_bytes(&self) -> bool {
        self.quant.to.contains(&Elem::I8)
    }

    pub(crate) fn read(text: &str) -> Result<Epilogue, String> {
        let name = words::EPILOGUE;
        let inside = text
            .strip_prefix("#pto")
            .and_then(|rest| rest.trim_start_matches(['.', '<', ' ']).strip_prefix(name))
            .map(|rest| rest.trim_matches(|c: char| c.is_whitespace() || matches!(c, '<' | '>')))
            .ok_or_else(|| format!("`{name}` is `#pto.{name}<…>`, not `{text}`"))?;
        let parts: Vec<_> = inside.split(',').map(str::trim).collect();
        let [layout, quant, relu] = parts[..] else {
            return Err(format!("`{name}` says `layout = …, quant = …, relu = …`, in this order"));
        };
        let member = |text: &str, what: &str, known: &[&str]| {
            let value = text.split_once('=').filter(|(key, _)| key.trim() == what).map(|(_, value)| value.trim());
            let value = value.ok_or_else(|| format!("`{name}` says `{what} = …` here, not `{text}`"))?;
            let at = known.iter().position(|known| *known == value);
            at.ok_or_else(|| format!("`{what}` is one of {}, not `{value}`", known.join(", ")))
        };
        Ok(Epilogue {
            layout: member(layout, "layout", &LAYOUTS.map(|layout| layout.0))?,
            quant: &QUANTS[member(quant, "quant", &QUANTS.each_ref().map(|quant| quant.name))?],
            relu: member(relu, "relu", &RELUS)? == 1,
        })
    }
}
