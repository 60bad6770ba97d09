//! Flags that the public tile library uses internally in vector operations: the scalar unit does what the vector unit
//! cannot.
//!
//! Each is set and waited for with event id 0 (`PtoSetWaitFlag` and `set_flag` of the library's headers as of August
//! 2026; `scripts/library_facts` records the facts of a checkout). If a header's decision depends on more than types
//! and shapes, no flag is declared.

use slipring_ir::{Attr, Dim, Type};
use slipring_machine::{Capability, Pipe};
use slipring_op::LibraryFlags;
use slipring_op::def::OpRef;
use slipring_tile::{Elem, Space};

type Flags = &'static [LibraryFlags];

/// The scalar unit waits for V, and V for the scalar unit.
const ROUND: LibraryFlags = LibraryFlags {
    of: Capability::RegisterFlags,
    has: false,
    when: |_| true,
    flags: &[(Pipe::V, Pipe::S), (Pipe::S, Pipe::V)],
};

fn elem(op: &OpRef<'_>, name: &str) -> Option<Elem> {
    op.ty(name).and_then(Type::elem)
}

fn integers(op: &OpRef<'_>) -> bool {
    elem(op, "src").is_some_and(|elem| !elem.is_float())
}

/// A2/A3: the scalar unit does all or a part of it.
pub(super) const BY_SCALARS: Flags = &[ROUND];

/// The scalar unit scatters if the vector unit cannot.
pub(super) const SCATTERED_BY_SCALARS: Flags = &[LibraryFlags { of: Capability::VectorScatter, ..ROUND }];

/// The scalar unit computes powers if the library has no vector function for them.
pub(super) const RAISED_BY_SCALARS: Flags = &[LibraryFlags { of: Capability::PowerFunction, ..ROUND }];

/// A2/A3: the scalar unit reduces the remainder of a row of integers (`TRowSum`, `TRowMax`, `TRowMin`).
pub(super) const INTEGERS_BY_SCALARS: Flags = &[LibraryFlags { when: integers, ..ROUND }];

/// The scalar unit divides integers (`TDivs_naive`, `TSDiv_naive`); on A5 if the tile is the divisor, and without
/// waiting for V afterwards.
pub(super) const DIVIDED_BY_SCALARS: Flags = &[
    LibraryFlags { when: integers, ..ROUND },
    LibraryFlags {
        of: Capability::RegisterFlags,
        has: true,
        when: |op| integers(op) && op.if_declared("dividend").is_some(),
        flags: &[(Pipe::V, Pipe::S)],
    },
];

/// A2/A3: the scalar unit reads the value of each row, except with one block for each value (`TRowExpand`).
pub(super) const ROWS_BY_SCALARS: Flags = &[LibraryFlags {
    when: |op| {
        let (Some(src), Some(dst)) = (op.tile("src"), op.tile("dst")) else { return false };
        let block = src.layout.elem.bytes() > 1 && dst.layout.cols as usize * dst.layout.elem.bytes() == 32;
        !(block && (src.layout.rows == 1 || src.layout.cols == 1))
    },
    ..ROUND
}];

/// A2/A3: the scalar unit stores the selected scalar (`TSels`).
pub(super) const NUMBER_BY_SCALARS: Flags = &[LibraryFlags { flags: &[(Pipe::S, Pipe::V)], ..ROUND }];

/// A2/A3: the scalar unit copies the second tile if it does not begin at a block (`TConcatImpl`).
pub(super) const JOINED_BY_SCALARS: Flags = &[LibraryFlags {
    when: |op| {
        let Some(src) = op.tile("src0") else { return false };
        matches!(src.valid[1], Dim::Static(cols) if !(cols * src.layout.elem.bytes() as u64).is_multiple_of(32))
    },
    flags: &[(Pipe::V, Pipe::S), (Pipe::Mte2, Pipe::S)],
    ..ROUND
}];

/// A2/A3: the scalar unit transposes tiles whose rows are not whole blocks of the instruction (`TransTailTiles`).
pub(super) const TURNED_BY_SCALARS: Flags = &[LibraryFlags {
    when: |op| {
        let Some(dst) = op.tile("dst") else { return false };
        dst.layout.cols % if dst.layout.elem.bytes() == 1 { 32 } else { 16 } != 0
    },
    ..ROUND
}];

/// A2/A3: the scalar unit pads the remainder of a block of bytes (`Handle32BAlignedPad_Byte`).
pub(super) const PADDED_BY_SCALARS: Flags = &[LibraryFlags {
    when: |op| op.tile("dst").is_some_and(|dst| dst.space == Space::Vec && dst.layout.elem.bytes() == 1),
    flags: &[(Pipe::V, Pipe::S)],
    ..ROUND
}];

/// The scalar unit reads how far the lists were merged (`GetExhaustedData`).
pub(super) const COUNTED_BY_SCALARS: Flags = {
    const COUNTED: LibraryFlags = LibraryFlags {
        when: |op| matches!(op.attr("exhausted"), Some(Attr::Bool(true))),
        flags: &[(Pipe::V, Pipe::S)],
        ..ROUND
    };
    &[COUNTED, LibraryFlags { of: Capability::RegisterFlags, has: true, ..COUNTED }]
};

/// A2/A3: the scalar unit numbers the elements and reads the values that they are compared with
/// (`TGather_cmp_RunTcmps`).
pub(super) const COMPARED_BY_SCALARS: Flags =
    &[LibraryFlags { of: Capability::GatherValid, when: |op| op.if_declared("kValue").is_some(), ..ROUND }];
