//! State of a core that no value of the text represents: registers that ops set and read by name, and memory that the
//! hardware keeps next to a local memory.

use slipring_program::{Operand, Reg};
use slipring_tile::Space;

use super::Decoder;

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

    /// The address of the scales for the data at an address of L0A or L0B, in the memory next to it.
    pub fn scales_at(&mut self, data: Operand) -> Operand {
        let per_byte = Operand::Imm(Space::SCALED_BYTES);
        self.compute(|[data, bytes, _]| Ok(data / bytes), [data, per_byte, Operand::Imm(0)])
    }

    /// Makes a local memory at least this large, regardless of how much of it the platform leaves to tiles.
    pub fn reach(&mut self, space: Space, bytes: u64) {
        let end = &mut self.shared.local_bytes[space as usize];
        *end = bytes.max(*end);
    }
}
