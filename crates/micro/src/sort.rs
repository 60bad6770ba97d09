//! Sorting in UB, outside vector functions (micro-instruction manual, Sorting Operations and VMS4 Status Query).

use slipring_ir::{Diags, Infer, OperandSpec, ResultSpec, Sign, Syntax, Touch, Type, TypeRule};
use slipring_machine::{Pipe, Platform};
use slipring_program::Operand;
use slipring_tile::{Elem, Space};

use super::memory::{UB, given, memory};
use slipring_effect::{ElementAccess, MergeArgs, MergeLists, SortArgs, SortGroups, Within};
use slipring_op::decode::{Binding, Decoder};
use slipring_op::def::{CoreRule, Lowered, OpRef, PipeRule, Reported};
use slipring_op::rules::{INTEGER, PLAIN, operand, result};
use slipring_op::{ops, positional};

const SCORES: TypeRule = TypeRule {
    describe: "a pointer into `ub` to f32 or f16",
    accepts: |t| matches!(t, Type::Ptr(elem, Some(Space::Vec)) if matches!(elem, Elem::F32 | Elem::F16)),
};

const INDICES: TypeRule = TypeRule {
    describe: "a pointer into `ub` to 32-bit integers",
    accepts: |t| matches!(t, Type::Ptr(elem, Some(Space::Vec)) if !elem.is_float() && elem.bytes() == 4),
};

const I64: TypeRule = TypeRule { describe: "i64", accepts: |t| *t == Type::I64 };

const I16_TYPE: Type = Type::Int { width: 16, sign: Sign::Signless };
const I16: TypeRule = TypeRule { describe: "i16", accepts: |t| *t == I16_TYPE };

ops! {
    OPS;

    /// Each repeat sorts the next 32 scores in descending order and writes a record of 8 bytes for each: the score in
    /// the lower 4 bytes (an f16 in the lower two, the other two 0), its index in the upper 4. Of equal scores the
    /// earlier one comes first; -0 equals +0. A NaN comes before +inf, one with the sign set after -inf. Repeats are
    /// sorted one by one, not with each other. The records must not overlap what is read.
    VBITSORT "pto.vbitsort" "Sort groups of 32 scores with their indices": PLAIN,
        source: "micro-instruction manual, Sorting Operations, pto.vbitsort; number of repeats: 8 bits, as in the public library",
        core: CoreRule::Vector, pipe: PipeRule::Fixed(Pipe::V), lower: lower_vbitsort
        => {
            syntax: positional!("dest" "src" "indices" "repeat_times"),
            operands: &[
                operand("dest", UB, Touch::Write, "where the records go, 256 bytes a repeat; a multiple of 32"),
                operand("src", SCORES, Touch::Read, "32 scores a repeat; a multiple of 32"),
                operand("indices", INDICES, Touch::Read, "32 indices of 4 bytes a repeat; a multiple of 32"),
                operand("repeat_times", INTEGER, Touch::Nothing, "groups of 32, 0 to 255"),
            ],
        };

    /// Merges lists of records as `pto.vbitsort` makes them, sorted in descending order, into one. The type of the
    /// pointers is that of the scores. Of equal scores that of the earlier list comes first; -0 and NaN as in
    /// `pto.vbitsort`. Bits 8 to 11 of `config` say which lists take part: the first two (3), three (7) or all (15).
    /// With bit 12 the merge stops as soon as one of them is used up, at once if one is empty. More than one repeat
    /// takes four lists of one length without bit 12: each repeat goes on after the memory of the one before, in the
    /// result and in every list. VMS4_SR then holds the records taken of each list (of the last repeat). A list that is
    /// not sorted is a finding. Nothing of the result may overlap a list.
    VMRGSORT4 "pto.vmrgsort4" "Merge up to four sorted lists of records": PLAIN,
        source: "micro-instruction manual, Sorting Operations, pto.vmrgsort4; control word, masks and repeats: the public library",
        core: CoreRule::Vector, pipe: PipeRule::Fixed(Pipe::V), verify: same_scores, lower: lower_vmrgsort4
        => {
            syntax: positional!("dest" "src0" "src1" "src2" "src3" "count" "config"),
            operands: &[
                operand("dest", SCORES, Touch::Write, "where the records go; a multiple of 32"),
                list("src0"),
                list("src1"),
                list("src2"),
                list("src3"),
                operand("count", I64, Touch::Nothing, "records of each list, 16 bits each, that of src0 lowest"),
                operand(
                    "config",
                    I64,
                    Touch::Nothing,
                    "bits 0 to 7: repeats; 8 to 11: lists that take part; 12: stop early",
                ),
            ],
        };

    /// The records that the last `pto.vmrgsort4` took of each list, from the special register VMS4_SR. The scalar unit
    /// reads it, and does not wait for pipe V by itself: a flag from V to S (or a barrier of all pipes) must stand
    /// between the merge and this op, else it is reported as a race on `spr`.
    GET_VMS4_SR "pto.get_vms4_sr" "Read how far a merge came": PLAIN,
        source: "micro-instruction manual, VMS4 Status Query", core: CoreRule::Vector, pipe: PipeRule::Fixed(Pipe::S),
        lower: lower_status
        => {
            syntax: Syntax::Format("attr-dict `:` type($list0) `,` type($list1) `,` type($list2) `,` type($list3)"),
            results: &[finished("list0"), finished("list1"), finished("list2"), finished("list3")],
        };
}

