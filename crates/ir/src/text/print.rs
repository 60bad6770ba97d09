//! The printer.

use std::collections::BTreeMap;
use std::fmt;

use super::insouts::reads_back;
use super::lexer::escape;
use super::operands::{segment_attr, sizes_fit};
use super::readback::says_all;
use super::spell::symbol_text;
use smallvec::SmallVec;

use crate::declaration::{OpPrinter, Spelling};
use crate::text::kept::Names;
use crate::{Arity, Attr, AttrKind, AttrSpec, BlockId, Module, Op, OpId, OpSchema, Syntax, Type, ValueId};

/// Number of types that are kept with their texts.
const KEPT_TYPES: usize = 8;

impl<'a> OpPrinter<'a> {
    pub(crate) fn new(module: &'a Module, spelling: &'static Spelling) -> OpPrinter<'a> {
        let (formats, names) = (BTreeMap::new(), Names::of(module));
        OpPrinter { module, spelling, formats, out: String::new(), indent: 0, names, types: Vec::new() }
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }

    /// Writes text unchanged.
    pub fn write(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Begins a new line.
    pub fn newline(&mut self) {
        self.out.push('\n');
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
    }

    /// `%a`.
    pub fn value(&mut self, value: ValueId) {
        self.names.write(self.module, value, &mut self.out);
    }

    /// `%a, %b`.
    pub fn values(&mut self, values: &[ValueId]) {
        for (i, value) in values.iter().enumerate() {
            if i > 0 {
                self.write(", ");
            }
            self.value(*value);
        }
    }

    /// A type.
    pub fn ty(&mut self, ty: &Type) {
        if let Some((_, text)) = self.types.iter().find(|(kept, _)| kept == ty) {
            return self.out.push_str(text);
        }
        let text = ty.to_string();
        self.out.push_str(&text);
        if self.types.len() == KEPT_TYPES {
            self.types.remove(0);
        }
        self.types.push((ty.clone(), text));
    }

    /// The types of values, separated by commas.
    pub fn types_of(&mut self, values: &[ValueId]) {
        for (i, value) in values.iter().enumerate() {
            if i > 0 {
                self.write(", ");
            }
            let ty = self.module.ty(*value);
            self.ty(ty);
        }
    }

    /// The types of values after `->`: `T`, or `(T, T)` for none or several.
    pub fn result_types_of(&mut self, values: &[ValueId]) {
        let alone = values.len() == 1 && !matches!(self.module.ty(values[0]), Type::Function(_));
        if !alone {
            self.write("(");
        }
        self.types_of(values);
        if !alone {
            self.write(")");
        }
    }

    /// An attribute.
    pub fn attr(&mut self, attr: &Attr) {
        let text = self.spelling.attr(attr);
        self.write(&text);
    }

    /// `@name`.
    pub fn symbol(&mut self, name: &str) {
        let text = symbol_text(name);
        self.write(&text);
    }

    /// A member of an enumeration whose kind the op knows: `<PIPE_V>`, or in full if the spelling requires it.
    pub fn member(&mut self, attr: &Attr) {
        match attr {
            Attr::Enum(kind, member) if !self.spelling.whole.contains(&&**kind) => {
                self.out.push('<');
                self.write(member);
                self.out.push('>');
            }
            other => self.attr(other),
        }
    }

    /// The value of a declared attribute at its position in a format.
    pub(crate) fn attr_of_kind(&mut self, spec: &AttrSpec, attr: &Attr, keyword: bool) {
        match (spec.kind, attr) {
            (AttrKind::Enum(_), Attr::Enum(_, member)) if keyword => self.write(member),
            (AttrKind::Enum(e), Attr::Enum(kind, _)) if **kind == *e.kind => self.member(attr),
            (AttrKind::Flags(e), Attr::Opaque(whole)) => self.write(whole.strip_prefix(e.head).unwrap_or(whole)),
            (AttrKind::Int, Attr::Int(value, _)) => {
                put(&mut self.out, format_args!("{value}"));
            }
            _ => self.attr(attr),
        }
    }

    /// ` {a = 1, b}` without the attributes of these names; nothing if none are left. True if it wrote something.
    pub fn attr_dict(&mut self, op: OpId, without: &[&str]) -> bool {
        self.attr_dict_after(" ", op, without)
    }

    /// As [`OpPrinter::attr_dict`], with other text before the brace: ` attributes `.
    pub fn attr_dict_after(&mut self, before: &str, op: OpId, without: &[&str]) -> bool {
        self.attr_dict_of(before, op, |name| !without.contains(&name))
    }

    /// The attributes selected by `with`.
    pub(crate) fn attr_dict_of(&mut self, before: &str, op: OpId, with: impl Fn(&str) -> bool) -> bool {
        let module = self.module;
        let data = module.op(op);
        let left = data.attrs.iter().filter(|(name, _)| with(name));
        let text: Vec<String> = left.map(|(name, attr)| self.spelling.entry(&data.name, name, attr)).collect();
        if text.is_empty() {
            return false;
        }
        self.write(before);
        self.write("{");
        self.write(&text.join(", "));
        self.write("}");
        true
    }

    /// A region in braces. `entry_args` writes the arguments of its first block as `^bb0(…):`; otherwise they are in
    /// the op's own text.
    pub fn region(&mut self, op: OpId, index: usize, entry_args: bool) {
        let Some(region) = self.module.op(op).regions.get(index) else { return self.write("{}") };
        self.write("{");
        let blocks = &self.module.region(*region).blocks;
        for (i, block) in blocks.iter().enumerate() {
            let args = &self.module.block(*block).args;
            let unseen = args.is_empty() && self.module.block(*block).ops.is_empty();
            // Without a header, `{}` has no block in generic form, and operations before a header are not a block.
            let unseen = unseen && (blocks.len() > 1 || (entry_args && self.generic_form(op)));
            if i > 0 || (entry_args && !args.is_empty()) || unseen {
                self.newline();
                self.block_name(i as u32);
                if !args.is_empty() {
                    self.write("(");
                    for (i, arg) in args.iter().enumerate() {
                        if i > 0 {
                            self.write(", ");
                        }
                        self.value_with_type(*arg);
                    }
                    self.write(")");
                }
                self.write(":");
            }
            self.block(*block);
        }
        self.newline();
        self.write("}");
    }

    /// `^bb1`: the block at this position of its region.
    pub fn block_name(&mut self, at: u32) {
        put(&mut self.out, format_args!("^bb{at}"));
    }

    /// `%a: T`.
    pub fn value_with_type(&mut self, value: ValueId) {
        self.value(value);
        self.write(": ");
        let ty = self.module.ty(value);
        self.ty(ty);
    }

    fn block(&mut self, block: BlockId) {
        self.indent += 1;
        for op in &self.module.block(block).ops {
            self.newline();
            self.op(*op);
        }
        self.indent -= 1;
    }

    pub(crate) fn top(&mut self) {
        for op in &self.module.block(self.module.top).ops {
            self.op(*op);
            self.out.push('\n');
        }
    }

    /// One operation, without the line's indentation.
    pub(crate) fn op(&mut self, op: OpId) {
        let data = self.module.op(op);
        if !data.results.is_empty() {
            let groups = self.names.groups(self.module, op);
            let text = groups.join(", ");
            self.write(&text);
            self.write(" = ");
        }
        match data.schema().filter(|_| !self.generic_form(op)) {
            Some(schema) => {
                let start = self.out.len();
                self.write(if self.spelling.full { schema.name } else { short_name(schema) });
                let own = self.spelling.form(schema.name);
                match own.unwrap_or(schema.syntax) {
                    Syntax::Generic => {}
                    Syntax::InsOuts { ins, attrs_in_ins } => {
                        self.ins_outs(op, schema, ins, attrs_in_ins);
                    }
                    Syntax::Custom(syntax) => {
                        let after_name = self.out.len();
                        syntax.print(self, op);
                        let tried =
                            own.is_none() && data.regions.is_empty() && syntax.says_all(self.module, op).is_none();
                        if tried && !says_all(self.module, &self.names, op, schema, &self.out[after_name..]) {
                            self.out.truncate(start);
                            self.generic(op);
                        }
                    }
                    Syntax::Format(format) => {
                        let after_name = self.out.len();
                        // An optional part is not written if its first value is missing.
                        let partly = |segments: &[u16]| {
                            let optional = schema.operands.iter().zip(segments).filter(|(o, _)| o.arity != Arity::One);
                            optional.filter(|(_, count)| **count == 0).count() > 0
                        };
                        let tried = own.is_none() && data.regions.is_empty() && partly(&data.segments);
                        let written = self.format(op, schema, format);
                        let text = &self.out[after_name..];
                        if !written || (tried && !says_all(self.module, &self.names, op, schema, text)) {
                            self.out.truncate(start);
                            self.generic(op);
                        }
                    }
                }
            }
            None => self.generic(op),
        }
        if let Some(loc) = &data.loc {
            self.write(&format!(" loc({loc})"));
        }
    }

    /// True if an op is printed in generic form: it has no declaration, has only that form, or does not match its
    /// declaration.
    fn generic_form(&self, op: OpId) -> bool {
        let data = self.module.op(op);
        let Some(schema) = data.schema() else { return true };
        let custom = matches!(schema.syntax, Syntax::Custom(_));
        if !custom && !data.successors.is_empty() {
            return true;
        }
        if !sizes_fit(&data.segments, data.operands.len(), schema.operands) {
            return true;
        }
        let plain = schema.results.iter().all(|r| r.arity == Arity::One);
        if plain && data.results.len() != schema.results.len() {
            return true;
        }
        match schema.syntax {
            Syntax::Generic => true,
            Syntax::InsOuts { ins, .. } => {
                let types: SmallVec<[&Type; 8]> = data.operands.iter().map(|v| self.module.ty(*v)).collect();
                !reads_back(&types, &data.segments, schema, ins)
            }
            Syntax::Format(_) => {
                let missing = |a: &&AttrSpec| a.required && data.attrs.get(a.name).is_none();
                data.regions.len() != schema.regions.len() || schema.attrs.iter().find(missing).is_some()
            }
            Syntax::Custom(syntax) => syntax.says_all(self.module, op) == Some(false),
        }
    }

    /// `"dialect.op"(%a) ({…}) {…} : (T) -> T`.
    fn generic(&mut self, op: OpId) {
        let data = self.module.op(op);
        let (operands, segments) = in_generic_order(data);
        self.write(&escape(&data.name));
        self.write("(");
        self.values(&operands);
        self.write(")");
        for (at, block) in data.successors.iter().enumerate() {
            self.write(if at > 0 { ", " } else { "[" });
            self.block_name(*block);
        }
        self.write(if data.successors.is_empty() { "" } else { "]" });
        if let Some(schema) = data.schema()
            && schema.operands.iter().any(|o| o.arity != Arity::One)
            && data.attrs.get("operandSegmentSizes").is_none()
        {
            let sizes = segment_attr(&segments);
            self.write(&format!(" <{{operandSegmentSizes = {sizes}}}>"));
        }
        if !data.regions.is_empty() {
            self.write(" (");
            for index in 0..data.regions.len() {
                if index > 0 {
                    self.write(", ");
                }
                self.region(op, index, true);
            }
            self.write(")");
        }
        self.attr_dict(op, &[]);
        self.write(" : (");
        self.types_of(&operands);
        self.write(") -> ");
        self.result_types_of(&data.results);
    }
}

