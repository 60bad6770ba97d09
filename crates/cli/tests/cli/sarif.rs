//! Messages as SARIF logs: parsed with the types of the schema, and compared with the other output.

use std::collections::BTreeSet;
use std::fs;

use serde_sarif::sarif::{Location, Result as Entry, Run, Sarif};

use super::Folder;

/// The files of the tests that end in findings or errors, and their command lines.
const CALLS: [(&str, &[&str], i32); 8] = [
    ("check/paths/flags.pto", &["check", "--arch", "a5"], 1),
    ("check/paths/unwritten.pto", &["check", "--arch", "a5"], 0),
    ("failures/use_after_free.pto", &["run", "--arch", "a5"], 1),
    ("failures/flag_left_set.pto", &["run"], 1),
    ("lang/errors/carry.py", &["run"], 2),
    ("sync_check/missing.pto", &["sync-check", "--arch", "a5"], 1),
    ("sync_check/superfluous.pto", &["sync-check", "--arch", "a5"], 0),
    ("sync_check/superfluous.pto", &["sync-check", "--arch", "a5", "--strict"], 1),
];

fn log(folder: &Folder) -> Run {
    let text = fs::read_to_string(folder.file("log.sarif")).unwrap();
    let log: Sarif = serde_json::from_str(&text).unwrap();
    assert_eq!(log.version, serde_json::json!("2.1.0"));
    let [run] = <[Run; 1]>::try_from(log.runs).unwrap();
    run
}

fn place(location: &Location) -> (String, Option<i64>, Option<i64>) {
    let physical = location.physical_location.as_ref().unwrap();
    let region = physical.region.as_ref();
    let uri = physical.artifact_location.as_ref().unwrap().uri.clone().unwrap();
    (uri, region.and_then(|region| region.start_line), region.and_then(|region| region.start_column))
}

/// Code, message, line and column.
type Said = (String, String, Option<i64>, Option<i64>);

fn said(entry: &Entry) -> Said {
    let (_, line, column) = place(&entry.locations.as_ref().unwrap()[0]);
    let text = entry.message.text.clone().unwrap();
    (entry.rule_id.clone().unwrap(), text.lines().next().unwrap().to_string(), line, column)
}

#[test]
fn logs_say_what_the_objects_say() {
    let folder = Folder::new("sarif");
    let mut related = 0;
    for (file, words, exit) in CALLS {
        let path = format!("{}/../../tests/files/{file}", env!("CARGO_MANIFEST_DIR"));
        let name = file.rsplit('/').next().unwrap();
        folder.write(name, fs::read(&path).unwrap());
        let words: Vec<&str> = [&words[..1], &[name], &words[1..], &["--json", "--sarif", "log.sarif"]].concat();
        let called = folder.call(&words).exits(exit);
        let object: serde_json::Value = serde_json::from_str(called.out.trim()).unwrap();
        let messages = object.get("diagnostics").or(object.get("findings")).unwrap().as_array().unwrap();
        let run = log(&folder);
        let entries = run.results.unwrap();
        let rules = run.tool.driver.rules.unwrap();
        let all: BTreeSet<Said> = entries.iter().map(said).collect();
        for message in messages {
            let text = |name: &str| message[name].as_str().unwrap().to_string();
            let number = |name: &str| message[name].as_i64();
            let one = (text("code"), text("message"), number("line"), number("column"));
            assert!(all.contains(&one), "{file}: {one:?} is not among {all:?}");
        }
        assert!(!messages.is_empty(), "{file}");
        for entry in &entries {
            let rule = &rules[usize::try_from(entry.rule_index.unwrap()).unwrap()];
            assert_eq!(Some(&rule.id), entry.rule_id.as_ref(), "{file}");
            assert!(entry.level.is_some(), "{file}");
            let also = entry.related_locations.iter().flatten();
            for location in entry.locations.iter().flatten().chain(also.clone()) {
                assert_eq!(place(location).0, name);
            }
            related += also.count();
        }
        let invocation = &run.invocations.unwrap()[0];
        assert_eq!(invocation.exit_code, Some(i64::from(exit)), "{file}");
    }
    assert!(related > 1, "{related} related locations");
}

#[test]
fn a_file_that_is_not_there_is_a_notification() {
    let folder = Folder::new("sarif_missing");
    folder.call(&["check", "none at all.pto", "--sarif", "log.sarif"]).exits(2);
    let run = log(&folder);
    assert!(run.results.unwrap().is_empty());
    let invocation = &run.invocations.unwrap()[0];
    assert!(!invocation.execution_successful);
    let notes = invocation.tool_execution_notifications.as_ref().unwrap();
    assert!(notes[0].message.text.as_ref().unwrap().contains("none at all.pto"), "{notes:?}");
    folder.call(&["check", "add.pto", "--sarif", "-"]).exits(2);
}

/// Changes against an earlier text: lost orders are errors with their own code, in the object and in the log.
#[test]
fn orders_that_were_lost_are_in_the_log() {
    let folder = Folder::new("sarif_against");
    for name in ["against.pto", "clean.pto"] {
        let path = format!("{}/../../tests/files/sync_check/{name}", env!("CARGO_MANIFEST_DIR"));
        folder.write(name, fs::read(path).unwrap());
    }
    let compare = |file: &str, earlier: &str, exit: i32| {
        let words = ["sync-check", file, "--against", earlier, "--arch", "a5", "--json", "--sarif", "log.sarif"];
        let called = folder.call(&words).exits(exit);
        let object: serde_json::Value = serde_json::from_str(called.out.trim()).unwrap();
        let run = log(&folder);
        assert_eq!(run.invocations.as_ref().unwrap()[0].exit_code, Some(i64::from(exit)));
        (object, run.results.unwrap().iter().map(|entry| entry.rule_id.clone().unwrap()).collect::<Vec<_>>())
    };
    let (lost, rules) = compare("against.pto", "clean.pto", 1);
    assert_eq!((&lost["against"]["lost"], &lost["against"]["file"]), (&1.into(), &"clean.pto".into()), "{lost}");
    assert_eq!(rules, ["order-lost"]);
    let (gained, rules) = compare("clean.pto", "against.pto", 0);
    assert_eq!(gained["against"]["gained"].as_array().unwrap().len(), 1, "{gained}");
    assert_eq!((gained["errors"].as_u64(), gained["warnings"].as_u64()), (Some(0), Some(0)), "{gained}");
    assert_eq!(rules, [""; 0]);
    let (same, rules) = compare("against.pto", "against.pto", 1);
    assert_eq!((&same["against"]["lost"], &same["errors"]), (&0.into(), &1.into()), "{same}");
    assert_eq!(rules, ["order-missing"]);
    // An earlier text that cannot be read gives no comparison.
    folder.write("bad.pto", b"func.func");
    folder.call(&["sync-check", "clean.pto", "--against", "bad.pto", "--arch", "a5"]).exits(2);
    folder.call(&["sync-check", "clean.pto", "--against", "none.pto", "--arch", "a5"]).exits(2);
}
