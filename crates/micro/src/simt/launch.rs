//! Launches of workitems.

use slipring_ir::function::CALLEE;
use slipring_ir::{AttrKind, AttrSpec, Diags, Syntax, Touch};
use slipring_machine::{Pipe, Platform};
use slipring_op::decode::Decoder;
use slipring_op::def::{CoreRule, InCoreSync, Lowered, OpDef, OpRef, PipeRule, Reported, Workitems};
use slipring_op::names::SIMT_ENTRY;
use slipring_op::rules::{ANY, PLAIN, required, variadic};
use slipring_op::{ops, workitems};
use slipring_program::Operand;

use super::super::memory::given;
use super::number;

/// What prepares or makes a launch. It runs beside other pipes, and the text orders it with them.
const LAUNCH: OpDef = OpDef {
    core: CoreRule::Vector,
    in_core_sync: InCoreSync::Manual,
    workitems: Workitems::Launches,
    source: "micro-instruction manual of assembler 0.60, 17",
    ..PLAIN
};

ops! {
    OPS;

    /// The launches that follow on this core, `func.call`s of functions with `pto.simt_entry`, have `dim_x × dim_y ×
    /// dim_z` workitems: 1 to 2048, and no more than `pto.simt_max_threads` of the function (1024 where it says
    /// nothing). The shape stays until it is set again; a call before it was set is an error of the run. The workitems
    /// of a launch run on pipe V of the Vector core as one piece of work, while the scalar unit goes on: flags order it
    /// with other pipes. Its accesses are the bytes that it touches. Of its duration no source says anything: the
    /// platform assumes cycles for the start, for each instruction of a warp and for each of its accesses.
    STORE_VFSIMT_INFO "pto.store_vfsimt_info" "Set the shape of launches of workitems": LAUNCH, lower: set_shape,
        verify: |op, _, diags| workitems::outside(op, diags)
        => {
            syntax: Syntax::Format(
                "$dim_z `,` $dim_y `,` $dim_x attr-dict `:` type($dim_z) `,` type($dim_y) `,` type($dim_x)",
            ),
            operands: &[
                number("dim_z", "workitems in z"),
                number("dim_y", "workitems in y"),
                number("dim_x", "workitems in x"),
            ],
        };

    /// Sets the shape as `pto.store_vfsimt_info` does, then calls the function.
    SIMT_LAUNCH "pto.simt_launch" "Launch a function for workitems": LAUNCH, pipe: PipeRule::Fixed(Pipe::V),
        lower: lower_launch, verify: verify_launch
        => {
            syntax: Syntax::Format(
                "$callee `` `<` `<` `<` $dim_x `,` $dim_y `,` $dim_z `>` `>` `>` `(` $args `)` attr-dict `:` `(` \
                 type($args) `)` `->` `(` `)`",
            ),
            operands: &[
                number("dim_x", "workitems in x"),
                number("dim_y", "workitems in y"),
                number("dim_z", "workitems in z"),
                variadic("args", ANY, Touch::Nothing, "the arguments of the function"),
            ],
            attrs: &[required(CALLEE, AttrKind::Symbol, "the function: one with `pto.simt_entry`")],
            part: slipring_ir::Part::Call,
        };

    /// The region is the body of the workitems. It uses what is defined around it, and gives nothing back.
    SECTION_SIMT "pto.section.simt" "A body of workitems, launched where it stands": LAUNCH, pipe: PipeRule::Fixed(Pipe::V),
        source: "PTO IR of the public assembler 0.60, pto.section.simt", lower: lower_section, verify: verify_section
        => {
            syntax: Syntax::Format("`<` `<` `<` $dimX `,` $dimY `,` $dimZ `>` `>` `>` $body attr-dict"),
            attrs: &[dim("dimX", "workitems in x"), dim("dimY", "workitems in y"), dim("dimZ", "workitems in z")],
            regions: &["body"],
        };
}

const fn dim(name: &'static str, doc: &'static str) -> AttrSpec {
    required(name, AttrKind::Int, doc)
}

fn set_shape(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (x, y, z) = (given(op, d, "dim_x")?, given(op, d, "dim_y")?, given(op, d, "dim_z")?);
    d.set_launch_shape([x, y, z]);
    Ok(())
}

fn verify_launch(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    workitems::outside(op, diags);
    let name = op.module.callee_name(op.id).unwrap_or("");
    let Some(callee) = op.module.symbol_from(op.id, name) else {
        diags.push(op.error("unknown-function", format!("there is no function `@{name}`")));
        return;
    };
    if !workitems::is_entry(op.module, callee) {
        let error = op.error("simt-entry", format!("`@{name}` is not the body of workitems"));
        diags.push(error.also(op.module.op(callee).span, format!("it has no `{SIMT_ENTRY}`")));
    }
    let Some(ty) = op.module.function_type(callee) else { return };
    if !op.operands("args").iter().map(|value| op.module.ty(*value)).eq(&ty.inputs) {
        let error = op.error("call-types", format!("the arguments are not those of `@{name}`"));
        diags.push(error.also(op.module.op(callee).span, "the function is declared here"));
    }
}

fn lower_launch(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    set_shape(op, d)?;
    let callee = op.module.callee(op.id).ok_or(Reported)?;
    let args = op.operands("args").iter().filter_map(|value| d.binding(*value).cloned()).collect();
    d.launch_function(callee, args)
}

fn verify_section(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    workitems::outside(op, diags);
    if ["dimX", "dimY", "dimZ"].iter().any(|name| op.int(name).is_some_and(|n| n < 0)) {
        diags.push(op.error("simt-shape", "expects the extents of the launch not to be negative"));
    }
}

fn lower_section(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let extent = |name: &str| op.int(name).and_then(|n| u32::try_from(n).ok()).ok_or(Reported);
    let shape = [extent("dimX")?, extent("dimY")?, extent("dimZ")?];
    d.set_launch_shape(shape.map(|n| Operand::Imm(n.into())));
    let body = op.module.body(op.id, 0).ok_or(Reported)?;
    d.launch(slipring_simt::MOST, |d| d.block(body).map(drop))
}
