//! Class creation in Python: fields of dataclasses, the method resolution order, and hooks.

use std::rc::Rc;

use ruff_python_ast::{Expr, Stmt, StmtClassDef};

use crate::host::state::Host;
use crate::host::value::{Class, Field, HostValue, Made, Wrapped};
use crate::syntax::{at, shown};
use crate::value::Unknown;

impl<'a> Host<'a> {
    /// Calls the hooks for a new class: `__set_name__` of its members, and `__init_subclass__` of its bases. When
    /// Python calls `__del__` is not known.
    pub(super) fn class_is_made(&mut self, def: &'a StmtClassDef, class: &Rc<Class<'a>>) {
        let span = at(&def.name);
        let own = HostValue::Class(class.clone());
        let members: Vec<_> = class.names.borrow().iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        for (name, value) in members {
            if self.has(&value, "__set_name__") {
                let given = vec![(None, own.clone()), (None, HostValue::str(name))];
                self.special(&value, "__set_name__", given, span);
            }
        }
        if let Some(end) = class.names.get("__del__") {
            drop(self.lost_in(&[end], span, "what `__del__` does at a time that Python chooses"));
        }
        let above = class.order.borrow().iter().skip(1).find_map(|base| base.names.get("__init_subclass__"));
        let Some(hook) = above else { return };
        let hook = match &hook {
            HostValue::Wrapped(wrapped) if let Wrapped::OfClass(inner) = &**wrapped => inner.clone(),
            _ => hook,
        };
        let keywords = def.arguments.iter().any(|arguments| !arguments.keywords.is_empty());
        if keywords || !matches!(hook, HostValue::Function(_)) {
            let why = self.lost_in(&[hook, own], span, "what `__init_subclass__` makes of a class");
            if let HostValue::Unknown(why) = why {
                class.foreign.borrow_mut().get_or_insert(why);
            }
            return;
        }
        self.call_value(hook, vec![(None, own)], span, &|| "__init_subclass__".into());
    }

    /// `@dataclass` and its arguments.
    pub(super) fn dataclass(&mut self, def: &'a StmtClassDef, class: &Rc<Class<'a>>, expression: &'a Expr) {
        let mut made = class.made.get();
        (made.dataclass, made.init, made.eq) = (true, true, true);
        let mut keyword_only = false;
        if let Expr::Call(call) = expression {
            for keyword in &call.arguments.keywords {
                let word = keyword.arg.as_ref().map_or("", |name| name.as_str());
                let value = self.expr(&keyword.value).as_bool();
                match (word, value) {
                    ("frozen", Some(value)) => made.frozen = value,
                    ("eq", Some(value)) => made.eq = value,
                    ("init", Some(value)) => made.init = value,
                    ("kw_only", Some(value)) => keyword_only = value,
                    ("repr" | "unsafe_hash", Some(_)) | ("order" | "slots" | "weakref_slot", Some(false)) => {}
                    _ => {
                        let why = Unknown::new(at(keyword), format!("what `{word}` makes of a class"));
                        *class.foreign.borrow_mut() = Some(Rc::new(why));
                    }
                }
            }
        }
        class.made.set(made);
        self.fields_of(def, class, keyword_only);
    }

    /// The fields declared in a class, after those of its bases.
    pub(super) fn fields_of(&mut self, def: &'a StmtClassDef, class: &Rc<Class<'a>>, keyword_only: bool) {
        let mut fields: Vec<Field<'a>> = Vec::new();
        let order = class.order.borrow().clone();
        for base in order.iter().skip(1).rev() {
            for field in base.fields.borrow().iter() {
                match fields.iter_mut().find(|known| known.name == field.name) {
                    Some(known) => *known = field.clone(),
                    None => fields.push(field.clone()),
                }
            }
        }
        for stmt in &def.body {
            let Stmt::AnnAssign(assign) = stmt else { continue };
            let Expr::Name(name) = &*assign.target else { continue };
            let name = name.id.as_str();
            let annotation = shown(&assign.annotation);
            if annotation.contains("ClassVar") {
                continue;
            }
            if annotation.contains("InitVar") || annotation.contains("KW_ONLY") || annotation == "…" {
                let plain = assign.annotation.is_string_literal_expr() || assign.annotation.is_bin_op_expr();
                if !plain && !assign.annotation.is_none_literal_expr() {
                    let why = Unknown::new(at(assign), "a field of this kind");
                    *class.foreign.borrow_mut() = Some(Rc::new(why));
                    class.made.set(Made { strange_fields: true, ..class.made.get() });
                }
            }
            let mut field = Field { name: name.into(), default: None, factory: None, init: true, keyword_only };
            if let Some(value) = &assign.value {
                self.field_default(value, class, &mut field);
            }
            if let Some(kind) = field.default.as_ref().and_then(crate::host::key::unhashable) {
                self.fail(
                    "ValueError",
                    format!("mutable default {kind} for field {name}: use default_factory"),
                    at(assign),
                );
                return;
            }
            match fields.iter_mut().find(|known| known.name == field.name) {
                Some(known) => *known = field,
                None => fields.push(field),
            }
        }
        let positional = fields.iter().filter(|field| field.init && !field.keyword_only);
        let given = |field: &&Field<'a>| field.default.is_some() || field.factory.is_some();
        if let Some(late) = positional.skip_while(|field| !given(field)).find(|field| !given(field)) {
            let what = format!("non-default argument '{}' follows default argument", late.name);
            self.fail("TypeError", what, at(&def.name));
            return;
        }
        *class.fields.borrow_mut() = fields;
    }

    /// The default of a field: a value, or the arguments of `field(…)`.
    fn field_default(&mut self, value: &'a Expr, class: &Rc<Class<'a>>, field: &mut Field<'a>) {
        let call = value.as_call_expr();
        let path = call.and_then(|call| self.expr_path(&call.func));
        let (Some(call), Some("dataclasses.field")) = (call, path.as_deref()) else {
            field.default = class.names.get(&field.name);
            return;
        };
        class.names.remove(&field.name);
        for keyword in &call.arguments.keywords {
            let own = self.expr(&keyword.value);
            match keyword.arg.as_ref().map_or("", |name| name.as_str()) {
                "default" => {
                    class.names.put(&field.name, own.clone());
                    field.default = Some(own);
                }
                "default_factory" => field.factory = Some(own),
                "init" => field.init = own.as_bool().unwrap_or(true),
                "kw_only" => field.keyword_only = own.as_bool().unwrap_or(false),
                "repr" | "metadata" | "hash" => {}
                _ => {
                    let why = Unknown::new(at(keyword), "a field of this kind");
                    *class.foreign.borrow_mut() = Some(Rc::new(why));
                }
            }
        }
    }
}

/// The method resolution order of a class; `None` if there is none.
pub(super) fn order_of<'a>(class: &Rc<Class<'a>>, bases: &[Rc<Class<'a>>]) -> Option<Vec<Rc<Class<'a>>>> {
    let mut lists: Vec<Vec<Rc<Class<'a>>>> = bases.iter().map(|base| base.order.borrow().clone()).collect();
    lists.push(bases.to_vec());
    let mut order = vec![class.clone()];
    loop {
        lists.retain(|list| !list.is_empty());
        if lists.is_empty() {
            return Some(order);
        }
        let free =
            |head: &Rc<Class<'a>>| lists.iter().all(|list| !list[1..].iter().any(|other| Rc::ptr_eq(other, head)));
        let next = lists.iter().map(|list| list[0].clone()).find(|head| free(head))?;
        for list in &mut lists {
            list.retain(|other| !Rc::ptr_eq(other, &next));
        }
        order.push(next);
    }
}
