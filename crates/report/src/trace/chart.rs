//! A timeline as text.

use std::fmt::Write;

use super::{SliceKind, Trace, Track};

/// Characters for the load of a cell.
const SHADES: [char; 5] = [' ', '.', ':', '+', '#'];

/// A chart of `width` cells for each track: a cell is blank where the track was idle and `#` where it was busy
/// throughout. If a group has more than `most` tracks, they are shown as one row: the share of them that was busy.
pub fn chart(trace: &Trace, width: usize, most: usize) -> String {
    let end = trace.end();
    if end == 0 || width == 0 {
        return String::new();
    }
    let mut rows: Vec<(String, Vec<f64>)> = Vec::new();
    for group in trace.tracks.chunk_by(|a, b| a.group == b.group) {
        let name = trace.path(group[0].group);
        if group.len() <= most {
            rows.extend(group.iter().map(|track| (format!("{name} {}", track.name), busy(track, end, width))));
            continue;
        }
        let mut sum = vec![0.0; width];
        for track in group {
            sum.iter_mut().zip(busy(track, end, width)).for_each(|(sum, part)| *sum += part / group.len() as f64);
        }
        rows.push((format!("{} {name}", group.len()), sum));
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
    // Any activity at all is visible.
    let step = (part * (SHADES.len() - 1) as f64).ceil();
    SHADES[(step as usize).min(SHADES.len() - 1)]
}

/// The fraction of each cell's time in which a track was busy.
fn busy(track: &Track, end: u64, width: usize) -> Vec<f64> {
    let mut cells = vec![0.0; width];
    let cell = end as f64 / width as f64;
    let works = track.slices.iter().filter(|slice| slice.kind == SliceKind::Work && slice.end > slice.start);
    for slice in works {
        let first = ((slice.start as f64 / cell) as usize).min(width - 1);
        let last = ((slice.end as f64 / cell) as usize).min(width - 1);
        for (at, part) in cells.iter_mut().enumerate().take(last + 1).skip(first) {
            let (from, to) = (at as f64 * cell, (at + 1) as f64 * cell);
            let shared = (slice.end as f64).min(to) - (slice.start as f64).max(from);
            *part = f64::min(*part + shared.max(0.0) / cell, 1.0);
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::super::{Group, Slice};
    use super::*;

    fn track(name: &str, group: usize, spans: &[(u64, u64)]) -> Track {
        let slices = spans.iter().map(|(start, end)| Slice {
            name: "work".into(),
            kind: SliceKind::Work,
            start: *start,
            end: *end,
            args: Vec::new(),
        });
        Track { name: name.into(), group, slices: slices.collect() }
    }

    #[test]
    fn a_chart_shows_who_was_busy() {
        let group = |name: &str| Group { name: name.into(), parent: None };
        let trace = Trace {
            groups: vec![group("queue"), group("workers")],
            tracks: vec![track("a", 0, &[(0, 50)]), track("b", 1, &[(50, 100)]), track("c", 1, &[])],
            ..Trace::default()
        };
        assert_eq!(chart(&trace, 4, 1), "  queue a   |##  |\n  2 workers |  ::|\n             0100 cycles\n");
        assert_eq!(chart(&Trace::default(), 4, 1), "");
    }
}
