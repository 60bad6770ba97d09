//! Pointers and views of global memory (PTO IR manual 4.1).

use slipring_ir::text::{CustomSyntax, OpParser, OpPrinter, Parsed, Tok};
use slipring_ir::{
    AttrKind, Diagnostic, Diags, Dim, Infer, Module, OpId, Severity, Syntax, Touch, Type, TypeRule, ValueId, ViewType,
};
use slipring_machine::Platform;
use slipring_program::Operand;
use slipring_tile::Space;
use smallvec::SmallVec;

use crate::{LOAD_SCALAR, STORE_SCALAR};
use slipring_effect::MAX_RANK;
use slipring_op::decode::{Binding, Decoder, PlaceInTensor, ViewRef};
use slipring_op::def::{FromZero, Lowered, OpRef, Reported};
use slipring_op::rules::{
    INTEGER, LAYOUT, PLAIN, POINTED, POINTER, TENSOR_VIEW, constant, defaulted, operand, result, variadic,
};
use slipring_op::{ops, positional};

const PARTITION: TypeRule = TypeRule { describe: "a partition view", accepts: |t| matches!(t, Type::PartitionView(_)) };

const ANY_VIEW: TypeRule = TypeRule {
    describe: "a view of global memory",
    accepts: |t| matches!(t, Type::TensorView(_) | Type::PartitionView(_)),
};

