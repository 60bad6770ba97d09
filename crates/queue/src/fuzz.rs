//! Properties that hold for any input: functions for fuzzers, and for the tests that drive them with random bytes.

use crate::Layout;
use crate::board::built_in;
use crate::capture::{Capture, Entry, from_issue_region, print};
use crate::lint::{Report, lint};
use crate::machine::{Config, Limits};
use crate::replay::replay;
use crate::sanitize::{AtError, Severity};
use crate::worker::Acknowledge;

/// The captures that bytes may represent: a file of either form, an issue region, and records of 64 bytes or more.
fn captures(bytes: &[u8]) -> impl Iterator<Item = Capture> {
    let chunks = bytes.chunks(256).map(|chunk| {
        let mut record = chunk.to_vec();
        record.resize(record.len().next_multiple_of(64), 0);
        Entry::new(record)
    });
    let entries = |entries| Capture { board: "p100".into(), entries, ..Capture::default() };
    [
        Capture::read(bytes).ok().map(|capture| Capture { board: "p100".into(), ..capture }),
        from_issue_region(bytes).ok().map(entries),
        Some(entries(chunks.collect())),
    ]
    .into_iter()
    .flatten()
}

/// Any bytes give captures that can be checked, printed and parsed again, or errors.
///
/// # Panics
/// If that does not hold.
pub fn read(bytes: &[u8]) {
    for capture in captures(bytes) {
        judge(&capture);
        let again = Capture::read(print(&capture).as_bytes());
        // A text may represent more than is read.
        let Ok(again) = again else { continue };
        assert!(
            again.entries.iter().map(|e| (e.slot, &e.bytes)).eq(capture.entries.iter().map(|e| (e.slot, &e.bytes))),
            "what is printed reads as the same"
        );
    }
}

fn judge(capture: &Capture) -> Option<Report> {
    let report = built_in("p100").ok().map(|board| lint(capture, &board, &Layout::default()));
    assert!(
        report.as_ref().is_none_or(|report| report.records == capture.entries.len() as u64),
        "every record is judged"
    );
    report
}

/// The run of any stream ends within its limits, in both modes: complete, or with a finding that gives the reason.
///
/// # Panics
/// If that does not hold.
pub fn run(bytes: &[u8], seed: Option<u64>) {
    for capture in captures(bytes) {
        for mode in [AtError::Strict, AtError::Silicon] {
            run_capture(&capture, mode, seed);
        }
    }
}

/// As [`run`], for a capture in one mode; returns whether it completed without an error.
///
/// # Panics
/// If that does not hold.
pub fn run_capture(capture: &Capture, mode: AtError, seed: Option<u64>) -> bool {
    let Ok(board) = built_in("p100") else { return false };
    let limits = Limits { steps: 50_000, bytes: 64 << 20 };
    let config = Config { mode, seed, limits, ..Config::new(board) };
    let Ok(replayed) = replay(capture, config, Box::new(Acknowledge::default()), |_, _| {}) else { return false };
    let errors = replayed.findings.iter().any(|finding| finding.severity() == Severity::Error);
    assert!(replayed.complete || errors, "a run that is not complete says why");
    replayed.complete && !errors
}
