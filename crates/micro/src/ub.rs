//! Instructions on UB with repeats and a mask, of units that work on memory (A2/A3).
//!
//! Sources: the declarations of assembler 0.60 (`VPTOUbOps.td`) and what it makes of them; the vendor's guides to
//! operators for A2/A3, common parameters of vector instructions and mask operations. The mask at the start is theirs,
//! too: normal mode, and all elements, which a reset sets again.

use slipring_ir::{Diags, OpSchema, OperandSpec, Syntax, Touch, Type, TypeRule};
use slipring_machine::{Pipe, Platform};
use slipring_program::{Inst, Operand};
use slipring_tile::lanes::PerElement;
use slipring_tile::{Elem, Unary, unary};

use super::cube::control::CONTROL;
use super::memory::{UB_BUFFER, given, memory};
use slipring_effect::arithmetic as shared;
use slipring_effect::vector::unsigned;
use slipring_effect::{COUNTS, RepeatArgs, Repeats, Spaced};
use slipring_op::decode::Decoder;
use slipring_op::def::Arithmetic::{One, Two};
use slipring_op::def::{Arithmetic, CoreRule, Lowered, OpDef, OpRef, PipeRule, Reported};
use slipring_op::rules::{PLAIN, operand, schema};
use slipring_op::{On, ops, positional};

const I64: TypeRule = TypeRule { describe: "i64", accepts: |t| *t == Type::I64 };

const FLOATS: &[Elem] = &[Elem::F16, Elem::F32];
const NUMBERS: &[Elem] = &[Elem::I16, Elem::I32, Elem::F16, Elem::F32];
const INTEGERS: &[Elem] = &[Elem::I16, Elem::U16, Elem::I32, Elem::U32];
const WORDS: &[Elem] = &[Elem::I16, Elem::U16];

/// The registers with the words of the mask. They hold the bits that are off: registers are 0 at the start, when all
/// elements take part.
const OFF: [&str; 2] = ["ub_mask_off_low", "ub_mask_off_high"];

const fn number(name: &'static str, doc: &'static str) -> OperandSpec {
    operand(name, I64, Touch::Nothing, doc)
}

const DST: OperandSpec = operand("dst", UB_BUFFER, Touch::Write, "where the result begins; a multiple of 32");
const REPEAT: OperandSpec = number("repeat", "repeats, 0 to 255");
const SRC: OperandSpec = operand("src", UB_BUFFER, Touch::Read, "where the source begins; a multiple of 32");
const DST_BLOCK: OperandSpec = number("dst_block_stride", "from a block of the result to the next, in 32 bytes");
const SRC_BLOCK: OperandSpec = number("src_block_stride", "from a block of the source to the next, in 32 bytes");
const DST_REPEAT: OperandSpec = number("dst_repeat_stride", "from a repeat of the result to the next, in 32 bytes");
const SRC_REPEAT: OperandSpec = number("src_repeat_stride", "from a repeat of the source to the next, in 32 bytes");

const OF_TWO: OpSchema = schema(
    "",
    positional!(
        "dst" "src0" "src1" "repeat" "dst_block_stride" "src0_block_stride" "src1_block_stride" "dst_repeat_stride"
        "src0_repeat_stride" "src1_repeat_stride"
    ),
    &[
        DST,
        operand("src0", UB_BUFFER, Touch::Read, "where the first source begins; a multiple of 32"),
        operand("src1", UB_BUFFER, Touch::Read, "where the second source begins; a multiple of 32"),
        REPEAT,
        DST_BLOCK,
        number("src0_block_stride", "from a block of the first source to the next, in 32 bytes"),
        number("src1_block_stride", "from a block of the second source to the next, in 32 bytes"),
        DST_REPEAT,
        number("src0_repeat_stride", "from a repeat of the first source to the next, in 32 bytes"),
        number("src1_repeat_stride", "from a repeat of the second source to the next, in 32 bytes"),
    ],
    &[],
    &[],
);

