//! Registers of a vector function, and the scalars that its instructions take.

use slipring_program::Operand;

/// A register of the vector function: a vector, a predicate or an alignment register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot(pub u16);

/// A scalar operand of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arg {
    /// A register or a constant.
    Value(Operand),
    /// The address `offset` elements of this size after `base`.
    Element {
        #[allow(missing_docs)]
        base: Operand,
        #[allow(missing_docs)]
        offset: Operand,
        #[allow(missing_docs)]
        bytes: u64,
    },
}

impl Arg {
    /// Its operands.
    pub fn operands(self) -> [Operand; 2] {
        match self {
            Arg::Value(value) => [value, Operand::Imm(0)],
            Arg::Element { base, offset, .. } => [base, offset],
        }
    }
}

impl From<Operand> for Arg {
    fn from(value: Operand) -> Arg {
        Arg::Value(value)
    }
}

/// A whole register that is loaded from the unified buffer or stored there.
#[derive(Clone, Copy, Debug)]
pub enum Whole {
    /// Into this register.
    Load(Slot),
    /// From this register, if all lanes of this size are active in the predicate.
    Store(Slot, Option<(Slot, usize)>),
}
