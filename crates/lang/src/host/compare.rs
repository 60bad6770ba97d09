//! Operators and comparisons in host code.

use std::cmp::Ordering;
use std::rc::Rc;

use ruff_python_ast::{CmpOp, Operator};
use slipring_ir::Span;

use super::tensors;
use super::value::HostValue;
use crate::constants;
use crate::host::contents::range_len;
use crate::host::limits::{MOST_TEXT, MOST_VALUES};
use crate::host::state::Host;
use crate::host::value::unknown;
use crate::value::Const;

/// Maximum nesting depth of compared values.
const MOST_DEPTH: usize = 50;

/// The method of an operator, and the reflected one of the right operand.
fn methods_of(op: Operator) -> (&'static str, &'static str, &'static str) {
    match op {
        Operator::Add => ("__add__", "__radd__", "__iadd__"),
        Operator::Sub => ("__sub__", "__rsub__", "__isub__"),
        Operator::Mult => ("__mul__", "__rmul__", "__imul__"),
        Operator::Div => ("__truediv__", "__rtruediv__", "__itruediv__"),
        Operator::FloorDiv => ("__floordiv__", "__rfloordiv__", "__ifloordiv__"),
        Operator::Mod => ("__mod__", "__rmod__", "__imod__"),
        Operator::Pow => ("__pow__", "__rpow__", "__ipow__"),
        Operator::MatMult => ("__matmul__", "__rmatmul__", "__imatmul__"),
        Operator::LShift => ("__lshift__", "__rlshift__", "__ilshift__"),
        Operator::RShift => ("__rshift__", "__rrshift__", "__irshift__"),
        Operator::BitAnd => ("__and__", "__rand__", "__iand__"),
        Operator::BitOr => ("__or__", "__ror__", "__ior__"),
        Operator::BitXor => ("__xor__", "__rxor__", "__ixor__"),
    }
}

/// True for values whose operators are all known: if none applies to two of them, it is an error in Python.
fn is_plain(value: &HostValue<'_>) -> bool {
    match value {
        HostValue::Const(c) => {
            matches!(c, Const::Int(_) | Const::Float(_) | Const::Bool(_) | Const::Str(_) | Const::None)
        }
        HostValue::Tuple(_) | HostValue::List(_) | HostValue::Dict(_) | HostValue::Set(_) => true,
        HostValue::Function(_) | HostValue::Range(..) => true,
        _ => false,
    }
}

fn is_number(value: &Const) -> bool {
    matches!(value, Const::Int(_) | Const::Float(_) | Const::Bool(_))
}

/// Booleans count as integers.
pub(super) fn number(value: &Const) -> Const {
    match value {
        Const::Bool(b) => Const::Int(i64::from(*b)),
        other => other.clone(),
    }
}