const OF_ONE: OpSchema = schema(
    "",
    positional!(
        "dst" "src" "repeat" "dst_block_stride" "src_block_stride" "dst_repeat_stride" "src_repeat_stride"
    ),
    &[DST, SRC, REPEAT, DST_BLOCK, SRC_BLOCK, DST_REPEAT, SRC_REPEAT],
    &[],
    &[],
);

const WITH_NUMBER: OpSchema = schema(
    "",
    positional!(
        "dst" "src" "scalar" "repeat" "dst_block_stride" "src_block_stride" "dst_repeat_stride" "src_repeat_stride"
    ),
    &[
        DST,
        SRC,
        number("scalar", "the number: its low bits are those of an element; of shifts how far"),
        REPEAT,
        DST_BLOCK,
        SRC_BLOCK,
        DST_REPEAT,
        SRC_REPEAT,
    ],
    &[],
    &[],
);

const OF_NUMBER: OpSchema = schema(
    "",
    positional!(
        "dst" "scalar" "repeat" "dst_block_stride" "src_block_stride" "dst_repeat_stride" "src_repeat_stride"
    ),
    &[
        DST,
        number("scalar", "the number: its low bits are those of an element"),
        REPEAT,
        DST_BLOCK,
        number("src_block_stride", "of no meaning"),
        DST_REPEAT,
        number("src_repeat_stride", "of no meaning"),
    ],
    &[],
    &[],
);

