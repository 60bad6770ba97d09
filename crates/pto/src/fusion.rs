//! Groups of operations made by the public assembler's fusion.

use slipring_ir::{Arity, Diags, Flow, Infer, ResultSpec, Syntax, Touch};
use slipring_machine::Platform;
use slipring_op::decode::control;
use slipring_op::def::OpRef;
use slipring_op::ops;
use slipring_op::rules::{ANY, PLAIN, variadic};

ops! {
    OPS;

    /// The ops of the region run once, in order; `pto.yield` says what of them is used after the group. How the public
    /// assembler fuses them changes times and not what they mean: their times here are those of each by itself.
    pub FUSION_REGION "pto.fusion_region" "A group of operations that belong together": PLAIN,
        source: "PTO IR of the public assembler 0.60, pto.fusion_region", verify: verify_fusion_region,
        lower: control::lower_once
        => {
            syntax: Syntax::Format("$body attr-dict `:` type($outputs)"),
            results: &[ResultSpec {
                name: "outputs",
                arity: Arity::Variadic,
                ty: ANY,
                infer: Infer::Written,
                doc: "what is used after the group",
            }],
            regions: &["body"],
            flow: Flow::Once,
        };

    pub FUSION_YIELD "pto.yield" "End of a group": PLAIN, doc: "",
        source: "PTO IR of the public assembler 0.60, pto.yield", verify: verify_fusion_yield,
        lower: control::lower_yield
        => {
            syntax: Syntax::Format("`(` $values `)` attr-dict `:` `(` type($values) `)` `->` `(` `)`"),
            operands: &[variadic("values", ANY, Touch::Nothing, "what is used after the group")],
            terminator: true,
        };
}

fn verify_fusion_region(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    let args = op.module.body(op.id, 0).map_or(0, |body| op.module.block(body).args.len());
    if args > 0 {
        diags.push(op.error("fusion-region", "expects a group without arguments"));
    }
    let ends = op.module.body(op.id, 0).and_then(|body| op.module.block(body).ops.last().copied());
    let end = ends.and_then(|end| op.other(end)).filter(|end| end.def == &FUSION_YIELD);
    let Some(end) = end else {
        return diags.push(op.error("fusion-region", "expects the group to end in `pto.yield`"));
    };
    let given: Vec<_> = end.operands("values").iter().map(|value| op.module.ty(*value)).collect();
    let own: Vec<_> = op.module.op(op.id).results.iter().map(|value| op.module.ty(*value)).collect();
    if given != own {
        let error = op.error("fusion-region", "expects `pto.yield` to give values of the types of the group's results");
        diags.push(error.also(end.span(), "it gives these"));
    }
}

fn verify_fusion_yield(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    let around = op.module.parent_op(op.id).and_then(|outer| op.other(outer));
    if around.is_none_or(|outer| outer.def != &FUSION_REGION) {
        diags.push(op.error("fusion-region", "expects to be inside a `pto.fusion_region`"));
    }
}
