//! Printing of types and attributes: one canonical spelling for each.

use std::fmt;

use slipring_tile::{BLayout, SLayout, Space};

use super::lexer::{escape, is_word};
use super::spelling::OWN;
use crate::text::literal::float_text;
use crate::{Attr, AttrDict, Dim, FuncType, MemRefType, PipeParam, Sign, TileType, Type, ViewType};

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Static(n) => write!(f, "{n}"),
            Dim::Dynamic => f.write_str("?"),
        }
    }
}

fn write_dims(f: &mut fmt::Formatter<'_>, dims: &[Dim]) -> fmt::Result {
    dims.iter().try_for_each(|d| write!(f, "{d}x"))
}

fn write_list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: &[T]) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
    }
    Ok(())
}

impl fmt::Display for FuncType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        write_list(f, &self.inputs)?;
        f.write_str(") -> ")?;
        match self.results.as_slice() {
            [one] if !matches!(one, Type::Function(_)) => write!(f, "{one}"),
            several => {
                f.write_str("(")?;
                write_list(f, several)?;
                f.write_str(")")
            }
        }
    }
}

/// The hardware's name of a space, used in pointers.
fn hardware_name(space: Space) -> &'static str {
    match space {
        Space::Gm => "gm",
        Space::Mat => "l1",
        Space::Left => "l0a",
        Space::Right => "l0b",
        Space::Acc => "l0c",
        Space::Vec => "ub",
        Space::Bias => "bt",
        Space::Scaling => "fb",
        Space::LeftScale => "l0a_scale",
        Space::RightScale => "l0b_scale",
        Space::Spr => "spr",
    }
}

fn write_view(f: &mut fmt::Formatter<'_>, head: &str, view: &ViewType) -> fmt::Result {
    write!(f, "!pto.{head}<")?;
    write_dims(f, &view.dims)?;
    write!(f, "{}>", view.elem)
}

impl fmt::Display for TileType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layout = &self.layout;
        // The layout distinguishes the three memories of scales.
        let space = if self.space.is_scale() { Space::Scaling } else { self.space };
        write!(f, "!pto.tile_buf<{space}, {}x{}x{}", layout.rows, layout.cols, layout.elem)?;
        if self.valid != [Dim::Static(layout.rows.into()), Dim::Static(layout.cols.into())] {
            write!(f, ", valid={}x{}", self.valid[0], self.valid[1])?;
        }
        if layout.blayout == BLayout::ColMajor {
            f.write_str(", blayout=col_major")?;
        }
        match layout.slayout {
            SLayout::NoneBox => {}
            SLayout::RowMajor => f.write_str(", slayout=row_major")?,
            SLayout::ColMajor => f.write_str(", slayout=col_major")?,
        }
        if layout.fractal != 512 {
            write!(f, ", fractal={}", layout.fractal)?;
        }
        if self.pad != 0 {
            write!(f, ", pad={}", self.pad)?;
        }
        if self.compact != 0 {
            write!(f, ", compact={}", self.compact)?;
        }
        f.write_str(">")
    }
}

impl fmt::Display for MemRefType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("memref<")?;
        write_dims(f, &self.dims)?;
        write!(f, "{}", self.elem)?;
        if let Some((strides, offset)) = &self.strides {
            f.write_str(", strided<[")?;
            write_list(f, strides)?;
            f.write_str("]")?;
            if *offset != Dim::Static(0) {
                write!(f, ", offset: {offset}")?;
            }
            f.write_str(">")?;
        }
        if let Some(space) = self.space {
            write!(f, ", #pto.address_space<{space}>")?;
        }
        f.write_str(">")
    }
}

