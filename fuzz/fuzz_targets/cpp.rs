//! Any C++ is read without a panic; what is read is checked, compiled, decoded and run within its limits.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| slipring_fuzz::targets::cpp(text));
