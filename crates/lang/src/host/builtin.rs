//! Builtin functions of Python.

use std::rc::Rc;

use ruff_python_ast::{CmpOp, Operator};
use slipring_ir::Span;

use super::iter::values_iter;
use super::text::Text;
use super::value::{Given, HostValue};
use crate::host::contents::range_len;
use crate::host::state::Host;
use crate::host::value::{NextItem, Source, because, unknown};
use crate::numbers::of_numbers;
use crate::value::Const;

impl<'a> Host<'a> {
    /// A call of a builtin function; `None` if it is not modelled, or not for these arguments.
    pub(super) fn call_builtin(&mut self, path: &str, given: &Given<'a>, span: Span) -> Option<HostValue<'a>> {
        let args: Vec<HostValue<'a>> = given.iter().filter(|(n, _)| n.is_none()).map(|(_, v)| v.clone()).collect();
        let named: Vec<(&str, HostValue<'a>)> =
            given.iter().filter_map(|(name, value)| Some((name.as_deref()?, value.clone()))).collect();
        let keyword = |wanted: &str| named.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.clone());
        let only = |words: &[&str]| named.iter().all(|(name, _)| words.contains(name));
        match path {
            "print" => {
                for arg in &args {
                    if let HostValue::Object(_) = arg {
                        self.str_of(arg, span);
                    }
                }
                return Some(HostValue::none());
            }
            "dict" if args.len() < 2 => {
                let pairs = self.pairs_of(given, span)?;
                return Some(self.dict_of(pairs, span));
            }
            "max" | "min" if only(&["key", "default"]) => return self.extreme(path, &args, &named, span),
            "sorted" if args.len() == 1 && only(&["key", "reverse"]) => {
                let items = self.members_of(&args[0], span)?;
                return self.sorted(items, given, span).map(HostValue::list);
            }
            "sum" if only(&["start"]) && !args.is_empty() && args.len() < 3 => {
                let start = args.get(1).cloned().or_else(|| keyword("start")).unwrap_or_else(|| HostValue::int(0));
                return self.sum(&args[0], start, span);
            }
            "enumerate" if only(&["start"]) && !args.is_empty() && args.len() < 3 => {
                let start = args.get(1).cloned().or_else(|| keyword("start")).unwrap_or_else(|| HostValue::int(0));
                let HostValue::Const(Const::Int(start)) = start else { return None };
                let inner = self.iter_of(&args[0], span);
                return Some(self.made_iter(vec![inner], |mut all| Source::Enumerate(all.remove(0), start)));
            }
            "zip" if only(&["strict"]) => {
                let strict = match keyword("strict") {
                    Some(value) => self.bool_of(&value, span)?,
                    None => false,
                };
                let all: Vec<_> = args.iter().map(|arg| self.iter_of(arg, span)).collect();
                return Some(self.made_iter(all, |all| Source::Zip(all, strict)));
            }
            "int" if named.is_empty() && args.len() == 2 => return self.int_of_base(&args, span),
            _ => {}
        }
        if !named.is_empty() {
            return None;
        }
        Some(match (path, &args[..]) {
            ("object", []) => self.instance(&Host::plain_class("object"), Vec::new(), span),
            ("tuple", []) => HostValue::tuple(Vec::new()),
            ("list", []) => HostValue::list(Vec::new()),
            ("set" | "frozenset", []) => HostValue::set(super::value::Entries::new()),
            ("str", []) => HostValue::str(""),
            ("int", []) => HostValue::int(0),
            ("float", []) => HostValue::Const(Const::Float(0.0)),
            ("bool", []) => HostValue::bool(false),
            ("tuple", [tuple @ HostValue::Tuple(_)]) => tuple.clone(),
            ("tuple", [list]) => HostValue::tuple(self.all_of(list, span)?),
            ("list", [list]) => {
                self.costs();
                HostValue::list(self.all_of(list, span)?)
            }
            ("set", [list]) => {
                let items = self.members_of(list, span)?;
                self.set_of(items, span)
            }
            ("len", [value]) => self.len_of(value, span)?,
            ("bool", [value]) => HostValue::bool(self.bool_of(value, span)?),
            ("str", [value]) => Text::of(self.str_of(value, span), value)?.value(span),
            ("repr", [value]) => Text::of(self.repr_of(value, span), value)?.value(span),
            ("format", [value]) => Text::of(self.formatted(value, "", span), value)?.value(span),
            ("format", [value, HostValue::Const(Const::Str(spec))]) => {
                HostValue::str(self.formatted(value, &spec.clone(), span)?)
            }
            ("reversed", [HostValue::List(list)]) => {
                let len = list.borrow().len();
                HostValue::iter(Source::Backwards(list.clone(), len))
            }
            (
                "reversed",
                [
                    list @ (HostValue::Tuple(_)
                    | HostValue::Range(..)
                    | HostValue::Const(Const::Str(_))
                    | HostValue::Dict(_)),
                ],
            ) => values_iter(list.items()?.into_iter().rev().collect()),
            ("iter", [value]) => self.iter_of(value, span),
            ("next", [iter @ HostValue::Iter(_), rest @ ..]) => match self.next(iter, span) {
                NextItem::Item(item) => item,
                NextItem::End => match rest {
                    [other] => other.clone(),
                    _ => self.raise(HostValue::Exception(Rc::new(("StopIteration".into(), Vec::new()))), span),
                },
                NextItem::Unknown(why) => HostValue::Unknown(why),
            },
            ("map", [function, lists @ ..]) if !lists.is_empty() => {
                let all: Vec<_> = lists.iter().map(|list| self.iter_of(list, span)).collect();
                let function = function.clone();
                self.made_iter(all, |all| Source::Map(function, all))
            }
            ("filter", [function, list]) => {
                let inner = self.iter_of(list, span);
                let function = Some(function.clone()).filter(|f| !matches!(f, HostValue::Const(Const::None)));
                self.made_iter(vec![inner], |mut all| Source::Filter(function, all.remove(0)))
            }
            ("all" | "any", [list]) => return self.all_any(path == "all", list, span),
            ("divmod", [a, b]) => {
                let whole = self.binary(Operator::FloorDiv, a.clone(), b.clone(), span);
                let rest = self.binary(Operator::Mod, a.clone(), b.clone(), span);
                HostValue::tuple(vec![whole, rest])
            }
            ("pow", [a, b]) => self.binary(Operator::Pow, a.clone(), b.clone(), span),
            (
                "pow",
                [HostValue::Const(Const::Int(a)), HostValue::Const(Const::Int(b)), HostValue::Const(Const::Int(m))],
            ) if *b >= 0 && *m > 0 => {
                let m = i128::from(*m);
                let (mut base, mut left, mut result) = (i128::from(*a).rem_euclid(m), *b, 1 % m);
                while left > 0 {
                    if left % 2 == 1 {
                        result = result * base % m;
                    }
                    base = base * base % m;
                    left /= 2;
                }
                HostValue::int(i64::try_from(result).ok()?)
            }
            ("chr", [HostValue::Const(Const::Int(n))]) => {
                HostValue::str(u32::try_from(*n).ok().and_then(char::from_u32)?.to_string())
            }
            ("ord", [HostValue::Const(Const::Str(text))]) => match (text.chars().next(), text.chars().nth(1)) {
                (Some(c), None) => HostValue::int(i64::from(u32::from(c))),
                _ => return None,
            },
            ("bin", [HostValue::Const(Const::Int(n))]) => based(*n, "0b", format!("{:b}", n.unsigned_abs())),
            ("hex", [HostValue::Const(Const::Int(n))]) => based(*n, "0x", format!("{:x}", n.unsigned_abs())),
            ("oct", [HostValue::Const(Const::Int(n))]) => based(*n, "0o", format!("{:o}", n.unsigned_abs())),
            ("abs", [HostValue::Const(Const::Bool(b))]) => HostValue::int(i64::from(*b)),
            ("abs", [object @ HostValue::Object(_)]) => self.special(object, "__abs__", Vec::new(), span)?,
            ("float", [object @ HostValue::Object(_)]) => self.special(object, "__float__", Vec::new(), span)?,
            ("int", [object @ HostValue::Object(_)]) => self.special(object, "__int__", Vec::new(), span)?,
            ("int" | "float", [HostValue::Const(Const::Str(text))]) => return self.parsed(path, &text.clone(), span),
            ("int" | "float", [HostValue::Const(Const::None)]) => {
                self.fail("TypeError", format!("{path}() argument must be a string or a number"), span)
            }
            ("int", [HostValue::Const(Const::Float(x))]) if !x.is_finite() => {
                let kind = if x.is_nan() { "ValueError" } else { "OverflowError" };
                self.fail(kind, "cannot convert float to integer", span)
            }
            ("round", [value, digits]) => self.rounded(value, digits)?,
            ("round", [HostValue::Const(Const::Bool(b))]) => HostValue::int(i64::from(*b)),
            ("range", _) => return self.range(&args, span),
            ("isinstance", [value, kind]) => HostValue::bool(self.is_instance(value, kind)?),
            ("issubclass", [HostValue::Class(own), HostValue::Class(other)]) => {
                let foreign = own.foreign.borrow().is_some();
                match own.is_a(other) {
                    true => HostValue::bool(true),
                    false if !foreign => HostValue::bool(false),
                    false => return None,
                }
            }
            ("callable", [value]) if Host::is_function(value) => HostValue::bool(true),
            ("callable", [HostValue::Const(_) | HostValue::List(_) | HostValue::Dict(_) | HostValue::Tuple(_)]) => {
                HostValue::bool(false)
            }
            ("type", [value]) => match value {
                HostValue::Object(object) => HostValue::Class(object.class.clone()?),
                HostValue::Const(Const::Int(_) | Const::Float(_) | Const::Bool(_) | Const::Str(_))
                | HostValue::List(_)
                | HostValue::Dict(_)
                | HostValue::Tuple(_)
                | HostValue::Set(_) => HostValue::Path(self.type_name(value).into()),
                _ => return None,
            },
            ("getattr", [base, HostValue::Const(Const::Str(name)), rest @ ..]) if rest.len() < 2 => {
                return Some(self.get_attribute(base, &name.clone(), rest.first(), span));
            }
            ("hasattr", [base, HostValue::Const(Const::Str(name))]) => {
                HostValue::bool(self.has_attribute(base, &name.clone())?)
            }
            ("setattr", [base, HostValue::Const(Const::Str(name)), value]) => {
                self.set_attribute(base, &name.clone(), value.clone(), span);
                HostValue::none()
            }
            ("globals" | "locals" | "vars" | "exec" | "eval" | "__import__", _) => {
                self.lose_all(span, &format!("what `{path}` may have changed"));
                unknown(span, format!("a call of `{path}`"))
            }
            (_, [HostValue::Unknown(_)]) => return None,
            _ => {
                let constants: Option<Vec<Const>> =
                    args.iter().map(|arg| if let HostValue::Const(c) = arg { Some(c.clone()) } else { None }).collect();
                match of_numbers(path, &constants?)? {
                    Ok(value) => HostValue::Const(value),
                    Err(why) => unknown(span, why),
                }
            }
        })
    }

    pub(super) fn made_iter(
        &mut self,
        all: Vec<HostValue<'a>>,
        make: impl FnOnce(Vec<HostValue<'a>>) -> Source<'a>,
    ) -> HostValue<'a> {
        self.costs();
        if let Some(lost) = all.iter().find_map(HostValue::lost) {
            all.iter().for_each(|value| self.lose(value, &lost));
            return HostValue::Unknown(lost);
        }
        HostValue::iter(make(all))
    }

    pub(super) fn len_of(&mut self, value: &HostValue<'a>, span: Span) -> Option<HostValue<'a>> {
        if value.lost().is_some() {
            return None;
        }
        let len = match value {
            HostValue::List(list) => list.borrow().len(),
            HostValue::Tuple(items) => items.len(),
            HostValue::Dict(dict) | HostValue::Set(dict) | HostValue::View(dict, _) => dict.borrow().len(),
            HostValue::Const(Const::Str(text)) => text.chars().count(),
            HostValue::Range(first, end, step) => return Some(HostValue::int(range_len(*first, *end, *step))),
            HostValue::Object(_) => {
                if let Some(fields) = self.as_tuple(value) {
                    return Some(HostValue::int(fields.len() as i64));
                }
                return self.special(value, "__len__", Vec::new(), span);
            }
            HostValue::Const(Const::Int(_) | Const::Float(_) | Const::Bool(_) | Const::None) => {
                let what = self.type_name(value);
                return Some(self.fail("TypeError", format!("object of type '{what}' has no len()"), span));
            }
            _ => return None,
        };
        Some(HostValue::int(len as i64))
    }

    fn extreme(
        &mut self,
        path: &str,
        args: &[HostValue<'a>],
        named: &[(&str, HostValue<'a>)],
        span: Span,
    ) -> Option<HostValue<'a>> {
        let keyword = |wanted: &str| named.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.clone());
        let items = match args {
            [] => return None,
            // For a set whose order is not known: `key` may treat different members as equal.
            [set @ HostValue::Set(_)] if keyword("key").is_some() => self.all_of(set, span)?,
            [list] => self.members_of(list, span)?,
            several => several.to_vec(),
        };
        let function = keyword("key").filter(|key| !matches!(key, HostValue::Const(Const::None)));
        let op = if path == "max" { CmpOp::Gt } else { CmpOp::Lt };
        let mut best: Option<(HostValue<'a>, HostValue<'a>)> = None;
        for item in items {
            let own = match &function {
                Some(function) => self.call_value(function.clone(), vec![(None, item.clone())], span, &|| "key".into()),
                None => item.clone(),
            };
            if self.raised.is_some() {
                return Some(unknown(span, "what is raised"));
            }
            let better = match &best {
                None => true,
                Some((known, _)) => {
                    let known = known.clone();
                    let better = self.compare(op, &own, &known, span);
                    self.bool_of(&better, span)?
                }
            };
            if better {
                best = Some((own, item));
            }
        }
        match (best, keyword("default")) {
            (Some((_, item)), _) => Some(item),
            (None, Some(other)) => Some(other),
            (None, None) => Some(self.fail("ValueError", format!("{path}() arg is an empty sequence"), span)),
        }
    }

    fn sum(&mut self, list: &HostValue<'a>, start: HostValue<'a>, span: Span) -> Option<HostValue<'a>> {
        let members = match list {
            HostValue::Set(_) => values_iter(self.members_of(list, span)?),
            other => self.iter_of(other, span),
        };
        let unordered = matches!(list, HostValue::Set(_));
        let mut sum = start;
        // Some versions of Python add floats with compensation, others without: the sum is only known if both agree.
        let mut lost = 0.0f64;
        let mut floats = false;
        loop {
            let item = match self.next(&members, span) {
                NextItem::Item(item) => item,
                NextItem::End => break,
                NextItem::Unknown(why) => return Some(HostValue::Unknown(why)),
            };
            let before = sum.clone();
            sum = self.binary(Operator::Add, sum, item.clone(), span);
            if self.raised.is_some() || matches!(sum, HostValue::Unknown(_)) {
                return Some(sum);
            }
            if let HostValue::Const(Const::Float(total)) = &sum {
                if unordered {
                    return None;
                }
                let number = |value: &HostValue<'a>| match value {
                    HostValue::Const(Const::Float(x)) => Some(*x),
                    HostValue::Const(Const::Int(n)) => Some(*n as f64),
                    HostValue::Const(Const::Bool(b)) => Some(f64::from(u8::from(*b))),
                    _ => None,
                };
                let (x, y) = (number(&before)?, number(&item)?);
                lost += if x.abs() >= y.abs() { (x - total) + y } else { (y - total) + x };
                floats = true;
            }
        }
        if let HostValue::Const(Const::Float(total)) = &sum
            && floats
            && total.is_finite()
            && lost.is_finite()
            && *total + lost != *total
        {
            return Some(unknown(span, "a sum of floats, whose last bit depends on the version of Python"));
        }
        Some(sum)
    }

    fn all_any(&mut self, all: bool, list: &HostValue<'a>, span: Span) -> Option<HostValue<'a>> {
        let iter = match list {
            HostValue::Set(_) => values_iter(self.members_of(list, span)?),
            other => self.iter_of(other, span),
        };
        loop {
            match self.next(&iter, span) {
                NextItem::Item(item) => {
                    if self.bool_of(&item, span)? != all {
                        return Some(HostValue::bool(!all));
                    }
                }
                NextItem::End => return Some(HostValue::bool(all)),
                NextItem::Unknown(why) => return Some(HostValue::Unknown(why)),
            }
        }
    }

    fn range(&mut self, args: &[HostValue<'a>], span: Span) -> Option<HostValue<'a>> {
        let mut numbers = Vec::new();
        for arg in args {
            match arg {
                HostValue::Const(Const::Int(n)) => numbers.push(*n),
                HostValue::Const(Const::Bool(b)) => numbers.push(i64::from(*b)),
                HostValue::Const(Const::Float(_) | Const::Str(_) | Const::None) => {
                    let what = self.type_name(arg);
                    return Some(self.fail(
                        "TypeError",
                        format!("'{what}' object cannot be interpreted as an integer"),
                        span,
                    ));
                }
                other => return Some(because(other.clone(), span, "a range")),
            }
        }
        Some(match numbers[..] {
            [end] => HostValue::Range(0, end, 1),
            [first, end] => HostValue::Range(first, end, 1),
            [_, _, 0] => self.fail("ValueError", "range() arg 3 must not be zero", span),
            [first, end, step] => HostValue::Range(first, end, step),
            _ => return None,
        })
    }

    /// `round(x, n)`, from the exact value of the float.
    fn rounded(&mut self, value: &HostValue<'a>, digits: &HostValue<'a>) -> Option<HostValue<'a>> {
        match (value, digits) {
            (HostValue::Const(value), HostValue::Const(Const::None)) => {
                of_numbers("round", std::slice::from_ref(value))?.ok().map(HostValue::Const)
            }
            (HostValue::Const(Const::Float(x)), HostValue::Const(Const::Int(n))) if x.is_finite() => {
                let digits = usize::try_from(*n).ok().filter(|n| *n <= 300)?;
                format!("{x:.digits$}").parse().ok().map(|x| HostValue::Const(Const::Float(x)))
            }
            (HostValue::Const(Const::Int(i)), HostValue::Const(Const::Int(n))) if *n >= 0 => Some(HostValue::int(*i)),
            _ => None,
        }
    }

    /// `int(text)` and `float(text)`.
    fn parsed(&mut self, path: &str, text: &str, span: Span) -> Option<HostValue<'a>> {
        let plain = text.trim_matches(|c: char| c.is_ascii_whitespace());
        if !plain.is_ascii() || plain.contains('_') {
            return None;
        }
        if path == "int" {
            if let Ok(n) = plain.parse() {
                return Some(HostValue::int(n));
            }
            let digits = plain.strip_prefix(['-', '+']).unwrap_or(plain);
            if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
                return Some(unknown(span, crate::constants::TOO_LARGE));
            }
            return Some(self.fail("ValueError", format!("invalid literal for int() with base 10: '{text}'"), span));
        }
        match plain.to_ascii_lowercase().parse::<f64>() {
            Ok(x) => Some(HostValue::Const(Const::Float(x))),
            Err(_) => Some(self.fail("ValueError", format!("could not convert string to float: '{text}'"), span)),
        }
    }

    fn int_of_base(&mut self, args: &[HostValue<'a>], span: Span) -> Option<HostValue<'a>> {
        let [HostValue::Const(Const::Str(text)), HostValue::Const(Const::Int(base))] = args else { return None };
        let base = u32::try_from(*base).ok().filter(|base| [2, 8, 10, 16].contains(base))?;
        let text = text.trim_matches(|c: char| c.is_ascii_whitespace()).to_ascii_lowercase();
        let prefix = match base {
            2 => "0b",
            8 => "0o",
            16 => "0x",
            _ => "",
        };
        let digits = text.strip_prefix(prefix).unwrap_or(&text);
        if digits.is_empty() || digits.starts_with(['+', '-']) || text.contains('_') {
            return None;
        }
        match i64::from_str_radix(digits, base) {
            Ok(n) => Some(HostValue::int(n)),
            Err(_) if digits.bytes().all(|b| b.is_ascii_hexdigit()) => None,
            Err(_) => Some(self.fail("ValueError", "invalid literal for int()", span)),
        }
    }
}

fn based<'a>(n: i64, prefix: &str, digits: String) -> HostValue<'a> {
    HostValue::str(format!("{}{prefix}{digits}", if n < 0 { "-" } else { "" }))
}
