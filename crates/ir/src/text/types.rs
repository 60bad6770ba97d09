//! Parsing of types.

use std::sync::Arc;

use slipring_tile::{Elem, Space, nearest};
use smallvec::SmallVec;

use super::parser::{MAX_CANDIDATES, Parsed, is_unknown};
use super::{OpParser, lexer::Tok};
use crate::{
    Diagnostic, Dim, FuncType, MemRefType, PipeParam, PipeType, Reported, Sign, Span, Type, ValueId, ViewType,
};

/// The `!pto.…` types whose parameters are parsed.
const HEADS: [&str; 13] = [
    "!pto.ptr",
    "!pto.tensor_view",
    "!pto.partition_tensor_view",
    "!pto.tile_view",
    "!pto.tile_buf",
    "!pto.multi_tile_buf",
    "!pto.vreg",
    "!pto.mask",
    "!pto.vmi.vreg",
    "!pto.vmi.mask",
    "!pto.tile",
    "!pto.tpipe",
    "!pto.tmpipe",
];
/// Builtin types that are kept as written.
const KEPT: [&str; 8] = ["tensor", "complex", "tuple", "tf32", "f80", "f128", "f8E4M3", "f4E2M1FN"];

/// True for a word that begins a builtin type.
pub(crate) fn begins_type(word: &str) -> bool {
    matches!(word, "index" | "none" | "f64" | "memref" | "vector")
        || Elem::parse(word).is_some_and(|e| e.is_float())
        || int_type(word).is_some()
        || KEPT.contains(&word)
}

/// `i32`, `si8`, `ui16`: bits and signedness.
fn int_type(word: &str) -> Option<(u64, Sign)> {
    let (sign, digits) = match word.strip_prefix("si").or_else(|| word.strip_prefix("ui")) {
        Some(digits) => (if word.starts_with('s') { Sign::Signed } else { Sign::Unsigned }, digits),
        None => (Sign::Signless, word.strip_prefix('i')?),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some((digits.parse().unwrap_or(u64::MAX), sign))
}

fn space_of(word: &str) -> Option<Space> {
    Space::parse(word).or(match word {
        "bt" => Some(Space::Bias),
        "fb" => Some(Space::Scaling),
        "l0a_scale" => Some(Space::LeftScale),
        "l0b_scale" => Some(Space::RightScale),
        _ => None,
    })
}

/// True if two spellings denote the same type for a use and its definition: a pointer or memref without a space is in
/// global memory, the `blayout` of a `left` tile is determined by the platform, and a short tile type leaves the memory
/// open.
pub fn same_type(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Ptr(x, s), Type::Ptr(y, t)) => x == y && s.unwrap_or(Space::Gm) == t.unwrap_or(Space::Gm),
        (Type::MemRef(x), Type::MemRef(y)) => {
            (&x.elem, &x.dims, &x.strides) == (&y.elem, &y.dims, &y.strides)
                && x.space.unwrap_or(Space::Gm) == y.space.unwrap_or(Space::Gm)
        }
        (Type::Tile(x), Type::Tile(y)) if x.space == Space::Left && y.space == Space::Left => {
            let mut x = *x;
            x.layout.blayout = y.layout.blayout;
            x == *y
        }
        (Type::ShortTile { elem, rows, cols }, Type::Tile(tile))
        | (Type::Tile(tile), Type::ShortTile { elem, rows, cols }) => {
            (tile.layout.elem, tile.layout.rows, tile.layout.cols) == (*elem, *rows, *cols)
        }
        _ => a == b || is_unknown(a) || is_unknown(b),
    }
}

impl<'a> OpParser<'a> {
    /// A type.
    ///
    /// # Errors
    /// If there is none or it is wrong.
    pub fn parse_type(&mut self) -> Parsed<Type> {
        self.parse_type_like(None)
    }

    /// A type, which may be written without its head (`<f32>`) if `like` determines it.
    pub(crate) fn parse_type_like(&mut self, like: Option<&Type>) -> Parsed<Type> {
        match self.cur.tok {
            Tok::Word => self.builtin_type(),
            Tok::Bang => self.dialect_type(),
            Tok::LParen => self.nested(|p| p.function_type()).map(|f| Type::Function(Arc::new(f))),
            Tok::Less => {
                let head = self.guess_head(like);
                let Some(head) = head else { return Err(self.expected("a type with its name before `<`")) };
                self.pto_type(head)
            }
            _ => Err(self.expected("a type")),
        }
    }

