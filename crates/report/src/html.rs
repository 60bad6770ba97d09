//! A run as one self-contained page: it needs no other file and no network.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use minijinja::Environment;
use minijinja::value::Serde;
use serde_json::json;
use slipring_finding::{Line, Severity};

use crate::facts::{PipeFacts, RunFacts};
use crate::picture::picture as picture_of;
use crate::record::{LineFacts, PathPart, Roofline, SegmentKind};
use crate::trace::{End, Slice, SliceKind, Trace, Value};
use crate::{MemoryFacts, MessageFacts, Predicted, TriedEdit, memory_svg};

const TEMPLATE: &str = include_str!("html/report.html");
const STYLE: &str = include_str!("html/report.css");
const SCRIPT: &str = include_str!("html/report.js");

/// The contents of a page.
pub struct Page<'a> {
    /// The run, with its lines and its path.
    pub facts: &'a RunFacts,
    /// The timeline.
    pub trace: &'a Trace,
    /// Slices of the timeline that are on the critical path.
    pub on_path: &'a BTreeSet<End>,
    /// The name of the file, and its text.
    pub source: (&'a str, &'a str),
    /// Maps a line of that text, from 1, to a line of the file that it comes from.
    pub shown: &'a dyn Fn(usize) -> Line,
    /// The layout of the local memories.
    pub memory: &'a [MemoryFacts],
    /// The rates of the run.
    pub roofline: Option<&'a Roofline>,
    /// Advice for a faster run, as sentences.
    pub advice: &'a [String],
    /// Predictions.
    pub what_if: &'a [Predicted],
    /// Edits of the source that come close to the predictions.
    pub edits: &'a [TriedEdit],
    /// A comparison with another run, as text; empty where there is none.
    pub against: &'a str,
    /// Whether the cycles of that other run are an estimate.
    pub against_estimate: bool,
    /// A description of the launch, where it is not a kernel with its blocks: `8 tasks on 4 clusters`.
    pub launch: Option<String>,
}

/// Renders the page.
///
/// # Errors
///
/// A defect of the template.
pub fn html(page: &Page<'_>) -> Result<String, String> {
    let facts = page.facts;
    let mut engine = Environment::new();
    engine.add_template("report.html", TEMPLATE).map_err(|error| error.to_string())?;
    let errors = facts.findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let (verdict, text) = match (errors, facts.complete, facts.findings.len()) {
        (0, true, 0) => ("clean", "clean: nothing was found".to_string()),
        (0, true, n) => ("clean", format!("no error, {n} warnings or notes")),
        (0, false, _) => ("partly", "the run stopped".to_string()),
        (1, ..) => ("findings", "1 error found".to_string()),
        (n, ..) => ("findings", format!("{n} errors found")),
    };
    let rows = Rows::new(page);
    let svg = memory_svg(page.memory);
    let blocks = match (&page.launch, facts.blocks) {
        (Some(launch), _) => launch.clone(),
        (None, 1) => "1 block".to_string(),
        (None, blocks) => format!("{blocks} blocks"),
    };
    let all = json!({
        "css": STYLE,
        "js": SCRIPT,
        "data": data(page, &rows),
        "kernel": facts.kernel,
        "platform": facts.platform,
        "blocks": blocks,
        "whole": page.launch.is_some(),
        "cycles": facts.cycles,
        "microseconds": format!("{:.2}", facts.microseconds),
        "range": facts.evidence.range(),
        "estimate": facts.estimate,
        "why": facts.evidence.why(),
        "headline": headline(page),
        "against": page.against,
        "against_guess": page.against_estimate || facts.estimate,
        "complete": facts.complete,
        "verdict": verdict,
        "verdict_text": text,
        "checks": facts.checks,
        "findings": facts.findings.iter().map(|own| finding(own, page.source.1, &rows)).collect::<Vec<_>>(),
        "file": page.source.0,
        "path": parts(facts, &rows),
        "pipes": facts.pipes.iter().map(|own| pipe(own, facts)).collect::<Vec<_>>(),
        "rings": rings(facts),
        "ops": facts.ops,
        "buffers": buffers(facts),
        "memory": if page.memory.is_empty() { String::new() } else { picture(&svg) },
        "advice": page.advice,
        "what_if": predictions(page),
        "edits": page.edits.iter().map(|own| edit(own, facts.cycles)).collect::<Vec<_>>(),
        "no_edits": page.what_if.iter().any(|own| !own.no_edit.is_empty()),
    });
    let template = engine.get_template("report.html").map_err(|error| error.to_string())?;
    template.render(Serde(all)).map_err(|error| format!("{error:#}"))
}

