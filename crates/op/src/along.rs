//! Semantics of an op along the rows and the columns of its tiles: which axis can be divided between the two Vector
//! cores.

/// Semantics of an op along one axis of its tiles. Axis 0 of a tile is its rows (positions are row numbers), axis 1 its
/// columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Along {
    /// Position by position: the result at a position depends on the same position of the sources. Each of two cores
    /// can compute a part.
    Each,
    /// Combines all positions of the sources into one, as in a sum or a maximum.
    Combines,
    /// `Each`, but only position 0 of the operand of this name is read, for every position of the result.
    First(&'static str),
    /// `Each`, but a source with fewer valid positions than the result is read repeatedly.
    Repeats,
    /// `Each`, but the positions of one tile start at the value of the operand of this name.
    Window(&'static str),
    /// The result depends on the position itself: counting, triangles, random numbers.
    Counts,
    /// This axis of the sources is the other axis of the result.
    Transposes,
    /// The result is a part of the source's memory: `sizes` positions from `offsets` on.
    Part,
    /// The result is the source's memory in another shape: the new position of an element depends on both shapes.
    Reshapes,
    /// The declaration does not specify it: a tile is only used undivided.
    Unknown,
}

impl Along {
    /// Element by element along both axes.
    pub const EACH: [Along; 2] = [Along::Each; 2];
    /// Neither axis can be divided.
    pub const UNKNOWN: [Along; 2] = [Along::Unknown; 2];

    /// The effect of an op on `axis` (0 rows, 1 columns), for reference pages and messages.
    pub fn describe(self, axis: usize) -> String {
        let one = ["row", "column"][axis & 1];
        match self {
            Along::Each => format!("each {one} on its own"),
            Along::Combines => format!("combines all {one}s"),
            Along::First(operand) => format!("each {one} on its own, with the first {one} of `{operand}`"),
            Along::Repeats => format!("each {one} on its own, the {one}s of a smaller source repeated"),
            Along::Window(operand) => format!("each {one} on its own, from {one} `{operand}` on"),
            Along::Counts => format!("the result depends on the {one}'s number"),
            Along::Transposes => format!("{one}s become {}s", ["column", "row"][axis & 1]),
            Along::Part => format!("some of the {one}s"),
            Along::Reshapes => format!("{one}s as both shapes have it"),
            Along::Unknown => "only whole".into(),
        }
    }
}
