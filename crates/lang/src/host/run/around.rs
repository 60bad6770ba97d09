//! Values of names around a text, as known to its caller: the Python process that executed the file.

use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::StmtFunctionDef;
use slipring_ir::Span;

use crate::Name;
use crate::given::Names;
use crate::host::key::key_of;
use crate::host::state::{Host, PartOfText};
use crate::host::value::{Entries, Frame, Given, HostValue, Kind, Object, Scope, Wrapped};
use crate::syntax::at;
use crate::value::Const;

impl<'a> Host<'a> {
    /// Adds the names around the file.
    pub(super) fn surround(&mut self, given: Option<&Names>) {
        let Some(given) = given else { return };
        self.around.whole = self.values_of(&given.whole);
        for part in &given.parts {
            let own = self.values_of(&part.own);
            self.around.parts.push(PartOfText {
                range: part.range.clone(),
                names: Frame::new(Kind::Function, own),
                within: part.within.iter().map(|name| name.as_str().into()).collect(),
                made: None,
            });
        }
    }

    fn values_of(&mut self, names: &[(String, Name)]) -> IndexMap<Rc<str>, HostValue<'a>> {
        names.iter().map(|(name, value)| (name.as_str().into(), self.value_of(value))).collect()
    }

    /// The value of a name around the file.
    fn value_of(&mut self, name: &Name) -> HostValue<'a> {
        HostValue::Const(match name {
            Name::Int(n) => Const::Int(*n),
            Name::Float(x) => Const::Float(*x),
            Name::Bool(boolean) => Const::Bool(*boolean),
            Name::Str(text) => Const::Str(text.as_str().into()),
            Name::None => Const::None,
            Name::Tuple(items) => {
                return HostValue::tuple(items.iter().map(|item| self.value_of(item)).collect());
            }
            Name::Members(own) => {
                let fields = self.values_of(&own.fields);
                if let Some(HostValue::Object(known)) = self.around.same.get(&own.same) {
                    // Each name adds the members that its function uses.
                    known.fields.borrow_mut().extend(fields);
                    return HostValue::Object(known.clone());
                }
                let fields = Frame::new(Kind::Module, fields);
                let object = Rc::new(Object { class: None, what: own.what.as_str().into(), fields });
                self.around.same.insert(own.same, HostValue::Object(object.clone()));
                return HostValue::Object(object);
            }
            Name::Dict { same, entries } => {
                if let Some(known) = self.around.same.get(same) {
                    return known.clone();
                }
                let mut all = Entries::new();
                for (key, value) in entries {
                    let (key, value) = (self.value_of(key), self.value_of(value));
                    if let Some(own) = key_of(&key) {
                        all.insert(own, (key, value));
                    }
                }
                let dict = HostValue::dict(all);
                self.around.same.insert(*same, dict.clone());
                return dict;
            }
            Name::Function(name) => return HostValue::Path(format!("@{name}").into()),
            // It is defined once the text has run.
            Name::Part(at) => return HostValue::Part(*at),
            Name::Partial(function, args, named) => {
                let function = self.value_of(function);
                let mut given: Given<'a> = args.iter().map(|value| (None, self.value_of(value))).collect();
                given.extend(named.iter().map(|(name, value)| (Some(name.as_str().into()), self.value_of(value))));
                return HostValue::Wrapped(Rc::new(Wrapped::Partial(function, given)));
            }
            Name::Path(path) => {
                if let Some(extent) = path.strip_prefix("pl.dynamic.") {
                    return HostValue::Dynamic(extent.into());
                }
                let mut parts = path.split('.');
                let first = HostValue::Path(parts.next().unwrap_or_default().into());
                return parts.fold(first, |value, part| self.attribute(value, part, Span::default()));
            }
        })
    }

    /// True for a text assembled from functions, each with its own names.
    pub(super) fn has_parts(&self) -> bool {
        !self.around.parts.is_empty()
    }

    /// All scopes outside functions: those of modules, and those around functions.
    pub(crate) fn outside(&self) -> impl Iterator<Item = &Scope<'a>> {
        self.module_names.iter().flatten().chain(self.around.parts.iter().map(|part| &part.names))
    }

    /// The indices of the surrounding functions whose text a definition is: several if one text was executed several
    /// times.
    pub(super) fn parts_of(&self, def: &StmtFunctionDef) -> Vec<usize> {
        let place = at(def);
        // Nested definitions belong to their function.
        if self.module != 0 || !self.called.is_empty() {
            return Vec::new();
        }
        let parts = self.around.parts.iter().enumerate();
        let own = parts.filter(|(_, part)| part.range.start <= place.start && place.end <= part.range.end);
        own.map(|(index, _)| index).collect()
    }

    /// Runs `make` in the names of a part, to make its function.
    pub(super) fn in_part(&mut self, part: usize, make: impl FnOnce(&mut Host<'a>) -> Option<HostValue<'a>>) {
        let own = &self.around.parts[part];
        self.scopes.push(own.names.clone());
        let within = std::mem::replace(&mut self.within, own.within.clone());
        let made = make(self);
        self.scopes.pop();
        self.within = within;
        self.around.parts[part].made = made;
    }

    /// Replaces a value that refers to a surrounding function by the function, if it is defined by now.
    pub(in crate::host) fn function_named(&self, value: HostValue<'a>) -> HostValue<'a> {
        match &value {
            HostValue::Part(at) => self.around.parts.get(*at).and_then(|part| part.made.clone()).unwrap_or(value),
            HostValue::Wrapped(wrapped) => match &**wrapped {
                Wrapped::Partial(inner @ (HostValue::Part(_) | HostValue::Wrapped(_)), given) => {
                    let inner = self.function_named(inner.clone());
                    HostValue::Wrapped(Rc::new(Wrapped::Partial(inner, given.clone())))
                }
                _ => value,
            },
            _ => value,
        }
    }

    /// Replaces references to functions of the file by the functions, now that they are defined.
    pub(super) fn fill_in_functions(&mut self) {
        self.around.parts.iter().for_each(|part| self.fill_in_frame(&part.names));
        for value in self.around.same.values() {
            match value {
                HostValue::Object(object) => self.fill_in_frame(&object.fields),
                HostValue::Dict(dict) => {
                    let entries = dict.borrow().clone();
                    let entries = entries.into_iter().map(|(key, (own, value))| (key, (own, self.filled_in(value))));
                    *dict.borrow_mut() = entries.collect();
                }
                _ => {}
            }
        }
    }

    fn fill_in_frame(&self, frame: &Scope<'a>) {
        let names: Vec<_> = frame.borrow().iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let names = names.into_iter().map(|(name, value)| (name, self.filled_in(value)));
        frame.borrow_mut().extend(names.collect::<Vec<_>>());
    }

    fn filled_in(&self, value: HostValue<'a>) -> HostValue<'a> {
        match &value {
            HostValue::Tuple(items) if items.iter().any(may_be_function) => {
                HostValue::tuple(items.iter().map(|item| self.filled_in(item.clone())).collect())
            }
            HostValue::Wrapped(wrapped) if let Wrapped::Partial(inner, given) = &**wrapped => {
                let given = given.iter().map(|(name, value)| (name.clone(), self.filled_in(value.clone()))).collect();
                HostValue::Wrapped(Rc::new(Wrapped::Partial(self.filled_in(inner.clone()), given)))
            }
            _ => self.function_named(value),
        }
    }
}

/// True for values that may be or contain a surrounding function.
fn may_be_function(value: &HostValue<'_>) -> bool {
    matches!(value, HostValue::Part(_) | HostValue::Tuple(_) | HostValue::Wrapped(_))
}