impl fmt::Display for PipeParam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PipeParam::Int(number) => write!(f, "{number}"),
            PipeParam::Word(word) => f.write_str(word),
            PipeParam::Type(ty) => write!(f, "{ty}"),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Index => f.write_str("index"),
            Type::Int { width, sign } => {
                let head = match sign {
                    Sign::Signless => "i",
                    Sign::Signed => "si",
                    Sign::Unsigned => "ui",
                };
                write!(f, "{head}{width}")
            }
            Type::Float(elem) => write!(f, "{elem}"),
            Type::F64 => f.write_str("f64"),
            Type::None => f.write_str("none"),
            Type::Ptr(elem, None) => write!(f, "!pto.ptr<{elem}>"),
            Type::Ptr(elem, Some(space)) => write!(f, "!pto.ptr<{elem}, {}>", hardware_name(*space)),
            Type::TensorView(view) => write_view(f, "tensor_view", view),
            Type::PartitionView(view) => write_view(f, "partition_tensor_view", view),
            Type::TileView(view) => write_view(f, "tile_view", view),
            Type::Tile(tile) => write!(f, "{tile}"),
            Type::ShortTile { elem, rows, cols } => write!(f, "!pto.tile<{elem}, {rows}, {cols}>"),
            Type::MultiTile { slot, count } => write!(f, "!pto.multi_tile_buf<{slot}, count={count}>"),
            Type::VReg(lanes, elem) => write!(f, "!pto.vreg<{lanes}x{elem}>"),
            Type::Mask(bits) => write!(f, "!pto.mask<b{bits}>"),
            Type::LogicalVector(vector) => write!(f, "{vector}"),
            Type::LogicalMask(mask) => write!(f, "{mask}"),
            Type::Align => f.write_str("!pto.align"),
            Type::MemRef(memref) => write!(f, "{memref}"),
            Type::Vector(vector) => {
                f.write_str("vector<")?;
                vector.0.iter().try_for_each(|d| write!(f, "{d}x"))?;
                write!(f, "{}>", vector.1)
            }
            Type::Function(function) => write!(f, "{function}"),
            Type::Pipe(pipe) => {
                f.write_str(if pipe.multi { "!pto.tmpipe<" } else { "!pto.tpipe<" })?;
                write_list(f, &pipe.params)?;
                f.write_str(">")
            }
            // Types of dialects have a dot in their name; builtin ones are written without `!`.
            Type::Named(name) => {
                let head = name.split('<').next().unwrap_or(name);
                write!(f, "{}{name}", if head.contains('.') { "!" } else { "" })
            }
        }
    }
}

/// `@name`, `@"any name"`, `@outer::@inner`.
pub(crate) fn symbol_text(name: &str) -> String {
    let part = |name: &str| {
        let plain = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && {
            is_word(&name.replace('-', "_")) && !name.starts_with('-')
        };
        if plain { format!("@{name}") } else { format!("@{}", escape(name)) }
    };
    name.split("::@").map(part).collect::<Vec<_>>().join("::")
}

impl fmt::Display for Attr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Attr::Unit => f.write_str("unit"),
            Attr::Bool(value) => write!(f, "{value}"),
            Attr::Int(value, Type::I64) => write!(f, "{value}"),
            Attr::Int(value, ty) => write!(f, "{value} : {ty}"),
            Attr::Float(bits, ty) => f.write_str(&float_attr_text(*bits, ty)),
            Attr::Str(text) => f.write_str(&escape(text)),
            Attr::Type(ty) => write!(f, "{ty}"),
            Attr::Symbol(name) => f.write_str(&symbol_text(name)),
            Attr::Array(items) => {
                f.write_str("[")?;
                write_list(f, items)?;
                f.write_str("]")
            }
            Attr::DenseArray(ty, values) if values.is_empty() => write!(f, "array<{ty}>"),
            Attr::DenseArray(ty, values) => {
                write!(f, "array<{ty}: ")?;
                write_list(f, values)?;
                f.write_str(">")
            }
            Attr::Dict(dict) => write!(f, "{dict}"),
            Attr::Enum(kind, member) => write!(f, "#pto.{kind}<{member}>"),
            Attr::Opaque(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for AttrDict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries: Vec<String> = self.iter().map(|(name, attr)| OWN.entry("", name, attr)).collect();
        write!(f, "{{{}}}", entries.join(", "))
    }
}

/// A float with its type, with `f64` omitted.
pub(crate) fn float_attr_text(bits: u64, ty: &Type) -> String {
    let text = float_text(bits, ty);
    if *ty == Type::F64 && !text.starts_with("0x") { text } else { format!("{text} : {ty}") }
}