/// Where an operand's address and strides are among the declared operands.
type Named = [&'static str; 3];

const TO: Named = ["dst", "dst_block_stride", "dst_repeat_stride"];
const FROM: &[Named] = &[["src", "src_block_stride", "src_repeat_stride"]];
const FROM_TWO: &[Named] =
    &[["src0", "src0_block_stride", "src0_repeat_stride"], ["src1", "src1_block_stride", "src1_repeat_stride"]];

const ON_UB: OpDef = OpDef {
    source: "declarations of assembler 0.60, `VPTOUbOps.td`; the vendor's guide to operators, vector instructions",
    core: CoreRule::Vector,
    ..PLAIN
};
const REPEATED: OpDef = OpDef { pipe: PipeRule::Fixed(Pipe::V), verify: rules, lower: typed, ..ON_UB };
const PAIRS: OpDef = OpDef { schema: OF_TWO, ..REPEATED };
const SINGLE: OpDef = OpDef { schema: OF_ONE, ..REPEATED };
const BY_NUMBER: OpDef = OpDef { schema: WITH_NUMBER, class: "number", lane_types: NUMBERS, ..REPEATED };
const SHIFT: OpDef = OpDef { class: "bit", lane_types: INTEGERS, lower: shift, ..BY_NUMBER };

static SAME: Unary = unary!(int: |a| a);

macro_rules! repeat_doc {
    ($($line:literal),+) => {
        concat!(
            $($line),+,
            " A repeat is 8 blocks of 32 bytes, at the stride of blocks; the next one begins the stride of repeats after \
             it. Strides are 0 to 255. Only elements that the mask lets through are read and written. After \
             `pto.ub.set_mask` these are the ones whose bit is set, the same in each repeat. After \
             `pto.ub.set_mask_count` as many elements as the mask says, and `repeat` does not matter. Repeats are done in \
             order. A source is the result or does not overlap it, and no repeat reads what an earlier one wrote, except \
             where both stay in their place. Floats are computed in f32 and rounded once to the nearest; integers wrap."
        )
    };
}

ops! {
    OPS, repeat_doc;

    /// `dst = src0 + src1`.
    UB_VADD "pto.ub.vadd" "Sum, on UB": PAIRS, kernel: Two(&shared::ADD), class: "add", lane_types: NUMBERS;

    /// `dst = src0 - src1`.
    UB_VSUB "pto.ub.vsub" "Difference, on UB": PAIRS, kernel: Two(&shared::SUB), class: "add", lane_types: NUMBERS;

    /// `dst = src0 * src1`.
    UB_VMUL "pto.ub.vmul" "Product, on UB": PAIRS, kernel: Two(&shared::MUL), class: "mul", lane_types: NUMBERS;

    /// `dst = src0 / src1`.
    UB_VDIV "pto.ub.vdiv" "Quotient, on UB": PAIRS, kernel: Two(&shared::DIV), class: "div", lane_types: FLOATS;

    /// `dst = max(src0, src1)`: NaN if one of them is, +0 rather than -0.
    UB_VMAX "pto.ub.vmax" "Larger of two, on UB": PAIRS, kernel: Two(&shared::MAX), class: "max", lane_types: NUMBERS;

    /// `dst = min(src0, src1)`: NaN if one of them is, -0 rather than +0.
    UB_VMIN "pto.ub.vmin" "Smaller of two, on UB": PAIRS, kernel: Two(&shared::MIN), class: "max", lane_types: NUMBERS;

    /// `dst = src0 & src1`, bit by bit.
    UB_VAND "pto.ub.vand" "Bitwise and, on UB": PAIRS, kernel: Two(&shared::AND), class: "bit", lane_types: WORDS;

    /// `dst = src0 | src1`, bit by bit.
    UB_VOR "pto.ub.vor" "Bitwise or, on UB": PAIRS, kernel: Two(&shared::OR), class: "bit", lane_types: WORDS;

    /// `dst = max(src0 + src1, 0)`; the sum of two f16 is rounded first.
    UB_VADDRELU "pto.ub.vaddrelu" "Sum, 0 where it is negative, on UB": PAIRS, kernel: Two(&shared::ADD_RELU),
        class: "add", lane_types: &[Elem::I16, Elem::F16, Elem::F32];

    /// `dst = ~src`, bit by bit.
    UB_VNOT "pto.ub.vnot" "Bitwise not, on UB": SINGLE, kernel: One(&shared::NOT), class: "bit", lane_types: WORDS;

    /// `dst = |src|`.
    UB_VABS "pto.ub.vabs" "Absolute value, on UB": SINGLE, kernel: One(&shared::ABS), class: "neg", lane_types: FLOATS;

    /// `dst = max(src, 0)`. NaN stays NaN.
    UB_VRELU "pto.ub.vrelu" "0 where it is negative, on UB": SINGLE, kernel: One(&shared::RELU), class: "max",
        lane_types: &[Elem::I32, Elem::F16, Elem::F32];

    /// `dst = e^src`, correctly rounded.
    UB_VEXP "pto.ub.vexp" "Exponential, on UB": SINGLE, kernel: One(&shared::EXP), class: "exp", lane_types: FLOATS;

    /// `dst = ln(src)`, correctly rounded; -inf for 0, NaN for negative numbers.
    UB_VLN "pto.ub.vln" "Natural logarithm, on UB": SINGLE, kernel: One(&shared::LOG), class: "log", lane_types: FLOATS;

    /// `dst = √src`, correctly rounded; NaN for negative numbers.
    UB_VSQRT "pto.ub.vsqrt" "Square root, on UB": SINGLE, kernel: One(&shared::SQRT), class: "sqrt", lane_types: FLOATS;

    /// `dst = 1 / √src`, of the rounded root. The device only approximates it: its last digits differ.
    UB_VRSQRT "pto.ub.vrsqrt" "Reciprocal of the square root, on UB": SINGLE, kernel: One(&shared::RSQRT),
        class: "rsqrt", lane_types: FLOATS;

    /// `dst = src << scalar`. Shifts by the width of the element or more, or by a negative number, give 0.
    UB_VSHL "pto.ub.vshl" "Shift left by a number, on UB": SHIFT, kernel: Two(&shared::SHL);

    /// `dst = src >> scalar`, filled with 0: the assembler makes the unsigned form for all integers. Shifts by the width
    /// of the element or more, or by a negative number, give 0.
    UB_VSHR "pto.ub.vshr" "Shift right by a number, on UB": SHIFT, kernel: Two(&shared::SHR);

    /// `dst = src * scalar`.
    UB_VMULS "pto.ub.vmuls" "Product with a number, on UB": BY_NUMBER, kernel: Two(&shared::MUL);

    /// `dst = src + scalar`.
    UB_VADDS "pto.ub.vadds" "Sum with a number, on UB": BY_NUMBER, kernel: Two(&shared::ADD);

    /// `dst = max(src, scalar)`: NaN if one of them is, +0 rather than -0.
    UB_VMAXS "pto.ub.vmaxs" "Larger of it and a number, on UB": BY_NUMBER, kernel: Two(&shared::MAX);

    /// `dst = min(src, scalar)`: NaN if one of them is, -0 rather than +0.
    UB_VMINS "pto.ub.vmins" "Smaller of it and a number, on UB": BY_NUMBER, kernel: Two(&shared::MIN);

    /// `dst = scalar`. The strides of a source have no meaning.
    UB_VDUP "pto.ub.vdup" "Fill with a number, on UB": REPEATED, kernel: One(&SAME), class: "move", lower: bits,
        lane_types: &[Elem::I16, Elem::U16, Elem::I32, Elem::U32, Elem::F16, Elem::F32]
        => { syntax: OF_NUMBER.syntax, operands: OF_NUMBER.operands };
}

ops! {
    STATE;

    /// Sets the mask of the `pto.ub.…` instructions that follow: in normal mode a bit for each element of a repeat, of
    /// 32-bit elements only `low`; in count mode `low` is the number of elements. At the start all bits are set, in
    /// normal mode. A core has one mask; its scalar unit sets it, in the order of the text.
    SET_MASK "pto.ub.set_mask" "Set the mask of instructions on UB": ON_UB, verify: on_memory, lower: lower_set_mask
        => {
            syntax: positional!("low" "high"),
            operands: &[
                number("low", "of elements 0 to 63, or how many elements"),
                number("high", "of elements 64 to 127"),
            ],
        };

    /// From here on the mask is a number of elements: `pto.ub.set_mask` sets it. It is bit 56 of the control register.
    SET_MASK_COUNT "pto.ub.set_mask_count" "Let the mask count elements": ON_UB, verify: on_memory,
        lower: |_, d| set_counts(d, true)
        => { syntax: Syntax::Format("attr-dict") };

    /// From here on the mask has a bit for each element again. It is bit 56 of the control register.
    SET_MASK_NORM "pto.ub.set_mask_norm" "Let the mask select elements": ON_UB, verify: on_memory,
        lower: |_, d| set_counts(d, false)
        => { syntax: Syntax::Format("attr-dict") };
}

/// Requires a unit that works on memory.
fn on_memory(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    if On::Memory.holds(platform) {
        return;
    }
    let (name, on) = (op.def.schema.name, &platform.name);
    let error =
        op.error("other-platform", format!("platform {on} has no `{name}`: its vector unit works on registers"));
    diags.push(error.help("load into vector registers with `pto.vlds` in a `pto.vecscope`, and compute there"));
}

fn elem(op: &OpRef<'_>, name: &str) -> Option<Elem> {
    match op.ty(name)? {
        Type::Ptr(elem, _) => Some(*elem),
        Type::MemRef(memref) => memref.elem.elem(),
        _ => None,
    }
}

/// The sources in memory that an op declares.
fn sources(op: &OpRef<'_>) -> &'static [Named] {
    let declared = |name: &str| op.def.schema.operands.iter().any(|spec| spec.name == name);
    match () {
        () if declared("src0") => FROM_TWO,
        () if declared("src") => FROM,
        () => &[],
    }
}

fn rules(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    on_memory(op, platform, diags);
    let Some(to) = elem(op, "dst") else { return };
    let name = op.def.schema.name;
    if let Some(other) = sources(op).iter().filter_map(|place| elem(op, place[0])).find(|other| *other != to) {
        return diags.push(op.error("elem-type", format!("`{name}` takes one type of elements, not {to} and {other}")));
    }
    if !op.def.lane_types.contains(&to) {
        let names: Vec<_> = op.def.lane_types.iter().map(|elem| elem.name()).collect();
        diags.push(op.error("elem-type", format!("`{name}` takes elements of {}, not of {to}", names.join(", "))));
    }
}

/// Computes in the type of the elements.
fn typed(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let number = op.if_declared("scalar").map(|value| d.scalar(value)).transpose()?;
    repeated(op, d, elem(op, "dst").ok_or(Reported)?, number)
}

/// Computes with unsigned integers of the width of the elements.
fn bits(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let number = given(op, d, "scalar")?;
    repeated(op, d, unsigned(elem(op, "dst").ok_or(Reported)?), Some(number))
}

/// As [`bits`]; a distance of the width or more becomes the width.
fn shift(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let elem = unsigned(elem(op, "dst").ok_or(Reported)?);
    let (distance, width) = (given(op, d, "scalar")?, Operand::imm(8 * elem.bytes() as i64));
    let distance = d.compute(|[distance, width, _]| Ok(distance.min(width)), [distance, width, Operand::Imm(0)]);
    repeated(op, d, elem, Some(distance))
}

fn repeated(op: &OpRef<'_>, d: &mut Decoder<'_>, elem: Elem, number: Option<Operand>) -> Lowered {
    match op.def.kernel {
        Arithmetic::One(kernel) => issue(op, d, kernel, elem, number),
        Arithmetic::Two(kernel) => issue(op, d, kernel, elem, number),
        Arithmetic::Three(_) | Arithmetic::None => Err(Reported),
    }
}

fn issue<const N: usize>(
    op: &OpRef<'_>,
    d: &mut Decoder<'_>,
    kernel: &'static PerElement<N>,
    elem: Elem,
    number: Option<Operand>,
) -> Lowered {
    let on = OFF.map(|name| {
        let off = Operand::Reg(d.register(name));
        d.compute(|[off, _, _]| Ok(!off), [off, Operand::Imm(0), Operand::Imm(0)])
    });
    let control = Operand::Reg(d.register(CONTROL));
    let mut args = RepeatArgs { low: on[0], high: on[1], control, repeats: given(op, d, "repeat")? }.list();
    for place in std::iter::once(&TO).chain(sources(op)) {
        let addr = memory(op, d, place[0])?.addr;
        args.extend(Spaced { addr, block: given(op, d, place[1])?, repeat: given(op, d, place[2])? }.list());
    }
    args.extend(number);
    let effect = Repeats { core: memory(op, d, "dst")?.core, elem, op: kernel, number: number.is_some() };
    let cost = op.def.vector_cost(d.platform, elem, elem);
    d.issue(op.pipe(d.platform).ok_or(Reported)?, effect, args, cost);
    Ok(())
}

fn lower_set_mask(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    for (word, name) in ["low", "high"].into_iter().zip(OFF) {
        let word = given(op, d, word)?;
        let off = d.compute(|[on, _, _]| Ok(!on), [word, Operand::Imm(0), Operand::Imm(0)]);
        let register = d.register(name);
        d.emit(Inst::Move { d: register, a: off });
    }
    Ok(())
}

/// Sets or clears the bit with which the mask counts elements.
fn set_counts(d: &mut Decoder<'_>, counts: bool) -> Lowered {
    let register = d.register(CONTROL);
    let bit = Operand::Imm(1 << COUNTS);
    let now = [Operand::Reg(register), bit, Operand::Imm(0)];
    let value = match counts {
        true => d.compute(|[now, bit, _]| Ok(now | bit), now),
        false => d.compute(|[now, bit, _]| Ok(now & !bit), now),
    };
    d.emit(Inst::Move { d: register, a: value });
    Ok(())
}
