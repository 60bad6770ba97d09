//! Rules that the declarations of vector ops share.

use slipring_ir::{Diags, Dim, Type};
use slipring_machine::{Capability, Platform};
use slipring_tile::{BLayout, Elem, SLayout, Space};

use slipring_op::def::{ElemTypes, OpRef};
pub(super) use slipring_op::numbers::{element_of, number_type};
use slipring_op::rules::require_space;

/// Documentation of the operand with the bits of a comparison.
pub(super) const MASK_DOC: &str = "the mask: a row of bits for each row";

/// The element types that an op accepts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elems {
    /// For messages.
    describe: &'static str,
    accepts: fn(Elem) -> bool,
}

impl Elems {
    pub const fn new(describe: &'static str, accepts: fn(Elem) -> bool) -> Elems {
        Elems { describe, accepts }
    }
}

/// Integers, `f32`, `f16` and `bf16`.
pub(super) const NUMBERS: Elems = Elems { describe: "integers, f32, f16 and bf16", accepts: |e| !e.is_small_float() };
/// `f32`, `f16` and `bf16`.
pub(super) const FLOATS: Elems =
    Elems { describe: "f32, f16 and bf16", accepts: |e| e.is_float() && !e.is_small_float() };
/// Signed integers, `f32`, `f16` and `bf16`.
pub(super) const SIGNED: Elems =
    Elems { describe: "signed integers, f32, f16 and bf16", accepts: |e| e.is_signed_int() || (FLOATS.accepts)(e) };
/// Integers.
pub(super) const INTEGERS: Elems = Elems { describe: "integers", accepts: |e| !e.is_float() };
/// 32-bit integers: the types of indices.
pub(super) const INDICES: Elems = Elems { describe: "i32 or ui32", accepts: |e| matches!(e, Elem::I32 | Elem::U32) };
/// All element types.
pub(super) const ANY_ELEM: Elems = Elems { describe: "any type", accepts: |_| true };

/// The operands that are tiles (or memrefs treated as tiles).
fn tiles<'a>(op: &OpRef<'a>) -> impl Iterator<Item = (usize, &'static str, &'a Type)> + use<'a> {
    let op = *op;
    op.def.schema.operands.iter().enumerate().filter_map(move |(index, spec)| {
        let ty = op.ty(index)?;
        matches!(ty, Type::Tile(_) | Type::MemRef(_)).then_some((index, spec.name, ty))
    })
}

/// Requires every tile to be in `vec`, and all but `tmp` and `mask` to have the same element type, which the op
/// accepts.
pub(super) fn types(op: &OpRef<'_>, elems: Elems, diags: &mut Diags) {
    let mut first: Option<(&'static str, Elem)> = None;
    for (index, name, ty) in tiles(op) {
        if !require_space(op, index, &[Space::Vec], diags) {
            return;
        }
        let Some(elem) = ty.elem() else { continue };
        if matches!(name, "tmp" | "mask") {
            continue;
        }
        match first {
            None => {
                accepted(op, name, elem, elems, diags);
                first = Some((name, elem));
            }
            Some((other, expected)) if expected != elem => {
                diags.push(
                    op.error("tile-elem", format!("expects {other} and {name} to have the same element type"))
                        .label(format!("`{other}` has `{expected}`, `{name}` has `{elem}`")),
                );
                return;
            }
            Some(_) => {}
        }
    }
}

/// Requires every tile to be in `vec`; the op's own rules check the element types.
pub(super) fn spaces(op: &OpRef<'_>, diags: &mut Diags) {
    for (index, ..) in tiles(op) {
        if !require_space(op, index, &[Space::Vec], diags) {
            return;
        }
    }
}

/// Checks the element type of one operand.
pub(super) fn elem(op: &OpRef<'_>, name: &'static str, elems: Elems, diags: &mut Diags) {
    if let Some(elem) = op.ty(name).and_then(Type::elem) {
        accepted(op, name, elem, elems, diags);
    }
}

/// Checks the element type of one operand in one form of an op.
pub(crate) fn elem_on(op: &OpRef<'_>, rule: &ElemTypes, platform: &Platform, form: &str, diags: &mut Diags) {
    let Some(elem) = op.ty(rule.operand).and_then(Type::elem) else { return };
    let known = rule.on(platform);
    if !known.contains(&elem) {
        let names: Vec<&str> = known.iter().map(|elem| elem.name()).collect();
        let (op_name, on) = (op.def.schema.name, &platform.name);
        let message = format!("`{op_name}` {form} works on {} on {on}, not on {elem}", names.join(", "));
        diags.push(op.error("tile-elem", message).label(format!("`{}` has `{elem}`", rule.operand)));
    }
}

/// Requires tiles in row order; those of one column may also be in column order.
pub(super) fn by_rows(op: &OpRef<'_>, names: &[&'static str], diags: &mut Diags) {
    for name in names {
        let Some(tile) = op.tile(*name) else { continue };
        let layout = &tile.layout;
        let rows = layout.blayout == BLayout::RowMajor || layout.cols == 1;
        if !rows || layout.slayout != SLayout::NoneBox {
            diags.push(op.error("tile-layout", format!("expects {name} to use row_major layout")));
        }
    }
}

