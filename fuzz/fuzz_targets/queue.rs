//! Streams of the command queue: any bytes end in a capture that prints, reads back and can be judged, or in an error.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| slipring_fuzz::targets::queue(bytes));
