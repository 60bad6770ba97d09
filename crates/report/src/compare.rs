//! Comparison of two runs: what became faster or slower, and which waits disappeared.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use slipring_machine::{Backing, figure};

use crate::table::Table;

/// A quantity of both runs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Change {
    /// The name of the quantity.
    pub what: String,
    /// Cycles in the first run; 0 where it has no such thing.
    pub before: u64,
    /// Cycles in the second.
    pub after: u64,
}

impl Change {
    fn size(&self) -> u64 {
        self.before.abs_diff(self.after)
    }
}

/// The comparison of two runs. Each list holds what changed, largest change first.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Compared {
    /// Kernel and platform of each run.
    pub runs: [String; 2],
    /// Whether cycles of each run are an estimate.
    pub estimate: [bool; 2],
    /// The evidence for the cycles of each run.
    pub evidence: [Backing; 2],
    pub cycles: Change,
    /// Busy cycles by core and pipe.
    pub busy: Vec<Change>,
    /// Waits by core, pipe and cause.
    pub waits: Vec<Change>,
    /// Cycles by op.
    pub ops: Vec<Change>,
    /// Cycles of the critical path by kind of segment; empty where a run has no path.
    pub path: Vec<Change>,
    /// Busy cycles by source line, lines matched by their text; empty where a run has no lines.
    pub lines: Vec<Change>,
    /// Buffers whose contents differ in the second run, or that only one run has.
    pub results: Vec<String>,
}

/// Sums by name.
type Sums = BTreeMap<String, u64>;

/// Compares the facts of two runs, the output of `slipring run --json`; with `--lines`, it also compares lines and
/// paths.
///
/// # Errors
///
/// If one of them is not the facts of a run.
pub fn compare(before: &Value, after: &Value) -> Result<Compared, String> {
    let cycles =
        |run: &Value| run["cycles"].as_u64().ok_or("this is not the output of `slipring run --json`".to_string());
    let total = Change { what: "cycles".into(), before: cycles(before)?, after: cycles(after)? };
    let both = |of: fn(&Value) -> Sums| changes(&of(before), &of(after));
    let name = |run: &Value| format!("{} on {}", text(&run["kernel"]), text(&run["platform"]));
    let has = |what: &str| {
        before[what].is_array() && after[what].is_array() || before[what].is_object() && after[what].is_object()
    };
    let evidence = [backing(before), backing(after)];
    Ok(Compared {
        runs: [name(before), name(after)],
        estimate: [evidence[0].is_estimate(), evidence[1].is_estimate()],
        evidence,
        cycles: total,
        busy: both(|run| sums(&run["pipes"], |pipe| vec![(pipe_name(pipe), number(&pipe["busy"]))])),
        waits: both(|run| {
            sums(&run["pipes"], |pipe| {
                let stalls = items(&pipe["stalls"]);
                let each =
                    stalls.map(|own| (format!("{}: {}", pipe_name(pipe), text(&own["cause"])), number(&own["cycles"])));
                each.collect()
            })
        }),
        ops: both(|run| sums(&run["ops"], |op| vec![(text(&op["op"]).to_string(), number(&op["cycles"]))])),
        path: if has("path") {
            both(|run| sums(&run["path"]["parts"], |part| vec![part_name(part)]))
        } else {
            Vec::new()
        },
        lines: if has("lines") {
            both(|run| sums(&run["lines"], |line| vec![(text(&line["text"]).to_string(), number(&line["busy"]))]))
        } else {
            Vec::new()
        },
        results: results(before, after),
    })
}

