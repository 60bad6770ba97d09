//! Checks of an op against its declaration as it is parsed: attributes, types of operands and results.

use super::parser::is_unknown;
use slipring_tile::nearest;

use crate::declaration::OpParser;
use crate::{Attr, AttrKind, AttrSpec, Diagnostic, OpId, Sign, Span, Syntax, Type};

impl<'a> OpParser<'a> {
    /// Reports violations of an op's declaration. Attributes are converted to the form of their kind: integers without
    /// a type, members of the declared enumeration.
    pub(crate) fn check(&mut self, op: OpId) {
        let Some(schema) = self.module.op(op).schema() else { return };
        let op_span = self.module.op(op).span;
        for place in 0..self.module.op(op).attrs.len() {
            let Some((name, attr)) = self.module.op(op).attrs.at(place) else { break };
            let (name, attr) = (name.clone(), attr.clone());
            let span = self.marks.attrs.iter().find(|(n, _)| **n == *name).map_or(op_span, |(_, s)| *s);
            match schema.attrs.iter().find(|spec| *spec.name == *name) {
                Some(spec) => {
                    if let Some(changed) = self.attr_as_declared(spec, attr, span) {
                        self.module.op_mut(op).attrs.set(name, changed);
                    }
                }
                // A name with a dot belongs to its dialect: one of another dialect is allowed anywhere. Any other may
                // change the meaning.
                None if self.registry.is_hint(&name) => {}
                None if name.split_once('.').is_some_and(|(dialect, _)| !self.registry.has_dialect(dialect)) => {}
                None => {
                    let message = format!("`{}` has no attribute `{name}`", schema.name);
                    let mut d = Diagnostic::error("unknown-attribute", span, message);
                    if let Some(near) = nearest(&name, schema.attrs.iter().map(|a| a.name)) {
                        d = d.help(format!("is `{near}` meant?"));
                    }
                    self.fail(d);
                }
            }
        }
        for spec in schema.attrs.iter().filter(|a| a.required) {
            if self.module.op(op).attrs.get(spec.name).is_none() {
                let message = format!("`{}` needs the attribute `{}`", schema.name, spec.name);
                let d = Diagnostic::error("attribute", op_span, message);
                self.fail(if spec.doc.is_empty() { d } else { d.note(format!("`{}`: {}", spec.name, spec.doc)) });
            }
        }
        self.check_operands(op);
        self.check_results(op);
        let regions = self.module.op(op).regions.len();
        // A form of its own may have more of them.
        let own = match schema.syntax {
            Syntax::Custom(syntax) if !schema.regions.is_empty() => syntax.says_all(self.module, op) == Some(true),
            _ => false,
        };
        if regions != schema.regions.len() && !own {
            let message = format!("`{}` has {} regions, not {regions}", schema.name, schema.regions.len());
            self.error("regions", op_span, message);
        }
    }

    fn check_operands(&mut self, op: OpId) {
        let Some(schema) = self.module.op(op).schema() else { return };
        let op_span = self.module.op(op).span;
        for (index, spec) in schema.operands.iter().enumerate() {
            for value in self.module.operand_group(op, index).to_vec() {
                let ty = self.module.ty(value);
                if is_unknown(ty) || (spec.ty.accepts)(ty) {
                    continue;
                }
                if self.has_enough_errors() {
                    return;
                }
                let name = self.module.value_name(value);
                let defined = self.module.value(value).span;
                let span = self.use_span(value).unwrap_or(op_span);
                let message = format!("`{}` of `{}` is {}", spec.name, schema.name, spec.ty.describe);
                let d = Diagnostic::error("operand-type", span, message)
                    .label(format!("`{name}` is a `{ty}`"))
                    .also(defined, "defined here");
                self.fail(d);
            }
        }
    }

