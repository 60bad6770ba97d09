//! How an op works along the rows and the columns of its tiles: what may be divided between the two Vector cores.

/// How an op works along one axis of its tiles. A tile's axis 0 is its rows (positions are row numbers), axis 1 its columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Along {
    /// Position by position: what is written at a position comes from the same position of the sources. Two cores can
    /// each do a part.
    Each,
    /// All positions of the sources are combined into one: sums, the largest element.
    Combines,
    /// `Each`, but only position 0 of the operand of this name is read, for every position of the result.
    First(&'static str),
    /// `Each`, but a source that has fewer valid positions than the result is read again and again.
    Repeats,
    /// `Each`, but the positions of one tile start at the number that the operand of this name is.
    Window(&'static str),
    /// What is written depends on the position: counting, triangles, random numbers.
    Counts,
    /// Positions of this axis of the sources are those of the other axis of the result.
    Transposes,
    /// The result is a part of the source's memory: positions from `offsets` on, as many as `sizes` says.
    Part,
    /// The result is the source's memory in another shape: where a position goes depends on both shapes.
    Reshapes,
    /// The declaration does not say: a tile is only used whole.
    Unknown,
}

impl Along {
    /// Both axes element by element.
    pub const EACH: [Along; 2] = [Along::Each; 2];
    /// Neither axis can be divided.
    pub const UNKNOWN: [Along; 2] = [Along::Unknown; 2];

    /// For reference pages and messages: what an op does to `axis` (0 rows, 1 columns).
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
