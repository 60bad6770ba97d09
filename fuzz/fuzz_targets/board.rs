//! Files of boards: any text ends in a board or in an error.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| slipring_fuzz::targets::board(text));