impl<'a> Host<'a> {
    pub(super) fn binary(&mut self, op: Operator, a: HostValue<'a>, b: HostValue<'a>, span: Span) -> HostValue<'a> {
        if self.raised.is_some() {
            return unknown(span, "what is raised");
        }
        match (&a, &b) {
            (HostValue::Const(x), HostValue::Const(y)) if is_number(x) && is_number(y) => {
                return self.numbers(op, x, y, span);
            }
            (HostValue::Const(Const::Str(x)), HostValue::Const(Const::Str(_))) if op == Operator::Add => {
                let HostValue::Const(y) = &b else { return unknown(span, "a string") };
                return match constants::binary(op, &Const::Str(x.clone()), y) {
                    Ok(Const::Str(text)) => HostValue::str(text),
                    Ok(value) => HostValue::Const(value),
                    Err(why) => unknown(span, why),
                };
            }
            (HostValue::Const(Const::Str(text)), _) if op == Operator::Mod => {
                let text = text.clone();
                return self.percent(&text, &b, span);
            }
            (HostValue::Tensor(_), _) | (_, HostValue::Tensor(_)) => return tensors::binary(op, &a, &b, span),
            (HostValue::Tuple(x), HostValue::Tuple(y)) if op == Operator::Add => {
                return self.concatenated(x.iter().chain(y.iter()).cloned().collect(), true, span);
            }
            (HostValue::List(x), HostValue::List(y)) if op == Operator::Add => {
                let all = x.borrow().iter().chain(y.borrow().iter()).cloned().collect();
                return self.concatenated(all, false, span);
            }
            (sequence, HostValue::Const(n @ (Const::Int(_) | Const::Bool(_))))
            | (HostValue::Const(n @ (Const::Int(_) | Const::Bool(_))), sequence)
                if op == Operator::Mult
                    && matches!(
                        sequence,
                        HostValue::List(_) | HostValue::Tuple(_) | HostValue::Const(Const::Str(_))
                    ) =>
            {
                let Const::Int(n) = number(n) else { return unknown(span, "a number") };
                return self.repeated(&sequence.clone(), n, span);
            }
            (HostValue::Set(x), HostValue::Set(y)) => {
                let (x, y) = (x.borrow(), y.borrow());
                let mut all = x.clone();
                match op {
                    Operator::BitOr => all.extend(y.iter().map(|(key, value)| (key.clone(), value.clone()))),
                    Operator::BitAnd => all.retain(|key, _| y.contains_key(key)),
                    Operator::Sub => all.retain(|key, _| !y.contains_key(key)),
                    Operator::BitXor => {
                        all.retain(|key, _| !y.contains_key(key));
                        let more = y.iter().filter(|(key, _)| !x.contains_key(*key));
                        all.extend(more.map(|(key, value)| (key.clone(), value.clone())));
                    }
                    _ => return self.fail("TypeError", "unsupported operand types", span),
                }
                return HostValue::set(all);
            }
            (HostValue::Dict(x), HostValue::Dict(y)) if op == Operator::BitOr => {
                let mut all = x.borrow().clone();
                for (key, (own, value)) in y.borrow().iter() {
                    all.entry(key.clone()).or_insert_with(|| (own.clone(), value.clone())).1 = value.clone();
                }
                return HostValue::dict(all);
            }
            _ => {}
        }
        let (left, right, _) = methods_of(op);
        // If the right operand's class derives from the left one's, it is tried first.
        if let (HostValue::Object(x), HostValue::Object(y)) = (&a, &b)
            && let (Some(own), Some(other)) = (&x.class, &y.class)
            && !Rc::ptr_eq(own, other)
            && other.is_a(own)
        {
            return self.lost_in(&[a, b], span, "an operator of two classes");
        }
        if let Some(result) = self.special(&a, left, vec![(None, b.clone())], span)
            && !is_not_implemented(&result)
        {
            return result;
        }
        if let Some(result) = self.special(&b, right, vec![(None, a.clone())], span)
            && !is_not_implemented(&result)
        {
            return result;
        }
        if self.raised.is_some() {
            return unknown(span, "what is raised");
        }
        if is_plain(&a) && is_plain(&b) {
            let (x, y) = (self.type_name(&a), self.type_name(&b));
            return self.fail("TypeError", format!("unsupported operand types: '{x}' and '{y}'"), span);
        }
        self.lost_in(&[a, b], span, "an operator on these values")
    }

    /// `a op= b`: mutable values are changed in place.
    pub(super) fn in_place(&mut self, op: Operator, a: HostValue<'a>, b: HostValue<'a>, span: Span) -> HostValue<'a> {
        match (&a, op) {
            (HostValue::List(list), Operator::Add) => {
                let more = self.all_of(&b, span);
                if self.raised.is_some() {
                    return unknown(span, "what is raised");
                }
                let Some(more) = more.filter(|more| more.len() + list.borrow().len() <= MOST_VALUES) else {
                    return self.lost_in(&[a, b], span, "a list with what is not known");
                };
                self.touch(&a);
                super::value::count_made(more.len());
                list.borrow_mut().extend(more);
                a
            }
            (HostValue::List(list), Operator::Mult) => {
                let HostValue::List(all) = self.binary(op, a.clone(), b, span) else {
                    return self.lost_in(&[a], span, "a repeated list");
                };
                self.touch(&a);
                *list.borrow_mut() = all.borrow().clone();
                a
            }
            (
                HostValue::Set(own) | HostValue::Dict(own),
                Operator::BitOr | Operator::BitAnd | Operator::Sub | Operator::BitXor,
            ) => {
                let changed = self.binary(op, a.clone(), b.clone(), span);
                if self.raised.is_some() {
                    return changed;
                }
                let (HostValue::Set(all) | HostValue::Dict(all)) = changed else {
                    return self.lost_in(&[a, b], span, "a set or dict with what is not known");
                };
                self.touch(&a);
                *own.borrow_mut() = all.borrow().clone();
                a
            }
            (HostValue::Object(_), _) => {
                let (_, _, method) = methods_of(op);
                match self.special(&a, method, vec![(None, b.clone())], span) {
                    Some(result) if !is_not_implemented(&result) => result,
                    _ => self.binary(op, a, b, span),
                }
            }
            _ => self.binary(op, a, b, span),
        }
    }

    fn concatenated(&mut self, all: Vec<HostValue<'a>>, tuple: bool, span: Span) -> HostValue<'a> {
        self.costs();
        if all.len() > MOST_VALUES {
            return self.lost_in(&all, span, &format!("a list of more than {MOST_VALUES} values"));
        }
        if tuple { HostValue::tuple(all) } else { HostValue::list(all) }
    }

    fn repeated(&mut self, sequence: &HostValue<'a>, n: i64, span: Span) -> HostValue<'a> {
        let count = usize::try_from(n.max(0)).unwrap_or(usize::MAX);
        if let HostValue::Const(Const::Str(text)) = sequence {
            if text.len().saturating_mul(count) > MOST_TEXT {
                return unknown(span, format!("a string of more than {MOST_TEXT} bytes"));
            }
            return HostValue::str(text.repeat(count));
        }
        let Some(items) = sequence.items() else { return unknown(span, "a repeated list") };
        let count = count.saturating_mul(items.len());
        if count > MOST_VALUES {
            return self.lost_in(&items, span, &format!("a list of more than {MOST_VALUES} values"));
        }
        self.concatenated(
            items.iter().cycle().take(count).cloned().collect(),
            matches!(sequence, HostValue::Tuple(_)),
            span,
        )
    }

    fn numbers(&mut self, op: Operator, x: &Const, y: &Const, span: Span) -> HostValue<'a> {
        if let (Const::Bool(x), Const::Bool(y)) = (x, y) {
            match op {
                Operator::BitAnd => return HostValue::bool(x & y),
                Operator::BitOr => return HostValue::bool(x | y),
                Operator::BitXor => return HostValue::bool(x ^ y),
                _ => {}
            }
        }
        let (x, y) = (number(x), number(y));
        let zero = |c: &Const| matches!(c, Const::Int(0)) || matches!(c, Const::Float(f) if *f == 0.0);
        let negative = |c: &Const| matches!(c, Const::Int(n) if *n < 0) || matches!(c, Const::Float(f) if *f < 0.0);
        let float = matches!(x, Const::Float(_)) || matches!(y, Const::Float(_));
        match op {
            Operator::Div | Operator::FloorDiv | Operator::Mod if zero(&y) => {
                return self.fail("ZeroDivisionError", "division by zero", span);
            }
            Operator::Pow if zero(&x) && negative(&y) => {
                return self.fail("ZeroDivisionError", "0.0 cannot be raised to a negative power", span);
            }
            Operator::LShift | Operator::RShift if !float && negative(&y) => {
                return self.fail("ValueError", "negative shift count", span);
            }
            Operator::LShift | Operator::RShift | Operator::BitAnd | Operator::BitOr | Operator::BitXor if float => {
                return self.fail("TypeError", "unsupported operand types: 'float'", span);
            }
            Operator::MatMult => return self.fail("TypeError", "unsupported operand types for @", span),
            _ => {}
        }
        match constants::binary(op, &x, &y) {
            Ok(value) => HostValue::Const(value),
            Err(why) => unknown(span, why),
        }
    }

    /// A comparison: a boolean, or the result of a class's method.
    pub(super) fn compare(&mut self, op: CmpOp, a: &HostValue<'a>, b: &HostValue<'a>, span: Span) -> HostValue<'a> {
        if self.raised.is_some() {
            return unknown(span, "what is raised");
        }
        let answer = match op {
            CmpOp::Is => same(a, b),
            CmpOp::IsNot => same(a, b).map(|same| !same),
            CmpOp::In => self.contains(b, a, span),
            CmpOp::NotIn => self.contains(b, a, span).map(|found| !found),
            CmpOp::Eq => self.equals(a, b, span, 0),
            CmpOp::NotEq => self.differs(a, b, span),
            CmpOp::Lt | CmpOp::LtE | CmpOp::Gt | CmpOp::GtE => {
                let (method, other) = match op {
                    CmpOp::Lt => ("__lt__", "__gt__"),
                    CmpOp::LtE => ("__le__", "__ge__"),
                    CmpOp::Gt => ("__gt__", "__lt__"),
                    _ => ("__ge__", "__le__"),
                };
                for (own, method, given) in [(a, method, b), (b, other, a)] {
                    if let Some(result) = self.special(own, method, vec![(None, given.clone())], span)
                        && !is_not_implemented(&result)
                    {
                        return result;
                    }
                }
                if let (HostValue::Set(x), HostValue::Set(y)) = (a, b) {
                    let (x, y) = (x.borrow(), y.borrow());
                    let (less, more) = (x.keys().all(|k| y.contains_key(k)), y.keys().all(|k| x.contains_key(k)));
                    Some(match op {
                        CmpOp::Lt => less && !more,
                        CmpOp::LtE => less,
                        CmpOp::Gt => more && !less,
                        _ => more,
                    })
                } else if matches!((a, b), (HostValue::Const(x), HostValue::Const(y)) if is_nan(x) || is_nan(y)) {
                    Some(false)
                } else {
                    self.order(a, b, span, 0).map(|order| match op {
                        CmpOp::Lt => order.is_lt(),
                        CmpOp::LtE => order.is_le(),
                        CmpOp::Gt => order.is_gt(),
                        _ => order.is_ge(),
                    })
                }
            }
        };
        match answer {
            Some(boolean) => HostValue::bool(boolean),
            None if self.raised.is_some() => unknown(span, "what is raised"),
            // A comparison keeps nothing, but an unknown class may have side effects.
            None => {
                let known = |value: &HostValue<'a>| !matches!(value, HostValue::Unknown(_));
                let first = if known(a) { b } else { a };
                super::value::because(first.clone(), span, "a comparison")
            }
        }
    }

    fn differs(&mut self, a: &HostValue<'a>, b: &HostValue<'a>, span: Span) -> Option<bool> {
        if let Some(result) = self.special(a, "__ne__", vec![(None, b.clone())], span) {
            return self.bool_of(&result, span);
        }
        self.equals(a, b, span, 0).map(|equal| !equal)
    }

    pub(super) fn contains(&mut self, all: &HostValue<'a>, item: &HostValue<'a>, span: Span) -> Option<bool> {
        if all.lost().is_some() {
            return None;
        }
        match (all, item) {
            (HostValue::Const(Const::Str(text)), HostValue::Const(Const::Str(part))) => Some(text.contains(&**part)),
            (HostValue::Const(Const::Str(_)), HostValue::Const(Const::Int(_) | Const::None | Const::Float(_))) => {
                self.fail("TypeError", "'in <string>' requires string as left operand", span);
                None
            }
            // Python looks up a set in a set as the equal frozen set; no set here has one among its members.
            (HostValue::Set(_), HostValue::Set(_)) => Some(false),
            (HostValue::Dict(entries) | HostValue::Set(entries), item) => {
                let key = self.key(item, span).ok()?;
                Some(entries.borrow().contains_key(&key))
            }
            (HostValue::Range(first, end, step), HostValue::Const(Const::Int(n))) => {
                let len = i128::from(range_len(*first, *end, *step));
                let away = i128::from(*n) - i128::from(*first);
                Some(len > 0 && away % i128::from(*step) == 0 && (0..len).contains(&(away / i128::from(*step))))
            }
            (HostValue::List(_) | HostValue::Tuple(_) | HostValue::Iter(_) | HostValue::View(..), item) => {
                let iter = self.iter_of(all, span);
                let mut unsure = false;
                loop {
                    match self.next(&iter, span) {
                        super::value::NextItem::Item(other) => match self.same_or_equal(&other, item, span, 0) {
                            Some(true) if !unsure => return Some(true),
                            Some(_) => {}
                            None => unsure = true,
                        },
                        super::value::NextItem::End => return if unsure { None } else { Some(false) },
                        super::value::NextItem::Unknown(_) => return None,
                    }
                }
            }
            (HostValue::Object(_), item) => {
                let result = self.special(all, "__contains__", vec![(None, item.clone())], span)?;
                self.bool_of(&result, span)
            }
            _ => None,
        }
    }

    /// The comparison that lists use for their elements.
    fn same_or_equal(&mut self, a: &HostValue<'a>, b: &HostValue<'a>, span: Span, depth: usize) -> Option<bool> {
        match (a, b) {
            // A NaN equals itself only if it is the same object, which is not known here.
            (HostValue::Const(x), HostValue::Const(y)) if is_nan(x) && is_nan(y) => None,
            _ if is_held(a) && same(a, b) == Some(true) => Some(true),
            _ => self.equals(a, b, span, depth),
        }
    }

    pub(super) fn equals(&mut self, a: &HostValue<'a>, b: &HostValue<'a>, span: Span, depth: usize) -> Option<bool> {
        if depth > MOST_DEPTH || !self.step() || a.lost().is_some() || b.lost().is_some() {
            return None;
        }
        match (a, b) {
            (HostValue::Object(x), HostValue::Object(y)) if Rc::ptr_eq(x, y) && !self.has(a, "__eq__") => {
                let class = x.class.as_ref()?;
                class.foreign.borrow().is_none().then_some(true)
            }
            (HostValue::Object(_), _) | (_, HostValue::Object(_)) => {
                for (own, given) in [(a, b), (b, a)] {
                    if let Some(result) = self.special(own, "__eq__", vec![(None, given.clone())], span)
                        && !is_not_implemented(&result)
                    {
                        return self.bool_of(&result, span);
                    }
                }
                self.equal_objects(a, b, span, depth)
            }
            (HostValue::Const(x), HostValue::Const(y)) => equal_constants(x, y),
            (HostValue::Tuple(x), HostValue::Tuple(y)) => self.equal_lists(&x.to_vec(), &y.to_vec(), span, depth),
            (HostValue::List(x), HostValue::List(y)) => {
                if Rc::ptr_eq(x, y) && x.borrow().iter().all(is_plain) {
                    return Some(true);
                }
                let (x, y) = (x.borrow().clone(), y.borrow().clone());
                self.equal_lists(&x, &y, span, depth)
            }
            (HostValue::Set(x), HostValue::Set(y)) => {
                let (x, y) = (x.borrow(), y.borrow());
                Some(x.len() == y.len() && x.keys().all(|key| y.contains_key(key)))
            }
            (HostValue::Dict(x), HostValue::Dict(y)) => {
                let (x, y) = (x.borrow().clone(), y.borrow().clone());
                if x.len() != y.len() {
                    return Some(false);
                }
                for (key, (_, value)) in &x {
                    let Some((_, other)) = y.get(key) else { return Some(false) };
                    if !self.same_or_equal(value, other, span, depth + 1)? {
                        return Some(false);
                    }
                }
                Some(true)
            }
            (HostValue::Range(..), HostValue::Range(..)) => {
                let (x, y) = (a.items()?, b.items()?);
                self.equal_lists(&x, &y, span, depth)
            }
            (HostValue::Path(x), HostValue::Path(y)) => {
                let own = |path: &str| super::names::is_known(path);
                if x == y { Some(true) } else { (own(x) && own(y)).then_some(false) }
            }
            (HostValue::Path(_), _) | (_, HostValue::Path(_)) => same(a, b).filter(|_| is_none(a) || is_none(b)),
            (HostValue::Exception(x), HostValue::Exception(y)) => Some(Rc::ptr_eq(x, y)),
            _ if is_plain(a) && is_plain(b) => same(a, b).or(Some(false)),
            _ => same(a, b),
        }
    }

    fn equal_objects(&mut self, a: &HostValue<'a>, b: &HostValue<'a>, span: Span, depth: usize) -> Option<bool> {
        let known = |value: &HostValue<'a>| match value {
            HostValue::Object(object) => object
                .class
                .as_ref()
                .is_some_and(|class| class.foreign.borrow().is_none() && &*class.name != "namespace$"),
            _ => is_plain(value),
        };
        if !known(a) || !known(b) {
            return None;
        }
        let (HostValue::Object(x), HostValue::Object(y)) = (a, b) else {
            let tuple = |value: &HostValue<'a>| matches!(value, HostValue::Tuple(_));
            if self.as_tuple(a).is_some() && tuple(b) || self.as_tuple(b).is_some() && tuple(a) {
                return None;
            }
            return Some(false);
        };
        let (own, other) = (x.class.as_ref()?, y.class.as_ref()?);
        if Rc::ptr_eq(own, other) && (own.made.get().eq || own.made.get().named_tuple) {
            let fields: Vec<Rc<str>> = own.fields.borrow().iter().map(|field| field.name.clone()).collect();
            for field in fields {
                let (x, y) = (x.fields.get(&field)?, y.fields.get(&field)?);
                if !self.same_or_equal(&x, &y, span, depth + 1)? {
                    return Some(false);
                }
            }
            return Some(true);
        }
        if own.made.get().named_tuple || other.made.get().named_tuple {
            return None;
        }
        Some(Rc::ptr_eq(x, y))
    }

    fn equal_lists(&mut self, x: &[HostValue<'a>], y: &[HostValue<'a>], span: Span, depth: usize) -> Option<bool> {
        if x.len() != y.len() {
            return Some(false);
        }
        for (x, y) in x.iter().zip(y) {
            if !self.same_or_equal(x, y, span, depth + 1)? {
                return Some(false);
            }
        }
        Some(true)
    }

    /// The order of two values; `None` if it is not known, or Python raises.
    pub(super) fn order(&mut self, a: &HostValue<'a>, b: &HostValue<'a>, span: Span, depth: usize) -> Option<Ordering> {
        if depth > MOST_DEPTH || !self.step() {
            return None;
        }
        match (a, b) {
            (HostValue::Const(Const::Str(x)), HostValue::Const(Const::Str(y))) => Some(x.chars().cmp(y.chars())),
            (HostValue::Const(x), HostValue::Const(y)) if is_number(x) && is_number(y) => {
                if is_nan(x) || is_nan(y) {
                    return None;
                }
                constants::order(x, y)
            }
            (HostValue::Tuple(_), HostValue::Tuple(_)) | (HostValue::List(_), HostValue::List(_)) => {
                let (x, y) = (a.items()?, b.items()?);
                for (x, y) in x.iter().zip(&y) {
                    if !self.same_or_equal(x, y, span, depth + 1)? {
                        return self.order(x, y, span, depth + 1);
                    }
                }
                Some(x.len().cmp(&y.len()))
            }
            _ => {
                if is_plain(a) && is_plain(b) && !matches!((a, b), (HostValue::Set(_), HostValue::Set(_))) {
                    let (x, y) = (self.type_name(a), self.type_name(b));
                    self.fail("TypeError", format!("'<' not supported between instances of '{x}' and '{y}'"), span);
                }
                None
            }
        }
    }
}