ops! {
    OPS;

    /// The address of element `offset` after `ptr`. The offset counts elements, not bytes.
    pub ADDPTR "pto.addptr" "Move a pointer by a number of elements": PLAIN, source: "PTO IR manual 4.1",
        lower: lower_addptr
        => {
            syntax: Syntax::Format("$ptr `,` $offset attr-dict `:` type($ptr) `->` type($result)"),
            operands: &[
                operand("ptr", POINTER, Touch::Nothing, "pointer to start from"),
                operand("offset", INTEGER, Touch::Nothing, "elements to go on, perhaps negative"),
            ],
            results: &[result("result", POINTER, Infer::SameAs(0), "pointer to element `offset`")],
        };

    /// The number depends on where buffers lie: what a kernel makes of it may differ from device to device.
    pub PTR_TO_INT "pto.ptrtoint" "The address of a pointer to global memory, in bytes": PLAIN,
        source: "PTO IR of the public assembler 0.60, pto.ptrtoint", lower: same_number
        => {
            syntax: positional!("ptr" => "result"),
            operands: &[operand("ptr", GM_POINTER, Touch::Nothing, "the pointer")],
            results: &[result("result", INTEGER, Infer::Fixed(|| Type::I64), "its address in bytes")],
        };

    /// What lies there is read by `pto.load_scalar` and written by `pto.store_scalar`, and by nothing else.
    pub INT_TO_PTR "pto.inttoptr" "A pointer to an address in global memory": PLAIN,
        source: "PTO IR of the public assembler 0.60, pto.inttoptr", verify: verify_int_to_ptr, lower: same_number
        => {
            syntax: positional!("addr" => "result"),
            operands: &[operand("addr", ADDRESS_NUMBER, Touch::Nothing, "the address in bytes")],
            results: &[result("result", GM_POINTER, Infer::Written, "the pointer")],
        };

    /// A tensor of up to 5 dimensions at `ptr`: element `(i, j, …)` lies `i × strides[0] + j × strides[1] + …` elements
    /// after it. Nothing is moved or allocated. `layout` says how more than two dimensions fold into the rows and
    /// columns of a tile: `nd` (the default) takes the last one as columns and all others as rows, `dn` the last but
    /// one as rows and all others as columns, `nz` the third and second from the end as rows and all others as columns.
    /// Tensors of the scales of a left operand (`mx_a_zz`: pieces of 16 rows by 2 groups, `mx_a_nd`, `mx_a_dn`) and of
    /// a right one (`mx_b_nn`, `mx_b_nd`, `mx_b_dn`) have pairs of groups last; two dimensions of `mx_a_zz` and
    /// `mx_b_nn` are rows and columns of a packed tensor, loaded as a whole.
    pub MAKE_TENSOR_VIEW "pto.make_tensor_view" "Look at global memory as a tensor": PLAIN, source: "PTO IR manual 4.1",
        verify: verify_make, lower: lower_make_tensor_view
        => {
            syntax: Syntax::Format(
                "$ptr `,` `shape` `=` `[` $shape `]` `,` `strides` `=` `[` $strides `]` attr-dict `:` type($view)",
            ),
            operands: &[
                operand("ptr", POINTED, Touch::Nothing, "address of the first element"),
                variadic("shape", INTEGER, Touch::Nothing, "extent of each dimension, outermost first, in elements"),
                variadic("strides", INTEGER, Touch::Nothing, "distance of neighbours in each dimension, in elements"),
            ],
            results: &[result("view", TENSOR_VIEW, Infer::Written, "the view")],
            attrs: &[
                defaulted(ORDER, AttrKind::Enum(LAYOUT), "`nd` rows, `dn` columns, `nz` fractals are what is contiguous"),
            ],
        };

    /// The extent of dimension `dim` of a view, in elements; 0 for a dimension that it does not have.
    pub GET_TENSOR_VIEW_DIM "pto.get_tensor_view_dim" "The extent of a dimension of a view": PLAIN,
        from_zero: FromZero::Always, source: "PTO IR manual 4.1", lower: lower_get_tensor_view_dim
        => {
            syntax: Syntax::Format("$view `,` $dim attr-dict `:` type($view) `->` type($size)"),
            operands: &[
                operand("view", ANY_VIEW, Touch::Nothing, "the view"),
                operand("dim", INTEGER, Touch::Nothing, "which dimension, 0 the outermost"),
            ],
            results: &[result("size", INTEGER, Infer::Fixed(|| Type::Index), "its extent in elements")],
        };

    /// How many elements after each other two neighbours in dimension `dim` of a view lie; 0 for a dimension that it
    /// does not have.
    pub GET_TENSOR_VIEW_STRIDE "pto.get_tensor_view_stride"
        "The distance of neighbours in a dimension of a view": PLAIN, source: "PTO tile instruction SPEC 3",
        lower: lower_get_tensor_view_stride
        => {
            syntax: Syntax::Format("$view `,` $dim attr-dict `:` type($view) `->` type($stride)"),
            operands: &[
                operand("view", VIEW_OR_MEMREF, Touch::Nothing, "the view"),
                operand("dim", INTEGER, Touch::Nothing, "which dimension, 0 the outermost"),
            ],
            results: &[
                result("stride", INTEGER, Infer::Fixed(|| Type::Index), "how far apart neighbours are, in elements"),
            ],
        };

    /// A pointer to the first element of a view or a window in global memory, or a memref with its dimensions and
    /// strides. Nothing moves.
    pub TENSOR_VIEW_ADDR "pto.tensor_view_addr" "The address of a view": PLAIN, source: "PTO tile instruction SPEC 3",
        verify: verify_tensor_view_addr, lower: lower_tensor_view_addr, address_of_view: true
        => {
            syntax: positional!("src" => "result"),
            operands: &[operand("src", VIEW_OR_MEMREF, Touch::Nothing, "the view")],
            results: &[
                result("result", POINTED, Infer::Written, "a pointer to its first element, or the same memory as a memref"),
            ],
        };

    /// The part of a tensor from `offsets` on, `sizes` elements in each dimension. Strides and layout are the tensor's.
    /// The window has the dimensions of the tensor; its type may have others, which then say how many elements it has.
    /// Nothing is moved. A window at constants must lie inside the extents that the type of the tensor says; of others
    /// the bytes that are touched must lie inside the buffer.
    pub PARTITION_VIEW "pto.partition_view" "A window of a tensor": PLAIN, source: "PTO IR manual 4.1",
        verify: verify_partition_view, lower: lower_partition, window: true
        => {
            syntax: Syntax::Custom(&PartitionText),
            operands: &[
                operand("source", ANY_VIEW, Touch::Nothing, "the tensor"),
                variadic("offsets", INTEGER, Touch::Nothing, "first index in each dimension"),
                variadic("sizes", INTEGER, Touch::Nothing, "extent in each dimension, in elements"),
            ],
            results: &[result("window", PARTITION, Infer::Written, "the window")],
        };
}

