//! Scalars of compiled scopes.

/// How a number reaches a compiled scope.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    /// It is compiled in.
    Fixed(i64),
    /// It is passed, as a multiple of this.
    Passed { unit: u64 },
}

impl Number {
    /// True if the scope that is compiled for it can run with this value.
    pub(super) fn takes(self, n: i64) -> bool {
        match self {
            Number::Fixed(fixed) => fixed == n,
            Number::Passed { unit } => n.unsigned_abs().is_multiple_of(unit),
        }
    }

    /// What its values are multiples of.
    pub(super) fn unit(self) -> u64 {
        match self {
            Number::Fixed(fixed) => fixed.unsigned_abs(),
            Number::Passed { unit } => unit,
        }
    }
}
