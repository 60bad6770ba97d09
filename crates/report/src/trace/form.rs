//! The forms in which traces are written.

use crate::trace::Trace;
use crate::trace::chrome::chrome;
use crate::trace::perfetto::perfetto;

/// A form in which traces are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceForm {
    /// [`chrome`].
    Chrome,
    /// [`perfetto`].
    Perfetto,
}

impl TraceForm {
    /// The form that the end of a file's name stands for: `.pftrace` and `.perfetto-trace` are Perfetto's own, all others Chrome's.
    pub fn of(file: &str) -> TraceForm {
        match file.rsplit_once('.') {
            Some((_, "pftrace" | "perfetto-trace")) => TraceForm::Perfetto,
            _ => TraceForm::Chrome,
        }
    }

    /// A trace in this form. The same trace gives the same bytes.
    pub fn write(self, trace: &Trace) -> Vec<u8> {
        match self {
            TraceForm::Chrome => chrome(trace).into_bytes(),
            TraceForm::Perfetto => perfetto(trace),
        }
    }
}
