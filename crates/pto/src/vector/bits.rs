//! Bits of integers (PTO IR manual 4.9).

use slipring_ir::OpSchema;
use slipring_machine::Capability;

use super::check::{self, INTEGERS};
use super::lower::elementwise;
use super::{EACH, ONE, TWO, TWO_TMP, WITH_SCALAR, WITH_SCALAR_TMP};
use super::{inside, tiles, types, working};
use slipring_effect::arithmetic::*;
use slipring_effect::vector::NumberUse;
use slipring_op::def::OpDef;

const BITS: OpDef = OpDef { source: "PTO IR manual 4.9; tile ISA, page of the same name", ..EACH };

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[&TAND, &TANDS, &TOR, &TORS, &TXOR, &TXORS, &TSHL, &TSHLS, &TSHR, &TSHRS, &TNOT];

pub static TAND: OpDef = OpDef {
    schema: OpSchema { name: "pto.tand", ..TWO },
    summary: "Bitwise and of two tiles",
    doc: shape_doc!("`dst = src0 & src1`, bit by bit."),
    verify: |op, _, diags| check::elementwise(op, INTEGERS, diags),
    class: "bit",
    lower: |op, d| elementwise(op, d, &AND, ["src0", "src1"]),
    elems: types::BITS,
    commutes: true,
    tiles: tiles::TWO,
    ..BITS
};

pub static TANDS: OpDef = OpDef {
    schema: OpSchema { name: "pto.tands", ..WITH_SCALAR },
    summary: "Bitwise and of a tile and a number",
    doc: shape_doc!("`dst = src & scalar`, bit by bit, with the low bits of the number."),
    verify: |op, _, diags| check::elementwise(op, INTEGERS, diags),
    class: "bit",
    lower: |op, d| elementwise(op, d, &AND, ["src", "scalar"]),
    elems: types::BITS,
    number: NumberUse::Bits,
    tiles: tiles::ONE,
    ..BITS
};

pub static TOR: OpDef = OpDef {
    schema: OpSchema { name: "pto.tor", ..TWO },
    summary: "Bitwise or of two tiles",
    doc: shape_doc!("`dst = src0 | src1`, bit by bit."),
    verify: |op, _, diags| check::elementwise(op, INTEGERS, diags),
    class: "bit",
    lower: |op, d| elementwise(op, d, &OR, ["src0", "src1"]),
    elems: types::BITS,
    commutes: true,
    tiles: tiles::TWO,
    ..BITS
};

pub static TORS: OpDef = OpDef {
    schema: OpSchema { name: "pto.tors", ..WITH_SCALAR },
    summary: "Bitwise or of a tile and a number",
    doc: shape_doc!("`dst = src | scalar`, bit by bit, with the low bits of the number."),
    verify: |op, _, diags| check::elementwise(op, INTEGERS, diags),
    class: "bit",
    lower: |op, d| elementwise(op, d, &OR, ["src", "scalar"]),
    elems: types::BITS,
    number: NumberUse::Bits,
    tiles: tiles::ONE,
    ..BITS
};

pub static TXOR: OpDef = OpDef {
    schema: OpSchema { name: "pto.txor", ..TWO_TMP },
    summary: "Bitwise exclusive or of two tiles",
    doc: shape_doc!("`dst = src0 ^ src1`, bit by bit."),
    verify: |op, _, diags| check::elementwise(op, INTEGERS, diags),
    class: "bit",
    lower: |op, d| elementwise(op, d, &XOR, ["src0", "src1"]),
    elems: types::BITS,
    commutes: true,
    tiles: tiles::EXCLUSIVE,
    working: working::EXCLUSIVE,
    ..BITS
};