fn lower_vbitsort(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let score = op.ty("src").and_then(Type::elem).ok_or(Reported)?;
    let core = memory(op, d, "dest")?.core;
    let args = SortArgs {
        records: given(op, d, "dest")?,
        scores: given(op, d, "src")?,
        indices: given(op, d, "indices")?,
        groups: given(op, d, "repeat_times")?,
    };
    let cost = d.platform.vector_cost("vbitsort", "sort", score.name());
    d.issue(Pipe::V, SortGroups { score, core }, args.list(), cost);
    Ok(())
}

fn lower_vmrgsort4(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let score = op.ty("dest").and_then(Type::elem).ok_or(Reported)?;
    let core = memory(op, d, "dest")?.core;
    let args = MergeArgs {
        records: given(op, d, "dest")?,
        list0: given(op, d, "src0")?,
        list1: given(op, d, "src1")?,
        list2: given(op, d, "src2")?,
        list3: given(op, d, "src3")?,
        lengths: given(op, d, "count")?,
        control: given(op, d, "config")?,
    };
    let cost = d.platform.vector_cost("vmrgsort4", "merge", score.name());
    d.issue_discovering(Pipe::V, MergeLists { score, core }, args.list(), cost);
    Ok(())
}

const fn list(name: &'static str) -> OperandSpec {
    operand(name, SCORES, Touch::Read, "a sorted list of records; a multiple of 8")
}

fn same_scores(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    if ["src0", "src1", "src2", "src3"].iter().any(|list| op.ty(*list) != op.ty("dest")) {
        diags.push(op.error("elem-type", "expects the result and all four lists to have the same type"));
    }
}

const fn finished(name: &'static str) -> ResultSpec {
    result(name, I16, Infer::Written, "records taken of this list")
}

fn lower_status(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    if d.in_vector_function() {
        return Err(d.error("in-vecscope", "`pto.get_vms4_sr` cannot be used in a vector function"));
    }
    let register =
        ElementAccess { space: Space::Spr, core: d.role, elem: Elem::U64, load: true, within: Within::Anything };
    let counts = d.issue_scalar(register, vec![Operand::Imm(0)]);
    for list in 0..4 {
        let shift = Operand::imm(48 - 16 * list);
        // Registers hold an i16 sign-extended.
        let count =
            d.compute(|[bits, shift, _]| Ok(((bits << shift) as i64 >> 48) as u64), [counts, shift, Operand::Imm(0)]);
        d.bind(op.result(list as usize), Binding::Scalar(count));
    }
    Ok(())
}
