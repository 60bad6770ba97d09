//! Ops that are known by name and form: quantisation of whole blocks, which is refused as not modelled, and loads into the cache
//! beside the kernel, which change no byte that a program sees.

use slipring_ir::{AttrKind, Infer, Syntax, Touch};
use slipring_op::decode::{Binding, Decoder};
use slipring_op::def::{Lowered, OpDef, OpRef, Reported};
use slipring_op::rules::{ANY, PLAIN, TILE, VIEW, defaulted, operand, optional, required, result, schema};

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

/// What all loads beside the kernel have in common: no byte changes by them.
const BESIDE: OpDef = OpDef {
    source: "PTO IR of the public assembler 0.60; tile ISA, TPREFETCH_ASYNC",
    lower: nothing_at_run_time,
    ..PLAIN
};

fn nothing_at_run_time(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    d.bind(op.result(0), Binding::Handle(0));
    Ok(())
}

pub static MAKE_PREFETCH_CONTEXT: OpDef = OpDef {
    schema: schema(
        "pto.make_prefetch_async_context",
        Syntax::Format("`(` $workspace `:` type($workspace) `)` attr-dict `->` type($context)"),
        &[operand("workspace", ANY, Touch::Nothing, "global memory that the unit for it works in, and nothing else")],
        &[result("context", ANY, Infer::Written, "the context")],
        &[],
    ),
    summary: "Prepare loads into the cache beside the kernel",
    doc: "A context for `pto.tprefetch_async`. What the unit keeps in its memory is not modelled.",
    ..BESIDE
};

pub static TPREFETCH_ASYNC: OpDef = OpDef {
    schema: schema(
        "pto.tprefetch_async",
        Syntax::Format("`(` $src `,` $context `:` type($src) `,` type($context) `)` attr-dict `->` type($event)"),
        &[
            operand("src", VIEW, Touch::Nothing, "what is loaded"),
            operand("context", ANY, Touch::Nothing, "the context"),
        ],
        &[result("event", ANY, Infer::Written, "completes with the load")],
        &[],
    ),
    summary: "Load into the cache beside the kernel",
    doc: "No byte of global memory changes by it, and later loads read the same. It takes no time here: caches have no cost of \
          their own, so what it saves is not seen.",
    ..BESIDE
};

pub static PREFETCH_SESSION: OpDef = OpDef {
    schema: schema(
        "pto.get_prefetch_async_session",
        Syntax::Format("$context attr-dict `:` type($context) `->` type($session)"),
        &[operand("context", ANY, Touch::Nothing, "the context")],
        &[result("session", ANY, Infer::Written, "the session")],
        &[],
    ),
    summary: "The session of loads beside the kernel",
    doc: "What `pto.wait_async_event` and `pto.test_async_event` take with the event of a load.",
    ..BESIDE
};
