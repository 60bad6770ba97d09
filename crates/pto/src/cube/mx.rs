//! Products with scales for groups of elements (microscaling).
//!
//! The unit gets the addresses of its operands and derives those of their scales: scales of the data at byte `a` of L0A
//! or L0B are at byte `a / 16` of the adjacent memory. Tiles of scales are allocated there.

use slipring_ir::{Diagnostic, Diags, OpSchema, OperandSpec, Severity, Syntax, TileType, Touch};
use slipring_machine::{Pipe, Platform};
use slipring_program::Operand;
use slipring_tile::{BLayout, Elem, Space};

use super::matmul::{LAID_OUT, LAID_OUT_ACC, product_shapes, product_spaces};
use slipring_effect::{MadArgs, MatmulEffect, SCALE_GROUP, ScaledMatmul, Start};
use slipring_op::decode::Decoder;
use slipring_op::def::{CoreRule, ElemTypes, Lowered, OpDef, OpRef, PipeRule, Product, Reported};
use slipring_op::ops;
use slipring_op::rules::{PLAIN, TILE, operand, require_space, schema};

const LHS: OperandSpec = operand("lhs", TILE, Touch::Read, "left operand (`left`)");
const LHS_SCALE: OperandSpec =
    operand("lhs_scale", TILE, Touch::Read, "its scales, m × k / 32 (`scaling`, row_major boxes of 32 bytes)");
const RHS: OperandSpec = operand("rhs", TILE, Touch::Read, "right operand (`right`)");
const RHS_SCALE: OperandSpec =
    operand("rhs_scale", TILE, Touch::Read, "its scales, k / 32 × n (`scaling`, col_major boxes of 32 bytes)");
const DST: OperandSpec = operand("dst", TILE, Touch::Write, "accumulator (`acc`)");
const ACC: OperandSpec = operand("acc_in", TILE, Touch::Read, "accumulator to start from (`acc`)");
const BIAS: OperandSpec = operand("bias", TILE, Touch::Read, "one row of values (`bias`)");

/// Only the newer unit has such products, and only of short floats.
const SCALED: &[ElemTypes] = &[
    ElemTypes { operand: "lhs", memory: &[], registers: SHORT },
    ElemTypes { operand: "rhs", memory: &[], registers: SHORT },
    ElemTypes { operand: "dst", memory: &[], registers: &[Elem::F32] },
];
const SHORT: &[Elem] = &[Elem::F8E4M3, Elem::F8E5M2, Elem::F4E2M1x2, Elem::F4E1M2x2];

/// Elements along k that the unit processes at once.
const STEP: u32 = 64;

macro_rules! doc {
    ($start:literal, $m:literal) => {
        concat!(
            "`dst[i, j] = ",
            $start,
            "Σ lhs[i, k] × 2^(lhs_scale[i, k / 32] - 127) × rhs[k, j] × 2^(rhs_scale[k / 32, j] - 127)`: each input times its \
             scale in f32, then one chain of fused multiply-adds for each element, in ascending order of k. ",
            $m,
            " and n the valid columns of `rhs`; k is a multiple of 64. A scale of 255 is NaN. The unit is not told where the \
             scales are: they lie at a sixteenth of the address of their operand, in 4 KiB of their own beside L0A or L0B, and the \
             allocator puts the tiles of scales there. Both operands are 8-bit floats, or both 4-bit floats: these lie in pairs, side \
             by side in a row, and a tile has half as many columns as values."
        )
    };
}

const MX: OpDef = OpDef {
    schema: schema(
        "",
        Syntax::InsOuts { ins: 4, attrs_in_ins: false },
        &[LHS, LHS_SCALE, RHS, RHS_SCALE, DST],
        &[],
        super::matmul::PHASE,
    ),
    summary: "Multiply two tiles with scales for groups of elements",
    doc: doc!("", "m and k are the valid rows and columns of `lhs`"),
    source: "PTO IR manual 4.4; tile ISA, TMATMUL_MX; device headers, CheckMadMxValid and GetScaleAddr",
    elems: SCALED,
    core: CoreRule::Cube,
    pipe: PipeRule::Fixed(Pipe::M),
    scales: &[("lhs", "lhs_scale"), ("rhs", "rhs_scale")],
    verify,
    lower: |op, d| lower(op, d, false),
    ..PLAIN
};

const MX_ACC: OpDef = OpDef {
    schema: schema(
        "",
        Syntax::InsOuts { ins: 5, attrs_in_ins: false },
        &[ACC, LHS, LHS_SCALE, RHS, RHS_SCALE, DST],
        &[],
        super::matmul::PHASE,
    ),
    summary: "Multiply two tiles with scales for groups of elements, and add to an accumulator",
    doc: doc!("acc_in[i, j] + ", "m and k are the valid rows and columns of `lhs`"),
    ..MX
};

