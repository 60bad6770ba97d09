//! What is decided at a place of a program, and what it depends on.

use crate::SiteRef;

/// What a number depends on.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Causes {
    /// Data that was loaded.
    pub data: bool,
    /// Scalar parameters, one bit each; those from 63 on share a bit.
    pub params: u64,
}

impl Causes {
    /// Loaded data.
    pub const DATA: Causes = Causes { data: true, params: 0 };

    /// Both.
    pub const fn join(self, other: Causes) -> Causes {
        Causes { data: self.data || other.data, params: self.params | other.params }
    }

    /// True if it depends on neither.
    pub const fn is_empty(self) -> bool {
        !self.data && self.params == 0
    }
}

/// What is decided at a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Choice {
    /// Which bytes are touched, or whether that works.
    Access,
    /// How control goes on: a branch, a loop bound.
    Control,
    /// Which synchronisation object is meant.
    Sync,
    /// Whether a scalar instruction stops the program.
    Trap,
    /// When, or whether, a wait for a number in memory is over.
    Wait,
    /// Whether a fault is found: values are compared, or a number must be one that a type has.
    Fault,
    /// Whether bytes that nobody wrote are used, or come into results.
    Unwritten,
}

impl Choice {
    /// What is decided, of an op; `at` says where it is, such as ` (line 3)`, or nothing.
    pub fn describe(self, op: &str, at: &str) -> String {
        match self {
            Choice::Access => format!("what `{op}`{at} accesses"),
            Choice::Control => format!("how `{op}`{at} goes on"),
            Choice::Sync => format!("which signal `{op}`{at} means"),
            Choice::Trap => format!("whether `{op}`{at} divides by zero"),
            Choice::Wait => format!("when `{op}`{at} is over"),
            Choice::Fault => format!("whether `{op}`{at} reports a fault"),
            Choice::Unwritten => format!("whether `{op}`{at} uses bytes that nobody has written"),
        }
    }
}

/// A place where something is decided by more than the program's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Decision {
    pub site: SiteRef,
    pub choice: Choice,
    pub causes: Causes,
}
