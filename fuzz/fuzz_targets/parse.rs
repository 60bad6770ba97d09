//! Any text is parsed without a panic, and what parses without an error is printed and read back as the same.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| slipring_fuzz::targets::parse(text));
