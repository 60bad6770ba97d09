//! What the tile library of a platform can do where libraries differ, each by its name.

use serde::Deserialize;

/// One thing that the tile library of some platforms does and that of others does not. Platform files list them
/// (`capabilities`); nothing asks which platform it is, nor one fact to learn another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Capability {
    /// Vector operations take the element types of a unit that works on registers.
    RegisterTypes,
    /// Vector operations take the tile layouts of a unit that works on registers.
    RegisterLayouts,
    /// Vector operations keep in registers what others keep in working memory in UB.
    RegisterScratch,
    /// Vector operations set and wait for the flags that a unit that works on registers needs inside.
    RegisterFlags,
    /// Reductions add in the order of registers, not in that of halves in memory.
    RegisterReductions,
    /// Parameters of rows lie one after the other, and quantisation leaves its source as it was.
    FlatRowParameters,
    /// `taxpy` rounds once.
    FusedAxpy,
    /// Powers are computed by one function, not in steps that round.
    PowerFunction,
    /// Some operations have a longer sequence of high precision; powers of bf16 have that one only.
    HighPrecision,
    /// Of two equal maxima or minima of parts the comparison alone decides, not where a part ends.
    OrderedPartArg,
    /// Operations on two tiles of different valid shapes take any that cover the result.
    AnyParts,
    /// A gather by comparison goes through the valid elements, in whole registers.
    GatherValid,
    /// A gather by comparison compares integers in any way.
    GatherIntegers,
    /// Operations write what is valid, not whole repeats of 256 bytes.
    ExactColumns,
    /// The vector unit scatters, not the scalar unit.
    VectorScatter,
    /// The vector unit moves lines and elements between tiles and tables in global memory.
    VectorTables,
    /// Moves of lines and elements have modes for indices outside of the table.
    TableModes,
    /// The rows of a mask are counted in its elements where it is read, not in bytes.
    MaskElements,
    /// A product of a row takes the row as it lies, not out of a tile of several.
    SingleRowProducts,
    /// Accumulators leave with a parameter for each column as floats too.
    ColumnScaledFloats,
    /// Accumulators move by their valid rows, where those are known only in the run.
    MovesByValidRows,
    /// Windows are taken out of UB.
    UbWindows,
    /// A comparison writes a mask of the shape of what it compares.
    ShapedMasks,
    /// Tiles of different shapes move in UB.
    ReshapingMoves,
    /// Tiles of bf16 are filled with a number.
    FillBf16,
}
