//! Work of the vector unit on tiles: elementwise, by rows and columns, comparisons, copies.
//!
//! Every effect writes the destination's valid shape and leaves the rest of the destination unchanged. Tiles may have
//! any layout. A source that shares bytes with the destination is read with its previous contents, so every operation
//! works in place. Costs are based on the number of bytes in the rows of the destination, or of the source for
//! reductions and comparisons.

mod blocks;
mod compare;
mod copies;
mod counted;
mod elementwise;
mod gather;
mod generate;
mod number;
mod operands;
mod order;
mod pad;
mod pairs;
mod part_arg;
mod reduce;
mod scaled;
mod sequence;
mod steps;
mod table;
mod table_mat;
mod working;

pub use blocks::{GROUP, Groups, QuantiseGroups, SharedExponent};
pub use compare::{Bits, CompareTiles, Select};
pub use copies::{Concat, Spread, Transpose};
pub use counted::ConcatCounted;
pub use elementwise::{Elementwise, Partial};
pub use gather::{Gather, GatherBlocks, GatherPattern, GatherWhere, Pitch, Scatter, ScatterPattern};
pub use generate::{Bins, Histogram, Random};
pub use number::{Number, NumberUse, unsigned};
pub use operands::{Input, Local, TileArg};
pub use order::{Merge, MergeRows, SortRows};
pub use pad::Pad;
pub use pairs::{Interleave, PairSums, Weave};
pub use part_arg::{Numbered, PartArg};
pub use reduce::{ColArg, ColReduce, Reduction, RowArg, RowReduce, Rows};
pub use scaled::{RowNumber, ScaleRows};
pub use sequence::Sequence;
pub use steps::Steps;
pub use table::{Outside, ReadNumbers, Stays, TableArg, TableMove};
pub use table_mat::{ReadRowNumbers, RowsToMat, StageElements, StagedToMat};
pub use working::{Around, Found, Seen, Working, WorkingSpan, WorkingSpans, WorkingTile, lacking};

pub use operands::tile_units;
use operands::with_operands;

#[cfg(test)]
mod tests;
