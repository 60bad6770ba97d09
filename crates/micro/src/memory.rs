//! Typed pointers as operands: which memory, whose, and at which address.

use slipring_ir::{Type, TypeRule};
use slipring_machine::{CoreKind, Role};
use slipring_program::Operand;
use slipring_tile::{Elem, Space};

use slipring_effect::{BurstEnd, Whose};
use slipring_op::core_of;
use slipring_op::decode::Decoder;
use slipring_op::def::{OpRef, Reported};

/// The type rule of a pointer into one memory.
macro_rules! pointer_into {
    ($name:ident, $space:pat, $describe:literal) => {
        #[doc = concat!("`", $describe, "`.")]
        pub(super) const $name: TypeRule =
            TypeRule { describe: $describe, accepts: |t| matches!(t, Type::Ptr(_, $space)) };
    };
}

pointer_into!(GM, None | Some(Space::Gm), "a pointer into `gm`");
pointer_into!(UB, Some(Space::Vec), "a pointer into `ub`");
pointer_into!(L1, Some(Space::Mat), "a pointer into `l1`");
pointer_into!(L0A, Some(Space::Left), "a pointer into `l0a`");
pointer_into!(L0B, Some(Space::Right), "a pointer into `l0b`");
pointer_into!(L0C, Some(Space::Acc), "a pointer into `l0c`");
pointer_into!(BT, Some(Space::Bias), "a pointer into `bt`");
pointer_into!(FB, Some(Space::Scaling), "a pointer into `fb`");

/// What a pointer operand stands for at run time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    /// Its memory.
    pub space: Space,
    /// Whose, for a local one: this core's, or the Cube core's where a Vector core names it.
    pub core: Role,
    /// What it points to.
    pub elem: Elem,
    /// Byte address.
    pub addr: Operand,
}

impl Memory {
    /// This memory as an end of a transfer: local addresses are aligned as the platform says.
    pub fn end(&self, d: &Decoder<'_>) -> BurstEnd {
        let align = d.platform.space(self.space).map_or(1, |space| space.align as u32);
        let stride_bits = if self.space == Space::Gm { 40 } else { 21 };
        BurstEnd { space: self.space, whose: Whose::Core(self.core), align, stride_bits }
    }
}

/// The memory that a pointer operand names. A Vector core's memory named by the Cube core is AIV0's.
///
/// # Errors
/// Reported if the operand is not a pointer.
pub(super) fn memory(op: &OpRef<'_>, d: &mut Decoder<'_>, name: &str) -> Result<Memory, Reported> {
    let value = op.operand(name).ok_or(Reported)?;
    let Type::Ptr(elem, space) = op.module.ty(value) else { return Err(Reported) };
    let space = space.unwrap_or(Space::Gm);
    let core = match core_of(space) {
        _ if space == Space::Gm => d.role,
        kind if kind == d.role.kind() => d.role,
        CoreKind::Cube => Role::Aic,
        CoreKind::Vector => Role::lane(0),
    };
    Ok(Memory { space, core, elem: *elem, addr: d.scalar(value)? })
}

/// The memories that a transfer goes from and to: operands `src` and `dst`.
///
/// # Errors
/// Reported if they are no pointers.
pub(super) fn ends(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<(Memory, Memory), Reported> {
    Ok((memory(op, d, "src")?, memory(op, d, "dst")?))
}

/// The number that a declared operand is.
///
/// # Errors
/// Reported if it is not there.
pub(super) fn given(op: &OpRef<'_>, d: &mut Decoder<'_>, name: &str) -> Result<Operand, Reported> {
    d.scalar(op.operand(name).ok_or(Reported)?)
}

/// The number that a declared operand is, or another where it is not there.
pub(super) fn given_or(op: &OpRef<'_>, d: &mut Decoder<'_>, name: &str, other: u64) -> Result<Operand, Reported> {
    op.operand(name).map_or(Ok(Operand::Imm(other)), |value| d.scalar(value))
}