pub static TXORS: OpDef = OpDef {
    schema: OpSchema { name: "pto.txors", ..WITH_SCALAR_TMP },
    summary: "Bitwise exclusive or of a tile and a number",
    doc: shape_doc!("`dst = src ^ scalar`, bit by bit, with the low bits of the number."),
    verify: |op, platform, diags| {
        check::elementwise(op, INTEGERS, diags);
        // Units that work on memory keep an intermediate result there.
        if !platform.can(Capability::RegisterScratch) && op.operand("tmp").is_some() {
            check::same_type(op, "src", "tmp", diags);
            check::by_rows(op, &["tmp"], diags);
            check::working_valid(op, platform, [1, 1], diags);
        }
    },
    class: "bit",
    lower: |op, d| elementwise(op, d, &XOR, ["src", "scalar"]),
    elems: types::BITS,
    number: NumberUse::Bits,
    tiles: tiles::ONE,
    working: working::EXCLUSIVE,
    ..BITS
};

pub static TSHL: OpDef = OpDef {
    schema: OpSchema { name: "pto.tshl", ..TWO },
    summary: "Shift left by a tile",
    doc: shape_doc!(
        "`dst = src0 << src1`, element by element. Shifts by the width of the element or more, or by a negative number, \
          leave 0."
    ),
    verify: |op, _, diags| check::elementwise(op, INTEGERS, diags),
    class: "bit",
    inside: inside::BY_SCALARS,
    lower: |op, d| elementwise(op, d, &SHL, ["src0", "src1"]),
    elems: types::BITS,
    tiles: tiles::TWO,
    ..BITS
};

pub static TSHLS: OpDef = OpDef {
    schema: OpSchema { name: "pto.tshls", ..WITH_SCALAR },
    summary: "Shift left by a number",
    doc: shape_doc!(
        "`dst = src << scalar`, element by element. Shifts by the width of the element or more, or by a negative number, \
          leave 0."
    ),
    verify: |op, _, diags| check::elementwise(op, INTEGERS, diags),
    class: "bit",
    lower: |op, d| elementwise(op, d, &SHL, ["src", "scalar"]),
    elems: types::BITS,
    number: NumberUse::Count,
    ..BITS
};

pub static TSHR: OpDef = OpDef {
    schema: OpSchema { name: "pto.tshr", ..TWO },
    summary: "Shift right by a tile",
    doc: shape_doc!(
        "`dst = src0 >> src1`, element by element: signed integers fill with their sign, unsigned ones with 0. Shifts by the \
          width of the element or more, or by a negative number, shift everything out."
    ),
    verify: |op, _, diags| check::elementwise(op, INTEGERS, diags),
    class: "bit",
    inside: inside::BY_SCALARS,
    lower: |op, d| elementwise(op, d, &SHR, ["src0", "src1"]),
    elems: types::BITS,
    tiles: tiles::TWO,
    ..BITS
};

pub static TSHRS: OpDef = OpDef {
    schema: OpSchema { name: "pto.tshrs", ..WITH_SCALAR },
    summary: "Shift right by a number",
    doc: shape_doc!(
        "`dst = src >> scalar`, element by element: signed integers fill with their sign, unsigned ones with 0. Shifts by the \
          width of the element or more, or by a negative number, shift everything out."
    ),
    verify: |op, _, diags| check::elementwise(op, INTEGERS, diags),
    class: "bit",
    lower: |op, d| elementwise(op, d, &SHR, ["src", "scalar"]),
    elems: types::SHIFT_RIGHT_BY,
    number: NumberUse::Count,
    tiles: tiles::ONE,
    ..BITS
};

pub static TNOT: OpDef = OpDef {
    schema: OpSchema { name: "pto.tnot", ..ONE },
    summary: "Bitwise not",
    doc: shape_doc!("`dst = ~src`, bit by bit."),
    verify: |op, _, diags| check::elementwise(op, INTEGERS, diags),
    class: "bit",
    lower: |op, d| elementwise(op, d, &NOT, ["src"]),
    elems: types::INVERT,
    tiles: tiles::ONE,
    ..BITS
};
