//! The base address of a ring's slots, traced through the text to constants, reservations, and sums of both.

use std::collections::BTreeMap;

use super::spec::reservation_of;
use slipring_ir::{BlockId, Module, OpId, ValueDef, ValueId};

use crate::def::OpDef;
use crate::facts::Linear;
use crate::ring::words::BASE;
use crate::rules::constant;

/// An address in the consumer's memory, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotBase {
    /// This address.
    At(i64),
    /// This many bytes after the beginning of a reservation.
    In {
        /// The op that makes the reservation.
        reservation: OpId,
        #[allow(missing_docs)]
        offset: i64,
    },
    /// Not determined by the text alone.
    Computed,
}

impl SlotBase {
    /// The origin of an address, traced through constants, sums, differences, products, conversions, imports, and
    /// arguments for which all callers pass the same value.
    pub fn of(module: &Module, value: ValueId) -> SlotBase {
        Search { module, found: BTreeMap::new(), calls: None }.follow(value, DEPTH)
    }

    /// The address, if it is a constant or the reservation has been placed.
    pub fn address(self, module: &Module) -> Option<i64> {
        match self {
            SlotBase::At(at) => Some(at),
            SlotBase::In { reservation, offset } => {
                module.op(reservation).attrs.get(BASE).and_then(slipring_ir::Attr::as_int)?.checked_add(offset)
            }
            SlotBase::Computed => None,
        }
    }
}

/// Maximum number of definitions traced in a chain.
const DEPTH: u32 = 256;

struct Search<'m> {
    module: &'m Module,
    /// Results by value; [`SlotBase::Computed`] while a value is being traced.
    found: BTreeMap<u32, SlotBase>,
    /// The calls of each function.
    calls: Option<BTreeMap<OpId, Vec<OpId>>>,
}

impl Search<'_> {
    fn follow(&mut self, value: ValueId, depth: u32) -> SlotBase {
        if depth == 0 {
            return SlotBase::Computed;
        }
        if let Some(known) = self.found.get(&value.0) {
            return *known;
        }
        self.found.insert(value.0, SlotBase::Computed);
        let base = if let Some(at) = constant(self.module, value) {
            SlotBase::At(at)
        } else if let Some(reservation) = reservation_of(self.module, value) {
            SlotBase::In { reservation, offset: 0 }
        } else {
            match self.module.value(value).def {
                ValueDef::Arg(block, index) => self.argument(block, usize::from(index), depth),
                ValueDef::Result(op, _) => self.computed(op, depth),
            }
        };
        self.found.insert(value.0, base);
        base
    }

    fn computed(&mut self, op: OpId, depth: u32) -> SlotBase {
        let data = self.module.op(op);
        let linear = OpDef::of(self.module, op).and_then(|def| def.linear);
        let mut of = |at: usize| data.operands.get(at).map_or(SlotBase::Computed, |v| self.follow(*v, depth - 1));
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

    /// An argument of a function: the value that all of its callers pass.
    fn argument(&mut self, block: BlockId, index: usize, depth: u32) -> SlotBase {
        let Some(function) = self.module.block_parent(block) else { return SlotBase::Computed };
        let module = self.module;
        let passed = self.calls.get_or_insert_with(|| calls(module)).get(&function).cloned().unwrap_or_default();
        let mut bases = passed.iter().map(|call| {
            let value = module.op(*call).operands.get(index);
            value.map_or(SlotBase::Computed, |v| self.follow(*v, depth - 1))
        });
        let Some(first) = bases.next() else { return SlotBase::Computed };
        if bases.all(|base| base == first) { first } else { SlotBase::Computed }
    }
}

/// The calls of each function.
fn calls(module: &Module) -> BTreeMap<OpId, Vec<OpId>> {
    let mut calls: BTreeMap<OpId, Vec<OpId>> = BTreeMap::new();
    for op in module.walk(module.top) {
        if let Some(callee) = module.callee(op) {
            calls.entry(callee).or_default().push(op);
        }
    }
    calls
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

/// The parameter of a kernel's entry function that a pointer comes from, traced through calls; `None` if it is
/// computed.
pub(super) fn outermost_argument(module: &Module, value: ValueId) -> Option<ValueId> {
    let mut value = value;
    let calls = calls(module);
    for _ in 0..DEPTH {
        let ValueDef::Arg(block, index) = module.value(value).def else { return None };
        match module.block_parent(block).and_then(|function| calls.get(&function)).map_or(&[][..], Vec::as_slice) {
            [] => return Some(value),
            [call] => value = *module.op(*call).operands.get(usize::from(index))?,
            _ => return None,
        }
    }
    None
}
