//! Any kernel in text form is checked, compiled, decoded and run within its limits, or refused with an error.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| slipring_fuzz::targets::kernel(text));
