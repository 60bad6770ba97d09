//! Line numbers as shown to users.

use std::fmt;
use std::sync::Arc;

/// A line in the file that it was written in. It shows as `12`, or as `12 of helper.py` where that is not the file that
/// was given.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Line {
    /// The other file; `None` for the one that was given.
    pub file: Option<Arc<str>>,
    /// Line number in that file, from 1.
    pub number: u32,
}

impl Line {
    /// A line of a file; `None` is the file that was given.
    pub fn new(number: u32, file: Option<&str>) -> Line {
        Line { file: file.map(Into::into), number }
    }

    /// The other file.
    pub fn file(&self) -> Option<String> {
        self.file.as_ref().map(|file| file.to_string())
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{} of {file}", self.number),
            None => write!(f, "{}", self.number),
        }
    }
}
