//! Every op, declared once: the table of all families.
//!
//! Declarations are grouped into the families of the instruction set manual: [`slipring_mlir`], [`slipring_pto`],
//! [`slipring_micro`]. Texts are parsed with this table; the ops of a module then carry their declarations.

use std::sync::OnceLock;

use slipring_op::Table;

/// The table of all declared ops.
pub struct Dialects;

impl Dialects {
    /// The declared ops. Built on first use.
    pub fn get() -> &'static Table {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(|| {
            let lists = [slipring_mlir::FAMILIES, slipring_pto::FAMILIES, slipring_micro::FAMILIES];
            Table::new(lists.into_iter().flatten().copied(), slipring_pto::HINTS)
        })
    }
}
