//! Where the slots of a ring begin, followed to what the text says: constants, reservations, and sums of both.

use slipring_ir::{BlockId, Module, OpId, ValueDef, ValueId};

use super::spec::reservation_of;
use crate::def::Linear;
use crate::rules::constant;
use crate::table::Table;

/// An address in the consumer's memory, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotBase {
    /// This one.
    At(i64),
    /// So many bytes behind the beginning of a reservation.
    In {
        /// The op that reserves.
        reservation: OpId,
        #[allow(missing_docs)]
        offset: i64,
    },
    /// What the text alone does not tell.
    Computed,
}

impl SlotBase {
    /// Where an address begins: through constants, sums, differences, products, conversions, imports, and arguments that every
    /// caller gives the same.
    pub fn of(table: &Table, module: &Module, value: ValueId) -> SlotBase {
        follow(table, module, value, DEPTH)
    }

    /// The address, where the text has it or the reservation has been placed.
    pub fn address(self, module: &Module) -> Option<i64> {
        match self {
            SlotBase::At(at) => Some(at),
            SlotBase::In { reservation, offset } => {
                module.op(reservation).attrs.get("base").and_then(slipring_ir::Attr::as_int)?.checked_add(offset)
            }
            SlotBase::Computed => None,
        }
    }
}

/// Definitions that are followed one behind the other.
const DEPTH: u32 = 32;

fn follow(table: &Table, module: &Module, value: ValueId, depth: u32) -> SlotBase {
    if depth == 0 {
        return SlotBase::Computed;
    }
    if let Some(at) = constant(module, value) {
        return SlotBase::At(at);
    }
    if let Some(reservation) = reservation_of(table, module, value) {
        return SlotBase::In { reservation, offset: 0 };
    }
    match module.value(value).def {
        ValueDef::Arg(block, index) => argument(table, module, block, usize::from(index), depth),
        ValueDef::Result(op, _) => computed(table, module, op, depth),
    }
}

fn computed(table: &Table, module: &Module, op: OpId, depth: u32) -> SlotBase {
    let data = module.op(op);
    let linear = table.def(&data.name).and_then(|def| def.linear);
    let of = |at: usize| data.operands.get(at).map_or(SlotBase::Computed, |v| follow(table, module, *v, depth - 1));
    let sum = match (linear, of(0)) {
        (Some(Linear::Same), base) => Some(base),
        (Some(Linear::Sum), SlotBase::At(n)) => shifted(of(1), Some(n)),
        (Some(Linear::Sum), base) => number(of(1)).and_then(|n| shifted(base, Some(n))),
        (Some(Linear::Difference), base) => number(of(1)).and_then(|n| shifted(base, n.checked_neg())),
        (Some(Linear::Product), SlotBase::At(a)) => number(of(1)).and_then(|b| a.checked_mul(b)).map(SlotBase::At),
        _ => None,
    };
    sum.unwrap_or(SlotBase::Computed)
}

fn number(base: SlotBase) -> Option<i64> {
    if let SlotBase::At(n) = base { Some(n) } else { None }
}

fn shifted(base: SlotBase, by: Option<i64>) -> Option<SlotBase> {
    match base {
        SlotBase::At(n) => n.checked_add(by?).map(SlotBase::At),
        SlotBase::In { reservation, offset } => Some(SlotBase::In { reservation, offset: offset.checked_add(by?)? }),
        SlotBase::Computed => None,
    }
}

/// An argument of a function: what all of its callers pass.
fn argument(table: &Table, module: &Module, block: BlockId, index: usize, depth: u32) -> SlotBase {
    let passed = callers(module, block);
    let mut bases = passed.iter().map(|call| {
        let value = module.op(*call).operands.get(index);
        value.map_or(SlotBase::Computed, |v| follow(table, module, *v, depth - 1))
    });
    let Some(first) = bases.next() else { return SlotBase::Computed };
    if bases.all(|base| base == first) { first } else { SlotBase::Computed }
}

/// The calls of the function whose body a block is.
pub(super) fn callers(module: &Module, block: BlockId) -> Vec<OpId> {
    let Some(function) = module.block_parent(block) else { return Vec::new() };
    let calls = module.walk(module.top).into_iter();
    calls.filter(|op| module.callee(*op) == Some(function)).collect()
}

/// The parameter of a kernel's entry function that a pointer is, followed through calls; `None` for what is computed.
pub(super) fn outermost_argument(module: &Module, value: ValueId) -> Option<ValueId> {
    let mut value = value;
    for _ in 0..DEPTH {
        let ValueDef::Arg(block, index) = module.value(value).def else { return None };
        match callers(module, block).as_slice() {
            [] => return Some(value),
            [call] => value = *module.op(*call).operands.get(usize::from(index))?,
            _ => return None,
        }
    }
    None
}