const MX_BIAS: OpDef = OpDef {
    schema: schema(
        "",
        Syntax::InsOuts { ins: 5, attrs_in_ins: false },
        &[LHS, LHS_SCALE, RHS, RHS_SCALE, BIAS, DST],
        &[],
        super::matmul::PHASE,
    ),
    summary: "Multiply two tiles with scales for groups of elements, and add a bias to each row",
    doc: doc!("bias[0, j] + ", "m and k are the valid rows and columns of `lhs`"),
    ..MX
};

pub static TMATMUL_MX: OpDef = OpDef { schema: OpSchema { name: "pto.tmatmul.mx", ..MX.schema }, ..MX };
pub static TMATMUL_MX_ACC: OpDef = OpDef { schema: OpSchema { name: "pto.tmatmul.mx.acc", ..MX_ACC.schema }, ..MX_ACC };
pub static TMATMUL_MX_BIAS: OpDef =
    OpDef { schema: OpSchema { name: "pto.tmatmul.mx.bias", ..MX_BIAS.schema }, ..MX_BIAS };
pub static TGEMV_MX: OpDef = OpDef {
    schema: OpSchema { name: "pto.tgemv.mx", ..MX.schema },
    doc: doc!("", "m is 1, k the valid columns of `lhs`"),
    lower: |op, d| lower(op, d, true),
    tiles: LAID_OUT,
    ..MX
};
pub static TGEMV_MX_ACC: OpDef = OpDef {
    schema: OpSchema { name: "pto.tgemv.mx.acc", ..MX_ACC.schema },
    doc: doc!("acc_in[i, j] + ", "m is 1, k the valid columns of `lhs`"),
    lower: |op, d| lower(op, d, true),
    tiles: LAID_OUT_ACC,
    ..MX_ACC
};
pub static TGEMV_MX_BIAS: OpDef = OpDef {
    schema: OpSchema { name: "pto.tgemv.mx.bias", ..MX_BIAS.schema },
    doc: doc!("bias[0, j] + ", "m is 1, k the valid columns of `lhs`"),
    lower: |op, d| lower(op, d, true),
    tiles: LAID_OUT,
    ..MX_BIAS
};

ops! {
    OPS [&TMATMUL_MX, &TMATMUL_MX_ACC, &TMATMUL_MX_BIAS, &TGEMV_MX, &TGEMV_MX_ACC, &TGEMV_MX_BIAS];

    /// From the beginning `dst` lies where the scales of `src` are: at a sixteenth of its address, in the memory beside
    /// it. No data moves. An address that the text gives `dst` is replaced.
    pub TGET_SCALE_ADDR "pto.tget_scale_addr" "The scales that belong to a tile": PLAIN,
        source: "PTO IR manual 4.15; device headers, GetScaleAddr", core: CoreRule::Cube,
        pipe: PipeRule::Fixed(Pipe::S), scales: &[("src", "dst")], verify: verify_tget_scale_addr
        => {
            syntax: Syntax::InsOuts { ins: 1, attrs_in_ins: false },
            operands: &[
                operand("src", TILE, Touch::Nothing, "the operand that has scales (`left`, `right`)"),
                operand("dst", TILE, Touch::Nothing, "the tile of its scales (`scaling`)"),
            ],
        };
}

fn verify_tget_scale_addr(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    if platform.space(Space::LeftScale).is_none() {
        let message = format!("`{}` does not exist on {}", op.def.schema.name, platform.name);
        return diags.push(op.error("other-platform", message));
    }
    if op.space("dst").is_some_and(|space| space != Space::Scaling && !space.is_scale()) {
        diags.push(op.error("tile-space", "expects dst to be in the scaling address space"));
        return;
    }
    scale_rules(op, diags);
    if let (Some(src), Some(dst)) = (op.tile("src"), op.tile("dst"))
        && dst.space == Space::Scaling
    {
        scales_of(op, "dst", src, dst, diags);
    }
}

fn warn(op: &OpRef<'_>, code: &'static str, message: String) -> Diagnostic {
    Diagnostic { severity: Severity::Warning, ..op.error(code, message) }
}

fn verify(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    let mut fine = product_spaces(op, diags);
    for (name, space) in [("acc_in", Space::Acc), ("bias", Space::Bias)] {
        if op.if_declared(name).is_some() {
            fine &= require_space(op, name, &[space], diags);
        }
    }
    let (Some(a), Some(b), Some(c)) = (op.tile("lhs"), op.tile("rhs"), op.tile("dst")) else { return };
    if !fine {
        return;
    }
    product_shapes(op, a, b, c, diags);
    if four_bit(a) != four_bit(b) {
        diags.push(
            op.error("matmul-type", format!("no product with scales of {} and {}", a.layout.elem, b.layout.elem))
                .help("both operands are 8-bit floats, or both 4-bit floats"),
        );
    }
    for name in ["acc_in", "bias"] {
        if let Some(start) = op.if_declared(name).and_then(|value| op.module.ty(value).as_tile())
            && start.layout.elem != c.layout.elem
        {
            diags.push(op.error("matmul-type", format!("expects {name} and dst to have the same element type")));
        }
    }
    let k = a.layout.cols * a.layout.elem.values() as u32;
    if !k.is_multiple_of(STEP) {
        let message = format!("a product with scales over k = {k}: the unit takes {STEP} at once");
        diags.push(
            op.error("mx-k", message).help("pad the operands with zeros; the device's library refuses this tile"),
        );
    }
    scale_rules(op, diags);
}

