//! Addresses of buffers in local memories, as written on ops.

use slipring_ir::{Attr, Module, OpId, ValueId};

use crate::def::{OpDef, OpRef};
use crate::facts::AddressRule;
use crate::rules::constant;

/// The name of the address operand or attribute on every op.
pub const ADDRESS: &str = "addr";

/// The address of a buffer in its memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Address {
    /// Not assigned yet: the allocator chooses it.
    Open,
    /// At a constant address, in bytes.
    At(u64),
    /// At an address computed at run time.
    Computed,
}

impl OpRef<'_> {
    /// The address of the buffer that the op makes; `None` for an op that makes nothing with an address of its own.
    pub fn address(&self) -> Option<Address> {
        let of = |n: i64| u64::try_from(n).map_or(Address::Computed, Address::At);
        match self.def.address {
            AddressRule::None => None,
            AddressRule::Attr(name) => Some(self.int(name).map_or(Address::Open, of)),
            AddressRule::Operand(name) => Some(match self.if_declared(name) {
                None => Address::Open,
                Some(value) => constant(self.module, value).map_or(Address::Computed, of),
            }),
        }
    }
}

impl OpDef {
    /// Writes the address of the buffer that an op of this declaration makes. `constant` makes an integer constant
    /// before the op, for an op whose address is an operand.
    pub fn set_address(
        &self,
        module: &mut Module,
        op: OpId,
        address: u64,
        constant: impl FnOnce(&mut Module) -> ValueId,
    ) {
        match self.address {
            AddressRule::None => {}
            AddressRule::Attr(name) => module.op_mut(op).attrs.set(name, Attr::int(address as i64)),
            AddressRule::Operand(name) => {
                let index = self.schema.operands.iter().position(|spec| spec.name == name);
                let value = constant(module);
                let index = index.unwrap_or_default();
                let data = module.op_mut(op);
                let at: usize = data.segments.iter().take(index).map(|n| usize::from(*n)).sum();
                if data.segments.get(index) == Some(&1) {
                    data.operands[at] = value;
                    return;
                }
                data.operands.insert(at, value);
                if let Some(count) = data.segments.get_mut(index) {
                    *count = 1;
                }
            }
        }
    }
}
