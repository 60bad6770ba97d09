//! Legal timings: a program that is clean under the platform's durations is clean under all others, and leaves the same
//! bytes.
//!
//! Every run of every file test and every example on both platforms is repeated with random durations, with one core or
//! pipe far slower than all others, or by a second launch on the device after the first: in one of these ways, in each of
//! them with `SLIPRING_SLICE=all`. If the verdict covers all schedules, bytes, printed output, findings and verdicts must
//! be the same: a difference refutes the verdict. If it covers only one schedule, it states why.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;

use serde_json::Value;

use crate::here::{self, root};
use crate::side_by_side::compare_each;
use crate::{directives, walk};

/// The part of a run's output that must not depend on timing.
#[derive(PartialEq, Debug)]
struct Outcome {
    buffers: Vec<(String, String)>,
    findings: BTreeSet<String>,
    verdicts: Vec<String>,
    printed: BTreeSet<String>,
}

/// Cores and pipes that are slow in some runs.
const SLOW: [&str; 8] = ["AIC", "AIV0", "AIV1", "AIC.S", "AIV0.S", "AIC.MTE2", "AIV0.MTE2", "AIV0.MTE3"];

/// Command lines: of the file tests, and of the examples on both platforms.
fn commands() -> Vec<Vec<String>> {
    let root = root();
    let mut commands = Vec::new();
    // Options that set what is varied here, and limits that other durations exceed.
    let own = ["--device", "--timing", "--launches", "--max-cycles"];
    for file in walk::files(&root.join("tests/files"), &["pto", "py"]) {
        let text = std::fs::read_to_string(&file).unwrap();
        let said = directives::commands(&file, &text);
        let runs = said.iter().filter_map(|command| command.strip_prefix("run "));
        for words in runs.filter(|words| !own.iter().any(|option| words.contains(option))) {
            let words = words.split_whitespace().filter(|w| !["--verify", "--stats", "--json"].contains(w));
            commands.push(words.map(|w| w.replace("%s", &file.display().to_string())).collect());
        }
    }
    for file in walk::files(&root.join("examples"), &["pto", "py"]) {
        for arch in ["a5", "a2a3"] {
            commands.push(vec![file.display().to_string(), "--arch".into(), arch.into()]);
        }
    }
    commands
}

/// The outcome of a command line; `None` if it is not clean or only covers its own schedule.
fn outcome(words: &[String], [option, value]: [&str; 2]) -> Result<Option<Outcome>, String> {
    let mut command = here::slipring();
    let ran = command.arg("run").args(words).args(["--json", option, value]).output().map_err(|e| e.to_string())?;
    let facts: Value = serde_json::from_slice(&ran.stdout).unwrap_or_default();
    if ran.status.code() != Some(0) {
        let lines = String::from_utf8_lossy(&ran.stderr).into_owned();
        return if value == "platform" { Ok(None) } else { Err(lines) };
    }
    let list = |name: &str| facts[name].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let verdicts: Vec<_> =
        list("checks").iter().map(|c| [&c["tool"], &c["verdict"], &c["detail"]].map(text).join(" ")).collect();
    if verdicts.iter().any(|line| line.contains("this schedule only")) {
        return Ok(None);
    }
    Ok(Some(Outcome {
        buffers: list("buffers").iter().map(|b| (text(&b["name"]), text(&b["hash"]))).collect(),
        findings: list("findings").iter().map(Value::to_string).collect(),
        verdicts,
        printed: list("printed").iter().map(text).collect(),
    }))
}

/// A number derived from a command line.
fn number(words: &[String]) -> u64 {
    let name = Path::new(&words[0]).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let bytes = name.bytes().chain(words[1..].concat().into_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Compares a command line's runs; true if there was something to compare.
fn compare(words: &[String], wrong: &Mutex<Vec<String>>) -> bool {
    let Ok(Some(usual)) = outcome(words, ["--timing", "platform"]) else { return false };
    let number = number(words);
    let slow = SLOW[(number >> 32) as usize % SLOW.len()];
    let (random, slow) = (format!("random:{}", number % 1000), format!("slow:{slow}"));
    let ways = [["--timing", &random], ["--timing", &slow], ["--launches", "2"]];
    let chosen = (number >> 16) as usize % ways.len();
    for (_, other) in ways.into_iter().enumerate().filter(|(at, _)| here::everything() || *at == chosen) {
        let why = match outcome(words, other) {
            Ok(Some(other)) if other == usual => continue,
            Ok(other) => format!("{usual:#?}\nbecomes {other:#?}"),
            Err(why) => why,
        };
        wrong.lock().unwrap().push(format!("slipring run {} {}:\n{why}", words.join(" "), other.join(" ")));
    }
    true
}

#[test]
fn what_is_clean_over_all_schedules_stays_so_at_other_durations() {
    let commands = commands();
    let compared = compare_each(&commands, |words, wrong| compare(words, wrong));
    assert!(compared > 200, "only {compared} of {} command lines were compared", commands.len());
}
