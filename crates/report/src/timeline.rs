//! Timelines: who was busy when, as a trace for Perfetto and as a chart of text.

use std::fmt::Write;

use serde_json::json;

/// A row of a timeline.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Track {
    /// Whose row.
    pub name: String,
    /// The group that it stands in.
    pub group: String,
    /// What it did; spans of one row do not overlap.
    pub spans: Vec<TrackSpan>,
}

/// A stretch of a row, in cycles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TrackSpan {
    /// What.
    pub name: String,
    /// First cycle.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// Facts shown beside it.
    pub facts: Vec<(&'static str, u64)>,
}

/// A quantity over time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counter {
    /// Of what.
    pub name: String,
    /// Cycle and value, ascending.
    pub samples: Vec<(u64, u64)>,
}

/// A trace in Chrome's JSON form, which Perfetto opens. Groups become processes and rows threads; times are in microseconds.
pub fn chrome_trace(tracks: &[Track], counters: &[Counter], clock_mhz: u32) -> String {
    let time = |cycle: u64| cycle as f64 / f64::from(clock_mhz.max(1));
    let mut groups: Vec<&str> = Vec::new();
    let mut events = Vec::new();
    for (row, track) in tracks.iter().enumerate() {
        let group = groups.iter().position(|group| *group == track.group).unwrap_or_else(|| {
            events.push(
                json!({"ph": "M", "name": "process_name", "pid": groups.len() + 1, "args": {"name": track.group}}),
            );
            groups.push(&track.group);
            groups.len() - 1
        });
        let (pid, tid) = (group + 1, row + 1);
        events.push(json!({"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": track.name}}));
        for span in &track.spans {
            let facts: serde_json::Map<String, _> =
                span.facts.iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
            let (ts, dur) = (time(span.start), time(span.end - span.start.min(span.end)));
            events.push(
                json!({"ph": "X", "name": span.name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": facts}),
            );
        }
    }
    for counter in counters {
        for (cycle, value) in &counter.samples {
            let ts = time(*cycle);
            events.push(
                json!({"ph": "C", "name": counter.name, "pid": groups.len() + 1, "ts": ts, "args": {"value": value}}),
            );
        }
    }
    json!({"displayTimeUnit": "ns", "traceEvents": events}).to_string()
}

/// How full a cell of the chart is.
const SHADES: [char; 5] = [' ', '.', ':', '+', '#'];

/// A chart of `width` cells for each row: a cell is blank where the row did nothing and `#` where it was busy throughout. Rows
/// of one group that are more than `most` are shown as one, by how many of them were busy.
pub fn chart(tracks: &[Track], width: usize, most: usize) -> String {
    let end = tracks.iter().flat_map(|t| &t.spans).map(|s| s.end).max().unwrap_or(0);
    if end == 0 || width == 0 {
        return String::new();
    }
    let mut rows: Vec<(String, Vec<f64>)> = Vec::new();
    for group in tracks.chunk_by(|a, b| a.group == b.group) {
        if group.len() <= most {
            rows.extend(group.iter().map(|track| (track.name.clone(), busy(track, end, width))));
            continue;
        }
        let mut sum = vec![0.0; width];
        for track in group {
            sum.iter_mut().zip(busy(track, end, width)).for_each(|(sum, part)| *sum += part / group.len() as f64);
        }
        rows.push((format!("{} {}", group.len(), group[0].group), sum));
    }
    let names = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for (name, cells) in rows {
        let cells: String = cells.into_iter().map(shade).collect();
        let _ = writeln!(out, "  {name:names$} |{cells}|");
    }
    let scale = format!("{end} cycles");
    let _ = writeln!(out, "  {:names$}  0{scale:>rest$}", "", rest = width.saturating_sub(1));
    out
}

fn shade(part: f64) -> char {
    // Anything at all shows.
    let step = (part * (SHADES.len() - 1) as f64).ceil();
    SHADES[(step as usize).min(SHADES.len() - 1)]
}

/// The part of each cell's time that a row was busy.
fn busy(track: &Track, end: u64, width: usize) -> Vec<f64> {
    let mut cells = vec![0.0; width];
    let cell = end as f64 / width as f64;
    for span in track.spans.iter().filter(|span| span.end > span.start) {
        let first = ((span.start as f64 / cell) as usize).min(width - 1);
        let last = ((span.end as f64 / cell) as usize).min(width - 1);
        for (at, part) in cells.iter_mut().enumerate().take(last + 1).skip(first) {
            let (from, to) = (at as f64 * cell, (at + 1) as f64 * cell);
            let shared = (span.end as f64).min(to) - (span.start as f64).max(from);
            *part = f64::min(*part + shared.max(0.0) / cell, 1.0);
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(name: &str, group: &str, spans: &[(u64, u64)]) -> Track {
        let spans = spans.iter().map(|(start, end)| TrackSpan {
            name: "work".into(),
            start: *start,
            end: *end,
            facts: vec![("command", 7)],
        });
        Track { name: name.into(), group: group.into(), spans: spans.collect() }
    }

    #[test]
    fn a_chart_shows_who_was_busy() {
        let tracks = [track("a", "queue", &[(0, 50)]), track("b", "workers", &[(50, 100)]), track("c", "workers", &[])];
        assert_eq!(chart(&tracks, 4, 1), "  a         |##  |\n  2 workers |  ::|\n             0100 cycles\n");
        assert_eq!(chart(&[], 4, 1), "");
    }

    #[test]
    fn a_trace_has_rows_spans_and_counters() {
        let counters = [Counter { name: "credits".into(), samples: vec![(10, 128)] }];
        let text = chrome_trace(&[track("a", "queue", &[(10, 20)])], &counters, 10);
        let trace: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let events = trace["traceEvents"].as_array().expect("events");
        let span = events.iter().find(|e| e["ph"] == "X").expect("a span");
        assert_eq!(
            (span["ts"].as_f64(), span["dur"].as_f64(), span["args"]["command"].as_u64()),
            (Some(1.0), Some(1.0), Some(7))
        );
        assert!(events.iter().any(|e| e["ph"] == "C" && e["args"]["value"] == 128));
    }
}
