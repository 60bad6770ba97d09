//! Decisions at a point of a program, and the data they depend on.

use crate::SiteRef;

/// The dependences of a value.
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

    /// The union of both.
    pub const fn join(self, other: Causes) -> Causes {
        Causes { data: self.data || other.data, params: self.params | other.params }
    }

    /// True if it depends on neither.
    pub const fn is_empty(self) -> bool {
        !self.data && self.params == 0
    }
}

/// A kind of decision.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Choice {
    /// Which bytes are touched, or whether the access is valid.
    Access,
    /// The control flow: a branch, a loop bound.
    Control,
    /// Which synchronisation object is used.
    Sync,
    /// Whether a scalar instruction stops the program.
    Trap,
    /// When, or whether, a wait for a value in memory ends.
    Wait,
    /// Whether a fault is found: values are compared, or a value must be valid for a type.
    Fault,
    /// Whether unwritten bytes are used, or reach results.
    Unwritten,
}

impl Choice {
    /// The description of a decision in an op; `at` is its location, such as ` (line 3)`, or empty.
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

/// A point at which more than the program's text decides something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Decision {
    pub site: SiteRef,
    pub choice: Choice,
    pub causes: Causes,
}
