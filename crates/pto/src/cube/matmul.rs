//! Products of two tiles, from zero, an accumulator or a bias.

use slipring_ir::{AttrKind, AttrSpec, Diags, Dim, EnumSpec, OpSchema, OperandSpec, Syntax, TileType, Touch};
use slipring_machine::{Capability, Pipe, Platform};
use slipring_program::Operand;
use slipring_tile::{BLayout, Elem, Layout, SLayout, Space};

use slipring_effect::{MatmulArgs, MatmulEffect, Start};
use slipring_op::decode::Decoder;
use slipring_op::def::{CoreRule, ElemTypes, Lowered, OpDef, OpRef, PipeRule, Product, ProductStart, Reported};
use slipring_op::rules::{PLAIN, TILE, WITHOUT_SMALL_FLOATS, defaulted, operand, require_space, schema};
use slipring_op::{LayoutConstraint, LayoutRule, On, TileRules, ops};

const LHS: OperandSpec = operand("lhs", TILE, Touch::Read, "left operand, m × k, in L0A (`left`)");
const RHS: OperandSpec = operand("rhs", TILE, Touch::Read, "right operand, k × n, in L0B (`right`)");
const DST: OperandSpec = operand("dst", TILE, Touch::Write, "accumulator, m × n (`acc`)");
const ACC: OperandSpec = operand("acc_in", TILE, Touch::Read, "accumulator to start from, m × n (`acc`)");
const BIAS: OperandSpec = operand("bias", TILE, Touch::Read, "one row of n values of the accumulator's type (`bias`)");

const PLAIN_PRODUCT: Product = Product { start: ProductStart::Zero, vector: false };
const ACC_PRODUCT: Product = Product { start: ProductStart::Acc("acc_in"), vector: false };
const BIAS_PRODUCT: Product = Product { start: ProductStart::Bias("bias"), vector: false };

/// `#pto<acc_phase …>`.
pub(super) const PHASE: &[AttrSpec] = &[defaulted(
    "accPhase",
    AttrKind::Enum(&EnumSpec { kind: "acc_phase", numbered: false, members: &["unspecified", "partial", "final"] }),
    "a hint to the hardware, as a store's `stPhase`; it orders nothing here",
)];

const PRODUCT: OpSchema = schema("", Syntax::InsOuts { ins: 2, attrs_in_ins: false }, &[LHS, RHS, DST], &[], PHASE);
const PRODUCT_ACC: OpSchema =
    schema("", Syntax::InsOuts { ins: 3, attrs_in_ins: false }, &[ACC, LHS, RHS, DST], &[], PHASE);
const PRODUCT_BIAS: OpSchema =
    schema("", Syntax::InsOuts { ins: 3, attrs_in_ins: false }, &[LHS, RHS, BIAS, DST], &[], PHASE);

/// Only the newer unit multiplies floats of 8 bits; a separate rule checks which other types go together.
const MULTIPLIED: &[ElemTypes] =
    &[ElemTypes { operand: "lhs", memory: WITHOUT_SMALL_FLOATS, registers: Elem::ALL.as_slice() }];

/// The newer unit's library asserts the layout of each tile (`TMatmul.hpp`), and the assembler requires the same.
pub(super) const LAID_OUT: TileRules = TileRules { layouts: &[LEFT, RIGHT, boxes(&["dst"])], shapes: &[] };
/// Layouts of products that start from an accumulator.
pub(super) const LAID_OUT_ACC: TileRules =
    TileRules { layouts: &[LEFT, RIGHT, boxes(&["acc_in", "dst"])], shapes: &[] };
/// The order of L0A's boxes depends on the platform, whatever the text says.
const LEFT: LayoutRule = LayoutRule { lies: LayoutConstraint::Inside(SLayout::RowMajor), ..boxes(&["lhs"]) };
const RIGHT: LayoutRule = LayoutRule {
    lies: LayoutConstraint::Boxes { boxes: BLayout::RowMajor, inside: SLayout::ColMajor },
    ..boxes(&["rhs"])
};

/// Boxes in column order with elements in row order.
const fn boxes(operands: &'static [&'static str]) -> LayoutRule {
    let lies = LayoutConstraint::Boxes { boxes: BLayout::ColMajor, inside: SLayout::RowMajor };
    LayoutRule { operands, within: None, lies, on: On::Registers }
}

const CUBE: OpDef = OpDef {
    elems: MULTIPLIED,
    tiles: LAID_OUT,
    core: CoreRule::Cube,
    pipe: PipeRule::Fixed(Pipe::M),
    verify: verify_product,
    lower: lower_product,
    ..PLAIN
};