    fn guess_head(&self, like: Option<&Type>) -> Option<&'static str> {
        let inside = self.cur.ahead();
        if matches!(inside.tok, Tok::Word | Tok::Bang) {
            let word = inside.text();
            if word == "loc" || space_of(word).is_some() {
                return Some("!pto.tile_buf");
            }
            if Elem::parse(word).is_some() {
                return Some("!pto.ptr");
            }
        }
        match like? {
            Type::Ptr(..) => Some("!pto.ptr"),
            Type::Tile(_) | Type::ShortTile { .. } => Some("!pto.tile_buf"),
            Type::TensorView(_) => Some("!pto.tensor_view"),
            Type::PartitionView(_) => Some("!pto.partition_tensor_view"),
            Type::TileView(_) => Some("!pto.tile_view"),
            Type::VReg(..) => Some("!pto.vreg"),
            Type::MultiTile { .. } => Some("!pto.multi_tile_buf"),
            Type::Mask(_) => Some("!pto.mask"),
            _ => None,
        }
    }

    fn builtin_type(&mut self) -> Parsed<Type> {
        let (word, span) = (self.text(), self.span());
        if let Some((width, sign)) = int_type(word) {
            self.bump();
            if (1..=64).contains(&width) {
                return Ok(Type::Int { width: width as u16, sign });
            }
            return Err(self.error("type", span, "integers have 1 to 64 bits"));
        }
        if let Some(elem) = Elem::parse(word).filter(|e| e.is_float()) {
            self.bump();
            return Ok(Type::Float(elem));
        }
        let simple = match word {
            "index" => Some(Type::Index),
            "none" => Some(Type::None),
            "f64" => Some(Type::F64),
            _ => None,
        };
        if let Some(ty) = simple {
            self.bump();
            return Ok(ty);
        }
        match word {
            "memref" => self.nested(|p| p.memref_type()),
            "vector" => self.nested(|p| p.vector_type()),
            _ if KEPT.contains(&word) => self.kept_type(span, word),
            _ => {
                let mut d = self.expectation("a type");
                let known = ["index", "none", "f64", "f32", "f16", "bf16", "i32", "memref", "vector"];
                if let Some(near) = nearest(word, known) {
                    d = d.help(format!("is `{near}` meant?"));
                }
                Err(self.fail(d))
            }
        }
    }

    /// A type that is kept as written: the head, and the text between `<` and `>` if that follows.
    fn kept_type(&mut self, start: Span, head: &str) -> Parsed<Type> {
        self.bump();
        if self.cur.tok != Tok::Less || !self.cur.adjacent() {
            return Ok(Type::named(head));
        }
        let body = self.balanced(start)?;
        Ok(Type::named(&format!("{head}{body}")))
    }

    fn dialect_type(&mut self) -> Parsed<Type> {
        let (text, span) = (self.text(), self.span());
        if let Some(ty) = self.type_as_before() {
            return Ok(ty);
        }
        if let Some(elem) = Elem::parse(text) {
            self.bump();
            return Ok(Type::Float(elem));
        }
        if let Some(head) = HEADS.into_iter().find(|h| *h == text) {
            self.bump();
            let said = self.said();
            let ty = self.pto_type(head)?;
            if said == self.said() {
                self.remember_type(span, &ty);
            }
            return Ok(ty);
        }
        if text == "!pto.align" {
            self.bump();
            return Ok(Type::Align);
        }
        if let Some(ty) = self.types.get(&text[1..]) {
            let ty = ty.clone();
            self.bump();
            return self.type_of_name(ty, text, span);
        }
        if self.bad_aliases.contains(text) {
            self.bump();
            return Err(Reported);
        }
        if !text.contains('.') {
            self.bump();
            let d = Diagnostic::error("type", span, format!("no type is called `{text}`"));
            let near = nearest(&text[1..], self.sorted_aliases().into_iter().take(MAX_CANDIDATES))
                .map(|n| format!("is `!{n}` meant?"));
            let help =
                near.unwrap_or_else(|| "a name without a dot is an alias, defined as `!name = type`".to_string());
            return Err(self.fail(d.help(help)));
        }
        if let Some(near) = nearest(text, HEADS)
            && self.cur.ahead().tok == Tok::Less
        {
            self.bump();
            let d = Diagnostic::error("type", span, format!("no type is called `{text}`"));
            return Err(self.fail(d.help(format!("is `{near}` meant?"))));
        }
        self.nested(|p| p.kept_type(span, &text[1..]))
    }

    fn sorted_aliases(&self) -> Vec<&'a str> {
        let mut names: Vec<_> = self.types.keys().copied().collect();
        names.sort_unstable();
        names
    }

    /// The parameters of a `!pto.…` type.
    fn pto_type(&mut self, head: &str) -> Parsed<Type> {
        let start = self.span();
        if !self.eat(Tok::Less) {
            return Err(self.expected(&format!("`<` after `{head}`")));
        }
        let ty = match head {
            "!pto.ptr" => {
                let elem = self.elem()?;
                let space = if self.eat(Tok::Comma) { Some(self.space()?) } else { None };
                Type::Ptr(elem, space)
            }
            "!pto.tile_buf" | "!pto.tile" => return self.tile_type(start),
            "!pto.multi_tile_buf" => return self.multi_tile_type(start),
            "!pto.tpipe" | "!pto.tmpipe" => return self.pipe_type(head == "!pto.tmpipe"),
            "!pto.vreg" => self.vreg_type(start)?,
            "!pto.mask" => self.mask_type()?,
            "!pto.vmi.vreg" => self.logical_vector(start)?,
            "!pto.vmi.mask" => self.logical_mask(start)?,
            view => {
                let view_type = self.view_type(start)?;
                match view {
                    "!pto.tensor_view" => Type::TensorView(view_type),
                    "!pto.partition_tensor_view" => Type::PartitionView(view_type),
                    _ => Type::TileView(view_type),
                }
            }
        };
        self.expect(Tok::Greater, "`>`")?;
        Ok(ty)
    }

    /// `64xf32`: lanes and their type, together 256 bytes.
    fn vreg_type(&mut self, start: Span) -> Parsed<Type> {
        let lanes = self.dim_number()?;
        if !self.dim_x() {
            return Err(self.error("type", self.span_from(start), "a vector register is written `64xf32`"));
        }
        let elem = self.elem()?;
        let wanted = 256 / elem.bytes();
        if lanes != wanted as u64 {
            let d = Diagnostic::error(
                "type",
                self.span_from(start),
                format!("a vector register has 256 bytes: {wanted} lanes of {elem}, not {lanes}"),
            );
            return Err(self.fail(d.help(format!("write `!pto.vreg<{wanted}x{elem}>`"))));
        }
        Ok(Type::VReg(wanted as u16, elem))
    }

    /// `b8`, `b16`, `b32`: the width of the lanes that a predicate governs. `G`, used by some manuals, means `b32`.
    fn mask_type(&mut self) -> Parsed<Type> {
        let bits = match self.text() {
            "b8" => 8,
            "b16" => 16,
            "b32" | "G" => 32,
            _ => {
                let d = self.expectation("the width of the lanes");
                return Err(self.fail(d.help("one of b8, b16, b32")));
            }
        };
        self.bump();
        Ok(Type::Mask(bits))
    }

    /// The parameters of a pipe type and the `>`: numbers, words and types.
    fn pipe_type(&mut self, multi: bool) -> Parsed<Type> {
        let mut params = Vec::new();
        self.list_until(Tok::Greater, "`>`", |p| {
            params.push(match p.cur.tok {
                Tok::Int | Tok::Hex | Tok::Minus => PipeParam::Int(p.small_integer()?),
                Tok::Word => {
                    let word = p.text();
                    p.bump();
                    PipeParam::Word(word.into())
                }
                _ => {
                    let start = p.span();
                    let ty = p.nested(|p| p.parse_type())?;
                    if let Type::ShortTile { .. } = ty {
                        return Err(p.no_memory(start));
                    }
                    PipeParam::Type(ty)
                }
            });
            Ok(())
        })?;
        Ok(Type::Pipe(Arc::new(PipeType { multi, params })))
    }

    fn small_integer(&mut self) -> Parsed<i64> {
        let start = self.span();
        let number = self.integer()?;
        i64::try_from(number).map_err(|_| self.error("type", self.span_from(start), "this number is too large"))
    }

    /// A memory space: `vec`, `ub` or `#pto.address_space<vec>`.
    pub(crate) fn space(&mut self) -> Parsed<Space> {
        let attr = self.cur.tok == Tok::Hash && self.text() == "#pto.address_space";
        if attr {
            self.bump();
            self.expect(Tok::Less, "`<`")?;
        }
        let word = self.text();
        let Some(space) = space_of(word) else {
            let d = self.expectation("a memory space");
            return Err(self.fail(d.help(format!("one of {}", Space::NAMED.map(Space::name).join(", ")))));
        };
        self.bump();
        if attr {
            self.expect(Tok::Greater, "`>`")?;
        }
        Ok(space)
    }

    /// `16x?x` or `16 x ? x`: dimensions, each with its `x`, up to the first token that is not a dimension.
    pub(super) fn dims(&mut self) -> Parsed<SmallVec<[Dim; 5]>> {
        let mut dims = SmallVec::new();
        loop {
            let span = self.span();
            let dim = match self.cur.tok {
                Tok::Question => {
                    self.bump();
                    Dim::Dynamic
                }
                Tok::Int | Tok::Hex => Dim::Static(self.dim_number()?),
                _ => return Ok(dims),
            };
            dims.push(dim);
            if !self.dim_x() {
                return Err(self.error(
                    "type",
                    self.span_from(span),
                    "a dimension is followed by `x`, as in `16x64xf32`",
                ));
            }
        }
    }

    /// One number of a shape. `0x10` is a zero and a `x` here, not a hexadecimal number.
    pub(super) fn dim_number(&mut self) -> Parsed<u64> {
        let (text, span) = (self.text(), self.span());
        if self.cur.tok == Tok::Hex {
            self.cur.split(span.start + 1);
            return Ok(0);
        }
        self.expect(Tok::Int, "a dimension")?;
        match text.parse::<u64>() {
            Ok(n) if n <= i64::MAX as u64 => Ok(n),
            _ => Err(self.error("type", span, "this dimension is too large")),
        }
    }

    /// Advances past the `x` at the start of the next token.
    pub(super) fn dim_x(&mut self) -> bool {
        let is_word = self.cur.tok == Tok::Word;
        if is_word && self.text() == "x" {
            self.bump();
            return true;
        }
        let there = is_word && self.cur.adjacent() && self.text().starts_with('x');
        if there {
            self.cur.split(self.cur.span.start + 1);
        }
        there
    }

    fn view_type(&mut self, start: Span) -> Parsed<ViewType> {
        let dims = self.dims()?;
        if dims.is_empty() || dims.len() > 5 {
            return Err(self.error("type", self.span_from(start), "a view has 1 to 5 dimensions"));
        }
        Ok(ViewType { elem: self.elem()?, dims })
    }

    fn memref_type(&mut self) -> Parsed<Type> {
        self.bump();
        self.expect(Tok::Less, "`<` after `memref`")?;
        let dims = self.dims()?;
        let elem = self.parse_type()?;
        let (mut strides, mut space) = (None, None);
        while self.eat(Tok::Comma) {
            let span = self.span();
            if self.at("strided") && strides.is_none() {
                strides = Some(self.strided(dims.len(), span)?);
            } else if self.cur.tok == Tok::Hash && space.is_none() {
                space = Some(self.space()?);
            } else {
                return Err(self.expected("`strided<[…], offset: …>` or `#pto.address_space<…>`"));
            }
        }
        self.expect(Tok::Greater, "`>`")?;
        Ok(Type::MemRef(Arc::new(MemRefType { elem, dims, strides, space })))
    }

    /// `strided<[16, 1], offset: ?>`.
    fn strided(&mut self, rank: usize, start: Span) -> Parsed<(SmallVec<[Dim; 5]>, Dim)> {
        self.bump();
        self.expect(Tok::Less, "`<` after `strided`")?;
        self.expect(Tok::LBracket, "`[`")?;
        let mut strides = SmallVec::new();
        self.list_until(Tok::RBracket, "`]`", |p| {
            strides.push(p.stride()?);
            Ok(())
        })?;
        if strides.len() != rank {
            let message = format!("{} strides for {rank} dimensions", strides.len());
            return Err(self.error("type", self.span_from(start), message));
        }
        let mut offset = Dim::Static(0);
        if self.eat(Tok::Comma) {
            self.expect_text("offset")?;
            self.expect(Tok::Colon, "`:`")?;
            offset = self.stride()?;
        }
        self.expect(Tok::Greater, "`>`")?;
        Ok((strides, offset))
    }

    fn stride(&mut self) -> Parsed<Dim> {
        if self.eat(Tok::Question) {
            return Ok(Dim::Dynamic);
        }
        let start = self.span();
        match u64::try_from(self.integer()?) {
            Ok(n) if n <= i64::MAX as u64 => Ok(Dim::Static(n)),
            _ => Err(self.error("type", self.span_from(start), "a stride is a non-negative integer")),
        }
    }

    fn vector_type(&mut self) -> Parsed<Type> {
        let start = self.span();
        self.bump();
        self.expect(Tok::Less, "`<` after `vector`")?;
        let dims = self.dims()?;
        let elem = self.parse_type()?;
        self.expect(Tok::Greater, "`>`")?;
        let known: Option<SmallVec<[u64; 5]>> = dims.iter().map(|d| d.known()).collect();
        match known {
            Some(dims) => Ok(Type::Vector(Arc::new((dims, elem)))),
            None => Err(self.error("type", self.span_from(start), "a vector has no `?` dimension")),
        }
    }

    /// `(T, T) -> T` or `(T, T) -> (T, T)`.
    pub fn function_type(&mut self) -> Parsed<FuncType> {
        let inputs = self.type_list_in_parens()?;
        self.expect(Tok::Arrow, "`->`")?;
        Ok(FuncType { inputs, results: self.result_type_list()? })
    }

    /// `(T, T)`.
    ///
    /// # Errors
    /// If there is none.
    pub fn type_list_in_parens(&mut self) -> Parsed<Vec<Type>> {
        self.expect(Tok::LParen, "`(`")?;
        let mut types = Vec::new();
        self.list_until(Tok::RParen, "`)`", |p| {
            types.push(p.parse_type()?);
            Ok(())
        })?;
        Ok(types)
    }

    /// The result types after `->`: `T` or `(T, T)`. A function type as the only result needs its own parentheses.
    ///
    /// # Errors
    /// If there is none.
    pub fn result_type_list(&mut self) -> Parsed<Vec<Type>> {
        if self.cur.tok == Tok::LParen {
            return self.nested(|p| p.type_list_in_parens());
        }
        Ok(vec![self.parse_type()?])
    }

    /// The type of an operand, which must be the type of its definition.
    ///
    /// # Errors
    /// If there is no type; a different type is reported, and parsing continues.
    pub fn operand_type(&mut self, value: ValueId) -> Parsed<()> {
        let start = self.span();
        let defined = self.module.ty(value).clone();
        let written = self.parse_type_like(Some(&defined))?;
        let span = self.span_from(start);
        if is_unknown(&defined) {
            return Ok(());
        }
        if let (Type::ShortTile { .. }, Type::Tile(_)) = (&defined, &written)
            && same_type(&written, &defined)
        {
            self.module.value_mut(value).ty = written;
            return Ok(());
        }
        if !same_type(&written, &defined) {
            let name = self.module.value_name(value);
            let at = self.module.value(value).span;
            let d = Diagnostic::error("type-mismatch", span, format!("`{name}` does not have this type"))
                .label(format!("written as `{written}`"))
                .also(at, format!("defined as `{defined}`"))
                .help(format!("write `{defined}`"));
            self.fail(d);
        }
        Ok(())
    }

    /// The types of operands, separated by commas.
    ///
    /// # Errors
    /// If one is missing.
    pub fn operand_types(&mut self, values: &[ValueId]) -> Parsed<()> {
        for (i, value) in values.iter().enumerate() {
            if i > 0 {
                self.comma_before_type(*value)?;
            }
            self.operand_type(*value)?;
        }
        Ok(())
    }

    /// The text of a bracketed part, from the next bracket to the matching one: whitespace and comments between tokens
    /// become one space.
    pub(crate) fn balanced(&mut self, start: Span) -> Parsed<String> {
        let mut open = Vec::new();
        let mut out = String::new();
        loop {
            match self.cur.tok {
                Tok::Less => open.push(Tok::Greater),
                Tok::LParen => open.push(Tok::RParen),
                Tok::LBracket => open.push(Tok::RBracket),
                Tok::LBrace => open.push(Tok::RBrace),
                tok @ (Tok::Greater | Tok::RParen | Tok::RBracket | Tok::RBrace) if open.pop() != Some(tok) => {
                    return Err(self.error(
                        crate::Kind::Syntax,
                        self.span_from(start),
                        "the brackets here do not match",
                    ));
                }
                Tok::Eof | Tok::Bad => return Err(self.expected("the closing bracket")),
                _ => {}
            }
            if !out.is_empty() && !self.cur.adjacent() {
                out.push(' ');
            }
            out.push_str(self.text());
            self.bump();
            if open.is_empty() {
                return Ok(out);
            }
        }
    }
}
