//! Capabilities of a platform's tile library, by name, where libraries differ.

use serde::Deserialize;

/// A behaviour of the tile library that differs between platforms. Platform files list them (`capabilities`); no code
/// tests which platform it is on, or derives one fact from another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Capability {
    /// Vector operations accept the element types of a register-based unit.
    RegisterTypes,
    /// Vector operations accept the tile layouts of a register-based unit.
    RegisterLayouts,
    /// Vector operations keep in registers what others keep in working memory in UB.
    RegisterScratch,
    /// Vector operations internally set and wait for the flags that a register-based unit needs.
    RegisterFlags,
    /// Reductions add in the order of registers, not in that of halves in memory.
    RegisterReductions,
    /// Parameters of rows are contiguous, and quantisation leaves its source unchanged.
    FlatRowParameters,
    /// `taxpy` rounds once.
    FusedAxpy,
    /// Powers are computed by one function, not in steps that round.
    PowerFunction,
    /// Some operations have a longer high-precision sequence; powers of bf16 have only that one.
    HighPrecision,
    /// Between two equal maxima or minima of parts the comparison alone decides, not the ends of the parts.
    OrderedPartArg,
    /// Operations on two tiles with different valid shapes accept any that cover the result.
    AnyParts,
    /// A gather by comparison processes the valid elements, in whole registers.
    GatherValid,
    /// A gather by comparison supports all comparisons of integers.
    GatherIntegers,
    /// Comparisons of i32 have all modes, not only equality.
    CompareIntegers,
    /// Operations write exactly the valid part, not whole repeats of 256 bytes.
    ExactColumns,
    /// The vector unit scatters, not the scalar unit.
    VectorScatter,
    /// The vector unit moves lines and elements between tiles and tables in global memory.
    VectorTables,
    /// Moves of lines and elements have modes for indices outside of the table.
    TableModes,
    /// The rows of a mask are counted in its elements where it is read, not in bytes.
    MaskElements,
    /// A product of a row uses the row in place, not as part of a tile of several rows.
    SingleRowProducts,
    /// Accumulators can be moved out as floats with a parameter for each column, too.
    ColumnScaledFloats,
    /// Accumulators are moved by their valid rows, if those are known only at run time.
    MovesByValidRows,
    /// Windows can be extracted from UB.
    UbWindows,
    /// A comparison writes a mask with the shape of its operands.
    ShapedMasks,
    /// Tiles of different shapes can be moved within UB.
    ReshapingMoves,
    /// Tiles of bf16 can be filled with a scalar.
    FillBf16,
}
