//! Expressions in host code.

use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::{BoolOp, Expr, ExprSlice, Number, UnaryOp};
use slipring_ir::Span;

use super::key::NoKey;
use super::raise::said;
use super::tensors;
use super::value::{Code, Function, HostValue};
use crate::constants;
use crate::host::contents::range_len;
use crate::host::limits::{MOST_NEST, MOST_VALUES};
use crate::host::locals::Locals;
use crate::host::state::Host;
use crate::host::value::{Element, Kind, because, unknown};
use crate::syntax::at;
use crate::value::Const;

impl<'a> Host<'a> {
    /// The value of an expression, or unknown if it cannot be evaluated. After an exception nothing is evaluated.
    pub(super) fn expr(&mut self, expr: &'a Expr) -> HostValue<'a> {
        let span = at(expr);
        if self.raised.is_some() {
            return unknown(span, "what is not reached");
        }
        if !self.step() {
            return unknown(span, "more steps of host code than are run");
        }
        if self.nest >= MOST_NEST {
            return self.too_deep(span);
        }
        self.nest += 1;
        let value = self.expr_here(expr, span);
        self.nest -= 1;
        // A text with a message of Python in it is made without fail.
        if matches!(value, HostValue::Unknown(_)) && said(&value).is_none() && self.raised.is_none() {
            self.risks += 1;
        }
        value.seen()
    }

    fn expr_here(&mut self, expr: &'a Expr, span: Span) -> HostValue<'a> {
        match expr {
            Expr::Name(name) => {
                let value = self.name(name.id.as_str(), span);
                let value = self.function_named(value);
                self.extent(value)
            }
            Expr::NumberLiteral(literal) => match &literal.value {
                Number::Int(n) => n.as_i64().map_or_else(|| unknown(span, constants::TOO_LARGE), HostValue::int),
                Number::Float(x) => HostValue::Const(Const::Float(*x)),
                Number::Complex { .. } => unknown(span, "a complex number"),
            },
            Expr::StringLiteral(literal) => HostValue::str(literal.value.to_str()),
            Expr::BooleanLiteral(literal) => HostValue::bool(literal.value),
            Expr::NoneLiteral(_) => HostValue::none(),
            Expr::FString(string) => self.f_string(string, span),
            Expr::Tuple(tuple) => match self.elements(&tuple.elts, span) {
                Ok(items) => HostValue::tuple(items),
                Err(unknown) => unknown,
            },
            Expr::List(list) => match self.elements(&list.elts, span) {
                Ok(items) => HostValue::list(items),
                Err(unknown) => unknown,
            },
            Expr::Set(set) => match self.elements(&set.elts, span) {
                Ok(items) => self.set_of(items, span),
                Err(unknown) => unknown,
            },
            Expr::Dict(dict) => {
                let mut pairs = Vec::new();
                for item in &dict.items {
                    let Some(key) = &item.key else {
                        let more = self.expr(&item.value);
                        let HostValue::Dict(more) = &more else {
                            return self.lost_in(&[more], span, "a dict with what is not known");
                        };
                        pairs.extend(more.borrow().values().cloned());
                        continue;
                    };
                    let key = self.expr(key);
                    pairs.push((key, self.expr(&item.value)));
                }
                self.dict_of(pairs, span)
            }
            Expr::Attribute(attribute) => {
                let base = self.expr(&attribute.value);
                let value = self.attribute(base, attribute.attr.as_str(), span);
                self.function_named(value)
            }
            Expr::Subscript(subscript) => {
                let base = self.expr(&subscript.value);
                let value = self.subscript(base, &subscript.slice, span);
                self.function_named(value)
            }
            Expr::UnaryOp(operation) if crate::lower::is_least(operation) => HostValue::int(i64::MIN),
            Expr::UnaryOp(operation) => {
                let value = self.expr(&operation.operand);
                self.unary(operation.op, value, span)
            }
            Expr::BinOp(operation) => {
                let (a, b) = (self.expr(&operation.left), self.expr(&operation.right));
                let (a, b) = (self.extent(a), self.extent(b));
                self.binary(operation.op, a, b, span)
            }
            Expr::BoolOp(operation) => {
                let mut last = HostValue::none();
                for (at, value) in operation.values.iter().enumerate() {
                    last = self.expr(value);
                    if at + 1 == operation.values.len() {
                        break;
                    }
                    match self.bool_of(&last, span) {
                        Some(boolean) if boolean == (operation.op == BoolOp::Or) => break,
                        Some(_) => {}
                        None if self.raised.is_some() => return unknown(span, "what is raised"),
                        None if self.recorder.is_some() => {
                            return self.not_known(&last, "this condition", crate::syntax::at(value));
                        }
                        None => {
                            // The following operands may or may not be evaluated.
                            let mut values = vec![last];
                            for other in &operation.values[at + 1..] {
                                values.push(self.expr_perhaps(other));
                            }
                            return self.lost_in(&values, span, "a condition");
                        }
                    }
                }
                last
            }
            Expr::Compare(comparison) => {
                let mut left = self.expr(&comparison.left);
                let mut last = HostValue::bool(true);
                for (at, (op, right)) in comparison.ops.iter().zip(&comparison.comparators).enumerate() {
                    let right = self.expr(right);
                    last = self.compare(*op, &left, &right, span);
                    if at + 1 == comparison.ops.len() {
                        break;
                    }
                    match self.bool_of(&last, span) {
                        Some(true) => {}
                        Some(false) => return last,
                        None => {
                            for other in &comparison.comparators[at + 1..] {
                                self.expr_perhaps(other);
                            }
                            return because(last, span, "a comparison");
                        }
                    }
                    left = right;
                }
                last
            }
            Expr::If(choice) => {
                let test = self.expr(&choice.test);
                match self.bool_of(&test, span) {
                    Some(true) => self.expr(&choice.body),
                    Some(false) => self.expr(&choice.orelse),
                    None if self.raised.is_some() => unknown(span, "what is raised"),
                    None if self.recorder.is_some() => self.not_known(&test, "this condition", at(&*choice.test)),
                    None => {
                        let both = [self.expr_perhaps(&choice.body), self.expr_perhaps(&choice.orelse)];
                        let why = "a choice whose condition is not known";
                        let result = unknown(at(&*choice.test), why);
                        if let HostValue::Unknown(why) = &result {
                            both.iter().for_each(|value| self.lose(value, why));
                        }
                        because(test, at(&*choice.test), why)
                    }
                }
            }
            Expr::Named(named) => {
                let value = self.expr(&named.value);
                if let Expr::Name(name) = &*named.target {
                    self.bind_around(name.id.as_str(), value.clone());
                }
                value
            }
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) => self.comprehension(expr, span),
            Expr::Generator(generator) => self.each(&generator.generators, Element::One(&generator.elt)),
            Expr::Lambda(lambda) => {
                let mut defaults = IndexMap::new();
                for parameter in lambda.parameters.iter().flat_map(|p| p.iter_non_variadic_params()) {
                    if let Some(default) = &parameter.default {
                        let value = self.expr(default);
                        defaults.insert(parameter.parameter.name.as_str().into(), value);
                    }
                }
                self.costs();
                let at = std::ptr::from_ref(lambda) as usize;
                let locals = self
                    .locals
                    .entry(at)
                    .or_insert_with(|| Rc::new(Locals::of_expr(&lambda.body, lambda.parameters.as_deref())));
                HostValue::Function(Rc::new(Function {
                    code: Code::Lambda(lambda),
                    locals: locals.clone(),
                    scopes: self.scopes.clone(),
                    within: self.within.clone(),
                    module: self.module,
                    defaults,
                    class: None,
                    escaped: std::cell::Cell::new(false),
                    renamed: std::cell::Cell::new(false),
                    is_abstract: std::cell::Cell::new(false),
                }))
            }
            Expr::Call(call) => self.call(call, span),
            Expr::Starred(starred) => self.expr(&starred.value),
            other => {
                // Its effect on the values in it is not known.
                let mut read = Locals::of_expr(other, None).read;
                read.sort();
                let values: Vec<_> = read.iter().filter_map(|name| self.get(name)).collect();
                self.lost_in(&values, span, "this kind of expression")
            }
        }
    }

    /// Evaluates an expression that may or may not run.
    fn expr_perhaps(&mut self, expr: &'a Expr) -> HostValue<'a> {
        let mut result = unknown(at(expr), "what may or may not be evaluated");
        self.several(
            at(expr),
            &mut [&mut |host: &mut Host<'a>| {
                result = host.expr(expr);
                super::state::Flow::Next
            }],
        );
        result
    }

    fn elements(&mut self, list: &'a [Expr], span: Span) -> Result<Vec<HostValue<'a>>, HostValue<'a>> {
        let mut items = Vec::new();
        self.costs();
        for expr in list {
            let value = self.expr(expr);
            if !expr.is_starred_expr() {
                items.push(value);
                continue;
            }
            match self.all_of(&value, span) {
                Some(more) => items.extend(more),
                None => {
                    items.push(self.why_not(&value, span, "what is taken apart"));
                    return Err(self.lost_in(&items, span, "a list with what is not known"));
                }
            }
            if items.len() > MOST_VALUES {
                return Err(self.lost_in(&items, span, &format!("a list of more than {MOST_VALUES} values")));
            }
        }
        Ok(items)
    }

    /// A dict of pairs; later ones replace earlier ones.
    pub(super) fn dict_of(&mut self, pairs: Vec<(HostValue<'a>, HostValue<'a>)>, span: Span) -> HostValue<'a> {
        let mut entries = super::value::Entries::new();
        self.costs();
        for (key, value) in &pairs {
            let own = match self.key(key, span) {
                Ok(own) => own,
                Err(NoKey::Refused(raised)) => return raised,
                Err(NoKey::NotKnown) => {
                    let all: Vec<_> = pairs.iter().flat_map(|(key, value)| [key.clone(), value.clone()]).collect();
                    return self.lost_in(&all, span, "a key of a dict");
                }
            };
            let entry = entries.entry(own).or_insert_with(|| (key.clone(), value.clone()));
            entry.1 = value.clone();
        }
        if entries.len() > MOST_VALUES {
            return unknown(span, format!("a dict of more than {MOST_VALUES} values"));
        }
        HostValue::dict(entries)
    }

