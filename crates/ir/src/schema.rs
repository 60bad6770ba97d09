//! The part of an op's declaration that the text layer and the passes need: everything but its semantics.

use std::hash::BuildHasherDefault;

use indexmap::IndexMap;

use crate::declaration::{Declaration, OpSchema, Registry};
use crate::specs::OperandSpec;

impl OpSchema {
    /// This schema with another order of the operands in the generic form.
    pub const fn in_generic_form(self, generic: &'static [&'static str]) -> OpSchema {
        OpSchema { generic, ..self }
    }

    /// Indices of the operands in the order of the generic form.
    pub fn generic_order(&self) -> Vec<usize> {
        match self.generic {
            [] => (0..self.operands.len()).collect(),
            names => names.iter().filter_map(|name| self.operands.iter().position(|own| own.name == *name)).collect(),
        }
    }

    /// The declared operand with this name.
    pub fn operand(&self, name: &str) -> Option<&'static OperandSpec> {
        self.operands.iter().find(|spec| spec.name == name)
    }
}

impl Registry {
    /// A registry of these declarations.
    ///
    /// # Panics
    /// If two of them claim the same name: a mistake in the declarations, found by any test.
    pub fn new<D: Declaration>(declarations: impl IntoIterator<Item = &'static D>) -> Registry {
        let declarations = declarations.into_iter();
        let names = declarations.size_hint().0;
        let mut by_name: IndexMap<_, &'static dyn Declaration, _> =
            IndexMap::with_capacity_and_hasher(names, BuildHasherDefault::default());
        for declaration in declarations {
            let schema = declaration.schema();
            for name in std::iter::once(&schema.name).chain(schema.aliases) {
                assert!(by_name.insert(*name, declaration).is_none(), "`{name}` is declared twice");
            }
        }
        Registry { by_name, hints: &[] }
    }

    /// The declaration with this name or alias.
    pub fn get(&self, name: &str) -> Option<&'static dyn Declaration> {
        self.by_name.get(name).copied()
    }

    /// True for an attribute that is allowed on any op and has no meaning to the program.
    pub fn is_hint(&self, name: &str) -> bool {
        self.hints.iter().any(|known| match known.strip_suffix('.') {
            Some(dialect) => name.strip_prefix(dialect).is_some_and(|rest| rest.starts_with('.')),
            None => name == *known,
        })
    }

    /// Every name and alias, sorted.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.by_name.keys().copied().collect();
        names.sort_unstable();
        names
    }

    /// True if ops of this dialect, such as `pto`, are declared.
    pub fn has_dialect(&self, dialect: &str) -> bool {
        self.by_name.keys().any(|name| name.split_once('.').is_some_and(|(of, _)| of == dialect))
    }
}
