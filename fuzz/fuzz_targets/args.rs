//! Words of the command line: any text is an argument, a duration rule, a type or a name, or an error that says why not.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| slipring_fuzz::targets::args(text));