fn lower_addptr(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (ptr, offset) = (op.operand("ptr").ok_or(Reported)?, op.operand("offset").ok_or(Reported)?);
    let elem = op.module.ty(ptr).elem().ok_or(Reported)?;
    let (base, offset) = (d.scalar(ptr)?, d.scalar(offset)?);
    let bytes = d.distance(offset, Operand::Imm(elem.bytes() as u64));
    let address = d.moved(base, bytes);
    d.bind(op.result(0), Binding::Scalar(address));
    Ok(())
}

fn verify_int_to_ptr(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    let result = op.result(0);
    let users = op.module.walk(op.module.top).into_iter().filter(|id| op.module.op(*id).operands.contains(&result));
    let scalar = |id: &OpId| op.other(*id).is_some_and(|user| user.def == &LOAD_SCALAR || user.def == &STORE_SCALAR);
    let mut others = users.filter(|id| !scalar(id));
    if let Some(other) = others.next() {
        diags.push(
            op.error("pointer-use", "expects a pointer made of a number to be read or written by scalars only")
                .also(op.module.op(other).span, "it is used here"),
        );
    }
}

fn lower_make_tensor_view(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let base = address(d, op.operand("ptr").ok_or(Reported)?)?;
    let Type::TensorView(ty) = op.module.ty(op.result(0)) else { return Err(Reported) };
    let (dims, strides) = (numbers(d, op.operands("shape"))?, numbers(d, op.operands("strides"))?);
    let layout = layout_of(op);
    // A pointer that is moved, or that of a window, is not the start of a buffer.
    let origin = op.operand("ptr").and_then(|ptr| op.module.defining_op(ptr)).and_then(|id| op.other(id));
    let is_part = origin.is_some_and(|made| made.def.address_of_view || std::ptr::eq(made.def, &ADDPTR));
    let place = PlaceInTensor::whole(&dims, is_part);
    let view = ViewRef { elem: ty.elem, space: Space::Gm, core: d.role, base, dims, strides, layout, place };
    d.bind(op.result(0), Binding::View(view));
    Ok(())
}

fn lower_get_tensor_view_dim(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let view = d.view(op.operand("view").ok_or(Reported)?)?;
    of_a_dimension(op, d, &view.dims)
}

fn lower_get_tensor_view_stride(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let view = d.view(op.operand("view").ok_or(Reported)?)?;
    of_a_dimension(op, d, &view.strides)
}

fn verify_tensor_view_addr(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    let result = op.module.ty(op.result(0));
    if op.ty("src").and_then(Type::elem) != result.elem() {
        diags.push(op.error("view-type", "expects the result to have the element type of the view"));
    }
    if result.space().is_some_and(|space| space != Space::Gm) {
        diags.push(op.error("pointer-space", "expects a result in global memory"));
    }
}

fn lower_tensor_view_addr(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let view = d.view(op.operand("src").ok_or(Reported)?)?;
    let binding = match op.module.ty(op.result(0)) {
        Type::MemRef(_) => Binding::View(view),
        _ => Binding::Scalar(view.base),
    };
    d.bind(op.result(0), binding);
    Ok(())
}

fn verify_partition_view(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    if let (Some(Type::TensorView(source) | Type::PartitionView(source)), Type::PartitionView(window)) =
        (op.ty("source"), op.module.ty(op.result(0)))
    {
        rank(op, source, &[(1, "offsets"), (2, "sizes")], diags);
        inside_of_the_tensor(op, source, diags);
        if source.elem != window.elem {
            diags.push(op.error("view-type", "expects the window to have the element type of its source"));
        }
        if source.dims.len() == window.dims.len() {
            same_extents(op, window, op.operands("sizes"), diags);
        } else {
            same_count(op, window, op.operands("sizes"), diags);
        }
    }
}

const ADDRESS_NUMBER: TypeRule = TypeRule { describe: "an i64", accepts: |t| *t == Type::I64 };

const GM_POINTER: TypeRule = TypeRule {
    describe: "a pointer to global memory",
    accepts: |t| matches!(t, Type::Ptr(_, space) if space.unwrap_or(Space::Gm) == Space::Gm),
};

/// Binds the result to the operand's scalar.
fn same_number(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let value = d.scalar(*op.module.op(op.id).operands.first().ok_or(Reported)?)?;
    d.bind(op.result(0), Binding::Scalar(value));
    Ok(())
}

