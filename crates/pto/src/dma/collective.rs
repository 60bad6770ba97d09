//! Ops that are only known by name and form: quantisation of whole blocks, which is rejected as not modelled, and
//! asynchronous loads into the cache, which change no bytes that a program can observe.

use slipring_ir::{AttrKind, Infer, Syntax, Touch};
use slipring_op::decode::{Binding, Decoder};
use slipring_op::def::{Lowered, OpDef, OpRef, Reported};
use slipring_op::rules::{ANY, PLAIN, TILE, VIEW, defaulted, operand, optional, required, result};
use slipring_op::{ops, positional};

const NOT_MODELLED: OpDef = OpDef {
    doc: "Known by name and form; it cannot be run yet: a text with it is refused.",
    source: "PTO IR of the public assembler 0.60",
    verify: |op, _, diags| {
        diags.push(op.error(slipring_ir::Kind::Unsupported, format!("`{}` is not modelled", op.def.schema.name)))
    },
    lower: |_, _| Err(Reported),
    ..PLAIN
};

ops! {
    OPS;

    pub TQUANT_MX "pto.tquant.mx" "Quantise blocks to short floats with shared exponents": NOT_MODELLED
        => {
            syntax: Syntax::InsOuts { ins: 1, attrs_in_ins: false },
            operands: &[
                operand("src", TILE, Touch::Read, "what is quantised"),
                operand("dst", TILE, Touch::Write, "the short floats"),
                operand("exp", TILE, Touch::Write, "the exponents"),
                operand("max", TILE, Touch::Write, "the largest number of each block"),
                operand("scaling", TILE, Touch::Write, "the scales"),
                optional("exp_zz", TILE, Touch::Write, "the exponents as the matrix unit reads them"),
            ],
            attrs: &[
                required("quant_type", AttrKind::Any, "the short float"),
                defaulted("quantScaleAlg", AttrKind::Any, "how scales are found"),
                defaulted("storeMode", AttrKind::Any, "the order of exponents"),
                defaulted("grpAxis", AttrKind::Any, "along which axis blocks lie"),
                defaulted("interleave", AttrKind::Bool, "whether exponents alternate"),
            ],
        };

    /// A context for `pto.tprefetch_async`. What the unit keeps in its memory is not modelled.
    pub MAKE_PREFETCH_CONTEXT "pto.make_prefetch_async_context"
        "Prepare loads into the cache beside the kernel": BESIDE
        => {
            syntax: Syntax::Format("`(` $workspace `:` type($workspace) `)` attr-dict `->` type($context)"),
            operands: &[
                operand("workspace", ANY, Touch::Nothing, "global memory that the unit for it works in, and nothing else"),
            ],
            results: &[result("context", ANY, Infer::Written, "the context")],
        };

    /// No byte of global memory changes by it, and later loads read the same. It takes no time here: caches have no
    /// cost of their own, so what it saves is not seen.
    pub TPREFETCH_ASYNC "pto.tprefetch_async" "Load into the cache beside the kernel": BESIDE
        => {
            syntax: Syntax::Format("`(` $src `,` $context `:` type($src) `,` type($context) `)` attr-dict `->` type($event)"),
            operands: &[
                operand("src", VIEW, Touch::Nothing, "what is loaded"),
                operand("context", ANY, Touch::Nothing, "the context"),
            ],
            results: &[result("event", ANY, Infer::Written, "completes with the load")],
        };

    /// What `pto.wait_async_event` and `pto.test_async_event` take with the event of a load.
    pub PREFETCH_SESSION "pto.get_prefetch_async_session" "The session of loads beside the kernel": BESIDE
        => {
            syntax: positional!("context" => "session"),
            operands: &[operand("context", ANY, Touch::Nothing, "the context")],
            results: &[result("session", ANY, Infer::Written, "the session")],
        };
}

/// The base of asynchronous loads into the cache: they change no bytes.
const BESIDE: OpDef = OpDef {
    source: "PTO IR of the public assembler 0.60; tile ISA, TPREFETCH_ASYNC",
    lower: nothing_at_run_time,
    ..PLAIN
};

fn nothing_at_run_time(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    d.bind(op.result(0), Binding::Handle(0));
    Ok(())
}
