//! Live view of a running stream: its progress, and the depths of the queues.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use slipring_queue::machine::Machine;
use slipring_report::Counter;

/// How long a run may take before anything is shown.
const PATIENCE: Duration = Duration::from_millis(500);
const REFRESH: Duration = Duration::from_millis(100);
/// Maximum number of queue depth samples in a trace.
const SAMPLES: usize = 4096;

/// A view of a running stream: on a terminal's standard error, and as counters for the trace.
pub(super) struct Live {
    records: usize,
    bar: ProgressBar,
    shown: Instant,
    every: usize,
    counters: [Counter; 3],
}

impl Live {
    /// A view of a stream with `records` records.
    pub fn new(records: usize) -> Live {
        let bar = ProgressBar::hidden();
        let template = "{elapsed} [{bar:30}] {pos}/{len} records, {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_length(records as u64);
        let names = ["records queued", "page credits", "completion pages"];
        Live {
            records,
            bar,
            shown: Instant::now(),
            every: records.div_ceil(SAMPLES).max(1),
            counters: names.map(|name| Counter { name: name.into(), ..Counter::default() }),
        }
    }

    /// Samples the machine before it gets the next record.
    pub fn look(&mut self, machine: &Machine, records: usize) {
        let show = self.shown.elapsed() > if self.bar.is_hidden() { PATIENCE } else { REFRESH };
        if !show && !records.is_multiple_of(self.every) && records != self.records {
            return;
        }
        let status = machine.status();
        let depths = [status.queued, u64::from(status.credits), status.completions];
        for (counter, depth) in self.counters.iter_mut().zip(depths) {
            counter.samples.push((status.cycle, depth));
        }
        if show {
            if self.bar.is_hidden() {
                self.bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
            }
            self.shown = Instant::now();
            self.bar.set_message(format!(
                "cycle {}: {} slots full, {} page credits, {} completion pages, {} workers busy",
                status.cycle, status.queued, status.credits, status.completions, status.running
            ));
            self.bar.set_position(records as u64);
        }
    }

    /// Removes the view and returns the queue depths over time.
    pub fn finish(self) -> [Counter; 3] {
        self.bar.finish_and_clear();
        self.counters
    }
}
