//! `slipring queue diff`: compares two streams.

use std::collections::BTreeMap;

use clap::Args;
use serde::Serialize;
use slipring::{QueueDifference, queue_difference};

use super::super::exit::Exit;
use super::super::output::{fail, json_line, out};
use super::stats::{LookArgs, Looked};
use super::stream::{Stream, StreamArgs};

/// Arguments of `queue diff`.
#[derive(Args)]
pub(in crate::verbs) struct DiffArgs {
    /// A captured stream, as text or binary
    #[arg(value_name = "A")]
    first: String,
    /// The other stream
    #[arg(value_name = "B")]
    second: String,
    /// The files hold the raw bytes of issue regions, without slots
    #[arg(long)]
    raw: bool,
    /// Board to use instead of the ones the streams name: p100, p150, or a `.toml` file
    #[arg(long)]
    board: Option<String>,
    #[command(flatten)]
    look: LookArgs,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct Difference {
    files: [String; 2],
    same: bool,
    #[serde(flatten)]
    bytes: QueueDifference,
    cycles: [u64; 2],
    complete: [bool; 2],
    stalls: Vec<Pair>,
}

/// Cycles that both streams spend in one kind of wait.
#[derive(Serialize)]
struct Pair {
    actor: String,
    cause: &'static str,
    cycles: [u64; 2],
}

/// Maximum number of records listed individually.
const LISTED: usize = 12;

/// Compares two streams: exit code 1 if they differ.
pub(super) fn diff(args: &DiffArgs) -> Exit {
    let read = |file: &String| StreamArgs { file: file.clone(), raw: args.raw, board: args.board.clone() }.read();
    let (a, b) = match (read(&args.first), read(&args.second)) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(error), _) | (_, Err(error)) => return error.report(),
    };
    let look = |stream: &Stream| args.look.run(&stream.capture, stream);
    let runs = match (look(&a), look(&b)) {
        (Ok(a), Ok(b)) => [a, b],
        (Err(message), _) | (_, Err(message)) => return fail(message),
    };
    let bytes = queue_difference(&a.capture, &b.capture);
    let difference = Difference {
        files: [args.first.clone(), args.second.clone()],
        same: bytes.is_none(),
        bytes,
        cycles: [runs[0].cycles, runs[1].cycles],
        complete: [runs[0].complete, runs[1].complete],
        stalls: pairs(&runs),
    };
    match args.json {
        true => json_line(&difference),
        false => out(&text(&difference)),
    }
    if difference.same {
        return Exit::Clean;
    }
    fail("the streams differ");
    Exit::Findings
}

fn pairs(runs: &[Looked; 2]) -> Vec<Pair> {
    let mut cycles: BTreeMap<(String, &'static str), [u64; 2]> = BTreeMap::new();
    for (which, run) in runs.iter().enumerate() {
        for row in &run.stalls {
            cycles.entry((row.actor.clone(), row.cause)).or_default()[which] += row.cycles;
        }
    }
    cycles.into_iter().map(|((actor, cause), cycles)| Pair { actor, cause, cycles }).collect()
}

fn numbers(records: &[usize]) -> String {
    let more = if records.len() > LISTED { format!(" and {} more", records.len() - LISTED) } else { String::new() };
    records.iter().take(LISTED).map(usize::to_string).collect::<Vec<_>>().join(", ") + &more
}

fn text(d: &Difference) -> String {
    let [a, b] = &d.files;
    let mut text = match d.same {
        true => format!("{a} and {b}: the same {} records\n", d.bytes.records[0]),
        false if d.bytes.first.is_none() => format!("{a} and {b} have the same {} records\n", d.bytes.records[0]),
        false => format!(
            "{a} has {} records of {} bytes, {b} {} of {}\n",
            d.bytes.records[0], d.bytes.bytes[0], d.bytes.records[1], d.bytes.bytes[1]
        ),
    };
    if let Some([a, b]) = &d.bytes.boards {
        text += &format!("  for a {a} and for a {b}\n");
    }
    if let Some(first) = &d.bytes.first {
        text += &format!("  record {} is the first to differ, from byte {:#x} on\n", first.record, first.byte);
        if let Some([a, b]) = first.slots {
            text += &format!("    its slots hold {a:#06x} and {b:#06x}\n");
        }
        for (sign, lines) in [("-", &first.left), ("+", &first.right)] {
            text += &lines.iter().map(|line| format!("    {sign} {}\n", line.trim())).collect::<String>();
        }
    }
    if let Some(host) = &d.bytes.host {
        text += "  their hosts also differ in their other actions:\n";
        for (sign, line, records) in [("-", &host.left, host.records[0]), ("+", &host.right, host.records[1])] {
            text += &match (line, records) {
                (Some(line), Some(records)) => format!("    {sign} {line}  (after {records} records)\n"),
                _ => format!("    {sign} nothing more\n"),
            };
        }
    }
    let lists = [
        ("only in the first", &d.bytes.only[0]),
        ("only in the second", &d.bytes.only[1]),
        ("in another order", &d.bytes.moved),
    ];
    for (what, records) in lists.into_iter().filter(|(_, records)| !records.is_empty()) {
        text += &format!("  {what}: records {}\n", numbers(records));
    }
    text += &format!(
        "{:<12} {:<42} {:>12} {:>12} {:>13}\n",
        "who", "waits for, in cycles", "first", "second", "difference"
    );
    let row = |who: &str, what: &str, [a, b]: [u64; 2]| {
        format!("{who:<12} {what:<42} {a:>12} {b:>12} {:>+13}\n", i128::from(b) - i128::from(a))
    };
    for pair in &d.stalls {
        text += &row(&pair.actor, pair.cause.trim_start_matches("waits for "), pair.cycles);
    }
    text + &row("all", "the whole run", d.cycles)
}
