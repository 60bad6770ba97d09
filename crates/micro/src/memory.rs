//! Typed pointers as operands: memory, owning core, and address.

use slipring_ir::{Type, TypeRule, ValueId};
use slipring_machine::{CoreKind, Role};
use slipring_program::Operand;
use slipring_tile::{Elem, Space};

use slipring_effect::{BurstEnd, Whose};
use slipring_op::core_of;
use slipring_op::decode::{Binding, Decoder};
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

/// The type rule of a pointer or a memref into one memory.
macro_rules! buffer_in {
    ($name:ident, $space:expr, $describe:literal) => {
        #[doc = concat!("`", $describe, "`.")]
        pub(super) const $name: TypeRule = TypeRule {
            describe: $describe,
            accepts: |t| matches!(t, Type::Ptr(..) | Type::MemRef(_)) && t.space() == Some($space),
        };
    };
}

buffer_in!(GM_BUFFER, Space::Gm, "a pointer or memref into `gm`");
buffer_in!(UB_BUFFER, Space::Vec, "a pointer or memref into `ub`");
buffer_in!(L1_BUFFER, Space::Mat, "a pointer or memref into `l1`");
buffer_in!(L0A_BUFFER, Space::Left, "a pointer or memref into `l0a`");
buffer_in!(L0B_BUFFER, Space::Right, "a pointer or memref into `l0b`");

/// The memory that a pointer or memref operand refers to at run time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    /// Its memory.
    pub space: Space,
    /// The core that owns a local memory: this core, or the Cube core if a Vector core refers to its memory.
    pub core: Role,
    /// The pointee type.
    pub elem: Elem,
    /// Byte address.
    pub addr: Operand,
}

impl Memory {
    /// This memory as one end of a transfer, with the platform's alignment for local addresses.
    pub fn end(&self, d: &Decoder<'_>) -> BurstEnd {
        let align = d.platform.space(self.space).map_or(1, |space| space.align as u32);
        let stride_bits = if self.space == Space::Gm { 40 } else { 21 };
        BurstEnd { space: self.space, whose: Whose::Core(self.core), align, stride_bits }
    }
}

/// The memory that a pointer or memref operand refers to. If the Cube core refers to a Vector core's memory, it is that
/// of AIV0.
///
/// # Errors
/// Reported if the operand is neither.
pub(super) fn memory(op: &OpRef<'_>, d: &mut Decoder<'_>, name: &str) -> Result<Memory, Reported> {
    let value = op.operand(name).ok_or(Reported)?;
    let (elem, space, addr) = match op.module.ty(value) {
        Type::Ptr(elem, space) => (*elem, space.unwrap_or(Space::Gm), d.scalar(value)?),
        Type::MemRef(memref) => {
            let elem = memref.elem.elem().ok_or(Reported)?;
            (elem, memref.space.unwrap_or(Space::Gm), address_of(d, value)?)
        }
        _ => return Err(Reported),
    };
    let core = match core_of(space) {
        _ if space == Space::Gm => d.role,
        kind if kind == d.role.kind() => d.role,
        CoreKind::Cube => Role::Aic,
        CoreKind::Vector => Role::lane(0),
    };
    Ok(Memory { space, core, elem, addr })
}

/// The address of the first element of a memref; one whose shape the type leaves open is known by its address alone.
///
/// # Errors
/// Reported if the value is not in memory.
pub(super) fn address_of(d: &mut Decoder<'_>, memref: ValueId) -> Result<Operand, Reported> {
    match d.binding(memref) {
        Some(Binding::View(view)) => Ok(view.base),
        _ => d.scalar(memref),
    }
}

/// The memories at both ends of a transfer: operands `src` and `dst`.
///
/// # Errors
/// Reported if they are not pointers.
pub(super) fn ends(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<(Memory, Memory), Reported> {
    Ok((memory(op, d, "src")?, memory(op, d, "dst")?))
}

/// The scalar value of a declared operand.
///
/// # Errors
/// Reported if it is missing.
pub(super) fn given(op: &OpRef<'_>, d: &mut Decoder<'_>, name: &str) -> Result<Operand, Reported> {
    d.scalar(op.operand(name).ok_or(Reported)?)
}

/// The scalar value of a declared operand, or a default if it is missing.
pub(super) fn given_or(op: &OpRef<'_>, d: &mut Decoder<'_>, name: &str, other: u64) -> Result<Operand, Reported> {
    op.operand(name).map_or(Ok(Operand::Imm(other)), |value| d.scalar(value))
}
