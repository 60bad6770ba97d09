//! Queries of the launch, and sections for one kind of core (PTO IR manual 4.17, 4.19).

use slipring_ir::{Diags, Infer, OpId, OpSchema, Syntax, Type};
use slipring_program::Special;

use slipring_op::decode::{Binding, Decoder};
use slipring_op::def::{CoreRule, FromZero, LaneQuery, Lowered, OpDef, OpRef};
use slipring_op::ops;
use slipring_op::rules::{INTEGER, PLAIN, result, schema};

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

ops! {
    OPS;

    /// Which block (cluster of the launch) this is: 0 up to the number of blocks.
    pub GET_BLOCK_IDX "pto.get_block_idx" "Index of this block": QUERY, from_zero: FromZero::Always,
        lower: |op, d| query(op, d, Special::BlockIdx);

    /// How many blocks (clusters) the launch has.
    pub GET_BLOCK_NUM "pto.get_block_num" "Number of blocks": QUERY, from_zero: FromZero::Always,
        lower: |op, d| query(op, d, Special::BlockNum);

    /// 0 on AIV0, 1 on AIV1; 0 on the Cube core. A kernel that asks runs on both Vector cores.
    pub GET_SUBBLOCK_IDX "pto.get_subblock_idx" "Index of this Vector core in its cluster": QUERY,
        from_zero: FromZero::Always, per_lane: Some(LaneQuery::Number),
        lower: |op, d| query(op, d, Special::SubblockIdx);

    /// How many Vector cores of the cluster run the kernel.
    pub GET_SUBBLOCK_NUM "pto.get_subblock_num" "Number of Vector cores that run the kernel": QUERY,
        from_zero: FromZero::Always, per_lane: Some(LaneQuery::Count),
        lower: |op, d| query(op, d, Special::SubblockNum);

    pub SECTION_CUBE "pto.section.cube" "Ops for the Cube core only": SECTION, core: CoreRule::Cube;

    pub SECTION_VECTOR "pto.section.vector" "Ops for the Vector cores only": SECTION, core: CoreRule::Vector;
}

const SECTION: OpDef = OpDef {
    schema: OpSchema { regions: &["body"], ..schema("", Syntax::Format("$body attr-dict"), &[], &[], &[]) },
    doc: "The ops inside run only on cores of this kind; on the others the section is empty. Sections do not nest.",
    source: "PTO IR manual 4.17; micro-instruction manual of assembler 0.60, Authoring VPTO Files",
    verify: |op, _, diags| verify_section(op, diags),
    lower: section,
    ..QUERY
};

fn verify_section(op: &OpRef<'_>, diags: &mut Diags) {
    let sections = [&SECTION_CUBE, &SECTION_VECTOR];
    let is_section = |id: &OpId| sections.iter().any(|def| op.module.op(*id).is(&def.schema));
    let outer = std::iter::successors(op.module.parent_op(op.id), |at| op.module.parent_op(*at)).find(is_section);
    if let Some(outer) = outer {
        let message = format!("`{}` is inside another section: sections do not nest", op.def.schema.name);
        diags.push(op.error("wrong-core", message).also(op.module.op(outer).span, "the section begins here"));
    }
}

fn section(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    if slipring_op::affinity(op) != Some(d.role.kind()) {
        return Ok(());
    }
    match op.module.body(op.id, 0) {
        Some(body) => d.block(body).map(|_| ()),
        None => Ok(()),
    }
}
