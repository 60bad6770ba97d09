//! Findings of the tools.

use slipring_finding::{Kind, Severity};

/// An instruction's location: index in [`Program::sites`](crate::Program::sites).
pub type SiteRef = u32;

/// A location that explains a finding, and its role.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The location.
    pub site: SiteRef,
    /// Its role, such as `the other write`.
    pub text: String,
}

/// One finding: the same type for every tool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Stable code, such as `deadlock` or `memory-bounds`, which is displayed.
    pub code: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// Its severity.
    pub severity: Severity,
    /// The error, in one sentence.
    pub message: String,
    /// Its location; `None` if it has none in the text.
    pub primary: Option<Label>,
    /// Other locations that explain it.
    pub secondary: Vec<Label>,
    /// Further lines: states, counts, addresses.
    pub notes: Vec<String>,
    /// How to fix it.
    pub hint: Option<String>,
}

impl Finding {
    /// A finding without a location.
    pub fn new(kind: impl Into<Kind>, severity: Severity, message: impl Into<String>) -> Finding {
        let kind = kind.into();
        Finding {
            code: kind.code(),
            kind,
            severity,
            message: message.into(),
            primary: None,
            secondary: Vec::new(),
            notes: Vec::new(),
            hint: None,
        }
    }

    /// Sets its location.
    pub fn at(mut self, site: SiteRef, text: impl Into<String>) -> Finding {
        self.primary = Some(Label { site, text: text.into() });
        self
    }

    /// Adds a location that explains it.
    pub fn also(mut self, site: SiteRef, text: impl Into<String>) -> Finding {
        self.secondary.push(Label { site, text: text.into() });
        self
    }

    /// Adds a fact.
    pub fn note(mut self, text: impl Into<String>) -> Finding {
        self.notes.push(text.into());
        self
    }

    /// Adds how to fix it.
    pub fn help(mut self, text: impl Into<String>) -> Finding {
        self.hint = Some(text.into());
        self
    }
}
