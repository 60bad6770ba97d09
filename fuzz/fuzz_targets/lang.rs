//! Any Python text is compiled without a panic; what compiles is checked, decoded and run within its limits.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| slipring_fuzz::targets::lang(text));
