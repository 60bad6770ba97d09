//! Expressions of the host.

use std::cell::RefCell;
use std::rc::Rc;

use ruff_python_ast::{BoolOp, CmpOp, Comprehension, Expr, InterpolatedStringElement, Number, Operator, UnaryOp};
use slipring_ir::Span;

use super::run::Host;
use super::tensors;
use super::value::HostValue;
use super::{MOST_VALUES, unknown};
use crate::lower::constants;
use crate::syntax::at;
use crate::value::Const;

impl<'a> Host<'a> {
    /// The value of an expression; whatever is too much for it is unknown.
    pub(super) fn expr(&mut self, expr: &'a Expr) -> HostValue<'a> {
        let span = at(expr);
        if !self.step() {
            return unknown(span, "more steps of host code than are run");
        }
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
            Expr::BooleanLiteral(literal) => HostValue::Const(Const::Bool(literal.value)),
            Expr::NoneLiteral(_) => HostValue::Const(Const::None),
            Expr::FString(string) => {
                let mut text = String::new();
                for element in string.value.elements() {
                    match element {
                        InterpolatedStringElement::Literal(literal) => text.push_str(&literal.value),
                        InterpolatedStringElement::Interpolation(part) => match self.expr(&part.expression) {
                            HostValue::Const(value) if part.format_spec.is_none() => {
                                text.push_str(&python_text(&value))
                            }
                            HostValue::Unknown(why) => return HostValue::Unknown(why),
                            _ => return unknown(span, "a formatted string"),
                        },
                    }
                }
                HostValue::str(text)
            }
            Expr::Tuple(tuple) => HostValue::Tuple(Rc::new(self.elements(&tuple.elts))),
            Expr::List(list) => HostValue::list(self.elements(&list.elts)),
            Expr::Set(set) => HostValue::list(self.elements(&set.elts)),
            Expr::Dict(dict) => {
                let mut items: Vec<(Const, HostValue<'a>)> = Vec::new();
                for item in &dict.items {
                    let value = self.expr(&item.value);
                    match item.key.as_ref().map(|key| self.expr(key)) {
                        Some(HostValue::Const(key)) => {
                            items.retain(|(known, _)| *known != key);
                            items.push((key, value));
                        }
                        None => {
                            if let HostValue::Dict(more) = value {
                                items.extend(more.borrow().iter().cloned());
                            }
                        }
                        _ => {}
                    }
                }
                HostValue::Dict(Rc::new(RefCell::new(items)))
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
                match value {
                    HostValue::Const(c) => match constants::unary(operation.op, &c) {
                        Some(Ok(value)) => HostValue::Const(value),
                        Some(Err(why)) => unknown(span, why),
                        None => unknown(span, "an operator on this value"),
                    },
                    HostValue::Tensor(_) if operation.op == UnaryOp::USub => value,
                    other => match (operation.op, other.truth()) {
                        (UnaryOp::Not, Some(truth)) => HostValue::Const(Const::Bool(!truth)),
                        _ => because(other, span, "an operator on this value"),
                    },
                }
            }
            Expr::BinOp(operation) => {
                let (a, b) = (self.expr(&operation.left), self.expr(&operation.right));
                let (a, b) = (self.extent(a), self.extent(b));
                self.binary(operation.op, a, b, span)
            }
            Expr::BoolOp(operation) => {
                let mut last = HostValue::Const(Const::Bool(true));
                for value in &operation.values {
                    last = self.expr(value);
                    match last.truth() {
                        None if self.recorder.is_some() => return self.not_known(&last, "this condition", at(value)),
                        None => return because(last, span, "a condition"),
                        Some(truth) if truth == (operation.op == BoolOp::Or) => break,
                        Some(_) => {}
                    }
                }
                last
            }
            Expr::Compare(comparison) => {
                let mut left = self.expr(&comparison.left);
                for (op, right) in comparison.ops.iter().zip(&comparison.comparators) {
                    let right = self.expr(right);
                    match compare(*op, &left, &right) {
                        Some(true) => {}
                        Some(false) => return HostValue::Const(Const::Bool(false)),
                        None if matches!(right, HostValue::Unknown(_)) => return right,
                        None => return because(left, span, "a comparison"),
                    }
                    left = right;
                }
                HostValue::Const(Const::Bool(true))
            }
            Expr::If(choice) => match self.expr(&choice.test).truth() {
                Some(true) => self.expr(&choice.body),
                Some(false) => self.expr(&choice.orelse),
                None if self.recorder.is_some() => {
                    let test = unknown(at(&*choice.test), "a choice whose condition is not known");
                    self.not_known(&test, "this condition", at(&*choice.test))
                }
                None => unknown(at(&*choice.test), "a choice whose condition is not known"),
            },
            Expr::Named(named) => {
                let value = self.expr(&named.value);
                self.assign(&named.target, value.clone());
                value
            }
            Expr::ListComp(list) => self.comprehension(&list.elt, &list.generators, span),
            Expr::Generator(list) => self.comprehension(&list.elt, &list.generators, span),
            Expr::SetComp(list) => self.comprehension(&list.elt, &list.generators, span),
            Expr::DictComp(dict) => {
                let mut items: Vec<(Const, HostValue<'a>)> = Vec::new();
                let known = self.each(&dict.generators, &mut |host| {
                    let key = dict.key.as_ref().map(|key| host.expr(key));
                    let value = host.expr(&dict.value);
                    if let Some(HostValue::Const(key)) = key {
                        items.retain(|(known, _)| *known != key);
                        items.push((key, value));
                    }
                });
                if known { HostValue::Dict(Rc::new(RefCell::new(items))) } else { unknown(span, "a comprehension") }
            }
            Expr::Lambda(lambda) => HostValue::Lambda(Rc::new((lambda, self.scopes.clone()))),
            Expr::Call(call) => self.call(call, span),
            Expr::Starred(starred) => self.expr(&starred.value),
            _ => unknown(span, "this kind of expression"),
        }
    }

    fn elements(&mut self, list: &'a [Expr]) -> Vec<HostValue<'a>> {
        let mut items = Vec::new();
        for expr in list {
            let value = self.expr(expr);
            match (expr, value.items()) {
                (Expr::Starred(_), Some(more)) => items.extend(more),
                _ => items.push(value),
            }
            items.truncate(MOST_VALUES);
        }
        items
    }

    fn comprehension(&mut self, element: &'a Expr, generators: &'a [Comprehension], span: Span) -> HostValue<'a> {
        let mut items = Vec::new();
        let known = self.each(generators, &mut |host| items.push(host.expr(element)));
        if known && items.len() <= MOST_VALUES { HostValue::list(items) } else { unknown(span, "a comprehension") }
    }

    /// Does something for each value of generators. False where they are not known.
    fn each(&mut self, generators: &'a [Comprehension], work: &mut dyn FnMut(&mut Host<'a>)) -> bool {
        let Some((first, rest)) = generators.split_first() else {
            work(self);
            return true;
        };
        let over = self.expr(&first.iter);
        let Some(items) = over.items() else {
            if self.recorder.is_some() {
                self.not_known(&over, "what this comprehension is over", at(&first.iter));
            }
            return false;
        };
        let scope = Rc::new(RefCell::new(indexmap::IndexMap::new()));
        for item in items {
            self.scopes.push(scope.clone());
            self.assign(&first.target, item);
            let mut wanted = Some(true);
            for condition in &first.ifs {
                wanted = wanted.and_then(|so_far| Some(so_far && self.expr(condition).truth()?));
            }
            let known = match wanted {
                Some(true) => self.each(rest, work),
                Some(false) => true,
                None => false,
            };
            self.scopes.pop();
            if !known || !self.step() {
                return false;
            }
        }
        true
    }

    fn name(&mut self, name: &str, span: Span) -> HostValue<'a> {
        if let Some(value) = self.get(name) {
            return value;
        }
        if super::call::BUILTINS.contains(&name) {
            return HostValue::Path(name.into());
        }
        if self.star[self.module] && crate::program::is_word(name) {
            return self.attribute(HostValue::Path("pl".into()), name, span);
        }
        if let Some(stopped) = self.undefined(name, span) {
            return stopped;
        }
        unknown(span, format!("`{name}`, which is not defined here"))
    }

