//! Dicts of constants that a kernel makes.

use ruff_python_ast::{Expr, ExprCall, ExprDict};
use slipring_ir::{Diagnostic, Span};

use super::lowering::{Lower, Lowered, describe};
use crate::syntax::at;
use crate::value::{Const, Record, Value};

/// Methods of a dict.
const METHODS: [&str; 4] = ["update", "pop", "clear", "get"];

/// Keys and values, in insertion order.
type Entries = Vec<(Const, Value)>;

impl Lower<'_> {
    /// `{key: value}` of constants: a tile in a dict would escape the analysis.
    pub(super) fn dict(&mut self, dict: &ExprDict) -> Lowered {
        self.entries_of(dict, Self::with_entry)
    }

    /// A dict with values of any kind: attributes of a function are evaluated immediately and not kept.
    pub(super) fn attributes(&mut self, dict: &ExprDict) -> Lowered {
        self.entries_of(dict, Self::with_any)
    }

    fn entries_of(
        &mut self,
        dict: &ExprDict,
        add: fn(&mut Self, Entries, Const, Value, Span) -> Lowered<Entries>,
    ) -> Lowered {
        let mut entries = Entries::new();
        for item in &dict.items {
            let value = self.expr(&item.value)?;
            entries = match &item.key {
                Some(key) => {
                    let key = self.key(key)?;
                    add(self, entries, key, value, at(&item.value))?
                }
                None => self.with_all(entries, &value, at(&item.value))?,
            };
        }
        Ok(Value::Record(Record::dict(entries).into()))
    }

    /// A key: a number, a string, a member of the language.
    pub(super) fn key(&mut self, expr: &Expr) -> Lowered<Const> {
        match self.expr(expr)? {
            Value::Const(key) => Ok(key),
            other => {
                let message = format!("a key of a dict is a constant, not {}", describe(self, &other));
                Err(self.error("subscript", at(expr), message))
            }
        }
    }

    /// The entries with one added, or with the value of its key replaced.
    pub(super) fn with_entry(&mut self, entries: Entries, key: Const, value: Value, span: Span) -> Lowered<Entries> {
        if !is_constant(&value) {
            let message = format!("a dict in a kernel holds constants, not {}", describe(self, &value));
            let error = Diagnostic::error("value-kind", span, message);
            return Err(self.report(error.help("hold tiles and numbers of the run in a list, by their positions")));
        }
        self.with_any(entries, key, value, span)
    }

    fn with_any(&mut self, mut entries: Entries, key: Const, value: Value, span: Span) -> Lowered<Entries> {
        /// The maximum number of entries of a dict.
        const MOST: usize = 4096;
        match entries.iter().position(|(known, _)| *known == key) {
            Some(place) => entries[place].1 = value,
            None if entries.len() >= MOST => {
                return Err(self.error("too-large", span, format!("a dict of more than {MOST} entries")));
            }
            None => entries.push((key, value)),
        }
        Ok(entries)
    }

    fn with_all(&mut self, mut entries: Entries, other: &Value, span: Span) -> Lowered<Entries> {
        let Value::Record(other) = other else {
            let message = format!("a dict takes the entries of a dict, not of {}", describe(self, other));
            return Err(self.error("argument", span, message));
        };
        for (key, value) in &other.entries {
            entries = self.with_entry(entries, key.clone(), value.clone(), span)?;
        }
        Ok(entries)
    }

    /// A method of a dict, and its value. `None` for other calls.
    pub(super) fn dict_method(&mut self, call: &ExprCall) -> Lowered<Option<Value>> {
        let Expr::Attribute(member) = &*call.func else { return Ok(None) };
        let (method, Expr::Name(name)) = (member.attr.as_str(), &*member.value) else { return Ok(None) };
        if !METHODS.contains(&method) || self.dict_of(name.id.as_str()).is_none() {
            return Ok(None);
        }
        let span = at(call);
        let given: Vec<Value> = call.arguments.args.iter().map(|arg| self.expr(arg)).collect::<Lowered<_>>()?;
        let mut words = Entries::new();
        for keyword in &call.arguments.keywords {
            let value = self.expr(&keyword.value)?;
            words = match &keyword.arg {
                Some(word) => self.with_entry(words, Const::Str(word.as_str().into()), value, at(&keyword.value))?,
                None => self.with_all(words, &value, at(&keyword.value))?,
            };
        }
        // Evaluating the arguments may have changed the dict.
        let Some(old) = self.dict_of(name.id.as_str()) else { return Ok(None) };
        let Value::Record(record) = &old else { return Ok(None) };
        let mut entries = record.entries.clone();
        let mut value = Value::Const(Const::None);
        match (method, &given[..]) {
            ("get", [Value::Const(key)]) if words.is_empty() => {
                return Ok(Some(found(&entries, key).unwrap_or(value)));
            }
            ("get", [Value::Const(key), default]) if words.is_empty() => {
                return Ok(Some(found(&entries, key).unwrap_or_else(|| default.clone())));
            }
            ("update", [] | [_]) => {
                for other in &given {
                    entries = self.with_all(entries, other, span)?;
                }
                entries = self.with_all(entries, &Value::Record(Record::dict(words).into()), span)?;
            }
            ("pop", [Value::Const(key)]) if words.is_empty() => {
                let Some(place) = entries.iter().position(|(known, _)| known == key) else {
                    return Err(self.error("subscript", span, "the dict has no such key"));
                };
                value = entries.remove(place).1;
            }
            ("clear", []) if words.is_empty() => entries.clear(),
            _ => {
                let message = format!("`{method}` of a dict does not take what is given");
                return Err(self.error("argument", span, message));
            }
        }
        self.change(&old, Value::Record(Record::dict(entries).into()), span)?;
        Ok(Some(value))
    }

    /// The dict that a name of the kernel or of the file is bound to.
    fn dict_of(&self, name: &str) -> Option<Value> {
        let value = self.names.env.get(name).cloned().or_else(|| self.globals.get(name));
        value.filter(|value| matches!(value, Value::Record(record) if record.is_dict))
    }
}

fn found(entries: &[(Const, Value)], key: &Const) -> Option<Value> {
    entries.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
}

fn is_constant(value: &Value) -> bool {
    match value {
        Value::Const(_) => true,
        Value::Tuple(items) => items.iter().all(is_constant),
        _ => false,
    }
}
