//! Declarations by name, for parsing; the ops of a module carry their own.

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

/// Downcasts a declaration that was passed through a crate that only knows its schema.
fn whole(declaration: &'static dyn Declaration) -> Option<&'static OpDef> {
    (declaration as &dyn Any).downcast_ref()
}

/// Declarations by name, which a text is parsed with.
#[derive(Debug)]
pub struct Table {
    /// The part that the text layer needs.
    pub registry: Registry,
    all: Vec<&'static OpDef>,
}

impl Table {
    /// The table of these families, in this order. `hints` are attributes that may be on any op and do not affect the
    /// program: a name, or a prefix that ends in a dot.
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