    /// A member of a value.
    pub(super) fn attribute(&mut self, base: HostValue<'a>, name: &str, span: Span) -> HostValue<'a> {
        match &base {
            HostValue::Path(path) => match crate::lower::word(path, name) {
                Some(constant) => HostValue::Const(constant),
                None => {
                    let full = format!("{path}.{name}");
                    HostValue::Path(crate::program::language(&full).unwrap_or(&full).into())
                }
            },
            HostValue::Object(object) => {
                let own = object.fields.borrow().get(name).cloned();
                let class = || object.class.as_ref().and_then(|class| class.names.borrow().get(name).cloned());
                match own.or_else(class) {
                    Some(HostValue::Function(function)) if object.class.is_some() => {
                        HostValue::Method(Rc::new((base.clone(), function.def.name.as_str().into())))
                    }
                    Some(value) => value,
                    None => HostValue::Method(Rc::new((base.clone(), name.into()))),
                }
            }
            HostValue::Class(class) => class.names.borrow().get(name).cloned().unwrap_or_else(|| {
                unknown(span, format!("`{name}` of the class `{}`, which does not define it", class.name))
            }),
            HostValue::Device(view) if name == "shape" => {
                HostValue::Tuple(Rc::new(view.shape.iter().map(|n| HostValue::int(*n as i64)).collect()))
            }
            HostValue::Device(view) if name == "dtype" => {
                HostValue::Const(Const::DType(crate::dtype::DType::Elem(view.elem)))
            }
            HostValue::Tensor(tensor) => tensors::member(tensor, name, span)
                .unwrap_or_else(|| HostValue::Method(Rc::new((base.clone(), name.into())))),
            HostValue::Unknown(why) => HostValue::Unknown(why.clone()),
            _ => HostValue::Method(Rc::new((base.clone(), name.into()))),
        }
    }

    fn subscript(&mut self, base: HostValue<'a>, index: &'a Expr, span: Span) -> HostValue<'a> {
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
        if let (Expr::Slice(slice), Some(items)) = (index, base.items()) {
            let mut bound = |expr: &'a Option<Box<Expr>>, default: i64| match expr {
                None => Some(default),
                Some(expr) => match self.expr(expr) {
                    HostValue::Const(Const::Int(n)) => {
                        Some((if n < 0 { n + items.len() as i64 } else { n }).clamp(0, items.len() as i64))
                    }
                    HostValue::Const(Const::None) => Some(default),
                    _ => None,
                },
            };
            let (first, end) = (bound(&slice.lower, 0), bound(&slice.upper, items.len() as i64));
            return match (first, end, &slice.step, &base) {
                (Some(first), Some(end), None, base) => {
                    let part: Vec<_> = items.iter().take(end as usize).skip(first as usize).cloned().collect();
                    match base {
                        HostValue::Const(_) => {
                            HostValue::str(part.iter().filter_map(HostValue::text).collect::<String>())
                        }
                        HostValue::Tuple(_) => HostValue::Tuple(Rc::new(part)),
                        _ => HostValue::list(part),
                    }
                }
                _ => unknown(span, "a part of a list"),
            };
        }
        let key = self.expr(index);
        match (&base, key) {
            (HostValue::Dict(items), HostValue::Const(key)) => {
                let found = items.borrow().iter().find(|(known, _)| *known == key).map(|(_, value)| value.clone());
                found.unwrap_or_else(|| unknown(span, "an entry that the dict does not have"))
            }
            (_, HostValue::Const(Const::Int(n))) => match base.items() {
                Some(items) => {
                    let at = if n < 0 { n.saturating_add(items.len() as i64) } else { n };
                    let found = usize::try_from(at).ok().and_then(|at| items.get(at).cloned());
                    found.unwrap_or_else(|| unknown(span, "an index outside of the list"))
                }
                None => because(base, span, format!("a part of what is not known here, [{n}]")),
            },
            (_, HostValue::Unknown(why)) => HostValue::Unknown(why),
            _ => because(base, span, "a part of what is not known here"),
        }
    }

    pub(super) fn binary(&mut self, op: Operator, a: HostValue<'a>, b: HostValue<'a>, span: Span) -> HostValue<'a> {
        match (&a, &b) {
            (HostValue::Const(x), HostValue::Const(y)) => match constants::binary(op, &number(x), &number(y)) {
                Ok(value) => HostValue::Const(value),
                Err(why) => unknown(span, why),
            },
            (HostValue::Tensor(_), _) | (_, HostValue::Tensor(_)) => tensors::binary(op, &a, &b, span),
            (HostValue::Tuple(x), HostValue::Tuple(y)) if op == Operator::Add => {
                HostValue::Tuple(Rc::new(x.iter().chain(y.iter()).take(MOST_VALUES).cloned().collect()))
            }
            (HostValue::List(x), HostValue::List(y)) if op == Operator::Add => {
                HostValue::list(x.borrow().iter().chain(y.borrow().iter()).take(MOST_VALUES).cloned().collect())
            }
            (list @ (HostValue::List(_) | HostValue::Tuple(_)), HostValue::Const(Const::Int(n)))
            | (HostValue::Const(Const::Int(n)), list @ (HostValue::List(_) | HostValue::Tuple(_)))
                if op == Operator::Mult =>
            {
                let items = list.items().unwrap_or_default();
                let count = usize::try_from(*n).unwrap_or(0).saturating_mul(items.len());
                if count > MOST_VALUES {
                    return unknown(span, format!("a list of more than {MOST_VALUES} values"));
                }
                let all: Vec<_> = items.iter().cycle().take(count).cloned().collect();
                if matches!(list, HostValue::Tuple(_)) { HostValue::Tuple(Rc::new(all)) } else { HostValue::list(all) }
            }
            (HostValue::Unknown(why), _) | (_, HostValue::Unknown(why)) => HostValue::Unknown(why.clone()),
            _ => unknown(span, "an operator on these values"),
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
}

