//! `lint` and a machine report the same for the same bytes: every stream of the file tests, and every example of an
//! explanation.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use slipring_queue::Layout;
use slipring_queue::board::built_in;
use slipring_queue::capture::Capture;
use slipring_queue::lint::lint;
use slipring_queue::machine::Config;
use slipring_queue::replay::replay;
use slipring_queue::sanitize::{Hazard, Severity};
use slipring_queue::worker::Acknowledge;

fn streams() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["tests/files/queue", "crates/reference/explain/examples"] {
        for entry in std::fs::read_dir(root.join(folder)).expect(folder) {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "queue") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn errors(hazards: impl IntoIterator<Item = Hazard>) -> BTreeSet<&'static str> {
    let errors = hazards.into_iter().filter(|hazard| hazard.def().severity == Severity::Error);
    errors.map(|hazard| hazard.def().code).collect()
}

#[test]
fn lint_and_a_machine_find_the_same() {
    let (mut held, mut wrong) = (0, Vec::new());
    for file in streams() {
        let bytes = std::fs::read(&file).expect("a stream");
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Unreadable streams are tests of the parser, and endless ones are tests of the limits.
        let Ok(capture) = Capture::read(&bytes) else { continue };
        let named = if capture.board.is_empty() { "p100" } else { &capture.board };
        let Ok(board) = built_in(named) else { continue };
        let report = lint(&capture, &board, &Layout::default());
        // A machine fetches the size in the slot, and cannot detect a record of another size.
        let fetched = capture.entries.iter().all(|entry| entry.fetched() as usize == entry.bytes.len());
        if !report.not_ordered.is_empty() || !fetched || name == "limits.queue" {
            continue;
        }
        let said = errors(report.met.keys().copied());
        for seed in [None, Some(1), Some(2)] {
            let config = Config { seed, ..Config::new(board.clone()) };
            let run = replay(&capture, config, Box::new(Acknowledge::default()), |_, _| {}).expect("a machine");
            let found = errors(run.findings.iter().map(|finding| finding.hazard));
            // A machine stops at the first hazard: `lint` also reports what the machine reports, and the machine
            // reports something whenever `lint` does.
            if !found.is_subset(&said) || found.is_empty() != said.is_empty() {
                wrong.push(format!("{name}, seed {seed:?}: lint {said:?}, machine {found:?}"));
            }
        }
        held += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(held >= 40, "{held} streams were held");
}
