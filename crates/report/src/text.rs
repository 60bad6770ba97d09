//! The facts of a run as text.

use std::fmt::Write;

use crate::Number;
use crate::diagram::diagrams;
use crate::facts::{BufferFacts, CheckFacts, PipeFacts, RingFacts, RunFacts};
use crate::table::Table;

/// A summary: the kernel, the checks, the cycles, where time went, and the contents of buffers.
pub fn summary_text(facts: &RunFacts) -> String {
    let mut text = String::new();
    let blocks = if facts.blocks == 1 { "1 block".to_string() } else { format!("{} blocks", facts.blocks) };
    let _ = writeln!(
        text,
        "{} on {} ({}), {blocks}, {}{}",
        facts.kernel,
        facts.platform,
        facts.description,
        facts.cores.join(" + "),
        if facts.flags == "inserted" { ", flags inserted" } else { "" }
    );
    text += &checks_text(&facts.checks);
    let (range, estimate) = (facts.evidence.range(), facts.evidence.mark());
    let stopped = if facts.complete { "" } else { ", when the run stopped" };
    let _ = writeln!(
        text,
        "\ntime: {} cycles{range} ({:.2} us{estimate}){stopped}, {} scalar instructions",
        facts.cycles, facts.microseconds, facts.instructions
    );
    text += &facts.evidence.why_line();
    let mut table =
        Table::new(2, &["core", "pipe", "busy", "%", "stalled", "operations", "bytes read", "written", "waits"]);
    for pipe in &facts.pipes {
        table.row(pipe_row(pipe, facts.cycles * u64::from(facts.blocks)));
    }
    text += &table.render();
    text + &printed_text(&facts.printed) + &buffers_text(&facts.buffers)
}

/// Each tool and its verdict.
pub fn checks_text(checks: &[CheckFacts]) -> String {
    let mut table = Table::new(3, &[]);
    for check in checks {
        table.row(vec![check.tool.clone(), check.verdict.to_string(), check.detail.clone()]);
    }
    format!("\nchecked\n{}", table.render().trim_start_matches('\n'))
}

/// What the program printed; empty if it printed nothing.
pub fn printed_text(printed: &[String]) -> String {
    let mut text = String::new();
    if !printed.is_empty() {
        let _ = writeln!(text, "\nprinted");
        for line in printed {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

/// The buffers that changed; empty if none did.
pub fn buffers_text(buffers: &[BufferFacts]) -> String {
    let mut text = String::new();
    let changed: Vec<_> = buffers.iter().filter(|b| b.changed).collect();
    if !changed.is_empty() {
        let _ = writeln!(text, "\nbuffers written");
        let mut table = Table::new(6, &["name", "type", "bytes", "range", "first elements", "hash"]);
        for buffer in changed {
            let digest = &buffer.digest;
            let range = match (digest.min, digest.max) {
                (Some(min), Some(max)) => format!("{} to {}", short(min), short(max)),
                _ => "-".into(),
            };
            let nans = if digest.nans > 0 { format!(", {} NaN", digest.nans) } else { String::new() };
            let first: Vec<String> = digest.first.iter().map(|x| short(*x)).collect();
            table.row(vec![
                buffer.name.clone(),
                buffer.elem.clone(),
                buffer.bytes.to_string(),
                range + &nans,
                first.join(" "),
                digest.hash.clone(),
            ]);
        }
        text += &table.render();
    }
    text
}

fn short(value: Number) -> String {
    let value = match value {
        Number::Signed(x) => return x.to_string(),
        Number::Unsigned(x) => return x.to_string(),
        Number::Float(x) => x,
    };
    if value.fract() == 0.0 && value.abs() < 1e9 { format!("{value}") } else { format!("{value:.5}") }
}

fn pipe_row(pipe: &PipeFacts, cycles: u64) -> Vec<String> {
    let percent = if cycles == 0 { 0.0 } else { 100.0 * pipe.busy as f64 / cycles as f64 };
    let waits: Vec<String> = pipe.stalls.iter().map(|s| format!("{} {}", s.cause, s.cycles)).collect();
    vec![
        pipe.core.clone(),
        pipe.pipe.clone(),
        pipe.busy.to_string(),
        format!("{percent:.0}"),
        pipe.stalled.to_string(),
        pipe.operations.to_string(),
        pipe.bytes_read.to_string(),
        pipe.bytes_written.to_string(),
        waits.join(", "),
    ]
}

/// Tables by op and by ring, and the tags that the first tiles of every ring use over time.
pub fn stats_text(facts: &RunFacts) -> String {
    let mut text = String::from("\nops\n");
    let mut table = Table::new(1, &["op", "count", "cycles", "bytes read", "written"]);
    for op in &facts.ops {
        table.row(vec![
            op.op.clone(),
            op.count.to_string(),
            op.cycles.to_string(),
            op.bytes_read.to_string(),
            op.bytes_written.to_string(),
        ]);
    }
    text += &table.render();
    for ring in &facts.rings {
        text += &ring_line(ring);
    }
    text + &diagrams(&facts.rings)
}

fn ring_line(ring: &RingFacts) -> String {
    let (producer, consumer) = ring.ends();
    format!(
        "\n{}, {producer} to {consumer}: {} of {} bytes in `{}`\n  {} pushed, {} popped, {} freed; filled at most {}, on average {:.2}; \
         {producer} waited {} cycles for a free slot, {consumer} {} for a tile\n",
        ring.name,
        if ring.slots == 1 { "1 slot".to_string() } else { format!("{} slots", ring.slots) },
        ring.slot_bytes,
        ring.space,
        ring.pushed,
        ring.popped,
        ring.freed,
        ring.most_filled,
        ring.mean_filled,
        ring.producer_wait,
        ring.consumer_wait,
    )
}
