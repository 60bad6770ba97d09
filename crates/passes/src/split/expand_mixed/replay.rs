//! The second Vector core's part of a kernel that is written for one, on platforms where the Cube core receives signals
//! of both together: it gives the same signals. It stores nothing, and loads only data on which the tiles it pushes, or
//! its control flow, depend.

use std::collections::BTreeSet;

use slipring_ir::{BlockId, Module, OpId, ValueId};
use slipring_op::OpRef;
use slipring_program::Direction;
use slipring_tile::Space;

use super::sides::{Side, side};

/// The second core's part.
#[derive(Clone, Debug)]
pub(super) struct Replay {
    loads: BTreeSet<OpId>,
}

impl Replay {
    /// Analyses a kernel.
    pub fn of(module: &Module, body: BlockId) -> Replay {
        let ops: Vec<OpRef<'_>> = module.walk(body).into_iter().filter_map(|op| OpRef::of(module, op)).collect();
        let is_tile = |value: &ValueId| module.ty(*value).as_tile().is_some();
        let tiles = |values: &[ValueId]| values.iter().copied().filter(is_tile).collect::<Vec<_>>();
        let wanted = |op: &OpRef<'_>| {
            let data = module.op(op.id);
            let pushes = side(module, op.id) == Side::Crosses(Direction::V2C)
                || op.def.ring.is_some_and(|part| part.pushes() == Some(Direction::V2C));
            pushes || data.results.iter().any(|value| !is_tile(value))
        };
        let mut needed: BTreeSet<ValueId> =
            ops.iter().filter(|op| wanted(op)).flat_map(|op| tiles(&module.op(op.id).operands)).collect();
        // Tiles that a loop or branch carries are not tracked: everything is needed then.
        let carries = |op: &OpRef<'_>| {
            let data = module.op(op.id);
            !data.regions.is_empty() && data.operands.iter().chain(&data.results).any(is_tile)
        };
        let all = ops.iter().any(carries);
        loop {
            let before = needed.len();
            for op in &ops {
                let data = module.op(op.id);
                let is_needed = |tile: &ValueId| needed.contains(tile);
                if op.written().any(|tile| is_needed(&tile)) || data.results.iter().any(is_needed) {
                    needed.extend(tiles(&data.operands));
                }
                // Writes through a view of a tile count as writes of the tile.
                if tiles(&data.operands).iter().any(|tile| needed.contains(tile)) {
                    needed.extend(tiles(&data.results));
                }
            }
            if needed.len() == before {
                break;
            }
        }
        let is_needed = |op: &&OpRef<'_>| loads(op) && (all || op.written().any(|tile| needed.contains(&tile)));
        Replay { loads: ops.iter().filter(is_needed).map(|op| op.id).collect() }
    }

    /// True for a load that it omits.
    pub fn leaves_out(&self, op: &OpRef<'_>) -> bool {
        loads(op) && !self.does(op.id)
    }

    /// True for an access to global memory that it performs.
    pub fn does(&self, op: OpId) -> bool {
        self.loads.contains(&op)
    }
}

/// True for a move from global memory to a local one.
fn loads(op: &OpRef<'_>) -> bool {
    let of_memory = |value: ValueId| op.module.ty(value).space() == Some(Space::Gm);
    op.module.op(op.id).results.is_empty() && op.read().any(of_memory)
}