/// Requires a scale for each group of elements along k of the valid part of both tiles, as far as it is known.
fn scales_of(op: &OpRef<'_>, name: &str, data: &TileType, scales: &TileType, diags: &mut Diags) {
    let group = SCALE_GROUP;
    let along = usize::from(data.space == Space::Left);
    for at in [0, 1] {
        let per_byte = if four_bit(data) && at == 1 { 2 } else { 1 };
        let (Some(have), Some(of)) = (scales.valid[at].known(), data.valid[at].known()) else { continue };
        let wanted = if at == along { (of * per_byte).div_ceil(group) } else { of * per_byte };
        if have != wanted {
            let what = ["rows", "columns"][at];
            let message = format!("expects {name} to have {wanted} valid {what}, not {have}");
            diags
                .push(op.error("scale-shape", message).help(format!("each scale is that of {group} elements along k")));
            return;
        }
    }
}

fn four_bit(tile: &TileType) -> bool {
    matches!(tile.layout.elem, Elem::F4E2M1x2 | Elem::F4E1M2x2)
}

/// Rules for tiles of scales: their memories and shapes.
fn scale_rules(op: &OpRef<'_>, diags: &mut Diags) {
    for (data, scale) in op.def.scales {
        let (Some(of), Some(tile)) = (op.tile(*data), op.tile(*scale)) else { continue };
        let Some(home) = of.space.scales() else { continue };
        let order = if home == Space::LeftScale { BLayout::RowMajor } else { BLayout::ColMajor };
        let order = order.name();
        let help = format!(
            "make it a tile of f8E8M0 in `scaling` with blayout={order}, slayout={order} and fractal=32, filled by `pto.tmov`"
        );
        if tile.space == Space::Scaling {
            let message =
                format!("`{scale}` is in the buffer of the fixpipe: the unit reads scales beside its operand");
            diags.push(warn(op, "mx-scales", message).help(help));
            scales_of(op, scale, of, tile, diags);
            continue;
        }
        if tile.space != home {
            diags.push(
                op.error("tile-space", format!("expects {scale} to be scales of a `{}` tile", of.space)).help(help),
            );
            continue;
        }
        let group = SCALE_GROUP as u32;
        let per_byte = if four_bit(of) { 2 } else { 1 };
        let (rows, cols) = match home {
            Space::LeftScale => (of.layout.rows, of.layout.cols * per_byte / group),
            _ => (of.layout.rows / group, of.layout.cols * per_byte),
        };
        if (tile.layout.rows, tile.layout.cols) != (rows, cols) {
            let found = format!("{}x{}", tile.layout.rows, tile.layout.cols);
            diags.push(
                op.error("scale-shape", format!("expects {scale} to be {rows}x{cols}, not {found}"))
                    .help(format!("each scale is that of {group} elements along k")),
            );
        }
    }
}

fn lower(op: &OpRef<'_>, d: &mut Decoder<'_>, vector: bool) -> Lowered {
    let mut tile = |name: &str| d.tile(op.operand(name).ok_or(Reported)?);
    let (a, b, c) = (tile(Product::LHS)?, tile(Product::RHS)?, tile(Product::DST)?);
    let (a_scale, b_scale) = (tile("lhs_scale")?, tile("rhs_scale")?);
    let (start, start_addr) = match (op.if_declared("acc_in"), op.if_declared("bias")) {
        (Some(value), _) => {
            let tile = d.tile(value)?;
            (Start::Acc(tile.ty.layout), tile.addr)
        }
        (None, Some(value)) => {
            let tile = d.tile(value)?;
            (Start::Bias(tile.ty.layout), tile.addr)
        }
        (None, None) => (Start::Zero, Operand::Imm(0)),
    };
    // A tile in another memory is not read: the unit derives the address of the scales from that of the operand.
    let mut scales = |tile: &slipring_op::decode::TileRef, data| {
        if tile.ty.space.is_scale() { tile.addr } else { d.scales_at(data) }
    };
    let (left_scales, right_scales) = (scales(&a_scale, a.addr), scales(&b_scale, b.addr));
    let effect = ScaledMatmul { matmul: MatmulEffect { a: a.ty.layout, b: b.ty.layout, dst: c.ty.layout, start } };
    let cost = d.platform.cube_cost(a.ty.layout.elem);
    // Extents count values: for types with packed pairs, each extent comes from a tile that is not packed along it.
    let (k, n) = if four_bit(&a.ty) { (b.valid[0], c.valid[1]) } else { (a.valid[1], b.valid[1]) };
    let m = if vector { Operand::Imm(1) } else { a.valid[0] };
    let args = MadArgs { a: a.addr, b: b.addr, dst: c.addr, start: start_addr, m, k, n, left_scales, right_scales };
    d.product(&c, [m, n], matches!(start, Start::Acc(_)));
    d.issue(Pipe::M, effect, args.list(), cost);
    Ok(())
}