    /// A set of values.
    pub(super) fn set_of(&mut self, items: Vec<HostValue<'a>>, span: Span) -> HostValue<'a> {
        let pairs = items.into_iter().map(|item| (item, HostValue::none())).collect();
        match self.dict_of(pairs, span) {
            HostValue::Dict(dict) => HostValue::set(dict.borrow().clone()),
            other => other,
        }
    }

    fn name(&mut self, name: &str, span: Span) -> HostValue<'a> {
        if let Some(value) = self.get(name) {
            // What catches that it is not bound may run.
            if self.tries > 0 && self.may_be_unbound(name) {
                self.risks += 1;
            }
            return value;
        }
        if self.is_unbound(name) {
            return self.fail("UnboundLocalError", format!("`{name}` is read before it is bound"), span);
        }
        if let Some(place) = self.foreign_star[self.module] {
            return unknown(place, format!("`{name}`, which this import may bind"));
        }
        if super::names::is_known(name) || super::exceptions::exception(name).is_some() {
            return HostValue::Path(name.into());
        }
        if self.star[self.module] && crate::ops::is_word(name) {
            return self.attribute(HostValue::Path("pl".into()), name, span);
        }
        if let Some(stopped) = self.undefined(name, span) {
            return stopped;
        }
        unknown(span, format!("`{name}`, which is not defined here"))
    }

