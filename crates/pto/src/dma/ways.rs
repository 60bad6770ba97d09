//! Paths between memories that moves share, and the conversions on them.

use slipring_effect::{FOLD_HINT, Finish, Fold, Folding, MAX_RANK, Payload, Strided, TilePlace, folds_otherwise};
use slipring_ir::{Attr, Diagnostic, Diags, Dim, EnumSpec, OperandSpec, Severity, Touch, Type, TypeRule, ValueId};
use slipring_machine::{Capability, Platform};
use slipring_op::decode::{Decoder, PlaceInTensor, TileRef, ViewRef};
use slipring_op::def::{OpRef, Reported};
use slipring_op::rules::{operand, require_space};
use slipring_op::{LayoutConstraint, LayoutRule, On};
use slipring_program::{Operand, UpdateKind};
use slipring_tile::{BLayout, Elem, Layout, SLayout, Space};

/// `#pto<relu_pre_mode …>`.
pub(crate) const RELU_PRE_MODE: &EnumSpec =
    &EnumSpec { kind: "relu_pre_mode", numbered: false, members: &["no_relu", "normal_relu"] };

/// `#pto.acc_to_vec_mode<…>`.
pub(crate) const ACC_TO_VEC_MODE: &EnumSpec = &EnumSpec {
    kind: "acc_to_vec_mode",
    numbered: false,
    members: &["single_mode_vec0", "single_mode_vec1", "dual_mode_split_m", "dual_mode_split_n"],
};

/// True if the op applies ReLU in an accumulator store.
pub(crate) fn relu(op: &OpRef<'_>) -> bool {
    op.text("reluPreMode") == Some("normal_relu")
}

/// The memory, core and layout of a tile.
pub(crate) fn place(d: &Decoder<'_>, tile: &TileRef) -> TilePlace {
    TilePlace { space: tile.ty.space, core: d.role, layout: tile.ty.layout }
}