/// Maps each line of a file to its row in the text on the page.
struct Rows(BTreeMap<Line, usize>);

impl Rows {
    fn new(page: &Page<'_>) -> Rows {
        let count = page.source.1.lines().count();
        // If a part occurs twice, its first copy counts.
        Rows((1..=count).rev().map(|row| ((page.shown)(row), row)).collect())
    }

    /// The row, from 1; 0 for a line that is not on the page.
    fn of(&self, line: &Line) -> usize {
        self.0.get(line).copied().unwrap_or(0)
    }
}

/// The headline: the bottleneck of the run, and the change with the largest gain.
fn headline(page: &Page<'_>) -> String {
    let facts = page.facts;
    let all = facts.cycles.max(1) * u64::from(facts.blocks.max(1));
    if page.launch.is_some() {
        let parts = facts.path.as_ref().map_or(&[][..], |path| &path.parts);
        let Some(longest) = parts.iter().max_by_key(|part| part.cycles) else { return String::new() };
        // A task that waited for others while it ran is listed more than once.
        let tasks: BTreeSet<&str> = parts.iter().map(|part| &*part.pipe).collect();
        let share = percent(longest.cycles, facts.cycles);
        return format!(
            "the end waited for {}; the longest is {} {}, {share:.0} %",
            if tasks.len() == 1 { "1 task".to_string() } else { format!("{} tasks", tasks.len()) },
            longest.pipe,
            longest.what
        );
    }
    // Scalar units count as pipes; of equally busy pipes the first one wins.
    let busiest = facts.pipes.iter().rev().filter(|own| own.busy > 0).max_by_key(|own| own.busy);
    let Some(pipe) = busiest else { return String::new() };
    let share = percent(pipe.busy, all);
    let bound = pipe.busy / u64::from(facts.blocks.max(1));
    // Where pipes wait for each other, no single pipe is the bottleneck.
    let name = format!("{} {}", pipe.core, pipe.pipe);
    let mut text = match share >= 50.0 {
        true => format!("bound by {name}, {share:.0} % busy"),
        false => format!("bound by waits: {name} is the busiest pipe, {share:.0} % busy"),
    };
    text += &format!("; {bound} cycles if it were never idle");
    let best = page.what_if.iter().filter(|own| own.cycles < facts.cycles).min_by_key(|own| own.cycles);
    if let Some(Predicted { what, cycles, .. }) = best {
        text += &format!("; {:.0} % to gain by {what}", percent(facts.cycles - cycles, facts.cycles));
    }
    let edits = page.edits.iter().enumerate().filter(|(_, own)| own.cycles < facts.cycles);
    if let Some((at, edit)) = edits.min_by_key(|(_, own)| own.cycles) {
        text += &format!("; edit {} gains {:.0} %", at + 1, percent(facts.cycles - edit.cycles, facts.cycles));
    }
    text
}

/// An SVG as a data URL, so that its styles do not affect the page.
fn picture(svg: &str) -> String {
    let mut text = String::from("data:image/svg+xml;charset=utf-8,");
    for byte in svg.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' | b' ' | b'=' | b':' | b',' => {
                text.push(char::from(byte));
            }
            _ => {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}