    pub(super) fn unary(&mut self, op: UnaryOp, value: HostValue<'a>, span: Span) -> HostValue<'a> {
        if op == UnaryOp::Not {
            return match self.bool_of(&value, span) {
                Some(boolean) => HostValue::bool(!boolean),
                None => because(value, span, "an operator on this value"),
            };
        }
        match &value {
            HostValue::Const(Const::Bool(b)) => self.unary(op, HostValue::int(i64::from(*b)), span),
            HostValue::Const(c @ (Const::Int(_) | Const::Float(_))) => match constants::unary(op, c) {
                Some(Ok(value)) => HostValue::Const(value),
                Some(Err(why)) => unknown(span, why),
                None => self.fail("TypeError", "bad operand type for unary operator", span),
            },
            HostValue::Const(Const::Str(_) | Const::None) => {
                self.fail("TypeError", "bad operand type for unary operator", span)
            }
            HostValue::Tensor(_) if op == UnaryOp::USub => value,
            HostValue::Object(_) => {
                let method = match op {
                    UnaryOp::USub => "__neg__",
                    UnaryOp::UAdd => "__pos__",
                    _ => "__invert__",
                };
                match self.special(&value, method, Vec::new(), span) {
                    Some(result) => result,
                    None => self.lost_in(&[value], span, "an operator on this value"),
                }
            }
            _ => self.lost_in(&[value], span, "an operator on this value"),
        }
    }

    /// Truth value of a value, through its class if that defines it.
    pub(super) fn bool_of(&mut self, value: &HostValue<'a>, span: Span) -> Option<bool> {
        if let Some(boolean) = value.as_bool() {
            return Some(boolean);
        }
        let HostValue::Object(object) = value else {
            self.risks += u64::from(self.raised.is_none());
            return None;
        };
        value.lost().is_none().then_some(())?;
        let class = object.class.as_ref()?;
        class.foreign.borrow().is_none().then_some(())?;
        if let Some(fields) = self.as_tuple(value) {
            return Some(!fields.is_empty());
        }
        for method in ["__bool__", "__len__"] {
            if class.find(method).is_some() {
                return match self.special(value, method, Vec::new(), span) {
                    Some(HostValue::Const(c)) => Some(constants::is_true(&c)),
                    _ => None,
                };
            }
        }
        Some(true)
    }

    /// The bounds of a slice of a sequence of this length: first, end, step.
    pub(super) fn slice_of(&mut self, slice: &'a ExprSlice, len: usize) -> Option<(i64, i64, i64)> {
        let mut part = |expr: &'a Option<Box<Expr>>| match expr.as_ref().map(|expr| self.expr(expr)) {
            None | Some(HostValue::Const(Const::None)) => Some(None),
            Some(HostValue::Const(Const::Int(n))) => Some(Some(n)),
            Some(HostValue::Const(Const::Bool(b))) => Some(Some(i64::from(b))),
            Some(_) => None,
        };
        let (lower, upper, step) = (part(&slice.lower), part(&slice.upper), part(&slice.step));
        let step = step?.unwrap_or(1);
        let len = i64::try_from(len).ok()?;
        if step == 0 {
            self.fail("ValueError", "slice step cannot be zero", at(slice));
            return None;
        }
        let (least, most) = if step > 0 { (0, len) } else { (-1, len - 1) };
        let clamp = |n: i64| (if n < 0 { n.saturating_add(len) } else { n }).clamp(least, most);
        let first = lower?.map_or(if step > 0 { 0 } else { len - 1 }, clamp);
        let end = upper?.map_or(if step > 0 { len } else { -1 }, clamp);
        Some((first, end, step))
    }

