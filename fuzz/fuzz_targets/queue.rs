//! Streams of the command queue: any bytes end in a capture that prints, reads back and can be judged, or in an error.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slipring_queue::capture::{Capture, from_issue_region, print};
use slipring_queue::{Layout, board, lint};

fuzz_target!(|bytes: &[u8]| {
    let captures = [
        Capture::read(bytes).ok(),
        from_issue_region(bytes).ok().map(|entries| Capture { entries, ..Capture::default() }),
    ];
    let (board, layout) = (board::built_in("p100").expect("p100"), Layout::default());
    for mut capture in captures.into_iter().flatten() {
        capture.board = "p100".into();
        lint::lint(&capture, &board, &layout);
        let again = Capture::read(print(&capture).as_bytes()).expect("what is printed can be read");
        assert!(
            again.entries.iter().map(|e| (e.slot, &e.bytes)).eq(capture.entries.iter().map(|e| (e.slot, &e.bytes)))
        );
    }
});
