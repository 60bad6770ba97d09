//! Lines of tiles that end within a block of 32 bytes in which the next line begins.

use slipring_ir::{BlockId, Diagnostic, Diags, Kind, Module, TileType, Type};
use slipring_op::OpRef;
use slipring_tile::{BLOCK_BYTES, BLayout, SLayout};

/// Checks every tile without boxes that a function declares (PTOAS#659; `static_assert` of the tile library's `Tile`).
pub(super) fn check(module: &Module, body: BlockId, diags: &mut Diags) {
    for id in module.walk(body) {
        let Some(op) = OpRef::of(module, id).filter(|op| op.address().is_some()) else { continue };
        for value in &module.op(op.id).results {
            let tile = match module.ty(*value) {
                Type::Tile(tile) => tile,
                Type::MultiTile { slot, .. } => slot,
                _ => continue,
            };
            if let Some((message, help)) = unlike_the_library(tile) {
                diags.push(Diagnostic::error(Kind::TileLines, op.span(), message).help(help));
            }
        }
    }
}

/// The problem with the lines of a tile, and what they should be. Packed pairs of 4 bits need half a block.
fn unlike_the_library(tile: &TileType) -> Option<(String, String)> {
    let layout = &tile.layout;
    let (count, line, along) = match layout.blayout {
        BLayout::RowMajor => (layout.cols, "row", "columns"),
        BLayout::ColMajor => (layout.rows, "column", "rows"),
    };
    let size = layout.elem.bytes() as u64;
    let (bytes, block) = (u64::from(count) * size, BLOCK_BYTES / layout.elem.values() as u64);
    if layout.slayout != SLayout::NoneBox || bytes.is_multiple_of(block) {
        return None;
    }
    let whole = bytes.next_multiple_of(block) / size;
    let message = format!("each {line} of the tile has {bytes} bytes, which is not a multiple of {block}");
    Some((message, format!("give it {whole} {along} and mark {count} of them as valid (`valid=` in the type)")))
}