fn is_none(value: &HostValue<'_>) -> bool {
    matches!(value, HostValue::Const(Const::None))
}

fn is_nan(value: &Const) -> bool {
    matches!(value, Const::Float(x) if x.is_nan())
}

/// True for values with identity, shared by all holders.
fn is_held(value: &HostValue<'_>) -> bool {
    matches!(
        value,
        HostValue::List(_) | HostValue::Dict(_) | HostValue::Set(_) | HostValue::Object(_) | HostValue::Function(_)
    )
}

pub(super) fn is_not_implemented(value: &HostValue<'_>) -> bool {
    matches!(value, HostValue::Path(path) if &**path == "NotImplemented")
}

fn equal_constants(x: &Const, y: &Const) -> Option<bool> {
    let plain = |c: &Const| is_number(c) || matches!(c, Const::Str(_) | Const::None);
    match (x, y) {
        _ if is_number(x) && is_number(y) => {
            Some(constants::compare(CmpOp::Eq, &number(x), &number(y)).unwrap_or(false) && !is_nan(x) && !is_nan(y))
        }
        (Const::None, _) | (_, Const::None) => Some(x == y),
        _ if plain(x) == plain(y) && std::mem::discriminant(x) == std::mem::discriminant(y) => Some(x == y),
        _ if plain(x) && plain(y) => Some(false),
        // A builtin of the language and something else.
        _ => None,
    }
}

