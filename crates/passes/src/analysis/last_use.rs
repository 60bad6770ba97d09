//! The last use of a popped tile.

use std::collections::BTreeSet;
use std::ops::Range;

use slipring_ir::{BlockId, Module, OpId, ValueId};
use slipring_op::{OpRef, PipeRule};

/// The uses of a tile among the ops of a block.
#[derive(Clone, Debug)]
pub struct Uses {
    /// Position in the block of the last use; the position before the range if there is none.
    pub last: usize,
    /// The tile and its views: a view of the tile counts as the tile.
    pub names: BTreeSet<ValueId>,
}

/// Uses of a tile by the ops of a block at the positions `range`, and by the ops in their regions.
///
/// # Errors
/// The op that passes the tile on under another name.
pub fn uses(module: &Module, block: BlockId, tile: ValueId, range: Range<usize>) -> Result<Uses, OpId> {
    let mut found = Uses { last: range.start.saturating_sub(1), names: BTreeSet::from([tile]) };
    let end = range.end;
    for (at, &outer) in module.block(block).ops.iter().enumerate().take(end).skip(range.start) {
        for op in with_inner(module, outer) {
            let data = module.op(op);
            if !data.operands.iter().any(|value| found.names.contains(value)) {
                continue;
            }
            found.last = at;
            if data.schema().is_some_and(|schema| schema.terminator) {
                return Err(op);
            }
            if OpRef::of(module, op).is_none_or(|op| matches!(op.def.pipe, PipeRule::None)) {
                found.names.extend(data.results.iter().filter(|value| module.ty(**value).space().is_some()));
            }
        }
    }
    Ok(found)
}

/// An op and the ops in its regions.
pub fn with_inner(module: &Module, op: OpId) -> Vec<OpId> {
    let mut found = vec![op];
    for region in &module.op(op).regions {
        for block in &module.region(*region).blocks {
            found.extend(module.walk(*block));
        }
    }
    found
}
