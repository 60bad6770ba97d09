//! What each fuzz target does with an input. The command line's tests run them too, without the fuzzing engine
//! (`crates/cli/tests/inputs.rs`).

use std::sync::Arc;

use slipring::args::{Defaults, Npy, read_arg};
use slipring_dialects::Dialects;
use slipring_explore::Profile;
use slipring_ir::text::{parse_attr, parse_type, print};
use slipring_ir::{Source, difference};
use slipring_queue::host::{Device, Kernels, Queue, Settings};
use slipring_queue::machine::{Config, Machine};
use slipring_queue::sanitize::AtError;
use slipring_queue::wire::{DispatchCommand, PrefetchCommand, relay_inline};
use slipring_queue::worker::image::Image;
use slipring_report::Trace;
use slipring_sim::Timing;
use slipring_tile::{Elem, Space};

use super::run;

/// Most elements of a generated buffer: larger ones are made too, slowly.
const MOST: u64 = 1 << 16;

/// An argument of a launch is read or refused.
pub fn args(text: &str) {
    let _ = text.parse::<Timing>();
    let _ = (Elem::parse(text), Space::parse(text), slipring_machine::Pipe::parse(text));
    // Each part in brackets may be the shape and each number after a colon a size in bytes, whatever else there is.
    let product = |part: &str| {
        let numbers = part.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse::<u64>().ok());
        numbers.filter(|n| *n > 0).fold(1, u64::saturating_mul)
    };
    let shapes = text.split('[').skip(1).map(|part| product(part.split(']').next().unwrap_or_default()));
    let bytes = text.split(':').skip(1).map(|part| {
        let digits = part.trim_start().find(|c: char| !c.is_ascii_digit()).unwrap_or(part.trim_start().len());
        product(&part.trim_start()[..digits])
    });
    let mut sizes = shapes.chain(bytes);
    let in_file = text.contains('@');
    if !in_file && sizes.all(|size| size <= MOST || size > 1 << 40) {
        let _ = read_arg(text, &Defaults::default());
    }
}

/// A board file is read or refused.
pub fn board(text: &str) {
    let _ = slipring_queue::board::parse(text);
}

/// A kernel in C++ is checked, compiled, decoded and run within its limits, or refused with an error.
pub fn cpp(text: &str) {
    run("fuzz.cpp", text);
}

/// A kernel in text form, likewise.
pub fn kernel(text: &str) {
    run("fuzz.pto", text);
}

/// A kernel of the language, likewise.
pub fn lang(text: &str) {
    run("fuzz.py", text);
}

/// A text is parsed without a panic, and what parses without an error is printed and read back as the same.
pub fn parse(text: &str) {
    let registry = &Dialects::get().registry;
    let (module, diags) = slipring_ir::text::parse(Arc::new(Source::new("fuzz", text)), registry);
    let _ = diags.render(&module.source, false);
    let printed = print(&module);
    if diags.has_errors() {
        return;
    }
    let (again, diags) = slipring_ir::text::parse(Arc::new(Source::new("again", printed)), registry);
    assert!(!diags.has_errors(), "{}", diags.render(&again.source, false));
    assert_eq!(difference(&module, &again), None);
}

/// Types and attributes: a text ends in one that prints and reads back as the same, or in errors.
pub fn types(text: &str) {
    if let Ok(ty) = parse_type(text) {
        assert_eq!(parse_type(&ty.to_string()).ok(), Some(ty));
    }
    if let Ok(attr) = parse_attr(text) {
        assert_eq!(parse_attr(&attr.to_string()).ok(), Some(attr));
    }
}

/// A platform file is read or refused.
pub fn platform(text: &str) {
    let _ = slipring_machine::parse(text);
}

/// An array of numpy is read or refused.
pub fn npy(bytes: &[u8]) {
    if let Ok(npy) = Npy::read(bytes) {
        let count: usize = npy.shape.iter().product();
        assert_eq!(bytes.len() - npy.data_at, count * npy.elem.bytes());
    }
}

/// A profile of a board is read or refused, and its spans are those of the timeline.
pub fn profile(bytes: &[u8]) {
    for clock in [1, 1650] {
        let Ok(profile) = Profile::read(bytes, clock) else { continue };
        let both = profile.trace_beside(&Trace::default());
        let spans: usize = profile.tracks.iter().map(|track| track.spans.len()).sum();
        assert_eq!(both.tracks.iter().map(|track| track.slices.len()).sum::<usize>(), spans);
        for track in &both.tracks {
            assert!(track.slices.windows(2).all(|two| two[0].end <= two[1].start));
        }
        assert!(profile.tracks.iter().all(|track| track.spans.is_empty() || track.busy <= profile.cycles));
    }
}

/// A captured stream is read or refused.
pub fn queue(bytes: &[u8]) {
    slipring_queue::fuzz::read(bytes);
}

/// A captured stream is run, or refused.
pub fn queue_run(bytes: &[u8]) {
    slipring_queue::fuzz::run(bytes, bytes.first().map(|byte| u64::from(*byte)));
}

/// Records of any bytes end in a result of the device or in an error.
pub fn device(bytes: &[u8]) {
    let _ = Image::decode(bytes);
    let Some((first, rest)) = bytes.split_first() else { return };
    let board = slipring_queue::board::built_in("p100").expect("p100");
    let mode = if first & 1 == 0 { AtError::Strict } else { AtError::Silicon };
    let config = Config::new(board.clone()).with_mode(mode).with_seed(u64::from(*first));
    let layout = config.layout.clone();
    let settings = Settings { completion_timeout_ns: 1_000_000, ..Settings::CAREFUL };
    let machine = Machine::new(config).expect("a machine");
    let mut queue = Queue::open(machine, board, layout, settings, &Kernels::default()).expect("opens");
    for chunk in rest.chunks(200) {
        // Half of the chunks reach the dispatcher whole, the others are for the prefetcher.
        let mut record = match first & 2 {
            0 => relay_inline(chunk.to_vec()).expect("fits").encode(),
            _ => chunk.to_vec(),
        };
        record.resize(record.len().next_multiple_of(64), 0);
        if queue.push(&record).is_err() {
            return;
        }
    }
    let _ = queue.device().wait(1_000_000);
    let _ = queue.finish();
}

/// Commands are decoded or refused, and what is decoded is encoded as the same.
pub fn wire(bytes: &[u8]) {
    if let Ok((command, stride)) = PrefetchCommand::decode(bytes) {
        assert!(stride <= bytes.len());
        assert_eq!(PrefetchCommand::decode(&command.encode()), Ok((command, stride)));
    }
    if let Ok((command, end)) = DispatchCommand::decode(bytes) {
        assert!(end <= bytes.len());
        // What is written ends at a multiple of 16.
        assert_eq!(DispatchCommand::decode(&command.encode()).map(|(again, _)| again), Ok(command));
    }
}
