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
mod numbers;
#[allow(missing_docs)]
pub mod pto;
mod reach;
pub mod ring;
pub mod rules;
mod table;
mod verify;

#[allow(missing_docs)]
pub mod arith;
#[allow(missing_docs)]
pub mod builtin;
#[allow(missing_docs)]
pub mod func;
#[allow(missing_docs)]
pub mod scf;

use std::sync::OnceLock;

pub use along::Along;
pub use decode::{Decoded, Kernel, Mode, decode, needed_functions, select_kernel};
pub use def::{
    CoreRule, ElemTypes, HandlePart, InCoreSync, LaneQuery, Linear, MixedPart, OpDef, OpRef, PipeRule, Product,
    ProductStart, Reported, RingPart, Transfer,
};
pub use function::{is_entry, kernel_kind, symbol_name};
pub use pto::{is_event, lies};
pub use reach::{affinity, core_of, is_mixed, reachable, writes_global};
pub use table::Table;
pub use verify::verify;

/// The table of all declared ops.
pub struct Dialects;

impl Dialects {
    /// The declared ops. Built on first use.
    pub fn get() -> &'static Table {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(|| {
            let families = [builtin::OPS, func::OPS, scf::OPS, memref::OPS];
            Table::new(
                families.into_iter().chain(arith::FAMILIES.iter().chain(pto::FAMILIES).chain(micro::FAMILIES).copied()),
            )
        })
    }
}
