//! Products whose accumulator exceeds its memory, block by block.
//!
//! All ops on such an accumulator are done for one block of its rows and columns, then for the next: the products, with
//! the rows of the left operand and the columns of the right one that the block needs, and the ops that move the result
//! out. Each element is the same sum as before.

use std::ops::Range;

use super::operand::{Operand, with_inner, writes};
use slipring_ir::{Dim, Module, OpId, TileType, Type, ValueId};
use slipring_op::{Along, OpDef, OpRef, Product, ProductStart, Transfer};
use slipring_pto as pto;
use slipring_tile::Space;

use crate::analysis::facts::Functions;
use crate::analysis::roots::{Address, RootKind, Roots};
use crate::context::PassContext;
use crate::memory::tile_matmul::builder::Builder;

/// Rows and columns of a fractal of the accumulator.
const FRACTAL: u64 = 16;
/// Maximum number of blocks written out.
const MOST_BLOCKS: u64 = 1024;

/// A use of an accumulator, in the order of the text.
enum ChainPart {
    /// With the operand that is added to each row, if any.
    Product(OpId, Box<[Operand; 2]>, Option<(&'static str, ValueId)>),
    /// Into a window of global memory.
    Store(OpId),
    /// Into a tile of L1.
    Move(OpId),
}

/// How an accumulator is divided.
pub(super) struct Plan {
    tile: ValueId,
    declared: OpId,
    ty: TileType,
    steps: Vec<ChainPart>,
    /// Rows and columns of a block.
    block: [u64; 2],
    /// The last op of them, which the blocks replace.
    last: OpId,
}

/// Divides one oversized accumulator. False if there is none that can be divided.
pub(super) fn cut(module: &mut Module, context: &PassContext<'_>) -> bool {
    let Some(spec) = context.platform.space(Space::Acc) else { return false };
    let roots = Roots::of(module, &Functions::of(module));
    let large = roots.roots.iter().filter(|root| {
        root.kind == RootKind::Declared
            && root.address == Address::Open
            && root.space == Space::Acc
            && root.bytes.is_some_and(|bytes| bytes > spec.usable())
    });
    let plan = large.into_iter().find_map(|root| plan(module, &roots, root.value, spec.usable()).ok());
    let Some(plan) = plan else { return false };
    apply(module, &plan);
    true
}

/// Plans the blocks of an accumulator.
///
/// # Errors
/// Why it cannot be divided, as the rest of a sentence.
pub(super) fn plan(module: &Module, roots: &Roots, tile: ValueId, usable: u64) -> Result<Plan, String> {
    let name = module.value_name(tile);
    let ty = *module.ty(tile).as_tile().ok_or(format!("`{name}` is not a tile"))?;
    let [Some(rows), Some(cols)] = ty.valid.map(|dim| dim.known()) else {
        return Err(format!("the valid shape of `{name}` is not constant"));
    };
    let declared = module.defining_op(tile).ok_or(format!("`{name}` is an argument"))?;
    let mut users: Vec<OpId> = module.walk(module.top);
    users.retain(|op| module.op(*op).operands.contains(&tile));
    let place = |op: &OpId| module.position(*op);
    let home = users.first().and_then(place).map(|(block, _)| block).ok_or(format!("nothing uses `{name}`"))?;
    if users.iter().any(|op| place(op).is_none_or(|(block, _)| block != home)) {
        return Err(format!("`{name}` is used in several blocks of the program, such as a loop and the code after it"));
    }
    let mut steps = Vec::new();
    for user in &users {
        let op = OpRef::of(module, *user).ok_or("an op is not declared")?;
        steps.push(step(&op, roots, tile, [rows, cols], steps.is_empty())?);
    }
    let taken = steps.iter().position(|step| !matches!(step, ChainPart::Product(..))).unwrap_or(steps.len());
    if taken == 0 || taken == steps.len() || steps[taken..].iter().any(|step| matches!(step, ChainPart::Product(..))) {
        return Err(format!("`{name}` is taken out before its products are complete"));
    }
    let (first, last) = (users[0], users[users.len() - 1]);
    still(module, roots, (first, users[taken], last), &users, &steps)?;
    let mut block = [rows, cols];
    let bytes = |block: [u64; 2]| {
        block.iter().map(|n| n.next_multiple_of(FRACTAL)).product::<u64>() * ty.layout.elem.bytes() as u64
    };
    while bytes(block) > usable {
        let longer = usize::from(block[1] > block[0]);
        if block[longer] <= FRACTAL {
            return Err("not even one fractal fits".to_string());
        }
        block[longer] = block[longer].div_ceil(2).next_multiple_of(FRACTAL);
    }
    if rows.div_ceil(block[0]) * cols.div_ceil(block[1]) > MOST_BLOCKS {
        return Err(format!("that would be more than {MOST_BLOCKS} blocks"));
    }
    Ok(Plan { tile, declared, ty, steps, block, last })
}

/// The role of an op on an accumulator.
fn step(op: &OpRef<'_>, roots: &Roots, tile: ValueId, shape: [u64; 2], first: bool) -> Result<ChainPart, String> {
    let name = op.module.value_name(tile);
    if let Some(form) = op.def.product {
        let starts = match form.start {
            ProductStart::Zero => first,
            ProductStart::Acc(acc) => !first && op.operand(acc) == Some(tile),
            ProductStart::Bias(_) => first,
        };
        if !starts || op.operand(Product::DST) != Some(tile) || form.vector {
            return Err(format!("`{name}` does not begin with a product of two tiles"));
        }
        let operands = [Operand::of(op, roots, Product::LHS, 1)?, Operand::of(op, roots, Product::RHS, 0)?];
        if operands.iter().any(|operand| operand.shaped.is_some()) {
            return Err("the valid shape of an operand is not in its type".to_string());
        }
        let bias = match form.start {
            ProductStart::Bias(bias) => {
                let row = op.operand(bias).ok_or("its bias is missing")?;
                let known = op.module.ty(row).as_tile().is_some_and(|ty| ty.valid[1].known() == Some(shape[1]));
                if !known {
                    return Err("its bias does not have as many valid columns".to_string());
                }
                Some((bias, row))
            }
            _ => None,
        };
        return Ok(ChainPart::Product(op.id, Box::new(operands), bias));
    }
    let dst = op.operand("dst").filter(|_| op.operand("src") == Some(tile));
    let dst = dst.ok_or(format!("`{name}` is used by something that is not cut"))?;
    match op.module.ty(dst) {
        Type::PartitionView(view) if op.def.along == Along::EACH => {
            let dims: Option<Vec<u64>> = view.dims.iter().map(|dim| dim.known()).collect();
            let whole = dims.filter(|dims| dims.len() >= 2).is_some_and(|dims| {
                let (outer, inner) = dims.split_at(dims.len() - 2);
                inner == shape && outer.iter().all(|n| *n == 1)
            });
            if whole {
                Ok(ChainPart::Store(op.id))
            } else {
                Err(format!("`{name}` is stored into a window of another shape"))
            }
        }
        Type::Tile(target) if op.def.transfer == Some(Transfer::Whole) && target.space == Space::Mat => {
            let covered = (0..2).all(|dim| target.valid[dim].known() == Some(shape[dim]));
            if covered {
                Ok(ChainPart::Move(op.id))
            } else {
                Err(format!("`{name}` is moved to a tile of another shape"))
            }
        }
        _ => Err(format!("`{name}` is taken somewhere else than to global memory or L1")),
    }
}

/// Checks that the products may run at the position of the last op: their sources do not change, and no op that touches
/// memory comes between those that move the result out.
fn still(
    module: &Module,
    roots: &Roots,
    (first, taken, last): (OpId, OpId, OpId),
    users: &[OpId],
    steps: &[ChainPart],
) -> Result<(), String> {
    let place = |op: OpId| module.position(op).map_or(0, |(_, at)| at);
    let Some((block, from)) = module.position(first) else { return Ok(()) };
    // The sources of a product, from its position on.
    let mut sources = Vec::new();
    for step in steps {
        if let ChainPart::Product(op, operands, bias) = step {
            let read = operands.iter().map(|operand| operand.source).chain(bias.map(|(_, row)| row));
            sources.push((place(*op), read.flat_map(|value| roots.get(value).to_vec()).collect::<Vec<_>>()));
        }
    }
    for (at, op) in module.block(block).ops.iter().enumerate().take(place(last)).skip(from + 1) {
        if users.contains(op) {
            continue;
        }
        for inner in with_inner(module, *op) {
            if sources.iter().any(|(since, read)| *since < at && writes(module, roots, inner, read)) {
                return Err("what the products read changes before the result is taken out".to_string());
            }
            let touches =
                |def: &OpDef| def.schema.operands.iter().any(|spec| spec.touch.reads() || spec.touch.writes());
            if at > place(taken)
                && OpDef::of(module, inner).is_none_or(|def| touches(def) || !module.op(inner).regions.is_empty())
            {
                return Err("other ops stand between those that take the result out".to_string());
            }
        }
    }
    Ok(())
}

fn apply(module: &mut Module, plan: &Plan) {
    let mut builder = Builder::before(module, plan.last);
    let [rows, cols] = plan.ty.valid.map(|dim| dim.known().unwrap_or(0));
    let ranges = |n: u64, size: u64| (0..n).step_by(size as usize).map(move |at| at..n.min(at + size));
    let mut at = 0;
    for across in ranges(rows, plan.block[0]) {
        for along in ranges(cols, plan.block[1]) {
            one(&mut builder, plan, [&across, &along], at);
            at += 1;
        }
    }
    for step in &plan.steps {
        let (ChainPart::Product(op, ..) | ChainPart::Store(op) | ChainPart::Move(op)) = step;
        module.remove(*op);
    }
    for step in &plan.steps {
        if let ChainPart::Product(_, operands, _) = step {
            operands.iter().for_each(|operand| operand.drop_if_unused(module));
        }
    }
    module.remove(plan.declared);
}

/// All steps for one block.
fn one(builder: &mut Builder<'_>, plan: &Plan, block: [&Range<u64>; 2], at: usize) {
    let mut ty = plan.ty;
    for (dim, range) in block.iter().enumerate() {
        ty.valid[dim] = Dim::Static(range.end - range.start);
    }
    let padded = |range: &Range<u64>| (range.end - range.start).next_multiple_of(FRACTAL) as u32;
    (ty.layout.rows, ty.layout.cols) = (padded(block[0]), padded(block[1]));
    let acc = builder.declared_like(plan.declared, plan.tile, ty, at);
    let corner = block.map(|range| builder.index(range.start));
    for step in &plan.steps {
        match step {
            ChainPart::Product(id, operands, bias) => {
                let mut values = [acc; 2];
                for (side, operand) in operands.iter().enumerate() {
                    let own = operand.part(side, block[side]);
                    values[side] = builder.tile(operand, own, at);
                    let mut at = operand.corner;
                    at[side] += block[side].start;
                    let at = at.map(|n| builder.index(n));
                    builder.extract(operand, at, values[side]);
                }
                // It stays as a whole where it is.
                let part = bias.map(|(name, row)| (name, builder.columns(row, block[1])));
                builder.copy(*id, |spec, value| match spec {
                    Product::LHS => values[0],
                    Product::RHS => values[1],
                    name if part.is_some_and(|(bias, _)| bias == name) => part.map_or(value, |(_, part)| part),
                    _ if value == plan.tile => acc,
                    _ => value,
                });
            }
            ChainPart::Store(id) => {
                let view = builder.module.operands_named(*id, "dst")[0];
                let window = builder.window(view, corner, block.map(|range| range.end - range.start));
                builder.copy(*id, |_, value| match value {
                    value if value == plan.tile => acc,
                    value if value == view => window,
                    value => value,
                });
            }
            ChainPart::Move(id) => {
                let target = builder.module.operands_named(*id, "dst")[0];
                let source = builder.module.op(*id).clone();
                let operands = [("src", acc), ("row", corner[0]), ("col", corner[1]), ("dst", target)];
                builder.op(&pto::TINSERT, &operands, source.attrs, source.span);
            }
        }
    }
}
