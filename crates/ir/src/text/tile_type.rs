//! Parsing of tile types.

use slipring_tile::{BLayout, Elem, Layout, SLayout, Space, nearest};

use super::lexer::Tok;
use super::parser::{Parsed, is_unknown, unknown_type};
use crate::declaration::OpParser;
use crate::{Diagnostic, Dim, Span, TileType, Type};

/// Maximum number of rows, and of columns, of a tile.
pub const MOST_EXTENT: u32 = 1 << 24;

/// The parts of a tile type as they are collected.
#[derive(Default)]
struct TileParts {
    space: Option<Space>,
    elem: Option<Elem>,
    rows: Option<u32>,
    cols: Option<u32>,
    valid: [Option<Dim>; 2],
    blayout: Option<BLayout>,
    slayout: Option<SLayout>,
    fractal: Option<u32>,
    pad: Option<u8>,
    compact: Option<u8>,
    /// Only for an array of tiles.
    count: Option<u32>,
}

/// Maximum number of tiles of a `!pto.multi_tile_buf`.
const MOST_TILES: i128 = 16;

/// The paddings of a tile type; their codes are their positions.
pub const PAD_NAMES: [&str; 4] = ["null", "zero", "max", "min"];

const TILE_KEYS: [&str; 12] =
    ["loc", "dtype", "rows", "cols", "v_row", "v_col", "valid", "blayout", "slayout", "fractal", "pad", "compact"];

impl<'a> OpParser<'a> {
    /// An element type.
    pub(super) fn elem(&mut self) -> Parsed<Elem> {
        let word = self.text();
        if let Some(elem) = Elem::parse(word) {
            self.bump();
            return Ok(elem);
        }
        if matches!(word, "i4" | "si4" | "ui4") {
            let message = format!("`{word}`: integers of 4 bits are not modelled as elements of memory");
            let error = Diagnostic::error(crate::Kind::Unsupported, self.span(), message);
            return Err(self.fail(error.help("modes of `pre_quant` whose results have 4 bits are not modelled either")));
        }
        if matches!(word, "vector" | "f64" | "!pto.bf16x2") {
            let message = format!("elements of memory of type `{word}` are not modelled");
            return Err(self.fail(Diagnostic::error(crate::Kind::Unsupported, self.span(), message)));
        }
        let d = self.expectation("an element type");
        let help = match nearest(word, Elem::ALL.map(Elem::name)) {
            Some(near) => format!("is `{near}` meant?"),
            None => format!("one of {}", Elem::ALL.map(Elem::name).join(", ")),
        };
        Err(self.fail(d.help(help)))
    }

    /// Both spellings of a tile type, after the `<`: `vec, 16x64xf32, valid=16x?` and `loc=vec, dtype=f32, …`.
    pub(super) fn tile_type(&mut self, start: Span) -> Parsed<Type> {
        if let (Some(elem), Tok::Comma) = (Elem::parse(self.text()), self.cur.ahead().tok) {
            return self.short_tile(elem);
        }
        let mut parts = TileParts::default();
        self.tile_parts(&mut parts, false)?;
        self.tile_of(&parts, start)
    }

    /// `vec, 16x16xf16, count=2` or `!pto.tile_buf<…>, count=2`, after the `<`.
    pub(super) fn multi_tile_type(&mut self, start: Span) -> Parsed<Type> {
        let mut parts = TileParts::default();
        let ty = if self.cur.tok == Tok::Bang {
            let ty = self.nested(|p| p.parse_type())?;
            self.expect(Tok::Comma, "`,` and `count=`")?;
            self.expect_text("count")?;
            self.expect(Tok::Equal, "`=`")?;
            parts.count = Some(self.tile_count()?);
            self.expect(Tok::Greater, "`>`")?;
            ty
        } else {
            self.tile_parts(&mut parts, true)?;
            self.tile_of(&parts, start)?
        };
        match (ty, parts.count) {
            (Type::Tile(slot), Some(count)) => Ok(Type::MultiTile { slot, count }),
            (Type::Tile(_), None) => {
                let d = Diagnostic::error("type", self.span_from(start), "how many tiles there are is missing");
                Err(self.fail(d.help("write `!pto.multi_tile_buf<vec, 16x64xf32, count=2>`")))
            }
            (other, _) if is_unknown(&other) => Ok(other),
            _ => Err(self.error("type", self.span_from(start), "several tiles are of a tile type")),
        }
    }

