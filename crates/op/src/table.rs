//! The declarations that a module is read with.

use std::collections::BTreeMap;

use slipring_ir::{Module, OpId, OpSchema, Registry};

use crate::def::{OpDef, OpRef};

/// Declarations by name: what a text is parsed with and a module is verified and decoded with.
pub struct Table {
    /// What the text layer needs of them.
    pub registry: Registry,
    by_name: BTreeMap<&'static str, &'static OpDef>,
    /// By the address of the schema, which ops of modules point to: most look-ups.
    by_schema: Vec<(usize, &'static OpDef)>,
    all: Vec<&'static OpDef>,
}

impl Table {
    /// The table of some families, in this order.
    pub fn new(families: impl IntoIterator<Item = &'static [&'static OpDef]>) -> Table {
        let all: Vec<&'static OpDef> = families.into_iter().flatten().copied().collect();
        let registry = Registry::new(all.iter().map(|def| &def.schema));
        let by_name = all.iter().map(|def| (def.schema.name, *def)).collect();
        let mut by_schema: Vec<(usize, &'static OpDef)> = all.iter().map(|def| (address(&def.schema), *def)).collect();
        by_schema.sort_unstable_by_key(|(address, _)| *address);
        Table { registry, by_name, by_schema, all }
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
        Some(OpRef { table: self, module, id, def: self.of(module, id)? })
    }

    /// The declaration of an op of a module, if it has one: by its schema, which is quicker than by its name.
    pub fn of(&self, module: &Module, id: OpId) -> Option<&'static OpDef> {
        let data = module.op(id);
        let known = data.schema.and_then(|schema| {
            let at = self.by_schema.binary_search_by_key(&address(schema), |(address, _)| *address).ok()?;
            let def = self.by_schema.get(at)?.1;
            (*data.name == *def.schema.name).then_some(def)
        });
        known.or_else(|| self.def(&data.name))
    }
}

/// Where a schema lies: it stands in its declaration, which never moves.
fn address(schema: &'static OpSchema) -> usize {
    std::ptr::from_ref(schema).addr()
}