/// The evidence for the cycles of a run.
fn backing(run: &Value) -> Backing {
    let own = &run["evidence"];
    let mut backing = Backing::default();
    let with_points = number(&own["cycles_with_points"]);
    let off = own["error_percent"].as_f64().map_or(0, |percent| (percent * 10.0 * with_points as f64).round() as u64);
    backing.known(with_points, off);
    for (op, cycles) in own["cycles_without"].as_object().into_iter().flatten() {
        backing.unknown(op, number(cycles));
    }
    backing
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

fn pipe_name(pipe: &Value) -> String {
    format!("{} {}", text(&pipe["core"]), text(&pipe["pipe"]))
}

fn part_name(part: &Value) -> (String, u64) {
    let what = match text(&part["kind"]) {
        "work" => text(&part["what"]).to_string(),
        "scalar" => "scalar instructions".to_string(),
        kind => format!("{kind}: {}", text(&part["what"])),
    };
    (format!("{}: {what}", pipe_name(part)), number(&part["cycles"]))
}

fn sums(list: &Value, of: impl Fn(&Value) -> Vec<(String, u64)>) -> Sums {
    let mut sums = Sums::new();
    for (name, cycles) in items(list).flat_map(of) {
        *sums.entry(name).or_default() += cycles;
    }
    sums
}

/// The changes, largest first.
fn changes(before: &Sums, after: &Sums) -> Vec<Change> {
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let of = |sums: &Sums, name: &String| sums.get(name).copied().unwrap_or(0);
    let change = |name: &String| Change { what: name.clone(), before: of(before, name), after: of(after, name) };
    let mut list: Vec<Change> = names.into_iter().map(change).filter(|change| change.size() > 0).collect();
    list.sort_by(|a, b| b.size().cmp(&a.size()).then_with(|| a.what.cmp(&b.what)));
    list
}

fn results(before: &Value, after: &Value) -> Vec<String> {
    let hashes = |run: &Value| -> BTreeMap<String, String> {
        items(&run["buffers"]).map(|own| (text(&own["name"]).to_string(), text(&own["hash"]).to_string())).collect()
    };
    let (before, after) = (hashes(before), hashes(after));
    let other = |name: &&String| before.get(*name) != after.get(*name);
    let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
    names.filter(other).cloned().collect()
}

/// The maximum number of rows of a table.
const ROWS: usize = 12;

/// Whether the difference of the two runs is significant, as a sentence.
fn worth(compared: &Compared) -> String {
    let [before, after] = &compared.evidence;
    if let Some((name, own)) = compared.runs.iter().zip(&compared.evidence).find(|(_, own)| own.is_estimate()) {
        let why = match own.why() {
            why if why.is_empty() => "it does not say what its cycles are based on".to_string(),
            why => why,
        };
        return format!("the smallest significant difference is unknown: {name} is an estimate: {why}\n");
    }
    let off = |cycles: u64, own: &Backing| cycles as f64 * own.error_percent().unwrap_or(0.0) / 100.0;
    let both = off(compared.cycles.before, before) + off(compared.cycles.after, after);
    match compared.cycles.size() as f64 <= both {
        true if compared.cycles.size() > 0 => "the difference is within the error of the cycles\n".to_string(),
        _ => String::new(),
    }
}

/// The comparison as text.
pub fn compare_text(compared: &Compared) -> String {
    let [before, after] = &compared.runs;
    let change = |change: &Change| {
        let percent = 100.0 * (change.after as f64 - change.before as f64) / (change.before.max(1)) as f64;
        match change.before {
            0 => "new".to_string(),
            _ if change.after == 0 => "gone".to_string(),
            _ => format!("{percent:+.1} %"),
        }
    };
    let total = &compared.cycles;
    let word = match total.after.cmp(&total.before) {
        std::cmp::Ordering::Less => format!("faster, {}", change(total)),
        std::cmp::Ordering::Equal => "as fast".to_string(),
        std::cmp::Ordering::Greater => format!("slower, {}", change(total)),
    };
    let [first, second] = &compared.evidence;
    let (first, second) = (figure(total.before, first.error_percent()), figure(total.after, second.error_percent()));
    let mut out = format!("{before}: {first}\n{after}: {second}: {word}\n{}", worth(compared));
    let lists = [
        ("busy", &compared.busy),
        ("waits", &compared.waits),
        ("ops", &compared.ops),
        ("critical path", &compared.path),
        ("lines, busy", &compared.lines),
    ];
    for (title, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        let mut table = Table::new(0, &["before", "after", "change", ""]).left(&[3]);
        for own in list.iter().take(ROWS) {
            table.row(vec![own.before.to_string(), own.after.to_string(), change(own), own.what.clone()]);
        }
        out += &format!("\n{title}\n{}", table.render());
        if list.len() > ROWS {
            out += &format!("  and {} more\n", list.len() - ROWS);
        }
    }
    if compared.results.is_empty() {
        return out + "\nthe same results\n";
    }
    out + &format!("\nother results: {}\n", compared.results.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_changed_is_named() {
        let run = |cycles: u64, flag: u64, hash: &str| {
            let stalls = if flag > 0 { vec![json!({"cause": "flag", "cycles": flag})] } else { Vec::new() };
            json!({
                "kernel": "k", "platform": "a5", "cycles": cycles,
                "pipes": [{"core": "AIC", "pipe": "MTE2", "busy": 90, "stalls": stalls}],
                "ops": [{"op": "pto.tload", "cycles": 90}],
                "buffers": [{"name": "out", "hash": hash}],
            })
        };
        let compared = compare(&run(200, 110, "a"), &run(100, 0, "b")).expect("runs");
        assert_eq!(compared.waits, [Change { what: "AIC MTE2: flag".into(), before: 110, after: 0 }]);
        assert_eq!((compared.busy.len(), compared.ops.len(), compared.results.join(" ")), (0, 0, "out".into()));
        let text = compare_text(&compared);
        assert!(text.contains("k on a5: 100 cycles (estimate): faster, -50.0 %"), "{text}");
        assert!(text.lines().any(|line| line.trim_start().starts_with("110      0    gone  AIC MTE2: flag")), "{text}");
        assert!(compare(&json!({}), &run(1, 0, "a")).is_err());
    }

    #[test]
    fn a_difference_is_held_against_the_errors() {
        let run = |cycles: u64, without: u64| {
            let error = if without > 0 { Value::Null } else { json!(4.0) };
            let ops = if without > 0 { json!({"pto.tlog": without}) } else { json!({}) };
            json!({
                "kernel": "k", "platform": "a5", "cycles": cycles,
                "evidence": {"error_percent": error, "cycles_with_points": 100, "cycles_without": ops},
            })
        };
        let text = |a, b| compare_text(&compare(&a, &b).expect("runs"));
        // 4 % of 1000 and of 930 are 77.2 cycles.
        let close = text(run(1000, 0), run(930, 0));
        assert!(close.contains("k on a5: 1000 cycles ± 4 %\nk on a5: 930 cycles ± 4 %: faster, -7.0 %\n"), "{close}");
        assert!(close.contains("the difference is within the error of the cycles"), "{close}");
        let far = text(run(1000, 0), run(920, 0));
        assert!(!far.contains("within the error") && !far.contains("estimate"), "{far}");
        let unknown = text(run(1000, 0), run(500, 300));
        assert!(unknown.contains("1000 cycles ± 4 %\nk on a5: 500 cycles (estimate): faster"), "{unknown}");
        assert!(
            unknown.contains("is an estimate: too few published points for 75 % of the work: pto.tlog"),
            "{unknown}"
        );
    }
}
