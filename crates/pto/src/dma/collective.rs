//! Ops that are known by name and form and refused as not modelled: quantisation of whole blocks, loads beside the kernel.

use slipring_ir::{AttrKind, Syntax, Touch};
use slipring_op::def::{OpDef, Reported};
use slipring_op::rules::{ANY, PLAIN, TILE, VIEW, defaulted, operand, optional, required, schema};

/// The ops of this file.
pub(crate) const OPS: &[&OpDef] = &[&TQUANT_MX, &MAKE_PREFETCH_CONTEXT, &TPREFETCH_ASYNC, &PREFETCH_SESSION];

const NOT_MODELLED: OpDef = OpDef {
    doc: "Known by name and form; it cannot be run yet: a text with it is refused.",
    source: "PTO IR of the public assembler 0.60",
    verify: |op, _, diags| diags.push(op.error("unsupported", format!("`{}` is not modelled", op.def.schema.name))),
    lower: |_, _| Err(Reported),
    ..PLAIN
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
        Syntax::Format("$context attr-dict `:` type($context) `->` type($session)"),
        &[operand("context", ANY, Touch::Nothing, "the context")],
        &[slipring_op::rules::result("session", ANY, slipring_ir::Infer::Written, "the session")],
        &[],
    ),
    summary: "The session of loads beside the kernel",
    ..NOT_MODELLED
};
