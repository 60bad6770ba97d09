//! What tools find.

/// An instruction's place: index in [`Program::sites`](crate::Program::sites).
pub type SiteRef = u32;

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; the run is still clean.
    Note,
    /// Suspicious; the run is still clean.
    Warning,
    /// The program is wrong.
    Error,
}

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
    /// Stable code, such as `deadlock` or `memory-bounds`.
    pub code: &'static str,
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
