//! Methods of lists, dicts, sets and strings.

use std::rc::Rc;

use slipring_ir::Span;

use super::key::NoKey;
use super::value::HostValue;
use crate::host::limits::{MOST_TEXT, MOST_VALUES};
use crate::host::state::Host;
use crate::host::value::{Part, unknown};
use crate::value::Const;

/// Arguments of a call.
type Args<'v, 'a> = &'v [(Option<Rc<str>>, HostValue<'a>)];

/// The arguments, if all are positional.
fn plain<'a>(given: Args<'_, 'a>) -> Option<Vec<HostValue<'a>>> {
    given.iter().map(|(name, value)| name.is_none().then(|| value.clone())).collect()
}

impl<'a> Host<'a> {
    /// The result of a method that is not modelled, or not for these arguments.
    fn no_method(&mut self, base: &HostValue<'a>, name: &str, given: Args<'_, 'a>, span: Span) -> HostValue<'a> {
        if self.raised.is_some() {
            return unknown(span, "what is raised");
        }
        let what = self.type_name(base);
        self.not_followed(base.clone(), given, span, &format!("a call of `{name}` of a {what}"))
    }

    pub(super) fn list_method(
        &mut self,
        base: &HostValue<'a>,
        name: &str,
        given: Args<'_, 'a>,
        span: Span,
    ) -> HostValue<'a> {
        let args = plain(given);
        if let HostValue::List(list) = base {
            let list = list.clone();
            let fits = list.borrow().len() < MOST_VALUES;
            let index = |n: i64, len: usize| {
                let at = if n < 0 { n.saturating_add(len as i64) } else { n };
                usize::try_from(at).ok()
            };
            match (name, args.as_deref()) {
                ("append", Some([item])) if fits => {
                    self.touch(base);
                    list.borrow_mut().push(item.clone());
                    return HostValue::none();
                }
                ("extend", Some([more])) => {
                    use ruff_python_ast::Operator;
                    self.in_place(Operator::Add, base.clone(), more.clone(), span);
                    return HostValue::none();
                }
                ("insert", Some([HostValue::Const(Const::Int(n)), item])) if fits => {
                    self.touch(base);
                    let len = list.borrow().len();
                    let at = if *n < 0 { n.saturating_add(len as i64).max(0) } else { *n };
                    list.borrow_mut().insert(usize::try_from(at).unwrap_or(len).min(len), item.clone());
                    return HostValue::none();
                }
                ("pop", Some([])) | ("pop", Some([HostValue::Const(Const::Int(_))])) => {
                    let n = match args.as_deref() {
                        Some([HostValue::Const(Const::Int(n))]) => *n,
                        _ => -1,
                    };
                    let len = list.borrow().len();
                    let Some(at) = index(n, len).filter(|at| *at < len) else {
                        return self.fail("IndexError", "pop from empty list or index out of range", span);
                    };
                    self.touch(base);
                    let item = list.borrow_mut().remove(at);
                    return item;
                }
                ("remove", Some([item])) => {
                    let items = list.borrow().clone();
                    for (at, other) in items.iter().enumerate() {
                        match self.equals(other, item, span, 0) {
                            Some(true) => {
                                self.touch(base);
                                if at < list.borrow().len() {
                                    list.borrow_mut().remove(at);
                                }
                                return HostValue::none();
                            }
                            Some(false) => {}
                            None => return self.no_method(base, name, given, span),
                        }
                    }
                    return self.fail("ValueError", "list.remove(x): x not in list", span);
                }
                ("reverse", Some([])) => {
                    self.touch(base);
                    list.borrow_mut().reverse();
                    return HostValue::none();
                }
                ("clear", Some([])) => {
                    self.touch(base);
                    list.borrow_mut().clear();
                    return HostValue::none();
                }
                ("copy", Some([])) => {
                    self.costs();
                    return HostValue::list(list.borrow().clone());
                }
                ("sort", _) => {
                    let items = list.borrow().clone();
                    let Some(sorted) = self.sorted(items, given, span) else {
                        return self.no_method(base, name, given, span);
                    };
                    self.touch(base);
                    *list.borrow_mut() = sorted;
                    return HostValue::none();
                }
                _ => {}
            }
        }
        let Some(items) = base.items() else { return self.no_method(base, name, given, span) };
        match (name, args.as_deref()) {
            ("index", Some([item])) => {
                for (at, other) in items.iter().enumerate() {
                    match self.equals(other, item, span, 0) {
                        Some(true) => return HostValue::int(at as i64),
                        Some(false) => {}
                        None => return self.no_method(base, name, given, span),
                    }
                }
                self.fail("ValueError", "the value is not in the list", span)
            }
            ("count", Some([item])) => {
                let mut count = 0;
                for other in &items {
                    match self.equals(other, item, span, 0) {
                        Some(equal) => count += i64::from(equal),
                        None => return self.no_method(base, name, given, span),
                    }
                }
                HostValue::int(count)
            }
            _ => self.no_method(base, name, given, span),
        }
    }