/// The address of a pointer or memref.
fn address(d: &mut Decoder<'_>, value: ValueId) -> Result<Operand, Reported> {
    match d.binding(value) {
        Some(Binding::View(view)) => Ok(view.base),
        _ => d.scalar(value),
    }
}

/// The scalars of some values.
pub(super) fn numbers(d: &mut Decoder<'_>, values: &[ValueId]) -> Result<SmallVec<[Operand; 5]>, Reported> {
    values.iter().map(|value| d.scalar(*value)).collect()
}

fn verify_make(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    let Type::TensorView(view) = op.module.ty(op.result(0)) else { return };
    if op.ty("ptr").and_then(Type::elem) != Some(view.elem) {
        diags.push(op.error("view-type", "expects the pointer's element type to match the element type of the view"));
    }
    rank(op, view, &[(1, "shape"), (2, "strides")], diags);
    same_extents(op, view, op.operands("shape"), diags);
}

/// Reports operand lists whose length is not the rank of the view.
fn rank(op: &OpRef<'_>, view: &ViewType, lists: &[(usize, &str)], diags: &mut Diags) {
    let rank = view.dims.len();
    if !(1..=MAX_RANK).contains(&rank) {
        diags.push(op.error("view-rank", format!("a view has 1 to {MAX_RANK} dimensions, not {rank}")));
    }
    for (index, name) in lists {
        let count = op.operands(*index).len();
        if count != rank {
            diags.push(
                op.error("view-rank", format!("expects {name} operand count ({count}) to match the rank ({rank})")),
            );
        }
    }
}

/// Reports constant extents that contradict the view's type.
fn same_extents(op: &OpRef<'_>, view: &ViewType, extents: &[ValueId], diags: &mut Diags) {
    for (dim, (value, declared)) in extents.iter().zip(&view.dims).enumerate() {
        if let (Some(n), Some(declared)) = (constant(op.module, *value), declared.known())
            && u64::try_from(n) != Ok(declared)
        {
            diags.push(
                op.error("view-shape", format!("dimension {dim} of the view is {n}, its type says {declared}"))
                    .also(op.module.value(*value).span, "the extent is defined here"),
            );
        }
    }
}

/// Warns of constant extents whose number of elements differs from that of a type of another rank: the extents count.
fn same_count(op: &OpRef<'_>, view: &ViewType, extents: &[ValueId], diags: &mut Diags) {
    let known = |value: &ValueId| constant(op.module, *value).and_then(|n| u64::try_from(n).ok());
    let count = extents.iter().try_fold(1u64, |all, value| all.checked_mul(known(value)?));
    let declared = view.dims.iter().try_fold(1u64, |all, dim| all.checked_mul(dim.known()?));
    if let (Some(count), Some(declared)) = (count, declared)
        && count != declared
    {
        let message = format!("the window has {count} elements, its type says {declared}: the sizes count");
        diags.push(Diagnostic { severity: Severity::Warning, ..op.error("view-shape", message) });
    }
}

/// Binds the result to the entry of the dimension that the op selects; 0 if there is none.
fn of_a_dimension(op: &OpRef<'_>, d: &mut Decoder<'_>, numbers: &[Operand]) -> Lowered {
    let index = d.scalar(op.operand("dim").ok_or(Reported)?)?;
    let mut found = Operand::Imm(0);
    for (at, number) in numbers.iter().enumerate() {
        let args = [index, Operand::Imm(at as u64), *number];
        let part = d.compute(|[index, at, number]| Ok(if index == at { number } else { 0 }), args);
        found = d.add(found, part);
    }
    d.bind(op.result(0), Binding::Scalar(found));
    Ok(())
}

const VIEW_OR_MEMREF: TypeRule = TypeRule {
    describe: "a view of global memory",
    accepts: |t| (ANY_VIEW.accepts)(t) || matches!(t, Type::MemRef(m) if m.space.unwrap_or(Space::Gm) == Space::Gm),
};

/// `%tensor, offsets = [%a, %b], sizes = [%c, %d] : T -> T`. Without `-> T` the extents are the sizes, `?` if they are
/// not constants.
struct PartitionText;

