//! Limits on following host code.

/// The maximum number of steps of host code.
pub(super) const MOST_STEPS: u64 = 4_000_000;
/// The maximum total size of lists, dicts and strings of host code, in list elements: some hundred MiB, including
/// intermediate copies.
pub(super) const MOST_MADE: u64 = 1_000_000;
/// The maximum depth of nested calls.
pub(super) const MOST_DEPTH: usize = 400;
/// The maximum depth of nested expressions and iterators, over all calls.
pub(super) const MOST_NEST: usize = 3000;
/// The maximum number of values in a list.
pub(super) const MOST_VALUES: usize = 1 << 18;
/// The maximum number of host values that a kernel sees, and of iterations of a loop that starts kernels.
pub(super) const MOST_SEEN: usize = 1 << 16;
/// The maximum size of a string in bytes.
pub(super) const MOST_TEXT: usize = 1 << 16;