    fn check_results(&mut self, op: OpId) {
        let Some(schema) = self.module.op(op).schema() else { return };
        // With a variadic result among several, the assignment is not known here.
        let plain = schema.results.len() == self.module.op(op).results.len();
        let results = self.module.op(op).results.clone();
        let rules = schema.results.iter().filter(|_| plain || schema.results.len() == 1).cycle();
        for (value, spec) in results.iter().zip(rules) {
            let data = self.module.value(*value);
            if is_unknown(&data.ty) || (spec.ty.accepts)(&data.ty) {
                continue;
            }
            let message = format!("`{}` of `{}` is {}", spec.name, schema.name, spec.ty.describe);
            let d = Diagnostic::error("result-type", data.span, message).label(format!("this is a `{}`", data.ty));
            self.fail(d);
        }
    }

    /// An attribute in the form of its declared kind; reports one of another kind.
    fn attr_as_declared(&mut self, spec: &AttrSpec, attr: Attr, span: Span) -> Option<Attr> {
        let fits = match (&attr, spec.kind) {
            (Attr::Int(value, ty), AttrKind::Int) => {
                if *ty == Type::I1 {
                    return Some(Attr::Int(*value & 1, Type::I64));
                }
                return Some(Attr::Int(*value, Type::I64));
            }
            // A signless integer may be written as signed or unsigned: `255 : i8` is -1.
            (Attr::Int(value, ty @ Type::Int { width: width @ 2..=64, sign: Sign::Signless }), AttrKind::Any) => {
                let free = 128 - u32::from(*width);
                return Some(Attr::Int(*value << free >> free, ty.clone()));
            }
            (Attr::Unit, AttrKind::Bool) => return Some(Attr::Bool(true)),
            (Attr::Int(value @ (0 | 1), _), AttrKind::Bool) => return Some(Attr::Bool(*value == 1)),
            (Attr::Bool(true), AttrKind::Unit) => return Some(Attr::Unit),
            // In the generic form, members of some enumerations are given by number.
            (Attr::Int(number, Type::Int { .. }), AttrKind::Enum(spec)) if spec.numbered => {
                let member = usize::try_from(*number).ok().and_then(|at| spec.members.get(at));
                if let Some(member) = member {
                    return Some(Attr::member(spec.kind, member));
                }
                false
            }
            (Attr::Enum(kind, member), AttrKind::Enum(spec)) => {
                return self.check_member(spec, kind, member, span).ok();
            }
            (Attr::Str(member), AttrKind::Enum(spec)) => {
                return self.check_member(spec, spec.kind, member, span).ok();
            }
            (Attr::Opaque(whole), AttrKind::Flags(spec)) => match spec.read(whole) {
                Some(words) => return Some(Attr::Opaque(spec.whole(&words).into())),
                None => false,
            },
            // In the generic form such a list is an array of the dialect's own kind.
            (Attr::DenseArray(Type::Int { .. }, items), AttrKind::Numbers) => {
                return Some(Attr::Array(items.iter().map(|item| Attr::Int(*item, Type::I64)).collect()));
            }
            (Attr::Array(items), AttrKind::Numbers) => items.iter().all(|item| matches!(item, Attr::Int(..))),
            (_, AttrKind::Any)
            | (Attr::Bool(_), AttrKind::Bool)
            | (Attr::Str(_), AttrKind::Str)
            | (Attr::Symbol(_), AttrKind::Symbol)
            | (Attr::Unit, AttrKind::Unit)
            | (Attr::Type(_), AttrKind::Type) => true,
            _ => false,
        };
        if !fits {
            let what = match spec.kind {
                AttrKind::Int => "an integer".to_string(),
                AttrKind::Bool => "`true` or `false`".to_string(),
                AttrKind::Str => "a string".to_string(),
                AttrKind::Symbol => "a symbol such as `@name`".to_string(),
                AttrKind::Unit => "without a value".to_string(),
                AttrKind::Type => "a type".to_string(),
                AttrKind::Enum(e) => format!("a member of `{}`, one of {}", e.kind, e.members.join(", ")),
                AttrKind::Flags(e) => format!("`{}<…>` of {}", e.head, e.words.join(", ")),
                AttrKind::Numbers => "a list of integers such as `[0, 1]`".to_string(),
                AttrKind::Any => "an attribute".to_string(),
            };
            let d = Diagnostic::error("attribute", span, format!("`{}` is {what}", spec.name));
            self.fail(d.label(format!("this is `{attr}`")));
        }
        None
    }
}
