//! Rings lowered to waits, moves and signals are equivalent to pushes and pops: clean runs stay clean, under other
//! durations too, and every buffer has the same bytes; runs that hang or race still have findings.
//!
//! Tests every example and every file of these folders whose text has pipes: on one of the platforms, on both with
//! `SLIPRING_SLICE=all`.

use std::path::PathBuf;
use std::process::Output;
use std::sync::Mutex;

use serde_json::Value;

use crate::here::{self, Folder, root};
use crate::side_by_side::compare_each;
use crate::walk;

const FOLDERS: [&str; 5] =
    ["examples", "tests/files/rings", "tests/files/mixed", "tests/files/lang", "tests/files/failures"];

/// Facts about slots that only a ring has, and semaphores do not: these findings may disappear.
const OF_RINGS: [&str; 7] = [
    "tile-lost",
    "use-after-free",
    "flag-overflow",
    "flag-may-overflow",
    "split-odd",
    "tile-never-popped",
    "slot-not-freed",
];

fn slipring(words: &[&str]) -> Output {
    here::slipring().args(words).output().expect("slipring runs")
}

/// Whether a run is clean, its buffers, and the codes of its errors.
type Outcome = (bool, Vec<(String, String)>, Vec<String>);

/// The outcome of a run; `None` if it does not run, and for whole programs.
fn outcome(file: &str, arch: &str, more: &[&str]) -> Option<Outcome> {
    let ran = slipring(&[&["run", file, "--arch", arch, "--json"], more].concat());
    let facts: Value = serde_json::from_slice(&ran.stdout).ok()?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    facts["kernel"].as_str()?;
    let buffers = facts["buffers"].as_array()?.iter().map(|b| (text(&b["name"]), text(&b["hash"]))).collect();
    let findings = facts["findings"].as_array()?.iter().filter(|f| f["severity"] == "error");
    Some((ran.status.code() == Some(0), buffers, findings.map(|f| text(&f["code"])).collect()))
}

fn compare((file, arch): &(PathBuf, &str), wrong: &Mutex<Vec<String>>) -> bool {
    let name = file.display().to_string();
    let lowered = slipring(&["opt", &name, "--arch", arch, "--stop-after", "lower-rings"]);
    let text = String::from_utf8_lossy(&lowered.stdout).into_owned();
    let stays = String::from_utf8_lossy(&lowered.stderr).contains("[ring-stays]");
    if lowered.status.code() != Some(0) || stays || !text.contains("pto.sync.set") {
        return false;
    }
    let Some((clean, buffers, codes)) = outcome(&name, arch, &[]) else { return false };
    let own: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    let folder = Folder::empty(&format!("lowered-{own}-{arch}"));
    folder.write("lowered.pto", &text);
    let path = folder.file("lowered.pto");
    let say = |what: String| wrong.lock().unwrap().push(format!("{name} on {arch}: {what}"));
    let left = ["initialize_pipe", "tpush", "tpop", "tfree"].iter().find(|op| text.contains(&format!("pto.{op}")));
    if let Some(op) = left {
        say(format!("`{op}` is left"));
    }
    for more in [vec![], vec!["--timing", "random:11"]] {
        let Some((now, bytes, found)) = outcome(&path.display().to_string(), arch, &more) else {
            say("what was written out does not run".to_string());
            continue;
        };
        let known_to_rings = codes.iter().all(|code| OF_RINGS.contains(&code.as_str()));
        if now != clean && (clean || !known_to_rings) {
            say(format!("{codes:?}, and {found:?} with {more:?}"));
        } else if clean && bytes != buffers {
            say(format!("other bytes with {more:?}: {buffers:?} and {bytes:?}"));
        }
    }
    true
}

#[test]
fn rings_written_out_do_the_same() {
    let root = root();
    let files = FOLDERS.iter().flat_map(|folder| walk::files(&root.join(folder), &["pto", "py"]));
    let both = files.flat_map(|file| ["a5", "a2a3"].map(|arch| (file.clone(), arch)));
    // The first, fourth, fifth, eighth…: each file once, the platforms in turn.
    let chosen = |at: usize| here::everything() || matches!(at % 4, 0 | 3);
    let all: Vec<(PathBuf, &str)> = both.enumerate().filter(|(at, _)| chosen(*at)).map(|(_, text)| text).collect();
    let compared = compare_each(&all, compare);
    assert!(compared >= 100, "{compared} texts were compared");
}