/// A value that something is computed from which is not known; else why the result is not.
pub(super) fn because<'a>(value: HostValue<'a>, span: Span, why: impl Into<String>) -> HostValue<'a> {
    match value {
        HostValue::Unknown(_) => value,
        _ => unknown(span, why),
    }
}

/// Truth values count as numbers.
fn number(value: &Const) -> Const {
    match value {
        Const::Bool(b) => Const::Int(i64::from(*b)),
        other => other.clone(),
    }
}

fn compare(op: CmpOp, a: &HostValue<'_>, b: &HostValue<'_>) -> Option<bool> {
    if let CmpOp::In | CmpOp::NotIn = op {
        let found = match (a, b) {
            (HostValue::Const(Const::Str(part)), HostValue::Const(Const::Str(text))) => text.contains(&**part),
            (a, b) => b.items()?.iter().map(|item| equal(a, item)).collect::<Option<Vec<_>>>()?.contains(&true),
        };
        return Some(found == (op == CmpOp::In));
    }
    match (a, b) {
        (HostValue::Const(x), HostValue::Const(y)) => constants::compare(op, x, y),
        _ => match op {
            CmpOp::Eq | CmpOp::Is => equal(a, b),
            CmpOp::NotEq | CmpOp::IsNot => equal(a, b).map(|equal| !equal),
            _ => None,
        },
    }
}

