//! Extremes of two tiles with their indices (tile library: the assembler has no op for them).

use slipring_ir::{Diags, OpSchema, OperandSpec, Touch, Type};
use slipring_machine::Capability;
use slipring_tile::{Compare, Elem};

use super::check::{self, Elems};
use super::lower::Operands;
use super::{DST, EACH, SRC0, SRC1, ins, tiles, types};
use slipring_effect::vector::{Numbered, PartArg};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef};
use slipring_op::ops;
use slipring_op::rules::{TILE, operand, schema};

const INDEX0: OperandSpec = operand("index0", TILE, Touch::Read, "the numbers that belong to `src0`");
const INDEX1: OperandSpec = operand("index1", TILE, Touch::Read, "the numbers that belong to `src1`");
const INDEX: OperandSpec = operand("index", TILE, Touch::Write, "where the numbers of the results go");
const FORM: OpSchema = schema("", ins(4), &[SRC0, SRC1, INDEX0, INDEX1, DST, INDEX], &[], &[]);
const CHOICE: OpDef = OpDef {
    class: "select",
    source: "tile ISA, page of the same name, and its headers of each platform",
    elems: types::NUMBERED,
    tiles: tiles::NUMBERED,
    verify: |op, _, diags| verify(op, diags),
    // `pto_instr.hpp`: the numbers come after both sources.
    library_forms: &[&["dst", "src0", "src1", "index", "index0", "index1"]],
    ..EACH
};

/// Documents which element is chosen.
macro_rules! part_doc {
    ($($what:literal),+) => {
        concat!(
            $($what),+,
            " where both sources have valid elements, the element of the one that has it elsewhere, and in `index` the number that \
              belongs to it. Of equal ones that of `src0` counts, as in the headers (the page: that of `src1`); where one is NaN `src0` \
              on A5, `src1` on A2/A3. Numbers have the valid shape of their values; one source has that of `dst`, the other none \
              larger. f16 values have numbers of 16 or 32 bits, f32 values of 32."
        )
    };
}

ops! {
    OPS, part_doc;

    /// `dst` = the larger of `src0` and `src1`
    pub TPARTARGMAX "pto.tpartargmax"
        "Larger of two tiles, one of which may be smaller, and its number": CHOICE.with(FORM),
        lower: |op, d| choose(op, d, [Compare::Ge, Compare::Gt]);

    /// `dst` = the smaller of `src0` and `src1`
    pub TPARTARGMIN "pto.tpartargmin"
        "Smaller of two tiles, one of which may be smaller, and its number": CHOICE.with(FORM),
        lower: |op, d| choose(op, d, [Compare::Le, Compare::Lt]);
}

const WORDS: Elems = Elems::new("integers of 16 or 32 bits", |e| !e.is_float() && matches!(e.bytes(), 2 | 4));

fn verify(op: &OpRef<'_>, diags: &mut Diags) {
    check::spaces(op, diags);
    for (a, b) in [("src0", "src1"), ("src0", "dst"), ("index0", "index1"), ("index0", "index")] {
        check::same_type(op, a, b, diags);
    }
    check::elem(op, "index0", WORDS, diags);
    let elem = |name| op.ty(name).and_then(Type::elem);
    if let (Some(Elem::F32), Some(index)) = (elem("src0"), elem("index0"))
        && index.bytes() != 4
    {
        diags.push(
            op.error("tile-elem", "expects numbers of 32 bits beside values of f32").label(format!("they are {index}")),
        );
    }
}

/// Chooses `src0` if the first comparison of `src0` and `src1` holds, or the second one of `src1` and `src0` does not.
fn choose(op: &OpRef<'_>, d: &mut Decoder<'_>, [holds, against]: [Compare; 2]) -> Lowered {
    let mut operands = Operands::new(op, d);
    let mut pair = |value, number| -> Result<Numbered, slipring_op::def::Reported> {
        Ok(Numbered { value: operands.tile(d, value)?, number: operands.tile(d, number)? })
    };
    let sources = [pair("src0", "index0")?, pair("src1", "index1")?];
    let dst = pair("dst", "index")?;
    let ordered = d.platform.can(Capability::OrderedPartArg);
    let first_if = if ordered { None } else { Some(holds) };
    let effect = PartArg { local: operands.local, first_if, second_if: against, dst, sources };
    operands.issue(d, effect)
}
