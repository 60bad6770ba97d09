//! Platform files: any text ends in a platform or in an error.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| slipring_fuzz::targets::platform(text));
