//! `tile-matmul`: splits products whose operands do not fit their memories into steps over k.
//!
//! A product reads its operands from L0A and L0B, which are small. Where a kernel moves whole tiles there from L1 and
//! they are too large, alone or together with others that are in use at the same time, the product becomes several:
//! each moves a slice of k of both operands out of L1; the first starts like the original product, the others continue
//! with the accumulator. The slices are in ascending order, so each sum has the same terms in the same order, and the
//! result is bit-identical.
//!
//! | subject | rule |
//! |---|---|
//! | products | those with an operand that alone is larger than its memory; then, while the tiles in use together exceed it, those of the largest of these tiles |
//! | length of a step | see [`steps::steps`]: the fewest steps that let two slices of each operand fit side by side |
//! | operands | declared without an address, their valid shape constant along k and set once, filled by one move of a whole tile from L1 that comes before the product, the source unchanged in between |
//! | left unchanged | kernels that synchronise their pipes by hand: their flags do not cover new moves |
//!
//! A product whose accumulator is too large is first cut over m and n (`blocks`), and products that are only rounded on
//! the Vector cores are not moved there (`narrow`).

mod blocks;
mod builder;
mod narrow;
mod operand;
pub mod steps;

use std::ops::Range;

use slipring_ir::{Diagnostic, Diags, Module, OpId, TileType, ValueId};
use slipring_machine::Platform;
use slipring_op::{OpDef, OpRef, Product};
use slipring_pto as pto;
use slipring_tile::Space;

use self::operand::Operand;
use self::steps::steps;
use crate::analysis::facts::Functions;
use crate::analysis::roots::{Address, RootKind, Roots};
use crate::context::{Pass, PassContext};
use crate::memory::layout::crowds;
use crate::memory::tile_matmul::builder::Builder;

/// The pass.
pub const PASS: Pass =
    Pass { name: "tile-matmul", summary: "Do products in blocks, and in steps over k, whose tiles are too large", run };

/// Bytes of k in a fractal.
const FRACTAL: u64 = 32;

fn run(module: &mut Module, context: &PassContext<'_>, diags: &mut Diags) {
    narrow::narrow(module, context.platform);
    while blocks::cut(module, context) {}
    while round(module, context) {}
    report(module, context, diags);
}

/// Splits the products of the tiles that are too large by themselves, otherwise those of the largest tile that is in
/// use together with others. False if there is nothing to do, or nothing possible.
fn round(module: &mut Module, context: &PassContext<'_>) -> bool {
    for space in [Space::Left, Space::Right] {
        let Some(spec) = context.platform.space(space) else { continue };
        for crowd in crowds(module, context, space) {
            let functions = Functions::of(module);
            let roots = Roots::of(module, &functions);
            let mut cut = 0;
            for (tile, bytes) in crowd {
                if cut > 0 && bytes <= spec.usable() {
                    break;
                }
                for product in products_of(module, tile) {
                    if let Ok(plan) = plan(module, &roots, context.platform, product) {
                        apply(module, &plan);
                        cut += 1;
                    }
                }
            }
            if cut > 0 {
                return true;
            }
        }
    }
    false
}

/// The products that read a tile as their left or right operand.
fn products_of(module: &Module, tile: ValueId) -> Vec<OpId> {
    let reads = |id: &OpId| {
        let Some(op) = OpRef::of(module, *id) else { return false };
        op.def.product.is_some() && [Product::LHS, Product::RHS].iter().any(|name| op.operand(*name) == Some(tile))
    };
    module.walk(module.top).into_iter().filter(reads).collect()
}

/// How a product is split into steps.
struct Plan {
    product: OpId,
    form: Product,
    /// The left and the right operand.
    operands: [Operand; 2],
    /// The slices of k.
    steps: Vec<Range<u64>>,
}

/// Plans the steps of a product.
///
/// # Errors
/// Why it cannot be split.
fn plan(module: &Module, roots: &Roots, platform: &Platform, product: OpId) -> Result<Plan, String> {
    let op = OpRef::of(module, product).ok_or("it is not a declared op")?;
    let form = op.def.product.ok_or("it is not a product")?;
    let [lhs, rhs] = [(Product::LHS, 1), (Product::RHS, 0)].map(|(name, along)| Operand::of(&op, roots, name, along));
    let operands = [lhs?, rhs?];
    let [k, other] = operands.each_ref().map(|operand| operand.k);
    if k != other {
        return Err(format!("its operands have {k} and {other} valid elements along k"));
    }
    let storages = operands.each_ref().map(|operand| operand.storage(platform));
    let unit = FRACTAL / operands[0].ty.layout.elem.bytes().max(1) as u64;
    let steps = steps(k, unit, &storages).ok_or("not even one fractal of k of its operands fits")?;
    // A slice that is its whole operand makes nothing smaller, however often it is split.
    if operands.iter().all(|operand| steps.iter().all(|step| operand.slice(step) == operand.ty)) {
        return Err("one fractal of k is all that its operands have".into());
    }
    Ok(Plan { product, form, operands, steps })
}

