//! The timeline of a run as text.

use slipring_report::{Trace, chart};

/// Width of the chart in cells, and maximum number of rows per core.
const CHART: usize = 80;
const ROWS: usize = 8;

/// A timeline as text.
pub(super) fn timeline_text(trace: &Trace) -> String {
    format!("\ntimeline (# busy throughout, . some of the time)\n{}", chart(trace, CHART, ROWS))
}
