//! Runs of any streams end, complete or with a finding that says why not.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| slipring_fuzz::targets::queue_run(bytes));
