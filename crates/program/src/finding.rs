//! What tools find.

use slipring_finding::{Kind, Severity};

/// An instruction's place: index in [`Program::sites`](crate::Program::sites).
pub type SiteRef = u32;

/// A place that explains a finding, and what it has to do with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Where.
    pub site: SiteRef,
    /// Its part, such as `the other write`.
    pub text: String,
}

/// One finding: the same type for every tool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Stable code, such as `deadlock` or `memory-bounds`: what is shown of the kind.
    pub code: &'static str,
    /// What it is about.
    pub kind: Kind,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where it shows; `None` for what has no place in the text.
    pub primary: Option<Label>,
    /// Other places that explain it.
    pub secondary: Vec<Label>,
    /// Further lines: states, counts, addresses.
    pub notes: Vec<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Finding {
    /// A finding without a place.
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

    /// Says where it shows.
    pub fn at(mut self, site: SiteRef, text: impl Into<String>) -> Finding {
        self.primary = Some(Label { site, text: text.into() });
        self
    }

    /// Adds a place that explains it.
    pub fn also(mut self, site: SiteRef, text: impl Into<String>) -> Finding {
        self.secondary.push(Label { site, text: text.into() });
        self
    }

    /// Adds a fact.
    pub fn note(mut self, text: impl Into<String>) -> Finding {
        self.notes.push(text.into());
        self
    }

    /// Says what to do about it.
    pub fn help(mut self, text: impl Into<String>) -> Finding {
        self.hint = Some(text.into());
        self
    }
}
