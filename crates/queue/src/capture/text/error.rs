//! Errors in a text, with their location.

use std::ops::Range;

use thiserror::Error;

/// An error in a text.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{message}")]
pub struct TextError {
    /// Its location, in bytes.
    pub span: Range<usize>,
    /// The error.
    pub message: String,
    /// How to fix it.
    pub hint: Option<String>,
    /// The text exceeds a size limit: nothing after this is read.
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

/// Maximum number of bytes represented by a text: short texts can describe long runs.
pub(crate) const MOST_BYTES: usize = 256 << 20;