macro_rules! doc {
    ($start:literal, $extents:literal) => {
        concat!(
            "`dst[i, j] = ",
            $start,
            "lhs[i, 0] × rhs[0, j] + lhs[i, 1] × rhs[1, j] + …`: one chain of fused multiply-adds for each element, in \
             ascending order of k, in f32 for floats and in wrapping i32 for 8-bit integers. ",
            $extents,
            " Each must be between 1 and 4095. Elements of `dst` outside m × n keep their bytes. Types: f32, f16, bf16 \
             or 8-bit floats into f32 (HiFloat8 with itself), i8 into i32."
        )
    };
}

ops! {
    OPS;

    pub TMATMUL "pto.tmatmul" "Multiply two tiles": CUBE.with(PRODUCT),
        doc: doc!("", "m and k are the valid rows and columns of `lhs`, n the valid columns of `rhs`."),
        source: "PTO IR manual 4.4", product: Some(PLAIN_PRODUCT);

    pub TMATMUL_ACC "pto.tmatmul.acc" "Multiply two tiles and add to an accumulator": CUBE.with(PRODUCT_ACC),
        doc: doc!("acc_in[i, j] + ", "m and k are the valid rows and columns of `lhs`, n the valid columns of `rhs`."),
        source: "PTO IR manual 4.4", product: Some(ACC_PRODUCT), tiles: LAID_OUT_ACC;

    pub TMATMUL_BIAS "pto.tmatmul.bias" "Multiply two tiles and add a bias to each row": CUBE.with(PRODUCT_BIAS),
        doc: doc!("bias[0, j] + ", "m and k are the valid rows and columns of `lhs`, n the valid columns of `rhs`."),
        source: "PTO IR manual 4.4", product: Some(BIAS_PRODUCT);

    pub TGEMV "pto.tgemv" "Multiply a row by a tile": CUBE.with(PRODUCT),
        doc: doc!("", "m is 1, k and n are the valid rows and columns of `rhs`."),
        source: "PTO IR manual 4.4; tile ISA, TGEMV", product: Some(Product { vector: true, ..PLAIN_PRODUCT });

    pub TGEMV_ACC "pto.tgemv.acc" "Multiply a row by a tile and add to an accumulator": CUBE.with(PRODUCT_ACC),
        doc: doc!("acc_in[i, j] + ", "m is 1, k and n are the valid rows and columns of `rhs`."),
        source: "PTO IR manual 4.4; tile ISA, TGEMV", product: Some(Product { vector: true, ..ACC_PRODUCT }),
        tiles: LAID_OUT_ACC;

    pub TGEMV_BIAS "pto.tgemv.bias" "Multiply a row by a tile and add a bias": CUBE.with(PRODUCT_BIAS),
        doc: doc!("bias[0, j] + ", "m is 1, k and n are the valid rows and columns of `rhs`."),
        source: "PTO IR manual 4.4; tile ISA, TGEMV", product: Some(Product { vector: true, ..BIAS_PRODUCT });
}

/// The product that accumulates onto the accumulator: of a row and a tile, or of two tiles.
pub fn product_going_on(vector: bool) -> &'static OpDef {
    if vector { &TGEMV_ACC } else { &TMATMUL_ACC }
}

/// Requires the three tiles of a product to be in the memories of the hardware; true if they are.
pub(super) fn product_spaces(op: &OpRef<'_>, diags: &mut Diags) -> bool {
    let mut fine = require_space(op, Product::LHS, &[Space::Left], diags);
    fine &= require_space(op, Product::RHS, &[Space::Right], diags);
    fine & require_space(op, Product::DST, &[Space::Acc], diags)
}

fn product_tiles<'a>(op: &OpRef<'a>) -> Option<[&'a TileType; 3]> {
    Some([op.tile(Product::LHS)?, op.tile(Product::RHS)?, op.tile(Product::DST)?])
}

fn verify_product(op: &OpRef<'_>, platform: &Platform, diags: &mut Diags) {
    let Some(Product { start, vector, .. }) = op.def.product else { return };
    let mut fine = product_spaces(op, diags);
    match start {
        ProductStart::Zero => {}
        ProductStart::Acc(name) => fine &= require_space(op, name, &[Space::Acc], diags),
        ProductStart::Bias(name) => fine &= require_space(op, name, &[Space::Bias], diags),
    }
    let Some([a, b, c]) = product_tiles(op) else { return };
    if !fine {
        return;
    }
    // On units that work on memory, the row may be in a tile of several rows.
    if !vector || platform.can(Capability::SingleRowProducts) {
        product_shapes(op, a, b, c, diags);
    }
    if vector {
        row_shapes(op, a, b, c, diags);
    }
    let extents = [("lhs", a, 0), ("lhs", a, 1), ("rhs", b, 1)];
    if let Some((name, ..)) = extents.into_iter().find(|(_, tile, axis)| tile.valid[*axis].known() == Some(0)) {
        diags
            .push(op.error("matmul-shape", format!("expects {name} to have valid elements: m, k and n are 1 to 4095")));
    }
    product_types(op, a, b, c, diags);
    match start {
        ProductStart::Zero => {}
        ProductStart::Acc(name) => {
            if let Some(start) = op.tile(name)
                && start.layout.elem != c.layout.elem
            {
                diags.push(op.error("matmul-type", "expects acc_in and dst to have the same element type"));
            }
        }
        ProductStart::Bias(name) => {
            if let Some(bias) = op.tile(name) {
                if bias.layout.elem != c.layout.elem {
                    diags.push(op.error("matmul-type", "expects bias and dst to have the same element type"));
                }
                if bias.layout.rows != 1 {
                    diags
                        .push(op.error("matmul-shape", format!("expects bias rows to be 1, not {}", bias.layout.rows)));
                }
            }
        }
    }
}

