//! Elements of memory that workitems load and store.

use slipring_ir::{AttrKind, AttrSpec, Diags, EnumSpec, Infer, Syntax, Touch};
use slipring_machine::{Pipe, Platform};
use slipring_op::decode::{Binding, Decoder, Inside, access, element_address};
use slipring_op::def::{CoreRule, Lowered, OpDef, OpRef, PipeRule, Workitems};
use slipring_op::rules::{INTEGER, POINTED, defaulted, operand, pointee, result, scalar_of, schema};
use slipring_op::{ops, workitems};
use slipring_program::Operand;
use slipring_simt::{Act, Cell};
use slipring_tile::Space;

use super::super::memory::{GM, given, memory};
use super::{VALUE, WORK, scalars};

const READ: OpDef = OpDef {
    schema: schema(
        "",
        Syntax::Format("$ptr `[` $offset `]` attr-dict `:` type($ptr) `->` type($value)"),
        &[operand("ptr", POINTED, Touch::Read, "memory"), operand("offset", INTEGER, Touch::Nothing, "which element")],
        &[result("value", VALUE, Infer::From(pointee), "the element")],
        &[],
    ),
    core: CoreRule::Any,
    workitems: Workitems::Both,
    pipe: PipeRule::By(pipe),
    verify: |op, _, diags| verify(op, false, diags),
    lower: |op, d| lower(op, d, None),
    ..WORK
};

const WRITE: OpDef = OpDef {
    schema: schema(
        "",
        Syntax::Format("$value `,` $ptr `[` $offset `]` attr-dict `:` type($ptr) `,` type($value)"),
        &[
            operand("ptr", POINTED, Touch::Write, "memory"),
            operand("offset", INTEGER, Touch::Nothing, "which element"),
            operand("value", VALUE, Touch::Nothing, "what to write"),
        ],
        &[],
        &[],
    ),
    lower: |op, d| lower(op, d, Some("value")),
    ..READ
};

const L1: EnumSpec = EnumSpec { kind: "l1cache", numbered: false, members: &["cache", "uncache"] };
const LOADS: EnumSpec = EnumSpec {
    kind: "ld_l2cache",
    numbered: false,
    members: &[
        "nmfv", "nmlv", "nmprs", "nmpref", "nakeep", "naclean", "nadrop", "idsfv", "idslv", "idsprs", "idspref",
        "exfv", "exlv", "exprs", "expref",
    ],
};
const STORES: EnumSpec = EnumSpec {
    kind: "st_l2cache",
    numbered: false,
    members: &[
        "nmfv", "nmlv", "nmprs", "nmred", "naci", "napw", "napi", "nared", "wbhfv", "wbhlv", "wbhprs", "wbhred",
        "wtsfv", "wtslv", "wtsprs", "wtsred",
    ],
};

const L1_CACHE: AttrSpec =
    defaulted("l1cache", AttrKind::Enum(&L1), "whether the first cache keeps it; changes nothing here");
const LOAD_CACHE: AttrSpec =
    defaulted("l2cache", AttrKind::Enum(&LOADS), "what the second cache does; changes nothing here");
/// What the second cache does with a store or an atomic change.
pub(super) const STORE_CACHE: AttrSpec =
    defaulted("l2cache", AttrKind::Enum(&STORES), "what the second cache does; changes nothing here");

ops! {
    OPS;

    /// The element `offset` elements after `ptr`, in global memory or UB. In a body of workitems each workitem loads one
    /// of its own; an address must be a multiple of the element's bytes there. Outside, the scalar unit waits for it, as
    /// for `pto.load_scalar`.
    LOAD "pto.load" "Read one element of memory": READ;

    /// Writes `value` to the element `offset` elements after `ptr`, in global memory or UB. Two workitems that touch the
    /// same byte without `pto.syncthreads` between, one of them writing, are a race, also where both write the same
    /// value.
    STORE "pto.store" "Write one element of memory": WRITE;

    /// As `pto.load`, from global memory, in a body of workitems. What the caches do is read and changes nothing here:
    /// values are always those of memory.
    LDG "pto.ldg" "Read one element of global memory past or through caches": READ, core: CoreRule::Vector,
        workitems: Workitems::Inside, verify: |op, _, diags| verify(op, true, diags)
        => {
            syntax: Syntax::Format(
                "$ptr `[` $offset `]` (`l1cache` `(` keyword($l1cache) `)`)? (`l2cache` `(` keyword($l2cache) `)`)? \
                 attr-dict `:` type($ptr) `->` type($value)",
            ),
            operands: &[operand("ptr", GM, Touch::Read, "global memory"), READ.schema.operands[1]],
            attrs: &[L1_CACHE, LOAD_CACHE],
        };

    /// As `pto.store`, to global memory, in a body of workitems. What the caches do is read and changes nothing here.
    STG "pto.stg" "Write one element of global memory past or through caches": WRITE, core: CoreRule::Vector,
        workitems: Workitems::Inside, verify: |op, _, diags| verify(op, true, diags)
        => {
            syntax: Syntax::Format(
                "$value `,` $ptr `[` $offset `]` (`l1cache` `(` keyword($l1cache) `)`)? (`l2cache` `(` keyword($l2cache) \
                 `)`)? attr-dict `:` type($ptr) `,` type($value)",
            ),
            operands: &[
                operand("ptr", GM, Touch::Write, "global memory"),
                WRITE.schema.operands[1],
                WRITE.schema.operands[2],
            ],
            attrs: &[L1_CACHE, STORE_CACHE],
        };
}

/// In a launch it is a part of the work of pipe V; elsewhere the scalar unit does it.
fn pipe(op: &OpRef<'_>, _: &Platform) -> Pipe {
    if workitems::is_inside(op.module, op.id) { Pipe::V } else { Pipe::S }
}

fn verify(op: &OpRef<'_>, only_inside: bool, diags: &mut Diags) {
    if only_inside {
        workitems::inside(op, diags);
    }
    let stored = op.if_declared("value").or_else(|| op.module.op(op.id).results.first().copied());
    let Some(value) = stored.map(|value| op.module.ty(value)) else { return };
    if scalars::packed(op, value, diags) {
        return;
    }
    if op.ty("ptr").and_then(scalar_of).and_then(|ty| ty.elem()) != value.elem() {
        diags.push(op.error("elem-type", "expects the value's type to match the element type of the memory"));
    }
    if !matches!(op.space("ptr").unwrap_or(Space::Gm), Space::Gm | Space::Vec) {
        diags.push(op.error("pointer-space", format!("`{}` takes global memory or UB", op.def.schema.name)));
    }
}

fn lower(op: &OpRef<'_>, d: &mut Decoder<'_>, value: Option<&str>) -> Lowered {
    let at = memory(op, d, "ptr")?;
    let offset = given(op, d, "offset")?;
    let address = element_address(d, at.addr, offset, at.elem);
    let value = value.map(|name| given(op, d, name)).transpose()?;
    if !d.in_launch() {
        access(op, d, (at.space, at.core, at.elem), (address, &Inside::Memory), value);
        return Ok(());
    }
    let cell = Cell { space: at.space, elem: at.elem };
    let args: Vec<Operand> = std::iter::once(address).chain(value).collect();
    match value {
        None => {
            let read = d.workitem_step(Act::Load(cell), &args, true)?;
            d.bind(op.result(0), Binding::Scalar(read));
            Ok(())
        }
        Some(_) => d.workitem_step(Act::Store(cell), &args, false).map(drop),
    }
}
