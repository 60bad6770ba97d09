//! State of a core that no value of the text stands for: registers that ops set and read by name, and memory that the
//! hardware keeps beside a local memory.

use std::collections::BTreeMap;

use slipring_machine::Role;
use slipring_program::{Operand, Reg};
use slipring_tile::Space;

use super::Decoder;

/// Elements of a microscaled operand that share a scale: bytes of data for each byte of scales.
pub const SCALE_GROUP: u64 = 32;

/// Registers of cores by name.
#[derive(Debug, Default)]
pub(super) struct Registers(BTreeMap<(Role, &'static str), Reg>);

impl Decoder<'_> {
    /// A register of this core that ops set and read by name; it is 0 before it is set.
    pub fn register(&mut self, name: &'static str) -> Reg {
        if let Some(reg) = self.registers.0.get(&(self.role, name)) {
            return *reg;
        }
        let reg = self.fresh();
        self.registers.0.insert((self.role, name), reg);
        reg
    }

    /// Where the scales of the operands in L0A or L0B are kept: those of the data at byte `a` lie `a / 32` bytes further.
    /// No address of the text reaches them.
    pub fn scales(&mut self, space: Space) -> Operand {
        if let Some(base) = self.shared.scales.get(&space) {
            return *base;
        }
        let bytes = self.platform.space(space).map_or(0, |spec| spec.bytes) / SCALE_GROUP;
        let base = self.private(space, bytes);
        self.shared.scales.insert(space, base);
        base
    }

    /// Makes a local memory at least this large, whatever the platform leaves to tiles of it.
    pub fn reach(&mut self, space: Space, bytes: u64) {
        let end = &mut self.shared.local_bytes[space as usize];
        *end = bytes.max(*end);
    }
}