/// Reports tiles whose allocated shapes do not make a product.
pub(super) fn product_shapes(op: &OpRef<'_>, a: &TileType, b: &TileType, c: &TileType, diags: &mut Diags) {
    let (a, b, c) = (&a.layout, &b.layout, &c.layout);
    let values = |side: &Layout| side.cols * side.elem.values() as u32;
    let pairs = [
        ("lhs rows", a.rows, "dst rows", c.rows),
        ("lhs columns", values(a), "rhs rows", b.rows),
        ("rhs columns", values(b), "dst columns", c.cols),
    ];
    for (left, x, right, y) in pairs {
        if x != y {
            diags.push(
                op.error("matmul-shape", format!("expects {left} ({x}) to match {right} ({y})")).note(format!(
                    "lhs is {}x{}, rhs {}x{}, dst {}x{}",
                    a.rows, a.cols, b.rows, b.cols, c.rows, c.cols
                )),
            );
        }
    }
}

/// Reports valid shapes that do not make a product of a row and a tile.
fn row_shapes(op: &OpRef<'_>, a: &TileType, b: &TileType, c: &TileType, diags: &mut Diags) {
    let one = Dim::Static(1);
    let pairs = [
        ("lhs valid rows", a.valid[0], "1", one),
        ("dst valid rows", c.valid[0], "1", one),
        ("lhs valid columns", a.valid[1], "rhs valid rows", b.valid[0]),
        ("rhs valid columns", b.valid[1], "dst valid columns", c.valid[1]),
    ];
    for (left, x, right, y) in pairs {
        if let (Dim::Static(x), Dim::Static(y)) = (x, y)
            && x != y
        {
            diags.push(op.error("matmul-shape", format!("expects {left} ({x}) to match {right} ({y})")));
        }
    }
}

fn product_types(op: &OpRef<'_>, a: &TileType, b: &TileType, c: &TileType, diags: &mut Diags) {
    let (x, y, z) = (a.layout.elem, b.layout.elem, c.layout.elem);
    let narrow = |e: Elem| matches!(e, Elem::F8E4M3 | Elem::F8E5M2);
    let fine = match z {
        Elem::I32 => matches!((x, y), (Elem::I8 | Elem::U8, Elem::I8 | Elem::U8)),
        Elem::F32 => {
            (x == y && matches!(x, Elem::F32 | Elem::F16 | Elem::BF16 | Elem::HiF8)) || (narrow(x) && narrow(y))
        }
        _ => false,
    };
    if !fine {
        diags.push(
            op.error("matmul-type", format!("no product of {x} and {y} into {z}"))
                .help("two of f16, bf16, f32 or 8-bit floats give f32, two of i8 give i32"),
        );
    }
}

fn lower_product(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let product = op.def.product.ok_or(Reported)?;
    let a = d.tile(op.operand(Product::LHS).ok_or(Reported)?)?;
    let b = d.tile(op.operand(Product::RHS).ok_or(Reported)?)?;
    let c = d.tile(op.operand(Product::DST).ok_or(Reported)?)?;
    let (start, start_addr) = match product.start {
        ProductStart::Zero => (Start::Zero, Operand::Imm(0)),
        ProductStart::Acc(name) => {
            let tile = d.tile(op.operand(name).ok_or(Reported)?)?;
            (Start::Acc(tile.ty.layout), tile.addr)
        }
        ProductStart::Bias(name) => {
            let tile = d.tile(op.operand(name).ok_or(Reported)?)?;
            (Start::Bias(tile.ty.layout), tile.addr)
        }
    };
    let (m, k) = if product.vector { (Operand::Imm(1), b.valid[0]) } else { (a.valid[0], a.valid[1]) };
    let effect = MatmulEffect { a: a.ty.layout, b: b.ty.layout, dst: c.ty.layout, start };
    let cost = d.platform.cube_cost(a.ty.layout.elem);
    let args = MatmulArgs { a: a.addr, b: b.addr, dst: c.addr, start: start_addr, m, k, n: b.valid[1] };
    d.product(&c, [m, b.valid[1]], matches!(start, Start::Acc(_)));
    d.issue(Pipe::M, effect, args.list(), cost);
    Ok(())
}
