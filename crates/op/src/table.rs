//! Declarations by name, for texts; ops of a module carry theirs.

use std::any::Any;

use slipring_ir::{Declaration, Module, OpId, OpSchema, Registry};

use crate::def::OpDef;

impl Declaration for OpDef {
    fn schema(&self) -> &OpSchema {
        &self.schema
    }
}

impl OpDef {
    /// The declaration of an op of a module, if it has one.
    pub fn of(module: &Module, id: OpId) -> Option<&'static OpDef> {
        module.op(id).declaration.and_then(whole)
    }
}

/// A declaration that came through a crate that knows only its schema.
fn whole(declaration: &'static dyn Declaration) -> Option<&'static OpDef> {
    (declaration as &dyn Any).downcast_ref()
}

/// Declarations by name: what a text is read with.
#[derive(Debug)]
pub struct Table {
    /// What the text layer needs of them.
    pub registry: Registry,
    all: Vec<&'static OpDef>,
}

impl Table {
    /// The table of some families, in this order. `hints` are attributes that may stand on any op and have no meaning to the program: a
    /// name, or with a point at its end all that begin so.
    pub fn new(families: impl IntoIterator<Item = &'static [&'static OpDef]>, hints: &'static [&'static str]) -> Table {
        let all: Vec<&'static OpDef> = families.into_iter().flatten().copied().collect();
        let mut registry = Registry::new(all.iter().copied());
        registry.hints = hints;
        Table { registry, all }
    }

    /// The declaration of a name or an alias.
    pub fn def(&self, name: &str) -> Option<&'static OpDef> {
        self.registry.get(name).and_then(whole)
    }

    /// Every declaration, family by family.
    pub fn all(&self) -> &[&'static OpDef] {
        &self.all
    }
}