    fn tile_count(&mut self) -> Parsed<u32> {
        let start = self.span();
        let n = self.integer()?;
        match u32::try_from(n) {
            Ok(count) if (2..=MOST_TILES).contains(&n) => Ok(count),
            _ => Err(self.error("type", self.span_from(start), format!("`count` is 2 to {MOST_TILES}, not {n}"))),
        }
    }

    /// The contents between `<` and `>`.
    fn tile_parts(&mut self, parts: &mut TileParts, several: bool) -> Parsed<()> {
        let mut seen: Vec<&'a str> = Vec::new();
        self.list_until(Tok::Greater, "`>`", |p| {
            let (key, span) = (p.text(), p.span());
            if p.cur.tok != Tok::Word || p.cur.ahead().tok != Tok::Equal {
                return p.tile_position(parts);
            }
            if seen.contains(&key) {
                return Err(p.error("type", span, format!("`{key}` is given twice")));
            }
            seen.push(key);
            p.bump();
            p.bump();
            if several && key == "count" {
                parts.count = Some(p.tile_count()?);
                return Ok(());
            }
            p.tile_key(parts, key, span)
        })
    }

    /// The type made from the parts.
    fn tile_of(&mut self, parts: &TileParts, start: Span) -> Parsed<Type> {
        let missing = [
            ("the memory space", parts.space.is_none()),
            ("the element type", parts.elem.is_none()),
            ("the number of rows", parts.rows.is_none()),
            ("the number of columns", parts.cols.is_none()),
        ];
        if let Some((what, _)) = missing.into_iter().find(|(_, missing)| *missing) {
            let d = Diagnostic::error("type", self.span_from(start), format!("{what} of the tile is missing"));
            return Err(self.fail(d.help("write `!pto.tile_buf<vec, 16x64xf32>`")));
        }
        let (Some(space), Some(elem), Some(rows), Some(cols)) = (parts.space, parts.elem, parts.rows, parts.cols)
        else {
            return Ok(unknown_type());
        };
        let layout = Layout {
            elem,
            rows,
            cols,
            blayout: parts.blayout.unwrap_or(BLayout::RowMajor),
            slayout: parts.slayout.unwrap_or(SLayout::NoneBox),
            fractal: parts.fractal.unwrap_or(512),
        };
        let Some(space) = TileType::memory(space, &layout) else {
            let d = Diagnostic::error("type", self.span_from(start), format!("no tile of `{space}` lies like this"));
            let order = if space == Space::LeftScale { "row_major" } else { "col_major" };
            let help = format!("it has f8E8M0 elements, blayout={order}, slayout={order} and fractal=32");
            return Err(self.fail(d.help(help)));
        };
        let valid =
            [parts.valid[0].unwrap_or(Dim::Static(rows.into())), parts.valid[1].unwrap_or(Dim::Static(cols.into()))];
        Ok(Type::Tile(TileType {
            space,
            layout,
            valid,
            pad: parts.pad.unwrap_or(0),
            compact: parts.compact.unwrap_or(0),
        }))
    }

    /// `f32, 64, 64` and the `>`.
    fn short_tile(&mut self, elem: Elem) -> Parsed<Type> {
        self.bump();
        let mut sizes = [1; 2];
        for size in &mut sizes {
            self.expect(Tok::Comma, "`,`")?;
            let start = self.span();
            let n = self.integer()?;
            *size = self.tile_size(n, start)?;
        }
        self.expect(Tok::Greater, "`>`")?;
        Ok(Type::ShortTile { elem, rows: sizes[0], cols: sizes[1] })
    }

    /// Reports a tile type without a memory.
    pub(super) fn no_memory(&mut self, span: Span) -> crate::Reported {
        let d = Diagnostic::error("type", span, "the memory space of the tile is missing")
            .label("a tile begins with the memory that holds it");
        self.fail(d.help("write `!pto.tile_buf<vec, 64x64xf32>`"))
    }

    /// A part without a key: the space, or shape and element type.
    fn tile_position(&mut self, parts: &mut TileParts) -> Parsed<()> {
        if parts.space.is_none() {
            if Elem::parse(self.text()).is_some() || self.cur.tok == Tok::Int {
                return Err(self.no_memory(self.span()));
            }
            parts.space = Some(self.space()?);
            return Ok(());
        }
        if parts.rows.is_some() {
            return Err(self.expected("`valid=`, `blayout=`, `slayout=`, `fractal=`, `pad=` or `compact=`"));
        }
        let start = self.span();
        let dims = self.dims()?;
        parts.elem = Some(self.elem()?);
        let [Dim::Static(rows), Dim::Static(cols)] = dims[..] else {
            let d = Diagnostic::error("type", self.span_from(start), "a tile has two dimensions, both known");
            return Err(self.fail(d.help("valid sizes known only at run time are written `valid=?x?`")));
        };
        parts.rows = Some(self.tile_size(rows.into(), start)?);
        parts.cols = Some(self.tile_size(cols.into(), start)?);
        Ok(())
    }