/// The text of a message, with the lines of the source that it names.
fn finding(own: &MessageFacts, source: &str, rows: &Rows) -> serde_json::Value {
    let lines: Vec<&str> = source.lines().collect();
    let first = own.at().map(|line| (line, own.column.unwrap_or(1), own.label.as_str()));
    let also = own.also.iter().map(|place| (place.at(), place.column, place.label.as_str()));
    let places = first.into_iter().chain(also).map(|(line, column, label)| {
        let row = rows.of(&line);
        let text = row.checked_sub(1).and_then(|at| lines.get(at)).copied().unwrap_or_default();
        let number = format!("{:>4}", line.to_string());
        let caret = format!("{:width$}  {}^ {label}", "", " ".repeat(column.saturating_sub(1)), width = number.len());
        json!({"line": row, "shown": format!("{number}  {text}"), "caret": caret})
    });
    json!({
        "severity": own.severity.name(), "code": own.code, "message": own.message, "line": own.line,
        "picture": picture_of(own).unwrap_or_default(), "places": places.collect::<Vec<_>>(), "notes": own.notes, "help": own.help,
    })
}

fn percent(part: u64, all: u64) -> f64 {
    (1000.0 * part as f64 / all.max(1) as f64).round() / 10.0
}

fn pipe(own: &PipeFacts, facts: &RunFacts) -> serde_json::Value {
    let all = facts.cycles * u64::from(facts.blocks);
    let waits: Vec<String> = own.stalls.iter().map(|stall| format!("{} {}", stall.cause, stall.cycles)).collect();
    json!({
        "core": own.core, "pipe": own.pipe, "busy": own.busy, "percent": percent(own.busy, all), "stalled": own.stalled,
        "stalled_percent": percent(own.stalled, all), "operations": own.operations, "bytes_read": own.bytes_read,
        "bytes_written": own.bytes_written, "waits": waits.join(", "),
    })
}

fn parts(facts: &RunFacts, rows: &Rows) -> Vec<serde_json::Value> {
    let Some(path) = &facts.path else { return Vec::new() };
    let each = path.parts.iter().map(|part: &PathPart| {
        let what = match part.kind {
            SegmentKind::Work => part.what.clone(),
            SegmentKind::Scalar => "scalar instructions".into(),
            SegmentKind::Signal => format!("signal: {}", part.what),
            SegmentKind::Wait => format!("waits: {}", part.what),
        };
        json!({
            "core": part.core, "pipe": part.pipe, "cycles": part.cycles, "percent": percent(part.cycles, path.cycles),
            "count": part.count, "row": part.line.as_ref().map(|line| rows.of(line)), "line": part.line.as_ref().map(|line| line.to_string()), "what": what,
        })
    });
    each.collect()
}

fn rings(facts: &RunFacts) -> Vec<serde_json::Value> {
    let each = facts.rings.iter().map(|ring| {
        let (from, to) = ring.ends();
        json!({
            "name": ring.name, "from": from, "to": to, "slots": ring.slots, "slot_bytes": ring.slot_bytes,
            "space": ring.space, "pushed": ring.pushed, "popped": ring.popped, "freed": ring.freed,
            "most_filled": ring.most_filled, "mean_filled": format!("{:.2}", ring.mean_filled),
            "producer_wait": ring.producer_wait, "consumer_wait": ring.consumer_wait,
        })
    });
    each.collect()
}

fn buffers(facts: &RunFacts) -> Vec<serde_json::Value> {
    let each = facts.buffers.iter().map(|own| {
        let changed = if own.changed { "yes" } else { "no" };
        json!({"name": own.name, "elem": own.elem, "bytes": own.bytes, "changed": changed, "hash": own.digest.hash})
    });
    each.collect()
}

fn predictions(page: &Page<'_>) -> Vec<serde_json::Value> {
    let now = page.facts.cycles as f64;
    let each = page.what_if.iter().map(|Predicted { what, cycles, edit, no_edit }| {
        let change = 100.0 * (*cycles as f64 - now) / now.max(1.0);
        let edit = edit.map(|at| at + 1);
        json!({"what": what, "cycles": cycles, "change": format!("{change:+.1} %"), "edit": edit, "no_edit": no_edit})
    });
    each.collect()
}

fn edit(own: &TriedEdit, before: u64) -> serde_json::Value {
    json!({"what": own.what, "line": own.line, "gain": own.gain(before), "patch": own.patch})
}

/// Assigns indices to strings, in order of first use.
#[derive(Default)]
struct Strings {
    numbers: BTreeMap<String, usize>,
    list: Vec<String>,
}

