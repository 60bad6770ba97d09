//! Bindings, assignments and deletions in host code.

use ruff_python_ast::Expr;
use slipring_ir::{Diagnostic, Span};

use crate::host::limits::MOST_VALUES;
use crate::host::state::Host;
use crate::host::value::{HostValue, NextItem};
use crate::syntax::at;

impl<'a> Host<'a> {
    /// Requires the names of an annotation in an orchestration to be defined, and those of the language to be types:
    /// Python does not evaluate annotations of local names.
    pub(super) fn annotation(&mut self, annotation: &'a Expr) {
        if self.recorder.is_none() {
            return;
        }
        match annotation {
            Expr::Name(name) if self.get(&name.id).is_none() => drop(self.undefined(&name.id, at(annotation))),
            Expr::Attribute(member) => match &*member.value {
                Expr::Name(name)
                    if matches!(self.get(&name.id), Some(HostValue::Path(path)) if &*path == "pl")
                        && !crate::lower::signature::is_type(&member.attr) =>
                {
                    let message = format!("`pl.{}` is not a type", member.attr);
                    self.refuse(Diagnostic::error("annotation", at(annotation), message));
                }
                inner @ Expr::Name(_) => self.annotation(inner),
                _ => {}
            },
            Expr::Subscript(part) => {
                self.annotation(&part.value);
                self.annotation(&part.slice);
            }
            Expr::List(list) => list.elts.iter().for_each(|item| self.annotation(item)),
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|item| self.annotation(item)),
            _ => {}
        }
    }

    pub(super) fn delete(&mut self, target: &'a Expr) {
        let span = at(target);
        match target {
            Expr::Name(name) => {
                let name = name.id.as_str();
                if let Some(scope) = self.scope_for(name) {
                    self.touch_name(&scope, &name.into());
                    if !scope.remove(name) {
                        self.fail("NameError", format!("name '{name}' is not defined"), span);
                    }
                }
            }
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|target| self.delete(target)),
            Expr::List(list) => list.elts.iter().for_each(|target| self.delete(target)),
            Expr::Subscript(subscript) => {
                let base = self.expr(&subscript.value);
                self.delete_element(&base, &subscript.slice, span);
            }
            Expr::Attribute(attribute) => {
                let base = self.expr(&attribute.value);
                let name = attribute.attr.as_str();
                let frame = match &base {
                    HostValue::Object(object) => Some(object.fields.clone()),
                    HostValue::Class(class) => Some(class.names.clone()),
                    _ => None,
                };
                match frame {
                    Some(frame) if frame.borrow().contains_key(name) && !self.has(&base, "__delattr__") => {
                        self.touch_name(&frame, &name.into());
                        frame.remove(name);
                    }
                    _ => drop(self.lost_in(&[base], span, "what something is deleted of")),
                }
            }
            _ => {}
        }
    }

    /// `a op= b`: the parts of `a` are evaluated once.
    pub(in crate::host) fn augmented(&mut self, assign: &'a ruff_python_ast::StmtAugAssign, span: Span) {
        match &*assign.target {
            Expr::Subscript(subscript) if !subscript.slice.is_slice_expr() => {
                let base = self.expr(&subscript.value);
                if matches!(base, HostValue::Device(_) | HostValue::Tensor(_)) {
                    let (a, b) = (self.expr(&assign.target), self.expr(&assign.value));
                    let value = self.in_place(assign.op, a, b, span);
                    return self.assign(&assign.target, value);
                }
                let key = self.expr(&subscript.slice);
                let old = self.item_of(base.clone(), key.clone(), span);
                let other = self.expr(&assign.value);
                let value = self.in_place(assign.op, old, other, span);
                self.set_element(&base, key, value, span);
            }
            Expr::Attribute(attribute) => {
                let base = self.expr(&attribute.value);
                let old = self.attribute(base.clone(), attribute.attr.as_str(), span);
                let other = self.expr(&assign.value);
                let value = self.in_place(assign.op, old, other, span);
                self.set_attribute(&base, attribute.attr.as_str(), value, span);
            }
            target => {
                let (a, b) = (self.expr(target), self.expr(&assign.value));
                let (a, b) = (self.extent(a), self.extent(b));
                let value = self.in_place(assign.op, a, b, span);
                self.assign(target, value);
            }
        }
    }

    pub(in crate::host) fn assign(&mut self, target: &'a Expr, value: HostValue<'a>) {
        if self.raised.is_some() || self.recorder.is_some() && self.task_assign(target, &value) {
            return;
        }
        match target {
            Expr::Name(name) => {
                let set = self.sets.iter().position(|(set, ..)| *set == name.id.as_str() && self.scopes.len() == 1);
                let value = match set {
                    Some(at) => {
                        self.sets[at].2 = true;
                        self.sets[at].1.clone()
                    }
                    None => value,
                };
                if self.recorder.is_some() {
                    self.named(name.id.as_str(), &value);
                }
                self.set(name.id.as_str(), value);
            }
            Expr::Tuple(tuple) => self.assign_each(&tuple.elts, value, at(target)),
            Expr::List(list) => self.assign_each(&list.elts, value, at(target)),
            Expr::Starred(starred) => self.assign(&starred.value, value),
            Expr::Subscript(subscript) => {
                let base = self.expr(&subscript.value);
                if subscript.slice.is_slice_expr() {
                    return self.set_slice(&base, &subscript.slice, value, at(target));
                }
                let key = self.expr(&subscript.slice);
                self.set_element(&base, key, value, at(target));
            }
            Expr::Attribute(attribute) => {
                let base = self.expr(&attribute.value);
                self.set_attribute(&base, attribute.attr.as_str(), value, at(target));
            }
            _ => {}
        }
    }

    /// `a, *b, c = value`
    fn assign_each(&mut self, targets: &'a [Expr], value: HostValue<'a>, span: Span) {
        let star = targets.iter().position(Expr::is_starred_expr);
        let iter = self.iter_of(&value, span);
        let mut items = Vec::new();
        let mut why = iter.lost();
        let mut ended = false;
        while why.is_none() && (star.is_some() || items.len() <= targets.len()) && items.len() <= MOST_VALUES {
            match self.next(&iter, span) {
                NextItem::Item(item) => items.push(item),
                NextItem::End => {
                    ended = true;
                    break;
                }
                NextItem::Unknown(unknown) => why = Some(unknown),
            }
        }
        if self.raised.is_some() {
            return;
        }
        if let Some(why) = why {
            let why = match &value {
                HostValue::Unknown(why) => why.clone(),
                _ => why,
            };
            items.iter().for_each(|item| self.lose(item, &why));
            self.risks += 1;
            for target in targets {
                self.assign(target, HostValue::Unknown(why.clone()));
            }
            return;
        }
        let fits = match star {
            None => ended && items.len() == targets.len(),
            Some(_) => ended && items.len() + 1 >= targets.len(),
        };
        if !fits {
            self.fail("ValueError", "the number of values to unpack is not that of the names", span);
            return;
        }
        let mut items = items.into_iter();
        let extra = items.len() + 1 - targets.len().min(items.len() + 1);
        for (index, target) in targets.iter().enumerate() {
            if Some(index) == star {
                let part: Vec<_> = items.by_ref().take(extra).collect();
                self.assign(target, HostValue::list(part));
            } else if let Some(item) = items.next() {
                self.assign(target, item);
            }
        }
    }
}
