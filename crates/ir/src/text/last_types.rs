//! A cache of the types read last, with their texts: most operands have the type of one nearby.

use crate::declaration::OpParser;
use crate::{Span, Type};

/// Number of types that are kept.
const MOST: usize = 8;

impl OpParser<'_> {
    /// Reuses one of the types read last, if the next text is the same.
    pub(super) fn type_as_before(&mut self) -> Option<Type> {
        let start = self.span().start;
        let rest = &self.cur.source[start as usize..];
        let (text, ty) = self.last_types.iter().find(|(text, _)| rest.starts_with(text))?;
        let (end, ty) = (start + text.len() as u32, ty.clone());
        self.cur.split(end);
        Some(ty)
    }

    /// Remembers a type that was just read without a diagnostic, with its text up to the `>`. It must mean the same in
    /// every context: without aliases and nested types, whose depth may matter.
    pub(super) fn remember_type(&mut self, start: Span, ty: &Type) {
        let text = &self.cur.source[start.start as usize..self.cur.prev_end as usize];
        if matches!(ty, Type::Pipe(_)) || text[1..].contains(['!', '#', '{', '/']) {
            return;
        }
        if self.last_types.len() == MOST {
            self.last_types.remove(0);
        }
        self.last_types.push((text, ty.clone()));
    }
}

#[cfg(test)]
mod tests {
    use crate::declaration::OpParser;
    use crate::text::lexer::Tok;
    use crate::{Module, Registry, Source};

    #[test]
    fn a_type_is_read_once_more_up_to_its_end() {
        let text = "!pto.ptr<f32> !pto.ptr<f32, ub>, !pto.ptr<f32>>";
        let (mut module, registry) = (Module::new(Source::new("", text).into()), Registry::default());
        let mut parser = OpParser::new(text, &mut module, &registry);
        let first = parser.parse_type().expect("a type");
        let other = parser.parse_type().expect("a type");
        parser.bump();
        assert_eq!(parser.parse_type().ok(), Some(first.clone()));
        assert_ne!(first, other);
        assert_eq!(parser.last_types.len(), 2);
        assert_eq!((parser.cur.tok, parser.cur.prev_end), (Tok::Greater, text.len() as u32 - 1));
    }

    #[test]
    fn types_with_types_inside_are_not_kept() {
        let text = "!pto.tpipe<1, f32> !pto.multi_tile_buf<!pto.tile_buf<vec, 16x64xf32>, count=2>";
        let (mut module, registry) = (Module::new(Source::new("", text).into()), Registry::default());
        let mut parser = OpParser::new(text, &mut module, &registry);
        parser.parse_type().expect("a pipe");
        parser.parse_type().expect("tiles");
        let kept: Vec<&str> = parser.last_types.iter().map(|(text, _)| *text).collect();
        assert_eq!(kept, ["!pto.tile_buf<vec, 16x64xf32>"]);
    }
}