impl Strings {
    fn number(&mut self, text: &str) -> usize {
        if let Some(known) = self.numbers.get(text) {
            return *known;
        }
        self.numbers.insert(text.to_string(), self.list.len());
        self.list.push(text.to_string());
        self.list.len() - 1
    }
}

/// The data that the script draws: for each slice its start, end, kind, name, line, facts, and whether it is on the
/// path.
fn data(page: &Page<'_>, rows: &Rows) -> String {
    let (mut names, mut facts, mut whats) = (Strings::default(), Strings::default(), Strings::default());
    let mut tracks = String::from("[");
    for (row, track) in page.trace.tracks.iter().enumerate() {
        let comma = if row > 0 { "," } else { "" };
        let _ = write!(tracks, "{comma}[{},{},[", json!(page.trace.path(track.group)), json!(track.name));
        for (at, slice) in track.slices.iter().enumerate() {
            let kind = match slice.kind {
                SliceKind::Work => 0,
                SliceKind::Sync => 1,
                SliceKind::Stall => 2,
            };
            let name = names.number(&slice.name);
            let about = facts.number(&about(slice));
            let line = slice.line().map_or(0, |line| rows.of(&line));
            let path = u8::from(page.on_path.contains(&(row, at)));
            let comma = if at > 0 { "," } else { "" };
            let _ = write!(tracks, "{comma}{},{},{kind},{name},{line},{about},{path}", slice.start, slice.end);
        }
        tracks += "]]";
    }
    tracks += "]";
    let flows = page.trace.flows.iter().map(|flow| {
        let what = whats.number(flow.what);
        json!([flow.from.0, flow.from.1, flow.to.0, flow.to.1, what])
    });
    let flows: Vec<_> = flows.collect();
    // Each of several clusters has its own quantities, which fold together.
    let clusters: BTreeSet<usize> = page.trace.counters.iter().map(|own| outermost(page.trace, own.group)).collect();
    let counters = page.trace.counters.iter().map(|counter| {
        let samples: Vec<u64> = counter.samples.iter().flat_map(|(at, value)| [*at, *value]).collect();
        let own = outermost(page.trace, counter.group);
        let group = if clusters.len() > 1 { page.trace.path(own) } else { String::new() };
        json!({"name": counter.name, "group": group, "bytes": counter.bytes, "samples": samples})
    });
    let lines: &[LineFacts] = page.facts.lines.as_deref().unwrap_or_default();
    let lines = lines.iter().map(|own| {
        json!({
            "line": rows.of(&own.line), "count": own.count, "busy": own.busy, "stalled": own.stalled, "stalls": own.stalls,
            "moved": own.moved, "path": own.path,
        })
    });
    let rest = json!({
        "cycles": page.facts.cycles.max(page.trace.end()),
        "flows": flows,
        "counters": counters.collect::<Vec<_>>(),
        "names": names.list,
        "facts": facts.list,
        "whats": whats.list,
        "lines": lines.collect::<Vec<_>>(),
        "source": page.source.1.lines().collect::<Vec<_>>(),
        "labels": (1..=page.source.1.lines().count()).map(|row| (page.shown)(row).to_string()).collect::<Vec<_>>(),
        "roofline": page.roofline,
    });
    let rest = rest.to_string();
    // Nothing inside a script element may look like its closing tag.
    format!("{{\"tracks\":{tracks},{}", &rest[1..]).replace('<', "\\u003c")
}

/// The outermost group that contains this one; a parent's index is lower than its child's.
fn outermost(trace: &Trace, group: usize) -> usize {
    let parent = trace.groups.get(group).and_then(|own| own.parent).filter(|parent| *parent < group);
    parent.map_or(group, |parent| outermost(trace, parent))
}

fn about(slice: &Slice) -> String {
    let shown = |(name, value): &(&'static str, Value)| match (*name, value) {
        ("line" | "file" | "issued", _) => None,
        (name, Value::Number(number)) => Some(format!("{name} {number}")),
        (name, Value::Text(text)) => Some(format!("{name}: {text}")),
    };
    slice.args.iter().filter_map(shown).collect::<Vec<_>>().join("\n")
}
