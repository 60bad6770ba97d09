//! Every op, declared once.
//!
//! An [`OpDef`] holds all that is known of an op: name, text form, operands and types, rules, core and
//! pipe, the memory it touches, its cost, what it computes, and its reference page. Parser, printer,
//! verifier, passes, decoder and `slipring ops` read that declaration; no other room knows an op by name.
//! Declarations are filed by family as the manual of the instruction set files them.

mod along;
pub mod decode;
pub mod def;
pub mod function;
#[allow(missing_docs)] // An op's declaration is its documentation.
pub mod memref;
mod micro;
#[allow(missing_docs)]
pub mod pto;
mod reach;
pub mod ring;
pub mod rules;
mod verify;

#[allow(missing_docs)]
pub mod arith;
#[allow(missing_docs)]
pub mod builtin;
#[allow(missing_docs)]
pub mod func;
#[allow(missing_docs)]
pub mod scf;

use std::collections::HashMap;
use std::sync::OnceLock;

use slipring_ir::Registry;

pub use along::Along;
pub use decode::{Decoded, Kernel, Mode, decode, needed_functions, select_kernel};
pub use def::{
    CoreRule, ElemTypes, HandlePart, InCoreSync, LaneQuery, Linear, MixedPart, OpDef, OpRef, PipeRule, Product,
    ProductStart, Reported, RingPart, Transfer,
};
pub use function::{is_entry, kernel_kind, symbol_name};
pub use pto::{is_event, lies};
pub use reach::{affinity, core_of, is_mixed, reachable, writes_global};
pub use verify::verify;

/// All declared ops.
pub struct Dialects {
    /// What the text layer needs of them.
    pub registry: Registry,
    by_name: HashMap<&'static str, &'static OpDef>,
    all: Vec<&'static OpDef>,
}

impl Dialects {
    /// The declared ops. Built on first use.
    pub fn get() -> &'static Dialects {
        static DIALECTS: OnceLock<Dialects> = OnceLock::new();
        DIALECTS.get_or_init(|| {
            let families = [builtin::OPS, func::OPS, scf::OPS, memref::OPS];
            let families =
                families.into_iter().chain(arith::FAMILIES.iter().chain(pto::FAMILIES).chain(micro::FAMILIES).copied());
            let all: Vec<&'static OpDef> = families.flatten().copied().collect();
            let registry = Registry::new(all.iter().map(|def| &def.schema));
            let by_name = all.iter().map(|def| (def.schema.name, *def)).collect();
            Dialects { registry, by_name, all }
        })
    }

    /// The declaration of an op by its name (the module keeps the declaration's own spelling, not an alias).
    pub fn def(&self, name: &str) -> Option<&'static OpDef> {
        self.by_name.get(name).copied().or_else(|| self.by_name.get(self.registry.get(name)?.name).copied())
    }

    /// Every declaration, family by family.
    pub fn all(&self) -> &[&'static OpDef] {
        &self.all
    }
}
