//! Bitwise ops on integers (PTO IR manual 4.9).

use slipring_machine::{Capability, Platform};

use super::check::{self, INTEGERS};
use super::lower::elementwise;
use super::{EACH, ONE, TWO, TWO_TMP, WITH_SCALAR, WITH_SCALAR_TMP};
use super::{apart, inside, tiles, types, working};
use slipring_effect::arithmetic::*;
use slipring_effect::vector::NumberUse;
use slipring_ir::Diags;
use slipring_op::def::Arithmetic::{One, Two};
use slipring_op::def::{OpDef, OpRef};
use slipring_op::{TileRules, ops};

/// Integers, bit by bit or shifted.
const BITS: OpDef = OpDef {
    source: "PTO IR manual 4.9; tile ISA, page of the same name",
    class: "bit",
    elems: types::BITS,
    verify: check::integers,
    lower: elementwise,
    ..EACH
};
const ALONE: OpDef = OpDef { schema: ONE, tiles: tiles::ONE, ..BITS };
const TILES: OpDef = OpDef { schema: TWO, tiles: tiles::TWO, ..BITS };
const TILES_TMP: OpDef = OpDef { schema: TWO_TMP, ..TILES };
/// Only the low bits of the scalar count.
const NUMBERED: OpDef = OpDef { schema: WITH_SCALAR, tiles: tiles::ONE, number: NumberUse::Bits, ..BITS };
const NUMBERED_TMP: OpDef = OpDef { schema: WITH_SCALAR_TMP, ..NUMBERED };

ops! {
    OPS, shape_doc;

    /// `dst = src0 & src1`, bit by bit.
    pub TAND "pto.tand" "Bitwise and of two tiles": TILES, kernel: Two(&AND), commutes: true;

    /// `dst = src & scalar`, bit by bit, with the low bits of the number.
    pub TANDS "pto.tands" "Bitwise and of a tile and a number": NUMBERED, kernel: Two(&AND),
        apart: apart::EVERYWHERE;

    /// `dst = src0 | src1`, bit by bit.
    pub TOR "pto.tor" "Bitwise or of two tiles": TILES, kernel: Two(&OR), commutes: true;

    /// `dst = src | scalar`, bit by bit, with the low bits of the number.
    pub TORS "pto.tors" "Bitwise or of a tile and a number": NUMBERED, kernel: Two(&OR),
        apart: apart::EVERYWHERE;

    /// `dst = src0 ^ src1`, bit by bit.
    pub TXOR "pto.txor" "Bitwise exclusive or of two tiles": TILES_TMP, kernel: Two(&XOR), commutes: true,
        tiles: tiles::EXCLUSIVE, working: working::EXCLUSIVE, apart: apart::TWO;

    /// `dst = src ^ scalar`, bit by bit, with the low bits of the number.
    pub TXORS "pto.txors" "Bitwise exclusive or of a tile and a number": NUMBERED_TMP, kernel: Two(&XOR),
        verify: verify_txors, working: working::EXCLUSIVE, apart: apart::EVERYWHERE;

    /// `dst = src0 << src1`, element by element. Shifts by the width of the element or more, or by a negative number,
    /// leave 0.
    pub TSHL "pto.tshl" "Shift left by a tile": TILES, kernel: Two(&SHL), inside: inside::BY_SCALARS;

    /// `dst = src << scalar`, element by element. Shifts by the width of the element or more, or by a negative number,
    /// leave 0.
    pub TSHLS "pto.tshls" "Shift left by a number": NUMBERED, kernel: Two(&SHL), number: NumberUse::Count,
        tiles: TileRules::NONE;

    /// `dst = src0 >> src1`, element by element: signed integers fill with their sign, unsigned ones with 0. Shifts by
    /// the width of the element or more, or by a negative number, shift everything out.
    pub TSHR "pto.tshr" "Shift right by a tile": TILES, kernel: Two(&SHR), inside: inside::BY_SCALARS;

    /// `dst = src >> scalar`, element by element: signed integers fill with their sign, unsigned ones with 0. Shifts by
    /// the width of the element or more, or by a negative number, shift everything out.
    pub TSHRS "pto.tshrs" "Shift right by a number": NUMBERED, kernel: Two(&SHR), elems: types::SHIFT_RIGHT_BY,
        number: NumberUse::Count;

    /// `dst = ~src`, bit by bit.
    pub TNOT "pto.tnot" "Bitwise not": ALONE, kernel: One(&NOT), elems: types::INVERT,
        library_elems: types::BITS;
}

fn verify_txors(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    check::elementwise(op, INTEGERS, diags);
    // Units that work on memory keep an intermediate result in it.
    if !platform.can(Capability::RegisterScratch) && op.operand("tmp").is_some() {
        check::same_type(op, "src", "tmp", diags);
        check::by_rows(op, &["tmp"], diags);
        check::working_valid(op, platform, [1, 1], diags);
    }
}
