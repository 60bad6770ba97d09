//! The file formats of traces.

use crate::trace::Trace;
use crate::trace::chrome::chrome;
use crate::trace::perfetto::perfetto;

/// A file format of traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceForm {
    /// [`chrome`].
    Chrome,
    /// [`perfetto`].
    Perfetto,
}

impl TraceForm {
    /// The format for a file name: Perfetto's own for `.pftrace` and `.perfetto-trace`, Chrome's for all others.
    pub fn of(file: &str) -> TraceForm {
        match file.rsplit_once('.') {
            Some((_, "pftrace" | "perfetto-trace")) => TraceForm::Perfetto,
            _ => TraceForm::Chrome,
        }
    }

    /// Serialises a trace in this format. The same trace always gives the same bytes.
    pub fn write(self, trace: &Trace) -> Vec<u8> {
        match self {
            TraceForm::Chrome => chrome(trace).into_bytes(),
            TraceForm::Perfetto => perfetto(trace),
        }
    }
}
