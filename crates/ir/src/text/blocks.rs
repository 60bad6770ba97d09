//! Parsing of regions and blocks, and of branches between blocks.

use smallvec::SmallVec;

use super::lexer::Tok;
use super::parser::Parsed;
use slipring_tile::nearest;

use crate::declaration::OpParser;
use crate::text::kept::Labels;
use crate::{BlockId, Diagnostic, OpId, Span, Type};

/// An argument of a region's first block, given by the op's own text: the `%i` of a loop.
#[derive(Clone, Debug)]
pub struct BlockArg<'a> {
    /// Name without `%`.
    pub name: &'a str,
    /// Type.
    pub ty: Type,
    /// The location of its name.
    pub span: Span,
}

impl<'a> OpParser<'a> {
    /// A region of an op: `{ … }`, its first block with these arguments. Without any, the text may begin with
    /// `^bb0(…):`.
    ///
    /// # Errors
    /// If there is no region, or it is not closed. Errors inside are reported and do not propagate.
    pub fn region(&mut self, op: OpId, args: Vec<BlockArg<'a>>) -> Parsed<()> {
        self.region_text(op, args, true)
    }

    pub(super) fn region_text(&mut self, op: OpId, args: Vec<BlockArg<'a>>, always_a_block: bool) -> Parsed<()> {
        self.marks.header_end.get_or_insert(self.cur.prev_end);
        let open = self.span();
        if self.cur.tok != Tok::LBrace {
            return Err(self.expected("`{` and a region"));
        }
        self.nested(|p| {
            p.bump();
            let region = p.module.add_region(op);
            p.push_scope();
            p.labels.push(Labels::default());
            let entry = !args.is_empty() || !matches!(p.cur.tok, Tok::Caret | Tok::RBrace);
            if entry || (always_a_block && p.cur.tok == Tok::RBrace) {
                let block = p.module.add_block(region);
                for arg in args {
                    p.block_arg(block, arg);
                }
                p.block_ops(block);
            }
            while p.cur.tok == Tok::Caret {
                let block = p.module.add_block(region);
                let at = p.module.region(region).blocks.len() - 1;
                p.headed_block(block, at as u32);
            }
            p.resolve_branches();
            p.pop_scope();
            if p.cur.tok == Tok::Eof {
                let end = Span::new(p.cur.prev_end.saturating_sub(1), p.cur.prev_end);
                let d = Diagnostic::error(crate::Kind::Syntax, end, "the file ends inside a region");
                return Err(p.fail(d.also(open, "this `{` is never closed")));
            }
            p.expect(Tok::RBrace, "`}`")
        })
    }

    fn block_arg(&mut self, block: BlockId, arg: BlockArg<'a>) {
        let value = self.module.add_arg(block, arg.ty, Some(arg.name.into()), arg.span);
        self.define(arg.name, SmallVec::from_elem(value, 1), arg.span);
    }

    /// A block with a header, at this position of its region.
    pub(super) fn headed_block(&mut self, block: BlockId, at: u32) {
        let (begin, braces) = (self.span(), self.cur.braces);
        if self.block_header(block, at).is_err() {
            self.recover(begin, braces);
        }
        self.block_ops(block);
    }

    /// `^bb0(%a: T, %b: T):`.
    fn block_header(&mut self, block: BlockId, at: u32) -> Parsed<()> {
        let (name, span) = (self.text(), self.span());
        if let Some(labels) = self.labels.last_mut()
            && let Some((_, first)) = labels.blocks.insert(name, (at, span))
        {
            let error = Diagnostic::error("redefinition", span, format!("the block `{name}` is defined twice"));
            self.fail(error.also(first, "first here").help("give it another name"));
        }
        self.bump();
        if self.eat(Tok::LParen) {
            self.list_until(Tok::RParen, "`)`", |p| {
                let (name, span) = p.value_name()?;
                p.expect(Tok::Colon, "`:` and a type")?;
                let ty = p.parse_type()?;
                if p.at_loc() {
                    p.loc()?;
                }
                p.block_arg(block, BlockArg { name, ty, span });
                Ok(())
            })?;
        }
        self.expect(Tok::Colon, "`:` after the name of a block")
    }

    /// The operations of a block, up to `}` or the next block.
    pub(super) fn block_ops(&mut self, block: BlockId) {
        while !matches!(self.cur.tok, Tok::Eof | Tok::RBrace | Tok::Caret) {
            self.operation(block);
        }
    }

    /// `^bb1`: one more successor of an op, a block of the region around it.
    ///
    /// # Errors
    /// If there is no such name, or no region.
    pub fn successor(&mut self, op: OpId) -> Parsed<()> {
        let (name, span) = (self.text(), self.span());
        self.expect(Tok::Caret, "a block such as `^bb1`")?;
        let at = self.module.op(op).successors.len();
        let Some(labels) = self.labels.last_mut() else {
            return Err(self.error(crate::Kind::Syntax, span, "a branch is inside of a region"));
        };
        labels.branches.push((op, at, name, span));
        self.module.op_mut(op).successors.push(0);
        Ok(())
    }

    /// Gives the branches of the innermost region the positions of their blocks.
    fn resolve_branches(&mut self) {
        let Some(Labels { blocks, branches }) = self.labels.pop() else { return };
        for (op, at, name, span) in branches {
            match blocks.get(name) {
                Some((0, first)) => {
                    let error =
                        Diagnostic::error("first-block", span, "nothing branches to the first block of a region");
                    let error = error.also(*first, "the region is entered here");
                    self.fail(error.help("put a block before it that branches to it"));
                }
                Some((block, _)) => self.module.op_mut(op).successors[at] = *block,
                None => {
                    let error = Diagnostic::error("undefined-block", span, format!("no block here is called `{name}`"));
                    let near = nearest(name, blocks.keys().copied());
                    self.fail(match near {
                        Some(near) => error.help(format!("is `{near}` meant?")),
                        None => error.help("a branch leads to a block of the region that it is in"),
                    });
                }
            }
        }
    }
}