    pub(super) fn subscript(&mut self, base: HostValue<'a>, index: &'a Expr, span: Span) -> HostValue<'a> {
        if let HostValue::Device(view) = &base {
            return self.device_part(view, index, span);
        }
        if let HostValue::Tensor(tensor) = &base {
            let parts: Vec<&Expr> = match index {
                Expr::Tuple(tuple) => tuple.elts.iter().collect(),
                one => vec![one],
            };
            return tensors::part(self, tensor, &parts, span);
        }
        if let Expr::Slice(slice) = index {
            let base = self.as_tuple(&base).map_or(base, HostValue::tuple);
            if let HostValue::Range(first, end, step) = base {
                let len = range_len(first, end, step);
                let Some((from, to, by)) = usize::try_from(len).ok().and_then(|len| self.slice_of(slice, len)) else {
                    return unknown(span, "a part of a range");
                };
                let at = |n: i64| n.checked_mul(step).and_then(|n| n.checked_add(first));
                return match (at(from), at(to), step.checked_mul(by)) {
                    (Some(first), Some(end), Some(step)) => HostValue::Range(first, end, step),
                    _ => unknown(span, constants::TOO_LARGE),
                };
            }
            let sequence = matches!(base, HostValue::Tuple(_) | HostValue::List(_) | HostValue::Const(Const::Str(_)));
            let Some(items) = base.items().filter(|_| sequence) else {
                return self.lost_in(&[base], span, "a part of what is not known here");
            };
            let Some((first, end, step)) = self.slice_of(slice, items.len()) else {
                return self.lost_in(&[base], span, "a part of a list");
            };
            let part: Vec<_> =
                super::contents::range(first, end, step).filter_map(|at| items.get(at as usize).cloned()).collect();
            self.costs();
            return match base {
                HostValue::Const(_) => HostValue::str(part.iter().filter_map(HostValue::text).collect::<String>()),
                HostValue::Tuple(_) => HostValue::tuple(part),
                _ => HostValue::list(part),
            };
        }
        let key = self.expr(index);
        self.item_of(base, key, span)
    }

    /// `base[key]`.
    pub(super) fn item_of(&mut self, base: HostValue<'a>, key: HostValue<'a>, span: Span) -> HostValue<'a> {
        if self.raised.is_some() {
            return unknown(span, "what is raised");
        }
        let base = self.as_tuple(&base).map_or(base, HostValue::tuple);
        let number = match &key {
            HostValue::Const(Const::Int(n)) => Some(*n),
            HostValue::Const(Const::Bool(b)) => Some(i64::from(*b)),
            _ => None,
        };
        match (&base, number) {
            (HostValue::Dict(entries), _) => {
                let own = match self.key(&key, span) {
                    Ok(own) => own,
                    Err(NoKey::Refused(raised)) => return raised,
                    Err(NoKey::NotKnown) => return self.lost_in(&[key, base], span, "an entry of a dict"),
                };
                let found = entries.borrow().get(&own).map(|(_, value)| value.clone());
                match found {
                    Some(value) => value.seen(),
                    None => self.raise(HostValue::Exception(Rc::new(("KeyError".into(), vec![key]))), span),
                }
            }
            (HostValue::Range(first, end, step), Some(n)) => {
                let len = range_len(*first, *end, *step);
                let at = if n < 0 { n.saturating_add(len) } else { n };
                if (0..len).contains(&at) {
                    return HostValue::int(first + at * step);
                }
                self.fail("IndexError", "range object index out of range", span)
            }
            (HostValue::List(_) | HostValue::Tuple(_) | HostValue::Const(Const::Str(_)), Some(n)) => {
                match nth(&base, n) {
                    Some(item) => item.seen(),
                    None => {
                        let what = self.type_name(&base);
                        self.fail("IndexError", format!("{what} index out of range"), span)
                    }
                }
            }
            (HostValue::Object(_), _) => match self.special(&base, "__getitem__", vec![(None, key.clone())], span) {
                Some(value) => value,
                None => self.lost_in(&[base, key], span, "a part of what is not known here"),
            },
            (HostValue::List(_) | HostValue::Tuple(_) | HostValue::Const(Const::Str(_)), _)
                if matches!(key, HostValue::Const(Const::Str(_) | Const::None | Const::Float(_))) =>
            {
                self.fail("TypeError", "indices must be integers or slices", span)
            }
            (HostValue::Const(Const::Int(_) | Const::Float(_) | Const::Bool(_) | Const::None), _) => {
                let what = self.type_name(&base);
                self.fail("TypeError", format!("'{what}' object is not subscriptable"), span)
            }
            _ => self.lost_in(&[base, key], span, "a part of what is not known here"),
        }
    }

    /// The full name of an expression that is a name, or a call of one: for decorators.
    pub(super) fn expr_path(&mut self, expr: &'a Expr) -> Option<Rc<str>> {
        match expr {
            Expr::Call(call) => self.expr_path(&call.func),
            Expr::Name(_) | Expr::Attribute(_) => match self.expr(expr) {
                HostValue::Path(path) => Some(path),
                _ => None,
            },
            _ => None,
        }
    }

    /// Binds a name outside the surrounding comprehensions.
    fn bind_around(&mut self, name: &str, value: HostValue<'a>) {
        let depth = self.scopes.iter().rposition(|scope| scope.kind != Kind::Inner).unwrap_or(0);
        let inner = self.scopes.split_off(depth + 1);
        self.set(name, value);
        self.scopes.extend(inner);
    }
}

/// An element of a list, tuple or string, counted from the end if the index is negative.
fn nth<'a>(base: &HostValue<'a>, n: i64) -> Option<HostValue<'a>> {
    let from = |len: usize| usize::try_from(if n < 0 { n.checked_add(i64::try_from(len).ok()?)? } else { n }).ok();
    match base {
        HostValue::Tuple(items) => items.get(from(items.len())?).cloned(),
        HostValue::List(items) => {
            let items = items.borrow();
            items.get(from(items.len())?).cloned()
        }
        HostValue::Const(Const::Str(text)) => {
            let len = text.chars().count();
            text.chars().nth(from(len)?).map(|c| HostValue::str(c.to_string()))
        }
        _ => None,
    }
}