/// `a is b`, if it is known.
pub(super) fn same<'a>(a: &HostValue<'a>, b: &HostValue<'a>) -> Option<bool> {
    let none = is_none(a) || is_none(b);
    match (a, b) {
        (HostValue::Unknown(_), _) | (_, HostValue::Unknown(_)) => None,
        (HostValue::Const(x), HostValue::Const(y)) => same_constants(x, y),
        (HostValue::List(x), HostValue::List(y)) => Some(Rc::ptr_eq(x, y)),
        (HostValue::Dict(x), HostValue::Dict(y)) | (HostValue::Set(x), HostValue::Set(y)) => Some(Rc::ptr_eq(x, y)),
        (HostValue::Object(x), HostValue::Object(y)) => Some(Rc::ptr_eq(x, y)),
        (HostValue::Class(x), HostValue::Class(y)) => Some(Rc::ptr_eq(x, y)),
        (HostValue::Function(x), HostValue::Function(y)) => Some(Rc::ptr_eq(x, y)),
        (HostValue::Kernel(x), HostValue::Kernel(y)) => Some(x == y),
        (HostValue::Tuple(x), HostValue::Tuple(y)) => Rc::ptr_eq(x, y).then_some(true),
        (HostValue::Path(x), HostValue::Path(y)) => (x == y).then_some(true),
        (HostValue::Path(path), _) | (_, HostValue::Path(path)) => {
            let known = path.starts_with("pl.") || super::names::is_known(path);
            (none && (known || super::names::is_standard(path))).then_some(false)
        }
        _ if none => Some(false),
        _ => (std::mem::discriminant(a) != std::mem::discriminant(b)).then_some(false),
    }
}

fn same_constants(x: &Const, y: &Const) -> Option<bool> {
    match (x, y) {
        (Const::None | Const::Bool(_), _) | (_, Const::None | Const::Bool(_)) => Some(x == y),
        // Small integers are interned; for others and for strings it depends on the Python implementation.
        (Const::Int(x), Const::Int(y)) if x == y => (-5..=256).contains(x).then_some(true),
        _ if x == y => None,
        _ => Some(false),
    }
}
