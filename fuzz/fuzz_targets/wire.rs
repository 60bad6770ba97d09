//! Commands of the queue: any bytes decode to one that encodes and decodes to the same, or to an error.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| slipring_fuzz::targets::wire(bytes));
