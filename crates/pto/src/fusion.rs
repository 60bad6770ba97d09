//! Groups of operations that the public assembler's fusion put together.

use slipring_ir::{Arity, Flow, Infer, OpSchema, ResultSpec, Syntax, Touch};
use slipring_op::decode::control;
use slipring_op::def::OpDef;
use slipring_op::rules::{ANY, PLAIN, schema, variadic};

/// The ops of this family.
pub(crate) const OPS: &[&OpDef] = &[&FUSION_REGION, &FUSION_YIELD];

pub static FUSION_REGION: OpDef = OpDef {
    schema: OpSchema {
        regions: &["body"],
        flow: Flow::Once,
        ..schema(
            "pto.fusion_region",
            Syntax::Format("$body attr-dict `:` type($outputs)"),
            &[],
            &[ResultSpec {
                name: "outputs",
                arity: Arity::Variadic,
                ty: ANY,
                infer: Infer::Written,
                doc: "what is used after the group",
            }],
            &[],
        )
    },
    summary: "A group of operations that belong together",
    doc: "The ops of the region run once, in order; `pto.yield` says what of them is used after the group. How the public assembler \
          fuses them changes times and not what they mean: their times here are those of each by itself.",
    source: "PTO IR of the public assembler 0.60, pto.fusion_region",
    verify: |op, _, diags| {
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
            let error =
                op.error("fusion-region", "expects `pto.yield` to give values of the types of the group's results");
            diags.push(error.also(end.span(), "it gives these"));
        }
    },
    lower: control::lower_once,
    ..PLAIN
};

pub static FUSION_YIELD: OpDef = OpDef {
    schema: OpSchema {
        terminator: true,
        ..schema(
            "pto.yield",
            Syntax::Format("`(` $values `)` attr-dict `:` `(` type($values) `)` `->` `(` `)`"),
            &[variadic("values", ANY, Touch::Nothing, "what is used after the group")],
            &[],
            &[],
        )
    },
    summary: "End of a group",
    doc: "",
    source: "PTO IR of the public assembler 0.60, pto.yield",
    verify: |op, _, diags| {
        let around = op.module.parent_op(op.id).and_then(|outer| op.other(outer));
        if around.is_none_or(|outer| outer.def != &FUSION_REGION) {
            diags.push(op.error("fusion-region", "expects to stand in a `pto.fusion_region`"));
        }
    },
    lower: control::lower_yield,
    ..PLAIN
};