    pub(super) fn dict_method(
        &mut self,
        base: &HostValue<'a>,
        name: &str,
        given: Args<'_, 'a>,
        span: Span,
    ) -> HostValue<'a> {
        let HostValue::Dict(dict) = base else { return unknown(span, "a dict") };
        let dict = dict.clone();
        let args = plain(given);
        let key = match args.as_deref() {
            Some([key, ..]) if matches!(name, "get" | "pop" | "setdefault") => match self.key(key, span) {
                Ok(own) => Some((own, key.clone())),
                Err(NoKey::Refused(raised)) => return raised,
                Err(NoKey::NotKnown) => return self.no_method(base, name, given, span),
            },
            _ => None,
        };
        match (name, args.as_deref(), key) {
            ("get", Some([_] | [_, _]), Some((own, _))) => {
                let found = dict.borrow().get(&own).map(|(_, value)| value.clone());
                let other = args.as_deref().and_then(|args| args.get(1).cloned());
                found.or(other).unwrap_or_else(HostValue::none)
            }
            ("items", Some([]), _) => HostValue::View(dict, Part::Items),
            ("values", Some([]), _) => HostValue::View(dict, Part::Values),
            ("keys", Some([]), _) => HostValue::View(dict, Part::Keys),
            ("pop", Some([_] | [_, _]), Some((own, key))) => {
                self.touch(base);
                let found = dict.borrow_mut().shift_remove(&own);
                let other = args.as_deref().and_then(|args| args.get(1).cloned());
                match (found, other) {
                    (Some((_, value)), _) | (None, Some(value)) => value,
                    (None, None) => self.raise(HostValue::Exception(Rc::new(("KeyError".into(), vec![key]))), span),
                }
            }
            ("setdefault", Some([_] | [_, _]), Some((own, key))) => {
                self.touch(base);
                let other = args.as_deref().and_then(|args| args.get(1).cloned()).unwrap_or_else(HostValue::none);
                let mut dict = dict.borrow_mut();
                dict.entry(own).or_insert_with(|| (key, other)).1.clone()
            }
            ("popitem", Some([]), _) => {
                self.touch(base);
                let last = dict.borrow_mut().pop();
                match last {
                    Some((_, (key, value))) => HostValue::tuple(vec![key, value]),
                    None => self.fail("KeyError", "popitem(): dictionary is empty", span),
                }
            }
            ("clear", Some([]), _) => {
                self.touch(base);
                dict.borrow_mut().clear();
                HostValue::none()
            }
            ("copy", Some([]), _) => {
                self.costs();
                HostValue::dict(dict.borrow().clone())
            }
            ("update", ..) => {
                let Some(pairs) = self.pairs_of(given, span) else { return self.no_method(base, name, given, span) };
                for (key, value) in pairs {
                    self.set_element(base, key, value, span);
                }
                HostValue::none()
            }
            _ => self.no_method(base, name, given, span),
        }
    }

    /// The entries in arguments of `dict(…)` and `update(…)`; `None` if they are not known.
    pub(super) fn pairs_of(&mut self, given: Args<'_, 'a>, span: Span) -> Option<Vec<(HostValue<'a>, HostValue<'a>)>> {
        let mut pairs = Vec::new();
        for (name, value) in given {
            match (name, value) {
                (Some(name), value) => pairs.push((HostValue::str(name.clone()), value.clone())),
                (None, HostValue::Dict(more)) => pairs.extend(more.borrow().values().cloned()),
                (None, list) => {
                    for pair in self.all_of(list, span)? {
                        let pair = self.all_of(&pair, span)?;
                        let [key, value] = &pair[..] else {
                            self.fail("ValueError", "an element of a dict is not a pair", span);
                            return None;
                        };
                        pairs.push((key.clone(), value.clone()));
                    }
                }
            }
        }
        Some(pairs)
    }

    pub(super) fn set_method(
        &mut self,
        base: &HostValue<'a>,
        name: &str,
        given: Args<'_, 'a>,
        span: Span,
    ) -> HostValue<'a> {
        use ruff_python_ast::Operator;
        let HostValue::Set(set) = base else { return unknown(span, "a set") };
        let set = set.clone();
        let args = plain(given);
        match (name, args.as_deref()) {
            ("add" | "discard" | "remove", Some([item])) => {
                let key = match self.key(item, span) {
                    Ok(key) => key,
                    Err(NoKey::Refused(raised)) => return raised,
                    Err(NoKey::NotKnown) => return self.no_method(base, name, given, span),
                };
                self.touch(base);
                if name == "add" {
                    set.borrow_mut().entry(key).or_insert_with(|| (item.clone(), HostValue::none()));
                    return HostValue::none();
                }
                let found = set.borrow_mut().shift_remove(&key);
                if found.is_none() && name == "remove" {
                    return self.raise(HostValue::Exception(Rc::new(("KeyError".into(), vec![item.clone()]))), span);
                }
                HostValue::none()
            }
            ("clear", Some([])) => {
                self.touch(base);
                set.borrow_mut().clear();
                HostValue::none()
            }
            ("copy", Some([])) => HostValue::set(set.borrow().clone()),
            ("union" | "intersection" | "difference" | "symmetric_difference" | "update", Some([other])) => {
                let Some(items) = self.members_of(other, span) else {
                    return self.no_method(base, name, given, span);
                };
                let other = self.set_of(items, span);
                let op = match name {
                    "union" | "update" => Operator::BitOr,
                    "intersection" => Operator::BitAnd,
                    "difference" => Operator::Sub,
                    _ => Operator::BitXor,
                };
                if name == "update" {
                    self.in_place(op, base.clone(), other, span);
                    return HostValue::none();
                }
                self.binary(op, base.clone(), other, span)
            }
            ("issubset" | "issuperset" | "isdisjoint", Some([other])) => {
                let items = self.members_of(other, span);
                let Some(HostValue::Set(other)) = items.map(|items| self.set_of(items, span)) else {
                    return self.no_method(base, name, given, span);
                };
                let (own, other) = (set.borrow(), other.borrow());
                HostValue::bool(match name {
                    "issubset" => own.keys().all(|key| other.contains_key(key)),
                    "issuperset" => other.keys().all(|key| own.contains_key(key)),
                    _ => !own.keys().any(|key| other.contains_key(key)),
                })
            }
            _ => self.no_method(base, name, given, span),
        }
    }

    /// The values of an iterable whose order does not matter.
    pub(super) fn members_of(&mut self, value: &HostValue<'a>, span: Span) -> Option<Vec<HostValue<'a>>> {
        match value {
            HostValue::Set(set) if set.lost.borrow().is_none() => {
                Some(set.borrow().values().map(|(item, _)| item.clone()).collect())
            }
            other => self.all_of(other, span),
        }
    }

    /// Values in the order of `sorted`; `None` if it is not known.
    pub(super) fn sorted(
        &mut self,
        items: Vec<HostValue<'a>>,
        given: Args<'_, 'a>,
        span: Span,
    ) -> Option<Vec<HostValue<'a>>> {
        let (mut key, mut reverse) = (None, false);
        for (name, value) in given {
            match (name.as_deref(), value) {
                (Some("key"), HostValue::Const(Const::None)) | (None, _) => {}
                (Some("key"), function) => key = Some(function.clone()),
                (Some("reverse"), value) => reverse = self.bool_of(value, span)?,
                _ => return None,
            }
        }
        let mut keyed = Vec::new();
        for item in items {
            let own = match &key {
                Some(function) => self.call_value(function.clone(), vec![(None, item.clone())], span, &|| "key".into()),
                None => item.clone(),
            };
            if self.raised.is_some() {
                return None;
            }
            keyed.push((own, item));
        }
        if reverse {
            keyed.reverse();
        }
        // Merge sort by hand, because a comparison may run code of the file.
        let sorted = self.merge_sorted(keyed, span)?;
        let mut sorted: Vec<_> = sorted.into_iter().map(|(_, item)| item).collect();
        if reverse {
            sorted.reverse();
        }
        Some(sorted)
    }

    #[allow(clippy::type_complexity, reason = "pairs of a key and its value")]
    fn merge_sorted(
        &mut self,
        items: Vec<(HostValue<'a>, HostValue<'a>)>,
        span: Span,
    ) -> Option<Vec<(HostValue<'a>, HostValue<'a>)>> {
        let mut runs: Vec<Vec<_>> = items.into_iter().map(|item| vec![item]).collect();
        while runs.len() > 1 {
            let mut merged = Vec::new();
            let mut rest = runs.into_iter();
            while let Some(first) = rest.next() {
                let Some(second) = rest.next() else {
                    merged.push(first);
                    break;
                };
                let (mut first, mut second) = (first.into_iter().peekable(), second.into_iter().peekable());
                let mut run = Vec::new();
                while let (Some(a), Some(b)) = (first.peek(), second.peek()) {
                    let (a, b) = (a.0.clone(), b.0.clone());
                    let less = self.compare(ruff_python_ast::CmpOp::Lt, &b, &a, span);
                    let less = self.bool_of(&less, span)?;
                    run.extend(if less { second.next() } else { first.next() });
                }
                run.extend(first);
                run.extend(second);
                merged.push(run);
            }
            runs = merged;
        }
        Some(runs.pop().unwrap_or_default())
    }

    pub(super) fn str_method(&mut self, text: &Rc<str>, name: &str, given: Args<'_, 'a>, span: Span) -> HostValue<'a> {
        let base = HostValue::str(text.clone());
        // Characters beyond ASCII have special rules.
        if !text.is_ascii() {
            return self.no_method(&base, name, given, span);
        }
        if name == "format" {
            return self.no_method(&base, name, given, span);
        }
        let Some(args) = plain(given) else { return self.no_method(&base, name, given, span) };
        if name == "join"
            && let [list] = &args[..]
        {
            let Some(parts) = self.all_of(list, span) else { return self.no_method(&base, name, given, span) };
            let texts: Option<Vec<String>> = parts.iter().map(HostValue::text).collect();
            let Some(texts) = texts.filter(|texts| texts.iter().map(String::len).sum::<usize>() < MOST_TEXT) else {
                return self.no_method(&base, name, given, span);
            };
            return HostValue::str(texts.join(text));
        }
        let strings: Option<Vec<String>> = args.iter().map(HostValue::text).collect();
        if strings.as_ref().is_some_and(|all| all.iter().any(|text| !text.is_ascii())) {
            return self.no_method(&base, name, given, span);
        }
        let strings: Option<Vec<&str>> = strings.as_ref().map(|all| all.iter().map(String::as_str).collect());
        let list = |parts: Vec<String>| HostValue::list(parts.into_iter().map(HostValue::str).collect());
        let number = |found: Option<usize>| HostValue::int(found.map_or(-1, |at| at as i64));
        if let Some(strings) = strings.as_deref() {
            let known = match (name, strings) {
                ("upper", []) => Some(HostValue::str(text.to_ascii_uppercase())),
                ("lower" | "casefold", []) => Some(HostValue::str(text.to_ascii_lowercase())),
                ("strip", []) => Some(HostValue::str(text.trim_matches(is_blank))),
                ("lstrip", []) => Some(HostValue::str(text.trim_start_matches(is_blank))),
                ("rstrip", []) => Some(HostValue::str(text.trim_end_matches(is_blank))),
                ("strip", [set]) => Some(HostValue::str(text.trim_matches(|c| set.contains(c)))),
                ("lstrip", [set]) => Some(HostValue::str(text.trim_start_matches(|c| set.contains(c)))),
                ("rstrip", [set]) => Some(HostValue::str(text.trim_end_matches(|c| set.contains(c)))),
                ("split", []) => {
                    let parts = text.split(is_blank).filter(|part| !part.is_empty());
                    Some(list(parts.map(str::to_string).collect()))
                }
                ("split", [by]) if !by.is_empty() => Some(list(text.split(by).map(str::to_string).collect())),
                ("startswith", [part]) => Some(HostValue::bool(text.starts_with(part))),
                ("endswith", [part]) => Some(HostValue::bool(text.ends_with(part))),
                ("find", [part]) => Some(number(text.find(part))),
                ("rfind", [part]) => Some(number(text.rfind(part))),
                ("index", [part]) => match text.find(part) {
                    Some(at) => Some(HostValue::int(at as i64)),
                    None => return self.fail("ValueError", "substring not found", span),
                },
                ("count", [part]) if !part.is_empty() => Some(HostValue::int(text.matches(part).count() as i64)),
                ("replace", [from, to])
                    if !from.is_empty() && (text.len() + 1).saturating_mul(to.len() + 1) < MOST_TEXT =>
                {
                    Some(HostValue::str(text.replace(from, to)))
                }
                ("removeprefix", [part]) => Some(HostValue::str(text.strip_prefix(part).unwrap_or(text))),
                ("removesuffix", [part]) => Some(HostValue::str(text.strip_suffix(part).unwrap_or(text))),
                ("partition", [by]) if !by.is_empty() => {
                    let (a, b, c) = match text.split_once(by) {
                        Some((a, c)) => (a, *by, c),
                        None => (&**text, "", ""),
                    };
                    Some(HostValue::tuple([a, b, c].into_iter().map(HostValue::str).collect()))
                }
                ("isdigit" | "isdecimal" | "isnumeric", []) => {
                    Some(HostValue::bool(!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())))
                }
                ("isalpha", []) => {
                    Some(HostValue::bool(!text.is_empty() && text.bytes().all(|b| b.is_ascii_alphabetic())))
                }
                ("isalnum", []) => {
                    Some(HostValue::bool(!text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric())))
                }
                ("isspace", []) => Some(HostValue::bool(!text.is_empty() && text.chars().all(is_blank))),
                ("isupper", []) => {
                    let letters = text.bytes().any(|b| b.is_ascii_uppercase());
                    Some(HostValue::bool(letters && !text.bytes().any(|b| b.is_ascii_lowercase())))
                }
                ("islower", []) => {
                    let letters = text.bytes().any(|b| b.is_ascii_lowercase());
                    Some(HostValue::bool(letters && !text.bytes().any(|b| b.is_ascii_uppercase())))
                }
                ("capitalize", []) => {
                    let (first, rest) = text.split_at(1.min(text.len()));
                    Some(HostValue::str(first.to_ascii_uppercase() + &rest.to_ascii_lowercase()))
                }
                _ => None,
            };
            if let Some(known) = known {
                return known;
            }
        }
        match (name, &args[..]) {
            ("zfill", [HostValue::Const(Const::Int(n))]) if *n < MOST_TEXT as i64 => {
                let (sign, digits) = match text.strip_prefix(['-', '+']) {
                    Some(digits) => (&text[..1], digits),
                    None => ("", &**text),
                };
                let padding = usize::try_from(*n).unwrap_or(0).saturating_sub(text.len());
                HostValue::str(format!("{sign}{}{digits}", "0".repeat(padding)))
            }
            ("ljust" | "rjust", [HostValue::Const(Const::Int(n))]) if *n < MOST_TEXT as i64 => {
                let padding = " ".repeat(usize::try_from(*n).unwrap_or(0).saturating_sub(text.len()));
                HostValue::str(if name == "ljust" { format!("{text}{padding}") } else { format!("{padding}{text}") })
            }
            ("startswith" | "endswith", [HostValue::Tuple(parts)]) => {
                let Some(parts) = parts.iter().map(HostValue::text).collect::<Option<Vec<String>>>() else {
                    return self.no_method(&base, name, given, span);
                };
                HostValue::bool(parts.iter().any(|part| match name {
                    "startswith" => text.starts_with(part.as_str()),
                    _ => text.ends_with(part.as_str()),
                }))
            }
            _ => self.no_method(&base, name, given, span),
        }
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c' | '\x1c' | '\x1d' | '\x1e' | '\x1f')
}
