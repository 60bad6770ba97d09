//! Types and attributes: any text ends in one that prints and reads back as the same, or in errors.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| slipring_fuzz::targets::types(text));
