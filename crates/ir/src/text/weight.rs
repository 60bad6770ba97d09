//! The size of types and attributes with all aliases expanded: a few lines of nested aliases could exceed any memory.

use super::parser::Parsed;
use crate::declaration::OpParser;
use crate::{Attr, PipeParam, Span, Type};

/// Maximum number of parts in the expansions of all aliases, counted at each use.
const MOST_PARTS: usize = 1 << 20;

/// Maximum nesting depth of an alias's type or attribute.
const MOST_DEPTH: usize = 96;

/// Bytes of text that count as one part.
const PART_BYTES: usize = 64;

/// The number of parts of a type or attribute, up to a limit.
struct Count {
    left: usize,
    depth: usize,
}

impl Count {
    /// Counts parts. `None` if there are too many, or they are nested too deeply.
    fn take(&mut self, parts: usize) -> Option<()> {
        self.left = self.left.checked_sub(parts)?;
        (self.depth <= MOST_DEPTH).then_some(())
    }

    fn text(&mut self, text: &str) -> Option<()> {
        self.take(1 + text.len() / PART_BYTES)
    }

    fn deeper(&mut self, count: impl FnOnce(&mut Count) -> Option<()>) -> Option<()> {
        self.depth += 1;
        self.take(0)?;
        count(self)?;
        self.depth -= 1;
        Some(())
    }

    fn ty(&mut self, ty: &Type) -> Option<()> {
        match ty {
            Type::MemRef(memref) => self.deeper(|count| count.ty(&memref.elem)),
            Type::Vector(vector) => self.deeper(|count| count.ty(&vector.1)),
            Type::Function(function) => self.deeper(|count| {
                count.take(1)?;
                let mut types = function.inputs.iter().chain(&function.results);
                types.try_for_each(|ty| count.ty(ty))
            }),
            Type::Pipe(pipe) => self.deeper(|count| {
                pipe.params.iter().try_for_each(|param| match param {
                    PipeParam::Type(ty) => count.ty(ty),
                    PipeParam::Word(word) => count.text(word),
                    PipeParam::Int(_) => count.take(1),
                })
            }),
            Type::Named(name) => self.text(name),
            _ => self.take(1),
        }
    }

    fn attr(&mut self, attr: &Attr) -> Option<()> {
        match attr {
            Attr::Array(items) => self.deeper(|count| {
                count.take(1)?;
                items.iter().try_for_each(|item| count.attr(item))
            }),
            Attr::Dict(dict) => self.deeper(|count| {
                count.take(1)?;
                dict.iter().try_for_each(|(_, item)| count.attr(item))
            }),
            Attr::Int(_, ty) | Attr::Float(_, ty) | Attr::Type(ty) => self.ty(ty),
            Attr::DenseArray(ty, values) => {
                self.take(1 + values.len())?;
                self.ty(ty)
            }
            Attr::Str(text) | Attr::Symbol(text) | Attr::Opaque(text) => self.text(text),
            Attr::Enum(kind, member) => {
                self.text(kind)?;
                self.text(member)
            }
            Attr::Unit | Attr::Bool(_) => self.take(1),
        }
    }
}

impl OpParser<'_> {
    /// The type that a name denotes.
    ///
    /// # Errors
    /// If the total expansion becomes too large.
    pub(crate) fn type_of_name(&mut self, ty: Type, name: &str, span: Span) -> Parsed<Type> {
        let counted = count(self.named_parts, |count| count.ty(&ty));
        self.written_out(counted, name, span)?;
        Ok(ty)
    }

    /// The attribute that a defined name, with its `#`, denotes.
    ///
    /// # Errors
    /// If the total expansion becomes too large: it is then not copied.
    pub(crate) fn attr_of_name(&mut self, name: &str, span: Span) -> Parsed<Attr> {
        let Some(attr) = self.attrs.get(&name[1..]) else { return Err(self.expected("an attribute")) };
        let counted = count(self.named_parts, |count| count.attr(attr));
        let attr = counted.is_ok().then(|| attr.clone());
        self.written_out(counted, name, span)?;
        Ok(attr.unwrap_or(Attr::Unit))
    }

    /// Records the parts of a name's expansion.
    fn written_out(&mut self, counted: Result<usize, bool>, name: &str, span: Span) -> Parsed<()> {
        match counted {
            Ok(parts) => {
                self.named_parts = parts;
                Ok(())
            }
            Err(true) => {
                let message =
                    format!("`{name}` is nested more than {MOST_DEPTH} levels deep when each name is written out");
                Err(self.error("nesting", span, message))
            }
            Err(false) => {
                let message = format!("with `{name}` the names of this text stand for more than {MOST_PARTS} parts");
                Err(self.error("too-large", span, message))
            }
        }
    }
}

/// The total number of parts including one more name; on error, true if the problem is the depth.
fn count(before: usize, work: impl FnOnce(&mut Count) -> Option<()>) -> Result<usize, bool> {
    let mut count = Count { left: MOST_PARTS.saturating_sub(before), depth: 0 };
    match work(&mut count) {
        // A name for a single part costs the same as the part.
        Some(()) => Ok((MOST_PARTS - count.left).saturating_sub(1).max(before)),
        None => Err(count.depth > MOST_DEPTH),
    }
}
