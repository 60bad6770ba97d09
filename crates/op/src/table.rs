//! The declarations that a module is read with.

use std::collections::BTreeMap;

use slipring_ir::{Module, OpId, Registry};

use crate::def::{OpDef, OpRef};

/// Declarations by name: what a text is parsed with and a module is verified and decoded with.
pub struct Table {
    /// What the text layer needs of them.
    pub registry: Registry,
    by_name: BTreeMap<&'static str, &'static OpDef>,
    all: Vec<&'static OpDef>,
}

impl Table {
    /// The table of some families, in this order.
    pub fn new(families: impl IntoIterator<Item = &'static [&'static OpDef]>) -> Table {
        let all: Vec<&'static OpDef> = families.into_iter().flatten().copied().collect();
        let registry = Registry::new(all.iter().map(|def| &def.schema));
        let by_name = all.iter().map(|def| (def.schema.name, *def)).collect();
        Table { registry, by_name, all }
    }

    /// The declaration of an op by its name (the module keeps the declaration's own spelling, not an alias).
    pub fn def(&self, name: &str) -> Option<&'static OpDef> {
        self.by_name.get(name).copied().or_else(|| self.by_name.get(self.registry.get(name)?.name).copied())
    }

    /// Every declaration, family by family.
    pub fn all(&self) -> &[&'static OpDef] {
        &self.all
    }

    /// An op of a module with its declaration, if it has one.
    pub fn op<'a>(&'a self, module: &'a Module, id: OpId) -> Option<OpRef<'a>> {
        Some(OpRef { table: self, module, id, def: self.def(&module.op(id).name)? })
    }
}
