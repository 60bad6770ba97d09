//! How far host code is followed.

/// The most steps that host code is run for.
pub(super) const MOST_STEPS: u64 = 4_000_000;
/// The most that lists, dicts and strings of host code are together, in values of a list: some hundred MiB, with what is copied on the way.
pub(super) const MOST_MADE: u64 = 1_000_000;
/// The most calls inside each other.
pub(super) const MOST_DEPTH: usize = 400;
/// The most expressions and iterators inside each other, over all calls.
pub(super) const MOST_NEST: usize = 3000;
/// The most values of a list.
pub(super) const MOST_VALUES: usize = 1 << 18;
/// The most values that a kernel sees of what the host made, and iterations of a loop that starts kernels.
pub(super) const MOST_SEEN: usize = 1 << 16;
/// The most bytes of a string.
pub(super) const MOST_TEXT: usize = 1 << 16;
