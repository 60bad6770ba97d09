//! Tiles whose type has no memory, `!pto.tile<f32, 64, 64>` (seed 003): it is inferred from their definition and uses.
//!
//! In this order, the memory is taken from: ops of rings, of products and of kernels for both kinds of core, which fix
//! a memory for each operand; the Vector core's pipe and ops of the Vector core, which has only one; a function for the
//! Vector core.

use slipring_ir::{Diagnostic, Diags, Module, OpId, Span, TileType, Type, ValueDef, ValueId};
use slipring_machine::{CoreKind, Pipe};
use slipring_program::Direction;
use slipring_tile::{Layout, Space};

use crate::def::{OpRef, PipeRule, Product, RingPart};
use crate::facts::{CoreRule, MixedPart};
use crate::ring::slot_space;
use crate::verify::home_kind;

/// Gives every tile of a short type its memory, and the usual layout there. Reports tiles whose memory cannot be
/// inferred.
pub fn complete_tiles(module: &mut Module, diags: &mut Diags) {
    let open = |module: &Module, value: &ValueId| matches!(module.ty(*value), Type::ShortTile { .. });
    let ops = module.walk(module.top);
    let mut values: Vec<ValueId> = Vec::new();
    for op in &ops {
        values.extend(module.op(*op).results.iter().filter(|v| open(module, v)));
        for region in &module.op(*op).regions {
            let blocks = module.region(*region).blocks.iter();
            values.extend(blocks.flat_map(|block| &module.block(*block).args).filter(|v| open(module, v)));
        }
    }
    if values.is_empty() {
        return;
    }
    let mut told: Vec<Vec<(Space, Span)>> = vec![Vec::new(); values.len()];
    let place: std::collections::BTreeMap<ValueId, usize> =
        values.iter().enumerate().map(|(at, value)| (*value, at)).collect();
    for op in ops.iter().filter_map(|op| OpRef::of(module, *op)) {
        let data = module.op(op.id);
        for value in data.operands.iter().chain(&data.results) {
            if let Some(at) = place.get(value)
                && let Some(space) = memory_at(&op, *value)
            {
                told[*at].push((space, data.span));
            }
        }
    }
    for (value, told) in values.into_iter().zip(told) {
        let Type::ShortTile { elem, rows, cols } = *module.ty(value) else { continue };
        let own = told.first().copied().or_else(|| {
            let op = definition(module, value).and_then(|op| OpRef::of(module, op))?;
            (home_kind(&op) == Some(CoreKind::Vector)).then_some((Space::Vec, op.span()))
        });
        match own {
            Some((space, span)) => {
                if let Some((other, place)) = told.iter().find(|(other, _)| *other != space) {
                    diags.push(
                        unknown(module, value, "the memory of this tile does not follow from its type and its uses")
                            .also(span, format!("`{space}` here"))
                            .also(*place, format!("`{other}` here"))
                            .help("write two tiles, each with its memory, and a move between them"),
                    );
                }
                module.value_mut(value).ty = Type::Tile(TileType {
                    space,
                    layout: usual(space, Layout::nz(elem, rows, cols)),
                    valid: [slipring_ir::Dim::Static(rows.into()), slipring_ir::Dim::Static(cols.into())],
                    pad: 0,
                    compact: 0,
                });
            }
            None => diags.push(
                unknown(module, value, "the memory of this tile is not known: neither its type nor its uses say it")
                    .help(format!("write it: `!pto.tile_buf<vec, {rows}x{cols}x{elem}>` on the Vector core, `mat` or `acc` on the Cube core")),
            ),
        }
    }
}

fn unknown(module: &Module, value: ValueId, message: &str) -> Diagnostic {
    Diagnostic::error("tile-memory", module.value(value).span, message)
}

fn definition(module: &Module, value: ValueId) -> Option<OpId> {
    match module.value(value).def {
        ValueDef::Result(op, _) => Some(op),
        ValueDef::Arg(block, _) => module.block_parent(block),
    }
}

/// The default layout of a tile in a memory.
fn usual(space: Space, nz: Layout) -> Layout {
    use slipring_tile::{BLayout, SLayout};
    let fractal = if space == Space::Acc { 1024 } else { 512 };
    let (blayout, slayout) = match space {
        Space::Mat | Space::Left | Space::Acc => (nz.blayout, nz.slayout),
        Space::Right => (BLayout::RowMajor, SLayout::ColMajor),
        _ => (BLayout::RowMajor, SLayout::NoneBox),
    };
    Layout { blayout, slayout, fractal, ..nz }
}

/// The memory that an op requires for one of its tiles.
fn memory_at(op: &OpRef<'_>, value: ValueId) -> Option<Space> {
    let is = |name: &str| op.operand(name) == Some(value);
    if let Some(part) = op.ring() {
        return match part {
            RingPart::Push(Direction::C2V) => Some(Space::Acc),
            RingPart::Push(Direction::V2C) => Some(Space::Vec),
            RingPart::Pop(direction) => Some(slot_space(direction)),
            RingPart::Free(_)
            | RingPart::Initialize
            | RingPart::Reserve
            | RingPart::Import
            | RingPart::Status(..)
            | RingPart::Scale(_)
            | RingPart::Handle(_) => None,
        };
    }
    if op.def.product.is_some() {
        return [(Product::LHS, Space::Left), (Product::RHS, Space::Right), (Product::DST, Space::Acc)]
            .into_iter()
            .find_map(|(name, space)| is(name).then_some(space));
    }
    let on_vector = matches!(op.def.pipe, PipeRule::Fixed(Pipe::V)) || op.def.core == CoreRule::Vector;
    match op.def.mixed {
        Some(MixedPart::Shard) => Some(if is("src") { Space::Acc } else { Space::Vec }),
        Some(MixedPart::Gather) => Some(if is("src") { Space::Vec } else { Space::Mat }),
        Some(MixedPart::Cross | MixedPart::Region) => None,
        None => on_vector.then_some(Space::Vec),
    }
}