/// Requires working memory of units that work on memory to have one valid row, or the rows of `dst` divided by `rows`,
/// and the columns of `dst` divided by `cols`, as far as they are known (verifier of assembler 0.60).
pub(super) fn working_valid(op: &OpRef<'_>, platform: &Platform, [rows, cols]: [u64; 2], diags: &mut Diags) {
    if platform.can(Capability::RegisterScratch) {
        return;
    }
    let (Some(tmp), Some(dst)) = (op.tile("tmp"), op.tile("dst")) else { return };
    let wanted = |at: usize, by: u64| match by {
        0 => Some(1),
        by => dst.valid[at].known().map(|n| n.div_ceil(by)),
    };
    for (at, by, what) in [(0, rows, "rows"), (1, cols, "columns")] {
        if let (Some(wanted), Some(n)) = (wanted(at, by), tmp.valid[at].known())
            && n < wanted
        {
            let message = format!("expects tmp to have {wanted} valid {what} or more on {}, not {n}", platform.name);
            diags.push(op.error("tile-valid", message));
        }
    }
}

/// Requires two tiles to have the same type.
pub(super) fn same_type(op: &OpRef<'_>, a: &'static str, b: &'static str, diags: &mut Diags) {
    let elem = |name| op.ty(name).and_then(Type::elem);
    if elem(a) != elem(b) {
        diags.push(op.error("tile-elem", format!("expects {a} and {b} to have the same element type")));
    }
}

/// Requires two tiles to have elements of the same size.
pub(super) fn same_size(op: &OpRef<'_>, a: &'static str, b: &'static str, diags: &mut Diags) {
    let bytes = |name| op.ty(name).and_then(Type::elem).map(Elem::bytes);
    if bytes(a) != bytes(b) {
        diags.push(op.error("tile-elem", format!("expects {a} and {b} to have elements of the same size")));
    }
}

fn accepted(op: &OpRef<'_>, name: &str, elem: Elem, elems: Elems, diags: &mut Diags) {
    if !(elems.accepts)(elem) {
        diags.push(
            op.error("tile-elem", format!("`{}` works on {}, not on {elem}", op.def.schema.name, elems.describe))
                .label(format!("`{name}` has `{elem}`")),
        );
    }
}

/// The part of the destination's valid shape that a source must cover.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Needs {
    /// All of it.
    All,
    /// Its rows.
    Rows,
    /// Its columns.
    Columns,
    /// Rows for its columns, columns for its rows.
    Transposed,
}

/// Checks static valid shapes: a source must have at least the elements that the destination needs.
pub(super) fn covers(op: &OpRef<'_>, source: &'static str, needs: Needs, diags: &mut Diags) {
    let known = |name| {
        let tile = op.tile(name)?;
        Some(tile.valid.map(Dim::known))
    };
    let (Some([rows, cols]), Some(have)) = (known("dst"), known(source)) else { return };
    let need = match needs {
        Needs::All => [rows, cols],
        Needs::Rows => [rows, None],
        Needs::Columns => [None, cols],
        Needs::Transposed => [cols, rows],
    };
    let lacks = have.iter().zip(need).any(|(have, need)| matches!((have, need), (Some(h), Some(n)) if *h < n));
    if lacks {
        let show = |dim: Option<u64>| dim.map_or("?".to_string(), |n| n.to_string());
        diags.push(op.error("tile-valid", format!("`{source}` has fewer valid elements than `dst` needs")).label(
            format!("`{source}` has {} x {}, `dst` {} x {}", show(have[0]), show(have[1]), show(rows), show(cols)),
        ));
    }
}

/// Requires the same element type for all tiles, and sources as large as the destination.
pub(super) fn elementwise(op: &OpRef<'_>, elems: Elems, diags: &mut Diags) {
    types(op, elems, diags);
    for (_, name, _) in tiles(op) {
        if !matches!(name, "tmp" | "mask" | "dst") {
            covers(op, name, Needs::All, diags);
        }
    }
}

/// [`elementwise`] on numbers, as the rule of a declaration.
pub(super) fn numbers(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    elementwise(op, NUMBERS, diags);
}

/// [`elementwise`] on floats.
pub(super) fn floats(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    elementwise(op, FLOATS, diags);
}

/// [`elementwise`] on signed types.
pub(super) fn signed(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    elementwise(op, SIGNED, diags);
}

/// [`elementwise`] on integers.
pub(super) fn integers(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    elementwise(op, INTEGERS, diags);
}

/// Checks known valid shapes: one source has that of the result, the other one is a column.
pub(super) fn beside_a_column(op: &OpRef<'_>, diags: &mut Diags) {
    let known = |name| op.tile(name).map(|tile| tile.valid.map(Dim::known));
    let (Some(dst), Some(a), Some(b)) = (known("dst"), known("src0"), known("src1")) else { return };
    let alike = |side: &[Option<u64>; 2], axis: usize| side[axis].zip(dst[axis]).is_none_or(|(x, y)| x == y);
    let whole = |side: &[Option<u64>; 2]| alike(side, 0) && alike(side, 1);
    if !(whole(&a) || whole(&b)) || !alike(&a, 0) || !alike(&b, 0) {
        diags.push(
            op.error("tile-valid", "expects one source to have the valid shape of `dst`, the other as many valid rows")
                .help("give the tiles these valid shapes in their types"),
        );
    }
}

/// Checks known valid shapes: one source has that of the result, the other one is not larger.
pub(super) fn parts_of(op: &OpRef<'_>, diags: &mut Diags) {
    let known = |name| op.tile(name).map(|tile| tile.valid.map(Dim::known));
    let (Some(dst), Some(a), Some(b)) = (known("dst"), known("src0"), known("src1")) else { return };
    let pairs = |side: [Option<u64>; 2]| side.into_iter().zip(dst).filter_map(|(x, y)| x.zip(y));
    let larger = |side| pairs(side).any(|(x, y)| x > y);
    let whole = |side| pairs(side).all(|(x, y)| x == y);
    if larger(a) || larger(b) || !(whole(a) || whole(b)) {
        diags.push(
            op.error("tile-valid", "expects one source to have the valid shape of `dst`, the other none larger")
                .help("give `dst` the larger valid shape of the two"),
        );
    }
}