/// The conversion of elements that the op applies, and its run-time argument: the bits of the `f32` in operand
/// `preQuantScalar`, or the address of the table in operand `fp`.
pub(crate) fn way_out(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<(Finish, Operand), Reported> {
    let add = op.update() == Some(UpdateKind::Add);
    let finish = |scale| Finish { relu: relu(op), scale, add };
    if let Some(table) = op.if_declared("fp") {
        return Ok((finish(Some(Payload::Table)), d.tile(table)?.addr));
    }
    match op.if_declared("preQuantScalar") {
        Some(number) => Ok((finish(Some(Payload::Scalar)), d.scalar(number)?)),
        None => Ok((finish(None), Operand::Imm(0))),
    }
}

/// Reports a tile of quantisation parameters in another memory, a pair of types that it does not convert, and columns
/// without a parameter.
pub(crate) fn table_rules(op: &OpRef<'_>, platform: &Platform, from: Elem, to: Elem, diags: &mut Diags) {
    if !require_space(op, "fp", &[Space::Scaling], diags) {
        return;
    }
    let newer = platform.can(Capability::ColumnScaledFloats);
    let fine = match (from, to) {
        (Elem::F32, Elem::I8 | Elem::U8) | (Elem::I32, Elem::I8 | Elem::U8 | Elem::F16) => true,
        (Elem::F32, Elem::F16 | Elem::BF16 | Elem::F32 | Elem::HiF8 | Elem::F8E4M3) | (Elem::I32, Elem::BF16) => newer,
        _ => false,
    };
    if !fine {
        let message = format!("{from} does not leave the accumulator as {to} with `fp` on {}", platform.name);
        let also = if newer { ", f32 as f16, bf16, f32, hif8 and f8E4M3FN, i32 as bf16" } else { "" };
        diags.push(op.error("acc-type", message).help(format!("f32 leaves as i8 and ui8, i32 also as f16{also}")));
        return;
    }
    let (Some(src), Some(fp)) = (op.tile("src"), op.tile("fp")) else { return };
    let (cols, bytes) = (src.valid[1].known().unwrap_or(0), fp.layout.bytes() as u64);
    if cols * ENTRY > bytes {
        let message = format!("{cols} columns have {} bytes of parameters, and `fp` has {bytes}", cols * ENTRY);
        let warning = Diagnostic { severity: Severity::Warning, ..op.error("fp-columns", message) };
        diags.push(warning.help("each column has a parameter of 64 bits"));
    }
}

/// Bytes of the parameter of one column.
const ENTRY: u64 = 8;

/// The static properties of a window, and its run-time arguments after the address: dimensions, strides, and its place
/// in its tensor, unless it is known to be inside.
pub(crate) fn window(
    op: &OpRef<'_>,
    d: &mut Decoder<'_>,
    view: &ViewRef,
    tile: &Layout,
    elem: Elem,
) -> Result<(Strided, Vec<Operand>), Reported> {
    let rank = view.dims.len();
    if !(1..=MAX_RANK).contains(&rank) || view.strides.len() != rank || view.space != Space::Gm {
        return Err(d.error("view-rank", format!("a window of global memory has 1 to {MAX_RANK} dimensions")));
    }
    let layout: Option<&str> = view.layout.or(op.attr("layout").and_then(Attr::as_str));
    if rank == 2
        && let Some(scales) = ["mx_a_zz", "mx_b_nn"].into_iter().find(|scales| layout == Some(*scales))
    {
        return packed_scales(d, view, scales, elem);
    }
    let mut args: Vec<Operand> = view.dims.iter().chain(&view.strides).copied().collect();
    let place = view.place.as_deref().filter(|place| place.firsts.len() == rank && !place.holds(&view.dims));
    if let Some(place) = place {
        args.extend(place.firsts.iter().chain(&place.extents));
    }
    let folding = Folding::of(layout, tile, rank);
    Ok((Strided { elem, rank, folding, place: place.map(PlaceInTensor::ignored) }, args))
}

/// A two-dimensional tensor of scales with packed bytes, as the four dimensions of its memory: pieces of 16 rows
/// (columns of a right operand) by 2 groups.
fn packed_scales(
    d: &mut Decoder<'_>,
    view: &ViewRef,
    layout: &'static str,
    elem: Elem,
) -> Result<(Strided, Vec<Operand>), Reported> {
    let (Operand::Imm(rows), Operand::Imm(cols)) = (view.dims[0], view.dims[1]) else {
        return Err(d.error("view-layout", format!("a view of layout `{layout}` has constant extents")));
    };
    let (outer, groups) = if layout == "mx_a_zz" { (rows, cols) } else { (cols, rows) };
    if !outer.is_multiple_of(16) || !groups.is_multiple_of(2) {
        let message = format!("a view of layout `{layout}` has {rows} rows of {cols}");
        return Err(d.error("view-layout", message));
    }
    let dims = [outer / 16, groups / 2, 16, 2];
    let strides = [groups * 16, 32, 2, 1];
    let args = dims.into_iter().chain(strides).map(Operand::Imm).collect();
    Ok((Strided { elem, rank: 4, folding: Folding::Said(Fold::of(Some(layout), 4)), place: None }, args))
}

/// Reports a window that is known to fold into another number of rows and columns than the tile, although it has as
/// many elements.
pub(crate) fn same_fold(op: &OpRef<'_>, tile: &str, window: &str, diags: &mut Diags) {
    let (Some(tile), Some(value)) = (op.tile(tile), op.operand(window)) else { return };
    let (Type::PartitionView(view) | Type::TensorView(view)) = op.module.ty(value) else { return };
    let dims: Option<Vec<u64>> = view.dims.iter().map(|dim| dim.known()).collect();
    let (Some(dims), [Some(rows), Some(cols)]) = (dims, tile.valid.map(Dim::known)) else { return };
    let (Ok(r), Ok(c)) = (u32::try_from(rows), u32::try_from(cols)) else { return };
    if r == 0 || c == 0 {
        return;
    }
    let (of_view, own) = (view_layout(op, value), op.text("layout"));
    if let (Some(of_view), Some(own)) = (of_view, own)
        && of_view != own
    {
        let message = format!("the view has the layout `{of_view}`, this says `{own}`");
        return diags.push(op.error("view-layout", message).help("the layout of the view decides: leave this one out"));
    }
    let layout = of_view.or(own);
    if let (Some("mx_a_zz" | "mx_b_nn"), [_, _]) = (layout, dims.as_slice()) {
        return whole_scales(op, value, &dims, diags);
    }
    let fold = Folding::of(layout, &tile.layout, dims.len()).choose(&dims, (r, c));
    let shape = fold.shape(&dims);
    if folds_otherwise(shape, (rows, cols)) {
        let message =
            format!("the window has {} rows of {} elements, the tile {rows} valid rows of {cols}", shape.0, shape.1);
        diags.push(op.error("view-shape", message).help(FOLD_HINT));
    }
}

/// Reports a part of a two-dimensional tensor of packed scales: two dimensions do not determine where the part is.
fn whole_scales(op: &OpRef<'_>, mut value: ValueId, dims: &[u64], diags: &mut Diags) {
    while let Some(made_by) = op.module.defining_op(value) {
        let source = op.module.op(made_by).operands.first().copied();
        let Some((source, Type::TensorView(whole))) = source.map(|source| (source, op.module.ty(source))) else {
            return;
        };
        let differs = |(part, whole): (&u64, &Dim)| whole.known().is_some_and(|whole| whole != *part);
        if whole.dims.len() == dims.len() && dims.iter().zip(&whole.dims).any(differs) {
            diags.push(
                op.error("view-layout", "a part of a tensor of packed scales")
                    .help("give the tensor four dimensions: pieces, pairs of groups, 16, 2"),
            );
            return;
        }
        value = source;
    }
}

/// The layout that the text specifies for the tensor of a window.
fn view_layout<'a>(op: &OpRef<'a>, mut value: ValueId) -> Option<&'a str> {
    loop {
        let made_by = op.module.op(op.module.defining_op(value)?);
        if let Some(layout) = made_by.attrs.get("layout").and_then(Attr::as_str) {
            return Some(layout);
        }
        value = *made_by
            .operands
            .first()
            .filter(|v| matches!(op.module.ty(**v), Type::PartitionView(_) | Type::TensorView(_)))?;
    }
}

