//! Queries of the launch, and sections for one kind of core (PTO IR manual 4.17, 4.19).

use slipring_ir::{Infer, OpSchema, Syntax, Type};
use slipring_program::Special;

use slipring_op::decode::{Binding, Decoder};
use slipring_op::def::{CoreRule, FromZero, LaneQuery, Lowered, OpDef, OpRef};
use slipring_op::rules::{INTEGER, PLAIN, result, schema};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] =
    &[&GET_BLOCK_IDX, &GET_BLOCK_NUM, &GET_SUBBLOCK_IDX, &GET_SUBBLOCK_NUM, &SECTION_CUBE, &SECTION_VECTOR];

const QUERY: OpDef = OpDef {
    schema: schema(
        "",
        Syntax::Format("attr-dict"),
        &[],
        &[result("value", INTEGER, Infer::Fixed(|| Type::I64), "the number")],
        &[],
    ),
    summary: "",
    doc: "",
    source: "PTO IR manual 4.19",
    lower: |_, d| Err(d.unsupported("this op")),
    ..PLAIN
};

fn query(op: &OpRef<'_>, d: &mut Decoder<'_>, which: Special) -> Lowered {
    let value = d.special(which);
    d.bind(op.result(0), Binding::Scalar(value));
    Ok(())
}

pub static GET_BLOCK_IDX: OpDef = OpDef {
    schema: OpSchema { name: "pto.get_block_idx", ..QUERY.schema },
    summary: "Index of this block",
    from_zero: FromZero::Always,
    doc: "Which block (cluster of the launch) this is: 0 up to the number of blocks.",
    lower: |op, d| query(op, d, Special::BlockIdx),
    ..QUERY
};

pub static GET_BLOCK_NUM: OpDef = OpDef {
    schema: OpSchema { name: "pto.get_block_num", ..QUERY.schema },
    summary: "Number of blocks",
    from_zero: FromZero::Always,
    doc: "How many blocks (clusters) the launch has.",
    lower: |op, d| query(op, d, Special::BlockNum),
    ..QUERY
};

pub static GET_SUBBLOCK_IDX: OpDef = OpDef {
    schema: OpSchema { name: "pto.get_subblock_idx", ..QUERY.schema },
    summary: "Index of this Vector core in its cluster",
    from_zero: FromZero::Always,
    doc: "0 on AIV0, 1 on AIV1; 0 on the Cube core. A kernel that asks runs on both Vector cores.",
    per_lane: Some(LaneQuery::Number),
    lower: |op, d| query(op, d, Special::SubblockIdx),
    ..QUERY
};

pub static GET_SUBBLOCK_NUM: OpDef = OpDef {
    schema: OpSchema { name: "pto.get_subblock_num", ..QUERY.schema },
    summary: "Number of Vector cores that run the kernel",
    from_zero: FromZero::Always,
    doc: "How many Vector cores of the cluster run the kernel.",
    per_lane: Some(LaneQuery::Count),
    lower: |op, d| query(op, d, Special::SubblockNum),
    ..QUERY
};

const SECTION: OpDef = OpDef {
    schema: OpSchema { regions: &["body"], ..schema("", Syntax::Format("$body attr-dict"), &[], &[], &[]) },
    doc: "The ops inside run only on cores of this kind; on the others the section is empty.",
    source: "PTO IR manual 4.17",
    lower: section,
    ..QUERY
};

pub static SECTION_CUBE: OpDef = OpDef {
    schema: OpSchema { name: "pto.section.cube", ..SECTION.schema },
    summary: "Ops for the Cube core only",
    core: CoreRule::Cube,
    ..SECTION
};

pub static SECTION_VECTOR: OpDef = OpDef {
    schema: OpSchema { name: "pto.section.vector", ..SECTION.schema },
    summary: "Ops for the Vector cores only",
    core: CoreRule::Vector,
    ..SECTION
};

fn section(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    if slipring_op::affinity(op) != Some(d.role.kind()) {
        return Ok(());
    }
    match op.module.body(op.id, 0) {
        Some(body) => d.block(body).map(|_| ()),
        None => Ok(()),
    }
}
