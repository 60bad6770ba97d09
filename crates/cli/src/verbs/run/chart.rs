//! The timeline of a run as text.

use slipring_report::{Trace, chart};

/// Cells of a drawn timeline, and rows of a core.
const CHART: usize = 80;
const ROWS: usize = 8;

/// A timeline as text.
pub(super) fn timeline_text(trace: &Trace) -> String {
    format!("\ntimeline (# busy throughout, . some of the time)\n{}", chart(trace, CHART, ROWS))
}
