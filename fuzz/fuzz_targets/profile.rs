//! Profiles of boards: any bytes end in figures and a timeline that fit each other, or in an error.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| slipring_fuzz::targets::profile(bytes));
