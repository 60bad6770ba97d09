//! What is wrong with a text, and where.

use std::ops::Range;

use thiserror::Error;

/// A mistake in a text.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{message}")]
pub struct TextError {
    /// Where, in bytes.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub hint: Option<String>,
    /// The text stands for more than a limit allows: nothing after this is read.
    pub full: bool,
}

impl TextError {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> TextError {
        TextError { span, message: message.into(), hint: None, full: false }
    }

    pub(crate) fn full(span: Range<usize>) -> TextError {
        let message = format!("up to here the file expands to more than {MOST_BYTES} bytes, the limit");
        TextError { full: true, ..TextError::new(span, message) }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> TextError {
        self.hint = Some(hint.into());
        self
    }
}

/// Most bytes that a text may stand for: short texts can say long runs.
pub(crate) const MOST_BYTES: usize = 256 << 20;
