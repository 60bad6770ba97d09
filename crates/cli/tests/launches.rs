//! The state that a launch leaves on the device for the next one. `tests/timings.rs` launches every run of the file
//! tests and examples twice; this tests the counters themselves.

use std::path::Path;

use slipring::{Bound, ExecuteOptions, execute_again};
use slipring_check::{Checker, Tools};
use slipring_machine::{Platform, built_in};
use slipring_program::SyncRole;
use slipring_sim::{RunResult, Timing};

use crate::here::root;
use crate::ready::{Ready, args_of};
use crate::walk;

/// An example with the arguments of its `// args:` line; `None` if it has none or is not for this platform.
fn example(file: &Path, platform: &Platform) -> Option<(Ready, Vec<Bound<'static>>)> {
    let text = std::fs::read_to_string(file).unwrap();
    let ready = Ready::of(&file.display().to_string(), &text, platform).ok()?;
    let values = ready.values(&args_of(&text)?)?;
    Some((ready, values))
}

fn examples() -> std::path::PathBuf {
    root().join("examples")
}

#[test]
fn a_clean_launch_leaves_no_signal() {
    let mut looked_at = 0;
    for arch in ["a2a3", "a5"] {
        let platform = built_in(arch).unwrap();
        for file in walk::files(&examples(), &["pto"]) {
            let Some((ready, values)) = example(&file, &platform) else { continue };
            let result = ready.run(&values).result;
            if !result.findings.is_empty() {
                continue;
            }
            let syncs = &ready.prepared.decoded.program.syncs;
            let left = result.counters.iter().enumerate().filter(|(_, count)| **count > 0);
            let left: Vec<_> = left.map(|(at, count)| format!("{}: {count}", syncs[at % syncs.len()].name)).collect();
            assert!(left.is_empty(), "{} on {arch} leaves {left:?}", file.display());
            looked_at += 1;
        }
    }
    assert!(looked_at >= 8, "only {looked_at} examples were looked at");
}

#[test]
fn free_signals_of_an_earlier_launch_are_seen_by_the_next() {
    let platform = built_in("a2a3").unwrap();
    let (ready, values) = example(&examples().join("pipes/sparse_sync.pto"), &platform).unwrap();
    let prepared = &ready.prepared;
    let program = &prepared.decoded.program;
    let options = ExecuteOptions::default();
    let first = ready.run(&values);
    let again = |earlier: &RunResult| {
        let mut checker = Checker::new(Tools::default());
        let state = (Timing::Platform, earlier);
        let execution = execute_again(&prepared.decoded, &platform, &values, options, state, &mut checker);
        let findings = checker.report(&execution.result).findings;
        (execution.result.counters, findings)
    };
    let (counters, findings) = again(&first.result);
    assert!(findings.is_empty(), "{findings:?}");
    assert_eq!(counters, first.result.counters);

    // A device whose free counter has the ring's initial value: twice as many tiles as there are slots are sent.
    let mut wrong = first.result;
    for (count, decl) in wrong.counters.iter_mut().zip(&program.syncs) {
        if matches!(decl.role, SyncRole::RingFree { .. }) {
            *count = u64::from(decl.final_count);
        }
    }
    let (counters, findings) = again(&wrong);
    assert!(findings.iter().any(|f| f.code == "race"), "{findings:?}");
    let free = program.syncs.iter().position(|decl| matches!(decl.role, SyncRole::RingFree { .. })).unwrap();
    assert_eq!(counters[free], u64::from(program.syncs[free].final_count), "what is too much stays too much");
}
