//! Asynchronous loads into the cache, which change no bytes that a program can observe.

use slipring_ir::{Diags, Dim, Infer, Syntax, Touch, Type};
use slipring_op::decode::{Binding, Decoder};
use slipring_op::def::{Lowered, OpDef, OpRef};
use slipring_op::rules::{ANY, PLAIN, VIEW, operand, result};
use slipring_op::{ops, positional};

ops! {
    OPS;

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
    /// cost of their own, so what it saves is not seen. What is loaded is one line of a known length.
    pub TPREFETCH_ASYNC "pto.tprefetch_async" "Load into the cache beside the kernel": BESIDE,
        verify: |op, _, diags| in_one_line(op, diags)
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

/// Requires a view of which only the last extent may be more than 1, all of them known (assembler 0.60).
fn in_one_line(op: &OpRef<'_>, diags: &mut Diags) {
    let Some(Type::TensorView(view) | Type::PartitionView(view)) = op.ty("src") else { return };
    let Some((last, outer)) = view.dims.split_last() else { return };
    if last.known().is_none() || outer.iter().any(|dim| *dim != Dim::Static(1)) {
        let error = op.error("operand-type", "expects src to be one line of a known length");
        diags.push(error.help("take lines one by one with `pto.partition_view`"));
    }
}