fn equal(a: &HostValue<'_>, b: &HostValue<'_>) -> Option<bool> {
    match (a, b) {
        (HostValue::Const(x), HostValue::Const(y)) => constants::compare(CmpOp::Eq, x, y),
        (HostValue::Unknown(_) | HostValue::Tensor(_), _) | (_, HostValue::Unknown(_) | HostValue::Tensor(_)) => None,
        (HostValue::Path(x), HostValue::Path(y)) => (x == y).then_some(true),
        (HostValue::Tuple(_), HostValue::Tuple(_)) | (HostValue::List(_), HostValue::List(_)) => {
            let (x, y) = (a.items()?, b.items()?);
            if x.len() != y.len() {
                return Some(false);
            }
            x.iter().zip(&y).map(|(x, y)| equal(x, y)).try_fold(true, |all, this| Some(all && this?))
        }
        (HostValue::Const(Const::None), HostValue::Path(_)) | (HostValue::Path(_), HostValue::Const(Const::None)) => {
            None
        }
        (HostValue::Const(_), _) | (_, HostValue::Const(_)) => Some(false),
        _ => None,
    }
}

/// A constant as Python's `str` writes it.
pub(crate) fn python_text(value: &Const) -> String {
    match value {
        Const::Int(n) => n.to_string(),
        Const::Float(x) if x.is_finite() => format!("{x:?}"),
        Const::Float(x) => format!("{x}").to_lowercase(),
        Const::Bool(true) => "True".into(),
        Const::Bool(false) => "False".into(),
        Const::Str(text) => text.to_string(),
        Const::None => "None".into(),
        Const::DType(ty) => ty.name().into(),
        Const::Space(space) => space.to_string(),
        Const::Split(mode) => crate::value::split_name(*mode).into(),
        Const::Member(_, name) => name.to_string(),
    }
}
