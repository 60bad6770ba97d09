//! The effects of work on memory, shared by several ops.

pub mod arithmetic;
mod boxes;
mod bursts;
mod cluster;
mod element;
mod fill;
mod finish;
mod fixpipe;
mod fractal;
mod fractal_select;
mod gm_move;
mod mad;
mod matmul;
mod move_rect;
mod product;
mod region;
mod repeats;
mod scaled;
mod share;
mod signal;
mod sort;
mod strided;
mod tile_move;

pub mod vector;

pub use boxes::Corner;
pub use bursts::{BurstArgs, BurstEnd, Bursts, Whose};
pub use cluster::{OnCore, SameArgs, SameTiles};
pub use element::{CleanCache, ElementAccess, UNKNOWN, Within, past_end};
pub use fill::{FILL_MOST, Fill, FillArgs};
pub use finish::{Finish, Scales, finite_pad, pad_value, pads_with_infinity};
pub use fixpipe::{Entry, Fixpipe, FixpipeArgs, Form, Narrow, Payload, Quant, QuantTo, Relu, Split};
pub use fractal::{BiasArgs, BiasLoad, FractalArgs, FractalLoad, OperandLoad};
pub use fractal_select::{FRACTAL, FractalSelect, SelectArgs};
pub use gm_move::{GmMove, GmMoveArgs};
pub use mad::{Mad, MadStart, Tf32};
pub use matmul::{MatmulArgs, MatmulEffect, Start, product_blocks};
pub use move_rect::{Divide, MoveArgs, MoveEffect, MovePart, TilePlace};
pub use product::MadArgs;
pub use region::{rect_extents, tile_extents};
pub use repeats::{COUNTS, RepeatArgs, Repeats, Spaced};
pub use scaled::{SCALE_GROUP, ScaledMatmul};
pub use share::ShareEffect;
pub use signal::{Arrive, ArriveArgs, Await, Notify, SignalArgs};
pub use sort::{MergeArgs, MergeLists, SortArgs, SortGroups};
pub use strided::{FOLD_HINT, Fold, Folding, MAX_RANK, Strided, StridedWindow, folds_otherwise};
pub use tile_move::{Taken, TileMove, TileMoveArgs};

use slipring_program::Fault;
use slipring_tile::Layout;

/// The valid rows and columns of a tile at run time, as numbers.
///
/// # Errors
/// `tile-valid` if they are negative or larger than the tile.
pub fn valid_shape(what: &str, layout: &Layout, rows: u64, cols: u64) -> Result<(u32, u32), Fault> {
    if rows <= u64::from(layout.rows) && cols <= u64::from(layout.cols) {
        return Ok((rows as u32, cols as u32));
    }
    Err(Fault::new(
        slipring_program::Kind::TileValid,
        format!(
            "the {what} has {} x {} elements, its valid shape is {} x {}",
            layout.rows, layout.cols, rows as i64, cols as i64
        ),
    )
    .help("a valid shape lies between 0 and the shape of the tile"))
}

/// The fault of a copy whose bytes unexpectedly do not exist.
pub(crate) fn outside(error: slipring_tile::OutOfBounds) -> Fault {
    Fault::new("tile-shape", error.to_string())
}
