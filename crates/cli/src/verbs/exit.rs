//! How a command ends.

/// How a verb ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Exit {
    Clean,
    Findings,
    BadInput,
    Doubtful,
}