/// Reports a path between two memories that the platform does not have. `what` is the thing that moves.
pub(crate) fn require_way(
    op: &OpRef<'_>,
    platform: &Platform,
    what: &str,
    (from, to): (Space, Space),
    diags: &mut Diags,
) -> bool {
    let has = platform.has_way(from, to);
    if !has {
        let name = &platform.name;
        diags.push(op.error("move-way", format!("no {what} moves from `{from}` to `{to}` on {name}")));
    }
    has
}

/// The platform as in messages of the public assembler: `A5`, `A2/A3`.
pub(crate) fn arch(platform: &Platform) -> String {
    let mut name = platform.name.to_uppercase();
    if let Some(second) = name.rfind('A').filter(|at| *at > 0) {
        name.insert(second, '/');
    }
    name
}

/// `tinsert` for `pto.tinsert`.
fn short_name(op: &OpRef<'_>) -> &'static str {
    op.def.schema.name.trim_start_matches("pto.")
}

/// Reports a conversion from the accumulator to L1 that this platform does not support.
pub(crate) fn require_acc_to_mat(op: &OpRef<'_>, platform: &Platform, from: Elem, to: Elem, diags: &mut Diags) {
    let takes = |elem: Elem| platform.acc_to_mat.iter().any(|name| name == elem.name());
    if takes(to) && (from == Elem::F32) != (to == Elem::I32) && matches!(from, Elem::F32 | Elem::I32) {
        return;
    }
    let (arch, name) = (arch(platform), short_name(op));
    let takes = platform.acc_to_mat.join("/");
    diags.push(
        op.error("acc-type", format!("expects {arch} {name} element types to be src=f32, dst={takes}"))
            .label(format!("{from} to {to}")),
    );
}

/// Number of elements in the shape of a type (a view) or its valid shape (a tile), if it is known.
pub(crate) fn known_elements(ty: &Type) -> Option<u64> {
    let product = |dims: &[Dim]| dims.iter().try_fold(1u64, |n, dim| n.checked_mul(dim.known()?));
    match ty {
        Type::PartitionView(view) | Type::TensorView(view) => product(&view.dims),
        Type::Tile(tile) => product(&tile.valid),
        _ => None,
    }
}

/// The part of a shape that messages show.
pub(crate) fn shape(layout: &Layout) -> String {
    format!("{}x{}", layout.rows, layout.cols)
}

/// A tile of quantisation parameters.
pub(super) const SCALING: TypeRule = TypeRule {
    describe: "a tile in `scaling`",
    accepts: |t| matches!(t, Type::Tile(tile) if tile.space == Space::Scaling),
};

/// The operand with the quantisation parameters.
pub(super) const FP: OperandSpec =
    operand("fp", SCALING, Touch::Read, "quantisation parameters, one of 8 bytes for each column (`scaling`)");

pub(crate) const ACCUMULATOR: LayoutConstraint =
    LayoutConstraint::Boxes { boxes: BLayout::ColMajor, inside: SLayout::RowMajor };

/// The fixpipe assumes the accumulator layout of its source (device headers, both platforms).
pub(super) const OUT_OF_THE_ACCUMULATOR: LayoutRule =
    LayoutRule { operands: &["src"], within: Some(Space::Acc), lies: ACCUMULATOR, on: On::All };
/// Documents the parameters of columns.
macro_rules! fp_doc {
    ($($what:literal),+) => {
        concat!(
            $($what),+,
            " A parameter has 8 bytes, those of column j at byte 8 × j of `fp`, whatever its element type: bits 13 to 31 are those of \
             the scale as an f32 (its lower bits are 0), bits 37 to 45 a signed offset, bit 46 says that an integer is signed. \
             Each element is multiplied in f32; for an integer rounded to the nearest with ties to even, and the offset added; \
             ReLU follows; then it is clamped to the integer's range or rounded to the float."
        )
    };
}
pub(super) use fp_doc;
