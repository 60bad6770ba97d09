//! Ops that are known by name and form and refused as not modelled: copies among several devices,
//! quantisation of whole blocks.

use slipring_ir::{AttrKind, OpSchema, OperandSpec, Syntax, Touch};
use slipring_op::def::{OpDef, Reported};
use slipring_op::rules::{ANY, PLAIN, TILE, VIEW, defaulted, operand, optional, required, schema, variadic};

/// The ops of this file.
pub(crate) const OPS: &[&OpDef] = &[
    &TBROADCAST,
    &COMM_TGATHER,
    &COMM_TSCATTER,
    &TREDUCE,
    &TQUANT_MX,
    &TCONCATIDX,
    &MAKE_PREFETCH_CONTEXT,
    &TPREFETCH_ASYNC,
    &PREFETCH_SESSION,
];

const NOT_MODELLED: OpDef = OpDef {
    doc: "Known by name and form; it cannot be run yet: a text with it is refused.",
    source: "PTO IR of the public assembler 0.60",
    verify: |op, _, diags| diags.push(op.error("unsupported", format!("`{}` is not modelled", op.def.schema.name))),
    lower: |_, _| Err(Reported),
    ..PLAIN
};

const RECV: OperandSpec = variadic("recv", TILE, Touch::Scratch, "one or two tiles in UB that pieces go through");
const GROUP: OperandSpec = variadic("group", VIEW, Touch::ReadWrite, "the memory of each device of the group");

const COLLECTIVE: OpSchema = schema(
    "",
    Syntax::Format(
        "`(` $local `,` `recv` `(` $recv `)` `,` `group` `(` $group `)` `:` type($local) `,` type($recv) `,` type($group) `)` attr-dict",
    ),
    &[operand("local", VIEW, Touch::ReadWrite, "this device's memory"), RECV, GROUP],
    &[],
    &[required("root", AttrKind::Int, "which of the group has all data")],
);

pub static TBROADCAST: OpDef = OpDef {
    schema: OpSchema { name: "pto.comm.tbroadcast", ..COLLECTIVE },
    summary: "Copy this device's memory to all of a group",
    ..NOT_MODELLED
};

pub static COMM_TGATHER: OpDef = OpDef {
    schema: OpSchema { name: "pto.comm.tgather", ..COLLECTIVE },
    summary: "Put the memories of a group after each other",
    ..NOT_MODELLED
};

pub static COMM_TSCATTER: OpDef = OpDef {
    schema: OpSchema { name: "pto.comm.tscatter", ..COLLECTIVE },
    summary: "Give each device of a group its part",
    ..NOT_MODELLED
};

pub static TREDUCE: OpDef = OpDef {
    schema: schema(
        "pto.comm.treduce",
        Syntax::Format(
            "`(` $dst `,` $acc `,` `recv` `(` $recv `)` `,` `group` `(` $group `)` `:` type($dst) `,` type($acc) `,` type($recv) `,` \
             type($group) `)` attr-dict",
        ),
        &[
            operand("dst", VIEW, Touch::Write, "where the result goes"),
            operand("acc", TILE, Touch::Scratch, "tile in UB that sums"),
            RECV,
            GROUP,
        ],
        &[],
        &[
            required("reduceOp", AttrKind::Any, "how elements are combined"),
            required("root", AttrKind::Int, "which of the group has the result"),
        ],
    ),
    summary: "Combine the memories of a group",
    ..NOT_MODELLED
};

pub static TQUANT_MX: OpDef = OpDef {
    schema: schema(
        "pto.tquant.mx",
        Syntax::InsOuts { ins: 1, attrs_in_ins: false },
        &[
            operand("src", TILE, Touch::Read, "what is quantised"),
            operand("dst", TILE, Touch::Write, "the short floats"),
            operand("exp", TILE, Touch::Write, "the exponents"),
            operand("max", TILE, Touch::Write, "the largest number of each block"),
            operand("scaling", TILE, Touch::Write, "the scales"),
            optional("exp_zz", TILE, Touch::Write, "the exponents as the matrix unit reads them"),
        ],
        &[],
        &[
            required("quant_type", AttrKind::Any, "the short float"),
            defaulted("quantScaleAlg", AttrKind::Any, "how scales are found"),
            defaulted("storeMode", AttrKind::Any, "the order of exponents"),
            defaulted("grpAxis", AttrKind::Any, "along which axis blocks lie"),
            defaulted("interleave", AttrKind::Bool, "whether exponents alternate"),
        ],
    ),
    summary: "Quantise blocks to short floats with shared exponents",
    ..NOT_MODELLED
};

pub static TCONCATIDX: OpDef = OpDef {
    schema: schema(
        "pto.tconcatidx",
        Syntax::InsOuts { ins: 4, attrs_in_ins: false },
        &[
            operand("src0", TILE, Touch::Read, "first tile"),
            operand("src1", TILE, Touch::Read, "second tile"),
            operand("src0Idx", TILE, Touch::Read, "how much of each row of the first"),
            operand("src1Idx", TILE, Touch::Read, "how much of each row of the second"),
            operand("dst", TILE, Touch::Write, "the result"),
        ],
        &[],
        &[],
    ),
    summary: "Put rows of two tiles together, each as long as a number says",
    ..NOT_MODELLED
};

pub static MAKE_PREFETCH_CONTEXT: OpDef = OpDef {
    schema: schema(
        "pto.make_prefetch_async_context",
        Syntax::Format("`(` $workspace `:` type($workspace) `)` attr-dict `->` type($context)"),
        &[operand("workspace", ANY, Touch::ReadWrite, "global memory to work in")],
        &[slipring_op::rules::result("context", ANY, slipring_ir::Infer::Written, "the context")],
        &[],
    ),
    summary: "Prepare loads into the cache beside the kernel",
    ..NOT_MODELLED
};

pub static TPREFETCH_ASYNC: OpDef = OpDef {
    schema: schema(
        "pto.tprefetch_async",
        Syntax::Format("`(` $src `,` $context `:` type($src) `,` type($context) `)` attr-dict `->` type($event)"),
        &[operand("src", VIEW, Touch::Read, "what is loaded"), operand("context", ANY, Touch::Nothing, "the context")],
        &[slipring_op::rules::result("event", ANY, slipring_ir::Infer::Written, "completes with the load")],
        &[],
    ),
    summary: "Load into the cache beside the kernel",
    ..NOT_MODELLED
};

pub static PREFETCH_SESSION: OpDef = OpDef {
    schema: schema(
        "pto.get_prefetch_async_session",
        Syntax::Format("`(` $context `:` type($context) `)` attr-dict `->` type($session)"),
        &[operand("context", ANY, Touch::Nothing, "the context")],
        &[slipring_op::rules::result("session", ANY, slipring_ir::Infer::Written, "the session")],
        &[],
    ),
    summary: "The session of loads beside the kernel",
    ..NOT_MODELLED
};
