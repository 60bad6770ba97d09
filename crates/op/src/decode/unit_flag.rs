//! Unit flags: handover of accumulator tiles between the matrix unit and the fixpipe (micro-instruction manual,
//! `unit_flag` of `mad` and of the fixpipe's stores).

use slipring_machine::Pipe;
use slipring_program::{Inst, Operand};

use super::Decoder;
use crate::def::OpRef;

/// The attribute of the clause, and its kind.
pub const UNIT_FLAG: &str = "unit_flag";
/// The member that neither publishes nor clears.
pub const CHECK_ONLY: &str = "check_only";

/// Puts the checks and updates of an op's `unit_flag` clause around the work that it issues for `pipe` on the
/// accumulator tile at an address. Without the clause only the work is issued.
///
/// A check (`check_only`, or the first half of the others) holds the pipe until every earlier publication
/// (`check_and_set` of a product) and clearing (`check_and_clear` of a store) of the tile, in program order, is done;
/// publishing and clearing take place once the work is done. The flags behave like buffer tokens, so a program that
/// never clears a tile, or checks one that is never published, does not block: public kernels do so, and also order the
/// two pipes by flags. A tile is identified by its first address: stores of a part of a tile that begins elsewhere do
/// not wait for it.
pub fn with_unit_flag(
    op: &OpRef<'_>,
    d: &mut Decoder<'_>,
    pipe: Pipe,
    tile: Operand,
    work: impl FnOnce(&mut Decoder<'_>),
) {
    let Some(mode) = op.text(UNIT_FLAG) else { return work(d) };
    let token = d.unit_flag(tile);
    d.emit(Inst::Acquire { pipe, token, waits: true });
    work(d);
    if mode != CHECK_ONLY {
        d.emit(Inst::Release { pipe, token, deferred: false });
    }
}
