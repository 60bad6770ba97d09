//! The findings in a stream do not depend on its delays: every stream of the file tests, with seeds and with each kind
//! of delay maximal.

use std::collections::BTreeSet;
use std::path::Path;

use slipring_queue::Layout;
use slipring_queue::board::built_in;
use slipring_queue::capture::{Capture, parse};
use slipring_queue::lint::lint;
use slipring_queue::machine::{Config, Delays, Limits};
use slipring_queue::replay::replay;
use slipring_queue::sanitize::{AtError, Hazard};
use slipring_queue::worker::Acknowledge;

type Found = BTreeSet<(Hazard, Option<u64>)>;

/// The findings of a run, followed by those of the bytes; and whether the run completed.
fn found(capture: &Capture, config: &Config) -> (Found, bool) {
    let run = replay(capture, config.clone(), Box::new(Acknowledge::default()), |_, _| {}).expect("runs");
    let judged = lint(capture, &config.board, &Layout::default());
    let all = run.findings.iter().chain(&judged.findings);
    (all.map(|finding| (finding.hazard, finding.record.map(|record| record.index))).collect(), run.complete)
}

#[test]
fn every_stream_of_the_file_tests_under_any_delays() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files/queue");
    let mut streams = 0;
    let Ok(files) = std::fs::read_dir(folder) else { return };
    for file in files {
        let path = file.expect("a file").path();
        // Half a gigabyte for each run.
        if path.extension().is_none_or(|end| end != "queue") || path.ends_with("large_read_back.queue") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a text");
        let Ok(capture) = parse(&text).into_result() else { continue };
        let board = built_in(&capture.board).expect("a board");
        for mode in [AtError::Strict, AtError::Silicon] {
            let config = Config::new(board.clone()).with_mode(mode);
            let limits = Limits { steps: 200_000, ..config.limits };
            let config = Config { limits, ..config };
            let usual = found(&capture, &config);
            // Uninitialised bytes are executed as commands, with arbitrary effects.
            let runs_anything = usual.0.iter().any(|(hazard, _)| *hazard == Hazard::ExecBufBeforeWrite);
            if mode == AtError::Silicon && runs_anything {
                continue;
            }
            let late = Delays::KINDS.into_iter().filter_map(|kind| config.delays.clone().with_late(kind));
            let late = late.map(|delays| Config { delays, ..config.clone() });
            let seeds = (1..=4).map(|seed| config.clone().with_seed(seed));
            for (number, other) in late.chain(seeds).enumerate() {
                assert_eq!(found(&capture, &other), usual, "{}, {mode:?}, schedule {number}", path.display());
            }
        }
        streams += 1;
    }
    assert!(streams > 20, "only {streams} streams");
}