/// The operands of an op and the size of each declared group, in the order of the generic form.
fn in_generic_order(data: &Op) -> (SmallVec<[ValueId; 4]>, SmallVec<[u16; 4]>) {
    let Some(schema) = data.schema().filter(|own| !own.generic.is_empty() && own.operands.len() == data.segments.len())
    else {
        return (data.operands.iter().copied().collect(), data.segments.iter().copied().collect());
    };
    let (mut operands, mut segments) = (SmallVec::new(), SmallVec::new());
    for place in schema.generic_order() {
        let first: usize = data.segments[..place].iter().map(|size| usize::from(*size)).sum();
        operands.extend(data.operands[first..first + usize::from(data.segments[place])].iter().copied());
        segments.push(data.segments[place]);
    }
    (operands, segments)
}

/// Appends to a text, which cannot fail.
fn put(out: &mut String, text: fmt::Arguments<'_>) {
    let _ = fmt::Write::write_fmt(out, text);
}

/// The printed name: without the dialect if an alias allows it (`module`, `return`).
fn short_name(schema: &OpSchema) -> &'static str {
    let bare = schema.name.split_once('.').map_or(schema.name, |(_, bare)| bare);
    schema.aliases.iter().find(|a| **a == bare).copied().unwrap_or(schema.name)
}
