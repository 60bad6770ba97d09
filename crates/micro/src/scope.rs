//! Vector functions and the order of memory accesses inside them (micro-instruction manual: execution scopes,
//! `mem_bar`).

use slipring_ir::{AttrKind, Diags, OpSchema, Syntax, Touch};
use slipring_machine::Pipe;
use slipring_vector::{Barrier, Step};

use slipring_machine::VectorOp;
use slipring_op::decode::Decoder;
use slipring_op::def::{CoreRule, InCoreSync, Lowered, OpDef, OpRef, PipeRule, Reported, Workitems};
use slipring_op::rules::{ANY, PLAIN, counted, required, schema, variadic};
use slipring_op::{names, ops};

/// The base declaration of vector functions.
const SCOPE: OpDef = OpDef {
    schema: OpSchema { regions: &["body"], ..PLAIN.schema },
    core: CoreRule::Vector,
    pipe: PipeRule::Fixed(Pipe::V),
    in_core_sync: InCoreSync::Manual,
    ..PLAIN
};

ops! {
    OPS [&MEM_BAR];

    /// The body is a program for pipe V: loops over 256-byte registers, predicates, loads from UB and stores to it. The
    /// scalar unit launches it and goes on; what the body uses from around it (pointers, numbers) is passed along.
    /// Everything that works on `!pto.vreg`, `!pto.mask` or `!pto.align` is in such a body, and vector functions do not
    /// nest. If a text has no such body around an instruction, the pass `infer-vecscopes` makes one. A loop
    /// `scf.for … {llvm.loop.aivector_scope}` is a vector function too.
    pub VECSCOPE "pto.vecscope" "A vector function": SCOPE, source: "micro-instruction manual, execution scopes; seed 004",
        verify: |op, _, diags| verify_body(op, diags), lower: |op, d| d.vector_function(|d| body(op, d))
        => { syntax: Syntax::Format("$body attr-dict") };

    /// As `pto.vecscope`, but the body sees only what is passed: argument `i` of its block is input `i`.
    pub STRICT_VECSCOPE "pto.strict_vecscope" "A vector function that names its inputs": SCOPE,
        source: "micro-instruction manual, execution scopes", lower: lower_strict_vecscope,
        verify: |op, _, diags| verify_strict(op, diags)
        => {
            syntax: Syntax::Format("`(` $inputs `)` $body attr-dict `:` `(` type($inputs) `)` `->` `(` `)`"),
            operands: &[variadic("inputs", ANY, Touch::Nothing, "what the body uses from around it")],
        };
}

fn lower_strict_vecscope(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let block = op.module.body(op.id, 0).ok_or(Reported)?;
    for (arg, input) in op.module.block(block).args.iter().zip(op.operands("inputs")) {
        let Some(binding) = d.binding(*input).cloned() else { return Err(Reported) };
        d.bind(*arg, binding);
    }
    d.vector_function(|d| body(op, d))
}

static MEM_BAR: OpDef = OpDef {
    schema: schema(
        names::MEM_BAR,
        Syntax::Format("$type attr-dict"),
        &[],
        &[],
        &[required("type", AttrKind::Str, "which accesses wait for which")],
    ),
    summary: "Order memory accesses inside a vector function",
    doc: "Loads and stores of one vector function that touch the same bytes are not ordered by the hardware. After \
          `VST_VLD` later vector loads see earlier vector stores; `VLD_VST` and `VST_VST` likewise, `VV_ALL` is the three of \
          them. `VS_*` order vector accesses before scalar ones (`VST_LD`, `VLD_ST`, `VST_ST`, `VS_ALL`), `SV_*` scalar ones \
          before vector ones (`ST_VLD`, `LD_VST`, `ST_VST`, `SV_ALL`). A missing barrier is reported as a race; values follow \
          program order. A load before a store needs none if the stored value was computed from what it loaded: in a loop, in \
          the same iteration or in one that carries it on.",
    source: "micro-instruction manual, `mem_bar`; seed 004",
    core: CoreRule::Vector,
    in_vector_function: true,
    verify: |op, _, diags| {
        if barrier(op).is_none() {
            let found = op.text("type").unwrap_or("");
            let names = Barrier::NAMES.join(", ");
            diags.push(
                op.error("mem-bar", format!("no memory barrier is called `{found}`")).help(format!("one of {names}")),
            );
        }
    },
    lower: |op, d| {
        let barrier = barrier(op).ok_or(Reported)?;
        let step = Step::new(names::MEM_BAR, VectorOp::FREE, move |m, _| {
            m.barrier(barrier);
            Ok(0)
        });
        d.step(Step { barrier: Some(barrier), ..step })
    },
    ..PLAIN
};

fn barrier(op: &OpRef<'_>) -> Option<Barrier> {
    op.text("type").and_then(Barrier::parse)
}

fn body(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let block = op.module.body(op.id, 0).ok_or(Reported)?;
    d.block(block).map(drop)
}

fn verify_strict(op: &OpRef<'_>, diags: &mut Diags) {
    verify_body(op, diags);
    let Some(block) = op.module.body(op.id, 0) else { return };
    let (args, inputs) = (op.module.block(block).args.len(), op.operands("inputs").len());
    if args != inputs {
        diags.push(op.error(
            "vecscope-args",
            format!("passes {} to a body with {}", counted(inputs, "value"), counted(args, "argument")),
        ));
    }
}

/// Reports ops of the body that delimit vector functions: synchronisation, caches and fences, and what only workitems do
/// (assembler 0.60, verifier of `pto.vecscope`).
fn verify_body(op: &OpRef<'_>, diags: &mut Diags) {
    let Some(block) = op.module.body(op.id, 0) else { return };
    for id in op.module.walk(block) {
        let Some(inner) = OpRef::of(op.module, id) else { continue };
        let name = inner.def.schema.name;
        if inner.def == &VECSCOPE || inner.def == &STRICT_VECSCOPE {
            diags.push(inner.error("nested-vecscope", "a vector function cannot contain another one"));
            continue;
        }
        let why = if inner.sync().is_some() {
            "it synchronises pipes or cores"
        } else if inner.def.around_vector_functions {
            "it orders accesses around vector functions"
        } else if matches!(inner.def.workitems, Workitems::Inside | Workitems::Launches) {
            "it belongs to workitems"
        } else {
            continue;
        };
        let error = inner.error("in-vecscope", format!("`{name}` cannot be used in a vector function: {why}"));
        diags.push(error.help("put it before or after the vector function"));
    }
}