/// Replaces a product by its steps, and removes the moves of whole tiles that are no longer needed.
fn apply(module: &mut Module, plan: &Plan) {
    let Some((first, further)) = forms(module, plan) else { return };
    let mut builder = Builder::before(module, plan.product);
    let mut slices: [[Option<(ValueId, TileType)>; 2]; 2] = [[None; 2]; 2];
    let source = builder.module.op(plan.product).clone();
    let dst = builder.module.operands_named(plan.product, Product::DST)[0];
    for (at, step) in plan.steps.iter().enumerate() {
        let mut values = [dst; 2];
        for (side, operand) in plan.operands.iter().enumerate() {
            let ty = operand.slice(step);
            // Two tiles alternate; a last one of another shape is a third.
            let tile = match slices[side][at % 2].filter(|(_, known)| *known == ty) {
                Some((tile, _)) => tile,
                None => builder.tile(operand, ty, at),
            };
            slices[side][at % 2] = Some((tile, ty));
            if let Some((_, mut valid)) = operand.shaped {
                valid[operand.along] = builder.index(step.end - step.start);
                builder.shape(tile, valid);
            }
            let mut corner = operand.corner;
            corner[operand.along] += step.start;
            let [row, col] = corner.map(|at| builder.index(at));
            builder.extract(operand, [row, col], tile);
            values[side] = tile;
        }
        let def = if at == 0 { first } else { further };
        let operands = def.schema.operands.iter().map(|spec| {
            let value = match spec.name {
                Product::LHS => values[0],
                Product::RHS => values[1],
                name if at == 0 => builder.module.operands_named(plan.product, name)[0],
                _ => dst,
            };
            (spec.name, value)
        });
        let operands: Vec<(&str, ValueId)> = operands.collect();
        builder.op(def, &operands, source.attrs.clone(), source.span);
    }
    module.remove(plan.product);
    for operand in &plan.operands {
        operand.drop_if_unused(module);
    }
}

/// The declaration of the first step, which is the product's own, and of the others, which continue with an
/// accumulator.
fn forms(module: &Module, plan: &Plan) -> Option<(&'static OpDef, &'static OpDef)> {
    Some((OpRef::of(module, plan.product)?.def, pto::product_going_on(plan.form.vector)))
}

/// Reports products whose tiles are still larger than their memories.
fn report(module: &Module, context: &PassContext<'_>, diags: &mut Diags) {
    let functions = Functions::of(module);
    let roots = Roots::of(module, &functions);
    let open = |tile: ValueId| {
        let root = roots.get(tile).iter().map(|id| roots.root(*id)).find(|root| root.value == tile)?;
        (root.kind == RootKind::Declared && root.address == Address::Open).then_some(root.bytes?)
    };
    for id in module.walk(module.top) {
        let Some(op) = OpRef::of(module, id) else { continue };
        if op.def.product.is_none() {
            continue;
        }
        for name in [Product::LHS, Product::RHS, Product::DST] {
            let Some(tile) = op.operand(name) else { continue };
            let Some(space) = op.space(name) else { continue };
            let (Some(bytes), Some(spec)) = (open(tile), context.platform.space(space)) else { continue };
            if bytes > spec.usable() {
                // A product whose blocks still do not fit is reported once.
                let error = too_large(&op, &roots, context.platform, (name, tile), (space, bytes, spec.usable()));
                if !diags.list.contains(&error) {
                    diags.push(error);
                }
                break;
            }
        }
    }
}

fn too_large(
    op: &OpRef<'_>,
    roots: &Roots,
    platform: &Platform,
    (operand, tile): (&str, ValueId),
    (space, bytes, capacity): (Space, u64, u64),
) -> Diagnostic {
    let (module, name) = (op.module, op.module.value_name(tile));
    let message = format!("`{name}` is too large for `{space}`: it has {bytes} bytes, the memory {capacity}");
    let mut error = op.error("matmul-capacity", message).label(format!("`{operand}` of this product"));
    if let Some(declared) = module.defining_op(tile) {
        error = error.also(module.op(declared).span, "declared here");
    }
    if space == Space::Acc {
        if let Err(why) = blocks::plan(module, roots, tile, capacity) {
            error = error.note(format!("the product cannot be done block by block: {why}"));
        }
        return error.help("multiply tiles with fewer rows on the left or fewer columns on the right");
    }
    if let Err(why) = plan(module, roots, platform, op.id) {
        error = error.note(format!("the product cannot be done in steps over k: {why}"));
    }
    error.help("multiply smaller tiles, adding up over k, or fill both operands by moving whole tiles from L1")
}
