//! Single elements of memory as scalars (PTO IR manual 4.3 and 4.14).

use slipring_ir::function::VISIBILITY;
use slipring_ir::{Attr, Diags, Infer, Syntax, TileType, Touch, Type, ValueId};
use slipring_machine::{Pipe, Platform};
use slipring_tile::{Elem, Space};

use slipring_effect::{MAX_RANK, past_end};
use slipring_op::decode::{Binding, Decoder, Inside, PlaceInTensor};
use slipring_op::decode::{access, element_address};
use slipring_op::def::{CoreRule, Lowered, OpDef, OpRef, PipeRule, Reported};
use slipring_op::function::is_entry;
use slipring_op::rules::{
    INTEGER, PLAIN, POINTED, SCALAR, TILE, constant, operand, pointee, result, scalar_of, schema,
};
use slipring_op::{ops, workitems};
use slipring_program::Operand;

/// Reads an element of memory as a scalar.
const READ: OpDef = OpDef {
    schema: schema(
        "",
        Syntax::Format("$ptr `[` $offset `]` attr-dict `:` type($ptr) `->` type($value)"),
        &[operand("ptr", POINTED, Touch::Read, "memory"), operand("offset", INTEGER, Touch::Nothing, "which element")],
        &[result("value", SCALAR, Infer::From(pointee), "the element")],
        &[],
    ),
    pipe: PipeRule::Fixed(Pipe::S),
    lower: |op, d| lower_element(op, d, Ends { memory: "ptr", offset: "offset", value: None }),
    ..PLAIN
};
/// Writes a scalar to an element of memory.
const WRITE: OpDef = OpDef {
    schema: schema(
        "",
        Syntax::Format("$value `,` $ptr `[` $offset `]` attr-dict `:` type($ptr) `,` type($value)"),
        &[
            operand("ptr", POINTED, Touch::Write, "memory"),
            operand("offset", INTEGER, Touch::Nothing, "which element"),
            operand("value", SCALAR, Touch::Nothing, "what to write"),
        ],
        &[],
        &[],
    ),
    pipe: PipeRule::Fixed(Pipe::S),
    lower: |op, d| lower_element(op, d, Ends { memory: "ptr", offset: "offset", value: Some("value") }),
    ..PLAIN
};

ops! {
    OPS [&TSETVAL];

    /// The element `offset` elements after `ptr`, as a scalar. The scalar unit waits for it.
    pub LOAD_SCALAR "pto.load_scalar" "Read one element of memory": READ, source: "PTO IR manual 4.3";

    /// Writes `value` to the element `offset` elements after `ptr`.
    pub STORE_SCALAR "pto.store_scalar" "Write one element of memory": WRITE, source: "PTO IR manual 4.3",
        verify: |op, _, diags| same_type(op, "ptr", "value", diags);

    /// The element `offset` elements after `ptr`, whatever the scalar unit's cache holds. The scalar unit waits for it.
    pub LD_DEV "pto.ld_dev" "Read one integer of global memory past the cache": READ,
        source: "micro-instruction manual of assembler 0.60, 18", verify: |op, _, diags| past_the_cache(op, diags);

    /// Writes `value` to the element `offset` elements after `ptr`; the scalar unit's cache does not hold it.
    pub ST_DEV "pto.st_dev" "Write one integer of global memory past the cache": WRITE,
        source: "micro-instruction manual of assembler 0.60, 18", verify: verify_st_dev;

    /// The element at `offset` elements from the address of the tile, as a scalar: in a row-major tile `row × columns +
    /// column`. The scalar unit waits for it.
    pub TGETVAL "pto.tgetval" "Read one element of a tile": PLAIN, source: "PTO IR manual 4.14", core: CoreRule::ByTile,
        pipe: PipeRule::Fixed(Pipe::S), verify: |op, _, diags| verify_tile(op, "src", "offset", diags),
        lower: |op, d| lower_element(op, d, Ends { memory: "src", offset: "offset", value: None })
        => {
            syntax: Syntax::Format(
                "`ins` `(` $src `,` $offset `:` type($src) `,` type($offset) `)` attr-dict `outs` `:` type($value)",
            ),
            operands: &[
                operand("src", TILE, Touch::Read, "the tile, in UB"),
                operand("offset", INTEGER, Touch::Nothing, "which element, counted in the order of memory"),
            ],
            results: &[result("value", SCALAR, Infer::From(pointee), "the element")],
        };
}

fn verify_st_dev(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    same_type(op, "ptr", "value", diags);
    past_the_cache(op, diags);
}

/// Requires accesses that bypass the scalar unit's cache to be of integers in global memory, in the kernel itself.
fn past_the_cache(op: &OpRef<'_>, diags: &mut Diags) {
    let name = op.def.schema.name;
    if workitems::is_inside(op.module, op.id) {
        let message = format!("`{name}` is in a body of workitems: it is an access of the scalar unit");
        diags.push(op.error("in-simt", message).help("`pto.ldg` and `pto.stg` are those of workitems"));
    }
    let mut around = std::iter::successors(op.module.parent_op(op.id), |at| op.module.parent_op(*at));
    let helper = around.find(|at| op.module.is_function(*at)).filter(|at| {
        let private = op.module.op(*at).attrs.get(VISIBILITY).and_then(Attr::as_str) == Some("private");
        private && !is_entry(op.module, *at)
    });
    if let Some(helper) = helper {
        let error = op.error("outside-kernel", format!("`{name}` is in a private function: it belongs into a kernel"));
        diags.push(error.also(op.module.op(helper).span, "the function").help("pass the value on as an argument"));
    }
    let whole = |elem: Elem| !elem.is_float();
    if !matches!(op.ty("ptr"), Some(Type::Ptr(elem, space)) if whole(*elem) && space.unwrap_or(Space::Gm) == Space::Gm)
    {
        let message = format!("`{}` takes a pointer to integers in global memory", op.def.schema.name);
        diags.push(op.error("operand-type", message).help("`pto.load_scalar` and `pto.store_scalar` take others"));
    }
}