impl CustomSyntax for PartitionText {
    fn parse(&self, parser: &mut OpParser<'_>, op: OpId) -> Parsed<()> {
        let source = parser.operand()?;
        let mut lists = [Vec::new(), Vec::new()];
        for (list, name) in lists.iter_mut().zip(["offsets", "sizes"]) {
            parser.expect(Tok::Comma, "`,`")?;
            parser.expect_text(name)?;
            parser.expect(Tok::Equal, "`=`")?;
            parser.expect(Tok::LBracket, "`[`")?;
            parser.list_until(Tok::RBracket, "`]`", |p| {
                list.push(p.operand()?);
                Ok(())
            })?;
        }
        let [offsets, sizes] = lists;
        parser.attr_dict(op)?;
        parser.set_operands(op, &[&[source], &offsets, &sizes]);
        parser.expect(Tok::Colon, "`:` and the type of the tensor")?;
        parser.operand_type(source)?;
        let inferred = window_type(parser.module, source, &sizes);
        let ty = match (parser.eat(Tok::Arrow), inferred) {
            (true, _) => parser.parse_type()?,
            (false, Some(ty)) => ty,
            (false, None) => return Err(parser.expected("`->` and the type of the window")),
        };
        parser.add_result(op, ty);
        Ok(())
    }

    fn print(&self, printer: &mut OpPrinter<'_>, op: OpId) {
        let module = printer.module;
        let source = module.operands_named(op, "source");
        printer.write(" ");
        printer.values(source);
        for name in ["offsets", "sizes"] {
            printer.write(&format!(", {name} = ["));
            printer.values(module.operands_named(op, name));
            printer.write("]");
        }
        printer.attr_dict(op, &[]);
        printer.write(" : ");
        printer.types_of(source);
        printer.write(" -> ");
        printer.result_types_of(&module.op(op).results);
    }
}

/// The type of a window if the text does not specify one.
fn window_type(module: &Module, source: ValueId, sizes: &[ValueId]) -> Option<Type> {
    let (Type::TensorView(view) | Type::PartitionView(view)) = module.ty(source) else { return None };
    let dim = |size: &ValueId| match constant(module, *size).map(u64::try_from) {
        Some(Ok(n)) => Dim::Static(n),
        _ => Dim::Dynamic,
    };
    Some(Type::PartitionView(ViewType { dims: sizes.iter().map(dim).collect(), ..view.clone() }))
}

/// Reports a constant window that exceeds the extents in the type of its tensor.
fn inside_of_the_tensor(op: &OpRef<'_>, tensor: &ViewType, diags: &mut Diags) {
    let known = |name, dim: usize| op.operands(name).get(dim).and_then(|value| constant(op.module, *value));
    for (dim, extent) in tensor.dims.iter().enumerate() {
        let (offset, size) = (known("offsets", dim).unwrap_or(0), known("sizes", dim).unwrap_or(0));
        let beyond =
            extent.known().is_some_and(|all| offset.saturating_add(size) > i64::try_from(all).unwrap_or(i64::MAX));
        if offset < 0 || beyond {
            diags.push(
                op.error("window-bounds", format!("the window leaves dimension {dim} of its tensor"))
                    .label(format!("{offset} + {size} of {extent}"))
                    .help("make the window smaller at the end, or write `?` for that extent in the type of the tensor"),
            );
        }
    }
}

fn lower_partition(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let mut view = d.view(op.operand("source").ok_or(Reported)?)?;
    let offsets = numbers(d, op.operands("offsets"))?;
    let sizes = numbers(d, op.operands("sizes"))?;
    let mut elements = Operand::Imm(0);
    for (offset, stride) in offsets.iter().zip(view.strides.clone()) {
        let part = d.distance(*offset, stride);
        elements = d.further(elements, part);
    }
    let bytes = d.distance(elements, Operand::Imm(view.elem.bytes() as u64));
    view.base = d.moved(view.base, bytes);
    view.place = view.place.and_then(|place| place.window(&offsets));
    view.dims = sizes;
    d.bind(op.result(0), Binding::View(view));
    Ok(())
}

/// The attribute with the layout of a view.
const ORDER: &str = "layout";

/// The layout in global memory of a view that an op makes, if the op specifies it: a member of [`LAYOUT`].
pub fn layout_of(op: &OpRef<'_>) -> Option<&'static str> {
    op.text(ORDER).and_then(|layout| LAYOUT.members.iter().find(|member| **member == layout).copied())
}
