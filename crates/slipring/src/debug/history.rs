//! What happened in a run, in the order of time.

use slipring::report::{End, Slice, SliceKind, Trace};

/// All that cores and pipes did, in the order in which it began.
pub struct History {
    trace: Trace,
    order: Vec<End>,
}

impl History {
    /// Of a timeline.
    pub fn new(trace: Trace) -> History {
        let mut order: Vec<End> = Vec::new();
        for (row, track) in trace.tracks.iter().enumerate() {
            // The row of a cluster says which block it runs, and nothing happens there.
            if trace.groups[track.group].parent.is_some() {
                order.extend((0..track.slices.len()).map(|at| (row, at)));
            }
        }
        order.sort_by_key(|end| {
            let slice = &trace.tracks[end.0].slices[end.1];
            (slice.start, slice.end, *end)
        });
        History { trace, order }
    }

    /// Cores and pipes: a number of each, and its name.
    pub fn rows(&self) -> Vec<(usize, String)> {
        let mut rows: Vec<usize> = self.order.iter().map(|end| end.0).collect();
        rows.sort_unstable();
        rows.dedup();
        rows.into_iter().map(|row| (row, self.row(row))).collect()
    }

    /// The number of the core or pipe whose event it is.
    pub fn row_of(&self, event: usize) -> usize {
        self.order[event].0
    }

    /// How many events there are.
    pub fn count(&self) -> usize {
        self.order.len()
    }

    /// An event.
    pub fn slice(&self, event: usize) -> &Slice {
        self.at(self.order[event])
    }

    fn at(&self, (row, at): End) -> &Slice {
        &self.trace.tracks[row].slices[at]
    }

    /// Whose event it is: `AIV0.MTE2`, behind the cluster where there are several.
    pub fn who(&self, event: usize) -> String {
        self.row(self.order[event].0)
    }

    fn row(&self, row: usize) -> String {
        let track = &self.trace.tracks[row];
        let group = &self.trace.groups[track.group];
        let clusters = self.trace.groups.iter().filter(|group| group.parent.is_none()).count();
        let cluster =
            group.parent.filter(|_| clusters > 1).map(|parent| format!("{}.", self.trace.groups[parent].name));
        format!("{}{}.{}", cluster.unwrap_or_default(), group.name, track.name)
    }

    /// The line that it comes from.
    pub fn line(&self, event: usize) -> Option<u64> {
        self.slice(event).fact("line")
    }

    /// How many events have begun at a cycle.
    pub fn begun(&self, cycle: u64) -> usize {
        self.order.partition_point(|end| self.at(*end).start <= cycle)
    }

    /// The last cycle of all.
    pub fn end(&self) -> u64 {
        self.order.iter().map(|end| self.at(*end).end).max().unwrap_or(0)
    }

    /// What each core and pipe does at a cycle; for what stands still also who ends that.
    pub fn doing(&self, cycle: u64) -> Vec<(String, &Slice, Option<String>)> {
        let mut list = Vec::new();
        for (row, track) in self.trace.tracks.iter().enumerate() {
            let upto = track.slices.partition_point(|slice| slice.start <= cycle);
            let now = track.slices[..upto].iter().enumerate().rev().find(|(_, slice)| slice.end > cycle);
            let Some((at, slice)) = now.filter(|_| self.trace.groups[track.group].parent.is_some()) else { continue };
            list.push((self.row(row), slice, self.ended_by((row, at))));
        }
        list
    }

    /// Who sends what ends a wait: the sender of the arrow to the next event of the row.
    fn ended_by(&self, (row, at): End) -> Option<String> {
        if self.at((row, at)).kind != SliceKind::Stall {
            return None;
        }
        let arrow = self.trace.flows.iter().find(|flow| flow.to == (row, at + 1))?;
        let sent = self.at(arrow.from);
        let line = sent.fact("line").map_or(String::new(), |line| format!(" of line {line}"));
        Some(format!("{} ends it at cycle {}: {}{line}", self.row(arrow.from.0), sent.start, sent.name))
    }

    /// How full each ring is at a cycle.
    pub fn rings(&self, cycle: u64) -> Vec<String> {
        let rings = self.trace.counters.iter().filter(|counter| counter.name.starts_with("ring "));
        let level = |samples: &[(u64, u64)]| {
            let upto = samples.partition_point(|(at, _)| *at <= cycle);
            upto.checked_sub(1).map_or(0, |at| samples[at].1)
        };
        rings.map(|counter| format!("{}: {}", counter.name, level(&counter.samples))).collect()
    }
}
