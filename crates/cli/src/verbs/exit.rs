//! Exit codes.

/// The outcome of a verb.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Exit {
    Clean,
    Findings,
    BadInput,
    Doubtful,
}
