//! Whether the text of an op, in the form of its declaration, captures the whole op.
//!
//! Values in optional parts of a form, and attributes that a hand-written form does not show, would be lost.

use std::collections::BTreeMap;
use std::sync::Arc;

use smallvec::SmallVec;

use super::lexer::Tok;
use crate::declaration::OpParser;
use crate::text::kept::{Marks, Names};
use crate::{Attr, AttrDict, Module, OpId, OpSchema, Registry, Source, Span, Syntax, ValueId};

/// Parses the text printed after the name of an op without regions. True if it is the same op: operands, attributes and
/// the types of its results.
pub(super) fn says_all(module: &Module, names: &Names, op: OpId, schema: &'static OpSchema, text: &str) -> bool {
    let data = module.op(op);
    let mut scratch = Module::new(Arc::new(Source::new("", "")));
    let top = scratch.top;
    // Names of values in the text; results of one op may share theirs.
    let mut groups: BTreeMap<String, BTreeMap<usize, ValueId>> = BTreeMap::new();
    for value in &data.operands {
        let name = names.get(module, *value);
        let name = name.trim_start_matches('%');
        let (base, at) = name.split_once('#').unwrap_or((name, "0"));
        groups.entry(base.to_string()).or_default().insert(at.parse().unwrap_or(0), *value);
    }
    let mut stands_for: BTreeMap<ValueId, ValueId> = BTreeMap::new();
    let mut defined: Vec<(&str, SmallVec<[ValueId; 1]>)> = Vec::new();
    for (name, members) in &groups {
        let last = members.last_key_value().map_or(0, |(at, _)| *at);
        let ty = |at: usize| members.get(&at).or(members.values().next()).map(|v| module.ty(*v).clone());
        let values = (0..=last).filter_map(|at| Some(scratch.add_arg(top, ty(at)?, None, Span::default()))).collect();
        defined.push((name, values));
        let values = &defined[defined.len() - 1].1;
        stands_for.extend(members.iter().map(|(at, value)| (*value, values[*at])));
    }
    let read = scratch.create(schema.name, Some(schema), Span::default());
    let registry = Registry::default();
    let mut parser = OpParser::new(text, &mut scratch, &registry);
    parser.marks = Marks { named_results: data.results.len(), ..Marks::default() };
    for (name, values) in defined {
        parser.define(name, values, Span::default());
    }
    let parsed = match schema.syntax {
        Syntax::Custom(syntax) => syntax.parse(&mut parser, read),
        _ => parser.format(read, schema),
    };
    let whole = parsed.is_ok() && parser.tok() == Tok::Eof && !parser.diags.has_errors();
    let again = scratch.op(read);
    let operands = data.operands.iter().map(|value| stands_for.get(value));
    let results = |of: &Module, list: &[ValueId]| list.iter().map(|v| of.ty(*v).clone()).collect::<Vec<_>>();
    whole
        && operands.eq(again.operands.iter().map(Some))
        && data.segments == again.segments
        && sorted(&data.attrs) == sorted(&again.attrs)
        && results(module, &data.results) == results(&scratch, &again.results)
}

fn sorted(attrs: &AttrDict) -> Vec<(&str, &Attr)> {
    let mut list: Vec<_> = attrs.iter().collect();
    list.sort_by_key(|(name, _)| *name);
    list
}