pub static TSETVAL: OpDef = OpDef {
    schema: schema(
        "pto.tsetval",
        Syntax::InsOuts { ins: 2, attrs_in_ins: false },
        &[
            operand("offset", INTEGER, Touch::Nothing, "which element, counted in the order of memory"),
            operand("value", SCALAR, Touch::Nothing, "what to write"),
            operand("dst", TILE, Touch::Write, "the tile, in UB"),
        ],
        &[],
        &[],
    )
    .in_generic_form(&["dst", "offset", "value"]),
    summary: "Write one element of a tile",
    doc: "Writes `value` at `offset` elements from the address of the tile: in a row-major tile \
          `row × columns + column`.",
    source: "PTO IR manual 4.14",
    core: CoreRule::ByTile,
    pipe: PipeRule::Fixed(Pipe::S),
    verify: |op, _, diags| {
        verify_tile(op, "dst", "offset", diags);
        same_type(op, "dst", "value", diags);
    },
    lower: |op, d| lower_element(op, d, Ends { memory: "dst", offset: "offset", value: Some("value") }),
    ..PLAIN
};

fn verify_tile(op: &OpRef<'_>, tile: &str, offset: &str, diags: &mut Diags) {
    if let (Some(ty), Some(value)) = (op.tile(tile), op.operand(offset))
        && let Some(at) = constant(op.module, value)
        && !(0..elements(ty) as i64).contains(&at)
    {
        let fault = past_end(at, elements(ty));
        diags.push(op.error(fault.kind, fault.message).also(op.module.value(value).span, "its place is defined here"));
    }
    match op.space(tile) {
        Some(Space::Mat) => {
            diags
                .push(op.error("tile-space", "the scalar unit does not reach tiles in `mat`").help("use a `vec` tile"));
        }
        Some(Space::Vec) | None => {}
        Some(other) => {
            diags.push(op.error("tile-space", format!("expects the tile to use loc=vec, not loc={other}")));
        }
    }
}

/// Requires a value to have the memory's element type.
fn same_type(op: &OpRef<'_>, memory: &str, value: &str, diags: &mut Diags) {
    if let (Some(memory), Some(value)) = (op.ty(memory).and_then(scalar_of), op.ty(value))
        && memory.elem() != value.elem()
    {
        diags.push(op.error("elem-type", "expects the value's type to match the element type of the memory"));
    }
}

/// The operands: memory, offset, and the value of a write.
struct Ends {
    memory: &'static str,
    offset: &'static str,
    value: Option<&'static str>,
}

fn lower_element(op: &OpRef<'_>, d: &mut Decoder<'_>, ends: Ends) -> Lowered {
    let memory = op.operand(ends.memory).ok_or(Reported)?;
    let offset = d.scalar(op.operand(ends.offset).ok_or(Reported)?)?;
    let whole = tensor_of(op, d, memory, offset);
    let mut inside = whole.as_deref().map_or(Inside::Memory, Inside::Tensor);
    let place = match d.binding(memory).cloned() {
        Some(Binding::Tile(tile)) => {
            inside = Inside::Tile(elements(&tile.ty), offset);
            (tile.ty.space, d.role, tile.ty.layout.elem, tile.addr)
        }
        Some(Binding::View(view)) => (view.space, view.core, view.elem, view.base),
        _ => {
            let Type::Ptr(elem, space) = *op.module.ty(memory) else { return Err(Reported) };
            (space.unwrap_or(Space::Gm), d.role, elem, d.scalar(memory)?)
        }
    };
    let address = element_address(d, place.3, offset, place.2);
    let value = ends.value.and_then(|index| op.operand(index)).map(|value| d.scalar(value)).transpose()?;
    access(op, d, (place.0, place.1, place.2), (address, &inside), value);
    Ok(())
}

/// The place in its tensor of the first element of a window, if the memory is one or its address; `None` also for a
/// place that is known to be inside.
fn tensor_of(op: &OpRef<'_>, d: &Decoder<'_>, memory: ValueId, offset: Operand) -> Option<Box<PlaceInTensor>> {
    let made = op.module.defining_op(memory).and_then(|id| op.other(id));
    let window = made.filter(|made| made.def.address_of_view).and_then(|made| made.operand("src"));
    let Some(Binding::View(view)) = d.binding(window.unwrap_or(memory)) else { return None };
    let place = view.place.clone().filter(|place| place.firsts.len() <= MAX_RANK)?;
    let one = vec![Operand::Imm(1); place.firsts.len()];
    (offset == Operand::Imm(0) && !place.holds(&one)).then_some(place)
}

/// The number of elements of the whole tile.
fn elements(tile: &TileType) -> u64 {
    u64::from(tile.layout.rows) * u64::from(tile.layout.cols)
}
