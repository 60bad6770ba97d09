//! Commands of the queue: any bytes decode to one that encodes and decodes to the same, or to an error.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slipring_queue::wire::{DispatchCommand, PrefetchCommand};

fuzz_target!(|bytes: &[u8]| {
    if let Ok((command, stride)) = PrefetchCommand::decode(bytes) {
        assert!(stride <= bytes.len());
        assert_eq!(PrefetchCommand::decode(&command.encode()), Ok((command, stride)));
    }
    if let Ok((command, end)) = DispatchCommand::decode(bytes) {
        assert!(end <= bytes.len());
        // What is written ends at a multiple of 16.
        assert_eq!(DispatchCommand::decode(&command.encode()).map(|(again, _)| again), Ok(command));
    }
});
