//! Iterators and comprehensions.

use std::cell::RefCell;
use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::{Comprehension, Expr};
use slipring_ir::Span;

use super::value::{HostValue, Wrapped};
use crate::host::limits::MOST_VALUES;
use crate::host::state::{Flow, Host};
use crate::host::value::{Each, Element, Frame, Kind, NextItem, Part, Source, unknown};
use crate::syntax::at;
use crate::value::{Const, Unknown};

impl<'a> Host<'a> {
    /// An iterator over a value.
    pub(super) fn iter_of(&mut self, value: &HostValue<'a>, span: Span) -> HostValue<'a> {
        let value = value.clone().seen();
        match &value {
            HostValue::Iter(_) | HostValue::Unknown(_) => return value,
            HostValue::Tuple(items) => return HostValue::iter(Source::Values(items.clone(), 0)),
            HostValue::List(list) => return HostValue::iter(Source::List(list.clone(), 0)),
            HostValue::Dict(dict) => {
                let len = dict.borrow().len();
                return HostValue::iter(Source::Dict(dict.clone(), Part::Keys, 0, len));
            }
            HostValue::View(dict, part) => {
                let len = dict.borrow().len();
                return HostValue::iter(Source::Dict(dict.clone(), *part, 0, len));
            }
            HostValue::Set(set) => {
                let len = set.borrow().len();
                if len < 2 {
                    return HostValue::iter(Source::Dict(set.clone(), Part::Keys, 0, len));
                }
                return self.lost_in(std::slice::from_ref(&value), span, "the order of a set");
            }
            HostValue::Range(first, end, step) => return HostValue::iter(Source::Range(*first, *end, *step)),
            HostValue::Const(Const::Str(text)) => {
                let all = text.chars().map(|c| HostValue::str(c.to_string())).collect();
                return HostValue::iter(Source::Values(Rc::new(all), 0));
            }
            HostValue::Const(Const::None | Const::Int(_) | Const::Float(_) | Const::Bool(_)) => {
                let what = self.type_name(&value);
                return self.fail("TypeError", format!("'{what}' object is not iterable"), span);
            }
            HostValue::Object(object) => {
                if let Some(fields) = self.as_tuple(&value) {
                    return HostValue::iter(Source::Values(Rc::new(fields), 0));
                }
                let method = object.class.as_ref().and_then(|class| class.find("__iter__"));
                if let Some(method @ HostValue::Function(_)) = method {
                    let result = self.call_value(method, vec![(None, value.clone())], span, &|| "__iter__".into());
                    if let HostValue::Iter(_) = result {
                        return result;
                    }
                    return self.lost_in(&[value.clone(), result], span, "what is iterated over");
                }
            }
            _ => {}
        }
        self.lost_in(&[value], span, "what is iterated over")
    }

    /// All values of an iterable; `None` if they are not known or too many, or an exception was raised.
    pub(super) fn all_of(&mut self, value: &HostValue<'a>, span: Span) -> Option<Vec<HostValue<'a>>> {
        if let Some(items) = value.items() {
            return Some(items);
        }
        let iter = self.iter_of(value, span);
        let mut all = Vec::new();
        loop {
            match self.next(&iter, span) {
                NextItem::Item(item) => all.push(item),
                NextItem::End => return Some(all),
                NextItem::Unknown(why) => {
                    all.iter().for_each(|item| self.lose(item, &why));
                    return None;
                }
            }
            if all.len() > MOST_VALUES {
                let why = Rc::new(Unknown::new(span, format!("more than {MOST_VALUES} values")));
                self.lose(&iter, &why);
                return None;
            }
        }
    }

    /// The reason why the values of an iterator are not known.
    pub(super) fn why_not(&self, value: &HostValue<'a>, span: Span, what: &str) -> HostValue<'a> {
        match value.lost() {
            Some(why) => HostValue::Unknown(why),
            None => unknown(span, what),
        }
    }

    /// The next value of an iterator.
    pub(super) fn next(&mut self, iter: &HostValue<'a>, span: Span) -> NextItem<'a> {
        let not = |why: &str| NextItem::Unknown(Rc::new(Unknown::new(span, why)));
        let cell = match iter {
            HostValue::Iter(cell) => cell.clone(),
            HostValue::Unknown(why) => return NextItem::Unknown(why.clone()),
            _ => return not("what is iterated over"),
        };
        if self.raised.is_some() || !self.step() {
            return not("what was not reached");
        }
        if self.nest > super::limits::MOST_NEST {
            self.too_deep(span);
            return not("iterators that are too deep inside each other");
        }
        self.touch(iter);
        self.nest += 1;
        let mut source = std::mem::replace(&mut *cell.borrow_mut(), Source::Busy);
        let step = self.advance(&mut source, span);
        self.nest -= 1;
        let busy = matches!(&*cell.borrow(), Source::Busy);
        if busy {
            *cell.borrow_mut() = match &step {
                NextItem::End => Source::Done,
                NextItem::Unknown(why) => Source::Lost(why.clone()),
                NextItem::Item(_) => source,
            };
        }
        match step {
            NextItem::Item(item) => NextItem::Item(item.seen()),
            other => other,
        }
    }

    fn advance(&mut self, source: &mut Source<'a>, span: Span) -> NextItem<'a> {
        let not = |why: &str| NextItem::Unknown(Rc::new(Unknown::new(span, why)));
        match source {
            Source::Values(items, at) => match items.get(*at) {
                Some(item) => {
                    *at += 1;
                    NextItem::Item(item.clone())
                }
                None => NextItem::End,
            },
            Source::List(list, at) => {
                if let Some(why) = list.lost.borrow().clone() {
                    return NextItem::Unknown(why);
                }
                match list.borrow().get(*at) {
                    Some(item) => {
                        *at += 1;
                        NextItem::Item(item.clone())
                    }
                    None => NextItem::End,
                }
            }
            Source::Backwards(list, left) => {
                if let Some(why) = list.lost.borrow().clone() {
                    return NextItem::Unknown(why);
                }
                if *left == 0 {
                    return NextItem::End;
                }
                *left -= 1;
                list.borrow().get(*left).map_or(NextItem::End, |item| NextItem::Item(item.clone()))
            }
            Source::Dict(dict, part, at, size) => {
                if let Some(why) = dict.lost.borrow().clone() {
                    return NextItem::Unknown(why);
                }
                if dict.borrow().len() != *size {
                    self.fail("RuntimeError", "dictionary changed size during iteration", span);
                    return not("a dict that changed");
                }
                let dict = dict.borrow();
                let Some((_, (key, value))) = dict.get_index(*at) else { return NextItem::End };
                *at += 1;
                NextItem::Item(match part {
                    Part::Keys => key.clone(),
                    Part::Values => value.clone(),
                    Part::Items => HostValue::tuple(vec![key.clone(), value.clone().seen()]),
                })
            }
            Source::Range(next, end, step) => {
                let here = *next;
                if *step == 0 || (*step > 0 && here >= *end) || (*step < 0 && here <= *end) {
                    return NextItem::End;
                }
                // The last value may be the largest 64-bit integer.
                match here.checked_add(*step) {
                    Some(n) => *next = n,
                    None => *next = *end,
                }
                NextItem::Item(HostValue::int(here))
            }
            Source::Zip(all, strict) => {
                let mut row = Vec::new();
                if all.is_empty() {
                    return NextItem::End;
                }
                for iter in all.iter() {
                    match self.next(iter, span) {
                        NextItem::Item(item) => row.push(item),
                        NextItem::End if *strict => return not("`zip(strict=True)` at an end"),
                        NextItem::End => return NextItem::End,
                        other => return other,
                    }
                }
                NextItem::Item(HostValue::tuple(row))
            }
            Source::Map(function, all) => {
                let mut row = Vec::new();
                for iter in all.iter() {
                    match self.next(iter, span) {
                        NextItem::Item(item) => row.push((None, item)),
                        other => return other,
                    }
                }
                let value = self.call_value(function.clone(), row, span, &|| "map".into());
                if self.raised.is_some() { not("what is raised") } else { NextItem::Item(value) }
            }
            Source::Filter(function, inner) => loop {
                let item = match self.next(inner, span) {
                    NextItem::Item(item) => item,
                    other => return other,
                };
                let test = match function {
                    Some(function) => {
                        self.call_value(function.clone(), vec![(None, item.clone())], span, &|| "filter".into())
                    }
                    None => item.clone(),
                };
                match self.bool_of(&test, span) {
                    Some(true) => return NextItem::Item(item),
                    Some(false) => {}
                    None => {
                        let lost = self.lost_in(&[test, item], span, "what is filtered");
                        return lost.lost().map_or_else(|| not("what is filtered"), NextItem::Unknown);
                    }
                }
            },
            Source::Enumerate(inner, at) => match self.next(inner, span) {
                NextItem::Item(item) => {
                    let number = *at;
                    *at = at.saturating_add(1);
                    NextItem::Item(HostValue::tuple(vec![HostValue::int(number), item]))
                }
                other => other,
            },
            Source::Chain(all, at) => loop {
                let Some(iter) = all.get(*at) else { return NextItem::End };
                match self.next(&iter.clone(), span) {
                    NextItem::End => *at += 1,
                    other => return other,
                }
            },
            Source::Each(each) => {
                let scopes = std::mem::replace(&mut self.scopes, each.scopes.clone());
                let module = std::mem::replace(&mut self.module, each.module);
                let step = self.advance_each(each);
                (self.scopes, self.module) = (scopes, module);
                step
            }
            Source::Busy => not("a generator that asks itself"),
            Source::Done => NextItem::End,
            Source::Lost(why) => NextItem::Unknown(why.clone()),
        }
    }

    /// A comprehension that has not begun. Its first iterable is evaluated immediately.
    pub(super) fn each(&mut self, generators: &'a [Comprehension], element: Element<'a>) -> HostValue<'a> {
        let Some(first) = generators.first() else { return unknown(Span::default(), "a comprehension") };
        let span = at(&first.iter);
        let over = self.expr(&first.iter);
        let over = self.iter_of(&over, span);
        let mut scopes = self.scopes.clone();
        scopes.push(Frame::new(Kind::Inner, IndexMap::new()));
        self.costs();
        let each = Each { generators, element, scopes, module: self.module, open: vec![over], begun: false };
        HostValue::iter(Source::Each(Box::new(each)))
    }

    fn advance_each(&mut self, each: &mut Each<'a>) -> NextItem<'a> {
        let generators = each.generators;
        each.begun = true;
        'values: loop {
            let Some(level) = each.open.len().checked_sub(1) else { return NextItem::End };
            let generator = &generators[level];
            let span = at(&generator.iter);
            if generator.is_async {
                return self.lost_comprehension(each, span);
            }
            let item = match self.next(&each.open[level].clone(), span) {
                NextItem::Item(item) => item,
                NextItem::End => {
                    each.open.pop();
                    continue;
                }
                NextItem::Unknown(_) if self.raised.is_some() => return self.lost_comprehension(each, span),
                NextItem::Unknown(why) => {
                    self.lost_comprehension(each, span);
                    return NextItem::Unknown(why);
                }
            };
            self.assign(&generator.target, item);
            for condition in &generator.ifs {
                let test = self.expr(condition);
                match self.bool_of(&test, at(condition)) {
                    Some(true) => {}
                    Some(false) => continue 'values,
                    None => {
                        let step = self.lost_comprehension(each, at(condition));
                        return match test {
                            HostValue::Unknown(why) => NextItem::Unknown(why),
                            _ => step,
                        };
                    }
                }
            }
            if let Some(inner) = generators.get(level + 1) {
                let over = self.expr(&inner.iter);
                let over = self.iter_of(&over, at(&inner.iter));
                each.open.push(over);
                continue;
            }
            let value = match each.element {
                Element::One(expr) => self.expr(expr),
                Element::Entry(key, value) => {
                    let key = self.expr(key);
                    HostValue::tuple(vec![key, self.expr(value)])
                }
            };
            if self.raised.is_some() || self.spent() {
                return NextItem::Unknown(Rc::new(Unknown::new(span, "what is raised")));
            }
            return NextItem::Item(value);
        }
    }

    /// The values of a comprehension are not known: the effects of its element may or may not happen.
    fn lost_comprehension(&mut self, each: &Each<'a>, span: Span) -> NextItem<'a> {
        let why = Rc::new(Unknown::new(span, "a comprehension over what is not known"));
        if self.raised.is_some() || self.spent() {
            return NextItem::Unknown(why);
        }
        each.open.iter().for_each(|open| self.lose(open, &why));
        let (generators, element) = (each.generators, each.element);
        let lost = why.clone();
        self.several(
            span,
            &mut [&mut |host: &mut Host<'a>| {
                for generator in generators {
                    host.assign(&generator.target, HostValue::Unknown(lost.clone()));
                    generator.ifs.iter().for_each(|condition| drop(host.expr(condition)));
                }
                let values = match element {
                    Element::One(expr) => vec![host.expr(expr)],
                    Element::Entry(key, value) => vec![host.expr(key), host.expr(value)],
                };
                values.iter().for_each(|value| host.lose(value, &lost));
                Flow::Next
            }],
        );
        NextItem::Unknown(why)
    }

    /// A list, set or dict comprehension.
    pub(super) fn comprehension(&mut self, expr: &'a Expr, span: Span) -> HostValue<'a> {
        let iter = match expr {
            Expr::ListComp(list) => self.each(&list.generators, Element::One(&list.elt)),
            Expr::SetComp(set) => self.each(&set.generators, Element::One(&set.elt)),
            Expr::DictComp(dict) => match &dict.key {
                Some(key) => self.each(&dict.generators, Element::Entry(key, &dict.value)),
                None => return unknown(span, "this kind of comprehension"),
            },
            _ => return unknown(span, "this kind of comprehension"),
        };
        let Some(items) = self.all_of(&iter, span) else { return self.why_not(&iter, span, "a comprehension") };
        match expr {
            Expr::ListComp(_) => HostValue::list(items),
            Expr::SetComp(_) => self.set_of(items, span),
            _ => {
                let pairs = items.iter().filter_map(|pair| match pair {
                    HostValue::Tuple(pair) => Some((pair[0].clone(), pair[1].clone())),
                    _ => None,
                });
                let pairs: Vec<_> = pairs.collect();
                self.dict_of(pairs, span)
            }
        }
    }

    /// The fields of a named tuple, in order; `None` for other values.
    pub(super) fn as_tuple(&self, value: &HostValue<'a>) -> Option<Vec<HostValue<'a>>> {
        let HostValue::Object(object) = value else { return None };
        let class = object.class.as_ref()?;
        if !class.made.get().named_tuple || object.fields.all_lost().is_some() {
            return None;
        }
        let fields = class.fields.borrow();
        fields.iter().map(|field| object.fields.get(&field.name)).collect()
    }

    /// True for a value that is callable as a function of Python.
    pub(super) fn is_function(value: &HostValue<'a>) -> bool {
        match value {
            HostValue::Wrapped(wrapped) => !matches!(&**wrapped, Wrapped::Property(..)),
            HostValue::Function(_) | HostValue::Bound(_) | HostValue::Class(_) => true,
            _ => false,
        }
    }
}

/// An iterator over known values.
pub(super) fn values_iter<'a>(items: Vec<HostValue<'a>>) -> HostValue<'a> {
    HostValue::Iter(Rc::new(RefCell::new(Source::Values(Rc::new(items), 0))))
}