    fn tile_size(&mut self, n: i128, start: Span) -> Parsed<u32> {
        match u32::try_from(n) {
            Ok(n) if (1..=MOST_EXTENT).contains(&n) => Ok(n),
            _ => Err(self.error(
                "type",
                self.span_from(start),
                format!("tiles have 1 to {MOST_EXTENT} rows and columns"),
            )),
        }
    }

    fn tile_key(&mut self, parts: &mut TileParts, key: &str, key_span: Span) -> Parsed<()> {
        let start = self.span();
        match key {
            "loc" => parts.space = Some(self.space()?),
            "dtype" => parts.elem = Some(self.elem()?),
            "rows" | "cols" => {
                let n = self.integer()?;
                let size = Some(self.tile_size(n, start)?);
                *(if key == "rows" { &mut parts.rows } else { &mut parts.cols }) = size;
            }
            "v_row" => parts.valid[0] = Some(self.valid_size()?),
            "v_col" => parts.valid[1] = Some(self.valid_size()?),
            "valid" => {
                let rows = self.valid_dim()?;
                if !self.dim_x() {
                    return Err(self.expected("`x` and the valid columns, as in `valid=16x?`"));
                }
                parts.valid = [Some(rows), Some(self.valid_dim()?)];
            }
            "blayout" => {
                let choices = [("row_major", BLayout::RowMajor), ("col_major", BLayout::ColMajor)];
                parts.blayout = Some(self.choice(&choices)?);
            }
            "slayout" => {
                let choices = [
                    ("none_box", SLayout::NoneBox),
                    ("row_major", SLayout::RowMajor),
                    ("col_major", SLayout::ColMajor),
                ];
                parts.slayout = Some(self.choice(&choices)?);
            }
            "fractal" => {
                let n = self.integer()?;
                if ![32, 512, 1024].contains(&n) {
                    return Err(self.error("type", self.span_from(start), "`fractal` is 32, 512 or 1024"));
                }
                parts.fractal = Some(n as u32);
            }
            "pad" => parts.pad = Some(self.small_code(&PAD_NAMES)?),
            "compact" => parts.compact = Some(self.small_code(&["null", "normal", "row_plus_one"])?),
            _ => {
                let d = Diagnostic::error("type", key_span, format!("a tile type has no `{key}`"));
                let help = match nearest(key, TILE_KEYS) {
                    Some(near) => format!("is `{near}` meant?"),
                    None => format!("it may have {}", TILE_KEYS.join(", ")),
                };
                return Err(self.fail(d.help(help)));
            }
        }
        Ok(())
    }

    /// `16`, `?` or `-1`.
    fn valid_size(&mut self) -> Parsed<Dim> {
        if self.eat(Tok::Question) {
            return Ok(Dim::Dynamic);
        }
        let start = self.span();
        match self.integer()? {
            -1 => Ok(Dim::Dynamic),
            n => match u32::try_from(n) {
                Ok(n) => Ok(Dim::Static(n.into())),
                Err(_) => {
                    Err(self.error("type", self.span_from(start), "a valid size is a non-negative integer, or `?`"))
                }
            },
        }
    }

    /// One side of `16x?`.
    fn valid_dim(&mut self) -> Parsed<Dim> {
        if self.eat(Tok::Question) {
            return Ok(Dim::Dynamic);
        }
        Ok(Dim::Static(self.dim_number()?))
    }

    fn choice<T: Copy>(&mut self, choices: &[(&str, T)]) -> Parsed<T> {
        if let Some((_, value)) = choices.iter().find(|(name, _)| *name == self.text()) {
            self.bump();
            return Ok(*value);
        }
        let names: Vec<_> = choices.iter().map(|(name, _)| format!("`{name}`")).collect();
        Err(self.expected(&names.join(" or ")))
    }

    /// A number, or its name.
    fn small_code(&mut self, names: &[&str]) -> Parsed<u8> {
        if let Some(code) = names.iter().position(|n| *n == self.text()) {
            self.bump();
            return Ok(code as u8);
        }
        let start = self.span();
        match self.integer()? {
            n if (0..names.len() as i128).contains(&n) => Ok(n as u8),
            _ => {
                let message = format!("this is a number from 0 to {}", names.len() - 1);
                Err(self.error("type", self.span_from(start), message))
            }
        }
    }
}
